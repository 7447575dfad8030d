// How the friction of two geoms becomes that of the pair.
#include "collide/surface.h"

#include "support/check.h"

static abGeom geom(double mu) {
  return (abGeom){
      .condim = 3, .friction = {mu, 0.005, 1e-4}, .mu_static = -1, .e_t = 1, .e_o = 1, .e_r = -1};
}

static abSurface combine(const abGeom* a, const abGeom* b, const abModel* rest) {
  abGeom pair[2] = {*a, *b};
  abModel model = rest ? *rest : (abModel){0};
  model.ngeom = 2;
  model.geom = pair;
  abSurface s = ab_surface(&model, 0, 1), t = ab_surface(&model, 1, 0);
  // either order gives the same numbers
  assert_memory_equal(&s, &t, offsetof(abSurface, condim));
  assert_int_equal(s.condim, t.condim);
  return s;
}

static void larger_number_counts(void** state) {
  (void)state;
  abGeom a = geom(0.3), b = geom(0.5);
  a.restitution = 0.2, a.condim = 4;
  abSurface s = combine(&a, &b, NULL);
  check_near(s.mu_kinetic, 0.5, 0);
  check_near(s.mu_static, 0.5, 0);
  check_near(s.restitution, 0.2, 0);
  check_near(s.e_r, -1, 0);
  assert_int_equal(s.condim, 4);
}

static void higher_priority_decides_alone(void** state) {
  (void)state;
  abGeom a = geom(0.3), b = geom(0.5);
  a.priority = 1, a.mu_static = 0.4, b.mu_static = 0.9, b.restitution = 1, b.condim = 6;
  abSurface s = combine(&a, &b, NULL);
  check_near(s.mu_kinetic, 0.3, 0);
  check_near(s.mu_static, 0.4, 0);
  check_near(s.restitution, 0, 0);
  assert_int_equal(s.condim, 3);
}

static void static_friction_is_the_larger_and_never_below_kinetic(void** state) {
  (void)state;
  abGeom a = geom(0.3), b = geom(0.5);
  a.mu_static = 0.8;
  check_near(combine(&a, &b, NULL).mu_static, 0.8, 0);
  a.mu_static = 0.1, b.mu_static = 0.2;
  check_near(combine(&a, &b, NULL).mu_static, 0.5, 0);
}

static void condim_1_has_no_friction(void** state) {
  (void)state;
  abGeom a = geom(0.3), b = geom(0.5);
  a.condim = b.condim = 1;
  abSurface s = combine(&a, &b, NULL);
  check_near(s.mu_kinetic, 0, 0);
  check_near(s.mu_static, 0, 0);
}

static void torsional_length_comes_from_a_geom_or_literally(void** state) {
  (void)state;
  abGeom a = geom(0.5), b = geom(0.4);
  a.friction[1] = 0.02;
  abSetting literal = {"literal_torsion", 1};
  abModel model = {.nsetting = 1, .setting = &literal};
  check_near(combine(&a, &b, &model).e_r, 0.04, 1e-16);
  b.e_r = 0.3;
  check_near(combine(&a, &b, &model).e_r, 0.3, 0);
}

static void explicit_pair_overrides(void** state) {
  (void)state;
  abGeom a = geom(0.5), b = geom(0.4);
  abPairRule rule = {.geom1 = 0, .geom2 = 1, .condim = 4, .friction = {0.2, 0.1, 0.03, 0, 0}};
  abSetting literal = {"literal_torsion", 1};
  abModel model = {.npair_rule = 1, .pair_rule = &rule, .nsetting = 1, .setting = &literal};
  abSurface s = combine(&a, &b, &model);
  check_near(s.mu_kinetic, 0.2, 0);
  check_near(s.mu_static, 0.2, 0);
  check_near(s.e_t, 1, 0);
  check_near(s.e_o, 0.5, 0);
  check_near(s.e_r, 0.15, 1e-16);
  assert_int_equal(s.condim, 4);
  a.mu_static = 0.7;
  check_near(combine(&a, &b, &model).mu_static, 0.7, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(larger_number_counts),
      cmocka_unit_test(higher_priority_decides_alone),
      cmocka_unit_test(static_friction_is_the_larger_and_never_below_kinetic),
      cmocka_unit_test(condim_1_has_no_friction),
      cmocka_unit_test(torsional_length_comes_from_a_geom_or_literally),
      cmocka_unit_test(explicit_pair_overrides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
