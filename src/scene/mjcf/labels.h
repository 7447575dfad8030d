// Names of one kind of thing in a scene file and the indices they stand for.
#ifndef ABUT_SCENE_MJCF_LABELS_H
#define ABUT_SCENE_MJCF_LABELS_H

#include <abut/types.h>

typedef struct abLabel {
  const char* name;  // not copied; NULL: empty slot
  int index, line;
  const char* file;
} abLabel;

// A hash table with open addressing, at most half full.
typedef struct abLabels {
  int n, room;
  abLabel* entry;
} abLabels;

const abLabel* ab_labels_find(const abLabels* names, const char* name);  // NULL if there is none
bool ab_labels_add(abLabels* names, abLabel entry);                      // false: no memory
void ab_labels_free(abLabels* names);
// The entry nearest in spelling, or NULL.
const char* ab_labels_nearest(const abLabels* names, const char* name, char out[32]);

#endif
