// The model `patch` gives the same bits for any number of threads, and for the same run twice.
#include "oracle/patch_world.h"
#include "support/check.h"
#include "support/random.h"

static uint64_t run(int nthread) {
  Random r = {8};
  PatchWorld w = patch_world(2e-3, 0.5);
  for (int i = 0; i < 24; i++) {
    double x = 0.3 * (i % 3), y = 0.3 * (i / 3 % 2);  // six columns: several islands at first
    patch_box(&w, &(PatchBox){.half = {0.1, 0.05, 0.025},
                              .mass = 1,
                              .pose = {{x, y, 0.15 + 0.22 * (i / 6)}, random_rotation(&r)}});
  }
  patch_ready(&w);
  abError error;
  assert_int_equal(ab_set_threads(w.data, nthread, &error), AB_OK);
  patch_run(&w, 0.7);
  assert_true(w.data->ncontact > 20);
  uint64_t hash = ab_state_hash(w.model, w.data);
  patch_free(&w);
  return hash;
}

static void threads_do_not_change_a_bit(void** state) {
  (void)state;
  uint64_t one = run(1);
  for (int n = 1; n <= 4; n++) assert_true(run(n) == one);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(threads_do_not_change_a_bit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
