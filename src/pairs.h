// What is remembered of each touching pair from one step to the next: the axes of its patch and the
// bytes the contact model asked for. This is all the state of contacts there is.
//
// Two tables take turns: a step reads the last one and fills the next one, which becomes the last
// only when the step succeeds. So a broken step leaves nothing behind, and copying a state is
// copying one table. Tables are sorted by key, as pairs are: all look-ups of a step together cost
// one merge.
#ifndef ABUT_PAIRS_H
#define ABUT_PAIRS_H

#include <abut/types.h>

#include "base/arena.h"

// Axes of the patch in the last step, in the world, and up to which gap the model wants to see the
// pair again.
typedef struct abTrace {
  abVec3 normal, t1;
  double watch;
} abTrace;

// Whether it can have been a step's, or comes from a file that was made up: unit axes across each
// other, where the model sees patches, and a gap.
bool ab_trace_fits(const abTrace* trace, bool patches);

typedef struct abTable {
  abArena arena;
  int n;
  uint64_t* key;
  char* entry;  // traces and the model's bytes
} abTable;

typedef struct abMemory {
  abTable table[2];
  int last;       // which table holds the last step
  size_t stride;  // bytes per entry, trace and model together
} abMemory;

abStatus ab_memory_create(abMemory** memory);
void ab_memory_free(abMemory* memory);
// Forgets everything; from now on each pair has `bytes` bytes for the contact model.
void ab_memory_clear(abMemory* memory, size_t bytes);

// The last step's trace of a pair, or NULL; of its i-th pair.
const abTrace* ab_memory_find(const abMemory* memory, uint64_t key);
const abTrace* ab_memory_last(const abMemory* memory, int i);

// Makes the next table for n sorted keys and copies what is remembered of them. Returns false when
// out of memory.
bool ab_memory_begin(abMemory* memory, int n, const uint64_t* key);
// Entry i of the next table: its trace, the model's bytes, and whether it is new (then all bytes
// are zero).
abTrace* ab_memory_next(const abMemory* memory, int i);
void* ab_memory_bytes(const abMemory* memory, int i);
bool ab_memory_fresh(const abMemory* memory, int i);
// The step has succeeded: the next table becomes the last one.
void ab_memory_commit(abMemory* memory);

#endif
