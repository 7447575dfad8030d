// The library's own log, exp, asinh, fmin and fmax, against those of the system.
#include "math/logarithm.h"

#include "math/extremes.h"
#include "support/check.h"
#include "support/random.h"

// Both are right to about a unit in the last place, 2.2e-16; a product of two of ours to twice
// that.
static const double UNITS = 1e-15;

static void check_share(double ours, double theirs, const char* what, double x) {
  if (!(fabs(ours - theirs) <= UNITS * fabs(theirs)))
    fail_msg("%s(%.17g) = %.17g, but the system says %.17g", what, x, ours, theirs);
}

static void values_are_as_the_system_has_them(void** state) {
  (void)state;
  Random r = {11};
  for (int i = 0; i < 300000; i++) {
    double x = pow(10, random_uniform(&r, -200, 200)), y = random_uniform(&r, -690, 690);
    check_share(ab_log(x), log(x), "log", x);
    check_share(ab_exp(y), exp(y), "exp", y);
    double z = pow(10, random_uniform(&r, -20, 20)) * (i % 2 ? 1 : -1);
    check_share(ab_asinh(z), asinh(z), "asinh", z);
  }
  assert_true(ab_log(1) == 0 && ab_exp(0) == 1 && ab_asinh(0) == 0);
}

static bool is_minus_zero(double x) { return x == 0 && signbit(x); }

static void the_larger_of_two_zeros_is_the_second(void** state) {
  (void)state;
  assert_true(is_minus_zero(fmax(0.0, -0.0)) && !is_minus_zero(fmax(-0.0, 0.0)));
  assert_true(is_minus_zero(fmin(0.0, -0.0)) && !is_minus_zero(fmin(-0.0, 0.0)));
}

static void numbers_are_preferred_to_none(void** state) {
  (void)state;
  assert_true(fmax(NAN, 1) == 1 && fmax(1, NAN) == 1 && isnan(fmax(NAN, NAN)));
  assert_true(fmin(NAN, 1) == 1 && fmin(1, NAN) == 1 && isnan(fmin(NAN, NAN)));
  assert_true(fmax(1, 2) == 2 && fmax(2, 1) == 2 && fmin(1, 2) == 1 && fmin(2, 1) == 1);
  assert_true(fmax(-INFINITY, 1) == 1 && fmin(INFINITY, 1) == 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_as_the_system_has_them),
      cmocka_unit_test(the_larger_of_two_zeros_is_the_second),
      cmocka_unit_test(numbers_are_preferred_to_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
