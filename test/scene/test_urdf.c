// URDF beyond what MuJoCo reads alike: links fixed to the world keep their names, floating joints
// stand at the top, surfaces come from <abut>, other programs' tags are passed over with one note.
#include "support/check.h"

#include <abut/scene.h>
#include <stdio.h>
#include <string.h>

#include "math/rotation.h"
#include "scene/mjcf.h"

static abModel* load(const char* text, abNotes* notes) {
  abError error = {0};
  abScene* scene = ab_scene_load_memory("text", text, strlen(text), notes, &error);
  abModel* model = scene ? ab_scene_compile(scene, &error) : NULL;
  ab_scene_free(scene);
  if (!model) fail_msg("%s:%d: %s", error.file, error.line, error.message);
  return model;
}

#define MASS                                                                              \
  "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>" \
  "</inertial>"

static void links_fixed_to_the_world_keep_their_names(void** state) {
  (void)state;
  abModel* m = load(
      "<robot name='r'><link name='base'/><link name='post'/><link name='arm'>" MASS
      "</link>"
      "<joint name='a' type='fixed'><parent link='base'/><child link='post'/></joint>"
      "<joint name='b' type='continuous'><parent link='post'/><child link='arm'/></joint></robot>",
      NULL);
  assert_string_equal(m->name, "r");
  assert_int_equal(m->nbody, 4);
  assert_int_equal(m->body[ab_find_body(m, "post")].weld, 0);
  assert_int_equal(m->njoint, 1);
  ab_model_free(m);
}

static void a_floating_joint_stands_at_the_top(void** state) {
  (void)state;
  abModel* m = load("<robot name='r'><link name='base'/><link name='post'/><link name='ship'>" MASS
                    "</link>"
                    "<joint name='a' type='fixed'><parent link='base'/><child link='post'/>"
                    "<origin xyz='0 0 1' rpy='0 0 1.5707963267948966'/></joint>"
                    "<joint name='b' type='floating'><parent link='post'/><child link='ship'/>"
                    "<origin xyz='1 0 0'/></joint></robot>",
                    NULL);
  const abBody* ship = &m->body[ab_find_body(m, "ship")];
  assert_int_equal(ship->parent, 0);
  assert_int_equal(m->joint[0].type, AB_JOINT_FREE);
  check_vec_near(ship->pose.p, v3(0, 1, 1), 1e-15);  // a turn by a rounded right angle
  ab_model_free(m);
}

static void surfaces_come_from_our_own_tag(void** state) {
  (void)state;
  abModel* m = load(
      "<robot name='r'><link name='a'><collision name='pad'><geometry><box size='2 4 "
      "6'/></geometry>"
      "<abut friction='0.4' mu_static='0.6' e_r='0.05' restitution='0.2' condim='4' priority='3'/>"
      "</collision></link></robot>",
      NULL);
  const abGeom* g = &m->geom[ab_find_geom(m, "pad")];
  check_vec_near(g->shape.size, v3(1, 2, 3), 0);
  check_near(g->friction[0], 0.4, 0);
  check_near(g->friction[1], 0.005, 0);
  check_near(g->mu_static, 0.6, 0);
  check_near(g->e_r, 0.05, 0);
  check_near(g->restitution, 0.2, 0);
  assert_int_equal(g->condim, 4);
  assert_int_equal(g->priority, 3);
  ab_model_free(m);
}

static void tags_of_other_programs_give_one_note(void** state) {
  (void)state;
  abNotes notes;
  abModel* m = load(
      "<robot name='r'>\n<link name='a'/>\n<gazebo/><gazebo reference='a'/>\n"
      "<transmission name='t'/>\n<ros2_control name='x'/>\n</robot>",
      &notes);
  assert_int_equal(notes.n, 1);
  assert_int_equal(notes.note[0].line, 3);
  ab_notes_free(&notes);
  ab_model_free(m);
}

static void pictures_are_kept_when_asked_for(void** state) {
  (void)state;
  const char* text =
      "<robot name='r'>%s<link name='a'><visual><geometry><sphere radius='1'/></geometry>"
      "<material name='m'><color rgba='1 0 0 1'/></material></visual></link></robot>";
  char with[500], without[500];
  snprintf(with, sizeof with, text, "<mujoco><compiler discardvisual='false'/></mujoco>");
  snprintf(without, sizeof without, text, "");
  abModel *m = load(with, NULL), *n = load(without, NULL);
  assert_int_equal(m->ngeom, 1);
  assert_int_equal(m->geom[0].contype, 0);
  check_near(m->geom[0].rgba[0], 1, 0);
  assert_int_equal(n->ngeom, 0);
  ab_model_free(m);
  ab_model_free(n);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(links_fixed_to_the_world_keep_their_names),
      cmocka_unit_test(a_floating_joint_stands_at_the_top),
      cmocka_unit_test(surfaces_come_from_our_own_tag),
      cmocka_unit_test(tags_of_other_programs_give_one_note),
      cmocka_unit_test(pictures_are_kept_when_asked_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
