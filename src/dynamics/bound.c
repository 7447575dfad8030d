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
//              damped spring pressed into a wall has); from far outside slower
//              (ab_bound_return_speed), and not at all while its tree is folded into something
//              (folded.c). W = 1e6 times the joint's articulated inertia m: a steady acceleration a
//              against the stop holds at g = -5e-6 a h^2. A ball's limit is the angle of its
//              rotation; s is the rotation's axis, reversed. Where that limit is 0 the ball is
//              held: three bounds about its axes, low = -infinity.
//   friction   v* = 0, low = -h f, high = h f, W as above: sticks (creeping by less than
//              1e-6 h f / m, which is then set to zero) until the load exceeds f, then slides
//              against f. A ball's friction acts about each of its axes, as in MJCF.
//   actuator   see joint_force.c.
//
// The velocities minimise the strictly convex, piecewise quadratic function
//
//   phi(v) = 1/2 (v - v_b)^T (M + E) (v - v_b) + sum psi(s . v),   psi' = -P of (1),
//
// v_b the velocities without bounds. Newton's method: factorise the tree with the branches of the
// present velocities, solve, and if the result lies on other branches, go towards it as far as phi
// falls, and repeat. That ends after finitely many rounds; usually the first guess is right, or the
// branches of its result are, so that a few rounds are made without looking at phi. With
// the reaction g = (M + E) (v - v_b), which is linear in v and at a Newton point is the sum of the
// bounds' impulses there, phi'(t) on the way needs no product with M.
//
// Contacts may push a bound off its branch: a finger lifted off its end stop or pressed against it,
// a stuck joint pulled loose, a servo beyond its force. The default contact model is given the
// bounds as rows (ab_free_motion_rows) and minimises phi and the contacts' energy together; the
// branches are then those of the velocities found. The other models know the bounds only by the
// response, with the branches fixed: ab_bounds_follow goes over to the branches of the velocities
// found, and the contacts are solved again (impulses.c). What is left when that does not settle,
// ab_bounds_finish takes back: the part of an impulse beyond its range, with the tree following.
// Tests: test_joint, test_law.
#include <float.h>
#include <math.h>
#include <string.h>

#include "dynamics/laws.h"
#include "dynamics/trees.h"
#include "internal.h"

enum { WHOLE_ROUNDS = 4, BRANCH_ROUNDS = 50, MAX_HALVINGS = 60 };
// A joint far beyond its limit, as many models begin, returns no faster than this [rad/s, m/s], or
// with this time constant [s]: a foot on it would throw the robot.
static const double SLOW_RETURN = 1.0, RETURN_TIME = 0.1;

abBound* ab_bound_add(abTrees* t, int joint) {
  int mover = t->mover_of_body[t->link[joint].body], b = t->bound1[mover]++;
  abBound* bound = &t->bound[b];
  bound->joint = joint, bound->n = t->link[joint].ndof, bound->dof = t->link[joint].dof;
  bound->next = t->link[joint].bound;
  bound->actuator = -1;
  bound->stiff = bound->dry = bound->far = false;
  for (int k = 0; k < 6; k++) bound->s[k] = 0;
  bound->weight = bound->target = bound->low = bound->high = 0;
  bound->state = AB_BOUND_LOW;
  t->link[joint].bound = b;
  return bound;
}

static inline double along(const abBound* b, const double* v) {
  double sum = b->s[0] * v[b->dof];
  for (int k = 1; k < b->n; k++) sum += b->s[k] * v[b->dof + k];
  return sum;
}

// Speed at which a joint that lies `excess` beyond its limit returns: a fifth of it per step, but
// never faster than it can stop again with the acceleration that equalities are taken back with
// (equality_law.c): a start far outside does not throw what hangs on the joint.
double ab_bound_return_speed(double excess, double a, double h) {
  double most = fmax(SLOW_RETURN, excess / RETURN_TIME);
  return fmin(fmin(AB_BOUND_RETURN * excess / h, sqrt(2 * a * excess)), most);
}

static double joint_return_speed(const abData* data, int joint, double excess) {
  const abModel* model = data->internal->trees->model;
  double a = ab_law_acceleration(model, model->joint[joint].type == AB_JOINT_SLIDE);
  return ab_bound_return_speed(excess, a, data->h);
}

static void add_limit(abData* data, int joint, double gap, const double* s) {
  abBound* b = ab_bound_add(data->internal->trees, joint);
  for (int k = 0; k < b->n; k++) b->s[k] = s[k];
  b->stiff = true;
  b->target = gap > 0 ? -gap / data->h : joint_return_speed(data, joint, -gap);
  b->far = gap < 0 && b->target < -AB_BOUND_RETURN * gap / data->h;
  b->high = INFINITY;
  b->state = along(b, data->v) < b->target ? AB_BOUND_INSIDE : AB_BOUND_LOW;
}

// A ball that may not turn at all, turned by r.
static void hold_ball(abData* data, int joint, abVec3 r) {
  double angle = v3_norm(r);
  for (int k = 0; k < 3; k++) {
    double x = v3_get(r, k), share = angle > 0 ? fabs(x) / angle : 0;
    double s[3] = {0};
    s[k] = x > 0 ? -1 : 1;
    add_limit(data, joint, -angle, s);
    abBound* b = &data->internal->trees->bound[data->internal->trees->link[joint].bound];
    b->target *= share;
    b->low = -INFINITY;
    b->state = AB_BOUND_INSIDE;
  }
}

static void add_limits(const abModel* model, abData* data, int j) {
  static const double up = 1, down = -1;
  const abJoint* joint = &model->joint[j];
  const double* q = data->q + joint->q0;
  if (joint->type == AB_JOINT_BALL) {
    abVec3 r = ab_rotation_vector(quat_unit((abQuat){q[0], q[1], q[2], q[3]}));
    double angle = v3_norm(r);
    double end = fmax(joint->range[0], joint->range[1]) - joint->margin;
    if (!(end > 0)) hold_ball(data, j, r);
    if (!(end > 0) || !(angle > 0)) return;
    add_limit(data, j, end - angle, (double[3]){-r.x / angle, -r.y / angle, -r.z / angle});
  } else if (joint->type != AB_JOINT_FREE) {
    add_limit(data, j, q[0] - joint->range[0] - joint->margin, &up);
    add_limit(data, j, joint->range[1] - joint->margin - q[0], &down);
  }
}

static void add_friction(abData* data, int joint, double force) {
  for (int k = 0; k < data->internal->trees->link[joint].ndof; k++) {
    abBound* b = ab_bound_add(data->internal->trees, joint);
    b->s[k] = 1;
    b->stiff = b->dry = true;
    b->low = -data->h * force;
    b->high = data->h * force;
  }
}

void ab_bounds_begin(const abModel* model, abData* data, int mover) {
  abTrees* t = data->internal->trees;
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
static inline abBoundState branch(const abBound* b, const double* v) {
  double sv = along(b, v), x = b->weight * (b->target - sv);
  double noise = 8 * DBL_EPSILON * b->weight * (fabs(b->target) + fabs(sv));
  double low = b->low + (b->state == AB_BOUND_LOW ? noise : -noise);
  double high = b->high + (b->state == AB_BOUND_HIGH ? -noise : noise);
  return x < low ? AB_BOUND_LOW : x > high ? AB_BOUND_HIGH : AB_BOUND_INSIDE;
}

static bool update_branches(abTrees* t, int mover, const double* v) {
  bool changed = false;
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    abBoundState state = branch(&t->bound[i], v);
    changed = changed || state != t->bound[i].state;
    t->bound[i].state = state;
  }
  return changed;
}

static inline void add_along(const abBound* b, double p, double* impulse) {
  impulse[b->dof] += p * b->s[0];
  for (int k = 1; k < b->n; k++) impulse[b->dof + k] += p * b->s[k];
}

// The impulse at v of the branch the bound is on.
static inline double branch_impulse(const abBound* b, const double* v) {
  if (b->state == AB_BOUND_LOW) return b->low;
  if (b->state == AB_BOUND_HIGH) return b->high;
  return b->weight * (b->target - along(b, v));
}

// out = sum of the bounds' impulses, each on its branch, at v
static void sum_impulses(const abTrees* t, int mover, const double* v, double* out) {
  const abMover* m = &t->model->mover[mover];
  memset(out + m->dof0, 0, sizeof(double) * (size_t)m->ndof);
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++)
    add_along(&t->bound[i], branch_impulse(&t->bound[i], v), out);
}

// The first guess of a joint's dry friction about its k-th velocity: it sticks where it can stop
// what the joint's servos push and the momentum of its own link. Gravity is no part of that: a tree
// may fall freely.
static abBoundState guess_friction(const abTrees* t, const abBound* b, int k, const double* v) {
  const abLink* link = &t->link[b->joint];
  const abSix* S = &t->S[b->dof + k];
  abSix F;
  rigid_apply(&t->rigid[b->joint], S, &F);
  double m = six_dot(S, &F) + t->extra[link->block + k * (b->n + 1)], p = m * v[b->dof + k];
  for (int i = link->bound; i >= 0; i = t->bound[i].next) {
    const abBound* servo = &t->bound[i];
    if (servo->actuator >= 0) p += branch_impulse(servo, v) * servo->s[k];
  }
  return p > b->high ? AB_BOUND_LOW : p < b->low ? AB_BOUND_HIGH : AB_BOUND_INSIDE;
}

static void guess_branches(abTrees* t, int mover, const double* v) {
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    abBound* b = &t->bound[i];
    for (int k = 0; b->dry && k < b->n; k++)
      if (b->s[k] != 0) b->state = guess_friction(t, b, k, v);
  }
}

// The Newton point of the present branches.
static void newton_point(abData* data, int mover, bool smooth, const double* base, double* v) {
  abTrees* t = data->internal->trees;
  const abMover* m = &t->model->mover[mover];
  ab_tree_factor(t, mover);
  sum_impulses(t, mover, base, t->impulse);
  for (int i = m->dof0; smooth && i < m->dof0 + m->ndof; i++)
    t->impulse[i] += data->h * (t->tau[i] - t->inertial_force[i]);
  ab_tree_solve(t, mover, t->impulse, v);
  for (int i = m->dof0; i < m->dof0 + m->ndof; i++) v[i] += base[i];
}

static double clamped(const abBound* b, double sv) {
  double p = b->weight * (b->target - sv);
  return p < b->low ? b->low : p > b->high ? b->high : p;
}

// d phi / dt at v + x (end - v) is at0 + x rate, less what the bounds that change their branch on
// the way give.
typedef struct Slope {
  double at0, rate;
} Slope;

static Slope find_slope(const abTrees* t, int mover, const double* v, const double* end) {
  const abMover* m = &t->model->mover[mover];
  Slope slope = {0, 0};
  for (int i = m->dof0; i < m->dof0 + m->ndof; i++) {
    slope.at0 += (end[i] - v[i]) * t->reaction[i];
    slope.rate += (end[i] - v[i]) * (t->reaction_new[i] - t->reaction[i]);
  }
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    abBound* b = &t->bound[i];
    b->begin = along(b, v), b->step = along(b, end) - b->begin;
    double p0 = b->weight * (b->target - b->begin), p1 = p0 - b->weight * b->step;
    b->bends = !((p0 <= b->low && p1 <= b->low) || (p0 >= b->high && p1 >= b->high) ||
                 (p0 >= b->low && p0 <= b->high && p1 >= b->low && p1 <= b->high));
    if (b->bends) continue;
    double first = clamped(b, b->begin);
    slope.at0 -= b->step * first;
    slope.rate -= b->step * (clamped(b, b->begin + b->step) - first);
  }
  return slope;
}

static double slope_at(const abTrees* t, int mover, Slope slope, double x) {
  double sum = slope.at0 + x * slope.rate;
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    const abBound* b = &t->bound[i];
    if (b->bends) sum -= b->step * clamped(b, b->begin + x * b->step);
  }
  return sum;
}

// Moves v, and the reaction with it, towards the Newton point `end` to where phi is least. Where
// phi does not fall even at first, that is rounding: v and `end` are the same to it. Where all that
// is left between two bounds' bends is a straight line, its root is that of a secant; halving sees
// to it that the bends are found.
static void go_towards(abTrees* t, int mover, const double* end, double* v) {
  const abMover* m = &t->model->mover[mover];
  Slope slope = find_slope(t, mover, v, end);
  double low = 0, high = 1, flow = slope_at(t, mover, slope, 0),
         fhigh = slope_at(t, mover, slope, 1);
  bool halve = false;
  for (int i = 0; i < MAX_HALVINGS && flow < 0 && fhigh > 0 && high - low > 1e-12 * high; i++) {
    double width = high - low;
    double x = halve ? 0.5 * (low + high) : (low * fhigh - high * flow) / (fhigh - flow);
    double f = slope_at(t, mover, slope, x);
    if (f > 0)
      high = x, fhigh = f;
    else
      low = x, flow = f;
    if (f == 0) break;
    halve = high - low > 0.5 * width;
  }
  for (int i = m->dof0; i < m->dof0 + m->ndof; i++) {
    v[i] += high * (end[i] - v[i]);
    t->reaction[i] += high * (t->reaction_new[i] - t->reaction[i]);
  }
}

static void report_actuators(abData* data, int mover, const double* v) {
  const abTrees* t = data->internal->trees;
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    const abBound* b = &t->bound[i];
    if (b->actuator < 0) continue;
    data->actuator_force[b->actuator] = clamped(b, along(b, v)) / data->h;
  }
}

// d = -h (M + E)^-1 force: what inertial forces do in the step.
static void solve_inertial(const abData* data, int mover, const double* force, double* d) {
  const abTrees* t = data->internal->trees;
  const abMover* m = &t->model->mover[mover];
  for (int i = m->dof0; i < m->dof0 + m->ndof; i++) t->impulse[i] = -data->h * force[i];
  ab_tree_solve(t, mover, t->impulse, d);
}

// The power of d on the impulses that made it, which are in t->impulse.
static double inertial_power(const abTrees* t, int mover, const double* d) {
  const abMover* m = &t->model->mover[mover];
  double power = 0;
  for (int i = m->dof0; i < m->dof0 + m->ndof; i++) power += d[i] * t->impulse[i];
  return power;
}

// Cuts what the inertial forces add down to the energy of the motion they belong to: beyond, the
// step is too long to resolve the motion. The energy of d is at most half its power on the
// impulses that made it, which are in t->impulse: E adds to that.
static void cap_inertial(const abTrees* t, int mover, double energy, double* d) {
  const abMover* m = &t->model->mover[mover];
  if (0.5 * inertial_power(t, mover, d) <= energy) return;
  double own = ab_tree_energy(t, mover, d);
  if (!(own > energy)) return;
  double share = sqrt(energy / own);
  for (int i = m->dof0; i < m->dof0 + m->ndof; i++) d[i] *= share;
}

// The inertial forces at the start of the step moved v by d. Taken again in the middle of that,
// at v - d / 2, they make a fast spin's turning second-order accurate (tree_drift.c). Not so where
// next to all of the motion is what the forces of this step add: contacts may take it away again,
// and a robot that stands still would be given inertial forces of a fall that it does not make.
// Those are of third order in the step; there the velocities of the start count.
#define ALREADY_MOVES 0.1  // share of the kinetic energy
// Nor where what the inertial forces add is so little that a second look at them is rounding: their
// power on it is at most this share of the energy.
#define INERTIAL_ROUNDING 1e-16
static void correct_inertial(abData* data, int mover, double* v) {
  abTrees* t = data->internal->trees;
  const abMover* m = &t->model->mover[mover];
  int begin = m->dof0, end = m->dof0 + m->ndof;
  double *d = t->inertial, *middle = t->change;
  bool any = false;
  for (int i = begin; i < end; i++) any = any || t->inertial_force[i] != 0;
  memset(d + begin, 0, sizeof(double) * (size_t)m->ndof);
  if (!any) return;
  solve_inertial(data, mover, t->inertial_force, d);
  for (int i = begin; i < end; i++) v[i] -= d[i];
  double energy = ab_tree_energy(t, mover, v);
  if (inertial_power(t, mover, d) <= INERTIAL_ROUNDING * energy) {
    for (int i = begin; i < end; i++) v[i] += d[i];
    return;
  }
  cap_inertial(t, mover, energy, d);
  bool moved = ab_tree_energy(t, mover, data->v) > ALREADY_MOVES * energy;
  for (int i = begin; i < end; i++) middle[i] = (moved ? v[i] : data->v[i]) + 0.5 * d[i];
  ab_tree_inertial(t, mover, middle, t->pull, t->pull_rate, t->reaction_new);
  solve_inertial(data, mover, t->reaction_new, d);
  cap_inertial(t, mover, energy, d);
  for (int i = begin; i < end; i++) v[i] += d[i];
}

void ab_bounds_solve(abData* data, int mover, bool smooth, const double* base, double* v) {
  abTrees* t = data->internal->trees;
  // Full steps first: a Newton point depends on nothing but its branches, and where it lies on them
  // it is the solution.
  bool found = false;
  guess_branches(t, mover, base);
  for (int round = 0; round < WHOLE_ROUNDS && !found; round++) {
    newton_point(data, mover, smooth, base, v);
    if (round == WHOLE_ROUNDS - 1) sum_impulses(t, mover, v, t->reaction);
    found = !update_branches(t, mover, v);
  }
  for (int round = 0; round < BRANCH_ROUNDS && !found; round++) {
    newton_point(data, mover, smooth, base, t->change);
    sum_impulses(t, mover, t->change, t->reaction_new);
    go_towards(t, mover, t->change, v);
    found = !update_branches(t, mover, v);
  }
  if (smooth) correct_inertial(data, mover, v);
  report_actuators(data, mover, v);
}

// On fixed branches the free velocities solve a linear system K v = k. Changing branches changes K
// and k by the bounds' terms only, so that the new solution is v + K^-1 (what the bounds give at v
// on their new branches less what they gave on the old ones).
bool ab_bounds_follow(abData* data, int mover, const double* v, double* v_free) {
  abTrees* t = data->internal->trees;
  const abMover* m = &t->model->mover[mover];
  sum_impulses(t, mover, v_free, t->reaction);
  if (!update_branches(t, mover, v)) return false;
  ab_tree_factor(t, mover);  // this renews the weights of stiff bounds, too
  sum_impulses(t, mover, v_free, t->impulse);
  for (int i = m->dof0; i < m->dof0 + m->ndof; i++) t->impulse[i] -= t->reaction[i];
  ab_tree_solve(t, mover, t->impulse, t->change);
  for (int i = m->dof0; i < m->dof0 + m->ndof; i++) v_free[i] += t->change[i];
  return true;
}

// Impulses that take back what INSIDE bounds give beyond their range at v; false if none does.
static bool collect_excess(abTrees* t, int mover, const double* v) {
  const abMover* m = &t->model->mover[mover];
  bool any = false;
  memset(t->impulse + m->dof0, 0, sizeof(double) * (size_t)m->ndof);
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    abBound* b = &t->bound[i];
    if (b->state != AB_BOUND_INSIDE) continue;
    b->state = branch(b, v);
    if (b->state == AB_BOUND_INSIDE) continue;
    any = true;
    double p = b->weight * (b->target - along(b, v));
    add_along(b, (b->state == AB_BOUND_LOW ? b->low : b->high) - p, t->impulse);
  }
  return any;
}

static void release(abData* data, int mover, double* v) {
  abTrees* t = data->internal->trees;
  const abMover* m = &t->model->mover[mover];
  if (!collect_excess(t, mover, v)) return;
  ab_tree_factor(t, mover);
  ab_tree_solve(t, mover, t->impulse, t->change);
  for (int i = m->dof0; i < m->dof0 + m->ndof; i++) v[i] += t->change[i];
}

static bool returns(const abBound* b) {
  return b->stiff && !b->dry && b->state == AB_BOUND_INSIDE && b->target > 0;
}

// How much of a return there is in v. What keeps the joint where it is may have held it up: to take
// off a return that did not take place would throw the joint out the other way.
static double attained(const abBound* b, const double* v) {
  double share = along(b, v) / b->target;
  return share > 0.999 ? 1 : fmax(share, 0);  // all of it, but for the lag
}

// What the returns of limits, of all or those far outside, change in the velocities v, to
// t->change. False if there are none.
static bool find_return(const abTrees* t, int mover, bool all, const double* v) {
  const abMover* m = &t->model->mover[mover];
  bool any = false;
  memset(t->impulse + m->dof0, 0, sizeof(double) * (size_t)m->ndof);
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    const abBound* b = &t->bound[i];
    if (!returns(b) || !(all || b->far)) continue;
    any = true;
    add_along(b, attained(b, v) * b->weight * b->target, t->impulse);
  }
  if (any) ab_tree_solve(t, mover, t->impulse, t->change);
  return any;
}

// Takes `back` of find_return off v: the solution with the targets of these limits at zero.
static void stop_returning(abData* data, int mover, bool all, const double* back, double* v) {
  abTrees* t = data->internal->trees;
  const abMover* m = &t->model->mover[mover];
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    abBound* b = &t->bound[i];
    if (!returns(b) || !(all || b->far)) continue;
    if (attained(b, v) < 1) b->state = AB_BOUND_LOW;  // what held it up holds the joint, too
    b->target = 0;
  }
  for (int i = m->dof0; i < m->dof0 + m->ndof; i++) v[i] -= back[i];
  release(data, mover, v);
}

const double* ab_bounds_return(const abData* data, int mover) {
  const abTrees* t = data->internal->trees;
  bool far = false;
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) far = far || t->bound[i].far;
  return far && find_return(t, mover, false, data->v_free) ? t->change : NULL;
}

void ab_bounds_stay(abData* data, int mover, const double* back) {
  stop_returning(data, mover, false, back, data->v_free);
}

// Returning limits leave no speed behind. factored: the tree is, with the present branches.
static void come_to_rest(abData* data, int mover, bool factored, double* v) {
  abTrees* t = data->internal->trees;
  bool any = false;
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) any = any || returns(&t->bound[i]);
  if (!any) return;
  if (!factored) ab_tree_factor(t, mover);  // this renews the weights
  find_return(t, mover, true, v);
  stop_returning(data, mover, true, t->change, v);
}

void ab_bounds_finish(abData* data, int mover, double* v, double* move) {
  abTrees* t = data->internal->trees;
  const abMover* m = &t->model->mover[mover];
  size_t bytes = sizeof(double) * (size_t)m->ndof;
  bool one_problem = data->contact ? data->contact->takes_rows : t->laws && t->laws->n > 0;
  bool factored = true;
  if (!one_problem)
    release(data, mover, v);
  else
    factored = !update_branches(t, mover, v);
  report_actuators(data, mover, v);  // contacts have changed what the servos see
  memcpy(move + m->dof0, v + m->dof0, bytes);
  if (!ab_laws_join(t->laws, mover)) come_to_rest(data, mover, factored, v);
  // what sticks stands still
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    const abBound* b = &t->bound[i];
    if (!b->dry || b->state != AB_BOUND_INSIDE) continue;
    for (int k = 0; k < b->n; k++)
      if (b->s[k] != 0) v[b->dof + k] = move[b->dof + k] = t->inertial[b->dof + k] = 0;
  }
}
