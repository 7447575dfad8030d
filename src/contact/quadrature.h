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
// no weight to a multiple of four (patch_points.h).
static inline int ab_quadrature_count(int n) { return 4 * n + 4; }
// Fills x, y, w (ab_quadrature_count(n) entries each). The first n points are the vertices.
void ab_quadrature_polygon(int n, const abVec2* polygon, double* x, double* y, double* w);
// A finer rule without the vertices, for fields with a pole (the direction of slip of a turning
// patch): 12 points per edge, exact for cubics too.
static inline int ab_quadrature_fine_count(int n) { return 12 * n; }
void ab_quadrature_fine(int n, const abVec2* polygon, double* x, double* y, double* w);
// The moments about the origin of the polygon's coordinates.
void ab_polygon_moments(int n, const abVec2* polygon, abPolygonMoments* moments);

#endif
