// The compiler: order, trees, state, masses, hulls, keyframes.
#include <abut/abut.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/polyhedron.h"
#include "math/rotation.h"
#include "scene/small_scene.h"
#include "support/check.h"
#include "support/random.h"

static const abQuat quarter_z = {0.70710678118654757, 0, 0, 0.70710678118654757};

static void empty_scene_is_a_world(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  abModel* m = compile(s);
  assert_int_equal(m->nbody, 1);
  assert_string_equal(m->body[0].name, "world");
  assert_int_equal(m->nq + m->nv + m->nmover + m->ngeom, 0);
  check_near(m->timestep, 0.002, 0);
  check_vec_near(m->gravity, v3(0, 0, -9.81), 0);
  ab_scene_free(s);
  ab_model_free(m);
}

static void box_on_plane_compiles(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  geom(s, 0, AB_SHAPE_PLANE, v3(1, 1, 1), pose_identity());
  int b = body(s, 0, (abPose){{1, 2, 3}, quarter_z});
  joint(s, b, AB_JOINT_FREE);
  geom(s, b, AB_SHAPE_BOX, v3(0.1, 0.2, 0.3), pose_identity());
  abModel* m = compile(s);
  ab_scene_free(s);  // the model stands alone
  assert_int_equal(m->nbody, 2);
  assert_int_equal(m->nq, 7);
  assert_int_equal(m->nv, 6);
  assert_int_equal(m->nmover, 1);
  assert_false(m->mover[0].jointed);
  const double q[7] = {1, 2, 3, quarter_z.w, 0, 0, quarter_z.z};
  for (int i = 0; i < 7; i++) check_near(m->q0[i], q[i], 1e-16);
  const abBody* box = &m->body[1];
  check_near(box->mass, 48, 1e-14);
  check_vec_near(box->inertia, v3(2.08, 1.6, 0.8), 1e-15);
  check_near(m->total_mass, 48, 1e-14);
  assert_ptr_equal(m->hull[box->hull].poly, m->geom[1].shape.poly);
  assert_int_equal(m->hull[box->hull].type, AB_SHAPE_BOX);
  assert_int_equal(m->body[0].hull, -1);
  assert_null(m->geom[0].shape.poly);
  check_near(m->extent, sqrt(0.14), 1e-15);
  assert_string_equal(m->body[1].name, "body1");
  assert_string_equal(m->geom[1].name, "geom1");
  assert_int_equal(ab_find_body(m, "body1"), 1);
  assert_int_equal(ab_find_body(m, "nobody"), -1);
  ab_model_free(m);
}

// --- trees ---

// world
//   a (hinge)          1
//     b (welded)       2
//     c (slide, ball)  3
//   d (static)         4
//     e (hinge)        5
//   f (free)           6
static abScene* forest(bool shuffled) {
  abScene* s = ab_scene_create();
  abVec3 r = v3(0.1, 0, 0);
  int a = body(s, 0, at(1, 0, 0)), d = 0, f = 0;
  if (shuffled) f = body(s, 0, at(0, 0, 5));  // f before d: siblings keep the order of adding
  if (shuffled) joint(s, f, AB_JOINT_FREE), geom(s, f, AB_SHAPE_SPHERE, r, pose_identity());
  int b = body(s, a, at(0, 1, 0));
  if (shuffled) d = body(s, 0, at(0, 0, 1));
  int c = body(s, a, at(0, 0, 1));
  joint(s, c, AB_JOINT_SLIDE);
  joint(s, a, AB_JOINT_HINGE);
  joint(s, c, AB_JOINT_BALL);
  geom(s, c, AB_SHAPE_SPHERE, r, pose_identity());
  geom(s, a, AB_SHAPE_SPHERE, r, pose_identity());
  geom(s, b, AB_SHAPE_BOX, v3(0.1, 0.1, 0.1), at(0, 0, 0.5));
  geom(s, a, AB_SHAPE_BOX, v3(0.1, 0.2, 0.1), pose_identity());
  if (!shuffled) d = body(s, 0, at(0, 0, 1));
  int e = body(s, d, at(0, 0, 1));
  joint(s, e, AB_JOINT_HINGE);
  geom(s, e, AB_SHAPE_SPHERE, r, pose_identity());
  if (!shuffled) {
    f = body(s, 0, at(0, 0, 5));
    joint(s, f, AB_JOINT_FREE);
    geom(s, f, AB_SHAPE_SPHERE, r, pose_identity());
  }
  return s;
}

static void tree_is_depth_first_and_movers_are_consecutive(void** state) {
  (void)state;
  abScene* s = forest(false);
  abModel* m = compile(s);
  static const int parent[] = {0, 0, 1, 1, 0, 4, 0}, weld[] = {0, 1, 1, 3, 0, 5, 6};
  static const int mover[] = {-1, 0, 0, 0, -1, 1, 2}, ndof[] = {0, 1, 0, 4, 0, 1, 6};
  static const int dof0[] = {0, 0, 1, 1, 5, 5, 6};
  assert_int_equal(m->nbody, 7);
  for (int i = 0; i < 7; i++) {
    assert_int_equal(m->body[i].parent, parent[i]);
    assert_int_equal(m->body[i].weld, weld[i]);
    assert_int_equal(m->body[i].mover, mover[i]);
    assert_int_equal(m->body[i].ndof, ndof[i]);
    assert_int_equal(m->body[i].dof0, dof0[i]);
  }
  assert_int_equal(m->nmover, 3);
  static const abMover expected[] = {{1, 3, 0, 5, true}, {5, 1, 5, 1, true}, {6, 1, 6, 6, false}};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(m->mover[i].body0, expected[i].body0);
    assert_int_equal(m->mover[i].nbody, expected[i].nbody);
    assert_int_equal(m->mover[i].dof0, expected[i].dof0);
    assert_int_equal(m->mover[i].ndof, expected[i].ndof);
    assert_int_equal(m->mover[i].jointed, expected[i].jointed);
  }
  assert_int_equal(m->nq, 1 + 1 + 4 + 1 + 7);
  assert_int_equal(m->nv, 12);
  static const int dof_joint[] = {0, 1, 2, 2, 2, 3, 4, 4, 4, 4, 4, 4};
  for (int i = 0; i < 12; i++) assert_int_equal(m->dof_joint[i], dof_joint[i]);
  assert_int_equal(m->joint[2].type, AB_JOINT_BALL);
  assert_int_equal(m->joint[2].q0, 2);
  assert_int_equal(m->joint[3].q0, 6);
  static const double q0[] = {0, 0, 1, 0, 0, 0, 0, 0, 0, 5, 1, 0, 0, 0};
  for (int i = 0; i < m->nq; i++) check_near(m->q0[i], q0[i], 0);
  // geoms follow their bodies, in the order of adding within one
  static const int geom_body[] = {1, 1, 2, 3, 5, 6};
  for (int i = 0; i < m->ngeom; i++) assert_int_equal(m->geom[i].body, geom_body[i]);
  assert_int_equal(m->geom[0].shape.type, AB_SHAPE_SPHERE);
  assert_int_equal(m->geom[1].shape.type, AB_SHAPE_BOX);
  assert_int_equal(m->body[4].geom0, 4);
  assert_int_equal(m->body[4].ngeom, 0);
  ab_model_free(m);
  ab_scene_free(s);
}

static void order_of_adding_decides_only_among_siblings(void** state) {
  (void)state;
  abScene *s = forest(false), *t = forest(true);
  abModel *m = compile(s), *n = compile(t);
  assert_int_equal(n->nbody, m->nbody);
  static const int place[] = {0, 1, 2, 3, 5, 6, 4};  // f comes before d now
  for (int i = 0; i < m->nbody; i++) {
    const abBody *a = &m->body[i], *b = &n->body[place[i]];
    assert_int_equal(b->parent, place[a->parent]);
    assert_int_equal(b->weld, place[a->weld]);
    assert_int_equal(b->ngeom, a->ngeom);
    assert_int_equal(b->njoint, a->njoint);
    check_near(b->mass, a->mass, 0);
    check_vec_near(b->pose.p, a->pose.p, 0);
  }
  for (int i = 0; i < n->nbody; i++)
    for (int k = 0; k < n->body[i].ngeom; k++)
      assert_int_equal(n->geom[n->body[i].geom0 + k].body, i);
  ab_model_free(m);
  ab_model_free(n);
  ab_scene_free(s);
  ab_scene_free(t);
}

static void deep_and_wide_trees_compile(void** state) {
  (void)state;
  enum { DEEP = 20000, WIDE = 2000 };
  abScene* s = ab_scene_create();
  for (int i = 0, parent = 0; i < DEEP + WIDE; i++) {
    int b = body(s, i < DEEP ? parent : 1, at(0, 0, 0.1));
    joint(s, b, AB_JOINT_HINGE);
    geom(s, b, AB_SHAPE_BOX, v3(0.1, 0.1, 0.1), pose_identity());
    parent = b;
  }
  abModel* m = compile(s);
  assert_int_equal(m->nmover, 1);
  assert_int_equal(m->mover[0].nbody, DEEP + WIDE);
  assert_int_equal(m->nv, DEEP + WIDE);
  for (int i = 1; i <= DEEP; i++) assert_int_equal(m->body[i].parent, i - 1);
  for (int i = 1; i <= WIDE; i++) assert_int_equal(m->body[DEEP + i].parent, 1);
  ab_model_free(m);
  ab_scene_free(s);
}

static void free_joint_with_a_spring_is_a_tree(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  int b = body(s, 0, pose_identity());
  abJointDef d = ab_joint_def();
  d.type = AB_JOINT_FREE;
  d.body = b;
  d.damping = 0.1;
  ab_scene_add_joint(s, &d, NULL);
  geom(s, b, AB_SHAPE_SPHERE, v3(1, 0, 0), pose_identity());
  abModel* m = compile(s);
  assert_true(m->mover[0].jointed);
  check_near(m->dof_damping[5], 0.1, 0);
  ab_model_free(m);
  ab_scene_free(s);
}

// --- meshes and hulls ---

static void mesh_box_is_the_primitive_box(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  abPolyhedron* p = ab_polyhedron_box(v3(0.1, 0.2, 0.3));
  for (int rule = AB_MESH_INERTIA_LEGACY; rule <= AB_MESH_INERTIA_EXACT; rule++) {
    int mesh = cloud(s, 8, p->vert, (abMeshInertia)rule), b = body(s, 0, pose_identity());
    joint(s, b, AB_JOINT_FREE);
    mesh_geom(s, b, mesh, at(1, 2, 3));
  }
  int b = body(s, 0, pose_identity());
  joint(s, b, AB_JOINT_FREE);
  geom(s, b, AB_SHAPE_BOX, v3(0.1, 0.2, 0.3), at(1, 2, 3));
  abModel* m = compile(s);
  for (int i = 1; i <= 3; i++) {
    const abBody *x = &m->body[i], *box = &m->body[4];
    check_near(x->mass, box->mass, 1e-14 * box->mass);
    check_vec_near(x->com, box->com, 1e-15);
    abMat3 I = full_inertia(x), J = full_inertia(box);
    check_matrix(&I, &J, 1e-14);
    const abPolyhedron *a = m->geom[i - 1].shape.poly, *c = m->geom[3].shape.poly;
    assert_memory_equal(a->loop, c->loop, 24 * sizeof(int));
    for (int k = 0; k < 8; k++) check_vec_near(a->vert[k], c->vert[k], 0);
    assert_int_equal(m->mesh[i - 1].ntriangle, 12);
  }
  ab_model_free(m);
  ab_polyhedron_free(p);
  ab_scene_free(s);
}

static void scale_and_reference_frame_place_the_mesh_as_in_mujoco(void** state) {
  (void)state;
  static const abVec3 point[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const abVec3 expected[4] = {{-4, -9, -4}, {-4, -9, 0}, {-2, -9, -4}, {-4, -6, -4}};
  static const int triangle[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  abScene* s = ab_scene_create();
  abMeshDef d = ab_mesh_def();
  d.nvert = 4, d.vert = point;
  d.ntriangle = 4, d.triangle = triangle;
  d.scale = v3(2, 3, 4);
  d.ref = (abPose){{1, 2, 3}, {0.5, 0.5, 0.5, 0.5}};
  ab_scene_add_mesh(s, &d, NULL);
  d.scale = v3(2, -3, 4);  // mirrored: still facing outwards, by its own exact volume
  d.inertia = AB_MESH_INERTIA_EXACT;
  int mirrored = ab_scene_add_mesh(s, &d, NULL), b = body(s, 0, pose_identity());
  joint(s, b, AB_JOINT_FREE);
  mesh_geom(s, b, mirrored, pose_identity());
  abModel* m = compile(s);
  for (int i = 0; i < 4; i++) check_vec_near(m->mesh[0].vert[i], expected[i], 1e-14);
  check_near(m->body[1].mass, 1000 * 24.0 / 6, 1e-9);
  ab_model_free(m);
  ab_scene_free(s);
}

static void equal_shapes_share_their_polyhedron(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  for (int i = 0; i < 50; i++) {
    int b = body(s, 0, at(i, 0, 0));
    joint(s, b, AB_JOINT_FREE);
    geom(s, b, AB_SHAPE_SPHERE, v3(0.1, i, 0), pose_identity());  // the second size means nothing
  }
  abModel* m = compile(s);
  for (int i = 1; i < 50; i++) {
    assert_ptr_equal(m->geom[i].shape.poly, m->geom[0].shape.poly);
    assert_ptr_equal(m->hull[m->body[i].hull].poly, m->geom[0].shape.poly);
    assert_int_equal(m->hull[m->body[i].hull].type, AB_SHAPE_SPHERE);
    check_near(m->geom[i].shape.poly_error, m->geom[0].shape.poly_error, 0);
  }
  assert_true(m->geom[0].shape.poly_error > 0 && m->geom[0].shape.poly_error <= 0.02);
  ab_model_free(m);
  ab_scene_free(s);
}

static void hull_holds_what_can_collide(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  int b = body(s, 0, pose_identity());
  joint(s, b, AB_JOINT_FREE);
  geom(s, b, AB_SHAPE_BOX, v3(1, 1, 1), at(0, 0, 1));
  abGeomDef d = ab_geom_def();
  d.body = b;
  d.type = AB_SHAPE_SPHERE;
  d.size.x = 9;
  d.contype = d.conaffinity = 0;
  int ghost = ab_scene_add_geom(s, &d, NULL);
  abModel* m = compile(s);
  assert_int_equal(m->hull[m->body[1].hull].type, AB_SHAPE_MESH);
  check_near(m->hull[m->body[1].hull].poly->volume, 8, 0);
  check_vec_near(m->hull[m->body[1].hull].poly->centroid, v3(0, 0, 1), 0);
  ab_model_free(m);
  // named in a pair it does collide
  abPairDef p = ab_pair_def();
  p.geom1 = ghost;
  p.geom2 = geom(s, 0, AB_SHAPE_PLANE, v3(1, 1, 1), pose_identity());
  assert_int_equal(ab_scene_add_pair(s, &p, NULL), 0);
  m = compile(s);
  check_near(m->hull[m->body[1].hull].poly->radius, 9, 1e-14);
  // the plane is the world's and comes first when compiled
  assert_int_equal(m->pair_rule[0].geom1, 0);
  assert_int_equal(m->pair_rule[0].geom2, 2);
  ab_model_free(m);
  ab_scene_free(s);
}

// --- keyframes, actuators, names, one block ---

static void keyframe_velocities_are_converted(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  Random r = {9};
  int b = body(s, 0, pose_identity());
  joint(s, b, AB_JOINT_FREE);
  abVec3 com = v3(0.1, 0.2, 0.3);
  geom(s, b, AB_SHAPE_SPHERE, v3(0.1, 0, 0), (abPose){com, {1, 0, 0, 0}});
  abQuat R = random_rotation(&r);
  abVec3 v = random_vec(&r, 1), w = random_vec(&r, 5);
  double q[7] = {1, 2, 3, 2 * R.w, 2 * R.x, 2 * R.y, 2 * R.z},
         qv[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
  abKeyDef d = ab_key_def();
  d.nq = 7, d.q = q, d.nv = 6, d.v = qv;
  d.time = 4;
  ab_scene_add_key(s, &d, NULL);
  d = ab_key_def();
  d.name = "rest";
  ab_scene_add_key(s, &d, NULL);
  abModel* m = compile(s);
  const abKey* k = &m->key[0];
  assert_string_equal(k->name, "key0");
  check_near(k->time, 4, 0);
  check_near(m->key_q[3], R.w, 1e-15);
  abVec3 w_world = quat_rotate(R, w), lever = quat_rotate(R, com);
  check_vec_near(v3(m->key_v[3], m->key_v[4], m->key_v[5]), w_world, 1e-14);
  check_vec_near(v3(m->key_v[0], m->key_v[1], m->key_v[2]), v3_add(v, v3_cross(w_world, lever)),
                 1e-14);
  assert_int_equal(ab_find_key(m, "rest"), 1);
  for (int i = 0; i < 7; i++) check_near(m->key_q[7 + i], m->q0[i], 0);
  for (int i = 0; i < 6; i++) check_near(m->key_v[6 + i], 0, 0);
  ab_model_free(m);
  ab_scene_free(s);
}

static void reference_angles_are_the_initial_coordinates(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  abJointDef d = ab_joint_def();
  d.body = body(s, 0, at(1, 0, 0));
  d.ref = 0.5;
  d.springref = 0.25;
  d.axis = v3(0, 3, 4);
  d.limited = true;
  d.range[0] = -1, d.range[1] = 2;
  ab_scene_add_joint(s, &d, NULL);
  geom(s, d.body, AB_SHAPE_SPHERE, v3(0.1, 0, 0), pose_identity());
  abModel* m = compile(s);
  check_near(m->q0[0], 0.5, 0);
  check_vec_near(m->joint[0].axis, v3(0, 0.6, 0.8), 3e-16);  // two roundings
  check_near(m->joint[0].springref, 0.25, 0);
  check_near(m->joint[0].range[1], 2, 0);
  ab_model_free(m);
  ab_scene_free(s);
}

static void generated_names_avoid_given_ones(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  abBodyDef d = ab_body_def();
  d.name = "body2";
  ab_scene_add_body(s, &d, NULL);
  body(s, 0, pose_identity());
  abModel* m = compile(s);
  assert_string_equal(m->body[1].name, "body2");
  assert_string_equal(m->body[2].name, "body2_");
  ab_model_free(m);
  ab_scene_free(s);
}

static void everything_lies_in_one_block(void** state) {
  (void)state;
  abScene* s = forest(false);
  static const abVec3 point[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh_geom(s, 1, cloud(s, 4, point, AB_MESH_INERTIA_LEGACY), pose_identity());
  abActuatorDef a = ab_actuator_def();
  a.joint = ab_scene_find_joint(s, "nothing") + 1;
  ab_scene_add_actuator(s, &a, NULL);
  ab_scene_add_exclude(s, 3, 1, NULL);
  ab_scene_set(s, "tolerance", 1e-6, NULL);
  abKeyDef k = ab_key_def();
  ab_scene_add_key(s, &k, NULL);
  ab_scene_option(s)->name = "forest";
  ab_scene_option(s)->contact = "patch";
  abModel* m = compile(s);
  ab_scene_free(s);
  const char *low = (const char*)m, *high = low + m->bytes;
#define INSIDE(p) assert_true((const char*)(p) >= low && (const char*)(p) < high)
  INSIDE(m->name);
  INSIDE(m->contact);
  INSIDE(m->setting[0].name);
  INSIDE(m->actuator[0].name);
  INSIDE(m->exclude);
  INSIDE(m->mover);
  INSIDE(m->q0);
  INSIDE(m->dof_armature);
  INSIDE(m->key_q);
  INSIDE(m->key_ctrl);
  INSIDE(m->hull);
  INSIDE(m->mesh[0].vert);
  INSIDE(m->mesh[0].triangle);
  for (int i = 0; i < m->nbody; i++) INSIDE(m->body[i].name);
  assert_true(m->nhull > 0);
  for (int i = 0; i < m->nhull; i++) INSIDE(m->hull[i].poly->edge);
  for (int i = 0; i < m->ngeom; i++) INSIDE(m->geom[i].shape.poly->loop);
  for (int i = 0; i < m->njoint; i++) INSIDE(m->joint[i].name);
  assert_int_equal(m->exclude[0].body1, 1);
  assert_int_equal(m->exclude[0].body2, 3);
  // the actuator named the scene's first joint, the slide of body 3: the compiled second
  assert_int_equal(m->actuator[0].joint, 1);
  ab_model_free(m);
}

static void models_scale_with_their_units(void** state) {
  (void)state;
  int nface = 0;
  for (int k = -3; k <= 3; k++) {
    double u = pow(10, k);
    abScene* s = ab_scene_create();
    int b = body(s, 0, at(0, 0, u));
    joint(s, b, AB_JOINT_FREE);
    geom(s, b, AB_SHAPE_CYLINDER, v3(0.1 * u, 0.2 * u, 0), at(0.3 * u, 0, 0));
    geom(s, b, AB_SHAPE_BOX, v3(0.1 * u, 0.2 * u, 0.1 * u), pose_identity());
    abModel* m = compile(s);
    check_near(m->extent / u, 0.5 * sqrt(0.25 + 0.16 + 0.16), 1e-14);
    check_near(m->body[1].mass / (u * u * u), 1000 * (0.004 * 3.14159265358979323846 + 0.016),
               1e-11);
    if (!nface) nface = m->hull[m->body[1].hull].poly->nface;
    assert_int_equal(m->hull[m->body[1].hull].poly->nface, nface);
    ab_model_free(m);
    ab_scene_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(empty_scene_is_a_world),
      cmocka_unit_test(box_on_plane_compiles),
      cmocka_unit_test(tree_is_depth_first_and_movers_are_consecutive),
      cmocka_unit_test(order_of_adding_decides_only_among_siblings),
      cmocka_unit_test(deep_and_wide_trees_compile),
      cmocka_unit_test(free_joint_with_a_spring_is_a_tree),
      cmocka_unit_test(mesh_box_is_the_primitive_box),
      cmocka_unit_test(scale_and_reference_frame_place_the_mesh_as_in_mujoco),
      cmocka_unit_test(equal_shapes_share_their_polyhedron),
      cmocka_unit_test(hull_holds_what_can_collide),
      cmocka_unit_test(keyframe_velocities_are_converted),
      cmocka_unit_test(reference_angles_are_the_initial_coordinates),
      cmocka_unit_test(generated_names_avoid_given_ones),
      cmocka_unit_test(everything_lies_in_one_block),
      cmocka_unit_test(models_scale_with_their_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
