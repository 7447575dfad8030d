// A stack of memory for one step: take what is needed, give all back to a mark. It grows by blocks
// and never shrinks, so that steps allocate while they grow beyond all before them, a number of
// times that is the logarithm of their size, and not at all afterwards.
#ifndef ABUT_BASE_ARENA_H
#define ABUT_BASE_ARENA_H

#include <abut/types.h>

#include "base/guard.h"

typedef struct abArena {
  struct abArenaBlock* block;  // the one in use
  size_t begin, end;           // its bytes, counted on from those of the blocks before it
  char* at;                    // and where they are
  size_t used;                 // bytes taken, with what was left over at the ends of full blocks
  size_t capacity;             // bytes it may grow to
  size_t peak;                 // the largest `used` so far
} abArena;

typedef size_t abArenaMark;

// Nothing is allocated before something is taken.
void ab_arena_init(abArena* arena, size_t capacity);
void ab_arena_free(abArena* arena);
// 64-byte aligned, not cleared. Returns NULL when there is no memory, or the arena would grow
// beyond its capacity, which callers report.
void* ab_arena_take_beyond(abArena* arena, size_t bytes);  // where the block is full
static inline void* ab_arena_take(abArena* arena, size_t bytes) {
  size_t gap = arena->used > arena->begin ? AB_GUARD_GAP : 0;
  size_t first = (arena->used + gap + 63) & ~(size_t)63;
  if (first < arena->begin) first = arena->begin;
  if (first > arena->end || bytes > arena->end - first) return ab_arena_take_beyond(arena, bytes);
  arena->used = first + bytes;
  if (arena->used > arena->peak) arena->peak = arena->used;
  ab_guard_open(arena->at + (first - arena->begin), bytes);
  return arena->at + (first - arena->begin);
}
// More room for what was taken last, or for nothing yet (at = NULL, bytes = 0): where the block is
// full it is moved. NULL as above; then it stays as it was.
void* ab_arena_extend(abArena* arena, void* at, size_t bytes, size_t more);
static inline abArenaMark ab_arena_mark(const abArena* arena) { return arena->used; }
// What is taken next, if it is no larger, begins where the first taking after the mark did.
void ab_arena_release(abArena* arena, abArenaMark mark);
// Takes room in `to` for what was released just now, there or in another arena, and moves it there.
// NULL as above.
void* ab_arena_save(abArena* to, void* at, size_t bytes);

#define AB_TAKE(arena, type, count) ((type*)ab_arena_take((arena), sizeof(type) * (size_t)(count)))

#endif
