// Equalities and tendons together with contacts, mocap bodies and sleeping.
#include <abut/abut.h>
#include <stdio.h>
#include <string.h>

#include "math/spatial.h"
#include "support/check.h"
#include "support/text_world.h"

#define FLOOR "<geom type='plane' size='5 5 1'/>"

// A box on the floor with an arm of a box welded to its side, in the air: it stays, and the weld
// carries the arm's weight and its moment.
static const char* ARM =
    "<mujoco><option timestep='.002'/><worldbody>" FLOOR
    "<body name='a' pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='4'/></body>"
    "<body name='b' pos='.15 0 .15'><freejoint/><geom type='box' size='.05 .02 .02' mass='1'/>"
    "</body></worldbody><equality><weld body1='a' body2='b'/></equality></mujoco>";

static void weld_carries_a_box_in_the_air(void** state) {
  (void)state;
  World w = load(ARM);
  steps(w, 1000);
  check_vec_near(w.data->com[2], v3(0.15, 0, 0.15), 1e-6);
  check_below(w.data->stat.equality_error, 1e-8);
  // on body a, at the arm's frame: its weight; the moment about that place is the frame's choice
  check_near(w.data->equality_force[0].force.z, -9.81, 1e-4);
  double speed = 0;
  for (int i = 0; i < w.model->nv; i++) speed = fmax(speed, fabs(w.data->v[i]));
  check_below(speed, 1e-8);
  finish(w);
}

// The island of a weld sleeps and wakes as one, to the bit.
static void welded_bodies_sleep_and_wake_together(void** state) {
  (void)state;
  World w = load(ARM);
  w.data->sleep.on = true;
  steps(w, 2000);
  assert_int_equal(w.data->stat.nasleep, 2);
  w.data->applied[2].force = v3(0, 0, 3);
  steps(w, 1);
  assert_int_equal(w.data->stat.nasleep, 0);
  steps(w, 1000);
  check_near(w.data->equality_force[0].force.z, -9.81 + 3, 1e-4);
  finish(w);
}

// Boxes that overlap and are welded as they are cannot be moved apart: their contact is left alone.
static void welded_boxes_may_overlap(void** state) {
  (void)state;
  World w =
      load("<mujoco><worldbody>" FLOOR
           "<body name='a' pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
           "<body name='b' pos='.05 0 .15'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
           "</worldbody><equality><weld body1='a' body2='b'/></equality></mujoco>");
  steps(w, 1000);
  check_vec_near(w.data->com[2], v3(0.05, 0, 0.15), 1e-5);
  check_below(w.data->stat.equality_error, 1e-8);
  finish(w);
}

// What stands on a light plate by equalities stands: that the plate alone would yield 600 times
// more easily does not mean that it is held.
static void heavy_box_welded_to_a_light_plate_lands_on_it(void** state) {
  (void)state;
  World w =
      load("<mujoco><option timestep='.002'/><worldbody>" FLOOR
           "<body name='heavy' pos='0 0 .3'><freejoint/><geom type='box' size='.1 .1 .1' mass='30' "
           "contype='0' conaffinity='0'/></body>"
           "<body name='light' pos='0 0 .19'><freejoint/><geom type='box' size='.1 .1 .01' "
           "mass='.05'/></body></worldbody>"
           "<equality><weld body1='heavy' body2='light'/></equality></mujoco>");
  steps(w, 1000);
  check_near(w.data->com[1].z, 0.12, 1e-6);
  check_near(w.data->com[2].z, 0.01, 1e-6);
  finish(w);
}

// Two legs press against the stops of their hips, and both are connected to one foot. The stops
// take the legs' mobility away, which is no reason to take the foot for held either.
static void legs_at_their_stops_stand_on_a_connected_foot(void** state) {
  (void)state;
  World w = load(
      "<mujoco><compiler angle='radian'/><option timestep='.002'/>"
      "<default><geom contype='0' conaffinity='0'/></default><worldbody>"
      "<geom type='plane' size='5 5 1' contype='1' conaffinity='1'/>"
      "<body pos='0 0 .5'><freejoint/><geom type='box' size='.1 .1 .1' mass='30'/>"
      "<body name='leg' pos='0 0 -.1'><joint axis='0 1 0' range='0 .5'/>"
      "<geom type='capsule' fromto='0 0 0 .05 0 -.35' size='.02' mass='1'/></body>"
      "<body name='other' pos='0 0 -.1'><joint axis='0 1 0' range='-.5 0'/>"
      "<geom type='capsule' fromto='0 0 0 -.05 0 -.35' size='.02' mass='1'/></body>"
      "</body><body name='foot' pos='0 0 .03'><freejoint/><geom type='box' size='.15 .1 "
      ".01' mass='.2' contype='1' conaffinity='1'/></body></worldbody><equality>"
      "<connect body1='leg' body2='foot' anchor='.05 0 -.35'/>"
      "<connect body1='other' body2='foot' anchor='-.05 0 -.35'/></equality></mujoco>");
  steps(w, 1000);
  check_near(w.data->com[1].z, 0.48, 1e-5);
  check_near(w.data->com[4].z, 0.01, 1e-6);
  check_below(w.data->stat.equality_error, 1e-6);
  finish(w);
}

// Two fingers coupled by an equality, one driven, close on a box between them and lift nothing
// apart: the box stays where the two hold it, and both fingers have come as far.
static void coupled_fingers_hold_a_box(void** state) {
  (void)state;
  World w = load(
      "<mujoco><option timestep='.002'/><worldbody>"
      "<body name='l' pos='-.1 0 .5'><joint name='l' type='slide' axis='1 0 0' damping='1'/>"
      "<geom type='box' size='.02 .03 .03' mass='.1'/></body>"
      "<body name='r' pos='.1 0 .5'><joint name='r' type='slide' axis='-1 0 0' damping='1'/>"
      "<geom type='box' size='.02 .03 .03' mass='.1'/></body>"
      "<body name='box' pos='0 0 .5'><freejoint/><geom type='box' size='.03 .02 .02' mass='.2'/>"
      "</body></worldbody><equality><joint joint1='r' joint2='l'/></equality>"
      "<actuator><motor joint='l'/></actuator></mujoco>");
  w.data->ctrl[0] = 40;
  steps(w, 5000);
  check_near(w.data->q[0], w.data->q[1], 1e-6);
  // 40 N shared by two fingers, mu 1: enough for 2 N; it fell while they closed
  check_below(fabs(w.data->com[3].z - 0.5), 0.05);
  double z = w.data->com[3].z;
  steps(w, 5000);
  check_near(w.data->com[3].z, z, 1e-6);  // and is held
  check_near(w.data->equality_force[0].force.x, 20, 1e-3);
  finish(w);
}

// Between coupled fingers that press with 50 N each, whatever the shape: a load that goes round in
// the plane of their faces at 0.95 of the friction, four times a second, moves it to and fro, not
// away.
static void grip_within_its_limit_does_not_creep(void** state) {
  (void)state;
  const char* shape[] = {"type='box' size='.02 .025 .03'", "type='cylinder' size='.025 .03'",
                         "type='cylinder' size='.025 .03' euler='0 90 0'",
                         "type='capsule' size='.025 .03'", "type='sphere' size='.025'"};
  const double most = 0.95 * 0.2 * 100;
  for (int k = 0; k < 5; k++) {
    char text[900];
    snprintf(text, sizeof text,
             "<mujoco><option timestep='.002' gravity='0 0 0'/><worldbody>"
             "<body pos='0 -.03 0'><joint name='l' type='slide' axis='0 1 0'/>"
             "<geom type='box' size='.01 .005 .01' mass='.05'/></body>"
             "<body pos='0 .03 0'><joint name='r' type='slide' axis='0 -1 0'/>"
             "<geom type='box' size='.01 .005 .01' mass='.05'/></body>"
             "<body><freejoint/><geom %s mass='1' friction='.2' priority='1'/></body></worldbody>"
             "<equality><joint joint1='l' joint2='r'/></equality>"
             "<actuator><motor joint='l' gear='100'/></actuator></mujoco>",
             shape[k]);
    World w = load(text);
    w.data->ctrl[0] = 1;
    abVec3 before = v3_zero();
    for (int i = 0; i < 1500; i++) {
      if (i == 500) before = w.data->com[3];
      double a = 8 * 3.141592653589793 * w.data->time, rise = fmin(1, w.data->time / 0.5);
      w.data->applied[3].force = v3(rise * most * cos(a), 0, rise * most * sin(a));
      assert_int_equal(ab_step(w.model, w.data), AB_STEP_OK);
    }
    check_below(v3_norm(v3_sub(w.data->com[3], before)), 2 * 1e-9);  // 1e-9 m/s for 2 s
    finish(w);
  }
}

static const char* TELEOPERATED =
    "<mujoco><option timestep='.002'/><worldbody>" FLOOR
    "<body name='target' mocap='true' pos='0 0 .5'/>"
    "<body name='hand' pos='0 0 .5'><freejoint/><geom type='box' size='.05 .05 .05' mass='1'/>"
    "</body></worldbody><equality><weld body1='target' body2='hand'/></equality></mujoco>";

// A moving target is followed closely; at rest the hand is there.
static void weld_follows_a_mocap_body(void** state) {
  (void)state;
  World w = load(TELEOPERATED);
  for (int i = 0; i < 1000; i++) {
    w.data->mocap_pos[0] = v3(0.2 - 0.2 * cos(0.004 * i), 0, 0.5);
    steps(w, 1);
    check_below(fabs(w.data->com[2].x - w.data->mocap_pos[0].x), 1e-5);
  }
  steps(w, 500);
  check_vec_near(w.data->com[2], w.data->mocap_pos[0], 1e-5);  // sags by g h^2 / 20
  finish(w);
}

// A target that jumps by a metre and half a turn is reached without overshoot, at a speed that the
// acceleration 4 g (at least 40 m/s^2 here) allows, sqrt(2 40 1) at most.
static void a_jump_of_the_target_is_caught_up_smoothly(void** state) {
  (void)state;
  World w = load(TELEOPERATED);
  steps(w, 10);
  w.data->mocap_pos[0] = v3(1, 0, 0.5);
  w.data->mocap_quat[0] = (abQuat){0, 0, 0, 1};
  for (int i = 0; i < 1000; i++) {
    steps(w, 1);
    check_below(w.data->com[2].x, 1 + 1e-3);
    check_below(v3_norm(w.data->twist[2].lin), 9);
  }
  check_vec_near(w.data->com[2], w.data->mocap_pos[0], 1e-4);
  check_near(fabs(w.data->pose[2].q.z), 1, 1e-6);
  finish(w);
}

// A target below the floor: the hand lies on the floor and presses, with no more than the limit of
// 50 times its weight (of g, or ten times the scene's size per s^2).
static void a_target_in_the_floor_presses_and_breaks_nothing(void** state) {
  (void)state;
  World w = load(TELEOPERATED);
  steps(w, 10);
  w.data->mocap_pos[0] = v3(0, 0, -0.2);
  steps(w, 2000);
  check_near(w.data->com[2].z, 0.05, 1e-4);
  check_below(fabs(w.data->equality_force[0].force.z), 51 * 10);
  check_near(w.data->stat.equality_error, 0.25, 1e-3);
  w.data->mocap_pos[0] = v3(0, 0, 0.5);
  steps(w, 1000);
  check_vec_near(w.data->com[2], w.data->mocap_pos[0], 1e-4);
  finish(w);
}

// A chain of links whose last one is drawn to a place 0.1 m nearer than it begins: it sags onto a
// box. A closed loop and contacts in one island.
static void hanging_chain_meets_a_box(void** state) {
  (void)state;
  World w = load("<mujoco><option timestep='.002'/><worldbody>" FLOOR
                 "<body pos='-.4 0 .6'><joint type='ball' damping='.005'/><geom type='capsule' "
                 "fromto='0 0 0 .2 0 0' size='.02'/>"
                 "<body pos='.2 0 0'><joint type='ball' damping='.005'/><geom type='capsule' "
                 "fromto='0 0 0 .2 0 0' size='.02'/>"
                 "<body pos='.2 0 0'><joint type='ball' damping='.005'/><geom type='capsule' "
                 "fromto='0 0 0 .2 0 0' size='.02'/>"
                 "<body name='last' pos='.2 0 0'><joint type='ball' damping='.005'/><geom "
                 "type='capsule' fromto='0 0 0 .2 0 0' "
                 "size='.02'/><site name='tip' pos='.2 0 0'/></body></body></body></body>"
                 "<body name='box' pos='0 0 .22'><freejoint/><geom type='box' size='.05 .05 .22' "
                 "mass='3'/></body>"
                 "<site name='end' pos='.3 0 .6'/></worldbody><equality>"
                 "<connect site1='tip' site2='end'/></equality></mujoco>");
  check_near(w.data->stat.equality_error, 0, 0);
  steps(w, 3000);
  check_below(w.data->stat.equality_error, 1e-6);
  bool touches = false;
  for (int i = 0; i < w.data->ncontact; i++)
    touches |= w.data->contacts[i].body1 != 0 && w.data->contacts[i].body2 != 0;
  assert_true(touches);
  finish(w);
}

// A slide that begins far beyond its range, above what it may not pass: it comes down onto it and
// stays, whatever the limit still asks for.
static void limit_that_is_held_up_leaves_no_speed(void** state) {
  (void)state;
  World w = load("<mujoco><worldbody>" FLOOR
                 "<body pos='0 0 .5'><joint type='slide' axis='0 0 1' ref='0' range='-6 -5.9'/>"
                 "<geom type='box' size='.05 .05 .05'/></body></worldbody></mujoco>");
  double fastest = 0, lowest = INFINITY;
  for (int i = 0; i < 1000; i++) {
    steps(w, 1);
    if (w.data->ncontact > 0) fastest = fmax(fastest, fabs(w.data->v[0]));
    lowest = fmin(lowest, w.data->com[1].z);
  }
  check_below(fastest, 3.0);  // it fell half a metre
  check_below(fabs(w.data->v[0]), 1e-9);
  check_near(w.data->com[1].z, 0.05, 1e-6);
  check_below(0.05 - lowest, 1e-6);
  finish(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limit_that_is_held_up_leaves_no_speed),
      cmocka_unit_test(weld_carries_a_box_in_the_air),
      cmocka_unit_test(welded_bodies_sleep_and_wake_together),
      cmocka_unit_test(welded_boxes_may_overlap),
      cmocka_unit_test(heavy_box_welded_to_a_light_plate_lands_on_it),
      cmocka_unit_test(legs_at_their_stops_stand_on_a_connected_foot),
      cmocka_unit_test(coupled_fingers_hold_a_box),
      cmocka_unit_test(grip_within_its_limit_does_not_creep),
      cmocka_unit_test(weld_follows_a_mocap_body),
      cmocka_unit_test(a_jump_of_the_target_is_caught_up_smoothly),
      cmocka_unit_test(a_target_in_the_floor_presses_and_breaks_nothing),
      cmocka_unit_test(hanging_chain_meets_a_box),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
