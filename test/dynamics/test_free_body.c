// Free bodies: what must be conserved is, whatever the step, and rest is rest.
#include <stdlib.h>
#include <string.h>

#include "dynamics/free_motion.h"
#include "dynamics/integrate.h"
#include "dynamics/kinematics.h"
#include "dynamics/rotate.h"
#include "internal.h"
#include "math/spatial.h"
#include "oracle/dynamics_model.h"
#include "support/check.h"
#include "support/random.h"

static const double PI = 3.14159265358979323846;

typedef struct Tumble {
  double energy, momentum;  // largest relative deviations
} Tumble;

static HandModel* one_body(abVec3 moment, abVec3 com) {
  HandModel* hand = hand_create();
  hand->model.gravity = v3_zero();
  abBody* body = hand_body(hand, 0);
  body->inertia = moment;
  body->com = com;
  hand_joint(hand, AB_JOINT_FREE);
  hand_finish(hand);
  return hand;
}

static Tumble tumble(abIntegrator integrator, abVec3 moment, abVec3 w, double h, int nstep) {
  HandModel* hand = one_body(moment, v3_zero());
  hand->model.integrator = integrator;
  abData* data = hand_data(&hand->model);
  data->h = h;
  twist_to_array((abTwist){v3_zero(), w}, data->v);
  ab_forward(&hand->model, data);
  double e0 = ab_energy(&hand->model, data).kinetic;
  abVec3 L0 = ab_momentum(&hand->model, data).torque;
  Tumble worst = {0, 0};
  for (int i = 0; i < nstep; i++) {
    assert_int_equal(ab_step(&hand->model, data), AB_STEP_OK);
    double de = fabs(ab_energy(&hand->model, data).kinetic - e0) / e0;
    double dL = v3_norm(v3_sub(ab_momentum(&hand->model, data).torque, L0)) / v3_norm(L0);
    worst.energy = fmax(worst.energy, de);
    worst.momentum = fmax(worst.momentum, dL);
  }
  ab_data_free(data);
  hand_free(hand);
  return worst;
}

// Both are exact in the scheme; a step's rounding is a few units of 1e-16 and adds up over 2000.
static void tumbling_keeps_energy_and_angular_momentum(void** state) {
  (void)state;
  Tumble t = tumble(AB_INTEGRATOR_EULER, v3(1, 2, 3), v3(0.01, 5, 0.01), 0.01, 2000);
  check_below(t.energy, 1e-12);
  check_below(t.momentum, 1e-12);
}

static void rk4_tumbling_keeps_angular_momentum_and_nearly_energy(void** state) {
  (void)state;
  Tumble t = tumble(AB_INTEGRATOR_RK4, v3(1, 2, 3), v3(0.01, 5, 0.01), 0.01, 2000);
  check_below(t.momentum, 1e-12);
  // error of a step is (h w)^5 / 120 = 2.6e-9 relative at most, and does not add up in one sense
  check_below(t.energy, 1e-6);
}

static void no_spin_is_too_fast(void** state) {
  (void)state;
  double speed[] = {1, 10, 100, 1e4, 1e8};
  for (int i = 0; i < 5; i++) {
    double w = speed[i] / 0.01;
    Tumble t = tumble(AB_INTEGRATOR_EULER, v3(1, 2, 3), v3(0.3 * w, 0.8 * w, 0.5 * w), 0.01, 500);
    check_below(t.energy, 1e-11);
    check_below(t.momentum, 1e-11);
    t = tumble(AB_INTEGRATOR_RK4, v3(1, 2, 3), v3(0.3 * w, 0.8 * w, 0.5 * w), 0.01, 500);
    check_below(t.momentum, 1e-11);
    check_below(t.energy, 2);  // bounded by the momentum, not resolved
  }
}

static void needles_and_discs_keep_both_too(void** state) {
  (void)state;
  abVec3 moment[] = {
      {1, 1, 1e-6}, {1, 0.999, 1e-3}, {1, 1, 2}, {1e-9, 2e-9, 2.5e-9}, {1e9, 2e9, 3e9}};
  for (int i = 0; i < 5; i++) {
    Tumble t = tumble(AB_INTEGRATOR_EULER, moment[i], v3(3, -2, 7), 0.01, 2000);
    check_below(t.energy, 1e-11);
    check_below(t.momentum, 1e-11);
  }
}

// Angles: against the same motion in much finer steps. Second order: 4 times finer, 16 times
// better.
static void tumbling_converges_with_second_order(void** state) {
  (void)state;
  double error[3];
  abSpin start = {quat_unit((abQuat){1, 0.2, -0.3, 0.5}), {1, 5, 2}, {1, 0, 0, 0}, {1, 2, 3}},
         end[4];
  int nstep[] = {100, 400, 1600, 102400};
  for (int k = 0; k < 4; k++) {
    end[k] = start;
    for (int i = 0; i < nstep[k]; i++) end[k] = ab_spin_free(end[k], 1.0 / nstep[k]);
  }
  for (int k = 0; k < 3; k++) {
    abQuat d = quat_mul(quat_conj(end[3].q), end[k].q);
    error[k] = 2 * v3_norm(v3(d.x, d.y, d.z));
  }
  check_near(error[0] / error[1], 16, 1);
  check_near(error[1] / error[2], 16, 1);
  check_below(error[0], 1e-2);
}

static void steady_spin_turns_by_exactly_its_angle(void** state) {
  (void)state;
  HandModel* hand = one_body(v3(1, 2, 3), v3_zero());
  abData* data = hand_data(&hand->model);
  data->h = 0.01;
  data->v[5] = 20;
  for (int i = 0; i < 1000; i++) ab_step(&hand->model, data);
  double angle = fmod(2 * atan2(data->q[6], data->q[3]) + 4 * PI, 2 * PI);
  check_near(angle, fmod(200, 2 * PI), 1e-11);  // 1000 additions of angles of rounding 1e-14
  check_near(data->v[5], 20, 0);
  ab_data_free(data);
  hand_free(hand);
}

static void centre_of_mass_goes_straight_while_the_frame_swings(void** state) {
  (void)state;
  HandModel* hand = one_body(v3(1, 2, 3), v3(0.5, -0.2, 0.1));
  abData* data = hand_data(&hand->model);
  data->h = 0.01;
  twist_to_array((abTwist){{1, 2, 3}, {4, -5, 6}}, data->v);
  ab_forward(&hand->model, data);
  abVec3 c0 = data->com[1];
  for (int i = 0; i < 1000; i++) ab_step(&hand->model, data);
  check_vec_near(data->com[1], v3_axpy(10, v3(1, 2, 3), c0), 1e-11);
  ab_data_free(data);
  hand_free(hand);
}

static void free_fall_follows_the_scheme(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    HandModel* hand = one_body(v3(1, 2, 3), v3_zero());
    hand->model.gravity = v3(0, 0, -9.81);
    hand->model.integrator = k ? AB_INTEGRATOR_RK4 : AB_INTEGRATOR_EULER;
    abData* data = hand_data(&hand->model);
    for (int i = 0; i < 1000; i++) ab_step(&hand->model, data);
    // v exact; z: sum of h v_i = -g h^2 n (n + 1) / 2 for Euler, exact for RK4
    double n = k ? 1000 : sqrt(1000.0 * 1001.0);
    check_near(data->v[2], -9.81, 1e-12);
    check_near(data->q[2], -0.5 * 9.81 * 1e-6 * n * n, 1e-12);
    ab_data_free(data);
    hand_free(hand);
  }
}

static void a_balanced_body_keeps_every_bit(void** state) {
  (void)state;
  HandModel* hand = one_body(v3(1, 2, 3), v3(0.01, 0.02, -0.03));
  abBody* body = &hand->body[1];
  body->mass = 0.3;
  Random random = {7};
  hand->model.gravity = v3(0, 0, -9.81);
  abData* data = hand_data(&hand->model);
  abQuat q = random_rotation(&random);
  double start[7] = {123.456, -0.001, 7.7, q.w, q.x, q.y, q.z};
  memcpy(data->q, start, sizeof start);
  data->applied[1].force = v3(0, 0, 0.3 * 9.81);
  for (int i = 0; i < 100000; i++) ab_step(&hand->model, data);
  assert_memory_equal(data->q, start, sizeof start);
  for (int i = 0; i < 6; i++) check_near(data->v[i], 0, 0);
  // velocities lost in the coordinates' rounding do not creep into them either
  for (int i = 0; i < 6; i++) data->v[i] = 1e-18;
  data->q[1] = start[1] = 1;
  for (int i = 0; i < 1000; i++) ab_step(&hand->model, data);
  assert_memory_equal(data->q, start, sizeof start);
  ab_data_free(data);
  hand_free(hand);
}

// A heavy symmetric top in fast spin precesses at about m g l / (I3 w3). Here the support's force
// is applied at the centre of mass and its moment as a torque, so that the centre stays.
static void heavy_top_precesses(void** state) {
  (void)state;
  double l = 0.1, m = 1, I1 = 0.02, I3 = 0.01, w3 = 400, tilt = 0.5, h = 1e-3;
  for (int k = 0; k < 2; k++) {
    HandModel* hand = one_body(v3(I1, I1, I3), v3_zero());
    hand->model.integrator = k ? AB_INTEGRATOR_RK4 : AB_INTEGRATOR_EULER;
    abData* data = hand_data(&hand->model);
    data->h = h;
    abQuat q = quat_from_rotvec(v3(0, tilt, 0));
    memcpy(data->q + 3, (double[4]){q.w, q.x, q.y, q.z}, 4 * sizeof(double));
    // steady precession: (I1 p cos - I3 W3) p + m g l = 0 with W3 the spin along the axis
    double a = I1 * cos(tilt), b = I3 * w3, c = m * 9.81 * l;
    double p = 2 * c / (b + sqrt(b * b - 4 * a * c));
    // angular velocity: w3 along the axis and p sin(tilt) across, in the plane of axis and vertical
    abVec3 axis = quat_rotate(q, v3(0, 0, 1)), across = quat_rotate(q, v3(-1, 0, 0));
    abVec3 w = v3_add(v3_scale(w3, axis), v3_scale(p * sin(tilt), across));
    twist_to_array((abTwist){v3_zero(), w}, data->v);
    int nstep = (int)lround(2 * PI / p / h);
    for (int i = 0; i < nstep; i++) {
      ab_forward(&hand->model, data);
      axis = quat_rotate(data->pose[1].q, v3(0, 0, 1));
      data->applied[1].torque = v3_cross(v3_scale(l, axis), v3(0, 0, -m * 9.81));
      ab_step(&hand->model, data);
    }
    axis = quat_rotate(data->pose[1].q, v3(0, 0, 1));
    // once round: the same place but for O(h) torque lag: h p * 2 pi = 1.5e-3, and the rounding of
    // nstep to a whole number, h p / 2
    check_vec_near(axis, v3(sin(tilt), 0, cos(tilt)), 3e-3);
    ab_data_free(data);
    hand_free(hand);
  }
}

// Everything scales: lengths by s, masses by m, times by sqrt(s).
static void scaling_the_scene_scales_the_motion(void** state) {
  (void)state;
  abVec3 reference = v3_zero();
  for (int k = -1; k <= 1; k++) {
    double s = pow(1000, k), m = pow(1000, -k), t = sqrt(s);
    HandModel* hand = one_body(v3_scale(m * s * s, v3(1, 2, 3)), v3(0.3 * s, 0, 0));
    hand->body[1].mass = m;
    hand->model.gravity = v3(0, 0, -10);
    abData* data = hand_data(&hand->model);
    data->h = 0.01 * t;
    twist_to_array((abTwist){{s / t, 0, 0}, {1 / t, 5 / t, -2 / t}}, data->v);
    data->applied[1].torque = v3(0, m * s * s / (t * t), 0);
    for (int i = 0; i < 200; i++) ab_step(&hand->model, data);
    abVec3 p = v3_scale(1 / s, v3(data->q[0], data->q[1], data->q[2]));
    if (k == -1) reference = p;
    check_vec_near(p, reference, 1e-10 * v3_norm(reference));
    ab_data_free(data);
    hand_free(hand);
  }
}

// Turning gravity, start and torque turns the motion.
static void the_world_has_no_preferred_direction(void** state) {
  (void)state;
  Random random = {3};
  abQuat Q = random_rotation(&random);
  abVec3 p[2];
  for (int k = 0; k < 2; k++) {
    abQuat T = k ? Q : quat_identity();
    HandModel* hand = one_body(v3(1, 2, 3), v3(0.1, 0.2, 0.3));
    hand->model.gravity = quat_rotate(T, v3(1, 2, -9));
    abData* data = hand_data(&hand->model);
    data->h = 0.01;
    memcpy(data->q + 3, (double[4]){T.w, T.x, T.y, T.z}, 4 * sizeof(double));
    twist_to_array((abTwist){quat_rotate(T, v3(1, 2, 3)), quat_rotate(T, v3(-4, 2, 3))}, data->v);
    data->applied[1].torque = quat_rotate(T, v3(0, 3, 1));
    for (int i = 0; i < 300; i++) ab_step(&hand->model, data);
    p[k] = quat_rotate(quat_conj(T), v3(data->q[0], data->q[1], data->q[2]));
    ab_data_free(data);
    hand_free(hand);
  }
  check_vec_near(p[1], p[0], 1e-11 * v3_norm(p[0]));
}

// The Cayley map by its definition: Cay(r) x = y where y - x = r / 2 x (y + x).
static const double zeros[6];

static void models_that_move_bodies_get_the_cayley_map(void** state) {
  (void)state;
  Random random = {9};
  HandModel* hand = one_body(v3(1, 2, 3), v3(0.1, -0.2, 0.3));
  const abModel* model = &hand->model;
  abData* data = hand_data(model);
  abTwist end[2] = {twist_zero(), {{1, 2, -3}, {20, -50, 30}}};
  abQuat q = random_rotation(&random);
  memcpy(data->q + 3, (double[4]){q.w, q.x, q.y, q.z}, 4 * sizeof(double));
  data->h = 0.02;
  ab_kinematics(model, data);
  ab_free_motion(model, data);
  abMat3 R = data->R[1];
  abVec3 com = data->com[1], half = v3_scale(0.5 * data->h, end[1].ang);
  ab_integrate(model, data, data->v_free, zeros, end, NULL);
  ab_kinematics(model, data);
  check_vec_near(data->com[1], v3_axpy(data->h, end[1].lin, com), 1e-14);
  check_vec_near(data->twist[1].lin, end[1].lin, 0);
  check_vec_near(data->twist[1].ang, end[1].ang, 0);
  for (int k = 0; k < 3; k++) {
    abVec3 x = m3_col(&R, k), y = m3_col(&data->R[1], k);
    check_vec_near(v3_sub(y, x), v3_cross(half, v3_add(x, y)), 1e-14);
  }
  ab_data_free(data);
  hand_free(hand);
}

// A contact that holds a body against gravity leaves its coordinates alone, with both integrators.
static void a_held_body_does_not_creep(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    HandModel* hand = one_body(v3(1, 2, 3), v3(0.1, 0, 0));
    hand->model.integrator = k ? AB_INTEGRATOR_RK4 : AB_INTEGRATOR_EULER;
    hand->model.gravity = v3(0, 0, -9.81);
    const abModel* model = &hand->model;
    abData* data = hand_data(model);
    double start[7], zero[6] = {0};
    memcpy(start, data->q, sizeof start);
    for (int i = 0; i < 100; i++) {
      ab_kinematics(model, data);
      ab_free_motion(model, data);
      ab_integrate(model, data, zero, zero, NULL, NULL);
    }
    assert_memory_equal(data->q, start, sizeof start);
    ab_data_free(data);
    hand_free(hand);
  }
}

// An impulse in the middle of the tumbling adds its momentum, to rounding, with both integrators.
static void impulses_add_their_angular_momentum(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    HandModel* hand = one_body(v3(1, 2, 3), v3_zero());
    hand->model.integrator = k ? AB_INTEGRATOR_RK4 : AB_INTEGRATOR_EULER;
    const abModel* model = &hand->model;
    abData* data = hand_data(model);
    data->h = 0.02;
    twist_to_array((abTwist){{0, 0, 0}, {3, -4, 5}}, data->v);
    for (int i = 0; i < 10; i++) ab_step(model, data);
    abVec3 L = ab_momentum(model, data).torque, kick = v3(0.3, 2, -1);
    ab_free_motion(model, data);
    abVec3 dw = m3_apply(&data->internal->inv_inertia[1], kick);
    double v[6];
    memcpy(v, data->v_free, sizeof v);
    v[3] += dw.x, v[4] += dw.y, v[5] += dw.z;
    ab_integrate(model, data, v, zeros, NULL, NULL);
    ab_kinematics(model, data);
    check_vec_near(ab_momentum(model, data).torque, v3_add(L, kick), 1e-13 * v3_norm(L));
    ab_data_free(data);
    hand_free(hand);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tumbling_keeps_energy_and_angular_momentum),
      cmocka_unit_test(rk4_tumbling_keeps_angular_momentum_and_nearly_energy),
      cmocka_unit_test(no_spin_is_too_fast),
      cmocka_unit_test(needles_and_discs_keep_both_too),
      cmocka_unit_test(tumbling_converges_with_second_order),
      cmocka_unit_test(steady_spin_turns_by_exactly_its_angle),
      cmocka_unit_test(centre_of_mass_goes_straight_while_the_frame_swings),
      cmocka_unit_test(free_fall_follows_the_scheme),
      cmocka_unit_test(a_balanced_body_keeps_every_bit),
      cmocka_unit_test(heavy_top_precesses),
      cmocka_unit_test(scaling_the_scene_scales_the_motion),
      cmocka_unit_test(models_that_move_bodies_get_the_cayley_map),
      cmocka_unit_test(a_held_body_does_not_creep),
      cmocka_unit_test(impulses_add_their_angular_momentum),
      cmocka_unit_test(the_world_has_no_preferred_direction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
