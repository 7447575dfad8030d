// The contact patch of an overlap (patch.c), and its largest thickness (patch_depth.c).
#ifndef ABUT_COLLIDE_PATCH_H
#define ABUT_COLLIDE_PATCH_H

#include <abut/contact.h>

#include "collide/intersect.h"

// What helps to choose a frame; each may be NULL.
typedef struct abPatchHint {
  const abVec3* fixed;   // the normal to use whatever the overlap says, from B to A
  const abVec3* normal;  // of the same pair in the last step, from B to A
  const abVec3* t1;      // likewise
  const abPolyhedron *A, *B;
  abPose pose_a, pose_b;
} abPatchHint;

// Fills the patch of an overlap that is in contact. polygon has room for polygon_cap points, enough
// if that is overlap->nvert. Scratch from the arena, given back; AB_ERROR_MEMORY if it is
// exhausted.
abStatus ab_patch_make(const abOverlap* overlap, const abPatchHint* hint, abArena* scratch,
                       int polygon_cap, abVec2* polygon, abPatch* patch);

// Parts of it, for patches whose overlap is known in closed form. The tangents to patch->normal;
// and all that follows from normal, volume and polygon (nvert corners of a loop that may have
// corners to spare): the polygon cleaned, its moments, thickness and kind. `size` and `noise` as in
// abOverlap. False if the loop is not convex.
void ab_patch_tangents(const abPatchHint* hint, abPatch* patch);
bool ab_patch_finish(abVec2* polygon, double size, double noise, abPatch* patch);

// The restitution normal of an overlap in contact, world, from B to A.
abVec3 ab_overlap_normal(const abOverlap* overlap, const abPatchHint* hint);

// Where the overlap is cut by the contact plane of the patch, in the plane coordinates of the
// patch, counter-clockwise: the polygon that the authors' own program of Wakisaka & Sugihara uses
// for friction. Never larger than the projection patch->polygon, and equal to it where the overlap
// has sides parallel to the normal (a resting box); a wedge's section is half as wide as its
// projection where the plane halves its height. polygon has room for overlap->nedge points; returns
// their number, -1 if the scratch is exhausted.
int ab_patch_section(const abOverlap* overlap, const abPatch* patch, abArena* scratch,
                     abVec2* polygon);

// Convex hull of n points, counter-clockwise, without points on its sides (to rounding); sorts the
// points. hull has room for 2 n. Returns the number of corners.
int ab_hull2(int n, abVec2* point, abVec2* hull);

// Length of the longest chord of the overlap along the unit vector n (frame coordinates).
double ab_overlap_thickness(const abOverlap* overlap, abVec3 n, abArena* scratch);

// Direction (world, from B to A) in which a face of either body leads out of the other by the
// shortest way; *depth is that way. A or B may be NULL: a half-space.
abVec3 ab_least_penetration(const abPolyhedron* A, abPose pose_a, const abPolyhedron* B,
                            abPose pose_b, double* depth);

#endif
