// Saved states: whoever goes on from one has the same future, to the bit.
#include <abut/abut.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/spatial.h"
#include "support/check.h"
#include "support/random.h"
#include "support/world.h"

static const char* const MODEL[] = {"patch",          "ecp",       "volume-pgs",   "volume-qp",
                                    "volume-penalty", "point-pgs", "point-penalty"};
enum { NMODEL = 7 };

typedef struct Block {
  size_t bytes;
  void* at;
} Block;

static Block save(const World* w) {
  Block b = {.bytes = ab_state_size(w->model, w->data)};
  b.at = malloc(b.bytes);
  assert_int_equal(ab_state_get(w->model, w->data, b.at, b.bytes), AB_OK);
  return b;
}

static void restore(World* w, Block b) {
  abError error = {0};
  if (ab_state_set(w->model, w->data, b.at, b.bytes, &error) != AB_OK)
    fail_msg("%s", error.message);
}

// Boxes that fall on each other, slide and come to rest; a second simulation of the same model.
static World boxes(const char* contact) {
  World w = world_begin(2e-3, true);
  int n = strcmp(contact, "ecp") == 0 ? 1 : 4;
  for (int i = 0; i < n; i++)
    world_add_box(&w, v3(0.1, 0.05, 0.025), 0.5,
                  (abPose){v3(0.03 * i, 0.02 * (i % 2), 0.04 + 0.07 * i),
                           quat_from_rotvec(v3(0.1, 0.05, 0.3 * i))});
  world_start(&w, contact);
  w.data->v[0] = 0.8;
  w.data->v[5] = 2;
  return w;
}

static World second(const World* first) {
  World w = *first;
  abError error = {0};
  w.scene = NULL;
  w.data = ab_data_create(w.model, &error);
  assert_non_null(w.data);
  assert_int_equal(ab_set_contact(w.model, w.data, first->data->contact->name, &error), AB_OK);
  return w;
}

static void step(World* w) { assert_true(ab_step(w->model, w->data) != AB_STEP_BROKEN); }

static void check_same_future(World* a, World* b, int n) {
  for (int i = 0; i < n; i++) {
    assert_memory_equal(a->data->q, b->data->q, sizeof(double) * (size_t)a->model->nq);
    assert_memory_equal(a->data->v, b->data->v, sizeof(double) * (size_t)a->model->nv);
    assert_true(a->data->time == b->data->time);
    assert_int_equal(a->data->stat.nasleep * (i > 0), b->data->stat.nasleep * (i > 0));
    assert_int_equal(a->data->ncontact * (i > 0), b->data->ncontact * (i > 0));
    step(a), step(b);
  }
}

// So many times: the second goes on from the first one's state.
static void live_twice(World* a, World* b, int rounds) {
  for (int round = 0; round < rounds; round++) {
    Block block = save(a);
    restore(b, block);
    free(block.at);
    check_same_future(a, b, 100);
  }
}

// Before, in and after the impacts.
static void a_saved_state_has_the_same_future(void** state) {
  (void)state;
  for (int k = 0; k < NMODEL; k++) {
    World a = boxes(MODEL[k]), b = second(&a);
    live_twice(&a, &b, 4);
    ab_data_free(b.data);
    world_free(&a);
  }
}

// The way back: what is put back is what was, however far the simulation has gone on.
static void a_state_put_back_is_lived_again(void** state) {
  (void)state;
  for (int k = 0; k < NMODEL; k++) {
    World a = boxes(MODEL[k]);
    for (int i = 0; i < 60; i++) step(&a);
    Block block = save(&a);
    for (int i = 0; i < 150; i++) step(&a);
    uint64_t hash = ab_state_hash(a.model, a.data);
    restore(&a, block);
    for (int i = 0; i < 150; i++) step(&a);
    if (ab_state_hash(a.model, a.data) != hash) fail_msg("%s goes on otherwise", MODEL[k]);
    free(block.at);
    world_free(&a);
  }
}

// A box asleep that another one falls on later, and one still awake.
static void sleepers_are_part_of_the_state(void** state) {
  (void)state;
  World a = world_begin(2e-3, true);
  for (int i = 0; i < 3; i++)
    world_add_box(&a, v3(0.1, 0.05, 0.025), 0.5,
                  (abPose){v3(0.01 * i, 0, i == 2 ? 12 : 0.025 + 0.05 * i), quat_identity()});
  world_start(&a, "volume-pgs");
  a.data->sleep.on = true;
  while (a.data->stat.nasleep < 2) {
    assert_true(a.data->time < 1.4);  // the third one arrives at about 1.56 s
    step(&a);
  }
  World b = second(&a);
  b.data->sleep.on = true;
  Block block = save(&a);
  restore(&b, block);
  assert_int_equal(b.data->asleep[1] + b.data->asleep[2], 2);
  check_same_future(&a, &b, 600);
  assert_true(a.data->time > 1.7);  // it has arrived
  free(block.at);
  ab_data_free(b.data);
  world_free(&a);
}

// Asleep or about to be, saved again and again, under every model.
static void states_with_sleeping_on_have_the_same_future(void** state) {
  (void)state;
  for (int k = 0; k < NMODEL; k++) {
    World a = boxes(MODEL[k]), b = second(&a);
    a.data->sleep.on = b.data->sleep.on = true;
    live_twice(&a, &b, 6);
    ab_data_free(b.data);
    world_free(&a);
  }
}

// A force beyond all numbers breaks a step, which is undone; what is then saved is what goes on.
static void a_state_saved_after_a_broken_step_has_the_same_future(void** state) {
  (void)state;
  for (int k = 0; k < 2 * NMODEL; k++) {
    World a = boxes(MODEL[k / 2]), b = second(&a), c = second(&a);
    a.data->sleep.on = b.data->sleep.on = c.data->sleep.on = k % 2;
    for (int i = 0; i < 80; i++) step(&a);
    Block before = save(&a);
    restore(&c, before);
    a.data->applied[1].force.x = 1e300;
    assert_int_equal(ab_step(a.model, a.data), AB_STEP_BROKEN);
    a.data->applied[1].force.x = 0;
    Block after = save(&a);
    restore(&b, after);
    check_same_future(&a, &b, 100);
    // without sleeping, which watches forces, it is as if the step had never been
    for (int i = 0; i < 100 && k % 2 == 0; i++) step(&c);
    if (k % 2 == 0 && ab_state_hash(c.model, c.data) != ab_state_hash(a.model, a.data))
      fail_msg("%s goes on otherwise after a broken step", MODEL[k / 2]);
    free(before.at), free(after.at);
    ab_data_free(b.data), ab_data_free(c.data);
    world_free(&a);
  }
}

static void a_copy_has_state_and_settings(void** state) {
  (void)state;
  abError error = {0};
  for (int k = 0; k < NMODEL; k++) {
    World a = boxes(MODEL[k]), b = second(&a);
    a.data->h = 1.5e-3;
    a.data->sleep.on = true;
    assert_int_equal(ab_set_param(a.data, "tolerance", 1e-7, &error), AB_OK);
    a.data->applied[1].force.y = 0.5;
    for (int i = 0; i < 80; i++) step(&a);
    assert_int_equal(ab_data_copy(a.model, a.data, b.data, &error), AB_OK);
    check_same_future(&a, &b, 100);
    ab_data_free(b.data);
    world_free(&a);
  }
}

static const char* const SCENE[] = {"box_on_plane", "slide",      "stack10",       "dominoes",
                                    "seven_bricks", "stick_slip", "gripper_pinch", "pendulum",
                                    "quadruped",    "arm_place"};
enum { NSCENE = sizeof SCENE / sizeof *SCENE };

static abModel* load_scene(const char* name) {
  char path[300];
  abError error = {0};
  snprintf(path, sizeof path, "%s/scenes/%s.xml", ABUT_SOURCE_DIR, name);
  abModel* model = ab_load(path, NULL, &error);
  if (!model) fail_msg("%s", error.message);
  return model;
}

// Ten scenes of the repository under every contact model that takes them, with and without
// sleeping: copied in the middle, both go on the same to the bit.
static void copies_of_ten_scenes_have_the_same_future(void** state) {
  (void)state;
  int ntried = 0, nmodel[NSCENE] = {0};
  for (int s = 0; s < NSCENE; s++) {
    abError error = {0};
    abModel* model = load_scene(SCENE[s]);
    for (int k = 0; k < 2 * NMODEL; k++) {
      abData *a = ab_data_create(model, &error), *b = ab_data_create(model, &error);
      bool taken = ab_set_contact(model, a, MODEL[k / 2], &error) == AB_OK;
      a->sleep.on = k % 2;
      for (int i = 0; taken && i < 40; i++) taken = ab_step(model, a) != AB_STEP_BROKEN;
      if (taken) {
        nmodel[s]++, ntried++;
        assert_int_equal(ab_data_copy(model, a, b, &error), AB_OK);
        for (int i = 0; i < 40; i++) {
          assert_int_equal(ab_step(model, a), ab_step(model, b));
          if (ab_state_hash(model, a) != ab_state_hash(model, b))
            fail_msg("%s, %s, sleeping %s: step %d differs", SCENE[s], MODEL[k / 2],
                     k % 2 ? "on" : "off", i);
          assert_int_equal(a->ncontact, b->ncontact);
        }
      }
      ab_data_free(a), ab_data_free(b);
    }
    assert_true(nmodel[s] >= 2);  // with and without sleeping at least under one
    ab_model_free(model);
  }
  assert_true(ntried >= 100);  // of 140: ecp takes no joints
}

// Ten scenes, each a hundred steps in one simulation, and as many in a new one for every step that
// is given the state alone: whatever else a simulation holds (lists of near pairs, places, sizes of
// its memory) has no influence on the motion, not even on its last bit.
static void nothing_but_the_state_goes_from_step_to_step(void** state) {
  (void)state;
  for (int s = 0; s < NSCENE; s++) {
    abError error = {0};
    abModel* model = load_scene(SCENE[s]);
    abData *a = ab_data_create(model, &error), *b = ab_data_create(model, &error);
    for (int i = 0; i < 100; i++) {
      assert_int_equal(ab_step(model, a), ab_step(model, b));
      if (ab_state_hash(model, a) != ab_state_hash(model, b))
        fail_msg("%s: step %d differs", SCENE[s], i);
      abData* fresh = ab_data_create(model, &error);
      size_t bytes = ab_state_size(model, b);
      void* block = malloc(bytes);
      assert_int_equal(ab_state_get(model, b, block, bytes), AB_OK);
      assert_int_equal(ab_state_set(model, fresh, block, bytes, &error), AB_OK);
      free(block);
      ab_data_free(b);
      b = fresh;
    }
    ab_data_free(a), ab_data_free(b);
    ab_model_free(model);
  }
}

static void check_refused(World* w, Block block, const char* says) {
  abError error = {0};
  uint64_t hash = ab_state_hash(w->model, w->data);
  assert_int_equal(ab_state_set(w->model, w->data, block.at, block.bytes, &error),
                   AB_ERROR_ARGUMENT);
  if (!strstr(error.message, says)) fail_msg("'%s' does not say '%s'", error.message, says);
  assert_true(ab_state_hash(w->model, w->data) == hash);
}

static void damaged_and_foreign_states_are_refused(void** state) {
  (void)state;
  abError error = {0};
  World a = boxes("volume-pgs"), other = world_begin(2e-3, true);
  world_add_box(&other, v3(0.1, 0.1, 0.1), 1, (abPose){v3(0, 0, 1), quat_identity()});
  world_start(&other, "volume-pgs");
  for (int i = 0; i < 60; i++) step(&a);
  Block block = save(&a);
  assert_int_equal(ab_state_get(a.model, a.data, block.at, block.bytes - 1), AB_ERROR_ARGUMENT);
  check_refused(&other, block, "another scene");
  check_refused(&a, (Block){block.bytes - 8, block.at}, "damaged");
  check_refused(&a, (Block){20, block.at}, "not a saved state");
  check_refused(&a, (Block){0, block.at}, "not a saved state");
  assert_int_equal(ab_set_contact(a.model, a.data, "point-pgs", &error), AB_OK);
  check_refused(&a, block, "volume-pgs");
  assert_int_equal(ab_set_contact(a.model, a.data, "volume-pgs", &error), AB_OK);
  Random r = {.state = 7};
  for (int i = 0; i < 200; i++) {
    char* byte = (char*)block.at + random_below(&r, (int)block.bytes);
    *byte = (char)(*byte ^ 1);
    assert_int_not_equal(ab_state_set(a.model, a.data, block.at, block.bytes, &error), AB_OK);
    *byte = (char)(*byte ^ 1);
  }
  restore(&a, block);
  free(block.at);
  world_free(&a), world_free(&other);
}

// The check sum made right again: the last field of the head, over the head without it and the
// rest.
enum { HEAD = 72 };

static uint64_t sum_of(const char* bytes, size_t n) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i += 8) {
    uint64_t word = 0;
    memcpy(&word, bytes + i, n - i < 8 ? n - i : 8);
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  return hash;
}

static void seal(Block b) {
  char* at = b.at;
  memset(at + HEAD - 8, 0, 8);
  uint64_t sum = sum_of(at, HEAD) + sum_of(at + HEAD, b.bytes - HEAD);
  memcpy(at + HEAD - 8, &sum, 8);
}

static void check_not_possible(World* w, Block made_up) {
  abError error = {0};
  seal(made_up);
  assert_int_equal(ab_state_set(w->model, w->data, made_up.at, made_up.bytes, &error),
                   AB_ERROR_MEMORY);
  assert_non_null(strstr(error.message, "cannot be"));
  step(w);  // from its start
}

// Somebody may make a state up, with a check sum that is right: geoms that do not exist, axes that
// are none.
static void geoms_and_axes_of_a_made_up_state_are_checked(void** state) {
  (void)state;
  World a = boxes("volume-pgs");
  for (int i = 0; i < 60; i++) step(&a);
  Block good = save(&a), bad = {good.bytes, malloc(good.bytes)};
  // time, coordinates, controls and loads stand before the pairs; there are no mocap bodies
  const abModel* m = a.model;
  size_t at = HEAD + 8 * (size_t)(1 + m->nq + m->nv + m->nactuator) + 48 * (size_t)m->nbody;
  int npair;
  memcpy(&npair, (char*)good.at + at, sizeof npair);
  assert_true(npair > 0 && npair < 30);
  const uint64_t key[] = {0x7fffffff,        (uint64_t)m->ngeom,         UINT64_MAX,
                          (uint64_t)1 << 32, (uint64_t)0x80000000 << 32, 0};
  for (int i = 0; i < 6; i++) {
    memcpy(bad.at, good.at, good.bytes);
    memcpy((char*)bad.at + at + 4 + 8 * (size_t)(npair - 1), &key[i], 8);
    check_not_possible(&a, bad);
  }
  const double axis[] = {NAN, 2, 1e300};
  for (int i = 0; i < 3; i++) {
    memcpy(bad.at, good.at, good.bytes);
    memcpy((char*)bad.at + at + 4 + 8 * (size_t)npair, &axis[i], 8);
    check_not_possible(&a, bad);
  }
  restore(&a, good);
  free(good.at), free(bad.at);
  world_free(&a);
}

// Whatever its bytes are, it is refused, or steps follow that may break down: no crash, which the
// sanitizers see best.
static void made_up_states_harm_nobody(void** state) {
  (void)state;
  Random r = {.state = 11};
  const int special[] = {-1, 0, 1, 0x7fffffff, 100};
  for (int k = 0; k < 2 * NMODEL; k++) {
    World a = boxes(MODEL[k / 2]);
    a.data->sleep.on = k % 2;
    int nstep = k % 2 ? 900 : 60;
    for (int i = 0; i < nstep; i++) step(&a);
    Block good = save(&a), bad = {good.bytes, malloc(good.bytes)};
    for (int i = 0; i < 200; i++) {
      memcpy(bad.at, good.at, good.bytes);
      for (int j = 0; j < 2; j++) {
        char* byte = (char*)bad.at + HEAD + random_below(&r, (int)(good.bytes - HEAD - 4));
        if (i % 2)
          *byte = (char)random_bits(&r);
        else
          memcpy(byte, &special[random_below(&r, 5)], 4);
      }
      seal(bad);
      abError error;
      if (ab_state_set(a.model, a.data, bad.at, bad.bytes, &error) == AB_OK)
        ab_step(a.model, a.data);
    }
    restore(&a, good);
    step(&a);
    free(good.at), free(bad.at);
    world_free(&a);
  }
}

// The same numbers of everything, but a ball where the box was.
static void a_scene_of_the_same_sizes_is_another_scene(void** state) {
  (void)state;
  World box = world_begin(2e-3, true), ball = world_begin(2e-3, true);
  abPose pose = {v3(0, 0, 1), quat_identity()};
  world_add_box(&box, v3(0.1, 0.1, 0.1), 1, pose);
  world_add_shape(&ball, AB_SHAPE_SPHERE, v3(0.1, 0.1, 0.1), 1, pose);
  world_start(&box, "volume-pgs"), world_start(&ball, "volume-pgs");
  Block block = save(&box);
  check_refused(&ball, block, "another scene");
  restore(&box, block);
  free(block.at);
  world_free(&box), world_free(&ball);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_saved_state_has_the_same_future),
      cmocka_unit_test(a_state_put_back_is_lived_again),
      cmocka_unit_test(sleepers_are_part_of_the_state),
      cmocka_unit_test(states_with_sleeping_on_have_the_same_future),
      cmocka_unit_test(a_state_saved_after_a_broken_step_has_the_same_future),
      cmocka_unit_test(a_copy_has_state_and_settings),
      cmocka_unit_test(copies_of_ten_scenes_have_the_same_future),
      cmocka_unit_test(nothing_but_the_state_goes_from_step_to_step),
      cmocka_unit_test(damaged_and_foreign_states_are_refused),
      cmocka_unit_test(geoms_and_axes_of_a_made_up_state_are_checked),
      cmocka_unit_test(made_up_states_harm_nobody),
      cmocka_unit_test(a_scene_of_the_same_sizes_is_another_scene),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
