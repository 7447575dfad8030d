// The coupling of a body to a moving target.
//
// At the grip, let e be the way to the target (3 lengths, 3 components of the rotation vector), u
// the twist of the grip less that of the target, W the response: the change of u by an impulse at
// the grip. A wrench f held over a step h changes u to u + h W f, and e to e - h (u + h W f). The
// wrench that spring and damper exert at the end of the step is then
//
//     f = K (e - h u - h^2 W f) - D (u + h W f),
//     (1 + h (D + h K) W) f = K e - (D + h K) u,                                              (1)
//
// K and D diagonal. (1) is solved as it stands. Where the grip turns freely, the last three rows
// say f = 0. A wrench beyond the limit is shortened, force and torque each by itself.
#include <abut/couple.h>
#include <math.h>

#include "fits.h"
#include "internal.h"
#include "math/spatial.h"

abCoupling ab_coupling(const abModel* model, int body, double frequency) {
  if (!model || body < 0 || body >= model->nbody) return (abCoupling){.body = -1};
  int mover = model->body[body].mover;
  double mass = 0;
  for (int i = 1; i < model->nbody; i++)
    if (mover >= 0 && model->body[i].mover == mover) mass += model->body[i].mass;
  return (abCoupling){.body = body,
                      .grip = pose_identity(),
                      .stiffness = mass * frequency * frequency,
                      .damping = 2 * mass * frequency};
}

// The rotation vector of a quaternion, the short way round.
static abVec3 rotation_vector(abQuat q) {
  double s = q.w < 0 ? -1 : 1, n = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
  double angle = 2 * atan2(n, s * q.w);
  return n > 0 ? v3_scale(s * angle / n, v3(q.x, q.y, q.z)) : v3_zero();
}

// Before the first step nobody has computed the response: the body by itself is near enough.
static void own_response(const abModel* model, const abData* data, int body, abMat6* W) {
  *W = m6_zero();
  for (int i = 0; i < 3; i++) {
    W->m[i][i] = 1 / model->body[body].mass;
    for (int j = 0; j < 3; j++) W->m[3 + i][3 + j] = data->internal->inv_inertia[body].m[i][j];
  }
}

// 1 + h (D + h K) W, W moved from the centre of mass to the grip at r from it: column j is the
// twist there that a unit impulse j there makes.
static void fill_matrix(const abModel* model, const abData* data, int body, abVec3 r,
                        const double gain[6], double A[6][7]) {
  abMat6 W;
  if (data->internal->response.mover_of_body)
    ab_response_block(&data->internal->response, body, body, &W);
  else
    own_response(model, data, body, &W);
  for (int j = 0; j < 6; j++) {
    double unit[6] = {0}, column[6];
    unit[j] = 1;
    abWrench at_com = wrench_move(wrench_from_array(unit), v3_neg(r));
    twist_to_array(twist_move(m6_apply_wrench(&W, at_com), r), column);
    for (int i = 0; i < 6; i++) A[i][j] = data->h * gain[i] * column[i] + (i == j);
  }
}

// Gauss with row exchange; A is 6 x 7, the last column the right side.
static bool solve_six(double A[6][7], double x[6]) {
  for (int k = 0; k < 6; k++) {
    int best = k;
    for (int i = k + 1; i < 6; i++)
      if (fabs(A[i][k]) > fabs(A[best][k])) best = i;
    if (!(fabs(A[best][k]) > 0)) return false;
    for (int j = 0; j < 7; j++) {
      double swap = A[k][j];
      A[k][j] = A[best][j], A[best][j] = swap;
    }
    for (int i = k + 1; i < 6; i++) {
      double f = A[i][k] / A[k][k];
      for (int j = k; j < 7; j++) A[i][j] -= f * A[k][j];
    }
  }
  for (int k = 5; k >= 0; k--) {
    x[k] = A[k][6];
    for (int j = k + 1; j < 6; j++) x[k] -= A[k][j] * x[j];
    x[k] /= A[k][k];
  }
  return true;
}

static abVec3 limited(abVec3 f, double limit) {
  double n = v3_norm(f);
  return limit > 0 && n > limit ? v3_scale(limit / n, f) : f;
}

static bool can_couple(const abModel* model, const abData* data, const abCoupling* c) {
  return c && ab_data_fits(model, data) && c->body >= 0 && c->body < model->nbody;
}

abWrench ab_couple(const abModel* model, const abData* data, const abCoupling* c, abPose target,
                   abTwist target_twist) {
  if (!can_couple(model, data, c) || model->body[c->body].mover < 0) return wrench_zero();
  abPose grip = pose_mul(data->pose[c->body], c->grip);
  abVec3 r = v3_sub(grip.p, data->com[c->body]);
  abTwist u = twist_sub(twist_move(data->twist[c->body], r), target_twist);
  double e[6], v[6], f[6], A[6][7], gain[6];
  abVec3 turn = rotation_vector(quat_mul(target.q, quat_conj(grip.q)));
  twist_to_array((abTwist){v3_sub(target.p, grip.p), turn}, e);
  twist_to_array(u, v);
  for (int i = 0; i < 6; i++) {
    double k = i < 3 ? c->stiffness : c->stiffness_r, d = i < 3 ? c->damping : c->damping_r;
    gain[i] = d + data->h * k;
    A[i][6] = k * e[i] - gain[i] * v[i];
  }
  fill_matrix(model, data, c->body, r, gain, A);
  if (!solve_six(A, f)) return wrench_zero();
  abWrench w = wrench_from_array(f);
  return (abWrench){limited(w.force, c->limit), limited(w.torque, c->limit_r)};
}

abWrench ab_couple_apply(const abModel* model, abData* data, const abCoupling* c, abPose target,
                         abTwist target_twist) {
  if (!can_couple(model, data, c)) return wrench_zero();
  abWrench w = ab_couple(model, data, c, target, target_twist);
  abPose grip = pose_mul(data->pose[c->body], c->grip);
  abVec3 to_com = v3_sub(data->com[c->body], grip.p);
  data->applied[c->body] = wrench_add(data->applied[c->body], wrench_move(w, to_com));
  return w;
}
