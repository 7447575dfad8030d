// What is measured in a run: a quantity at its end, or its least, greatest, mean or first value, or
// whether that is below or above a bound; and the conditions that end a run early.
//
// At rest is a body no point of which moves faster than speed * sqrt(|g| r), r being its radius:
// what it would reach in falling by speed^2 / 2 of its radius. The scene is at rest when all bodies
// have been for `hold` seconds; time_to_rest is when that began.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

// --- reading ---

static size_t trim(const char** text, size_t n) {
  while (n > 0 && **text == ' ') (*text)++, n--;
  while (n > 0 && (*text)[n - 1] == ' ') n--;
  return n;
}

// "... < number" and "... > number" become what stands before the sign; returns its length.
static size_t split_bound(const char* text, size_t n, char* sign, double* bound) {
  size_t k = n;
  while (k > 0 && text[k - 1] != '<' && text[k - 1] != '>') k--;
  if (k == 0) return n;
  const char* number = text + k + (k < n && text[k] == '=');
  char* end;
  double b = strtod(number, &end);
  if (end == number || end != text + n || !isfinite(b)) return n;  // a name with such a sign
  *sign = text[k - 1];
  *bound = b;
  return k - 1;
}

abStatus measure_read(const abModel* model, const char* name, const char* text, Measure* m,
                      abError* error) {
  static const char* const word[] = {
      [REDUCE_MIN] = "min", [REDUCE_MAX] = "max", [REDUCE_MEAN] = "mean", [REDUCE_FIRST] = "first"};
  static const char peak[] = ".peak_force";
  const char* inner = text;
  size_t n = trim(&inner, strlen(text));
  m->sign = 0;
  n = trim(&inner, split_bound(inner, n, &m->sign, &m->bound));
  const char* dot = strrchr(text, '.');
  if (!m->sign && strpbrk(dot ? dot : text, "<>"))
    return sweep_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                      "measure '%s' = %s: write a quantity, < or >, and a number, as in "
                      "\"body.cube.z < 0.1\"",
                      name, text);
  m->reduce = REDUCE_LAST;
  for (Reduce r = REDUCE_MIN; r <= REDUCE_FIRST && m->reduce == REDUCE_LAST; r++) {
    size_t k = strlen(word[r]);
    if (n < k + 2 || memcmp(inner, word[r], k) || inner[k] != '(' || inner[n - 1] != ')') continue;
    m->reduce = r;
    inner += k + 1;
    n = trim(&inner, n - k - 2);
  }
  char other[512];
  if (n > sizeof peak && n < sizeof other &&
      !memcmp(inner + n + 1 - sizeof peak, peak, sizeof peak - 1)) {
    snprintf(other, sizeof other, "%.*s.force", (int)(n + 1 - sizeof peak), inner);
    inner = other, n = strlen(other);
    m->reduce = REDUCE_MAX;
  }
  abStatus status = quantity_read(model, inner, n, &m->quantity, error);
  if (!status && m->reduce != REDUCE_LAST && quantity_adds_up(&m->quantity))
    status =
        sweep_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "measure '%s' = %s: this adds up over the run; take it as it is", name, text);
  return status;
}

abStatus condition_read(const abModel* model, const char* text, Condition* c, abError* error) {
  const char* sign = strpbrk(text, "<>");
  char* end;
  if (sign) {
    const char* bound = sign + 1 + (sign[1] == '=');
    c->above = *sign == '>';
    c->bound = strtod(bound, &end);
    while (*end == ' ') end++;
    if (end != bound && !*end && isfinite(c->bound)) {
      const char* inner = text;
      size_t n = trim(&inner, (size_t)(sign - text));
      abStatus status = quantity_read(model, inner, n, &c->quantity, error);
      if (status || !quantity_adds_up(&c->quantity)) return status;
    }
  }
  return sweep_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                    "stop when '%s': write a quantity, < or >, and a number, as in "
                    "\"body.cube.z < 0.1\"",
                    text);
}

// --- watching ---

void watch_free(Watch* w) {
  free(w->pose0);
  free(w->com0);
  free(w->com_last);
  free(w->path);
  free(w->radius);
  free(w->total);
}

bool watch_create(Watch* w, const abSweep* s, const abModel* model) {
  size_t n = (size_t)model->nbody;
  *w = (Watch){.sweep = s,
               .pose0 = malloc(n * sizeof *w->pose0),
               .com0 = malloc(n * sizeof *w->com0),
               .com_last = malloc(n * sizeof *w->com_last),
               .path = malloc(n * sizeof *w->path),
               .radius = malloc(n * sizeof *w->radius),
               .total = malloc((size_t)(s->nmeasure + 1) * sizeof *w->total)};
  for (int i = 0; i < s->nmeasure; i++)
    w->need_path = w->need_path || quantity_is_path(&s->measure[i].quantity);
  return w->pose0 && w->com0 && w->com_last && w->path && w->radius && w->total;
}

// Of the ball about the centre of mass that holds the body's hull; where there is none, that of a
// body of this mass and inertia.
static double radius_of(const abModel* model, const abBody* b) {
  const abPolyhedron* hull = b->hull < 0 ? NULL : model->hull[b->hull].poly;
  double r = 0;
  for (int i = 0; hull && i < hull->nvert; i++) {
    abVec3 p = hull->vert[i];
    r = fmax(r, hypot(hypot(p.x - b->com.x, p.y - b->com.y), p.z - b->com.z));
  }
  if (!(r > 0) && b->mass > 0) r = sqrt((b->inertia.x + b->inertia.y + b->inertia.z) / b->mass);
  return r;
}

static double start_value(Reduce r) {
  return r == REDUCE_MIN ? INFINITY : r == REDUCE_MAX ? -INFINITY : 0;
}

void watch_begin(Watch* w, const abModel* model, const abData* data) {
  const abSweep* s = w->sweep;
  w->model = model;
  w->time0 = data->time;
  abEnergy e = ab_energy(model, data);
  w->energy0 = e.kinetic + e.gravity + e.spring;
  for (int b = 0; b < model->nbody; b++) {
    w->pose0[b] = data->pose[b];
    w->com0[b] = w->com_last[b] = data->com[b];
    w->path[b] = 0;
    w->radius[b] = radius_of(model, &model->body[b]);
  }
  w->resting_since = NAN;
  w->max_residual = w->max_penetration = w->nstep = w->nunconverged = 0;
  w->stopped = 0;
  for (int i = 0; i < s->nmeasure; i++) {
    const Measure* m = &s->measure[i];
    w->total[i] = start_value(m->reduce);
    if (m->reduce == REDUCE_FIRST) w->total[i] = quantity_value(&m->quantity, w, data);
  }
}

static void add_measures(Watch* w, const abData* data) {
  const abSweep* s = w->sweep;
  for (int i = 0; i < s->nmeasure; i++) {
    const Measure* m = &s->measure[i];
    bool adds = quantity_adds_up(&m->quantity);
    if (!adds && (m->reduce == REDUCE_LAST || m->reduce == REDUCE_FIRST)) continue;
    double x = quantity_value(&m->quantity, w, data), *t = &w->total[i];
    *t = m->reduce == REDUCE_MIN ? fmin(*t, x) : m->reduce == REDUCE_MAX ? fmax(*t, x) : *t + x;
  }
}

static bool all_at_rest(const Watch* w, const abData* data) {
  abVec3 g = w->model->gravity;
  double pull = sqrt(g.x * g.x + g.y * g.y + g.z * g.z);
  if (!(pull > 0)) pull = 9.81;  // in free space, too, there must be a measure of slow
  for (int b = 1; b < w->model->nbody; b++) {
    if (w->model->body[b].mover < 0) continue;
    abVec3 v = data->twist[b].lin, o = data->twist[b].ang;
    double r = w->radius[b], bound = w->sweep->stop.speed * sqrt(pull * r);
    double speed = sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
    if (!(speed + r * sqrt(o.x * o.x + o.y * o.y + o.z * o.z) <= bound)) return false;
  }
  return true;
}

static void follow_paths(Watch* w, const abData* data) {
  for (int b = 1; b < w->model->nbody; b++) {
    abVec3 p = data->com[b], last = w->com_last[b];
    w->path[b] += hypot(hypot(p.x - last.x, p.y - last.y), p.z - last.z);
    w->com_last[b] = p;
  }
}

static int met_condition(const Watch* w, const abData* data) {
  const Stop* stop = &w->sweep->stop;
  // the shortest rest that counts began `hold` ago, up to the rounding of the times of the steps
  if (stop->rest && data->time - w->resting_since >= stop->hold * (1 - 1e-9)) return 1;
  if (stop->unconverged && data->stat.status == AB_STEP_UNCONVERGED) return 2;
  for (int i = 0; i < stop->ncondition; i++) {
    const Condition* c = &stop->condition[i];
    double x = quantity_value(&c->quantity, w, data);
    if (c->above ? x > c->bound : x < c->bound) return 3 + i;
  }
  return 0;
}

bool watch_step(Watch* w, const abData* data) {
  w->nstep++;
  w->nunconverged += data->stat.status == AB_STEP_UNCONVERGED;
  w->max_residual = fmax(w->max_residual, data->stat.residual);
  w->max_penetration = fmax(w->max_penetration, data->stat.max_penetration);
  if (!all_at_rest(w, data))
    w->resting_since = NAN;
  else if (isnan(w->resting_since))
    w->resting_since = data->time;
  if (w->need_path) follow_paths(w, data);
  add_measures(w, data);
  w->stopped = met_condition(w, data);
  return w->stopped != 0;
}

void watch_end(const Watch* w, const abData* data, double* measure) {
  const abSweep* s = w->sweep;
  for (int i = 0; i < s->nmeasure; i++) {
    const Measure* m = &s->measure[i];
    if (m->reduce == REDUCE_LAST && !quantity_adds_up(&m->quantity))
      measure[i] = quantity_value(&m->quantity, w, data);
    else
      measure[i] = m->reduce == REDUCE_MEAN ? w->total[i] / w->nstep : w->total[i];
    // what is not a number is neither below nor above
    if (m->sign) measure[i] = m->sign == '<' ? measure[i] < m->bound : measure[i] > m->bound;
  }
}
