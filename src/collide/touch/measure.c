// From polygon and thickness to the patch.
// Tests: test_touch, test_touch_random.
#include <float.h>

#include "base/simd.h"
#include "collide/touch/work.h"

// A patch narrower than this fraction of the smaller body is a line, shorter, a point.
static const double NARROW = 0.01;
// Corners nearer to each other than this fraction of the smaller body are one.
static const double SAME_CORNER = 1e-12;
// Ratio of second moments below which the smaller one has lost digits to the larger.
static const double SLENDER_OUTLINE = 1e-4;
// Polygons narrower than this fraction of the least width are replaced, not widened.
static const double THREAD = 1e-4;

static int drop_copies(int n, abVec2* p, double same) {
  int m = 0;
  for (int i = 0; i < n; i++) {
    abVec2 d = m ? v2_sub(p[i], p[m - 1]) : v2(DBL_MAX, 0);
    if (fabs(d.x) > same || fabs(d.y) > same) p[m++] = p[i];
  }
  while (m > 1 && fabs(p[0].x - p[m - 1].x) <= same && fabs(p[0].y - p[m - 1].y) <= same) m--;
  return m;
}

// Area and central moments; the polygon is moved so that its centroid is 0, and *c is where that
// was. Sums are taken about a corner and then about the centroid, so that small polygons far from 0
// lose nothing.
static void central_moments(abPatch* p, abVec2* polygon, abVec2* c) {
  abVec2 o = polygon[0], sum = v2(0, 0);
  double area = 0;
  for (int i = 1; i + 1 < p->nvert; i++) {
    abVec2 a = v2_sub(polygon[i], o), b = v2_sub(polygon[i + 1], o);
    double twice = v2_cross(a, b);
    area += twice;
    sum = v2_add(sum, v2_scale(twice, v2_add(a, b)));
  }
  *c = area > 0 ? v2_add(o, v2_scale(1 / (3 * area), sum)) : o;
  double xx = 0, xy = 0, yy = 0;
  for (int i = 0; i < p->nvert; i++) polygon[i] = v2_sub(polygon[i], *c);
  abVec2 a = polygon[p->nvert - 1];
  for (int i = 0; i < p->nvert; i++) {
    abVec2 b = polygon[i];
    double twice = v2_cross(a, b);
    abVec2 s = v2_add(a, b);
    xx += twice * (s.x * s.x - a.x * b.x);
    yy += twice * (s.y * s.y - a.y * b.y);
    xy += twice * (2 * s.x * s.y - a.x * b.y - b.x * a.y);
    a = b;
  }
  p->area = 0.5 * area;
  p->mx = p->my = 0;
  p->mxx = xx * (1.0 / 12), p->myy = yy * (1.0 / 12), p->mxy = xy * (1.0 / 24);
}

// Extent of the rectangle with the same second moment across u.
static double extent_across(const abPatch* p, abVec2 u) {
  double sum = 0;
  abVec2 a = p->polygon[p->nvert - 1];
  double ya = v2_cross(u, a);
  for (int i = 0; i < p->nvert; i++) {
    abVec2 b = p->polygon[i];
    double yb = v2_cross(u, b);
    sum += v2_cross(a, b) * (ya * ya + ya * yb + yb * yb);
    a = b, ya = yb;
  }
  return sum > 0 && p->area > 0 ? sqrt(sum / p->area) : 0;
}

// Its principal axes: u along it, and the extents along and across. Where the smaller moment has
// lost digits to the larger, it is summed as such.
typedef struct Extent {
  abVec2 u;
  double along, across;
} Extent;

static Extent measure_extent(const abPatch* p) {
  double half = 0.5 * (p->mxx - p->myy), mean = 0.5 * (p->mxx + p->myy);
  double spread = sqrt(half * half + p->mxy * p->mxy), per = 12 / p->area;
  Extent e = {.u = v2(1, 0)};
  if (spread > 0) {
    double x = sqrt(0.5 * (1 + fabs(half) / spread)), y = 0.5 * p->mxy / (spread * x);
    e.u = half >= 0 ? v2(x, y) : v2(fabs(y), p->mxy >= 0 ? x : -x);
  }
  e.along = sqrt((mean + spread) * per);
  e.across =
      mean - spread > SLENDER_OUTLINE * mean ? sqrt((mean - spread) * per) : extent_across(p, e.u);
  return e;
}

// A polygon without area becomes a rectangle of the least width about its longest diagonal.
static void make_strip(abPatch* p, abVec2* polygon, double width) {
  int a = 0, b = 0;
  double most = 0;
  for (int i = 0; i < p->nvert; i++)
    for (int j = 0; j < i; j++) {
      double d = v2_norm(v2_sub(polygon[i], polygon[j]));
      if (d > most) most = d, a = i, b = j;
    }
  abVec2 u = most > 0 ? v2_scale(1 / most, v2_sub(polygon[a], polygon[b])) : v2(1, 0);
  abVec2 c = v2_scale(0.5, v2_add(polygon[a], polygon[b])), v = v2(-u.y, u.x);
  u = v2_scale(0.5 * fmax(most, width), u), v = v2_scale(0.5 * width, v);
  abVec2 s = v2_add(u, v), d = v2_sub(u, v);
  polygon[0] = v2_sub(c, s), polygon[1] = v2_add(c, d);
  polygon[2] = v2_add(c, s), polygon[3] = v2_sub(c, d);
  p->nvert = 4;
}

// Stretches the polygon across u to the least width. Across, where nothing is known of it any more,
// the thickness is then that of the lowest corner; it keeps its slope along u.
static void widen(abPatch* p, abVec2* polygon, abVec2 u, double now, double width) {
  abVec2 v = v2(-u.y, u.x), g = v2(p->hx, p->hy), low = polygon[0];
  double most = -DBL_MAX, more = width / now - 1;
  for (int i = 0; i < p->nvert; i++) {
    double t = v2_dot(g, polygon[i]);
    if (t > most) most = t, low = polygon[i];
  }
  p->h0 += v2_dot(g, v) * v2_dot(low, v);
  g = v2_scale(v2_dot(g, u), u);
  p->hx = g.x, p->hy = g.y;
  for (int i = 0; i < p->nvert; i++)
    polygon[i] = v2_add(polygon[i], v2_scale(more * v2_dot(polygon[i], v), v));
}

// Integral of the positive part of the thickness, and its largest value.
static void fill_volume(abPatch* p) {
  double least = DBL_MAX, most = -DBL_MAX;
  for (int i = 0; i < p->nvert; i++) {
    double t = p->h0 + p->hx * p->polygon[i].x + p->hy * p->polygon[i].y;
    least = t < least ? t : least, most = t > most ? t : most;
  }
  p->depth = most;
  p->volume = least >= 0 ? p->area * p->h0 : 0;
  if (least >= 0 || most <= 0) return;
  // The part above 0, fan by fan from a corner of it: each triangle adds its area times its mean.
  abVec2 o = v2(0, 0), last = o;
  double to = 0, tl = 0;
  int m = 0;
  abVec2 a = p->polygon[p->nvert - 1];
  double ta = p->h0 + p->hx * a.x + p->hy * a.y;
  for (int i = 0; i < p->nvert; i++) {
    abVec2 b = p->polygon[i];
    double tb = p->h0 + p->hx * b.x + p->hy * b.y;
    for (int k = 0; k < 2; k++) {
      bool crosses = (ta < 0) != (tb < 0);
      if (k == 0 ? !crosses : tb < 0) continue;
      abVec2 c = k ? b : v2_add(a, v2_scale(ta / (ta - tb), v2_sub(b, a)));
      double tc = k ? tb : 0;
      if (m == 0)
        o = c, to = tc;
      else if (m > 1)
        p->volume += v2_cross(v2_sub(last, o), v2_sub(c, o)) * (to + tl + tc) * (1.0 / 6);
      last = c, tl = tc;
      m++;
    }
    a = b, ta = tb;
  }
  p->volume = fmax(p->volume, 0);
}

static void move_centre(const abTouchWork* w, abVec3 at, abVec2 slope, abVec2 c, abPatch* p) {
  p->center = v3_add(at, w->origin);
  p->center = v3_axpy(v2_dot(slope, c), p->normal, p->center);
  p->center = v3_add(p->center, v3_add(v3_scale(c.x, p->t1), v3_scale(c.y, p->t2)));
}

static abPatchKind kind_of(const abTouchWork* w, double along, double across) {
  double narrow = NARROW * w->size;
  return across > narrow ? AB_PATCH_SURFACE : along > narrow ? AB_PATCH_LINE : AB_PATCH_POINT;
}

// Of thickness h0 + g s at the place s, -a .. a, along the strip: what is above 0 is a wedge, or
// all.
static void strip_volume(double g, double a, double b, abPatch* p) {
  double low = p->h0 - fabs(g) * a, high = p->h0 + fabs(g) * a;
  p->depth = high;
  p->volume = low >= 0 ? p->area * p->h0 : high > 0 ? b * high * high / fabs(g) : 0;
}

void ab_touch_measure_strip(const abTouchWork* w, abVec3 at, abVec2 u, double a, double b,
                            abVec2* polygon, abPatch* p) {
  abVec2 U = v2_scale(a, u), V = v2(-b * u.y, b * u.x), sum = v2_add(U, V), dif = v2_sub(U, V);
  polygon[0] = v2_scale(-1, sum), polygon[1] = dif, polygon[2] = sum;
  polygon[3] = v2_scale(-1, dif);
  p->nvert = 4;
  p->area = 4 * a * b;
  p->mx = p->my = 0;
  double along = p->area * a * a * (1.0 / 3), across = p->area * b * b * (1.0 / 3);
  p->mxx = along * u.x * u.x + across * u.y * u.y;
  p->myy = along * u.y * u.y + across * u.x * u.x;
  p->mxy = (along - across) * u.x * u.y;
  p->kind = kind_of(w, 2 * a, 2 * b);
  p->center = v3_add(at, w->origin);
  strip_volume(p->hx * u.x + p->hy * u.y, a, b, p);
}

AB_SIMD AB_FLATTEN bool ab_touch_measure(const abTouchWork* w, abVec3 at, abVec2 slope,
                                         abVec2* polygon, abPatch* p) {
  p->nvert = drop_copies(p->nvert, polygon, SAME_CORNER * w->size);
  if (p->nvert == 0) return false;
  double width = w->width;
  abVec2 c = v2(0, 0), more;
  Extent e = {.across = 0};
  if (p->nvert > 2) {
    central_moments(p, polygon, &c);
    if (p->area > 0) e = measure_extent(p);
  }
  if (!(e.across > THREAD * width)) {  // rounding of the corners counts across
    make_strip(p, polygon, width);
    central_moments(p, polygon, &more);
    c = v2_add(c, more);
    e = measure_extent(p);
  }
  p->h0 += p->hx * c.x + p->hy * c.y;
  double least = width * (1 + 1e-9);
  if (e.across < least) {
    widen(p, polygon, e.u, e.across, width);
    if (e.along < least) widen(p, polygon, v2(-e.u.y, e.u.x), e.along, width);
    central_moments(p, polygon, &more);  // the centroid stays
  }
  p->kind = kind_of(w, e.along, e.across);
  move_centre(w, at, slope, c, p);
  fill_volume(p);
  return true;
}
