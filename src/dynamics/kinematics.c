// Forward kinematics: coordinates and velocities -> poses and twists. Joint trees are placed by
// tree_place.c.
// Tests: test_free_body, test_joint.
#include "dynamics/kinematics.h"

#include <float.h>
#include <string.h>

#include "base/simd.h"
#include "dynamics/trees.h"
#include "internal.h"

abQuat ab_state_quat(const double* q) {
  abQuat a = {q[0], q[1], q[2], q[3]};
  double n2 = a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z;
  return fabs(n2 - 1) <= 8 * DBL_EPSILON ? a : quat_unit(a);
}

// --- bodies fixed to the world

// Where a body that is moved from outside was put; a zero quaternion is no turn.
static abPose mocap_pose(const abData* data, int i) {
  abQuat q = data->mocap_quat[i];
  double x[4] = {q.w, q.x, q.y, q.z};
  return (abPose){data->mocap_pos[i], quat_norm(q) > 0 ? ab_state_quat(x) : quat_identity()};
}

static abPose fixed_pose(const abModel* model, const abData* data, int b) {
  const abBody* body = &model->body[b];
  if (b == 0) return pose_identity();
  bool mocap = model->nmocap > 0 && body->mocap >= 0;
  abPose pose =
      mocap ? mocap_pose(data, body->mocap) : pose_mul(data->pose[body->parent], body->pose);
  pose.q = quat_unit(pose.q);  // products of many rotations leave the unit sphere by rounding
  return pose;
}

static bool mocap_moved(const abModel* model, const abData* data) {
  for (int i = 0; i < model->nmocap; i++) {
    int b = model->mocap_body[i];
    abPose now = fixed_pose(model, data, b);
    if (memcmp(&now, &data->pose[b], sizeof now) != 0) return true;
  }
  return false;
}

// --- single bodies

// The inverse of free bodies alone: trees answer by their factors.
static void body_inertia(const abModel* model, abData* data, int b, bool inverse) {
  const abBody* body = &model->body[b];
  abMat3 axes = quat_matrix(quat_mul(data->pose[b].q, body->inertia_q));
  abVec3 J = body->inertia;
  data->inertia[b] = m3_congruent_diag(&axes, J);
  if (!inverse) return;
  J = v3(J.x > 0 ? 1 / J.x : 0, J.y > 0 ? 1 / J.y : 0, J.z > 0 ? 1 / J.z : 0);
  data->internal->inv_inertia[b] = m3_congruent_diag(&axes, J);
}

static void place_body(const abModel* model, abData* data, int b) {
  const abBody* body = &model->body[b];
  bool free = body->mover >= 0;
  const double* q = free ? data->q + model->joint[body->joint0].q0 : NULL;
  data->pose[b] =
      free ? (abPose){v3(q[0], q[1], q[2]), ab_state_quat(q + 3)} : fixed_pose(model, data, b);
  data->R[b] = quat_matrix(data->pose[b].q);
  data->com[b] = v3_add(data->pose[b].p, m3_apply(&data->R[b], body->com));
  body_inertia(model, data, b, free);
  data->twist[b] = free ? twist_from_array(data->v + body->dof0) : twist_zero();
}

// --- all

AB_SIMD AB_FLATTEN static void place_geoms(const abModel* model, abData* data) {
  for (int b = 0; b < model->nbody; b++) {
    const abBody* body = &model->body[b];
    for (int g = body->geom0; g < body->geom0 + body->ngeom; g++)
      data->geom_pose[g] = pose_mul(data->pose[b], model->geom[g].pose);
  }
}

// Trees whose coordinates are those they were placed for need not be placed again.
AB_SIMD AB_FLATTEN void ab_kinematics_bodies(const abModel* model, abData* data) {
  data->internal->trees->seen = false;
  for (int b = 0; b < model->nbody; b++) {
    int m = model->body[b].mover;
    if (m < 0 || !model->mover[m].jointed) {
      place_body(model, data, b);
      continue;
    }
    if (!data->internal->trees->placed[m]) ab_tree_place(model, data, m);
    data->internal->trees->placed[m] = false;
    ab_tree_shift(model, data, m);
    ab_tree_move(model, data, m);
    b += model->mover[m].nbody - 1;
  }
}

// A step ends with the kinematics of the state the next one begins with: the second call finds that
// nothing has changed.
void ab_kinematics(const abModel* model, abData* data) {
  abTrees* t = data->internal->trees;
  size_t nq = sizeof(double) * (size_t)model->nq, nv = sizeof(double) * (size_t)model->nv;
  if (t->seen && memcmp(t->q_seen, data->q, nq) == 0 && memcmp(t->v_seen, data->v, nv) == 0 &&
      !mocap_moved(model, data))
    return;
  ab_kinematics_bodies(model, data);
  place_geoms(model, data);
  memcpy(t->q_seen, data->q, nq);
  memcpy(t->v_seen, data->v, nv);
  t->seen = true;
  t->kinetic = -1;
}
