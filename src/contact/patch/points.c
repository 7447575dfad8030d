// The inner loops of the law of a patch, without branches and in lanes, so that compilers use
// vector instructions and every machine adds in the same order.
#include "contact/patch/points.h"

#include <math.h>
#include <stddef.h>

#include "base/simd.h"

enum { L = AB_LANES };

static inline double total(const double lane[L]) {
  return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}
static inline double min2(double a, double b) { return a < b ? a : b; }
static inline double max2(double a, double b) { return a > b ? a : b; }

static inline double field_at(const double field[2][3], double x, double y) {
  return max2(0, min2(field[0][0] + field[0][1] * x + field[0][2] * y,
                      field[1][0] + field[1][1] * x + field[1][2] * y));
}

AB_SIMD static void pressure_sum(const abPatchPoints* points, const double field[2][3],
                                 double sum[3]) {
  const double* restrict px = points->x, * restrict py = points->y, * restrict pw = points->w;
  double s0[L] = {0}, s1[L] = {0}, s2[L] = {0};
  for (int i = 0; i < points->n; i += L)
    for (int l = 0; l < L; l++) {
      double x = px[i + l], y = py[i + l], p = pw[i + l] * field_at(field, x, y);
      s0[l] += p, s1[l] += p * x, s2[l] += p * y;
    }
  sum[0] = total(s0), sum[1] = total(s1), sum[2] = total(s2);
}

AB_SIMD void ab_points_pressure(const abPatchPoints* points, const double field[2][3],
                                double sum[3], double count[6]) {
  if (!count) {
    pressure_sum(points, field, sum);
    return;
  }
  const double* restrict px = points->x, * restrict py = points->y, * restrict pw = points->w;
  double s0[L] = {0}, s1[L] = {0}, s2[L] = {0};
  double m0[L] = {0}, m1[L] = {0}, m2[L] = {0}, m3[L] = {0}, m4[L] = {0}, m5[L] = {0};
  for (int i = 0; i < points->n; i += L)
    for (int l = 0; l < L; l++) {
      double x = px[i + l], y = py[i + l], p = field_at(field, x, y);
      double w = p > 0 ? pw[i + l] : 0, wx = w * x, wy = w * y;
      double wp = w * p;
      s0[l] += wp, s1[l] += wp * x, s2[l] += wp * y;
      m0[l] += w, m1[l] += wx, m2[l] += wy;
      m3[l] += wx * x, m4[l] += wx * y, m5[l] += wy * y;
    }
  sum[0] = total(s0), sum[1] = total(s1), sum[2] = total(s2);
  count[0] = total(m0), count[1] = total(m1), count[2] = total(m2);
  count[3] = total(m3), count[4] = total(m4), count[5] = total(m5);
}

AB_SIMD void ab_points_profile(const abPatchPoints* points, const double field[2][3],
                               double sum[4]) {
  const double* restrict px = points->x, * restrict py = points->y, * restrict pw = points->w;
  double s0[L] = {0}, s1[L] = {0}, s2[L] = {0}, s3[L] = {0};
  for (int i = 0; i < points->n; i += L)
    for (int l = 0; l < L; l++) {
      double x = px[i + l], y = py[i + l], p = pw[i + l] * field_at(field, x, y);
      s0[l] += p, s1[l] += p * x, s2[l] += p * y, s3[l] += p * (x * x + y * y);
    }
  sum[0] = total(s0), sum[1] = total(s1), sum[2] = total(s2), sum[3] = total(s3);
}

AB_SIMD static void friction_force(const abPatchPoints* points, const double field[2][3],
                                   const abPatchSlip* slip, double f[3]) {
  const double* restrict px = points->x, * restrict py = points->y, * restrict pw = points->w;
  double s0 = slip->s[0], s1 = slip->s[1], s2 = slip->s[2];
  double gain = slip->gain, slow2 = slip->slow * slip->slow;
  double turn = slip->spread * slip->spread * s2, turn2 = turn * s2;
  double f0[L] = {0}, f1[L] = {0}, f2[L] = {0};
  for (int i = 0; i < points->n; i += L)
    for (int l = 0; l < L; l++) {
      double x = px[i + l], y = py[i + l], p = pw[i + l] * field_at(field, x, y);
      double a = s0 - s2 * y, b = s1 + s2 * x;
      double slope = gain * p / sqrt(max2(a * a + b * b + turn2, slow2));
      f0[l] -= slope * a, f1[l] -= slope * b, f2[l] -= slope * (x * b - y * a + turn);
    }
  f[0] = total(f0), f[1] = total(f1), f[2] = total(f2);
}

// Of a point that slips, with r = spread and the velocity q = (a, b, r s2) = B (s0, s1, s2), the
// derivative is B^T (slope)(1 - q q^T / |q|^2) B, where the columns of B are (1, 0, 0), (0, 1, 0),
// (-y, x, r), and B^T q = (a, b, t) with t = x b - y a + r^2 s2; the slack is what is subtracted.
AB_SIMD void ab_points_friction(const abPatchPoints* points, const double field[2][3],
                                const abPatchSlip* slip, double f[3], double G[6],
                                double slack[6]) {
  if (!G) {
    friction_force(points, field, slip, f);
    return;
  }
  const double* restrict px = points->x, * restrict py = points->y, * restrict pw = points->w;
  double s0 = slip->s[0], s1 = slip->s[1], s2 = slip->s[2];
  double gain = slip->gain, slow2 = slip->slow * slip->slow;
  double r2 = slip->spread * slip->spread, turn = r2 * s2, turn2 = turn * s2;
  double f0[L] = {0}, f1[L] = {0}, f2[L] = {0};
  double g0[L] = {0}, g3[L] = {0}, g4[L] = {0}, g5[L] = {0};
  double l0[L] = {0}, l1[L] = {0}, l2[L] = {0}, l3[L] = {0}, l4[L] = {0}, l5[L] = {0};
  for (int i = 0; i < points->n; i += L)
    for (int l = 0; l < L; l++) {
      double x = px[i + l], y = py[i + l], p = pw[i + l] * field_at(field, x, y);
      double a = s0 - s2 * y, b = s1 + s2 * x, square = a * a + b * b + turn2;
      double most = max2(square, slow2), slope = gain * p / sqrt(most);
      double less = square > slow2 ? slope / most : 0;
      double t = x * b - y * a + turn, la = less * a, lb = less * b;
      f0[l] -= slope * a, f1[l] -= slope * b, f2[l] -= slope * t;
      g0[l] += slope, g3[l] -= slope * y, g4[l] += slope * x;
      g5[l] += slope * (x * x + y * y + r2);
      l0[l] += la * a, l1[l] += la * b, l2[l] += lb * b;
      l3[l] += la * t, l4[l] += lb * t, l5[l] += less * t * t;
    }
  f[0] = total(f0), f[1] = total(f1), f[2] = total(f2);
  slack[0] = total(l0), slack[1] = total(l1), slack[2] = total(l2);
  slack[3] = total(l3), slack[4] = total(l4), slack[5] = total(l5);
  G[0] = total(g0) - slack[0], G[1] = -slack[1], G[2] = total(g0) - slack[2];
  G[3] = total(g3) - slack[3], G[4] = total(g4) - slack[4], G[5] = total(g5) - slack[5];
}
