// Round shapes touch along a line or at a point, and roll.
#include "math/spatial.h"
#include "support/check.h"
#include "support/world.h"

static const double g = 9.8;
static const char* const models[] = {"patch", "volume-pgs", "volume-qp", "volume-penalty"};

static abQuat lying(void) { return quat_from_rotvec(v3(3.141592653589793 / 2, 0, 0)); }

// Thrown without spin, a cylinder ends rolling at 2/3 of its speed, a ball at 5/7.
static void thrown_shapes_end_rolling(void** state) {
  (void)state;
  for (int m = 0; m < 4; m++)
    for (int ball = 0; ball < 2; ball++) {
      World w = world_begin(1e-3, true);
      w.mu_static = w.mu_kinetic = 0.3;
      double R = 0.1;
      int body = ball ? world_add_shape(&w, AB_SHAPE_SPHERE, v3(R, 0, 0), 1,
                                        (abPose){v3(0, 0, R), quat_identity()})
                      : world_add_shape(&w, AB_SHAPE_CYLINDER, v3(R, 0.15, 0), 1,
                                        (abPose){v3(0, 0, R), lying()});
      world_start(&w, models[m]);
      world_run(&w, 0.5);
      world_set_twist(&w, body, (abTwist){v3(1, 0, 0), v3_zero()});
      world_run(&w, 2);
      abTwist t = world_twist(&w, body);
      double expected = ball ? 5.0 / 7 : 2.0 / 3;
      // Slides for 0.1 s, then rolls for 1.9 s.
      check_near(t.lin.x, expected, 2e-3);
      check_near(t.ang.y * R, t.lin.x, 2e-3);
      check_near(t.lin.y, 0, 1e-6);
      check_near(world_floor_force(&w), g, 1e-3 * g);
      assert_int_equal(w.data->contacts[0].kind, ball ? AB_PATCH_POINT : AB_PATCH_LINE);
      world_free(&w);
    }
}

static void lying_cylinder_and_capsule_rest_on_their_line(void** state) {
  (void)state;
  const abShapeType type[] = {AB_SHAPE_CYLINDER, AB_SHAPE_CAPSULE};
  for (int k = 0; k < 2; k++) {
    World w = world_begin(2e-3, true);
    int body =
        world_add_shape(&w, type[k], v3(0.01, 0.03, 0), 0.045, (abPose){v3(0, 0, 0.0105), lying()});
    world_start(&w, "patch");
    world_run(&w, 2);
    const abContact* c = &w.data->contacts[0];
    assert_int_equal(w.data->ncontact, 1);
    assert_int_equal(c->kind, AB_PATCH_LINE);
    check_near(c->wrench.force.z, 0.045 * g, 1e-6 * 0.045 * g);
    check_vec_near(v3(c->point.x, c->point.y, 0), v3_zero(), 1e-6 * 0.03);
    check_near(c->area / (2 * 1e-5 * 0.01), 0.06, 1e-6 * 0.06);
    check_below(v3_norm(world_twist(&w, body).lin), 1e-9);
    world_free(&w);
  }
}

static void leaning_cylinder_falls_on_its_side(void** state) {
  (void)state;
  World w = world_begin(1e-3, true);
  int body = world_add_shape(&w, AB_SHAPE_CYLINDER, v3(0.02, 0.05, 0), 0.2,
                             (abPose){v3(0, 0, 0.06), quat_from_rotvec(v3(0.6, 0, 0))});
  world_start(&w, "patch");
  double e = world_energy(&w);
  for (int i = 0; i < 2000; i++) {
    ab_step(w.model, w.data);
    double now = world_energy(&w);
    check_below(now - e, 1e-3 * 0.2 * g * 0.06);
    e = now;
  }
  check_near(world_pose(&w, body).p.z, 0.02, 1e-3);
  world_free(&w);
}

// A ball on a box, a ball on a ball, a capsule along the edge of a box: the pair's patch is where
// the surfaces are nearest.
static void balls_and_capsules_touch_other_bodies(void** state) {
  (void)state;
  World w = world_begin(1e-3, false);
  world_add_static_box(&w, v3(0.2, 0.2, 0.1), (abPose){v3(0, 0, -0.1), quat_identity()});
  int ball = world_add_shape(&w, AB_SHAPE_SPHERE, v3(0.05, 0, 0), 0.3,
                             (abPose){v3(-0.1, 0, 0.05), quat_identity()});
  int capsule = world_add_shape(&w, AB_SHAPE_CAPSULE, v3(0.03, 0.08, 0), 0.3,
                                (abPose){v3(0.1, 0, 0.03), lying()});
  world_start(&w, "patch");
  world_run(&w, 1);
  assert_int_equal(w.data->ncontact, 2);
  for (int i = 0; i < 2; i++) {
    const abContact* c = &w.data->contacts[i];
    check_vec_near(c->normal, v3(0, 0, 1), 1e-9);
    check_near(c->wrench.force.z, 0.3 * g, 1e-5 * 0.3 * g);
    assert_int_equal(c->kind, c->body1 == ball ? AB_PATCH_POINT : AB_PATCH_LINE);
    check_near(c->point.x, c->body1 == capsule ? 0.1 : -0.1, 1e-6);
  }
  world_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thrown_shapes_end_rolling),
      cmocka_unit_test(lying_cylinder_and_capsule_rest_on_their_line),
      cmocka_unit_test(leaning_cylinder_falls_on_its_side),
      cmocka_unit_test(balls_and_capsules_touch_other_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
