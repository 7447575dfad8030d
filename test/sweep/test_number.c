// Numbers of a scene by name: a scene changed by name is the one of a file with the other number.
#include <abut/abut.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static const char scene_text[] =
    "<mujoco model='numbers'>"
    "  <compiler angle='radian'/>"
    "  <option timestep='0.002' gravity='0 0 -9.81'/>"
    "  <worldbody>"
    "    <geom name='floor' type='plane' size='0 0 1' friction='0.3'/>"
    "    <geom name='wall' type='box' size='0.1 0.5 0.2' pos='0.9 0 0.2'/>"
    "    <body name='cube' pos='0 0 0.1'><freejoint name='free'/>"
    "      <geom name='cube' type='box' size='0.1 0.12 0.1' mass='1.5' friction='0.4'/></body>"
    "    <body name='twin' pos='0 1 0.11'><freejoint/>"
    "      <geom name='left' type='box' size='0.1 0.1 0.1' pos='-0.1 0 0' mass='1'/>"
    "      <geom name='right' type='sphere' size='0.1' pos='0.1 0 0' density='800'/></body>"
    "    <body name='given' pos='0 2 0.2'><freejoint/>"
    "      <inertial pos='0 0 0.01' mass='2' diaginertia='0.02 0.03 0.04'/>"
    "      <geom name='given' type='box' size='0.1 0.1 0.2'/></body>"
    "    <body name='arm' pos='0 -1 0.5'><joint name='hinge' type='hinge' axis='0 1 0'"
    "      damping='0.1' range='-1 1' limited='true'/>"
    "      <geom name='arm' type='capsule' size='0.03 0.2' pos='0 0 -0.2' density='900'/></body>"
    "  </worldbody>"
    "  <contact><pair geom1='floor' geom2='left' friction='0.6 0.6 0.005 0.0001 0.0001'/></contact>"
    "  <actuator><motor name='motor' joint='hinge' gear='2'/></actuator>"
    "  <keyframe><key name='start' qpos='0 0 0.1 1 0 0 0  0 1 0.1 1 0 0 0  0 2 0.2 1 0 0 0  0.5'"
    "    qvel='1 0.5 0 0 0 2  0.3 0 0 0 0 0  0 0.2 0 0 0 0  0' ctrl='0.7'/></keyframe>"
    "</mujoco>";

static void write_text(const char* path, const char* text) {
  FILE* f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

static char* replaced(const char* from, const char* to) {
  const char* at = strstr(scene_text, from);
  assert_non_null(at);
  size_t n = sizeof scene_text + strlen(to);
  char* text = malloc(n);
  snprintf(text, n, "%.*s%s%s", (int)(at - scene_text), scene_text, to, at + strlen(from));
  return text;
}

static abScene* load(const char* text) {
  abError error = {0};
  static const char path[] = ABUT_BINARY_DIR "/test_number.xml";
  write_text(path, text);
  abScene* scene = ab_scene_load(path, NULL, &error);
  if (!scene) fail_msg("%s:%d: %s", error.file, error.line, error.message);
  return scene;
}

static abModel* compile(const abScene* scene) {
  abError error = {0};
  abModel* model = ab_scene_compile(scene, &error);
  if (!model) fail_msg("%s", error.message);
  return model;
}

static uint64_t hash_after(const abModel* model, abData* data, int nstep) {
  ab_data_reset(model, data, 0);
  for (int i = 0; i < nstep; i++) assert_int_not_equal(ab_step(model, data), AB_STEP_BROKEN);
  return ab_state_hash(model, data);
}

typedef struct Change {
  const char* name;
  double value;
  const char *from, *to;  // the same change in the file
} Change;

static const Change change[] = {
    {"geom.cube.friction", 0.75, "mass='1.5' friction='0.4'", "mass='1.5' friction='0.75'"},
    {"geom.floor.friction[0]", 0.9, "size='0 0 1' friction='0.3'", "size='0 0 1' friction='0.9'"},
    {"geom.cube.mass", 2.25, "mass='1.5'", "mass='2.25'"},
    {"body.cube.mass", 0.7, "mass='1.5'", "mass='0.7'"},
    {"body.given.mass", 4, "mass='2' diaginertia='0.02 0.03 0.04'",
     "mass='4' diaginertia='0.04 0.06 0.08'"},
    {"geom.right.density", 1234, "density='800'", "density='1234'"},
    {"geom.left.mass", 3, "pos='-0.1 0 0' mass='1'", "pos='-0.1 0 0' mass='3'"},
    {"geom.cube.size[2]", 0.08, "size='0.1 0.12 0.1'", "size='0.1 0.12 0.08'"},
    {"geom.wall.pos[0]", 0.25, "pos='0.9 0 0.2'", "pos='0.25 0 0.2'"},
    {"body.arm.pos[2]", 0.378, "pos='0 -1 0.5'", "pos='0 -1 0.378'"},
    {"body.cube.pos[0]", 0.2, "name='cube' pos='0 0 0.1'", "name='cube' pos='0.2 0 0.1'"},
    {"joint.hinge.damping", 0.9, "damping='0.1'", "damping='0.9'"},
    {"joint.hinge.range[1]", 0.4, "range='-1 1'", "range='-1 0.4'"},
    {"actuator.motor.gear", 5, "gear='2'", "gear='5'"},
    {"option.timestep", 0.001, "timestep='0.002'", "timestep='0.001'"},
    {"option.gravity[2]", -1.6, "gravity='0 0 -9.81'", "gravity='0 0 -1.6'"},
    {"key.start.qpos[2]", 0.3, "qpos='0 0 0.1 1", "qpos='0 0 0.3 1"},
    {"key.start.qpos[4]", 0.2, "qpos='0 0 0.1 1 0 0 0", "qpos='0 0 0.1 1 0.2 0 0"},
    {"key.start.qvel[0]", -2, "qvel='1 0.5", "qvel='-2 0.5"},
    {"key.start.ctrl[0]", -0.3, "ctrl='0.7'", "ctrl='-0.3'"},
    {"pair.floor.left.friction", 0.1, "friction='0.6 0.6", "friction='0.1 0.1"},
};

// The compiled models are compared as text with every number in full, and the motions by their
// hashes: a simulation that has run with other numbers before must not remember them.
static void a_scene_changed_by_name_is_that_of_the_changed_file(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
    const Change* c = &change[i];
    abError error = {0};
    abNumber number;
    abScene* scene = load(scene_text);
    abModel* model = compile(scene);
    abData* data = ab_data_create(model, &error);
    uint64_t before = hash_after(model, data, 60);
    if (ab_number_find(scene, c->name, &number, &error)) fail_msg("%s", error.message);
    ab_number_set(scene, &number, c->value);
    assert_true(ab_number_get(scene, &number) == c->value);
    if (ab_number_check(scene, &number, &error)) fail_msg("%s: %s", c->name, error.message);
    if (number.reshapes) {
      ab_data_free(data);
      ab_model_free(model);
      model = compile(scene);
      data = ab_data_create(model, &error);
    } else {
      if (ab_scene_recompile(scene, model, &error)) fail_msg("%s: %s", c->name, error.message);
      ab_data_refresh(model, data);
    }
    uint64_t after = hash_after(model, data, 60);
    char* text = replaced(c->from, c->to);
    abScene* other = load(text);
    abModel* wanted = compile(other);
    abData* fresh = ab_data_create(wanted, &error);
    char *a = ab_model_json(model, true), *b = ab_model_json(wanted, true);
    if (strcmp(a, b)) fail_msg("%s: the compiled models differ", c->name);
    if (after != hash_after(wanted, fresh, 60)) fail_msg("%s: the motions differ", c->name);
    // where a body starts is in the keyframe here; everything else shows in the motion
    if (before == after && strcmp(c->name, "body.cube.pos[0]"))
      fail_msg("%s: the change has no effect", c->name);
    ab_json_free(a);
    ab_json_free(b);
    ab_data_free(fresh);
    ab_model_free(wanted);
    ab_scene_free(other);
    free(text);
    ab_data_free(data);
    ab_model_free(model);
    ab_scene_free(scene);
  }
}

// Two geoms, one with a mass and one with a density: the body has the mass that was asked for, and
// they keep their shares.
static void a_body_of_several_geoms_gets_its_mass(void** state) {
  (void)state;
  abError error = {0};
  abNumber number;
  abScene* scene = load(scene_text);
  abModel* before = compile(scene);
  assert_int_equal(ab_number_find(scene, "body.twin.mass", &number, &error), AB_OK);
  int twin = ab_find_body(before, "twin"), left = ab_find_geom(before, "left");
  check_near(ab_number_get(scene, &number), before->body[twin].mass, 1e-15 * 5);
  ab_number_set(scene, &number, 7);
  abModel* after = compile(scene);
  // a sum of two shares, each rounded
  check_near(after->body[twin].mass, 7, 4e-15 * 7);
  check_near(after->geom[left].mass / 7, before->geom[left].mass / before->body[twin].mass, 1e-15);
  check_vec_near(after->body[twin].com, before->body[twin].com, 1e-15);
  ab_model_free(before);
  ab_model_free(after);
  ab_scene_free(scene);
}

static void check_refused(const char* name, const char* reason) {
  abError error = {0};
  abNumber number;
  abScene* scene = load(scene_text);
  assert_int_not_equal(ab_number_find(scene, name, &number, &error), AB_OK);
  if (!strstr(error.message, reason)) fail_msg("%s: %s", name, error.message);
  ab_scene_free(scene);
}

static void misspelt_names_get_proposals(void** state) {
  (void)state;
  check_refused("geom.cubee.friction", "did you mean 'cube'?");
  check_refused("geom.cube.frction", "did you mean 'friction'?");
  check_refused("geoms.cube.friction", "did you mean 'geom'?");
  check_refused("key.strat.qpos[0]", "did you mean 'start'?");
  check_refused("pair.floor.lefft.friction", "did you mean 'floor.left'?");
  check_refused("friction", "geom.box.friction");
  check_refused("geom.friction", "missing");
  check_refused("", "geom.box.friction");
}

static void what_would_change_nothing_is_refused(void** state) {
  (void)state;
  check_refused("geom.given.mass", "inertial");
  check_refused("geom.cube.density", "mass");
  check_refused("geom.wall.mass", "world");
  check_refused("geom.right.size[1]", "no use");
  check_refused("geom.floor.size[0]", "no use");
}

static void wrong_indices_are_refused(void** state) {
  (void)state;
  check_refused("geom.cube.size", "[0] to [2]");
  check_refused("geom.cube.size[3]", "[0] to [2]");
  check_refused("geom.cube.mass[0]", "leave the brackets out");
  check_refused("key.start.qpos[22]", "[0] to [21]");
  check_refused("key.start.qpos[-1]", "[0] to [21]");
  check_refused("key.start.qpos[1]x", "[0] to [21]");
}

static void values_that_make_no_sense_are_found(void** state) {
  (void)state;
  static const struct {
    const char* name;
    double value;
  } bad[] = {
      {"geom.cube.friction", -1},  {"geom.cube.size[0]", 0},    {"geom.cube.mass", -2},
      {"body.cube.mass", -2},      {"geom.cube.mu_static", -1}, {"joint.hinge.range[0]", 2},
      {"joint.hinge.damping", -1}, {"key.start.qpos[0]", NAN},  {"geom.cube.restitution", 2}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    abError error = {0};
    abNumber number;
    abScene* scene = load(scene_text);
    assert_int_equal(ab_number_find(scene, bad[i].name, &number, &error), AB_OK);
    ab_number_set(scene, &number, bad[i].value);
    if (ab_number_check(scene, &number, &error) == AB_OK) fail_msg("%s", bad[i].name);
    assert_true(error.message[0] != 0);
    ab_scene_free(scene);
  }
}

static void a_model_is_not_replaced_by_one_of_another_size(void** state) {
  (void)state;
  abError error = {0};
  abScene* scene = load(scene_text);
  abModel* model = compile(scene);
  abGeomDef more = ab_geom_def();
  more.size.x = 0.1;
  assert_true(ab_scene_add_geom(scene, &more, &error) >= 0);
  assert_int_equal(ab_scene_recompile(scene, model, &error), AB_ERROR_ARGUMENT);
  ab_model_free(model);
  ab_scene_free(scene);
}

// The numbers that a short keyframe leaves out can be set, too, and it is the same otherwise.
static void the_end_of_a_short_keyframe_can_be_set(void** state) {
  (void)state;
  char* text =
      replaced("qpos='0 0 0.1 1 0 0 0  0 1 0.1 1 0 0 0  0 2 0.2 1 0 0 0  0.5'", "qpos='0 0 3'");
  abScene* scene = load(text);
  abError error = {0};
  abNumber number;
  assert_int_equal(ab_number_find(scene, "key.start.qpos[8]", &number, &error), AB_OK);
  ab_number_set(scene, &number, 7);
  abModel* model = compile(scene);
  assert_true(model->key_q[2] == 3);
  assert_true(model->key_q[8] == 7);
  for (int i = 0; i < model->nq; i++)
    if (i != 2 && i != 8) assert_true(model->key_q[i] == model->q0[i]);
  ab_model_free(model);
  ab_scene_free(scene);
  free(text);
}

int main(void) {
  const struct CMUnitTest test[] = {
      cmocka_unit_test(a_scene_changed_by_name_is_that_of_the_changed_file),
      cmocka_unit_test(a_body_of_several_geoms_gets_its_mass),
      cmocka_unit_test(misspelt_names_get_proposals),
      cmocka_unit_test(what_would_change_nothing_is_refused),
      cmocka_unit_test(wrong_indices_are_refused),
      cmocka_unit_test(values_that_make_no_sense_are_found),
      cmocka_unit_test(a_model_is_not_replaced_by_one_of_another_size),
      cmocka_unit_test(the_end_of_a_short_keyframe_can_be_set),
  };
  return cmocka_run_group_tests(test, NULL, NULL);
}
