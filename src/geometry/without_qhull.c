// In place of hull.c, where abut is built without qhull.
#include "base/error.h"
#include "geometry/polyhedron.h"

abPolyhedron* ab_polyhedron_hull_flat(int n, const abVec3* point, double flat, abError* error) {
  (void)n, (void)point, (void)flat;
  ab_fail(error, AB_ERROR_UNSUPPORTED, NULL, 0,
          "this build of abut computes no convex hulls (it was made without qhull)");
  return NULL;
}

abPolyhedron* ab_polyhedron_hull(int n, const abVec3* point, abError* error) {
  return ab_polyhedron_hull_flat(n, point, AB_FLAT, error);
}
