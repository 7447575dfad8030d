// Integrals over the contact polygon: a rule of points with positive weights, and exact moments.
#ifndef ABUT_CONTACT_QUADRATURE_H
#define ABUT_CONTACT_QUADRATURE_H

#include <abut/contact.h>

// Integrals over the polygon of 1, x, y, xx, xy, yy, xxx, xxy, xyy, yyy.
enum { AB_M_1, AB_M_X, AB_M_Y, AB_M_XX, AB_M_XY, AB_M_YY, AB_M_XXX, AB_M_XXY, AB_M_XYY, AB_M_YYY };
typedef struct abPolygonMoments {
  double m[10];
} abPolygonMoments;

// Number of points of the rule for a polygon of n >= 3 vertices: 4 n + 1, filled up with points of
// no weight to a multiple of four (patch/points.h).
static inline int ab_quadrature_count(int n) { return 4 * n + 4; }
// Fills x, y, w (ab_quadrature_count(n) entries each). The first n points are the vertices.
void ab_quadrature_polygon(int n, const abVec2* polygon, double* x, double* y, double* w);
// The moments about the origin of the polygon's coordinates.
void ab_polygon_moments(int n, const abVec2* polygon, abPolygonMoments* moments);

// A convex polygon, as loops in lanes want it: after the last vertex comes the first, again and
// again. x and y have room for ab_ring_room(n) numbers.
typedef struct abRing {
  int n;
  double *x, *y;
} abRing;
static inline int ab_ring_room(int n) { return n + 4; }
void ab_ring_close(abRing* ring);  // after its n vertices were set

// Integrals of an affine field p over a polygon in polar coordinates about a pole: rho the
// distance, e the direction. What is within a circle about the pole and what is beyond it are
// summed apart. Exact, but by differences of what the pole sees of the edges: digits are lost as
// the cube of its distance.
typedef struct abPole {
  abVec2 at;
  double radius;  // of the circle, > 0
} abPole;
typedef struct abPoleSums {
  double beyond0, beyond1[2], beyond2[3];  // of rho p, e p, e e^T p / rho (xx, xy, yy)
  double within0, within1[2], within2;     // of p, rho e p, rho^2 p
} abPoleSums;
// beyond2 only if `slopes`.
void ab_ring_pole(const abRing* ring, const double field[3], const abPole* pole, bool slopes,
                  abPoleSums* sums);
// The same over a line, as a mean: divided by its length.
void ab_line_pole(const abVec2 end[2], const double field[3], const abPole* pole, abPoleSums* sums);

#endif
