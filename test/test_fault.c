// A step that fails says why: which input, which body, memory or convergence.
#include <string.h>

#include "support/text_world.h"

static const char* const SCENE =
    "<mujoco><worldbody><geom type='plane' size='5 5 1'/>"
    "<body name='cube' pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
    "<body name='post' pos='1 0 1'><joint name='turn' axis='0 1 0'/>"
    "<geom type='capsule' size='.05 .2'/></body>"
    "<body name='hand' mocap='true' pos='3 0 1'><geom type='box' size='.1 .1 .1'/></body>"
    "</worldbody><actuator><motor joint='turn'/></actuator></mujoco>";

// The step must break, name the input, and go on once it is mended.
static void check_blamed(World w, double* number, double bad, const char* input, int index,
                         const char* body) {
  double good = *number;
  uint64_t before;
  char text[200];
  *number = bad;
  before = ab_state_hash(w.model, w.data);
  assert_int_equal(ab_step(w.model, w.data), AB_STEP_BROKEN);
  const abStat* s = &w.data->stat;
  assert_int_equal(s->cause, AB_CAUSE_INPUT);
  assert_string_equal(s->bad_input, input);
  assert_int_equal(s->bad_index, index);
  if (body) assert_int_equal(s->bad_body, ab_find_body(w.model, body));
  ab_step_text(w.model, w.data, text, sizeof text);
  assert_non_null(strstr(text, input));
  if (body) assert_non_null(strstr(text, body));
  assert_true(ab_state_hash(w.model, w.data) == before);
  *number = good;
  assert_int_equal(ab_step(w.model, w.data), AB_STEP_OK);
  assert_int_equal(s->cause, AB_CAUSE_NONE);
  assert_string_equal(ab_step_text(w.model, w.data, text, sizeof text), "");
}

static void inputs_that_are_not_finite_are_named(void** state) {
  (void)state;
  World w = load(SCENE);
  int post = ab_find_body(w.model, "post");
  for (int k = 0; k < 2; k++) {
    double bad = k ? INFINITY : NAN;
    check_blamed(w, &w.data->q[2], bad, "q", 2, "cube");
    check_blamed(w, &w.data->q[7], bad, "q", 7, "post");
    check_blamed(w, &w.data->v[4], bad, "v", 4, "cube");
    check_blamed(w, &w.data->ctrl[0], bad, "ctrl", 0, "post");
    check_blamed(w, &w.data->applied[post].torque.y, bad, "applied", post, "post");
    check_blamed(w, &w.data->applied[1].force.z, bad, "applied", 1, "cube");
    check_blamed(w, &w.data->h, bad, "h", 0, NULL);
  }
  finish(w);
}

// Squares of their squares would not be finite; a Debug build found axes that were none.
static void inputs_beyond_all_bounds_are_named(void** state) {
  (void)state;
  World w = load(SCENE);
  for (int k = 0; k < 4; k++) {
    double bad = (k % 2 ? -1 : 1) * (k / 2 ? 1e101 : 1e200);
    check_blamed(w, &w.data->q[0], bad, "q", 0, "cube");
    check_blamed(w, &w.data->v[1], bad, "v", 1, "cube");
    check_blamed(w, &w.data->v[4], bad, "v", 4, "cube");
    check_blamed(w, &w.data->v[6], bad, "v", 6, "post");
    check_blamed(w, &w.data->mocap_pos[0].y, bad, "mocap_pos", 0, "hand");
  }
  finish(w);
}

static void speeds_beyond_all_bounds_are_named(void** state) {
  (void)state;
  World w = load(SCENE);
  w.data->applied[1].force.x = 1e250;
  assert_int_equal(ab_step(w.model, w.data), AB_STEP_BROKEN);
  assert_int_equal(w.data->stat.cause, AB_CAUSE_NOT_FINITE);
  assert_int_equal(w.data->stat.bad_body, 1);
  finish(w);
}

static void a_residual_above_the_tolerance_is_named(void** state) {
  (void)state;
  World w = load(SCENE);
  abError error;
  char text[200];
  assert_int_equal(ab_set_param(w.data, "tolerance", 1e-300, &error), AB_OK);
  abStepStatus status = AB_STEP_OK;
  for (int i = 0; i < 100 && status == AB_STEP_OK; i++) status = ab_step(w.model, w.data);
  assert_int_equal(status, AB_STEP_UNCONVERGED);
  assert_int_equal(w.data->stat.cause, AB_CAUSE_CONVERGENCE);
  assert_non_null(strstr(ab_step_text(w.model, w.data, text, sizeof text), "residual"));
  finish(w);
}

static size_t nothing(const double* p) {
  (void)p;
  return 0;
}
static void give_up(const abContactProblem* problem, abContactSolution* solution) {
  (void)problem;
  solution->status = AB_STEP_BROKEN;
}

static void a_contact_model_that_gives_up_is_named(void** state) {
  (void)state;
  static const abContactModel model = {
      .name = "quitter", .geometry = AB_GEOMETRY_VOLUME, .memory_bytes = nothing, .solve = give_up};
  World w = load(SCENE);
  abError error;
  char text[200];
  w.data->q[2] = 0.0999;
  assert_int_equal(ab_set_contact_model(w.model, w.data, &model, &error), AB_OK);
  assert_int_equal(ab_step(w.model, w.data), AB_STEP_BROKEN);
  assert_int_equal(w.data->stat.cause, AB_CAUSE_CONTACT);
  assert_non_null(strstr(ab_step_text(w.model, w.data, text, sizeof text), "quitter"));
  assert_string_equal(ab_step_text(w.model, w.data, text, 1), "");
  finish(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inputs_that_are_not_finite_are_named),
      cmocka_unit_test(inputs_beyond_all_bounds_are_named),
      cmocka_unit_test(speeds_beyond_all_bounds_are_named),
      cmocka_unit_test(a_residual_above_the_tolerance_is_named),
      cmocka_unit_test(a_contact_model_that_gives_up_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
