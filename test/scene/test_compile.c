// The compiler: order, trees, state, masses, hulls, keyframes, and what it refuses.
#include <abut/scene.h>
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(empty_scene_is_a_world),
      cmocka_unit_test(box_on_plane_compiles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
