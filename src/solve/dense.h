// What the dense solvers share: carving a workspace, finding junk, balancing a matrix, LU and
// Cholesky.
#ifndef ABUT_SOLVE_DENSE_H
#define ABUT_SOLVE_DENSE_H

#include <abut/solve.h>

// Cuts a workspace into arrays. With base NULL it only counts, so that one layout function serves
// the size query and the solver and the two cannot disagree.
typedef struct abCarve {
  char* base;
  size_t used;
} abCarve;

static inline void* carve(abCarve* c, size_t bytes) {
  void* p = c->base ? c->base + c->used : NULL;
  c->used += (bytes + 15) & ~(size_t)15;
  return p;
}
static inline double* carve_double(abCarve* c, size_t count) {
  return (double*)carve(c, count * sizeof(double));
}
static inline int* carve_int(abCarve* c, size_t count) {
  return (int*)carve(c, count * sizeof(int));
}

// Inline where fmax and fmin would be calls; a NaN in b loses.
static inline double larger(double a, double b) { return b > a ? b : a; }
static inline double smaller(double a, double b) { return b < a ? b : a; }

// Four sums, so that the additions do not wait for each other.
static inline double dense_dot(const double* a, const double* b, int n) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < n; i++) s0 += a[i] * b[i];
  return (s0 + s1) + (s2 + s3);
}
// y += s x; written out so that compilers use vector instructions without being asked to.
static inline void dense_axpy(double s, const double* restrict x, double* restrict y, int n) {
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    y[i] += s * x[i];
    y[i + 1] += s * x[i + 1];
    y[i + 2] += s * x[i + 2];
    y[i + 3] += s * x[i + 3];
  }
  for (; i < n; i++) y[i] += s * x[i];
}

// out[j] = column j of a (nrow x ncol, by columns) . v: the slopes of all columns, the hot loop of
// the active-set methods.
void ab_dense_slopes(int nrow, int ncol, const double* a, const double* v, double* out);
bool ab_dense_finite(const double* a, size_t count);
double ab_dense_max(const double* a, size_t count);  // largest magnitude
double ab_dense_norm(const double* a, int n);  // Euclidean, safe against overflow and underflow

// Balances a (nrow x ncol, by columns, in place) so that the largest magnitude of every row and
// column lies near 1: a[i,j] becomes row[i] a[i,j] col[j]. Factors are powers of two: nothing is
// rounded, and ties of the problem stay ties. Zero rows and columns keep factor 1.
void ab_dense_balance(int nrow, int ncol, double* a, double* row, double* col);
// The power of two at or below |v|, clamped so that it and its inverse are normal numbers; 1 for v
// = 0.
double ab_dense_power(double v);

// LU with partial pivoting of an n x n matrix by rows, in place. False if a pivot falls below
// `singular` times the largest entry of the matrix.
bool ab_dense_lu(int n, double* a, int* pivot, double singular);
void ab_dense_lu_solve(int n, const double* lu, const int* pivot, double* x);

// Inverse of an n x n matrix by rows, in place (Gauss and Jordan, rows exchanged); false as above.
bool ab_dense_invert(int n, double* a, int* pivot, double singular);

// Lower Cholesky factor by rows, in place (the upper part is left). Returns the index of the first
// pivot below `least`, or n.
int ab_dense_cholesky(int n, double* a, double least);
void ab_dense_cholesky_solve(int n, const double* l, double* x);

#endif
