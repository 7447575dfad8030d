// The inner loops of the law of a patch, without branches and in lanes, so that compilers use
// vector instructions and every machine adds in the same order.
#include "contact/patch/points.h"

#include <math.h>
#include <stddef.h>

#include "math/quad.h"

enum { L = AB_LANES };

static inline double total(const double lane[L]) {
  return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}
static inline double max2(double a, double b) { return a > b ? a : b; }

AB_SIMD double ab_points_press(const abPatchPoints* points, const double* aim, const double u[3],
                               double sum[9]) {
  typedef abFour Load __attribute__((aligned(8)));
  abFour s0 = {0}, s1 = {0}, s2 = {0}, m0 = {0}, m1 = {0}, m2 = {0}, m3 = {0}, m4 = {0}, m5 = {0};
  abFour least = {INFINITY, INFINITY, INFINITY, INFINITY};
  for (int i = 0; i < points->n; i += L) {
    abFour x = *(const Load*)(points->x + i), y = *(const Load*)(points->y + i);
    abFour p = *(const Load*)(aim + i) - (u[0] + u[1] * y - u[2] * x);
    abFour w = (abFour)((abFourMask)(p > 0) & (abFourMask) * (const Load*)(points->w + i));
    abFour wx = w * x, wy = w * y, wp = w * p;
    least = AB_FOUR_LESS(least, p);
    s0 += wp, s1 += wp * x, s2 += wp * y;
    m0 += w, m1 += wx, m2 += wy;
    m3 += wx * x, m4 += wx * y, m5 += wy * y;
  }
  sum[0] = AB_TOTAL(s0), sum[1] = AB_TOTAL(s1), sum[2] = AB_TOTAL(s2);
  sum[3] = AB_TOTAL(m0), sum[4] = AB_TOTAL(m1), sum[5] = AB_TOTAL(m2);
  sum[6] = AB_TOTAL(m3), sum[7] = AB_TOTAL(m4), sum[8] = AB_TOTAL(m5);
  return AB_FOUR_LEAST(least);
}

// Of a point that slips with the velocity q = (a, b) = B (s0, s1, s2) the derivative is
// B^T (slope)(1 - q q^T / |q|^2) B, where the columns of B are (1, 0), (0, 1), (-y, x), and
// B^T q = (a, b, t) with t = x b - y a; the slack is what is subtracted.
AB_SIMD void ab_points_friction(const abPatchPoints* points, const abPatchSlip* slip, double f[3],
                                double G[6], double slack[6]) {
  const double* restrict px = points->x, * restrict py = points->y, * restrict pw = points->w;
  double s0 = slip->s[0], s1 = slip->s[1], s2 = slip->s[2];
  double gain = slip->gain, slow2 = slip->slow * slip->slow;
  double f0[L] = {0}, f1[L] = {0}, f2[L] = {0};
  double g0[L] = {0}, g3[L] = {0}, g4[L] = {0}, g5[L] = {0};
  double l0[L] = {0}, l1[L] = {0}, l2[L] = {0}, l3[L] = {0}, l4[L] = {0}, l5[L] = {0};
  for (int i = 0; i < points->n; i += L)
    for (int l = 0; l < L; l++) {
      double x = px[i + l], y = py[i + l];
      double a = s0 - s2 * y, b = s1 + s2 * x, square = a * a + b * b;
      double most = max2(square, slow2), slope = gain * pw[i + l] / sqrt(most);
      double less = square > slow2 ? slope / most : 0;
      double t = x * b - y * a, la = less * a, lb = less * b;
      f0[l] -= slope * a, f1[l] -= slope * b, f2[l] -= slope * t;
      g0[l] += slope, g3[l] -= slope * y, g4[l] += slope * x;
      g5[l] += slope * (x * x + y * y);
      l0[l] += la * a, l1[l] += la * b, l2[l] += lb * b;
      l3[l] += la * t, l4[l] += lb * t, l5[l] += less * t * t;
    }
  f[0] = total(f0), f[1] = total(f1), f[2] = total(f2);
  slack[0] = total(l0), slack[1] = total(l1), slack[2] = total(l2);
  slack[3] = total(l3), slack[4] = total(l4), slack[5] = total(l5);
  G[0] = total(g0) - slack[0], G[1] = -slack[1], G[2] = total(g0) - slack[2];
  G[3] = total(g3) - slack[3], G[4] = total(g4) - slack[4], G[5] = total(g5) - slack[5];
}
