// Checks that say what was wrong: where, actual, expected, difference, tolerance.
#ifndef ABUT_TEST_CHECK_H
#define ABUT_TEST_CHECK_H

// cmocka needs these four before it, so their order is not the formatter's business.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include <math.h>

#include <abut/types.h>

#define check_near(actual, expected, tolerance) \
  check_near_at((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
#define check_vec_near(actual, expected, tolerance) \
  check_vec_near_at((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
// actual <= limit (and not NaN)
#define check_below(actual, limit) check_below_at((actual), (limit), #actual, __FILE__, __LINE__)

void check_near_at(double actual, double expected, double tolerance, const char* what,
                   const char* file, int line);
void check_vec_near_at(abVec3 actual, abVec3 expected, double tolerance, const char* what,
                       const char* file, int line);
void check_below_at(double actual, double limit, const char* what, const char* file, int line);

#endif
