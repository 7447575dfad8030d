// Joint trees in time: pendulums against independent equations, orders of convergence, energy and
// momentum at any speed, scaling.
#include <stdlib.h>
#include <string.h>

#include "math/spatial.h"
#include "oracle/dynamics_model.h"
#include "oracle/dynamics_tree.h"
#include "support/check.h"
#include "support/random.h"

static const double PI = 3.14159265358979323846;

// A chain of thin rods of length l and mass m hanging in -z, each on a hinge about y.
static HandModel* rods(int n, double l, double m) {
  HandModel* hand = hand_create();
  for (int i = 0; i < n; i++) {
    abBody* body = hand_body(hand, i);
    body->mass = m;
    body->pose.p = v3(0, 0, i ? -l : 0);
    body->com = v3(0, 0, -l / 2);
    body->inertia = v3(m * l * l / 12, m * l * l / 12, m * l * l / 1200);
    hand_joint(hand, AB_JOINT_HINGE)->axis = v3(0, 1, 0);
  }
  hand_finish(hand);
  return hand;
}

static void run(const abModel* model, abData* data, double h, double until) {
  data->h = h;
  for (int i = 0, n = (int)lround(until / h); i < n; i++)
    assert_int_equal(ab_step(model, data), AB_STEP_OK);
}

// Period of a physical pendulum by the arithmetic-geometric mean.
static double pendulum_period(double l, double g, double amplitude) {
  double a = 1, b = cos(amplitude / 2);
  for (int i = 0; i < 20; i++) {
    double m = (a + b) / 2;
    b = sqrt(a * b);
    a = m;
  }
  return 2 * PI * sqrt(2 * l / (3 * g)) / a;
}

static void pendulum_has_the_right_period(void** state) {
  (void)state;
  HandModel* hand = rods(1, 1.2, 0.7);
  hand->model.integrator = AB_INTEGRATOR_RK4;
  abData* data = hand_data(&hand->model);
  data->q[0] = 2.5;
  double T = pendulum_period(1.2, 9.81, 2.5);
  run(&hand->model, data, T / 2000, T);
  // fourth order: (w h)^4 ~ 1e-10 times a few
  check_near(data->q[0], 2.5, 1e-8);
  check_near(data->v[0], 0, 1e-7);
  ab_data_free(data);
  hand_free(hand);
}

// The double pendulum of equal thin rods, angles a and a + b from the vertical: its Lagrangian
// written out by hand.
static void double_pendulum(double l, double g, const double* x, double* dx) {
  double a = x[0], c = x[0] + x[1], va = x[2], vc = x[2] + x[3];
  // with mass 1: T = (4/6) l^2 a'^2 + (1/6) l^2 c'^2 + (1/2) l^2 a' c' cos(a - c),
  // V = -(g l / 2) (3 cos a + cos c)
  double m11 = 4.0 / 3 * l * l, m22 = l * l / 3, m12 = 0.5 * l * l * cos(a - c);
  double s = 0.5 * l * l * sin(a - c);
  double f1 = -s * vc * vc - 1.5 * g * l * sin(a), f2 = s * va * va - 0.5 * g * l * sin(c);
  double det = m11 * m22 - m12 * m12;
  double aa = (m22 * f1 - m12 * f2) / det, ac = (m11 * f2 - m12 * f1) / det;
  dx[0] = x[2], dx[1] = x[3], dx[2] = aa, dx[3] = ac - aa;
}

static void reference_double_pendulum(double l, double g, double until, double* x) {
  int n = 20000;
  double h = until / n;
  for (int i = 0; i < n; i++) {
    double k[4][4], y[4];
    for (int s = 0; s < 4; s++) {
      double f = s == 0 ? 0 : s == 3 ? h : h / 2;
      for (int j = 0; j < 4; j++) y[j] = x[j] + (s ? f * k[s - 1][j] : 0);
      double_pendulum(l, g, y, k[s]);
    }
    for (int j = 0; j < 4; j++) x[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
  }
}

static double double_pendulum_error(abIntegrator integrator, double h, const double* expected) {
  HandModel* hand = rods(2, 0.8, 1);
  hand->model.integrator = integrator;
  abData* data = hand_data(&hand->model);
  data->q[0] = 1.1, data->q[1] = -0.6, data->v[1] = 2;
  run(&hand->model, data, h, 1);
  double e = 0;
  for (int i = 0; i < 2; i++) {
    e = fmax(e, fabs(data->q[i] - expected[i]));
    e = fmax(e, fabs(data->v[i] - expected[2 + i]));
  }
  ab_data_free(data);
  hand_free(hand);
  return e;
}

static void double_pendulum_converges_with_the_scheme_s_order(void** state) {
  (void)state;
  double x[4] = {1.1, -0.6, 0, 2};
  reference_double_pendulum(0.8, 9.81, 1, x);
  double e1 = double_pendulum_error(AB_INTEGRATOR_EULER, 1e-3, x),
         e2 = double_pendulum_error(AB_INTEGRATOR_EULER, 5e-4, x);
  check_below(e1, 5e-2);
  check_near(e1 / e2, 2, 0.1);
  double r1 = double_pendulum_error(AB_INTEGRATOR_RK4, 4e-3, x),
         r2 = double_pendulum_error(AB_INTEGRATOR_RK4, 2e-3, x);
  check_below(r1, 1e-6);
  check_near(r1 / r2, 16, 2);
}

// A tree with every joint type, set in motion; the same end by RK4 in fine steps.
static HandModel* mixed_tree(bool floating) {
  HandModel* hand = hand_create();
  abBody* body = hand_body(hand, 0);
  body->inertia = v3(0.1, 0.2, 0.25);
  body->com = v3(0.1, 0.05, -0.3);
  if (floating)
    hand_joint(hand, AB_JOINT_FREE);
  else
    hand_joint(hand, AB_JOINT_BALL)->pos = v3(0, 0, 0.1);
  body = hand_body(hand, 1);
  body->pose.p = v3(0.2, 0, -0.6);
  body->inertia = v3(0.02, 0.03, 0.04);
  body->com = v3(0, 0, -0.2);
  body->mass = 0.5;
  hand_joint(hand, AB_JOINT_SLIDE)->stiffness = 50;
  hand_joint(hand, AB_JOINT_HINGE)->axis = v3(1, 0, 0);
  body = hand_body(hand, 1);
  body->pose.p = v3(-0.2, 0, -0.6);
  body->inertia = v3(0.03, 0.03, 0.01);
  body->com = v3(0, 0.1, -0.2);
  hand_joint(hand, AB_JOINT_BALL);
  hand_finish(hand);
  return hand;
}

static void mixed_end(abIntegrator integrator, bool floating, double h, double* q) {
  HandModel* hand = mixed_tree(floating);
  hand->model.integrator = integrator;
  abData* data = hand_data(&hand->model);
  for (int i = 0; i < hand->model.nv; i++) data->v[i] = 1.5 - 0.7 * i + 0.1 * i * i;
  run(&hand->model, data, h, 0.5);
  memcpy(q, data->q, sizeof(double) * (size_t)hand->model.nq);
  ab_data_free(data);
  hand_free(hand);
}

static double distance(int n, const double* a, const double* b) {
  double d = 0;
  for (int i = 0; i < n; i++) d = fmax(d, fabs(a[i] - b[i]));
  return d;
}

static void trees_converge_with_the_scheme_s_order(void** state) {
  (void)state;
  for (int floating = 0; floating < 2; floating++) {
    double exact[32], a[32], b[32];
    int nq = floating ? 13 : 10;
    mixed_end(AB_INTEGRATOR_RK4, floating, 2e-4, exact);
    mixed_end(AB_INTEGRATOR_RK4, floating, 1e-2, a);
    mixed_end(AB_INTEGRATOR_RK4, floating, 5e-3, b);
    double e1 = distance(nq, a, exact), e2 = distance(nq, b, exact);
    check_near(e1 / e2, 16, 4);
    mixed_end(AB_INTEGRATOR_EULER, floating, 1e-3, a);
    mixed_end(AB_INTEGRATOR_EULER, floating, 5e-4, b);
    e1 = distance(nq, a, exact), e2 = distance(nq, b, exact);
    check_below(e1, 2e-2);
    check_near(e1 / e2, 2, 0.3);
  }
}

// Energy and momentum of a floating tree without forces are kept to rounding at any speed: by the
// scheme, not by its order.
static void floating_tree_keeps_energy_and_momentum(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    double speed = k == 0 ? 0.1 : k == 1 ? 1 : 5, h = 0.01;
    HandModel* hand = mixed_tree(true);
    hand->model.gravity = v3_zero();
    hand->joint[1].stiffness = 0;
    const abModel* model = hand_finish(hand);
    abData* data = hand_data(model);
    for (int i = 0; i < model->nv; i++) data->v[i] = speed * (1.5 - 0.7 * i + 0.1 * i * i);
    ab_forward(model, data);
    abWrench P = ab_momentum(model, data);
    double e0 = ab_energy(model, data).kinetic;
    data->h = h;
    for (int i = 0; i < 2000; i++) assert_int_equal(ab_step(model, data), AB_STEP_OK);
    abWrench Q = ab_momentum(model, data);
    check_vec_near(Q.force, P.force, 1e-11 * v3_norm(P.force));
    // about the origin, from which the tree has gone 20 s of its speed away
    check_vec_near(Q.torque, P.torque, 1e-9 * v3_norm(P.torque));
    check_near(ab_energy(model, data).kinetic, e0, 1e-3 * e0);
    ab_data_free(data);
    hand_free(hand);
  }
}

// h w from 0.1 to 1000: nothing to resolve any more, but no explosion either.
static void no_tree_is_too_fast(void** state) {
  (void)state;
  for (int k = 0; k < 10; k++) {
    bool floating = k % 2;
    double speed = pow(10, k / 2 + 1);
    HandModel* hand = mixed_tree(floating);
    hand->model.gravity = v3_zero();
    hand->joint[1].stiffness = 0;
    const abModel* model = hand_finish(hand);
    abData* data = hand_data(model);
    for (int i = 0; i < model->nv; i++) data->v[i] = speed * (1.5 - 0.7 * i + 0.1 * i * i);
    ab_forward(model, data);
    double e0 = ab_energy(model, data).kinetic, worst = 0;
    data->h = 0.01;
    for (int i = 0; i < 2000; i++) {
      assert_int_equal(ab_step(model, data), AB_STEP_OK);
      worst = fmax(worst, ab_energy(model, data).kinetic / e0);
    }
    // a fixed root never gains; a floating one may keep its momentum only with more energy, limited
    // by the smallest inertia of the whole
    check_below(worst, floating ? 10 : 1 + 1e-9);
    ab_data_free(data);
    hand_free(hand);
  }
}

// Gravity on: kinetic plus potential energy oscillates by O(h) and does not drift.
static void double_pendulum_energy_does_not_drift(void** state) {
  (void)state;
  HandModel* hand = rods(2, 1, 1);
  abData* data = hand_data(&hand->model);
  data->q[0] = 2, data->q[1] = 1;
  ab_forward(&hand->model, data);
  abEnergy e = ab_energy(&hand->model, data);
  double e0 = e.kinetic + e.gravity, worst = 0;
  data->h = 1e-3;
  for (int i = 0; i < 100000; i++) {
    ab_step(&hand->model, data);
    e = ab_energy(&hand->model, data);
    worst = fmax(worst, fabs(e.kinetic + e.gravity - e0));
  }
  // against the depth of the potential, 4 m g l
  check_below(worst, 0.02 * 4 * 9.81);
  ab_data_free(data);
  hand_free(hand);
}

static void scaling_the_scene_scales_the_motion(void** state) {
  (void)state;
  double reference[2] = {0, 0};
  for (int k = -1; k <= 1; k++) {
    double s = pow(1000, k), m = pow(1000, -k), t = sqrt(s);
    HandModel* hand = rods(2, s, m);
    hand->joint[1].limited = true;
    hand->joint[1].range[0] = -0.3, hand->joint[1].range[1] = 0.4;
    hand->joint[0].frictionloss = 0.2 * m * s * 9.81;
    hand_finish(hand);
    abData* data = hand_data(&hand->model);
    data->q[0] = 2;
    run(&hand->model, data, 1e-3 * t, t);
    if (k == -1) memcpy(reference, data->q, sizeof reference);
    check_near(data->q[0], reference[0], 1e-9);
    check_near(data->q[1], reference[1], 1e-9);
    ab_data_free(data);
    hand_free(hand);
  }
}

static void a_turned_world_turns_the_motion(void** state) {
  (void)state;
  Random random = {11};
  abQuat Q = random_rotation(&random);
  abVec3 com[2];
  for (int k = 0; k < 2; k++) {
    HandModel* hand = mixed_tree(false);
    abQuat T = k ? Q : quat_identity();
    hand->body[1].pose.q = T;
    hand->model.gravity = quat_rotate(T, v3(0, 0, -9.81));
    abData* data = hand_data(&hand->model);
    for (int i = 0; i < hand->model.nv; i++) data->v[i] = 1 - 0.3 * i;
    run(&hand->model, data, 1e-3, 0.5);
    com[k] = quat_rotate(quat_conj(T), data->com[3]);
    ab_data_free(data);
    hand_free(hand);
  }
  check_vec_near(com[1], com[0], 1e-10);
}

// A heavy symmetric top on a ball joint, started in its steady precession: once round, the axis is
// back, and its tilt stayed.
static void heavy_top_precesses(void** state) {
  (void)state;
  double l = 0.1, m = 1, I1 = 0.02, I3 = 0.01, w3 = 100, tilt = 0.5;
  for (int k = 0; k < 2; k++) {
    HandModel* hand = hand_create();
    hand->model.integrator = k ? AB_INTEGRATOR_RK4 : AB_INTEGRATOR_EULER;
    abBody* body = hand_body(hand, 0);
    body->mass = m;
    body->com = v3(0, 0, l);
    body->inertia = v3(I1 - m * l * l, I1 - m * l * l, I3);
    hand_joint(hand, AB_JOINT_BALL);
    abData* data = hand_data(hand_finish(hand));
    abQuat q = quat_from_rotvec(v3(0, tilt, 0));
    memcpy(data->q, (double[4]){q.w, q.x, q.y, q.z}, 4 * sizeof(double));
    double a = I1 * cos(tilt), b = I3 * w3, c = m * 9.81 * l;
    double p = 2 * c / (b + sqrt(b * b - 4 * a * c)), h = 1e-3;
    data->v[0] = -p * sin(tilt), data->v[2] = w3;
    int n = (int)lround(2 * PI / p / h);
    double worst = 0;
    data->h = h;
    for (int i = 0; i < n; i++) {
      ab_step(&hand->model, data);
      abVec3 axis = quat_rotate(data->pose[1].q, v3(0, 0, 1));
      worst = fmax(worst, fabs(acos(axis.z) - tilt));
    }
    abVec3 axis = quat_rotate(data->pose[1].q, v3(0, 0, 1));
    // Euler: first order, h w3 = 0.1 of a turn of the nutation per step
    check_below(worst, k ? 1e-4 : 0.02);
    check_vec_near(axis, v3(sin(tilt), 0, cos(tilt)), k ? 1e-3 : 0.1);
    ab_data_free(data);
    hand_free(hand);
  }
}

static void a_hanging_chain_stays_hanging(void** state) {
  (void)state;
  HandModel* hand = rods(8, 0.3, 1);
  abData* data = hand_data(&hand->model);
  run(&hand->model, data, 1e-3, 2);
  for (int i = 0; i < 8; i++) check_near(data->q[i], 0, 0);
  ab_data_free(data);
  hand_free(hand);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum_has_the_right_period),
      cmocka_unit_test(double_pendulum_converges_with_the_scheme_s_order),
      cmocka_unit_test(trees_converge_with_the_scheme_s_order),
      cmocka_unit_test(floating_tree_keeps_energy_and_momentum),
      cmocka_unit_test(no_tree_is_too_fast),
      cmocka_unit_test(double_pendulum_energy_does_not_drift),
      cmocka_unit_test(scaling_the_scene_scales_the_motion),
      cmocka_unit_test(a_turned_world_turns_the_motion),
      cmocka_unit_test(heavy_top_precesses),
      cmocka_unit_test(a_hanging_chain_stays_hanging),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
