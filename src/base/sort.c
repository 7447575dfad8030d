// Radix sort, least significant byte first; a byte in which all keys agree costs one counting pass
// and no move.
// Tests: test_broadphase.
#include "base/sort.h"

#include <string.h>

bool ab_sort_keys(abArena* scratch, int n, uint64_t* key) {
  abArenaMark mark = ab_arena_mark(scratch);
  uint64_t* other = AB_TAKE(scratch, uint64_t, n);
  if (!other) return false;
  uint64_t *from = key, *to = other;
  for (int shift = 0; shift < 64; shift += 8) {
    int count[257] = {0};
    for (int i = 0; i < n; i++) count[1 + ((from[i] >> shift) & 255)]++;
    if (n == 0 || count[1 + ((from[0] >> shift) & 255)] == n) continue;
    for (int b = 0; b < 256; b++) count[b + 1] += count[b];
    for (int i = 0; i < n; i++) to[count[(from[i] >> shift) & 255]++] = from[i];
    uint64_t* swap = from;
    from = to;
    to = swap;
  }
  if (from != key) memcpy(key, from, sizeof(uint64_t) * (size_t)n);
  ab_arena_release(scratch, mark);
  return true;
}
