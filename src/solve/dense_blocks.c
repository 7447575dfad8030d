// With rows and columns in elimination order, A = L U, L_ik = A_ik A_kk^-1 below the diagonal and
// U_ki = A_ki above it, column by column: what column k leaves to the blocks right of and below it,
//
//     A_ij -= L_ik U_kj,
//
// is the same product C -= A B^T for both halves, since the upper one is stored transposed: the
// lower block (i, j) loses L_ik (U_kj^T)^T, the upper one, A_ji^T, loses U_ki^T L_jk^T.
// Tests: test_qp, test_volume_join.
#include "solve/dense_blocks.h"

#include <float.h>
#include <string.h>

#include "base/simd.h"
#include "solve/dense.h"

enum { SIX = 6 };  // rows of a free body's block: these sizes are written out

static size_t bytes_of(const abBlockSymbolic* s) {
  return (size_t)s->value[s->start[s->n]] * sizeof(double);
}

bool ab_block_lu_begin(abBlockLu* m, const abBlockSymbolic* s, abArena* arena) {
  m->s = s;
  m->lower = ab_arena_take(arena, bytes_of(s));
  m->upper = ab_arena_take(arena, bytes_of(s));
  m->work = AB_TAKE(arena, double, s->largest);
  m->pivot = AB_TAKE(arena, int, s->largest);
  return m->lower && m->upper && m->work && m->pivot;
}

void ab_block_lu_clear(abBlockLu* m) {
  memset(m->lower, 0, bytes_of(m->s));
  memset(m->upper, 0, bytes_of(m->s));
}

void ab_block_lu_copy(const abBlockLu* from, abBlockLu* to) {
  memcpy(to->lower, from->lower, bytes_of(from->s));
  memcpy(to->upper, from->upper, bytes_of(from->s));
}

void ab_block_lu_add(abBlockLu* m, int i, int j, const double* A) {
  bool transposed;
  int at = ab_block_find(m->s, i, j, &transposed), ni = m->s->size[i], nj = m->s->size[j];
  double* to = (transposed ? m->upper : m->lower) + at;
  if (!transposed)
    for (int k = 0; k < ni * nj; k++) to[k] += A[k];
  else
    for (int a = 0; a < ni; a++)
      for (int b = 0; b < nj; b++) to[b * ni + a] += A[a * nj + b];
}

// C (ni x nj) -= A (ni x nk) B^T (nj x nk)
static void subtract_any(int ni, int nj, int nk, const double* A, const double* B, double* C) {
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) C[i * nj + j] -= dense_dot(A + i * nk, B + j * nk, nk);
}

AB_SIMD static void subtract_six(const double* restrict A, const double* restrict B,
                                 double* restrict C) {
  double T[SIX * SIX];
  for (int j = 0; j < SIX; j++)
    for (int k = 0; k < SIX; k++) T[SIX * k + j] = B[SIX * j + k];
  for (int i = 0; i < SIX; i++)
    for (int k = 0; k < SIX; k++)
      for (int j = 0; j < SIX; j++) C[SIX * i + j] -= A[SIX * i + k] * T[SIX * k + j];
}

static void subtract(int ni, int nj, int nk, const double* A, const double* B, double* C) {
  if (ni == SIX && nj == SIX && nk == SIX)
    subtract_six(A, B, C);
  else
    subtract_any(ni, nj, nk, A, B, C);
}

// X (m x n) <- X P
static void multiply_any(int m, int n, double* X, const double* P, double* row) {
  for (int i = 0; i < m; i++, X += n) {
    memcpy(row, X, (size_t)n * sizeof(double));
    memset(X, 0, (size_t)n * sizeof(double));
    for (int k = 0; k < n; k++) dense_axpy(row[k], P + k * n, X, n);
  }
}

AB_SIMD static void multiply_six(int m, double* restrict X, const double* restrict P) {
  for (int i = 0; i < m; i++, X += SIX) {
    double row[SIX] = {0};
    for (int k = 0; k < SIX; k++)
      for (int j = 0; j < SIX; j++) row[j] += X[k] * P[SIX * k + j];
    memcpy(X, row, sizeof row);
  }
}

// Divides column k by its diagonal block.
static bool divide_column(abBlockLu* m, int k) {
  const abBlockSymbolic* s = m->s;
  int n = s->size[s->order[k]], first = s->start[k] + 1, last = s->start[k + 1];
  double* inverse = m->upper + s->value[first - 1];
  memcpy(inverse, m->lower + s->value[first - 1], sizeof(double) * (size_t)(n * n));
  if (!ab_dense_invert(n, inverse, m->pivot, DBL_EPSILON)) return false;
  int nrow = (s->value[last] - s->value[first]) / n;
  if (n == SIX)
    multiply_six(nrow, m->lower + s->value[first], inverse);
  else
    multiply_any(nrow, n, m->lower + s->value[first], inverse, m->work);
  return true;
}

// Takes off column j, a row of column k stored as `first`, what column k leaves to it.
static void subtract_column(abBlockLu* m, int k, int first) {
  const abBlockSymbolic* s = m->s;
  int j = s->row[first], nk = s->size[s->order[k]], nj = s->size[s->order[j]], at = s->start[j];
  const double *L = m->lower + s->value[first], *U = m->upper + s->value[first];
  for (int b = first; b < s->start[k + 1]; b++, at++) {
    while (s->row[at] != s->row[b]) at++;
    int ni = s->size[s->order[s->row[b]]], from = s->value[b], to = s->value[at];
    subtract(ni, nj, nk, m->lower + from, U, m->lower + to);
    if (b > first) subtract(ni, nj, nk, m->upper + from, L, m->upper + to);
  }
}

bool ab_block_lu_factor(abBlockLu* m) {
  const abBlockSymbolic* s = m->s;
  for (int k = 0; k < s->n; k++) {
    if (!divide_column(m, k)) return false;
    for (int b = s->start[k] + 1; b < s->start[k + 1]; b++) subtract_column(m, k, b);
  }
  return true;
}

void ab_block_lu_solve(const abBlockLu* m, double* x) {
  const abBlockSymbolic* s = m->s;
  for (int k = 0; k < s->n; k++) {
    int nk = s->size[s->order[k]];
    const double* xk = x + s->offset[s->order[k]];
    for (int b = s->start[k] + 1; b < s->start[k + 1]; b++) {
      int i = s->order[s->row[b]];
      const double* L = m->lower + s->value[b];
      double* xi = x + s->offset[i];
      for (int r = 0; r < s->size[i]; r++) xi[r] -= dense_dot(L + r * nk, xk, nk);
    }
  }
  for (int k = s->n - 1; k >= 0; k--) {
    int nk = s->size[s->order[k]];
    double* xk = x + s->offset[s->order[k]];
    for (int b = s->start[k] + 1; b < s->start[k + 1]; b++) {
      int i = s->order[s->row[b]];
      const double *U = m->upper + s->value[b], *xi = x + s->offset[i];
      for (int r = 0; r < s->size[i]; r++) dense_axpy(-xi[r], U + r * nk, xk, nk);
    }
    const double* inverse = m->upper + s->value[s->start[k]];
    memcpy(m->work, xk, (size_t)nk * sizeof(double));
    for (int r = 0; r < nk; r++) xk[r] = dense_dot(inverse + r * nk, m->work, nk);
  }
}
