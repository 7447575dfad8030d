// How a sweep gets on, from a thread of its own: a bar with rate and time left on a terminal, a
// line a minute in a log.
#define _POSIX_C_SOURCE 200809L
#include "sweep_progress.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "cli.h"
#include "progress.h"

struct SweepProgress {
  abSweepStore* store;
  bool quiet;
  int64_t todo;  // at the beginning
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool over;
};

static void print_line(const SweepProgress* c, double done, double rate) {
  double left = rate > 0 ? ((double)c->todo - done) / rate : 0;
  fprintf(stderr, "abut sweep: %.0f of %lld runs, %.3g a second, %.0f s left\n", done,
          (long long)c->todo, rate, left);
}

static void* watch(void* context) {
  SweepProgress* m = context;
  char title[64] = "abut sweep";
  Progress bar = progress_begin(title, m->quiet);
  double begun = cli_clock(), told = begun;
  pthread_mutex_lock(&m->lock);
  while (!m->over) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 200000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&m->wake, &m->lock, &until);
    double now = cli_clock(), done = (double)(m->todo - ab_sweep_store_todo(m->store));
    double rate = done / (now - begun);
    snprintf(title, sizeof title, "abut sweep %.3g runs/s", rate);
    if (m->todo > 0) progress_show(&bar, done / (double)m->todo);
    if (bar.shown || m->quiet || now - told < 60) continue;
    told = now;
    print_line(m, done, rate);
  }
  pthread_mutex_unlock(&m->lock);
  progress_end(&bar);
  return NULL;
}

SweepProgress* sweep_progress_begin(abSweepStore* store, bool quiet) {
  SweepProgress* m = calloc(1, sizeof *m);
  if (!m) return NULL;
  m->store = store;
  m->quiet = quiet;
  m->todo = ab_sweep_store_todo(store);
  pthread_mutex_init(&m->lock, NULL);
  pthread_cond_init(&m->wake, NULL);
  if (pthread_create(&m->thread, NULL, watch, m) == 0) return m;
  free(m);
  return NULL;
}

void sweep_progress_end(SweepProgress* m) {
  if (!m) return;
  pthread_mutex_lock(&m->lock);
  m->over = true;
  pthread_cond_signal(&m->wake);
  pthread_mutex_unlock(&m->lock);
  pthread_join(m->thread, NULL);
  pthread_cond_destroy(&m->wake);
  pthread_mutex_destroy(&m->lock);
  free(m);
}
