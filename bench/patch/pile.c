// A pile of n boxes 0.2 x 0.1 x 0.05 m, dropped in layers at random orientations: time per step
// while it falls and when it has settled, and what the pile is like then. With sleep=1 also the
// time per step when all of it sleeps: it is put to sleep as it is, at rest or not.
//
//   bench_patch_pile [n] [seconds] [step] [seed] [threads] [NAME=VALUE ...]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pile_scene.h"

typedef struct Sum {
  double wall, iterations, contacts, residual, depth;
  int steps, unconverged, regularised;
} Sum;

static void step(Pile* pile, Sum* sum) {
  const abData* data = pile->data;
  double t = pile_clock();
  if (ab_step(pile->model, pile->data) == AB_STEP_BROKEN) {
    printf("broken at %g s, body %d\n", data->time, data->stat.bad_body);
    exit(1);
  }
  sum->wall += pile_clock() - t;
  sum->steps++;
  sum->iterations += data->stat.iterations;
  sum->contacts += data->stat.ncontact;
  sum->residual = fmax(sum->residual, data->stat.residual);
  sum->depth = fmax(sum->depth, data->stat.max_penetration);
  sum->regularised += data->stat.nregularised;
  if (data->stat.status != AB_STEP_OK) sum->unconverged++;
}

static void print(const char* phase, const Pile* pile, const Sum* s) {
  double squares = 0, fastest = 0;
  for (int i = 0; i < pile->n; i++) {
    double v = pile_speed(pile, i);
    squares += v * v;
    fastest = fmax(fastest, v);
  }
  printf(
      "%-8s t %6.2f  %8.3f ms/step  it %6.2f  contacts %6.0f  res %.1e  unconverged %d/%d  "
      "regularised %d  depth %.2e  v rms %.1e max %.1e  floor/weight %.6f\n",
      phase, pile->data->time, 1e3 * s->wall / s->steps, s->iterations / s->steps,
      s->contacts / s->steps, s->residual, s->unconverged, s->steps, s->regularised, s->depth,
      sqrt(squares / pile->n), fastest, pile_floor_force(pile) / pile_weight(pile));
}

// Any motion counts as rest, so that all fall asleep within some steps.
static void time_sleep(Pile* pile) {
  abData* data = pile->data;
  Sum sum = {0};
  data->sleep = (abSleepRule){.on = true, .rest = 0, .speed = 1e9, .drift = 1e9, .steps = 3};
  for (int i = 0; i < 2000 && data->stat.nasleep < pile->n; i++) step(pile, &sum);
  sum = (Sum){0};
  for (int i = 0; i < 1000; i++) step(pile, &sum);
  printf("asleep   %d of %d  %8.3f ms/step  contacts %d\n", data->stat.nasleep, pile->n,
         1e3 * sum.wall / sum.steps, data->ncontact);
}

int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000;
  double seconds = argc > 2 ? atof(argv[2]) : 4, h = argc > 3 ? atof(argv[3]) : 1e-3;
  Pile pile = pile_create(n, h, argc > 4 ? (unsigned long long)atoll(argv[4]) : 1);
  const abData* data = pile.data;
  if (argc > 5) pile_threads(&pile, atoi(argv[5]));
  bool sleep = false;
  for (int i = 6; i < argc; i++) {
    if (strncmp(argv[i], "sleep=", 6) == 0)
      sleep = atoi(argv[i] + 6) != 0;
    else
      pile_set(&pile, argv[i]);
  }
  printf("pile of %d boxes, h = %g s, threads %d\n", n, h, data->nthread);
  double chunk = seconds / 16;
  for (int k = 0; k < 16; k++) {
    Sum sum = {0};
    while (data->time < (k + 1) * chunk - h / 2) step(&pile, &sum);
    print(k < 15 ? "" : "settled", &pile, &sum);
    fflush(stdout);
  }
  printf("hash %016llx\n", (unsigned long long)ab_state_hash(pile.model, data));
  if (sleep) time_sleep(&pile);
  pile_free(&pile);
  return 0;
}
