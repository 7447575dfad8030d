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

AB_SIMD AB_FLATTEN int branch_factor(int n, double* A, const double* before, double floor) {
  int nreplaced = 0;
  for (int k = n - 1; k >= 0; k--) {
    double* row = A + (ptrdiff_t)k * n;
    double d = row[k], least = before ? floor * before[k] : floor;
    if (!(d > least)) {
      d = !before ? fmax(floor, DBL_MIN) : before[k] > 0 ? before[k] : 1;
      nreplaced++;
    }
    double per = row[k] = 1 / sqrt(d);
    for (int j = 0; j < k; j++) row[j] *= per;
    for (int i = 0; i < k; i++)
      if (row[i] != 0) subtract_row(i, n, row[i], row, A + (ptrdiff_t)i * n);
  }
  return nreplaced;
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
