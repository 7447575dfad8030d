// Sums over the corners and points of a patch: the inner loops of the law. Their number is a
// multiple of AB_LANES, filled up with ones of no weight.
#ifndef ABUT_CONTACT_PATCH_POINTS_H
#define ABUT_CONTACT_PATCH_POINTS_H

typedef struct abPatchPoints {
  int n;
  const double *x, *y, *w;
} abPatchPoints;

// With p = aim - (u[0] + u[1] y - u[2] x): sum[0..2] of w p, w p x, w p y, sum[3..8] of w, w x, w
// y, w xx, w xy, w yy, where p is positive. Returns the least p.
double ab_points_press(const abPatchPoints* points, const double* aim, const double u[3],
                       double sum[9]);

// Friction -gain w s / max(|s|, slow) with s = (s0 - s2 y, s1 + s2 x): the force f, its moment, and
// minus the derivative with respect to (s0, s1, s2), packed as 00 01 11 02 12 22; slack: by how
// much the derivative is reduced along the slip.
typedef struct abPatchSlip {
  double s[3], gain, slow;
} abPatchSlip;
void ab_points_friction(const abPatchPoints* points, const abPatchSlip* slip, double f[3],
                        double G[6], double slack[6]);

#endif
