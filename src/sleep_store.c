// What is kept of the pairs of sleeping islands: what the contact model remembers of each, with the
// trace of its patch, and its contact as it was last reported.
//
// Pairs are sorted by key, as everywhere. The store is made anew, in the other of two arenas, when
// pairs come or go: contacts handed out by the last step stay readable meanwhile.
// Tests: test_sleep, test_awake.
#include "sleep_store.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "collide/collide.h"
#include "internal.h"
#include "pairs.h"
#include "state.h"

typedef struct Kept {
  int body;     // one that stands for its island
  int contact;  // -1: it is none
  uint64_t key;
  abTrace trace;
} Kept;

typedef struct Table {
  abArena arena;
  int npair, ncontact;
  Kept* pair;
  size_t nbyte;        // that the model remembers of a pair
  char* bytes;         // of each of them
  abContact* contact;  // in the same order
  double depth;        // of the deepest
} Table;

struct abSleepStore {
  Table table[2];
  int now;
};

abStatus ab_sleep_store_create(abSleepStore** out) {
  abSleepStore* store = *out = ab_alloc_zero(sizeof *store);
  if (!store) return AB_ERROR_MEMORY;
  for (int i = 0; i < 2; i++) ab_arena_init(&store->table[i].arena, SIZE_MAX);
  return AB_OK;
}

void ab_sleep_store_free(abSleepStore* store) {
  if (!store) return;
  for (int i = 0; i < 2; i++) ab_arena_free(&store->table[i].arena);
  ab_free(store);
}

void ab_sleep_store_clear(abSleepStore* store) {
  for (int i = 0; i < 2; i++) store->table[i].npair = store->table[i].ncontact = 0;
}

static uint64_t contact_key(const abContact* c) { return ab_pair_key(c->geom1, c->geom2); }

static bool copy_contact(abArena* arena, const abContact* from, abContact* to) {
  *to = *from;
  size_t n = (size_t)from->nvert;
  abVec3* polygon = AB_TAKE(arena, abVec3, n);
  double* pressure = AB_TAKE(arena, double, n);
  if (!polygon || !pressure) return false;
  if (from->polygon) to->polygon = memcpy(polygon, from->polygon, sizeof *polygon * n);
  if (from->pressure) to->pressure = memcpy(pressure, from->pressure, sizeof *pressure * n);
  return true;
}

// Room for n pairs in the other table.
static Table* begin(abSleepStore* store, const abData* data, int n) {
  Table* t = &store->table[1 - store->now];
  ab_arena_release(&t->arena, 0);
  t->npair = t->ncontact = 0;
  t->depth = 0;
  t->nbyte = data->contact ? data->contact->memory_bytes(data->internal->param) : 0;
  t->pair = AB_TAKE(&t->arena, Kept, n);
  t->bytes = ab_arena_take(&t->arena, t->nbyte * (size_t)n);
  t->contact = AB_TAKE(&t->arena, abContact, n);
  return t->pair && t->bytes && t->contact ? t : NULL;
}

static bool append(Table* t, Kept pair, const void* memory, const abContact* contact) {
  memcpy(t->bytes + (size_t)t->npair * t->nbyte, memory, t->nbyte);
  pair.contact = contact ? t->ncontact : -1;
  t->pair[t->npair++] = pair;
  if (!contact) return true;
  t->depth = fmax(t->depth, contact->depth);
  return copy_contact(&t->arena, contact, &t->contact[t->ncontact++]);
}

static bool append_old(Table* t, const Table* old, int i) {
  const Kept* e = &old->pair[i];
  const abContact* contact = e->contact < 0 ? NULL : &old->contact[e->contact];
  return append(t, *e, old->bytes + (size_t)i * old->nbyte, contact);
}

// *contact: where to look for the pair's.
static bool append_new(Table* t, const abData* data, abSleepPair new, int* contact) {
  const abPair* p = &data->internal->pair[new.pair];
  const abTrace* trace = ab_memory_find(data->internal->memory, p->key);
  while (*contact < data->ncontact && contact_key(&data->contacts[*contact]) < p->key) ++*contact;
  bool touches = *contact < data->ncontact && contact_key(&data->contacts[*contact]) == p->key;
  Kept pair = {.body = new.body, .key = p->key, .trace = *trace};
  return append(t, pair, p->memory, touches ? &data->contacts[*contact] : NULL);
}

abStatus ab_sleep_store_add(abSleepStore* store, abData* data, int n, const abSleepPair* new) {
  const Table* old = &store->table[store->now];
  Table* t = begin(store, data, old->npair + n);
  bool room = t != NULL;
  int contact = 0;
  for (int i = 0, k = 0; room && (i < old->npair || k < n);) {
    bool first =
        k < n && (i == old->npair || data->internal->pair[new[k].pair].key < old->pair[i].key);
    room = first ? append_new(t, data, new[k++], &contact) : append_old(t, old, i++);
  }
  store->now = 1 - store->now;
  return room ? AB_OK : AB_ERROR_MEMORY;
}

// --- waking

// The table of the last step, in which those that have just fallen asleep may still be, made anew
// with the n entries `wakes` of the store.
static abStatus give_back(const Table* t, int n, const int* wakes, abData* data) {
  abMemory* memory = data->internal->memory;
  int nlast = memory->table[memory->last].n, nkey = 0;
  const uint64_t* last = memory->table[memory->last].key;
  uint64_t* key = AB_TAKE(data->internal->scratch, uint64_t, nlast + n);
  int* from = AB_TAKE(data->internal->scratch, int, nlast + n);  // entry of the store, -1: none
  if (!key || !from) return AB_ERROR_MEMORY;
  for (int i = 0, k = 0; i < nlast || k < n; nkey++) {
    uint64_t a = i < nlast ? last[i] : UINT64_MAX;
    uint64_t b = k < n ? t->pair[wakes[k]].key : UINT64_MAX;
    key[nkey] = a < b ? a : b;
    from[nkey] = b <= a ? wakes[k] : -1;
    i += a <= b;
    k += b <= a;
  }
  if (!ab_memory_begin(memory, nkey, key)) return AB_ERROR_MEMORY;
  for (int i = 0; i < nkey; i++) {
    if (from[i] < 0) continue;
    *ab_memory_next(memory, i) = t->pair[from[i]].trace;
    memcpy(ab_memory_bytes(memory, i), t->bytes + (size_t)from[i] * t->nbyte, t->nbyte);
  }
  ab_memory_commit(memory);
  return AB_OK;
}

abStatus ab_sleep_store_wake(abSleepStore* store, const bool* asleep, abData* data) {
  const Table* old = &store->table[store->now];
  if (old->npair == 0) return AB_OK;
  int *wakes = AB_TAKE(data->internal->scratch, int, old->npair), n = 0;
  Table* t = begin(store, data, old->npair);
  bool room = t && wakes;
  for (int i = 0; room && i < old->npair; i++) {
    if (asleep[old->pair[i].body])
      room = append_old(t, old, i);
    else
      wakes[n++] = i;
  }
  store->now = 1 - store->now;
  return room ? give_back(old, n, wakes, data) : AB_ERROR_MEMORY;
}

// --- telling

abStatus ab_sleep_store_contacts(const abSleepStore* store, abData* data) {
  const Table* t = &store->table[store->now];
  if (t->ncontact == 0) return AB_OK;
  int nlive = data->ncontact, n = nlive + t->ncontact;
  abContact* all = nlive > 0 ? AB_TAKE(data->internal->step_arena, abContact, n) : t->contact;
  if (!all) return AB_ERROR_MEMORY;
  const abContact *a = data->contacts, *b = t->contact;
  for (int i = 0, na = 0, nb = 0; i < n && nlive > 0; i++) {
    bool live = nb == t->ncontact || (na < nlive && contact_key(&a[na]) < contact_key(&b[nb]));
    all[i] = live ? a[na++] : b[nb++];
  }
  data->contacts = all;
  data->stat.ncontact = data->ncontact = n;
  data->stat.max_penetration = fmax(data->stat.max_penetration, t->depth);
  return AB_OK;
}

// --- as part of a saved state

// Where things are in memory is nobody's business: in the block, pointers say only whether there is
// something.
static void write_contact(const abContact* c, abWalk* walk) {
  abContact plain = *c;
  plain.polygon = c->polygon ? (const abVec3*)1 : NULL;
  plain.pressure = c->pressure ? (const double*)1 : NULL;
  ab_walk(walk, &plain, sizeof plain);
}

static bool indices_fit(const abModel* m, const abContact* c) {
  return c->nvert >= 0 && c->body1 >= 0 && c->body1 < m->nbody && c->body2 >= 0 &&
         c->body2 < m->nbody && c->body1 != c->body2 && c->geom1 >= 0 && c->geom1 < m->ngeom &&
         c->geom2 >= 0 && c->geom2 < m->ngeom;
}

static void walk_contact(const abModel* model, Table* t, int i, abWalk* walk) {
  abContact* c = &t->contact[i];
  if (walk->kind == AB_WALK_READ) {
    ab_walk(walk, c, sizeof *c);
    // before anything is taken for it
    walk->good = walk->good && indices_fit(model, c) &&
                 (size_t)c->nvert <= (walk->room - walk->used) / sizeof(double);
    if (!walk->good) return;
    if (c->polygon) c->polygon = AB_TAKE(&t->arena, abVec3, c->nvert);
    if (c->pressure) c->pressure = AB_TAKE(&t->arena, double, c->nvert);
  } else {
    write_contact(c, walk);
  }
  if (c->polygon) ab_walk(walk, (void*)c->polygon, sizeof(abVec3) * (size_t)c->nvert);
  if (c->pressure) ab_walk(walk, (void*)c->pressure, sizeof(double) * (size_t)c->nvert);
}

static bool pairs_fit(const abModel* m, const abData* data, const Table* t) {
  bool patches = data->contact && data->contact->geometry != AB_GEOMETRY_PAIR;
  for (int i = 0; i < t->npair; i++) {
    const Kept* p = &t->pair[i];
    if (p->body < 0 || p->body >= m->nbody || p->contact < -1 || p->contact >= t->ncontact ||
        !ab_pair_key_fits(p->key, m->ngeom) || (i > 0 && p[-1].key >= p->key) ||
        !ab_trace_fits(&p->trace, patches))
      return false;
  }
  return true;
}

void ab_sleep_store_walk(const abModel* model, struct abSleepStore* store, const abData* data,
                         abWalk* walk) {
  Table* t = &store->table[store->now];
  int npair = t->npair, ncontact = t->ncontact;
  double depth = t->depth;
  ab_walk(walk, &npair, sizeof npair);
  ab_walk(walk, &ncontact, sizeof ncontact);
  ab_walk(walk, &depth, sizeof depth);
  if (walk->kind == AB_WALK_READ) {
    bool possible = walk->good && npair >= 0 && ncontact >= 0 && ncontact <= npair &&
                    (size_t)npair <= (walk->room - walk->used) / sizeof *t->pair;
    t = possible ? begin(store, data, npair) : NULL;
    if (!t) {
      walk->good = false;
      return;
    }
    store->now = 1 - store->now;
    t->npair = npair, t->ncontact = ncontact, t->depth = depth;
  }
  ab_walk(walk, t->pair, sizeof *t->pair * (size_t)npair);
  ab_walk(walk, t->bytes, t->nbyte * (size_t)npair);
  if (walk->kind == AB_WALK_READ && walk->good) walk->good = pairs_fit(model, data, t);
  for (int i = 0; i < ncontact && walk->good; i++) walk_contact(model, t, i, walk);
  if (!walk->good && walk->kind == AB_WALK_READ) t->npair = t->ncontact = 0;
}
