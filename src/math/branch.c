#include "math/branch.h"

#include <float.h>
#include <math.h>

#include "math/quad.h"

// Four numbers anywhere in memory.
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
#define LOAD(p) (*(const Four*)(p))

// to[0 .. last] -= s from[0 .. last]. In fours, as long as these are among the first `room`: what
// then stands behind `last` is of no use to anybody.
static inline void subtract_row(int last, int room, double s, const double* from, double* to) {
  int j = 0;
  for (; j <= last && j + 4 <= room; j += 4) *(Four*)(to + j) -= s * LOAD(from + j);
  for (; j <= last; j++) to[j] -= s * from[j];
}

// The same of four rows p, p - n, p - 2 n, p - 3 n, times their entries i, off row i.
static inline void subtract_rows(int i, int n, const double* p, double* to) {
  const double *q = p - n, *r = q - n, *s = r - n;
  double a = p[i], b = q[i], c = r[i], d = s[i];
  if (a == 0 && b == 0 && c == 0 && d == 0) return;
  int j = 0;
  for (; j <= i && j + 4 <= n; j += 4)
    *(Four*)(to + j) =
        LOAD(to + j) - a * LOAD(p + j) - b * LOAD(q + j) - c * LOAD(r + j) - d * LOAD(s + j);
  for (; j <= i; j++) to[j] = to[j] - a * p[j] - b * q[j] - c * r[j] - d * s[j];
}

typedef struct Pivots {
  const double* before;
  double floor;
  int nreplaced;
} Pivots;

// Row k becomes one of L, with 1 / L_kk on the diagonal.
static inline void divide_row(int n, int k, double* A, Pivots* p) {
  double* row = A + (ptrdiff_t)k * n;
  double d = row[k], least = p->before ? p->floor * p->before[k] : p->floor;
  if (!(d > least)) {
    d = !p->before ? fmax(p->floor, DBL_MIN) : p->before[k] > 0 ? p->before[k] : 1;
    p->nreplaced++;
  }
  double per = row[k] = 1 / sqrt(d);
  int j = 0;
  for (; j + 4 <= k; j += 4) *(Four*)(row + j) = per * LOAD(row + j);
  for (; j < k; j++) row[j] *= per;
}

// Four rows at a time are taken off those before: each entry is then loaded once for four.
AB_SIMD AB_FLATTEN int branch_factor(int n, double* A, const double* before, double floor) {
  Pivots pivots = {before, floor, 0};
  int k = n - 1;
  for (; k >= 3; k -= 4) {
    for (int a = k; a > k - 4; a--) {
      double* row = A + (ptrdiff_t)a * n;
      divide_row(n, a, A, &pivots);
      for (int i = a - 1; i > k - 4; i--)
        if (row[i] != 0) subtract_row(i, n, row[i], row, A + (ptrdiff_t)i * n);
    }
    for (int i = 0; i <= k - 4; i++)
      subtract_rows(i, n, A + (ptrdiff_t)k * n, A + (ptrdiff_t)i * n);
  }
  for (; k >= 0; k--) {
    double* row = A + (ptrdiff_t)k * n;
    divide_row(n, k, A, &pivots);
    for (int i = 0; i < k; i++)
      if (row[i] != 0) subtract_row(i, n, row[i], row, A + (ptrdiff_t)i * n);
  }
  return pivots.nreplaced;
}

// The unknowns k, k - 1, k - 2, k - 3, when those behind are known and taken off.
static inline void four_from_behind(int n, const double* L, int k, double* b, double t[4]) {
  for (int a = 0; a < 4; a++) {
    const double* row = L + (ptrdiff_t)(k - a) * n;
    double x = b[k - a];
    for (int c = 0; c < a; c++) x -= L[(ptrdiff_t)(k - c) * n + k - a] * t[c];
    b[k - a] = t[a] = x * row[k - a];
  }
}

// What n is too large for a multiple of four goes first, one by one.
AB_SIMD AB_FLATTEN void branch_upper(int n, const double* restrict L, double* restrict b) {
  int k = n - 1;
  for (; (k + 1) % 4; k--) {
    const double* row = L + (ptrdiff_t)k * n;
    double t = b[k] *= row[k];
    for (int j = 0; j < k; j++) b[j] -= row[j] * t;
  }
  for (; k >= 0; k -= 4) {
    const double *p = L + (ptrdiff_t)k * n, *q = p - n, *r = q - n, *s = r - n;
    double t[4];
    four_from_behind(n, L, k, b, t);
    for (int j = 0; j < k - 3; j += 4)
      *(Four*)(b + j) = LOAD(b + j) - LOAD(p + j) * t[0] - LOAD(q + j) * t[1] - LOAD(r + j) * t[2] -
                        LOAD(s + j) * t[3];
  }
}

AB_SIMD AB_FLATTEN void branch_lower(int n, const double* restrict L, double* restrict b) {
  int k = 0;
  for (; k + 4 <= n; k += 4) {
    const double *p = L + (ptrdiff_t)k * n, *q = p + n, *r = q + n, *s = r + n;
    Four P = {0}, Q = {0}, R = {0}, S = {0};
    for (int j = 0; j < k; j += 4) {
      Four x = LOAD(b + j);
      P += LOAD(p + j) * x, Q += LOAD(q + j) * x, R += LOAD(r + j) * x, S += LOAD(s + j) * x;
    }
    double x = (b[k] - AB_TOTAL(P)) * p[k];
    double y = (b[k + 1] - AB_TOTAL(Q) - q[k] * x) * q[k + 1];
    double z = (b[k + 2] - AB_TOTAL(R) - r[k] * x - r[k + 1] * y) * r[k + 2];
    double w = (b[k + 3] - AB_TOTAL(S) - s[k] * x - s[k + 1] * y - s[k + 2] * z) * s[k + 3];
    *(Four*)(b + k) = (Four){x, y, z, w};
  }
  for (; k < n; k++) {
    const double* row = L + (ptrdiff_t)k * n;
    Four P = {0};
    int j = 0;
    for (; j + 4 <= k; j += 4) P += LOAD(row + j) * LOAD(b + j);
    double x = b[k] - AB_TOTAL(P);
    for (; j < k; j++) x -= row[j] * b[j];
    b[k] = x * row[k];
  }
}
