// What a scene says about its laws: everything wrong with a file is told at once, what the step
// does not do is refused where a simulation begins and not before, bodies are moved from outside,
// and geoms that touch nothing are marked.
#include "support/check.h"

#include <abut/abut.h>
#include <stdio.h>
#include <string.h>

#include "math/rotation.h"
#include "scene/mjcf/mjcf.h"

static abModel* load_noted(const char* text, abNotes* notes) {
  abError error = {0};
  abScene* scene = ab_scene_load_memory("text", text, strlen(text), notes, &error);
  if (!scene) fail_msg("line %d: %s", error.line, error.message);
  abModel* model = ab_scene_compile(scene, &error);
  ab_scene_free(scene);
  if (!model) fail_msg("line %d: %s", error.line, error.message);
  return model;
}

static abModel* load(const char* text) { return load_noted(text, NULL); }

// --- problems ------------------------------------------------------------------------------------

static int line_of(const abNotes* notes, const char* word) {
  for (int i = 0; i < notes->nproblem; i++)
    if (strstr(notes->problem[i].message, word)) return notes->problem[i].line;
  return 0;
}

static void everything_wrong_with_a_file_is_told_at_once(void** state) {
  (void)state;
  const char* text =
      "<mujoco>\n"
      "<option wind='1 0 0' density='3'/>\n"
      "<default><geom colour='1'/></default>\n"
      "<worldbody>\n"
      "<body name='a' gravcomp='.5'>\n"
      "<joint name='j'/><joint name='k' springdamper='1 2'/>\n"
      "<geom size='1' adhesion='2'/></body>\n"
      "</worldbody>\n"
      "<tendon><spatial name='s' stiffness='1'/></tendon>\n"
      "<actuator><muscle joint='j'/><motor joint='k'/>\n"
      "<motor joint='l'/></actuator></mujoco>";
  abNotes notes;
  abError error = {0};
  assert_null(ab_scene_load_memory("text", text, strlen(text), &notes, &error));
  assert_int_equal(line_of(&notes, "wind"), 2);
  assert_int_equal(line_of(&notes, "density"), 2);
  assert_int_equal(line_of(&notes, "colour"), 3);
  assert_int_equal(line_of(&notes, "gravcomp"), 5);
  assert_int_equal(line_of(&notes, "springdamper"), 6);
  assert_int_equal(line_of(&notes, "adhesion"), 7);
  assert_int_equal(line_of(&notes, "spatial"), 9);
  assert_int_equal(line_of(&notes, "<muscle>"), 10);
  assert_int_equal(line_of(&notes, "joint=\"l\""), 11);
  // that joint k is missing follows from line 6 and is no problem of its own
  assert_int_equal(line_of(&notes, "joint=\"k\""), 0);
  assert_int_equal(notes.nproblem, 9);
  assert_int_equal(notes.n, 0);
  assert_string_equal(error.message, notes.problem[0].message);
  ab_notes_free(&notes);
  assert_int_equal(notes.nproblem, 0);
}

static void everything_wrong_with_a_urdf_is_told_at_once(void** state) {
  (void)state;
  const char* text =
      "<robot name='r'>\n<link name='a'/>\n<link name='b'><inertial><mass value='x'/>\n"
      "<inertia ixx='1' iyy='1' izz='1'/></inertial>\n<collision/></link>\n"
      "<joint name='j' type='revolvt'><parent link='a'/><child link='b'/></joint>\n</robot>";
  abNotes notes;
  assert_null(ab_scene_load_memory("text", text, strlen(text), &notes, NULL));
  assert_int_equal(line_of(&notes, "type"), 6);
  assert_true(notes.nproblem >= 1);
  ab_notes_free(&notes);
}

static void what_is_wrong_a_thousand_times_ends(void** state) {
  (void)state;
  static char text[70000] = "<mujoco><worldbody>";
  for (int i = 0; i < 1000; i++) strcat(text, "\n<geom size='-1' adhesion='1'/>");
  strcat(text, "</worldbody></mujoco>");
  abNotes notes;
  assert_null(ab_scene_load_memory("text", text, strlen(text), &notes, NULL));
  assert_in_range(notes.nproblem, 50, 200);
  assert_int_equal(notes.problem[7].line, 9);
  ab_notes_free(&notes);
}

// --- laws the step does not do -------------------------------------------------------------------

#define TWO                                                                                \
  "<worldbody><body><joint name='j'/><geom size='.1' pos='1 0 0'/><site name='s'/></body>" \
  "<body pos='5 0 0'><joint name='k'/><geom size='.1' pos='1 0 0'/></body></worldbody>"

// All of them run with patch and without contact; the other models refuse what joins bodies or
// joints, by name.
static void laws_that_a_contact_model_does_not_do_are_refused_by_name(void** state) {
  (void)state;
  static const struct {
    const char *text, *word;  // word NULL: it runs with every model
  } laws[] = {
      {"<equality><joint name='e' joint1='j' joint2='k'/></equality>", "equality 'e'"},
      {"<equality><joint joint1='j' joint2='k' active='false'/></equality>", NULL},
      {"<tendon><fixed name='t' stiffness='1'><joint joint='j' coef='1'/></fixed></tendon>",
       "tendon 't'"},
      {"<tendon><fixed name='t' range='0 1'><joint joint='j' coef='1'/></fixed></tendon>",
       "tendon 't'"},
      {"<tendon><fixed name='t'><joint joint='j' coef='1'/></fixed></tendon>", NULL},
      {"<actuator><motor name='m' site='s'/></actuator>", NULL},
      {"<actuator><velocity name='m' site='s' kv='1'/></actuator>", "actuator 'm'"},
      {"<option><flag equality='disable'/></option><equality><joint joint1='j'/></equality>", NULL},
  };
  for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
    char text[1000];
    snprintf(text, sizeof text, "<mujoco>" TWO "%s</mujoco>", laws[i].text);
    abModel* m = load(text);
    abError error = {0};
    abData* d = ab_data_create(m, &error);
    if (!d) fail_msg("%s: %s", laws[i].text, error.message);
    assert_int_equal(ab_set_contact(m, d, "none", &error), AB_OK);
    for (int k = 0; k < ab_contact_model_count(); k++) {
      const abContactModel* contact = ab_contact_model(k);
      if (contact->takes_rows || contact->moves_bodies) continue;
      abStatus status = ab_set_contact(m, d, contact->name, &error);
      if ((status != AB_OK) != (laws[i].word != NULL)) fail_msg("%s", laws[i].text);
      if (status == AB_OK) continue;
      assert_int_equal(status, AB_ERROR_UNSUPPORTED);
      if (!strstr(error.message, laws[i].word)) fail_msg("%s", error.message);
    }
    ab_data_free(d);
    ab_model_free(m);
  }
}

// --- bodies moved from outside -------------------------------------------------------------------

static void a_mocap_body_is_where_it_is_put_and_pushes_what_it_meets(void** state) {
  (void)state;
  abModel* m = load(
      "<mujoco><worldbody><geom type='plane' size='5 5 1'/>"
      "<body name='hand' mocap='true' pos='0 0 .5'><geom type='box' size='.1 .1 .1'/>"
      "<body name='finger' pos='0 0 1'/></body>"
      "<body name='box' pos='0 0 .75'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
      "</worldbody><keyframe><key mpos='1 2 3'/></keyframe></mujoco>");
  abError error = {0};
  abData* d = ab_data_create(m, &error);
  assert_non_null(d);
  int hand = ab_find_body(m, "hand"), finger = ab_find_body(m, "finger"),
      box = ab_find_body(m, "box");
  assert_int_equal(m->nmocap, 1);
  assert_int_equal(m->mocap_body[0], hand);
  for (int i = 0; i < 1000; i++) ab_step(m, d);  // 2 s: the box falls 0.05 m and rests on the hand
  assert_int_equal(d->stat.status, AB_STEP_OK);
  check_near(d->pose[box].p.z, 0.7, 1e-3);  // the depth of a resting contact is far below
  d->mocap_pos[0].x = 3;                    // the hand is gone: the box falls to the plane
  ab_step(m, d);
  check_vec_near(d->pose[hand].p, v3(3, 0, 0.5), 0);
  check_vec_near(d->pose[finger].p, v3(3, 0, 1.5), 1e-15);  // one addition
  for (int i = 0; i < 1000; i++) ab_step(m, d);
  check_near(d->pose[box].p.z, 0.1, 1e-3);
  assert_int_equal(ab_data_reset(m, d, 0), AB_OK);
  check_vec_near(d->pose[hand].p, v3(1, 2, 3), 0);
  ab_data_free(d);
  ab_model_free(m);
}

// --- small things --------------------------------------------------------------------------------

static void geoms_that_can_never_touch_are_marked(void** state) {
  (void)state;
  abModel* m = load(
      "<mujoco><worldbody><geom name='a' size='1' contype='0' conaffinity='0'/>"
      "<geom name='b' size='1' contype='0'/><geom name='c' size='1' conaffinity='0'/>"
      "<geom name='d' size='1' contype='0' conaffinity='0'/></worldbody>"
      "<contact><pair geom1='d' geom2='b'/></contact></mujoco>");
  assert_false(m->geom[0].collides);
  for (int i = 1; i < 4; i++) assert_true(m->geom[i].collides);
  ab_model_free(m);
}

static void blanks_before_the_declaration_and_hyphens_in_comments_are_read(void** state) {
  (void)state;
  abNotes notes;
  abModel* m = load_noted(
      " \n\n<?xml version='1.0'?>\n<!-- a -- b --- -->\n<mujoco><!----><worldbody>\n"
      "<geom size='1' solref='.01 1'/></worldbody></mujoco>",
      &notes);
  assert_int_equal(m->ngeom, 1);
  assert_int_equal(notes.n, 1);
  assert_int_equal(notes.note[0].line, 6);  // lines are those of the file
  ab_notes_free(&notes);
  ab_model_free(m);
}

static void a_flat_mesh_may_be_drawn_but_not_touched(void** state) {
  (void)state;
  const char* form =
      "<mujoco><asset><mesh name='m' inertia='shell' vertex='0 0 0 1 0 0 0 1 0 1 1 0' "
      "face='0 1 2 1 3 2'/></asset><worldbody><body><freejoint/><geom type='mesh' mesh='m' %s/>"
      "</body></worldbody></mujoco>";
  char text[1000];
  snprintf(text, sizeof text, form, "contype='0' conaffinity='0'");
  abModel* m = load(text);
  // a square of 1000 kg/m2, as MuJoCo has it
  check_near(m->body[1].mass, 1000, 1e-9 * 1000);
  check_vec_near(m->body[1].com, v3(0.5, 0.5, 0), 1e-12);
  ab_model_free(m);
  snprintf(text, sizeof text, form, "");
  abError error = {0};
  abScene* scene = ab_scene_load_memory("text", text, strlen(text), NULL, &error);
  assert_non_null(scene);
  assert_null(ab_scene_compile(scene, &error));
  assert_non_null(strstr(error.message, "one plane"));
  ab_scene_free(scene);
}

// A hinge with gain kp on an inertia I about its axis: kv = 2 r sqrt(kp I).
static void a_damping_ratio_becomes_a_velocity_gain(void** state) {
  (void)state;
  abModel* m = load(
      "<mujoco><worldbody><body><joint name='j' axis='0 1 0' armature='.25'/>"
      "<inertial pos='2 0 0' mass='3' diaginertia='1 1 1'/></body></worldbody>"
      "<actuator><position joint='j' kp='9' dampratio='.5'/>"
      "<position joint='j' kp='9' dampratio='.5' gear='2'/></actuator></mujoco>");
  double inertia = 1 + 3 * 4 + 0.25, kv = 2 * 0.5 * sqrt(9 * inertia);
  check_near(m->actuator[0].biasprm[2], -kv, 1e-14 * kv);
  check_near(m->actuator[1].biasprm[2], -kv / 2, 1e-14 * kv);
  ab_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_wrong_with_a_file_is_told_at_once),
      cmocka_unit_test(everything_wrong_with_a_urdf_is_told_at_once),
      cmocka_unit_test(what_is_wrong_a_thousand_times_ends),
      cmocka_unit_test(laws_that_a_contact_model_does_not_do_are_refused_by_name),
      cmocka_unit_test(a_mocap_body_is_where_it_is_put_and_pushes_what_it_meets),
      cmocka_unit_test(geoms_that_can_never_touch_are_marked),
      cmocka_unit_test(blanks_before_the_declaration_and_hyphens_in_comments_are_read),
      cmocka_unit_test(a_flat_mesh_may_be_drawn_but_not_touched),
      cmocka_unit_test(a_damping_ratio_becomes_a_velocity_gain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
