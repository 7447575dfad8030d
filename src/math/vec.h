// Inline vector algebra on the public types. Every function is a pure expression of its arguments.
#ifndef ABUT_MATH_VEC_H
#define ABUT_MATH_VEC_H

#include <abut/types.h>
#include <math.h>

static const double AB_PI = 3.14159265358979323846;

static inline abVec3 v3(double x, double y, double z) { return (abVec3){x, y, z}; }
static inline abVec3 v3_zero(void) { return (abVec3){0, 0, 0}; }
static inline abVec3 v3_add(abVec3 a, abVec3 b) { return v3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline abVec3 v3_sub(abVec3 a, abVec3 b) { return v3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline abVec3 v3_scale(double s, abVec3 a) { return v3(s * a.x, s * a.y, s * a.z); }
static inline abVec3 v3_neg(abVec3 a) { return v3(-a.x, -a.y, -a.z); }
static inline abVec3 v3_mul(abVec3 a, abVec3 b) { return v3(a.x * b.x, a.y * b.y, a.z * b.z); }
static inline double v3_dot(abVec3 a, abVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
// a + s b
static inline abVec3 v3_axpy(double s, abVec3 b, abVec3 a) {
  return v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline abVec3 v3_cross(abVec3 a, abVec3 b) {
  return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double v3_norm2(abVec3 a) { return v3_dot(a, a); }
static inline double v3_norm(abVec3 a) { return sqrt(v3_dot(a, a)); }
// The unit vector along a; a itself if it is zero.
static inline abVec3 v3_unit(abVec3 a) {
  double n = v3_norm(a);
  return n > 0 ? v3_scale(1 / n, a) : a;
}
static inline abVec3 v3_lerp(abVec3 a, abVec3 b, double t) { return v3_axpy(t, v3_sub(b, a), a); }
static inline double v3_get(abVec3 a, int i) { return i == 0 ? a.x : i == 1 ? a.y : a.z; }
static inline bool v3_finite(abVec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

static inline abVec2 v2(double x, double y) { return (abVec2){x, y}; }
static inline abVec2 v2_add(abVec2 a, abVec2 b) { return v2(a.x + b.x, a.y + b.y); }
static inline abVec2 v2_sub(abVec2 a, abVec2 b) { return v2(a.x - b.x, a.y - b.y); }
static inline abVec2 v2_scale(double s, abVec2 a) { return v2(s * a.x, s * a.y); }
static inline abVec2 v2_axpy(double s, abVec2 b, abVec2 a) {
  return v2(a.x + s * b.x, a.y + s * b.y);
}
static inline double v2_dot(abVec2 a, abVec2 b) { return a.x * b.x + a.y * b.y; }
static inline double v2_cross(abVec2 a, abVec2 b) { return a.x * b.y - a.y * b.x; }
static inline double v2_norm(abVec2 a) { return sqrt(v2_dot(a, a)); }

#endif
