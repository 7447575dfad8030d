// Shortcuts against the general way: the box that stands on a plane, and boxes that are apart.
#include <float.h>

#include "collide/boxes/box_plane.h"
#include "collide/clip/intersect.h"
#include "collide/clip/overlap.h"
#include "collide/distance/gjk.h"
#include "geometry/polyhedron.h"
#include "math/rotation.h"
#include "support/check.h"
#include "support/random.h"

static abArena arena;

// One of the box's 24 ways to stand, turned about the vertical and tilted by up to `tilt`.
static abQuat stand(Random* r, double tilt) {
  abQuat q = quat_from_rotvec(random_vec(r, tilt));
  q = quat_mul(q, quat_from_axis_angle(v3(0, 0, 1), 7 * random_uniform(r, 0, 1)));
  int face = (int)(6 * random_uniform(r, 0, 1));
  abVec3 axis = face < 4 ? v3(1, 0, 0) : v3(0, 1, 0);
  double quarter = 1.5707963267948966 * (face < 4 ? face : 2 * face - 9);
  return quat_unit(quat_mul(q, quat_from_axis_angle(axis, quarter)));
}

static void check_same(const abPatch* a, const abPatch* b, double size, double blur) {
  double s2 = size * size, s4 = s2 * s2;
  assert_int_equal(a->kind, b->kind);
  check_near(a->volume, b->volume, blur * s2);
  check_vec_near(a->center, b->center, 1e-12 * size + blur * size / b->depth);
  check_vec_near(a->normal, b->normal, 0);
  check_vec_near(a->t1, b->t1, 0);
  check_vec_near(a->t2, b->t2, 0);
  check_near(a->area, b->area, 1e-12 * s2);
  double shift = 1e-12 + blur / b->depth;  // of the centre
  check_near(a->mxx, b->mxx, shift * s4);
  check_near(a->mxy, b->mxy, shift * s4);
  check_near(a->myy, b->myy, shift * s4);
  check_near(a->depth, b->depth, 4 * blur);
  // the field itself, at the centre and a size away
  check_near(a->h0, b->h0, 64 * blur);
  check_near(a->hx * size, b->hx * size, 64 * blur);
  check_near(a->hy * size, b->hy * size, 64 * blur);
}

static void standing_box_has_the_patch_of_its_overlap(void** state) {
  (void)state;
  Random r = {3};
  int met = 0;
  for (int i = 0; i < 3000; i++) {
    double tilt = pow(10, -9 + 9 * random_uniform(&r, 0, 1)),
           depth = pow(10, -6 + 5 * random_uniform(&r, 0, 1));
    abVec3 half = v3(0.1 + random_uniform(&r, 0, 1), 0.1 + random_uniform(&r, 0, 1),
                     0.1 + random_uniform(&r, 0, 1));
    abPolyhedron* poly = ab_polyhedron_box(half);
    abShape box = {.type = AB_SHAPE_BOX, .size = half, .poly = poly};
    abPose plane = {random_vec(&r, 1), random_rotation(&r)}, pose = {{0, 0, 0}, stand(&r, tilt)};
    double low = 0;
    for (int v = 0; v < 8; v++) low = fmin(low, quat_rotate(pose.q, poly->vert[v]).z);
    pose.p = v3(random_uniform(&r, 0, 1), random_uniform(&r, 0, 1), -low - depth);
    abPatchHint hint = {.A = poly,
                        .pose_a = {pose_apply(plane, pose.p), quat_mul(plane.q, pose.q)},
                        .pose_b = plane};
    abVec2 polygon[2][16];
    abPatch fast, slow;
    abOverlap o;
    ab_arena_release(&arena, 0);
    assert_int_equal(ab_overlap(poly, hint.pose_a, NULL, plane, &arena, &o), AB_OK);
    if (ab_box_plane_patch(&box, &hint, polygon[0], &fast)) {
      assert_true(o.contact);
      assert_int_equal(ab_patch_make(&o, &hint, &arena, 16, polygon[1], &slow), AB_OK);
      check_same(&fast, &slow, o.size, 16 * o.noise + 16 * DBL_EPSILON * 4);
      met++;
    } else {
      // left to the general way only where a corner of the lower face is above or nearly so
      check_below(depth, 4 * tilt + 1e-9);
    }
    ab_polyhedron_free(poly);
  }
  check_below(1000, met);
}

// Boxes are called apart if and only if their distance says so: the fifteen axes decide.
static void boxes_are_apart_if_their_distance_says_so(void** state) {
  (void)state;
  Random r = {11};
  int apart = 0;
  for (int i = 0; i < 20000; i++) {
    abVec3 ha = v3(random_uniform(&r, 0.01, 0.5), random_uniform(&r, 0.01, 0.5), 0.2);
    abVec3 hb = v3(random_uniform(&r, 0.01, 0.5), 0.1, random_uniform(&r, 0.01, 0.5));
    abPolyhedron *A = ab_polyhedron_box(ha), *B = ab_polyhedron_box(hb);
    abShape a = {.type = AB_SHAPE_BOX, .size = ha, .poly = A},
            b = {.type = AB_SHAPE_BOX, .size = hb, .poly = B};
    abPose pose = {random_vec(&r, 0.6), random_rotation(&r)};
    abOverlapWork work;
    assert_int_equal(ab_overlap_begin(&work, A, pose_identity(), B, pose), AB_OK);
    bool told = ab_overlap_sat(&work);
    abDistance d;
    ab_distance(&a, pose_identity(), &b, pose, NULL, &d);
    double separation = d.overlap ? 0 : d.separation;
    if (told) assert_false(d.overlap);
    if (!told) check_below(separation, 1e-9);
    apart += told;
    ab_polyhedron_free(A);
    ab_polyhedron_free(B);
  }
  check_below(5000, apart);
}

int main(void) {
  ab_arena_init(&arena, (size_t)1 << 24);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(standing_box_has_the_patch_of_its_overlap),
      cmocka_unit_test(boxes_are_apart_if_their_distance_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
