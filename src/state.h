// A walk over a state that counts, writes or reads: one function says what belongs to it, for all
// three (state.c).
#ifndef ABUT_STATE_WALK_H
#define ABUT_STATE_WALK_H

#include <abut/state.h>

struct abSleep;
struct abSleepStore;

typedef enum abWalkKind { AB_WALK_COUNT, AB_WALK_WRITE, AB_WALK_READ } abWalkKind;

typedef struct abWalk {
  abWalkKind kind;
  char* block;
  size_t used, room;
  bool good;  // false: the block has ended too early, or there is no memory
} abWalk;

// The object goes to the block, or comes from it.
void ab_walk(abWalk* walk, void* object, size_t bytes);
// The same for flags: a byte of the block that is neither 0 nor 1 is a damage.
void ab_walk_flags(abWalk* walk, bool* flag, size_t n);

// Who sleeps, and since when whoever is awake has been at rest (sleep.c).
void ab_sleep_walk(struct abSleep* sleep, const abData* data, abWalk* walk);
// What is kept of the pairs of those who sleep (sleep_store.c).
void ab_sleep_store_walk(const abModel* model, struct abSleepStore* store, const abData* data,
                         abWalk* walk);

#endif
