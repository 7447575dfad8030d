// Forces in the joints: springs, dampers, armature, actuators.
//
// A step solves (M + E) dv = h (tau - bias), tau being the forces at the start of the step. Of a
// joint with inertia m, stiffness k, damping d, E takes
//
//   armature a:  + a
//   damping:     + h d          so that the damping acts with the velocity at the end: any d is
//                               stable, and none overshoots (as MuJoCo's Euler)
//   stiffness:   + h^2 k / 2    With q+ = q + h v+ the step reads
//                               q+ - 2 q + q- = -h^2 w^2 (q + (q+ - 2 q + q-) / 2), w^2 = k / m,
//                               whose characteristic roots lie on the unit circle for every h w:
//                               stable for any k without taking energy, and with amplitudes no
//                               larger than h v even for h w -> infinity (1/4 in place of 1/2 would
//                               be stable too, but its roots meet at -1 there). For h w << 1 it is
//                               the symplectic Euler step with the frequency lower by
//                               (5/24) (h w)^2.
//
// A ball's spring pulls along its rotation vector. MJCF's velocities of a free joint are those of
// the frame's origin, so that springs, dampers and armature of a free joint act there: with c from
// the origin to the centre of mass, v_origin = v + c x w =: Y (v, w).
//
// Actuators: force F = gain ctrl + bias, affine in length l and speed l' = s . v of the joint, s
// the gear. Feedback -dF/dl = kp and -dF/dl' = kd, where positive, is treated like a spring and
// damper: the step's impulse is P = h F - (h kd + h^2 kp / 2) (s . v+ - s . v), cut to h times the
// force range. This is a bound (bound.c) with that weight, so that a servo of any gain is stable,
// saturates exactly, and is a part of the inertia that contacts meet. RK4 takes all forces as they
// are.
// Tests: test_joint.
#include <string.h>

#include "dynamics/trees.h"
#include "internal.h"

abVec3 ab_rotation_vector(abQuat q) {
  if (q.w < 0) q = (abQuat){-q.w, -q.x, -q.y, -q.z};
  abVec3 u = v3(q.x, q.y, q.z);
  double s = v3_norm(u);
  return v3_scale(s > 0 ? 2 * atan2(s, q.w) / s : 2, u);
}

static abQuat read_quat(const double* q) { return quat_unit((abQuat){q[0], q[1], q[2], q[3]}); }

static void add_diagonal(abTrees* t, const abLink* link, double value) {
  for (int k = 0; k < link->ndof; k++) t->extra[link->block + k * (link->ndof + 1)] += value;
}

// Y^T (f, R t): a force at the origin and a torque in body axes, as a wrench at the centre of mass.
static abWrench from_origin(const abData* data, int body, abVec3 f, abVec3 torque) {
  abVec3 c = v3_sub(data->com[body], data->pose[body].p);
  return (abWrench){f, v3_sub(m3_apply(&data->R[body], torque), v3_cross(c, f))};
}

static void add_wrench(abTrees* t, const abLink* link, abWrench w) {
  double x[6];
  wrench_to_array(w, x);
  for (int k = 0; k < 6; k++) t->tau[link->dof + k] += x[k];
}

// extra += value Y^T Y
static void add_at_origin(const abData* data, const abLink* link, double value) {
  abVec3 c = v3_sub(data->com[link->body], data->pose[link->body].p);
  abMat3 s = m3_skew(c);
  double* E = data->internal->trees->extra + link->block;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double one = i == j ? value : 0, ss = 0;
      for (int k = 0; k < 3; k++) ss += s.m[k][i] * s.m[k][j];
      E[i * 6 + j] += one;
      E[i * 6 + 3 + j] += value * s.m[i][j];
      E[(3 + i) * 6 + j] += value * s.m[j][i];
      E[(3 + i) * 6 + 3 + j] += one + value * ss;
    }
}

static void free_joint(const abModel* model, abData* data, int j, double implicit_h) {
  const abJoint* joint = &model->joint[j];
  const abLink* link = &data->internal->trees->link[j];
  double d = joint->damping, k = joint->stiffness, a = joint->armature, h = implicit_h;
  if (d == 0 && k == 0 && a == 0) return;
  const double *q = data->q + joint->q0, *q0 = model->q0 + joint->q0;
  abMat3 Rt = m3_transpose(&data->R[link->body]);
  abTwist twist = data->twist[link->body];
  abVec3 c = v3_sub(data->com[link->body], data->pose[link->body].p), w = twist.ang;
  abVec3 v = v3_add(twist.lin, v3_cross(c, w)), w_body = m3_apply(&Rt, w);
  abVec3 stretch = v3(q[0] - q0[0], q[1] - q0[1], q[2] - q0[2]);
  abVec3 turn = ab_rotation_vector(quat_mul(quat_conj(read_quat(q0 + 3)), read_quat(q + 3)));
  abVec3 f = v3_add(v3_scale(-d, v), v3_scale(-k, stretch));
  // armature resists the origin's acceleration Y v' + Y' v, of which Y' v = (w x c) x w
  f = v3_axpy(-a, v3_cross(v3_cross(w, c), w), f);
  abVec3 torque = v3_add(v3_scale(-d, w_body), v3_scale(-k, turn));
  add_wrench(data->internal->trees, link, from_origin(data, link->body, f, torque));
  add_at_origin(data, link, a + h * d + 0.5 * h * h * k);
}

static void own_joint(abData* data, const abJoint* joint, const abLink* link, double h) {
  abTrees* t = data->internal->trees;
  const double *q = data->q + joint->q0, *v = data->v + link->dof;
  double stretch[3] = {q[0] - joint->springref, 0, 0};
  if (joint->type == AB_JOINT_BALL) {
    abVec3 r = ab_rotation_vector(read_quat(q));
    stretch[0] = r.x, stretch[1] = r.y, stretch[2] = r.z;
  }
  for (int k = 0; k < link->ndof; k++)
    t->tau[link->dof + k] -= joint->stiffness * stretch[k] + joint->damping * v[k];
  add_diagonal(t, link, joint->armature + h * joint->damping + 0.5 * h * h * joint->stiffness);
}

static void joint_forces(const abModel* model, abData* data, int mover, bool implicit) {
  abTreeRange range = tree_range(model, &model->mover[mover]);
  abTrees* t = data->internal->trees;
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    double h = implicit ? data->h : 0;
    for (int k = 0; k < link->ndof; k++) t->tau[link->dof + k] = 0;
    memset(t->extra + link->block, 0, sizeof(double) * (size_t)(link->ndof * link->ndof));
    if (model->joint[j].type == AB_JOINT_FREE)
      free_joint(model, data, j, h);
    else
      own_joint(data, &model->joint[j], link, h);
  }
}

void ab_tree_forces(const abModel* model, abData* data, int mover, bool implicit) {
  abTrees* t = data->internal->trees;
  joint_forces(model, data, mover, implicit);
  ab_tree_loads(model, data, mover);
  ab_tree_inertial(t, mover, data->v, t->twist, t->bias, t->inertial_force);
}

// --- actuators

// What an actuator does to its joint. (Written and read number by number: a processor waits where
// numbers just stored one by one are fetched in pairs.)
typedef struct Drive {
  int n;
  double s[6];  // moment arms: joint impulse per unit of the actuator's impulse
  double length, speed;
} Drive;

static double clamp(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

static void drive_geometry(const abModel* model, const abData* data, const abActuator* a,
                           Drive* d) {
  const abJoint* joint = &model->joint[a->joint];
  const double *q = data->q + joint->q0, *v = data->v + joint->v0, *g = a->gear;
  d->n = data->internal->trees->link[a->joint].ndof;
  if (joint->type == AB_JOINT_FREE) {
    abWrench w = from_origin(data, joint->body, v3(g[0], g[1], g[2]), v3(g[3], g[4], g[5]));
    wrench_to_array(w, d->s);
    d->length = 0;
  } else if (joint->type == AB_JOINT_BALL) {
    for (int k = 0; k < 3; k++) d->s[k] = g[k];
    d->length = v3_dot(v3(g[0], g[1], g[2]), ab_rotation_vector(read_quat(q)));
  } else {
    d->s[0] = g[0];
    d->length = g[0] * q[0];
  }
  d->speed = d->s[0] * v[0];
  for (int k = 1; k < d->n; k++) d->speed += d->s[k] * v[k];
}

abDriveForce ab_drive_force(const abActuator* a, double ctrl, double length, double speed) {
  if (a->ctrl_limited) ctrl = clamp(ctrl, a->ctrl_range[0], a->ctrl_range[1]);
  double fixed = a->gainprm[0] * ctrl, by_length = 0, by_speed = 0;
  if (a->gain == AB_GAIN_AFFINE) by_length = a->gainprm[1] * ctrl, by_speed = a->gainprm[2] * ctrl;
  if (a->bias == AB_BIAS_AFFINE) {
    fixed += a->biasprm[0];
    by_length += a->biasprm[1];
    by_speed += a->biasprm[2];
  }
  return (abDriveForce){.speed = speed,
                        .force = fixed + by_length * length + by_speed * speed,
                        .kp = by_length < 0 ? -by_length : 0,
                        .kd = by_speed < 0 ? -by_speed : 0,
                        .low = a->force_limited ? a->force_range[0] : -INFINITY,
                        .high = a->force_limited ? a->force_range[1] : INFINITY};
}

static void add_servo(abData* data, int actuator, const Drive* d, const abDriveForce* f,
                      double weight) {
  double h = data->h;
  abBound* bound =
      ab_bound_add(data->internal->trees, data->internal->trees->model->actuator[actuator].joint);
  bound->actuator = actuator;
  for (int k = 0; k < d->n; k++) bound->s[k] = d->s[k];
  bound->weight = weight;
  bound->target = f->speed + h * f->force / weight;
  bound->low = h * f->low;
  bound->high = h * f->high;
  bound->state = f->force < f->low    ? AB_BOUND_LOW
                 : f->force > f->high ? AB_BOUND_HIGH
                                      : AB_BOUND_INSIDE;
}

void ab_actuators(const abModel* model, abData* data, bool implicit) {
  for (int i = 0; i < model->nactuator; i++) {
    int j = model->actuator[i].joint;
    if (j < 0) continue;  // laws.c
    if (data->asleep[model->joint[j].body]) continue;
    Drive d;
    drive_geometry(model, data, &model->actuator[i], &d);
    abDriveForce f = ab_drive_force(&model->actuator[i], data->ctrl[i], d.length, d.speed);
    double force = data->actuator_force[i] = clamp(f.force, f.low, f.high);
    double weight = data->h * (f.kd + 0.5 * data->h * f.kp), *tau = data->internal->trees->tau;
    bool jointed = model->mover[model->body[model->joint[j].body].mover].jointed;
    if (implicit && jointed && weight > 0)
      add_servo(data, i, &d, &f, weight);
    else
      for (int k = 0; k < d.n; k++) tau[model->joint[j].v0 + k] += d.s[k] * force;
  }
}
