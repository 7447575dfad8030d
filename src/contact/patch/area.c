// The area of a contact: the points, corners and parts of its law, from the polygon of its patch.
#include <math.h>
#include <string.h>

#include "contact/patch/patch.h"
#include "math/vec.h"

// A round body rolls: the width of its patch is only the depth of the overlap, which its curvature
// makes wide, and must not resist. Spheres and ellipsoids touch in a point, capsules along their
// axis. It goes by the shapes alone: a rule by the patch's size would switch to and fro at rest.
typedef enum Extent { EXTENT_POINT, EXTENT_LINE, EXTENT_AREA } Extent;

static Extent extent_of_shape(const abShape* s) {
  if (!s) return EXTENT_AREA;
  if (s->type == AB_SPHERE || s->type == AB_ELLIPSOID) return EXTENT_POINT;
  return s->type == AB_CAPSULE ? EXTENT_LINE : EXTENT_AREA;
}

static Extent extent_of(const abPair* pair) {
  Extent a = extent_of_shape(pair->shape1), b = extent_of_shape(pair->shape2);
  if (pair->patch.nvert < 3 || !(pair->patch.area > 0)) return EXTENT_POINT;
  return a < b ? a : b;
}

// Five points at most, filled up with points of no weight (points.h).
enum { COLLAPSED = 8 };

static void collapse_area(const abPatch* patch, Extent extent, abPatchLaw* law) {
  double A = patch->area > 0 ? patch->area : 1;
  double cx = patch->mx / A, cy = patch->my / A;
  law->filled = true;
  for (int i = 0; i < COLLAPSED; i++) law->x[i] = cx, law->y[i] = cy, law->w[i] = 0;
  if (extent == EXTENT_LINE) {
    double xx = patch->mxx / A - cx * cx, xy = patch->mxy / A - cx * cy,
           yy = patch->myy / A - cy * cy;
    double turn = 0.5 * atan2(2 * xy, xx - yy), c = cos(turn), s = sin(turn);
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < patch->nvert; i++) {
      double along = c * (patch->polygon[i].x - cx) + s * (patch->polygon[i].y - cy);
      low = fmin(low, along), high = fmax(high, along);
    }
    // two Simpson rules side by side: ends, middle, quarters; exact for cubics
    static const double place[5] = {0, 1, 0.5, 0.25, 0.75};
    static const double weight[5] = {1.0 / 12, 1.0 / 12, 2.0 / 12, 4.0 / 12, 4.0 / 12};
    law->ncorner = 2, law->npoint = COLLAPSED;
    for (int i = 0; i < 5; i++) {
      double along = low + place[i] * (high - low);
      law->x[i] = cx + c * along, law->y[i] = cy + s * along, law->w[i] = A * weight[i];
    }
  } else {
    law->ncorner = 1, law->npoint = COLLAPSED;
    law->x[0] = cx, law->y[0] = cy, law->w[0] = A;
  }
  double* m = law->moments.m;
  memset(m, 0, sizeof law->moments.m);
  for (int i = 0; i < law->npoint; i++) {
    double x = law->x[i], y = law->y[i], w = law->w[i];
    m[AB_M_1] += w, m[AB_M_X] += w * x, m[AB_M_Y] += w * y;
    m[AB_M_XX] += w * x * x, m[AB_M_XY] += w * x * y, m[AB_M_YY] += w * y * y;
    m[AB_M_XXX] += w * x * x * x, m[AB_M_XXY] += w * x * x * y;
    m[AB_M_XYY] += w * x * y * y, m[AB_M_YYY] += w * y * y * y;
  }
}

static int point_count(const abPair* pair) {
  return extent_of(pair) == EXTENT_AREA ? ab_quadrature_count(pair->patch.nvert) : COLLAPSED;
}

// Polygons with many edges have points enough without the finer rule.
static int fine_count(const abPair* pair) {
  int n = pair->patch.nvert;
  return n <= 6 && extent_of(pair) == EXTENT_AREA ? ab_quadrature_fine_count(n) : 0;
}

int ab_patch_store_size(const abPair* pair) {
  int n = pair->patch.nvert;
  return 3 * (point_count(pair) + fine_count(pair)) + 2 * n + 4 * (n + 2);
}

// The polygon without the vertices that hardly bend its border. They come and go with the bodies'
// least motion, and with each goes a point of the rule: a box at rest on its edge would feel it,
// and never come to rest. What is cut off is at most this share of the area for each.
#define HARDLY_BENT 1e-4

static int clean_polygon(const abPatch* patch, abVec2* out) {
  double least = 2 * HARDLY_BENT * patch->area;  // twice a triangle's area
  int n = 0;
  for (int i = 0; i < patch->nvert; i++) {
    abVec2 before = n > 0 ? out[n - 1] : patch->polygon[patch->nvert - 1];
    abVec2 here = patch->polygon[i];
    abVec2 after = i + 1 < patch->nvert ? patch->polygon[i + 1] : n > 0 ? out[0] : here;
    if (v2_cross(v2_sub(here, before), v2_sub(after, here)) > least) out[n++] = here;
  }
  if (n >= 3) return n;
  for (int i = 0; i < patch->nvert; i++) out[i] = patch->polygon[i];
  return patch->nvert;
}

void ab_patch_set_area(const abPair* pair, abPatchLaw* law, double* store) {
  const abPatch* patch = &pair->patch;
  int n = point_count(pair);
  law->x = store, law->y = store + n, law->w = store + 2 * n;
  law->fine = fine_count(pair) > 0 ? store + 3 * n : NULL;
  law->use_fine = law->fine_filled = law->about_pole = false;
  law->polygon = NULL, law->npart = 0;
  Extent extent = extent_of(pair);
  if (extent != EXTENT_AREA) {
    collapse_area(patch, extent, law);
    return;
  }
  abVec2* polygon = (abVec2*)(store + 3 * (n + fine_count(pair)));
  int corners = clean_polygon(patch, polygon);
  law->polygon = polygon;
  law->ncorner = corners, law->npoint = ab_quadrature_count(corners), law->filled = false;
  for (int i = 0; i < corners; i++) law->x[i] = polygon[i].x, law->y[i] = polygon[i].y;
  ab_polygon_moments(corners, polygon, &law->moments);
}

// Where the first target is the smaller and where the second.
void ab_patch_part_area(abPatchLaw* law, double* room) {
  if (!law->polygon) return;
  double d[3];
  for (int k = 0; k < 3; k++) d[k] = law->target[1][k] - law->target[0][k];
  abPatchArea whole = {.n = law->ncorner, .inner = -1, .x = law->x, .y = law->y}, part[2];
  double perimeter = ab_polygon_perimeter(whole.n, whole.x, whole.y);
  whole.inside = 1 - AB_PATCH_BORDER;
  whole.border = AB_PATCH_BORDER * law->moments.m[AB_M_1] / perimeter;
  ab_area_split(&whole, d, room, part);
  for (int k = 0; k < 2; k++) {
    if (part[k].n < 3) continue;
    law->part[law->npart++] = (abPatchPart){.target = k, .area = part[k]};
  }
}
