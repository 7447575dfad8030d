// All shapes are convex, so a ray is inside of them for one interval of t. Polyhedra are cut from
// half-spaces; ellipsoids are balls in other units; cylinders and capsules are cut from the
// infinite cylinder by two planes or completed by two balls.
// Tests: test_query.
#include "geometry/ray.h"

#include <math.h>

#include "math/vec.h"

typedef struct Span {
  double in, out;  // empty where in > out
  abVec3 normal;   // where it goes in
} Span;

static const Span EVERYWHERE = {-INFINITY, INFINITY, {0, 0, 0}};
static const Span NOWHERE = {1, 0, {0, 0, 0}};

// What is left of the span within n . x <= d.
static Span cut(Span s, abVec3 n, double d, abVec3 o, abVec3 u) {
  double ahead = d - v3_dot(n, o), speed = v3_dot(n, u);
  if (speed == 0) return ahead >= 0 ? s : NOWHERE;
  double t = ahead / speed;
  if (speed < 0 && t > s.in) s.in = t, s.normal = n;
  if (speed > 0 && t < s.out) s.out = t;
  return s;
}

// a t^2 + 2 b t + c <= 0; the normal is left to the caller.
static Span between_roots(double a, double b, double c) {
  if (!(a > 0)) return c <= 0 ? EVERYWHERE : NOWHERE;
  double disc = b * b - a * c;
  if (!(disc >= 0)) return NOWHERE;
  // the larger root in size by a sum of equal signs, the other by the product of both
  double q = -(b + copysign(sqrt(disc), b));
  double t1 = q / a, t2 = q != 0 ? c / q : t1;
  return (Span){fmin(t1, t2), fmax(t1, t2), {0, 0, 0}};
}

static Span ball(abVec3 centre, double r, abVec3 o, abVec3 u) {
  abVec3 p = v3_sub(o, centre);
  Span s = between_roots(v3_norm2(u), v3_dot(p, u), v3_norm2(p) - r * r);
  s.normal = v3_unit(v3_axpy(s.in, u, p));
  return s;
}

// About the z axis, without ends.
static Span tube(double r, abVec3 o, abVec3 u) {
  abVec3 p = v3(o.x, o.y, 0), w = v3(u.x, u.y, 0);
  Span s = between_roots(v3_norm2(w), v3_dot(p, w), v3_norm2(p) - r * r);
  if (isfinite(s.in) && s.in <= s.out) s.normal = v3_unit(v3_axpy(s.in, w, p));
  return s;
}

static Span slabs(abVec3 half, abVec3 o, abVec3 u) {
  Span s = EVERYWHERE;
  for (int i = 0; i < 3; i++) {
    abVec3 n = v3(i == 0, i == 1, i == 2);
    s = cut(s, n, v3_get(half, i), o, u);
    s = cut(s, v3_neg(n), v3_get(half, i), o, u);
  }
  return s;
}

static Span polyhedron(const abPolyhedron* poly, abVec3 o, abVec3 u) {
  Span s = EVERYWHERE;
  for (int f = 0; f < poly->nface && s.in <= s.out; f++)
    s = cut(s, poly->plane[f].n, poly->plane[f].d, o, u);
  return s;
}

static Span cylinder(abVec3 size, abVec3 o, abVec3 u) {
  Span s = cut(tube(size.x, o, u), v3(0, 0, 1), size.y, o, u);
  return cut(s, v3(0, 0, -1), size.y, o, u);
}

// The union of a cylinder and two balls, which is convex: in by the first of the three, out by the
// last.
static Span capsule(abVec3 size, abVec3 o, abVec3 u) {
  Span part[3] = {cylinder(size, o, u), ball(v3(0, 0, size.y), size.x, o, u),
                  ball(v3(0, 0, -size.y), size.x, o, u)};
  Span s = NOWHERE;
  for (int i = 0; i < 3; i++) {
    if (part[i].in > part[i].out) continue;
    if (s.in > s.out) {
      s = part[i];
      continue;
    }
    if (part[i].in < s.in) s.in = part[i].in, s.normal = part[i].normal;
    s.out = fmax(s.out, part[i].out);
  }
  return s;
}

static Span ellipsoid(abVec3 size, abVec3 o, abVec3 u) {
  abVec3 unit = v3(1 / size.x, 1 / size.y, 1 / size.z);
  Span s = ball(v3_zero(), 1, v3_mul(o, unit), v3_mul(u, unit));
  s.normal = v3_unit(v3_mul(s.normal, unit));
  return s;
}

static Span span_of(const abShape* shape, abVec3 o, abVec3 u) {
  switch (shape->type) {
    case AB_SHAPE_PLANE:
      return cut(EVERYWHERE, v3(0, 0, 1), 0, o, u);
    case AB_SHAPE_BOX:
      return slabs(shape->size, o, u);
    case AB_SHAPE_SPHERE:
      return ball(v3_zero(), shape->size.x, o, u);
    case AB_SHAPE_CAPSULE:
      return capsule(shape->size, o, u);
    case AB_SHAPE_CYLINDER:
      return cylinder(shape->size, o, u);
    case AB_SHAPE_ELLIPSOID:
      return ellipsoid(shape->size, o, u);
    case AB_SHAPE_MESH:
      return shape->poly ? polyhedron(shape->poly, o, u) : NOWHERE;
  }
  return NOWHERE;
}

bool ab_ray_shape(const abShape* shape, abVec3 origin, abVec3 direction, double* t,
                  abVec3* normal) {
  Span s = span_of(shape, origin, direction);
  if (!(s.in >= 0 && s.in <= s.out)) return false;
  *t = s.in;
  *normal = s.normal;
  return true;
}
