// Which candidates must be looked at again: see collide_watch.c.
#ifndef ABUT_COLLIDE_WATCH_H
#define ABUT_COLLIDE_WATCH_H

#include <abut/data.h>

#include "base/memory.h"

typedef struct abTodo {
  int candidate;
  int pair;  // of the last step, -1: it was none
} abTodo;

typedef struct abWatching {
  bool on;         // else all candidates are to be looked at, and nothing is known of them
  abWatch* watch;  // per candidate
  int ntodo;
  abTodo* todo;
  bool gone;  // a pair is not even a candidate any more
} abWatching;

// margin: of the contact model; with another one than in the last step nothing is known, with none
// nothing is watched. Scratch from data->scratch, not given back.
abStatus ab_watch_begin(const abModel* model, abData* data, double margin, abWatching* w);
// What was found: whether the candidate is a pair, and how far its bodies may go, both together,
// before it must be looked at again (negative: not at all). Returns whether it was one before.
bool ab_watch_end(const abData* data, const abWatching* w, int candidate, bool touches,
                  double slack);

#endif
