// Shared dense kernels. Balancing follows Ruiz 2001 (A scaling algorithm to equilibrate both rows
// and columns norms in matrices): divide every row and column by the square root of its largest
// magnitude, repeat; the largest magnitudes converge to 1. The square roots are rounded to powers
// of two.
// Tests: test_qp, test_volume_join.
#include "solve/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/simd.h"

const char* ab_solve_status_name(abSolveStatus status) {
  switch (status) {
    case AB_SOLVE_OK:
      return "solved";
    case AB_SOLVE_INFEASIBLE:
      return "infeasible";
    case AB_SOLVE_UNBOUNDED:
      return "unbounded";
    case AB_SOLVE_RAY:
      return "ended on a ray";
    case AB_SOLVE_ITERATIONS:
      return "iteration limit";
    case AB_SOLVE_STALLED:
      return "stalled";
    case AB_SOLVE_NUMERIC:
      return "numerical breakdown";
    case AB_SOLVE_INPUT:
      return "input not finite";
  }
  return "unknown";
}

// Six rows (a wrench) are the common case: written out, the sums of neighbouring columns overlap.
void ab_dense_slopes(int nrow, int ncol, const double* a, const double* v, double* out) {
  if (nrow == 6) {
    for (int j = 0; j < ncol; j++, a += 6)
      out[j] =
          ((a[0] * v[0] + a[1] * v[1]) + (a[2] * v[2] + a[3] * v[3])) + (a[4] * v[4] + a[5] * v[5]);
    return;
  }
  for (int j = 0; j < ncol; j++) out[j] = dense_dot(a + (size_t)j * (size_t)nrow, v, nrow);
}

// v - v is 0 for a finite v and NaN otherwise. Four sums, so that the additions do not wait for
// each other.
bool ab_dense_finite(const double* a, size_t count) {
  if (!a && count > 0) return false;
  double sum[4] = {0, 0, 0, 0};
  size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int k = 0; k < 4; k++) sum[k] += a[i + (size_t)k] - a[i + (size_t)k];
  for (; i < count; i++) sum[0] += a[i] - a[i];
  return sum[0] + sum[1] + sum[2] + sum[3] == 0;
}

double ab_dense_max(const double* a, size_t count) {
  double m0 = 0, m1 = 0, m2 = 0, m3 = 0;
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    m0 = larger(m0, fabs(a[i]));
    m1 = larger(m1, fabs(a[i + 1]));
    m2 = larger(m2, fabs(a[i + 2]));
    m3 = larger(m3, fabs(a[i + 3]));
  }
  for (; i < count; i++) m0 = larger(m0, fabs(a[i]));
  return larger(larger(m0, m1), larger(m2, m3));
}

double ab_dense_norm(const double* a, int n) {
  double square = dense_dot(a, a, n);
  if (square > DBL_MIN / DBL_EPSILON && square < DBL_MAX) return sqrt(square);
  double largest = ab_dense_max(a, (size_t)n), sum = 0;
  if (largest == 0) return 0;
  for (int i = 0; i < n; i++) sum += (a[i] / largest) * (a[i] / largest);
  return largest * sqrt(sum);
}

static int exponent(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return (int)((bits >> 52) & 0x7ff) - 1023;
}

static double power(int e) {
  e = e < -1000 ? -1000 : e > 1000 ? 1000 : e;
  uint64_t bits = (uint64_t)(e + 1023) << 52;
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

double ab_dense_power(double v) { return v == 0 ? 1 : power(exponent(v)); }

// The exponents e of largest magnitudes in [2^e, 2^(e+1)) that need no further scaling: a factor of
// 4 costs no digits, and stopping there leaves a matrix alone whose caller has scaled it.
static int half_step(double largest) {
  int e = exponent(largest);
  if (largest == 0 || (e >= -2 && e <= 1)) return 0;
  return -(e + (e > 0)) / 2;  // rounded away from zero, so that the last step is taken
}

static bool balance_columns(int nrow, int ncol, double* a, double* col) {
  bool changed = false;
  for (int j = 0; j < ncol; j++, a += nrow) {
    int e = half_step(ab_dense_max(a, (size_t)nrow));
    if (e == 0) continue;
    double factor = power(e);
    changed = true;
    col[j] *= factor;
    for (int i = 0; i < nrow; i++) a[i] *= factor;
  }
  return changed;
}

// Up to 8 rows from `first` on: their maxima are gathered in one pass along the memory.
static bool balance_rows(int nrow, int ncol, double* a, double* row, int first) {
  int count = nrow - first < 8 ? nrow - first : 8;
  double largest[8] = {0}, factor[8];
  bool changed = false;
  for (int j = 0; j < ncol; j++)
    for (int k = 0; k < count; k++)
      largest[k] = larger(largest[k], fabs(a[(size_t)j * (size_t)nrow + (size_t)(first + k)]));
  for (int k = 0; k < count; k++) {
    int e = half_step(largest[k]);
    factor[k] = power(e);
    row[first + k] *= factor[k];
    changed = changed || e != 0;
  }
  for (int j = 0; j < ncol && changed; j++)
    for (int k = 0; k < count; k++) a[(size_t)j * (size_t)nrow + (size_t)(first + k)] *= factor[k];
  return changed;
}

void ab_dense_balance(int nrow, int ncol, double* a, double* row, double* col) {
  for (int i = 0; i < nrow; i++) row[i] = 1;
  for (int j = 0; j < ncol; j++) col[j] = 1;
  // An imbalance of 2^e takes log2(e) passes; 12 cover the whole range of double.
  for (int pass = 0; pass < 12; pass++) {
    bool changed = balance_columns(nrow, ncol, a, col);
    for (int i = 0; i < nrow; i += 8) changed = balance_rows(nrow, ncol, a, row, i) || changed;
    if (!changed) break;
  }
}

static int largest_in_column(int n, const double* a, int k) {
  int best = k;
  double largest = fabs(a[k * n + k]);
  for (int i = k + 1; i < n; i++) {
    double v = fabs(a[i * n + k]);
    if (v > largest) largest = v, best = i;
  }
  return best;
}

// Brings the row with the largest entry of column k, at or below row k, to row k. False if that is
// not above `least`.
static bool bring_pivot(int n, double* a, int k, int* pivot, double least) {
  int p = pivot[k] = largest_in_column(n, a, k);
  double *top = a + k * n, *other = a + p * n;
  if (!(fabs(other[k]) > least)) return false;
  for (int j = 0; j < n && p != k; j++) {
    double t = top[j];
    top[j] = other[j], other[j] = t;
  }
  return true;
}

bool ab_dense_lu(int n, double* a, int* pivot, double singular) {
  double least = singular * ab_dense_max(a, (size_t)n * (size_t)n);
  for (int k = 0; k < n; k++) {
    if (!bring_pivot(n, a, k, pivot, least)) return false;
    double *top = a + k * n, inverse = 1 / top[k];
    for (int i = k + 1; i < n; i++) {
      double* row = a + i * n;
      if (row[k] == 0) continue;
      row[k] *= inverse;
      dense_axpy(-row[k], top + k + 1, row + k + 1, n - k - 1);
    }
  }
  return true;
}

void ab_dense_lu_solve(int n, const double* lu, const int* pivot, double* x) {
  for (int k = 0; k < n; k++) {
    double t = x[k];
    x[k] = x[pivot[k]], x[pivot[k]] = t;
  }
  for (int i = 1; i < n; i++) x[i] -= dense_dot(lu + i * n, x, i);
  for (int i = n - 1; i >= 0; i--)
    x[i] = (x[i] - dense_dot(lu + i * n + i + 1, x + i + 1, n - i - 1)) / lu[i * n + i];
}

static void exchange_columns(int n, double* a, const int* pivot) {
  for (int k = n - 1; k >= 0; k--)
    for (int i = 0; i < n && pivot[k] != k; i++) {
      double t = a[i * n + k];
      a[i * n + k] = a[i * n + pivot[k]], a[i * n + pivot[k]] = t;
    }
}

static bool invert_any(int n, double* a, int* pivot, double least) {
  for (int k = 0; k < n; k++) {
    if (!bring_pivot(n, a, k, pivot, least)) return false;
    double *top = a + k * n, inverse = 1 / top[k];
    top[k] = 1;
    for (int j = 0; j < n; j++) top[j] *= inverse;
    for (int i = 0; i < n; i++) {
      double *row = a + i * n, part = row[k];
      if (i == k) continue;
      row[k] = 0;
      dense_axpy(-part, top, row, n);
    }
  }
  exchange_columns(n, a, pivot);
  return true;
}

// Six rows in blocks of three, A = [P, Q; R, S]: with T = S - R P^-1 Q the inverse is
//
//     [P^-1 + P^-1 Q T^-1 R P^-1, -P^-1 Q T^-1; -T^-1 R P^-1, T^-1].
//
// The inverses of P and T are cofactors over a determinant. Nothing is exchanged, so that waits are
// few; but a determinant far below the product of its rows' sizes has lost digits: then, rarely,
// rows are exchanged as above. A row of three is a register of four.
typedef double Four __attribute__((vector_size(32)));
typedef struct Block {
  Four row[3];
} Block;
static const double LOST = 1e-6;

static inline Block load_block(const double* a) {
  return (Block){{{a[0], a[1], a[2], 0}, {a[6], a[7], a[8], 0}, {a[12], a[13], a[14], 0}}};
}

static inline void store_block(const Block* b, double* a) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) a[6 * i + j] = b->row[i][j];
}

static inline Block multiply_blocks(const Block* a, const Block* b, double sign) {
  Block c;
  for (int i = 0; i < 3; i++)
    c.row[i] =
        sign * (a->row[i][0] * b->row[0] + a->row[i][1] * b->row[1] + a->row[i][2] * b->row[2]);
  return c;
}

static inline bool invert_block(const Block* b, Block* inverse) {
  const double m[9] = {b->row[0][0], b->row[0][1], b->row[0][2], b->row[1][0], b->row[1][1],
                       b->row[1][2], b->row[2][0], b->row[2][1], b->row[2][2]};
  Four c[3] = {
      {m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4], 0},
      {m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5], 0},
      {m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3], 0}};
  double det = m[0] * c[0][0] + m[1] * c[1][0] + m[2] * c[2][0];
  double size = (fabs(m[0]) + fabs(m[1]) + fabs(m[2])) * (fabs(m[3]) + fabs(m[4]) + fabs(m[5])) *
                (fabs(m[6]) + fabs(m[7]) + fabs(m[8]));
  for (int i = 0; i < 3; i++) inverse->row[i] = c[i] * (1 / det);
  return fabs(det) > LOST * size && isfinite(size);
}

AB_SIMD static bool invert_six(double* a) {
  Block P = load_block(a), Q = load_block(a + 3), R = load_block(a + 18), S = load_block(a + 21);
  Block p, t;
  if (!invert_block(&P, &p)) return false;
  Block pQ = multiply_blocks(&p, &Q, 1), Rp = multiply_blocks(&R, &p, 1);
  Block RpQ = multiply_blocks(&R, &pQ, 1);
  for (int i = 0; i < 3; i++) S.row[i] -= RpQ.row[i];
  if (!invert_block(&S, &t)) return false;
  Block q = multiply_blocks(&pQ, &t, -1), r = multiply_blocks(&t, &Rp, -1);
  Block add = multiply_blocks(&q, &Rp, -1);
  for (int i = 0; i < 3; i++) p.row[i] += add.row[i];
  store_block(&p, a), store_block(&q, a + 3), store_block(&r, a + 18), store_block(&t, a + 21);
  return true;
}

bool ab_dense_invert(int n, double* a, int* pivot, double singular) {
  return (n == 6 && invert_six(a)) ||
         invert_any(n, a, pivot, singular * ab_dense_max(a, (size_t)n * (size_t)n));
}

int ab_dense_cholesky(int n, double* a, double least) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++)
      a[i * n + j] = (a[i * n + j] - dense_dot(a + i * n, a + j * n, j)) / a[j * n + j];
    double d = a[i * n + i] - dense_dot(a + i * n, a + i * n, i);
    if (!(d > least)) return i;
    a[i * n + i] = sqrt(d);
  }
  return n;
}

void ab_dense_cholesky_solve(int n, const double* l, double* x) {
  for (int i = 0; i < n; i++) x[i] = (x[i] - dense_dot(l + i * n, x, i)) / l[i * n + i];
  for (int i = n - 1; i >= 0; i--) {
    x[i] /= l[i * n + i];
    dense_axpy(-x[i], l + i * n, x, i);
  }
}
