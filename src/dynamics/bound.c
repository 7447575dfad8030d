// Bounds: joint limits, dry friction and force ranges, all as one piecewise linear law.
//
// A bound acts along a direction s of one joint's velocities with the impulse
//
//   P = clamp(W (v* - s . v), low, high),                                                      (1)
//
// v the velocity at the end of the step. On its middle branch it adds W s s^T to the inertia, on
// the others it is a given impulse; no branch can feed energy into the joint beyond the target v*.
//
//   limit      s points away from the end stop, g is the distance left to it (margin taken off).
//              low = 0, high = infinity: it pushes, never pulls. v* = -g / h while g > 0: the joint
//              arrives, and stops there at once. v* = -g / (5 h) when beyond: the excess decays by
//              a fifth in each step, without overshoot (a first-order return, as a critically
//              damped spring pressed into a wall has). W = 1e6 times the joint's articulated
//              inertia m: a steady acceleration a against the stop holds at g = -5e-6 a h^2. A
//              ball's limit is the angle of its rotation; s is the rotation's axis, reversed.
//   friction   v* = 0, low = -h f, high = h f, W as above: sticks (creeping by less than
//              1e-6 h f / m, which is then set to zero) until the load exceeds f, then slides
//              against f. A ball's friction acts about each of its axes, as in MJCF.
//   actuator   see joint_force.c.
//
// Finding the branches is a small complementarity problem with a symmetric positive definite
// matrix. Each round factorises the tree with the present branches, solves, and moves every bound
// to the branch that its new velocity asks for; usually the first round is right. After a few
// rounds only the first wrong bound is moved (Murty's least-index rule), which cannot cycle.
//
// Contacts are solved with the branches fixed. If they push a bound off its middle branch (a finger
// lifted off its end stop, a stuck joint pulled loose), ab_bounds_release takes back the part of
// the impulse beyond the range and lets the joint go with the rest of the tree following.
#include <float.h>
#include <string.h>

#include "dynamics/trees.h"

enum { FREE_ROUNDS = 4, MAX_ROUNDS = 40 };
static const double RETURN = 0.2;

abBound* ab_bound_add(abTrees* t, int joint) {
  int mover = t->mover_of_body[t->link[joint].body], b = t->bound1[mover]++;
  t->bound[b] = (abBound){.joint = joint, .next = t->link[joint].bound, .actuator = -1};
  t->link[joint].bound = b;
  return &t->bound[b];
}

static double along(const abTrees* t, const abBound* b, const double* v) {
  const abLink* link = &t->link[b->joint];
  double sum = 0;
  for (int k = 0; k < link->ndof; k++) sum += b->s[k] * v[link->dof + k];
  return sum;
}

static void add_limit(abData* data, int joint, double gap, const double s[3]) {
  abTrees* t = data->trees;
  abBound* b = ab_bound_add(t, joint);
  memcpy(b->s, s, 3 * sizeof(double));
  b->stiff = true;
  b->target = -(gap > 0 ? gap : RETURN * gap) / data->h;
  b->high = INFINITY;
  b->state = along(t, b, data->v) < b->target ? AB_BOUND_INSIDE : AB_BOUND_LOW;
}

static void add_limits(const abModel* model, abData* data, int j) {
  const abJoint* joint = &model->joint[j];
  const double* q = data->q + joint->q0;
  if (joint->type == AB_JOINT_BALL) {
    abVec3 r = ab_rotation_vector(quat_unit((abQuat){q[0], q[1], q[2], q[3]}));
    double angle = v3_norm(r);
    double end = fmax(joint->range[0], joint->range[1]) - joint->margin;
    if (!(angle > 0)) return;
    add_limit(data, j, end - angle, (double[3]){-r.x / angle, -r.y / angle, -r.z / angle});
  } else if (joint->type != AB_JOINT_FREE) {
    add_limit(data, j, q[0] - joint->range[0] - joint->margin, (double[3]){1, 0, 0});
    add_limit(data, j, joint->range[1] - joint->margin - q[0], (double[3]){-1, 0, 0});
  }
}

static void add_friction(abData* data, int joint, double force) {
  const abLink* link = &data->trees->link[joint];
  for (int k = 0; k < link->ndof; k++) {
    abBound* b = ab_bound_add(data->trees, joint);
    double v = data->v[link->dof + k];
    b->s[k] = 1;
    b->stiff = b->dry = true;
    b->low = -data->h * force;
    b->high = data->h * force;
    b->state = v > 0 ? AB_BOUND_LOW : v < 0 ? AB_BOUND_HIGH : AB_BOUND_INSIDE;
  }
}

void ab_bounds_begin(const abModel* model, abData* data, int mover) {
  abTrees* t = data->trees;
  abTreeRange range = tree_range(model, &model->mover[mover]);
  t->bound1[mover] = t->bound0[mover];
  for (int j = range.joint0; j < range.joint1; j++) {
    const abJoint* joint = &model->joint[j];
    t->link[j].bound = -1;
    if (joint->limited) add_limits(model, data, j);
    if (joint->frictionloss > 0) add_friction(data, j, joint->frictionloss);
  }
}

// The branch of (1) at velocity v. A bound leaves its branch only for more than rounding: W (v* -
// s v) is a difference of velocities times W.
static abBoundState branch(const abTrees* t, const abBound* b, const double* v) {
  double sv = along(t, b, v), x = b->weight * (b->target - sv);
  double noise = 8 * DBL_EPSILON * b->weight * (fabs(b->target) + fabs(sv));
  double low = b->low + (b->state == AB_BOUND_LOW ? noise : -noise);
  double high = b->high + (b->state == AB_BOUND_HIGH ? -noise : noise);
  return x < low ? AB_BOUND_LOW : x > high ? AB_BOUND_HIGH : AB_BOUND_INSIDE;
}

static bool update_branches(abTrees* t, int mover, const double* v, bool only_first) {
  bool changed = false;
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    abBoundState state = branch(t, &t->bound[i], v);
    if (state == t->bound[i].state) continue;
    t->bound[i].state = state;
    changed = true;
    if (only_first) break;
  }
  return changed;
}

// t->impulse = right-hand side of a round: h tau (if smooth) and the bounds' impulses at `base`.
static void collect_impulses(abData* data, int mover, bool smooth, const double* base) {
  abTrees* t = data->trees;
  const abMover* m = &t->model->mover[mover];
  for (int i = m->dof0; i < m->dof0 + m->ndof; i++)
    t->impulse[i] = smooth ? data->h * t->tau[i] : 0;
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    const abBound* b = &t->bound[i];
    const abLink* link = &t->link[b->joint];
    double p = b->state == AB_BOUND_LOW    ? b->low
               : b->state == AB_BOUND_HIGH ? b->high
                                           : b->weight * (b->target - along(t, b, base));
    for (int k = 0; k < link->ndof; k++) t->impulse[link->dof + k] += p * b->s[k];
  }
}

static void report_actuators(abData* data, int mover, const double* v) {
  const abTrees* t = data->trees;
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    const abBound* b = &t->bound[i];
    if (b->actuator < 0) continue;
    double p = b->weight * (b->target - along(t, b, v));
    p = p < b->low ? b->low : p > b->high ? b->high : p;
    data->actuator_force[b->actuator] = p / data->h;
  }
}

void ab_bounds_solve(abData* data, int mover, bool smooth, const double* base, double* v) {
  abTrees* t = data->trees;
  const abMover* m = &t->model->mover[mover];
  for (int round = 0; round < MAX_ROUNDS; round++) {
    ab_tree_factor(t, mover);
    collect_impulses(data, mover, smooth, base);
    ab_tree_solve(t, mover, smooth ? data->h : 0, t->impulse, t->change);
    for (int i = m->dof0; i < m->dof0 + m->ndof; i++) v[i] = base[i] + t->change[i];
    if (!update_branches(t, mover, v, round >= FREE_ROUNDS)) break;
  }
  report_actuators(data, mover, v);
}

// Impulses that take back what INSIDE bounds give beyond their range at v; false if none does.
static bool collect_excess(abTrees* t, int mover, const double* v) {
  const abMover* m = &t->model->mover[mover];
  bool any = false;
  memset(t->impulse + m->dof0, 0, sizeof(double) * (size_t)m->ndof);
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    abBound* b = &t->bound[i];
    if (b->state != AB_BOUND_INSIDE) continue;
    b->state = branch(t, b, v);
    if (b->state == AB_BOUND_INSIDE) continue;
    any = true;
    double p = b->weight * (b->target - along(t, b, v));
    double excess = p - (b->state == AB_BOUND_LOW ? b->low : b->high);
    const abLink* link = &t->link[b->joint];
    for (int k = 0; k < link->ndof; k++) t->impulse[link->dof + k] -= excess * b->s[k];
  }
  return any;
}

void ab_bounds_release(abData* data, int mover, double* v) {
  abTrees* t = data->trees;
  const abMover* m = &t->model->mover[mover];
  if (t->bound0[mover] == t->bound1[mover]) return;
  if (collect_excess(t, mover, v)) {
    ab_tree_factor(t, mover);
    ab_tree_solve(t, mover, 0, t->impulse, t->change);
    for (int i = m->dof0; i < m->dof0 + m->ndof; i++) v[i] += t->change[i];
    report_actuators(data, mover, v);
  }
  // what sticks stands still
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    const abBound* b = &t->bound[i];
    if (!b->dry || b->state != AB_BOUND_INSIDE) continue;
    for (int k = 0; k < t->link[b->joint].ndof; k++)
      if (b->s[k] != 0) v[t->link[b->joint].dof + k] = 0;
  }
}
