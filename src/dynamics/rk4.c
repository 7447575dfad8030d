// The classical Runge-Kutta method of fourth order for the smooth motion.
//
// Free bodies: the load is constant over the step, so the centre of mass and the angular momentum
// are known exactly, p(t) = p + t v + t^2 f / (2 m) and L(t) = L + t tau; only the orientation is
// integrated, Q' = (0, w) Q / 2 with w = I(Q)^-1 L(t). The angular momentum is therefore kept to
// rounding, and |w| is bounded by |L| over the smallest moment, whatever the step.
//
// Joint trees, and free bodies that actuators drive, whose thrust turns with them: coordinates and
// velocities together, all forces as they are at each stage (nothing implicit, so that stiff
// dampers need small steps). Limits and friction are not smooth; they act on the result (bound.c).
//
// Quaternions are integrated as four numbers and brought back to unit length at the end; the
// motion depends on their direction only, so that this does not cost an order.
// Tests: test_motion.
#include "dynamics/rk4.h"

#include <string.h>

#include "base/arena.h"
#include "dynamics/kinematics.h"
#include "dynamics/laws.h"
#include "dynamics/rotate.h"
#include "dynamics/trees.h"
#include "internal.h"

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
  abVec3 a = v3_scale(data->internal->trees->inv_mass[b], load.force), v = data->twist[b].lin;
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
  double* smooth = data->internal->trees->q_smooth + q0;
  const double* now = data->q + q0;
  smooth[0] = now[0] + d.x, smooth[1] = now[1] + d.y, smooth[2] = now[2] + d.z;
  smooth[3] = q.w, smooth[4] = q.x, smooth[5] = q.y, smooth[6] = q.z;
  abVec3 w = v3_norm2(L_end) > 0
                 ? ab_spin_velocity(quat_mul(q, body->inertia_q), body->inertia, L_end)
                 : v3_zero();
  twist_to_array((abTwist){v3_axpy(h, a, v), w}, data->v_free + mover->dof0);
}

// --- stages

static bool acts_on(const abModel* model, const abActuator* a, int mover) {
  int body[3] = {a->joint >= 0 ? model->joint[a->joint].body : -1,
                 a->site >= 0 ? model->site[a->site].body : -1,
                 a->refsite >= 0 ? model->site[a->refsite].body : -1};
  for (int k = 0; k < 3; k++)
    if (body[k] >= 0 && model->body[body[k]].mover == mover) return true;
  return false;
}

bool ab_rk4_driven(const abModel* model, int mover) {
  for (int i = 0; i < model->nactuator && !model->mover[mover].jointed; i++)
    if (acts_on(model, &model->actuator[i], mover)) return true;
  return false;
}

// A second set of everything ab_kinematics and the forces write, for the stages.
static bool take_stage(const abModel* m, const abData* data, abData* stage) {
  struct abArena* arena = data->internal->scratch;
  *stage = *data;
  stage->internal = AB_TAKE(arena, struct abInternal, 1);
  if (!stage->internal) return false;
  *stage->internal = *data->internal;
  stage->q = AB_TAKE(arena, double, m->nq);
  stage->v = AB_TAKE(arena, double, m->nv);
  stage->pose = AB_TAKE(arena, abPose, m->nbody);
  stage->R = AB_TAKE(arena, abMat3, m->nbody);
  stage->com = AB_TAKE(arena, abVec3, m->nbody);
  stage->twist = AB_TAKE(arena, abTwist, m->nbody);
  stage->inertia = AB_TAKE(arena, abMat3, m->nbody);
  stage->internal->inv_inertia = AB_TAKE(arena, abMat3, m->nbody);
  stage->actuator_force = AB_TAKE(arena, double, m->nactuator);
  stage->internal->trees = data->internal->trees->stage;
  return stage->q && stage->v && stage->pose && stage->R && stage->com && stage->twist &&
         stage->inertia && stage->internal->inv_inertia && stage->actuator_force;
}

static void joint_rate(const abModel* model, const abData* data, int j, double* rate) {
  const abJoint* joint = &model->joint[j];
  const double *q = data->q + joint->q0, *v = data->v + joint->v0;
  abQuat d;
  if (joint->type == AB_JOINT_FREE) {
    abTwist t = twist_from_array(v);
    abVec3 c = v3_sub(data->com[joint->body], data->pose[joint->body].p);
    abVec3 p = v3_sub(t.lin, v3_cross(t.ang, c));
    rate[0] = p.x, rate[1] = p.y, rate[2] = p.z;
    d = quat_mul((abQuat){0, t.ang.x, t.ang.y, t.ang.z}, (abQuat){q[3], q[4], q[5], q[6]});
    rate += 3;
  } else if (joint->type == AB_JOINT_BALL) {
    d = quat_mul((abQuat){q[0], q[1], q[2], q[3]}, (abQuat){0, v[0], v[1], v[2]});
  } else {
    rate[0] = v[0];
    return;
  }
  rate[0] = 0.5 * d.w, rate[1] = 0.5 * d.x, rate[2] = 0.5 * d.y, rate[3] = 0.5 * d.z;
}

// Newton and Euler, with the actuators' wrench in tau.
static void free_rate(const abModel* model, const abData* data, const abMover* mover, double* dv) {
  int b = mover->body0;
  const abBody* body = &model->body[b];
  abWrench load =
      wrench_add(data->applied[b], wrench_from_array(data->internal->trees->tau + mover->dof0));
  if (body->gravity) load.force = v3_axpy(body->mass, model->gravity, load.force);
  abVec3 w = data->twist[b].ang, L = m3_apply(&data->inertia[b], w);
  abVec3 torque = v3_sub(load.torque, v3_cross(w, L));
  abVec3 a = v3_scale(data->internal->trees->inv_mass[b], load.force);
  twist_to_array((abTwist){a, m3_apply(&data->internal->inv_inertia[b], torque)}, dv + mover->dof0);
}

// Rates of coordinates and velocities at the stage's state, whose kinematics are there. The first
// stage is the start of the step itself, and leaves its forces there.
static void evaluate(const abModel* model, abData* stage, double* dq, double* dv) {
  abTrees* t = stage->internal->trees;
  for (int m = 0; m < model->nmover; m++) {
    if (stage->asleep[model->mover[m].body0]) continue;
    if (ab_rk4_driven(model, m)) {
      joint_rate(model, stage, model->body[model->mover[m].body0].joint0,
                 dq + model->joint[model->body[model->mover[m].body0].joint0].q0);
      memset(t->tau + model->mover[m].dof0, 0, 6 * sizeof(double));
    }
    if (!model->mover[m].jointed) continue;
    abTreeRange range = tree_range(model, &model->mover[m]);
    t->bound1[m] = t->bound0[m];
    for (int j = range.joint0; j < range.joint1; j++) {
      t->link[j].bound = -1;
      joint_rate(model, stage, j, dq + model->joint[j].q0);
    }
    ab_tree_forces(model, stage, m, false);
  }
  ab_actuators(model, stage, false);
  if (ab_laws_any(model)) ab_laws_loads(model, stage);
  for (int m = 0; m < model->nmover; m++) {
    const abMover* mover = &model->mover[m];
    if (stage->asleep[mover->body0]) continue;
    if (ab_rk4_driven(model, m)) free_rate(model, stage, mover, dv);
    if (!mover->jointed) continue;
    for (int i = mover->dof0; i < mover->dof0 + mover->ndof; i++)
      t->impulse[i] = t->tau[i] - t->inertial_force[i];
    ab_tree_factor(t, m);
    ab_tree_solve(t, m, t->impulse, dv);
  }
}

// y = a + s b
static void combine(int n, const double* a, double s, const double* b, double* y) {
  for (int i = 0; i < n; i++) y[i] = a[i] + s * b[i];
}

// Quaternions back to unit length, unless they did not move at all.
static void normalise(const abModel* model, const double* before, double* q) {
  for (int j = 0; j < model->njoint; j++) {
    const abJoint* joint = &model->joint[j];
    int at = joint->q0 + (joint->type == AB_JOINT_FREE ? 3 : 0);
    if (joint->type != AB_JOINT_FREE && joint->type != AB_JOINT_BALL) continue;
    if (memcmp(q + at, before + at, 4 * sizeof(double)) == 0) continue;
    abQuat a = quat_unit((abQuat){q[at], q[at + 1], q[at + 2], q[at + 3]});
    q[at] = a.w, q[at + 1] = a.x, q[at + 2] = a.y, q[at + 3] = a.z;
  }
}

bool ab_rk4_stages(const abModel* model, abData* data) {
  static const double part[4] = {0, 0.5, 0.5, 1}, share[4] = {1, 2, 2, 1};
  int nq = model->nq, nv = model->nv;
  double h = data->h;
  abArenaMark mark = ab_arena_mark(data->internal->scratch);
  abData stage;
  bool room = take_stage(model, data, &stage);
  double *dq = AB_TAKE(data->internal->scratch, double, nq),
         *sum_q = AB_TAKE(data->internal->scratch, double, nq);
  double *dv = AB_TAKE(data->internal->scratch, double, nv),
         *sum_v = AB_TAKE(data->internal->scratch, double, nv);
  if (room && dq && sum_q && dv && sum_v) {
    memset(dq, 0, sizeof(double) * (size_t)nq);
    memset(dv, 0, sizeof(double) * (size_t)nv);
    memset(sum_q, 0, sizeof(double) * (size_t)nq);
    memset(sum_v, 0, sizeof(double) * (size_t)nv);
    for (int k = 0; k < 4; k++) {
      combine(nq, data->q, part[k] * h, dq, stage.q);
      combine(nv, data->v, part[k] * h, dv, stage.v);
      if (k > 0) ab_kinematics_bodies(model, &stage);
      evaluate(model, k > 0 ? &stage : data, dq, dv);
      combine(nq, sum_q, share[k], dq, sum_q);
      combine(nv, sum_v, share[k], dv, sum_v);
    }
    combine(nq, data->q, h / 6, sum_q, data->internal->trees->q_smooth);
    combine(nv, data->v, h / 6, sum_v, data->internal->trees->v_smooth);
    normalise(model, data->q, data->internal->trees->q_smooth);
  } else {
    room = false;
  }
  ab_arena_release(data->internal->scratch, mark);
  return room;
}
