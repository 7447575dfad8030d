// Sums over the points of a patch: the inner loops of the law. The number of points is a multiple
// of AB_LANES (quadrature.h fills up with points of no weight).
#ifndef ABUT_CONTACT_PATCH_POINTS_H
#define ABUT_CONTACT_PATCH_POINTS_H

typedef struct abPatchPoints {
  int n;
  const double *x, *y, *w;
} abPatchPoints;

// field[2]: two affine fields (1, x, y); p = max(0, the smaller of the two).
// out: integrals of p times 1, x, y; then, if `count`, of 1, x, y, xx, xy, yy where p > 0.
void ab_points_pressure(const abPatchPoints* points, const double field[2][3], double sum[3],
                        double count[6]);
// Integrals of p times 1, x, y, xx + yy.
void ab_points_profile(const abPatchPoints* points, const double field[2][3], double sum[4]);

// Friction -gain p s / max(|s|, slow) with s = (s0 - s2 y, s1 + s2 x, s2 spread), the last of them
// a torque of lever `spread`: the force f, its moment, and minus the derivative with respect to
// (s0, s1, s2), packed as 00 01 11 02 12 22; slack: by how much the derivative is reduced along the
// slip.
typedef struct abPatchSlip {
  double s[3], gain, slow, spread;
} abPatchSlip;
void ab_points_friction(const abPatchPoints* points, const double field[2][3],
                        const abPatchSlip* slip, double f[3], double G[6], double slack[6]);

#endif
