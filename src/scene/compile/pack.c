// The model in one block. One function walks over everything twice: first counting bytes, then
// copying and pointing.
// Tests: test_compile.
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "geometry/polyhedron.h"
#include "scene/compile/compile.h"

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
  abSite* site = PUT(block, c->model.site, m->nsite);
  abTendon* tendon = PUT(block, c->model.tendon, m->ntendon);
  abEquality* equality = PUT(block, c->model.equality, m->nequality);
  const char* s;
  for (int i = 0; i < m->nsite; i++)
    if (s = put_string(block, c->model.site[i].name), site) site[i].name = s;
  for (int i = 0; i < m->ntendon; i++)
    if (s = put_string(block, c->model.tendon[i].name), tendon) tendon[i].name = s;
  for (int i = 0; i < m->nequality; i++)
    if (s = put_string(block, c->model.equality[i].name), equality) equality[i].name = s;
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
  for (int i = 0; i < m->nkey; i++)
    if (s = put_string(block, c->model.key[i].name), key) key[i].name = s;
  m->joint = joint, m->actuator = actuator, m->setting = setting, m->mesh = mesh, m->key = key;
  m->site = site, m->tendon = tendon, m->equality = equality;
}

// Bodies and geoms, which share polyhedra.
static void pack_shapes(const abCompiler* c, Block* block, abModel* m) {
  abBody* body = PUT(block, c->body, m->nbody);
  abGeom* geom = PUT(block, c->geom, m->ngeom);
  abShape* hull = PUT(block, c->hull, m->nhull);
  const char* s;
  for (int i = 0; i < m->nbody; i++)
    if (s = put_string(block, c->body[i].name), body) body[i].name = s;
  for (int i = 0; i < m->ngeom; i++)
    if (s = put_string(block, c->geom[i].name), geom) geom[i].name = s;
  for (int k = 0; k < c->npoly; k++) {
    void* memory = put(block, NULL, ab_polyhedron_bytes(c->poly[k]));
    if (memory) c->place[k] = ab_polyhedron_copy(c->poly[k], memory);
  }
  for (int i = 0; i < m->ngeom && geom; i++)
    if (c->geom_poly[i] >= 0) geom[i].shape.poly = c->place[c->geom_poly[i]];
  for (int i = 0; i < m->nhull && hull; i++) hull[i].poly = c->place[c->hull_poly[i]];
  m->body = body, m->geom = geom, m->hull = hull;
}

static void pack_keys(Block* block, abModel* m) {
  size_t n = (size_t)m->nkey;
  m->key_q = PUT(block, m->key_q, n * (size_t)m->nq);
  m->key_v = PUT(block, m->key_v, n * (size_t)m->nv);
  m->key_ctrl = PUT(block, m->key_ctrl, n * (size_t)m->nactuator);
  m->key_mocap_pos = PUT(block, m->key_mocap_pos, n * (size_t)m->nmocap);
  m->key_mocap_quat = PUT(block, m->key_mocap_quat, n * (size_t)m->nmocap);
}

static abModel* pack(const abCompiler* c, Block* block) {
  abModel m = c->model;
  abModel* out = put(block, NULL, sizeof m);
  m.name = put_string(block, m.name);
  m.file = put_string(block, m.file);
  m.contact = put_string(block, m.contact);
  pack_shapes(c, block, &m);
  pack_named(c, block, &m);
  pack_keys(block, &m);
  m.exclude = PUT(block, m.exclude, m.nexclude);
  m.pair_rule = PUT(block, m.pair_rule, m.npair_rule);
  m.mover = PUT(block, m.mover, m.nmover);
  m.tendon_joint = PUT(block, m.tendon_joint, m.ntendon_joint);
  m.mocap_body = PUT(block, m.mocap_body, m.nmocap);
  m.q0 = PUT(block, m.q0, m.nq);
  m.dof_joint = PUT(block, m.dof_joint, m.nv);
  m.dof_damping = PUT(block, m.dof_damping, m.nv);
  m.dof_armature = PUT(block, m.dof_armature, m.nv);
  m.bytes = block->used;
  if (out) *out = m;
  return out;
}

abModel* ab_compile_pack(abCompiler* c, abModel* over) {
  Block block = {0};
  c->place = ab_bag_take(&c->bag, (size_t)c->npoly * sizeof *c->place);
  if (c->place) pack(c, &block);
  if (over && c->place && block.used != over->bytes) {
    ab_fail(c->error, AB_ERROR_ARGUMENT, c->model.file, 0,
            "the scene has other parts than the model it is to replace (%zu bytes, not %zu); "
            "compile it by itself",
            block.used, over->bytes);
    return NULL;
  }
  char* fresh = c->place && !over ? ab_alloc_zero(block.used) : NULL;
  block = (Block){.base = over ? (char*)over : fresh};
  if (c->place && block.base) return pack(c, &block);
  ab_compile_no_memory(c);
  return NULL;
}
