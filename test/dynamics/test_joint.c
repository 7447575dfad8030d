// What acts in joints: springs, dampers, limits, dry friction, actuators.
#include <stdlib.h>
#include <string.h>

#include "dynamics/free_motion.h"
#include "dynamics/integrate.h"
#include "dynamics/kinematics.h"
#include "dynamics/response.h"
#include "internal.h"
#include "math/spatial.h"
#include "oracle/dynamics_model.h"
#include "support/check.h"

// One hinge about y with inertia I about the axis, no gravity.
static HandModel* rotor(double I) {
  HandModel* hand = hand_create();
  hand->model.gravity = v3_zero();
  hand_body(hand, 0)->inertia = v3(I, I, I);
  hand_joint(hand, AB_JOINT_HINGE)->axis = v3(0, 1, 0);
  return hand;
}

static void steps(const abModel* model, abData* data, int n) {
  for (int i = 0; i < n; i++) assert_int_equal(ab_step(model, data), AB_STEP_OK);
}

static void finish(HandModel* hand, abData* data) {
  ab_data_free(data);
  hand_free(hand);
}

// (I + h d) v+ = I v: exact for the scheme, and v never changes its sign.
static void damping_is_implicit(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    HandModel* hand = rotor(2);
    double d = pow(10, 3 * k);
    hand->joint[0].damping = d;
    abData* data = hand_data(hand_finish(hand));
    data->v[0] = 3;
    steps(&hand->model, data, 3);
    check_near(data->v[0], 3 / pow(1 + 1e-3 * d / 2, 3), 1e-14);
    finish(hand, data);
  }
}

// w h from 0.01 to 1e4: the amplitude stays, and for small w h so does the frequency.
static void springs_of_any_stiffness_keep_their_amplitude(void** state) {
  (void)state;
  for (int k = 0; k < 7; k++) {
    double wh = 0.01 * pow(10, k), h = 1e-3, K = wh * wh / (h * h);
    HandModel* hand = rotor(1);
    hand->joint[0].stiffness = K;
    hand->joint[0].springref = 0.2;
    abData* data = hand_data(hand_finish(hand));
    data->q[0] = 0.7;
    double most = 0;
    for (int i = 0; i < 5000; i++) {
      steps(&hand->model, data, 1);
      most = fmax(most, fabs(data->q[0] - 0.2));
    }
    // between half a step's phase error at small w h and the circle of the scheme at large
    check_below(most, 0.5 * (1 + fmin(wh, 0.5)));
    if (k == 0) {
      // 5000 steps are 50 rad; the scheme is slower by 5/24 (w h)^2 of it, and shifted by half a
      // step
      check_near(data->q[0], 0.2 + 0.5 * cos(50 * (1 - 5e-4 / 24 * 1) + 0.005), 5e-3);
    }
    finish(hand, data);
  }
}

static void limit_stops_without_bounce(void** state) {
  (void)state;
  HandModel* hand = rotor(1);
  hand->joint[0].limited = true;
  hand->joint[0].range[0] = -0.5, hand->joint[0].range[1] = 1;
  abData* data = hand_data(hand_finish(hand));
  data->v[0] = 7.3;
  for (int i = 0; i < 1000; i++) {
    steps(&hand->model, data, 1);
    check_below(data->q[0], 1 + 1e-8);
    check_below(-1e-4, data->v[0]);
  }
  check_near(data->q[0], 1, 1e-6);
  check_near(data->v[0], 0, 1e-6);
  // and lets go at once
  data->v[0] = -1;
  steps(&hand->model, data, 100);
  check_near(data->q[0], 0.9, 1e-6);
  check_near(data->v[0], -1, 1e-9);
  finish(hand, data);
}

// Pressed by a torque T it holds at T h^2 / (1e6 I / 5) beyond the stop.
static void limit_holds_a_load(void** state) {
  (void)state;
  HandModel* hand = rotor(0.01);
  hand->joint[0].limited = true;
  hand->joint[0].range[0] = -0.5, hand->joint[0].range[1] = 0.3;
  hand->joint[0].margin = 0.1;
  abData* data = hand_data(hand_finish(hand));
  data->applied[1].torque = v3(0, 5, 0);
  steps(&hand->model, data, 2000);
  check_near(data->q[0], 0.2 + 5 * 1e-6 / (0.2 * 1e6 * 0.01), 1e-11);
  // the stop's weight is 1e6 inertias: it leaves a millionth of what the load does in a step
  check_near(data->v[0], 0, 1.01e-6 * 5 * 1e-3 / 0.01);
  finish(hand, data);
}

static void limit_returns_from_far_outside_without_overshoot(void** state) {
  (void)state;
  HandModel* hand = rotor(1);
  hand->joint[0].limited = true;
  hand->joint[0].range[0] = -0.5, hand->joint[0].range[1] = 1;
  abData* data = hand_data(hand_finish(hand));
  data->q[0] = 2;
  double last = 2;
  // from 1 rad outside with the speed sqrt(2 40 x) and no faster than 10 x or 1 rad/s
  for (int i = 0; i < 1000; i++) {
    steps(&hand->model, data, 1);
    check_below(data->q[0], last);
    check_below(last - data->q[0], 1e-3 * 9);
    last = data->q[0];
  }
  check_near(last, 1, 1e-3);  // 1 s: ten time constants of a return from far outside
  finish(hand, data);
}

static void ball_limit_bounds_the_angle(void** state) {
  (void)state;
  HandModel* hand = hand_create();
  abBody* body = hand_body(hand, 0);
  body->com = v3(0, 0, -0.5);
  body->inertia = v3(0.1, 0.1, 0.01);
  abJoint* joint = hand_joint(hand, AB_JOINT_BALL);
  joint->limited = true;
  joint->range[1] = 0.6;
  abData* data = hand_data(hand_finish(hand));
  data->v[0] = 4, data->v[1] = 3, data->v[2] = 1;
  double most = 0, speed = 0;
  for (int i = 0; i < 3000; i++) {
    steps(&hand->model, data, 1);
    most = fmax(most, 2 * acos(fmin(1, fabs(data->q[0]))));
    speed = fmax(speed, v3_norm(v3(data->v[0], data->v[1], data->v[2])));
  }
  // A turn by h w across the axis makes the angle larger by cot(angle / 2) (h w)^2 / 4, and a fifth
  // of the excess is taken back in each step.
  check_below(most, 0.6 + 5 * pow(1e-3 * speed, 2) / tan(0.3) / 4);
  finish(hand, data);
}

// A hinge about y carries a lever that sticks out sideways, by a ball whose range is 0, or in one
// piece with it: the same motion. From a turned start the ball goes back to 0.
static void ball_without_range_is_held(void** state) {
  (void)state;
  double angle[2];
  for (int whole = 0; whole < 2; whole++) {
    HandModel* hand = hand_create();
    abBody* first = hand_body(hand, 0);
    first->mass = 1, first->com = v3(0.2, 0, 0), first->inertia = v3(0.01, 0.02, 0.02);
    hand_joint(hand, AB_JOINT_HINGE)->axis = v3(0, 1, 0);
    if (whole) {  // with the lever's mass of 0.5 at (0.4, 0.2, 0.1): centre (8, 2, 1) / 30
      first->mass = 1.5, first->com = v3(0.8 / 3, 0.2 / 3, 0.1 / 3);
      // about the hinge only I_yy counts: 0.02 + 0.01 + sum of m (x^2 + z^2) about the centre
      first->inertia.y = 0.03 + 0.04 + 0.5 * 0.17 - 1.5 * (0.64 + 0.01) / 9;
    } else {
      abBody* lever = hand_body(hand, 1);
      lever->pose.p = v3(0.4, 0, 0);
      lever->mass = 0.5, lever->com = v3(0, 0.2, 0.1), lever->inertia = v3(0.01, 0.01, 0.01);
      hand_joint(hand, AB_JOINT_BALL)->limited = true;
    }
    abData* data = hand_data(hand_finish(hand));
    for (int i = 0; i < 2000; i++) {
      steps(&hand->model, data, 1);
      // a steady load bends it by 5e-6 a h^2, here with a of some 100 rad/s2
      if (!whole) check_near(v3_norm(v3(data->q[2], data->q[3], data->q[4])), 0, 1e-9);
    }
    angle[whole] = data->q[0];
    if (!whole) {
      data->q[1] = cos(0.2), data->q[2] = sin(0.2) * 0.6, data->q[4] = sin(0.2) * 0.8;
      steps(&hand->model, data, 1000);
      check_near(v3_norm(v3(data->q[2], data->q[3], data->q[4])), 0, 1e-6);
    }
    finish(hand, data);
  }
  check_below(fabs(angle[0]), 4);  // it swings
  check_near(angle[0], angle[1], 1e-6);
}

static void dry_friction_sticks_exactly_below_its_bound(void** state) {
  (void)state;
  abJointType type[] = {AB_JOINT_HINGE, AB_JOINT_SLIDE, AB_JOINT_BALL};
  for (int i = 0; i < 6; i++) {
    int k = i % 3;
    HandModel* hand = hand_create();
    hand->model.integrator = i < 3 ? AB_INTEGRATOR_EULER : AB_INTEGRATOR_RK4;
    hand_body(hand, 0)->com = v3(0, 0, -0.3);
    abJoint* joint = hand_joint(hand, type[k]);
    joint->axis = v3(0, 1, 0);
    joint->frictionloss = 2;
    abData* data = hand_data(hand_finish(hand));
    data->q[0] = k == 2 ? 1 : 0.25;
    double q = data->q[0];
    data->applied[1] = (abWrench){{0, 1.2, 0}, {0, 0.9, 0}};
    steps(&hand->model, data, 1000);
    check_near(data->q[0], q, 0);
    for (int j = 0; j < hand->model.nv; j++) check_near(data->v[j], 0, 0);
    // three times the bound: (6 - 2) / inertia, which is 1 for the slide
    if (k == 1) {
      data->applied[1].force.y = 6;
      steps(&hand->model, data, 100);
      check_near(data->v[0], 0.4, 1e-9);
    }
    finish(hand, data);
  }
}

// A sliding joint comes to rest after v I / f seconds, and stays.
static void dry_friction_stops_a_rotor_in_finite_time(void** state) {
  (void)state;
  HandModel* hand = rotor(2);
  hand->joint[0].frictionloss = 4;
  abData* data = hand_data(hand_finish(hand));
  data->v[0] = 1;
  steps(&hand->model, data, 250);
  check_near(data->v[0], 0.5, 1e-9);
  steps(&hand->model, data, 251);
  check_near(data->v[0], 0, 0);
  double q = data->q[0];
  check_near(q, 0.25, 1e-3);
  steps(&hand->model, data, 1000);
  check_near(data->q[0], q, 0);
  finish(hand, data);
}

// Coulomb's law at every joint of a chain, whichever sticks or slips: |P| <= h f, and P = -h f
// sign(v) where v != 0.
static void friction_in_a_chain_obeys_its_law(void** state) {
  (void)state;
  enum { N = 6 };
  HandModel* hand = hand_create();
  for (int i = 0; i < N; i++) {
    abBody* body = hand_body(hand, i);
    body->pose.p = v3(i ? 0.3 : 0, 0, 0);
    body->com = v3(0.15, 0, 0);
    body->inertia = v3(0.01, 0.02, 0.02);
    abJoint* joint = hand_joint(hand, AB_JOINT_HINGE);
    joint->axis = v3(0, 1, 0);
    joint->frictionloss = 3;
  }
  const abModel* model = hand_finish(hand);
  abData* data = hand_data(model);
  for (int i = 0; i < 400; i++) {
    double v0[N], smooth[N], M[N * N];
    memcpy(v0, data->v, sizeof v0);
    // the same step without friction tells the smooth impulses
    for (int j = 0; j < N; j++) hand->joint[j].frictionloss = 0;
    ab_kinematics(model, data);
    ab_free_motion(model, data);
    ab_response_update(model, data);
    memcpy(smooth, data->v_free, sizeof smooth);
    ab_response_inertia(&data->internal->response, 0, M);
    for (int j = 0; j < N; j++) hand->joint[j].frictionloss = 3;
    ab_free_motion(model, data);
    for (int j = 0; j < N; j++) {
      double P = 0, v = data->v_free[j];
      for (int k = 0; k < N; k++) P += M[j * N + k] * (data->v_free[k] - smooth[k]);
      check_below(fabs(P), 3e-3 * (1 + 1e-6));
      if (fabs(v) > 1e-6) check_near(P, v > 0 ? -3e-3 : 3e-3, 1e-8);
    }
    steps(model, data, 1);
  }
  finish(hand, data);
}

static abActuator* servo(HandModel* hand, double kp, double kd) {
  abActuator* a = hand_motor(hand, 0);
  a->gainprm[0] = kp;
  a->bias = AB_BIAS_AFFINE;
  a->biasprm[1] = -kp, a->biasprm[2] = -kd;
  return a;
}

static void motor_gives_gear_times_control_within_its_range(void** state) {
  (void)state;
  HandModel* hand = rotor(2);
  abActuator* a = hand_motor(hand, 0);
  a->gear[0] = 3;
  a->ctrl_limited = a->force_limited = true;
  a->ctrl_range[0] = -1, a->ctrl_range[1] = 1;
  a->force_range[0] = -5, a->force_range[1] = 0.5;
  abData* data = hand_data(hand_finish(hand));
  data->ctrl[0] = -7;
  steps(&hand->model, data, 10);
  check_near(data->actuator_force[0], -1, 0);
  check_near(data->v[0], -0.01 * 3 / 2, 1e-15);
  data->ctrl[0] = 1;
  steps(&hand->model, data, 10);
  check_near(data->actuator_force[0], 0.5, 0);
  check_near(data->v[0], -0.01 * 1.5 / 2, 1e-15);
  finish(hand, data);
}

// Gains up to a million times what an explicit step could bear.
static void stiff_servos_reach_their_target_and_stay(void** state) {
  (void)state;
  for (int k = 0; k < 5; k++) {
    double kp = pow(10, 2 * k + 1);
    HandModel* hand = rotor(0.01);
    servo(hand, kp, 2 * sqrt(kp * 0.01) + 1e-3 * kp);
    abData* data = hand_data(hand_finish(hand));
    data->ctrl[0] = 0.8;
    steps(&hand->model, data, 5000);
    check_near(data->q[0], 0.8, 1e-6);
    check_near(data->v[0], 0, 1e-6);
    finish(hand, data);
  }
}

// A servo of high gain and small force range accelerates at full force, then stops on target
// without chattering.
static void a_saturated_servo_settles(void** state) {
  (void)state;
  HandModel* hand = rotor(1);
  abActuator* a = servo(hand, 0, 1e6);
  a->gainprm[0] = 1e6;
  a->biasprm[1] = 0;
  a->force_limited = true;
  a->force_range[0] = -10, a->force_range[1] = 10;
  abData* data = hand_data(hand_finish(hand));
  data->ctrl[0] = 1;
  steps(&hand->model, data, 50);
  check_near(data->v[0], 0.5, 1e-9);
  check_near(data->actuator_force[0], 10, 1e-9);
  steps(&hand->model, data, 100);
  check_near(data->v[0], 1, 1e-6);
  check_near(data->actuator_force[0], 0, 1e-2);
  finish(hand, data);
}

// Contact impulses meet the implicit inertia, and cannot make a limit pull or friction exceed its
// bound: here an impulse is put on top of v_free by hand, as the contact solver would.
static void bounds_yield_to_contact(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    HandModel* hand = rotor(1);
    hand->joint[0].limited = k == 0;
    hand->joint[0].range[0] = 0, hand->joint[0].range[1] = 1;
    hand->joint[0].frictionloss = k == 1 ? 2 : 0;
    const abModel* model = hand_finish(hand);
    abData* data = hand_data(model);
    data->applied[1].torque = v3(0, k == 0 ? -3 : 0, 0);
    steps(model, data, 10);  // resting on the stop, or stuck
    ab_kinematics(model, data);
    ab_free_motion(model, data);
    ab_response_update(model, data);
    double v = data->v_free[0];
    ab_response_apply(&data->internal->response, 1, (abWrench){{0, 0, 0}, {0, 5, 0}}, &v);
    check_below(v, 1e-5);  // held
    ab_integrate(model, data, &v, &(double){0}, NULL, NULL);
    // released: the impulse less what the stop no longer gives, or less h f
    check_near(data->v[0], k == 0 ? 5 - 3e-3 : 5 - 2e-3, 1e-6);
    finish(hand, data);
  }
}

// Spring, damper and armature of a free joint act at the frame's origin: with the centre of mass
// off it, the origin is what comes to rest at the spring's place.
static void a_free_joint_can_have_a_spring_too(void** state) {
  (void)state;
  HandModel* hand = hand_create();
  abBody* body = hand_body(hand, 0);
  body->pose.p = v3(1, 2, 3);
  body->com = v3(0.3, 0, 0);
  abJoint* joint = hand_joint(hand, AB_JOINT_FREE);
  joint->stiffness = 100, joint->damping = 20, joint->armature = 0.5;
  hand->model.gravity = v3_zero();
  abData* data = hand_data(hand_finish(hand));
  data->q[0] += 0.3;
  data->v[4] = 3;
  steps(&hand->model, data, 20000);
  double rest[7] = {1, 2, 3, 1, 0, 0, 0};
  for (int i = 0; i < 7; i++) check_near(data->q[i], rest[i], 1e-6);
  finish(hand, data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(damping_is_implicit),
      cmocka_unit_test(springs_of_any_stiffness_keep_their_amplitude),
      cmocka_unit_test(limit_stops_without_bounce),
      cmocka_unit_test(limit_holds_a_load),
      cmocka_unit_test(limit_returns_from_far_outside_without_overshoot),
      cmocka_unit_test(ball_limit_bounds_the_angle),
      cmocka_unit_test(ball_without_range_is_held),
      cmocka_unit_test(dry_friction_sticks_exactly_below_its_bound),
      cmocka_unit_test(dry_friction_stops_a_rotor_in_finite_time),
      cmocka_unit_test(friction_in_a_chain_obeys_its_law),
      cmocka_unit_test(motor_gives_gear_times_control_within_its_range),
      cmocka_unit_test(stiff_servos_reach_their_target_and_stay),
      cmocka_unit_test(a_saturated_servo_settles),
      cmocka_unit_test(bounds_yield_to_contact),
      cmocka_unit_test(a_free_joint_can_have_a_spring_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
