// Building scenes in code: defaults, copies, and what a definition is refused for.
#include <abut/scene.h>
#include <stdio.h>
#include <string.h>

#include "math/rotation.h"
#include "support/check.h"

static abScene* scene;
static int body1, hinge1, geom1;
static const abSource here = {"scene.xml", 42};

static int create(void** state) {
  (void)state;
  scene = ab_scene_create();
  abBodyDef b = ab_body_def();
  b.name = "link";
  body1 = ab_scene_add_body(scene, &b, NULL);
  abJointDef j = ab_joint_def();
  j.body = body1;
  j.name = "pin";
  hinge1 = ab_scene_add_joint(scene, &j, NULL);
  abGeomDef g = ab_geom_def();
  g.body = body1;
  g.size = v3(1, 0, 0);
  g.name = "ball";
  geom1 = ab_scene_add_geom(scene, &g, NULL);
  return scene && body1 == 1 && hinge1 == 0 && geom1 == 0 ? 0 : -1;
}

static int destroy(void** state) {
  (void)state;
  ab_scene_free(scene);
  return 0;
}

static void defaults_are_those_of_mjcf(void** state) {
  (void)state;
  abGeomDef g = ab_geom_def();
  assert_int_equal(g.type, AB_SHAPE_SPHERE);
  check_near(g.density, 1000, 0);
  check_near(g.friction[0], 1, 0);
  check_near(g.friction[1], 0.005, 0);
  check_near(g.friction[2], 0.0001, 0);
  assert_int_equal(g.contype, 1);
  assert_int_equal(g.conaffinity, 1);
  assert_int_equal(g.condim, 3);
  assert_true(g.mass < 0 && g.mu_static < 0 && g.e_r < 0);
  abJointDef j = ab_joint_def();
  assert_int_equal(j.type, AB_JOINT_HINGE);
  check_vec_near(j.axis, v3(0, 0, 1), 0);
  abSceneOption* o = ab_scene_option(scene);
  check_vec_near(o->gravity, v3(0, 0, -9.81), 0);
  check_near(o->timestep, 0.002, 0);
  abActuatorDef a = ab_actuator_def();
  check_near(a.gear[0], 1, 0);
  check_near(a.gainprm[0], 1, 0);
  abPairDef p = ab_pair_def();
  check_near(p.friction[1], 1, 0);
  check_near(p.friction[2], 0.005, 0);
}

static void names_are_copied_and_found(void** state) {
  (void)state;
  char name[] = "first", file[] = "a.xml";
  abBodyDef b = ab_body_def();
  b.name = name;
  b.source = (abSource){file, 3};
  int i = ab_scene_add_body(scene, &b, NULL);
  memset(name, 'x', 5);
  memset(file, 'x', 5);
  assert_int_equal(ab_scene_find_body(scene, "first"), i);
  assert_int_equal(ab_scene_find_body(scene, "xxxxx"), -1);
  assert_int_equal(ab_scene_find_body(scene, "world"), 0);
  assert_int_equal(ab_scene_find_joint(scene, "pin"), hinge1);
  assert_int_equal(ab_scene_find_geom(scene, "ball"), geom1);
  assert_int_equal(ab_scene_find_mesh(scene, "ball"), -1);
}

static void many_names_are_told_apart(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  for (int i = 0; i < 2000; i++) {
    char name[32];
    snprintf(name, sizeof name, "part_%d", i);
    abBodyDef b = ab_body_def();
    b.name = name;
    assert_int_equal(ab_scene_add_body(s, &b, NULL), i + 1);
  }
  assert_int_equal(ab_scene_find_body(s, "part_1234"), 1235);
  assert_int_equal(ab_scene_find_body(s, "part_2000"), -1);
  ab_scene_free(s);
}

static void refused(int result, const abError* error, const char* word) {
  assert_int_equal(result, -1);
  assert_int_equal(error->code, AB_ERROR_SCENE);
  assert_string_equal(error->file, here.file);
  assert_int_equal(error->line, here.line);
  if (!strstr(error->message, word)) fail_msg("\"%s\" does not say \"%s\"", error->message, word);
}

#define REFUSED(add, def, change, word)              \
  do {                                               \
    abError error = {0};                             \
    def.source = here;                               \
    change;                                          \
    refused(add(scene, &def, &error), &error, word); \
  } while (0)

static void bad_bodies_are_refused(void** state) {
  (void)state;
#define BODY(change, word)                       \
  do {                                           \
    abBodyDef d = ab_body_def();                 \
    REFUSED(ab_scene_add_body, d, change, word); \
  } while (0)
  BODY(d.name = "link", "taken");
  BODY(d.name = "world", "taken");
  BODY(d.parent = 99, "refers to body 99");
  BODY(d.parent = -1, "refers to body -1");
  BODY(d.pose.p.x = NAN, "finite");
  BODY(d.pose.q = ((abQuat){0, 0, 0, 0}), "quaternion");
  BODY((d.has_inertial = true, d.mass = -1), "mass is -1");
  BODY((d.has_inertial = true, d.mass = NAN), "mass is");
  BODY((d.has_inertial = true, d.mass = 1, d.inertia[4] = INFINITY), "inertia");
}

static void bad_joints_are_refused(void** state) {
  (void)state;
#define JOINT(change, word)                       \
  do {                                            \
    abJointDef d = ab_joint_def();                \
    d.body = body1;                               \
    REFUSED(ab_scene_add_joint, d, change, word); \
  } while (0)
  JOINT(d.name = "pin", "taken");
  JOINT(d.body = 77, "refers to body 77");
  JOINT(d.body = 0, "world");
  JOINT(d.axis = v3_zero(), "axis is zero");
  JOINT(d.axis.x = NAN, "finite");
  JOINT((d.limited = true, d.range[0] = 1, d.range[1] = 0), "range");
  JOINT((d.limited = true, d.type = AB_JOINT_FREE), "no limits");
  JOINT((d.limited = true, d.type = AB_JOINT_BALL, d.range[0] = 0.1, d.range[1] = 1), "begin at 0");
  JOINT(d.damping = -1, "damping");
  JOINT(d.armature = -1, "armature");
  JOINT(d.stiffness = NAN, "stiffness");
  JOINT(d.frictionloss = -1e-9, "frictionloss");
}

static void bad_geoms_are_refused(void** state) {
  (void)state;
#define GEOM(change, word)                       \
  do {                                           \
    abGeomDef d = ab_geom_def();                 \
    d.body = body1;                              \
    d.size = v3(1, 1, 1);                        \
    REFUSED(ab_scene_add_geom, d, change, word); \
  } while (0)
  GEOM(d.name = "ball", "taken");
  GEOM(d.body = 5000, "refers to body");
  GEOM(d.size.x = 0, "radius");
  GEOM(d.size.x = NAN, "radius");
  GEOM((d.type = AB_SHAPE_BOX, d.size.z = -1), "three half lengths");
  GEOM((d.type = AB_SHAPE_CAPSULE, d.size.y = 0), "half length");
  GEOM((d.type = AB_SHAPE_CYLINDER, d.size.y = INFINITY), "half length");
  GEOM((d.type = AB_SHAPE_ELLIPSOID, d.size.y = 0), "three radii");
  GEOM(d.type = AB_SHAPE_MESH, "refers to mesh -1");
  GEOM(d.density = -1, "density");
  GEOM(d.mass = NAN, "mass");
  GEOM(d.condim = 2, "condim");
  GEOM(d.friction[0] = -0.1, "friction");
  GEOM(d.friction[1] = NAN, "torsional");
  GEOM(d.restitution = 1.5, "restitution");
  GEOM(d.e_t = 0, "e_t");
  GEOM(d.pose.q = ((abQuat){0, 0, 0, 0}), "quaternion");
}

static void bad_meshes_are_refused(void** state) {
  (void)state;
  static const abVec3 vert[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const abVec3 nan_vert[4] = {{0, 0, 0}, {1, 0, NAN}, {0, 1, 0}, {0, 0, 1}};
  static const int triangle[1][3] = {{0, 1, 4}};
#define MESH(change, word)                       \
  do {                                           \
    abMeshDef d = ab_mesh_def();                 \
    d.nvert = 4, d.vert = vert;                  \
    REFUSED(ab_scene_add_mesh, d, change, word); \
  } while (0)
  MESH(d.nvert = 0, "neither");
  MESH(d.scale.y = 0, "scale");
  MESH(d.scale.y = NAN, "scale");
  MESH(d.vert = nan_vert, "vertex 1");
  MESH((d.ntriangle = 1, d.triangle = triangle), "names vertex 4");
  abMeshDef d = ab_mesh_def();
  d.file = "/nowhere/mesh.stl";
  d.name = "part";
  d.source = here;
  abError error = {0};
  assert_int_equal(ab_scene_add_mesh(scene, &d, &error), -1);
  assert_int_equal(error.code, AB_ERROR_FILE);
  assert_string_equal(error.file, here.file);
  assert_int_equal(error.line, here.line);
  assert_non_null(strstr(error.message, "/nowhere/mesh.stl"));
  assert_non_null(strstr(error.message, "'part'"));
}

static void bad_actuators_keys_and_pairs_are_refused(void** state) {
  (void)state;
  double bad[2] = {1, NAN};
#define ACTUATOR(change, word)                       \
  do {                                               \
    abActuatorDef d = ab_actuator_def();             \
    d.joint = hinge1;                                \
    REFUSED(ab_scene_add_actuator, d, change, word); \
  } while (0)
  ACTUATOR(d.joint = -1, "refers to joint");
  ACTUATOR(d.gear[2] = NAN, "gear");
  ACTUATOR(d.gainprm[0] = INFINITY, "gainprm");
  ACTUATOR((d.ctrl_limited = true, d.ctrl_range[0] = 2, d.ctrl_range[1] = 1), "ctrlrange");
  abKeyDef k = ab_key_def();
  REFUSED(ab_scene_add_key, k, (k.nq = 2, k.q = bad), "qpos");
  abPairDef p = ab_pair_def();
  REFUSED(ab_scene_add_pair, p, (p.geom1 = geom1, p.geom2 = 99), "refers to geom 99");
  p = ab_pair_def();
  REFUSED(ab_scene_add_pair, p, (p.geom1 = geom1, p.geom2 = geom1), "itself");
  abError error = {0};
  assert_int_equal(ab_scene_add_exclude(scene, 0, 4444, &error), -1);
  assert_int_equal(error.code, AB_ERROR_SCENE);
  assert_int_equal(ab_scene_set(scene, "stiffness", NAN, &error), AB_ERROR_SCENE);
}

static void a_parameter_set_twice_has_its_last_value(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  ab_scene_set(s, "gyro", 1, NULL);
  ab_scene_set(s, "e_r", 3, NULL);
  ab_scene_set(s, "gyro", 0, NULL);
  abModel* m = ab_scene_compile(s, NULL);
  assert_int_equal(m->nsetting, 2);
  assert_string_equal(m->setting[0].name, "gyro");
  check_near(m->setting[0].value, 0, 0);
  check_near(m->setting[1].value, 3, 0);
  ab_model_free(m);
  ab_scene_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_are_those_of_mjcf),
      cmocka_unit_test(names_are_copied_and_found),
      cmocka_unit_test(many_names_are_told_apart),
      cmocka_unit_test(bad_bodies_are_refused),
      cmocka_unit_test(bad_joints_are_refused),
      cmocka_unit_test(bad_geoms_are_refused),
      cmocka_unit_test(bad_meshes_are_refused),
      cmocka_unit_test(bad_actuators_keys_and_pairs_are_refused),
      cmocka_unit_test(a_parameter_set_twice_has_its_last_value),
  };
  return cmocka_run_group_tests(tests, create, destroy);
}
