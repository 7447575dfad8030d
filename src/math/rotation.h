// Inline 3x3 matrices, quaternions and poses.
#ifndef ABUT_MATH_ROTATION_H
#define ABUT_MATH_ROTATION_H

#include "math/vec.h"

static inline abMat3 m3_identity(void) { return (abMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }
static inline abMat3 m3_diag(abVec3 d) { return (abMat3){{{d.x, 0, 0}, {0, d.y, 0}, {0, 0, d.z}}}; }
static inline abVec3 m3_col(const abMat3* a, int j) {
  return v3(a->m[0][j], a->m[1][j], a->m[2][j]);
}
static inline abVec3 m3_row(const abMat3* a, int i) {
  return v3(a->m[i][0], a->m[i][1], a->m[i][2]);
}
static inline abMat3 m3_cols(abVec3 a, abVec3 b, abVec3 c) {
  return (abMat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}
static inline abVec3 m3_apply(const abMat3* a, abVec3 x) {
  return v3(a->m[0][0] * x.x + a->m[0][1] * x.y + a->m[0][2] * x.z,
            a->m[1][0] * x.x + a->m[1][1] * x.y + a->m[1][2] * x.z,
            a->m[2][0] * x.x + a->m[2][1] * x.y + a->m[2][2] * x.z);
}
// The transpose of a applied to x; for a rotation this is the inverse.
static inline abVec3 m3_apply_t(const abMat3* a, abVec3 x) {
  return v3(a->m[0][0] * x.x + a->m[1][0] * x.y + a->m[2][0] * x.z,
            a->m[0][1] * x.x + a->m[1][1] * x.y + a->m[2][1] * x.z,
            a->m[0][2] * x.x + a->m[1][2] * x.y + a->m[2][2] * x.z);
}
static inline abMat3 m3_mul(const abMat3* a, const abMat3* b) {
  abMat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      c.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
  return c;
}
static inline abMat3 m3_transpose(const abMat3* a) {
  return m3_cols(m3_row(a, 0), m3_row(a, 1), m3_row(a, 2));
}
static inline abMat3 m3_add(const abMat3* a, const abMat3* b) {
  abMat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) c.m[i][j] = a->m[i][j] + b->m[i][j];
  return c;
}
static inline abMat3 m3_scale(double s, const abMat3* a) {
  abMat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) c.m[i][j] = s * a->m[i][j];
  return c;
}
// The matrix [r x]: [r x] y = r x y.
static inline abMat3 m3_skew(abVec3 r) {
  return (abMat3){{{0, -r.z, r.y}, {r.z, 0, -r.x}, {-r.y, r.x, 0}}};
}
static inline double m3_det(const abMat3* a) {
  return v3_dot(m3_row(a, 0), v3_cross(m3_row(a, 1), m3_row(a, 2)));
}
static inline abMat3 m3_inverse(const abMat3* a) {
  abVec3 r0 = m3_row(a, 0), r1 = m3_row(a, 1), r2 = m3_row(a, 2);
  double s = 1 / m3_det(a);
  return m3_cols(v3_scale(s, v3_cross(r1, r2)), v3_scale(s, v3_cross(r2, r0)),
                 v3_scale(s, v3_cross(r0, r1)));
}
// R diag(d) R^T: an inertia given by principal moments d and principal axes R.
static inline abMat3 m3_congruent_diag(const abMat3* R, abVec3 d) {
  abMat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      c.m[i][j] = R->m[i][0] * d.x * R->m[j][0] + R->m[i][1] * d.y * R->m[j][1] +
                  R->m[i][2] * d.z * R->m[j][2];
  return c;
}

static inline abQuat quat_identity(void) { return (abQuat){1, 0, 0, 0}; }
static inline abQuat quat_conj(abQuat q) { return (abQuat){q.w, -q.x, -q.y, -q.z}; }
static inline abQuat quat_mul(abQuat a, abQuat b) {
  return (abQuat){
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline double quat_norm(abQuat q) {
  return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}
// q at unit length; the identity if q is zero.
static inline abQuat quat_unit(abQuat q) {
  double n = quat_norm(q);
  if (!(n > 0)) return quat_identity();
  return (abQuat){q.w / n, q.x / n, q.y / n, q.z / n};
}
static inline abVec3 quat_rotate(abQuat q, abVec3 x) {
  abVec3 u = v3(q.x, q.y, q.z);
  abVec3 t = v3_scale(2, v3_cross(u, x));
  return v3_add(x, v3_add(v3_scale(q.w, t), v3_cross(u, t)));
}
static inline abMat3 quat_matrix(abQuat q) {
  double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  return (abMat3){{{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy)},
                   {2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx)},
                   {2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}}};
}
// The rotation by the angle |r| about r. Written with sinc so that it is exact through r = 0.
static inline abQuat quat_from_rotvec(abVec3 r) {
  double t = 0.25 * v3_norm2(r);  // half the angle, squared
  if (t < 1e-5) {                 // the next terms are below rounding
    double c = 1 - t * (0.5 - t * (1.0 / 24)), s = 0.5 - t * (1.0 / 12 - t * (1.0 / 240));
    return (abQuat){c, s * r.x, s * r.y, s * r.z};
  }
  double half = sqrt(t), s = 0.5 * sin(half) / half;
  return (abQuat){cos(half), s * r.x, s * r.y, s * r.z};
}

// The turn of at most half a circle, as a vector along its axis.
static inline abVec3 quat_to_rotvec(abQuat q) {
  double sine = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
  double angle = 2 * atan2(q.w < 0 ? -sine : sine, fabs(q.w));
  return v3_scale(sine > 0 ? angle / sine : 2, v3(q.x, q.y, q.z));
}
static inline abQuat quat_from_axis_angle(abVec3 axis, double angle) {
  return quat_from_rotvec(v3_scale(angle, v3_unit(axis)));
}
abQuat quat_from_matrix(const abMat3* R);

static inline abPose pose_identity(void) { return (abPose){{0, 0, 0}, {1, 0, 0, 0}}; }
static inline abVec3 pose_apply(abPose a, abVec3 x) { return v3_add(a.p, quat_rotate(a.q, x)); }
static inline abVec3 pose_apply_inverse(abPose a, abVec3 x) {
  return quat_rotate(quat_conj(a.q), v3_sub(x, a.p));
}
static inline abPose pose_mul(abPose a, abPose b) {
  return (abPose){pose_apply(a, b.p), quat_mul(a.q, b.q)};
}
static inline abPose pose_inverse(abPose a) {
  abQuat q = quat_conj(a.q);
  return (abPose){v3_neg(quat_rotate(q, a.p)), q};
}

// Two unit vectors t1, t2 with t1 x t2 = n: t1 is the world x axis made orthogonal to n, or the y
// axis where n is nearly along x. A fixed rule, since the orientation of a friction pyramid depends
// on it.
static inline void v3_tangents(abVec3 n, abVec3* t1, abVec3* t2) {
  abVec3 a = fabs(n.x) > 0.9 ? v3(0, 1, 0) : v3(1, 0, 0);
  *t1 = v3_unit(v3_axpy(-v3_dot(a, n), n, a));
  *t2 = v3_cross(n, *t1);
}

// Principal axes of a symmetric matrix: A = R diag(d) R^T with R a rotation and d.x >= d.y >= d.z.
void m3_eigen(const abMat3* A, abMat3* R, abVec3* d);

#endif
