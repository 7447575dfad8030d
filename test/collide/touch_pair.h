// A pair of bodies for the tests of touch.c: defaults, checks that every patch must pass.
#ifndef ABUT_TEST_COLLIDE_TOUCH_PAIR_H
#define ABUT_TEST_COLLIDE_TOUCH_PAIR_H

#include "collide/touch/touch.h"
#include "geometry/polyhedron.h"
#include "math/spatial.h"
#include "support/check.h"
#include "support/random.h"

enum { TOUCH_ROOM = 9000 };

typedef struct Bench {
  abArena arena;
  abVec2 polygon[TOUCH_ROOM];
} Bench;

static inline Bench* bench_begin(void) {
  static Bench bench;
  ab_arena_init(&bench.arena, (size_t)1 << 24);
  return &bench;
}
static inline void bench_end(Bench* b) { ab_arena_free(&b->arena); }

static inline abShape box_shape(abVec3 half) {
  return (abShape){.type = AB_SHAPE_BOX, .size = half, .poly = ab_polyhedron_box(half)};
}
static inline abShape plane_shape(void) { return (abShape){.type = AB_SHAPE_PLANE}; }
// A polyhedron of n random points on an ellipsoid.
static inline abShape hull_shape(Random* r, int n, abVec3 radii) {
  static abVec3 point[4000];
  for (int i = 0; i < n; i++) point[i] = v3_mul(radii, random_direction(r));
  abShape s = {.type = AB_SHAPE_MESH, .poly = ab_polyhedron_hull(n, point, NULL)};
  assert_non_null(s.poly);
  return s;
}
static inline abShape round_shape(abShapeType type, abVec3 size) {
  abShape s = {.type = type, .size = size};
  s.poly = ab_polyhedron_of_shape(&s, 1e-2, &s.poly_error, NULL);
  assert_non_null(s.poly);
  return s;
}
// A shape of any type as a mesh moved in its frame: the general way.
static inline abShape mesh_of_box(abVec3 half) {
  abVec3 point[8];
  for (int i = 0; i < 8; i++)
    point[i] = v3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
  abShape s = {.type = AB_SHAPE_MESH, .poly = ab_polyhedron_hull(8, point, NULL)};
  assert_non_null(s.poly);
  return s;
}
static inline void free_shape(abShape* s) { ab_polyhedron_free((abPolyhedron*)s->poly); }

static inline abPose pose_at(abVec3 p, abVec3 turn) { return (abPose){p, quat_from_rotvec(turn)}; }

static inline abTouch touch_of(const abShape* a, abPose pa, const abShape* b, abPose pb) {
  return (abTouch){.shape1 = a,
                   .shape2 = b,
                   .pose1 = pa,
                   .pose2 = pb,
                   .com1 = pa.p,
                   .com2 = pb.p,
                   .h = 1e-2,
                   .margin = 1e-5,
                   .tolerance = 1e-3};
}

// Where a body is after a while.
static inline abPose coasted(abPose pose, abVec3 com, abTwist v, double time) {
  abQuat q = quat_from_rotvec(v3_scale(time, v.ang));
  abVec3 r = quat_rotate(q, v3_sub(pose.p, com));
  return (abPose){v3_axpy(time, v.lin, v3_add(com, r)), quat_mul(q, pose.q)};
}

// What holds for every patch: finite, convex, counter-clockwise, moments and depth those of the
// polygon, right-handed axes.
static inline void check_sound(const abPatch* p) {
  assert_true(v3_finite(p->center) && v3_finite(p->normal) && v3_finite(p->t1));
  assert_true(isfinite(p->h0) && isfinite(p->hx) && isfinite(p->hy) && isfinite(p->volume));
  assert_true(p->kind != AB_PATCH_NONE && p->nvert >= 3 && p->area > 0 && p->volume >= 0);
  check_near(v3_norm(p->normal), 1, 1e-12);
  check_vec_near(v3_cross(p->t1, p->t2), p->normal, 1e-12);
  double area = 0, most = -INFINITY, d = 0, mx = 0, my = 0;
  for (int i = 0; i < p->nvert; i++) d = fmax(d, v2_norm(p->polygon[i]));
  for (int i = 0; i < p->nvert; i++) {
    abVec2 a = p->polygon[i], b = p->polygon[(i + 1) % p->nvert],
           c = p->polygon[(i + 2) % p->nvert];
    double twice = v2_cross(a, b);
    area += 0.5 * twice;
    mx += twice * (a.x + b.x) / 6, my += twice * (a.y + b.y) / 6;
    most = fmax(most, p->h0 + p->hx * a.x + p->hy * a.y);
    // corners are rounded at 1e-16 of the bodies, and d is no less than 1e-5 of them
    assert_true(v2_cross(v2_sub(b, a), v2_sub(c, b)) >= -1e-9 * d * d);
  }
  check_near(p->area, area, 1e-9 * area);
  check_near(mx, 0, 1e-9 * area * d);
  check_near(my, 0, 1e-9 * area * d);
  check_near(p->depth, most, 1e-12 + 1e-9 * fabs(most));
}

// Thickness at a point of the world, taken along the normal.
static inline double thickness_at(const abPatch* p, abVec3 x) {
  abVec3 r = v3_sub(x, p->center);
  return p->h0 + p->hx * v3_dot(p->t1, r) + p->hy * v3_dot(p->t2, r);
}
static inline bool patch_holds(const abPatch* p, abVec3 x, double slack) {
  abVec3 r = v3_sub(x, p->center);
  abVec2 q = v2(v3_dot(p->t1, r), v3_dot(p->t2, r));
  for (int i = 0; i < p->nvert; i++) {
    abVec2 a = p->polygon[i], side = v2_sub(p->polygon[(i + 1) % p->nvert], a);
    if (v2_cross(side, v2_sub(q, a)) < -slack * v2_norm(side)) return false;
  }
  return true;
}

#endif
