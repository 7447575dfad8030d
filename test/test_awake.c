// What must not sleep with sleeping on: whatever moves, however slowly, or is about to.
#include "math/spatial.h"
#include "support/check.h"
#include "support/world.h"

static abPose at(double x, double y, double z) { return (abPose){v3(x, y, z), quat_identity()}; }

static void step(World* w) { assert_true(ab_step(w->model, w->data) != AB_STEP_BROKEN); }

static void never_asleep(World* w, double time) {
  double end = w->data->time + time;
  while (w->data->time < end) {
    step(w);
    assert_int_equal(w->data->stat.nasleep, 0);
  }
}

static void slow_motion_goes_on(void** state) {
  (void)state;
  for (double u = 1e-2; u > 5e-5; u /= 10) {
    World w = world_begin(1e-3, true);
    int ball = world_add_shape(&w, AB_SHAPE_SPHERE, v3(0.05, 0, 0), 1, at(0, 0, 0.05));
    w.mu_static = w.mu_kinetic = 0;
    int box = world_add_box(&w, v3(0.05, 0.05, 0.05), 1, at(0, 1, 0.05));
    world_start(&w, "patch");
    w.data->sleep.on = true;
    world_set_twist(&w, ball, (abTwist){v3(u, 0, 0), v3(0, u / 0.05, 0)});
    world_set_twist(&w, box, (abTwist){v3(u, 0, 0), v3(0, 0, 0)});
    never_asleep(&w, 2);
    check_near(w.data->com[ball].x, 2 * u, 0.1 * u);
    check_near(w.data->com[box].x, 2 * u, 0.01 * u);
    world_free(&w);
  }
}

// A domino on its edge, tilted from standing by `tilt`: which way it has begun to fall, after
// however long, and that it does not sleep before.
static bool domino_falls(double tilt, bool sleep, double* time) {
  World w = world_begin(1e-3, true);
  double z = 0.05 * cos(tilt) + 0.005 * sin(tilt), balance = atan(0.1), lean = 0;
  int box = world_add_box(&w, v3(0.005, 0.02, 0.05), 0.1,
                          (abPose){v3(0, 0, z), quat_from_rotvec(v3(0, tilt, 0))});
  world_start(&w, "patch");
  w.data->sleep.on = sleep;
  while (fabs(lean) < 0.05) {
    step(&w);
    assert_int_equal(w.data->stat.nasleep, 0);
    lean = 2 * asin(world_pose(&w, box).q.y) - balance;
  }
  *time = w.data->time;
  world_free(&w);
  return lean > 0;
}

// Between a tilt that falls and one that stands up again there are those that do neither for long:
// they begin as slowly as one likes, but do not sleep.
static void falling_domino_falls(void** state) {
  (void)state;
  double stands = atan(0.1), falls = stands + 1e-3, time = 0, again;
  while (falls - stands > 1e-12) {
    double tilt = 0.5 * (stands + falls);
    bool over = domino_falls(tilt, false, &time);
    assert_int_equal(domino_falls(tilt, true, &again), over);
    assert_true(again == time);
    if (over)
      falls = tilt;
    else
      stands = tilt;
  }
  assert_true(time > 1);  // 12 times the time in which it falls by itself
}

// The centre of mass of a box on a table is beyond its edge by a thousandth of a millimetre.
static void box_over_an_edge_falls(void** state) {
  (void)state;
  World w = world_begin(1e-3, true);
  world_add_static_box(&w, v3(0.2, 0.2, 0.05), at(-0.2, 0, 0.45));
  int box = world_add_box(&w, v3(0.1, 0.05, 0.02), 1, at(1e-6, 0, 0.52));
  world_start(&w, "patch");
  w.data->sleep.on = true;
  while (w.data->com[box].z > 0.2 && w.data->time < 20) {
    step(&w);
    assert_int_equal(w.data->stat.nasleep, 0);
  }
  check_below(w.data->com[box].z, 0.2);
  world_free(&w);
}

static void a_body_in_the_air_does_not_sleep(void** state) {
  (void)state;
  World w = world_begin(1e-3, false);
  ab_scene_option(w.scene)->gravity = v3_zero();
  world_add_box(&w, v3(0.1, 0.1, 0.1), 1, at(0, 0, 0));
  world_start(&w, "patch");
  w.data->sleep.on = true;
  never_asleep(&w, 1);
  world_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slow_motion_goes_on),
      cmocka_unit_test(falling_domino_falls),
      cmocka_unit_test(box_over_an_edge_falls),
      cmocka_unit_test(a_body_in_the_air_does_not_sleep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
