// Shapes as sets { x : f_i(x) <= 0 for all i } with convex f_i whose gradient is the unit outward
// normal where f_i = 0.
#ifndef ABUT_GEOMETRY_IMPLICIT_H
#define ABUT_GEOMETRY_IMPLICIT_H

#include <abut/model.h>

// How many functions: one per face of boxes and meshes (in the order of shape.poly's faces), one
// for plane, sphere, capsule and ellipsoid, three for a cylinder (side, top, bottom).
int ab_implicit_count(const abShape* shape);
// Function i at x, in the shape's frame, with its gradient and Hessian; each output may be NULL.
void ab_implicit_eval(const abShape* shape, int i, abVec3 x, double* f, abVec3* grad, abMat3* hess);

#endif
