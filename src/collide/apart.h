// Are two boxes certain to be apart? (apart.c)
#ifndef ABUT_COLLIDE_APART_H
#define ABUT_COLLIDE_APART_H

#include "geometry/polyhedron.h"

// The bounding boxes of two bodies, the second's frame at (R, p) in that of the first: further
// apart than `margin`? False may also mean that it takes more than boxes to tell.
bool ab_boxes_apart(const abSkin* a, const abSkin* b, const abMat3* R, abVec3 p, double margin);

#endif
