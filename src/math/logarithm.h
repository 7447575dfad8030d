// Logarithm, exponential and area hyperbolic sine, made of operations that every machine rounds
// alike. They are called by these names; sin, cos and the like are replaced without being asked
// (math/elementary.h).
#ifndef ABUT_MATH_LOGARITHM_H
#define ABUT_MATH_LOGARITHM_H

#include <math.h>
#include <stdint.h>
#include <string.h>

// log((1 + z) / (1 - z)) for |z| < 0.172: 2 (z + z^3 / 3 + ...), of which the terms after z^19 are
// less than rounding.
static inline double ab_log_of_ratio(double z) {
  double zz = z * z, sum = 1.0 / 19;
  static const double term[9] = {1,        1.0 / 3,  1.0 / 5,  1.0 / 7, 1.0 / 9,
                                 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17};
  for (int k = 8; k >= 0; k--) sum = sum * zz + term[k];
  return 2 * z * sum;
}

// The logarithm of a positive number, in operations that compilers do in lanes: x = 2^e m with m in
// [sqrt 1/2, sqrt 2), and z = (m - 1) / (m + 1).
static inline double ab_log(double x) {
  uint64_t bits, tall;
  memcpy(&bits, &x, sizeof bits);
  uint64_t up = bits + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);  // carries from sqrt 1/2 on
  tall = (up >> 52) | 0x4330000000000000u;                           // 2^52 + the exponent
  bits = (up & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
  double e, m;
  memcpy(&e, &tall, sizeof e), memcpy(&m, &bits, sizeof m);
  return 0.6931471805599453 * (e - (0x1p52 + 1023)) + ab_log_of_ratio((m - 1) / (m + 1));
}

// asinh x = log(x + sqrt(1 + x^2)) is lost to cancellation where x is small; there it is twice the
// area hyperbolic tangent of x / (1 + sqrt(1 + x^2)).
static inline double ab_asinh(double x) {
  double a = fabs(x), root = sqrt(1 + a * a);
  if (a < 0.34) return ab_log_of_ratio(x / (1 + root));
  return copysign(a < 1e9 ? ab_log(a + root) : ab_log(a) + 0.6931471805599453, x);
}

// e^x for |x| < 700: x = k log 2 + r, |r| < 0.35, log 2 as the sum of two numbers; the terms of the
// series after r^14 are less than rounding.
static inline double ab_exp(double x) {
  double k = floor(x * 1.4426950408889634 + 0.5), sum = 1;
  double r = (x - k * 0x1.62e42fefa0000p-1) - k * 0x1.cf79abc9e3b3ap-40;
  for (int i = 14; i > 0; i--) sum = 1 + sum * r / i;
  return ldexp(sum, (int)k);
}

#endif
