// The overlap of two convex polyhedra, for direct use: no model, no simulation.
// Nothing outlives a call: any thread may call at any time.
#ifndef ABUT_OVERLAP_H
#define ABUT_OVERLAP_H

#include <abut/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// A convex body by its corners. Faces are loops of indices, counter-clockwise seen from outside:
// face f is loop[face_start[f]] .. loop[face_start[f + 1] - 1]. nface = 0: the convex hull of the
// points.
typedef struct abConvex {
  int nvert;
  const abVec3* vert;     // nvert corners [m]
  int nface;              // 0: their hull
  const int* face_start;  // nface + 1 entries
  const int* loop;        // indices of corners
} abConvex;

typedef struct abOverlapSummary {
  bool contact;     // false: apart or only touching; then everything else is zero
  double volume;    // [m3]
  abVec3 centroid;  // of the volume [m]
  double area_A;    // surface of the overlap that belongs to faces of A alone [m2]
  double area_B;    // likewise of B
  double area_AB;   // where faces of both coincide [m2]
  abVec3 normal;    // from B to A
  double depth;     // largest thickness along the normal [m]
} abOverlapSummary;

// Fails with AB_ERROR_SCENE where a body is not closed, not convex, flat, or not finite.
AB_API abStatus ab_overlap_of_convex(const abConvex* A, const abConvex* B, abOverlapSummary* out,
                                     abError* error);

#ifdef __cplusplus
}
#endif

#endif
