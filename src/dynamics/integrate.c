// From the velocities at the end of a step to the coordinates there.
//
// A free body's centre of mass moves by h v, its frame's origin by
// h v - (R_new - R_old) com_local, written as a difference so that a body at rest keeps its
// coordinates bit for bit. Its spin follows rotate.c: v_solved holds the angular velocity at the
// old orientation, L = I(R_old) w is the momentum the step ends with, and the new angular velocity
// is I(R_new)^-1 L.
//
// Joint trees: q moves by h times the velocity at the end of the step, then tree_drift.c sees to it
// that the inertial forces add no energy.
//
// RK4: the smooth motion is known from ab_free_motion (q_smooth, v_smooth). A mover that nothing
// but smooth forces acted on goes there. One that contacts, limits or friction hold moves by h
// times the velocity at the end of the step, as above, since that is what they were solved for: a
// body at rest on the floor has v_smooth = -g h and q_smooth = q - g h^2 / 2, and adding h
// (v_solved - v_smooth) to the latter would lift it by g h^2 / 2 in every step. A free body's end
// momentum is that of the smooth motion, I(R_smooth) w_smooth, and what contact added at the old
// orientation, I(R_old) dw.
// Tests: test_free_body, test_joint.
#include "dynamics/integrate.h"

#include "base/simd.h"
#include "dynamics/rotate.h"
#include "dynamics/trees.h"
#include "internal.h"

static void write_quat(abQuat a, double* q) { q[0] = a.w, q[1] = a.x, q[2] = a.y, q[3] = a.z; }

// Coordinates of a free joint whose body's centre of mass, at offset c from the frame's origin,
// moved by `shift` while the body turned to q_new.
static void move_free(double* q, abVec3 shift, abQuat q_old, abQuat q_new, abVec3 c) {
  abVec3 d = v3_sub(shift, ab_turn_difference(q_old, q_new, c));
  q[0] += d.x, q[1] += d.y, q[2] += d.z;
  write_quat(q_new, q + 3);
}

// For a body that is held back the rest of the step does not take place, but the velocities were
// solved with all of it: the fall of that time is taken back, as far as the body falls. What rises
// after an impact in the part that does not take place would have fallen first: it is that much
// slower at the height at which it stays, `sinks` along gravity above.
static abVec3 without_fall(const abModel* model, const abBody* body, abVec3 v, double sinks,
                           double time) {
  double gg = v3_norm2(model->gravity), falls = v3_dot(model->gravity, v);
  if (!body->gravity || !(gg > 0)) return v;
  if (falls > 0) return v3_axpy(-fmin(time, falls / gg), model->gravity, v);
  double slower = sqrt(fmax(0, falls * falls - 2 * gg * fmax(0, sinks)));
  return v3_axpy((-slower - falls) / gg, model->gravity, v);
}

static bool meets_another(const abModel* model, const abData* data, int body) {
  bool any = false;
  for (int i = 0; i < data->internal->npair && !any; i++) {
    const abPair* p = &data->internal->pair[i];
    int other = p->body1 == body ? p->body2 : p->body2 == body ? p->body1 : -1;
    any = other >= 0 && model->body[other].mover >= 0;
  }
  return any;
}

#define SPIN_GAIN 1e-3  // share of the energy
// What the angular momentum makes of the spin at the orientation that a shift led to. It may be
// of more energy than where it was solved for, by the order of the step, and of needles by much
// more. Where two movers share the momentum, that is kept, and if need be the turn goes without the
// shift; else no more energy than there was.
static abSpin spin_after_shift(const abModel* model, const abData* data, int b, abSpin start,
                               abVec3 shift, double h) {
  abSpin moved = start;
  moved.w = v3_add(start.w, shift);
  moved = ab_spin_free(moved, h);
  const abBody* body = &model->body[b];
  abVec3 L = m3_apply(&data->inertia[b], start.w);
  moved.w = ab_spin_velocity(quat_mul(moved.q, body->inertia_q), body->inertia, L);
  double had = v3_dot(start.w, L), has = v3_dot(moved.w, L);
  if (!(has > had)) return moved;
  if (meets_another(model, data, b))
    return has > (1 + SPIN_GAIN) * had ? ab_spin_free(start, h) : moved;
  moved.w = v3_scale(sqrt(had / has), moved.w);
  return moved;
}

// The angular momentum at the end is that of v_solved, whatever the shift.
static void free_body(const abModel* model, abData* data, const abMover* mover, abTwist end,
                      abTwist shift, double share) {
  double h = share * data->h;
  int b = mover->body0;
  const abBody* body = &model->body[b];
  double* q = data->q + model->joint[body->joint0].q0;
  abSpin spin = {data->pose[b].q, end.ang, body->inertia_q, body->inertia};
  bool shifted = v3_norm2(shift.ang) > 0;
  spin = shifted ? spin_after_shift(model, data, b, spin, shift.ang, h) : ab_spin_free(spin, h);
  end.ang = spin.w;
  move_free(q, v3_scale(h, v3_add(end.lin, shift.lin)), data->pose[b].q, spin.q,
            v3_sub(data->com[b], data->pose[b].p));
  if (share < 1) {
    double rest = data->h - h;
    double sinks = rest * v3_dot(model->gravity, v3_add(end.lin, shift.lin));
    end.lin = without_fall(model, body, end.lin, sinks, rest);
  }
  twist_to_array(end, data->v + mover->dof0);
}

static bool differs(const abMover* mover, const double* a, const double* b) {
  for (int i = mover->dof0; i < mover->dof0 + mover->ndof; i++)
    if (a[i] != b[i]) return true;
  return false;
}

static abMat3 inertia_at(const abBody* body, abQuat q) {
  abMat3 axes = quat_matrix(quat_mul(q, body->inertia_q));
  return m3_congruent_diag(&axes, body->inertia);
}

static void free_body_rk4(const abModel* model, abData* data, const abMover* mover,
                          const double* v_solved) {
  int b = mover->body0;
  const abBody* body = &model->body[b];
  int q0 = model->joint[body->joint0].q0;
  double *q = data->q + q0, *smooth = data->internal->trees->q_smooth + q0;
  abTwist end = twist_from_array(v_solved + mover->dof0);
  if (!differs(mover, v_solved, data->v_free)) {
    for (int i = 0; i < 7; i++) q[i] = smooth[i];
  } else {
    abTwist free = twist_from_array(data->v_free + mover->dof0);
    abQuat q_old = data->pose[b].q, q_new = ab_turn(q_old, v3_scale(data->h, end.ang));
    abMat3 I = inertia_at(body, (abQuat){smooth[3], smooth[4], smooth[5], smooth[6]});
    abVec3 dL = m3_apply(&data->inertia[b], v3_sub(end.ang, free.ang));
    abVec3 L = v3_add(m3_apply(&I, free.ang), dL);
    move_free(q, v3_scale(data->h, end.lin), q_old, q_new, v3_sub(data->com[b], data->pose[b].p));
    // a body that does not turn keeps its (zero) velocity; the momentum of rest is rounding only
    if (v3_norm2(end.ang) > 0)
      end.ang = ab_spin_velocity(quat_mul(q_new, body->inertia_q), body->inertia, L);
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

static int joint_dofs(abJointType type) {
  return type == AB_JOINT_FREE ? 6 : type == AB_JOINT_BALL ? 3 : 1;
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

void ab_move_coordinates(const abModel* model, double* q, const double* dq) {
  for (int j = 0; j < model->njoint; j++) {
    int v0 = model->joint[j].v0, n = joint_dofs(model->joint[j].type);
    bool moves = false;
    for (int k = 0; k < n; k++) moves = moves || dq[v0 + k] != 0;
    if (moves) move_joint(model, q, dq + v0, j, 1);
  }
}

// Along `move`, less a share of what the inertial forces added to it.
static void move_tree(const abModel* model, abData* data, const abMover* mover, double share) {
  abTreeRange range = tree_range(model, mover);
  const abTrees* t = data->internal->trees;
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    double v[6];
    bool moves = false;
    for (int k = 0; k < link->ndof; k++) {
      v[k] = t->move[link->dof + k];
      if (share != 0) v[k] -= share * t->inertial[link->dof + k];
      moves = moves || v[k] != 0;
    }
    if (moves) move_joint(model, data->q, v, j, data->h);
  }
}

static void tree_rk4(const abModel* model, abData* data, int m, const double* v_solved) {
  const abMover* mover = &model->mover[m];
  abTreeRange range = tree_range(model, mover);
  const abTrees* t = data->internal->trees;
  if (differs(mover, v_solved, t->v_smooth)) {
    ab_bounds_finish(data, m, data->v, data->internal->trees->move);
    move_tree(model, data, mover, 0);
    return;
  }
  for (int j = range.joint0; j < range.joint1; j++) {
    int n = t->link[j].ndof == 6 ? 7 : t->link[j].ndof == 3 ? 4 : 1, q0 = model->joint[j].q0;
    for (int i = q0; i < q0 + n; i++) data->q[i] = t->q_smooth[i];
  }
}

// Radians, or metres, in a step: what a drift changes in the velocities is the square of that, as a
// share of them.
#define HARDLY_DRIFTS 1e-8

// The motion before the drift. False if nothing drifts: the tree stood and stands still, or as good
// as that. One that this step has set in motion has no inertial forces yet, but drifts.
static bool begin_drift(const abModel* model, abData* data, int m, abTreeMotion* before) {
  const abMover* mover = &model->mover[m];
  double* kick = data->internal->trees->change;
  double most = HARDLY_DRIFTS / data->h;
  bool any = false;
  for (int i = mover->dof0; i < mover->dof0 + mover->ndof; i++) {
    kick[i] = data->v[i] - data->internal->trees->inertial[i];
    any = any || !(fabs(kick[i]) <= most && fabs(data->v[i]) <= most);
  }
  if (any) *before = ab_tree_motion(model, data, m, kick);
  return any;
}

static void tree(const abModel* model, abData* data, int m, const double* v_solved) {
  const abMover* mover = &model->mover[m];
  bool touched = differs(mover, v_solved, data->v_free);
  for (int i = mover->dof0; i < mover->dof0 + mover->ndof; i++) data->v[i] = v_solved[i];
  if (model->integrator == AB_INTEGRATOR_RK4) {
    tree_rk4(model, data, m, v_solved);
    return;
  }
  ab_bounds_finish(data, m, data->v, data->internal->trees->move);
  abTreeMotion before;
  bool drifts = begin_drift(model, data, m, &before);
  move_tree(model, data, mover, drifts && !touched ? 0.5 : 0);
  if (drifts) ab_tree_drift(model, data, m, before, touched);
}

AB_SIMD AB_FLATTEN void ab_integrate(const abModel* model, abData* data, const double* v_solved,
                                     const double* shift, const abTwist* twist_end,
                                     const double* share) {
  for (int m = 0; m < model->nmover; m++) {
    const abMover* mover = &model->mover[m];
    double part = share ? share[m] : 1;
    if (data->asleep[mover->body0]) continue;
    if (mover->jointed)
      tree(model, data, m, v_solved);
    else if (twist_end)
      free_body_cayley(model, data, mover, twist_end[mover->body0]);
    else if (model->integrator == AB_INTEGRATOR_RK4 && part == 1)
      free_body_rk4(model, data, mover, v_solved);
    else
      free_body(model, data, mover, twist_from_array(v_solved + mover->dof0),
                twist_from_array(shift + mover->dof0), part);
  }
}
