// Islands by union-find: every set is represented by its smallest member, so that no order of
// unions can change the outcome.
// Tests: test_patch_stack, test_volume_join.
#include "contact/island.h"

#include <string.h>

#include "base/arena.h"

static int find(int* parent, int i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];  // halve the path
    i = parent[i];
  }
  return i;
}

static int root_of_pair(int* parent, const int mover[2]) {
  if (mover[0] >= 0) return find(parent, mover[0]);
  return mover[1] >= 0 ? find(parent, mover[1]) : -1;
}

static void unite(int* parent, int npair, const int (*pair_mover)[2]) {
  for (int p = 0; p < npair; p++) {
    if (pair_mover[p][0] < 0 || pair_mover[p][1] < 0) continue;
    int a = find(parent, pair_mover[p][0]), b = find(parent, pair_mover[p][1]);
    if (a < b)
      parent[b] = a;
    else
      parent[a] = b;
  }
}

// Sorts n items into `count` buckets, keeping their order; start has count + 1 entries.
static void bucket(int n, const int* bucket_of, int count, int* start, int* item) {
  memset(start, 0, sizeof(int) * (size_t)(count + 1));
  for (int i = 0; i < n; i++)
    if (bucket_of[i] >= 0) start[bucket_of[i] + 1]++;
  for (int k = 0; k < count; k++) start[k + 1] += start[k];
  for (int i = 0; i < n; i++)
    if (bucket_of[i] >= 0) item[start[bucket_of[i]]++] = i;
  for (int k = count; k > 0; k--) start[k] = start[k - 1];
  start[0] = 0;
}

abStatus ab_islands(int nmover, int npair, const int (*pair_mover)[2], struct abArena* arena,
                    abIslands* islands) {
  *islands = (abIslands){0};
  int most = nmover < npair ? nmover : npair;
  int* pair_start = AB_TAKE(arena, int, most + 1);
  int* pair = AB_TAKE(arena, int, npair);
  int* mover_start = AB_TAKE(arena, int, most + 1);
  int* mover = AB_TAKE(arena, int, nmover);
  int* parent = AB_TAKE(arena, int, nmover);
  int* number = AB_TAKE(arena, int, nmover);
  int* island_of_pair = AB_TAKE(arena, int, npair);
  if (!pair_start || !pair || !mover_start || !mover || !parent || !number || !island_of_pair)
    return AB_ERROR_MEMORY;
  for (int i = 0; i < nmover; i++) parent[i] = i, number[i] = -1;
  unite(parent, npair, pair_mover);
  // roots that have a pair, numbered in ascending order
  for (int p = 0; p < npair; p++) {
    int root = root_of_pair(parent, pair_mover[p]);
    if (root >= 0) number[root] = 0;
  }
  int n = 0;
  for (int i = 0; i < nmover; i++)
    if (number[i] == 0 && parent[i] == i) number[i] = n++;
  for (int i = 0; i < nmover; i++)
    if (parent[i] != i) number[i] = number[find(parent, i)];
  for (int p = 0; p < npair; p++) {
    int root = root_of_pair(parent, pair_mover[p]);
    island_of_pair[p] = root >= 0 ? number[root] : -1;
  }
  bucket(npair, island_of_pair, n, pair_start, pair);
  bucket(nmover, number, n, mover_start, mover);
  *islands = (abIslands){n, pair_start, pair, mover_start, mover};
  return AB_OK;
}
