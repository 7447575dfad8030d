// Support points, bounding balls and boxes.
#include "geometry/support.h"

#include "geometry/polyhedron.h"
#include "math/rotation.h"
#include "support/check.h"
#include "support/random.h"

static const abShape smooth[] = {{AB_SHAPE_BOX, {0.1, 0.2, 0.3}, NULL, 0},
                                 {AB_SHAPE_SPHERE, {0.4, 0, 0}, NULL, 0},
                                 {AB_SHAPE_CAPSULE, {0.2, 0.5, 0}, NULL, 0},
                                 {AB_SHAPE_CYLINDER, {0.3, 0.1, 0}, NULL, 0},
                                 {AB_SHAPE_ELLIPSOID, {0.1, 0.2, 0.3}, NULL, 0}};
enum { NSMOOTH = sizeof smooth / sizeof *smooth };

// A fine tessellation never reaches farther than the support point, and nearly as far.
static void support_is_the_limit_of_tessellations(void** state) {
  (void)state;
  Random r = {1};
  for (int i = 0; i < NSMOOTH; i++) {
    abShape mesh = {.type = AB_SHAPE_MESH};
    mesh.poly = ab_polyhedron_of_shape(&smooth[i], 0.001, NULL, NULL);
    for (int trial = 0; trial < 200; trial++) {
      abVec3 d = random_direction(&r);
      double exact = v3_dot(d, ab_support(&smooth[i], d)), near = v3_dot(d, ab_support(&mesh, d));
      check_below(near, exact + 1e-15);
      check_below(exact - near, 2e-3 * ab_shape_radius(&smooth[i]));
    }
    check_near(mesh.poly->radius, ab_shape_radius(&smooth[i]), 1e-15);
    ab_polyhedron_free((abPolyhedron*)mesh.poly);
  }
}

static void boxes_are_tight_in_every_pose(void** state) {
  (void)state;
  Random r = {2};
  for (int i = 0; i < NSMOOTH; i++)
    for (int trial = 0; trial < 100; trial++) {
      abPose pose = {random_vec(&r, 3), random_rotation(&r)};
      abVec3 low, high;
      ab_shape_aabb(&smooth[i], &pose, &low, &high);
      for (int k = 0; k < 3; k++) {
        abVec3 e = v3(k == 0, k == 1, k == 2), d = quat_rotate(quat_conj(pose.q), e);
        abVec3 top = pose_apply(pose, ab_support(&smooth[i], d));
        abVec3 bottom = pose_apply(pose, ab_support(&smooth[i], v3_neg(d)));
        check_near(v3_get(high, k), v3_get(top, k), 1e-14);
        check_near(v3_get(low, k), v3_get(bottom, k), 1e-14);
      }
    }
}

static void planes_are_boundless(void** state) {
  (void)state;
  abShape plane = {.type = AB_SHAPE_PLANE};
  abPose pose = pose_identity();
  abVec3 low, high;
  ab_shape_aabb(&plane, &pose, &low, &high);
  assert_true(isinf(low.x) && isinf(high.z) && low.x < 0 && high.z > 0);
  assert_true(isinf(ab_shape_radius(&plane)));
}

static void support_is_defined_along_the_axes(void** state) {
  (void)state;
  for (int i = 0; i < NSMOOTH; i++)
    for (int k = 0; k < 6; k++) {
      abVec3 d = v3_scale(k < 3 ? 1 : -1, v3(k % 3 == 0, k % 3 == 1, k % 3 == 2));
      abVec3 p = ab_support(&smooth[i], d);
      assert_true(v3_finite(p));
      abVec3 tiny = ab_support(&smooth[i], v3_scale(1e-140, d));
      check_vec_near(tiny, p, 1e-15);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(support_is_the_limit_of_tessellations),
      cmocka_unit_test(boxes_are_tight_in_every_pose),
      cmocka_unit_test(planes_are_boundless),
      cmocka_unit_test(support_is_defined_along_the_axes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
