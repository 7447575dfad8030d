// In place of pool.c, where there are no threads: everything is done by the caller.
#include "base/pool.h"

abStatus ab_pool_create(int nthread, struct abPool** pool) {
  (void)nthread;
  *pool = NULL;
  return AB_ERROR_UNSUPPORTED;
}

void ab_pool_free(struct abPool* pool) { (void)pool; }

void ab_pool_run(struct abPool* pool, int n, abTask task, void* context) {
  (void)pool;
  for (int i = 0; i < n; i++) task(context, i, 0);
}

abArena* ab_pool_scratch(struct abPool* pool, int worker) {
  (void)pool, (void)worker;
  return NULL;
}
