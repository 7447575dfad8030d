// Laws that join joints and bodies, against closed forms: equalities, fixed tendons, actuators on
// tendons and sites. Without contact.
#include <abut/abut.h>
#include <stdio.h>
#include <string.h>

#include "math/spatial.h"
#include "support/check.h"
#include "support/text_world.h"

static const double PI = 3.14159265358979323846;

// --- connect and weld

#define ROD "<geom type='box' size='.5 .03 .02' mass='1' contype='0' conaffinity='0'/>"
#define ROD_AT \
  "<geom type='box' pos='.5 0 0' size='.5 .03 .02' mass='1' contype='0' conaffinity='0'/>"

static const char* RODS =
    "<mujoco><worldbody><body name='a' pos='.5 0 0'><freejoint/>" ROD
    "</body><body name='b' pos='1.5 0 0'><freejoint/>" ROD
    "</body></worldbody><equality><connect body1='a' body2='world' anchor='-.5 0 0'/>"
    "<connect body1='b' body2='a' anchor='-.5 0 0'/></equality></mujoco>";
static const char* HINGES =
    "<mujoco><worldbody><body name='a'><joint axis='0 1 0'/>" ROD_AT
    "<body name='b' pos='1 0 0'><joint axis='0 1 0'/>" ROD_AT "</body></body></worldbody></mujoco>";

// Where the lower rod's centre is after a second, by steps of h.
static abVec3 swing(const char* text, double h) {
  World w = load(text);
  w.data->h = h;
  steps(w, (int)lround(1 / h));
  abVec3 p = w.data->com[ab_find_body(w.model, "b")];
  finish(w);
  return p;
}

// Two free rods joined by points, and the same rods as a joint tree: both are of first order, with
// the same limit.
static void double_pendulum_by_connect_moves_as_by_hinges(void** state) {
  (void)state;
  double last = INFINITY;
  for (int k = 0; k < 3; k++) {
    double h = 1e-3 * pow(0.5, k);
    double d = v3_norm(v3_sub(swing(RODS, h), swing(HINGES, h)));
    check_below(d, 0.6 * last);  // it halves with the step
    last = d;
  }
  check_below(last, 2e-3);  // of 2 m: h = 0.25 ms times some m/s
}

// Chords of circles: what is exchanged with gravity within a step shows as an oscillation of the
// order h, but nothing is lost or gained over a minute of tumbling.
static void connected_rods_keep_their_energy(void** state) {
  (void)state;
  World w = load(RODS);
  double most[2] = {0}, least[2] = {0};
  w.data->h = 2e-3;
  for (int half = 0; half < 2; half++)
    for (int i = 0; i < 15000; i++) {
      steps(w, 1);
      most[half] = fmax(most[half], energy(w)), least[half] = fmin(least[half], energy(w));
      check_below(w.data->stat.equality_error, 1e-6);
    }
  // m g h v with v up to 6 m/s is 0.1 J; without drift both halves see the same range
  for (int half = 0; half < 2; half++) {
    check_below(most[half], 0.15);
    check_below(-least[half], 0.15);
  }
  finish(w);
}

static const char* FOUR_BAR =
    "<mujoco><option timestep='0.001'/><worldbody>"
    "<body name='crank'><joint name='crank' axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 .1' size='.01' mass='.2' contype='0' conaffinity='0'/>"
    "<body name='coupler' pos='0 0 .1'><joint axis='0 1 0'/><geom type='capsule' "
    "fromto='0 0 0 .3 0 .1' size='.01' mass='.3' contype='0' conaffinity='0'/></body></body>"
    "<body name='rocker' pos='.3 0 0'><joint name='rocker' axis='0 1 0'/><geom type='capsule' "
    "fromto='0 0 0 0 0 .2' size='.01' mass='.2' contype='0' conaffinity='0'/></body></worldbody>"
    "<equality><connect body1='coupler' body2='rocker' anchor='.3 0 .1'/></equality></mujoco>";

// The rocker's angle by the cosine rule: ground 0.3, crank 0.1, coupler sqrt(0.1), rocker 0.2. The
// crank's tip T; seen from the rocker's pivot R the rocker stands at the angle between R T and
// itself, on the side it started on.
static double rocker_angle(double crank) {
  double tx = 0.1 * sin(crank), tz = 0.1 * cos(crank), dx = tx - 0.3;
  double d = sqrt(dx * dx + tz * tz);
  double inner = acos((d * d + 0.04 - 0.1) / (2 * d * 0.2));
  return remainder(atan2(dx, tz) + inner, 2 * PI);
}

static void four_bar_follows_its_closed_form_for_ten_minutes(void** state) {
  (void)state;
  World w = load(FOUR_BAR);
  double worst = 0, open = 0;
  w.data->v[0] = 10;
  steps(w, 1);
  double first = energy(w);
  for (int i = 0; i < 600000; i++) {
    if (ab_step(w.model, w.data) != AB_STEP_OK) fail_msg("step %d", i);
    if (i % 60000 == 0) {  // somebody keeps it turning about as fast
      double scale = sqrt(fmax(0.1, first) / fmax(0.1, energy(w)));
      for (int k = 0; k < 3; k++) w.data->v[k] *= fmin(1, scale);
    }
    double want = rocker_angle(w.data->q[0]);
    worst = fmax(worst, fabs(remainder(w.data->q[2] - want, 2 * PI)));
    open = fmax(open, w.data->stat.equality_error);
  }
  check_below(open, 1e-6);   // m
  check_below(worst, 1e-5);  // 1e-6 m at 0.2 m, the linkage near its stretched position at worst
  finish(w);
}

static const char* TWO_BOXES =
    "<mujoco><option gravity='0 0 0'/><worldbody>"
    "<body name='a'><freejoint/><geom type='box' size='.1 .05 .05' mass='1' contype='0' "
    "conaffinity='0'/></body><body name='b' pos='.2 0 .1' euler='0 0 30'><freejoint/><geom "
    "type='box' size='.1 .1 .02' mass='2' contype='0' conaffinity='0'/></body></worldbody>"
    "<equality><weld body1='a' body2='b'/></equality></mujoco>";
static const char* ONE_BODY =
    "<mujoco><option gravity='0 0 0'/><worldbody>"
    "<body name='a'><freejoint/><geom type='box' size='.1 .05 .05' mass='1' contype='0' "
    "conaffinity='0'/><geom type='box' pos='.2 0 .1' euler='0 0 30' size='.1 .1 .02' mass='2' "
    "contype='0' conaffinity='0'/></body></worldbody></mujoco>";

// All bodies of the world turn together about the origin with w.
static void spin(World w, abVec3 spin) {
  for (int m = 0; m < w.model->nmover; m++) {
    int b = w.model->mover[m].body0;
    abTwist t = {v3_cross(spin, w.data->com[b]), spin};
    twist_to_array(t, w.data->v + w.model->mover[m].dof0);
  }
  ab_forward(w.model, w.data);
}

static abPose tumble(const char* text, double h) {
  World w = load(text);
  w.data->h = h;
  spin(w, v3(3, 1, -2));
  steps(w, (int)lround(1 / h));
  abPose pose = w.data->pose[1];
  finish(w);
  return pose;
}

static void welded_boxes_tumble_as_one_body(void** state) {
  (void)state;
  abPose exact = tumble(ONE_BODY, 1e-4);
  double last = INFINITY;
  for (int k = 0; k < 3; k++) {
    abPose p = tumble(TWO_BOXES, 4e-3 * pow(0.5, k));
    double d = v3_norm(v3_sub(p.p, exact.p)) + fabs(p.q.x - exact.q.x) + fabs(p.q.z - exact.q.z);
    check_below(d, 0.6 * last);  // first order at least
    last = d;
  }
  check_below(last, 1e-3);  // h w = 4e-3
}

// Impulses of equalities are equal and opposite, at the same place.
static void equalities_between_free_bodies_keep_momentum_and_energy(void** state) {
  (void)state;
  World w = load(
      "<mujoco><option gravity='0 0 0' timestep='.002'/><worldbody>"
      "<body name='a'><freejoint/>" ROD "</body><body name='b' pos='1 0 0'><freejoint/>" ROD
      "</body><body name='c' pos='2 0 0'><freejoint/>" ROD
      "</body><body name='d' pos='2 .4 0'>"
      "<freejoint/>" ROD
      "</body></worldbody><equality>"
      "<connect body1='a' body2='b' anchor='.5 0 0'/><connect body1='b' body2='c' anchor='.5 0 0'/>"
      "<weld body1='c' body2='d'/></equality></mujoco>");
  for (int i = 0; i < w.model->nv; i++) w.data->v[i] = sin(1.3 * i + 1);
  ab_forward(w.model, w.data);
  abWrench before = ab_momentum(w.model, w.data);
  steps(w, 10);  // until the start, which no equality allows, has been put right
  double begin = energy(w);
  for (int i = 0; i < 5000; i++) {
    steps(w, 1);
    check_below(energy(w), begin * (1 + 1e-3));
  }
  abWrench after = ab_momentum(w.model, w.data);
  // rounding of 5000 steps
  check_below(v3_norm(v3_sub(after.force, before.force)), 1e-11 * v3_norm(before.force));
  check_below(v3_norm(v3_sub(after.torque, before.torque)), 1e-10 * v3_norm(before.torque));
  check_below(w.data->stat.equality_error, 1e-6);
  finish(w);
}

// The same weld three times, and a point on top of it: the motion is that of one, and the force is
// shared.
static void saying_it_twice_changes_nothing(void** state) {
  (void)state;
  char text[2000];
  const char* end = strstr(TWO_BOXES, "</equality>");
  snprintf(text, sizeof text,
           "%.*s<weld body1='a' body2='b'/><connect body1='a' body2='b' "
           "anchor='.1 0 .05'/>%s",
           (int)(end - TWO_BOXES), TWO_BOXES, end);
  abPose once = tumble(TWO_BOXES, 1e-3), thrice = tumble(text, 1e-3);
  // more stiffness changes the lag under load, 1e-4 of h^2 w^2 r in a step
  check_vec_near(thrice.p, once.p, 1e-6);
  check_near(thrice.q.x, once.q.x, 1e-6);
}

// Held at two places at once a ball stays between them, and says that it is at neither.
static void conflict_ends_in_between_and_is_told(void** state) {
  (void)state;
  World w = load(
      "<mujoco><worldbody><body name='a'><freejoint/><geom size='.1' mass='1'/><site name='s'/>"
      "</body><site name='left' pos='-.2 0 0'/><site name='right' pos='.3 0 0'/></worldbody>"
      "<equality><connect site1='s' site2='left'/><connect site1='s' site2='right'/></equality>"
      "</mujoco>");
  steps(w, 2000);
  double x = w.data->com[1].x;
  check_below(fabs(x - 0.05), 0.25);
  check_near(w.data->stat.equality_error, 0.25 + fabs(x - 0.05), 1e-9);
  check_below(fabs(w.data->v[0]), 1e-3);
  finish(w);
}

// Two links stretched out between two fixed points can neither move nor resist at first order. Set
// going, they come to rest near there, and no row asks for enormous velocities.
static void linkage_at_its_dead_centre_comes_to_rest(void** state) {
  (void)state;
  World w =
      load("<mujoco><option timestep='.002'/><worldbody><body name='a'><joint axis='0 1 0'/>" ROD_AT
           "<body name='b' pos='1 0 0'><joint axis='0 1 0'/>" ROD_AT
           "</body></body></worldbody>"
           "<equality><connect body1='b' body2='world' anchor='1 0 0'/></equality></mujoco>");
  w.data->v[0] = 1, w.data->v[1] = -2;
  for (int i = 0; i < 1000; i++) {
    steps(w, 1);
    check_below(fabs(w.data->v[1]), 4);     // twice the start
    check_below(fabs(w.data->q[0]), 1e-2);  // 2 - 2 cos(0.01) is 1e-4 m too long
  }
  check_below(fabs(w.data->v[1]), 1e-4);
  check_below(w.data->stat.equality_error, 1e-4);
  finish(w);
}

// --- joints

// A gear of ratio 3: the torque T on the first wheel meets I1 + I2 / 9 ... of the second, which
// turns a third as fast, and the teeth carry I2 / 3 times the acceleration.
static void gears_turn_in_their_ratio(void** state) {
  (void)state;
  World w = load(
      "<mujoco><compiler angle='radian'/><option gravity='0 0 0' timestep='.001'/><worldbody>"
      "<body><joint name='one' axis='0 0 1'/><inertial pos='0 0 0' mass='1' diaginertia='.1 .1 "
      ".02'/></body><body pos='1 0 0'><joint name='two' axis='0 0 1'/><inertial pos='0 0 0' "
      "mass='1' diaginertia='.1 .1 .09'/></body></worldbody><equality>"
      "<joint joint1='two' joint2='one' polycoef='0 -.3333333333333333 0 0 0'/></equality>"
      "<actuator><motor joint='one'/></actuator></mujoco>");
  w.data->ctrl[0] = 0.6;
  steps(w, 1000);
  double a = 0.6 / (0.02 + 0.09 / 9);
  check_near(w.data->v[0], a, 1e-5 * a);  // the row gives way by 1e-6
  check_near(w.data->q[1], -w.data->q[0] / 3, 1e-9);
  check_near(w.data->equality_force[0].force.x, -0.09 * a / 3, 1e-5 * a);
  finish(w);
}

// A cam: q1 = 0.2 q2^2 - 0.1 q2^3. It stays on its curve, and keeps its energy.
static void cam_follows_its_polynomial(void** state) {
  (void)state;
  World w = load(
      "<mujoco><compiler angle='radian'/><option gravity='0 0 0' timestep='.001'/><worldbody>"
      "<body><joint name='one' type='slide' axis='0 0 1'/><geom size='.1' mass='1'/></body>"
      "<body pos='1 0 0'><joint name='two' axis='0 0 1'/><inertial pos='0 0 0' "
      "mass='1' diaginertia='.1 .1 .1'/></body></worldbody><equality>"
      "<joint joint1='one' joint2='two' polycoef='0 0 .2 -.1 0'/></equality></mujoco>");
  w.data->v[1] = 2;
  ab_forward(w.model, w.data);
  double begin = energy(w);
  for (int i = 0; i < 1000; i++) {
    steps(w, 1);
    double x = w.data->q[1];
    check_near(w.data->q[0], 0.2 * x * x - 0.1 * x * x * x, 1e-8);
    check_near(energy(w), begin, 1e-4 * begin);  // second order, h w = 2e-3 and its curvature
  }
  finish(w);
}

// --- tendons

#define TWO_SLIDES                                                                            \
  "<worldbody><body><joint name='one' type='slide' axis='0 0 1'/><geom size='.1' "            \
  "mass='2'/></body>"                                                                         \
  "<body pos='1 0 0'><joint name='two' type='slide' axis='0 0 1'/><geom size='.1' mass='3'/>" \
  "</body></worldbody>"

// L = q1 - q2 with the reduced mass 6/5: one period later everything is where it was.
static void tendon_spring_swings_with_its_frequency(void** state) {
  (void)state;
  World w = load("<mujoco><option gravity='0 0 0'/>" TWO_SLIDES
                 "<tendon><fixed stiffness='120' springlength='0'><joint joint='one' coef='1'/>"
                 "<joint joint='two' coef='-1'/></fixed></tendon></mujoco>");
  double period = 2 * PI / sqrt(120 / 1.2);
  w.data->h = period / 1000;
  w.data->q[0] = 0.3, w.data->q[1] = -0.2;
  ab_forward(w.model, w.data);
  check_near(energy(w), 0.5 * 120 * 0.25, 1e-12);
  steps(w, 10000);
  // ten periods, each too long by (5/24) (h w)^2; the velocity belongs to half a step before
  check_near(w.data->q[0], 0.3, 1e-3);
  check_near(w.data->q[1], -0.2, 1e-3);
  finish(w);
}

// Damped, with a slack part of the length: the damper takes momentum difference, the slack spring
// nothing.
static void tendon_damps_and_is_slack_between_its_lengths(void** state) {
  (void)state;
  World w = load("<mujoco><option gravity='0 0 0' timestep='.001'/>" TWO_SLIDES
                 "<tendon><fixed stiffness='1e4' springlength='-1 1' damping='2.4'>"
                 "<joint joint='one' coef='1'/><joint joint='two' coef='-1'/></fixed></tendon>"
                 "</mujoco>");
  w.data->v[0] = 1;
  steps(w, 500);
  // L' falls as exp(-2.4 t / 1.2), implicit Euler; the momentum 2 stays
  double speed = pow(1 + 1e-3 * 2, -500);
  check_near(w.data->v[0] - w.data->v[1], speed, 1e-9);
  check_near(2 * w.data->v[0] + 3 * w.data->v[1], 2, 1e-9);
  check_near(w.data->tendon_force[0], -2.4 * speed, 1e-8);
  finish(w);
}

// A pulley: two weights on one rope that gives out at L = 0.1. Before, both fall; then the sum of
// their coordinates stays, and they move as Atwood's machine.
// A tendon that begins far beyond its range comes back as a joint does: no faster than it could
// stop.
static void tendon_returns_from_far_outside_slowly(void** state) {
  (void)state;
  World w = load(
      "<mujoco><option gravity='0 0 0'/><worldbody><body>"
      "<joint name='a' type='slide' ref='-1'/><geom size='.1' mass='1'/></body>"
      "</worldbody><tendon><fixed limited='true' range='-.7 .9'>"
      "<joint joint='a' coef='1'/></fixed></tendon></mujoco>");
  double fastest = 0;
  for (int i = 0; i < 500; i++) {
    steps(w, 1);
    fastest = fmax(fastest, fabs(w.data->v[0]));
  }
  check_below(fastest, 3.001);  // 0.3 m beyond in 0.1 s
  check_below(-0.7 - 1e-9, w.data->q[0]);
  finish(w);
}

// A point that can never be met, 0.33 m away from levers of 0.1 m, is drawn at, and nothing more.
static void connect_out_of_reach_does_not_run_away(void** state) {
  (void)state;
  World w = load(
      "<mujoco><worldbody><body><joint/><geom type='box' size='.08 .04 .01'/>"
      "<body pos='.07 .3 .2'><joint/><geom type='box' size='.05 .03 .02' pos='0 0 .02'/>"
      "<site name='a' pos='.09 .03 -.04'/></body>"
      "<body><joint type='slide'/><geom type='box' size='.05 .09 .07'/>"
      "<site name='b'/></body></body></worldbody>"
      "<equality><connect site1='a' site2='b'/></equality></mujoco>");
  for (int i = 0; i < 1000; i++) assert_int_equal(ab_step(w.model, w.data), AB_STEP_OK);
  check_below(ab_energy(w.model, w.data).kinetic,
              5);  // the light lever swings about where it is nearest
  finish(w);
}

static void tendon_limit_makes_a_pulley(void** state) {
  (void)state;
  World w = load("<mujoco><option timestep='.001'/>" TWO_SLIDES
                 "<tendon><fixed limited='true' range='-.1 5'><joint joint='one' coef='1'/>"
                 "<joint joint='two' coef='1'/></fixed></tendon></mujoco>");
  steps(w, 400);
  check_near(w.data->q[0] + w.data->q[1], -0.1, 1e-6);
  double v0 = w.data->v[0], a = 9.81 * (3 - 2) / 5.0;
  steps(w, 100);
  check_near(w.data->v[0] - v0, a * 0.1, 1e-5);
  check_near(w.data->q[0] + w.data->q[1], -0.1, 1e-7);
  check_near(w.data->tendon_force[0], 2 * (9.81 + a), 1e-4);  // g = -9.81 in MJCF's default
  finish(w);
}

// Sticks below the friction, slides against it above.
static void tendon_friction_sticks_and_slides(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    World w = load("<mujoco><option gravity='0 0 0' timestep='.001'/>" TWO_SLIDES
                   "<tendon><fixed name='t' frictionloss='3'><joint joint='one' coef='1'/>"
                   "<joint joint='two' coef='-1'/></fixed></tendon>"
                   "<actuator><motor tendon='t'/></actuator></mujoco>");
    w.data->ctrl[0] = k == 0 ? 2.9 : 4.2;
    steps(w, 500);
    double speed = k == 0 ? 0 : (4.2 - 3) / 1.2 * 0.5;
    check_near(w.data->v[0] - w.data->v[1], speed, 1e-5);
    check_near(w.data->tendon_force[0], k == 0 ? -2.9 : -3, 1e-5);
    finish(w);
  }
}

// --- actuators

static void site_motor_pushes_where_it_sits(void** state) {
  (void)state;
  World w = load(
      "<mujoco><option gravity='0 0 0' timestep='.001'/><worldbody><body euler='0 0 90'>"
      "<freejoint/><inertial pos='0 0 0' mass='2' diaginertia='.3 .4 .5'/>"
      "<site name='s' pos='.1 0 0'/></body></worldbody>"
      "<actuator><motor site='s' gear='0 1 0 0 0 0'/></actuator></mujoco>");
  w.data->ctrl[0] = 3;
  steps(w, 1);
  // body y is world -x; the lever .1 along body x, the torque .3 about z
  check_near(w.data->v[0], -1e-3 * 3 / 2, 1e-15);
  check_near(w.data->v[1], 0, 1e-15);
  check_near(w.data->v[5], 1e-3 * 0.3 / 0.5, 1e-15);
  check_near(w.data->actuator_force[0], 3, 0);
  finish(w);
}

// A servo between two free bodies, by sites: a spring and damper without a world to push on.
static void site_servo_with_refsite_keeps_momentum(void** state) {
  (void)state;
  World w = load(
      "<mujoco><option gravity='0 0 0' timestep='.001'/><worldbody>"
      "<body name='a'><freejoint/><geom size='.05' mass='1'/><site name='a'/></body>"
      "<body name='b' pos='.5 0 0'><freejoint/><geom size='.05' mass='2'/><site name='b'/></body>"
      "</worldbody><actuator><position site='b' refsite='a' gear='1 0 0 0 0 0' kp='50' kv='20'/>"
      "</actuator></mujoco>");
  w.data->ctrl[0] = 0.3;
  steps(w, 5000);
  abWrench p = ab_momentum(w.model, w.data);
  check_below(v3_norm(p.force), 1e-12);
  check_near(w.data->com[2].x - w.data->com[1].x, 0.3, 1e-4);  // exp(-50 t / 20)
  check_near(w.data->com[1].x + 2 * w.data->com[2].x, 1, 1e-12);
  finish(w);
}

// Servos between two sites of one tree, and of two trees, by RK4: the coordinates that MuJoCo 4.0
// has after 0.4 s (Debian's MuJoCo has another rule for joints that move both sites).
static void site_servos_agree_with_mujoco(void** state) {
  (void)state;
  World w = load(
      "<mujoco><compiler angle='radian'/><option integrator='RK4' timestep='0.002'><flag "
      "contact='disable'/></option><worldbody>"
      "<body><joint axis='0 1 0'/><geom size='.1' pos='0 .1 .2' mass='1'/>"
      "<site name='at' pos='.1 0 .2' euler='.3 .4 .5'/>"
      "<body pos='0 0 1'><joint type='slide' axis='1 0 0'/><geom size='.1' mass='2'/>"
      "<body pos='0 .5 0'><joint axis='1 1 0'/><geom type='box' size='.1 .2 .1' pos='.2 0 0' "
      "mass='.5'/><site name='tip' pos='.1 .2 .3' euler='.1 .2 .3'/></body></body></body>"
      "<body pos='2 0 0'><joint axis='0 1 0' damping='.3'/><geom size='.1' pos='0 0 .5' mass='1'/>"
      "<site name='far' pos='0 0 .6'/></body></worldbody><actuator>"
      "<position site='tip' refsite='at' gear='1 .5 -2 0 0 0' kp='8'/>"
      "<position site='far' refsite='tip' gear='0 0 0 .5 .3 -.2' kp='4'/></actuator></mujoco>");
  static const double q[] = {0.06052130212657786, 0.01225697063989625, -0.1626772045579009,
                             -0.27306396450157233};
  w.data->ctrl[0] = 0.2, w.data->ctrl[1] = -0.3;
  steps(w, 200);
  for (int i = 0; i < 4; i++) check_near(w.data->q[i], q[i], 1e-13);  // rounding
  finish(w);
}

// Where a drone is after half a second under RK4, by steps of h: its rotors' thrust turns with it
// within each step, and a damper acts on it.
static abVec3 fly(double h) {
  World w = load(
      "<mujoco><option integrator='RK4'/><worldbody><body name='b'><freejoint/>"
      "<inertial pos='.01 .02 0' mass='2' fullinertia='.02 .03 .04 .001 -.002 .003'/>"
      "<site name='s' pos='.1 0 0' euler='10 20 30'/></body></worldbody><actuator>"
      "<motor site='s' gear='0 0 1 0 0 .1'/><velocity site='s' gear='1 0 0 0 0 0' kv='2'/>"
      "</actuator></mujoco>");
  w.data->h = h;
  w.data->ctrl[0] = 15, w.data->ctrl[1] = .5;
  steps(w, (int)lround(0.5 / h));
  abVec3 p = w.data->com[ab_find_body(w.model, "b")];
  finish(w);
  return p;
}

static void thrust_turns_with_its_body_within_a_step_of_rk4(void** state) {
  (void)state;
  abVec3 p[3] = {fly(4e-3), fly(2e-3), fly(1e-3)};
  double coarse = v3_norm(v3_sub(p[0], p[1])), fine = v3_norm(v3_sub(p[1], p[2]));
  check_below(fine, coarse / 14);  // of fourth order: 16
  check_below(coarse, 1e-6);       // of some metres
}

// The tendon's servo holds L; beyond its force range it gives way.
static void tendon_servo_saturates(void** state) {
  (void)state;
  World w = load("<mujoco><option timestep='.001'/>" TWO_SLIDES
                 "<tendon><fixed name='t'><joint joint='one' coef='1'/>"
                 "<joint joint='two' coef='1'/></fixed></tendon><actuator><position tendon='t' "
                 "kp='1e6' kv='1e4' forcerange='-20 20'/></actuator></mujoco>");
  steps(w, 1000);
  // 20 N on each, up, where 23.5 would hold the sum
  check_near(w.data->actuator_force[0], 20, 1e-9);
  check_near(w.data->v[0], -9.81 + 10, 1e-6);
  check_near(w.data->v[1], -9.81 + 20 / 3.0, 1e-6);
  finish(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(double_pendulum_by_connect_moves_as_by_hinges),
      cmocka_unit_test(connected_rods_keep_their_energy),
      cmocka_unit_test(four_bar_follows_its_closed_form_for_ten_minutes),
      cmocka_unit_test(welded_boxes_tumble_as_one_body),
      cmocka_unit_test(equalities_between_free_bodies_keep_momentum_and_energy),
      cmocka_unit_test(saying_it_twice_changes_nothing),
      cmocka_unit_test(conflict_ends_in_between_and_is_told),
      cmocka_unit_test(linkage_at_its_dead_centre_comes_to_rest),
      cmocka_unit_test(gears_turn_in_their_ratio),
      cmocka_unit_test(cam_follows_its_polynomial),
      cmocka_unit_test(tendon_spring_swings_with_its_frequency),
      cmocka_unit_test(tendon_damps_and_is_slack_between_its_lengths),
      cmocka_unit_test(tendon_limit_makes_a_pulley),
      cmocka_unit_test(tendon_returns_from_far_outside_slowly),
      cmocka_unit_test(connect_out_of_reach_does_not_run_away),
      cmocka_unit_test(tendon_friction_sticks_and_slides),
      cmocka_unit_test(site_motor_pushes_where_it_sits),
      cmocka_unit_test(site_servo_with_refsite_keeps_momentum),
      cmocka_unit_test(site_servos_agree_with_mujoco),
      cmocka_unit_test(thrust_turns_with_its_body_within_a_step_of_rk4),
      cmocka_unit_test(tendon_servo_saturates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
