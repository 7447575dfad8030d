// Sorting without allocation, in time proportional to the number of keys.
#ifndef ABUT_BASE_SORT_H
#define ABUT_BASE_SORT_H

#include "base/arena.h"

// Sorts 64-bit keys in ascending order; scratch for n more keys comes from the arena. False when it
// is full.
bool ab_sort_keys(abArena* scratch, int n, uint64_t* key);

#endif
