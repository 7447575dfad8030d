// The way back from JSON to a model, as far as a recording needs it: everything is checked, since a
// recording is a file like any other.
// Tests: test_record, test_recordings.py.
#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/json_read.h"
#include "io/model_json.h"

// All memory of a recorded model in one list of blocks, so that freeing needs no knowledge.
typedef struct Recorded {
  abModel model;  // first: the caller holds a pointer to it
  json_t* json;   // keeps the names alive
  void** block;
  int nblock;
  bool failed;
} Recorded;

static void* take(Recorded* r, int n, size_t bytes) {
  void** block = ab_realloc(r->block, sizeof(void*) * (size_t)(r->nblock + 1));
  if (block) r->block = block;
  void* p = block && n >= 0 ? ab_alloc_zero((size_t)n * bytes) : NULL;
  if (p)
    r->block[r->nblock++] = p;
  else
    r->failed = true;
  return p;
}

static double number(const json_t* j, const char* key) {
  return json_number_value(json_object_get(j, key));
}
// A number that is no int is nobody's index.
static int integer(const json_t* j, const char* key) {
  json_int_t i = json_integer_value(json_object_get(j, key));
  return i >= INT32_MIN && i <= INT32_MAX ? (int)i : INT32_MIN;
}
static const char* text(const json_t* j, const char* key) {
  const char* s = json_string_value(json_object_get(j, key));
  return s ? s : "";
}
static void numbers(const json_t* j, const char* key, int n, double* out) {
  const json_t* a = json_object_get(j, key);
  for (int i = 0; i < n; i++) out[i] = json_number_value(json_array_get(a, (size_t)i));
}
static abVec3 vec(const json_t* j, const char* key) {
  double x[3];
  numbers(j, key, 3, x);
  return (abVec3){x[0], x[1], x[2]};
}
static abPose pose(const json_t* j) {
  double q[4];
  numbers(j, "quat", 4, q);
  return (abPose){vec(j, "pos"), {q[0], q[1], q[2], q[3]}};
}

static int type_of(const char* name, int n, const char* (*name_of)(int)) {
  for (int i = 0; i < n; i++)
    if (!strcmp(name, name_of(i))) return i;
  return 0;
}
static const char* shape_name(int i) { return ab_shape_type_name((abShapeType)i); }
static const char* joint_name(int i) { return ab_joint_type_name((abJointType)i); }

static void read_body(const json_t* j, abBody* b) {
  double q[4];
  b->name = text(j, "name");
  b->parent = integer(j, "parent");
  b->weld = integer(j, "weld");
  b->mover = integer(j, "mover");
  b->hull = -1;
  b->joint0 = integer(j, "joint0");
  b->njoint = integer(j, "njoint");
  b->geom0 = integer(j, "geom0");
  b->ngeom = integer(j, "ngeom");
  b->pose = pose(j);
  b->mass = number(j, "mass");
  b->com = vec(j, "com");
  b->inertia = vec(j, "inertia");
  numbers(j, "inertia_quat", 4, q);
  b->inertia_q = (abQuat){q[0], q[1], q[2], q[3]};
  b->gravity = json_is_true(json_object_get(j, "gravity"));
  const json_t* mocap = json_object_get(j, "mocap");
  b->mocap = mocap ? (int)json_integer_value(mocap) : -1;
}

static void read_joint(const json_t* j, abJoint* a) {
  a->name = text(j, "name");
  a->type = (abJointType)type_of(text(j, "type"), 4, joint_name);
  a->body = integer(j, "body");
  a->q0 = integer(j, "q0");
  a->v0 = integer(j, "v0");
  a->pos = vec(j, "pos");
  a->axis = vec(j, "axis");
  a->limited = json_is_true(json_object_get(j, "limited"));
  numbers(j, "range", 2, a->range);
  a->stiffness = number(j, "stiffness");
  a->damping = number(j, "damping");
  a->armature = number(j, "armature");
  a->ref = number(j, "ref");
  a->springref = number(j, "springref");
}

static void read_geom(const json_t* j, abGeom* g) {
  double rgba[4];
  g->name = text(j, "name");
  g->body = integer(j, "body");
  g->shape.type = (abShapeType)type_of(text(j, "type"), 7, shape_name);
  g->shape.size = vec(j, "size");
  g->pose = pose(j);
  g->mass = number(j, "mass");
  numbers(j, "friction", 3, g->friction);
  g->mu_static = number(j, "mu_static");
  g->e_r = json_is_number(json_object_get(j, "e_r")) ? number(j, "e_r") : -1;
  g->contype = integer(j, "contype");
  g->conaffinity = integer(j, "conaffinity");
  g->condim = integer(j, "condim");
  g->group = integer(j, "group");
  numbers(j, "rgba", 4, rgba);
  for (int k = 0; k < 4; k++) g->rgba[k] = (float)(rgba[k] > 0 ? rgba[k] < 1 ? rgba[k] : 1 : 0);
  g->mesh = json_is_integer(json_object_get(j, "mesh")) ? integer(j, "mesh") : -1;
}

static void read_mesh(Recorded* r, const json_t* j, abMesh* m) {
  const json_t* vert = json_object_get(j, "vert");
  const json_t* triangle = json_object_get(j, "triangle");
  m->name = text(j, "name");
  m->file = text(j, "file");
  m->nvert = (int)(json_array_size(vert) / 3);
  m->ntriangle = m->nvert > 0 ? (int)(json_array_size(triangle) / 3) : 0;
  abVec3* v = take(r, m->nvert, sizeof *v);
  int(*t)[3] = take(r, m->ntriangle, sizeof *t);
  if (!v || !t) return;
  numbers(j, "vert", 3 * m->nvert, m->nvert ? &v[0].x : NULL);
  for (int i = 0; i < 3 * m->ntriangle; i++) {
    int k = (int)json_integer_value(json_array_get(triangle, (size_t)i));
    t[i / 3][i % 3] = k >= 0 && k < m->nvert ? k : 0;
  }
  m->vert = v;
  m->triangle = (const int(*)[3])t;
}

static void read_parts(Recorded* r) {
  abModel* m = &r->model;
  const json_t* part[4] = {json_object_get(r->json, "bodies"), json_object_get(r->json, "joints"),
                           json_object_get(r->json, "geoms"), json_object_get(r->json, "meshes")};
  m->nbody = (int)json_array_size(part[0]);
  m->njoint = (int)json_array_size(part[1]);
  m->ngeom = (int)json_array_size(part[2]);
  m->nmesh = (int)json_array_size(part[3]);
  abBody* body = take(r, m->nbody, sizeof *body);
  abJoint* joint = take(r, m->njoint, sizeof *joint);
  abGeom* geom = take(r, m->ngeom, sizeof *geom);
  abMesh* mesh = take(r, m->nmesh, sizeof *mesh);
  if (r->failed) return;
  for (int i = 0; i < m->nbody; i++) read_body(json_array_get(part[0], (size_t)i), &body[i]);
  for (int i = 0; i < m->njoint; i++) read_joint(json_array_get(part[1], (size_t)i), &joint[i]);
  for (int i = 0; i < m->ngeom; i++) read_geom(json_array_get(part[2], (size_t)i), &geom[i]);
  for (int i = 0; i < m->nmesh; i++) read_mesh(r, json_array_get(part[3], (size_t)i), &mesh[i]);
  m->body = body;
  m->joint = joint;
  m->geom = geom;
  m->mesh = mesh;
}

static bool inside(int i, int n) { return i >= 0 && i < n; }
static bool range_inside(int first, int count, int n) {
  return first >= 0 && count >= 0 && first <= n && count <= n - first;
}

static bool good_body(const abModel* m, int i) {
  const abBody* b = &m->body[i];
  // Only the world is its own parent, and what is fixed to it does not move.
  return inside(b->parent, i > 0 ? i : 1) && inside(b->weld, i + 1) && b->mover >= -1 &&
         b->mover < m->nbody && (i > 0 || b->mover == -1) &&
         range_inside(b->geom0, b->ngeom, m->ngeom) &&
         range_inside(b->joint0, b->njoint, m->njoint);
}

// Joints take their coordinates one after the other.
static bool good_joint(const abModel* m, int i, int64_t* q, int64_t* v) {
  static const int nq[] = {7, 4, 1, 1}, nv[] = {6, 3, 1, 1};
  const abJoint* a = &m->joint[i];
  bool good = inside(a->body, m->nbody) && a->q0 == *q && a->v0 == *v;
  *q += nq[a->type], *v += nv[a->type];
  return good;
}

static bool good_geom(const abModel* m, int i) {
  const abGeom* g = &m->geom[i];
  return inside(g->body, m->nbody) && g->mesh < m->nmesh &&
         (g->shape.type == AB_SHAPE_MESH ? g->mesh >= 0 : g->mesh >= -1);
}

// Every index of the model points at something.
static bool consistent(const abModel* m) {
  bool good = m->nbody > 0;
  int64_t q = 0, v = 0;
  for (int i = 0; i < m->nbody && good; i++) good = good_body(m, i);
  for (int i = 0; i < m->njoint && good; i++) good = good_joint(m, i, &q, &v);
  for (int i = 0; i < m->ngeom && good; i++) good = good_geom(m, i);
  return good && q == m->nq && v == m->nv;
}

abModel* ab_model_from_json(const char* json, const char* path, abError* error) {
  const char* why;
  size_t at;
  Recorded* r = ab_alloc_zero(sizeof *r);
  if (!r) {
    ab_fail(error, AB_ERROR_MEMORY, path, 0, "no memory for the recorded model");
    return NULL;
  }
  r->json = ab_json_read(json, &why, &at);
  if (!r->json) {
    ab_fail(error, AB_ERROR_PARSE, path, 0, "the recorded model is damaged: %s (byte %zu of it)",
            why, at);
    ab_recorded_model_free(&r->model);
    return NULL;
  }
  abModel* m = &r->model;
  m->name = text(r->json, "name");
  m->file = text(r->json, "file");
  m->gravity = vec(r->json, "gravity");
  m->timestep = number(r->json, "timestep");
  m->integrator =
      strcmp(text(r->json, "integrator"), "RK4") ? AB_INTEGRATOR_EULER : AB_INTEGRATOR_RK4;
  m->nq = integer(r->json, "nq");
  m->nv = integer(r->json, "nv");
  m->total_mass = number(r->json, "total_mass");
  m->extent = number(r->json, "extent");
  read_parts(r);
  if (!r->failed && consistent(m)) return m;
  ab_fail(error, r->failed ? AB_ERROR_MEMORY : AB_ERROR_PARSE, path, 0,
          r->failed ? "no memory for the recorded model"
                    : "the recorded model is damaged: an index points at nothing");
  ab_recorded_model_free(m);
  return NULL;
}

void ab_recorded_model_free(abModel* model) {
  if (!model) return;
  Recorded* r = (Recorded*)model;
  for (int i = 0; i < r->nblock; i++) ab_free(r->block[i]);
  ab_free(r->block);
  json_decref(r->json);
  ab_free(r);
}
