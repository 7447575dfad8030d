// Distance and closest points of any two convex shapes.
#ifndef ABUT_COLLIDE_GJK_H
#define ABUT_COLLIDE_GJK_H

#include <abut/model.h>

// What is worth remembering of a pair between steps: the last direction from shape 2 to shape 1, in
// shape 1's frame. All zero means nothing is known.
typedef struct abGjkSeed {
  abVec3 direction;
  // Whoever is known to be farther apart than this is far enough: separation and points are then
  // those of the last turn. 0: the distance is wanted whatever it is.
  double far;
} abGjkSeed;

typedef struct abDistance {
  double separation;      // > 0: gap; < 0: overlap, as far as it is known (see `overlap`)
  abVec3 point1, point2;  // nearest points on the two surfaces, world
  abVec3 normal;          // unit, from shape 2 to shape 1; zero if nothing is known of it
  // The shapes' cores overlap, so separation, points and normal are only those of the deepest
  // direction tried: the volume of the overlap tells more (collide/clip/intersect.h).
  bool overlap;
  int nfeature;  // vertices that carry the nearest points: 1 point, 2 edge, 3 face on either shape
  int vertex1[4], vertex2[4];  // their indices in the polyhedron, -1 on smooth shapes
  double error;                // bound on the error of the separation
  int iterations;
} abDistance;

// seed may be NULL. At most one of the two may be a plane.
void ab_distance(const abShape* shape1, abPose pose1, const abShape* shape2, abPose pose2,
                 abGjkSeed* seed, abDistance* out);

#endif
