// Pairs of convex bodies, ordinary and nasty, each from its number alone.
#ifndef ABUT_TEST_ORACLE_OVERLAP_PAIRS_H
#define ABUT_TEST_ORACLE_OVERLAP_PAIRS_H

#include <abut/model.h>

typedef enum PairFamily {
  PAIR_BOXES,          // random boxes, random poses
  PAIR_HULLS,          // hulls of 4 to 64 points
  PAIR_PRISMS,         // 64-sided prisms and boxes
  PAIR_PLATES,         // 1e-4 thin
  PAIR_RODS,           // aspect 1e4
  PAIR_STACKED,        // faces coplanar, sides flush or not
  PAIR_NEARLY_FLUSH,   // the same, moved and turned by 1e-12 to 1e-6
  PAIR_GRID,           // boxes on a coarse grid: shared edges, vertices, parallel edges, touching
  PAIR_PARALLEL_EDGE,  // edge along edge, edge along face
  PAIR_INSIDE,         // one inside the other
  PAIR_IDENTICAL,
  PAIR_TOUCHING,  // apart by nothing: no overlap
  PAIR_TINY,      // overlap of a face, an edge or a corner by 1e-9 of the size
  PAIR_HALF_SPACE,
  PAIR_LATTICE,  // hulls of a few points of a 4 x 4 x 4 grid: everything that can coincide does
  PAIR_FAMILIES
} PairFamily;

typedef struct TestPair {
  PairFamily family;
  abPolyhedron *A, *B;  // B is NULL for a half-space
  abPose pose_a, pose_b;
  double scale;  // size of the bodies
  bool far;      // a kilometre from the origin
} TestPair;

const char* pair_family_name(PairFamily family);
// Families take turns: family = number % PAIR_FAMILIES.
TestPair pair_make(uint64_t number);
void pair_free(TestPair* pair);
abPolyhedron* pair_prism(int sides, double radius, double half_height);

#endif
