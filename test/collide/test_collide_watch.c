// Candidates whose bodies have hardly moved are not looked at, and pairs that a model follows by
// itself stay as they are: until the bodies have gone too far, and through changes of others.
#include "collide/collide_watch.h"

#include <string.h>

#include "collide/broadphase.h"
#include "collide/collide.h"
#include "collide/collide_kept.h"
#include "math/rotation.h"
#include "support/check.h"
#include "support/world.h"

static const double STEP = 1e-3, G = 9.8, DEPTH = 2e-5;

static void no_solve(const abContactProblem* problem, abContactSolution* solution) {
  (void)problem, (void)solution;
}
static size_t some_bytes(const double* param) { return param ? 24 : 0; }
static const abContactModel model = {.name = "near",
                                     .geometry = AB_GEOMETRY_VOLUME,
                                     .margin = 4,
                                     .memory_bytes = some_bytes,
                                     .solve = no_solve};

// Three cubes on the floor with gaps, one of them twice as far: pair i is cube 1 + i and the floor.
static World make_world(void) {
  World w = world_begin(STEP, true);
  for (int i = 0; i < 3; i++)
    world_add_box(&w, v3(0.1, 0.1, 0.1), 1, (abPose){{0.3 * i, 0, 0.1 - DEPTH}, {1, 0, 0, 0}});
  world_start(&w, NULL);
  w.data->contact = &model;
  ab_memory_clear(w.data->memory, some_bytes(w.data->param));
  return w;
}

static void look(World* w) {
  ab_forward(w->model, w->data);
  ab_arena_release(w->data->step_arena, 0);
  assert_int_equal(ab_broadphase(w->model, w->data), AB_OK);
  assert_int_equal(ab_collide(w->model, w->data), AB_OK);
}

static abTable* collide(World* w) {
  look(w);
  ab_memory_commit(w->data->memory);
  return ab_memory_now(w->data->memory);
}

static double* height(World* w, int cube) { return &w->data->q[7 * cube + 2]; }

static double slack(void) { return ab_kept_slack(4 * G * STEP * STEP); }

// After two steps, with all three pairs still.
static World still_world(void) {
  World w = make_world();
  collide(&w);
  abTable* t = collide(&w);
  assert_int_equal(t->n, 3);
  for (int i = 0; i < 3; i++) {
    assert_true(t->pair[i].kept);
    t->still[i] = 5 + i;
    t->contact[i] = (abContact){.body1 = 1 + i, .depth = 0.5 + i};
    t->depth[i] = 0.5 + i;
  }
  return w;
}

static void still_pairs_are_left_alone(void** state) {
  (void)state;
  World w = still_world();
  *height(&w, 1) += 0.4 * slack();
  abTable* t = collide(&w);
  assert_true(ab_memory_in_place(w.data->memory));
  for (int i = 0; i < 3; i++) {
    assert_true(t->left[i]);
    assert_int_equal(t->still[i], 5 + i);
  }
  // nobody has looked where the cube is now
  assert_true(t->pair[1].pose1.p.z != *height(&w, 1));
  world_free(&w);
}

// The path counts, not the place: to and fro is as far.
static void whoever_has_gone_too_far_is_measured(void** state) {
  (void)state;
  World w = still_world();
  double from = *height(&w, 1);
  for (int i = 0; i < 2; i++) {
    *height(&w, 1) = from + (i ? 0 : 0.4 * slack());
    assert_true(collide(&w)->left[1]);
  }
  *height(&w, 1) = from + 0.4 * slack();
  abTable* t = collide(&w);
  assert_false(t->left[1]);
  assert_false(t->pair[1].kept);
  assert_int_equal(t->still[1], -6);
  check_near(t->pair[1].pose1.p.z, *height(&w, 1), 0);
  assert_true(t->left[0] && t->left[2]);
  world_free(&w);
}

static void turning_counts_by_the_radius(void** state) {
  (void)state;
  World w = still_world();
  double* q = w.data->q + 7 + 3;
  // the corner is 0.17 m from the middle: 0.9 of the slack, and then another 0.9
  for (int i = 1; i <= 2; i++) {
    abQuat turned = quat_from_rotvec(v3(0, 0, i * 0.9 * slack() / (0.1 * sqrt(3))));
    q[0] = turned.w, q[1] = turned.x, q[2] = turned.y, q[3] = turned.z;
    abTable* t = collide(&w);
    assert_int_equal(t->left[1], i == 1);
  }
  world_free(&w);
}

// One cube is lifted off: the table is made anew, and what is still goes over as it is.
static void still_pairs_survive_the_change_of_others(void** state) {
  (void)state;
  World w = still_world();
  abTable* t = ab_memory_now(w.data->memory);
  memset(t->pair[2].memory, 42, 24);
  *height(&w, 0) += 0.05;
  t = collide(&w);
  assert_int_equal(t->n, 2);
  assert_int_equal(w.data->npair, 2);
  for (int i = 0; i < 2; i++) {
    assert_true(t->left[i]);
    assert_int_equal(t->still[i], 6 + i);
    assert_int_equal(t->pair[i].body1, 2 + i);
    assert_int_equal(t->contact[i].body1, 2 + i);
    check_near(t->depth[i], 1.5 + i, 0);
    assert_ptr_equal(t->pair[i].memory, ab_memory_bytes(w.data->memory, i));
    assert_ptr_equal(t->pair[i].patch.polygon, ab_memory_next(w.data->memory, i)->polygon);
  }
  assert_int_equal(((const char*)t->pair[1].memory)[23], 42);
  // and comes back
  *height(&w, 0) -= 0.05;
  t = collide(&w);
  assert_int_equal(t->n, 3);
  assert_true(t->pair[0].fresh && t->still[0] == 0);
  assert_true(t->left[1] && t->left[2]);
  world_free(&w);
}

static void a_failed_step_leaves_nothing_still(void** state) {
  (void)state;
  World w = still_world();
  look(&w);
  ab_memory_discard(w.data->memory);
  abTable* t = collide(&w);
  for (int i = 0; i < 3; i++) assert_true(t->still[i] == 0 && !t->left[i]);
  // one that was not committed: everything is looked at again
  t->still[0] = 5;
  look(&w);
  look(&w);
  assert_false(ab_memory_now(w.data->memory)->left[0]);
  world_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(still_pairs_are_left_alone),
      cmocka_unit_test(whoever_has_gone_too_far_is_measured),
      cmocka_unit_test(turning_counts_by_the_radius),
      cmocka_unit_test(still_pairs_survive_the_change_of_others),
      cmocka_unit_test(a_failed_step_leaves_nothing_still),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
