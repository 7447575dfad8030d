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
// The finer rule is a product rule on each triangle of the fan: p = c + r ((1 - t)(a - c) +
// t (b - c)), dS = 2A r dr dt, 4 Gauss points in t and 3 Gauss-Jacobi points (weight r) in r. On a
// square it gives the friction of a patch that turns about any point to 0.2 %, where the first rule
// errs by up to 2.6 %.
//
// Moments: the triangle (0, a, b) with barycentric coordinates p (of a) and q (of b) has
// integral p^i q^j = 2A i! j! / (i + j + 2)!, and x = p a_x + q b_x.
#include "contact/quadrature.h"

#include <math.h>

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

void ab_quadrature_fine(int n, const abVec2* p, double* x, double* y, double* w) {
  static const double t[4] = {0.06943184420297371, 0.33000947820757187, 0.6699905217924281,
                              0.9305681557970262};
  static const double wt[4] = {0.17392742256872687, 0.3260725774312731, 0.3260725774312731,
                               0.17392742256872687};
  static const double r[3] = {0.212340538239153, 0.5905331355592653, 0.9114120404872961};
  static const double wr[3] = {0.06982697990145416, 0.2292411063595863, 0.20093191373895955};
  abVec2 c = area_centroid(n, p);
  int k = 0;
  for (int i = 0; i < n; i++) {
    abVec2 a = v2_sub(p[i], c), b = v2_sub(p[i + 1 < n ? i + 1 : 0], c);
    double A2 = fmax(0, v2_cross(a, b));
    for (int j = 0; j < 4; j++) {
      abVec2 d = v2_add(v2_scale(1 - t[j], a), v2_scale(t[j], b));
      for (int l = 0; l < 3; l++, k++) {
        x[k] = c.x + r[l] * d.x, y[k] = c.y + r[l] * d.y;
        w[k] = A2 * wt[j] * wr[l];
      }
    }
  }
}

// Adds the triangle (0, a, b), but for the factors of complete_moments.
static void add_triangle(abVec2 a, abVec2 b, double m[10]) {
  double d = v2_cross(a, b);
  double axx = a.x * a.x, ayy = a.y * a.y, bxx = b.x * b.x, byy = b.y * b.y;
  double mix = a.x * b.y + b.x * a.y;
  m[AB_M_1] += d;
  m[AB_M_X] += d * (a.x + b.x);
  m[AB_M_Y] += d * (a.y + b.y);
  m[AB_M_XX] += d * (axx + a.x * b.x + bxx);
  m[AB_M_YY] += d * (ayy + a.y * b.y + byy);
  m[AB_M_XY] += d * (2 * a.x * a.y + mix + 2 * b.x * b.y);
  m[AB_M_XXX] += d * (a.x + b.x) * (axx + bxx);
  m[AB_M_YYY] += d * (a.y + b.y) * (ayy + byy);
  m[AB_M_XXY] +=
      d * (3 * (axx * a.y + bxx * b.y) + a.x * (mix + b.x * a.y) + b.x * (mix + a.x * b.y));
  m[AB_M_XYY] +=
      d * (3 * (a.x * ayy + b.x * byy) + a.y * (mix + a.x * b.y) + b.y * (mix + b.x * a.y));
}

static void complete_moments(double m[10]) {
  static const double scale[10] = {1.0 / 2,  1.0 / 6,  1.0 / 6,  1.0 / 12, 1.0 / 24,
                                   1.0 / 12, 1.0 / 20, 1.0 / 60, 1.0 / 60, 1.0 / 20};
  for (int k = 0; k < 10; k++) m[k] *= scale[k];
}

void ab_polygon_moments(int n, const abVec2* p, abPolygonMoments* moments) {
  double* m = moments->m;
  for (int k = 0; k < 10; k++) m[k] = 0;
  for (int i = 0; i < n; i++) add_triangle(p[i], p[i + 1 < n ? i + 1 : 0], m);
  complete_moments(m);
}

// A polygon goes corner by corner through two knives, each of which lets pass what is on the
// positive side of a line (Sutherland & Hodgman), and what is left is measured: no corner is kept.
enum { KNIVES = 2 };
typedef struct Knife {
  double field[3];
  abVec2 first, last;
  double value;  // at the last corner
  bool begun;
} Knife;

static void pass(Knife* knife, int k, abVec2 p, double m[10]) {
  Knife* here = &knife[k];
  double value = here->field[0] + here->field[1] * p.x + here->field[2] * p.y;
  if (here->begun && k == KNIVES) add_triangle(here->last, p, m);
  if (here->begun && k < KNIVES && (value >= 0) != (here->value >= 0)) {
    double t = here->value / (here->value - value);
    pass(knife, k + 1, v2_add(here->last, v2_scale(t, v2_sub(p, here->last))), m);
  }
  if (k < KNIVES && value >= 0) pass(knife, k + 1, p, m);
  if (!here->begun) here->first = p;
  here->begun = true, here->last = p, here->value = value;
}

// first: the field that is the smaller one.
static void measure_where(int n, const abVec2* p, const double first[3], const double second[3],
                          abVec2 origin, double m[10]) {
  Knife knife[KNIVES + 1] = {{.begun = false}};
  for (int i = 0; i < 3; i++)
    knife[0].field[i] = second[i] - first[i], knife[1].field[i] = first[i];
  for (int k = 0; k < 10; k++) m[k] = 0;
  for (int i = 0; i < n; i++) pass(knife, 0, v2_sub(p[i], origin), m);
  for (int k = 0; k <= KNIVES; k++)
    if (knife[k].begun) pass(knife, k, knife[k].first, m);
  complete_moments(m);
}

void ab_polygon_profile(int n, const abVec2* polygon, const double field[2][3], abVec2 origin,
                        double sum[4]) {
  double f[2][3], m[10];
  for (int k = 0; k < 4; k++) sum[k] = 0;
  for (int i = 0; i < 2; i++) {
    f[i][0] = field[i][0] + field[i][1] * origin.x + field[i][2] * origin.y;
    f[i][1] = field[i][1], f[i][2] = field[i][2];
  }
  bool same = f[0][0] == f[1][0] && f[0][1] == f[1][1] && f[0][2] == f[1][2];
  for (int i = 0; i < (same ? 1 : 2); i++) {
    const double* p = f[i];
    measure_where(n, polygon, p, f[1 - i], origin, m);
    sum[0] += p[0] * m[AB_M_1] + p[1] * m[AB_M_X] + p[2] * m[AB_M_Y];
    sum[1] += p[0] * m[AB_M_X] + p[1] * m[AB_M_XX] + p[2] * m[AB_M_XY];
    sum[2] += p[0] * m[AB_M_Y] + p[1] * m[AB_M_XY] + p[2] * m[AB_M_YY];
    sum[3] += p[0] * (m[AB_M_XX] + m[AB_M_YY]) + p[1] * (m[AB_M_XXX] + m[AB_M_XYY]) +
              p[2] * (m[AB_M_XXY] + m[AB_M_YYY]);
  }
}

// Adds to the moments up to the second, but for their factors, those of something of size d that is
// spread evenly from a to b: a line, or with the origin a triangle.
static inline void add_moments(double d, const double a[2], const double b[2], double m[6]) {
  double sx = a[0] + b[0], sy = a[1] + b[1];
  m[AB_M_1] += d;
  m[AB_M_X] += d * sx;
  m[AB_M_Y] += d * sy;
  m[AB_M_XX] += d * (sx * sx - a[0] * b[0]);
  m[AB_M_XY] += d * (sx * sy + a[0] * a[1] + b[0] * b[1]);
  m[AB_M_YY] += d * (sy * sy - a[1] * b[1]);
}

static inline void add_edge(const double a[2], const double b[2], double m[6]) {
  add_moments(a[0] * b[1] - a[1] * b[0], a, b, m);
}

static inline void add_line(const double a[2], const double b[2], double m[6]) {
  double dx = b[0] - a[0], dy = b[1] - a[1];
  add_moments(sqrt(dx * dx + dy * dy), a, b, m);
}

double ab_polygon_perimeter(int n, const double* x, const double* y) {
  double sum = 0;
  for (int i = 0, j = n - 1; i < n; j = i++) {
    double dx = x[i] - x[j], dy = y[i] - y[j];
    sum += sqrt(dx * dx + dy * dy);
  }
  return sum;
}

static inline double field_at(const double field[3], double x, double y) {
  return field[0] + field[1] * x + field[2] * y;
}

// The border of the part is walked once; where it leaves and where it enters the area's border are
// joined by the line on which the field is zero.
void ab_area_positive(const abPatchArea* area, const double field[3], double m[6]) {
  double out[2] = {0, 0}, in[2] = {0, 0}, inside[6] = {0}, border[6] = {0};
  int n = area->n, crossings = 0;
  const double *x = area->x, *y = area->y;
  double pa = field_at(field, x[n - 1], y[n - 1]);
  for (int i = 0, j = n - 1; i < n; j = i++) {
    double pb = field_at(field, x[i], y[i]);
    if (pa > 0 || pb > 0) {
      double a[2] = {x[j], y[j]}, b[2] = {x[i], y[i]};
      if (!(pa > 0 && pb > 0)) {
        double t = pa / (pa - pb), c[2] = {a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])};
        double *end = pa > 0 ? b : a, *cross = pa > 0 ? out : in;
        end[0] = cross[0] = c[0], end[1] = cross[1] = c[1];
        crossings++;
      }
      add_edge(a, b, inside);
      if (j != area->inner && area->border > 0) add_line(a, b, border);
    }
    pa = pb;
  }
  if (crossings == 2) add_edge(out, in, inside);
  static const double scale[2][6] = {
      {1.0 / 2, 1.0 / 6, 1.0 / 6, 1.0 / 12, 1.0 / 24, 1.0 / 12},
      {1, 1.0 / 2, 1.0 / 2, 1.0 / 3, 1.0 / 6, 1.0 / 3},
  };
  for (int k = 0; k < 6; k++)
    m[k] = area->inside * scale[0][k] * inside[k] + area->border * scale[1][k] * border[k];
}

void ab_area_split(const abPatchArea* area, const double field[3], double* room,
                   abPatchArea part[2]) {
  int n = area->n, count[2] = {0, 0}, inner[2] = {-1, -1};
  const double *x = area->x, *y = area->y;
  double* to[2][2] = {{room, room + (n + 2)}, {room + 2 * (n + 2), room + 3 * (n + 2)}};
  double pa = field_at(field, x[n - 1], y[n - 1]);
  for (int i = 0, j = n - 1; i < n; j = i++) {
    double pb = field_at(field, x[i], y[i]);
    if ((pa > 0) != (pb > 0)) {
      double t = pa / (pa - pb), cx = x[j] + t * (x[i] - x[j]), cy = y[j] + t * (y[i] - y[j]);
      inner[pa > 0 ? 0 : 1] = count[pa > 0 ? 0 : 1];  // here the border of this part turns inward
      for (int k = 0; k < 2; k++) to[k][0][count[k]] = cx, to[k][1][count[k]++] = cy;
    }
    int k = pb > 0 ? 0 : 1;
    to[k][0][count[k]] = x[i], to[k][1][count[k]++] = y[i];
    pa = pb;
  }
  for (int k = 0; k < 2; k++) {
    part[k] = *area;
    part[k].n = count[k], part[k].inner = inner[k];
    part[k].x = to[k][0], part[k].y = to[k][1];
  }
}
