// From the velocities at the end of a step to the coordinates there.
//
// A free body's centre of mass moves by h v, its frame's origin by
// h v - (R_new - R_old) com_local, written as a difference so that a body at rest keeps its
// coordinates bit for bit. Its spin follows rotate.c: v_solved holds the angular velocity at the
// old orientation, L = I(R_old) w is the momentum the step ends with, and the new angular velocity
// is I(R_new)^-1 L.
//
// RK4: the smooth motion is known from ab_free_motion (q_smooth, v_free); what contact added, dv =
// v_solved - v_free, moves the body on from there by h dv, and its angular part is carried to the
// new orientation as the momentum I(R_old) dw that it is.
//
// Joint trees: q moves by h times the velocity at the end of the step (semi-implicit Euler), then
// tree_drift.c sees to it that the velocities' own bias adds no energy; or q moves on from q_smooth
// by h (v_solved - v_smooth) (RK4).
#include "dynamics/integrate.h"

#include "dynamics/rotate.h"
#include "dynamics/trees.h"

static void write_quat(abQuat a, double* q) { q[0] = a.w, q[1] = a.x, q[2] = a.y, q[3] = a.z; }

// Coordinates of a free joint whose body's centre of mass, at offset c from the frame's origin,
// moved by `shift` while the body turned to q_new.
static void move_free(double* q, abVec3 shift, abQuat q_old, abQuat q_new, abVec3 c) {
  abVec3 d = v3_sub(shift, ab_turn_difference(q_old, q_new, c));
  q[0] += d.x, q[1] += d.y, q[2] += d.z;
  write_quat(q_new, q + 3);
}

static void free_body(const abModel* model, abData* data, const abMover* mover, abTwist end) {
  int b = mover->body0;
  const abBody* body = &model->body[b];
  double* q = data->q + model->joint[body->joint0].q0;
  abSpin spin = {data->pose[b].q, end.ang, body->inertia_q, body->inertia};
  spin = ab_spin_free(spin, data->h);
  end.ang = spin.w;
  move_free(q, v3_scale(data->h, end.lin), data->pose[b].q, spin.q,
            v3_sub(data->com[b], data->pose[b].p));
  twist_to_array(end, data->v + mover->dof0);
}

static void free_body_rk4(const abModel* model, abData* data, const abMover* mover, abTwist end) {
  int b = mover->body0;
  const abBody* body = &model->body[b];
  int q0 = model->joint[body->joint0].q0;
  double *q = data->q + q0, *smooth = data->trees->q_smooth + q0;
  for (int i = 0; i < 7; i++) q[i] = smooth[i];
  abTwist free = twist_from_array(data->v_free + mover->dof0), dv = twist_sub(end, free);
  if (v3_norm2(dv.lin) > 0 || v3_norm2(dv.ang) > 0) {
    abQuat q_old = {q[3], q[4], q[5], q[6]}, q_new = ab_turn(q_old, v3_scale(data->h, dv.ang));
    move_free(q, v3_scale(data->h, dv.lin), q_old, q_new, quat_rotate(q_old, body->com));
    abVec3 L = m3_apply(&data->inertia[b], dv.ang);
    abVec3 w = ab_spin_velocity(quat_mul(q_new, body->inertia_q), body->inertia, L);
    end.ang = v3_add(free.ang, w);
  }
  twist_to_array(end, data->v + mover->dof0);
}

static void free_body_cayley(const abModel* model, abData* data, const abMover* mover,
                             abTwist end) {
  int b = mover->body0;
  double* q = data->q + model->joint[model->body[b].joint0].q0;
  abQuat q_new = ab_turn_cayley(data->pose[b].q, v3_scale(data->h, end.ang));
  move_free(q, v3_scale(data->h, end.lin), data->pose[b].q, q_new,
            v3_sub(data->com[b], data->pose[b].p));
  twist_to_array(end, data->v + mover->dof0);
}

// Coordinates of one joint, moved on by the velocities dv (its own) over h.
static void move_joint(const abModel* model, double* q_all, const double* dv, int j, double h) {
  const abJoint* joint = &model->joint[j];
  double* q = q_all + joint->q0;
  if (joint->type == AB_JOINT_FREE) {
    abTwist t = twist_from_array(dv);
    abQuat q_old = quat_unit((abQuat){q[3], q[4], q[5], q[6]});
    abQuat q_new = ab_turn(q_old, v3_scale(h, t.ang));
    abVec3 c = quat_rotate(q_old, model->body[joint->body].com);
    move_free(q, v3_scale(h, t.lin), q_old, q_new, c);
  } else if (joint->type == AB_JOINT_BALL) {
    abQuat now = {q[0], q[1], q[2], q[3]};
    write_quat(ab_turn(now, quat_rotate(now, v3(h * dv[0], h * dv[1], h * dv[2]))), q);
  } else {
    q[0] += h * dv[0];
  }
}

static void move_tree(const abModel* model, abData* data, const abMover* mover, double share) {
  abTreeRange range = tree_range(model, mover);
  abTrees* t = data->trees;
  bool rk4 = model->integrator == AB_RK4;
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    int nq = link->ndof == 6 ? 7 : link->ndof == 3 ? 4 : 1, q0 = model->joint[j].q0;
    double dv[6];
    bool moves = false;
    for (int k = 0; k < link->ndof; k++) {
      dv[k] = t->move[link->dof + k] -
              (rk4 ? t->v_smooth[link->dof + k] : share * t->inertial[link->dof + k]);
      moves = moves || dv[k] != 0;
    }
    for (int i = q0; rk4 && i < q0 + nq; i++) data->q[i] = t->q_smooth[i];
    if (moves) move_joint(model, data->q, dv, j, data->h);
  }
}

// Velocities before the drift (`kick`) and after it (data->v), with the bias of a motion that the
// step cannot resolve cut down to the size of the motion itself. False if there is no bias.
static bool begin_drift(const abModel* model, abData* data, int m, double* kick,
                        abTreeMotion* before) {
  const abMover* mover = &model->mover[m];
  int begin = mover->dof0, end = mover->dof0 + mover->ndof;
  double *v = data->v, *d = data->trees->inertial;
  bool turning = false;
  for (int i = begin; i < end; i++) {
    kick[i] = v[i] - d[i];
    turning = turning || v[i] != kick[i];
  }
  if (!turning) return false;
  *before = ab_tree_motion(model, data, m, kick);
  double bias = ab_tree_motion(model, data, m, d).energy;
  if (bias > before->energy) {
    double share = sqrt(before->energy / bias);
    for (int i = begin; i < end; i++) {
      data->trees->move[i] -= (1 - share) * d[i];
      d[i] *= share;
      v[i] = kick[i] + d[i];
    }
  }
  return true;
}

static void tree(const abModel* model, abData* data, int m, const double* v_solved) {
  const abMover* mover = &model->mover[m];
  bool touched = false;
  for (int i = mover->dof0; i < mover->dof0 + mover->ndof; i++) {
    data->v[i] = v_solved[i];
    touched = touched || v_solved[i] != data->v_free[i];
  }
  ab_bounds_finish(data, m, data->v, data->trees->move);
  abTreeMotion before;
  if (model->integrator == AB_RK4 || !begin_drift(model, data, m, data->trees->change, &before)) {
    move_tree(model, data, mover, 0);
    return;
  }
  move_tree(model, data, mover, touched ? 0 : 0.5);
  ab_tree_drift(model, data, m, before, touched);
}

void ab_integrate(const abModel* model, abData* data, const double* v_solved,
                  const abTwist* twist_end) {
  for (int m = 0; m < model->nmover; m++) {
    const abMover* mover = &model->mover[m];
    if (mover->jointed)
      tree(model, data, m, v_solved);
    else if (twist_end)
      free_body_cayley(model, data, mover, twist_end[mover->body0]);
    else if (model->integrator == AB_RK4)
      free_body_rk4(model, data, mover, twist_from_array(v_solved + mover->dof0));
    else
      free_body(model, data, mover, twist_from_array(v_solved + mover->dof0));
  }
}
