#include "oracle/ecp_paper.h"

enum { FACET_MAX = 256 };

// The convex functions of a shape, |grad f| = 1 on the surface, in the shape's frame.
static int facets(const abShape* s, abVec3 x, double* f, abVec3* grad) {
  double a = s->size.x, b = s->size.y, rho2 = x.x * x.x + x.y * x.y;
  switch (s->type) {
    case AB_SHAPE_SPHERE:
      f[0] = (v3_norm2(x) - a * a) / (2 * a);
      grad[0] = v3_scale(1 / a, x);
      return 1;
    case AB_SHAPE_CYLINDER:
      f[0] = (rho2 - a * a) / (2 * a), grad[0] = v3(x.x / a, x.y / a, 0);
      f[1] = x.z - b, grad[1] = v3(0, 0, 1);
      f[2] = -x.z - b, grad[2] = v3(0, 0, -1);
      return 3;
    case AB_SHAPE_CAPSULE: {
      abVec3 d = v3(x.x, x.y, x.z > b ? x.z - b : x.z < -b ? x.z + b : 0);
      f[0] = (v3_norm2(d) - a * a) / (2 * a);
      grad[0] = v3_scale(1 / a, d);
      return 1;
    }
    case AB_SHAPE_ELLIPSOID: {
      abVec3 q = v3(x.x / (a * a), x.y / (b * b), x.z / (s->size.z * s->size.z));
      double k = 1 / v3_norm(q);
      f[0] = 0.5 * k * (v3_dot(q, x) - 1);
      grad[0] = v3_scale(k, q);
      return 1;
    }
    default:
      break;
  }
  for (int i = 0; i < s->poly->nface; i++) {
    f[i] = v3_dot(s->poly->plane[i].n, x) - s->poly->plane[i].d;
    grad[i] = s->poly->plane[i].n;
  }
  return s->poly->nface;
}

// Least |target - sum l g| over l >= 0 with at most three gradients.
static double cone_distance(int n, const abVec3* g, abVec3 target, int* used) {
  double best = v3_norm(target);
  *used = 0;
  for (int i = 0; i < n; i++) {
    double l = v3_dot(g[i], target);
    double d = v3_norm(v3_axpy(-l, g[i], target));
    if (l > 0 && d < best) best = d, *used = 1;
  }
  for (int i = 0; i < n && best > 1e-12; i++)
    for (int j = 0; j < i; j++) {
      double c = v3_dot(g[i], g[j]), a = v3_dot(g[i], target), b = v3_dot(g[j], target);
      double det = 1 - c * c, li = (a - c * b) / det, lj = (b - c * a) / det;
      if (!(det > 1e-12) || li < 0 || lj < 0) continue;
      double d = v3_norm(v3_axpy(-li, g[i], v3_axpy(-lj, g[j], target)));
      if (d < best) best = d, *used = 2;
    }
  for (int i = 0; i < n && best > 1e-12; i++)
    for (int j = 0; j < i; j++)
      for (int k = 0; k < j; k++) {
        double det = v3_dot(g[i], v3_cross(g[j], g[k]));
        if (fabs(det) < 1e-12) continue;
        double li = v3_dot(target, v3_cross(g[j], g[k])) / det;
        double lj = v3_dot(g[i], v3_cross(target, g[k])) / det;
        double lk = v3_dot(g[i], v3_cross(g[j], target)) / det;
        if (li < 0 || lj < 0 || lk < 0) continue;
        best = 0, *used = 3;
      }
  return best;
}

static double radius_of(const abShape* s) {
  if (s->poly) return s->poly->radius;
  return s->type == AB_SHAPE_ELLIPSOID ? fmax(s->size.x, fmax(s->size.y, s->size.z))
                                       : s->size.x + s->size.y;
}

static void momentum(const EcpWorld* w, double radius, PaperResidual* out) {
  const abContactBody *b0 = &w->before[1], *b1 = &w->body[1];
  abWrench c = w->solution[0].impulse;
  double h = w->h;
  abMat3 R1 = quat_matrix(b1->q), R1t = m3_transpose(&R1), RI = m3_mul(&R1, &w->inertia_body[1]);
  abMat3 I1 = m3_mul(&RI, &R1t), I0 = w->inertia[1];
  abVec3 L0 = m3_apply(&I0, b0->twist.ang);
  abVec3 lin = v3_scale(w->mass[1], v3_sub(b1->twist.lin, b0->twist.lin));
  lin = v3_sub(lin, v3_axpy(h, b0->load.force, c.force));
  abVec3 ang = w->gyro != 0 ? v3_sub(m3_apply(&I1, b1->twist.ang), L0)
                            : v3_axpy(h, v3_cross(b0->twist.ang, L0),
                                      m3_apply(&I0, v3_sub(b1->twist.ang, b0->twist.ang)));
  abVec3 r = v3_sub(w->solution[0].point, b1->com);
  abVec3 torque = v3_add(c.torque, v3_cross(r, c.force));
  if (w->solution[0].kind == AB_PATCH_NONE) torque = v3_zero();
  ang = v3_sub(ang, v3_axpy(h, b0->load.torque, torque));
  double size = fmax(h * v3_norm(b0->load.force), v3_norm(c.force));
  out->momentum = fmax(v3_norm(lin), v3_norm(ang) / radius) / size;
}

// The arm at which friction's velocity is taken. gyro = 0: from the centre of mass at the end to
// the reported point. gyro = 1: the mean arm; it lies on the line of action through the reported
// point, where n.lambda + h/2 n.(w x lambda), its height at the end, is that of the plane.
static abVec3 friction_arm(const EcpWorld* w) {
  const abPairSolution* s = &w->solution[0];
  const abContactBody* b = &w->body[1];
  abVec3 r = v3_sub(s->point, b->com), n = s->normal, P = s->impulse.force;
  if (w->gyro == 0) return r;
  abVec3 a = v3_scale(0.5 * w->h, b->twist.ang);
  double over = v3_dot(n, v3_cross(a, r)) / (v3_dot(n, P) + v3_dot(n, v3_cross(a, P)));
  return v3_axpy(-over, P, r);
}

static void friction(const EcpWorld* w, PaperResidual* out) {
  const abPairSolution* s = &w->solution[0];
  const abContactBody* b = &w->body[1];
  abVec3 t, o, n = s->normal;
  v3_tangents(n, &t, &o);
  abVec3 u = twist_at(b->twist, friction_arm(w));
  double e[3] = {w->e_t, w->e_o, w->e_r},
         v[3] = {v3_dot(t, u), v3_dot(o, u), v3_dot(n, b->twist.ang)};
  abVec3 f = s->impulse.force;
  double p[3] = {v3_dot(f, t), v3_dot(f, o), v3_dot(s->impulse.torque, n)};
  double pn = v3_dot(f, n), limit = w->mu * pn, sigma = 0, cone = limit * limit;
  for (int j = 0; j < 3; j++) {
    sigma += e[j] * e[j] * v[j] * v[j];
    cone -= p[j] * p[j] / (e[j] * e[j]);
  }
  sigma = s->mode == AB_CONTACT_SLIP ? sqrt(sigma) : 0;
  double gh = w->gravity * w->h, unit = w->mass[1] * gh;
  for (int j = 0; j < 3; j++) {
    double row = e[j] * e[j] * limit * v[j] + p[j] * sigma;
    out->friction = fmax(out->friction, fabs(row) / (e[j] * (limit + 1e-6 * unit) * (sigma + gh)));
  }
  double size = fmax(unit, limit);
  if (s->mode == AB_CONTACT_SLIP) cone = -fabs(cone);
  out->friction = fmax(out->friction, -cone / (size * size));
  out->friction = fmax(out->friction, -pn / unit);
}

// Mean over the step of a vector that ends at x and turns with the body, and back.
static abVec3 mean_turned(const EcpWorld* w, abVec3 x) {
  abQuat back = quat_mul(w->before[1].q, quat_conj(w->body[1].q));
  return v3_lerp(x, quat_rotate(back, x), 0.5);
}

static abVec3 end_of_mean(const EcpWorld* w, abVec3 mean) {
  return v3_axpy(0.5 * w->h, v3_cross(w->body[1].twist.ang, mean), mean);
}

// Mean offset of the lowest point of a circle of radius a about the axis k (start k0): that whose
// scalar product with w x n is the change of its height.
static abVec3 circle_offset(double a, abVec3 k0, abVec3 k, abVec3 n) {
  double z0 = v3_dot(n, k0), z = v3_dot(n, k);
  abVec3 flat0 = v3_axpy(-z0, n, k0), flat = v3_axpy(-z, n, k);
  double s0 = v3_norm(flat0), s = v3_norm(flat);
  abVec3 side = v3_scale((z + z0) / 2 / (s + s0), v3_add(flat, flat0));
  return v3_scale(a, v3_axpy(-(s + s0) / 2, n, side));
}

// The point that touches at the end. gyro = 0 reports it. gyro = 1 reports the mean arm, which by
// the kind of feature belongs to one such point; where the lowest point is unique, it must be that.
static abVec3 touching_point(const EcpWorld* w, double radius, PaperResidual* out) {
  const abShape* s = w->shape[1];
  const abContactBody* b = &w->body[1];
  const abPairSolution* c = &w->solution[0];
  if (w->gyro == 0) return c->point;
  abVec3 n = c->normal, arm = friction_arm(w), d = v3_neg(n), offset = v3_zero(), end = v3_zero();
  abQuat q = quat_mul(b->q, w->shape_pose[1].q), q0 = quat_mul(w->before[1].q, w->shape_pose[1].q);
  abVec3 off = quat_rotate(b->q, w->shape_pose[1].p), z = v3(0, 0, 1);
  abVec3 k = quat_rotate(q, z), k0 = quat_rotate(q0, z);
  double a = s->size.x;
  if (s->type == AB_SHAPE_SPHERE || s->type == AB_SHAPE_CAPSULE) offset = end = v3_scale(a, d);
  if (s->type == AB_SHAPE_CYLINDER && c->kind == AB_PATCH_LINE)
    offset = circle_offset(a, k0, k, n), end = v3_scale(a, d);
  bool rim = s->type == AB_SHAPE_CYLINDER && c->kind == AB_PATCH_POINT;
  if (rim || s->type == AB_SHAPE_ELLIPSOID) {
    abVec3 lowest, mean;
    if (rim) {
      abVec3 center = v3_axpy(v3_dot(k, n) > 0 ? -s->size.y : s->size.y, k, off);
      abVec3 down = v3_axpy(-v3_dot(d, k), k, d);
      lowest = v3_axpy(a / v3_norm(down), down, center);
      mean = v3_add(mean_turned(w, center), circle_offset(a, k0, k, n));
      // below a tilt of 0.1 the arm of the matter is blended in
      double x = v3_norm(v3_cross(n, k)) / 0.1, share = x < 1 ? 3 * x * x - 2 * x * x * x : 1;
      mean = v3_lerp(mean_turned(w, lowest), mean, share);
    } else {
      abVec3 A2 = v3_mul(s->size, s->size), m = quat_rotate(quat_conj(q), d);
      abVec3 m0 = quat_rotate(quat_conj(q0), d), both = v3_mul(A2, v3_add(m, m0));
      double h1 = sqrt(v3_dot(m, v3_mul(A2, m))), h0 = sqrt(v3_dot(m0, v3_mul(A2, m0)));
      lowest = v3_add(off, quat_rotate(q, v3_scale(1 / h1, v3_mul(A2, m))));
      mean = mean_turned(w, v3_add(off, quat_rotate(q, v3_scale(1 / (h1 + h0), both))));
      // its height is the mean height
      mean = v3_axpy(0.5 * (h1 + h0) - v3_dot(d, v3_sub(mean, mean_turned(w, off))), d, mean);
    }
    // near upright the lowest point of a rim turns with any tilt: rounding over the tilt
    double tilt = rim ? v3_norm(v3_axpy(-v3_dot(n, k), n, k)) : 1;
    double loss = 1e-14 / (tilt + 1e-14);
    out->geometry = fmax(out->geometry, v3_norm(v3_sub(mean, arm)) / radius / (1 + 1e9 * loss));
    return v3_add(b->com, lowest);
  }
  return v3_add(b->com, v3_add(end, end_of_mean(w, v3_sub(arm, offset))));
}

static void geometry(const EcpWorld* w, double radius, PaperResidual* out) {
  const abContactBody* b = &w->body[1];
  const abShape* s = w->shape[1];
  abPose pose = pose_mul((abPose){b->com, b->q}, w->shape_pose[1]);
  abVec3 n = quat_rotate(w->fixed_pose[0].q, v3(0, 0, 1));
  const abPairSolution* c = &w->solution[0];
  if (c->kind == AB_PATCH_NONE) return;
  double f[FACET_MAX];
  abVec3 grad[FACET_MAX], active[FACET_MAX], point = touching_point(w, radius, out);
  int nf = facets(s, pose_apply_inverse(pose, point), f, grad), na = 0;
  abVec3 origin = w->fixed_pose[0].p;
  out->geometry = fmax(out->geometry, fabs(v3_dot(n, v3_sub(point, origin))) / radius);
  out->geometry = fmax(out->geometry, fabs(v3_dot(n, v3_sub(c->point, origin))) / radius);
  double most = -INFINITY;
  for (int i = 0; i < nf; i++) {
    most = fmax(most, f[i] / radius);
    // active to within what a contact point may lie outside a border
    if (f[i] / radius > -2e-9) active[na++] = quat_rotate(pose.q, grad[i]);
  }
  out->geometry = fmax(out->geometry, fabs(most));
  out->geometry = fmax(out->geometry, cone_distance(na, active, v3_neg(n), &out->nfacet));
}

PaperResidual paper_residual(const EcpWorld* w) {
  PaperResidual out = {0};
  double radius = radius_of(w->shape[1]);
  momentum(w, radius, &out);
  if (w->solution[0].kind != AB_PATCH_NONE) friction(w, &out);
  geometry(w, radius, &out);
  return out;
}
