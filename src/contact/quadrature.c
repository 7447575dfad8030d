// Integrals over the contact polygon.
//
// The rule: a fan of triangles from the area's centroid c. On each triangle of area A the rule
//
//   integral f = A ( 1/20 sum f(vertices) + 2/15 sum f(edge midpoints) + 9/20 f(centroid) )
//
// is exact for cubics and has positive weights only. Points shared by neighbouring triangles are
// merged: with A_i the triangle on the edge from vertex i to i + 1,
//
//   vertex i                (A_{i-1} + A_i) / 20        edge midpoint i     2 A_i / 15
//   spoke midpoint i    2 (A_{i-1} + A_i) / 15          triangle centroid i 9 A_i / 20
//   c                               sum A_i / 20
//
// 4 n + 1 points. That the vertices are among them makes tipping exact (a body turns about the
// polygon's border, not about a point inside it); that the weights are positive keeps every energy
// summed over the points convex; that cubics are exact makes the sum equal to the closed forms
// below wherever pressure (degree 1) times slip (1) times lever (1) is not cut off anywhere.
//
// Moments: the triangle (0, a, b) with barycentric coordinates p (of a) and q (of b) has
// integral p^i q^j = 2A i! j! / (i + j + 2)!, and x = p a_x + q b_x.
#include "contact/quadrature.h"

#include <math.h>

#include "math/logarithm.h"
#include "math/quad.h"
#include "math/vec.h"

static abVec2 area_centroid(int n, const abVec2* p) {
  double area2 = 0;
  abVec2 sum = v2(0, 0);
  for (int i = 0; i < n; i++) {
    // relative to a vertex: no cancellation when the polygon is far from the origin
    abVec2 a = v2_sub(p[i], p[0]), b = v2_sub(p[i + 1 < n ? i + 1 : 0], p[0]);
    double c = v2_cross(a, b);
    area2 += c;
    sum = v2_add(sum, v2_scale(c, v2_add(a, b)));
  }
  if (area2 > 0) return v2_add(p[0], v2_scale(1 / (3 * area2), sum));
  sum = v2(0, 0);
  for (int i = 0; i < n; i++) sum = v2_add(sum, p[i]);
  return v2_scale(1.0 / n, sum);
}

void ab_quadrature_polygon(int n, const abVec2* p, double* x, double* y, double* w) {
  abVec2 c = area_centroid(n, p);
  int last = 4 * n;
  for (int i = last; i < ab_quadrature_count(n); i++) x[i] = c.x, y[i] = c.y, w[i] = 0;
  for (int i = 0; i < n; i++) x[i] = p[i].x, y[i] = p[i].y, w[i] = w[n + i] = 0;
  for (int i = 0; i < n; i++) {
    int j = i + 1 < n ? i + 1 : 0;
    // a fan from a point inside a convex polygon has no negative triangle but by rounding
    double A = fmax(0, 0.5 * v2_cross(v2_sub(p[i], c), v2_sub(p[j], c)));
    w[i] += A / 20, w[j] += A / 20;
    w[n + i] += A * (2.0 / 15), w[n + j] += A * (2.0 / 15);
    x[n + i] = 0.5 * (p[i].x + c.x), y[n + i] = 0.5 * (p[i].y + c.y);
    x[2 * n + i] = 0.5 * (p[i].x + p[j].x), y[2 * n + i] = 0.5 * (p[i].y + p[j].y);
    w[2 * n + i] = A * (2.0 / 15);
    x[3 * n + i] = (p[i].x + p[j].x + c.x) / 3, y[3 * n + i] = (p[i].y + p[j].y + c.y) / 3;
    w[3 * n + i] = A * (9.0 / 20);
    w[last] += A / 20;
  }
}

// Adds the triangles (0, a, b) of four edges, but for the factors of complete_moments.
static inline void add_triangles(const double a[2][AB_LANES], const double b[2][AB_LANES],
                                 abFour m[10]) {
  typedef abFour Load __attribute__((aligned(8)));
  abFour ax = *(const Load*)a[0], ay = *(const Load*)a[1];
  abFour bx = *(const Load*)b[0], by = *(const Load*)b[1];
  abFour d = ax * by - ay * bx, mix = ax * by + bx * ay, sx = ax + bx, sy = ay + by;
  abFour axx = ax * ax, ayy = ay * ay, bxx = bx * bx, byy = by * by, axy = ax * ay, bxy = bx * by;
  m[AB_M_1] += d;
  m[AB_M_X] += d * sx;
  m[AB_M_Y] += d * sy;
  m[AB_M_XX] += d * (axx + ax * bx + bxx);
  m[AB_M_YY] += d * (ayy + ay * by + byy);
  m[AB_M_XY] += d * (2 * axy + mix + 2 * bxy);
  m[AB_M_XXX] += d * sx * (axx + bxx);
  m[AB_M_YYY] += d * sy * (ayy + byy);
  m[AB_M_XXY] += d * (3 * (ax * axy + bx * bxy) + ax * (mix + bx * ay) + bx * (mix + ax * by));
  m[AB_M_XYY] += d * (3 * (axy * ay + bxy * by) + ay * (mix + ax * by) + by * (mix + bx * ay));
}

AB_SIMD AB_FLATTEN void ab_polygon_moments(int n, const abVec2* p, abPolygonMoments* moments) {
  static const double scale[10] = {1.0 / 2,  1.0 / 6,  1.0 / 6,  1.0 / 12, 1.0 / 24,
                                   1.0 / 12, 1.0 / 20, 1.0 / 60, 1.0 / 60, 1.0 / 20};
  abFour sum[10] = {{0}};
  for (int first = 0; first < n; first += AB_LANES) {
    double a[2][AB_LANES], b[2][AB_LANES];
    for (int l = 0; l < AB_LANES; l++) {  // edges that fill up the lanes have no length
      int i = first + l < n ? first + l : 0, j = first + l + 1 < n ? first + l + 1 : 0;
      a[0][l] = p[i].x, a[1][l] = p[i].y, b[0][l] = p[j].x, b[1][l] = p[j].y;
    }
    add_triangles((const double(*)[AB_LANES])a, (const double(*)[AB_LANES])b, sum);
  }
  for (int k = 0; k < 10; k++) moments->m[k] = scale[k] * AB_TOTAL(sum[k]);
}

static inline double field_at(const double field[3], double x, double y) {
  return field[0] + field[1] * x + field[2] * y;
}

// --- about a pole
// ---------------------------------------------------------------------------------------------
//
// A triangle of the pole and an edge of the polygon. n is the edge's outer normal and u its
// direction, so that a point of the edge is d n + t u from the pole, l = sqrt(d^2 + t^2) far and in
// the direction e = (cos, sin) = (d, t) / l, dphi = d dt / l^2. Along e the field is p + rho g.e, p
// its value at the pole and g its gradient, and integrals over rho from the circle's radius b to l
// are, with q = g.e,
//
//   rho p      p (l^3 - b^3) / 3 + q (l^4 - b^4) / 4
//   e p        p (l^2 - b^2) / 2 + q (l^3 - b^3) / 3          times e
//   e e p/rho  p (l - b)         + q (l^2 - b^2) / 2          times e e^T
//
// times dphi: powers of d and t over l, whose integrals over t are elementary; those with b are
// trigonometric. Triangles seen from outside count negative, and the sum is that of the polygon.

// One edge, in its own axes (n, u).
typedef struct Edge {
  double n[2], u[2], d, b;  // b: the circle's radius
  double p, g[2];           // the field at the pole, its gradient
} Edge;

// The sums in the axes of one edge: see abPoleSums.
typedef struct EdgeSums {
  double beyond0, beyond1[2], beyond2[3];
  double within0, within1[2], within2;
} EdgeSums;

// A part of an edge, from t[0] to t[1].
typedef struct Stretch {
  double t[2], l[2];
} Stretch;

// Integral of dt / l from t0 to t1, without cancellation: the difference of asinh(t / d). It comes
// times d, and where d^2 is nothing against the rest it may be anything.
static inline double log_ratio(double d, double t0, double t1, double l0, double l1) {
  double far1 = fabs(t1) + l1, far0 = fabs(t0) + l0;
  double high = (t1 > 0 ? far1 : 1) * (t0 < 0 ? far0 : 1);
  double low = (t1 > 0 ? 1 : far1) * (t0 < 0 ? 1 : far0);
  double between = d * d > 1e-30 * high ? d * d : 1e-30 * high;
  return ab_log(high / (t0 < 0 && t1 > 0 ? between : low));
}

// A stretch of the edge that lies in the circle, and so does its triangle: the terms without b are
// taken off what is beyond.
static void take_off(const Edge* e, const Stretch* s, EdgeSums* sum) {
  double d = e->d, p = e->p, dgn = d * e->g[0], gu = e->g[1];
  const double *t = s->t, *l = s->l;
  double L = log_ratio(d, t[0], t[1], l[0], l[1]), dl = l[1] - l[0], tl = t[1] * l[1] - t[0] * l[0];
  double P = 0.5 * (tl + d * d * L), Q = 0.5 * (tl - d * d * L);  // of l dt, of t^2 / l dt
  double lll = l[1] * l[1] * l[1] - l[0] * l[0] * l[0];
  sum->beyond0 -= d * (P * (p / 3 + 0.25 * dgn) + gu * lll / 12);
  sum->beyond1[0] -= d * d * (L * (0.5 * p + dgn / 3) + gu * dl / 3);
  sum->beyond1[1] -= d * (dl * (0.5 * p + dgn / 3) + gu * Q / 3);
  double sine = t[1] / l[1] - t[0] / l[0], cosine = d / l[1] - d / l[0], rest = L - sine;
  double q = p + 0.5 * dgn, dgu = 0.5 * d * gu;
  sum->beyond2[0] -= d * (q * sine - dgu * cosine);
  sum->beyond2[1] -= d * (dgu * rest - q * cosine);
  sum->beyond2[2] -= d * (q * rest + 0.5 * gu * (dl + d * cosine));
}

// Before and behind the circle: the terms with b, taken off what is beyond and added to what is
// within.
static void add_sector(const Edge* e, const Stretch* s, EdgeSums* sum) {
  double p = e->p, gn = e->g[0], gu = e->g[1], d = e->d, b = e->b;
  const double *t = s->t, *l = s->l;
  double s0 = t[0] / l[0], s1 = t[1] / l[1], c0 = d / l[0], c1 = d / l[1];
  double angle = atan2(d * (t[1] - t[0]), d * d + t[0] * t[1]);
  double en = s1 - s0, eu = c0 - c1;  // integral of e; then of e e^T, then of e e e
  double ss = 0.5 * (s1 * s1 - s0 * s0), sc = 0.5 * (s1 * c1 - s0 * c0);
  double nn = 0.5 * angle + sc, uu = 0.5 * angle - sc;
  double sss = (s1 * s1 * s1 - s0 * s0 * s0) / 3, ccc = (c1 * c1 * c1 - c0 * c0 * c0) / 3;
  double q = gn * en + gu * eu, qn = gn * nn + gu * ss, qu = gn * ss + gu * uu;
  double b2 = b * b, b3 = b2 * b, b4 = b2 * b2;
  sum->beyond0 -= p * b3 / 3 * angle + 0.25 * b4 * q;
  sum->beyond1[0] -= 0.5 * p * b2 * en + b3 / 3 * qn;
  sum->beyond1[1] -= 0.5 * p * b2 * eu + b3 / 3 * qu;
  sum->beyond2[0] -= p * b * nn + 0.5 * b2 * (gn * (en - sss) - gu * ccc);
  sum->beyond2[1] -= p * b * ss + 0.5 * b2 * (-gn * ccc + gu * sss);
  sum->beyond2[2] -= p * b * uu + 0.5 * b2 * (gn * sss + gu * (eu + ccc));
  sum->within0 += 0.5 * p * b2 * angle + b3 / 3 * q;
  sum->within1[0] += p * b3 / 3 * en + 0.25 * b4 * qn;
  sum->within1[1] += p * b3 / 3 * eu + 0.25 * b4 * qu;
  sum->within2 += 0.25 * p * b4 * angle + 0.2 * b4 * b * q;
}

// In the circle: what is within, and nothing beyond.
static void add_within(const Edge* e, const Stretch* s, EdgeSums* sum) {
  take_off(e, s, sum);
  double d = e->d, p = e->p, gn = e->g[0], gu = e->g[1], a = s->t[0], b = s->t[1];
  double t1 = b - a, t2 = (b * b - a * a) / 2, t3 = (b * b * b - a * a * a) / 3;
  double t4 = (b * b + a * a) * t2 / 2, ll = d * d * t1 + t3;
  sum->within0 += d * (0.5 * p * t1 + (gn * d * t1 + gu * t2) / 3);
  sum->within1[0] += d * d * (p / 3 * t1 + 0.25 * (gn * d * t1 + gu * t2));
  sum->within1[1] += d * (p / 3 * t2 + 0.25 * (gn * d * t2 + gu * t3));
  sum->within2 += d * (0.25 * p * ll + 0.2 * (gn * d * ll + gu * (d * d * t2 + t4)));
}

static Stretch stretch_of(const Edge* e, double from, double to) {
  double dd = e->d * e->d;
  return (Stretch){{from, to}, {sqrt(dd + from * from), sqrt(dd + to * to)}};
}

static void add_turned(const Edge* e, const EdgeSums* from, abPoleSums* to) {
  const double *n = e->n, *u = e->u, *k = from->beyond2;
  to->beyond0 += from->beyond0, to->within0 += from->within0, to->within2 += from->within2;
  for (int i = 0; i < 2; i++) {
    to->beyond1[i] += n[i] * from->beyond1[0] + u[i] * from->beyond1[1];
    to->within1[i] += n[i] * from->within1[0] + u[i] * from->within1[1];
  }
  to->beyond2[0] += n[0] * n[0] * k[0] + 2 * n[0] * u[0] * k[1] + u[0] * u[0] * k[2];
  to->beyond2[1] += n[0] * n[1] * k[0] + (n[0] * u[1] + n[1] * u[0]) * k[1] + u[0] * u[1] * k[2];
  to->beyond2[2] += n[1] * n[1] * k[0] + 2 * n[1] * u[1] * k[1] + u[1] * u[1] * k[2];
}

// The whole circle lies in the polygon.
static void add_circle(const double about[3], double b, abPoleSums* sum) {
  const double pi = 3.141592653589793, p = about[0], *g = about + 1;
  double b2 = b * b, b3 = b2 * b;
  sum->beyond0 -= 2 * pi / 3 * p * b3;
  sum->beyond2[0] -= pi * p * b, sum->beyond2[2] -= pi * p * b;
  sum->within0 += pi * p * b2, sum->within2 += 0.5 * pi * p * b2 * b2;
  for (int i = 0; i < 2; i++) {
    sum->beyond1[i] -= pi / 3 * b3 * g[i];
    sum->within1[i] += 0.25 * pi * b2 * b2 * g[i];
  }
}

static Edge edge_at(const abPole* pole, abVec2 from, abVec2 to, const double field[3], double* t) {
  abVec2 a = v2_sub(from, pole->at), way = v2_sub(to, from), g = v2(field[1], field[2]);
  double length = v2_norm(way);
  abVec2 u = length > 0 ? v2_scale(1 / length, way) : v2(1, 0), n = v2(u.y, -u.x);
  t[0] = v2_dot(u, a), t[1] = t[0] + length;
  return (Edge){.n = {n.x, n.y},
                .u = {u.x, u.y},
                .d = v2_dot(n, a),
                .b = pole->radius,
                .p = field[0] + v2_dot(g, pole->at),
                .g = {v2_dot(g, n), v2_dot(g, u)}};
}

typedef void (*AddStretch)(const Edge* e, const Stretch* s, EdgeSums* sum);

// The three stretches of an edge: before the circle, in it, behind it.
static void walk_edge(const Edge* e, const double t[2], AddStretch beyond, AddStretch within,
                      EdgeSums* sum) {
  double half = fabs(e->d) < e->b ? sqrt(e->b * e->b - e->d * e->d) : 0;
  double end[4] = {t[0], fmin(fmax(-half, t[0]), t[1]), fmin(fmax(half, t[0]), t[1]), t[1]};
  if (!(half > 0)) end[1] = end[2] = t[1];
  for (int k = 0; k < 3; k++) {
    if (!(end[k + 1] > end[k])) continue;
    Stretch s = stretch_of(e, end[k], end[k + 1]);
    (k == 1 ? within : beyond)(e, &s, sum);
  }
}

static inline double total(const double lane[AB_LANES]) {
  return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

// How the pole lies to the polygon: squared distance of the border, and the least d of all edges,
// which is not positive if the pole is outside.
typedef struct Sight {
  double border2, inside;
} Sight;

// The terms without b of all edges; without beyond2 unless `slopes`. The field is
// that about the pole. Edges that fill up the lanes have no length, and d = 0. Always inlined: it
// is compiled for the registers of its callers.
__attribute__((always_inline)) static inline Sight sum_edges(const abRing* ring,
                                                             const double field[3], abVec2 pole,
                                                             bool slopes, abPoleSums* sums) {
  double s0[AB_LANES] = {0}, sx[AB_LANES] = {0}, sy[AB_LANES] = {0}, kxx[AB_LANES] = {0},
         kxy[AB_LANES] = {0}, kyy[AB_LANES] = {0};
  double nearest[AB_LANES], least[AB_LANES], p = field[0], gx = field[1], gy = field[2];
  for (int i = 0; i < AB_LANES; i++) nearest[i] = least[i] = INFINITY;
  for (int first = 0; first < ring->n; first += AB_LANES) {
    const double *x = ring->x + first, *y = ring->y + first;
    for (int i = 0; i < AB_LANES; i++) {
      double ax = x[i] - pole.x, ay = y[i] - pole.y, bx = x[i + 1] - pole.x, by = y[i + 1] - pole.y;
      double wx = bx - ax, wy = by - ay, length = sqrt(wx * wx + wy * wy);
      double per = 1 / (length > 0 ? length : 1), ux = per * wx, uy = per * wy;
      double d = uy * ax - ux * ay, t0 = ux * ax + uy * ay, t1 = ux * bx + uy * by;
      double ll0 = ax * ax + ay * ay, ll1 = bx * bx + by * by, l0 = sqrt(ll0), l1 = sqrt(ll1);
      double end2 = ll0 < ll1 ? ll0 : ll1, near2 = t0 < 0 && t1 > 0 ? d * d : end2;
      double side = length > 0 ? d : INFINITY;
      nearest[i] = near2 < nearest[i] ? near2 : nearest[i];
      least[i] = side < least[i] ? side : least[i];
      double L = log_ratio(d, t0, t1, l0, l1), dL = d * L, dl = l1 - l0, tl = t1 * l1 - t0 * l0;
      double P = 0.5 * (tl + d * dL), Q = 0.5 * (tl - d * dL), lll = ll1 * l1 - ll0 * l0;
      double dgn = d * (gx * uy - gy * ux), gu = gx * ux + gy * uy;
      s0[i] += d * (P * ((1.0 / 3) * p + 0.25 * dgn) + (1.0 / 12) * gu * lll);
      double pg = 0.5 * p + (1.0 / 3) * dgn;
      double vn = d * (pg * dL + (1.0 / 3) * gu * d * dl), vu = d * (pg * dl + (1.0 / 3) * gu * Q);
      sx[i] += uy * vn + ux * vu, sy[i] += uy * vu - ux * vn;
      if (!slopes) continue;
      double per0 = 1 / (l0 > 0 ? l0 : 1), per1 = 1 / (l1 > 0 ? l1 : 1);
      double sine = t1 * per1 - t0 * per0, cosine = d * (per1 - per0), rest = L - sine;
      double q = p + 0.5 * dgn, dgu = 0.5 * d * gu;
      double knn = d * (q * sine - dgu * cosine), knu = d * (dgu * rest - q * cosine);
      double kuu = d * (q * rest + 0.5 * gu * (dl + d * cosine));
      kxx[i] += uy * uy * knn + 2 * ux * uy * knu + ux * ux * kuu;
      kxy[i] += (uy * uy - ux * ux) * knu + ux * uy * (kuu - knn);
      kyy[i] += ux * ux * knn - 2 * ux * uy * knu + uy * uy * kuu;
    }
  }
  sums->beyond0 = total(s0), sums->beyond1[0] = total(sx), sums->beyond1[1] = total(sy);
  sums->beyond2[0] = total(kxx), sums->beyond2[1] = total(kxy), sums->beyond2[2] = total(kyy);
  Sight sight = {INFINITY, INFINITY};
  for (int i = 0; i < AB_LANES; i++) {
    sight.border2 = nearest[i] < sight.border2 ? nearest[i] : sight.border2;
    sight.inside = least[i] < sight.inside ? least[i] : sight.inside;
  }
  return sight;
}

AB_SIMD static Sight add_edges(const abRing* ring, const double field[3], abVec2 pole,
                               abPoleSums* sums) {
  return sum_edges(ring, field, pole, false, sums);
}

AB_SIMD static Sight add_edges_and_slopes(const abRing* ring, const double field[3], abVec2 pole,
                                          abPoleSums* sums) {
  return sum_edges(ring, field, pole, true, sums);
}

// The circle reaches the border. An edge in line with the pole has no triangle.
static void add_crossed(const abRing* ring, const double field[3], const abPole* pole,
                        abPoleSums* sums) {
  for (int i = 0; i < ring->n; i++) {
    double t[2];
    EdgeSums sum = {0};
    abVec2 from = v2(ring->x[i], ring->y[i]), to = v2(ring->x[i + 1], ring->y[i + 1]);
    Edge e = edge_at(pole, from, to, field, t);
    if (e.d != 0) walk_edge(&e, t, add_sector, add_within, &sum);
    add_turned(&e, &sum, sums);
  }
}

void ab_ring_close(abRing* ring) {
  for (int i = ring->n; i < ab_ring_room(ring->n); i++)
    ring->x[i] = ring->x[0], ring->y[i] = ring->y[0];
}

void ab_ring_pole(const abRing* ring, const double field[3], const abPole* pole, bool slopes,
                  abPoleSums* sums) {
  double b = pole->radius;
  double about[3] = {field_at(field, pole->at.x, pole->at.y), field[1], field[2]};
  *sums = (abPoleSums){0};
  Sight sight = slopes ? add_edges_and_slopes(ring, about, pole->at, sums)
                       : add_edges(ring, about, pole->at, sums);
  if (sight.border2 <= b * b)
    add_crossed(ring, field, pole, sums);
  else if (sight.inside > 0)
    add_circle(about, b, sums);
}

// --- lines
//
// A line is an edge whose own points count instead of the triangle behind them: with the field p +
// g t along it the integrands are (p + g t) times l, e, e e^T / l, and in the circle 1, l e, l^2.

static void add_line_beyond(const Edge* e, const Stretch* s, EdgeSums* sum) {
  double d = e->d, p = e->p + d * e->g[0], g = e->g[1];
  const double *t = s->t, *l = s->l;
  double L = log_ratio(d, t[0], t[1], l[0], l[1]), dl = l[1] - l[0], tl = t[1] * l[1] - t[0] * l[0];
  double sine = t[1] / l[1] - t[0] / l[0], cosine = d / l[1] - d / l[0], rest = L - sine;
  sum->beyond0 += 0.5 * p * (tl + d * d * L) + g / 3 * (l[1] * l[1] * l[1] - l[0] * l[0] * l[0]);
  sum->beyond1[0] += d * (p * L + g * dl);
  sum->beyond1[1] += p * dl + 0.5 * g * (tl - d * d * L);
  sum->beyond2[0] += p * sine - g * d * cosine;
  sum->beyond2[1] += g * d * rest - p * cosine;
  sum->beyond2[2] += p * rest + g * (dl + d * cosine);
}

static void add_line_within(const Edge* e, const Stretch* s, EdgeSums* sum) {
  double d = e->d, p = e->p + d * e->g[0], g = e->g[1], a = s->t[0], b = s->t[1];
  double t1 = b - a, t2 = (b * b - a * a) / 2, t3 = (b * b * b - a * a * a) / 3;
  double t4 = (b * b + a * a) * t2 / 2, all = p * t1 + g * t2, first = p * t2 + g * t3;
  sum->within0 += all;
  sum->within1[0] += d * all;
  sum->within1[1] += first;
  sum->within2 += d * d * all + p * t3 + g * t4;
}

void ab_line_pole(const abVec2 end[2], const double field[3], const abPole* pole,
                  abPoleSums* sums) {
  double t[2];
  EdgeSums sum = {0};
  Edge e = edge_at(pole, end[0], end[1], field, t);
  double per = 1 / (t[1] - t[0]);
  e.p *= per, e.g[0] *= per, e.g[1] *= per;
  *sums = (abPoleSums){0};
  walk_edge(&e, t, add_line_beyond, add_line_within, &sum);
  add_turned(&e, &sum, sums);
}
