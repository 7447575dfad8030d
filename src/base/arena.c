#if defined(__linux__)
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#endif

#include "base/arena.h"

#include "base/alloc.h"

enum { ARENA_ALIGN = 64 };

#if defined(__linux__)
// Where address space is limited (ulimit -v), or the system backs every reservation with memory
// (vm.overcommit_memory = 2), an arena takes its share: a simulation has a dozen of them, a thread
// one more, and the host needs room as well.
static size_t share(size_t capacity) {
  enum { SHARES = 32 };
  struct rlimit limit;
  size_t most = capacity;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur / SHARES < most)
    most = (size_t)limit.rlim_cur / SHARES;
  FILE* file = fopen("/proc/sys/vm/overcommit_memory", "re");
  bool strict = file && fgetc(file) == '2';
  if (file) fclose(file);
  file = strict ? fopen("/proc/meminfo", "re") : NULL;
  char line[128];
  unsigned long long limit_kb = 0, taken_kb = 0;
  while (file && fgets(line, sizeof line, file)) {
    sscanf(line, "CommitLimit: %llu", &limit_kb);
    sscanf(line, "Committed_AS: %llu", &taken_kb);
  }
  if (file) fclose(file);
  unsigned long long room = limit_kb > taken_kb ? (limit_kb - taken_kb) / SHARES * 1024 : 0;
  if (strict && room < most) most = (size_t)room;
  return most;
}
#endif

abStatus ab_arena_init(abArena* arena, size_t capacity) {
  *arena = (abArena){0};
#if defined(__linux__)
  // Reserve without committing; where there is less room still, ask for less until it fits.
  for (size_t n = share(capacity); n >= (1u << 20); n /= 4) {
    void* p =
        mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) {
      arena->base = p;
      arena->capacity = n;
      return AB_OK;
    }
  }
  return AB_ERROR_MEMORY;
#else
  // A range that grew could not stay in one piece; but what is not touched costs address space
  // only, here too. Where addresses have 32 bits there is less of that, and a capacity beyond them
  // has wrapped to nothing.
  const size_t most = (size_t)(sizeof(void*) > 4 ? 64 : 16) << 20;
  size_t n = capacity > 0 && capacity < most ? capacity : most;
  arena->base = ab_alloc(n);
  arena->capacity = arena->base ? n : 0;
  return arena->base ? AB_OK : AB_ERROR_MEMORY;
#endif
}

// A pair takes some kilobytes, in the solvers of whole islands some for each pair of pairs; a
// megabyte for each pair of geoms is far beyond either.
size_t ab_arena_room(size_t model_bytes, int ngeom, size_t most) {
  double n = ngeom, room = 0x1p28 + 0x1p20 * n * n + 0x1p12 * (double)model_bytes;
  return room < (double)most ? (size_t)room : most;
}

void ab_arena_free(abArena* arena) {
  if (!arena->base) return;
#if defined(__linux__)
  munmap(arena->base, arena->capacity);
#else
  ab_free(arena->base);
#endif
  *arena = (abArena){0};
}

void* ab_arena_take(abArena* arena, size_t bytes) {
  size_t begin = (arena->used + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
  if (bytes > arena->capacity || begin > arena->capacity - bytes) return NULL;
  arena->used = begin + bytes;
  if (arena->used > arena->peak) arena->peak = arena->used;
  return arena->base + begin;
}
