// Without contact, limits and dry friction, abut and MuJoCo integrate the same equations of motion.
//
// RK4, all joints hinges and slides: the two compute the same numbers, to rounding. With ball and
// free joints they compose the rotations of the stages differently: MuJoCo's way is of second
// order, abut's of fourth, so the difference falls by four with each halving of the step while
// abut's own error falls by sixteen.
// Semi-implicit Euler is of first order in both; the differences (springs and servos, which abut
// treats implicitly, and spin) fall by two.
#include "support/check.h"

#include <abut/abut.h>
#include <stdio.h>
#include <string.h>

#include "math/rotation.h"
#include "scene/scene.h"

#ifdef ABUT_HAVE_MUJOCO
#include <mujoco/mujoco.h>

static void say_nothing(const char* text) { (void)text; }

typedef struct Run {
  const char* file;
  abIntegrator integrator;
  double h, time;
  double q[200];  // at the end
  int nq;
} Run;

// A start that moves every joint, the same for both programs: velocities in MJCF's convention.
static double start_velocity(int i) { return 0.4 * sin(1.7 * i + 0.3); }
static double control(int i) { return 0.3 * cos(2.3 * i); }

// MJCF: velocity of the frame's origin in world axes, spin in body axes. abut: centre of mass,
// world.
static void set_velocity(const abModel* model, abData* data) {
  for (int i = 0; i < model->nv; i++) data->v[i] = start_velocity(i);
  for (int i = 0; i < model->njoint; i++) {
    const abJoint* j = &model->joint[i];
    if (j->type != AB_JOINT_FREE) continue;
    const double* q = data->q + j->q0;
    double* v = data->v + j->v0;
    abQuat R = {q[3], q[4], q[5], q[6]};
    abVec3 w = quat_rotate(R, v3(v[3], v[4], v[5]));
    abVec3 lin =
        v3_add(v3(v[0], v[1], v[2]), v3_cross(w, quat_rotate(R, model->body[j->body].com)));
    double x[6] = {lin.x, lin.y, lin.z, w.x, w.y, w.z};
    memcpy(v, x, sizeof x);
  }
}

static const char* path_of(const char* file, char path[500]) {
  snprintf(path, 500, "%s/scenes/check/%s", ABUT_SOURCE_DIR, file);
  return path;
}

static void run_here(Run* r) {
  char path[500];
  abError error;
  abScene* scene = ab_scene_load(path_of(r->file, path), NULL, &error);
  if (!scene) fail_msg("%s:%d: %s", error.file, error.line, error.message);
  for (int i = 0; i < scene->joint.n; i++) {
    scene->joint.item[i].limited = false;
    scene->joint.item[i].frictionloss = 0;
  }
  ab_scene_option(scene)->timestep = r->h;
  ab_scene_option(scene)->integrator = r->integrator;
  ab_scene_option(scene)->contact = "none";
  abModel* model = ab_scene_compile(scene, &error);
  ab_scene_free(scene);
  if (!model) fail_msg("%s:%d: %s", error.file, error.line, error.message);
  abData* data = ab_data_create(model, &error);
  if (!data) fail_msg("%s", error.message);
  set_velocity(model, data);
  for (int i = 0; i < model->nactuator; i++) data->ctrl[i] = control(i);
  for (int n = (int)lround(r->time / r->h); n > 0; n--)
    assert_int_equal(ab_step(model, data), AB_STEP_OK);
  r->nq = model->nq;
  memcpy(r->q, data->q, sizeof(double) * (size_t)model->nq);
  ab_data_free(data);
  ab_model_free(model);
}

static void run_mujoco(Run* r) {
  char path[500], text[500] = "";
  mjModel* m = mj_loadXML(path_of(r->file, path), NULL, text, sizeof text);
  if (!m) fail_msg("MuJoCo: %s", text);
  m->opt.timestep = r->h;
  m->opt.integrator = r->integrator == AB_INTEGRATOR_RK4 ? mjINT_RK4 : mjINT_EULER;
  m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS;
  mjData* d = mj_makeData(m);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = start_velocity(i);
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = control(i);
  for (int n = (int)lround(r->time / r->h); n > 0; n--) mj_step(m, d);
  r->nq = m->nq;
  for (int i = 0; i < m->nq; i++) r->q[i] = d->qpos[i];
  mj_deleteData(d);
  mj_deleteModel(m);
}

// No quaternion of these short runs changes its sign, so plain differences do.
static double distance(const Run* a, const Run* b) {
  assert_int_equal(a->nq, b->nq);
  double d = 0;
  for (int i = 0; i < a->nq; i++) d = fmax(d, fabs(a->q[i] - b->q[i]));
  return d;
}

static double difference(const char* file, abIntegrator integrator, double h, double time) {
  Run a = {file, integrator, h, time, {0}, 0}, b = a;
  run_here(&a);
  run_mujoco(&b);
  return distance(&a, &b);
}

typedef struct Case {
  const char* file;
  double h, time;
} Case;

// Rounding, gathered over the steps, in coordinates of about 1.
static const double rounding = 1e-11;

// d[0], d[1], d[2] belong to h, h/2, h/4.
static void falls(const Case* c, const char* what, const double d[3], double ratio) {
  print_message("  %-20s %-12s h = %g: %.3g %.3g %.3g\n", c->file, what, c->h, d[0], d[1], d[2]);
  for (int k = 0; k < 2; k++) check_below(d[k + 1], fmax(d[k] / ratio, rounding));
}

static void converges(const Case* c, abIntegrator integrator, double ratio, double last) {
  double d[3];
  for (int k = 0; k < 3; k++) d[k] = difference(c->file, integrator, c->h / (1 << k), c->time);
  falls(c, integrator == AB_INTEGRATOR_RK4 ? "RK4" : "Euler", d, ratio);
  check_below(d[2], last);
}

static const Case scalar[] = {{"axisangle_radian.xml", 0.002, 0.4},
                              {"actuators.xml", 0.002, 0.4},
                              {"arm.xml", 0.001, 0.2},
                              {"welded.xml", 0.002, 0.4},
                              {"tendon_drive.xml", 0.002, 0.4}};
static const Case rotating[] = {
    {"several_joints.xml", 0.002, 0.4}, {"chain.xml", 0.002, 0.4},  {"keyframes.xml", 0.002, 0.4},
    {"hexapod.xml", 0.001, 0.2},        {"box.xml", 0.002, 0.4},    {"compound.xml", 0.002, 0.4},
    {"inertial.xml", 0.002, 0.4},       {"joints.xml", 0.002, 0.4}, {"gripper.xml", 0.001, 0.2},
    {"include.xml", 0.002, 0.4}};
#define EACH(list) for (const Case* c = list; c < list + sizeof list / sizeof *list; c++)

static void euler_agrees_at_first_order(void** state) {
  (void)state;
  // several_joints turns fast: 0.02 there, below 1e-3 elsewhere
  EACH(scalar) converges(c, AB_INTEGRATOR_EULER, 1.7, 0.001);
  EACH(rotating) converges(c, AB_INTEGRATOR_EULER, 1.7, 0.03);
}

static void rk4_agrees_to_rounding_on_hinges_and_slides(void** state) {
  (void)state;
  EACH(scalar) check_below(difference(c->file, AB_INTEGRATOR_RK4, c->h, c->time), 1e-13);
}

static void rk4_agrees_at_mujocos_second_order_on_balls_and_free_bodies(void** state) {
  (void)state;
  EACH(rotating) converges(c, AB_INTEGRATOR_RK4, 3.4, 3e-5);
}

static void rk4_is_of_fourth_order_here_on_balls_and_free_bodies(void** state) {
  (void)state;
  EACH(rotating) {
    Run r[4];
    double d[3];
    for (int k = 0; k < 4; k++) {
      r[k] = (Run){
          .file = c->file, .integrator = AB_INTEGRATOR_RK4, .h = c->h / (1 << k), .time = c->time};
      run_here(&r[k]);
      if (k) d[k - 1] = distance(&r[k - 1], &r[k]);
    }
    falls(c, "RK4, own", d, 12);
  }
}

// A closed loop, from rest. MuJoCo's equalities are springs: as stiff as its step allows, they come
// near the hard ones; abut's step of 1 ms is as near as MuJoCo's of 0.1 ms.
static void closed_loop_moves_as_in_a_stiff_mujoco(void** state) {
  (void)state;
  char path[500], text[500] = "";
  abError error;
  abModel* model = ab_load(path_of("four_bar.xml", path), NULL, &error);
  if (!model) fail_msg("%s:%d: %s", error.file, error.line, error.message);
  abData* data = ab_data_create(model, &error);
  if (!data) fail_msg("%s", error.message);
  mjModel* m = mj_loadXML(path, NULL, text, sizeof text);
  if (!m) fail_msg("MuJoCo: %s", text);
  m->opt.timestep = 1e-4;
  m->eq_solref[0] = 4e-4;
  m->eq_solimp[0] = m->eq_solimp[1] = 0.9999;
  mjData* d = mj_makeData(m);
  for (int i = 0; i < 500; i++) {
    assert_int_equal(ab_step(model, data), AB_STEP_OK);
    for (int k = 0; k < 10; k++) mj_step(m, d);
  }
  check_near(data->q[0], 4.5, 0.1);  // it has gone round most of a turn
  // both are of first order: 2e-3 off at 1 ms here, 4e-3 there
  for (int i = 0; i < 3; i++) check_near(data->q[i], d->qpos[i], 5e-3);
  mj_deleteData(d);
  mj_deleteModel(m);
  ab_data_free(data);
  ab_model_free(model);
}

int main(void) {
  mju_user_warning = say_nothing;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(euler_agrees_at_first_order),
      cmocka_unit_test(rk4_agrees_to_rounding_on_hinges_and_slides),
      cmocka_unit_test(rk4_agrees_at_mujocos_second_order_on_balls_and_free_bodies),
      cmocka_unit_test(rk4_is_of_fourth_order_here_on_balls_and_free_bodies),
      cmocka_unit_test(closed_loop_moves_as_in_a_stiff_mujoco),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) { return 0; }
#endif
