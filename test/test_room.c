// Address space in proportion to the scene: hosts that limit it (ulimit -v), or back all of it with
// memory, simulate many small scenes at once.
#include <abut/abut.h>
#include <stdio.h>

#include "support/check.h"

// In kilobytes.
static double address_space(void) {
  char line[256];
  double size = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file)) sscanf(line, "VmSize: %lf", &size);
  if (file) fclose(file);
  return size;
}

// A quarter of a gigabyte each: thirty in 8 GB.
static void a_simulation_of_a_box_takes_little(void** state) {
  (void)state;
  enum { N = 20 };
  abError error = {0};
  abModel* model = ab_load(ABUT_SOURCE_DIR "/scenes/box_on_plane.xml", NULL, &error);
  abData* data[N];
  double before = address_space();
  if (before == 0) skip();  // only Linux tells
  for (int i = 0; i < N; i++) {
    data[i] = ab_data_create(model, &error);
    assert_int_equal(ab_step(model, data[i]), AB_STEP_OK);
  }
  check_below((address_space() - before) / N, 250e3);
  for (int i = 0; i < N; i++) ab_data_free(data[i]);
  ab_model_free(model);
}

// What was taken is given back, to the page.
static void a_thousand_simulations_one_after_the_other_leave_nothing(void** state) {
  (void)state;
  abError error = {0};
  double before = 0;
  for (int i = 0; i < 1000; i++) {
    if (i == 100) before = address_space();  // the allocator's own stores have grown
    abModel* model = ab_load(ABUT_SOURCE_DIR "/scenes/box_on_plane.xml", NULL, &error);
    abData* data = ab_data_create(model, &error);
    assert_int_equal(ab_step(model, data), AB_STEP_OK);
    ab_data_free(data);
    ab_model_free(model);
  }
  // far below the size of a single simulation
  check_below(address_space() - before, 200e3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_simulation_of_a_box_takes_little),
      cmocka_unit_test(a_thousand_simulations_one_after_the_other_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
