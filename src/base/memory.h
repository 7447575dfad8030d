// What is remembered of each touching pair from one step to the next: the pair with its patch, what
// was last told about its contact, and the bytes the contact model asked for. Two tables take
// turns: a step reads the last one and fills the next one, which becomes the last only when the
// step succeeds, so a broken step leaves nothing behind.
//
// Tables are sorted by key, as pairs are: all look-ups of a step together cost one merge.
//
// Where the same pairs touch as in the step before, there is no next table: the step goes on in the
// last one, in place, and whoever writes there puts aside what a broken step would need (step.c).
// Pairs that are `still` are then not visited at all: at rest most of the table is not even read.
#ifndef ABUT_BASE_MEMORY_H
#define ABUT_BASE_MEMORY_H

#include <abut/contact.h>

#include "base/arena.h"

// Polygons with more corners than this are not remembered.
enum { AB_TRACE_CORNERS = 12 };

typedef struct abTrace {
  uint64_t key;
  abPatch patch;        // as it was last measured, with the polygon below;
  abPose pose1, pose2;  // the shapes were here then
  double margin;        // it was measured with; 0: only the patch's axes are remembered
  abVec2 polygon[AB_TRACE_CORNERS];
} abTrace;

// The outline of a contact as it is told.
typedef struct abOutline {
  abVec3 polygon[AB_TRACE_CORNERS];
  double pressure[AB_TRACE_CORNERS];
} abOutline;

typedef struct abTable {
  abArena arena;
  int n;
  uint64_t* key;
  char* entry;         // traces and the model's bytes
  abPair* pair;        // written by ab_collide
  int* still;          // see abContactProblem
  bool* left;          // the pair was still, and not looked at in the present step
  abContact* contact;  // written by ab_report_contacts
  abOutline* outline;  // likewise
  double* depth;       // of each contact, likewise
} abTable;

// A candidate pair of geoms, as it was when it was last looked at.
typedef struct abWatch {
  int geom[2], body[2];
  double until;  // while its bodies' paths together are no longer than this, nothing has changed
  bool touches;  // it is a pair; they are in the order of the candidates
} abWatch;

// Where a body was last seen.
typedef struct abPath {
  abPose pose;
  double radius;  // about its frame
} abPath;

typedef struct abMemory {
  abTable table[2];
  int last;       // which table holds the last step
  int now;        // which one the present step fills; the same where it goes on in place
  size_t stride;  // bytes per entry, trace and model together
  abArena watch_arena[2], path_arena;
  int nwatch;
  abWatch* watch;  // in one of the two arenas
  int watch_now;   // in this one
  bool watched;    // the last step has succeeded, and its watch holds
  double margin;   // with which they were watched
  int npath;       // 0: not begun
  abPath* path;    // per body
  double* length;  // per body: how far it has gone, as an upper bound for its points
  uint64_t seen;   // abData.pose_count when they were last seen
} abMemory;

abStatus ab_memory_create(abMemory** memory);
void ab_memory_free(abMemory* memory);
// Forgets everything; from now on each pair has `bytes` bytes for the contact model.
void ab_memory_clear(abMemory* memory, size_t bytes);

// The last step's trace of a pair, or NULL; of its pair i.
const abTrace* ab_memory_find(const abMemory* memory, uint64_t key);
const abTrace* ab_memory_last(const abMemory* memory, int i);

// Makes the next table for n sorted keys and copies what is remembered of them. Returns false when
// out of memory.
bool ab_memory_begin(abMemory* memory, int n, const uint64_t* key);
// The present step has the same pairs as the last one, and goes on in its table. As before, all
// that is still counts as left alone at first.
void ab_memory_go_on(abMemory* memory);
bool ab_memory_in_place(const abMemory* memory);
// The present table, and its entry i: its trace, the model's bytes, and whether it is new (then all
// bytes are zero).
abTable* ab_memory_now(abMemory* memory);
abTrace* ab_memory_next(const abMemory* memory, int i);
void* ab_memory_bytes(const abMemory* memory, int i);
bool ab_memory_fresh(const abMemory* memory, int i);
// The present table becomes the last one.
void ab_memory_commit(abMemory* memory);
// The step has failed: the last table stays, and nothing of it is taken to be still.
void ab_memory_discard(abMemory* memory);
// All but the patches, which are measured anew.
void ab_memory_copy(const abMemory* from, abMemory* to);

#endif
