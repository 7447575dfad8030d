// LU factorisation of a sparse matrix of small dense blocks whose pattern is symmetric while its
// entries are not: the Newton matrices of bodies in frictional contact.
//
// Order and pattern are those of solve/block_cholesky.h. Blocks are eliminated in that order
// without exchanging them; inside a diagonal block rows are exchanged. That is stable where the
// diagonal blocks dominate, as a body's inertia and contacts do its share in a neighbour's; a
// caller checks what it gets by its own residual.
#ifndef ABUT_SOLVE_DENSE_BLOCKS_H
#define ABUT_SOLVE_DENSE_BLOCKS_H

#include "solve/block_cholesky.h"

typedef struct abBlockLu {
  const abBlockSymbolic* s;
  double* lower;  // blocks on and below the diagonal, as s->value says
  double* upper;  // those above it, transposed, in the places of their mirror images; the inverses
                  // of the factorised diagonal blocks
  double* work;   // a row of the largest block
  int* pivot;
} abBlockLu;

// Takes room for the blocks; false if the arena is full.
bool ab_block_lu_begin(abBlockLu* m, const abBlockSymbolic* s, abArena* arena);
void ab_block_lu_clear(abBlockLu* m);
// Both of the same pattern.
void ab_block_lu_copy(const abBlockLu* from, abBlockLu* to);
// Block (i, j), in the caller's numbering, of which the pattern must know, += A, size[i] x size[j]
// by rows.
void ab_block_lu_add(abBlockLu* m, int i, int j, const double* A);
// In place; false if a diagonal block is singular.
bool ab_block_lu_factor(abBlockLu* m);
// x <- matrix^-1 x, in the caller's numbering.
void ab_block_lu_solve(const abBlockLu* m, double* x);

#endif
