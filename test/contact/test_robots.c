// Robots on position servos that begin in their home pose stand still: test/robots/*.xml, small
// models of what people have. Servos are springs with dampers, so each has an equilibrium near its
// home pose; in it nothing moves, and feet that stick have not slid.
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "math/spatial.h"
#include "support/check.h"

typedef struct Robot {
  abModel* model;
  abData* data;
} Robot;

static Robot load(const char* name) {
  abError error = {0};
  char path[512];
  snprintf(path, sizeof path, ABUT_SOURCE_DIR "/test/robots/%s.xml", name);
  Robot r = {.model = ab_load(path, NULL, &error)};
  if (!r.model) fail_msg("%s:%d: %s", error.file, error.line, error.message);
  r.data = ab_data_create(r.model, &error);
  assert_non_null(r.data);
  ab_data_reset(r.model, r.data, 0);
  return r;
}

static void unload(Robot* r) {
  ab_data_free(r->data);
  ab_model_free(r->model);
}

static void run(Robot* r, double time) {
  while (r->data->time < time - 1e-9) assert_int_equal(ab_step(r->model, r->data), AB_STEP_OK);
}

// After 10 s: no joint faster than 1e-4 rad/s, trunk where it was to 0.05 m, feet within 1e-6 m of
// where they were after `settled`.
static void stands(const char* name, double h, double settled, int ncontact) {
  enum { MOST = 8 };
  Robot r = load(name);
  r.data->h = h;
  double height = r.data->com[1].z;
  abVec3 foot[MOST];
  run(&r, settled);
  assert_int_equal(r.data->ncontact, ncontact);
  for (int i = 0; i < ncontact; i++) foot[i] = r.data->contacts[i].point;
  run(&r, 10);
  assert_int_equal(r.data->ncontact, ncontact);
  check_near(r.data->com[1].z, height, 0.05);
  for (int i = 6; i < r.model->nv; i++) check_near(r.data->v[i], 0, 1e-4);
  for (int i = 0; i < ncontact; i++) {
    const abContact* c = &r.data->contacts[i];
    assert_int_equal(c->mode, AB_CONTACT_STICK);
    // the point of a ball's foot rolls with it, a face's moves with the pressure: bodies slide or
    // not
    check_below(hypot(c->slip[0], c->slip[1]), 1e-6);
    if (c->kind == AB_PATCH_POINT) check_below(v3_norm(v3_sub(c->point, foot[i])), 1e-4);
  }
  unload(&r);
}

static void dog_stands(void** state) {
  (void)state;
  stands("dog", 2e-3, 8, 4);
  stands("dog", 5e-3, 8, 4);
}

static void dog_with_dry_friction_stands(void** state) {
  (void)state;
  stands("dry_dog", 2e-3, 2, 4);
  stands("dry_dog", 5e-3, 2, 4);
}

static void biped_stands(void** state) {
  (void)state;
  stands("biped", 2e-3, 8, 2);
  stands("biped", 5e-3, 8, 2);
}

// Its base, the shoulder and more overlap; it holds its pose all the same.
static void arm_whose_links_overlap_holds_its_pose(void** state) {
  (void)state;
  Robot r = load("arm");
  run(&r, 10);
  for (int i = 0; i < r.model->nv; i++) {
    check_near(r.data->v[i], 0, 1e-4);
    check_near(r.data->q[i], r.data->ctrl[i], 0.1);  // 15 N m of weight on 200 N m / rad
  }
  assert_true(r.data->stat.nhold >= 1);
  unload(&r);
}

// Controls of both legs of rods.xml.
static void drive(Robot* r, const char* joint, double value) {
  static const char* const side[] = {"left", "right"};
  for (int i = 0; i < 2; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s_%s", side[i], joint);
    int a = ab_find_actuator(r->model, name);
    assert_true(a >= 0);
    r->data->ctrl[a] = value;
  }
}

// A squat every two seconds: the loops of rods, with springs in them, stay closed, and its feet
// where they are. ABUT_MINUTES: for how long (10 minutes: 3.2e-8 m, as after 20 s).
static void biped_closed_by_rods_squats_and_stays_closed(void** state) {
  (void)state;
  const char* minutes = getenv("ABUT_MINUTES");
  double end = minutes ? 60 * strtod(minutes, NULL) : 20, low = INFINITY;
  Robot r = load("rods");
  int foot = ab_find_body(r.model, "left_foot");
  abVec3 begin = r.data->com[foot];
  for (int i = 0; r.data->time < end; i++) {
    double s = 0.5 - 0.5 * cos(3.14159265358979323846 * r.data->time);
    drive(&r, "knee", 0.25 * s);
    drive(&r, "pitch", -0.22 * s);
    drive(&r, "ankle", 0.1 * s);
    assert_int_equal(ab_step(r.model, r.data), AB_STEP_OK);
    check_below(r.data->stat.equality_error, 1e-7);
    low = fmin(low, r.data->com[1].z);
  }
  check_below(low, 0.9);  // it does squat: 5 of 94 cm
  check_near(r.data->com[1].z, 0.94, 0.06);
  // pressed down by the rods its foot turns a little about its edge, but does not go anywhere
  check_near(r.data->com[foot].x, begin.x, 1e-3);
  check_near(r.data->com[foot].y, begin.y, 1e-6);
  unload(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dog_stands),
      cmocka_unit_test(dog_with_dry_friction_stands),
      cmocka_unit_test(biped_stands),
      cmocka_unit_test(arm_whose_links_overlap_holds_its_pose),
      cmocka_unit_test(biped_closed_by_rods_squats_and_stays_closed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
