// One thread's simulation, made ready for run after run.
//
// The varied numbers are set in a scene of the worker's own, which is compiled into the memory of
// its model; so a run has exactly the model that a file with these numbers would give. Where
// shapes, fixed poses or joints have changed since the run before, model and simulation are made
// anew.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"

struct abSweepWorker {
  const abSweep* sweep;
  abScene* scene;
  abModel* model;
  abData* data;
  int key;
  int n;             // numbers, varied and fixed
  double* value;     // of this run
  double* compiled;  // those the model has; NAN: none
  abNumber* number;  // of those that are numbers of the scene
  bool numbers;      // there are some
  Series forces, controls;
  SeriesPlace forces_place, controls_place;
  Watch watch;
  const volatile int* stop;  // from outside, or NULL
};

static double wall_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// --- making one ---

static abStatus make_data(abSweepWorker* w, abError* error) {
  w->data = ab_data_create(w->model, error);
  if (!w->data) return error->code;
  w->data->sleep.on = w->sweep->sleep;
  return w->sweep->contact ? ab_set_contact(w->model, w->data, w->sweep->contact, error) : AB_OK;
}

static int most_rows(const Series* one, int n, const Series* many) {
  int most = one->nrow;
  for (int i = 0; i < n; i++) most = many[i].nrow > most ? many[i].nrow : most;
  return most;
}

static bool make_arrays(abSweepWorker* w) {
  const abSweep* s = w->sweep;
  size_t n = (size_t)w->n + 1;
  w->value = calloc(n, sizeof *w->value);
  w->compiled = calloc(n, sizeof *w->compiled);
  w->number = calloc(n, sizeof *w->number);
  if (!w->value || !w->compiled || !w->number) return false;
  for (int i = 0; i < w->n; i++) w->compiled[i] = NAN;
  return series_copy(&s->forces, &w->forces) && series_copy(&s->controls, &w->controls) &&
         series_place(&w->forces_place, most_rows(&s->forces, s->nforces_of, s->forces_of)) &&
         series_place(&w->controls_place,
                      most_rows(&s->controls, s->ncontrols_of, s->controls_of)) &&
         watch_create(&w->watch, s, w->model);
}

static abStatus make(abSweepWorker* w, abError* error) {
  const abSweep* s = w->sweep;
  w->scene = ab_scene_load(s->scene, NULL, error);
  if (!w->scene || !(w->model = ab_scene_compile(w->scene, error))) return error->code;
  abStatus status = make_data(w, error);
  w->n = s->nvary + s->nfixed;
  if (!status && !make_arrays(w))
    status = sweep_fail(error, AB_ERROR_MEMORY, s->path, 0, "no memory for a worker");
  for (int i = 0; i < w->n && !status; i++) {
    if (s->vary[i].target != TARGET_NUMBER) continue;
    w->numbers = true;
    status = ab_number_find(w->scene, s->vary[i].name, &w->number[i], error);
  }
  w->key = s->key ? ab_find_key(w->model, s->key) : -1;
  return status;
}

abSweepWorker* ab_sweep_worker_create(const abSweep* sweep, abError* error) {
  abError own = {0};
  abSweepWorker* w = calloc(1, sizeof *w);
  if (!error) error = &own;
  if (w) w->sweep = sweep;
  if (w && make(w, error) == AB_OK) return w;
  if (!w) sweep_fail(error, AB_ERROR_MEMORY, sweep->path, 0, "no memory for a worker");
  ab_sweep_worker_free(w);
  return NULL;
}

void ab_sweep_worker_free(abSweepWorker* w) {
  if (!w) return;
  watch_free(&w->watch);
  series_place_free(&w->forces_place);
  series_place_free(&w->controls_place);
  series_free(&w->forces);
  series_free(&w->controls);
  free(w->number);
  free(w->compiled);
  free(w->value);
  ab_data_free(w->data);
  ab_model_free(w->model);
  ab_scene_free(w->scene);
  free(w);
}

// --- the numbers of a run ---

static abStatus compile_anew(abSweepWorker* w, abError* error) {
  abModel* model = ab_scene_compile(w->scene, error);
  if (!model) return error->code;
  ab_data_free(w->data);
  ab_model_free(w->model);
  w->data = NULL;
  w->model = model;
  return make_data(w, error);
}

static abStatus compile_numbers(abSweepWorker* w, abError* error) {
  const abSweep* s = w->sweep;
  bool reshapes = false;
  for (int i = 0; i < w->n; i++) {
    if (s->vary[i].target != TARGET_NUMBER) continue;
    ab_number_set(w->scene, &w->number[i], w->value[i]);
    reshapes = reshapes || (w->number[i].reshapes && !(w->value[i] == w->compiled[i]));
    w->compiled[i] = NAN;  // until it is
  }
  for (int i = 0; i < w->n; i++) {
    if (s->vary[i].target != TARGET_NUMBER) continue;
    abStatus status = ab_number_check(w->scene, &w->number[i], error);
    if (status) return status;
  }
  abStatus status =
      reshapes ? compile_anew(w, error) : ab_scene_recompile(w->scene, w->model, error);
  if (status) return status;
  ab_data_refresh(w->model, w->data);
  memcpy(w->compiled, w->value, sizeof(double) * (size_t)w->n);
  return AB_OK;
}

static abStatus set_inputs(abSweepWorker* w, abError* error) {
  const abSweep* s = w->sweep;
  for (int i = 0; i < w->n; i++) {
    const Vary* v = &s->vary[i];
    if (v->target == TARGET_FORCE) series_set(&w->forces, v->series, w->value[i]);
    if (v->target == TARGET_CONTROL) series_set(&w->controls, v->series, w->value[i]);
    if (v->target != TARGET_PARAM) continue;
    abStatus status = ab_set_param(w->data, v->name + strlen("param."), w->value[i], error);
    if (status) return status;
  }
  return AB_OK;
}

// The series in force: the one given once, or that of the run's file.
static const Series* series_of(const abSweepWorker* w, Target target) {
  const abSweep* s = w->sweep;
  for (int i = 0; i < w->n; i++)
    if (s->vary[i].target == target)
      return &(target == TARGET_FORCES ? s->forces_of : s->controls_of)[(int)w->value[i]];
  return target == TARGET_FORCES ? &w->forces : &w->controls;
}

static abStatus prepare(abSweepWorker* w, abError* error) {
  // a simulation that could not be made for the run before is made now
  abStatus status = w->numbers ? compile_numbers(w, error) : AB_OK;
  if (!status && !w->data) status = make_data(w, error);
  if (!status) status = set_inputs(w, error);
  if (status) return status;
  w->data->h = w->sweep->step > 0 ? w->sweep->step : w->model->timestep;
  ab_data_reset(w->model, w->data, w->key);
  return AB_OK;
}

// --- the run ---

void ab_sweep_worker_heed(abSweepWorker* w, const volatile int* stop) { w->stop = stop; }

static int64_t step_count(double time, double h) {
  double n = time / h, whole = round(n);
  // 2 / 0.001 may come out a rounding error above 2000: that is 2000 steps, not 2001
  if (fabs(n - whole) > 1e-9 * n) whole = ceil(n);
  return whole < 1e15 ? (int64_t)whole : (int64_t)1000000000000000;
}

// Samples for the eye, 60 a second; a file of numbers has them all.
static int64_t frame_interval(const abSweepWorker* w, const char* record) {
  const char* dot = strrchr(record, '.');
  if (dot && !strcmp(dot, ".h5")) return 1;
  int64_t every = (int64_t)(1.0 / 60 / w->data->h * (1 + 1e-9));
  return every < 1 ? 1 : every;
}

typedef struct Tape {
  abRecorder* recorder;
  int64_t every;
} Tape;

static abStatus simulate(abSweepWorker* w, const Tape* tape, abRunStatus* outcome, abError* error) {
  const abSweep* s = w->sweep;
  const Series *forces = series_of(w, TARGET_FORCES), *controls = series_of(w, TARGET_CONTROLS);
  double begun = s->limit > 0 ? wall_clock() : 0;
  int64_t n = step_count(s->time, w->data->h);
  series_begin(forces, &w->forces_place);
  series_begin(controls, &w->controls_place);
  watch_begin(&w->watch, w->model, w->data);
  *outcome = AB_RUN_OK;
  abStatus status = AB_OK;
  for (int64_t i = 0; i < n && !status; i++) {
    if (tape->recorder && i % tape->every == 0)
      status = ab_record_sample(tape->recorder, w->model, w->data, error);
    series_apply(forces, &w->forces_place, w->data);
    series_apply(controls, &w->controls_place, w->data);
    if (ab_step(w->model, w->data) == AB_STEP_BROKEN) {
      *outcome = AB_RUN_BROKEN;
      break;
    }
    if (watch_step(&w->watch, w->data) || (w->stop && *w->stop)) break;
    if (s->limit > 0 && wall_clock() - begun > s->limit) {
      *outcome = AB_RUN_TIMEOUT;
      break;
    }
  }
  if (tape->recorder && !status)
    status = ab_record_sample(tape->recorder, w->model, w->data, error);
  return status;
}

static void explain(const abSweepWorker* w, abRunStatus outcome, abError* why) {
  if (outcome == AB_RUN_BROKEN)
    sweep_fail(
        why, AB_ERROR_NUMERIC, NULL, 0,
        "the step at time %.9g s broke down (residual %.3g); try a smaller step, or look for "
        "extreme forces or masses",
        w->data->time, w->data->stat.residual);
  if (outcome == AB_RUN_TIMEOUT)
    sweep_fail(why, AB_ERROR_NUMERIC, NULL, 0,
               "the limit of %g s was reached at time %.9g s of the simulation", w->sweep->limit,
               w->data->time);
}

static void fill_row(const abSweepWorker* w, abRunStatus outcome, double* row) {
  const abSweep* s = w->sweep;
  double* end = row + ab_sweep_status_at(s);
  watch_end(&w->watch, w->data, row + s->nvary);
  end[0] = outcome;
  end[1] = w->watch.max_residual;
  end[2] = w->data->time;
  end += 3;
  if (s->keep_hash) {
    uint64_t hash = ab_state_hash(w->model, w->data);
    memcpy(end++, &hash, sizeof hash);
  }
  if (s->keep_state) {
    memcpy(end, w->data->q, sizeof(double) * (size_t)s->nq);
    memcpy(end + s->nq, w->data->v, sizeof(double) * (size_t)s->nv);
  }
}

static abRunStatus refuse_row(const abSweep* s, double* row) {
  for (int i = s->nvary; i < ab_sweep_width(s); i++) row[i] = NAN;
  double* end = row + ab_sweep_status_at(s);
  end[0] = AB_RUN_REFUSED;
  if (s->keep_hash) end[3] = 0;
  return AB_RUN_REFUSED;
}

abRunStatus ab_sweep_worker_run(abSweepWorker* w, int64_t run, const char* record, double* row,
                                abError* why) {
  const abSweep* s = w->sweep;
  abError own = {0};
  abRunStatus outcome;
  Tape tape = {0};
  if (!why) why = &own;
  ab_sweep_values(s, run, row);
  memcpy(w->value, row, sizeof(double) * (size_t)s->nvary);
  for (int i = s->nvary; i < w->n; i++) {
    const Vary* v = &s->vary[i];
    w->value[i] = v->tie ? row[v->tied_to] : v->file ? 0 : v->value[0];
  }
  if (prepare(w, why)) return refuse_row(s, row);
  if (record) {
    tape = (Tape){ab_record_open(record, w->model, why), frame_interval(w, record)};
    if (!tape.recorder) return refuse_row(s, row);
  }
  abStatus status = simulate(w, &tape, &outcome, why);
  if (tape.recorder && ab_record_close(tape.recorder, status ? NULL : why)) status = why->code;
  if (status) return refuse_row(s, row);
  explain(w, outcome, why);
  fill_row(w, outcome, row);
  return outcome;
}
