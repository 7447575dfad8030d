// A fixed set of threads that share the indices of one loop. Which thread does which index is not
// fixed, so a task may write only what belongs to its index, or scratch of its worker: then the
// result is the same for any number of threads.
#ifndef ABUT_BASE_POOL_H
#define ABUT_BASE_POOL_H

#include <abut/types.h>

#include "base/arena.h"

typedef void (*abTask)(void* context, int index, int worker);  // worker: one of the threads, from 0

struct abPool;

abStatus ab_pool_create(int nthread, struct abPool** pool);
void ab_pool_free(struct abPool* pool);
// Runs task for every index in [0, n) and returns when all are done; serially if pool is NULL.
void ab_pool_run(struct abPool* pool, int n, abTask task, void* context);
// Scratch memory of one worker; NULL for pool == NULL (then the caller has its own).
abArena* ab_pool_scratch(struct abPool* pool, int worker);

#endif
