// Convex quadratic programs: minimise x . H x / 2 + g . x subject to A x >= b, the first nequal
// rows being equalities. The work is done by the dual active-set method (active_set.c); here the
// problem is scaled, made strictly convex where it is not, and the answer is checked.
//
// Scaling: x = D x', with D_i the power of two near 1/sqrt(H_ii), so that H' = D H D has a diagonal
// near 1; a variable H does not know (H_ii = 0) takes the unit that gives its largest entry in A
// the size of the other entries of that row. Rows of A D are divided by their length. Then g' = D g
// and b' are divided by the larger of their largest entries, so that x' is of size 1 too.
//
// Semidefinite H: the Cholesky factorisation of H' fails, or has pivots below 1e-10. Then with a
// small delta (default 1e-8) we solve, for k = 0, 1, ...,
//     x_k+1 = argmin  x . H x / 2 + g . x + delta/2 |x - x_k|^2      (the proximal point method)
// whose limit is a solution of the unregularised problem; the error falls by delta / (delta +
// lambda) per step for an eigenvalue lambda of H on the face of the solution, and where lambda = 0
// one step goes to the border of the feasible set. So delta does not change the answer; it picks
// one of several (near the one of least norm). If the iterates run away along a direction p with
// H p = 0, A p >= 0, g . p < 0, the problem is unbounded.
#include <float.h>
#include <math.h>
#include <string.h>

#include "solve/active_set.h"

typedef struct Qp {
  abActiveSet set;
  double *h, *g, *a, *b;      // the scaled problem
  double *column, *row;       // D, and the inverse lengths of the rows
  double *best, *multiplier;  // best point so far, multipliers per row
  double *centre, *shifted;   // x_k and g - delta x_k
  double* gradient;           // of the Lagrangian
  double size, delta;
} Qp;

static size_t layout(Qp* s, int n, int m, void* workspace) {
  abCarve c = {(char*)workspace, 0};
  size_t size = (size_t)n, rows = (size_t)m;
  memset(s, 0, sizeof *s);
  ab_active_set_layout(&s->set, n, m, &c);
  s->h = carve_double(&c, size * size);
  s->g = carve_double(&c, size);
  s->a = carve_double(&c, size * rows);
  s->b = carve_double(&c, rows);
  s->column = carve_double(&c, size);
  s->row = carve_double(&c, rows);
  s->best = carve_double(&c, size);
  s->multiplier = carve_double(&c, rows);
  s->centre = carve_double(&c, size);
  s->shifted = carve_double(&c, size);
  s->gradient = carve_double(&c, size);
  return c.used;
}

size_t ab_qp_workspace(int nvar, int nrow) {
  Qp s;
  return nvar < 0 || nrow < 0 ? 0 : layout(&s, nvar, nrow, NULL);
}

// The unit of a variable that H does not know: the smallest that any row suggests.
static double unit_from_rows(const Qp* s, const abQpDef* def, int i) {
  int n = def->nvar;
  double unit = INFINITY, alone = 0;
  for (int k = 0; k < def->nrow; k++) {
    double others = 0, entry = fabs(def->a[k * n + i]);
    for (int j = 0; j < n; j++)
      if (def->h[j * n + j] > 0) others = larger(others, fabs(def->a[k * n + j]) * s->column[j]);
    if (entry > 0 && others > 0) unit = smaller(unit, others / entry);
    alone = larger(alone, entry);
  }
  return ab_dense_power(isfinite(unit) ? unit : alone > 0 ? 1 / alone : 1);
}

static void scale(Qp* s, const abQpDef* def) {
  int n = def->nvar, m = def->nrow;
  for (int i = 0; i < n; i++) {
    double diagonal = def->h[i * n + i];
    s->column[i] = diagonal > 0 ? 1 / ab_dense_power(sqrt(diagonal)) : 0;
  }
  for (int i = 0; i < n; i++)
    if (!(def->h[i * n + i] > 0)) s->column[i] = unit_from_rows(s, def, i);
  s->size = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      s->h[i * n + j] = s->column[i] * 0.5 * (def->h[i * n + j] + def->h[j * n + i]) * s->column[j];
    s->g[i] = def->g[i] * s->column[i];
    s->size = larger(s->size, fabs(s->g[i]));
  }
  for (int k = 0; k < m; k++) {
    for (int j = 0; j < n; j++) s->a[k * n + j] = def->a[k * n + j] * s->column[j];
    double length = ab_dense_norm(s->a + k * n, n);
    s->row[k] = length > 0 ? 1 / length : 1;
    for (int j = 0; j < n; j++) s->a[k * n + j] *= s->row[k];
    s->b[k] = def->b[k] * s->row[k];
    if (length > 0) s->size = larger(s->size, fabs(s->b[k]));
  }
  if (s->size == 0) s->size = 1;
  for (int i = 0; i < n; i++) s->g[i] /= s->size;
  for (int k = 0; k < m; k++) s->b[k] /= s->size;
}

// The Cholesky factor of H', or of H' + delta where H' has a pivot that is lost in rounding.
static bool factor(Qp* s, const abQpDef* def) {
  int n = s->set.n;
  size_t bytes = (size_t)n * (size_t)n * sizeof(double);
  memcpy(s->set.l, s->h, bytes);
  // A pivot is the share of the diagonal that the variables before leave: below 1e-10 it has few
  // digits.
  if (ab_dense_cholesky(n, s->set.l, 1e-10) == n) return true;
  s->delta = def->regularisation > 0 ? def->regularisation : 1e-8;
  memcpy(s->set.l, s->h, bytes);
  for (int i = 0; i < n; i++) s->set.l[i * n + i] += s->delta;
  return ab_dense_cholesky(n, s->set.l, 0) == n;
}

// The residual at the active set's point; fills the gradient of the Lagrangian.
static double measure(Qp* s) {
  abActiveSet* set = &s->set;
  int n = set->n, m = set->m;
  double size = larger(1, ab_dense_max(set->x, (size_t)n)), worst = 0;
  ab_dense_slopes(n, n, s->h, set->x, s->gradient);
  for (int i = 0; i < n; i++) s->gradient[i] += s->g[i];
  for (int k = 0; k < set->size; k++) {
    dense_axpy(-set->sign[k] * set->u[k], s->a + set->active[k] * n, s->gradient, n);
    size = larger(size, fabs(set->u[k]));
  }
  for (int k = 0; k < m; k++) {
    double slack = dense_dot(s->a + k * n, set->x, n) - s->b[k];
    bool tight = k < set->nequal || set->state[k] == 1;
    worst = larger(worst, tight ? fabs(slack) : -slack);
  }
  for (int k = 0; k < set->size; k++)
    if (set->active[k] >= set->nequal) worst = larger(worst, -set->u[k]);
  worst = larger(worst, ab_dense_max(s->gradient, (size_t)n));
  return ab_dense_finite(s->gradient, (size_t)n) ? worst / size : INFINITY;
}

// Keeps the point if it is the best so far.
static bool keep(Qp* s, double* best) {
  abActiveSet* set = &s->set;
  double residual = measure(s);
  if (!(residual < *best)) return false;
  *best = residual;
  memcpy(s->best, set->x, (size_t)set->n * sizeof(double));
  memset(s->multiplier, 0, (size_t)set->m * sizeof(double));
  for (int k = 0; k < set->size; k++) s->multiplier[set->active[k]] = set->sign[k] * set->u[k];
  return true;
}

// Has x gone from the centre along a direction of endless descent? Steps of bounded problems are of
// size 1; along a ray they are |g| / delta.
static bool runs_away(Qp* s) {
  abActiveSet* set = &s->set;
  int n = set->n;
  double *p = s->shifted, length = 0, fall = 0;
  for (int i = 0; i < n; i++) p[i] = set->x[i] - s->centre[i], length = larger(length, fabs(p[i]));
  if (s->delta == 0 || length < 1e-3 / s->delta) return false;
  for (int i = 0; i < n; i++) p[i] /= length, fall -= p[i] * s->g[i];
  ab_dense_slopes(n, n, s->h, p, s->gradient);
  // The proximal step leaves H p of order delta / |p|^2 and rows of order 1/|p|.
  if (ab_dense_max(s->gradient, (size_t)n) > 1e-4 || !(fall > 0)) return false;
  for (int k = 0; k < set->m; k++) {
    double t = dense_dot(s->a + k * n, p, n);
    if (t < -10 / length || (k < set->nequal && t > 10 / length)) return false;
  }
  return true;
}

static abSolveStatus proximal_steps(Qp* s, double* residual) {
  abActiveSet* set = &s->set;
  size_t bytes = (size_t)set->n * sizeof(double);
  memset(s->centre, 0, bytes);
  // Each step gains digits or ends the loop; thirty allow for eigenvalues near delta.
  for (int k = 0; k < 30; k++) {
    double before = *residual;
    for (int i = 0; i < set->n; i++) s->shifted[i] = s->g[i] - s->delta * s->centre[i];
    abSolveStatus status = ab_active_set_run(set, s->shifted);
    if (status != AB_SOLVE_OK) {
      keep(s, residual);
      return status;
    }
    keep(s, residual);
    if (runs_away(s)) return AB_SOLVE_UNBOUNDED;
    measure(s);
    for (int t = 0; t < 3; t++) {
      ab_active_set_refine(set, s->gradient);
      if (!keep(s, residual)) break;
    }
    // At the rounding of n products, or no better than half of before: done.
    if (s->delta == 0 || *residual <= 4 * set->n * DBL_EPSILON || *residual > 0.5 * before) break;
    memcpy(s->centre, s->best, bytes);
  }
  return AB_SOLVE_OK;
}

static bool acceptable(const abQpDef* def) {
  int n = def->nvar, m = def->nrow;
  if (n < 0 || m < 0 || def->nequal < 0 || def->nequal > m) return false;
  return ab_dense_finite(def->h, (size_t)n * (size_t)n) && ab_dense_finite(def->g, (size_t)n) &&
         ab_dense_finite(def->a, (size_t)n * (size_t)m) && ab_dense_finite(def->b, (size_t)m);
}

static double objective(const abQpDef* def, const double* x) {
  double sum = 0;
  for (int i = 0; i < def->nvar; i++)
    sum += x[i] * (0.5 * dense_dot(def->h + i * def->nvar, x, def->nvar) + def->g[i]);
  return sum;
}

abSolveResult ab_qp(const abQpDef* def, double* x, double* multiplier, void* workspace) {
  abSolveResult result = {AB_SOLVE_INPUT, 0, INFINITY, INFINITY};
  if (!def || !x || !workspace) return result;
  int n = def->nvar, m = def->nrow;
  Qp s;
  if (n > 0) memset(x, 0, (size_t)n * sizeof(double));
  if (multiplier && m > 0) memset(multiplier, 0, (size_t)m * sizeof(double));
  if (!acceptable(def)) return result;
  layout(&s, n, m, workspace);
  scale(&s, def);
  s.set.a = s.a, s.set.b = s.b, s.set.nequal = def->nequal;
  // About one step per active row is usual, twice that with exchanges.
  s.set.limit = def->max_iteration > 0 ? def->max_iteration : 30 * (n + m) + 100;
  memset(s.best, 0, (size_t)n * sizeof(double));
  memset(s.multiplier, 0, (size_t)m * sizeof(double));
  result.status = factor(&s, def) ? proximal_steps(&s, &result.residual) : AB_SOLVE_NUMERIC;
  result.iterations = s.set.iterations;
  if (result.status == AB_SOLVE_OK &&
      !(result.residual <= (def->tolerance > 0 ? def->tolerance : 1e-9)))
    result.status = AB_SOLVE_STALLED;
  for (int i = 0; i < n; i++) x[i] = s.best[i] * s.column[i] * s.size;
  for (int k = 0; k < m && multiplier; k++) multiplier[k] = s.multiplier[k] * s.row[k] * s.size;
  if (!ab_dense_finite(x, (size_t)n)) {  // beyond the range of double in the caller's units
    memset(x, 0, (size_t)n * sizeof(double));
    result.status = AB_SOLVE_NUMERIC, result.residual = INFINITY;
  }
  result.value = objective(def, x);
  return result;
}
