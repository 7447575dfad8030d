#include "base/memory.h"

#include <string.h>

#include "base/alloc.h"

// Address space only; pages are filled as they are used.
static const size_t TABLE_RESERVE = (size_t)8 << 30;

typedef struct Entry {
  abTrace trace;
  bool fresh;
} Entry;

enum { ALIGN = 16 };

static size_t header_bytes(void) { return (sizeof(Entry) + ALIGN - 1) & ~(size_t)(ALIGN - 1); }

static Entry* entry(const abMemory* memory, int table, int i) {
  return (Entry*)(memory->table[table].base + (size_t)i * memory->stride);
}

abStatus ab_memory_create(abMemory** out) {
  abMemory* memory = ab_alloc_zero(sizeof *memory);
  if (!memory) return AB_ERROR_MEMORY;
  for (int i = 0; i < 2; i++)
    if (ab_arena_init(&memory->table[i], TABLE_RESERVE) != AB_OK) {
      ab_memory_free(memory);
      return AB_ERROR_MEMORY;
    }
  ab_memory_clear(memory, 0);
  *out = memory;
  return AB_OK;
}

void ab_memory_free(abMemory* memory) {
  if (!memory) return;
  for (int i = 0; i < 2; i++) ab_arena_free(&memory->table[i]);
  ab_free(memory);
}

void ab_memory_clear(abMemory* memory, size_t bytes) {
  memory->stride = header_bytes() + ((bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1));
  memory->n[0] = memory->n[1] = 0;
  memory->last = 0;
}

// First entry of the last table whose key is not below `key`.
static int lower_bound(const abMemory* memory, uint64_t key) {
  int low = 0, high = memory->n[memory->last];
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (memory->key[memory->last][middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const abTrace* ab_memory_find(const abMemory* memory, uint64_t key) {
  int i = lower_bound(memory, key);
  if (i >= memory->n[memory->last] || memory->key[memory->last][i] != key) return NULL;
  return &entry(memory, memory->last, i)->trace;
}

// Room for n entries, and behind them their keys.
static bool take_table(abMemory* memory, int table, int n) {
  abArena* arena = &memory->table[table];
  ab_arena_release(arena, 0);
  if (!ab_arena_take(arena, (size_t)n * memory->stride)) return false;
  memory->key[table] = AB_TAKE(arena, uint64_t, n);
  memory->n[table] = n;
  return memory->key[table] != NULL;
}

bool ab_memory_begin(abMemory* memory, int n, const uint64_t* key) {
  int next = 1 - memory->last;
  if (!take_table(memory, next, n)) return false;
  memcpy(memory->key[next], key, sizeof *key * (size_t)n);
  const uint64_t* last = memory->key[memory->last];
  int old = 0, nold = memory->n[memory->last];
  for (int i = 0; i < n; i++) {
    while (old < nold && last[old] < key[i]) old++;
    Entry* e = entry(memory, next, i);
    if (old < nold && last[old] == key[i]) {
      memcpy((void*)e, (const void*)entry(memory, memory->last, old), memory->stride);
      e->fresh = false;
    } else {
      memset((void*)e, 0, memory->stride);
      e->trace.key = key[i];
      e->fresh = true;
    }
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

void ab_memory_copy(const abMemory* from, abMemory* to) {
  to->stride = from->stride;
  to->last = 0;
  int n = from->n[from->last];
  to->n[0] = to->n[1] = 0;
  if (n == 0 || !take_table(to, 0, n)) return;
  memcpy(to->table[0].base, from->table[from->last].base, (size_t)n * to->stride);
  memcpy(to->key[0], from->key[from->last], sizeof(uint64_t) * (size_t)n);
  for (int i = 0; i < n; i++) entry(to, 0, i)->trace.margin = 0;
}
