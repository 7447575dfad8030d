// Threads that take chunks from a source and hand their rows back. What a row holds does not depend
// on who made it, so nothing here has to care about order.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "engine.h"

typedef struct Crew {
  const abSweep* sweep;
  const abSweepSource* source;
  const volatile int* stop;
  atomic_int failed;
  pthread_mutex_t lock;
  abError error;  // the first one
} Crew;

static void report(Crew* crew, const abError* error) {
  pthread_mutex_lock(&crew->lock);
  if (!atomic_exchange(&crew->failed, 1)) crew->error = *error;
  pthread_mutex_unlock(&crew->lock);
}

static bool stopped(const Crew* crew) {
  return atomic_load(&crew->failed) || (crew->stop && *crew->stop);
}

// False: stopped in the middle, of a run perhaps.
static bool run_chunk(Crew* crew, abSweepWorker* worker, int64_t chunk, double* row) {
  int64_t first, n, width = ab_sweep_width(crew->sweep);
  ab_sweep_chunk(crew->sweep, chunk, &first, &n);
  for (int64_t i = 0; i < n && !stopped(crew); i++)
    ab_sweep_worker_run(worker, first + i, NULL, row + i * width, NULL);
  return !stopped(crew);
}

static void* work(void* context) {
  Crew* crew = context;
  abError error = {0};
  int64_t first, most, chunk;
  ab_sweep_chunk(crew->sweep, 0, &first, &most);
  abSweepWorker* worker = ab_sweep_worker_create(crew->sweep, &error);
  double* row = malloc(sizeof(double) * (size_t)most * (size_t)ab_sweep_width(crew->sweep));
  if (worker && !row) sweep_fail(&error, AB_ERROR_MEMORY, NULL, 0, "no memory for a chunk of rows");
  bool good = worker && row;
  if (good) ab_sweep_worker_heed(worker, crew->stop);
  while (good && !stopped(crew) && crew->source->take(crew->source->context, &chunk)) {
    if (!run_chunk(crew, worker, chunk, row)) break;
    good = crew->source->deliver(crew->source->context, chunk, row, &error) == AB_OK;
  }
  if (!good) report(crew, &error);
  free(row);
  ab_sweep_worker_free(worker);
  return NULL;
}

abStatus ab_sweep_run(const abSweep* sweep, const abSweepSource* source, int nthread,
                      const volatile int* stop, abError* error) {
  Crew crew = {.sweep = sweep, .source = source, .stop = stop};
  pthread_t* thread = calloc((size_t)nthread, sizeof *thread);
  if (!thread) return sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for threads");
  pthread_mutex_init(&crew.lock, NULL);
  int n = 0;
  while (n < nthread && pthread_create(&thread[n], NULL, work, &crew) == 0) n++;
  if (n == 0) work(&crew);
  for (int i = 0; i < n; i++) pthread_join(thread[i], NULL);
  pthread_mutex_destroy(&crew.lock);
  free(thread);
  if (!atomic_load(&crew.failed)) return AB_OK;
  if (error) *error = crew.error;
  return crew.error.code;
}
