// What is kept from step to step to save work.
//
// Of large islands, for Newton's method: the pattern of the matrix while the contacts are the same,
// and the last factors. There are SLOTS places, which islands keep by their first mover.
//
// At rest the matrix is the same in every step, and what rounding has disturbed is mended with the
// old factors, at the price of one evaluation and one solve: with H = M + sum J^T G J of some step
// before, H d = -gradient, impulse = answer - G J d (ab_patch_chord). Velocities are then made anew
// from the impulses, so that the two belong together to rounding, whatever H was.
//
// Of contacts: all of them, each in its place, so that the contact of a pair whose patch was not
// measured again (abPair.kept) need not be made again. The pair's memory says where it is, and
// bears the stamp of the step that wrote both; another stamp in the place means that the contact is
// no longer, or not yet, that of the memory. Stamps of different caches differ.
#include <stdint.h>
#include <string.h>

#include "contact/patch.h"

enum { SLOTS = 8 };

// A place is free when it was not used in this step.
struct abPatchPlaces {
  uint64_t step, name;
  double param[AB_PATCH_NPARAM];
  int n, next, most;  // used so far; where to look for a free one; room
  uint64_t *stamp, *used;
  abPatchContact* contact;
  double (*store)[AB_PATCH_STORE];
};

// What a mover owes (patch_hold.c), and since which step.
typedef struct Debt {
  uint64_t step;
  double r[6];
} Debt;

struct abPatchDebts {
  uint64_t step;
  Debt* of;
};

typedef struct Slots {
  int first[SLOTS];  // mover, -1: free
  abArena arena[SLOTS];
  abPatchPlaces places;
  abPatchDebts debts;
} Slots;

struct abPatchCache {
  int nblock, ncontact;
  int* mover;       // per block
  int (*side)[2];   // per contact: blocks
  double (*G)[12];  // per contact, of the factors
  abBlockSymbolic symbolic;
  double* value;
  bool factored;
};

static bool same_contacts(const abPatchIsland* island, const abPatchCache* cache) {
  if (cache->nblock != island->nblock || cache->ncontact != island->ncontact) return false;
  if (memcmp(cache->mover, island->mover, sizeof(int) * (size_t)island->nblock) != 0) return false;
  for (int i = 0; i < island->ncontact; i++)
    for (int k = 0; k < 2; k++)
      if (cache->side[i][k] != island->contact[i]->side[k].block) return false;
  return true;
}

static abArena part_of(abArena* whole, size_t begin, size_t size) {
  return (abArena){.base = whole->base + begin, .capacity = size};
}

_Static_assert(3 * (4 * AB_PATCH_CORNERS + 4) + 2 * AB_PATCH_CORNERS + 4 * (AB_PATCH_CORNERS + 2) <=
                   AB_PATCH_STORE,
               "a contact that is kept has room for its rule");

static void open_places(abArena* arena, abPatchPlaces* places) {
  size_t each = sizeof(abPatchContact) + sizeof(double[AB_PATCH_STORE]) + 2 * sizeof(uint64_t);
  enum { ALIGNED = 4 * 64 };  // what the beginnings of the four arrays may waste
  size_t room = arena->capacity - arena->used, most = room > ALIGNED ? (room - ALIGNED) / each : 0;
  *places = (abPatchPlaces){.name = (uint64_t)(uintptr_t)arena->base << 20};
  places->most = most < 1 << 24 ? (int)most : 1 << 24;
  places->stamp = AB_TAKE(arena, uint64_t, places->most);
  places->used = AB_TAKE(arena, uint64_t, places->most);
  places->contact = AB_TAKE(arena, abPatchContact, places->most);
  places->store = ab_arena_take(arena, sizeof(double[AB_PATCH_STORE]) * (size_t)places->most);
  if (!places->store) places->most = 0;
}

// Arenas side by side in the one of the model: one as large as three others for contacts.
static Slots* open_slots(const abContactProblem* problem) {
  abArena* whole = problem->cache;
  if (!whole) return NULL;
  if (whole->used > 0) return (Slots*)whole->base;
  Slots* slots = AB_TAKE(whole, Slots, 1);
  if (!slots) return NULL;
  size_t head = (sizeof *slots + 63) & ~(size_t)63;
  size_t size = ((whole->capacity - head) / (SLOTS + 3)) & ~(size_t)63;
  for (int i = 0; i < SLOTS; i++) {
    slots->first[i] = -1;
    slots->arena[i] = part_of(whole, head + (size_t)i * size, size);
  }
  abArena rest = part_of(whole, head + SLOTS * size, 3 * size);
  int nmover = problem->response->nmover;
  slots->debts = (abPatchDebts){.of = AB_TAKE(&rest, Debt, nmover)};
  for (int i = 0; i < nmover && slots->debts.of; i++) slots->debts.of[i].step = 0;
  open_places(&rest, &slots->places);
  return slots;
}

// --- contacts
// ------------------------------------------------------------------------------------------

abPatchPlaces* ab_patch_places(const abContactProblem* problem) {
  Slots* slots = open_slots(problem);
  if (!slots) return NULL;
  abPatchPlaces* p = &slots->places;
  // with other parameters no contact is what it was
  p->step += memcmp(p->param, problem->param, sizeof p->param) == 0 ? 1 : 2;
  memcpy(p->param, problem->param, sizeof p->param);
  p->next = 0;
  return p;
}

static uint64_t stamp_of(const abPatchPlaces* p, uint64_t step) { return p->name + step; }

int ab_patch_place_find(abPatchPlaces* p, const abPatchMemory* memory) {
  int i = memory->place - 1;
  if (i < 0 || i >= p->n || p->stamp[i] != memory->stamp) return 0;
  if (memory->stamp != stamp_of(p, p->step - 1)) return 0;
  p->used[i] = p->step;
  return memory->place;
}

void ab_patch_place_stay(abPatchPlaces* p, int place) { p->used[place - 1] = p->step; }

void ab_patch_place_resume(abPatchPlaces* p, int place, abPatchMemory* memory) {
  memory->place = place;
  memory->stamp = p->stamp[place - 1] = stamp_of(p, p->step - 1);
}

int ab_patch_place_take(abPatchPlaces* p) {
  while (p->next < p->n && p->used[p->next] == p->step) p->next++;
  if (p->next == p->most) return 0;
  if (p->next == p->n) p->n++;
  p->used[p->next] = p->step;
  p->stamp[p->next] = 0;
  return ++p->next;
}

abPatchContact* ab_patch_place(const abPatchPlaces* p, int place, double** store) {
  *store = p->store[place - 1];
  return &p->contact[place - 1];
}

void ab_patch_place_wrote(const abContactProblem* problem, int place, abPatchMemory* memory) {
  memory->place = place;
  if (place == 0) return;
  abPatchPlaces* p = &open_slots(problem)->places;
  memory->stamp = p->stamp[place - 1] = stamp_of(p, p->step);
}

// --- debts
// ---------------------------------------------------------------------------------------------

abPatchDebts* ab_patch_debts(const abContactProblem* problem) {
  Slots* slots = open_slots(problem);
  if (!slots || !slots->debts.of) return NULL;
  slots->debts.step = slots->places.step;
  return &slots->debts;
}

bool ab_patch_debt(const abPatchDebts* debts, int mover, double r[6]) {
  const Debt* debt = &debts->of[mover];
  bool any = debt->step > 0 && debt->step + 1 >= debts->step;
  for (int i = 0; i < 6; i++) r[i] = any ? debt->r[i] : 0;
  return any;
}

void ab_patch_set_debt(abPatchDebts* debts, int mover, const double r[6]) {
  debts->of[mover].step = debts->step;
  memcpy(debts->of[mover].r, r, sizeof debts->of[mover].r);
}

// --- islands
// -------------------------------------------------------------------------------------------

void ab_patch_cache_share(const abContactProblem* problem, int n, abPatchIsland* island) {
  Slots* slots = open_slots(problem);
  bool taken[SLOTS] = {false};
  for (int i = 0; i < n && slots; i++)
    for (int k = 0; k < SLOTS && island[i].ncontact > AB_PATCH_LARGE; k++)
      if (slots->first[k] == island[i].mover[0])
        island[i].cache = &slots->arena[k], taken[k] = true;
  for (int i = 0, k = 0; i < n && slots; i++) {
    if (island[i].cache || island[i].ncontact <= AB_PATCH_LARGE) continue;
    while (k < SLOTS && taken[k]) k++;
    if (k == SLOTS) return;
    slots->first[k] = island[i].mover[0];
    ab_arena_release(&slots->arena[k], 0);
    island[i].cache = &slots->arena[k++];
  }
}

abPatchCache* ab_patch_cache_find(const abPatchIsland* island) {
  if (!island->cache || island->cache->used == 0) return NULL;
  abPatchCache* cache = (abPatchCache*)island->cache->base;
  return same_contacts(island, cache) ? cache : NULL;
}

abPatchCache* ab_patch_cache_make(const abPatchIsland* island) {
  abArena* arena = island->cache;
  if (!arena) return NULL;
  ab_arena_release(arena, 0);
  abPatchCache* cache = AB_TAKE(arena, abPatchCache, 1);
  if (!cache) return NULL;
  int m = island->ncontact;
  *cache = (abPatchCache){.nblock = island->nblock, .ncontact = m};
  cache->mover = AB_TAKE(arena, int, island->nblock);
  cache->side = ab_arena_take(arena, sizeof(int[2]) * (size_t)m);
  cache->G = ab_arena_take(arena, sizeof(double[12]) * (size_t)m);
  if (!cache->mover || !cache->side || !cache->G) {
    ab_arena_release(arena, 0);
    return NULL;
  }
  memcpy(cache->mover, island->mover, sizeof(int) * (size_t)island->nblock);
  for (int i = 0; i < m; i++)
    for (int k = 0; k < 2; k++) cache->side[i][k] = island->contact[i]->side[k].block;
  return cache;
}

void ab_patch_cache_forget(const abPatchIsland* island) { ab_arena_release(island->cache, 0); }

abBlockSymbolic* ab_patch_cache_symbolic(abPatchCache* cache) { return &cache->symbolic; }

double* ab_patch_cache_value(const abPatchIsland* island, abPatchCache* cache) {
  if (!cache->value) cache->value = AB_TAKE(island->cache, double, cache->symbolic.nvalue);
  return cache->value;
}

void ab_patch_cache_factored(const abPatchIsland* island, abPatchCache* cache, bool done) {
  cache->factored = done;
  for (int i = 0; i < island->ncontact && done; i++)
    memcpy(cache->G[i], island->contact[i]->G, sizeof cache->G[i]);
}

bool ab_patch_chord(abPatchIsland* island, const abPatchCache* cache) {
  if (!cache || !cache->factored) return false;
  double* d = island->direction;
  for (int i = 0; i < island->ndof; i++) d[i] = -island->gradient[i];
  ab_block_solve(&cache->symbolic, cache->value, d);
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    double step[6], Gd[6];
    ab_patch_relative(island, c, d, step);
    ab_patch_apply_G(cache->G[i], step, Gd);
    for (int k = 0; k < 6; k++) c->impulse[k] = c->answer[k] - Gd[k];
  }
  ab_patch_momenta(island);
  return true;
}
