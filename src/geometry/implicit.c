// Implicit descriptions for contact conditions of the form sum l_i grad f_i = -n, 0 <= l_i _|_
// -f_i(x) >= 0 (Xie & Chakraborty). |grad f_i| = 1 on the surface makes the multipliers l_i numbers
// of order one whatever the size of the body, and f_i a length.
//
//   face        f = n . x - d
//   sphere      f = (|x|^2 - r^2) / (2 r)                      smooth; grad = x / r
//   capsule     f = (|x - c|^2 - r^2) / (2 r), c the point of the axis nearest to x: once
//               differentiable with a Lipschitz gradient (the Hessian jumps where the caps begin)
//   cylinder    f = (x^2 + y^2 - r^2) / (2 r), z - l, -z - l. Not the root of x^2 + y^2, which has
//               no derivative on the axis
//   plane       f = z
//   ellipsoid   the signed distance. The obvious quadratic x^T A x - 1 has a gradient whose length
//               differs by the ratio of the largest to the smallest radius over the surface, and
//               divided by it is no longer convex; the signed distance of a convex set is convex.
//
// Signed distance of the ellipsoid with radii a_i: the nearest surface point is y_i = a_i^2 x_i /
// (a_i^2 + t), t > -min a_i^2 the root of g(t) = sum (a_i x_i / (a_i^2 + t))^2 - 1, which falls
// monotonically there and is convex, so Newton's method from the left of the root climbs to it
// without overshoot. f = (x - y) . n with n = A y / |A y|, A = diag(1 / a_i^2), and grad f = n.
// With the surface's curvature W = P A P / |A y|, P = 1 - n n^T, the Hessian is (1 + f W)^-1 W.
// Deeper inside than the smallest radius of curvature the nearest point is not unique somewhere (as
// at the centre) and f has kinks; contact conditions are not solved there, but the values stay
// finite and the Hessian is kept bounded.
#include "geometry/implicit.h"

#include <float.h>

#include "math/rotation.h"

int ab_implicit_count(const abShape* s) {
  if (s->type == AB_SHAPE_BOX) return 6;
  if (s->type == AB_SHAPE_MESH) return s->poly->nface;
  return s->type == AB_SHAPE_CYLINDER ? 3 : 1;
}

typedef struct Value {
  double f;
  abVec3 grad;
  abMat3 hess;
} Value;

static Value linear(abVec3 n, double d, abVec3 x) { return (Value){v3_dot(n, x) - d, n, {{{0}}}}; }

// The faces of a box in the order of ab_polyhedron_box: -x, -z, -y, +z, +y, +x.
static Value box_face(abVec3 h, int i, abVec3 x) {
  static const int axis[6] = {0, 2, 1, 2, 1, 0};
  double sign = i < 3 ? -1 : 1;
  abVec3 n = v3(axis[i] == 0 ? sign : 0, axis[i] == 1 ? sign : 0, axis[i] == 2 ? sign : 0);
  return linear(n, v3_get(h, axis[i]), x);
}

// The half squared distance from a point or an axis, over r; `along` = 0 leaves out the z part.
static Value round_part(abVec3 d, double r, double along) {
  d.z *= along;
  return (Value){(v3_norm2(d) - r * r) / (2 * r), v3_scale(1 / r, d),
                 m3_diag(v3(1 / r, 1 / r, along / r))};
}

static Value capsule(abVec3 size, abVec3 x) {
  if (x.z > size.y) return round_part(v3(x.x, x.y, x.z - size.y), size.x, 1);
  if (x.z < -size.y) return round_part(v3(x.x, x.y, x.z + size.y), size.x, 1);
  return round_part(x, size.x, 0);
}

static Value cylinder(abVec3 size, int i, abVec3 x) {
  if (i == 0) return round_part(x, size.x, 0);
  return linear(v3(0, 0, i == 1 ? 1 : -1), size.y, x);
}

// --- ellipsoid, in units of its largest radius ---

// The root t of g, found from a start left of it.
static double nearest_parameter(abVec3 a, abVec3 x) {
  double aa[3] = {a.x * a.x, a.y * a.y, a.z * a.z};
  double ax[3] = {a.x * fabs(x.x), a.y * fabs(x.y), a.z * fabs(x.z)};
  // Each term alone makes g >= 0 up to t = a_i |x_i| - a_i^2: the largest of these is on the left.
  double t = fmax(ax[0] - aa[0], fmax(ax[1] - aa[1], ax[2] - aa[2]));
  // Newton gains digits quadratically once near; a start beside a pole of g needs some doublings
  // first. 200 is never reached: each step at least multiplies the distance from the pole by 3/2.
  for (int step = 0; step < 200; step++) {
    double g = -1, slope = 0;
    for (int i = 0; i < 3; i++) {
      double s = aa[i] + t, q = s > 0 ? ax[i] / s : 0;
      g += q * q;
      slope += s > 0 ? 2 * q * q / s : 0;
    }
    if (!(slope > 0) || g <= 0) break;
    double next = t + g / slope;
    if (!(next - t > DBL_EPSILON * (fabs(t) + aa[0] + aa[1] + aa[2]))) return next;
    t = next;
  }
  return t;
}

// The point of the surface nearest to x. On a symmetry plane deep inside, the component across it
// is free: it is whatever puts y on the surface.
static abVec3 nearest_point(abVec3 a, abVec3 x) {
  double t = nearest_parameter(a, x), r[3] = {a.x, a.y, a.z}, p[3] = {x.x, x.y, x.z}, y[3];
  int free = -1;
  double rest = 1;
  for (int i = 0; i < 3; i++) {
    double s = r[i] * r[i] + t;
    if (s > 0) {
      y[i] = r[i] * r[i] * p[i] / s;
      rest -= (y[i] / r[i]) * (y[i] / r[i]);
    } else {
      y[i] = 0;
      free = i;
    }
  }
  if (free >= 0 && rest > 0) y[free] = r[free] * sqrt(rest);
  return v3(y[0], y[1], y[2]);
}

// (1 + f W)^-1 W. Where f W reaches -1 (a centre of curvature) the inverse is held back.
static abMat3 distance_hessian(abVec3 a, abVec3 n, double scale, double f) {
  abMat3 P = m3_identity();
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) P.m[i][j] -= v3_get(n, i) * v3_get(n, j);
  abMat3 A = m3_diag(v3(scale / (a.x * a.x), scale / (a.y * a.y), scale / (a.z * a.z)));
  abMat3 AP = m3_mul(&A, &P), W = m3_mul(&P, &AP), R;
  abVec3 k;
  m3_eigen(&W, &R, &k);
  double d[3] = {k.x, k.y, 0};  // the third belongs to n
  for (int i = 0; i < 2; i++) d[i] = d[i] / fmax(1 + f * d[i], 1e-6);
  return m3_congruent_diag(&R, v3(d[0], d[1], d[2]));
}

static Value ellipsoid(abVec3 size, abVec3 x, bool hessian) {
  double unit = fmax(size.x, fmax(size.y, size.z));
  abVec3 a = v3_scale(1 / unit, size), p = v3_scale(1 / unit, x), y = nearest_point(a, p);
  abVec3 Ay = v3(y.x / (a.x * a.x), y.y / (a.y * a.y), y.z / (a.z * a.z));
  double length = v3_norm(Ay);
  Value v = {.grad = v3_scale(1 / length, Ay)};
  v.f = v3_dot(v3_sub(p, y), v.grad);
  if (hessian) {
    abMat3 H = distance_hessian(a, v.grad, 1 / length, v.f);
    v.hess = m3_scale(1 / unit, &H);
  }
  v.f *= unit;
  return v;
}

void ab_implicit_eval(const abShape* s, int i, abVec3 x, double* f, abVec3* grad, abMat3* hess) {
  Value v = {0};
  switch (s->type) {
    case AB_SHAPE_PLANE:
      v = linear(v3(0, 0, 1), 0, x);
      break;
    case AB_SHAPE_BOX:
      v = box_face(s->size, i, x);
      break;
    case AB_SHAPE_SPHERE:
      v = round_part(x, s->size.x, 1);
      break;
    case AB_SHAPE_CAPSULE:
      v = capsule(s->size, x);
      break;
    case AB_SHAPE_CYLINDER:
      v = cylinder(s->size, i, x);
      break;
    case AB_SHAPE_ELLIPSOID:
      v = ellipsoid(s->size, x, hess != NULL);
      break;
    case AB_SHAPE_MESH:
      v = linear(s->poly->plane[i].n, s->poly->plane[i].d, x);
      break;
  }
  if (f) *f = v.f;
  if (grad) *grad = v.grad;
  if (hess) *hess = v.hess;
}
