// What a step promises whatever the contact model: no allocation, the same result twice and for any
// number of threads, a state put back when it breaks down.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "math/spatial.h"
#include "support/check.h"
#include "support/world.h"

static long nalloc;
static void* counting_alloc(size_t n) { return nalloc++, malloc(n); }
static void* counting_realloc(void* p, size_t n) { return nalloc++, realloc(p, n); }

static World heap(const char* contact) {
  World w = world_begin(2e-3, true);
  for (int i = 0; i < 20; i++)
    world_add_box(&w, v3(0.1, 0.05, 0.025), 0.5,
                  (abPose){v3(0.07 * (i % 3), 0.05 * (i % 2), 0.05 + 0.09 * i),
                           quat_from_rotvec(v3(0.1 * i, 0.3, 0))});
  world_start(&w, contact);
  return w;
}

// A simulation grows to what its largest step needs, doubling, and then allocates no more.
static void no_allocation_in_a_step_once_grown(void** state) {
  (void)state;
  ab_set_allocator((abAllocator){counting_alloc, counting_realloc, free});
  for (int m = 0; m < ab_contact_model_count(); m++) {
    World w = heap(ab_contact_model(m)->name);
    long before = nalloc;
    world_run(&w, 0.1);
    check_below((double)(nalloc - before), 100);  // six stores, each doubled from 4 kB to some MB
    for (int life = 0; life < 2; life++) {  // of two lists that take turns each grows by itself
      ab_data_reset(w.model, w.data, -1);
      before = nalloc;
      world_run(&w, 0.1);
    }
    assert_int_equal(nalloc, before);
    assert_int_equal((long)w.data->stat.bad_body, -1);
    world_free(&w);
  }
  ab_set_allocator((abAllocator){malloc, realloc, free});
}

static void same_inputs_give_the_same_hash_at_any_number_of_threads(void** state) {
  (void)state;
  for (int m = 0; m < ab_contact_model_count(); m++) {
    uint64_t hash[3];
    for (int k = 0; k < 3; k++) {
      World w = heap(ab_contact_model(m)->name);
      abError error;
      if (k == 2) assert_int_equal(ab_set_threads(w.data, 3, &error), AB_OK);
      world_run(&w, 0.3);
      hash[k] = ab_state_hash(w.model, w.data);
      world_free(&w);
    }
    assert_true(hash[0] == hash[1]);
    assert_true(hash[0] == hash[2]);
  }
}

static void child_of_a_fork_has_threads_of_its_own(void** state) {
  (void)state;
#if defined(__SANITIZE_THREAD__)
  skip();  // ThreadSanitizer ends children of a fork that start threads
#endif
  abError error;
  World w = heap("patch");
  assert_int_equal(ab_set_threads(w.data, 3, &error), AB_OK);
  world_run(&w, 0.1);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);  // threads that are not there would be waited for
    world_run(&w, 0.1);
    unsigned char last = (unsigned char)ab_state_hash(w.model, w.data);
    world_free(&w);
    _exit(last);
  }
  int status;
  world_run(&w, 0.1);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), (unsigned char)ab_state_hash(w.model, w.data));
  world_free(&w);
}

static void reset_rewinds(void** state) {
  (void)state;
  for (int m = 0; m < ab_contact_model_count(); m++) {
    World w = heap(ab_contact_model(m)->name);
    world_run(&w, 0.3);
    uint64_t first = ab_state_hash(w.model, w.data);
    ab_data_reset(w.model, w.data, -1);
    world_run(&w, 0.3);
    assert_true(ab_state_hash(w.model, w.data) == first);
    world_free(&w);
  }
}

static void broken_step_leaves_the_state_as_it_was(void** state) {
  (void)state;
  World w = heap(NULL);
  world_run(&w, 0.1);
  uint64_t before = ab_state_hash(w.model, w.data);
  w.data->applied[3].force.x = NAN;
  assert_int_equal(ab_step(w.model, w.data), AB_STEP_BROKEN);
  assert_true(ab_state_hash(w.model, w.data) == before);
  w.data->applied[3].force.x = 0;
  assert_true(ab_step(w.model, w.data) != AB_STEP_BROKEN);
  world_free(&w);
}

// A spring so stiff that its first touch throws what it touches at any speed: explicit, so it may.
static void step_that_makes_energy_from_nowhere_is_broken_and_names_the_body(void** state) {
  (void)state;
  World w = heap("point-penalty");
  world_run(&w, 0.1);
  abError error;
  assert_int_equal(ab_set_param(w.data, "k", 1e14, &error), AB_OK);
  int n = 0;
  uint64_t before;
  do {
    before = ab_state_hash(w.model, w.data);
  } while (ab_step(w.model, w.data) != AB_STEP_BROKEN && ++n < 1000);
  assert_int_equal(w.data->stat.status, AB_STEP_BROKEN);
  assert_true(w.data->stat.bad_body > 0);
  assert_true(ab_state_hash(w.model, w.data) == before);
  // and the bodies are where they were, not where the step threw them
  check_below(ab_energy(w.model, w.data).kinetic, 1e4);
  world_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_allocation_in_a_step_once_grown),
      cmocka_unit_test(same_inputs_give_the_same_hash_at_any_number_of_threads),
      cmocka_unit_test(child_of_a_fork_has_threads_of_its_own),
      cmocka_unit_test(reset_rewinds),
      cmocka_unit_test(broken_step_leaves_the_state_as_it_was),
      cmocka_unit_test(step_that_makes_energy_from_nowhere_is_broken_and_names_the_body),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
