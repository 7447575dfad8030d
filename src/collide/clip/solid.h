// A convex solid being clipped: what is left of one body while it is cut by the planes of another
// (solid.c). Faces are numbered: those of the body first, then one for each plane.
#ifndef ABUT_COLLIDE_SOLID_H
#define ABUT_COLLIDE_SOLID_H

#include "base/arena.h"
#include "geometry/polyhedron.h"

// A plane to cut with. `noise`: rounding of s, which grows with every length that goes into it.
// `flush`: the same with the rounding of the bodies' positions in the world, within which a face
// that lies in the plane was meant to.
typedef struct abClipPlane {
  abPlane plane;
  double noise, flush;
} abClipPlane;

typedef enum abCut {
  AB_CUT_NOTHING,  // all of the solid lies behind the plane
  AB_CUT_TOUCH,    // likewise, and a part of it in the plane to rounding: see ab_solid_touches
  AB_CUT_SOME,
  AB_CUT_ALL,  // nothing is left
  AB_CUT_FULL  // no room
} abCut;

// What a plane does to a solid whose vertices lie from `least` to `most` before it. *flush: within
// which it is touched.
static inline abCut ab_judge_cut(const abClipPlane* clip, double least, double most,
                                 double* flush) {
  // Leaving off a cut of depth s changes the volume of what is w thick along the normal by less
  // than 3 s / w of it: a flush face may cost a ten-billionth.
  double blur = 1e-10 * (most - least);
  *flush = clip->flush < blur ? clip->flush : blur;
  if (*flush < clip->noise) *flush = clip->noise;
  if (most < -*flush) return AB_CUT_NOTHING;
  if (most <= *flush) return AB_CUT_TOUCH;
  return least >= -clip->noise ? AB_CUT_ALL : AB_CUT_SOME;
}

enum { AB_SOLID_RECENT = 4 };

typedef struct abSolid {
  const abPolyhedron* body;
  const abClipPlane* clip;
  int nclip, nface;  // nface: of both bodies
  int nvert, nhalf;  // places in use, the dead included
  int vert_cap, half_cap;
  abVec3* vert;  // not numbers where dead: they lose every comparison
  abHalf* half;  // half[2 e].from < 0: edge e is dead
  double* s;     // per vertex: distance to the plane
  int round;     // of cutting
  int *free_vert, *free_edge, nfree_vert, nfree_edge;
  int *cross, *gone_vert, *gone_edge;  // half-edges that leave through the plane, and what goes
  bool large;                          // cut by climbing; then only are in use
  int* leave;                          // per vertex: a half-edge that leaves it
  int* mark;                           // per vertex: the last round in which it was outside
  int recent[AB_SOLID_RECENT];         // vertices near the last planes; the dead lose
  double flush;                        // within which the last plane was touched
} abSolid;

// Bytes a solid takes from the arena, and the solid made of a body there, its centroid moved to the
// origin, to be cut by nclip planes. False: the arena is exhausted.
size_t ab_solid_bytes(const abPolyhedron* body, int nclip);
bool ab_solid_make(abSolid* solid, const abPolyhedron* body, int nclip, const abClipPlane* clip,
                   abArena* arena);
// Cuts by clip[i]; its face is number body->nface + i.
abCut ab_solid_cut(abSolid* solid, int i);
// How far it reaches against and along three axes: range[2 i] = max -a_i . x, range[2 i + 1] = max
// a_i . x.
void ab_solid_ranges(const abSolid* solid, const abVec3 axis[3], double range[6]);
// After AB_CUT_TOUCH: does all of this face lie in the plane?
bool ab_solid_touches(const abSolid* solid, int face);
#endif
