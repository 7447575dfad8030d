// Tests: test_collide, test_state.
#include "pairs.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "math/vec.h"

typedef struct Entry {
  abTrace trace;
  bool fresh;
} Entry;

// What rounding may leave of axes of length 1, a thousand times over.
static const double UNIT = 1e-12;

bool ab_trace_fits(const abTrace* t, bool patches) {
  double nn = v3_norm2(t->normal), tt = v3_norm2(t->t1);
  if (!isfinite(t->watch)) return false;
  if (!patches) return nn == 0 && tt == 0;
  return fabs(nn - 1) < UNIT && fabs(tt - 1) < UNIT && fabs(v3_dot(t->normal, t->t1)) < UNIT;
}

enum { ALIGN = 16 };

static size_t header_bytes(void) { return (sizeof(Entry) + ALIGN - 1) & ~(size_t)(ALIGN - 1); }

static Entry* entry(const abMemory* memory, int table, int i) {
  return (Entry*)(void*)(memory->table[table].entry + (size_t)i * memory->stride);
}

abStatus ab_memory_create(abMemory** out) {
  abMemory* memory = ab_alloc_zero(sizeof *memory);
  if (!memory) return AB_ERROR_MEMORY;
  for (int i = 0; i < 2; i++) ab_arena_init(&memory->table[i].arena, SIZE_MAX);
  ab_memory_clear(memory, 0);
  *out = memory;
  return AB_OK;
}

void ab_memory_free(abMemory* memory) {
  if (!memory) return;
  for (int i = 0; i < 2; i++) ab_arena_free(&memory->table[i].arena);
  ab_free(memory);
}

void ab_memory_clear(abMemory* memory, size_t bytes) {
  memory->stride = header_bytes() + ((bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1));
  memory->table[0].n = memory->table[1].n = 0;
  memory->last = 0;
}

const abTrace* ab_memory_find(const abMemory* memory, uint64_t key) {
  const abTable* last = &memory->table[memory->last];
  int low = 0, high = last->n;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (last->key[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  if (low >= last->n || last->key[low] != key) return NULL;
  return &entry(memory, memory->last, low)->trace;
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
  if (!t->entry || !t->key) t->n = 0;
  return t->entry && t->key;
}

bool ab_memory_begin(abMemory* memory, int n, const uint64_t* key) {
  int now = 1 - memory->last;
  if (!take_table(memory, now, n)) return false;
  const abTable* last = &memory->table[memory->last];
  memcpy(memory->table[now].key, key, sizeof *key * (size_t)n);
  for (int i = 0, old = 0; i < n; i++) {
    while (old < last->n && last->key[old] < key[i]) old++;
    Entry* e = entry(memory, now, i);
    bool known = old < last->n && last->key[old] == key[i];
    if (known)
      memcpy((void*)e, (const void*)entry(memory, memory->last, old), memory->stride);
    else
      memset((void*)e, 0, memory->stride);
    e->fresh = !known;
  }
  return true;
}

abTrace* ab_memory_next(const abMemory* memory, int i) {
  return &entry(memory, 1 - memory->last, i)->trace;
}

void* ab_memory_bytes(const abMemory* memory, int i) {
  return (char*)entry(memory, 1 - memory->last, i) + header_bytes();
}

bool ab_memory_fresh(const abMemory* memory, int i) {
  return entry(memory, 1 - memory->last, i)->fresh;
}

void ab_memory_commit(abMemory* memory) { memory->last = 1 - memory->last; }
