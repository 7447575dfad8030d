// Closed forms of a body that slides, sticks, tips or spins on a plane (n vertical, gravity g,
// centre of mass at height H). The scheme's own closed forms hold to rounding; the tolerance 1e-10
// in SI units leaves room for the accumulation of some hundred steps.
#include <stdio.h>

#include "oracle/ecp_world.h"
#include "support/check.h"
#include "support/random.h"

static const double G = 9.8;
static const abShape plane = {.type = AB_SHAPE_PLANE};
static EcpWorld w;
static Solid solid;

static abPose at(double x, double y, double z) { return (abPose){{x, y, z}, {1, 0, 0, 0}}; }

static void box_on_plane(abVec3 half, double mass, double h, double mu) {
  ecpw_init(&w, h, 1);
  w.mu = mu;
  solid_box(&solid, half);
  ecpw_add_body(&w, &solid.shape, mass, inertia_of_box(mass, half), at(0, 0, half.z));
  ecpw_add_fixed(&w, &plane, pose_identity());
}

static void cube_on_plane(double h, double mu) { box_on_plane(v3(0.5, 0.5, 0.5), 1, h, mu); }

static abVec3 ecp_offset(void) { return v3_sub(w.solution[0].point, w.body[1].com); }

static void slide(double h) {
  cube_on_plane(h, 0.12);
  w.body[1].twist.lin = v3(4, 3, 0);
  int nslip = (int)floor(5 / (h * 0.12 * G));
  for (int k = 1; k <= nslip; k++) {
    ecpw_step(&w);
    double v = 5 - k * h * 0.12 * G, s = h * (k * 5 - h * 0.12 * G * k * (k + 1) / 2);
    check_vec_near(w.body[1].twist.lin, v3(0.8 * v, 0.6 * v, 0), 1e-11);
    check_vec_near(w.body[1].com, v3(0.8 * s, 0.6 * s, 0.5), 1e-10);
    check_vec_near(ecp_offset(), v3(0.048, 0.036, -0.5), 1e-11);
    check_below(w.result.residual, 1e-10);
    assert_int_equal(w.solution[0].mode, AB_CONTACT_SLIP);
    assert_int_equal(w.solution[0].nfacet, 1);
  }
  ecpw_step(&w);
  assert_int_equal(w.solution[0].mode, AB_CONTACT_STICK);
  check_vec_near(w.body[1].twist.lin, v3_zero(), 1e-12);
  ecpw_free(&w);
}

static void sliding_cube_follows_the_closed_form_of_the_scheme(void** state) {
  (void)state;
  slide(0.01);
  slide(0.00125);
}

static void cube_slide_reaches_the_published_place(void** state) {
  (void)state;
  cube_on_plane(0.01, 0.12);
  w.body[1].twist.lin = v3(4, 3, 0);
  for (int k = 0; k < 400; k++) ecpw_step(&w);
  check_vec_near(w.body[1].com, v3(8.454784, 6.341088, 0.5), 1e-10);
  for (int k = 400; k < 500; k++) ecpw_step(&w);
  check_near(v3_norm(v3(w.body[1].com.x, w.body[1].com.y, 0)), 10.604260, 1e-9);
  check_vec_near(w.body[1].twist.ang, v3_zero(), 1e-12);
  ecpw_free(&w);
}

static void sliding_box_tips_only_beyond_its_footprint(void** state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    box_on_plane(v3(0.2, 0.2, 0.5), 2, 0.01, (i ? 1.001 : 0.999) * 0.2 / 0.5);
    w.body[1].twist.lin = v3(3, 0, 0);
    ecpw_step(&w);
    assert_int_equal(w.solution[0].kind, i ? AB_PATCH_LINE : AB_PATCH_SURFACE);
    check_below(w.result.residual, 1e-10);
    ecpw_free(&w);
  }
}

static void push_slips_only_beyond_friction(void** state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    double F = (i ? 1.0001 : 0.9999) * 0.12 * G;
    cube_on_plane(0.01, 0.12);
    w.applied[1].force = v3(F, 0, 0);
    ecpw_step(&w);
    check_near(w.body[1].twist.lin.x, i ? (F - 0.12 * G) * 0.01 : 0, 1e-12);
    assert_int_equal(w.solution[0].mode, i ? AB_CONTACT_SLIP : AB_CONTACT_STICK);
    ecpw_free(&w);
  }
}

static void push_tips_only_beyond_the_moment_of_weight(void** state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    box_on_plane(v3(0.2, 0.2, 0.5), 1, 0.01, 3);
    w.applied[1].force = v3((i ? 1.001 : 0.999) * G * 0.2 / 0.5, 0, 0);
    ecpw_step(&w);
    assert_int_equal(w.solution[0].kind, i ? AB_PATCH_LINE : AB_PATCH_SURFACE);
    ecpw_free(&w);
  }
}

static void rest_sticks_within_the_friction_ellipsoid(void** state) {
  (void)state;
  Random r = {11};
  for (int i = 0; i < 60; i++) {
    abVec3 d = random_direction(&r);
    for (int side = 0; side < 2; side++) {
      cube_on_plane(0.01, 0.12);
      w.e_t = 1.3, w.e_o = 0.7, w.e_r = 0.2;
      double size = 0.12 * G * (side ? 1 + 1e-4 : 1 - 1e-4);
      w.applied[1].force = v3(w.e_t * d.x * size, w.e_o * d.y * size, 0);
      w.applied[1].torque = v3(0, 0, w.e_r * d.z * size);
      ecpw_step(&w);
      assert_int_equal(w.solution[0].mode, side ? AB_CONTACT_SLIP : AB_CONTACT_STICK);
      ecpw_free(&w);
    }
  }
}

static void ramp(double angle, double mu, bool sticks) {
  cube_on_plane(0.01, mu);
  abQuat tilt = quat_from_axis_angle(v3(0, 1, 0), angle);
  w.fixed_pose[0].q = tilt;
  w.body[1].q = tilt;
  w.body[1].com = quat_rotate(tilt, v3(0, 0, 0.5));
  abVec3 down = quat_rotate(tilt, v3(1, 0, 0)), up = quat_rotate(tilt, v3(0, 0, 1));
  for (int k = 1; k <= 100; k++) {
    ecpw_step(&w);
    double v = sticks ? 0 : k * 0.01 * G * (sin(angle) - mu * cos(angle));
    check_vec_near(w.body[1].twist.lin, v3_scale(v, down), 1e-11);
    double offset = 0.5 * (sticks ? tan(angle) : mu);
    check_vec_near(ecp_offset(), v3_axpy(-0.5, up, v3_scale(offset, down)), 1e-11);
  }
  ecpw_free(&w);
}

static void ramp_holds_or_slides_by_its_angle(void** state) {
  (void)state;
  ramp(atan(0.999 * 0.4), 0.4, true);
  ramp(atan(0.6), 0.4, false);
}

static void flat_drop_lands_in_two_steps(void** state) {
  (void)state;
  cube_on_plane(0.01, 0.3);
  double gap = 0.0123, v = -1.7;
  w.body[1].com.z += gap;
  w.body[1].twist.lin.z = v;
  ecpw_step(&w);
  check_near(w.body[1].twist.lin.z, -gap / 0.01, 1e-12);
  check_near(w.solution[0].impulse.force.z, -gap / 0.01 - v + G * 0.01, 1e-12);
  ecpw_step(&w);
  check_near(w.body[1].twist.lin.z, 0, 1e-12);
  check_near(w.body[1].com.z, 0.5, 1e-13);
  ecpw_free(&w);
}

// A slab whose centre of mass lies in the contact plane: friction has no moment to tilt it.
static void slab(double mass, double Iz, double e_r, double h, double mu) {
  ecpw_init(&w, h, 1);
  w.mu = mu, w.e_r = e_r;
  solid_box(&solid, v3(0.5, 0.5, 0.1));
  ecpw_add_body(&w, &solid.shape, mass, v3(Iz, Iz, Iz), at(0, 0, 0));
  w.shape_pose[1].p.z = 0.1;
  ecpw_add_fixed(&w, &plane, pose_identity());
}

static void slide_and_spin_shrink_on_a_straight_line(void** state) {
  (void)state;
  double m = 2, Iz = 0.3, h = 0.01, mu = 0.2;
  slab(m, Iz, sqrt(Iz / m), h, mu);
  abVec3 v0 = v3(1.2, -0.5, 2);
  w.body[1].twist = (abTwist){{v0.x, v0.y, 0}, {0, 0, v0.z}};
  double size0 = sqrt(v0.x * v0.x + v0.y * v0.y + Iz / m * v0.z * v0.z);
  for (int k = 1; k <= 60; k++) {
    ecpw_step(&w);
    double ratio = 1 - k * h * mu * G / size0;
    check_vec_near(v3(w.body[1].twist.lin.x, w.body[1].twist.lin.y, w.body[1].twist.ang.z),
                   v3_scale(ratio, v0), 1e-12);
  }
  ecpw_free(&w);
}

static void slip_by_any_ellipsoid_solves_its_scalar_equation(void** state) {
  (void)state;
  double m = 2, Iz = 0.3, h = 0.01, mu = 0.2, e[3] = {1.4, 0.6, 0.25};
  slab(m, Iz, e[2], h, mu);
  w.e_t = e[0], w.e_o = e[1];
  double nu[3] = {1.2, -0.5, 2}, k[3] = {1, 1, m / Iz};
  w.body[1].twist = (abTwist){{nu[0], nu[1], 0}, {0, 0, nu[2]}};
  for (int step = 0; step < 20; step++) {
    double low = 0, high = 100;  // bisection on sigma
    for (int i = 0; i < 200; i++) {
      double sigma = 0.5 * (low + high), sum = 0;
      for (int j = 0; j < 3; j++) {
        double c = h * mu * G * k[j] * e[j] * e[j], q = e[j] * nu[j] / (sigma + c);
        sum += q * q;
      }
      *(sum > 1 ? &low : &high) = sigma;
    }
    for (int j = 0; j < 3; j++) nu[j] *= low / (low + h * mu * G * k[j] * e[j] * e[j]);
    ecpw_step(&w);
    check_near(w.body[1].twist.lin.x, nu[0], 1e-12);
    check_near(w.body[1].twist.lin.y, nu[1], 1e-12);
    check_near(w.body[1].twist.ang.z, nu[2], 1e-12);
  }
  ecpw_free(&w);
}

static void spin_slows_by_the_torsional_length(void** state) {
  (void)state;
  cube_on_plane(0.01, 0.12);
  w.e_r = 0.3;
  w.body[1].twist.ang.z = 5;
  for (int k = 1; k <= 200; k++) {
    ecpw_step(&w);
    check_near(w.body[1].twist.ang.z, 5 - k * 0.01 * 0.12 * G * 0.3 * 6, 1e-11);
  }
  ecpw_free(&w);
}

// Pure spin under uniform pressure: I w0 / (mu m g rbar), rbar = 0.382598 a.
static void torsion_comes_from_the_patch(void** state) {
  (void)state;
  cube_on_plane(0.01, 0.12);
  w.e_r = -1;
  w.body[1].twist.ang.z = 5;
  ecpw_step(&w);
  check_near((5 - w.body[1].twist.ang.z) / (0.01 * 0.12 * G * 6), 0.38259785823210635, 1e-12);
  ecpw_free(&w);

  abShape disc = {.type = AB_SHAPE_CYLINDER, .size = {0.4, 0.2, 0}};
  ecpw_init(&w, 0.01, 1);
  w.mu = 0.12, w.e_r = -1;
  ecpw_add_body(&w, &disc, 1, v3(1, 1, 1), at(0, 0, 0.2));
  ecpw_add_fixed(&w, &plane, pose_identity());
  w.body[1].twist.ang.z = 5;
  ecpw_step(&w);
  check_near((5 - w.body[1].twist.ang.z) / (0.01 * 0.12 * G), 0.4 * 2 / 3, 1e-12);
  ecpw_free(&w);

  ecpw_init(&w, 0.01, 1);
  w.mu = 0.12, w.e_r = -1;
  ecpw_add_body(&w, &disc, 1, v3(1, 1, 1), at(0, 0, 0.4));
  w.body[1].q = quat_from_axis_angle(v3(0, 1, 0), 1.5707963267948966);
  ecpw_add_fixed(&w, &plane, pose_identity());
  w.body[1].twist.ang.z = 5;
  ecpw_step(&w);
  assert_int_equal(w.solution[0].kind, AB_PATCH_LINE);
  check_near((5 - w.body[1].twist.ang.z) / (0.01 * 0.12 * G), 0.4 / 4, 1e-3);
  ecpw_free(&w);
}

static void sliding_friction_dissipates_what_the_ellipsoid_allows(void** state) {
  (void)state;
  cube_on_plane(0.01, 0.12);
  w.e_r = 0.3;
  w.body[1].twist = (abTwist){{2, 1, 0}, {0, 0, 3}};
  for (int i = 0; i < 50; i++) {
    double spin = w.body[1].twist.ang.z;
    ecpw_step(&w);
    const abPairSolution* s = &w.solution[0];
    double p[3] = {s->impulse.force.x, s->impulse.force.y, s->impulse.torque.z};
    double sigma =
        sqrt(s->slip[0] * s->slip[0] + s->slip[1] * s->slip[1] + 0.09 * s->slip[2] * s->slip[2]);
    double power = p[0] * s->slip[0] + p[1] * s->slip[1] + p[2] * s->slip[2];
    check_near(power, -0.12 * s->impulse.force.z * sigma, 1e-13);
    // friction is turned from -v of the centre of mass by atan(mu w H / sigma)
    abVec3 v = w.body[1].twist.lin;
    double turn = atan2(-p[1] * v.x + p[0] * v.y, -p[0] * v.x - p[1] * v.y);
    check_near(turn, atan(0.12 * w.body[1].twist.ang.z * 0.5 / sigma), 1e-11);
    check_near(w.body[1].twist.ang.z, spin + p[2] * 6, 1e-12);
  }
  ecpw_free(&w);
}

// Moments about x and y of a flat slider locate the point, whatever its inertia.
static void contact_point_balances_the_moments(void** state) {
  (void)state;
  cube_on_plane(0.01, 0.12);
  w.inertia_body[1] = (abMat3){{{0.3, 0.02, 0}, {0.02, 0.2, 0}, {0, 0, 0.25}}};
  w.body[1].twist = (abTwist){{2, 1, 0}, {0, 0, 3}};
  w.applied[1] = (abWrench){{0.3, -0.2, -1}, {0.4, -0.7, 0.1}};
  for (int i = 0; i < 20; i++) {
    ecpw_step(&w);
    abVec3 P = w.solution[0].impulse.force, r = ecp_offset();
    double H = 0.5, tx = 0.01 * 0.4, ty = 0.01 * -0.7;
    check_near(r.x, (-H * P.x + ty) / P.z, 1e-12);
    check_near(r.y, -(H * P.y + tx) / P.z, 1e-12);
    check_near(P.z, 0.01 * (G + 1), 1e-13);
  }
  ecpw_free(&w);
}

static void impulse_starts_motion_less_friction(void** state) {
  (void)state;
  cube_on_plane(0.01, 0.2);
  w.applied[1].force = v3(10 / 0.01, 0, 0);
  ecpw_step(&w);
  check_near(w.body[1].twist.lin.x, 10 - 0.2 * G * 0.01, 1e-12);
  ecpw_free(&w);
}

static void static_friction_holds_more_than_kinetic(void** state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    cube_on_plane(0.01, 0.1);
    w.mu_static = 0.2;
    w.applied[1].force = v3((i ? 0.201 : 0.199) * G, 0, 0);
    ecpw_step(&w);
    check_near(w.body[1].twist.lin.x, i ? 0.101 * G * 0.01 : 0, 1e-12);
    ecpw_free(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sliding_cube_follows_the_closed_form_of_the_scheme),
      cmocka_unit_test(cube_slide_reaches_the_published_place),
      cmocka_unit_test(sliding_box_tips_only_beyond_its_footprint),
      cmocka_unit_test(push_slips_only_beyond_friction),
      cmocka_unit_test(push_tips_only_beyond_the_moment_of_weight),
      cmocka_unit_test(rest_sticks_within_the_friction_ellipsoid),
      cmocka_unit_test(ramp_holds_or_slides_by_its_angle),
      cmocka_unit_test(flat_drop_lands_in_two_steps),
      cmocka_unit_test(slide_and_spin_shrink_on_a_straight_line),
      cmocka_unit_test(slip_by_any_ellipsoid_solves_its_scalar_equation),
      cmocka_unit_test(spin_slows_by_the_torsional_length),
      cmocka_unit_test(torsion_comes_from_the_patch),
      cmocka_unit_test(sliding_friction_dissipates_what_the_ellipsoid_allows),
      cmocka_unit_test(contact_point_balances_the_moments),
      cmocka_unit_test(impulse_starts_motion_less_friction),
      cmocka_unit_test(static_friction_holds_more_than_kinetic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
