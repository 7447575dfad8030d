// Meshes of many small facets that stand for something round.
//
// A ball of facets rolls like a polygon: at each facet it strikes the ground and loses what its
// edge takes, 0.36 of the angle between facets in every radian. What was meant is the smooth
// surface that passes through the vertices. Near a vertex v with neighbours v + e it is fitted by
//
//   z = a . y + y K y / 2 + k z^2 / 2,   k = tr K / 2,
//
// y the components of e across a mean normal m, z that against it: the five numbers a and K by
// least squares (with four neighbours, only a and one curvature). A ball is met exactly. It is
// taken for smooth if the facets there differ little in direction, the surface bends to one side,
// and the fit leaves little over. Edges and flat faces of ordinary bodies fail these tests.
//
// Along a direction d = (d . m) (m + t), t across m, the surface is farthest where a + K y is
// (1 - k z) t; a few rounds with the equation above give y and z, since k z is small.
//
// Of n vertices on a ball the middles of the facets lie 4 / n of the radius below its surface. The
// surface that counts is the one parallel to the smooth one, by that much inside: a body that came
// to lie on its facets is not lifted, and gains no energy by being taken for smooth.
// Tests: test_touch_round.
#include <float.h>

#include "collide/touch/round.h"

enum { NEIGHBOURS = 12, ROUNDS = 4 };
// Facets about a smooth vertex look along its mean normal to this cosine (20 degrees).
static const double ALIKE = 0.94;
// What a fit may leave over, of the largest z.
static const double REST = 0.1;
// Ratio of the curvatures.
static const double ROUND = 0.05;

typedef struct Fit {
  abVec3 m, u, w;     // normal, and two axes across
  double a[2];        // slope
  double xx, xy, yy;  // K
  double reach;       // how far the neighbours are
} Fit;

// Solves A x = b, A symmetric positive definite, n <= 5.
static bool solve(int n, double A[5][5], double* b) {
  for (int j = 0; j < n; j++) {
    for (int k = 0; k < j; k++) A[j][j] -= A[j][k] * A[j][k];
    if (!(A[j][j] > 0)) return false;
    A[j][j] = sqrt(A[j][j]);
    for (int i = j + 1; i < n; i++) {
      for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
  }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) b[i] -= A[i][k] * b[k];
    b[i] /= A[i][i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) b[i] -= A[k][i] * b[k];
    b[i] /= A[i][i];
  }
  return true;
}

// Neighbours and the mean of the normals about a vertex; 0 if the facets differ too much.
static int gather(const abPolyhedron* p, int vertex, abVec3 e[NEIGHBOURS], abVec3* m) {
  const abHalf* half = ab_polyhedron_half(p);
  int first = ab_polyhedron_vert_half(p)[vertex], h = first, n = 0;
  *m = v3_zero();
  do {
    if (n == NEIGHBOURS) return 0;
    e[n++] = v3_sub(p->vert[half[h ^ 1].from], p->vert[vertex]);
    *m = v3_add(*m, p->plane[half[h].left].n);
    h = half[h ^ 1].next;
  } while (h != first);
  *m = v3_unit(*m);
  do {
    if (v3_dot(p->plane[half[h].left].n, *m) < ALIKE) return 0;
    h = half[h ^ 1].next;
  } while (h != first);
  return n;
}

static bool fit_vertex(const abPolyhedron* p, int vertex, Fit* f) {
  abVec3 e[NEIGHBOURS];
  int n = gather(p, vertex, e, &f->m), k = n >= 5 ? 5 : 3;
  if (n < 4) return false;
  v3_tangents(f->m, &f->u, &f->w);
  double A[5][5] = {{0}}, b[5] = {0}, row[NEIGHBOURS][5], z[NEIGHBOURS], size = 0, most = 0;
  for (int i = 0; i < n; i++) size = fmax(size, v3_norm(e[i]));
  for (int i = 0; i < n; i++) {
    // in units of the longest edge
    double x = v3_dot(f->u, e[i]) / size, y = v3_dot(f->w, e[i]) / size;
    z[i] = -v3_dot(f->m, e[i]) / size;
    double xx = 0.5 * x * x + 0.25 * z[i] * z[i], yy = 0.5 * y * y + 0.25 * z[i] * z[i];
    double own[5] = {x, y, k == 5 ? xx : xx + yy, x * y, yy};
    most = fmax(most, z[i]);
    for (int r = 0; r < k; r++) {
      row[i][r] = own[r];
      b[r] += own[r] * z[i];
      for (int c = 0; c <= r; c++) A[r][c] += own[r] * own[c];
    }
  }
  // hardly different from none where the neighbours leave a number open
  for (int r = 0; r < k; r++) A[r][r] += 1e-9;
  if (!solve(k, A, b)) return false;
  for (int i = 0; i < n; i++) {
    double rest = z[i];
    for (int r = 0; r < k; r++) rest -= row[i][r] * b[r];
    if (fabs(rest) > REST * most) return false;
  }
  f->a[0] = b[0], f->a[1] = b[1], f->reach = size;
  f->xx = b[2] / size, f->xy = k == 5 ? b[3] / size : 0, f->yy = (k == 5 ? b[4] : b[2]) / size;
  double sum = f->xx + f->yy, product = f->xx * f->yy - f->xy * f->xy;
  return sum > 0 && product > ROUND * 0.25 * sum * sum;
}

bool ab_touch_smooth(const abPolyhedron* p, int vertex, abVec3 d, abVec3* point, double* deep) {
  Fit f;
  if (!fit_vertex(p, vertex, &f)) return false;
  double along = v3_dot(d, f.m);
  if (!(along > ALIKE * v3_norm(d))) return false;
  double tx = v3_dot(d, f.u) / along, ty = v3_dot(d, f.w) / along;
  double det = f.xx * f.yy - f.xy * f.xy, mean = 0.5 * (f.xx + f.yy), x = 0, y = 0, z = 0;
  for (int i = 0; i < ROUNDS; i++) {
    double gx = (1 - mean * z) * tx - f.a[0], gy = (1 - mean * z) * ty - f.a[1];
    x = (f.yy * gx - f.xy * gy) / det, y = (f.xx * gy - f.xy * gx) / det;
    z = f.a[0] * x + f.a[1] * y + 0.5 * (f.xx * x * x + 2 * f.xy * x * y + f.yy * y * y) +
        0.5 * mean * z * z;
  }
  if (!(x * x + y * y <= f.reach * f.reach)) return false;
  abVec3 r = v3_add(v3_scale(x, f.u), v3_scale(y, f.w));
  *point = v3_add(p->vert[vertex], v3_axpy(-z, f.m, r));
  // the half diagonal of the box about a ball is the radius times the root of 3
  *point = v3_axpy(-2.31 * ab_polyhedron_skin(p)->size / p->nvert / v3_norm(d), d, *point);
  *deep = 0.5 * mean * f.reach * f.reach;
  return true;
}
