// Contacts that joints hold, and overlaps at the start (contact/patch/hold.c): bodies of joint
// trees that begin inside each other are left as they are, with no energy from nowhere, and are
// told of.
#include <abut/abut.h>
#include <stdio.h>
#include <string.h>

#include "math/spatial.h"
#include "support/check.h"

typedef struct Scene {
  abModel* model;
  abData* data;
} Scene;

static Scene load(const char* text) {
  abError error = {0};
  abScene* scene = ab_scene_load_memory("scene.xml", text, strlen(text), NULL, &error);
  if (!scene) fail_msg("%s", error.message);
  Scene s = {.model = ab_scene_compile(scene, &error)};
  ab_scene_free(scene);
  if (!s.model) fail_msg("%s", error.message);
  s.data = ab_data_create(s.model, &error);
  assert_non_null(s.data);
  ab_forward(s.model, s.data);
  return s;
}

static void unload(Scene* s) {
  ab_data_free(s->data);
  ab_model_free(s->model);
}

static double total(const Scene* s) {
  abEnergy e = ab_energy(s->model, s->data);
  return e.kinetic + e.gravity + e.spring;
}

// Every step is solved; returns the most that the energy ever was above that of the start.
static double run(Scene* s, double time) {
  double first = total(s), most = 0;
  while (s->data->time < time - 1e-9) {
    assert_int_equal(ab_step(s->model, s->data), AB_STEP_OK);
    most = fmax(most, total(s) - first);
  }
  return most;
}

// The hinge's axis passes through both: no turn brings them apart.
#define BASE                                                                        \
  "<mujoco><worldbody><geom name='base' type='box' size='.1 .1 .1' euler='3 1 0'/>" \
  "<body name='link' pos='0 0 .19'><joint axis='0 0 1'/>"                           \
  "<geom name='link' type='capsule' size='.05 .1'/></body></worldbody></mujoco>"

static void base_that_overlaps_its_first_link_is_left_as_it_is(void** state) {
  (void)state;
  Scene s = load(BASE);
  double gain = run(&s, 1);
  check_below(gain, 1e-12);  // nothing acts
  assert_int_equal(s.data->ncontact, 1);
  assert_int_equal(s.data->stat.nhold, 1);
  const abContact* c = &s.data->contacts[0];
  assert_int_equal(c->hold, AB_HOLD_CLOSED);
  check_below(v3_norm(c->wrench.force), 1e-6);  // of 16 N of weight
  assert_true(c->depth > 0.05);
  unload(&s);
}

static void joint_of_a_held_link_turns_freely(void** state) {
  (void)state;
  Scene s = load(BASE);
  s.data->v[0] = 1;
  run(&s, 1);
  check_near(s.data->v[0], 1, 1e-9);  // no friction of a contact that has no force
  check_near(s.data->q[0], 1, 1e-9);
  unload(&s);
}

// The capsules' round ends lie in each other about the joint: a pendulum as without contact.
static void pendulum_on_a_ball_joint_inside_its_parent_swings_as_without_contact(void** state) {
  (void)state;
  double q[2][4];
  for (int k = 0; k < 2; k++) {
    Scene s = load(
        "<mujoco><compiler angle='degree'/><worldbody><body pos='0 0 .2' euler='45 45 45'>"
        "<geom type='capsule' size='.02' fromto='0 0 0 .1 0 0'/><body pos='.1 0 0'>"
        "<joint type='ball' damping='0'/><geom type='capsule' size='.02' fromto='0 0 0 .1 0 0'/>"
        "</body></body></worldbody></mujoco>");
    if (k == 1) s.data->contact = NULL;
    run(&s, 0.5);
    memcpy(q[k], s.data->q, sizeof q[k]);
    unload(&s);
  }
  // rounding: in contact the step goes through another factorisation; not longer than until the
  // pendulum hits its parent from the side
  for (int i = 0; i < 4; i++) check_near(q[0][i], q[1][i], 1e-9);
}

// Neither can the arms be parted without turning both by more than they overlap, nor must they be.
static void two_arms_that_begin_inside_each_other_rest(void** state) {
  (void)state;
  Scene s = load(
      "<mujoco><option gravity='0 0 0'/><worldbody>"
      "<body name='a' pos='-.3 0 0'><joint axis='0 0 1'/>"
      "<geom name='a' type='box' pos='.15 0 0' size='.2 .03 .03' euler='0 0 4'/></body>"
      "<body name='b' pos='.3 0 0'><joint axis='0 0 1'/>"
      "<geom name='b' type='box' pos='-.15 0 0' size='.2 .03 .03' euler='0 0 7'/></body>"
      "</worldbody></mujoco>");
  double gain = run(&s, 1);
  check_below(gain, 1e-12);
  assert_int_equal(s.data->stat.nhold, 1);
  assert_int_equal(s.data->contacts[0].hold, AB_HOLD_RESTS);
  for (int i = 0; i < 2; i++) check_near(s.data->q[i], 0, 1e-9);
  unload(&s);
}

// A leg that begins 0.3 m below the floor stands there; nothing throws it out.
static void robot_that_begins_below_the_floor_stands_where_it_is(void** state) {
  (void)state;
  Scene s = load(
      "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/>"
      "<body pos='0 0 .2'><freejoint/><geom type='box' size='.2 .2 .05' mass='5'/>"
      "<body pos='.15 .15 0'><joint axis='0 1 0' stiffness='500' damping='20'/>"
      "<geom type='box' pos='0 0 -.25' size='.04 .04 .25' mass='1'/></body>"
      "<body pos='-.15 .15 0'><joint axis='0 1 0' stiffness='500' damping='20'/>"
      "<geom type='box' pos='0 0 -.25' size='.04 .04 .25' mass='1'/></body>"
      "<body pos='.15 -.15 0'><joint axis='0 1 0' stiffness='500' damping='20'/>"
      "<geom type='box' pos='0 0 -.25' size='.04 .04 .25' mass='1'/></body>"
      "<body pos='-.15 -.15 0'><joint axis='0 1 0' stiffness='500' damping='20'/>"
      "<geom type='box' pos='0 0 -.25' size='.04 .04 .25' mass='1'/></body>"
      "</body></worldbody></mujoco>");
  run(&s, 2);
  assert_int_equal(s.data->stat.nhold, 4);
  check_near(s.data->q[2], 0.2, 1e-4);  // legs are upright: next to nothing bends them
  for (int i = 0; i < s.model->nv; i++) check_near(s.data->v[i], 0, 1e-6);
  unload(&s);
}

// Such a robot is no special case once it has been lifted out: it meets the floor as others do.
static void contact_that_has_opened_is_an_ordinary_one(void** state) {
  (void)state;
  Scene s = load(
      "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/>"
      "<body pos='0 0 .05'><joint type='slide' axis='0 0 1'/>"
      "<geom type='box' size='.1 .1 .1' mass='1'/></body></worldbody></mujoco>");
  run(&s, 0.1);
  assert_int_equal(s.data->contacts[0].hold, AB_HOLD_RESTS);
  check_near(s.data->q[0], 0, 1e-6);
  s.data->applied[1].force.z = 20;
  run(&s, 0.4);
  assert_true(s.data->q[0] > 0.06);  // out
  s.data->applied[1].force.z = 0;
  run(&s, 2);
  assert_int_equal(s.data->stat.nhold, 0);
  check_near(s.data->q[0], 0.05, 1e-6);  // on the floor, not in it
  unload(&s);
}

// A box of 0.1 m, free or on a slide, between walls 0.09 m apart: neither overlap can be taken
// back. Stiffness times what the two ask for would be the force, 1e12 N; a floor bears the box
// alone.
static void body_between_walls_that_are_too_near_rests_as_it_is(void** state) {
  (void)state;
  const char* joint[2] = {"<freejoint/>",
                          "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"};
  for (int k = 0; k < 2; k++) {
    char text[700];
    snprintf(text, sizeof text,
             "<mujoco><option timestep='.002'/><worldbody>"
             "<geom name='left' type='box' size='.05 .2 .2' pos='-.095 0 0'/>"
             "<geom name='right' type='box' size='.05 .2 .2' pos='.095 0 0'/>"
             "<geom name='floor' type='plane' size='1 1 1' pos='0 0 -.05'/>"
             "<body>%s<geom type='box' size='.05 .05 .05' mass='1'/></body></worldbody></mujoco>",
             joint[k]);
    Scene s = load(text);
    double gain = run(&s, 1), most = 0;
    check_below(gain, 1e-9 * 9.81 * 0.1);  // of m g times its size
    for (int i = 0; i < s.data->ncontact; i++)
      most = fmax(most, v3_norm(s.data->contacts[i].wrench.force));
    check_near(most, 9.81, 1e-3 * 9.81);  // the weight
    assert_int_equal(s.data->stat.nhold, 2);
    unload(&s);
  }
}

// Many models begin beyond a joint's limit. The joint comes back, but throws nobody.
static void joint_far_beyond_its_limit_returns_slowly(void** state) {
  (void)state;
  Scene s = load(
      "<mujoco><compiler angle='radian'/><option timestep='.001' gravity='0 0 0'/><worldbody><body>"
      "<joint axis='0 0 1' range='1 2'/><geom type='capsule' size='.02 .2' pos='.2 0 0'/></body>"
      "</worldbody></mujoco>");
  double before = s.data->q[0], fastest = 0;
  while (s.data->time < 2) {
    assert_int_equal(ab_step(s.model, s.data), AB_STEP_OK);
    fastest = fmax(fastest, (s.data->q[0] - before) / s.data->h);
    before = s.data->q[0];
  }
  check_below(fastest, 1 / 0.1 + 1e-9);  // 1 rad in RETURN_TIME of dynamics/bound.c
  check_near(s.data->q[0], 1, 1e-6);
  unload(&s);
}

// A head on two hinges that is 7 mm in its trunk, and that no turn brings out by more than 2 mm:
// friction locks it on the way. It comes to rest there, and is told of, instead of being pushed
// through at any force. (Until that is seen the contact gives it 31 J; 98 J if it never was.)
static void contact_that_jams_on_its_way_out_rests(void** state) {
  (void)state;
  Scene s = load(
      "<mujoco><option timestep='.002'/><worldbody>"
      "<geom type='sphere' size='.1' pos='0 0 -.045'/>"
      "<body><joint axis='0 1 0'/>"
      "<geom type='box' size='.01 .01 .01' mass='.2' contype='0' conaffinity='0'/>"
      "<body pos='0 0 .1'><joint axis='0 1 0'/>"
      "<geom type='sphere' size='.15' pos='0 0 .1' mass='2'/></body></body></worldbody></mujoco>");
  s.data->q[0] = 0.3;
  ab_forward(s.model, s.data);
  check_below(run(&s, 1), 40);
  for (int i = 0; i < 2; i++) check_near(s.data->v[i], 0, 1e-4);
  assert_int_equal(s.data->contacts[0].hold, AB_HOLD_RESTS);
  unload(&s);
}

// Folded into a wall and far beyond its limit, whose way back leads deeper in: the joint before it
// can give way to that only at hundreds of rad/s, since the wall is tilted by 0.02. Nothing moves.
// A foot a little in the floor comes up until its joint is at its limit, which leaves it 0.4 mm
// deep: 0.4 % of it. Pressed harder, the two would go beyond the limit with 1e7 N.
static void contact_on_its_way_out_stops_at_the_limit_of_a_joint(void** state) {
  (void)state;
  Scene s = load(
      "<mujoco><worldbody><geom type='box' size='.1 .1 .1' pos='0 0 -.1'/>"
      "<body pos='-.2 0 0'><joint axis='0 1 0' range='-.086 40'/>"
      "<geom type='sphere' size='.05' pos='.2 0 .0493' mass='.5'/></body></worldbody></mujoco>");
  run(&s, 1);
  assert_int_equal(s.data->ncontact, 1);
  const abContact* c = &s.data->contacts[0];
  assert_int_equal(c->hold, AB_HOLD_RESTS);
  check_near(c->depth, 4e-4, 2e-5);
  check_near(v3_norm(c->normal_wrench.force), 0.5 * 9.81, 0.02);  // its weight
  assert_true(s.data->q[0] >= -0.086 * AB_PI / 180 - 1e-9);       // not beyond its limit
  unload(&s);
}

// A leg that begins tilted and 4 cm in the floor, turned by a spring about an edge of what is in
// there: it comes to rest where the spring is balanced. Would the rest go with the deepest corner,
// the leg would sink on while it turns.
static void leg_deep_in_the_floor_does_not_sink_by_turning(void** state) {
  (void)state;
  Scene s = load(
      "<mujoco><option timestep='.002'/><worldbody><geom type='plane' size='0 0 1'/>"
      "<body pos='0 0 .255'><joint type='slide' axis='0 0 1'/><joint type='slide' axis='1 0 0'/>"
      "<geom type='box' size='.05 .05 .05' mass='4'/>"
      "<body><joint axis='0 1 0' stiffness='40' damping='2' springref='-10'/><geom type='box'"
      " size='.015 .02 .15' pos='0 0 -.155' euler='0 25 0' mass='.3'/></body></body></worldbody>"
      "</mujoco>");
  run(&s, 6);
  assert_int_equal(s.data->contacts[0].hold, AB_HOLD_RESTS);
  assert_true(s.data->contacts[0].depth > 0.03);
  for (int i = 0; i < 3; i++) check_below(fabs(s.data->v[i]), 1e-6);
  unload(&s);
}

static void arm_folded_into_a_wall_beyond_its_limit_stays_as_it_is(void** state) {
  (void)state;
  Scene s = load(
      "<mujoco><compiler angle='radian'/><option timestep='.002' gravity='0 0 0'/><worldbody>"
      "<geom type='box' size='.1 .1 .1' pos='.4 0 -.12' euler='.02 0 0' condim='1'/>"
      "<body><joint axis='0 0 1' armature='1'/>"
      "<geom type='box' size='.02 .02 .02' mass='1' contype='0' conaffinity='0'/>"
      "<body><joint axis='0 1 0' range='.8 2' armature='4'/>"
      "<geom type='box' pos='.25 0 0' size='.2 .03 .03' mass='1' condim='1'/></body>"
      "</body></worldbody></mujoco>");
  check_below(run(&s, 1), 1e-12);
  for (int i = 0; i < 2; i++) check_near(s.data->q[i], 0, 1e-9);
  s.data->q[0] = 3;  // away from the wall it comes back
  run(&s, 2);
  check_near(s.data->q[1], 0.8, 1e-6);
  unload(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(base_that_overlaps_its_first_link_is_left_as_it_is),
      cmocka_unit_test(joint_of_a_held_link_turns_freely),
      cmocka_unit_test(pendulum_on_a_ball_joint_inside_its_parent_swings_as_without_contact),
      cmocka_unit_test(two_arms_that_begin_inside_each_other_rest),
      cmocka_unit_test(robot_that_begins_below_the_floor_stands_where_it_is),
      cmocka_unit_test(contact_that_has_opened_is_an_ordinary_one),
      cmocka_unit_test(body_between_walls_that_are_too_near_rests_as_it_is),
      cmocka_unit_test(joint_far_beyond_its_limit_returns_slowly),
      cmocka_unit_test(contact_that_jams_on_its_way_out_rests),
      cmocka_unit_test(contact_on_its_way_out_stops_at_the_limit_of_a_joint),
      cmocka_unit_test(leg_deep_in_the_floor_does_not_sink_by_turning),
      cmocka_unit_test(arm_folded_into_a_wall_beyond_its_limit_stays_as_it_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
