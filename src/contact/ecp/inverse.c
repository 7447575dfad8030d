// Contact inverse.
//
// With P = m (v+ - v) - h f and B = (change of angular momentum) - h tau, the contact acts at r
// from the centre of mass with
//     r x P + p_r n = B,    n . r = d - n . q+.
// Its determinant is -(P.n)^2 (Xie & Chakraborty print P.n; what follows from it stands). Scalar
// product with P: p_r = B.P / n.P. Then r x P = C := B - p_r n has the solutions
// r = P x C / |P|^2 + s P, and the plane fixes s.
// Tests: test_ecp_inverse.
#include <abut/inverse.h>

#include "base/error.h"
#include "math/spatial.h"

static bool sensible(const abInverseDef* d) {
  abVec3 v[] = {d->twist_start.lin, d->twist_start.ang, d->twist_end.lin, d->twist_end.ang,
                d->com_end,         d->load.force,      d->load.torque,   d->plane.n};
  for (int i = 0; i < 8; i++)
    if (!v3_finite(v[i])) return false;
  return d->h > 0 && d->mass > 0 && fabs(v3_norm2(d->plane.n) - 1) < 1e-9 && isfinite(d->plane.d);
}

static abVec3 angular_impulse(const abInverseDef* d) {
  abVec3 L0 = m3_apply(&d->inertia_start, d->twist_start.ang), dL;
  if (d->explicit_gyro) {
    abVec3 dw = v3_sub(d->twist_end.ang, d->twist_start.ang);
    dL = v3_axpy(d->h, v3_cross(d->twist_start.ang, L0), m3_apply(&d->inertia_start, dw));
  } else {
    dL = v3_sub(m3_apply(&d->inertia_end, d->twist_end.ang), L0);
  }
  return v3_axpy(-d->h, d->load.torque, dL);
}

// With gyro = 1 the impulse acts at the mean arm of the step (lever.c). On the line of action
// it is where n.lambda + h/2 n.(w x lambda), its height at the end, is the plane's; sliding is
// measured there.
static abVec3 mean_arm(const abInverseDef* d, abVec3 r, abVec3 P) {
  abVec3 n = d->plane.n, a = v3_scale(0.5 * d->h, d->twist_end.ang);
  double over = v3_dot(n, v3_cross(a, r)) / (v3_dot(n, P) + v3_dot(n, v3_cross(a, P)));
  return v3_axpy(-over, P, r);
}

abStatus ab_contact_inverse(const abInverseDef* d, abInverseContact* out, abError* error) {
  if (out) *out = (abInverseContact){0};
  if (!d || !out || !sensible(d))
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "contact inverse: h and mass must be positive, the plane's normal a unit "
                   "vector, and all numbers finite");
  abVec3 n = d->plane.n, dp = v3_scale(d->mass, v3_sub(d->twist_end.lin, d->twist_start.lin));
  abVec3 P = v3_axpy(-d->h, d->load.force, dp), B = angular_impulse(d);
  // Rounding of the momenta is some 1e-16 of them; an impulse below 1e-11 of what it is the
  // difference of is none.
  double size = d->h * v3_norm(d->load.force) + v3_norm(dp) +
                1e-3 * d->mass * (v3_norm(d->twist_start.lin) + v3_norm(d->twist_end.lin));
  if (v3_norm(P) <= 1e-11 * size) return AB_OK;
  double Pn = v3_dot(P, n);
  if (Pn <= 1e-9 * v3_norm(P))
    return ab_fail(error, AB_ERROR_NUMERIC, NULL, 0,
                   "contact inverse: the impulse (%g, %g, %g) N s does not press on the plane; "
                   "other contacts or an unknown force acted",
                   P.x, P.y, P.z);
  double pr = v3_dot(B, P) / Pn;
  abVec3 C = v3_axpy(-pr, n, B), r = v3_scale(1 / v3_norm2(P), v3_cross(P, C)), t, o;
  double s = (d->plane.d - v3_dot(n, d->com_end) - v3_dot(n, r)) / Pn;
  r = v3_axpy(s, P, r);
  v3_tangents(n, &t, &o);
  out->touching = true;
  out->point = v3_add(d->com_end, r);
  out->impulse = (abWrench){P, v3_scale(pr, n)};
  out->p_n = Pn, out->p_t = v3_dot(P, t), out->p_o = v3_dot(P, o), out->p_r = pr;
  abTwist rel = twist_sub(d->twist_end, d->support_twist);
  abVec3 u = twist_at(rel, d->explicit_gyro ? r : mean_arm(d, r, P));
  out->slip[0] = v3_dot(u, t), out->slip[1] = v3_dot(u, o), out->slip[2] = v3_dot(rel.ang, n);
  return AB_OK;
}
