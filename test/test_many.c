// Many small simulations in one process, and simulations whose memory runs out in between.
#include <abut/abut.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static double held;     // bytes
static long countdown;  // allocations until one fails; < 0: none does

// The size stands before the block; 16 bytes keep the alignment.
static void* count_alloc(size_t n) {
  if (countdown >= 0 && countdown-- == 0) return NULL;
  size_t* p = malloc(n + 16);
  if (!p) return NULL;
  *p = n;
  held += (double)n;
  return p + 2;
}
static void count_free(void* at) {
  if (!at) return;
  size_t* p = (size_t*)at - 2;
  held -= (double)*p;
  free(p);
}
static void* count_realloc(void* at, size_t n) {
  void* p = count_alloc(n);
  if (!p || !at) return p;
  size_t old = ((size_t*)at)[-2];
  memcpy(p, at, old < n ? old : n);
  count_free(at);
  return p;
}

static abModel* load(const char* name) {
  char path[300];
  abError error;
  snprintf(path, sizeof path, "%s/scenes/%s", ABUT_SOURCE_DIR, name);
  abModel* model = ab_load(path, NULL, &error);
  if (!model) fail_msg("%s", error.message);
  return model;
}

static double address_space(void) {  // bytes, 0 where the system does not say
  double pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%lf", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return 4096 * pages;
}

static void ten_thousand_boxes_on_planes(void** state) {
  (void)state;
  enum { N = 10000 };
  const double most = 65536;
  abModel* model = load("box_on_plane.xml");
  abData** data = calloc(N, sizeof *data);
  abError error;
  double before = held, space = address_space();
  for (int i = 0; i < N; i++) {
    data[i] = ab_data_create(model, &error);
    if (!data[i]) fail_msg("simulation %d: %s", i, error.message);
    for (int k = 0; k < 3; k++) assert_int_equal(ab_step(model, data[i]), AB_STEP_OK);
    assert_int_equal(data[i]->ncontact, 1);
  }
  check_below((held - before) / N, most);
  // the allocator's own share and what it cannot use come on top
  check_below((address_space() - space) / N, 1.25 * most);
  for (int i = 0; i < N; i++) ab_data_free(data[i]);
  assert_true(held == before);
  free(data);
  ab_model_free(model);
}

// Whichever allocation of a step fails, the step says that memory has run out, leaves the state as
// it was, and done again it is the step it would have been.
static void a_step_without_memory_can_be_done_again(void** state) {
  (void)state;
  static const char* const scene[] = {"box_on_plane.xml", "pile.xml", "pendulum.xml",
                                      "quadruped.xml"};
  for (size_t s = 0; s < sizeof scene / sizeof *scene; s++) {
    abModel* model = load(scene[s]);
    abError error;
    long nfailed = 0;
    for (int sleep = 0; sleep < 2; sleep++) {
      abData *good = ab_data_create(model, &error), *poor = ab_data_create(model, &error);
      good->sleep.on = poor->sleep.on = sleep;
      for (int i = 0; i < 60; i++) {
        assert_true(ab_step(model, good) != AB_STEP_BROKEN);
        uint64_t before = ab_state_hash(model, poor);
        for (long k = 0;; k = 0) {  // each step's first allocation fails until it needs none
          countdown = k;
          abStepStatus status = ab_step(model, poor);
          bool failed = countdown < 0;
          countdown = -1;
          if (!failed) {
            assert_true(status != AB_STEP_BROKEN);
            break;
          }
          nfailed++;
          assert_int_equal(status, AB_STEP_BROKEN);
          assert_int_equal(poor->stat.cause, AB_CAUSE_MEMORY);
          assert_true(ab_state_hash(model, poor) == before);
          // with memory it goes through: grows, and is put back
          size_t bytes = ab_state_size(model, poor);
          void* block = malloc(bytes);
          assert_int_equal(ab_state_get(model, poor, block, bytes), AB_OK);
          assert_true(ab_step(model, poor) != AB_STEP_BROKEN);
          assert_int_equal(ab_state_set(model, poor, block, bytes, &error), AB_OK);
          free(block);
        }
        if (ab_state_hash(model, good) != ab_state_hash(model, poor))
          fail_msg("%s, step %d: it goes on otherwise after memory had run out", scene[s], i);
      }
      ab_data_free(good), ab_data_free(poor);
    }
    assert_true(nfailed >= 2);
    ab_model_free(model);
  }
}

static int begin(void** state) {
  (void)state;
  countdown = -1;
  ab_set_allocator((abAllocator){count_alloc, count_realloc, count_free});
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ten_thousand_boxes_on_planes),
      cmocka_unit_test(a_step_without_memory_can_be_done_again),
  };
  return cmocka_run_group_tests(tests, begin, NULL);
}
