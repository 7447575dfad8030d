// The overlap of two convex polyhedra, or of a polyhedron with a half-space (intersect.c).
#ifndef ABUT_COLLIDE_INTERSECT_H
#define ABUT_COLLIDE_INTERSECT_H

#include <abut/model.h>

#include "base/arena.h"

// Whose surface a face of the overlap lies in. A face that lies in both (coplanar faces that look
// the same way) counts half to each.
typedef enum abOwner { AB_OWNER_A = 1, AB_OWNER_B = 2, AB_OWNER_BOTH = 3 } abOwner;

typedef struct abOverlapFace {
  abVec3 normal;  // unit, of the body's plane, out of the overlap
  abVec3 vector;  // area vector of the polygon as computed; the vectors of all faces sum to zero
  double area;    // vector . normal
  abOwner owner;
  int source;  // index of the face in its body (of A where both)
  int vert;    // one of its vertices
} abOverlapFace;

// Positions and directions are in `frame`: axes of the smaller body or of one of its faces, origin
// near it. A point x of it lies at pose_apply(frame, x) in the world.
typedef struct abOverlap {
  bool contact;  // false: apart or only touching; then everything else is zero
  double volume;
  abVec3 centroid;
  double area[4];  // of the surface, by abOwner; [0] = all
  int nvert, nedge, nface;
  const abVec3* vert;
  const int (*edge)[4];  // from, to, face on the left of it, face on the right
  const abOverlapFace* face;
  // Not 0: it is a slab of so many prisms between faces 0 and 1 (boxes/prism.c). Vertex i lies in
  // face 0, vertex nprism + i in face 1, face 2 + i between prisms i and i + 1, counter-clockwise
  // seen from outside of face 0.
  int nprism;
  abPose frame;
  double size;   // half the diagonal of the smaller body's bounding box
  double noise;  // rounding of a coordinate: what is thinner than this does not count as overlap
} abOverlap;

// Scratch and the arrays of `out` come from the arena. A or B may be NULL: the half-space z <= 0 of
// its frame. AB_ERROR_MEMORY: the arena is exhausted. AB_ERROR_NUMERIC: a pose or a vertex is not
// finite.
abStatus ab_overlap(const abPolyhedron* A, abPose pose_a, const abPolyhedron* B, abPose pose_b,
                    abArena* arena, abOverlap* out);

#endif
