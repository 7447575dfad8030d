// The model in the whole simulator: bodies of several geoms by their hull, bodies it refuses,
// recordings of its contacts.
#include <abut/abut.h>
#include <stdio.h>
#include <string.h>

#include "oracle/ecp_world.h"
#include "support/check.h"

static abModel* load(const char* name) {
  char path[1024];
  abError error = {0};
  snprintf(path, sizeof path, "%s/%s", ABUT_SOURCE_DIR, name);
  abModel* m = ab_load(path, NULL, &error);
  if (!m) fprintf(stderr, "%s:%d: %s\n", error.file, error.line, error.message);
  assert_non_null(m);
  return m;
}

// Five geoms, four feet, one contact with the floor: that of the hull.
static void desk_on_four_feet_has_one_contact(void** state) {
  (void)state;
  abModel* m = load("experiments/xie-nonconvex/desk.xml");
  abData* d = ab_data_create(m, NULL);
  assert_string_equal(d->contact->name, "ecp");
  ab_data_reset(m, d, ab_find_key(m, "start"));
  int desk = ab_find_body(m, "desk");
  for (int i = 0; i < 400; i++) {
    double t = 6.283185307179586 * 0.01 * i;
    d->applied[desk] =
        (abWrench){{22.5 * sin(t) + 22.5, 22.5 * cos(t) + 22.5, 0}, {0, 0, 2.1 * cos(t)}};
    assert_int_equal(ab_step(m, d), AB_STEP_OK);
    assert_int_equal(d->ncontact, 1);
    assert_int_equal(d->stat.nregularised, 0);
    check_near(d->contacts[0].area, 0.25, 1e-12);
    check_below(d->stat.residual, 1e-10);
  }
  check_near(d->twist[desk].lin.x, .256029767073033, 1e-12);
  check_near(d->twist[desk].lin.y, .523920938275912, 1e-12);
  check_near(d->twist[desk].ang.z, .117031889482568, 1e-12);
  ab_data_free(d);
  ab_model_free(m);
}

// A block below one leg, reaching in between the legs: the hull touches it where the desk would
// not.
static void hull_that_bears_with_its_own_face_is_counted(void** state) {
  (void)state;
  abScene* scene = ab_scene_load(ABUT_SOURCE_DIR "/experiments/xie-nonconvex/desk.xml", NULL, NULL);
  assert_non_null(scene);
  abGeomDef block = ab_geom_def();
  block.type = AB_SHAPE_BOX;
  block.size = v3(0.05, 0.05, 0.05);
  block.pose.p = v3(0.16, 0.16, 0.05);
  assert_true(ab_scene_add_geom(scene, &block, NULL) >= 0);
  abModel* m = ab_scene_compile(scene, NULL);
  abData* d = ab_data_create(m, NULL);
  d->q[2] = 0.65;
  int flagged = 0;
  for (int i = 0; i < 40; i++) {
    ab_step(m, d);
    flagged += d->stat.nregularised > 0;
    assert_int_equal(d->stat.nregularised > 0, d->stat.note != NULL);
    if (d->stat.note) assert_non_null(strstr(d->stat.note, "convex hull"));
  }
  assert_true(flagged > 0);
  ab_data_free(d);
  ab_model_free(m);
  ab_scene_free(scene);
}

static void joint_trees_are_not_passed_over_in_silence(void** state) {
  (void)state;
  static EcpWorld w;
  static Solid solid;
  static const abShape plane = {.type = AB_SHAPE_PLANE};
  ecpw_init(&w, 0.01, 1);
  solid_box(&solid, v3(0.5, 0.5, 0.5));
  ecpw_add_body(&w, &solid.shape, 1, v3(1, 1, 1), (abPose){{0, 0, 0.5}, {1, 0, 0, 0}});
  ecpw_add_fixed(&w, &plane, pose_identity());
  w.mover[0].jointed = true;
  ecpw_step(&w);
  assert_int_equal(w.result.status, AB_STEP_UNCONVERGED);
  assert_int_equal(w.result.nregularised, 1);
  check_near(w.result.residual, 1, 0);
  ecpw_free(&w);
}

// An egg lands on the edge of a table, rolls over it and falls.
static void egg_rolls_over_the_edge_of_a_table(void** state) {
  (void)state;
  static EcpWorld w;
  static Solid solid;
  static const abShape egg = {.type = AB_SHAPE_ELLIPSOID, .size = {0.1, 0.12, 0.2}};
  ecpw_init(&w, 0.01, 1);
  w.e_r = -1;
  solid_box(&solid, v3(0.5, 0.5, 0.5));
  ecpw_add_body(&w, &egg, 1, v3(0.0109, 0.01, 0.0049), (abPose){{0.56, 0, 0.21}, {1, 0, 0, 0}});
  ecpw_add_fixed(&w, &solid.shape, (abPose){{0, 0, -0.5}, {1, 0, 0, 0}});
  int on_edge = 0;
  for (int i = 0; i < 60; i++) {
    double before = ecpw_energy(&w);
    ecpw_step(&w);
    assert_int_equal(w.result.status, AB_STEP_OK);
    check_below(w.result.residual, 1e-9);
    check_below(ecpw_energy(&w) - before, 1e-12);
    if (w.solution[0].kind == AB_PATCH_NONE) continue;
    // on the edge at x = 0.5, z = 0 the normal is between those of the two faces
    abVec3 n = w.solution[0].normal;
    on_edge += n.x > 0.01 && n.z > 0.01 && fabs(n.y) < 1e-9;
  }
  assert_true(on_edge > 3);
  check_below(w.body[1].com.z, -0.2);
  ecpw_free(&w);
}

// The tolerance decides the status alone: the best iterate is used either way, and the run goes on.
static void step_that_misses_its_tolerance_says_so_and_goes_on(void** state) {
  (void)state;
  abModel* m = load("scenes/slide.xml");
  abData *good = ab_data_create(m, NULL), *strict = ab_data_create(m, NULL);
  assert_int_equal(ab_set_contact(m, good, "ecp", NULL), AB_OK);
  assert_int_equal(ab_set_contact(m, strict, "ecp", NULL), AB_OK);
  assert_int_equal(ab_set_param(strict, "tolerance", 1e-18, NULL), AB_OK);
  int missed = 0;
  for (int i = 0; i < 100; i++) {
    assert_int_equal(ab_step(m, good), AB_STEP_OK);
    abStepStatus status = ab_step(m, strict);
    assert_int_equal(status, strict->stat.residual > 1e-18 ? AB_STEP_UNCONVERGED : AB_STEP_OK);
    missed += status == AB_STEP_UNCONVERGED;
    assert_memory_equal(good->q, strict->q, sizeof(double) * (size_t)m->nq);
    assert_memory_equal(good->v, strict->v, sizeof(double) * (size_t)m->nv);
  }
  assert_true(missed > 0);
  ab_data_free(good);
  ab_data_free(strict);
  ab_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(desk_on_four_feet_has_one_contact),
      cmocka_unit_test(hull_that_bears_with_its_own_face_is_counted),
      cmocka_unit_test(joint_trees_are_not_passed_over_in_silence),
      cmocka_unit_test(egg_rolls_over_the_edge_of_a_table),
      cmocka_unit_test(step_that_misses_its_tolerance_says_so_and_goes_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
