// Cholesky factorisation A = L L^T of a sparse symmetric positive definite matrix of small dense
// blocks.
//
// Two parts: the symbolic one depends on the graph of blocks alone (elimination order, pattern of
// L, where each block is stored) and can be kept while the graph is unchanged; the numeric one
// works in place on an array of values.
#ifndef ABUT_SOLVE_BLOCK_CHOLESKY_H
#define ABUT_SOLVE_BLOCK_CHOLESKY_H

#include "base/arena.h"

typedef struct abBlockSymbolic {
  int n;               // block rows
  const int* size;     // rows of each block, in the caller's numbering
  const int* offset;   // first entry of each block in a vector, in the caller's numbering
  const int* order;    // order[k]: the block eliminated as the k-th
  const int* place;    // its inverse
  const int* start;    // n + 1: column k holds row[start[k]] .. row[start[k + 1] - 1], ascending,
  const int* row;      // the diagonal first; rows and columns in elimination order
  const int* value;    // per stored block: where its entries begin; row-major
  const int* entry;    // likewise: where its row begins in a vector
  const int* left;     // n + 1: the blocks of row k left of the diagonal are stored as
  const int* left_at;  // left_at[left[k]] .. , with their columns in left_column
  const int* left_column;
  const int* target;  // where the factorisation takes off what, in the order it does
  int nvalue;         // doubles in the array of values (the blocks, then some work space)
  int largest;        // rows of the largest block
  bool mixed;         // not all blocks have six rows
  double flops;       // of one numeric factorisation
} abBlockSymbolic;

// Orders so that few blocks are filled in (ties: the smaller index, so the result depends on the
// graph only) and finds the pattern of L. `edge` may repeat; both ends differ. What the result
// points to is taken from `keep`, work space from `scratch` (given back; both may be the same
// arena). Stops and returns AB_ERROR_UNSUPPORTED when the factorisation would cost more than
// max_flops, AB_ERROR_MEMORY when an arena is full.
abStatus ab_block_symbolic(int n, const int* size, int nedge, const int (*edge)[2],
                           double max_flops, abArena* keep, abArena* scratch,
                           abBlockSymbolic* symbolic);

// Where block (i, j) of the caller's numbering is stored in the array of values: row-major with
// size[i] rows if *transposed is false, else the block (j, i). -1 if there is no such block.
int ab_block_find(const abBlockSymbolic* s, int i, int j, bool* transposed);

// Factorises in place (only blocks that are stored are read). A pivot that is not above `floor`
// times its diagonal entry is replaced by that entry; the number of replaced pivots is returned.
int ab_block_factor(const abBlockSymbolic* s, double* value, double floor);
// b <- A^-1 b, in the caller's numbering.
void ab_block_solve(const abBlockSymbolic* s, const double* value, double* b);

#endif
