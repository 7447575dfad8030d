// The area of a contact: its corners, and how the pressure that friction feels is spread over it.
//
// Where two rigid bodies touch with a face, mechanics fixes three numbers of the pressure: its sum
// N and where it acts, c. Of all distributions with these the one that is affine where it presses,
//
//   p(r) = max(0, g_0 + g_1 x + g_2 y),   integral of p (1, x, y) = N (1, c_x, c_y),
//
// is taken: that of an elastic layer without tension. With c near the middle it presses everywhere;
// as c goes to the border, what is pressed shrinks to a strip along an edge or to a corner.
// Friction so has the right lever in each case. The size of g does not matter, only its direction
// does.
//
// g is found by Newton's method for the convex problem 1/2 integral p^2 - c.g: with M the moments
// of the region where g is positive, g <- M^-1 (1, c). What is left after a few steps is taken off
// by moving the whole (abPatchLaw.at), so that friction acts at c exactly.
// Tests: test_patch_law.
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "contact/patch/patch.h"
#include "math/vec.h"

// A round body rolls: the width of its patch is only the depth of the overlap, which its curvature
// makes wide, and must not resist. Spheres and ellipsoids touch in a point, capsules along their
// axis. It goes by the shapes alone: a rule by the patch's size would oscillate at rest.
typedef enum Extent { EXTENT_POINT = 1, EXTENT_LINE, EXTENT_AREA } Extent;

static Extent extent_of_shape(const abShape* s) {
  if (!s) return EXTENT_AREA;
  if (s->type == AB_SHAPE_SPHERE || s->type == AB_SHAPE_ELLIPSOID) return EXTENT_POINT;
  return s->type == AB_SHAPE_CAPSULE ? EXTENT_LINE : EXTENT_AREA;
}

static Extent extent_of(const abPair* pair) {
  Extent a = extent_of_shape(pair->shape1), b = extent_of_shape(pair->shape2);
  if (pair->patch.rolls && a == EXTENT_AREA) a = EXTENT_LINE;
  if (pair->patch.nvert < 3 || !(pair->patch.area > 0)) return EXTENT_POINT;
  return a < b ? a : b;
}

static int in_lanes(int n) { return (n + AB_LANES - 1) / AB_LANES * AB_LANES; }

// Points of Gauss' rule on a line.
enum { LINE_POINTS = 4 };

static int point_count(Extent extent, int n) {
  return extent == EXTENT_AREA ? ab_quadrature_count(n + 1) : LINE_POINTS;
}

int ab_patch_store_size(const abPair* pair) {
  Extent extent = extent_of(pair);
  int n = extent == EXTENT_AREA ? pair->patch.nvert : (int)extent;
  return 5 * in_lanes(n) + 2 * (n + 1) + 2 * ab_ring_room(n + 1) + 3 * point_count(extent, n);
}

// --- corners

// The polygon without the vertices that hardly bend its border: they come and go with the bodies'
// least motion. Each cuts off at most AB_PATCH_HARDLY_BENT of the area.

static int clean_polygon(const abPatch* patch, abVec2* out) {
  double least = 2 * AB_PATCH_HARDLY_BENT * patch->area;  // twice a triangle's area
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

// The ends of a line through the polygon's centroid along its longer principal axis; or that
// centroid.
static void collapse(const abPatch* patch, Extent extent, abVec2* out) {
  double A = patch->area > 0 ? patch->area : 1, cx = patch->mx / A, cy = patch->my / A;
  out[0] = v2(cx, cy);
  if (extent == EXTENT_POINT) return;
  double xx = patch->mxx / A - cx * cx, xy = patch->mxy / A - cx * cy,
         yy = patch->myy / A - cy * cy;
  double turn = 0.5 * atan2(2 * xy, xx - yy), low = INFINITY, high = -INFINITY;
  abVec2 u = v2(cos(turn), sin(turn));
  for (int i = 0; i < patch->nvert; i++) {
    double along = v2_dot(u, v2_sub(patch->polygon[i], out[0]));
    low = fmin(low, along), high = fmax(high, along);
  }
  out[1] = v2_add(out[0], v2_scale(high, u)), out[0] = v2_add(out[0], v2_scale(low, u));
}

// Each corner's share of the stiffness is the angle by which the border turns there, in turns: the
// curvature measure of a convex set. It does not jump where a corner comes or goes, since a small
// cut has the angles of what it cuts off together; the ends of a line have one half each.
static double turn_by(double along, double across) {
  if (fabs(along) < 1e-9 * across) return 0.25;
  return fmax(0, atan2(across, along)) / 6.283185307179586;
}

// The corners of a regular polygon all turn alike: what differs from the last one by rounding is
// not computed again.
static void set_shares(int n, const abVec2* p, double* share) {
  double sum = 0, u = 0, v = 0, turn = 0;
  for (int i = 0; i < n && n > 2; i++) {
    abVec2 a = v2_sub(p[i], p[i ? i - 1 : n - 1]), b = v2_sub(p[i + 1 < n ? i + 1 : 0], p[i]);
    double across = v2_cross(a, b), along = v2_dot(a, b), cross = u * across - v * along;
    bool same = u * along + v * across > 0 && fabs(cross) <= 1e-13 * (u * along + v * across);
    if (!same) turn = turn_by(along, across), u = along, v = across;
    sum += share[i] = turn;
  }
  for (int i = 0; i < n; i++) share[i] = n > 2 ? share[i] / sum : 1.0 / n;
}

static void set_corners(abPatchLaw* law, int n, const abVec2* p) {
  law->ncorner = n, law->nlane = in_lanes(n);
  law->low[0] = law->high[0] = p[0].x, law->low[1] = law->high[1] = p[0].y;
  for (int i = 0; i < n; i++) {
    law->x[i] = p[i].x, law->y[i] = p[i].y;
    law->low[0] = fmin(law->low[0], p[i].x), law->high[0] = fmax(law->high[0], p[i].x);
    law->low[1] = fmin(law->low[1], p[i].y), law->high[1] = fmax(law->high[1], p[i].y);
  }
  set_shares(n, p, law->share);
  for (int i = n; i < law->nlane; i++)
    law->x[i] = law->x[0], law->y[i] = law->y[0], law->share[i] = 0;
}

// Of a narrow patch: its direction. Across, it has no width to speak of.
static abVec2 direction_of(const double* m) {
  double A = m[AB_M_1], cx = m[AB_M_X] / A, cy = m[AB_M_Y] / A;
  double xx = m[AB_M_XX] - A * cx * cx, xy = m[AB_M_XY] - A * cx * cy,
         yy = m[AB_M_YY] - A * cy * cy;
  double turn = 0.5 * atan2(2 * xy, xx - yy);
  return v2(cos(turn), sin(turn));
}

// Moments of a line or a point with the weight 1.
static void line_moments(int n, const abVec2* p, double m[10]) {
  abVec2 a = p[0], b = p[n - 1], c = v2_scale(0.5, v2_add(a, b)), d = v2_scale(0.5, v2_sub(b, a));
  double xx = d.x * d.x / 3, xy = d.x * d.y / 3, yy = d.y * d.y / 3;
  m[AB_M_1] = 1, m[AB_M_X] = c.x, m[AB_M_Y] = c.y;
  m[AB_M_XX] = c.x * c.x + xx, m[AB_M_XY] = c.x * c.y + xy, m[AB_M_YY] = c.y * c.y + yy;
  m[AB_M_XXX] = c.x * (c.x * c.x + 3 * xx), m[AB_M_YYY] = c.y * (c.y * c.y + 3 * yy);
  m[AB_M_XXY] = c.y * (c.x * c.x + xx) + 2 * c.x * xy;
  m[AB_M_XYY] = c.x * (c.y * c.y + yy) + 2 * c.y * xy;
}

static void moments_of(int n, const abVec2* p, abPolygonMoments* m) {
  if (n < 3)
    line_moments(n, p, m->m);
  else
    ab_polygon_moments(n, p, m);
}

AB_SIMD AB_FLATTEN void ab_patch_set_area(const abPair* pair, abPatchLaw* law, double* store) {
  const abPatch* patch = &pair->patch;
  Extent extent = extent_of(pair);
  int n = extent == EXTENT_AREA ? patch->nvert : (int)extent, lanes = in_lanes(n);
  law->x = store, law->y = store + lanes, law->share = store + 2 * lanes;
  law->aim = store + 3 * lanes, law->calm = store + 4 * lanes;
  law->region = (abVec2*)(store + 5 * lanes);
  law->ring.x = store + 5 * lanes + 2 * (n + 1);
  law->ring.y = law->ring.x + ab_ring_room(n + 1);
  law->px = law->ring.y + ab_ring_room(n + 1);
  law->py = law->px + point_count(extent, n), law->pw = law->py + point_count(extent, n);
  if (extent == EXTENT_AREA)
    n = clean_polygon(patch, law->region);
  else
    collapse(patch, extent, law->region);
  set_corners(law, n, law->region);
  moments_of(n, law->region, &law->whole);
  const double* m = law->whole.m;
  law->centroid = v2(m[AB_M_X] / m[AB_M_1], m[AB_M_Y] / m[AB_M_1]);
  law->radius = sqrt((m[AB_M_XX] + m[AB_M_YY]) / m[AB_M_1]);
  bool narrow = extent == EXTENT_LINE || patch->kind == AB_PATCH_LINE;
  law->axis = narrow ? direction_of(m) : v2(0, 0);
  law->npoint = 0, law->about_pole = false;
}

void ab_patch_set_aims(abPatchLaw* law) {
  const double(*t)[3] = (const double(*)[3])law->target;
  for (int i = 0; i < law->nlane; i++) {
    double x = law->x[i], y = law->y[i];
    double a = t[0][0] + t[0][1] * x + t[0][2] * y, b = t[1][0] + t[1][1] * x + t[1][2] * y;
    law->aim[i] = a < b ? a : b;
  }
}

// --- pressure

static double field_at(const double f[3], double x, double y) { return f[0] + f[1] * x + f[2] * y; }

static abVec2 between(abVec2 a, abVec2 b, double fa, double fb) {
  return v2_add(a, v2_scale(fa / (fa - fb), v2_sub(b, a)));
}

// What of the patch is under pressure; its number of corners.
static int clip(const abPatchLaw* law, const double field[3], abVec2* out) {
  int n = law->ncorner, m = 0;
  abVec2 a = v2(law->x[n - 1], law->y[n - 1]);
  double fa = field_at(field, a.x, a.y);
  for (int i = 0; i < n; i++) {
    abVec2 b = v2(law->x[i], law->y[i]);
    double fb = field_at(field, b.x, b.y);
    if ((fa > 0) != (fb > 0)) out[m++] = between(a, b, fa, fb);
    if (fb > 0) out[m++] = b;
    a = b, fa = fb;
  }
  return m;
}

static bool positive(const abPatchLaw* law, const double field[3]) {
  bool all = true;
  for (int i = 0; i < law->ncorner; i++) all &= field_at(field, law->x[i], law->y[i]) > 0;
  return all;
}

// Whether a region is so thin that integrals about a pole are lost to cancellation, by its
// principal moments.

static bool is_slender(const double m[10]) {
  double A = m[AB_M_1], xx = A * m[AB_M_XX] - m[AB_M_X] * m[AB_M_X];
  double xy = A * m[AB_M_XY] - m[AB_M_X] * m[AB_M_Y], yy = A * m[AB_M_YY] - m[AB_M_Y] * m[AB_M_Y];
  return !(xx * yy - xy * xy > AB_PATCH_SLENDER * (xx + yy) * (xx + yy));
}

// Region, sum, centre and spread of the field, and the moments of the region about `origin`: of a
// part of the patch a corner of it, since it may be small and far from zero. False if it presses
// nowhere.
static bool set_region(abPatchLaw* law, abVec2* origin, abPolygonMoments* moments) {
  int n = law->ncorner;
  abVec2* at = (abVec2*)law->px;  // the points are not filled in
  bool all = positive(law, law->field);
  law->nregion = n;
  for (int i = 0; i < n && all; i++) law->region[i] = v2(law->x[i], law->y[i]);
  if (!all) law->nregion = clip(law, law->field, law->region);
  if (law->nregion < (n < 3 ? n : 3)) return false;
  abVec2 o = *origin = all ? v2(0, 0) : law->region[0];
  for (int i = 0; i < law->nregion && !all; i++) at[i] = v2_sub(law->region[i], o);
  if (all)
    *moments = law->whole;
  else
    moments_of(law->nregion, at, moments);
  const double *m = moments->m,
               f[3] = {field_at(law->field, o.x, o.y), law->field[1], law->field[2]};
  double sum = f[0] * m[AB_M_1] + f[1] * m[AB_M_X] + f[2] * m[AB_M_Y], per = 1 / sum;
  double x = per * (f[0] * m[AB_M_X] + f[1] * m[AB_M_XX] + f[2] * m[AB_M_XY]);
  double y = per * (f[0] * m[AB_M_Y] + f[1] * m[AB_M_XY] + f[2] * m[AB_M_YY]);
  double rr = f[0] * (m[AB_M_XX] + m[AB_M_YY]) + f[1] * (m[AB_M_XXX] + m[AB_M_XYY]) +
              f[2] * (m[AB_M_XXY] + m[AB_M_YYY]);
  if (!(sum > 0)) return false;
  law->sum = sum, law->centre = v2(o.x + x, o.y + y);
  law->spread2 = fmax(0, per * rr - x * x - y * y);
  law->slender = is_slender(m);
  return true;
}

// c is kept off the border, by AB_PATCH_BORDER of the way from there to the centroid: what is
// pressed then has a size.

static abVec2 keep_inside(const abPatchLaw* law, abVec2 c) {
  double most = 1;
  abVec2 d = v2_sub(c, law->centroid);
  int n = law->ncorner;
  if (n == 1) return law->centroid;
  for (int i = 0, j = n - 1; i < n; j = i++) {
    abVec2 out = v2(law->y[i] - law->y[j], law->x[j] - law->x[i]);
    double far = out.x * (law->x[i] - law->centroid.x) + out.y * (law->y[i] - law->centroid.y);
    double way = v2_dot(out, d);
    if (way > (1 - AB_PATCH_BORDER) * far && way > 0)
      most = fmin(most, (1 - AB_PATCH_BORDER) * far / way);
  }
  return v2_add(law->centroid, v2_scale(most, d));
}

// g <- M^-1 (1, 0, 0) with moments about c. False if M is singular.
static bool solve_field(const double m[10], abVec2 origin, abVec2 to, double g[3]) {
  abVec2 c = v2_sub(to, origin);
  double N = m[AB_M_1], x = m[AB_M_X] - N * c.x, y = m[AB_M_Y] - N * c.y;
  double xx = m[AB_M_XX] - c.x * (2 * x + N * c.x), yy = m[AB_M_YY] - c.y * (2 * y + N * c.y);
  double xy = m[AB_M_XY] - c.x * y - c.y * x - N * c.x * c.y;
  double det = xx * yy - xy * xy;
  if (!(det > 1e-14 * xx * yy)) return false;
  // g_0 = 1 by scale, the others by the vanishing of the first moments
  g[1] = (xy * y - yy * x) / det, g[2] = (xy * x - xx * y) / det;
  g[0] = 1 - g[1] * to.x - g[2] * to.y;
  return N + g[1] * x + g[2] * y > 0;
}

// Friction of a narrow patch acts on its line: the pressure is affine where it acts in the middle
// third, else a triangle that is zero at three times the distance of c from the end. Of the line's
// half a and the place b from its middle: sum, centre and spread of 1 + 3 b x / a^2, and of a
// triangle of the length l. What acts beside the line, as it turns from step to step, acts on it.
static void spread_line(abPatchLaw* law, abVec2 c) {
  abVec2 u = law->axis;
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < law->ncorner; i++) {
    double along = u.x * law->x[i] + u.y * law->y[i];
    low = fmin(low, along), high = fmax(high, along);
  }
  double half = 0.5 * (high - low), middle = 0.5 * (high + low),
         most = (1 - AB_PATCH_BORDER) * half;
  double to = v2_dot(u, c) - middle, off = fmin(fmax(to, -most), most), l = 3 * (half - fabs(off));
  double slope = half > 0 ? 3 * off / (half * half) : 0, zero = 1 - slope * middle;
  law->sum = 1, law->spread2 = half * half / 3 - off * off;
  if (3 * fabs(off) > half) {
    slope = off > 0 ? 1 : -1, zero = l - half - slope * middle;
    law->sum = 0.5 * l, law->spread2 = l * l / 18;
    off > 0 ? (low = high - l) : (high = low + l);
  }
  abVec2 foot = v2_axpy(-v2_dot(u, law->centroid), u, law->centroid);
  law->field[0] = zero, law->field[1] = slope * u.x, law->field[2] = slope * u.y;
  law->centre = v2_axpy(middle + off, u, foot);
  law->region[0] = v2_axpy(low, u, foot), law->region[1] = v2_axpy(high, u, foot);
  law->nregion = 2, law->slender = !(high > low);
  law->at[0] = (to - off) * u.x, law->at[1] = (to - off) * u.y;
}

// A first field for c near the border. d(r) is the distance of r from an edge, that of c being d_c.
// Along an edge the pressure falls to zero at 3 d_c; at a corner, over the triangle of which c has
// a quarter of each height, g = 1 - d / (4 d_c) - d' / (4 d'_c) of both edges is exact.
typedef struct Edge {
  abVec2 in;         // normal, any length
  double c, middle;  // distance of c and of the centroid, in that length
} Edge;

static Edge edge_of(const abPatchLaw* law, int i, abVec2 c) {
  int j = i ? i - 1 : law->ncorner - 1;
  abVec2 a = v2(law->x[j], law->y[j]), in = v2(a.y - law->y[i], law->x[i] - a.x);
  return (Edge){in, v2_dot(in, v2_sub(c, a)), v2_dot(in, v2_sub(law->centroid, a))};
}

static void take_off(const Edge* e, double times, abVec2 c, double g[3]) {
  double per = 1 / (times * e->c);
  g[0] -= per * (e->c - v2_dot(e->in, c)), g[1] -= per * e->in.x, g[2] -= per * e->in.y;
}

static void guess_field(const abPatchLaw* law, abVec2 c, double g[3]) {
  int n = law->ncorner, near = 0;
  double least = INFINITY;
  for (int i = 0; i < n; i++) {
    Edge e = edge_of(law, i, c);
    if (e.c < least * e.middle) least = e.c / e.middle, near = i;
  }
  Edge first = edge_of(law, near, c), before = edge_of(law, near ? near - 1 : n - 1, c),
       second = edge_of(law, near + 1 < n ? near + 1 : 0, c);
  if (before.c * second.middle < second.c * before.middle) second = before;
  bool corner = 2 * second.c < second.middle;
  g[0] = 1, g[1] = g[2] = 0;
  take_off(&first, corner ? 4 : 3, c, g);
  if (corner) take_off(&second, 4, c, g);
}

static bool is_near(const abPatchLaw* law, abVec2 c) {
  abVec2 d = v2_sub(law->centre, c);
  return v2_dot(d, d) <= AB_PATCH_NEAR_CENTRE * AB_PATCH_NEAR_CENTRE * law->spread2;
}

static void set_even(abPatchLaw* law) {
  abPolygonMoments m;
  abVec2 origin;
  law->field[0] = 1, law->field[1] = law->field[2] = 0;
  if (set_region(law, &origin, &m)) return;
  // moments beyond all numbers
  law->nregion = 1, law->region[0] = law->centre = law->centroid;
  law->sum = 1, law->spread2 = 0, law->slender = true;
}

// False if none was found.
static bool find_field(abPatchLaw* law, abVec2 c) {
  abPolygonMoments m;
  abVec2 origin;
  guess_field(law, c, law->field);
  for (int i = 0; i < AB_PATCH_FIELD_STEPS && set_region(law, &origin, &m); i++) {
    if (is_near(law, c)) return true;
    if (!solve_field(m.m, origin, c, law->field)) break;
  }
  guess_field(law, c, law->field);
  return set_region(law, &origin, &m);
}

AB_SIMD AB_FLATTEN void ab_patch_spread(abPatchLaw* law, double x, double y) {
  abVec2 to = v2(x, y), c = keep_inside(law, to), origin;
  double whole[3];
  abPolygonMoments m;
  bool found = law->ncorner > 1;
  law->npoint = law->ring.n = 0;
  if (law->axis.x != 0 || law->axis.y != 0) {
    spread_line(law, to);
    return;
  }
  if (found && solve_field(law->whole.m, v2(0, 0), c, whole) && positive(law, whole)) {
    memcpy(law->field, whole, sizeof whole);
    found = set_region(law, &origin, &m);
  } else if (found) {
    found = find_field(law, c);
  }
  if (!found) set_even(law);
  law->at[0] = to.x - law->centre.x, law->at[1] = to.y - law->centre.y;
}

// --- the rule

static void line_points(abPatchLaw* law) {
  static const double place[LINE_POINTS] = {-0.8611363115940526, -0.3399810435848563,
                                            0.3399810435848563, 0.8611363115940526};
  static const double weight[LINE_POINTS] = {0.1739274225687269, 0.3260725774312731,
                                             0.3260725774312731, 0.1739274225687269};
  abVec2 a = law->region[0], b = law->region[law->nregion - 1];
  abVec2 m = v2_scale(0.5, v2_add(a, b)), d = v2_scale(0.5, v2_sub(b, a));
  law->npoint = LINE_POINTS;
  for (int i = 0; i < LINE_POINTS; i++) {
    law->px[i] = m.x + place[i] * d.x, law->py[i] = m.y + place[i] * d.y;
    law->pw[i] = weight[i];
  }
}

void ab_patch_fill_points(abPatchLaw* law) {
  if (law->npoint > 0) return;
  if (law->nregion < 3) {
    line_points(law);
  } else {
    ab_quadrature_polygon(law->nregion, law->region, law->px, law->py, law->pw);
    law->npoint = ab_quadrature_count(law->nregion);
  }
  for (int i = 0; i < law->npoint; i++)
    law->pw[i] *= fmax(0, field_at(law->field, law->px[i], law->py[i]));
}
