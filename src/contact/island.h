// Islands: sets of movers that touch each other, and the pairs between them.
#ifndef ABUT_CONTACT_ISLAND_H
#define ABUT_CONTACT_ISLAND_H

#include <abut/contact.h>

typedef struct abIslands {
  int n;
  const int* pair_start;   // n + 1: island i has the pairs pair[pair_start[i]] ..
  const int* pair;         // ascending in each island
  const int* mover_start;  // n + 1, likewise
  const int* mover;
} abIslands;

// pair_mover[p]: the movers of pair p's two bodies, -1 where fixed to the world. Pairs without a
// mover are left out, movers without a pair too. Islands come in the order of their first mover:
// the result depends on the pairs alone. Everything is taken from the arena.
abStatus ab_islands(int nmover, int npair, const int (*pair_mover)[2], struct abArena* arena,
                    abIslands* islands);

#endif
