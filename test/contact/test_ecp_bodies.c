// Bodies on bodies: boxes on fixed boxes and on each other, a cylinder between boxes.
#include <stdio.h>
#include <stdlib.h>

#include "oracle/ecp_checks.h"
#include "support/check.h"
#include "support/random.h"

static const double G = 9.8;
static const abShape plane = {.type = AB_SHAPE_PLANE};
static EcpWorld w;
static Solid solid[8];

static abPose at(double x, double y, double z) { return (abPose){{x, y, z}, {1, 0, 0, 0}}; }

static int add_box(int i, abVec3 half, double mass, abPose pose) {
  solid_box(&solid[i], half);
  return ecpw_add_body(&w, &solid[i].shape, mass, inertia_of_box(mass, half), pose);
}

static void fixed_box(int i, abVec3 half, abPose pose) {
  solid_box(&solid[i], half);
  ecpw_add_fixed(&w, &solid[i].shape, pose);
}

static void begin(double h, double mu) {
  ecpw_init(&w, h, 1);
  w.mu = mu, w.e_r = -1;
}

// A table instead of a plane: the same slide.
static void box_slides_on_a_table_as_on_a_plane(void** state) {
  (void)state;
  begin(0.01, 0.12);
  w.e_r = 1;
  add_box(0, v3(0.5, 0.5, 0.5), 1, at(0, 0, 0.5));
  fixed_box(1, v3(30, 30, 1), at(0, 0, -1));
  w.body[1].twist.lin = v3(4, 3, 0);
  for (int k = 1; k <= 400; k++) {
    ecpw_step_ok(&w);
    double v = 5 - k * 0.01 * 0.12 * G;
    check_vec_near(w.body[1].twist.lin, v3(0.8 * v, 0.6 * v, 0), 1e-10);
    assert_int_equal(w.solution[0].kind, AB_PATCH_SURFACE);
  }
  ecpw_free(&w);
}

static void box_on_an_edge_tips_iff_its_centre_is_beyond(void** state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    begin(0.005, 0.6);
    double over = i ? 0.003 : -0.003;
    add_box(0, v3(0.1, 0.1, 0.05), 1, at(over, 0.02, 0.05));
    fixed_box(1, v3(0.5, 0.5, 0.5), at(-0.5, 0, -0.5));
    for (int k = 0; k < 200; k++) ecpw_step_ok(&w);
    if (i)
      check_below(w.body[1].com.z, 0);
    else
      check_vec_near(w.body[1].com, v3(over, 0.02, 0.05), 1e-10);
    ecpw_free(&w);
  }
}

static void box_falls_on_a_corner_of_a_fixed_box(void** state) {
  (void)state;
  Random r = {3};
  for (int i = 0; i < 30; i++) {
    begin(random_uniform(&r, 0.002, 0.01), random_uniform(&r, 0.1, 0.8));
    abPose pose = {{random_uniform(&r, -0.6, 0.6), random_uniform(&r, -0.6, 0.6), 0.5},
                   random_rotation(&r)};
    add_box(0, v3(0.2, 0.15, 0.1), 1, pose);
    fixed_box(1, v3(0.5, 0.5, 0.5), at(0, 0, -0.5));
    w.body[1].twist = (abTwist){random_vec(&r, 1), random_vec(&r, 4)};
    int n = (int)(1 / w.h);
    for (int k = 0; k < n; k++) {
      ecpw_step(&w);
      if (w.result.status != AB_STEP_OK)
        fprintf(stderr, "case %d step %d: residual %g\n", i, k, w.result.residual);
      assert_int_equal(w.result.status, AB_STEP_OK);
      check_below(w.solution[0].depth, 1e-9);
    }
    ecpw_free(&w);
  }
}

static void box_on_box_on_plane_rests(void** state) {
  (void)state;
  begin(0.01, 0.5);
  add_box(0, v3(0.5, 0.5, 0.5), 4, at(0, 0, 0.5));
  add_box(1, v3(0.3, 0.3, 0.3), 1, at(0.1, 0.05, 1.3));
  ecpw_add_fixed(&w, &plane, pose_identity());
  for (int k = 0; k < 200; k++) ecpw_step_ok(&w);
  check_vec_near(w.body[1].com, v3(0, 0, 0.5), 1e-11);
  check_vec_near(w.body[2].com, v3(0.1, 0.05, 1.3), 1e-11);
  check_near(w.solution[0].impulse.force.z, 0.01 * 5 * G, 1e-11);
  ecpw_free(&w);
}

static void upper_box_dragged_by_the_lower_one_slides_as_coulomb_says(void** state) {
  (void)state;
  begin(0.01, 0.2);
  add_box(0, v3(2, 2, 0.5), 4, at(0, 0, 0.5));
  add_box(1, v3(0.3, 0.3, 0.1), 1, at(-1, 0, 1.1));
  ecpw_add_fixed(&w, &plane, pose_identity());
  double F = 0.2 * 5 * G + 30;  // against the floor, and 30 N for acceleration
  w.applied[1].force = v3(F, 0, 0);
  for (int k = 1; k <= 50; k++) {
    ecpw_step_ok(&w);
    // the upper one gets mu g, the lower one what is left
    check_near(w.body[2].twist.lin.x, k * 0.01 * 0.2 * G, 1e-10);
    check_near(w.body[1].twist.lin.x, k * 0.01 * (30 - 0.2 * G) / 4, 1e-10);
  }
  ecpw_free(&w);
}

static void cylinder_between_boxes_carries_the_upper_one(void** state) {
  (void)state;
  static abShape rod = {.type = AB_SHAPE_CYLINDER, .size = {0.1, 0.3, 0}};
  begin(0.005, 0.5);
  add_box(0, v3(0.5, 0.5, 0.2), 5, at(0, 0, 0.2));
  double m = 2;
  int c = ecpw_add_body(&w, &rod, m, v3(m * 0.0325, m * 0.0325, m * 0.005), at(0, 0, 0.5));
  w.body[c].q = quat_from_axis_angle(v3(1, 0, 0), acos(-1) / 2);
  add_box(1, v3(0.4, 0.4, 0.1), 1, at(0.0, 0.03, 0.7));
  ecpw_add_fixed(&w, &plane, pose_identity());
  for (int k = 0; k < 60; k++) ecpw_step_ok(&w);
  check_near(w.body[3].com.z, 0.7, 1e-6);
  check_near(w.solution[0].impulse.force.z, 0.005 * 8 * G, 1e-8);
  ecpw_free(&w);
}

// Momentum and angular momentum about the origin, and the sizes that rounding compares with.
typedef struct Momentum {
  abVec3 p, L;
  double p_size, L_size;
} Momentum;

static Momentum momentum(void) {
  Momentum m = {.p_size = 0};
  for (int i = 1; i < w.nbody; i++) {
    const abContactBody* b = &w.body[i];
    abVec3 p = v3_scale(w.mass[i], b->twist.lin), orbit = v3_cross(b->com, p);
    abVec3 local = quat_rotate(quat_conj(b->q), b->twist.ang);
    abVec3 spin = quat_rotate(b->q, m3_apply(&w.inertia_body[i], local));
    m.p = v3_add(m.p, p);
    m.L = v3_add(m.L, v3_add(orbit, spin));
    m.p_size += v3_norm(p), m.L_size += v3_norm(orbit) + v3_norm(spin);
  }
  return m;
}

// What energy may grow by between moving bodies: the work of the couple that keeps angular momentum
// exact, |P| |w| h/2 |v1 - v2 + slip|, and p_n times the overlap that the touching features would
// have had at the start along the normal of the end, at most |w| |slip| h^2.
static double allowed_growth(void) {
  double sum = 0;
  for (int i = 0; i < w.npair; i++) {
    const abPairSolution* s = &w.solution[i];
    const abContactBody *a = &w.body[w.pair[i].body1], *b = &w.body[w.pair[i].body2];
    double slip = sqrt(s->slip[0] * s->slip[0] + s->slip[1] * s->slip[1]);
    double spin = fmax(v3_norm(a->twist.ang), v3_norm(b->twist.ang));
    double apart = v3_norm(v3_sub(a->twist.lin, b->twist.lin)) + slip;
    sum += v3_norm(s->impulse.force) * w.h * spin * (0.5 * apart + slip);
  }
  return sum;
}

static double collide(int n, double* growth) {
  double worst = 0;
  Momentum first = momentum();
  int touched = 0;
  for (int k = 0; k < n; k++) {
    double energy = ecpw_energy(&w);
    ecpw_step(&w);
    if (w.result.status != AB_STEP_OK)
      fprintf(stderr, "step %d: residual %g\n", k, w.result.residual);
    assert_int_equal(w.result.status, AB_STEP_OK);
    for (int i = 0; i < w.npair; i++) touched += w.solution[i].kind != AB_PATCH_NONE;
    Momentum now = momentum();
    check_vec_near(now.p, first.p, 1e-12 * first.p_size);
    check_vec_near(now.L, first.L, 1e-12 * first.L_size);
    double gain = ecpw_energy(&w) - energy;
    check_below(gain - allowed_growth(), 1e-13 * energy);
    worst = fmax(worst, gain / energy);
  }
  assert_true(touched > 0);
  *growth = fmax(*growth, worst);
  return worst;
}

// Two boxes collide in space: what one gets the other gives, of angular momentum, too.
static void collision_in_space_keeps_momentum(void** state) {
  (void)state;
  Random r = {5};
  double growth = 0;
  for (int i = 0; i < 30; i++) {
    begin(0.005, 0.4);
    w.gravity = 0;
    add_box(0, v3(0.2, 0.15, 0.1), 1, (abPose){{0, 0, 0}, random_rotation(&r)});
    add_box(1, v3(0.1, 0.2, 0.2), 3, (abPose){{0.9, 0.05, 0.03}, random_rotation(&r)});
    w.body[1].twist = (abTwist){{2, 0, 0}, random_vec(&r, 3)};
    w.body[2].twist = (abTwist){{-1, 0, 0}, random_vec(&r, 3)};
    collide(100, &growth);
    ecpw_free(&w);
  }
  if (getenv("ABUT_VERBOSE"))
    printf("two boxes: energy grew by %.3g of itself in a step\n", growth);
}

// Three bodies of different kinds run into each other, also far from the origin and with a common
// velocity.
static void three_bodies_in_space_keep_momentum(void** state) {
  (void)state;
  static abShape rod = {.type = AB_SHAPE_CYLINDER, .size = {0.1, 0.3, 0}};
  static abShape pill = {.type = AB_SHAPE_CAPSULE, .size = {0.1, 0.2, 0}};
  Random r = {6};
  double growth = 0;
  for (int i = 0; i < 12; i++) {
    begin(0.004, 0.4);
    w.gravity = 0;
    abVec3 drift = i % 2 ? v3(1, -2, 3) : v3_zero(), at0 = v3(0.5 * i, 1, -2);
    add_box(0, v3(0.2, 0.15, 0.1), 1, (abPose){at0, random_rotation(&r)});
    ecpw_add_body(&w, i % 3 ? &rod : &pill, 2, v3(0.07, 0.07, 0.01),
                  (abPose){v3_add(at0, v3(0.7, 0.02, 0.03)), random_rotation(&r)});
    add_box(1, v3(0.1, 0.2, 0.2), 3,
            (abPose){v3_add(at0, v3(1.4, 0.05, -0.03)), random_rotation(&r)});
    double speed[3] = {2, 0.3, -1.5};
    for (int b = 1; b <= 3; b++)
      w.body[b].twist = (abTwist){v3_add(drift, v3(speed[b - 1], 0, 0)), random_vec(&r, 3)};
    collide(120, &growth);
    ecpw_free(&w);
  }
  if (getenv("ABUT_VERBOSE"))
    printf("three bodies: energy grew by %.3g of itself in a step\n", growth);
}

// A box is pressed on a slab that turns freely: friction holds its place on the slab, without
// creep.
static void box_on_a_turntable_does_not_creep(void** state) {
  (void)state;
  begin(0.01, 0.6);
  w.gravity = 0;
  add_box(0, v3(1, 1, 0.1), 500, at(0, 0, 0.1));
  add_box(1, v3(0.05, 0.05, 0.05), 1, at(0.5, 0, 0.25));
  w.applied[1].force.z = 20, w.applied[2].force.z = -20;
  w.body[1].twist.ang.z = 2;
  w.body[2].twist = (abTwist){{0, 1, 0}, {0, 0, 2}};
  abVec3 place = v3_zero();
  for (int k = 0; k < 300; k++) {
    ecpw_step_ok(&w);
    abVec3 r = quat_rotate(quat_conj(w.body[1].q), v3_sub(w.body[2].com, w.body[1].com));
    if (k == 0) place = r;  // the straight first step is not yet on the circle
    check_vec_near(r, place, 1e-12);
    assert_int_equal(w.solution[0].mode, AB_CONTACT_STICK);
  }
  ecpw_free(&w);
}

static void balls_and_capsules_meet(void** state) {
  (void)state;
  static abShape ball = {.type = AB_SHAPE_SPHERE, .size = {0.1, 0, 0}};
  static abShape pill = {.type = AB_SHAPE_CAPSULE, .size = {0.08, 0.2, 0}};
  begin(0.005, 0.4);
  ecpw_add_body(&w, &ball, 1, v3(0.004, 0.004, 0.004), at(0, 0, 0.1));
  ecpw_add_body(&w, &ball, 1, v3(0.004, 0.004, 0.004), at(0.01, 0.02, 0.4));
  int c = ecpw_add_body(&w, &pill, 1, v3(0.02, 0.02, 0.003), at(0.02, 0, 0.7));
  w.body[c].q = quat_from_axis_angle(v3(1, 0, 0), 1.5);
  ecpw_add_fixed(&w, &plane, pose_identity());
  for (int k = 0; k < 300; k++) ecpw_step_ok(&w);
  for (int i = 1; i < w.nbody; i++) check_below(-w.body[i].com.z, 0);
  ecpw_free(&w);
}

// A cylinder rolls off a table whose edge its axis is parallel to.
static void cylinder_rolls_off_a_table(void** state) {
  (void)state;
  static abShape rod = {.type = AB_SHAPE_CYLINDER, .size = {0.1, 0.3, 0}};
  begin(0.005, 0.6);
  double m = 2;
  ecpw_add_body(&w, &rod, m, v3(m * 0.0325, m * 0.0325, m * 0.005), at(-0.2, 0, 0.1));
  w.body[1].q = quat_from_axis_angle(v3(1, 0, 0), acos(-1) / 2);
  w.body[1].twist = (abTwist){{0.3, 0, 0}, {0, 3, 0}};
  fixed_box(1, v3(0.5, 0.5, 0.5), at(-0.5, 0, -0.5));
  bool on_edge = false;
  for (int k = 0; k < 300; k++) {
    ecpw_step_ok(&w);
    if (w.body[1].com.x > 0.01 && w.solution[0].kind == AB_PATCH_LINE) on_edge = true;
  }
  assert_true(on_edge);
  check_below(w.body[1].com.z, -0.2);
  check_near(w.body[1].com.y, 0, 1e-9);
  ecpw_free(&w);
}

// Two logs side by side and a third in the groove between them, held by blocks.
static void log_lies_in_the_groove_of_two_others(void** state) {
  (void)state;
  static abShape rod = {.type = AB_SHAPE_CYLINDER, .size = {0.1, 0.3, 0}};
  begin(0.005, 0.5);
  double m = 2, x[3] = {-0.1, 0.1, 0}, z[3] = {0.1, 0.1, 0.1 + 0.1 * sqrt(3)};
  for (int i = 0; i < 3; i++) {
    int b = ecpw_add_body(&w, &rod, m, v3(m * 0.0325, m * 0.0325, m * 0.005), at(x[i], 0, z[i]));
    w.body[b].q = quat_from_axis_angle(v3(1, 0, 0), acos(-1) / 2);
  }
  ecpw_add_fixed(&w, &plane, pose_identity());
  fixed_box(0, v3(0.1, 0.5, 0.1), at(-0.3, 0, 0.1));
  fixed_box(1, v3(0.1, 0.5, 0.1), at(0.3, 0, 0.1));
  for (int k = 0; k < 60; k++) ecpw_step_ok(&w);
  check_near(w.body[3].com.z, z[2], 1e-8);
  ecpw_free(&w);
}

// A beam on two blocks: statics does not divide the load between two faces, but what moves is
// unique.
static void beam_rests_on_two_blocks(void** state) {
  (void)state;
  begin(0.01, 0.5);
  add_box(0, v3(0.2, 0.2, 0.2), 2, at(-0.6, 0, 0.2));
  add_box(1, v3(0.2, 0.2, 0.2), 2, at(0.6, 0, 0.2));
  add_box(2, v3(0.9, 0.1, 0.05), 3, at(0.1, 0.02, 0.45));
  ecpw_add_fixed(&w, &plane, pose_identity());
  for (int k = 0; k < 100; k++) ecpw_step_ok(&w);
  check_vec_near(w.body[3].com, v3(0.1, 0.02, 0.45), 1e-10);
  double floor = 0;
  for (int i = 0; i < w.npair; i++)
    if (w.pair[i].body2 == 0) floor += w.solution[i].impulse.force.z;
  check_near(floor, 0.01 * 7 * G, 1e-10);
  ecpw_free(&w);
}

// 1000 kg on 1 kg, and the other way round.
static void mass_ratio_of_a_thousand_holds(void** state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    begin(0.01, 0.5);
    add_box(0, v3(0.5, 0.5, 0.1), i ? 1000 : 1, at(0, 0, 0.1));
    add_box(1, v3(0.4, 0.4, 0.2), i ? 1 : 1000, at(0.05, 0, 0.4));
    ecpw_add_fixed(&w, &plane, pose_identity());
    for (int k = 0; k < 100; k++) ecpw_step_ok(&w);
    check_vec_near(w.body[1].com, v3(0, 0, 0.1), 1e-9);
    check_vec_near(w.body[2].com, v3(0.05, 0, 0.4), 1e-9);
    ecpw_free(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_slides_on_a_table_as_on_a_plane),
      cmocka_unit_test(box_on_an_edge_tips_iff_its_centre_is_beyond),
      cmocka_unit_test(box_falls_on_a_corner_of_a_fixed_box),
      cmocka_unit_test(box_on_box_on_plane_rests),
      cmocka_unit_test(upper_box_dragged_by_the_lower_one_slides_as_coulomb_says),
      cmocka_unit_test(cylinder_between_boxes_carries_the_upper_one),
      cmocka_unit_test(collision_in_space_keeps_momentum),
      cmocka_unit_test(three_bodies_in_space_keep_momentum),
      cmocka_unit_test(box_on_a_turntable_does_not_creep),
      cmocka_unit_test(beam_rests_on_two_blocks),
      cmocka_unit_test(mass_ratio_of_a_thousand_holds),
      cmocka_unit_test(balls_and_capsules_meet),
      cmocka_unit_test(cylinder_rolls_off_a_table),
      cmocka_unit_test(log_lies_in_the_groove_of_two_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
