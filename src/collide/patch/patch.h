// The contact patch of an overlap (patch.c), and its largest thickness (depth.c).
#ifndef ABUT_COLLIDE_PATCH_H
#define ABUT_COLLIDE_PATCH_H

#include <abut/contact.h>

#include "collide/clip/intersect.h"
#include "math/rotation.h"

// What helps to choose a frame; each may be NULL.
typedef struct abPatchHint {
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

// For patches whose overlap is known in closed form, all that follows from normal, volume and
// polygon (nvert corners of a loop that may have corners to spare): the polygon cleaned, its
// moments, thickness and kind. `size` and `noise` as in abOverlap. False if the loop is not convex.
bool ab_patch_finish(abVec2* polygon, double size, double noise, abPatch* patch);
// The same for a polygon that needs no cleaning.
void ab_patch_measure(double size, double noise, abPatch* patch);

// Tangents that turn no more than they must since the last step: t1 is carried by the smallest
// rotation from the last normal to this one. A new pair takes the fixed rule of v3_tangents.
static inline void ab_patch_tangents(const abPatchHint* hint, abPatch* p) {
  abVec3 n = p->normal;
  if (!hint->t1 || !hint->normal || v3_dot(*hint->normal, n) < -0.5) {
    v3_tangents(n, &p->t1, &p->t2);
    return;
  }
  // R x = x + a x x + a x (a x x) / (1 + c), a = n0 x n, c = n0 . n
  abVec3 a = v3_cross(*hint->normal, n);
  double c = v3_dot(*hint->normal, n);
  abVec3 ax = v3_cross(a, *hint->t1);
  abVec3 t = v3_axpy(1 / (1 + c), v3_cross(a, ax), v3_add(*hint->t1, ax));
  p->t1 = v3_unit(v3_axpy(-v3_dot(n, t), n, t));
  p->t2 = v3_cross(n, p->t1);
}

// The z axis of a frame, for a unit quaternion; at unit length whatever rounding has done to that:
// where it has done no more, one step of Newton's method is as good as a root.
static inline abVec3 ab_plane_normal(abQuat q) {
  abVec3 n =
      v3(2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y));
  double over = v3_norm2(n) - 1;
  return fabs(over) < 1e-8 ? v3_scale(1 - 0.5 * over, n) : v3_unit(n);
}

// The restitution normal of an overlap in contact, world, from B to A.
abVec3 ab_overlap_normal(const abOverlap* overlap, const abPatchHint* hint);

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
