// Extreme points and bounds of shapes: exact for the smooth ones, not those of their tessellation.
#ifndef ABUT_GEOMETRY_SUPPORT_H
#define ABUT_GEOMETRY_SUPPORT_H

#include <abut/model.h>

// The farthest point of the shape in a direction (of any length, not zero), in the shape's frame.
// Where a whole edge or face is farthest, one corner of it, always the same. Not for planes.
abVec3 ab_support(const abShape* shape, abVec3 dir_local);
// Of the smallest ball about the frame's origin that holds the shape; INFINITY for planes.
double ab_shape_radius(const abShape* shape);
// The tight box in world axes; infinite for planes.
void ab_shape_aabb(const abShape* shape, const abPose* pose, abVec3* low, abVec3* high);
// A box that holds it, of a mesh with many vertices a roomier one that costs nothing.
void ab_shape_reach(const abShape* shape, const abPose* pose, abVec3* low, abVec3* high);

#endif
