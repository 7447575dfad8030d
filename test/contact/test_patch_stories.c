// What users of other simulators complain about, held against the model `patch`: one body.
#include <stdlib.h>

#include "oracle/patch_world.h"
#include "support/check.h"
#include "support/random.h"

static const double G = 9.8;

// Set ABUT_LONG=1 for the full lengths (an hour on the ramp, ten hours of cube on cube).
static bool full_length(void) { return getenv("ABUT_LONG") != NULL; }

// A 10 cm cube on a plane tilted by `angle` about y (it would slide towards +x).
static PatchWorld box_on_ramp(double h, double angle, double mu_static, double mu) {
  PatchWorld w = patch_world(h, -1);
  abQuat q = quat_from_axis_angle(v3(0, 1, 0), angle);
  patch_plane(&w, (abPose){{0, 0, 0}, q}, mu);
  patch_box(&w, &(PatchBox){.half = {0.05, 0.05, 0.05},
                            .mass = 0.5,
                            .pose = {quat_rotate(q, v3(0, 0, 0.05)), q},
                            .mu = mu,
                            .mu_static = mu_static});
  patch_ready(&w);
  return w;
}

static void box_on_a_ramp_below_the_limit_never_moves(void** state) {
  (void)state;
  for (double h = 1e-3; h < 0.02; h *= 10) {
    PatchWorld w = box_on_ramp(h, 0.9 * atan(0.5), 0.5, 0.5);
    patch_run(&w, 400 * h);
    abVec3 p = v3(patch_q(&w, 1)[0], patch_q(&w, 1)[1], patch_q(&w, 1)[2]);
    patch_run(&w, full_length() ? 3600 : 10000 * h);
    check_vec_near(v3(patch_q(&w, 1)[0], patch_q(&w, 1)[1], patch_q(&w, 1)[2]), p, 1e-12);
    patch_free(&w);
  }
}

static void box_on_a_ramp_above_the_limit_slides_by_the_kinetic_coefficient(void** state) {
  (void)state;
  double h = 1e-3, angle = 1.1 * atan(0.5), mu = 0.4;
  PatchWorld w = box_on_ramp(h, angle, 0.5, mu);
  patch_run(&w, 0.3);
  double v0 = hypot(patch_v(&w, 1)[0], patch_v(&w, 1)[2]);
  patch_run(&w, 0.5);
  double v1 = hypot(patch_v(&w, 1)[0], patch_v(&w, 1)[2]);
  check_near((v1 - v0) / 0.5, G * (sin(angle) - mu * cos(angle)), 1e-5 * G);
  patch_free(&w);
}

static void cube_on_cube_does_not_drift(void** state) {
  (void)state;
  double h = 1.0 / 240;
  PatchWorld w = patch_world(h, 0.5);
  for (int i = 0; i < 2; i++)
    patch_box(&w, &(PatchBox){.half = {0.5, 0.5, 0.5},
                              .mass = 1,
                              .pose = {{0.03 * i, 0.01 * i, 0.5 + i}, {1, 0, 0, 0}}});
  patch_ready(&w);
  patch_run(&w, 5);
  abVec3 p = v3(patch_q(&w, 2)[0], patch_q(&w, 2)[1], patch_q(&w, 2)[2]);
  patch_run(&w, full_length() ? 36000 : 60);
  check_vec_near(v3(patch_q(&w, 2)[0], patch_q(&w, 2)[1], patch_q(&w, 2)[2]), p, 1e-9);
  patch_free(&w);
}

static void resting_box_keeps_its_yaw(void** state) {
  (void)state;
  Random r = {3};
  for (int k = 0; k < 6; k++) {
    double yaw = random_uniform(&r, -3, 3), h = k % 2 ? 1e-3 : 1e-2;
    PatchWorld w = patch_world(h, 0.5);
    abQuat q = quat_from_axis_angle(v3(0, 0, 1), yaw);
    patch_box(&w, &(PatchBox){.half = {0.05, 0.03, 0.02}, .mass = 0.5, .pose = {{0, 0, 0.02}, q}});
    patch_ready(&w);
    patch_run(&w, 300 * h);
    double worst = 0, low = INFINITY, high = 0;
    for (int i = 0; i < 500; i++) {
      patch_step(&w);
      double F = patch_force(&w, 1).z / (0.5 * G);
      low = fmin(low, F), high = fmax(high, F);
      abQuat now = {patch_q(&w, 1)[3], patch_q(&w, 1)[4], patch_q(&w, 1)[5], patch_q(&w, 1)[6]};
      worst = fmax(worst, fabs(2 * quat_mul(quat_conj(q), now).z));
    }
    check_below(worst, 1e-10);
    check_below(high - low, 1e-6);
    patch_free(&w);
  }
}

// 1 m cube, v = (4, 3), mu 0.12: straight on, stops after v / (mu g), v^2 / (2 mu g).
static void sliding_cube_goes_straight(void** state) {
  (void)state;
  double h = 1e-3;
  PatchWorld w = patch_world(h, 0.12);
  patch_box(&w,
            &(PatchBox){.half = {0.5, 0.5, 0.5}, .mass = 1, .pose = {{0, 0, 0.5}, {1, 0, 0, 0}}});
  patch_ready(&w);
  patch_run(&w, 0.3);
  double x0 = patch_q(&w, 1)[0], y0 = patch_q(&w, 1)[1], t = 0, heading = 0;
  patch_v(&w, 1)[0] = 4, patch_v(&w, 1)[1] = 3;
  while (hypot(patch_v(&w, 1)[0], patch_v(&w, 1)[1]) > 0.01 && t < 6) {
    patch_step(&w);
    t += h;
    heading = fmax(heading, fabs(atan2(patch_v(&w, 1)[1], patch_v(&w, 1)[0]) - atan2(3, 4)));
  }
  patch_run(&w, 0.2);
  check_below(heading, 1e-10);
  check_near(t, 5 / (0.12 * G), 0.02);
  check_near(hypot(patch_q(&w, 1)[0] - x0, patch_q(&w, 1)[1] - y0), 25 / (0.24 * G), 5e-3);
  check_below(fabs(patch_q(&w, 1)[6]), 1e-10);
  patch_free(&w);
}

// 2 kg on a 400 N/m spring pulled at 0.0642 m/s, mu 0.265 / 0.160.
static void stick_slip_has_the_closed_forms_period(void** state) {
  (void)state;
  double h = 1e-3, K = 400, V = 0.0642, m = 2;
  PatchWorld w = patch_world(h, 0.160);
  patch_box(&w, &(PatchBox){.half = {0.1, 0.1, 0.05},
                            .mass = m,
                            .pose = {{0, 0, 0.05}, {1, 0, 0, 0}},
                            .mu = 0.160,
                            .mu_static = 0.265});
  patch_ready(&w);
  patch_run(&w, 0.5);
  double x0 = patch_q(&w, 1)[0], low = INFINITY, high = 0, onset[16];
  int n = 0;
  bool moving = false;
  for (long i = 0; i < 4000 && n < 8; i++) {
    double t = (double)i * h, pull = K * (V * t - (patch_q(&w, 1)[0] - x0));
    // at the floor, so that the pressure stays even
    w.data->applied[1] = (abWrench){{pull, 0, 0}, {0, -pull * 0.05, 0}};
    patch_step(&w);
    bool now = patch_v(&w, 1)[0] > 5e-3;
    if (now && !moving) onset[n++] = t;
    moving = now;
    if (n >= 2) low = fmin(low, pull), high = fmax(high, pull);
  }
  assert_true(n >= 6);
  // who slides is known only when a step has ended: two steps late in each period, and one for the
  // patch to begin to move
  check_near((onset[n - 1] - onset[1]) / (n - 2), 0.48467, 0.01 * 0.48467);
  check_near(low, 0.391, 0.02 * 5.2);
  check_near(high, 5.881, 0.02 * 5.9);
  patch_free(&w);
}

// Weight m g acting d beside the centre: centre of pressure at d.
static void centre_of_pressure_lies_where_statics_says(void** state) {
  (void)state;
  for (double d = 0.005; d < 0.05; d += 0.02) {
    PatchWorld w = patch_world(1e-3, 0.5);
    patch_box(
        &w,
        &(PatchBox){.half = {0.05, 0.05, 0.05}, .mass = 0.5, .pose = {{0, 0, 0.05}, {1, 0, 0, 0}}});
    patch_ready(&w);
    w.data->applied[1].torque = v3(0, 0.5 * G * d, 0);
    patch_run(&w, 0.5);
    assert_int_equal(w.data->ncontact, 1);
    const abContact* c = &w.data->contacts[0];
    check_near(c->point.x - patch_q(&w, 1)[0], d, 1e-7);
    check_near(c->point.y - patch_q(&w, 1)[1], 0, 1e-7);
    check_near(c->free_moment, 0, 1e-9);
    // pressure integrates to the force: linear while the centre is within the middle third
    if (d < 0.1 / 6) {
      double mean = 0;
      for (int i = 0; i < c->nvert; i++) mean += c->pressure[i] / c->nvert;
      check_near(mean * c->area, 0.5 * G, 1e-6);
    }
    patch_free(&w);
  }
}

static double overhang_fall(double beyond) {
  PatchWorld w = patch_world(1e-3, 0.5);
  patch_box(&w,
            &(PatchBox){.half = {0.1, 0.1, 0.1}, .mass = 100, .pose = {{0, 0, 0.1}, {1, 0, 0, 0}}});
  patch_box(&w, &(PatchBox){.half = {0.05, 0.05, 0.02},
                            .mass = 0.2,
                            .pose = {{0.1 + beyond, 0, 0.22}, {1, 0, 0, 0}}});
  patch_ready(&w);
  patch_run(&w, 1.0);
  double z = patch_q(&w, 2)[2];
  patch_free(&w);
  return 0.22 - z;
}

static void box_on_an_edge_falls_iff_its_centre_is_beyond(void** state) {
  (void)state;
  check_below(overhang_fall(-0.001), 1e-3);
  assert_true(overhang_fall(0.001) > 0.05);
}

// Restitution e: rebound speed e times the impact's; total energy never rises.
static void bouncing_box_does_not_gain_height(void** state) {
  (void)state;
  for (double e = 0.5; e <= 1; e += 0.25)
    for (double h = 1e-3; h < 0.006; h += 4e-3) {
      PatchWorld w = patch_world(h, 0.5);
      patch_box(&w, &(PatchBox){.half = {0.05, 0.05, 0.05},
                                .mass = 0.5,
                                .pose = {{0, 0, 0.25}, {1, 0, 0, 0}},
                                .restitution = e});
      patch_ready(&w);
      ab_forward(w.model, w.data);
      double first = patch_kinetic_and_height(&w), most = -INFINITY, top = 0;
      bool hit = false;
      for (double t = 0; t < 1; t += h) {
        patch_step(&w);
        most = fmax(most, patch_kinetic_and_height(&w));
        if (w.data->ncontact) hit = true;
        if (hit && patch_v(&w, 1)[2] > -0.1) top = fmax(top, patch_q(&w, 1)[2]);
      }
      check_below(most, first * (1 + 1e-12));
      check_below(top, 0.25);
      // height e^2 H, less what the step takes: about v h
      if (h < 2e-3) check_near(top - 0.05, e * e * 0.2, 0.02);
      patch_free(&w);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_on_a_ramp_below_the_limit_never_moves),
      cmocka_unit_test(box_on_a_ramp_above_the_limit_slides_by_the_kinetic_coefficient),
      cmocka_unit_test(cube_on_cube_does_not_drift),
      cmocka_unit_test(resting_box_keeps_its_yaw),
      cmocka_unit_test(sliding_cube_goes_straight),
      cmocka_unit_test(stick_slip_has_the_closed_forms_period),
      cmocka_unit_test(centre_of_pressure_lies_where_statics_says),
      cmocka_unit_test(box_on_an_edge_falls_iff_its_centre_is_beyond),
      cmocka_unit_test(bouncing_box_does_not_gain_height),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
