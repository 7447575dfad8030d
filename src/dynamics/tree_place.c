// Where the links of a joint tree are, and how they move.
//
// As MJCF defines it: a body starts at its pose in the parent's frame, then its joints act in
// order. A slide moves the frame along its axis by q - ref; a hinge or ball turns it about its
// anchor by q - ref (ball: by its quaternion); a free joint replaces the pose. Later joints'
// anchors and axes are carried along by earlier ones.
//
// All lengths are from the tree's origin O. A turn about an axis e through the point x is S = (e x
// (O - x), e) = (x x e, e), a slide S = (e, 0); a ball's velocities are in the link's own axes. A
// free joint's are those of the centre of mass, at O, and S = 1.
// Tests: test_tree, test_peer.
#include "base/simd.h"
#include "dynamics/kinematics.h"
#include "dynamics/trees.h"
#include "internal.h"

// Products of unit quaternions leave the unit sphere by rounding only: one step of Newton's method
// for 1 / sqrt brings them back.
static abQuat renewed(abQuat q) {
  double n2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, s = 1.5 - 0.5 * n2;
  if (fabs(n2 - 1) > 1e-8) return quat_unit(q);
  return (abQuat){s * q.w, s * q.x, s * q.y, s * q.z};
}

static void place_hinge(const abJoint* joint, double angle, abPose* at, abSix* S) {
  abVec3 axis = quat_rotate(at->q, joint->axis);
  double s, c;
  ab_sincos(0.5 * angle, &s, &c);
  abQuat turn = {c, s * joint->axis.x, s * joint->axis.y, s * joint->axis.z};
  abQuat turned = quat_mul(at->q, turn);
  abVec3 anchor = at->p;
  if (v3_norm2(joint->pos) > 0) {
    anchor = v3_add(anchor, quat_rotate(at->q, joint->pos));
    at->p = v3_sub(anchor, quat_rotate(turned, joint->pos));
  }
  at->q = turned;
  six_set(v3_cross(anchor, axis), axis, S);
}

static void place_ball(const abJoint* joint, const double* q, abPose* at, abSix* S) {
  abVec3 anchor = v3_add(at->p, quat_rotate(at->q, joint->pos));
  at->q = quat_mul(at->q, ab_state_quat(q));
  at->p = v3_sub(anchor, quat_rotate(at->q, joint->pos));
  abMat3 R = quat_matrix(at->q);
  for (int k = 0; k < 3; k++) six_set(v3_cross(anchor, m3_col(&R, k)), m3_col(&R, k), &S[k]);
}

static void place_joint(const abData* data, const abJoint* joint, abPose* at) {
  const double* q = data->q + joint->q0;
  abSix* S = data->internal->trees->S + joint->v0;
  if (joint->type == AB_JOINT_HINGE) {
    place_hinge(joint, q[0] - joint->ref, at, S);
  } else if (joint->type == AB_JOINT_BALL) {
    place_ball(joint, q, at, S);
  } else {
    abVec3 axis = quat_rotate(at->q, joint->axis);
    at->p = v3_axpy(q[0] - joint->ref, axis, at->p);
    six_set(axis, v3_zero(), S);
  }
}

// The frame of a body, before its joints.
static abPose begin_body(const abModel* model, const abData* data, int b, int root) {
  const abBody* body = &model->body[b];
  abPose at = {v3_zero(), quat_mul(data->pose[body->parent].q, body->pose.q)};
  if (b != root)
    at.p = v3_add(data->internal->trees->place[body->parent],
                  m3_apply(&data->R[body->parent], body->pose.p));
  return at;
}

static void set_free_columns(abSix* S) {
  for (int k = 0; k < 3; k++) {
    abVec3 e = v3(k == 0, k == 1, k == 2);
    six_set(e, v3_zero(), &S[k]);
    six_set(v3_zero(), e, &S[3 + k]);
  }
}

typedef abFour Four __attribute__((aligned(8), may_alias));

// The inertia R I R^T of a body of mass m about its centre of mass, which is at d, and about the
// origin. Column by column: first those of R I, then theirs with the rows of R.
AB_SIMD __attribute__((noinline)) static void turn_inertia(double m, const abVec3* at,
                                                           const abMat3* R, const abMat3* I,
                                                           abMat3* turned, abRigid* about) {
  abFour col[3], RI[3], unit[3] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
  for (int k = 0; k < 3; k++) col[k] = (abFour){R->m[0][k], R->m[1][k], R->m[2][k], 0};
  for (int k = 0; k < 3; k++)
    RI[k] = I->m[k][0] * col[0] + I->m[k][1] * col[1] + I->m[k][2] * col[2];
  abFour d = {at->x, at->y, at->z, 0}, c = m * d, square = d * c;
  double dc = square[0] + square[1] + square[2], now[3][4];
  for (int k = 0; k < 3; k++) {
    abFour W = R->m[k][0] * RI[0] + R->m[k][1] * RI[1] + R->m[k][2] * RI[2];
    *(Four*)now[k] = W;
    about->I[k] = W + (dc * unit[k] - d[k] * c);
  }
  c[3] = m;
  about->c = c;
  // symmetric to the last bit
  for (int i = 0; i < 3; i++)
    for (int j = 0; j <= i; j++) turned->m[i][j] = turned->m[j][i] = now[j][i];
}

// The inertia of a body becomes part of its link's.
static void add_inertia(const abModel* model, abData* data, int b) {
  const abBody* body = &model->body[b];
  abTrees* t = data->internal->trees;
  int link = t->link_of_body[b];
  abRigid own, *sum = body->njoint == 0 ? &own : &t->rigid[link];
  turn_inertia(body->mass, &t->arm[b], &data->R[b], &t->inertia[b], &data->inertia[b], sum);
  if (body->njoint == 0) rigid_add(&own, &t->rigid[link]);
  for (int j = body->joint0; body->njoint > 0 && j < link; j++) t->rigid[j] = (abRigid){0};
}

AB_SIMD AB_FLATTEN void ab_tree_place(const abModel* model, abData* data, int m) {
  const abMover* mover = &model->mover[m];
  abTrees* t = data->internal->trees;
  bool floats = tree_floats(model, mover);
  t->seen = false;
  for (int b = mover->body0; b < mover->body0 + mover->nbody; b++) {
    const abBody* body = &model->body[b];
    bool free = floats && b == mover->body0;
    abPose at;
    if (free) {
      at = (abPose){v3_zero(), ab_state_quat(data->q + model->joint[body->joint0].q0 + 3)};
      set_free_columns(t->S + body->dof0);
    } else {
      at = begin_body(model, data, b, mover->body0);
      for (int j = body->joint0; j < body->joint0 + body->njoint; j++)
        place_joint(data, &model->joint[j], &at);
      at.q = renewed(at.q);
    }
    data->pose[b].q = at.q;
    data->R[b] = quat_matrix(at.q);
    abVec3 c = m3_apply(&data->R[b], body->com);
    t->place[b] = free ? v3_neg(c) : at.p;
    t->arm[b] = free ? v3_zero() : v3_add(at.p, c);
    add_inertia(model, data, b);
  }
}

abVec3 ab_tree_origin(const abModel* model, const abData* data, int m) {
  const abMover* mover = &model->mover[m];
  const abBody* root = &model->body[mover->body0];
  if (!tree_floats(model, mover)) {
    int parent = root->parent;
    return v3_add(data->pose[parent].p, m3_apply(&data->R[parent], root->pose.p));
  }
  const double* q = data->q + model->joint[root->joint0].q0;
  return v3_sub(v3(q[0], q[1], q[2]), data->internal->trees->place[mover->body0]);
}

AB_SIMD AB_FLATTEN void ab_tree_shift(const abModel* model, abData* data, int m) {
  const abMover* mover = &model->mover[m];
  abTrees* t = data->internal->trees;
  abVec3 origin = t->origin[m] = ab_tree_origin(model, data, m);
  for (int b = mover->body0; b < mover->body0 + mover->nbody; b++) {
    data->pose[b].p = v3_add(origin, t->place[b]);
    data->com[b] = v3_add(origin, t->arm[b]);
  }
  if (!tree_floats(model, mover)) return;
  const double* q = data->q + model->joint[model->body[mover->body0].joint0].q0;
  data->pose[mover->body0].p = v3(q[0], q[1], q[2]);
}

AB_SIMD AB_FLATTEN void ab_tree_move(const abModel* model, abData* data, int m) {
  const abMover* mover = &model->mover[m];
  abTrees* t = data->internal->trees;
  abVec3 carriage = tree_carriage(model, mover, data->v);
  ab_tree_twists(t, m, data->v, t->twist);
  for (int b = mover->body0; b < mover->body0 + mover->nbody; b++)
    data->twist[b] = tree_body_twist(t, b, &t->twist[t->link_of_body[b]], carriage);
}
