// Random problems for the solver tests: matrices, scalings, friction cones.
#ifndef ABUT_TEST_SOLVE_CASES_H
#define ABUT_TEST_SOLVE_CASES_H

#include <abut/solve.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

static inline double ten_to(Random* r, double decades) {
  return pow(10, random_uniform(r, -decades, decades));
}

static inline void fill_normal(Random* r, double* a, int count) {
  for (int i = 0; i < count; i++) a[i] = random_normal(r);
}

// Integers from -2 to 2: full of ties, dependent rows and degenerate vertices.
static inline void fill_integer(Random* r, double* a, int count) {
  for (int i = 0; i < count; i++) a[i] = random_below(r, 5) - 2;
}

// Fills w with a pattern that is not a number, so that reading uninitialised memory shows.
static inline void* junk_memory(size_t bytes) {
  void* p = malloc(bytes + 64);
  assert_non_null(p);
  memset(p, 0xff, bytes + 64);
  return p;
}

// The memory behind the workspace is untouched.
static inline void check_guard(const void* p, size_t bytes) {
  const unsigned char* guard = (const unsigned char*)p + bytes;
  for (int i = 0; i < 64; i++) assert_int_equal(guard[i], 0xff);
}

// The friction cone of a polygon with nvertex corners on a circle of the given radius and `side`
// edges of the friction pyramid: unit normal force and mu along an edge, at each corner; 6 rows.
static inline void fill_cone(double* a, int nvertex, int side, double radius, double mu) {
  for (int v = 0; v < nvertex; v++)
    for (int p = 0; p < side; p++) {
      double phi = 6.283185307179586 * (v + 0.3) / nvertex, th = 6.283185307179586 * p / side;
      abVec3 at = v3(radius * cos(phi), radius * sin(phi), 0),
             f = v3(mu * cos(th), mu * sin(th), 1);
      abVec3 t = v3_cross(at, f);
      double column[6] = {f.x, f.y, f.z, t.x, t.y, t.z};
      memcpy(a + 6 * (v * side + p), column, sizeof column);
    }
}

#endif
