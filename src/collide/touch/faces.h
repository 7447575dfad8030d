// Shared by faces.c and side.c.
#ifndef ABUT_COLLIDE_TOUCH_FACES_H
#define ABUT_COLLIDE_TOUCH_FACES_H

#include "collide/touch/work.h"

// A projected face.
typedef struct abTouchFace {
  int n;
  abVec2 at;       // in the plane about the work's origin; what follows is counted from there, so
                   // that a face keeps its shape to the last digit wherever it is
  abVec2* corner;  // counter-clockwise
  abVec2 middle;   // mean of the corners
  double z;        // height there
  abVec2 slope;
  bool all;  // the whole plane
} abTouchFace;

// The face of body i that looks at the other along the feature's direction, which is the patch's
// normal, at the start.
void ab_touch_take_side(const abTouchWork* work, int i, const abTouchFeature* feature,
                        const abPatch* patch, abTouchFace* face);
// Of a body that could pass the other's surface as a whole within the step, its outline instead.
void ab_touch_take_outline(const abTouchWork* work, int i, const abPatch* patch, abTouchFace* face);

#endif
