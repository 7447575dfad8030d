// The patch of two bodies that lie on each other without depth, seen ahead: it holds all that the
// motion of the coming step can reach (touch.c).
#ifndef ABUT_COLLIDE_TOUCH_H
#define ABUT_COLLIDE_TOUCH_H

#include <abut/contact.h>

#include "base/arena.h"

// Gaps up to this part of the thinner body always belong to the patch: larger than what rounding
// and the law's own depth leave open, so that a patch at rest is whole.
#define AB_TOUCH_MARGIN 2e-5

typedef struct abTouch {
  const abShape *shape1, *shape2;  // at most one of them a plane
  abPose pose1, pose2;             // of the shapes, at the start of the step
  abVec3 com1, com2;               // points at which the twists are given
  abTwist twist1, twist2;  // what the bodies would do in the step without contact; world axes
  double h;                // the step
  double margin;           // least reach [m]: gaps up to this always belong to the patch
  double watch;  // gaps up to this keep the pair, at least the margin: what pushes one of the two
                 // in the step is not in their free motion
  double tolerance;  // overlap up to this still counts as separated when the normal is chosen
                     // (about 1e-3..1e-2 of the thinner body)
  const abVec3 *normal, *t1;  // of the same pair in the last step, NULL if there was none
  bool pressed;               // the pair carried a load then
  // The twists at the start of the step, NULL: the same as twist1, twist2. What lies on something
  // falls by g h^2 in the free motion of every step, but not in truth: the choice of the normal
  // goes by these.
  const abTwist *before1, *before2;
  // Accelerations that the velocities alone cause, NULL: none. What rolls is followed with them:
  // the axle of a wheel turns with the cart, not about the sum of both turnings.
  const abTwist *bias1, *bias2;
} abTouch;

// Most corners of a polygon, for the room.
int ab_touch_room(const abShape* a, const abShape* b);
// Fills the patch; false if the two cannot touch within the step. The polygon is convex, the
// thickness exactly affine: positive where the bodies overlap at the start of the step, negative
// where there is a gap. Nothing is allocated; scratch is given back.
bool ab_touch_patch(const abTouch* touch, abArena* scratch, abVec2* polygon, abPatch* patch);

// The gap of two shapes, negative where they overlap; then it is a lower bound, good to a few
// `tolerance` if *n is near. *n: the direction in which it is, from shape 2 to shape 1; on entry,
// if `guess`, where to look first.
double ab_touch_separation(const abShape* shape1, abPose pose1, const abShape* shape2, abPose pose2,
                           double tolerance, bool guess, abVec3* n);

#endif
