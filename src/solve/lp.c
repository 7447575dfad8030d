// Linear programs: minimise c . x subject to A x = b, x >= 0, by the two-phase revised simplex
// method.
//
// A basis B is a choice of m columns of [A I]; its solution x_B = B^-1 b is the current vertex. The
// columns of I are artificial variables, one per row. Signs are chosen so that b >= 0; then the
// artificial basis is a vertex and B^-1 = I. Phase one minimises the sum of the artificials: it is
// 0 at the end iff A x = b has a solution x >= 0. Phase two minimises c . x from there; artificials
// that stay basic at 0 mark dependent rows.
//
// One iteration: y = B^-T c_B (the duals); reduced costs d_j = c_j - y . a_j; a column with d_j < 0
// enters; u = B^-1 a_j says how the basics fall as it grows; the first basic to reach 0 leaves;
// B^-1 is updated by one elimination. Cost: m n for the d_j and m^2 for the rest. At an optimum the
// duals satisfy A^T y <= c, and at the end of an infeasible phase one A^T y <= 0 with b . y > 0,
// which proves infeasibility (Farkas).
//
// Entering column: the most negative d_j (Dantzig). Degenerate vertices can make that rule cycle,
// so after some steps without progress the smallest index is taken on both sides (Bland 1977),
// which cannot cycle, until progress is made. Leaving row: among the rows whose ratio is smallest
// within a small allowance, the one with the largest u (Harris 1973): small pivots ruin B^-1.
//
// Every test is made on the balanced problem (dense.c): rows and columns of A have largest entry
// near 1, b and c are divided by their largest entries. The answer is checked against the data at
// the end; if rounding in the updates has spoiled it, B^-1 is computed anew and the iteration
// resumes.
#include <float.h>
#include <math.h>
#include <string.h>

#include "solve/dense.h"

typedef struct Simplex {
  int m, n;
  double* a;        // balanced, by columns
  double* b;        // balanced, >= 0, largest entry 1
  double* c;        // balanced, largest entry 1
  double* row;      // factor of each row, with the sign that makes b >= 0
  double* col;      // factor of each column
  double* inverse;  // B^-1 by rows
  double* copy;     // scratch for a fresh inverse
  double* x;        // values of the basics
  double* y;        // duals
  double* d;        // y . a_j
  double* u;        // B^-1 a_j of the entering column
  int* basis;       // per row: the basic column, or n + i for the artificial of row i
  int* basic;       // per column: is it in the basis
  int* order;       // row order of a fresh inverse
  double bsize, csize;
  int phase, iterations, limit;
  int stuck;  // steps in a row without progress
  int since;  // steps since B^-1 was computed afresh
} Simplex;

// Allowances on the balanced problem, whose entries are at most about 1.
static const double pivot_least = 1e-9;   // of u, relative to its largest entry: smaller is noise
static const double ratio_slack = 1e-12;  // how far below 0 a basic may fall for a better pivot
static const double cost_least = 1e-12;   // of a reduced cost, relative to c and y
static const double exact = 1e-13;  // error of B x = b that mere rounding of one solve explains

static size_t layout(Simplex* s, int m, int n, void* workspace) {
  abCarve k = {(char*)workspace, 0};
  size_t rows = (size_t)m, columns = (size_t)n;
  *s = (Simplex){.m = m, .n = n};
  s->a = carve_double(&k, rows * columns);
  s->b = carve_double(&k, rows);
  s->c = carve_double(&k, columns);
  s->row = carve_double(&k, rows);
  s->col = carve_double(&k, columns);
  s->inverse = carve_double(&k, rows * rows);
  s->copy = carve_double(&k, rows * rows);
  s->x = carve_double(&k, rows);
  s->y = carve_double(&k, rows);
  s->d = carve_double(&k, columns);
  s->u = carve_double(&k, rows);
  s->basis = carve_int(&k, rows);
  s->basic = carve_int(&k, columns);
  s->order = carve_int(&k, rows);
  return k.used;
}

size_t ab_lp_workspace(int nrow, int ncol) {
  Simplex s;
  return nrow < 0 || ncol < 0 ? 0 : layout(&s, nrow, ncol, NULL);
}

static void load(Simplex* s, const abLpDef* def, bool cost) {
  int m = s->m, n = s->n;
  memcpy(s->a, def->a, (size_t)m * (size_t)n * sizeof(double));
  ab_dense_balance(m, n, s->a, s->row, s->col);
  s->bsize = s->csize = 0;
  for (int i = 0; i < m; i++) {
    s->b[i] = s->row[i] * def->b[i];
    s->bsize = larger(s->bsize, fabs(s->b[i]));
  }
  if (s->bsize == 0) s->bsize = 1;
  for (int i = 0; i < m; i++) {
    s->b[i] /= s->bsize;
    if (s->b[i] >= 0) continue;
    s->b[i] = -s->b[i], s->row[i] = -s->row[i];
    for (int j = 0; j < n; j++) s->a[(size_t)j * (size_t)m + (size_t)i] *= -1;
  }
  for (int j = 0; j < n; j++) {
    s->basic[j] = 0;
    s->c[j] = cost ? s->col[j] * def->c[j] : 0;
    s->csize = larger(s->csize, fabs(s->c[j]));
  }
  if (s->csize == 0) s->csize = 1;
  for (int j = 0; j < n; j++) s->c[j] /= s->csize;
  memset(s->inverse, 0, (size_t)m * (size_t)m * sizeof(double));
  for (int i = 0; i < m; i++) s->inverse[i * m + i] = 1, s->basis[i] = n + i, s->x[i] = s->b[i];
}

// What a basic variable costs: phase one charges 1 for each artificial and nothing else.
static double basic_cost(const Simplex* s, int k) {
  bool artificial = s->basis[k] >= s->n;
  return s->phase == 1 ? artificial : artificial ? 0 : s->c[s->basis[k]];
}

// y = B^-T c_B
static void find_duals(Simplex* s) {
  memset(s->y, 0, (size_t)s->m * sizeof(double));
  for (int k = 0; k < s->m; k++) {
    double cost = basic_cost(s, k);
    if (cost != 0) dense_axpy(cost, s->inverse + k * s->m, s->y, s->m);
  }
}

// The column that enters, or -1 at an optimum.
static int entering(Simplex* s, bool bland) {
  double least = -cost_least * (1 + ab_dense_max(s->y, (size_t)s->m));
  int best = -1;
  ab_dense_slopes(s->m, s->n, s->a, s->y, s->d);
  for (int j = 0; j < s->n; j++) {
    double d = (s->phase == 2 ? s->c[j] : 0) - s->d[j];
    if (!(d < least) || s->basic[j]) continue;
    best = j;
    if (bland) return j;
    least = d;
  }
  return best;
}

static void find_direction(Simplex* s, int j) {
  const double* a = s->a + (size_t)j * (size_t)s->m;
  for (int i = 0; i < s->m; i++) s->u[i] = dense_dot(s->inverse + i * s->m, a, s->m);
}

// How far the entering variable can grow before basic i stops it. In phase two a basic artificial
// must stay 0, so any movement of it stops the step at once.
static double ratio(const Simplex* s, int i, double least, double slack) {
  if (s->phase == 2 && s->basis[i] >= s->n) return fabs(s->u[i]) > least ? 0 : INFINITY;
  return s->u[i] > least ? (larger(s->x[i], 0) + slack) / s->u[i] : INFINITY;
}

// The row that leaves, or -1 if nothing stops the entering variable.
static int leaving(const Simplex* s, bool bland) {
  double least = pivot_least * ab_dense_max(s->u, (size_t)s->m), bound = INFINITY;
  for (int i = 0; i < s->m; i++) bound = smaller(bound, ratio(s, i, least, ratio_slack));
  int best = -1;
  for (int i = 0; i < s->m; i++) {
    double t = ratio(s, i, least, 0);
    if (!(t <= bound) || isinf(t)) continue;
    bool better =
        best < 0 || (bland ? s->basis[i] < s->basis[best] : fabs(s->u[i]) > fabs(s->u[best]));
    if (better) best = i;
  }
  return best;
}

// Exchanges basic `r` for column j, whose direction is in u. Returns the step of the entering
// variable.
static double pivot(Simplex* s, int r, int j) {
  int m = s->m;
  double *p = s->inverse + r * m, scale = 1 / s->u[r];
  double step = larger(s->x[r], 0) * scale;
  if (s->phase == 2 && s->basis[r] >= s->n) step = 0;
  for (int k = 0; k < m; k++) p[k] *= scale;
  for (int i = 0; i < m; i++) {
    if (i == r || s->u[i] == 0) continue;
    dense_axpy(-s->u[i], p, s->inverse + i * m, m);
    s->x[i] -= s->u[i] * step;
  }
  s->x[r] = step;
  if (s->basis[r] < s->n) s->basic[s->basis[r]] = 0;
  s->basis[r] = j;
  s->basic[j] = 1;
  return step;
}

static double artificial_sum(const Simplex* s) {
  double sum = 0;
  for (int i = 0; i < s->m; i++)
    if (s->basis[i] >= s->n) sum += fabs(s->x[i]);
  return sum;
}

static const double* basis_column(const Simplex* s, int k) {
  return s->basis[k] < s->n ? s->a + (size_t)s->basis[k] * (size_t)s->m : NULL;
}

// b - B x
static double basis_error(const Simplex* s, double* error) {
  memcpy(error, s->b, (size_t)s->m * sizeof(double));
  for (int k = 0; k < s->m; k++) {
    const double* a = basis_column(s, k);
    if (a)
      dense_axpy(-s->x[k], a, error, s->m);
    else
      error[s->basis[k] - s->n] -= s->x[k];
  }
  return ab_dense_max(error, (size_t)s->m);
}

// B^-1 from scratch. False, and B^-1 as it was, if B is singular.
static bool invert(Simplex* s) {
  int m = s->m;
  for (int k = 0; k < m; k++) {
    const double* a = basis_column(s, k);
    for (int i = 0; i < m; i++) s->copy[i * m + k] = a ? a[i] : s->basis[k] - s->n == i;
  }
  if (!ab_dense_lu(m, s->copy, s->order, DBL_EPSILON)) return false;
  for (int k = 0; k < m; k++) {
    memset(s->u, 0, (size_t)m * sizeof(double));
    s->u[k] = 1;
    ab_dense_lu_solve(m, s->copy, s->order, s->u);
    for (int i = 0; i < m; i++) s->inverse[i * m + k] = s->u[i];
  }
  s->since = 0;
  return true;
}

// x = B^-1 b with one step of refinement. Returns the error left, relative to the terms of the sum.
static double resolve(Simplex* s) {
  int m = s->m;
  for (int i = 0; i < m; i++) s->x[i] = dense_dot(s->inverse + i * m, s->b, m);
  basis_error(s, s->u);
  for (int i = 0; i < m; i++) s->x[i] += dense_dot(s->inverse + i * m, s->u, m);
  return basis_error(s, s->u) / (1 + ab_dense_max(s->x, (size_t)m));
}

// Simplex steps until the current phase is at its optimum.
static abSolveStatus iterate(Simplex* s) {
  while (s->iterations < s->limit) {
    // Nothing is left to gain in phase one below the rounding of the m sums.
    if (s->phase == 1 && artificial_sum(s) <= s->m * DBL_EPSILON) return AB_SOLVE_OK;
    bool bland = s->stuck > s->m + 8;
    find_duals(s);
    int j = entering(s, bland);
    if (j < 0) return AB_SOLVE_OK;
    find_direction(s, j);
    int r = leaving(s, bland);
    if (r < 0) return s->phase == 1 ? AB_SOLVE_NUMERIC : AB_SOLVE_UNBOUNDED;
    s->stuck = pivot(s, r, j) > ratio_slack ? 0 : s->stuck + 1;
    s->iterations++;
    // Rounding grows with every update; 64 steps keep it far below the allowances.
    if (++s->since >= 64 && invert(s)) resolve(s);
  }
  return AB_SOLVE_ITERATIONS;
}

// Iterates, checks the vertex against the data, and goes on from a fresh inverse while that is
// needed.
static abSolveStatus run(Simplex* s, int phase) {
  s->phase = phase;
  s->stuck = 0;
  abSolveStatus status = AB_SOLVE_NUMERIC;
  for (int round = 0; round < 4; round++) {
    status = iterate(s);
    double error = resolve(s);
    if (status == AB_SOLVE_ITERATIONS || (error <= exact && status != AB_SOLVE_NUMERIC)) break;
    if (s->since == 0) break;  // the inverse is fresh: this is as good as it gets
    if (!invert(s)) return AB_SOLVE_NUMERIC;
    resolve(s);
  }
  return status;
}

// After phase one: exchanges basic artificials at 0 for columns of A. Where a row of B^-1 A is
// empty, the row of A depends on the others, and its artificial stays at 0 without ever moving.
static void drive_out(Simplex* s) {
  s->phase = 2;
  for (int r = 0; r < s->m; r++) {
    if (s->basis[r] < s->n) continue;
    int best = -1;
    // B^-1 carries rounding in proportion to its entries.
    double largest = 1e-9 * (1 + ab_dense_max(s->inverse + r * s->m, (size_t)s->m));
    for (int j = 0; j < s->n; j++) {
      double v = fabs(dense_dot(s->inverse + r * s->m, s->a + (size_t)j * (size_t)s->m, s->m));
      if (v > largest && !s->basic[j]) largest = v, best = j;
    }
    if (best < 0) continue;
    find_direction(s, best);
    pivot(s, r, best);
  }
}

// One step of refinement: y += B^-T (c_B - B^T y).
static void refine_duals(Simplex* s) {
  int m = s->m;
  for (int k = 0; k < m; k++) {
    const double* a = basis_column(s, k);
    s->u[k] = basic_cost(s, k) - (a ? dense_dot(a, s->y, m) : s->y[s->basis[k] - s->n]);
  }
  for (int k = 0; k < m; k++) dense_axpy(s->u[k], s->inverse + k * m, s->y, m);
}

// x in the caller's units, and how well it satisfies the balanced rows.
static void report(Simplex* s, double* x, double* dual, abSolveResult* result) {
  if (dual) find_duals(s), refine_duals(s);
  memset(x, 0, (size_t)s->n * sizeof(double));
  memcpy(s->u, s->b, (size_t)s->m * sizeof(double));
  for (int k = 0; k < s->m; k++) {
    int j = s->basis[k];
    if (j >= s->n || !(s->x[k] > 0)) continue;
    x[j] = s->col[j] * s->x[k] * s->bsize;
    dense_axpy(-s->x[k], basis_column(s, k), s->u, s->m);
  }
  result->iterations = s->iterations;
  result->residual = result->value = ab_dense_finite(s->u, (size_t)s->m) ? 0 : INFINITY;
  for (int i = 0; i < s->m; i++) {
    result->residual = larger(result->residual, fabs(s->u[i]));
    result->value += fabs(s->u[i]);
    if (dual) dual[i] = s->row[i] * s->y[i] * (s->phase == 2 ? s->csize : 1);
  }
}

static bool begin(Simplex* s, const abLpDef* def, bool cost, double* x, void* workspace) {
  if (!def || !x || !workspace || def->nrow < 0 || def->ncol < 0) return false;
  int m = def->nrow, n = def->ncol;
  layout(s, m, n, workspace);
  memset(x, 0, (size_t)n * sizeof(double));
  if (!ab_dense_finite(def->a, (size_t)m * (size_t)n) || !ab_dense_finite(def->b, (size_t)m))
    return false;
  if (cost && !ab_dense_finite(def->c, (size_t)n)) return false;
  // In practice 2 to 3 m steps; the worst case is exponential, which no limit can serve.
  s->limit = def->max_iteration > 0 ? def->max_iteration : 50 * (m + n) + 100;
  load(s, def, cost);
  return true;
}

static bool feasible(const abLpDef* def, const abSolveResult* result) {
  return result->residual <= (def->tolerance > 0 ? def->tolerance : 1e-9);
}

abSolveResult ab_lp_feasible(const abLpDef* def, double* x, double* dual, void* workspace) {
  abSolveResult result = {AB_SOLVE_INPUT, 0, INFINITY, INFINITY};
  Simplex s;
  if (!begin(&s, def, false, x, workspace)) return result;
  abSolveStatus status = run(&s, 1);
  report(&s, x, dual, &result);
  if (feasible(def, &result))
    result.status = AB_SOLVE_OK;
  else
    result.status = status == AB_SOLVE_OK ? AB_SOLVE_INFEASIBLE : status;
  return result;
}

abSolveResult ab_lp(const abLpDef* def, double* x, double* dual, void* workspace) {
  abSolveResult result = {AB_SOLVE_INPUT, 0, INFINITY, INFINITY};
  Simplex s;
  if (!begin(&s, def, true, x, workspace)) return result;
  result.status = run(&s, 1);
  report(&s, x, dual, &result);
  if (feasible(def, &result)) {
    drive_out(&s);
    result.status = run(&s, 2);
    report(&s, x, dual, &result);
    if (result.status == AB_SOLVE_OK && !feasible(def, &result)) result.status = AB_SOLVE_NUMERIC;
  } else if (result.status == AB_SOLVE_OK) {
    result.status = AB_SOLVE_INFEASIBLE;
  }
  result.value = dense_dot(def->c, x, s.n);
  return result;
}
