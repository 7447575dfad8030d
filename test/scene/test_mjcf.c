// What the MJCF reader makes of things that Debian's MuJoCo does not know, or has no fields for:
// frames, replicas, flags, custom numbers, notes. The expected numbers of frames and replicas are
// those of newer versions of MuJoCo, worked out by hand.
#include "support/check.h"

#include <abut/scene.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "math/rotation.h"
#include "scene/mjcf/mjcf.h"

static abModel* load_with(const char* text, abNotes* notes) {
  abError error = {0};
  abScene* scene = ab_scene_load_memory("text", text, strlen(text), notes, &error);
  abModel* model = scene ? ab_scene_compile(scene, &error) : NULL;
  ab_scene_free(scene);
  if (!model) fail_msg("%s:%d: %s", error.file, error.line, error.message);
  return model;
}

static abModel* load(const char* text) { return load_with(text, NULL); }

static abModel* load_world(const char* world) {
  char text[4000];
  snprintf(text, sizeof text,
           "<mujoco><compiler angle=\"radian\"/><worldbody>%s</worldbody></mujoco>", world);
  return load(text);
}

static const double pi = 3.14159265358979323846;

static void frames_move_what_they_hold(void** state) {
  (void)state;
  abModel* m = load_world(
      "<frame pos='1 0 0' euler='0 0 1.5707963267948966'>"
      "  <geom name='g' size='0.1' pos='1 0 0'/>"
      "  <body name='b' pos='0 2 0'><frame pos='0 0 1' euler='0 0 1.5707963267948966'>"
      "    <joint name='j' pos='1 0 0' axis='1 0 0'/><geom name='h' size='0.1'/></frame></body>"
      "</frame>");
  double tolerance = 1e-15;  // one turn by a rounded right angle
  check_vec_near(m->geom[ab_find_geom(m, "g")].pose.p, v3(1, 1, 0), tolerance);
  check_vec_near(m->body[1].pose.p, v3(-1, 0, 0), tolerance);
  check_vec_near(m->joint[0].pos, v3(0, 1, 1), tolerance);
  check_vec_near(m->joint[0].axis, v3(0, 1, 0), tolerance);
  check_vec_near(m->geom[ab_find_geom(m, "h")].pose.p, v3(0, 0, 1), tolerance);
  ab_model_free(m);
}

// The squares of 1e200 are not finite, those of 1e-200 nothing: a direction became zero, a turn
// none.
static void directions_may_have_any_length(void** state) {
  (void)state;
  static const char world[] =
      "<body quat='%s 0 0 %s'><joint axis='%s %s 0'/><geom size='0.1'/></body>"
      "<body xyaxes='0 %s 0 -%s 0 0'><geom size='0.1'/></body>"
      "<body zaxis='%s 0 0'><geom size='0.1'/></body>"
      "<body axisangle='0 0 %s 0.3'><geom size='0.1'/></body>";
  const char* length[] = {"1", "1e-200", "1e200", "1e308"};
  abModel* m[4];
  for (int i = 0; i < 4; i++) {
    const char* l = length[i];
    char text[1000];
    snprintf(text, sizeof text, world, l, l, l, l, l, l, l, l);
    m[i] = load_world(text);
    // powers of ten are rounded
    check_vec_near(m[i]->joint[0].axis, m[0]->joint[0].axis, 1e-15);
    for (int b = 1; b < m[0]->nbody; b++) {
      abQuat q = m[i]->body[b].pose.q, good = m[0]->body[b].pose.q;
      check_near(fabs(q.w * good.w + q.x * good.x + q.y * good.y + q.z * good.z), 1, 1e-15);
    }
  }
  check_near(v3_norm(m[0]->joint[0].axis), 1, 1e-15);
  for (int i = 0; i < 4; i++) ab_model_free(m[i]);
}

static void replicas_step_from_each_other_and_are_numbered(void** state) {
  (void)state;
  abModel* m = load_world(
      "<replicate count='10' sep='-' offset='1 0 0' euler='0 0 1.5707963267948966'>"
      "<geom name='g' size='0.1' pos='0 0.5 0'/>"
      "<replicate count='2' offset='0 0 1'><geom name='i' size='0.1'/></replicate></replicate>");
  assert_int_equal(m->ngeom, 30);
  double tolerance = 1e-14;  // up to nine turns by a rounded right angle
  check_vec_near(m->geom[ab_find_geom(m, "g-00")].pose.p, v3(0, 0.5, 0), tolerance);
  check_vec_near(m->geom[ab_find_geom(m, "g-01")].pose.p, v3(0.5, 0, 0), tolerance);
  check_vec_near(m->geom[ab_find_geom(m, "g-02")].pose.p, v3(1, 0.5, 0), tolerance);
  check_vec_near(m->geom[ab_find_geom(m, "g-09")].pose.p, v3(0.5, 0, 0), tolerance);
  check_vec_near(m->geom[ab_find_geom(m, "i1-02")].pose.p, v3(1, 1, 1), tolerance);
  ab_model_free(m);
}

static void childclass_of_a_frame_holds_inside_it(void** state) {
  (void)state;
  abModel* m = load(
      "<mujoco><default><geom size='0.1'/><default class='big'><geom size='2'/></default></default>"
      "<worldbody><frame childclass='big'><geom name='in'/></frame><geom name='out'/>"
      "</worldbody></mujoco>");
  check_near(m->geom[ab_find_geom(m, "in")].shape.size.x, 2, 0);
  check_near(m->geom[ab_find_geom(m, "out")].shape.size.x, 0.1, 0);
  ab_model_free(m);
}

#define ONE_JOINT                                                                       \
  "<worldbody><body name='b'><joint name='j' range='-90 30' stiffness='2' damping='3' " \
  "frictionloss='4' actuatorfrcrange='-6 8'/><geom name='g' size='0.1'/></body></worldbody>"

static void servos_take_gains_and_ranges(void** state) {
  (void)state;
  abModel* m =
      load("<mujoco><default><position kp='7' kv='2'/></default>" ONE_JOINT
           "<actuator><position joint='j' inheritrange='0.5' gear='-2'/></actuator></mujoco>");
  const abActuator* a = &m->actuator[0];
  check_near(a->gainprm[0], 7, 0);
  check_near(a->biasprm[1], -7, 0);
  check_near(a->biasprm[2], -2, 0);
  // the joint's range has its middle at -30 degrees and reaches 60 to each side; half of that
  assert_true(a->ctrl_limited);
  check_near(a->ctrl_range[0], -pi / 3, 1e-15);
  check_near(a->ctrl_range[1], 0, 1e-15);
  // what the joint bears, -6 to 8, through the gear of -2
  assert_true(a->force_limited);
  check_near(a->force_range[0], -4, 0);
  check_near(a->force_range[1], 3, 0);
  ab_model_free(m);
}

static void flags_switch_parts_off(void** state) {
  (void)state;
  abModel* m = load(
      "<mujoco><option><flag contact='disable' gravity='disable' limit='disable' "
      "frictionloss='disable' passive='disable' clampctrl='disable'/></option>" ONE_JOINT
      "<actuator><motor joint='j' ctrlrange='-1 1'/></actuator></mujoco>");
  assert_string_equal(m->contact, "none");
  check_vec_near(m->gravity, v3_zero(), 0);
  assert_false(m->joint[0].limited);
  check_near(m->joint[0].frictionloss, 0, 0);
  check_near(m->joint[0].stiffness, 0, 0);
  check_near(m->joint[0].damping, 0, 0);
  assert_false(m->actuator[0].ctrl_limited);
  ab_model_free(m);
}

static double setting(const abModel* m, const char* name) {
  for (int i = 0; i < m->nsetting; i++)
    if (!strcmp(m->setting[i].name, name)) return m->setting[i].value;
  fail_msg("no setting %s", name);
  return 0;
}

static void custom_entries_reach_geoms_and_the_contact_model(void** state) {
  (void)state;
  abModel* m = load(
      "<mujoco><custom><text name='abut.contact' data='ecp'/>"
      "<numeric name='abut.tolerance' data='1e-7'/><numeric name='abut.literal_torsion' data='1'/>"
      "<numeric name='abut.e_r' data='0.2'/><numeric name='abut.restitution' data='0.5'/>"
      "<tuple name='abut.mu_static'><element objtype='geom' objname='a' prm='0.8'/></tuple>"
      "<tuple name='abut.e_r'><element objtype='geom' objname='b' prm='0.3'/></tuple>"
      "<tuple name='abut.e_t'><element objtype='geom' objname='b' prm='0.7'/></tuple>"
      "<tuple name='abut.e_o'><element objtype='geom' objname='b' prm='0.6'/></tuple>"
      "<tuple name='abut.restitution'><element objtype='geom' objname='b' prm='0.1'/></tuple>"
      "</custom><worldbody><geom name='a' size='1'/><geom name='b' "
      "size='1'/></worldbody></mujoco>");
  const abGeom *a = &m->geom[0], *b = &m->geom[1];
  assert_string_equal(m->contact, "ecp");
  check_near(setting(m, "tolerance"), 1e-7, 0);
  check_near(setting(m, "literal_torsion"), 1, 0);
  check_near(a->mu_static, 0.8, 0);
  check_below(b->mu_static, -0.5);  // the same as the kinetic one
  check_near(a->e_r, 0.2, 0);
  check_near(b->e_r, 0.3, 0);
  check_near(a->e_t, 1, 0);
  check_near(b->e_t, 0.7, 0);
  check_near(b->e_o, 0.6, 0);
  check_near(a->restitution, 0.5, 0);
  check_near(b->restitution, 0.1, 0);
  ab_model_free(m);
}

static void gravity_can_be_compensated_fully(void** state) {
  (void)state;
  abModel* m = load_world(
      "<body name='a' gravcomp='1'><freejoint/><geom size='1'/></body>"
      "<body name='b' gravcomp='0' pos='5 0 0'><freejoint/><geom size='1'/></body>");
  assert_false(m->body[1].gravity);
  assert_true(m->body[2].gravity);
  ab_model_free(m);
}

static void each_kind_of_ignored_thing_is_noted_once_with_its_line(void** state) {
  (void)state;
  abNotes notes;
  abModel* m = load_with(
      "<mujoco>\n<visual><map fogstart='1'/></visual>\n<worldbody>\n"
      "<geom size='1'\n solref='0.01 1' solimp='0.9 0.9 0.1'/>\n<geom size='1' solref='0.01 1'/>\n"
      "<site name='s'/><site/><light/><camera/>\n</worldbody>\n"
      "<sensor><touch site='s'/></sensor>\n<sensor/></mujoco>",
      &notes);
  const struct {
    const char* word;
    int line;
  } expected[] = {{"visual", 2}, {"solref", 5}, {"light", 7}, {"camera", 7}, {"sensor", 9}};
  assert_int_equal(notes.n, 5);
  for (int i = 0; i < 5; i++) {
    int found = 0;
    for (int k = 0; k < notes.n; k++)
      found +=
          strstr(notes.note[k].message, expected[i].word) && notes.note[k].line == expected[i].line;
    if (!found) fail_msg("no note about %s at line %d", expected[i].word, expected[i].line);
  }
  ab_notes_free(&notes);
  assert_int_equal(notes.n, 0);
  ab_model_free(m);
}

static void a_plain_scene_has_no_notes(void** state) {
  (void)state;
  abNotes notes;
  abModel* m = load_with("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>", &notes);
  assert_int_equal(notes.n, 0);
  ab_notes_free(&notes);
  ab_model_free(m);
}

static void spatial_tendons_that_pull_on_nothing_are_left_out(void** state) {
  (void)state;
  abNotes notes;
  abModel* m = load_with(
      "<mujoco><default><tendon stiffness='0' range='0 1' limited='false'/></default>" ONE_JOINT
      "<tendon><spatial name='t'/></tendon></mujoco>",
      &notes);
  assert_int_equal(notes.n, 1);
  assert_int_equal(m->ntendon, 0);
  assert_non_null(strstr(notes.note[0].message, "tendon"));
  ab_notes_free(&notes);
  ab_model_free(m);
}

static void sections_may_come_in_any_order_and_repeated(void** state) {
  (void)state;
  abModel* m = load(
      "<mujoco><actuator><motor joint='j'/></actuator>"
      "<worldbody><body><joint name='j' class='c' range='0 90'/><geom size='1'/></body></worldbody>"
      "<default><joint damping='1'/></default><default><default class='c'><joint armature='2'/>"
      "</default></default><worldbody><geom name='second' size='1'/></worldbody>"
      "<compiler angle='degree'/></mujoco>");
  check_near(m->joint[0].damping, 1, 0);
  check_near(m->joint[0].armature, 2, 0);
  check_near(m->joint[0].range[1], pi / 2, 1e-15);
  assert_true(ab_find_geom(m, "second") >= 0);
  ab_model_free(m);
}

static void numbers_are_read_alike_in_every_locale(void** state) {
  (void)state;
  // where the machine has no such locale this checks nothing more than the test above
  const char* names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
  for (int i = 0; i < 3 && !setlocale(LC_NUMERIC, names[i]); i++) continue;
  abModel* m = load_world("<geom size='0.25' pos='1.5 -2.5e-1 0'/>");
  setlocale(LC_NUMERIC, "C");
  check_near(m->geom[0].shape.size.x, 0.25, 0);
  check_vec_near(m->geom[0].pose.p, v3(1.5, -0.25, 0), 0);
  ab_model_free(m);
}

static void materials_give_geoms_their_colour(void** state) {
  (void)state;
  abModel* m = load(
      "<mujoco><asset><material name='red' rgba='1 0 0 1'/></asset><worldbody>"
      "<geom size='1' material='red'/><geom size='1' material='red' rgba='0 1 0 1'/>"
      "</worldbody></mujoco>");
  check_near(m->geom[0].rgba[0], 1, 0);
  check_near(m->geom[1].rgba[0], 0, 0);
  check_near(m->geom[1].rgba[1], 1, 0);
  ab_model_free(m);
}

// What strict XML forbids and MuJoCo reads. Lines stay what they are.
static void sloppy_xml_is_read(void** state) {
  (void)state;
  static const char* const text[] = {
      "<mujoco><worldbody><body name='b'pos='0 0 1'><joint/><geom size='.1'/></body></worldbody>"
      "</mujoco>",
      "<mujoco model='a & b'><worldbody><body name='b' pos='0 0 1'><geom size='.1'/></body>"
      "</worldbody></mujoco>",
      "<mujoco xmlns:x='http://x'><!-- 45\xb0 -- a & b -->"
      "<worldbody><body name='b' pos='0 0 1'><geom size='.1'/></body></worldbody></mujoco>",
      "<?xml version='1.0' encoding='utf-8'?><mujoco model='\xe9'>"
      "<worldbody><body name='b' pos='0 0 1'><geom size='.1'/></body></worldbody></mujoco>",
      "<!DOCTYPE mujoco>\n<!-- -- --><mujoco><worldbody><body name='b'pos='0 0 1'>"
      "<geom size='.1'/></body></worldbody></mujoco>"};
  for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
    abError error = {0};
    abModel* m = ab_load_memory("text", text[i], strlen(text[i]), NULL, &error);
    if (!m) fail_msg("%zu: %s", i, error.message);
    assert_true(m->body[ab_find_body(m, "b")].pose.p.z == 1);
    ab_model_free(m);
  }
  abError error = {0};
  static const char wrong[] =
      "<mujoco>\n<body name='a & b'pos='0 0 1'/>\n<worldbody>\n<bdy/></worldbody></mujoco>";
  assert_null(ab_load_memory("text", wrong, strlen(wrong), NULL, &error));
  assert_int_equal(error.line, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sloppy_xml_is_read),
      cmocka_unit_test(frames_move_what_they_hold),
      cmocka_unit_test(directions_may_have_any_length),
      cmocka_unit_test(replicas_step_from_each_other_and_are_numbered),
      cmocka_unit_test(childclass_of_a_frame_holds_inside_it),
      cmocka_unit_test(servos_take_gains_and_ranges),
      cmocka_unit_test(flags_switch_parts_off),
      cmocka_unit_test(custom_entries_reach_geoms_and_the_contact_model),
      cmocka_unit_test(gravity_can_be_compensated_fully),
      cmocka_unit_test(each_kind_of_ignored_thing_is_noted_once_with_its_line),
      cmocka_unit_test(a_plain_scene_has_no_notes),
      cmocka_unit_test(spatial_tendons_that_pull_on_nothing_are_left_out),
      cmocka_unit_test(sections_may_come_in_any_order_and_repeated),
      cmocka_unit_test(numbers_are_read_alike_in_every_locale),
      cmocka_unit_test(materials_give_geoms_their_colour),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
