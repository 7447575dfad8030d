// From motion back to contact: exact on the model's own steps.
#include <abut/inverse.h>

#include "oracle/ecp_world.h"
#include "support/check.h"
#include "support/random.h"

static const abShape plane = {.type = AB_SHAPE_PLANE};
static EcpWorld w;
static Solid solid;

static abMat3 inertia_at(abQuat q) {
  abMat3 R = quat_matrix(q), Rt = m3_transpose(&R), RI = m3_mul(&R, &w.inertia_body[1]);
  return m3_mul(&RI, &Rt);
}

static abInverseDef last_step(void) {
  return (abInverseDef){.h = w.h,
                        .mass = w.mass[1],
                        .inertia_start = inertia_at(w.before[1].q),
                        .inertia_end = inertia_at(w.body[1].q),
                        .twist_start = w.before[1].twist,
                        .twist_end = w.body[1].twist,
                        .com_end = w.body[1].com,
                        .load = w.before[1].load,
                        .plane = {quat_rotate(w.fixed_pose[0].q, v3(0, 0, 1)), 0},
                        .explicit_gyro = w.gyro == 0};
}

// Point and wrench of every step that touches; in flight, none.
static void inverse_returns_point_and_wrench_of_every_step(void** state) {
  (void)state;
  for (int i = 0; i < 40; i++) {
    Random r = {900 + 31u * (uint64_t)i};
    ecpw_init(&w, 0.01, i % 2);
    w.mu = 0.3, w.e_r = 0.1;
    solid_box(&solid, v3(0.2, 0.3, 0.4));
    ecpw_add_body(&w, &solid.shape, 3, inertia_of_box(3, v3(0.2, 0.3, 0.4)),
                  (abPose){{0, 0, 0.7}, random_rotation(&r)});
    ecpw_add_fixed(&w, &plane, (abPose){{0, 0, 0}, quat_from_axis_angle(v3(1, 2, 0), 0.01 * i)});
    w.body[1].twist = (abTwist){random_vec(&r, 1), random_vec(&r, 4)};
    for (int k = 0; k < 150; k++) {
      ecpw_step(&w);
      abInverseDef def = last_step();
      abInverseContact c;
      assert_int_equal(ab_contact_inverse(&def, &c, NULL), AB_OK);
      const abPairSolution* s = &w.solution[0];
      assert_int_equal(c.touching, s->kind != AB_PATCH_NONE);
      if (!c.touching) continue;
      // rounding of momenta of some m |v|, over the impulse that is their difference
      double loss = 1e-14 * 3 * 4 / v3_norm(s->impulse.force);
      check_vec_near(c.point, s->point, 1e-10 + loss);
      check_vec_near(c.impulse.force, s->impulse.force, 1e-12);
      check_vec_near(c.impulse.torque, s->impulse.torque, 1e-11);
      for (int j = 0; j < 3; j++) check_near(c.slip[j], s->slip[j], 1e-9 + 10 * loss);
    }
    ecpw_free(&w);
  }
}

static void impulse_that_pulls_is_refused(void** state) {
  (void)state;
  ecpw_init(&w, 0.01, 1);
  solid_box(&solid, v3(0.5, 0.5, 0.5));
  ecpw_add_body(&w, &solid.shape, 1, v3(1, 1, 1), (abPose){{0, 0, 0.5}, {1, 0, 0, 0}});
  ecpw_add_fixed(&w, &plane, pose_identity());
  ecpw_step(&w);
  abInverseDef def = last_step();
  def.twist_end.lin.z = -1;
  abInverseContact c;
  abError error;
  assert_int_equal(ab_contact_inverse(&def, &c, &error), AB_ERROR_NUMERIC);
  def.mass = 0;
  assert_int_equal(ab_contact_inverse(&def, &c, &error), AB_ERROR_ARGUMENT);
  ecpw_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inverse_returns_point_and_wrench_of_every_step),
      cmocka_unit_test(impulse_that_pulls_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
