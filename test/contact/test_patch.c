// Claims about the contact model `patch`: one and two bodies.
#include "oracle/patch_world.h"
#include "support/check.h"
#include "support/random.h"

static const double steps[4] = {1e-3, 2e-3, 5e-3, 1e-2};
static const double G = 9.8;

// The cube most numbers are about: 0.5 kg, 10 cm, mu 0.5.
static PatchBox cube(void) {
  return (PatchBox){.half = {0.05, 0.05, 0.05}, .mass = 0.5, .pose = {{0, 0, 0.05}, {1, 0, 0, 0}}};
}

static PatchWorld cube_on_floor(double h, double mu) {
  PatchWorld w = patch_world(h, mu);
  PatchBox b = cube();
  patch_box(&w, &b);
  patch_ready(&w);
  return w;
}

static void box_at_rest_weighs_what_it_weighs(void** state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    PatchWorld w = cube_on_floor(steps[k], 0.5);
    patch_run(&w, 300 * steps[k]);
    double worst = 0;
    for (int i = 0; i < 100; i++) {
      patch_step(&w);
      worst = fmax(worst, fabs(patch_force(&w, 1).z / (0.5 * G) - 1));
    }
    check_below(worst, 1e-9);
    assert_int_equal(w.data->stat.status, AB_STEP_OK);
    patch_free(&w);
  }
}

// Push of 3 N at the centre of mass: a = F/m - mu g; 0.4 so that it slides before it tips.
static void pushed_box_accelerates_by_coulomb(void** state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    PatchWorld w = cube_on_floor(steps[k], 0.5);
    patch_run(&w, 100 * steps[k]);
    w.data->applied[1].force.x = 3;
    patch_run(&w, 50 * steps[k]);
    double v0 = patch_v(&w, 1)[0];
    patch_run(&w, 50 * steps[k]);
    check_near((patch_v(&w, 1)[0] - v0) / (50 * steps[k]), 3 / 0.5 - 0.5 * G, 1e-4);
    patch_free(&w);
  }
}

static void box_slides_as_far_as_coulomb_says(void** state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    PatchWorld w = cube_on_floor(steps[k], 0.5);
    patch_run(&w, 200 * steps[k]);
    double x0 = patch_q(&w, 1)[0];
    patch_v(&w, 1)[0] = 1;
    patch_run(&w, 0.3 + 300 * steps[k]);
    // the mean velocity of each step is exact but for the last, in which the box stops
    check_near(patch_q(&w, 1)[0] - x0, 1 / (2 * 0.5 * G),
               1e-4 * 0.102 + 0.5 * 0.5 * G * steps[k] * steps[k]);
    check_below(fabs(patch_v(&w, 1)[0]), 1e-12);
    check_below(fabs(patch_q(&w, 1)[6]), 1e-10);
    patch_free(&w);
  }
}

// Mean radius of a square: 0.382598 a; torque mu m g rbar, 1 % for the rule and a step for time.
static void spinning_box_stops_by_friction_torque_of_its_area(void** state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    PatchWorld w = cube_on_floor(steps[k], 0.5);
    patch_run(&w, 200 * steps[k]);
    double I = 0.5 * 0.01 / 6, w0 = 10, expected = I * w0 / (0.5 * 0.5 * G * 0.0382598), t = 0;
    patch_v(&w, 1)[5] = w0;
    while (patch_v(&w, 1)[5] > 1e-3 * w0 && t < 1) patch_step(&w), t += steps[k];
    check_near(t, expected, 0.01 * expected + steps[k]);
    check_below(hypot(patch_q(&w, 1)[0], patch_q(&w, 1)[1]), 1e-6);
    patch_free(&w);
  }
}

// 0.1 x 0.1 x 0.02 m, mu 0.3, v = 0.5, w = 10: integration of the uniform pressure law gives
// x = .0581, y = -.0017, stop after .240 s.
static void sliding_and_spinning_plate_follows_the_integral(void** state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    double h = steps[k];
    PatchWorld w = patch_world(h, 0.3);
    patch_box(
        &w,
        &(PatchBox){.half = {0.05, 0.05, 0.01}, .mass = 0.5, .pose = {{0, 0, 0.01}, {1, 0, 0, 0}}});
    patch_ready(&w);
    patch_run(&w, 200 * h);
    double x0 = patch_q(&w, 1)[0];
    patch_v(&w, 1)[0] = 0.5, patch_v(&w, 1)[5] = 10;
    patch_run(&w, 0.4);
    check_near(patch_q(&w, 1)[0] - x0, 0.0581, 0.03 * 0.0581);
    patch_free(&w);
  }
}

static bool tips(double h, double force) {
  PatchWorld w = cube_on_floor(h, 2);
  patch_run(&w, 0.2);
  // at the top edge; ramped up over 0.2 s
  bool tipped = false;  // at any time: the torque goes on, and turns it over and over
  for (double t = 0; t < 1.5; t += h) {
    double f = force * fmin(1, t / 0.2);
    w.data->applied[1].force.x = f, w.data->applied[1].torque.y = f * 0.05;
    patch_step(&w);
    tipped |= fabs(patch_q(&w, 1)[5]) > 0.1;
  }
  patch_free(&w);
  return tipped;
}

// At the top of the cube: F a = m g a / 2.
static void box_tips_at_the_right_force(void** state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    assert_false(tips(steps[k], 0.98 * 2.45));
    assert_true(tips(steps[k], 1.02 * 2.45));
  }
}

static double creep(double h, abVec3 force, double torque) {
  PatchWorld w = cube_on_floor(h, 0.5);
  patch_run(&w, 200 * h);
  w.data->applied[1] = (abWrench){force, {0, 0, torque}};
  patch_run(&w, 400 * h);
  double worst = 0;
  for (int i = 0; i < 100; i++) {
    patch_step(&w);
    const double* v = patch_v(&w, 1);
    worst = fmax(worst, fmax(hypot(v[0], v[1]), 0.05 * fabs(v[5])));
  }
  patch_free(&w);
  return worst;
}

// Below the breakaway force nothing moves: not slowly either.
static void loaded_box_does_not_creep(void** state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    check_below(creep(steps[k], v3(2.4, 0, 0), 0), 1e-10);
    check_below(creep(steps[k], v3(1.0, 0.5, 0), 0.05), 1e-10);
    check_below(creep(steps[k], v3(0, 0, 0), 0.92 * 0.0937), 1e-10);
  }
}

// T at F = 0, 0.49, ... of the uniform-pressure limit curve (mu N min over c of mean |p - c| - F
// c). The load acts on the floor's plane: a force at the centre of mass plus the torque that takes
// the lever away, so that the pressure stays even.
static bool breaks_away(double h, double force, double torque) {
  PatchWorld w = cube_on_floor(h, 0.5);
  patch_run(&w, 200 * h);
  for (int i = 0; i < 400; i++) {
    double s = fmin(1, i / 200.0);
    w.data->applied[1] = (abWrench){{s * force, 0, 0}, {0, -s * force * 0.05, s * torque}};
    patch_step(&w);
  }
  double x0 = patch_q(&w, 1)[0], a0 = patch_q(&w, 1)[6];
  patch_run(&w, 200 * h);
  bool moved = fabs(patch_q(&w, 1)[0] - x0) > 1e-6 || fabs(patch_q(&w, 1)[6] - a0) > 1e-5;
  patch_free(&w);
  return moved;
}

static void combined_loads_break_away_on_the_limit_curve(void** state) {
  (void)state;
  static const double F[5] = {0, 0.49, 0.98, 1.47, 1.96};
  static const double T[5] = {0.093736, 0.09095, 0.08253, 0.06824, 0.04733};
  for (int k = 0; k < 4; k += 3) {
    double h = steps[k];
    for (int i = 0; i < 5; i++) {
      assert_false(breaks_away(h, 0.99 * F[i], 0.99 * T[i]));
      assert_true(breaks_away(h, 1.01 * F[i], 1.01 * T[i]));
    }
    assert_false(breaks_away(h, 0.999 * 2.45, 0));
    assert_true(breaks_away(h, 1.001 * 2.45, 0));
  }
}

// Two cubes thrown at each other without gravity: momentum and angular momentum to rounding.
static void collision_keeps_momentum(void** state) {
  (void)state;
  Random r = {4};
  for (int k = 0; k < 20; k++) {
    PatchWorld w = patch_world(steps[k % 4], -1);
    ab_scene_option(w.scene)->gravity = v3_zero();
    for (int i = 0; i < 2; i++)
      patch_box(&w, &(PatchBox){.half = {0.05, 0.05, 0.05},
                                .mass = 0.5,
                                .pose = {{0.15 * i, 0.02 * i, 0.01}, random_rotation(&r)},
                                .mu = 0.5});
    patch_ready(&w);
    patch_v(&w, 1)[0] = 1, patch_v(&w, 2)[0] = -1;
    ab_forward(w.model, w.data);
    abWrench before = ab_momentum(w.model, w.data);
    bool touched = false;
    for (int i = 0; i < 100; i++) {
      patch_step(&w);
      touched = touched || w.data->ncontact > 0;
    }
    abWrench after = ab_momentum(w.model, w.data);
    assert_true(touched);
    // 100 steps of rounding on momenta of 0.5 kg m/s
    check_vec_near(after.force, before.force, 1e-13);
    check_vec_near(after.torque, before.torque, 1e-13);
    patch_free(&w);
  }
}

static void dropped_boxes_never_gain_energy(void** state) {
  (void)state;
  Random r = {9};
  static const double allowed[4] = {6e-5, 9e-5, 8e-4, 3.7e-3};  // of the initial energy, per step
  for (int k = 0; k < 20; k++) {
    double h = steps[k % 4];
    PatchWorld w = patch_world(h, 0.5);
    PatchBox b = {.half = {0.05, 0.03, 0.08}, .mass = 0.5, .mu = 0.5};
    b.pose = (abPose){{0, 0, 0.3}, random_rotation(&r)};
    patch_box(&w, &b);
    patch_ready(&w);
    for (int i = 0; i < 3; i++) patch_v(&w, 1)[3 + i] = random_uniform(&r, -3, 3);
    ab_forward(w.model, w.data);
    double first = patch_kinetic_and_height(&w), last = first, gain = 0;
    for (double t = 0; t < 1.5; t += h) {
      patch_step(&w);
      double e = patch_kinetic_and_height(&w);
      gain = fmax(gain, e - last);
      last = e;
    }
    check_below(gain / first, allowed[k % 4]);
    check_below(v3_norm(v3(patch_v(&w, 1)[0], patch_v(&w, 1)[1], patch_v(&w, 1)[2])), 1e-3);
    patch_free(&w);
  }
}

// A weight carried by a force of its own size stays where it is, in flight, too.
static void body_held_by_a_force_stays(void** state) {
  (void)state;
  PatchWorld w = patch_world(5e-3, 0.5);
  patch_box(&w, &(PatchBox){.half = {0.1, 0.1, 0.1}, .mass = 2, .pose = {{0, 0, 1}, {1, 0, 0, 0}}});
  patch_ready(&w);
  w.data->applied[1].force.z = 2 * G;
  patch_run(&w, 1);
  check_near(patch_q(&w, 1)[2], 1, 1e-12);
  check_below(fabs(patch_v(&w, 1)[2]), 1e-12);
  patch_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(body_held_by_a_force_stays),
      cmocka_unit_test(box_at_rest_weighs_what_it_weighs),
      cmocka_unit_test(pushed_box_accelerates_by_coulomb),
      cmocka_unit_test(box_slides_as_far_as_coulomb_says),
      cmocka_unit_test(spinning_box_stops_by_friction_torque_of_its_area),
      cmocka_unit_test(sliding_and_spinning_plate_follows_the_integral),
      cmocka_unit_test(box_tips_at_the_right_force),
      cmocka_unit_test(loaded_box_does_not_creep),
      cmocka_unit_test(combined_loads_break_away_on_the_limit_curve),
      cmocka_unit_test(collision_keeps_momentum),
      cmocka_unit_test(dropped_boxes_never_gain_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
