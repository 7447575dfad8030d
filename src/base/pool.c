// Tests: test_patch_threads, test_step.
#define _POSIX_C_SOURCE 200809L
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/alloc.h"

typedef struct Worker {
  struct abPool* pool;
  int index;
  pthread_t thread;
  abArena scratch;
} Worker;

struct abPool {
  int nworker;  // the calling thread is worker 0
  Worker* worker;
  int nstarted;   // threads of the others
  pid_t process;  // that started them
  pthread_mutex_t mutex;
  pthread_cond_t start, done;
  unsigned long round;  // counts loops; workers wait for it to change
  int nbusy;
  bool quit;
  // the loop under way
  int n;
  abTask task;
  void* context;
  atomic_int next;
};

static void take_indices(struct abPool* pool, int worker) {
  for (;;) {
    int i = atomic_fetch_add(&pool->next, 1);
    if (i >= pool->n) return;
    pool->task(pool->context, i, worker);
  }
}

static void* work(void* argument) {
  Worker* self = argument;
  struct abPool* pool = self->pool;
  unsigned long seen = 0;
  for (;;) {
    pthread_mutex_lock(&pool->mutex);
    while (pool->round == seen && !pool->quit) pthread_cond_wait(&pool->start, &pool->mutex);
    seen = pool->round;
    bool quit = pool->quit;
    pthread_mutex_unlock(&pool->mutex);
    if (quit) return NULL;
    take_indices(pool, self->index);
    pthread_mutex_lock(&pool->mutex);
    if (--pool->nbusy == 0) pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->mutex);
  }
}

static void start_threads(struct abPool* pool) {
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->start, NULL);
  pthread_cond_init(&pool->done, NULL);
  pool->process = getpid();
  pool->round = 0;
  pool->nstarted = 0;
  for (int i = 1; i < pool->nworker; i++) {
    Worker* w = &pool->worker[i];
    if (pthread_create(&w->thread, NULL, work, w) != 0) return;
    pool->nstarted++;
  }
}

abStatus ab_pool_create(int nthread, struct abPool** out) {
  *out = NULL;
  struct abPool* pool = ab_alloc_zero(sizeof *pool);
  if (!pool) return AB_ERROR_MEMORY;
  pool->worker = ab_alloc_zero(sizeof(Worker) * (size_t)nthread);
  for (int i = 0; pool->worker && i < nthread; i++) {
    Worker* w = &pool->worker[i];
    *w = (Worker){.pool = pool, .index = i};
    ab_arena_init(&w->scratch, SIZE_MAX);
    pool->nworker = i + 1;
  }
  start_threads(pool);
  if (pool->nworker < nthread || pool->nstarted < nthread - 1) {
    ab_pool_free(pool);
    return AB_ERROR_MEMORY;
  }
  *out = pool;
  return AB_OK;
}

// A child of a fork has none of its parent's threads, and locks as the fork found them.
static bool is_ours(const struct abPool* pool) { return pool->process == getpid(); }

static void end_threads(struct abPool* pool) {
  pthread_mutex_lock(&pool->mutex);
  pool->quit = true;
  pthread_cond_broadcast(&pool->start);
  pthread_mutex_unlock(&pool->mutex);
  for (int i = 1; i <= pool->nstarted; i++) pthread_join(pool->worker[i].thread, NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->start);
  pthread_mutex_destroy(&pool->mutex);
}

void ab_pool_free(struct abPool* pool) {
  if (!pool) return;
  if (is_ours(pool)) end_threads(pool);
  for (int i = 0; i < pool->nworker; i++) ab_arena_free(&pool->worker[i].scratch);
  ab_free(pool->worker);
  ab_free(pool);
}

abArena* ab_pool_scratch(struct abPool* pool, int worker) {
  return pool ? &pool->worker[worker].scratch : NULL;
}

void ab_pool_run(struct abPool* pool, int n, abTask task, void* context) {
  if (!pool || pool->nworker == 1 || n < 2) {
    for (int i = 0; i < n; i++) task(context, i, 0);
    return;
  }
  if (!is_ours(pool)) start_threads(pool);
  pthread_mutex_lock(&pool->mutex);
  pool->n = n;
  pool->task = task;
  pool->context = context;
  atomic_store(&pool->next, 0);
  pool->nbusy = pool->nstarted;
  pool->round++;
  pthread_cond_broadcast(&pool->start);
  pthread_mutex_unlock(&pool->mutex);
  take_indices(pool, 0);
  pthread_mutex_lock(&pool->mutex);
  while (pool->nbusy > 0) pthread_cond_wait(&pool->done, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}
