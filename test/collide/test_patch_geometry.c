// The contact patch: closed forms, fallbacks, and what must not depend on choices.
#include <float.h>
#include <stdio.h>

#include "collide/patch/patch.h"
#include "geometry/polyhedron.h"
#include "oracle/overlap.h"
#include "oracle/overlap_pairs.h"
#include "support/check.h"
#include "support/random.h"

static const double PI = 3.14159265358979323846;
static abArena arena;

typedef struct Made {
  abOverlap overlap;
  abPatch patch;
  abVec2 polygon[512];
} Made;

static void make(Made* m, const abPolyhedron* A, abPose a, const abPolyhedron* B, abPose b) {
  ab_arena_release(&arena, 0);
  assert_int_equal(ab_overlap(A, a, B, b, &arena, &m->overlap), AB_OK);
  assert_true(m->overlap.contact);
  abPatchHint hint = {.A = A, .B = B, .pose_a = a, .pose_b = b};
  assert_int_equal(ab_patch_make(&m->overlap, &hint, &arena, 512, m->polygon, &m->patch), AB_OK);
}

static abPose at(double x, double y, double z) { return (abPose){{x, y, z}, {1, 0, 0, 0}}; }
static abPose turned(double x, double y, double z, abQuat q) { return (abPose){{x, y, z}, q}; }

static void box_on_floor_has_the_moments_of_its_face(void** state) {
  (void)state;
  const double a = 0.4, b = 0.6, d = 0.01;
  abPolyhedron* box = ab_polyhedron_box(v3(a / 2, b / 2, 0.5));
  Made m;
  make(&m, box, at(3, -2, 0.5 - d), NULL, pose_identity());
  const abPatch* p = &m.patch;
  assert_int_equal(p->kind, AB_PATCH_SURFACE);
  assert_int_equal(p->nvert, 4);
  check_vec_near(p->normal, v3(0, 0, 1), 0);
  check_vec_near(p->t1, v3(1, 0, 0), 0);
  check_vec_near(p->center, v3(3, -2, -d / 2), 1e-14);
  check_near(p->area, a * b, 1e-15);
  check_near(p->h0, d, 1e-15);
  check_near(hypot(p->hx, p->hy), 0, 1e-14);
  check_near(p->depth, d, 1e-15);
  abMat6 Q;
  ab_patch_Q(p, &Q);
  double diagonal[6] = {
      a * b, a * b, a * b, a * b * b * b / 12, a * a * a * b / 12, a * b * (a * a + b * b) / 12};
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) check_near(Q.m[i][j], i == j ? diagonal[i] : 0, 1e-14);
  ab_polyhedron_free(box);
}

static void cube_on_its_corner(void** state) {
  (void)state;
  abPolyhedron* box = ab_polyhedron_box(v3(0.5, 0.5, 0.5));
  // the diagonal turned upright
  abVec3 diagonal = v3_unit(v3(1, 1, 1));
  abVec3 axis = v3_cross(diagonal, v3(0, 0, 1));
  abQuat q = quat_from_axis_angle(axis, acos(diagonal.z));
  for (double t = 1e-6; t < 0.5; t *= 10) {
    Made m;
    make(&m, box, turned(0, 0, 0.5 * sqrt(3) - t, q), NULL, pose_identity());
    // t itself is known to the rounding of coordinates of size 1
    double blur = 64 * DBL_EPSILON / t;
    check_near(m.patch.volume / (sqrt(3) / 2 * t * t * t), 1, blur);
    check_near(m.patch.area / (1.5 * sqrt(3) * t * t), 1, blur);
    check_near(m.patch.depth / t, 1, blur);
    check_vec_near(m.patch.normal, v3(0, 0, 1), 0);
    assert_int_equal(m.patch.nvert, 3);
    assert_int_equal(m.patch.kind, t < 4e-3 ? AB_PATCH_POINT : AB_PATCH_SURFACE);
  }
  ab_polyhedron_free(box);
}

static void cube_on_its_edge(void** state) {
  (void)state;
  const double length = 0.7;
  abPolyhedron* box = ab_polyhedron_box(v3(length / 2, 0.5, 0.5));
  for (double t = 1e-6; t < 0.5; t *= 10) {
    Made m;
    make(&m, box, turned(0, 0, sqrt(0.5) - t, quat_from_rotvec(v3(PI / 4, 0, 0))), NULL,
         pose_identity());
    double blur = 64 * DBL_EPSILON / t;
    check_near(m.patch.volume / (t * t * length), 1, blur);
    check_near(m.patch.area / (2 * t * length), 1, blur);
    check_near(m.patch.depth / t, 1, blur);
    assert_int_equal(m.patch.kind, t < 4e-3 ? AB_PATCH_LINE : AB_PATCH_SURFACE);
  }
  // tilted by any angle: still the floor's normal
  for (double tilt = 0.01; tilt < 1.5; tilt += 0.1) {
    Made m;
    double reach = 0.5 * (sin(tilt) + cos(tilt));
    make(&m, box, turned(0, 0, reach - 1e-4, quat_from_rotvec(v3(tilt, 0, 0))), NULL,
         pose_identity());
    check_vec_near(m.patch.normal, v3(0, 0, 1), 0);
  }
  ab_polyhedron_free(box);
}

static void crossed_edges(void** state) {
  (void)state;
  abPolyhedron* box = ab_polyhedron_box(v3(0.5, 0.5, 0.5));
  abQuat edge = quat_from_rotvec(v3(PI / 4, 0, 0));
  abQuat cross = quat_mul(quat_from_rotvec(v3(0, 0, PI / 2)), edge);
  for (double t = 1e-5; t < 0.5; t *= 10) {
    Made m;
    make(&m, box, turned(0, 0, 2 * sqrt(0.5) - t, cross), box, turned(0, 0, 0, edge));
    double blur = 256 * DBL_EPSILON / t;
    check_near(m.patch.volume / (2 * t * t * t / 3), 1, blur);
    check_near(m.patch.area / (2 * t * t), 1, blur);
    check_near(m.patch.depth / t, 1, blur);
    check_vec_near(m.patch.normal, v3(0, 0, 1), blur);
  }
  ab_polyhedron_free(box);
}

static void cubes_overlapping_at_a_corner_an_edge_and_overhanging(void** state) {
  (void)state;
  abPolyhedron* box = ab_polyhedron_box(v3(0.5, 0.5, 0.5));
  const double d = 0.125;
  Made m;
  make(&m, box, at(1 - d, 1 - d, 1 - d), box, pose_identity());
  check_vec_near(m.patch.normal, v3_unit(v3(1, 1, 1)), 1e-15);
  check_near(m.patch.volume, d * d * d, 1e-16);
  check_near(m.patch.area, sqrt(3) * d * d, 1e-15);
  check_near(m.patch.depth, sqrt(3) * d, 1e-15);
  make(&m, box, at(1 - d, 0, 1 - d), box, pose_identity());
  check_vec_near(m.patch.normal, v3_unit(v3(1, 0, 1)), 1e-15);
  check_near(m.patch.area, sqrt(2) * d, 1e-15);
  make(&m, box, at(0.25, 0, 1 - d), box, pose_identity());
  check_vec_near(m.patch.normal, v3_unit(v3(d, 0, 0.75)), 1e-15);
  ab_polyhedron_free(box);
}

// One body inside the other: no normal from the areas, so the shortest way out of a face.
static void contained_body_leaves_by_the_shortest_way(void** state) {
  (void)state;
  abPolyhedron *big = ab_polyhedron_box(v3(1, 2, 3)), *small = ab_polyhedron_box(v3(0.1, 0.1, 0.1));
  Made m;
  make(&m, small, at(0.5, 0, 0), big, pose_identity());
  check_vec_near(m.patch.normal, v3(1, 0, 0), 0);
  make(&m, big, pose_identity(), small, at(0.5, 0, 0));
  check_vec_near(m.patch.normal, v3(-1, 0, 0), 0);
  make(&m, small, at(0, -1.8, 0), big, pose_identity());
  check_vec_near(m.patch.normal, v3(0, -1, 0), 0);
  // a pair with a past keeps its normal
  abVec3 last = v3_unit(v3(0, 1, 2)), t1 = v3(1, 0, 0);
  abPatchHint hint = {.normal = &last, .t1 = &t1};
  abPatch p;
  assert_int_equal(ab_patch_make(&m.overlap, &hint, &arena, 512, m.polygon, &p), AB_OK);
  check_vec_near(p.normal, last, 0);
  ab_polyhedron_free(big);
  ab_polyhedron_free(small);
}

static void piercing_plates_keep_the_last_normal(void** state) {
  (void)state;
  abPolyhedron* plate = ab_polyhedron_box(v3(1, 1, 0.01));
  abPose b = turned(0, 0, 0, quat_from_rotvec(v3(PI / 2, 0, 0)));
  Made m;
  make(&m, plate, pose_identity(), plate, b);
  check_near(v3_norm(m.patch.normal), 1, 1e-15);
  abVec3 last = v3(1, 0, 0), t1 = v3(0, 1, 0);
  abPatchHint hint = {.normal = &last, .t1 = &t1};
  abPatch p;
  assert_int_equal(ab_patch_make(&m.overlap, &hint, &arena, 512, m.polygon, &p), AB_OK);
  check_vec_near(p.normal, last, 0);
  ab_polyhedron_free(plate);
}

static void tangents_are_carried_over(void** state) {
  (void)state;
  abPolyhedron* box = ab_polyhedron_box(v3(0.5, 0.5, 0.5));
  abVec3 normal = v3(0, 0, 1), t1 = v3_unit(v3(1, 2, 0));
  Random r = {5};
  for (int i = 0; i < 300; i++) {
    abVec3 turn = v3_scale(0.05, random_direction(&r));
    abQuat step = quat_from_rotvec(turn);
    abVec3 next = quat_rotate(step, normal);
    abPose plane = {v3_zero(), quat_identity()};
    abVec3 axis = v3_cross(v3(0, 0, 1), next);
    double angle = atan2(v3_norm(axis), next.z);
    if (v3_norm(axis) > 0) plane.q = quat_from_axis_angle(axis, angle);
    abOverlap o;
    ab_arena_release(&arena, 0);
    ab_overlap(box, pose_identity(), NULL, plane, &arena, &o);
    abPatchHint hint = {.normal = &normal, .t1 = &t1};
    abVec2 polygon[64];
    abPatch p;
    assert_int_equal(ab_patch_make(&o, &hint, &arena, 64, polygon, &p), AB_OK);
    check_near(v3_dot(p.t1, p.normal), 0, 1e-15);
    check_vec_near(v3_cross(p.t1, p.t2), p.normal, 1e-15);
    // no more than the normal turned
    check_below(v3_norm(v3_sub(p.t1, t1)), v3_norm(v3_sub(p.normal, normal)) * 1.01 + 1e-15);
    normal = p.normal, t1 = p.t1;
  }
  ab_polyhedron_free(box);
}

// Volume, and first moment zero about the barycentre: what the affine thickness promises.
static void affine_thickness_has_the_volume_and_no_moment(void** state) {
  (void)state;
  int checked = 0;
  for (uint64_t i = 1; i < 3000; i++) {
    TestPair pair = pair_make(i);
    abOverlap o;
    ab_arena_release(&arena, 0);
    ab_overlap(pair.A, pair.pose_a, pair.B, pair.pose_b, &arena, &o);
    if (o.contact) {
      Made m;
      make(&m, pair.A, pair.pose_a, pair.B, pair.pose_b);
      const abPatch* p = &m.patch;
      double size = sqrt(p->area), width = p->area > 0 ? p->volume / p->area : 0;
      // thinner than this and the polygon itself is rounding
      if (p->area > 0 && width > 1e-9 && p->kind == AB_PATCH_SURFACE) {
        check_near((p->h0 * p->area + p->hx * p->mx + p->hy * p->my) / p->volume, 1, 1e-9);
        check_near((p->h0 * p->mx + p->hx * p->mxx + p->hy * p->mxy) / (p->volume * size), 0, 1e-9);
        check_near((p->h0 * p->my + p->hx * p->mxy + p->hy * p->myy) / (p->volume * size), 0, 1e-9);
        checked++;
      }
    }
    pair_free(&pair);
  }
  assert_true(checked > 1000);
}

// Half the sum of |n . a_j| counts the projection once; and the polygon is convex and about p0.
static void polygon_is_the_projection_counted_once(void** state) {
  (void)state;
  for (uint64_t i = 1; i < 2000; i++) {
    TestPair pair = pair_make(i);
    abOverlap o;
    ab_arena_release(&arena, 0);
    ab_overlap(pair.A, pair.pose_a, pair.B, pair.pose_b, &arena, &o);
    if (o.contact) {
      Made m;
      make(&m, pair.A, pair.pose_a, pair.B, pair.pose_b);
      abVec3 n = quat_rotate(quat_conj(m.overlap.frame.q), m.patch.normal);
      double twice = 0;
      for (int f = 0; f < m.overlap.nface; f++) twice += fabs(v3_dot(n, m.overlap.face[f].vector));
      double noise = 64 * m.overlap.noise * sqrt(m.overlap.area[0]);
      check_near(m.patch.area, twice / 2, 1e-9 * twice + noise);
      for (int k = 0; k < m.patch.nvert && m.patch.nvert > 2; k++) {
        abVec2 a = m.polygon[k], b = m.polygon[(k + 1) % m.patch.nvert],
               c = m.polygon[(k + 2) % m.patch.nvert];
        assert_true(v2_cross(v2_sub(b, a), v2_sub(c, b)) > 0);
        check_below(-v2_cross(a, b), noise);
      }
    }
    pair_free(&pair);
  }
}

// Q against sums over a fine division of the polygon.
static void Q_is_the_integral_of_KtK(void** state) {
  (void)state;
  abPolyhedron *A = ab_polyhedron_box(v3(0.5, 0.4, 0.3)), *B = ab_polyhedron_box(v3(0.3, 0.6, 0.2));
  Made m;
  make(&m, A, turned(0.1, 0.2, 0.4, quat_from_rotvec(v3(0.2, 0.5, 0.8))), B, pose_identity());
  abMat6 Q, sum = {{{0}}};
  ab_patch_Q(&m.patch, &Q);
  const abPatch* p = &m.patch;
  for (int k = 0; k < p->nvert; k++) {
    // midpoints of the sides of a triangle integrate quadratics exactly
    abVec2 c[3] = {{0, 0}, p->polygon[k], p->polygon[(k + 1) % p->nvert]};
    double weight = v2_cross(c[1], c[2]) / 6;
    for (int e = 0; e < 3; e++) {
      abVec2 x = v2_scale(0.5, v2_add(c[e], c[(e + 1) % 3]));
      abVec3 r = v3_add(v3_scale(x.x, p->t1), v3_scale(x.y, p->t2));
      double K[3][6] = {{1, 0, 0, 0, r.z, -r.y}, {0, 1, 0, -r.z, 0, r.x}, {0, 0, 1, r.y, -r.x, 0}};
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
          for (int l = 0; l < 3; l++) sum.m[i][j] += weight * K[l][i] * K[l][j];
    }
  }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) check_near(Q.m[i][j], sum.m[i][j], 1e-15);
  ab_polyhedron_free(A);
  ab_polyhedron_free(B);
}

static double polygon_area(int n, const abVec2* p) {
  double area = 0;
  for (int i = 0; i < n; i++) area += v2_cross(p[i], p[(i + 1) % n]) / 2;
  return area;
}

static void hull_of_points_in_line_is_their_ends(void** state) {
  (void)state;
  abVec2 p[64], hull[128];
  for (int i = 0; i < 20; i++) p[i] = v2(0.1 * ((i * 7) % 20), 0.3 * ((i * 7) % 20));
  assert_int_equal(ab_hull2(20, p, hull), 2);
  for (int i = 0; i < 5; i++) p[i] = v2(3, 4);
  assert_int_equal(ab_hull2(5, p, hull), 1);
  // columns blurred in x by rounding keep their ends
  Random r = {9};
  for (int i = 0; i < 40; i++)
    p[i] =
        v2((i % 2 ? 1 : -1) * (1 + 1e-16 * random_uniform(&r, -4, 4)), random_uniform(&r, -1, 1));
  p[0] = v2(-1, -1), p[2] = v2(-1, 1), p[1] = v2(1, -1), p[3] = v2(1, 1);
  int n = ab_hull2(40, p, hull);
  assert_int_equal(n, 4);
  check_near(polygon_area(n, hull), 4, 1e-14);
}

static void thickness_is_the_longest_chord(void** state) {
  (void)state;
  Random r = {11};
  int checked = 0, slivers = 0, unsolved = 0;
  for (uint64_t i = 1; i < 900; i++) {
    TestPair pair = pair_make(i);
    abOverlap o;
    ab_arena_release(&arena, 0);
    ab_overlap(pair.A, pair.pose_a, pair.B, pair.pose_b, &arena, &o);
    for (int k = 0; o.contact && k < 2; k++) {
      // along the contact normal, where slivers are thinnest, and along any
      abPatchHint hint = {.A = pair.A, .B = pair.B, .pose_a = pair.pose_a, .pose_b = pair.pose_b};
      abVec3 n = k ? random_direction(&r)
                   : quat_rotate(quat_conj(o.frame.q), ab_overlap_normal(&o, &hint));
      double depth = ab_overlap_thickness(&o, n, &arena);
      double expected = oracle_overlap_chord(&o, n);
      if (expected < 0) {
        unsolved++;
        continue;
      }
      // the planes are known to the noise; a chord between them to that over the angle they make
      check_near(depth, expected, 2e-6 * expected + 64 * o.noise);
      checked++;
      slivers += o.volume < 1e-9 * o.size * o.size * o.size;
    }
    pair_free(&pair);
  }
  if (checked == 0) return;  // without GLPK
  check_below(500, checked);
  check_below(50, slivers);
  check_below(unsolved, 0.05 * checked);
}

// The dual simplex against the search over the whole overlay, along the contact normal.
static void depth_agrees_with_the_search_everywhere(void** state) {
  (void)state;
  for (uint64_t i = 1; i < 4000; i++) {
    TestPair pair = pair_make(i);
    abOverlap o;
    ab_arena_release(&arena, 0);
    ab_overlap(pair.A, pair.pose_a, pair.B, pair.pose_b, &arena, &o);
    if (o.contact) {
      Made m;
      make(&m, pair.A, pair.pose_a, pair.B, pair.pose_b);
      abVec3 n = quat_rotate(quat_conj(m.overlap.frame.q), m.patch.normal);
      double expected = oracle_overlap_thickness(&m.overlap, n, &arena);
      check_near(m.patch.depth, expected, 2e-6 * expected + 64 * m.overlap.noise);
    }
    pair_free(&pair);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_on_floor_has_the_moments_of_its_face),
      cmocka_unit_test(cube_on_its_corner),
      cmocka_unit_test(cube_on_its_edge),
      cmocka_unit_test(crossed_edges),
      cmocka_unit_test(cubes_overlapping_at_a_corner_an_edge_and_overhanging),
      cmocka_unit_test(contained_body_leaves_by_the_shortest_way),
      cmocka_unit_test(piercing_plates_keep_the_last_normal),
      cmocka_unit_test(tangents_are_carried_over),
      cmocka_unit_test(affine_thickness_has_the_volume_and_no_moment),
      cmocka_unit_test(polygon_is_the_projection_counted_once),
      cmocka_unit_test(Q_is_the_integral_of_KtK),
      cmocka_unit_test(hull_of_points_in_line_is_their_ends),
      cmocka_unit_test(thickness_is_the_longest_chord),
      cmocka_unit_test(depth_agrees_with_the_search_everywhere),
  };
  ab_arena_init(&arena, (size_t)1 << 28);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  ab_arena_free(&arena);
  return failed;
}
