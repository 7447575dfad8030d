// Robots on position servos that begin in their home pose stand still: test/robots/*.xml, small
// models of what people have. Servos are springs with dampers, so each has an equilibrium near its
// home pose; in it nothing moves, and feet that stick have not slid.
#include <abut/abut.h>
#include <stdio.h>

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
    assert_int_equal(c->mode, AB_STICK);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dog_stands),
      cmocka_unit_test(dog_with_dry_friction_stands),
      cmocka_unit_test(biped_stands),
      cmocka_unit_test(arm_whose_links_overlap_holds_its_pose),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
