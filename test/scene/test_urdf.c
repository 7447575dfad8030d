// URDF beyond what MuJoCo reads alike: links fixed to the world keep their names, floating joints
// stand at the top, surfaces come from <abut>, other programs' tags are passed over with one note.
#include "support/check.h"

#include <abut/scene.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "geometry/support.h"
#include "math/rotation.h"
#include "scene/mjcf/mjcf.h"

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

// --- robots of others ----------------------------------------------------------------------------

static bool noted(const abNotes* notes, const char* word) {
  for (int i = 0; i < notes->n; i++)
    if (strstr(notes->note[i].message, word)) return true;
  return false;
}

static void a_mimic_joint_is_an_equality(void** state) {
  (void)state;
  abModel* m = load("<robot name='r'><link name='a'/><link name='b'>" MASS
                    "</link><link name='c'>" MASS "</link><link name='d'>" MASS
                    "</link>"
                    "<joint name='x' type='continuous'><parent link='a'/><child link='b'/>"
                    "<mimic joint='y' multiplier='-2' offset='.5'/></joint>"
                    "<joint name='y' type='prismatic'><parent link='a'/><child link='c'/></joint>"
                    "<joint name='f' type='fixed'><parent link='a'/><child link='d'/>"
                    "<mimic joint='y'/></joint></robot>",
                    NULL);
  assert_int_equal(m->nequality, 1);
  const abEquality* e = &m->equality[0];
  assert_int_equal(e->type, AB_EQUALITY_JOINT);
  assert_true(e->active);
  assert_string_equal(m->joint[e->joint1].name, "x");
  assert_string_equal(m->joint[e->joint2].name, "y");
  check_near(e->polycoef[0], 0.5, 0);
  check_near(e->polycoef[1], -2, 0);
  ab_model_free(m);
}

// 3 > 1 + 1: the largest moment stays, the others grow until some matter has them.
static void an_impossible_inertia_is_repaired_with_a_warning(void** state) {
  (void)state;
  abNotes notes;
  abModel* m = load(
      "<robot name='r'><link name='a'/><link name='b'><inertial><mass value='1'/>"
      "<inertia ixx='3' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
      "<joint name='x' type='continuous'><parent link='a'/><child link='b'/></joint></robot>",
      &notes);
  assert_true(noted(&notes, "no matter has this inertia"));
  abVec3 I = m->body[2].inertia;
  double sum = I.x + I.y + I.z, largest = fmax(I.x, fmax(I.y, I.z));
  check_near(largest, 3, 1e-14 * 3);  // the rounding of an eigenvalue
  check_near(sum, 6, 1e-14 * 6);
  ab_notes_free(&notes);
  ab_model_free(m);
}

static void a_massless_link_that_moves_gets_a_little_mass_with_a_warning(void** state) {
  (void)state;
  abNotes notes;
  abModel* m =
      load("<robot name='r'><link name='a'/><link name='b'/><link name='c'>" MASS
           "</link><link name='d'/><link name='e'>" MASS
           "</link>"
           "<joint name='x' type='continuous'><parent link='a'/><child link='b'/></joint>"
           "<joint name='y' type='continuous'><parent link='b'/><child link='c'/></joint>"
           "<joint name='z' type='continuous'><parent link='c'/><child link='d'/></joint>"
           "<joint name='w' type='fixed'><parent link='d'/><child link='e'/></joint></robot>",
           &notes);
  assert_true(noted(&notes, "has no mass"));
  double b = m->body[ab_find_body(m, "b")].mass;
  assert_true(b > 0 && b < 0.01);
  check_near(m->body[ab_find_body(m, "d")].mass, 0, 0);  // e, fixed to it, has enough for both
  ab_notes_free(&notes);
  ab_model_free(m);
}

static void a_spherical_joint_is_a_ball_joint(void** state) {
  (void)state;
  abModel* m = load("<robot name='r'><link name='a'/><link name='b'>" MASS
                    "</link><joint name='x' type='spherical'><parent link='a'/><child link='b'/>"
                    "</joint></robot>",
                    NULL);
  assert_int_equal(m->joint[0].type, AB_JOINT_BALL);
  ab_model_free(m);
}

static void attributes_of_others_beside_ours_are_noted(void** state) {
  (void)state;
  abNotes notes;
  abModel* m = load("<robot name='r'><link name='a'/><link name='b'>" MASS
                    "</link><joint name='x' type='revolute'><parent link='a'/><child link='b'/>"
                    "<limit lower='-1' upper='1' effort='1' velocity='2' gear_velocity='3'/>"
                    "</joint></robot>",
                    &notes);
  assert_true(m->joint[0].limited);
  assert_int_equal(notes.n, 2);  // of the attribute, and of limits that are not enforced
  ab_notes_free(&notes);
  ab_model_free(m);
}

// --- files ---------------------------------------------------------------------------------------

static void put(const char* folder, const char* name, const char* text) {
  char path[1000];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

// A tetrahedron of the given size.
static void put_mesh(const char* folder, const char* name, int size) {
  char text[200];
  snprintf(text, sizeof text,
           "v 0 0 0\nv %d 0 0\nv 0 %d 0\nv 0 0 %d\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", size,
           size, size);
  put(folder, name, text);
}

#define FOLDER ABUT_BINARY_DIR "/test_urdf"

static void make_folders(void) {
  const char* folder[] = {
      FOLDER,          FOLDER "/left",         FOLDER "/left/urdf", FOLDER "/left/meshes",
      FOLDER "/right", FOLDER "/right/meshes", FOLDER "/meshes"};
  for (size_t i = 0; i < sizeof folder / sizeof *folder; i++) mkdir(folder[i], 0777);
  put_mesh(FOLDER "/left/meshes", "part.obj", 1);
  put_mesh(FOLDER "/right/meshes", "part.obj", 2);
  put_mesh(FOLDER "/meshes", "part.obj", 3);
}

static abModel* load_file(const char* path, bool floating) {
  abError error = {0};
  abModel* m = ab_load_with(path, &(abLoadOption){.floating = floating}, NULL, &error);
  if (!m) fail_msg("%s:%d: %s", error.file, error.line, error.message);
  return m;
}

static void a_package_path_finds_the_mesh_of_that_package(void** state) {
  (void)state;
  make_folders();
  put(FOLDER "/left/urdf", "robot.urdf",
      "<robot name='r'><link name='a'>"
      "<collision><geometry><mesh filename='package://right/meshes/part.obj'/></geometry>"
      "</collision>"
      "<collision><geometry><mesh filename='package://left/meshes/part.obj'/></geometry>"
      "</collision>"
      "<collision><geometry><mesh filename='package://right/meshes/part.obj'/></geometry>"
      "</collision>"
      "<collision><geometry><mesh filename='package://right/meshes/part.obj' scale='2 2 2'/>"
      "</geometry></collision></link></robot>");
  abModel* m = load_file(FOLDER "/left/urdf/robot.urdf", false);
  assert_int_equal(m->ngeom, 4);
  assert_int_equal(m->nmesh, 3);  // a file that is used twice is one mesh
  double size[] = {2, 1, 2, 4};
  for (int i = 0; i < 4; i++)  // a corner tetrahedron has a sixth of the cube
    check_near(m->geom[i].shape.poly->volume, pow(size[i], 3) / 6, 1e-12 * pow(size[i], 3));
  assert_int_equal(m->geom[0].mesh, m->geom[2].mesh);
  ab_model_free(m);
}

static void a_package_that_is_not_there_is_refused(void** state) {
  (void)state;
  make_folders();
  put(FOLDER "/left/urdf", "lost.urdf",
      "<robot name='r'><link name='a'><collision><geometry>\n"
      "<mesh filename='package://nowhere/part.obj'/></geometry></collision></link></robot>");
  abError error = {0};
  assert_null(ab_load(FOLDER "/left/urdf/lost.urdf", NULL, &error));
  assert_int_equal(error.code, AB_ERROR_FILE);
  assert_int_equal(error.line, 2);
}

#define DOG                                                                              \
  "<robot name='r'><link name='a'>" MASS "</link><link name='b'>" MASS                   \
  "</link><joint name='x' type='continuous'><parent link='a'/><child link='b'/></joint>" \
  "</robot>"

static void a_floating_root_gets_a_free_joint(void** state) {
  (void)state;
  make_folders();
  put(FOLDER "/left/urdf", "dog.urdf", DOG);
  abModel* m = load_file(FOLDER "/left/urdf/dog.urdf", false);
  assert_int_equal(m->nv, 1);
  ab_model_free(m);
  m = load_file(FOLDER "/left/urdf/dog.urdf", true);
  assert_int_equal(m->nv, 7);
  assert_int_equal(m->joint[0].type, AB_JOINT_FREE);
  assert_int_equal(m->nmover, 1);
  ab_model_free(m);
}

static void a_robot_can_stand_in_a_scene_several_times(void** state) {
  (void)state;
  make_folders();
  put(FOLDER "/left/urdf", "dog.urdf", DOG);
  abError error = {0};
  abScene *part = ab_scene_load(FOLDER "/left/urdf/dog.urdf", NULL, &error),
          *scene = ab_scene_create();
  assert_non_null(part);
  abAttachDef how = ab_attach_def();
  for (int i = 0; i < 2; i++) {
    how.prefix = i ? "second/" : "first/";
    how.floating = i == 1;
    how.pose.p.x = 3 * i;
    if (ab_scene_attach(scene, part, &how, &error)) fail_msg("%s", error.message);
  }
  assert_int_equal(ab_scene_attach(scene, part, &how, &error), AB_ERROR_SCENE);  // names are taken
  abModel* m = ab_scene_compile(scene, &error);
  assert_non_null(m);
  assert_int_equal(m->nv, 8);
  check_vec_near(m->body[ab_find_body(m, "second/a")].pose.p, v3(3, 0, 0), 0);
  assert_true(ab_find_joint(m, "first/x") >= 0 && ab_find_joint(m, "second/x") >= 0);
  ab_model_free(m);
  ab_scene_free(scene);
  ab_scene_free(part);
}

// Bullet's way to say that a joint is free; MuJoCo takes it so, too.
static void limits_the_wrong_way_round_are_none(void** state) {
  (void)state;
  abNotes notes;
  abModel* m = load("<robot name='r'><link name='a'/><link name='b'>" MASS
                    "</link><joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
                    "<limit lower='1' upper='-1' effort='1' velocity='1'/></joint></robot>",
                    &notes);
  assert_false(m->joint[0].limited);
  bool told = false;
  for (int i = 0; i < notes.n; i++) told |= strstr(notes.note[i].message, "not limited") != NULL;
  assert_true(told);
  ab_notes_free(&notes);
  ab_model_free(m);
}

// A sticker of 0.2 x 0.1 m that stands as its own collision geometry.
static void a_flat_mesh_collides_as_a_thin_plate(void** state) {
  (void)state;
  const char* folder = ABUT_BINARY_DIR "/flat_urdf";
  mkdir(folder, 0777);
  put(folder, "sticker.obj", "v 0 0 1\nv .2 0 1\nv .2 .1 1\nv 0 .1 1\nf 1 2 3 4\n");
  put(folder, "r.urdf",
      "<robot name='r'><link name='a'/><link name='b'>" MASS
      "<collision><geometry><mesh filename='sticker.obj'/></geometry></collision></link>"
      "<joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint></robot>");
  abError error = {0};
  abNotes notes;
  abModel* m = ab_load(ABUT_BINARY_DIR "/flat_urdf/r.urdf", &notes, &error);
  if (!m) fail_msg("%s", error.message);
  bool told = false;
  for (int i = 0; i < notes.n; i++) told |= strstr(notes.note[i].message, "thickness") != NULL;
  assert_true(told);
  abVec3 low, high;
  ab_shape_aabb(&m->geom[0].shape, &m->geom[0].pose, &low, &high);
  double size = hypot(0.2, 0.1);
  check_near(high.z - low.z, 1e-3 * size, 1e-9);
  check_near(high.x - low.x, 0.2, 1e-9);
  ab_notes_free(&notes);
  ab_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_flat_mesh_collides_as_a_thin_plate),
      cmocka_unit_test(limits_the_wrong_way_round_are_none),
      cmocka_unit_test(links_fixed_to_the_world_keep_their_names),
      cmocka_unit_test(a_floating_joint_stands_at_the_top),
      cmocka_unit_test(surfaces_come_from_our_own_tag),
      cmocka_unit_test(tags_of_other_programs_give_one_note),
      cmocka_unit_test(pictures_are_kept_when_asked_for),
      cmocka_unit_test(a_mimic_joint_is_an_equality),
      cmocka_unit_test(an_impossible_inertia_is_repaired_with_a_warning),
      cmocka_unit_test(a_massless_link_that_moves_gets_a_little_mass_with_a_warning),
      cmocka_unit_test(a_spherical_joint_is_a_ball_joint),
      cmocka_unit_test(attributes_of_others_beside_ours_are_noted),
      cmocka_unit_test(a_package_path_finds_the_mesh_of_that_package),
      cmocka_unit_test(a_package_that_is_not_there_is_refused),
      cmocka_unit_test(a_floating_root_gets_a_free_joint),
      cmocka_unit_test(a_robot_can_stand_in_a_scene_several_times),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
