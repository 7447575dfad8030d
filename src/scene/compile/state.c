// The compiler's state: initial coordinates, keyframes, the size of the scene.
// Tests: test_compile.
#include <string.h>

#include "base/error.h"
#include "geometry/support.h"
#include "math/rotation.h"
#include "scene/compile/compile.h"
#include "scene/orientation.h"

// --- initial state and keyframes ---

static abStatus fill_q0(abCompiler* c) {
  double* q = ab_bag_take(&c->bag, (size_t)c->model.nq * sizeof *q);
  if (!q) return ab_compile_no_memory(c);
  for (int i = 0; i < c->model.njoint; i++) {
    const abJoint* j = &c->joint[i];
    abPose p = c->pose[j->body];
    double* at = q + j->q0;
    if (j->type == AB_JOINT_FREE) {
      at[0] = p.p.x, at[1] = p.p.y, at[2] = p.p.z;
      at[3] = p.q.w, at[4] = p.q.x, at[5] = p.q.y, at[6] = p.q.z;
    } else {
      at[0] = j->type == AB_JOINT_BALL ? 1 : j->ref;
    }
  }
  c->model.q0 = q;
  return AB_OK;
}

// At unit length; a zero quaternion means no turn, as in MuJoCo.
static abQuat key_quat(const double x[4]) {
  return ab_orientation((abQuat){x[0], x[1], x[2], x[3]});
}

static void unit_quat(double* q) {
  abQuat u = key_quat(q);
  q[0] = u.w, q[1] = u.x, q[2] = u.y, q[3] = u.z;
}

// MJCF gives a free body the velocity of its frame's origin and the angular velocity in its own
// axes; here it has the velocity of the centre of mass and the angular velocity in the world's:
// w = R w_body, v = v_origin + w x R com.
static void convert_free_velocity(const abBody* b, const double* q, double* v) {
  abQuat R = {q[3], q[4], q[5], q[6]};
  abVec3 w = quat_rotate(R, v3(v[3], v[4], v[5]));
  abVec3 u = v3_add(v3(v[0], v[1], v[2]), v3_cross(w, quat_rotate(R, b->com)));
  v[0] = u.x, v[1] = u.y, v[2] = u.z;
  v[3] = w.x, v[4] = w.y, v[5] = w.z;
}

// What a key does not reach is as it is initially: a robot's key also serves where things of the
// scene stand behind it.
static abStatus key_size(abCompiler* c, const abKeyDef* d, const char* name, const char* what,
                         int given, int wanted) {
  if (given <= wanted) return AB_OK;
  return ab_fail(c->error, AB_ERROR_SCENE, d->source.file, d->source.line,
                 "key '%s': %s has %d numbers, the model has %d", name, what, given, wanted);
}

// The keyframes' numbers, all of each kind in one array.
typedef struct Keys {
  abKey* key;
  double *q, *v, *ctrl;
  abVec3* mocap_pos;
  abQuat* mocap_quat;
} Keys;

// The poses of the mocap bodies, those of the scene where the key says nothing.
static abStatus fill_mocap(abCompiler* c, const abKeyDef* d, int k, const Keys* keys) {
  const abModel* m = &c->model;
  const char* name = keys->key[k].name;
  abStatus status = key_size(c, d, name, "mpos", d->mpos ? d->nmpos : 0, 3 * m->nmocap);
  if (!status) status = key_size(c, d, name, "mquat", d->mquat ? d->nmquat : 0, 4 * m->nmocap);
  if (status) return status;
  for (int i = 0; i < m->nmocap; i++) {
    abPose pose = c->body[m->mocap_body[i]].pose;
    size_t at = (size_t)k * (size_t)m->nmocap + (size_t)i;
    const double* x = d->mpos && d->nmpos >= 3 * (i + 1) ? d->mpos + 3 * i : NULL;
    keys->mocap_pos[at] = x ? v3(x[0], x[1], x[2]) : pose.p;
    x = d->mquat && d->nmquat >= 4 * (i + 1) ? d->mquat + 4 * i : NULL;
    keys->mocap_quat[at] = x ? key_quat(x) : pose.q;
  }
  return AB_OK;
}

static abStatus fill_key(abCompiler* c, int i, const Keys* keys) {
  const abModel* m = &c->model;
  const abKeyDef* d = &c->scene->key.item[i];
  abKey* key = &keys->key[i];
  size_t at = (size_t)i, nq = (size_t)m->nq, nv = (size_t)m->nv, nctrl = (size_t)m->nactuator;
  double *q = keys->q + at * nq, *v = keys->v + at * nv;
  key->name = ab_compile_name(c, d->name, "key", i, &c->scene->key_name);
  key->time = d->time;
  if (!key->name) return ab_compile_no_memory(c);
  abStatus status = key_size(c, d, key->name, "qpos", d->q ? d->nq : 0, m->nq);
  if (!status) status = key_size(c, d, key->name, "qvel", d->v ? d->nv : 0, m->nv);
  if (!status) status = key_size(c, d, key->name, "ctrl", d->ctrl ? d->nctrl : 0, m->nactuator);
  if (status) return status;
  memcpy(q, m->q0, nq * sizeof *q);
  if (d->q) memcpy(q, d->q, (size_t)d->nq * sizeof *q);
  if (d->v) memcpy(v, d->v, (size_t)d->nv * sizeof *v);
  if (d->ctrl) memcpy(keys->ctrl + at * nctrl, d->ctrl, (size_t)d->nctrl * sizeof *d->ctrl);
  for (int k = 0; k < m->njoint; k++) {
    const abJoint* j = &c->joint[k];
    if (j->type == AB_JOINT_BALL) unit_quat(q + j->q0);
    if (j->type != AB_JOINT_FREE) continue;
    unit_quat(q + j->q0 + 3);
    convert_free_velocity(&c->body[j->body], q + j->q0, v + j->v0);
  }
  return fill_mocap(c, d, i, keys);
}

static abStatus fill_keys(abCompiler* c) {
  abModel* m = &c->model;
  size_t n = (size_t)c->scene->key.n, nmocap = n * (size_t)m->nmocap;
  Keys keys = {.key = ab_bag_take(&c->bag, n * sizeof *keys.key),
               .q = ab_bag_take(&c->bag, n * (size_t)m->nq * sizeof *keys.q),
               .v = ab_bag_take(&c->bag, n * (size_t)m->nv * sizeof *keys.v),
               .ctrl = ab_bag_take(&c->bag, n * (size_t)m->nactuator * sizeof *keys.ctrl),
               .mocap_pos = ab_bag_take(&c->bag, nmocap * sizeof *keys.mocap_pos),
               .mocap_quat = ab_bag_take(&c->bag, nmocap * sizeof *keys.mocap_quat)};
  if (!keys.key || !keys.q || !keys.v || !keys.ctrl || !keys.mocap_pos || !keys.mocap_quat)
    return ab_compile_no_memory(c);
  for (int i = 0; i < c->scene->key.n; i++) {
    abStatus status = ab_compile_go_on(c, fill_key(c, i, &keys));
    if (status) return status;
  }
  m->nkey = c->scene->key.n, m->key = keys.key;
  m->key_q = keys.q, m->key_v = keys.v, m->key_ctrl = keys.ctrl;
  m->key_mocap_pos = keys.mocap_pos, m->key_mocap_quat = keys.mocap_quat;
  return AB_OK;
}

// Half the diagonal of the box around all geoms but planes, around the bodies' frames where there
// are none; in a scene that is a single point, the size of a body of that mass and inertia.
static double scene_extent(const abCompiler* c) {
  abVec3 low = v3(INFINITY, INFINITY, INFINITY), high = v3_neg(low);
  for (int i = 0; i < c->model.ngeom; i++) {
    const abGeom* g = &c->geom[i];
    if (g->shape.type == AB_SHAPE_PLANE) continue;
    abPose pose = pose_mul(c->pose[g->body], g->pose);
    abVec3 a, b;
    ab_shape_aabb(&g->shape, &pose, &a, &b);
    low = v3(fmin(low.x, a.x), fmin(low.y, a.y), fmin(low.z, a.z));
    high = v3(fmax(high.x, b.x), fmax(high.y, b.y), fmax(high.z, b.z));
  }
  for (int i = 1; i < c->model.nbody && low.x > high.x; i++)
    for (int k = 0; k < c->model.nbody; k++) {
      abVec3 p = c->pose[k].p;
      low = v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
      high = v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
  double extent = low.x <= high.x ? 0.5 * v3_norm(v3_sub(high, low)) : 0;
  for (int i = 1; i < c->model.nbody && !(extent > 0); i++) {
    const abBody* b = &c->body[i];
    if (b->mass > 0) extent = sqrt((b->inertia.x + b->inertia.y + b->inertia.z) / b->mass);
  }
  return extent > 0 ? extent : 1;
}

abStatus ab_compile_state(abCompiler* c) {
  abStatus status = fill_q0(c);
  if (!status) status = fill_keys(c);
  if (!status) c->model.extent = scene_extent(c);
  return status;
}
