// fmin and fmax of the library. The standard leaves open which of 0 and -0 is the larger, and
// compilers and processors decide it differently; a sign of zero can turn an angle by pi. Here the
// second argument is taken where the two are equal. A number is preferred to NaN, as ever.
//
// The build includes this header in every file of the library (CMakeLists.txt), as it does
// math/elementary.h. It includes nothing.
#ifndef ABUT_MATH_EXTREMES_H
#define ABUT_MATH_EXTREMES_H

static inline double ab_fmax(double a, double b) { return a > b ? a : b == b ? b : a; }
static inline double ab_fmin(double a, double b) { return a < b ? a : b == b ? b : a; }

#define fmax(a, b) ab_fmax(a, b)
#define fmin(a, b) ab_fmin(a, b)

#endif
