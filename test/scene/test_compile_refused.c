// The compiler: what it refuses, and what it says when memory runs out.
#include <abut/abut.h>
#include <stdlib.h>
#include <string.h>

#include "math/rotation.h"
#include "scene/small_scene.h"
#include "support/check.h"

static const abSource here = {"scene.xml", 17};

static void expect_refused(abScene* s, const char* word) {
  abError error = {0};
  assert_null(ab_scene_compile(s, &error));
  assert_int_equal(error.code, AB_ERROR_SCENE);
  if (!strstr(error.message, word)) fail_msg("\"%s\" does not say \"%s\"", error.message, word);
  assert_string_equal(error.file, here.file);
  assert_int_equal(error.line, here.line);
  ab_scene_free(s);
}

static abScene* with_body(const abBodyDef* def, abJointType type, int njoint) {
  abScene* s = ab_scene_create();
  abBodyDef d = *def;
  d.source = here;
  int b = ab_scene_add_body(s, &d, NULL);
  for (int i = 0; i < njoint; i++) {
    abJointDef j = ab_joint_def();
    j.body = b;
    j.type = type;
    j.source = here;
    ab_scene_add_joint(s, &j, NULL);
  }
  return s;
}

static void impossible_bodies_are_refused(void** state) {
  (void)state;
  abBodyDef d = ab_body_def();
  expect_refused(with_body(&d, AB_JOINT_HINGE, 1), "no mass");
  expect_refused(with_body(&d, AB_JOINT_FREE, 2), "only joint");
  expect_refused(with_body(&d, AB_JOINT_HINGE, 7), "more than 6");
  d.has_inertial = true;
  d.mass = 1;
  expect_refused(with_body(&d, AB_JOINT_FREE, 1), "singular");
  d.inertia[0] = d.inertia[1] = 1;
  expect_refused(with_body(&d, AB_JOINT_SLIDE, 1), "singular");
  d.inertia[2] = 2.1;
  expect_refused(with_body(&d, AB_JOINT_FREE, 1), "balanceinertia");
  d.inertia[2] = 2;
  abScene* flat = with_body(&d, AB_JOINT_FREE, 1);  // on the edge of what is possible
  abModel* m = compile(flat);
  ab_model_free(m);
  ab_scene_free(flat);
  d.inertia[3] = 1.5;
  expect_refused(with_body(&d, AB_JOINT_FREE, 1), "negative");
}

static void misplaced_joints_and_planes_are_refused(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  int a = body(s, 0, pose_identity());
  geom(s, a, AB_SHAPE_SPHERE, v3(1, 0, 0), pose_identity());
  abJointDef j = ab_joint_def();
  j.body = body(s, a, pose_identity());
  j.type = AB_JOINT_FREE;
  j.source = here;
  ab_scene_add_joint(s, &j, NULL);
  expect_refused(s, "directly below the world");
  s = ab_scene_create();
  a = body(s, 0, pose_identity());
  joint(s, a, AB_JOINT_HINGE);
  abGeomDef g = ab_geom_def();
  g.body = body(s, a, pose_identity());  // welded to what moves
  g.type = AB_SHAPE_PLANE;
  g.source = here;
  ab_scene_add_geom(s, &g, NULL);
  expect_refused(s, "plane cannot move");
}

static void flat_and_open_meshes_are_refused(void** state) {
  (void)state;
  static const abVec3 square[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  static const abVec3 tetra[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const int inward[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  for (int i = 0; i < 3; i++) {
    abScene* s = ab_scene_create();
    abMeshDef d = ab_mesh_def();
    d.name = "sheet";
    d.nvert = i == 1 ? 3 : 4;
    d.vert = i == 2 ? tetra : square;
    d.source = here;
    if (i == 2) d.ntriangle = 4, d.triangle = inward, d.inertia = AB_MESH_INERTIA_EXACT;
    ab_scene_add_mesh(s, &d, NULL);
    abGeomDef g = ab_geom_def();
    g.body = body(s, 0, pose_identity());
    g.type = AB_SHAPE_MESH;
    g.mesh = 0;
    g.source = here;
    ab_scene_add_geom(s, &g, NULL);
    expect_refused(s, i == 0 ? "one plane" : i == 1 ? "3 points" : "negative volume");
  }
}

static void keyframes_that_are_too_long_are_refused(void** state) {
  (void)state;
  double x[8] = {0};
  for (int i = 0; i < 5; i++) {
    abScene* s = ab_scene_create();
    int b = body(s, 0, pose_identity());
    joint(s, b, AB_JOINT_FREE);
    geom(s, b, AB_SHAPE_SPHERE, v3(1, 0, 0), pose_identity());
    abKeyDef d = ab_key_def();
    d.source = here;
    if (i == 0) d.nq = 8, d.q = x;
    if (i == 1) d.nv = 7, d.v = x;
    if (i == 2) d.nctrl = 1, d.ctrl = x;
    if (i == 3) d.nmpos = 3, d.mpos = x;
    if (i == 4) d.nmquat = 4, d.mquat = x;
    ab_scene_add_key(s, &d, NULL);
    static const char* const word[] = {"qpos has 8", "qvel has 7", "ctrl has 1", "mpos has 3",
                                       "mquat has 4"};
    expect_refused(s, word[i]);
  }
}

static void impossible_options_are_refused(void** state) {
  (void)state;
  for (int i = 0; i < 6; i++) {
    abScene* s = ab_scene_create();
    abSceneOption* o = ab_scene_option(s);
    if (i == 0) o->timestep = 0;
    if (i == 1) o->timestep = NAN;
    if (i == 2) o->gravity.x = INFINITY;
    if (i == 3) o->tessellation = 0;
    if (i == 4) o->boundmass = -1;
    if (i == 5) o->boundinertia = NAN;
    abError error = {0};
    assert_null(ab_scene_compile(s, &error));
    assert_int_equal(error.code, AB_ERROR_SCENE);
    ab_scene_free(s);
  }
}

// --- memory ---

static int allowed, live;

static void* limited_alloc(size_t bytes) {
  if (allowed-- <= 0) return NULL;
  live++;
  return malloc(bytes);
}

static void* limited_realloc(void* p, size_t bytes) {
  if (allowed-- <= 0) return NULL;
  if (!p) live++;
  return realloc(p, bytes);
}

static void counted_free(void* p) {
  live--;
  free(p);
}

static void build_and_compile(abError* error) {
  static const abVec3 point[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  abScene* s = ab_scene_create();
  if (!s) {
    error->code = AB_ERROR_MEMORY;
    return;
  }
  abMeshDef mesh = ab_mesh_def();
  abBodyDef b = ab_body_def();
  abJointDef j = ab_joint_def();
  abGeomDef g = ab_geom_def();
  abKeyDef k = ab_key_def();
  double v = 1;
  b.name = "link", mesh.name = "rock";
  mesh.nvert = 5, mesh.vert = point;
  g.mesh = 0, g.body = j.body = 1, g.size.x = 1;
  k.nv = 1, k.v = &v;
  bool good = ab_scene_add_mesh(s, &mesh, error) >= 0 && ab_scene_add_body(s, &b, error) >= 0 &&
              ab_scene_add_joint(s, &j, error) >= 0 && ab_scene_add_geom(s, &g, error) >= 0;
  g.type = AB_SHAPE_MESH;
  good = good && ab_scene_add_geom(s, &g, error) >= 0 && ab_scene_add_key(s, &k, error) >= 0 &&
         !ab_scene_set(s, "tolerance", 1, error);
  abModel* m = good ? ab_scene_compile(s, error) : NULL;
  ab_model_free(m);
  ab_scene_free(s);
  assert_true((m == NULL) == (error->code != AB_OK));
}

// Whichever allocation fails, the scene or the model says so and gives everything back.
static void running_out_of_memory_is_reported(void** state) {
  (void)state;
  ab_set_allocator((abAllocator){limited_alloc, limited_realloc, counted_free});
  int refused = 0;
  for (int limit = 0;; limit++) {
    abError error = {0};
    allowed = limit;
    live = 0;
    build_and_compile(&error);
    assert_int_equal(live, 0);
    if (error.code == AB_OK) break;
    assert_int_equal(error.code, AB_ERROR_MEMORY);
    refused++;
  }
  ab_set_allocator((abAllocator){malloc, realloc, free});
  assert_true(refused > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impossible_bodies_are_refused),
      cmocka_unit_test(misplaced_joints_and_planes_are_refused),
      cmocka_unit_test(flat_and_open_meshes_are_refused),
      cmocka_unit_test(keyframes_that_are_too_long_are_refused),
      cmocka_unit_test(impossible_options_are_refused),
      cmocka_unit_test(running_out_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
