// The coupling of a body to a target: what it carries, that it is stable, and its limits.
#include <abut/abut.h>
#include <string.h>

#include "math/spatial.h"
#include "support/check.h"

static abModel* model;
static abData* data;
static int body;

static int create(void** state) {
  (void)state;
  abError error = {0};
  abScene* scene = ab_scene_create();
  abBodyDef b = ab_body_def();
  b.name = "block";
  body = ab_scene_add_body(scene, &b, &error);
  abJointDef j = ab_joint_def();
  j.body = body, j.type = AB_JOINT_FREE;
  ab_scene_add_joint(scene, &j, &error);
  abGeomDef g = ab_geom_def();
  g.body = body, g.type = AB_SHAPE_BOX, g.size = v3(0.05, 0.04, 0.03), g.density = 1000;
  ab_scene_add_geom(scene, &g, &error);
  ab_scene_option(scene)->timestep = 0.005;
  model = ab_scene_compile(scene, &error);
  data = model ? ab_data_create(model, &error) : NULL;
  ab_scene_free(scene);
  return data ? 0 : -1;
}

static int destroy(void** state) {
  (void)state;
  ab_data_free(data);
  ab_model_free(model);
  return 0;
}

static abWrench hold(const abCoupling* c, abPose target, int steps) {
  abWrench w = wrench_zero();
  for (int i = 0; i < steps; i++) {
    memset(data->applied, 0, sizeof(abWrench) * (size_t)model->nbody);
    w = ab_couple_apply(model, data, c, target, twist_zero());
    assert_int_equal(ab_step(model, data), AB_STEP_OK);
  }
  return w;
}

// Being implicit, the spring gives way a little more than load / stiffness: by this factor.
static double give(const abCoupling* c) {
  return 1 + data->h * (c->damping + data->h * c->stiffness) / model->body[body].mass;
}

static void a_held_body_hangs_by_its_weight(void** state) {
  (void)state;
  abCoupling c = ab_coupling(model, body, 40);
  c.damping_r = 0.1;
  abWrench w = hold(&c, pose_identity(), 2000);
  double weight = model->body[body].mass * 9.81;
  // at rest to rounding: the motion left after 10 s is below exp(-40 x 10)
  check_near(w.force.z, weight, 1e-9 * weight);
  check_below(v3_norm(data->twist[body].lin), 1e-12);
  double sag = give(&c) * weight / c.stiffness;
  check_near(data->pose[body].p.z, -sag, 1e-9 * sag);
}

// Implicit: however stiff, held off centre, at a large step.
static void any_stiffness_is_stable(void** state) {
  (void)state;
  for (double frequency = 10; frequency < 1e7; frequency *= 10) {
    ab_data_reset(model, data, -1);
    abCoupling c = ab_coupling(model, body, frequency);
    c.grip.p = v3(0.05, 0.04, 0.03);
    c.damping_r = 0.01;
    abPose target = {v3(0.5, 0, 0.2), quat_identity()};
    hold(&c, target, 4000);
    abVec3 grip = pose_apply(data->pose[body], c.grip.p);
    // off the centre the grip gives way less than a mass as large as the body would
    double sag = give(&c) * 9.81 / (frequency * frequency);
    check_below(v3_norm(v3_sub(grip, target.p)), 4 * sag);
    check_below(v3_norm(data->twist[body].lin), 1e-3);
  }
}

static void the_orientation_follows_where_it_is_asked_to(void** state) {
  (void)state;
  abCoupling c = ab_coupling(model, body, 40);
  c.stiffness_r = 2, c.damping_r = 0.1;
  abPose target = {v3(0, 0, 0), quat_from_axis_angle(v3(0.6, 0, 0.8), 2.5)};
  hold(&c, target, 2000);
  abQuat d = quat_mul(data->pose[body].q, quat_conj(target.q));
  check_near(fabs(d.w), 1, 1e-9);  // held at its centre of mass, gravity does not turn it
  target.q = (abQuat){-target.q.w, -target.q.x, -target.q.y, -target.q.z};
  abWrench w = hold(&c, target, 1);
  check_below(v3_norm(w.torque), 1e-6);  // q and -q are one orientation
}

static void force_and_torque_stay_within_their_limits(void** state) {
  (void)state;
  abCoupling c = ab_coupling(model, body, 100);
  c.stiffness_r = 50, c.damping_r = 1;
  c.limit = 3, c.limit_r = 0.02;
  abPose target = {v3(10, -3, 1), quat_from_axis_angle(v3(0, 0, 1), 3)};
  for (int i = 0; i < 50; i++) {
    abWrench w = hold(&c, target, 1);
    // shortened to the limit: to rounding
    check_below(v3_norm(w.force), 3 * (1 + 1e-12));
    check_below(v3_norm(w.torque), 0.02 * (1 + 1e-12));
  }
  assert_true(data->pose[body].p.x > 0.001);
}

static void a_moving_target_is_followed_without_lag(void** state) {
  (void)state;
  abCoupling c = ab_coupling(model, body, 60);
  abTwist twist = {v3(0.3, 0, 0), v3_zero()};
  double x = 0;
  for (int i = 0; i < 1000; i++) {
    abPose target = {v3(x, 0, 0), quat_identity()};
    memset(data->applied, 0, sizeof(abWrench) * (size_t)model->nbody);
    ab_couple_apply(model, data, &c, target, twist);
    ab_step(model, data);
    x += data->h * twist.lin.x;
  }
  // damped against the target's velocity, there is nothing left to pull
  check_near(data->pose[body].p.x, x, 1e-9);
}

static void what_cannot_move_feels_nothing(void** state) {
  (void)state;
  abCoupling c = {.body = 0, .stiffness = 100, .damping = 1};
  abPose target = {v3(1, 2, 3), quat_identity()};
  abWrench w = ab_couple(model, data, &c, target, twist_zero());
  assert_true(v3_norm(w.force) == 0 && v3_norm(w.torque) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_held_body_hangs_by_its_weight, create, destroy),
      cmocka_unit_test_setup_teardown(any_stiffness_is_stable, create, destroy),
      cmocka_unit_test_setup_teardown(the_orientation_follows_where_it_is_asked_to, create,
                                      destroy),
      cmocka_unit_test_setup_teardown(force_and_torque_stay_within_their_limits, create, destroy),
      cmocka_unit_test_setup_teardown(a_moving_target_is_followed_without_lag, create, destroy),
      cmocka_unit_test_setup_teardown(what_cannot_move_feels_nothing, create, destroy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
