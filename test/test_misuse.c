// Misuse of the interface is answered by a status and a message, not by writing where nothing is:
// what a host gets that does not look at return values.
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static const char box[] = ABUT_SOURCE_DIR "/scenes/box_on_plane.xml";
static const char arm[] = ABUT_SOURCE_DIR "/scenes/pendulum.xml";

static void what_was_not_loaded_cannot_be_simulated(void** state) {
  (void)state;
  abError error = {0};
  abModel* model = ab_load("/no/such/scene.xml", NULL, &error);
  assert_null(model);
  abData* data = ab_data_create(model, &error);
  assert_null(data);
  assert_int_equal(error.code, AB_ERROR_ARGUMENT);
  for (int i = 0; i < 3; i++) assert_int_equal(ab_step(model, data), AB_STEP_BROKEN);
  assert_int_equal(ab_data_reset(model, data, 0), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_set_contact(model, data, "patch", &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_set_param(data, "tolerance", 1, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_set_threads(data, 2, &error), AB_ERROR_ARGUMENT);
  assert_true(ab_energy(model, data).kinetic == 0 && ab_momentum(model, data).force.x == 0);
  assert_int_equal(ab_find_body(model, "box"), -1);
  assert_null(ab_record_open("/tmp/abut-misuse.h5", model, &error));
  assert_int_equal(ab_record_sample(NULL, model, data, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_record_flush(NULL, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_record_close(NULL, &error), AB_OK);
  ab_data_free(data);
  ab_model_free(model);
}

// A sample of a recording looks like a simulation, but has no inside.
static void a_recorded_sample_is_no_simulation(void** state) {
  (void)state;
  abError error = {0};
  abModel* model = ab_load(ABUT_SOURCE_DIR "/scenes/box_on_plane.xml", NULL, &error);
  abData *data = ab_data_create(model, &error), sample = *data;
  char block[64] = {0};
  double value, J[6 * 6];
  abRay ray = ab_ray((abVec3){0, 0, 1}, (abVec3){0, 0, -1});
  abRayHit hit;
  abGeomDistance distance;
  sample.internal = NULL;
  assert_int_equal(ab_step(model, &sample), AB_STEP_BROKEN);
  assert_int_equal(ab_data_reset(model, &sample, -1), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_set_contact(model, &sample, "patch", &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_set_contact_model(model, &sample, NULL, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_set_param(&sample, "tolerance", 1, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_get_param(&sample, "tolerance", &value, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_set_threads(&sample, 2, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_state_size(model, &sample), 0);
  assert_int_equal(ab_state_get(model, &sample, block, sizeof block), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_state_set(model, &sample, block, sizeof block, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_data_copy(model, data, &sample, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_data_copy(model, &sample, data, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_point_jacobian(model, &sample, 1, ray.origin, J), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_ray_cast(model, &sample, &ray, &hit, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_geom_distance(model, &sample, 0, 1, &distance, &error), AB_ERROR_ARGUMENT);
  ab_data_free(data);
  ab_model_free(model);
}

static void files_need_names(void** state) {
  (void)state;
  abError error = {0};
  assert_null(ab_load(NULL, NULL, &error));
  assert_null(ab_scene_load(NULL, NULL, &error));
  assert_null(ab_recording_open(NULL, &error));
  assert_int_equal(ab_recording_count(NULL), 0);
  assert_null(ab_recording_model(NULL));
  assert_null(ab_recording_sample(NULL, 0, &error));
  ab_recording_close(NULL);
  ab_notes_free(NULL);
}

static void data_of_another_model_is_refused(void** state) {
  (void)state;
  abError error = {0};
  abModel *one = ab_load(box, NULL, &error), *two = ab_load(arm, NULL, &error);
  abData* data = ab_data_create(one, &error);
  assert_non_null(data);
  assert_non_null(two);
  assert_int_equal(ab_step(two, data), AB_STEP_BROKEN);
  assert_int_equal(ab_data_reset(two, data, -1), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_set_contact(two, data, "patch", &error), AB_ERROR_ARGUMENT);
  abRecorder* recorder = ab_record_open("/tmp/abut-misuse.h5", two, &error);
  assert_non_null(recorder);
  assert_int_equal(ab_record_sample(recorder, one, data, &error), AB_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "another model"));
  assert_int_equal(ab_record_close(recorder, &error), AB_OK);
  remove("/tmp/abut-misuse.h5");
  // and with its own it still works
  assert_int_equal(ab_step(one, data), AB_STEP_OK);
  ab_data_free(data);
  ab_model_free(one);
  ab_model_free(two);
}

static void indices_out_of_range_are_refused(void** state) {
  (void)state;
  abError error = {0};
  abModel* model = ab_load(box, NULL, &error);
  abData* data = ab_data_create(model, &error);
  assert_non_null(data);
  assert_null(ab_contact_model(-1));
  assert_null(ab_contact_model(ab_contact_model_count()));
  assert_null(ab_find_contact_model(NULL));
  assert_int_equal(ab_data_reset(model, data, model->nkey), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_data_reset(model, data, 1000000), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_set_param(data, NULL, 1, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_set_param(data, "tolerance", NAN, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_set_threads(data, 0, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_find_body(model, NULL), -1);
#ifdef NDEBUG  // else it asserts
  ab_data_wake(data, model->nbody);
  ab_data_wake(NULL, 0);
#endif
  assert_int_equal(ab_step(model, data), AB_STEP_OK);
  ab_data_free(data);
  ab_model_free(model);
}

static void nothing_is_added_to_no_scene(void** state) {
  (void)state;
  abError error = {0};
  abBodyDef body = ab_body_def();
  abGeomDef geom = ab_geom_def();
  assert_int_equal(ab_scene_add_body(NULL, &body, &error), -1);
  assert_int_equal(ab_scene_add_geom(NULL, &geom, &error), -1);
  assert_int_equal(ab_scene_add_exclude(NULL, 0, 1, &error), -1);
  assert_int_equal(ab_scene_set(NULL, "tolerance", 1, &error), AB_ERROR_ARGUMENT);
  assert_null(ab_scene_option(NULL));
  assert_null(ab_scene_compile(NULL, &error));
  assert_int_equal(ab_scene_save(NULL, "/tmp/abut-misuse.xml", &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_scene_find_body(NULL, "box"), -1);
  abScene* scene = ab_scene_create();
  assert_non_null(scene);
  assert_int_equal(ab_scene_add_body(scene, NULL, &error), -1);
  assert_int_equal(ab_scene_add_mesh(scene, NULL, &error), -1);
  assert_null(ab_scene_string(scene, NULL));
  ab_scene_free(scene);
  ab_scene_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_not_loaded_cannot_be_simulated),
      cmocka_unit_test(a_recorded_sample_is_no_simulation),
      cmocka_unit_test(files_need_names),
      cmocka_unit_test(data_of_another_model_is_refused),
      cmocka_unit_test(indices_out_of_range_are_refused),
      cmocka_unit_test(nothing_is_added_to_no_scene),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
