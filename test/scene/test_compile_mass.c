// The compiler: masses and inertias.
#include <abut/abut.h>
#include <stdlib.h>
#include <string.h>

#include "math/rotation.h"
#include "scene/small_scene.h"
#include "support/check.h"
#include "support/random.h"

static void two_half_boxes_weigh_what_one_box_does(void** state) {
  (void)state;
  abScene* s = ab_scene_create();
  abQuat q = quat_unit((abQuat){1, 0.3, -0.2, 0.5});
  int a = body(s, 0, pose_identity()), b = body(s, 0, pose_identity());
  joint(s, a, AB_JOINT_FREE);
  joint(s, b, AB_JOINT_FREE);
  geom(s, a, AB_SHAPE_BOX, v3(1, 2, 3), (abPose){{0.3, 0, 0}, q});
  abVec3 e = quat_rotate(q, v3(0.5, 0, 0));
  geom(s, b, AB_SHAPE_BOX, v3(0.5, 2, 3), (abPose){v3_add(v3(0.3, 0, 0), e), q});
  geom(s, b, AB_SHAPE_BOX, v3(0.5, 2, 3), (abPose){v3_sub(v3(0.3, 0, 0), e), q});
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
  assert_int_equal(m->hull[one->hull].poly->nvert, 8);
  assert_int_equal(m->hull[two->hull].poly->nvert, 8);
  assert_int_equal(m->hull[two->hull].poly->nface, 6);
  check_near(m->hull[two->hull].poly->volume, 48, 1e-12);
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
  geom(s, b, AB_SHAPE_SPHERE, v3(1, 0, 0), pose_identity());  // does not count
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
  geom(s, a, AB_SHAPE_SPHERE, v3(0.01, 0, 0), pose_identity());
  geom(s, b, AB_SHAPE_SPHERE, v3(0.1, 0, 0), pose_identity());
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
  geom(s, b, AB_SHAPE_SPHERE, v3(0.1, 0, 0), pose_identity());
  abModel* m = compile(s);
  check_near(m->body[1].mass, 0, 0);
  assert_int_equal(m->mover[0].nbody, 2);
  ab_model_free(m);
  ab_scene_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_half_boxes_weigh_what_one_box_does),
      cmocka_unit_test(given_inertia_is_diagonalised),
      cmocka_unit_test(diagonal_inertia_keeps_its_axes),
      cmocka_unit_test(geom_mass_beats_density),
      cmocka_unit_test(bounds_and_total_mass_act),
      cmocka_unit_test(balanceinertia_mends_impossible_inertia),
      cmocka_unit_test(welded_child_lends_its_mass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
