// Equalities: their errors, and how these change with the velocities.
//
//   connect  p1 - p2 of two points, one on each body: 3 rows
//   weld     the same, and the rotation vector that turns frame 2 to frame 1: 6 rows. Its rate is
//            w1 - w2 for a small rotation, and along itself for any.
//   joint    y - p(x), y and x coordinates of two joints less those of q0
//   tendon   the same of two tendons' lengths
//
// All vectors in world axes. The bend is the second derivative in time that the velocities alone
// cause: a point at r from the centre of mass of a free body has w x (w x r) + a x r, a = -I^-1 (w
// x I w) the torque-free change of the spin; one on a link has the acceleration of the link at
// constant joint velocities.
// Tests: test_law.
#include "dynamics/laws.h"
#include "dynamics/trees.h"
#include "internal.h"

int ab_equality_rows(const abEquality* e) {
  return e->type == AB_EQUALITY_CONNECT ? 3 : e->type == AB_EQUALITY_WELD ? 6 : 1;
}

static bool joins_bodies(const abEquality* e) {
  return e->type == AB_EQUALITY_CONNECT || e->type == AB_EQUALITY_WELD;
}

static void set3(abVec3 a, double* x) { x[0] = a.x, x[1] = a.y, x[2] = a.z; }

// p and its first two derivatives at x.
static void polynomial(const double c[5], double x, double p[3]) {
  p[0] = p[1] = p[2] = 0;
  for (int k = 4; k >= 0; k--) {
    p[2] = p[2] * x + 2 * p[1];
    p[1] = p[1] * x + p[0];
    p[0] = p[0] * x + c[k];
  }
}

static double coordinate(const abModel* model, const abData* data, int joint) {
  int q = model->joint[joint].q0;
  return data->q[q] - model->q0[q];
}

static double stretch(const abModel* model, const abData* data, int tendon) {
  return ab_tendon_length(model, data, &model->tendon[tendon]) - model->tendon[tendon].length0;
}

// x, the argument of the polynomial; 0 where there is no second joint or tendon.
static double argument(const abModel* model, const abData* data, const abEquality* e) {
  if (e->type == AB_EQUALITY_JOINT) return e->joint2 < 0 ? 0 : coordinate(model, data, e->joint2);
  return e->tendon2 < 0 ? 0 : stretch(model, data, e->tendon2);
}

void ab_equality_error(const abModel* model, const abData* data, const abEquality* e,
                       double error[6]) {
  if (!joins_bodies(e)) {
    double p[3];
    polynomial(e->polycoef, argument(model, data, e), p);
    error[0] = (e->type == AB_EQUALITY_JOINT ? coordinate(model, data, e->joint1)
                                             : stretch(model, data, e->tendon1)) -
               p[0];
    return;
  }
  abPose one = data->pose[e->body1], two = data->pose[e->body2];
  set3(v3_sub(pose_apply(one, e->frame1.p), pose_apply(two, e->frame2.p)), error);
  if (e->type != AB_EQUALITY_WELD) return;
  abQuat q1 = quat_mul(one.q, e->frame1.q), q2 = quat_mul(two.q, e->frame2.q);
  set3(ab_rotation_vector(quat_unit(quat_mul(q1, quat_conj(q2)))), error + 3);
}

static void joint_slope(const abModel* model, int joint, double scale, double* dense) {
  if (joint >= 0) dense[model->joint[joint].v0] += scale;
}

void ab_equality_slope(const abModel* model, const abData* data, const abEquality* e, int axis,
                       double* dense) {
  if (joins_bodies(e)) {
    double x[6] = {0};
    x[axis] = 1;
    abWrench w = wrench_from_array(x);
    abVec3 p1 = pose_apply(data->pose[e->body1], e->frame1.p);
    abVec3 p2 = pose_apply(data->pose[e->body2], e->frame2.p);
    // nearly closed: at one place, so that the two forces have no moment
    if (v3_norm(v3_sub(p1, p2)) < 1e-3 * model->extent) p1 = p2 = v3_lerp(p1, p2, 0.5);
    ab_law_lever(model, data, e->body1, p1, w, dense);
    ab_law_lever(model, data, e->body2, p2, wrench_neg(w), dense);
    return;
  }
  double p[3];
  polynomial(e->polycoef, argument(model, data, e), p);
  if (e->type == AB_EQUALITY_JOINT) {
    joint_slope(model, e->joint1, 1, dense);
    joint_slope(model, e->joint2, -p[1], dense);
    return;
  }
  ab_tendon_slope(model, &model->tendon[e->tendon1], 1, dense);
  if (e->tendon2 >= 0) ab_tendon_slope(model, &model->tendon[e->tendon2], -p[1], dense);
}

// Acceleration of a point of a body by the velocities alone.
static abTwist point_bend(const abModel* model, const abData* data, int body, abVec3 local) {
  int m = model->body[body].mover;
  if (m < 0) return twist_zero();
  const abTrees* t = data->internal->trees;
  abVec3 point = pose_apply(data->pose[body], local), r;
  abTwist a, motion;  // both at the place that r starts from
  if (model->mover[m].jointed) {
    int link = t->link_of_body[body];
    r = v3_sub(point, t->origin[m]);
    motion = six_twist(&t->twist[link]), a = six_twist(&t->bias[link]);
  } else {
    r = v3_sub(point, data->com[body]), motion = (abTwist){v3_zero(), data->twist[body].ang};
    abVec3 L = m3_apply(&data->inertia[body], motion.ang);
    a = (abTwist){v3_zero(), m3_apply(&data->internal->inv_inertia[body], v3_cross(L, motion.ang))};
  }
  a = twist_move(a, r);
  a.lin = v3_add(a.lin, v3_cross(motion.ang, twist_at(motion, r)));  // of the material there
  return a;
}

void ab_equality_bend(const abModel* model, const abData* data, const abEquality* e,
                      double bend[6]) {
  if (joins_bodies(e)) {
    abTwist a = twist_sub(point_bend(model, data, e->body1, e->frame1.p),
                          point_bend(model, data, e->body2, e->frame2.p));
    twist_to_array(a, bend);
    return;
  }
  double p[3], speed = 0;
  polynomial(e->polycoef, argument(model, data, e), p);
  if (e->type == AB_EQUALITY_JOINT && e->joint2 >= 0)
    speed = data->v[model->joint[e->joint2].v0];
  else if (e->type == AB_EQUALITY_TENDON && e->tendon2 >= 0)
    speed = ab_tendon_speed(model, data, &model->tendon[e->tendon2]);
  bend[0] = -p[2] * speed * speed;
}

static int add_mover(const abModel* model, int body, int n, int room, int* mover) {
  int m = model->body[body].mover;
  bool known = m < 0 || n == room;
  for (int i = 0; i < n; i++) known = known || mover[i] == m;
  if (!known) mover[n++] = m;
  return n;
}

static int add_tendon(const abModel* model, int tendon, int n, int room, int* mover) {
  const abTendon* t = tendon < 0 ? NULL : &model->tendon[tendon];
  for (int i = 0; t && i < t->njoint; i++) {
    int joint = model->tendon_joint[t->joint0 + i].joint;
    n = add_mover(model, model->joint[joint].body, n, room, mover);
  }
  return n;
}

int ab_equality_movers(const abModel* model, const abEquality* e, int room, int* mover) {
  if (e->type == AB_EQUALITY_TENDON) {
    int n = add_tendon(model, e->tendon1, 0, room, mover);
    return add_tendon(model, e->tendon2, n, room, mover);
  }
  int body[2] = {e->body1, e->body2};
  if (e->type == AB_EQUALITY_JOINT) {
    body[0] = model->joint[e->joint1].body;
    body[1] = e->joint2 < 0 ? 0 : model->joint[e->joint2].body;
  }
  return add_mover(model, body[1], add_mover(model, body[0], 0, room, mover), room, mover);
}
