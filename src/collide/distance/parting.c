// The shortest way out of an overlap.
//
// Along a unit vector n from shape 2 to shape 1 the two overlap by
//     depth(n) = max over 2 of n . x - min over 1 of n . x,
// and a shift of shape 1 by depth(n) n parts them, whatever n is. The depth is the least over all
// n. For two polyhedra that is a normal of a face of either, or the cross product of an edge of one
// and an edge of the other (separating axes), so that it is found by trying them all; where there
// are too many products, and for smooth shapes, the normals of the faces (of the tessellation) and
// the line of centres give a bound.
// Tests: test_query.
#include "collide/distance/parting.h"

#include <math.h>

#include "geometry/support.h"
#include "math/rotation.h"

enum { MOST_PRODUCTS = 4096 };

typedef struct Side {
  const abShape* shape;
  abPose pose;
} Side;

static abVec3 farthest(const Side* s, abVec3 n) {
  return pose_apply(s->pose, ab_support(s->shape, quat_rotate(quat_conj(s->pose.q), n)));
}

static void try(const Side* one, const Side* two, abVec3 n, abParting* best) {
  double size = v3_norm(n);
  if (!(size > 1e-9)) return;  // parallel edges; the unit vectors' products are of order 1
  n = v3_scale(1 / size, n);
  abVec3 point1 = farthest(one, v3_neg(n));
  double depth = v3_dot(n, v3_sub(farthest(two, n), point1));
  if (depth < best->depth) best->depth = depth, best->normal = n, best->point1 = point1;
}

static void try_both(const Side* one, const Side* two, abVec3 n, abParting* best) {
  try(one, two, n, best);
  try(one, two, v3_neg(n), best);
}

static abVec3 edge_direction(const Side* s, int e) {
  const abPolyhedron* p = s->shape->poly;
  return quat_rotate(s->pose.q, v3_unit(v3_sub(p->vert[p->edge[e][1]], p->vert[p->edge[e][0]])));
}

static bool is_polyhedron(const abShape* s) {
  return s->type == AB_SHAPE_BOX || s->type == AB_SHAPE_MESH;
}

abParting ab_parting(const abShape* shape1, abPose pose1, const abShape* shape2, abPose pose2) {
  const Side one = {shape1, pose1}, two = {shape2, pose2};
  const abPolyhedron *p1 = shape1->poly, *p2 = shape2->poly;
  abParting best = {.depth = INFINITY};
  try_both(&one, &two, v3(0, 0, 1), &best);  // so that there is always an answer
  try_both(&one, &two, v3_sub(pose1.p, pose2.p), &best);
  for (int f = 0; p1 && f < p1->nface; f++)
    try(&one, &two, v3_neg(quat_rotate(pose1.q, p1->plane[f].n)), &best);
  for (int f = 0; p2 && f < p2->nface; f++)
    try(&one, &two, quat_rotate(pose2.q, p2->plane[f].n), &best);
  best.shortest = is_polyhedron(shape1) && is_polyhedron(shape2) && p1 && p2 &&
                  p1->nedge <= MOST_PRODUCTS / p2->nedge;
  for (int i = 0; best.shortest && i < p1->nedge; i++) {
    abVec3 e = edge_direction(&one, i);
    for (int j = 0; j < p2->nedge; j++)
      try_both(&one, &two, v3_cross(e, edge_direction(&two, j)), &best);
  }
  return best;
}
