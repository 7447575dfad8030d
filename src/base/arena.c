// Tests: test_room, test_allocations.
#include "base/arena.h"

#include <string.h>

#include "base/alloc.h"

enum { ARENA_ALIGN = 64, FIRST_BLOCK = 4096 };

// A piece of the arena. Its bytes are counted on from those of the pieces before it, so that a mark
// is one number.
struct abArenaBlock {
  struct abArenaBlock *before, *after;
  size_t start, size;
  size_t entered;  // what was taken when it was last gone over to
  char* at;
};

// Nothing fits into a block that ends before it begins: the first taking makes one.
void ab_arena_init(abArena* arena, size_t capacity) {
  *arena = (abArena){.capacity = capacity, .begin = 1};
}

// A piece behind the last one, as large as all before it together: a step that has grown to n bytes
// has asked log n times.
static struct abArenaBlock* append(abArena* arena, struct abArenaBlock* last, size_t bytes) {
  size_t start = last ? last->start + last->size : 0,
         size = start > FIRST_BLOCK ? start : FIRST_BLOCK;
  if (start > arena->capacity || bytes > arena->capacity - start) return NULL;
  if (size < bytes) size = bytes;
  if (size > arena->capacity - start) size = arena->capacity - start;
  size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
  struct abArenaBlock* block = ab_alloc(sizeof *block + ARENA_ALIGN + size);
  if (!block) return NULL;
  size_t over = (uintptr_t)(block + 1) & (ARENA_ALIGN - 1);
  char* at = (char*)(block + 1) + (over ? ARENA_ALIGN - over : 0);
  *block = (struct abArenaBlock){.before = last, .start = start, .size = size, .at = at};
  ab_guard_close(at, size);
  if (last) last->after = block;
  return block;
}

void ab_arena_free(abArena* arena) {
  struct abArenaBlock* block = arena->block;
  while (block && block->after) block = block->after;
  while (block) {
    struct abArenaBlock* before = block->before;
    ab_free(block);
    block = before;
  }
  ab_arena_init(arena, arena->capacity);
}

static void enter(abArena* arena, struct abArenaBlock* block) {
  arena->block = block;
  arena->begin = block->start, arena->end = block->start + block->size;
  arena->at = block->at;
}

void* ab_arena_take_beyond(abArena* arena, size_t bytes) {
  struct abArenaBlock* block = arena->block;
  do {
    struct abArenaBlock* next = block && block->after ? block->after : append(arena, block, bytes);
    if (!next) return NULL;
    block = next;
    block->entered = arena->used;
  } while (bytes > block->size);
  enter(arena, block);
  arena->used = block->start + bytes;
  if (arena->used > arena->peak) arena->peak = arena->used;
  ab_guard_open(block->at, bytes);
  return block->at;
}

void* ab_arena_extend(abArena* arena, void* at, size_t bytes, size_t more) {
  const struct abArenaBlock* block = arena->block;
  size_t first = at ? (size_t)((char*)at - block->at) : 0;
  if (at && more <= block->size - first - bytes) {
    arena->used = block->start + first + bytes + more;
    if (arena->used > arena->peak) arena->peak = arena->used;
    ab_guard_open(at, bytes + more);
    return at;
  }
  void* moved = ab_arena_take(arena, bytes + more);
  if (moved && bytes > 0) memcpy(moved, at, bytes);
  return moved;
}

// What was taken since a mark.
static void close_from(const abArena* arena, abArenaMark mark) {
  for (struct abArenaBlock* b = arena->block; b && b->start + b->size > mark; b = b->before) {
    size_t end = b->start + b->size, first = b->start > mark ? b->start : mark,
           last = arena->used < end ? arena->used : end;
    if (last > first) ab_guard_close(b->at + (first - b->start), last - first);
  }
}

// Back to a mark, but not out of the block that the first taking after it went over to: whoever
// takes more than he needs, gives back and takes less gets the same place.
void ab_arena_release(abArena* arena, abArenaMark mark) {
  struct abArenaBlock* block = arena->block;
  close_from(arena, mark);
  while (block && block->start > mark && block->entered != mark) block = block->before;
  if (block) enter(arena, block);
  arena->used = mark;
}

void* ab_arena_save(abArena* to, void* at, size_t bytes) {
  void* saved = ab_arena_take(to, bytes);
  if (!saved) return NULL;
  ab_guard_open(at, bytes);
  if (bytes > 0) memmove(saved, at, bytes);
  ab_guard_close(at, bytes);
  ab_guard_open(saved, bytes);
  return saved;
}
