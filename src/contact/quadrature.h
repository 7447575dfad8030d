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
// A finer rule without the vertices, for fields with a pole (the direction of slip of a turning
// patch): 12 points per edge, exact for cubics too.
static inline int ab_quadrature_fine_count(int n) { return 12 * n; }
void ab_quadrature_fine(int n, const abVec2* polygon, double* x, double* y, double* w);
// An area whose border counts as well: `inside` times the area and `border` times its length. The
// edge from vertex `inner` to the next is no border (-1: all are).
typedef struct abPatchArea {
  int n, inner;
  const double *x, *y;
  double inside, border;
} abPatchArea;
// The moments 1 ... yy of the part of the area where field[0] + field[1] x + field[2] y > 0.
void ab_area_positive(const abPatchArea* area, const double field[3], double m[6]);
// Parts an area without inner edge in two where that field changes sign: part[0] where it is
// positive. The vertices go to `room`, 4 (n + 2) numbers. A part that is not there has n = 0.
void ab_area_split(const abPatchArea* area, const double field[3], double* room,
                   abPatchArea part[2]);
// Integrals over the polygon of p, p x, p y, p (x^2 + y^2), exact, with the profile p = the smaller
// of two affine fields where it is positive, and x, y from `origin` (the fields from zero).
void ab_polygon_profile(int n, const abVec2* polygon, const double field[2][3], abVec2 origin,
                        double sum[4]);
double ab_polygon_perimeter(int n, const double* x, const double* y);
// The moments about the origin of the polygon's coordinates.
void ab_polygon_moments(int n, const abVec2* polygon, abPolygonMoments* moments);

// A convex polygon, as loops in lanes want it: after the last vertex comes the first, again and
// again.
enum { AB_RING_MOST = 8, AB_RING_ROOM = AB_RING_MOST + 4 };
typedef struct abRing {
  int n;
  double x[AB_RING_ROOM], y[AB_RING_ROOM];
} abRing;
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

#endif
