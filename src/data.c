// abData: making it, resetting it, choosing what it simulates with.
// Tests: test_state, test_step.
#include <abut/abut.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/pool.h"
#include "collide/broad/broadphase.h"
#include "dynamics/free_motion.h"
#include "dynamics/kinematics.h"
#include "dynamics/laws.h"
#include "fits.h"
#include "internal.h"
#include "pairs.h"
#include "sleep.h"

const char* ab_version(void) { return AB_VERSION; }

// All arrays of abData in one block behind the two structs: called once with base NULL to learn the
// size, once to place the pointers.
static size_t place_arrays(const abModel* m, abData* d, struct abInternal* in, char* base) {
  size_t used = 0;
#define PLACE(array, count)                                       \
  do {                                                            \
    used = (used + 63) & ~(size_t)63;                             \
    if (base) array = (void*)(base + used);                       \
    used += sizeof(*array) * (size_t)((count) > 0 ? (count) : 1); \
  } while (0)
  PLACE(d->q, m->nq);
  PLACE(d->v, m->nv);
  PLACE(d->ctrl, m->nactuator);
  PLACE(d->applied, m->nbody);
  PLACE(d->mocap_pos, m->nmocap);
  PLACE(d->mocap_quat, m->nmocap);
  PLACE(d->pose, m->nbody);
  PLACE(d->R, m->nbody);
  PLACE(d->com, m->nbody);
  PLACE(d->twist, m->nbody);
  PLACE(d->geom_pose, m->ngeom);
  PLACE(d->inertia, m->nbody);
  PLACE(in->inv_inertia, m->nbody);
  PLACE(d->v_free, m->nv);
  PLACE(in->twist_free, m->nbody);
  PLACE(in->bias, m->nbody);
  PLACE(d->actuator_force, m->nactuator);
  PLACE(d->equality_force, m->nequality);
  PLACE(d->tendon_force, m->ntendon);
#undef PLACE
  return used;
}

static abStatus create_arena(struct abArena** arena) {
  *arena = ab_alloc_zero(sizeof **arena);
  if (!*arena) return AB_ERROR_MEMORY;
  ab_arena_init(*arena, SIZE_MAX);
  return AB_OK;
}

static void destroy_arena(struct abArena* arena) {
  if (!arena) return;
  ab_arena_free(arena);
  ab_free(arena);
}

abData* ab_data_create(const abModel* model, abError* error) {
  if (!model) {
    ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "there is no model; did loading it fail?");
    return NULL;
  }
  size_t own = (sizeof(abData) + 63) & ~(size_t)63;
  size_t header = (own + sizeof(struct abInternal) + 63) & ~(size_t)63;
  abData none = {0};
  struct abInternal nothing = {0};
  char* block = ab_alloc_zero(header + place_arrays(model, &none, &nothing, NULL));
  abData* d = (abData*)block;
  if (!d) {
    ab_fail(error, AB_ERROR_MEMORY, model->file, 0, "no memory for the state of %d bodies",
            model->nbody);
    return NULL;
  }
  d->internal = (struct abInternal*)(block + own);
  place_arrays(model, d, d->internal, block + header);
  if (create_arena(&d->internal->step_arena) || create_arena(&d->internal->scratch) ||
      ab_memory_create(&d->internal->memory) ||
      ab_broadphase_create(model, &d->internal->broadphase) ||
      ab_trees_create(model, &d->internal->trees) ||
      ab_sleep_create(model, &d->internal->sleeper, &d->asleep)) {
    ab_data_free(d);
    ab_fail(error, AB_ERROR_MEMORY, model->file, 0, "no memory for the state of %d bodies",
            model->nbody);
    return NULL;
  }
  const int shape[5] = {model->nq, model->nv, model->nbody, model->ngeom, model->nactuator};
  memcpy(d->internal->made_for, shape, sizeof shape);
  d->h = model->timestep;
  d->nthread = 1;
  d->sleep = (abSleepRule){.on = false, .rest = 2.5, .speed = 0.01, .drift = 1e-5, .steps = 50};
  if (ab_set_contact(model, d, model->contact, error) != AB_OK ||
      ab_data_reset(model, d, -1) != AB_OK) {
    ab_data_free(d);
    return NULL;
  }
  return d;
}

void ab_data_free(abData* d) {
  if (!d) return;
  ab_pool_free(d->internal->pool);
  ab_sleep_free(d->internal->sleeper);
  ab_trees_free(d->internal->trees);
  ab_broadphase_free(d->internal->broadphase);
  ab_memory_free(d->internal->memory);
  destroy_arena(d->internal->scratch);
  destroy_arena(d->internal->step_arena);
  ab_free(d);
}

void ab_forget_contacts(abData* d) {
  ab_memory_clear(d->internal->memory,
                  d->contact ? d->contact->memory_bytes(d->internal->param) : 0);
  ab_sleep_forget(d->internal->sleeper);
  d->internal->ncandidate = d->internal->npair = d->ncontact = 0;
}

abStatus ab_data_reset(const abModel* model, abData* d, int key) {
  if (!ab_data_fits(model, d) || key >= model->nkey) return AB_ERROR_ARGUMENT;
  size_t k = key < 0 ? 0 : (size_t)key, nq = (size_t)model->nq;
  memcpy(d->q, key < 0 ? model->q0 : model->key_q + k * nq, sizeof(double) * nq);
  memset(d->v, 0, sizeof(double) * (size_t)model->nv);
  memset(d->ctrl, 0, sizeof(double) * (size_t)model->nactuator);
  memset(d->applied, 0, sizeof(abWrench) * (size_t)model->nbody);
  for (int i = 0; i < model->nmocap; i++) {
    abPose pose = model->body[model->mocap_body[i]].pose;
    size_t at = k * (size_t)model->nmocap + (size_t)i;
    d->mocap_pos[i] = key < 0 ? pose.p : model->key_mocap_pos[at];
    d->mocap_quat[i] = key < 0 ? pose.q : model->key_mocap_quat[at];
  }
  d->time = 0;
  if (key >= 0) {
    size_t nv = (size_t)model->nv, nctrl = (size_t)model->nactuator;
    memcpy(d->v, model->key_v + k * nv, sizeof(double) * nv);
    memcpy(d->ctrl, model->key_ctrl + k * nctrl, sizeof(double) * nctrl);
    d->time = model->key[key].time;
  }
  memset(&d->stat, 0, sizeof d->stat);
  d->stat.bad_index = d->stat.bad_body = -1;
  ab_forget_contacts(d);
  ab_forward(model, d);
  return AB_OK;
}

void ab_data_refresh(const abModel* model, abData* d) {
  if (!ab_data_fits(model, d)) return;
  ab_trees_refresh(model, d->internal->trees);
  d->h = model->timestep;
}

void ab_forward(const abModel* model, abData* data) {
  AB_ASSERT(ab_data_fits(model, data));
  if (ab_data_fits(model, data)) ab_kinematics(model, data);
}

// FNV-1a over the bytes, 8 at a time: fast, and the same everywhere for one byte order.
static uint64_t hash_doubles(uint64_t hash, int n, const double* x) {
  for (int i = 0; i < n; i++) {
    uint64_t bits;
    double value = x[i] == 0 ? 0 : x[i];  // -0 and 0 are the same state
    memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  return hash;
}

uint64_t ab_state_hash(const abModel* model, const abData* d) {
  if (!ab_data_fits(model, d)) return 0;
  uint64_t hash = hash_doubles(0xcbf29ce484222325u, 1, &d->time);
  hash = hash_doubles(hash, model->nq, d->q);
  return hash_doubles(hash, model->nv, d->v);
}
