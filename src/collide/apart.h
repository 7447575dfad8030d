// Are two boxes certain to be apart, and if not, where do they meet? (apart.c)
#ifndef ABUT_COLLIDE_APART_H
#define ABUT_COLLIDE_APART_H

#include "geometry/polyhedron.h"

// The bounding boxes of two bodies, the second's frame at (R, p) in that of the first: further
// apart than `margin`? False may also mean that it takes more than boxes to tell.
bool ab_boxes_apart(const abSkin* a, const abSkin* b, const abMat3* R, abVec3 p, double margin);

// Of two boxes that overlap: the axes along which they do so least.
typedef struct abMeeting {
  int face;     // 0 to 2: along the axis of the first, 3 to 5: of the second; -1: apart
  int edge[2];  // across the axes of the first and of the second,
  bool edges;   // and along this product less than along any face
} abMeeting;

// The same question, and where they meet if they are not apart.
bool ab_boxes_meet(const abSkin* a, const abSkin* b, const abMat3* R, abVec3 p, double margin,
                   abMeeting* meeting);

#endif
