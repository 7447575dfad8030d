// Candidates become pairs: which, in what order, with what frames, and the same for any threads.
#include "collide/collide.h"

#include <string.h>

#include "collide/broad/broadphase.h"
#include "dynamics/free_motion.h"
#include "dynamics/response.h"
#include "internal.h"
#include "pairs.h"
#include "support/check.h"
#include "support/random.h"
#include "support/world.h"

static abPose at(double x, double y, double z) { return (abPose){{x, y, z}, {1, 0, 0, 0}}; }

// A model that only wants geometry.
static void no_solve(const abContactProblem* problem, abContactSolution* solution) {
  (void)problem, (void)solution;
}
static size_t no_bytes(const double* param) { return param ? 0 : 0; }
static const abContactModel volume = {
    .name = "volume", .geometry = AB_GEOMETRY_VOLUME, .memory_bytes = no_bytes, .solve = no_solve};
static const abContactModel near_model = {
    .name = "near", .geometry = AB_GEOMETRY_TOUCH, .memory_bytes = no_bytes, .solve = no_solve};
static const abContactModel pair_model = {
    .name = "pair", .geometry = AB_GEOMETRY_PAIR, .memory_bytes = no_bytes, .solve = no_solve};

static void collide(World* w, const abContactModel* contact) {
  w->data->contact = contact;
  ab_forward(w->model, w->data);
  ab_arena_release(w->data->internal->step_arena, 0);
  ab_free_motion(w->model, w->data);
  ab_response_update(w->model, w->data);
  assert_int_equal(ab_broadphase(w->model, w->data), AB_OK);
  assert_int_equal(ab_collide(w->model, w->data), AB_OK);
}

static const abVec3 half = {0.5, 0.5, 0.5};

static void only_overlapping_pairs_are_kept_and_sorted(void** state) {
  (void)state;
  World w = world_begin(1e-3, true);
  int a = world_add_box(&w, half, 1, at(0, 0, 0.499));
  int b = world_add_box(&w, half, 1, at(0.1, 0, 1.498));
  world_add_box(&w, half, 1, at(1.3, 0, 0.6));
  world_start(&w, NULL);
  collide(&w, &volume);
  assert_int_equal(w.data->internal->npair, 2);
  // box on the floor: the moving body first
  const abPair* p = w.data->internal->pair;
  assert_int_equal(p[0].body1, a);
  assert_int_equal(p[0].body2, 0);
  check_vec_near(p[0].patch.normal, v3(0, 0, 1), 0);
  check_near(p[0].patch.area, 1, 1e-13);
  // box on box: the smaller index first, so the normal points down to it
  assert_int_equal(p[1].body1, a);
  assert_int_equal(p[1].body2, b);
  assert_true(p[1].patch.normal.z < -0.99);
  assert_true(p[0].key < p[1].key);
  for (int i = 0; i < 2; i++) {
    assert_true(p[i].fresh);
    assert_true(p[i].key == ab_pair_key(p[i].geom1, p[i].geom2));
    assert_true(p[i].shape1 == &w.model->geom[p[i].geom1].shape);
    assert_int_equal(w.model->geom[p[i].geom1].body, p[i].body1);
    assert_int_equal(p[i].patch.kind, AB_PATCH_SURFACE);
  }
  // the next step knows them
  ab_memory_commit(w.data->internal->memory);
  collide(&w, &volume);
  assert_int_equal(w.data->internal->npair, 2);
  assert_false(w.data->internal->pair[0].fresh);
  world_free(&w);
}

static void model_that_wants_pairs_gets_all_candidates(void** state) {
  (void)state;
  World w = world_begin(1e-3, true);
  world_add_box(&w, half, 1, at(0, 0, 0.5));
  world_add_box(&w, half, 1, at(0.1, 0, 1.5));
  world_start(&w, NULL);
  collide(&w, &pair_model);
  assert_int_equal(w.data->internal->npair, w.data->internal->ncandidate);
  assert_true(w.data->internal->npair >= 2);
  for (int i = 0; i < w.data->internal->npair; i++)
    assert_int_equal(w.data->internal->pair[i].patch.kind, AB_PATCH_NONE);
  world_free(&w);
}

// What falls g h^2 in the step is seen from 2e-5 of its size and that far away.
static void gaps_give_negative_thickness_that_passes_through_zero(void** state) {
  (void)state;
  double last = 0;
  for (int k = 0; k <= 40; k++) {
    double gap = (19.5 - k) * 1e-6;
    World w = world_begin(1e-3, true);
    world_add_box(&w, half, 1, at(0, 0, 0.5 + gap));
    world_add_box(&w, half, 1, at(0.25, 0, 1.5 + 2 * gap));
    world_start(&w, NULL);
    collide(&w, &near_model);
    assert_int_equal(w.data->internal->npair, 2);
    for (int i = 0; i < w.data->internal->npair; i++) {
      const abPatch* p = &w.data->internal->pair[i].patch;
      check_near(p->depth, -gap, 1e-8);
      check_near(p->h0, -gap, 1e-8);
      check_near(p->area, i ? 0.75 : 1, 1e-6);
      check_near(p->center.z, i ? 1 + 1.5 * gap : 0.5 * gap, 1e-9);
      check_near(p->volume, gap < 0 ? -gap * (i ? 0.75 : 1) : 0, 1e-9);
      check_near(fabs(p->normal.z), 1, 1e-9);
    }
    if (k > 0 && w.data->internal->npair)
      check_near(w.data->internal->pair[0].patch.h0 - last, 1e-6, 1e-9);
    last = w.data->internal->npair ? w.data->internal->pair[0].patch.h0 : last;
    world_free(&w);
  }
}

static void out_of_reach_is_no_pair(void** state) {
  (void)state;
  World w = world_begin(1e-3, true);
  world_add_box(&w, half, 1, at(0, 0, 0.5 + 5e-5));
  world_add_box(&w, half, 1, at(0, 0, 1.5 + 1.1e-4));
  world_start(&w, NULL);
  collide(&w, &near_model);
  assert_int_equal(w.data->internal->npair, 0);
  world_free(&w);
}

// A stack as everybody writes it down: every gap is zero to rounding, flush, turned, far from the
// origin. No contact may be missed, and the normals must be right.
static void exactly_touching_stack_has_all_its_contacts(void** state) {
  (void)state;
  for (int turn = 0; turn < 20; turn++) {
    World w = world_begin(1e-3, true);
    abQuat q = quat_from_rotvec(v3(0, 0, 0.37 * turn));
    double x = turn % 2 ? 17.3 * turn : 0;
    for (int i = 0; i < 10; i++)
      world_add_box(&w, v3(0.05, 0.05, 0.05), 1, (abPose){{x, -x, 0.05 + 0.1 * i}, q});
    world_start(&w, NULL);
    collide(&w, &near_model);
    assert_int_equal(w.data->internal->npair, 10);
    for (int i = 0; i < 10; i++) {
      const abPatch* p = &w.data->internal->pair[i].patch;
      check_near(fabs(p->normal.z), 1, 1e-9);
      check_near(p->area, 0.01, 1e-8);
      check_near(p->depth, 0, 1e-12);
      check_near(p->h0, 0, 1e-12);
    }
    world_free(&w);
  }
}

static void touching_crossed_edges_are_normal_to_both(void** state) {
  (void)state;
  World w = world_begin(1e-3, false);
  double quarter = 0.78539816339744831;
  abQuat edge = quat_from_rotvec(v3(quarter, 0, 0));
  abQuat cross = quat_mul(quat_from_rotvec(v3(0, 0, 2 * quarter)), edge);
  world_add_box(&w, half, 1, (abPose){{0, 0, 2 * sqrt(0.5)}, cross});
  world_add_box(&w, half, 1, (abPose){{0, 0, 0}, edge});
  world_start(&w, NULL);
  collide(&w, &near_model);
  assert_int_equal(w.data->internal->npair, 1);
  check_vec_near(w.data->internal->pair[0].patch.normal, v3(0, 0, 1), 1e-9);
  check_near(w.data->internal->pair[0].patch.depth, 0, 1e-12);
  world_free(&w);
}

// A table of a top and two legs, all of one body: a patch for each leg, sorted by geoms.
static void compound_has_a_patch_for_each_part_that_touches(void** state) {
  (void)state;
  abScene* scene = ab_scene_create();
  abGeomDef floor = ab_geom_def();
  floor.type = AB_SHAPE_PLANE, floor.size = v3(1, 1, 1);
  assert_true(ab_scene_add_geom(scene, &floor, NULL) >= 0);
  abBodyDef body = ab_body_def();
  body.pose = at(0, 0, 0.499);
  int table = ab_scene_add_body(scene, &body, NULL);
  abJointDef joint = ab_joint_def();
  joint.body = table, joint.type = AB_JOINT_FREE;
  assert_true(ab_scene_add_joint(scene, &joint, NULL) >= 0);
  for (int i = 0; i < 3; i++) {
    abGeomDef part = ab_geom_def();
    part.body = table, part.type = AB_SHAPE_BOX;
    part.size = i ? v3(0.05, 0.05, 0.25) : v3(0.5, 0.5, 0.05);
    part.pose = i ? at(i == 1 ? -0.4 : 0.4, 0, -0.25) : at(0, 0, 0);
    assert_true(ab_scene_add_geom(scene, &part, NULL) >= 0);
  }
  World w = {.scene = scene};
  w.model = ab_scene_compile(scene, NULL);
  assert_non_null(w.model);
  w.data = ab_data_create(w.model, NULL);
  assert_non_null(w.data);
  collide(&w, &volume);
  assert_int_equal(w.data->internal->npair, 2);
  for (int i = 0; i < 2; i++) {
    const abPair* p = &w.data->internal->pair[i];
    assert_int_equal(p->body2, 0);
    check_near(p->patch.area, 0.01, 1e-13);
    check_near(p->patch.volume, 1e-5, 1e-13);
    check_near(p->patch.center.x, i ? 0.4 : -0.4, 1e-13);
  }
  ab_data_free(w.data);
  ab_model_free(w.model);
  ab_scene_free(scene);
}

static World pile(int n) {
  World w = world_begin(1e-3, true);
  Random r = {21};
  for (int i = 0; i < n; i++) {
    abPose pose = {random_vec(&r, 1.2), random_rotation(&r)};
    pose.p.z += 1;
    switch (i % 3) {
      case 0:
        world_add_box(&w, v3(0.3, 0.2, 0.25), 1, pose);
        break;
      case 1:
        world_add_shape(&w, AB_SHAPE_SPHERE, v3(0.25, 0, 0), 1, pose);
        break;
      default:
        world_add_shape(&w, AB_SHAPE_CYLINDER, v3(0.2, 0.3, 0), 1, pose);
    }
  }
  world_start(&w, NULL);
  return w;
}

static void threads_change_nothing(void** state) {
  (void)state;
  World serial = pile(60);
  collide(&serial, &volume);
  int n = serial.data->internal->npair;
  assert_true(n > 30);
  for (int threads = 2; threads <= 4; threads++) {
    World w = pile(60);
    assert_int_equal(ab_set_threads(w.data, threads, NULL), AB_OK);
    collide(&w, &volume);
    assert_int_equal(w.data->internal->npair, n);
    for (int i = 0; i < n; i++) {
      const abPair *a = &serial.data->internal->pair[i], *b = &w.data->internal->pair[i];
      assert_true(a->key == b->key);
      assert_int_equal(a->patch.nvert, b->patch.nvert);
      assert_memory_equal(a->patch.polygon, b->patch.polygon,
                          sizeof(abVec2) * (size_t)a->patch.nvert);
      assert_memory_equal(&a->patch.area, &b->patch.area, 9 * sizeof(double));
      assert_memory_equal(&a->patch.normal, &b->patch.normal, sizeof(abVec3));
    }
    world_free(&w);
  }
  world_free(&serial);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_overlapping_pairs_are_kept_and_sorted),
      cmocka_unit_test(model_that_wants_pairs_gets_all_candidates),
      cmocka_unit_test(gaps_give_negative_thickness_that_passes_through_zero),
      cmocka_unit_test(out_of_reach_is_no_pair),
      cmocka_unit_test(exactly_touching_stack_has_all_its_contacts),
      cmocka_unit_test(touching_crossed_edges_are_normal_to_both),
      cmocka_unit_test(compound_has_a_patch_for_each_part_that_touches),
      cmocka_unit_test(threads_change_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
