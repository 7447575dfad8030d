// Piles of n boxes 0.2 x 0.1 x 0.05 m, one for each random seed: does every one of them come to
// rest, and is it at rest then? A line for each seed, then a verdict for each requirement; status 1
// if one is broken.
//
//   bench_patch_seeds [n] [seeds] [seconds at most] [first seed] [step] [NAME=VALUE ...]
//
// A pile is settled when for 0.2 s the root mean square of its boxes' speeds (each that of its
// fastest point) was below a hundredth of g h (the speed below which islands may sleep) and the
// floor's force was within a hundredth of the weight, ten times the chatter allowed, so that a pile
// which is still but chatters is settled and found out. Not all boxes need be that slow: one that
// stands on a corner and leans on an edge swings about the two like a pendulum, for seconds. What
// comes then is measured for another 0.2 s, in which an unstable box of this size (it falls over e
// times faster every sqrt(r / g) = 0.1 s) would show: if that speed is passed after all, the pile
// is given time to settle again. One that has not settled in time is measured like the others.
//
//   depth     deepest penetration: what the steps say, and the overlap of the boxes at the end
//   chatter   root mean square of the floor's force minus the weight, over the weight
//   zero      share of the steps in which the floor's force is less than a millionth of the weight
//   rms       of the boxes' speeds, the largest [m/s]; and the fastest point of any box
//   burst     fastest box after the fall (after sqrt(2 H / g), H the highest box's height at first)
//             over the speed of that fall
//   climb     largest rise of the energy above what it has been earlier, as a height to which it
//             would lift the whole pile [m]. Contact only takes; but a pile that is pushed out of
//             the penetration allowed rises by as much, so this is its limit, too
//   missed    steps above the solver's tolerance: on the way, at rest
//   ms        processor time of a step while it falls, settles, is at rest
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pile_scene.h"

static const double rest_time = 0.2, rest_speed = 0.01, rest_force = 0.01;

typedef enum Phase { FALLING, SETTLING, RESTING, NPHASE } Phase;

typedef struct Row {
  unsigned long long seed;
  bool settled, broken;
  double time;   // from the start to the beginning of rest
  double speed;  // below which it rests
  double depth, chatter, zero, rms, fastest, burst, climb;
  int missed[NPHASE], steps[NPHASE];
  double seconds[NPHASE];
} Row;

typedef struct Plan {
  int n, nseed;
  double limit, h;
  unsigned long long first;
  int nset;
  char** set;
} Plan;

typedef struct Run {
  Pile pile;
  Row* row;
  double g, weight, lowest;  // least energy so far
  double fall_time, fall_speed;
  double fastest_point, mean_speed, force;  // of this step; the mean is of squares
} Run;

static Run begin_run(const Plan* plan, Row* row) {
  Run r = {.pile = pile_create(plan->n, plan->h, row->seed), .row = row};
  for (int i = 0; i < plan->nset; i++) pile_set(&r.pile, plan->set[i]);
  r.g = -r.pile.model->gravity.z;
  row->speed = rest_speed * r.g * plan->h;
  r.weight = pile_weight(&r.pile);
  r.lowest = pile_energy(&r.pile);
  r.fall_time = sqrt(2 * r.pile.height / r.g);
  r.fall_speed = r.g * r.fall_time;
  return r;
}

// One step and what is to be known of it. False if it broke.
static bool advance(Run* r, Phase phase) {
  Pile* pile = &r->pile;
  Row* row = r->row;
  double start = pile_clock();
  abStepStatus status = ab_step(pile->model, pile->data);
  row->seconds[phase] += pile_clock() - start;
  row->steps[phase]++;
  row->missed[phase] += status != AB_STEP_OK;
  row->broken = status == AB_STEP_BROKEN;
  r->force = pile_floor_force(pile);
  double squares = 0;
  r->fastest_point = 0;
  for (int i = 0; i < pile->n; i++) {
    double v = pile_speed(pile, i), point = v + pile_radius() * pile_spin(pile, i);
    r->fastest_point = fmax(r->fastest_point, point);
    squares += point * point;
    if (phase != FALLING) row->burst = fmax(row->burst, v / r->fall_speed);
  }
  r->mean_speed = sqrt(squares / pile->n);
  double energy = pile_energy(pile);
  r->lowest = fmin(r->lowest, energy);
  row->climb = fmax(row->climb, (energy - r->lowest) / r->weight);
  return !row->broken;
}

static void show_progress(const Plan* plan, const Run* r, int done) {
  if (!isatty(STDERR_FILENO)) return;
  fprintf(stderr, "\rseed %llu (%d of %d)  t %.2f s  rms %.1e m/s  floor/weight %.4f  ",
          r->row->seed, done + 1, plan->nseed, r->pile.data->time, r->mean_speed,
          r->force / r->weight);
}

static void clear_progress(void) {
  if (isatty(STDERR_FILENO)) fprintf(stderr, "\r%78s\r", "");
}

// Until it has settled or its time is over.
static void settle(const Plan* plan, Run* r, int done) {
  const abData* data = r->pile.data;
  long still = 0, enough = lround(rest_time / plan->h), steps = 0;
  while (data->time < plan->limit - plan->h / 2 && still < enough) {
    if (!advance(r, data->time < r->fall_time ? FALLING : SETTLING)) break;
    bool rests =
        r->mean_speed < r->row->speed && fabs(r->force - r->weight) < rest_force * r->weight;
    still = rests ? still + 1 : 0;
    if (++steps % 50 == 0) show_progress(plan, r, done);
  }
  r->row->settled = !r->row->broken && still >= enough;
  r->row->time = data->time - (double)still * plan->h;
}

static void measure_rest(const Plan* plan, Run* r) {
  Row* row = r->row;
  long steps = lround(rest_time / plan->h), zero = 0;
  double sum = 0;
  row->depth = row->rms = row->fastest = row->seconds[RESTING] = 0;
  row->steps[RESTING] = row->missed[RESTING] = 0;
  for (long i = 0; i < steps; i++) {
    if (!advance(r, RESTING)) return;
    double off = r->force / r->weight - 1;
    sum += off * off;
    zero += r->force < 1e-6 * r->weight;
    row->depth = fmax(row->depth, r->pile.data->stat.max_penetration);
    row->fastest = fmax(row->fastest, r->fastest_point);
    row->rms = fmax(row->rms, r->mean_speed);
  }
  row->depth = fmax(row->depth, pile_overlap(&r->pile));
  row->chatter = sqrt(sum / (double)steps);
  row->zero = (double)zero / (double)steps;
}

static Row run_seed(const Plan* plan, int done) {
  Row row = {.seed = plan->first + (unsigned long long)done,
             .depth = NAN,  // what a broken step leaves unknown fails
             .chatter = NAN,
             .zero = NAN,
             .rms = NAN,
             .fastest = NAN};
  Run r = begin_run(plan, &row);
  do {
    settle(plan, &r, done);
    if (!row.broken) measure_rest(plan, &r);
    row.settled = row.settled && !row.broken && row.rms < row.speed;
  } while (!row.settled && !row.broken && r.pile.data->time < plan->limit - plan->h / 2);
  clear_progress();
  pile_free(&r.pile);
  return row;
}

static double ms(const Row* row, Phase phase) {
  return row->steps[phase] ? 1e3 * row->seconds[phase] / row->steps[phase] : NAN;
}

static void print_row(const Row* r) {
  printf("%5llu %6.2f%c %8.1e %8.1e %5.3f %8.1e %8.1e %6.3f %8.1e %5d %4d %8.2f %8.2f %8.2f%s\n",
         r->seed, r->time, r->settled ? ' ' : '*', r->depth, r->chatter, r->zero, r->rms,
         r->fastest, r->burst, r->climb, r->missed[FALLING] + r->missed[SETTLING],
         r->missed[RESTING], ms(r, FALLING), ms(r, SETTLING), ms(r, RESTING),
         r->broken ? "  broken" : "");
  fflush(stdout);
}

// The worst of all seeds; a number that is none is the worst.
static double worse(double a, double b) { return isnan(b) || b > a ? b : a; }

static Row worst_of(const Row* row, int n) {
  Row w = {.settled = true, .speed = row[0].speed};
  for (int i = 0; i < n; i++) {
    w.settled &= row[i].settled;
    w.broken |= row[i].broken;
    w.time = worse(w.time, row[i].time);
    w.depth = worse(w.depth, row[i].depth);
    w.chatter = worse(w.chatter, row[i].chatter);
    w.zero = worse(w.zero, row[i].zero);
    w.burst = worse(w.burst, row[i].burst);
    w.climb = worse(w.climb, row[i].climb);
    w.missed[RESTING] += row[i].missed[RESTING];
  }
  return w;
}

// What must hold, and whether it does.
static bool verdict(bool holds, const char* what, double value, const char* limit) {
  printf("%-6s  %-30s worst %-10.3g %s\n", holds ? "holds" : "BROKEN", what, value, limit);
  return holds;
}

static bool judge(const Plan* plan, const Row* w) {
  double depth = 0.01 * pile_thinnest();
  char deep[64], late[64], high[64];
  snprintf(late, sizeof late, "all within %g, rms %.2g m/s", plan->limit, w->speed);
  snprintf(deep, sizeof deep, "< %g, a hundredth of the thinnest side", depth);
  snprintf(high, sizeof high, "< %g, the penetration allowed", depth);
  bool ok = verdict(w->settled, "settles [s]", w->time, late);
  ok &= verdict(w->depth < depth, "penetration [m]", w->depth, deep);
  ok &= verdict(w->chatter < 1e-3, "chatter of the floor's force", w->chatter, "< 0.001");
  ok &= verdict(w->zero == 0, "steps without floor force", w->zero, "none");
  ok &= verdict(w->missed[RESTING] == 0, "steps at rest above tolerance", w->missed[RESTING],
                "none of all seeds");
  ok &= verdict(!w->broken && w->burst < 1, "no explosion, burst", w->burst, "< 1, no step broken");
  ok &= verdict(w->climb < depth, "energy never grows, climb [m]", w->climb, high);
  return ok;
}

static double number(int argc, char** argv, int i, double otherwise) {
  return i < argc ? atof(argv[i]) : otherwise;
}

int main(int argc, char** argv) {
  Plan plan = {.n = (int)number(argc, argv, 1, 100),
               .nseed = (int)number(argc, argv, 2, 20),
               .limit = number(argc, argv, 3, 20),
               .first = (unsigned long long)number(argc, argv, 4, 1),
               .h = number(argc, argv, 5, 1e-3)};
  if (argc > 6) plan.nset = argc - 6, plan.set = argv + 6;
  Row* row = plan.nseed > 0 ? calloc((size_t)plan.nseed, sizeof *row) : NULL;
  if (plan.n < 1 || !(plan.limit > 0) || !(plan.h > 0) || !row) {
    fprintf(stderr,
            "usage: bench_patch_seeds [n] [seeds] [seconds at most] [first seed] [step] "
            "[NAME=VALUE ...]\n");
    return 2;
  }
  printf("piles of %d boxes, h = %g s, %d seeds from %llu\n", plan.n, plan.h, plan.nseed,
         plan.first);
  printf(
      " seed  rest s    depth  chatter  zero      rms  fastest  burst    climb   missed     ms "
      "fall   "
      "settle     rest\n");
  for (int i = 0; i < plan.nseed; i++) {
    row[i] = run_seed(&plan, i);
    print_row(&row[i]);
  }
  Row worst = worst_of(row, plan.nseed);
  free(row);
  return judge(&plan, &worst) ? 0 : 1;
}
