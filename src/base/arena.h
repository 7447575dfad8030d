// A stack of memory for one step: take what is needed, give all back to a mark. Nothing is
// allocated while stepping: the address range is reserved once, and the system fills it with pages
// as they are touched, so the arena has room for the largest step without anybody guessing its size
// beforehand.
#ifndef ABUT_BASE_ARENA_H
#define ABUT_BASE_ARENA_H

#include <abut/types.h>

typedef struct abArena {
  char* base;
  size_t used;      // bytes taken
  size_t capacity;  // bytes reserved
  size_t peak;      // the largest `used` so far
} abArena;

typedef size_t abArenaMark;

// Reserves up to `capacity` bytes of address space (less where the system gives less).
abStatus ab_arena_init(abArena* arena, size_t capacity);
void ab_arena_free(abArena* arena);
// How much to reserve for a model of so many bytes and geoms, `most` for the largest: enough for
// every pair of its geoms at once, and little enough for thousands of simulations in one process.
size_t ab_arena_room(size_t model_bytes, int ngeom, size_t most);
// 64-byte aligned, not cleared. Returns NULL when the range is exhausted, which callers report.
void* ab_arena_take(abArena* arena, size_t bytes);
static inline abArenaMark ab_arena_mark(const abArena* arena) { return arena->used; }
static inline void ab_arena_release(abArena* arena, abArenaMark mark) { arena->used = mark; }

#define AB_TAKE(arena, type, count) ((type*)ab_arena_take((arena), sizeof(type) * (size_t)(count)))

#endif
