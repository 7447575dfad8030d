// Twists and wrenches moved between points, and 6x6 blocks.
#ifndef ABUT_MATH_SPATIAL_H
#define ABUT_MATH_SPATIAL_H

#include "math/rotation.h"

static inline abTwist twist_zero(void) { return (abTwist){{0, 0, 0}, {0, 0, 0}}; }
static inline abTwist twist_add(abTwist a, abTwist b) {
  return (abTwist){v3_add(a.lin, b.lin), v3_add(a.ang, b.ang)};
}
static inline abTwist twist_sub(abTwist a, abTwist b) {
  return (abTwist){v3_sub(a.lin, b.lin), v3_sub(a.ang, b.ang)};
}
static inline abTwist twist_scale(double s, abTwist a) {
  return (abTwist){v3_scale(s, a.lin), v3_scale(s, a.ang)};
}
// The velocity of the material point that lies at r from the twist's own point.
static inline abVec3 twist_at(abTwist t, abVec3 r) { return v3_add(t.lin, v3_cross(t.ang, r)); }
// The same motion described at the point r away.
static inline abTwist twist_move(abTwist t, abVec3 r) { return (abTwist){twist_at(t, r), t.ang}; }

static inline abWrench wrench_zero(void) { return (abWrench){{0, 0, 0}, {0, 0, 0}}; }
static inline abWrench wrench_add(abWrench a, abWrench b) {
  return (abWrench){v3_add(a.force, b.force), v3_add(a.torque, b.torque)};
}
static inline abWrench wrench_sub(abWrench a, abWrench b) {
  return (abWrench){v3_sub(a.force, b.force), v3_sub(a.torque, b.torque)};
}
static inline abWrench wrench_scale(double s, abWrench a) {
  return (abWrench){v3_scale(s, a.force), v3_scale(s, a.torque)};
}
static inline abWrench wrench_neg(abWrench a) { return wrench_scale(-1, a); }
// The same wrench with its torque taken about the point r away: torque' = torque - r x force.
static inline abWrench wrench_move(abWrench w, abVec3 r) {
  return (abWrench){w.force, v3_sub(w.torque, v3_cross(r, w.force))};
}
// The wrench at the reference point of a force acting at r from it.
static inline abWrench wrench_of_force(abVec3 r, abVec3 f) { return (abWrench){f, v3_cross(r, f)}; }
static inline double twist_power(abTwist t, abWrench w) {
  return v3_dot(t.lin, w.force) + v3_dot(t.ang, w.torque);
}

static inline void twist_to_array(abTwist t, double a[6]) {
  a[0] = t.lin.x, a[1] = t.lin.y, a[2] = t.lin.z, a[3] = t.ang.x, a[4] = t.ang.y, a[5] = t.ang.z;
}
static inline abTwist twist_from_array(const double a[6]) {
  return (abTwist){{a[0], a[1], a[2]}, {a[3], a[4], a[5]}};
}
static inline void wrench_to_array(abWrench w, double a[6]) {
  a[0] = w.force.x, a[1] = w.force.y, a[2] = w.force.z;
  a[3] = w.torque.x, a[4] = w.torque.y, a[5] = w.torque.z;
}
static inline abWrench wrench_from_array(const double a[6]) {
  return (abWrench){{a[0], a[1], a[2]}, {a[3], a[4], a[5]}};
}

static inline abMat6 m6_zero(void) { return (abMat6){{{0}}}; }
static inline void m6_apply(const abMat6* A, const double x[6], double y[6]) {
  for (int i = 0; i < 6; i++) {
    double s = 0;
    for (int j = 0; j < 6; j++) s += A->m[i][j] * x[j];
    y[i] = s;
  }
}
static inline abTwist m6_apply_wrench(const abMat6* A, abWrench w) {
  double x[6], y[6];
  wrench_to_array(w, x);
  m6_apply(A, x, y);
  return twist_from_array(y);
}
static inline void m6_add_to(abMat6* A, const abMat6* B) {
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) A->m[i][j] += B->m[i][j];
}

// Dense symmetric positive definite systems, row-major n x n, lower triangle used.
// Cholesky in place: A = L L^T. A pivot that is not above `floor` is replaced by `floor`; the
// number of replaced pivots is returned, so that a caller can report it.
int dense_cholesky(int n, double* A, double floor);
void dense_cholesky_solve(int n, const double* L, double* b);
// General square system by LU with row pivoting, A destroyed; returns false if singular to working
// precision.
bool dense_lu_solve(int n, double* A, double* b, int* pivot);

#endif
