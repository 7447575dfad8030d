// The classical Runge-Kutta method of fourth order for the smooth motion.
//
// Free bodies: the load is constant over the step, so the centre of mass and the angular momentum
// are known exactly, p(t) = p + t v + t^2 f / (2 m) and L(t) = L + t tau; only the orientation is
// integrated, Q' = (0, w) Q / 2 with w = I(Q)^-1 L(t). The angular momentum is therefore kept to
// rounding, and |w| is bounded by |L| over the smallest moment, whatever the step.
//
// The quaternion is integrated as four numbers and brought back to unit length at the end; w
// depends on its direction only, so that this does not cost an order.
#include "dynamics/rk4.h"

#include <float.h>

#include "dynamics/rotate.h"
#include "dynamics/trees.h"

static abQuat axpy(double s, abQuat d, abQuat q) {
  return (abQuat){q.w + s * d.w, q.x + s * d.x, q.y + s * d.y, q.z + s * d.z};
}

static abQuat turning(const abBody* body, abQuat q, abVec3 L) {
  q = quat_unit(q);
  abVec3 w = ab_spin_velocity(quat_mul(q, body->inertia_q), body->inertia, L);
  return quat_mul((abQuat){0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z}, q);
}

// Orientation after h under the momentum L + t tau.
static abQuat turn(const abBody* body, abQuat q, abVec3 L, abVec3 tau, double h) {
  abVec3 L_mid = v3_axpy(h / 2, tau, L), L_end = v3_axpy(h, tau, L);
  abQuat k1 = turning(body, q, L);
  abQuat k2 = turning(body, axpy(h / 2, k1, q), L_mid);
  abQuat k3 = turning(body, axpy(h / 2, k2, q), L_mid);
  abQuat k4 = turning(body, axpy(h, k3, q), L_end);
  abQuat sum = axpy(2, k2, axpy(2, k3, axpy(1, k4, k1)));
  abQuat end = axpy(h / 6, sum, q);
  bool same = end.w == q.w && end.x == q.x && end.y == q.y && end.z == q.z;
  return same ? q : quat_unit(end);
}

void ab_rk4_free_body(const abModel* model, abData* data, const abMover* mover, abWrench load) {
  int b = mover->body0;
  const abBody* body = &model->body[b];
  int q0 = model->joint[body->joint0].q0;
  double h = data->h, speed = v3_norm(data->twist[b].ang);
  abVec3 a = v3_scale(data->trees->inv_mass[b], load.force), v = data->twist[b].lin;
  abQuat before = data->pose[b].q, q = before;
  abVec3 L = m3_apply(&data->inertia[b], data->twist[b].ang);
  abVec3 L_end = v3_axpy(h, load.torque, L);
  // pieces of at most half a radian, as far as that can be had
  double pieces = ceil(2 * h * speed);
  int n = pieces < 1 ? 1 : pieces < 64 ? (int)pieces : 64;
  for (int i = 0; i < n; i++)
    q = turn(body, q, v3_axpy(h * i / n, load.torque, L), load.torque, h / n);

  abVec3 com = v3_sub(data->com[b], data->pose[b].p);
  abVec3 d = v3_axpy(h, v3_axpy(h / 2, a, v), v3_neg(ab_turn_difference(before, q, com)));
  double* smooth = data->trees->q_smooth + q0;
  const double* now = data->q + q0;
  smooth[0] = now[0] + d.x, smooth[1] = now[1] + d.y, smooth[2] = now[2] + d.z;
  smooth[3] = q.w, smooth[4] = q.x, smooth[5] = q.y, smooth[6] = q.z;
  abVec3 w = v3_norm2(L_end) > 0
                 ? ab_spin_velocity(quat_mul(q, body->inertia_q), body->inertia, L_end)
                 : v3_zero();
  twist_to_array((abTwist){v3_axpy(h, a, v), w}, data->v_free + mover->dof0);
}
