// The shortest way out of an overlap (parting.c).
#ifndef ABUT_COLLIDE_PARTING_H
#define ABUT_COLLIDE_PARTING_H

#include <abut/model.h>

typedef struct abParting {
  double depth;   // moving shape 1 by it along the normal parts the two; < 0: they are apart
  abVec3 normal;  // unit, world
  abVec3 point1;  // of shape 1, farthest against the normal, world
  bool shortest;  // else a shorter way may exist
} abParting;

// Not for planes.
abParting ab_parting(const abShape* shape1, abPose pose1, const abShape* shape2, abPose pose2);

#endif
