// The compiler: order, trees, state, masses, hulls, keyframes, and what it refuses.
#include <abut/abut.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/polyhedron.h"
#include "math/rotation.h"
#include "support/check.h"
#include "support/random.h"

static const abQuat quarter_z = {0.70710678118654757, 0, 0, 0.70710678118654757};

static int body(abScene* s, int parent, abPose pose) {
  abBodyDef d = ab_body_def();
  d.parent = parent;
  d.pose = pose;
  return ab_scene_add_body(s, &d, NULL);
}

static int joint(abScene* s, int body, abJointType type) {
  abJointDef d = ab_joint_def();
  d.body = body;
  d.type = type;
  return ab_scene_add_joint(s, &d, NULL);
}

static int geom(abScene* s, int body, abShapeType type, abVec3 size, abPose pose) {
  abGeomDef d = ab_geom_def();
  d.body = body;
  d.type = type;
  d.size = size;
  d.pose = pose;
  return ab_scene_add_geom(s, &d, NULL);
}

static abPose at(double x, double y, double z) { return (abPose){{x, y, z}, {1, 0, 0, 0}}; }

static abModel* compile(const abScene* s) {
  abError error = {0};
  abModel* m = ab_scene_compile(s, &error);
  if (!m) fail_msg("%s:%d: %s", error.file, error.line, error.message);
  return m;
}

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
  geom(s, 0, AB_PLANE, v3(1, 1, 1), pose_identity());
  int b = body(s, 0, (abPose){{1, 2, 3}, quarter_z});
  joint(s, b, AB_JOINT_FREE);
  geom(s, b, AB_BOX, v3(0.1, 0.2, 0.3), pose_identity());
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
  assert_ptr_equal(box->hull->poly, m->geom[1].shape.poly);
  assert_int_equal(box->hull->type, AB_BOX);
  assert_null(m->body[0].hull);
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
  if (shuffled) joint(s, f, AB_JOINT_FREE), geom(s, f, AB_SPHERE, r, pose_identity());
  int b = body(s, a, at(0, 1, 0));
  if (shuffled) d = body(s, 0, at(0, 0, 1));
  int c = body(s, a, at(0, 0, 1));
  joint(s, c, AB_JOINT_SLIDE);
  joint(s, a, AB_JOINT_HINGE);
  joint(s, c, AB_JOINT_BALL);
  geom(s, c, AB_SPHERE, r, pose_identity());
  geom(s, a, AB_SPHERE, r, pose_identity());
  geom(s, b, AB_BOX, v3(0.1, 0.1, 0.1), at(0, 0, 0.5));
  geom(s, a, AB_BOX, v3(0.1, 0.2, 0.1), pose_identity());
  if (!shuffled) d = body(s, 0, at(0, 0, 1));
  int e = body(s, d, at(0, 0, 1));
  joint(s, e, AB_JOINT_HINGE);
  geom(s, e, AB_SPHERE, r, pose_identity());
  if (!shuffled) {
    f = body(s, 0, at(0, 0, 5));
    joint(s, f, AB_JOINT_FREE);
    geom(s, f, AB_SPHERE, r, pose_identity());
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
  assert_int_equal(m->geom[0].shape.type, AB_SPHERE);
  assert_int_equal(m->geom[1].shape.type, AB_BOX);
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
    geom(s, b, AB_BOX, v3(0.1, 0.1, 0.1), pose_identity());
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
  geom(s, b, AB_SPHERE, v3(1, 0, 0), pose_identity());
  abModel* m = compile(s);
  assert_true(m->mover[0].jointed);
  check_near(m->dof_damping[5], 0.1, 0);
  ab_model_free(m);
  ab_scene_free(s);
}

// --- masses ---

static abMat3 full_inertia(const abBody* b) {
  abMat3 R = quat_matrix(b->inertia_q);
  return m3_congruent_diag(&R, b->inertia);
}

static void check_matrix(const abMat3* a, const abMat3* b, double tolerance) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) check_near(a->m[i][j], b->m[i][j], tolerance);
}

static void two_half_boxes_weigh_what_one_box_does(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  abQuat q = quat_unit((abQuat){1, 0.3, -0.2, 0.5});
  int a = body(s, 0, pose_identity()), b = body(s, 0, pose_identity());
  joint(s, a, AB_JOINT_FREE);
  joint(s, b, AB_JOINT_FREE);
  geom(s, a, AB_BOX, v3(1, 2, 3), (abPose){{0.3, 0, 0}, q});
  abVec3 e = quat_rotate(q, v3(0.5, 0, 0));
  geom(s, b, AB_BOX, v3(0.5, 2, 3), (abPose){v3_add(v3(0.3, 0, 0), e), q});
  geom(s, b, AB_BOX, v3(0.5, 2, 3), (abPose){v3_sub(v3(0.3, 0, 0), e), q});
  abModel* m = compile(s);
  const abBody *one = &m->body[1], *two = &m->body[2];
  check_near(two->mass, one->mass, 1e-15 * one->mass);
  check_vec_near(two->com, one->com, 1e-15);
  abMat3 I = full_inertia(one), J = full_inertia(two);
  check_matrix(&J, &I, 1e-14 * I.m[0][0]);
  check_vec_near(one->inertia, v3_scale(48000.0 / 3, v3(13, 10, 5)), 1e-10);
  // the single geom's own axes
  check_near(one->inertia_q.w, q.w, 1e-15);
  check_near(one->inertia_q.y, q.y, 1e-15);
  // both hulls are the same box
  assert_int_equal(one->hull->poly->nvert, 8);
  assert_int_equal(two->hull->poly->nvert, 8);
  assert_int_equal(two->hull->poly->nface, 6);
  check_near(two->hull->poly->volume, 48, 1e-12);
  check_near(m->geom[1].mass, 24000, 1e-10);
  ab_model_free(m);
  ab_scene_free(s);
}

static void given_inertia_is_diagonalised(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  Random r = {1};
  abBodyDef d = ab_body_def();
  d.has_inertial = true;
  d.mass = 2;
  abMat3 R = quat_matrix(random_rotation(&r)), I = m3_congruent_diag(&R, v3(3, 2, 4));
  double full[6] = {I.m[0][0], I.m[1][1], I.m[2][2], I.m[0][1], I.m[0][2], I.m[1][2]};
  memcpy(d.inertia, full, sizeof full);
  d.inertial = (abPose){{1, 2, 3}, random_rotation(&r)};
  int b = ab_scene_add_body(s, &d, NULL);
  joint(s, b, AB_JOINT_FREE);
  geom(s, b, AB_SPHERE, v3(1, 0, 0), pose_identity());  // does not count
  abModel* m = compile(s);
  check_near(m->body[1].mass, 2, 0);
  check_vec_near(m->body[1].com, v3(1, 2, 3), 0);
  check_vec_near(m->body[1].inertia, v3(4, 3, 2), 1e-14);
  abMat3 Q = quat_matrix(d.inertial.q), Qt = m3_transpose(&Q), QI = m3_mul(&Q, &I);
  abMat3 expected = m3_mul(&QI, &Qt), actual = full_inertia(&m->body[1]);
  check_matrix(&actual, &expected, 1e-14);
  check_near(m->geom[0].mass, 0, 0);
  ab_model_free(m);
  ab_scene_free(s);
}

static void diagonal_inertia_keeps_its_axes(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  abBodyDef d = ab_body_def();
  d.has_inertial = true;
  d.mass = 2;
  d.inertia[0] = 1, d.inertia[1] = 3, d.inertia[2] = 2;
  joint(s, ab_scene_add_body(s, &d, NULL), AB_JOINT_FREE);
  abModel* m = compile(s);
  check_vec_near(m->body[1].inertia, v3(1, 3, 2), 0);
  check_near(m->body[1].inertia_q.w, 1, 0);
  ab_model_free(m);
  ab_scene_free(s);
}

static void geom_mass_beats_density(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  abGeomDef d = ab_geom_def();
  d.body = body(s, 0, pose_identity());
  d.size.x = 0.5;
  d.mass = 3;
  d.density = 1e6;
  joint(s, d.body, AB_JOINT_FREE);
  ab_scene_add_geom(s, &d, NULL);
  abModel* m = compile(s);
  check_near(m->body[1].mass, 3, 1e-15);
  check_near(m->body[1].inertia.x, 0.4 * 3 * 0.25, 1e-15);
  ab_model_free(m);
  ab_scene_free(s);
}

static void bounds_and_total_mass_act(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  int a = body(s, 0, pose_identity()), b = body(s, 0, pose_identity());
  joint(s, a, AB_JOINT_FREE);
  geom(s, a, AB_SPHERE, v3(0.01, 0, 0), pose_identity());
  geom(s, b, AB_SPHERE, v3(0.1, 0, 0), pose_identity());
  ab_scene_option(s)->settotalmass = 5;
  abModel* m = compile(s);
  check_near(m->total_mass, 5, 1e-15);
  check_near(m->body[1].mass, 0.004995004995, 1e-12);
  check_near(m->body[2].mass, 4.995004995, 1e-9);
  check_near(m->body[1].inertia.y, 1.998001998e-07, 1e-16);
  ab_model_free(m);
  ab_scene_option(s)->settotalmass = -1;
  ab_scene_option(s)->boundmass = 0.5;
  ab_scene_option(s)->boundinertia = 0.01;
  m = compile(s);
  check_near(m->body[1].mass, 0.5, 0);
  check_vec_near(m->body[1].inertia, v3(0.01, 0.01, 0.01), 0);
  check_near(m->body[2].inertia.x, 0.0167551608191, 1e-12);
  ab_model_free(m);
  ab_scene_free(s);
}

static void balanceinertia_mends_impossible_inertia(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  abBodyDef d = ab_body_def();
  d.has_inertial = true;
  d.mass = 2;
  d.inertia[0] = 1, d.inertia[1] = 1, d.inertia[2] = 4;
  joint(s, ab_scene_add_body(s, &d, NULL), AB_JOINT_FREE);
  ab_scene_option(s)->balanceinertia = true;
  abModel* m = compile(s);
  check_vec_near(m->body[1].inertia, v3(2, 2, 2), 1e-15);
  ab_model_free(m);
  ab_scene_free(s);
}

static void welded_child_lends_its_mass(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  int a = body(s, 0, pose_identity()), b = body(s, a, at(1, 0, 0));
  joint(s, a, AB_JOINT_HINGE);
  geom(s, b, AB_SPHERE, v3(0.1, 0, 0), pose_identity());
  abModel* m = compile(s);
  check_near(m->body[1].mass, 0, 0);
  assert_int_equal(m->mover[0].nbody, 2);
  ab_model_free(m);
  ab_scene_free(s);
}

// --- meshes and hulls ---

static int cloud(abScene* s, int n, const abVec3* point, abMeshInertia rule) {
  abMeshDef d = ab_mesh_def();
  d.nvert = n;
  d.vert = point;
  d.inertia = rule;
  return ab_scene_add_mesh(s, &d, NULL);
}

static int mesh_geom(abScene* s, int body, int mesh, abPose pose) {
  abGeomDef d = ab_geom_def();
  d.body = body;
  d.type = AB_MESH;
  d.mesh = mesh;
  d.pose = pose;
  return ab_scene_add_geom(s, &d, NULL);
}

static void mesh_box_is_the_primitive_box(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  abPolyhedron* p = ab_polyhedron_box(v3(0.1, 0.2, 0.3));
  for (int rule = AB_INERTIA_LEGACY; rule <= AB_INERTIA_EXACT; rule++) {
    int mesh = cloud(s, 8, p->vert, (abMeshInertia)rule), b = body(s, 0, pose_identity());
    joint(s, b, AB_JOINT_FREE);
    mesh_geom(s, b, mesh, at(1, 2, 3));
  }
  int b = body(s, 0, pose_identity());
  joint(s, b, AB_JOINT_FREE);
  geom(s, b, AB_BOX, v3(0.1, 0.2, 0.3), at(1, 2, 3));
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
  d.inertia = AB_INERTIA_EXACT;
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
    geom(s, b, AB_SPHERE, v3(0.1, i, 0), pose_identity());  // the second size means nothing
  }
  abModel* m = compile(s);
  for (int i = 1; i < 50; i++) {
    assert_ptr_equal(m->geom[i].shape.poly, m->geom[0].shape.poly);
    assert_ptr_equal(m->body[i].hull->poly, m->geom[0].shape.poly);
    assert_int_equal(m->body[i].hull->type, AB_SPHERE);
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
  geom(s, b, AB_BOX, v3(1, 1, 1), at(0, 0, 1));
  abGeomDef d = ab_geom_def();
  d.body = b;
  d.type = AB_SPHERE;
  d.size.x = 9;
  d.contype = d.conaffinity = 0;
  int ghost = ab_scene_add_geom(s, &d, NULL);
  abModel* m = compile(s);
  assert_int_equal(m->body[1].hull->type, AB_MESH);
  check_near(m->body[1].hull->poly->volume, 8, 0);
  check_vec_near(m->body[1].hull->poly->centroid, v3(0, 0, 1), 0);
  ab_model_free(m);
  // named in a pair it does collide
  abPairDef p = ab_pair_def();
  p.geom1 = ghost;
  p.geom2 = geom(s, 0, AB_PLANE, v3(1, 1, 1), pose_identity());
  assert_int_equal(ab_scene_add_pair(s, &p, NULL), 0);
  m = compile(s);
  check_near(m->body[1].hull->poly->radius, 9, 1e-14);
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
  geom(s, b, AB_SPHERE, v3(0.1, 0, 0), (abPose){com, {1, 0, 0, 0}});
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
  check_near(k->q[3], R.w, 1e-15);
  abVec3 w_world = quat_rotate(R, w), lever = quat_rotate(R, com);
  check_vec_near(v3(k->v[3], k->v[4], k->v[5]), w_world, 1e-14);
  check_vec_near(v3(k->v[0], k->v[1], k->v[2]), v3_add(v, v3_cross(w_world, lever)), 1e-14);
  assert_int_equal(ab_find_key(m, "rest"), 1);
  for (int i = 0; i < 7; i++) check_near(m->key[1].q[i], m->q0[i], 0);
  for (int i = 0; i < 6; i++) check_near(m->key[1].v[i], 0, 0);
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
  geom(s, d.body, AB_SPHERE, v3(0.1, 0, 0), pose_identity());
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
  mesh_geom(s, 1, cloud(s, 4, point, AB_INERTIA_LEGACY), pose_identity());
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
  INSIDE(m->key[0].q);
  INSIDE(m->key[0].ctrl);
  INSIDE(m->mesh[0].vert);
  INSIDE(m->mesh[0].triangle);
  for (int i = 0; i < m->nbody; i++) {
    INSIDE(m->body[i].name);
    if (m->body[i].hull) INSIDE(m->body[i].hull->poly->edge);
  }
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
    geom(s, b, AB_CYLINDER, v3(0.1 * u, 0.2 * u, 0), at(0.3 * u, 0, 0));
    geom(s, b, AB_BOX, v3(0.1 * u, 0.2 * u, 0.1 * u), pose_identity());
    abModel* m = compile(s);
    check_near(m->extent / u, 0.5 * sqrt(0.25 + 0.16 + 0.16), 1e-14);
    check_near(m->body[1].mass / (u * u * u), 1000 * (0.004 * 3.14159265358979323846 + 0.016),
               1e-11);
    if (!nface) nface = m->body[1].hull->poly->nface;
    assert_int_equal(m->body[1].hull->poly->nface, nface);
    ab_model_free(m);
    ab_scene_free(s);
  }
}

// --- refusals ---

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
  geom(s, a, AB_SPHERE, v3(1, 0, 0), pose_identity());
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
  g.type = AB_PLANE;
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
    if (i == 2) d.ntriangle = 4, d.triangle = inward, d.inertia = AB_INERTIA_EXACT;
    ab_scene_add_mesh(s, &d, NULL);
    abGeomDef g = ab_geom_def();
    g.body = body(s, 0, pose_identity());
    g.type = AB_MESH;
    g.mesh = 0;
    g.source = here;
    ab_scene_add_geom(s, &g, NULL);
    expect_refused(s, i == 0 ? "one plane" : i == 1 ? "3 points" : "negative volume");
  }
}

static void keyframes_of_the_wrong_size_are_refused(void** state) {
  (void)state;
  double x[7] = {0};
  for (int i = 0; i < 4; i++) {
    abScene* s = ab_scene_create();
    int b = body(s, 0, pose_identity());
    joint(s, b, AB_JOINT_FREE);
    geom(s, b, AB_SPHERE, v3(1, 0, 0), pose_identity());
    abKeyDef d = ab_key_def();
    d.source = here;
    if (i == 0) d.nq = 6, d.q = x;
    if (i == 1) d.nv = 7, d.v = x;
    if (i == 2) d.nctrl = 1, d.ctrl = x;
    if (i == 3) d.nq = 7, d.q = x;
    ab_scene_add_key(s, &d, NULL);
    static const char* const word[] = {"qpos has 6", "qvel has 7", "ctrl has 1", "zero quaternion"};
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
  g.type = AB_MESH;
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
      cmocka_unit_test(empty_scene_is_a_world),
      cmocka_unit_test(box_on_plane_compiles),
      cmocka_unit_test(tree_is_depth_first_and_movers_are_consecutive),
      cmocka_unit_test(order_of_adding_decides_only_among_siblings),
      cmocka_unit_test(deep_and_wide_trees_compile),
      cmocka_unit_test(free_joint_with_a_spring_is_a_tree),
      cmocka_unit_test(two_half_boxes_weigh_what_one_box_does),
      cmocka_unit_test(given_inertia_is_diagonalised),
      cmocka_unit_test(diagonal_inertia_keeps_its_axes),
      cmocka_unit_test(geom_mass_beats_density),
      cmocka_unit_test(bounds_and_total_mass_act),
      cmocka_unit_test(balanceinertia_mends_impossible_inertia),
      cmocka_unit_test(welded_child_lends_its_mass),
      cmocka_unit_test(mesh_box_is_the_primitive_box),
      cmocka_unit_test(scale_and_reference_frame_place_the_mesh_as_in_mujoco),
      cmocka_unit_test(equal_shapes_share_their_polyhedron),
      cmocka_unit_test(hull_holds_what_can_collide),
      cmocka_unit_test(keyframe_velocities_are_converted),
      cmocka_unit_test(reference_angles_are_the_initial_coordinates),
      cmocka_unit_test(generated_names_avoid_given_ones),
      cmocka_unit_test(everything_lies_in_one_block),
      cmocka_unit_test(models_scale_with_their_units),
      cmocka_unit_test(impossible_bodies_are_refused),
      cmocka_unit_test(misplaced_joints_and_planes_are_refused),
      cmocka_unit_test(flat_and_open_meshes_are_refused),
      cmocka_unit_test(keyframes_of_the_wrong_size_are_refused),
      cmocka_unit_test(impossible_options_are_refused),
      cmocka_unit_test(running_out_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
