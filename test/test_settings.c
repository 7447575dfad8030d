// Contact models and their parameters: chosen by name or brought along, read back, refused.
#include <string.h>

#include "support/text_world.h"

static const char* const BOX =
    "<mujoco><worldbody><geom type='plane' size='5 5 1'/>"
    "<body pos='0 0 .0999'><freejoint/><geom type='box' size='.1 .1 .1' mass='2'/></body>"
    "</worldbody></mujoco>";

static void parameters_can_be_read_back(void** state) {
  (void)state;
  World w = load(BOX);
  abError error = {0};
  double value = -1;
  for (int i = 0; i < ab_contact_model_count(); i++) {
    const abContactModel* c = ab_contact_model(i);
    assert_int_equal(ab_set_contact(w.model, w.data, c->name, &error), AB_OK);
    for (int k = 0; k < c->nparam; k++) {
      assert_int_equal(ab_get_param(w.data, c->param[k].name, &value, &error), AB_OK);
      assert_true(value == c->param[k].value);
    }
    assert_int_equal(ab_set_param(w.data, "tolerance", 1e-5, &error), AB_OK);
    assert_int_equal(ab_get_param(w.data, "tolerance", &value, &error), AB_OK);
    assert_true(value == 1e-5);
    assert_int_equal(ab_get_param(w.data, "no_such", &value, &error), AB_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "no_such"));
  }
  assert_int_equal(ab_set_contact(w.model, w.data, "none", &error), AB_OK);
  assert_int_equal(ab_get_param(w.data, "tolerance", &value, &error), AB_ERROR_ARGUMENT);
  finish(w);
}

// A refused choice changes nothing.
static void a_refused_model_leaves_the_old_one(void** state) {
  (void)state;
  World w = load(BOX);
  abError error = {0};
  double value;
  assert_int_equal(ab_set_param(w.data, "tolerance", 3e-7, &error), AB_OK);
  const abContactModel* before = w.data->contact;
  assert_int_equal(ab_set_contact(w.model, w.data, "ptach", &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_set_contact_model(w.model, w.data, &(abContactModel){.name = "x"}, &error),
                   AB_ERROR_ARGUMENT);
  abContactModel many = *before;
  many.nparam = 65;
  assert_int_equal(ab_set_contact_model(w.model, w.data, &many, &error), AB_ERROR_ARGUMENT);
  assert_ptr_equal(w.data->contact, before);
  assert_int_equal(ab_get_param(w.data, "tolerance", &value, &error), AB_OK);
  assert_true(value == 3e-7);
  finish(w);
}

// A foundation of springs under the patch: pressure kappa times the depth, without friction. It
// counts in its memory how often it has seen a pair, and uses scratch.
enum { KAPPA };
static const abParam PARAM[] = {{"kappa", 1e7, "N/m3", "pressure per depth"}};
static long last_count;

static size_t one_long(const double* param) {
  (void)param;
  return sizeof(long);
}

static void press(const abContactProblem* problem, abContactSolution* solution) {
  double* f = ab_problem_scratch(problem, sizeof(double) * (size_t)(problem->npair + 1));
  if (!f) {
    solution->status = AB_STEP_BROKEN;
    return;
  }
  assert_int_equal((uintptr_t)f % 64, 0);
  for (int i = 0; i < problem->npair; i++) {
    const abPair* pair = &problem->pair[i];
    long* count = pair->memory;
    last_count = ++*count;
    double u = problem->body[pair->body1].twist.lin.z;  // its only other body is the floor
    f[i] = problem->h * (problem->param[KAPPA] * pair->patch.volume - 2e4 * pair->patch.area * u);
    solution->pair[i].point = pair->patch.center;
    if (f[i] > 0) solution->pair[i].impulse.force.z = solution->pair[i].normal_part.force.z = f[i];
  }
}

static const abContactModel SPRINGS = {.name = "springs",
                                       .source = "a test",
                                       .summary = "springs without friction",
                                       .geometry = AB_GEOMETRY_VOLUME,
                                       .nparam = 1,
                                       .param = PARAM,
                                       .memory_bytes = one_long,
                                       .solve = press};

static void a_model_of_ones_own_carries_a_box(void** state) {
  (void)state;
  World w = load(BOX);
  abError error = {0};
  assert_int_equal(ab_set_contact_model(w.model, w.data, &SPRINGS, &error), AB_OK);
  assert_int_equal(ab_set_param(w.data, "kappa", 2e7, &error), AB_OK);
  int n = (int)(2 / w.data->h);
  steps(w, n);
  assert_int_equal(w.data->ncontact, 1);
  // m g = kappa A depth, A = 0.2 x 0.2 m2; the damping is that of 2 s with a time constant of
  // 2 m / (2e4 A) = 5 ms
  check_near(w.data->contacts[0].depth, 2 * 9.81 / (2e7 * 0.04), 1e-12);
  assert_true(last_count > n / 2);  // since it last came off the floor
  long before = last_count;
  // its memory is part of the state
  World b = load(BOX);
  assert_int_equal(ab_data_copy(w.model, w.data, b.data, &error), AB_OK);
  steps(b, 1);
  assert_int_equal(last_count, before + 1);
  assert_int_equal(ab_set_contact_model(b.model, b.data, NULL, &error), AB_OK);
  assert_null(b.data->contact);
  finish(w), finish(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parameters_can_be_read_back),
      cmocka_unit_test(a_refused_model_leaves_the_old_one),
      cmocka_unit_test(a_model_of_ones_own_carries_a_box),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
