// What is remembered of each touching pair from one step to the next: its patch, and the bytes the
// contact model asked for. Two tables take turns: a step reads the last one and fills the
// next one, which becomes the last only when the step succeeds, so a broken step leaves nothing
// behind.
//
// Tables are sorted by key, as pairs are: all look-ups of a step together cost one merge.
#ifndef ABUT_BASE_MEMORY_H
#define ABUT_BASE_MEMORY_H

#include <abut/contact.h>

#include "base/arena.h"

// Polygons with more corners than this are not remembered.
enum { AB_TRACE_CORNERS = 8 };

typedef struct abTrace {
  uint64_t key;
  abPatch patch;        // as it was last measured, with the polygon below;
  abPose pose1, pose2;  // the shapes were here then
  double margin;        // it was measured with; 0: only the patch's axes are remembered
  abVec2 polygon[AB_TRACE_CORNERS];
} abTrace;

typedef struct abMemory {
  abArena table[2];
  uint64_t* key[2];  // of the entries
  int n[2];
  int last;       // which table holds the last step
  size_t stride;  // bytes per entry, trace and model together
} abMemory;

abStatus ab_memory_create(abMemory** memory);
void ab_memory_free(abMemory* memory);
// Forgets everything; from now on each pair has `bytes` bytes for the contact model.
void ab_memory_clear(abMemory* memory, size_t bytes);

// The last step's trace of a pair, or NULL.
const abTrace* ab_memory_find(const abMemory* memory, uint64_t key);

// Makes the next table for n sorted keys and copies what is remembered of them. Returns false when
// out of memory.
bool ab_memory_begin(abMemory* memory, int n, const uint64_t* key);
// The next table's entry i: its trace, the model's bytes, and whether it is new (then all bytes are
// zero).
abTrace* ab_memory_next(const abMemory* memory, int i);
void* ab_memory_bytes(const abMemory* memory, int i);
bool ab_memory_fresh(const abMemory* memory, int i);
// The next table becomes the last one.
void ab_memory_commit(abMemory* memory);
// All but the patches, which are measured anew.
void ab_memory_copy(const abMemory* from, abMemory* to);

#endif
