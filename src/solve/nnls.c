// Non-negative least squares: minimise |A x - b| subject to x >= 0.
//
// An active-set method after Lawson & Hanson 1974 (Solving Least Squares Problems, chapter 23).
// With r = b - A x and the gradient components w_j = a_j . r, x is optimal iff
//     x_j >= 0,   w_j <= 0 for every j,   w_j = 0 where x_j > 0.
// P is the passive set (x_j > 0). Outer loop: the column with the largest w_j > 0 joins P. Inner
// loop: let z be the unconstrained least-squares solution on P; if z > 0 take it, else move from x
// towards z until the first x_k reaches 0, drop k from P, repeat. |r| falls strictly at each outer
// loop, so no passive set returns and the method ends.
//
// Columns are divided by their norms first: w_j / |a_j| is the slope of |r|^2 / 2 per unit length
// moved, so the choice of column does not depend on the units of x.
//
// The factorisation A_P = Q R (Q: orthonormal columns, R: upper triangular) is updated, never
// redone: a column is appended by Gram-Schmidt applied twice (once is not enough to keep Q
// orthogonal to rounding), removed by Givens rotations; y = Q^T b and r = b - Q y follow in
// O(nrow). An outer iteration costs nrow * ncol for the slopes and O(nrow |P|) for the rest;
// |P| <= nrow.
//
// Departures from the book: QR updates; an initial P; a column is refused for this round when its
// part orthogonal to Q drowns in rounding or when it would not grow (both are rounding effects); if
// |r| did not fall, refused columns stay refused, so rounding cannot make the method cycle either.
#include <float.h>
#include <math.h>
#include <string.h>

#include "solve/dense.h"

typedef struct Nnls {
  int m, n;
  int limit;       // largest size of P: min(m, n)
  int size;        // |P|
  double* a;       // unit columns
  double* length;  // norms of the columns
  double* x;       // in units of the unit columns
  double* q;       // m x size by columns
  double* r;       // by columns with stride `limit`
  double* y;       // Q^T b
  double* z;       // least-squares solution on P
  double* rest;    // b - Q y
  double* slope;   // w
  int* set;        // P in the order of the columns of Q
  int* state;      // per column: FREE, PASSIVE or REFUSED
} Nnls;

enum { FREE, PASSIVE, REFUSED };

static size_t layout(Nnls* s, int m, int n, void* workspace) {
  abCarve c = {(char*)workspace, 0};
  size_t rows = (size_t)m, columns = (size_t)n, least = rows < columns ? rows : columns;
  *s = (Nnls){.m = m, .n = n, .limit = (int)least};
  s->a = carve_double(&c, rows * columns);
  s->length = carve_double(&c, columns);
  s->x = carve_double(&c, columns);
  s->q = carve_double(&c, rows * least);
  s->r = carve_double(&c, least * least);
  s->y = carve_double(&c, least);
  s->z = carve_double(&c, least);
  s->rest = carve_double(&c, rows);
  s->slope = carve_double(&c, columns);
  s->set = carve_int(&c, least);
  s->state = carve_int(&c, columns);
  return c.used;
}

size_t ab_nnls_workspace(int nrow, int ncol) {
  Nnls s;
  return nrow < 0 || ncol < 0 ? 0 : layout(&s, nrow, ncol, NULL);
}

// Copies the columns at unit length. Zero columns are refused for good: their x stays 0.
static void load(Nnls* s, const double* a) {
  for (int j = 0; j < s->n; j++) {
    const double* from = a + (size_t)j * (size_t)s->m;
    double* to = s->a + (size_t)j * (size_t)s->m;
    s->x[j] = 0;
    s->state[j] = FREE;
    double length = s->length[j] = ab_dense_norm(from, s->m);
    // Below DBL_MIN the quotient has no digits left: such a column counts as zero.
    if (!(length >= DBL_MIN)) {
      s->length[j] = 0;
      memset(to, 0, (size_t)s->m * sizeof *to);
      continue;
    }
    double inverse = 1 / length;
    if (isinf(inverse)) inverse = DBL_MAX;
    for (int i = 0; i < s->m; i++) to[i] = from[i] * inverse;
  }
}

// Appends column j to P. False if it depends on P: then the part orthogonal to Q is rounding noise.
static bool append(Nnls* s, int j) {
  if (s->size == s->limit || s->length[j] == 0) return false;
  int m = s->m, p = s->size;
  double *v = s->q + (size_t)p * (size_t)m, *column = s->r + (size_t)p * (size_t)s->limit;
  memcpy(v, s->a + (size_t)j * (size_t)m, (size_t)m * sizeof *v);
  memset(column, 0, (size_t)p * sizeof *column);
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < p; k++) {
      const double* q = s->q + (size_t)k * (size_t)m;
      double t = dense_dot(q, v, m);
      column[k] += t;
      dense_axpy(-t, q, v, m);
    }
  double length = sqrt(dense_dot(v, v, m));
  // The unit column has been rounded p times: 64 units leave at least one digit of direction.
  if (!(length > 64 * DBL_EPSILON)) return false;
  for (int i = 0; i < m; i++) v[i] /= length;
  column[p] = length;
  s->y[p] = dense_dot(v, s->rest, m);
  dense_axpy(-s->y[p], v, s->rest, m);
  s->set[p] = j;
  s->state[j] = PASSIVE;
  s->size = p + 1;
  return true;
}

// Turns rows k and k+1 of R (columns k.. after the shift), y and columns k and k+1 of Q so that the
// entry below the diagonal of R vanishes.
static void rotate(Nnls* s, int k) {
  int m = s->m, stride = s->limit;
  double a = s->r[k * stride + k], b = s->r[k * stride + k + 1], h = hypot(a, b);
  if (h == 0) return;
  double cosine = a / h, sine = b / h;
  for (int j = k; j < s->size - 1; j++) {
    double* c = s->r + j * stride;
    double u = c[k], v = c[k + 1];
    c[k] = cosine * u + sine * v;
    c[k + 1] = cosine * v - sine * u;
  }
  double u = s->y[k], v = s->y[k + 1];
  s->y[k] = cosine * u + sine * v;
  s->y[k + 1] = cosine * v - sine * u;
  double *p = s->q + (size_t)k * (size_t)m, *q = p + m;
  for (int i = 0; i < m; i++) {
    double g = p[i], l = q[i];
    p[i] = cosine * g + sine * l;
    q[i] = cosine * l - sine * g;
  }
}

// Removes the k-th column of P.
static void drop(Nnls* s, int k) {
  int stride = s->limit, last = s->size - 1;
  s->x[s->set[k]] = 0;
  s->state[s->set[k]] = FREE;
  for (int j = k; j < last; j++) {
    s->set[j] = s->set[j + 1];
    memcpy(s->r + j * stride, s->r + (j + 1) * stride, (size_t)(j + 2) * sizeof(double));
  }
  for (int j = k; j < last; j++) rotate(s, j);
  dense_axpy(s->y[last], s->q + (size_t)last * (size_t)s->m, s->rest, s->m);
  s->size = last;
}

// R z = y
static void solve_passive(Nnls* s) {
  memcpy(s->z, s->y, (size_t)s->size * sizeof(double));
  for (int k = s->size - 1; k >= 0; k--) {
    const double* c = s->r + k * s->limit;
    s->z[k] /= c[k];
    dense_axpy(-s->z[k], c, s->z, k);
  }
}

// Moves x to the least-squares solution on P, dropping what would become negative.
static void descend(Nnls* s) {
  for (;;) {
    solve_passive(s);
    double step = 1;
    int block = -1;
    for (int k = 0; k < s->size; k++) {
      if (s->z[k] > 0) continue;
      double x = s->x[s->set[k]], t = x > 0 ? x / (x - s->z[k]) : 0;
      if (block < 0 || t < step) step = t, block = k;
    }
    for (int k = 0; k < s->size; k++) {
      double* x = s->x + s->set[k];
      *x = block < 0 ? s->z[k] : larger(0, *x + step * (s->z[k] - *x));
    }
    if (block < 0) return;
    drop(s, block);
  }
}

// The free column of steepest descent, or -1 if none is steeper than `least`.
static int steepest(Nnls* s, double least) {
  int best = -1;
  ab_dense_slopes(s->m, s->n, s->a, s->rest, s->slope);
  for (int j = 0; j < s->n; j++) {
    if (s->slope[j] > least && s->state[j] == FREE) least = s->slope[j], best = j;
  }
  return best;
}

// Lets column j in. False if rounding stands against it; then it is refused until |rest| falls.
static bool enter(Nnls* s, int j) {
  if (append(s, j)) {
    solve_passive(s);
    if (s->z[s->size - 1] > 0) return true;
    drop(s, s->size - 1);
  }
  s->state[j] = REFUSED;
  return false;
}

static void allow_all(Nnls* s) {
  for (int j = 0; j < s->n; j++)
    if (s->state[j] == REFUSED) s->state[j] = FREE;
}

static void start_warm(Nnls* s, const double* x) {
  for (int j = 0; j < s->n; j++)
    if (x[j] > 0 && isfinite(x[j] * s->length[j]) && append(s, j)) s->x[j] = x[j] * s->length[j];
  descend(s);
}

static void iterate(Nnls* s, const abNnlsDef* def, double least, abSolveResult* result) {
  // Three times the number of columns is Lawson and Hanson's own limit; small problems need slack.
  int limit = def->max_iteration > 0 ? def->max_iteration : 3 * s->n + 30;
  double norm = ab_dense_norm(s->rest, s->m);
  for (; result->iterations < limit; result->iterations++) {
    int j = steepest(s, least);
    if (j < 0) {
      result->status = AB_SOLVE_OK;
      return;
    }
    if (!enter(s, j)) continue;
    descend(s);
    double now = ab_dense_norm(s->rest, s->m);
    if (now < norm)
      allow_all(s), norm = now;
    else if (s->state[j] == FREE)
      s->state[j] = REFUSED;
  }
  result->status = AB_SOLVE_ITERATIONS;
}

// Recomputes r from the data and the final x: what is reported does not rest on the updates.
static void measure(Nnls* s, const double* b, double scale, double least, abSolveResult* result) {
  for (int i = 0; i < s->m; i++) s->rest[i] = b[i] / scale;
  for (int k = 0; k < s->size; k++) {
    int j = s->set[k];
    dense_axpy(-s->x[j], s->a + (size_t)j * (size_t)s->m, s->rest, s->m);
  }
  ab_dense_slopes(s->m, s->n, s->a, s->rest, s->slope);
  result->residual = ab_dense_finite(s->rest, (size_t)s->m) ? 0 : INFINITY;
  double sum = 0;
  for (int j = 0; j < s->n; j++) {
    double violation = s->x[j] > 0 ? fabs(s->slope[j]) : s->slope[j];
    if (violation > result->residual) result->residual = violation;
    sum += s->x[j];
  }
  // A x is rounded in proportion to the sum of its terms; beyond that a refused column is left
  // over.
  if (result->status == AB_SOLVE_OK && result->residual > 100 * least * (1 + sum))
    result->status = AB_SOLVE_STALLED;
  result->value = scale * ab_dense_norm(s->rest, s->m);
}

abSolveResult ab_nnls(const abNnlsDef* def, double* x, void* workspace) {
  abSolveResult result = {AB_SOLVE_INPUT, 0, INFINITY, INFINITY};
  Nnls s;
  if (!def || !x || !workspace || def->nrow < 0 || def->ncol < 0) return result;
  int m = def->nrow, n = def->ncol;
  layout(&s, m, n, workspace);
  double scale = def->b || m == 0 ? ab_dense_norm(def->b, m) : INFINITY;
  bool good = ab_dense_finite(def->a, (size_t)m * (size_t)n) && isfinite(scale);
  if (!good || scale == 0) {
    memset(x, 0, (size_t)n * sizeof *x);
    return good ? (abSolveResult){AB_SOLVE_OK, 0, 0, 0} : result;
  }
  load(&s, def->a);
  for (int i = 0; i < m; i++) s.rest[i] = def->b[i] / scale;
  if (def->warm) {
    for (int j = 0; j < n; j++) x[j] /= scale;
    start_warm(&s, x);
  }
  // w_j is a sum of m products of numbers at most 1 that have been rounded a few times each.
  double least = def->tolerance > 0 ? def->tolerance : 10 * m * DBL_EPSILON;
  iterate(&s, def, least, &result);
  measure(&s, def->b, scale, least, &result);
  for (int j = 0; j < n; j++) {
    x[j] = s.x[j] > 0 ? smaller(s.x[j] * (scale / s.length[j]), DBL_MAX) : 0;
    if (x[j] == DBL_MAX) result.status = AB_SOLVE_NUMERIC;
  }
  return result;
}
