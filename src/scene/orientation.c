// See orientation.h.
// Tests: test_mjcf.
#include "scene/orientation.h"

#include "math/rotation.h"

// By how many powers of two the largest is to be shortened: those leave all digits.
static int length_of(double a, double b, double c, double d) {
  double most = fmax(fmax(fabs(a), fabs(b)), fmax(fabs(c), fabs(d)));
  int power = 0;
  if (isfinite(most)) (void)frexp(most, &power);
  return power;
}

abVec3 ab_direction(abVec3 a) {
  int k = -length_of(a.x, a.y, a.z, 0);
  return v3_unit(v3(ldexp(a.x, k), ldexp(a.y, k), ldexp(a.z, k)));
}

abQuat ab_orientation(abQuat q) {
  int k = -length_of(q.w, q.x, q.y, q.z);
  return quat_unit((abQuat){ldexp(q.w, k), ldexp(q.x, k), ldexp(q.y, k), ldexp(q.z, k)});
}

abQuat ab_quat_euler(const double angle[3], const char* sequence) {
  abQuat q = quat_identity();
  for (int i = 0; i < 3; i++) {
    char c = sequence[i];
    bool fixed = c >= 'A' && c <= 'Z';
    int axis = (fixed ? c - 'A' : c - 'a') - 23;  // x = 0, y = 1, z = 2
    double s = sin(angle[i] / 2);
    abQuat turn = {cos(angle[i] / 2), axis == 0 ? s : 0, axis == 1 ? s : 0, axis == 2 ? s : 0};
    q = fixed ? quat_mul(turn, q) : quat_mul(q, turn);
  }
  return quat_unit(q);
}

bool ab_quat_xyaxes(const double axes[6], abQuat* q) {
  abVec3 x = v3(axes[0], axes[1], axes[2]), y = v3(axes[3], axes[4], axes[5]);
  x = ab_direction(x), y = ab_direction(y);
  if (!(v3_norm(x) > 0) || !(v3_norm(y) > 0)) return false;
  abVec3 up = v3_axpy(-v3_dot(x, y), x, y);
  // below this the direction of y - (x.y) x is nothing but rounding
  if (!(v3_norm(up) > 1e-12)) return false;
  y = v3_unit(up);
  abMat3 R = m3_cols(x, y, v3_cross(x, y));
  *q = quat_from_matrix(&R);
  return true;
}

bool ab_quat_zaxis(abVec3 z, abQuat* q) {
  z = ab_direction(z);
  if (!(v3_norm(z) > 0)) return false;
  abVec3 axis = v3(-z.y, z.x, 0);  // (0,0,1) x z
  double s = v3_norm(axis);
  double angle = atan2(s, z.z);
  // where z is vertical to rounding, the axis is arbitrary: x
  axis = s > 1e-10 ? v3_scale(1 / s, axis) : v3(1, 0, 0);
  *q = quat_from_axis_angle(axis, angle);
  return true;
}
