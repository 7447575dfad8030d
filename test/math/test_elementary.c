// The library's own sin, cos, tan, atan2 and hypot, against those of the system.
#include <float.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

double ab_sin(double), ab_cos(double), ab_tan(double), ab_atan2(double, double),
    ab_hypot(double, double);
void ab_sincos(double, double*, double*);

// The system's functions are right to about half a unit in the last place themselves.
enum { UNITS = 3 };

static void check_units(double ours, double theirs, const char* what, double x, double y) {
  double unit = nextafter(fabs(theirs), INFINITY) - fabs(theirs);
  if (!(fabs(ours - theirs) <= UNITS * unit))
    fail_msg("%s(%.17g, %.17g) = %.17g, but the system says %.17g", what, x, y, ours, theirs);
}

static void angles_are_as_the_system_has_them(void** state) {
  (void)state;
  Random r = {3};
  for (int i = 0; i < 400000; i++) {
    double size = pow(10, random_uniform(&r, -12, 7.9));
    double x = random_uniform(&r, -size, size);
    check_units(ab_sin(x), sin(x), "sin", x, 0);
    check_units(ab_cos(x), cos(x), "cos", x, 0);
    check_units(ab_tan(x), tan(x), "tan", x, 0);
    double s, c;
    ab_sincos(x, &s, &c);
    assert_true(s == ab_sin(x) && c == ab_cos(x));
  }
}

// Near the multiples of pi/2, where the reduction cancels most.
static void small_differences_to_quarter_turns_are_kept(void** state) {
  (void)state;
  for (int n = -3000; n <= 3000; n++) {
    double x = n * 1.5707963267948966;
    check_units(ab_sin(x), sin(x), "sin", x, 0);
    check_units(ab_cos(x), cos(x), "cos", x, 0);
  }
}

static void directions_are_as_the_system_has_them(void** state) {
  (void)state;
  Random r = {5};
  for (int i = 0; i < 400000; i++) {
    double a = pow(10, random_uniform(&r, -150, 150)), b = a * pow(10, random_uniform(&r, -5, 5));
    double y = random_uniform(&r, -a, a), x = random_uniform(&r, -b, b);
    check_units(ab_atan2(y, x), atan2(y, x), "atan2", y, x);
    check_units(ab_hypot(y, x), hypot(y, x), "hypot", y, x);
  }
}

static void special_arguments_give_what_the_standard_says(void** state) {
  (void)state;
  const double special[] = {0,   -0.0,    1,        -1,      INFINITY, -INFINITY,
                            NAN, DBL_MAX, -DBL_MAX, DBL_MIN, 4.9e-324};
  int n = sizeof special / sizeof *special;
  for (int i = 0; i < n; i++) {
    double x = special[i];
    // angles beyond 1e8 are told less well
    if (!(fabs(x) > 1e8) || isinf(x)) {
      assert_int_equal(isnan(ab_sin(x)), isnan(sin(x)));
      if (!isnan(sin(x))) check_units(ab_sin(x), sin(x), "sin", x, 0);
      if (!isnan(cos(x))) check_units(ab_cos(x), cos(x), "cos", x, 0);
    }
    for (int k = 0; k < n; k++) {
      double a = ab_atan2(x, special[k]), b = atan2(x, special[k]);
      assert_int_equal(isnan(a), isnan(b));
      // below the normal numbers a quotient has fewer digits
      if (!isnan(b) && !(fabs(b) < DBL_MIN && b != 0)) {
        check_units(a, b, "atan2", x, special[k]);
        assert_int_equal(signbit(a) != 0, signbit(b) != 0);
      }
      assert_int_equal(isinf(ab_hypot(x, special[k])), isinf(hypot(x, special[k])));
    }
  }
  assert_true(signbit(ab_sin(-0.0)));
  assert_true(fabs(ab_sin(1e300)) <= 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(angles_are_as_the_system_has_them),
      cmocka_unit_test(small_differences_to_quarter_turns_are_kept),
      cmocka_unit_test(directions_are_as_the_system_has_them),
      cmocka_unit_test(special_arguments_give_what_the_standard_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
