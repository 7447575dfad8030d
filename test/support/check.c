#include "support/check.h"

#include <stdio.h>

void check_near_at(double actual, double expected, double tolerance, const char* what,
                   const char* file, int line) {
  double difference = fabs(actual - expected);
  if (difference <= tolerance) return;
  fprintf(stderr, "%s:%d: %s = %.17g, expected %.17g, difference %.3g, tolerance %.3g\n", file,
          line, what, actual, expected, difference, tolerance);
  _fail(file, line);
}

void check_vec_near_at(abVec3 a, abVec3 e, double tolerance, const char* what, const char* file,
                       int line) {
  double difference =
      sqrt((a.x - e.x) * (a.x - e.x) + (a.y - e.y) * (a.y - e.y) + (a.z - e.z) * (a.z - e.z));
  if (difference <= tolerance) return;
  fprintf(stderr,
          "%s:%d: %s = (%.17g, %.17g, %.17g), expected (%.17g, %.17g, %.17g), difference %.3g, "
          "tolerance %.3g\n",
          file, line, what, a.x, a.y, a.z, e.x, e.y, e.z, difference, tolerance);
  _fail(file, line);
}

void check_below_at(double actual, double limit, const char* what, const char* file, int line) {
  if (actual <= limit) return;
  fprintf(stderr, "%s:%d: %s = %.17g, limit %.17g\n", file, line, what, actual, limit);
  _fail(file, line);
}
