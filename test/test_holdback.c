// Claims about bodies that a step would carry through others (src/holdback.c, src/unseen.c).
#include "holdback.h"

#include "oracle/patch_world.h"
#include "support/check.h"
#include "support/random.h"

// The deepest corner of a box below z = 0.
static double depth_of(const PatchWorld* w, int body, abVec3 half) {
  abMat3 R = quat_matrix(w->data->pose[body].q);
  double down = half.x * fabs(R.m[2][0]) + half.y * fabs(R.m[2][1]) + half.z * fabs(R.m[2][2]);
  return down - w->data->pose[body].p.z;
}

static abVec3 random_vector(Random* r, double size) {
  return v3_scale(size, v3_unit(random_size(r, -1, 1)));
}

static void set_motion(const PatchWorld* w, int body, abVec3 v, abVec3 spin) {
  twist_to_array((abTwist){v, spin}, patch_v(w, body));
}

// A fifth of the thickness is what holdback.c allows, and a hundredth of it how finely it looks;
// the rest is what the contact itself may leave.
static const double DEEPEST = 0.25;

// Needles and plates that turn several times in a step, thrown at the floor: no corner gets below
// it, and the energy never rises by more than 1e-6 of the kinetic one and what lifting out of the
// depth allowed takes.
static void thin_bodies_that_tumble_stay_above_the_floor(void** state) {
  (void)state;
  static const abVec3 half[3] = {{0.04, 0.003, 0.001}, {0.03, 0.03, 0.001}, {0.1, 0.0005, 0.0005}};
  static const double h[4] = {1e-3, 2e-3, 5e-3, 1e-2};
  Random r = {5};
  for (int k = 0; k < 48; k++) {
    abVec3 size = half[k % 3];
    PatchWorld w = patch_world(h[k / 3 % 4], 0.3);
    patch_box(&w,
              &(PatchBox){.half = size, .mass = 0.02, .pose = {{0, 0, 0.2}, random_rotation(&r)}});
    patch_ready(&w);
    abVec3 v = random_vector(&r, 10);
    set_motion(&w, 1, v3(v.x, v.y, -20), random_vector(&r, 1000));
    ab_forward(w.model, w.data);
    double thin = 2 * size.z, last = patch_kinetic_and_height(&w);
    for (int i = 0; i < 100; i++) {
      patch_step(&w);
      double now = patch_kinetic_and_height(&w);
      check_below(depth_of(&w, 1, size), DEEPEST * thin);
      check_below(now - last, 1e-6 * last + 0.02 * 9.8 * DEEPEST * thin);
      last = now;
    }
    patch_free(&w);
  }
}

// A plate that lies just above the floor, struck by a fast one: its own motion does not reach the
// floor, that of the blow would carry it through.
static void body_that_is_struck_does_not_pass_the_floor(void** state) {
  (void)state;
  const abVec3 half = {0.03, 0.03, 0.001};
  for (int k = 0; k < 5; k++) {
    PatchWorld w = patch_world(1e-2, 0.3);
    patch_box(&w, &(PatchBox){.half = half, .mass = 0.02, .pose = {{0, 0, 0.006}, {1, 0, 0, 0}}});
    abQuat tilt = quat_from_axis_angle(v3(0, 1, 0), 0.2 * k);
    patch_box(&w, &(PatchBox){.half = {0.02, 0.02, 0.02}, .mass = 1, .pose = {{0, 0, 0.2}, tilt}});
    patch_ready(&w);
    set_motion(&w, 2, v3(0, 0, -50), v3_zero());
    ab_forward(w.model, w.data);
    for (int i = 0; i < 50; i++) {
      patch_step(&w);
      check_below(depth_of(&w, 1, half), DEEPEST * 2 * half.z);
      // it may lie on the plate or beside it, and be in either no deeper than that
      check_below(depth_of(&w, 2, v3(0.02, 0.02, 0.02)), DEEPEST * 2 * half.z);
    }
    patch_free(&w);
  }
}

// Thin bodies that fly into each other in the air: across gravity nothing else acts, and holding
// them back changes no velocity.
static void holding_back_keeps_momentum(void** state) {
  (void)state;
  Random r = {11};
  PatchWorld w = patch_world(1e-2, -1);
  enum { N = 12 };
  for (int i = 0; i < N; i++)
    patch_box(&w, &(PatchBox){.half = {0.03, 0.03, 0.001},
                              .mass = 0.02,
                              .mu = 0.3,
                              .pose = {{0.05 * (i % 4), 0.05 * (i / 4), 0}, random_rotation(&r)}});
  patch_ready(&w);
  for (int i = 0; i < N; i++) set_motion(&w, i + 1, random_vector(&r, 20), random_vector(&r, 500));
  ab_forward(w.model, w.data);
  abVec3 before = v3_zero(), after = v3_zero();
  for (int i = 0; i < N; i++) before = v3_add(before, w.data->twist[i + 1].lin);
  for (int i = 0; i < 20; i++) patch_step(&w);
  for (int i = 0; i < N; i++) after = v3_add(after, w.data->twist[i + 1].lin);
  // rounding of impulses that are up to 1e6 times what they change
  check_near(after.x, before.x, 1e-8);
  check_near(after.y, before.y, 1e-8);
  patch_free(&w);
}

// A row of cubes, weightless, the first of which flies: in one step it strikes the second, and that
// would go on into the third, the third into the fourth, which their own motions do not tell. Where
// nobody springs back, momentum alone says with what velocity they all go on.
static void who_is_struck_meets_the_next_in_the_same_step(void** state) {
  (void)state;
  for (int n = 3; n <= 5; n++) {
    PatchWorld w = patch_world(1e-2, -1);
    for (int i = 0; i < n; i++)
      patch_box(&w, &(PatchBox){.half = {0.05, 0.05, 0.05},
                                .mass = 1,
                                .mu = 0.3,
                                .pose = {{0.105 * i, 0, 0}, {1, 0, 0, 0}}});
    patch_ready(&w);
    w.model->gravity = v3_zero();
    set_motion(&w, 1, v3(5, 0, 0), v3_zero());
    ab_forward(w.model, w.data);
    for (int k = 0; k < 10; k++) {
      patch_step(&w);
      for (int i = 1; i < n; i++)
        check_below(0.1 - (w.data->com[i + 1].x - w.data->com[i].x), 1e-6);
    }
    for (int i = 1; i <= n; i++) check_near(w.data->twist[i].lin.x, 5.0 / n, 1e-3);
    patch_free(&w);
  }
}

// Cubes that fall on each other at usual speeds are not its business.
static void slow_bodies_are_not_held_back(void** state) {
  (void)state;
  PatchWorld w = patch_world(2e-3, 0.5);
  for (int i = 0; i < 4; i++)
    patch_box(&w, &(PatchBox){.half = {0.05, 0.05, 0.05},
                              .mass = 1,
                              .pose = {{0, 0, 0.3 + 0.12 * i}, {1, 0, 0, 0}}});
  patch_ready(&w);
  for (int i = 0; i < 300; i++) {
    patch_step(&w);
    double share[4], shift[24] = {0};
    assert_int_equal(ab_hold_back(w.model, w.data, w.data->v, shift, share), AB_OK);
    for (int k = 0; k < 4; k++) assert_true(share[k] == 1);
  }
  patch_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thin_bodies_that_tumble_stay_above_the_floor),
      cmocka_unit_test(body_that_is_struck_does_not_pass_the_floor),
      cmocka_unit_test(holding_back_keeps_momentum),
      cmocka_unit_test(who_is_struck_meets_the_next_in_the_same_step),
      cmocka_unit_test(slow_bodies_are_not_held_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
