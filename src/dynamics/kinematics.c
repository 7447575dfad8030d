// Forward kinematics: coordinates and velocities -> poses and twists.
//
// As MJCF defines it: a body starts at its pose in the parent's frame, then its joints act in
// order. A slide moves the frame along its axis by q - ref; a hinge or ball turns it about its
// anchor by q - ref (ball: by its quaternion); a free joint replaces the pose. Later joints'
// anchors and axes are carried along by earlier ones. The twist follows: at each joint it is moved
// to the anchor and the joint's own velocity is added.
#include "dynamics/kinematics.h"

#include <float.h>
#include <string.h>

#include "dynamics/trees.h"

// The quaternion of a state at unit length. One that is a unit to rounding is taken as it is, so
// that a body at rest has the very same pose in every step.
static abQuat state_quat(const double* q) {
  abQuat a = {q[0], q[1], q[2], q[3]};
  double n2 = a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z;
  return fabs(n2 - 1) <= 8 * DBL_EPSILON ? a : quat_unit(a);
}

static bool is_free(const abModel* model, const abBody* body) {
  return body->njoint > 0 && model->joint[body->joint0].type == AB_JOINT_FREE;
}

// One joint: moves the body frame *pose.
static void move_by_joint(const abData* data, const abJoint* joint, abPose* pose) {
  const double* q = data->q + joint->q0;
  abLink* link = &data->trees->link[joint - data->trees->model->joint];
  abVec3 anchor = pose_apply(*pose, joint->pos), axis = quat_rotate(pose->q, joint->axis);
  link->axis = axis;
  if (joint->type == AB_JOINT_SLIDE) {
    abVec3 shift = v3_scale(q[0] - joint->ref, axis);
    pose->p = v3_add(pose->p, shift);
    anchor = v3_add(anchor, shift);
  } else {
    bool ball = joint->type == AB_JOINT_BALL;
    abQuat turn = ball ? state_quat(q) : quat_from_rotvec(v3_scale(q[0] - joint->ref, joint->axis));
    pose->q = quat_mul(pose->q, turn);
    pose->p = v3_sub(anchor, quat_rotate(pose->q, joint->pos));
    if (ball) link->R = quat_matrix(pose->q);
  }
  link->point = anchor;
}

static void body_from_free_joint(const abModel* model, abData* data, int b) {
  const abBody* body = &model->body[b];
  const double* q = data->q + model->joint[body->joint0].q0;
  data->pose[b] = (abPose){v3(q[0], q[1], q[2]), state_quat(q + 3)};
}

// Where a body that is moved from outside was put; a zero quaternion is no turn.
static abPose mocap_pose(const abData* data, int i) {
  abQuat q = data->mocap_quat[i];
  double x[4] = {q.w, q.x, q.y, q.z};
  return (abPose){data->mocap_pos[i], quat_norm(q) > 0 ? state_quat(x) : quat_identity()};
}

static bool mocap_moved(const abModel* model, const abData* data) {
  for (int i = 0; i < model->nmocap; i++) {
    abPose now = mocap_pose(data, i), was = data->pose[model->mocap_body[i]];
    now.q = quat_unit(now.q);  // as body_from_parent leaves it
    if (memcmp(&now, &was, sizeof now) != 0) return true;
  }
  return false;
}

static void body_from_parent(const abModel* model, abData* data, int b) {
  const abBody* body = &model->body[b];
  int parent = body->parent;
  bool mocap = model->nmocap > 0 && body->mocap >= 0;
  abPose pose = mocap ? mocap_pose(data, body->mocap) : pose_mul(data->pose[parent], body->pose);
  for (int j = body->joint0; j < body->joint0 + body->njoint; j++)
    move_by_joint(data, &model->joint[j], &pose);
  // products of many rotations leave the unit sphere by rounding only
  pose.q = quat_unit(pose.q);
  data->pose[b] = pose;
}

abTwist ab_kinematics_twist(const abModel* model, const abData* data, int b, const abTwist* all,
                            const double* velocity) {
  const abBody* body = &model->body[b];
  if (is_free(model, body)) return twist_from_array(velocity + body->dof0);
  abTwist twist = all[body->parent];
  abVec3 at = data->com[body->parent];
  for (int j = body->joint0; j < body->joint0 + body->njoint; j++) {
    const abJoint* joint = &model->joint[j];
    const abLink* link = &data->trees->link[j];
    const double* v = velocity + joint->v0;
    twist = twist_move(twist, v3_sub(link->point, at));
    if (joint->type == AB_JOINT_SLIDE)
      twist.lin = v3_axpy(v[0], link->axis, twist.lin);
    else if (joint->type == AB_JOINT_BALL)
      twist.ang = v3_add(twist.ang, m3_apply(&link->R, v3(v[0], v[1], v[2])));
    else
      twist.ang = v3_add(twist.ang, v3_scale(v[0], link->axis));
    at = link->point;
  }
  return twist_move(twist, v3_sub(data->com[b], at));
}

static void move_body(const abModel* model, abData* data, int b) {
  data->twist[b] = ab_kinematics_twist(model, data, b, data->twist, data->v);
}

// The inverse of free bodies alone: trees answer by their factors.
static void body_inertia(const abModel* model, abData* data, int b) {
  const abBody* body = &model->body[b];
  abMat3 axes = quat_matrix(quat_mul(data->pose[b].q, body->inertia_q));
  abVec3 J = body->inertia;
  data->inertia[b] = m3_congruent_diag(&axes, J);
  if (body->mover < 0 || model->mover[body->mover].jointed) return;
  J = v3(J.x > 0 ? 1 / J.x : 0, J.y > 0 ? 1 / J.y : 0, J.z > 0 ? 1 / J.z : 0);
  data->inv_inertia[b] = m3_congruent_diag(&axes, J);
}

static void place_body(const abModel* model, abData* data, int b) {
  const abBody* body = &model->body[b];
  bool free = is_free(model, body);
  if (b == 0)
    data->pose[0] = pose_identity();
  else if (free)
    body_from_free_joint(model, data, b);
  else
    body_from_parent(model, data, b);
  data->R[b] = quat_matrix(data->pose[b].q);
  data->com[b] = v3_add(data->pose[b].p, m3_apply(&data->R[b], body->com));
  if (free) data->trees->link[body->joint0].point = data->com[b];
  body_inertia(model, data, b);
  if (b == 0)
    data->twist[0] = twist_zero();
  else
    move_body(model, data, b);
}

void ab_kinematics_range(const abModel* model, abData* data, int begin, int end) {
  data->trees->seen = false;
  for (int b = begin; b < end; b++) place_body(model, data, b);
}

void ab_kinematics_bodies(const abModel* model, abData* data) {
  ab_kinematics_range(model, data, 0, model->nbody);
}

// Of trees whose coordinates are those they were placed for, the velocities alone.
static void place_rest(const abModel* model, abData* data) {
  for (int b = 0; b < model->nbody; b++) {
    int mover = model->body[b].mover;
    if (mover >= 0 && data->trees->placed[mover])
      move_body(model, data, b);
    else
      place_body(model, data, b);
  }
}

static void place_geoms(const abModel* model, abData* data, int b) {
  const abBody* body = &model->body[b];
  for (int g = body->geom0; g < body->geom0 + body->ngeom; g++)
    data->geom_pose[g] = pose_mul(data->pose[b], model->geom[g].pose);
}

void ab_kinematics_geoms(const abModel* model, abData* data) {
  for (int b = 0; b < model->nbody; b++) place_geoms(model, data, b);
}

// A step ends with the kinematics of the state the next one begins with: the second call finds that
// nothing has changed.
void ab_kinematics(const abModel* model, abData* data) {
  abTrees* t = data->trees;
  size_t nq = sizeof(double) * (size_t)model->nq, nv = sizeof(double) * (size_t)model->nv;
  bool same = t->seen && memcmp(t->q_seen, data->q, nq) == 0 &&
              memcmp(t->v_seen, data->v, nv) == 0 && !mocap_moved(model, data);
  if (!same) place_rest(model, data);
  memset(t->placed, 0, sizeof *t->placed * (size_t)model->nmover);
  if (same) return;
  ab_kinematics_geoms(model, data);
  memcpy(t->q_seen, data->q, nq);
  memcpy(t->v_seen, data->v, nv);
  t->seen = true;
}
