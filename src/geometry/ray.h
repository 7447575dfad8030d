// Where a ray enters a shape. Tests: test/test_query.c.
#ifndef ABUT_GEOMETRY_RAY_H
#define ABUT_GEOMETRY_RAY_H

#include <abut/model.h>

// The ray origin + t direction, t >= 0, in the shape's frame. True where it goes in; *t and the
// outward normal there. A shape that holds the origin is not entered.
bool ab_ray_shape(const abShape* shape, abVec3 origin, abVec3 direction, double* t, abVec3* normal);

#endif
