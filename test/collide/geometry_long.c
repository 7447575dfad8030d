// A million pairs and more, each checked against the references and its own symmetries:
//   geometry_long [PAIRS [FIRST]]
// Every pair is compared with the dual transform, every fifty-third with exact arithmetic.
#include <stdio.h>
#include <stdlib.h>

#include "oracle/overlap_check.h"

int main(int argc, char** argv) {
  long npair = argc > 1 ? atol(argv[1]) : 1000000, first = argc > 2 ? atol(argv[2]) : 1;
  abArena arena;
  ab_arena_init(&arena, (size_t)1 << 28);
  long failed = 0, count[PAIR_FAMILIES] = {0}, bad[PAIR_FAMILIES] = {0};
  double worst[PAIR_FAMILIES] = {0};
  for (long i = first; i < first + npair; i++) {
    TestPair pair = pair_make((uint64_t)i);
    // exact arithmetic over prisms takes half a second: one in a hundred of those that would get it
    // (the counts share no factor with the number of families, so that each gets its part)
    bool many = pair.A->nface + (pair.B ? pair.B->nface : 0) > 60;
    OverlapCheck check = {.arena = &arena,
                          .dual = true,
                          .cutting = i % 11 == 0,
                          .exact = many ? i % 4999 == 0 : i % 53 == 0};
    count[pair.family]++;
    if (!overlap_check(&check, &pair)) {
      bad[pair.family]++;
      if (failed++ < 20)
        fprintf(stderr, "pair %ld (%s): %s\n", i, pair_family_name(pair.family), check.message);
    }
    if (check.worst > worst[pair.family]) worst[pair.family] = check.worst;
    if ((i - first + 1) % 100000 == 0)
      fprintf(stderr, "%ld pairs, %ld failed\n", i - first + 1, failed);
    pair_free(&pair);
  }
  printf("%-14s %9s %7s %s\n", "family", "pairs", "failed", "largest exact error / tolerance");
  for (int f = 0; f < PAIR_FAMILIES; f++)
    printf("%-14s %9ld %7ld %.2g\n", pair_family_name((PairFamily)f), count[f], bad[f], worst[f]);
  printf("%ld pairs, %ld failed\n", npair, failed);
  ab_arena_free(&arena);
  return failed != 0;
}
