// Overlaps that a simulation leaves as they are: told once a pair.
#ifndef CLI_DEEP_H
#define CLI_DEEP_H

#include <abut/abut.h>
#include <jansson.h>

typedef struct DeepPair {
  int geom1, geom2;
  abHold hold;
  double depth, since;
  long steps;
} DeepPair;

typedef struct DeepPairs {
  DeepPair* pair;
  int n, room;
} DeepPairs;

// After a step: remembers its overlaps, and prints a warning for each new pair unless quiet.
void deep_observe(DeepPairs* deep, const abModel* model, const abData* data, bool quiet);
// Appends them to the list of warnings.
void deep_json(const DeepPairs* deep, const abModel* model, json_t* list);
void deep_free(DeepPairs* deep);

#endif
