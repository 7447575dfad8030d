// A point of the image lies in a triangle if it is on the inner side of its three edges; the same
// three areas, divided by that of the triangle, weight the corners.
// Tests: test_picture.
#include "io/raster.h"

#include <math.h>

#include "base/alloc.h"
#include "math/vec.h"

bool ab_raster_create(abRaster* r, int width, int height, bool surfaces) {
  size_t n = (size_t)width * (size_t)height;
  *r = (abRaster){.width = width, .height = height};
  r->near = ab_alloc(sizeof(float) * n);
  if (surfaces) {
    r->geom = ab_alloc(sizeof(int) * n);
    r->normal = ab_alloc(sizeof(float) * 3 * n);
  }
  if (!r->near || (surfaces && (!r->geom || !r->normal))) return false;
  for (size_t i = 0; i < n; i++) r->near[i] = -INFINITY;
  return true;
}

void ab_raster_free(abRaster* r) {
  ab_free(r->near);
  ab_free(r->geom);
  ab_free(r->normal);
}

static double edge(const abCorner* a, const abCorner* b, double x, double y) {
  return (b->x - a->x) * (y - a->y) - (b->y - a->y) * (x - a->x);
}

// The first and the last sample, as whole numbers within 0 .. n - 1.
static void extent(double a, double b, double c, int n, int* first, int* last) {
  double low = fmin(a, fmin(b, c)) - 0.5, high = fmax(a, fmax(b, c)) - 0.5;
  *first = low <= 0 ? 0 : low >= n ? n : (int)ceil(low);
  *last = high >= n - 1 ? n - 1 : high < 0 ? -1 : (int)floor(high);
}

static void put(abRaster* r, size_t at, const abCorner* c, const double weight[3], bool perspective,
                int geom) {
  abVec3 n = v3_zero();
  for (int k = 0; k < 3; k++)
    n = v3_axpy(perspective ? weight[k] * c[k].near : weight[k], c[k].normal, n);
  n = v3_unit(n);
  r->geom[at] = geom;
  r->normal[3 * at] = (float)n.x;
  r->normal[3 * at + 1] = (float)n.y;
  r->normal[3 * at + 2] = (float)n.z;
}

void ab_raster_triangle(abRaster* r, const abCorner c[3], bool perspective, int geom) {
  double area = edge(&c[0], &c[1], c[2].x, c[2].y);
  if (!(fabs(area) > 0) || !isfinite(area)) return;
  int x0, x1, y0, y1;
  extent(c[0].x, c[1].x, c[2].x, r->width, &x0, &x1);
  extent(c[0].y, c[1].y, c[2].y, r->height, &y0, &y1);
  for (int y = y0; y <= y1; y++)
    for (int x = x0; x <= x1; x++) {
      double w[3];
      bool inside = true;
      for (int k = 0; k < 3 && inside; k++) {
        w[k] = edge(&c[(k + 1) % 3], &c[(k + 2) % 3], x + 0.5, y + 0.5) / area;
        inside = w[k] >= 0;
      }
      if (!inside) continue;
      size_t at = (size_t)y * (size_t)r->width + (size_t)x;
      float near = (float)(w[0] * c[0].near + w[1] * c[1].near + w[2] * c[2].near);
      if (!(near > r->near[at])) continue;
      r->near[at] = near;
      if (r->geom) put(r, at, c, w, perspective, geom);
    }
}
