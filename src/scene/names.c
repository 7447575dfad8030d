// Names: a hash table of strings for scenes, searches in compiled models.
// Tests: test_builder.
#include <string.h>

#include "base/alloc.h"
#include "scene/scene.h"

// FNV-1a, 64 bits.
static uint64_t hash(const char* s) {
  uint64_t h = 0xcbf29ce484222325u;
  for (; *s; s++) h = (h ^ (unsigned char)*s) * 0x100000001b3u;
  return h;
}

// The slot that holds the name, or the empty one where it belongs. Capacities are powers of two.
static int slot_of(const abNameTable* t, const char* name) {
  int mask = t->capacity - 1, i = (int)(hash(name) & (uint64_t)mask);
  while (t->key[i] && strcmp(t->key[i], name) != 0) i = (i + 1) & mask;
  return i;
}

int ab_names_find(const abNameTable* t, const char* name) {
  if (!t->capacity || !name) return -1;
  int i = slot_of(t, name);
  return t->key[i] ? t->value[i] : -1;
}

static bool grow(abNameTable* t) {
  int capacity = t->capacity ? 2 * t->capacity : 16;
  abNameTable bigger = {.capacity = capacity};
  bigger.key = ab_alloc_zero((size_t)capacity * sizeof *bigger.key);
  bigger.value = ab_alloc_zero((size_t)capacity * sizeof *bigger.value);
  if (!bigger.key || !bigger.value) {
    ab_names_free(&bigger);
    return false;
  }
  for (int i = 0; i < t->capacity; i++)
    if (t->key[i]) {
      int k = slot_of(&bigger, t->key[i]);
      bigger.key[k] = t->key[i];
      bigger.value[k] = t->value[i];
    }
  bigger.n = t->n;
  ab_names_free(t);
  *t = bigger;
  return true;
}

bool ab_names_add(abNameTable* t, const char* name, int value) {
  if (2 * (t->n + 1) > t->capacity && !grow(t)) return false;
  int i = slot_of(t, name);
  t->key[i] = name;
  t->value[i] = value;
  t->n++;
  return true;
}

void ab_names_free(abNameTable* t) {
  ab_free(t->key);
  ab_free(t->value);
  *t = (abNameTable){0};
}

// Each struct of a model that has a name begins with it.
static int find(const void* array, int n, size_t stride, const char* name) {
  const char* at = array;
  for (int i = 0; name && i < n; i++, at += stride)
    if (strcmp(*(const char* const*)(const void*)at, name) == 0) return i;
  return -1;
}

int ab_find_body(const abModel* m, const char* name) {
  return m ? find(m->body, m->nbody, sizeof *m->body, name) : -1;
}
int ab_find_joint(const abModel* m, const char* name) {
  return m ? find(m->joint, m->njoint, sizeof *m->joint, name) : -1;
}
int ab_find_geom(const abModel* m, const char* name) {
  return m ? find(m->geom, m->ngeom, sizeof *m->geom, name) : -1;
}
int ab_find_actuator(const abModel* m, const char* name) {
  return m ? find(m->actuator, m->nactuator, sizeof *m->actuator, name) : -1;
}
int ab_find_site(const abModel* m, const char* name) {
  return m ? find(m->site, m->nsite, sizeof *m->site, name) : -1;
}
int ab_find_tendon(const abModel* m, const char* name) {
  return m ? find(m->tendon, m->ntendon, sizeof *m->tendon, name) : -1;
}
int ab_find_equality(const abModel* m, const char* name) {
  return m ? find(m->equality, m->nequality, sizeof *m->equality, name) : -1;
}
int ab_find_key(const abModel* m, const char* name) {
  return m ? find(m->key, m->nkey, sizeof *m->key, name) : -1;
}

int ab_scene_find_body(const abScene* s, const char* name) {
  return s ? ab_names_find(&s->body_name, name) : -1;
}
int ab_scene_find_joint(const abScene* s, const char* name) {
  return s ? ab_names_find(&s->joint_name, name) : -1;
}
int ab_scene_find_geom(const abScene* s, const char* name) {
  return s ? ab_names_find(&s->geom_name, name) : -1;
}
int ab_scene_find_mesh(const abScene* s, const char* name) {
  return s ? ab_names_find(&s->mesh_name, name) : -1;
}
int ab_scene_find_site(const abScene* s, const char* name) {
  return s ? ab_names_find(&s->site_name, name) : -1;
}
int ab_scene_find_tendon(const abScene* s, const char* name) {
  return s ? ab_names_find(&s->tendon_name, name) : -1;
}
