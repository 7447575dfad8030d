// From a scene to a model.
//
//   order   bodies depth-first, joints and geoms by body
//   fill    bodies, joints with their places in q and v, what is welded to what, movers
//   shapes, masses, hulls (compile_mass.c)
//   state   initial coordinates, keyframes, the scene's size
//   pack    everything into one block
//
// The pieces are made in a bag of temporary memory and packed at the end: the same function walks
// over them twice, first counting bytes, then copying.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "geometry/polyhedron.h"
#include "geometry/support.h"
#include "math/rotation.h"
#include "scene/scene.h"

static abStatus no_memory(abCompiler* c) {
  return ab_fail(c->error, AB_ERROR_MEMORY, NULL, 0, "no memory for the model");
}

static int coordinates_of(abJointType type) {
  return type == AB_JOINT_FREE ? 7 : type == AB_JOINT_BALL ? 4 : 1;
}

static int velocities_of(abJointType type) {
  return type == AB_JOINT_FREE ? 6 : type == AB_JOINT_BALL ? 3 : 1;
}

// --- order
// --------------------------------------------------------------------------------------------

// Depth-first order without recursion: first child and next sibling, both in the order of adding.
static abStatus order_bodies(abCompiler* c) {
  int n = c->scene->body.n;
  int* child = ab_bag_take(&c->bag, 2 * (size_t)n * sizeof(int));
  if (!child) return no_memory(c);
  int* sibling = child + n;
  for (int i = n - 1; i > 0; i--) {
    int parent = c->scene->body.item[i].parent;
    sibling[i] = child[parent];
    child[parent] = i;
  }
  int at = 0;
  for (int body = 0; at < n;) {
    c->body_from[at] = body;
    c->body_to[body] = at++;
    if (child[body]) {
      body = child[body];
      continue;
    }
    while (body && !sibling[body]) body = c->scene->body.item[body].parent;
    if (!body) break;
    body = sibling[body];
  }
  return AB_OK;
}

// from[] = the scene's indices sorted by compiled body, stable; first[b] .. first[b + 1] are body
// b's. body_of reads the scene's body of an item.
static abStatus order_by_body(abCompiler* c, int n, const int* body_of, int* from, int* to) {
  int nbody = c->model.nbody;
  int* first = ab_bag_take(&c->bag, (size_t)(nbody + 2) * sizeof(int));
  if (!first) return no_memory(c);
  for (int i = 0; i < n; i++) first[c->body_to[body_of[i]] + 1]++;
  for (int b = 0; b < nbody; b++) first[b + 1] += first[b];
  for (int i = 0; i < n; i++) {
    int at = first[c->body_to[body_of[i]]]++;
    from[at] = i;
    to[i] = at;
  }
  return AB_OK;
}

static abStatus order(abCompiler* c) {
  const abScene* s = c->scene;
  int nj = s->joint.n, ng = s->geom.n;
  int* owner = ab_bag_take(&c->bag, (size_t)(nj + ng + 1) * sizeof(int));
  if (!owner || order_bodies(c)) return no_memory(c);
  for (int i = 0; i < nj; i++) owner[i] = s->joint.item[i].body;
  for (int i = 0; i < ng; i++) owner[nj + i] = s->geom.item[i].body;
  if (order_by_body(c, nj, owner, c->joint_from, c->joint_to)) return AB_ERROR_MEMORY;
  return order_by_body(c, ng, owner + nj, c->geom_from, c->geom_to);
}

// --- names
// --------------------------------------------------------------------------------------------

// The given name, or the kind with the index, lengthened until nobody else has it.
static const char* name_of(abCompiler* c, const char* given, const char* kind, int index,
                           const abNameTable* taken) {
  if (given) return given;
  char text[64];
  snprintf(text, sizeof text, "%s%d", kind, index);
  while (ab_names_find(taken, text) >= 0 && strlen(text) + 2 < sizeof text) strcat(text, "_");
  return ab_bag_copy_string(&c->bag, text);
}

// --- bodies, joints, geoms
// ----------------------------------------------------------------------------

static abStatus fail_joint(abCompiler* c, int joint, const char* text) {
  const abJointDef* d = &c->scene->joint.item[c->joint_from[joint]];
  return ab_fail(c->error, AB_ERROR_SCENE, d->source.file, d->source.line, "joint '%s': %s",
                 c->joint[joint].name, text);
}

static abStatus fill_joint(abCompiler* c, int i) {
  const abJointDef* d = &c->scene->joint.item[c->joint_from[i]];
  abJoint* j = &c->joint[i];
  abBody* b = &c->body[c->body_to[d->body]];
  j->name = name_of(c, d->name, "joint", i, &c->scene->joint_name);
  if (!j->name) return no_memory(c);
  j->type = d->type;
  j->body = c->body_to[d->body];
  j->q0 = c->model.nq;
  j->v0 = c->model.nv;
  c->model.nq += coordinates_of(d->type);
  c->model.nv += velocities_of(d->type);
  j->pos = d->pos, j->axis = d->axis;
  j->limited = d->limited;
  j->range[0] = d->range[0], j->range[1] = d->range[1];
  j->margin = d->margin;
  j->stiffness = d->stiffness, j->damping = d->damping;
  j->armature = d->armature, j->frictionloss = d->frictionloss;
  j->ref = d->ref, j->springref = d->springref;
  b->ndof += velocities_of(d->type);
  b->njoint++;
  if (d->type == AB_JOINT_FREE && b->parent != 0)
    return fail_joint(c, i, "a free joint is only possible in a body directly below the world");
  if (d->type == AB_JOINT_FREE && b->njoint > 1)
    return fail_joint(c, i, "a free joint must be the only joint of its body");
  if (b->njoint > 1 && c->joint[i - 1].type == AB_JOINT_FREE)
    return fail_joint(c, i, "its body has a free joint already, which must be the only one");
  if (b->ndof > 6) return fail_joint(c, i, "its body has more than 6 degrees of freedom");
  return AB_OK;
}

static abStatus fill_bodies(abCompiler* c) {
  for (int i = 0; i < c->model.nbody; i++) {
    const abBodyDef* d = &c->scene->body.item[c->body_from[i]];
    abBody* b = &c->body[i];
    b->name = name_of(c, d->name, "body", i, &c->scene->body_name);
    if (!b->name) return no_memory(c);
    b->parent = c->body_to[d->parent];
    b->pose = i == 0 ? pose_identity() : d->pose;
    b->gravity = d->gravity;
    b->mover = -1;
    c->pose[i] = i == 0 ? b->pose : pose_mul(c->pose[b->parent], b->pose);
  }
  for (int i = 0; i < c->model.njoint; i++) {
    abStatus status = fill_joint(c, i);
    if (status) return status;
  }
  for (int i = 0, joint = 0, dof = 0; i < c->model.nbody; i++) {
    abBody* b = &c->body[i];
    b->joint0 = joint, b->dof0 = dof;
    joint += b->njoint, dof += b->ndof;
    b->weld = b->njoint > 0 ? i : i == 0 ? 0 : c->body[b->parent].weld;
  }
  return AB_OK;
}

static abStatus fill_geoms(abCompiler* c) {
  for (int i = 0; i < c->model.ngeom; i++) {
    const abGeomDef* d = &c->scene->geom.item[c->geom_from[i]];
    abGeom* g = &c->geom[i];
    g->name = name_of(c, d->name, "geom", i, &c->scene->geom_name);
    if (!g->name) return no_memory(c);
    g->body = c->body_to[d->body];
    g->pose = d->pose;
    g->contype = d->contype, g->conaffinity = d->conaffinity;
    g->condim = d->condim, g->priority = d->priority, g->group = d->group;
    memcpy(g->friction, d->friction, sizeof g->friction);
    g->mu_static = d->mu_static;
    g->e_t = d->e_t, g->e_o = d->e_o, g->e_r = d->e_r;
    g->restitution = d->restitution;
    g->margin = d->margin, g->gap = d->gap;
    memcpy(g->rgba, d->rgba, sizeof g->rgba);
    abBody* b = &c->body[g->body];
    if (b->ngeom++ == 0) b->geom0 = i;
    if (d->type == AB_PLANE && b->weld != 0)
      return ab_fail(c->error, AB_ERROR_SCENE, d->source.file, d->source.line,
                     "geom '%s': a plane cannot move; put it into the world or use a box", g->name);
  }
  for (int i = 0, geom = 0; i < c->model.nbody; i++) {
    if (c->body[i].ngeom == 0) c->body[i].geom0 = geom;
    geom = c->body[i].geom0 + c->body[i].ngeom;
  }
  for (int i = 0; i < c->model.nmesh; i++) {
    c->mesh[i].name = name_of(c, c->scene->mesh.item[i].name, "mesh", i, &c->scene->mesh_name);
    if (!c->mesh[i].name) return no_memory(c);
  }
  return AB_OK;
}

// A mover starts at each body that moves below one that does not; its subtree follows it.
static abStatus fill_movers(abCompiler* c) {
  abModel* m = &c->model;
  abMover* mover = ab_bag_take(&c->bag, (size_t)m->nbody * sizeof *mover);
  if (!mover) return no_memory(c);
  for (int i = 1; i < m->nbody; i++) {
    abBody* b = &c->body[i];
    if (b->weld == 0) continue;
    b->mover = c->body[b->parent].mover;
    if (b->mover < 0) {
      b->mover = m->nmover++;
      mover[b->mover] = (abMover){.body0 = i, .dof0 = b->dof0};
    }
    mover[b->mover].nbody++;
    mover[b->mover].ndof += b->ndof;
  }
  for (int i = 0; i < m->nmover; i++) {
    const abJoint* j = &c->joint[c->body[mover[i].body0].joint0];
    mover[i].jointed = mover[i].nbody > 1 || j->type != AB_JOINT_FREE || j->stiffness > 0 ||
                       j->damping > 0 || j->armature > 0 || j->frictionloss > 0;
  }
  m->mover = mover;
  return AB_OK;
}

static abStatus fill_dofs(abCompiler* c) {
  int nv = c->model.nv;
  int* joint = ab_bag_take(&c->bag, (size_t)nv * sizeof(int));
  double* damping = ab_bag_take(&c->bag, (size_t)nv * sizeof(double));
  double* armature = ab_bag_take(&c->bag, (size_t)nv * sizeof(double));
  if (!joint || !damping || !armature) return no_memory(c);
  for (int i = 0; i < c->model.njoint; i++) {
    const abJoint* j = &c->joint[i];
    for (int k = j->v0; k < j->v0 + velocities_of(j->type); k++) {
      joint[k] = i;
      damping[k] = j->damping;
      armature[k] = j->armature;
    }
  }
  c->model.dof_joint = joint;
  c->model.dof_damping = damping;
  c->model.dof_armature = armature;
  return AB_OK;
}

// --- contact rules, actuators, settings
// ---------------------------------------------------------------

static abStatus fill_rules(abCompiler* c) {
  const abScene* s = c->scene;
  abExclude* exclude = ab_bag_take(&c->bag, (size_t)s->exclude.n * sizeof *exclude);
  abPairRule* rule = ab_bag_take(&c->bag, (size_t)s->pair.n * sizeof *rule);
  if (!exclude || !rule) return no_memory(c);
  for (int i = 0; i < s->exclude.n; i++) {
    int a = c->body_to[s->exclude.item[i].body1], b = c->body_to[s->exclude.item[i].body2];
    exclude[i] = (abExclude){a < b ? a : b, a < b ? b : a};
  }
  for (int i = 0; i < s->pair.n; i++) {
    const abPairDef* d = &s->pair.item[i];
    int a = c->geom_to[d->geom1], b = c->geom_to[d->geom2];
    rule[i] = (abPairRule){.geom1 = a < b ? a : b, .geom2 = a < b ? b : a, .condim = d->condim};
    memcpy(rule[i].friction, d->friction, sizeof d->friction);
    rule[i].margin = d->margin, rule[i].gap = d->gap;
    c->paired[a] = c->paired[b] = true;
  }
  c->model.nexclude = s->exclude.n, c->model.exclude = exclude;
  c->model.npair_rule = s->pair.n, c->model.pair_rule = rule;
  c->model.nsetting = s->setting.n, c->model.setting = s->setting.item;
  return AB_OK;
}

static abStatus fill_actuators(abCompiler* c) {
  const abScene* s = c->scene;
  abActuator* actuator = ab_bag_take(&c->bag, (size_t)s->actuator.n * sizeof *actuator);
  if (!actuator) return no_memory(c);
  for (int i = 0; i < s->actuator.n; i++) {
    const abActuatorDef* d = &s->actuator.item[i];
    abActuator* a = &actuator[i];
    a->name = name_of(c, d->name, "actuator", i, &s->actuator_name);
    if (!a->name) return no_memory(c);
    a->joint = c->joint_to[d->joint];
    memcpy(a->gear, d->gear, sizeof a->gear);
    a->gain = d->gain, a->bias = d->bias;
    memcpy(a->gainprm, d->gainprm, sizeof a->gainprm);
    memcpy(a->biasprm, d->biasprm, sizeof a->biasprm);
    a->ctrl_limited = d->ctrl_limited, a->force_limited = d->force_limited;
    memcpy(a->ctrl_range, d->ctrl_range, sizeof a->ctrl_range);
    memcpy(a->force_range, d->force_range, sizeof a->force_range);
  }
  c->model.nactuator = s->actuator.n, c->model.actuator = actuator;
  return AB_OK;
}

// --- initial state and keyframes
// ----------------------------------------------------------------------

static abStatus fill_q0(abCompiler* c) {
  double* q = ab_bag_take(&c->bag, (size_t)c->model.nq * sizeof *q);
  if (!q) return no_memory(c);
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

static abStatus unit_quat(abCompiler* c, const abKeyDef* d, const char* name, double* q) {
  abQuat u = {q[0], q[1], q[2], q[3]};
  if (!(quat_norm(u) > 0))
    return ab_fail(c->error, AB_ERROR_SCENE, d->source.file, d->source.line,
                   "key '%s': qpos has a zero quaternion; the identity is 1 0 0 0", name);
  u = quat_unit(u);
  q[0] = u.w, q[1] = u.x, q[2] = u.y, q[3] = u.z;
  return AB_OK;
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

static abStatus key_size(abCompiler* c, const abKeyDef* d, const char* name, const char* what,
                         int given, int wanted) {
  if (given == 0 || given == wanted) return AB_OK;
  return ab_fail(c->error, AB_ERROR_SCENE, d->source.file, d->source.line,
                 "key '%s': %s has %d numbers, the model has %d", name, what, given, wanted);
}

static abStatus fill_key(abCompiler* c, int i, abKey* key) {
  const abModel* m = &c->model;
  const abKeyDef* d = &c->scene->key.item[i];
  key->name = name_of(c, d->name, "key", i, &c->scene->key_name);
  key->time = d->time;
  double* q = ab_bag_take(&c->bag, (size_t)m->nq * sizeof *q);
  double* v = ab_bag_take(&c->bag, (size_t)m->nv * sizeof *v);
  double* ctrl = ab_bag_take(&c->bag, (size_t)m->nactuator * sizeof *ctrl);
  if (!key->name || !q || !v || !ctrl) return no_memory(c);
  abStatus status = key_size(c, d, key->name, "qpos", d->q ? d->nq : 0, m->nq);
  if (!status) status = key_size(c, d, key->name, "qvel", d->v ? d->nv : 0, m->nv);
  if (!status) status = key_size(c, d, key->name, "ctrl", d->ctrl ? d->nctrl : 0, m->nactuator);
  if (status) return status;
  memcpy(q, d->q ? d->q : m->q0, (size_t)m->nq * sizeof *q);
  if (d->v) memcpy(v, d->v, (size_t)m->nv * sizeof *v);
  if (d->ctrl) memcpy(ctrl, d->ctrl, (size_t)m->nactuator * sizeof *ctrl);
  for (int k = 0; k < m->njoint && !status; k++) {
    const abJoint* j = &c->joint[k];
    if (j->type == AB_JOINT_BALL) status = unit_quat(c, d, key->name, q + j->q0);
    if (j->type != AB_JOINT_FREE) continue;
    status = unit_quat(c, d, key->name, q + j->q0 + 3);
    convert_free_velocity(&c->body[j->body], q + j->q0, v + j->v0);
  }
  key->q = q, key->v = v, key->ctrl = ctrl;
  return status;
}

static abStatus fill_keys(abCompiler* c) {
  int n = c->scene->key.n;
  abKey* key = ab_bag_take(&c->bag, (size_t)n * sizeof *key);
  if (!key) return no_memory(c);
  for (int i = 0; i < n; i++) {
    abStatus status = fill_key(c, i, &key[i]);
    if (status) return status;
  }
  c->model.nkey = n, c->model.key = key;
  return AB_OK;
}

// Half the diagonal of the box around all geoms but planes, around the bodies' frames where there
// are none; in a scene that is a single point, the size of a body of that mass and inertia.
static double scene_extent(const abCompiler* c) {
  abVec3 low = v3(INFINITY, INFINITY, INFINITY), high = v3_neg(low);
  for (int i = 0; i < c->model.ngeom; i++) {
    const abGeom* g = &c->geom[i];
    if (g->shape.type == AB_PLANE) continue;
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

// --- one block
// ----------------------------------------------------------------------------------------

// Where base is NULL, bytes are only counted.
typedef struct Block {
  char* base;
  size_t used;
} Block;

static void* put(Block* block, const void* source, size_t bytes) {
  size_t begin = (block->used + 15) & ~(size_t)15;
  block->used = begin + bytes;
  if (!block->base) return NULL;
  if (source && bytes) memcpy(block->base + begin, source, bytes);
  return block->base + begin;
}

static const char* put_string(Block* block, const char* s) {
  return s ? put(block, s, strlen(s) + 1) : NULL;
}

#define PUT(block, array, n) put((block), (array), (size_t)(n) * sizeof *(array))

// The structs with a name, and those that point to further arrays.
static void pack_named(const abCompiler* c, Block* block, abModel* m) {
  abJoint* joint = PUT(block, c->joint, m->njoint);
  abActuator* actuator = PUT(block, c->model.actuator, m->nactuator);
  abSetting* setting = PUT(block, c->model.setting, m->nsetting);
  abMesh* mesh = PUT(block, c->mesh, m->nmesh);
  abKey* key = PUT(block, c->model.key, m->nkey);
  const char* s;
  for (int i = 0; i < m->njoint; i++)
    if (s = put_string(block, c->joint[i].name), joint) joint[i].name = s;
  for (int i = 0; i < m->nactuator; i++)
    if (s = put_string(block, c->model.actuator[i].name), actuator) actuator[i].name = s;
  for (int i = 0; i < m->nsetting; i++)
    if (s = put_string(block, c->model.setting[i].name), setting) setting[i].name = s;
  for (int i = 0; i < m->nmesh; i++) {
    abMesh a = c->mesh[i];
    a.name = put_string(block, a.name);
    a.file = put_string(block, a.file);
    a.vert = PUT(block, a.vert, a.nvert);
    a.triangle = PUT(block, a.triangle, a.ntriangle);
    if (mesh) mesh[i] = a;
  }
  for (int i = 0; i < m->nkey; i++) {
    abKey a = c->model.key[i];
    a.name = put_string(block, a.name);
    a.q = PUT(block, a.q, m->nq);
    a.v = PUT(block, a.v, m->nv);
    a.ctrl = PUT(block, a.ctrl, m->nactuator);
    if (key) key[i] = a;
  }
  m->joint = joint, m->actuator = actuator, m->setting = setting, m->mesh = mesh, m->key = key;
}

// Bodies and geoms, which share polyhedra.
static void pack_shapes(const abCompiler* c, Block* block, abModel* m) {
  abBody* body = PUT(block, c->body, m->nbody);
  abGeom* geom = PUT(block, c->geom, m->ngeom);
  abShape* hull = PUT(block, c->hull, m->nbody);
  const char* s;
  for (int i = 0; i < m->nbody; i++) {
    s = put_string(block, c->body[i].name);
    if (!body) continue;
    body[i].name = s;
    body[i].hull = c->hull_poly[i] >= 0 ? &hull[i] : NULL;
  }
  for (int i = 0; i < m->ngeom; i++)
    if (s = put_string(block, c->geom[i].name), geom) geom[i].name = s;
  for (int k = 0; k < c->npoly; k++) {
    void* memory = put(block, NULL, ab_polyhedron_bytes(c->poly[k]));
    if (memory) c->place[k] = ab_polyhedron_copy(c->poly[k], memory);
  }
  for (int i = 0; i < m->ngeom && geom; i++)
    if (c->geom_poly[i] >= 0) geom[i].shape.poly = c->place[c->geom_poly[i]];
  for (int i = 0; i < m->nbody && hull; i++)
    if (c->hull_poly[i] >= 0) hull[i].poly = c->place[c->hull_poly[i]];
  m->body = body, m->geom = geom;
}

static abModel* pack(const abCompiler* c, Block* block) {
  abModel m = c->model;
  abModel* out = put(block, NULL, sizeof m);
  m.name = put_string(block, m.name);
  m.file = put_string(block, m.file);
  m.contact = put_string(block, m.contact);
  pack_shapes(c, block, &m);
  pack_named(c, block, &m);
  m.exclude = PUT(block, m.exclude, m.nexclude);
  m.pair_rule = PUT(block, m.pair_rule, m.npair_rule);
  m.mover = PUT(block, m.mover, m.nmover);
  m.q0 = PUT(block, m.q0, m.nq);
  m.dof_joint = PUT(block, m.dof_joint, m.nv);
  m.dof_damping = PUT(block, m.dof_damping, m.nv);
  m.dof_armature = PUT(block, m.dof_armature, m.nv);
  m.bytes = block->used;
  if (out) *out = m;
  return out;
}

// --- all of it
// ----------------------------------------------------------------------------------------

static abStatus prepare(abCompiler* c) {
  const abScene* s = c->scene;
  abModel* m = &c->model;
  m->nbody = s->body.n, m->njoint = s->joint.n, m->ngeom = s->geom.n, m->nmesh = s->mesh.n;
  m->name = s->option.name ? s->option.name : "";
  m->file = s->body.n > 1 && s->body.item[1].source.file ? s->body.item[1].source.file : "";
  m->gravity = s->option.gravity;
  m->timestep = s->option.timestep;
  m->integrator = s->option.integrator;
  m->contact = s->option.contact;
  size_t nb = (size_t)m->nbody, nj = (size_t)m->njoint + 1, ng = (size_t)m->ngeom + 1;
  c->body = ab_bag_take(&c->bag, nb * sizeof *c->body);
  c->joint = ab_bag_take(&c->bag, nj * sizeof *c->joint);
  c->geom = ab_bag_take(&c->bag, ng * sizeof *c->geom);
  c->mesh = ab_bag_take(&c->bag, (size_t)m->nmesh * sizeof *c->mesh);
  c->pose = ab_bag_take(&c->bag, nb * sizeof *c->pose);
  c->hull = ab_bag_take(&c->bag, nb * sizeof *c->hull);
  c->paired = ab_bag_take(&c->bag, ng * sizeof *c->paired);
  int* index = ab_bag_take(&c->bag, (3 * nb + 2 * nj + 3 * ng) * sizeof(int));
  if (!c->body || !c->joint || !c->geom || !c->mesh || !c->pose || !c->hull || !c->paired || !index)
    return no_memory(c);
  c->body_from = index, c->body_to = index + nb, c->hull_poly = index + 2 * nb;
  c->joint_from = index + 3 * nb, c->joint_to = c->joint_from + nj;
  c->geom_from = c->joint_to + nj, c->geom_to = c->geom_from + ng;
  c->geom_poly = c->geom_to + ng;
  return AB_OK;
}

static abStatus check_option(abCompiler* c) {
  const abSceneOption* o = &c->scene->option;
  if (!(o->timestep > 0) || !isfinite(o->timestep))
    return ab_fail(c->error, AB_ERROR_SCENE, NULL, 0, "timestep is %g; it must be above 0",
                   o->timestep);
  if (!v3_finite(o->gravity))
    return ab_fail(c->error, AB_ERROR_SCENE, NULL, 0, "gravity is not a finite number");
  if (!(o->tessellation > 0 && o->tessellation < 1))
    return ab_fail(c->error, AB_ERROR_SCENE, NULL, 0,
                   "tessellation is %g; as a relative volume error it must be between 0 and 1",
                   o->tessellation);
  if (!(o->boundmass >= 0) || !(o->boundinertia >= 0) || isnan(o->settotalmass))
    return ab_fail(c->error, AB_ERROR_SCENE, NULL, 0,
                   "boundmass and boundinertia must not be negative");
  return AB_OK;
}

static abStatus compile(abCompiler* c) {
  abStatus (*const step[])(abCompiler*) = {
      check_option,   prepare,           order,       fill_bodies,       fill_geoms,
      fill_rules,     ab_compile_shapes, fill_movers, ab_compile_masses, ab_compile_hulls,
      fill_actuators, fill_dofs,         fill_q0,     fill_keys};
  for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
    abStatus status = step[i](c);
    if (status) return status;
  }
  c->model.extent = scene_extent(c);
  c->place = ab_bag_take(&c->bag, (size_t)c->npoly * sizeof *c->place);
  return c->place ? AB_OK : no_memory(c);
}

abModel* ab_scene_compile(const abScene* scene, abError* error) {
  abCompiler c = {.scene = scene, .error = error};
  abModel* model = NULL;
  if (!compile(&c)) {
    Block block = {0};
    pack(&c, &block);
    block = (Block){.base = ab_alloc_zero(block.used)};
    if (block.base)
      model = pack(&c, &block);
    else
      no_memory(&c);
  }
  for (int i = 0; i < c.npoly; i++) ab_polyhedron_free(c.poly[i]);
  ab_free(c.poly);
  ab_bag_free(&c.bag);
  return model;
}

void ab_model_free(abModel* model) { ab_free(model); }
