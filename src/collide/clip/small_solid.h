// A convex solid of few vertices being clipped (small_solid.c): what is left of a small body
// while it is cut by the planes of another. The same as abSolid, of which it takes the planes and
// the answers, at a fraction of the cost.
#ifndef ABUT_COLLIDE_SMALL_SOLID_H
#define ABUT_COLLIDE_SMALL_SOLID_H

#include "collide/clip/solid.h"
#include "math/quad.h"

// Vertices fit the bits of a word, faces and vertices a byte.
enum { AB_LITTLE_VERT = 64, AB_LITTLE_EDGE = 192, AB_LITTLE_FACE = 256, AB_LITTLE_BODY = 256 };

typedef struct abSmallSolid {
  abQuad vert[AB_LITTLE_VERT];  // x, y, z, 1; not numbers in empty places
  double s[AB_LITTLE_VERT];     // distance to the last plane
  abLink edge[AB_LITTLE_EDGE];
  int nplace;  // places of vertices in use, an even number
  int nedge, nface;
  uint64_t alive;                 // the places that hold a vertex
  uint16_t door[AB_LITTLE_FACE];  // where the last cut leaves a face, see small_solid.c
  int round;
  bool plain;    // still a box: the eight vertices and twelve edges of its body, only moved
  int slot[6];   // of a plain solid: the faces
  double flush;  // within which the last plane was touched
} abSmallSolid;

// Is there room for a body that is cut by nclip planes?
bool ab_small_solid_fits(const abPolyhedron* body, int nclip);
// The body, its centroid moved to the origin.
void ab_small_solid_make(abSmallSolid* solid, const abPolyhedron* body, int nclip);
// Both at once, of any body: what the first plane leaves of it, at the cost of what is left. False
// if that is all, nothing, or too much; then the solid is not made.
bool ab_small_solid_start(abSmallSolid* solid, const abPolyhedron* body, int nclip,
                          const abClipPlane* clip, int cap);
// Cuts by a plane, whose face gets the number `cap`. AB_CUT_FULL: no room, or the signs of rounding
// form no single cut; then the solid is spoilt.
abCut ab_small_solid_cut(abSmallSolid* solid, const abClipPlane* clip, int cap);
// Of what is left: the middle and the half lengths of the box about it.
void ab_small_solid_bounds(const abSmallSolid* solid, abVec3* middle, abVec3* half);
// How far it reaches against and along three axes: range[2 i] = max -a_i . x, range[2 i + 1] = max
// a_i . x.
void ab_small_solid_ranges(const abSmallSolid* solid, const abVec3 axis[3], double range[6]);
// After AB_CUT_TOUCH: does all of this face lie in the plane?
bool ab_small_solid_touches(const abSmallSolid* solid, int face);
#endif
