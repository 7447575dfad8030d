// An overlap in the making: shared by the cutting (intersect.c), the measuring (measure.c), and
// those who need a pair's overlap more than once (collide.c).
#ifndef ABUT_COLLIDE_OVERLAP_WORK_H
#define ABUT_COLLIDE_OVERLAP_WORK_H

#include "collide/boxes/sat.h"
#include "collide/clip/intersect.h"
#include "collide/clip/small_solid.h"
#include "collide/clip/solid.h"
#include "math/vec.h"

typedef struct abSide {
  const abPolyhedron* poly;
  abPose pose;
  abOwner owner;
} abSide;

// Middle and half lengths.
typedef struct abBounds {
  abVec3 middle, half;
} abBounds;

typedef struct abOverlapWork {
  abSide S, L;  // the one that is cut, and the one whose planes cut
  abPose rel;   // of L in the frame of S moved to its centroid, and its matrix
  abMat3 R;
  double size, flush;  // of S; the rounding of the bodies' positions in the world
  abMeeting meeting;
  abVec3 axis[3];  // of L, if it is a box, and their products with rel.p
  double shift[3];
  int nclip;
  abClipPlane* clip;
  double noise;     // the loudest of the clip planes
  abBounds bounds;  // of what is left
  abVec3 middle;    // of the bounds, in the frame of L
  double reach;     // half of their diagonal, and a little more
  double* before;   // per plane of L: how far the middle lies before it
  int* near;        // planes of L within reach
  int* partner;     // per face of S: the face of L that lies in it, -1 if none
  bool is_small;    // which of the two is in use
  abSolid solid;
  abSmallSolid little;
} abOverlapWork;

// Step by step what ab_overlap does at once: the two bodies; how they lie to each other, and
// whether the boxes about them are apart; the overlap.
abStatus ab_overlap_begin(abOverlapWork* work, const abPolyhedron* A, abPose pose_a,
                          const abPolyhedron* B, abPose pose_b);
bool ab_overlap_sat(abOverlapWork* work);
abStatus ab_overlap_finish(abOverlapWork* work, abArena* arena, abOverlap* out);

// Half the extent of a box along n.
static inline double ab_extent(abVec3 half, abVec3 n) {
  return fabs(n.x) * half.x + fabs(n.y) * half.y + fabs(n.z) * half.z;
}

// Bounds of n points.
abBounds ab_bounds_of(int n, const abVec3* point);

// The surface that is left and its integrals into `out`; no contact if nothing thicker than the
// noise is left. AB_ERROR_MEMORY: the arena is exhausted.
abStatus ab_overlap_measure(const abOverlapWork* work, abArena* arena, abOverlap* out);

#endif
