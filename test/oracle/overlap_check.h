// Everything a pair of bodies must satisfy, whatever it is.
#ifndef ABUT_TEST_ORACLE_OVERLAP_CHECK_H
#define ABUT_TEST_ORACLE_OVERLAP_CHECK_H

#include "base/arena.h"
#include "oracle/overlap_pairs.h"

typedef struct OverlapCheck {
  abArena* arena;
  bool exact, dual, cutting;  // which of the slow comparisons to make
  char message[512];          // of the first failure, empty if none
  double worst;               // largest |V - exact V| / tolerance seen
} OverlapCheck;

// Returns false, with a message, if something is wrong.
bool overlap_check(OverlapCheck* check, const TestPair* pair);

#endif
