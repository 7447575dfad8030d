#include "base/memory.h"

#include <string.h>

#include "base/alloc.h"

// Address space only; pages are filled as they are used.
static const size_t TABLE_RESERVE = (size_t)16 << 30;
static const size_t WATCH_RESERVE = (size_t)4 << 30;
static const size_t PATH_RESERVE = (size_t)1 << 30;

typedef struct Entry {
  abTrace trace;
  bool fresh;
} Entry;

enum { ALIGN = 16 };

static size_t header_bytes(void) { return (sizeof(Entry) + ALIGN - 1) & ~(size_t)(ALIGN - 1); }

static Entry* entry(const abMemory* memory, int table, int i) {
  return (Entry*)(memory->table[table].entry + (size_t)i * memory->stride);
}

static abStatus reserve(abMemory* memory) {
  for (int i = 0; i < 2; i++)
    if (ab_arena_init(&memory->table[i].arena, TABLE_RESERVE) != AB_OK ||
        ab_arena_init(&memory->watch_arena[i], WATCH_RESERVE) != AB_OK)
      return AB_ERROR_MEMORY;
  return ab_arena_init(&memory->path_arena, PATH_RESERVE);
}

abStatus ab_memory_create(abMemory** out) {
  abMemory* memory = ab_alloc_zero(sizeof *memory);
  if (!memory) return AB_ERROR_MEMORY;
  if (reserve(memory) != AB_OK) {
    ab_memory_free(memory);
    return AB_ERROR_MEMORY;
  }
  ab_memory_clear(memory, 0);
  *out = memory;
  return AB_OK;
}

void ab_memory_free(abMemory* memory) {
  if (!memory) return;
  for (int i = 0; i < 2; i++) {
    ab_arena_free(&memory->table[i].arena);
    ab_arena_free(&memory->watch_arena[i]);
  }
  ab_arena_free(&memory->path_arena);
  ab_free(memory);
}

void ab_memory_clear(abMemory* memory, size_t bytes) {
  memory->stride = header_bytes() + ((bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1));
  memory->table[0].n = memory->table[1].n = 0;
  memory->last = memory->now = 0;
  memory->watched = false;
}

// First entry of the last table whose key is not below `key`.
static int lower_bound(const abMemory* memory, uint64_t key) {
  const abTable* last = &memory->table[memory->last];
  int low = 0, high = last->n;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (last->key[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const abTrace* ab_memory_find(const abMemory* memory, uint64_t key) {
  const abTable* last = &memory->table[memory->last];
  int i = lower_bound(memory, key);
  if (i >= last->n || last->key[i] != key) return NULL;
  return &entry(memory, memory->last, i)->trace;
}

const abTrace* ab_memory_last(const abMemory* memory, int i) {
  return &entry(memory, memory->last, i)->trace;
}

// Room for n pairs.
static bool take_table(abMemory* memory, int table, int n) {
  abTable* t = &memory->table[table];
  ab_arena_release(&t->arena, 0);
  t->n = n;
  t->entry = ab_arena_take(&t->arena, (size_t)n * memory->stride);
  t->key = AB_TAKE(&t->arena, uint64_t, n);
  t->pair = AB_TAKE(&t->arena, abPair, n);
  t->still = AB_TAKE(&t->arena, int, n);
  t->left = AB_TAKE(&t->arena, bool, n);
  t->contact = AB_TAKE(&t->arena, abContact, n);
  t->outline = AB_TAKE(&t->arena, abOutline, n);
  t->depth = AB_TAKE(&t->arena, double, n);
  return t->entry && t->key && t->pair && t->still && t->left && t->contact && t->outline &&
         t->depth;
}

// A still pair is not written by anybody else: it goes over as a whole.
static void carry_still(const abMemory* memory, int i, const abTable* last, int old) {
  abTable* next = (abTable*)&memory->table[1 - memory->last];
  abPair* pair = &next->pair[i];
  abContact* contact = &next->contact[i];
  *pair = last->pair[old];
  pair->memory = (char*)entry(memory, 1 - memory->last, i) + header_bytes();
  pair->patch.polygon = entry(memory, 1 - memory->last, i)->trace.polygon;
  *contact = last->contact[old];
  next->depth[i] = last->depth[old];
  next->outline[i] = last->outline[old];
  contact->polygon = next->outline[i].polygon;
  contact->pressure = next->outline[i].pressure;
}

bool ab_memory_begin(abMemory* memory, int n, const uint64_t* key) {
  memory->now = 1 - memory->last;
  if (!take_table(memory, memory->now, n)) return false;
  abTable* next = &memory->table[memory->now];
  const abTable* last = &memory->table[memory->last];
  memcpy(next->key, key, sizeof *key * (size_t)n);
  for (int i = 0, old = 0; i < n; i++) {
    while (old < last->n && last->key[old] < key[i]) old++;
    Entry* e = entry(memory, memory->now, i);
    if (old < last->n && last->key[old] == key[i]) {
      memcpy((void*)e, (const void*)entry(memory, memory->last, old), memory->stride);
      e->fresh = false;
      next->still[i] = last->still[old];
      if (next->still[i] > 0) carry_still(memory, i, last, old);
    } else {
      memset((void*)e, 0, memory->stride);
      e->trace.key = key[i];
      e->fresh = true;
      next->still[i] = 0;
    }
    next->left[i] = next->still[i] > 0;
  }
  return true;
}

void ab_memory_go_on(abMemory* memory) {
  memory->now = memory->last;
  abTable* now = &memory->table[memory->now];
  for (int i = 0; i < now->n; i++) now->left[i] = now->still[i] > 0;
}

bool ab_memory_in_place(const abMemory* memory) { return memory->now == memory->last; }

abTable* ab_memory_now(abMemory* memory) { return &memory->table[memory->now]; }

abTrace* ab_memory_next(const abMemory* memory, int i) {
  return &entry(memory, memory->now, i)->trace;
}

void* ab_memory_bytes(const abMemory* memory, int i) {
  return (char*)entry(memory, memory->now, i) + header_bytes();
}

bool ab_memory_fresh(const abMemory* memory, int i) {
  return !ab_memory_in_place(memory) && entry(memory, memory->now, i)->fresh;
}

void ab_memory_commit(abMemory* memory) {
  memory->last = memory->now;
  memory->watched = true;
}

void ab_memory_discard(abMemory* memory) {
  abTable* last = &memory->table[memory->last];
  for (int i = 0; i < last->n; i++) last->still[i] = 0;
  memory->now = memory->last;
  memory->watched = false;
}

void ab_memory_copy(const abMemory* from, abMemory* to) {
  const abTable* last = &from->table[from->last];
  int n = last->n;
  to->stride = from->stride;
  to->last = to->now = 0;
  to->watched = false;
  to->table[0].n = to->table[1].n = 0;
  if (n == 0 || !take_table(to, 0, n)) return;
  memcpy(to->table[0].entry, last->entry, (size_t)n * to->stride);
  memcpy(to->table[0].key, last->key, sizeof(uint64_t) * (size_t)n);
  for (int i = 0; i < n; i++) entry(to, 0, i)->trace.margin = 0, to->table[0].still[i] = 0;
}
