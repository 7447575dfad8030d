// abData: making it, resetting it, choosing what it simulates with.
#include <abut/abut.h>
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"
#include "collide/broad/broadphase.h"
#include "dynamics/free_motion.h"
#include "dynamics/kinematics.h"
#include "dynamics/laws.h"
#include "fits.h"
#include "sleep.h"

// Address space, not memory: pages are filled as a step touches them.
static const size_t STEP_RESERVE = (size_t)16 << 30;
static const size_t SCRATCH_RESERVE = (size_t)16 << 30;
static const size_t TABLE_RESERVE = (size_t)16 << 30;

const char* ab_version(void) { return ABUT_VERSION; }

// All arrays of abData in one block behind the struct: called once with base NULL to learn the
// size, once to place the pointers.
static size_t place_arrays(const abModel* m, abData* d, char* base) {
  size_t used = 0;
#define PLACE(field, count)                                          \
  do {                                                               \
    used = (used + 63) & ~(size_t)63;                                \
    if (base) d->field = (void*)(base + used);                       \
    used += sizeof(*d->field) * (size_t)((count) > 0 ? (count) : 1); \
  } while (0)
  PLACE(q, m->nq);
  PLACE(v, m->nv);
  PLACE(ctrl, m->nactuator);
  PLACE(applied, m->nbody);
  PLACE(mocap_pos, m->nmocap);
  PLACE(mocap_quat, m->nmocap);
  PLACE(pose, m->nbody);
  PLACE(R, m->nbody);
  PLACE(com, m->nbody);
  PLACE(twist, m->nbody);
  PLACE(geom_pose, m->ngeom);
  PLACE(inertia, m->nbody);
  PLACE(inv_inertia, m->nbody);
  PLACE(v_free, m->nv);
  PLACE(twist_free, m->nbody);
  PLACE(bias, m->nbody);
  PLACE(actuator_force, m->nactuator);
  PLACE(equality_force, m->nequality);
  PLACE(tendon_force, m->ntendon);
#undef PLACE
  return used;
}

static size_t room(const abModel* model, size_t most) {
  return ab_arena_room(model->bytes, model->ngeom, most);
}

static abStatus create_arena(const abModel* model, struct abArena** arena, size_t most) {
  *arena = ab_alloc_zero(sizeof **arena);
  if (!*arena) return AB_ERROR_MEMORY;
  return ab_arena_init(*arena, room(model, most));
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
  size_t header = (sizeof(abData) + 63) & ~(size_t)63;
  char* block = ab_alloc_zero(header + place_arrays(model, (abData*)&(abData){0}, NULL));
  abData* d = (abData*)block;
  if (!d) {
    ab_fail(error, AB_ERROR_MEMORY, model->file, 0, "no memory for the state of %d bodies",
            model->nbody);
    return NULL;
  }
  place_arrays(model, d, block + header);
  if (create_arena(model, &d->step_arena, STEP_RESERVE) ||
      create_arena(model, &d->scratch, SCRATCH_RESERVE) ||
      ab_memory_create(room(model, TABLE_RESERVE), &d->memory) ||
      ab_broadphase_create(model, &d->broadphase) || ab_trees_create(model, &d->trees) ||
      ab_sleep_create(model, &d->sleeper, &d->asleep)) {
    ab_data_free(d);
    ab_fail(error, AB_ERROR_MEMORY, model->file, 0, "no memory for the state of %d bodies",
            model->nbody);
    return NULL;
  }
  const int shape[5] = {model->nq, model->nv, model->nbody, model->ngeom, model->nactuator};
  memcpy(d->made_for, shape, sizeof shape);
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
  ab_pool_free(d->pool);
  ab_sleep_free(d->sleeper);
  ab_trees_free(d->trees);
  ab_broadphase_free(d->broadphase);
  ab_memory_free(d->memory);
  destroy_arena(d->scratch);
  destroy_arena(d->step_arena);
  ab_free(d);
}

static void forget_contacts(abData* d) {
  ab_memory_clear(d->memory, d->contact ? d->contact->memory_bytes(d->param) : 0);
  ab_sleep_forget(d->sleeper);
  d->ncandidate = d->npair = d->ncontact = 0;
}

abStatus ab_data_reset(const abModel* model, abData* d, int key) {
  if (!ab_data_fits(model, d) || key >= model->nkey) return AB_ERROR_ARGUMENT;
  memcpy(d->q, key < 0 ? model->q0 : model->key[key].q, sizeof(double) * (size_t)model->nq);
  memset(d->v, 0, sizeof(double) * (size_t)model->nv);
  memset(d->ctrl, 0, sizeof(double) * (size_t)model->nactuator);
  memset(d->applied, 0, sizeof(abWrench) * (size_t)model->nbody);
  for (int i = 0; i < model->nmocap; i++) {
    abPose pose = model->body[model->mocap_body[i]].pose;
    d->mocap_pos[i] = key < 0 ? pose.p : model->key[key].mocap_pos[i];
    d->mocap_quat[i] = key < 0 ? pose.q : model->key[key].mocap_quat[i];
  }
  d->time = 0;
  if (key >= 0) {
    memcpy(d->v, model->key[key].v, sizeof(double) * (size_t)model->nv);
    memcpy(d->ctrl, model->key[key].ctrl, sizeof(double) * (size_t)model->nactuator);
    d->time = model->key[key].time;
  }
  memset(&d->stat, 0, sizeof d->stat);
  d->stat.bad_body = -1;
  forget_contacts(d);
  ab_forward(model, d);
  return AB_OK;
}

void ab_data_refresh(const abModel* model, abData* d) {
  ab_trees_refresh(model, d->trees);
  d->h = model->timestep;
}

void ab_forward(const abModel* model, abData* data) {
  assert(ab_data_fits(model, data));
  if (ab_data_fits(model, data)) ab_kinematics(model, data);
}

static int find_param(const abContactModel* contact, const char* name) {
  for (int i = 0; i < contact->nparam; i++)
    if (strcmp(contact->param[i].name, name) == 0) return i;
  return -1;
}

// Parameters that `patch` once had, and what has become of them.
static const char* gone(const char* name) {
  if (strcmp(name, "slop") == 0) return " any more: bodies rest at depth zero";
  if (strcmp(name, "sweeps") == 0 || strcmp(name, "sweep_tolerance") == 0)
    return " any more: every island is solved directly (see direct_limit)";
  return "; 'abut models' lists them";
}

// Names what the contact model cannot do.
static abStatus refuse_laws(const abModel* m, const abContactModel* contact, abError* error) {
  const char *what = "actuator", *name = "";
  int line = 0;
  for (int i = m->nactuator - 1; i >= 0; i--)
    if (m->actuator[i].drive != AB_DRIVE_JOINT) name = m->actuator[i].name;
  for (int i = m->ntendon - 1; i >= 0; i--)
    if (ab_tendon_acts(&m->tendon[i])) what = "tendon", name = m->tendon[i].name;
  for (int i = m->nequality - 1; i >= 0; i--)
    if (m->equality[i].active)
      what = "equality", name = m->equality[i].name, line = m->equality[i].line;
  return ab_fail(error, AB_ERROR_UNSUPPORTED, m->file, line,
                 "%s '%s': the contact model %s has no laws that join bodies or joints; choose "
                 "patch, or none for a scene without contact",
                 what, name, contact->name);
}

abStatus ab_set_contact(const abModel* model, abData* d, const char* name, abError* error) {
  const abContactModel* contact = NULL;
  if (!ab_data_fits(model, d))
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "this is the simulation of another model");
  if (!name) {
    contact = ab_contact_model(0);
  } else if (strcmp(name, "none") != 0) {
    contact = ab_find_contact_model(name);
    if (!contact)
      return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                     "there is no contact model '%s'; 'abut models' lists them", name);
  }
  if (contact && contact->moves_bodies) {
    for (int i = 0; i < model->nmover; i++)
      if (model->mover[i].jointed)
        return ab_fail(
            error, AB_ERROR_UNSUPPORTED, model->file, 0,
            "the contact model %s moves free bodies only, but body '%s' has joints; choose "
            "another model ('abut models' lists them)",
            contact->name, model->body[model->mover[i].body0].name);
  }
  if (contact && !contact->takes_rows && ab_laws_rows(model))
    return refuse_laws(model, contact, error);
  d->contact = contact;
  if (contact) {
    for (int i = 0; i < contact->nparam; i++) d->param[i] = contact->param[i].value;
    // The scene's settings belong to the model it names; another model takes those it knows.
    bool own = !model->contact || strcmp(model->contact, contact->name) == 0;
    for (int i = 0; i < model->nsetting; i++) {
      if (strcmp(model->setting[i].name, "literal_torsion") == 0)
        continue;  // read by collide/surface.c
      int k = find_param(contact, model->setting[i].name);
      if (k >= 0)
        d->param[k] = model->setting[i].value;
      else if (own)
        return ab_fail(error, AB_ERROR_SCENE, model->file, 0,
                       "the scene sets abut.%s, but the contact model %s has no such parameter%s",
                       model->setting[i].name, contact->name, gone(model->setting[i].name));
    }
  }
  forget_contacts(d);
  return AB_OK;
}

abStatus ab_set_param(abData* d, const char* name, double value, abError* error) {
  if (!d || !name || !isfinite(value))
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a parameter needs a simulation, a name and a finite value");
  int k = d->contact ? find_param(d->contact, name) : -1;
  if (k < 0)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "the contact model %s has no parameter '%s'%s",
                   d->contact ? d->contact->name : "none", name, gone(name));
  d->param[k] = value;
  forget_contacts(d);
  return AB_OK;
}

abStatus ab_set_threads(abData* d, int nthread, abError* error) {
  if (!d) return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "there is no simulation");
  if (nthread < 1 || nthread > 1024)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "%d threads: use 1 to 1024", nthread);
  ab_pool_free(d->pool);
  d->pool = NULL;
  d->nthread = 1;
  if (nthread > 1 && ab_pool_create(nthread, &d->pool) != AB_OK)
    return ab_fail(error, AB_ERROR_MEMORY, NULL, 0, "cannot start %d threads", nthread);
  d->nthread = nthread;
  return AB_OK;
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
  assert(ab_data_fits(model, d));
  if (!ab_data_fits(model, d)) return 0;
  uint64_t hash = hash_doubles(0xcbf29ce484222325u, 1, &d->time);
  hash = hash_doubles(hash, model->nq, d->q);
  return hash_doubles(hash, model->nv, d->v);
}
