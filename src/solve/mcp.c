// Mixed complementarity problems: units, starts and fallbacks around the semismooth Newton method
// of mcp_newton.c.
//
// Units. Complementarity compares x_i - l_i with F_i, so each needs a unit. The caller may give
// them. Else the Jacobian at the start is balanced by rows and columns (dense.c), and then x and F
// are divided by the larger of their largest entries; the units are taken anew wherever a fallback
// starts, and at the solution.
//
// Strategy. (1) Newton from the start: near a solution a few steps. (2) Newton from the start moved
// into the bounds. (3) Smoothing: eps = 1e-1 ... 1e-8, each from where the last ended; it passes
// mode changes where the nonsmooth merit function has a valley. (4) Newton from displaced starts.
// (5) Proximal: G + mu (y - start) with mu = 10 ... 1e-3, then 0. A large mu makes the problem
// monotone; its path leads out of local minima of the merit function that trap every descent method
// from a start (Billups 1995 gives one). The first that reaches the tolerance ends the search;
// otherwise the point of least natural residual is returned, with that residual.
//
// Measured on random quadratic problems that are not monotone (n = 2..13, built around a solution),
// from random starts: (1) alone solves 73 %, all together 99 %; with strongly curved F 63 and 95 %.
#include <float.h>
#include <math.h>
#include <string.h>

#include "solve/mcp_newton.h"

size_t ab_mcp_workspace(int n) {
  abMcpWork w;
  return n < 0 ? 0 : ab_mcp_layout(&w, n, NULL);
}

static bool acceptable(const abMcpDef* def, const double* x) {
  if (!def || !x || def->n < 0 || !def->evaluate || !ab_dense_finite(x, (size_t)def->n))
    return false;
  for (int i = 0; i < def->n; i++) {
    double l = def->lower ? def->lower[i] : -INFINITY, u = def->upper ? def->upper[i] : INFINITY;
    if (!(l <= u) || l == INFINITY || u == -INFINITY) return false;
    if (def->x_scale && !(def->x_scale[i] > 0 && isfinite(def->x_scale[i]))) return false;
    if (def->f_scale && !(def->f_scale[i] > 0 && isfinite(def->f_scale[i]))) return false;
  }
  return true;
}

// Units that balance the Jacobian J (by rows, in w->matrix) between given ones.
static void balance_units(abMcpWork* w) {
  int n = w->n;
  const abMcpDef* def = w->def;
  for (int i = 0; i < n; i++) {
    double s = def->f_scale ? 1 / def->f_scale[i] : 1;
    for (int j = 0; j < n; j++) w->matrix[i * n + j] *= s * (def->x_scale ? def->x_scale[j] : 1);
  }
  if (!def->x_scale && !def->f_scale) {
    ab_dense_balance(n, n, w->matrix, w->x_unit,
                     w->f_unit);  // by rows: "columns" are the rows of F
    for (int i = 0; i < n; i++) w->f_unit[i] = 1 / w->f_unit[i];
    return;
  }
  for (int i = 0; i < n; i++) {
    double row = 0, column = 0;
    for (int j = 0; j < n; j++) {
      row = larger(row, fabs(w->matrix[i * n + j]));
      column = larger(column, fabs(w->matrix[j * n + i]));
    }
    w->f_unit[i] = def->f_scale ? def->f_scale[i] : ab_dense_power(row);
    w->x_unit[i] = def->x_scale ? def->x_scale[i] : 1 / ab_dense_power(column);
  }
}

// The larger of x and F in balanced units. The balance leaves one common factor of all units open.
static double common_size(const abMcpWork* w, const double* x) {
  double size = 0;
  for (int i = 0; i < w->n; i++)
    size = larger(size, larger(fabs(x[i] / w->x_unit[i]), fabs(w->g[i] / w->f_unit[i])));
  size = larger(size, w->least_size);
  return size > 0 && isfinite(size) ? size : 1;
}

// Chooses the units at x and fills bounds and y. False if F cannot be evaluated there. The caller's
// units need no evaluation.
static bool choose_units(abMcpWork* w, const double* x) {
  int n = w->n;
  const abMcpDef* def = w->def;
  double size = 1;
  if (def->x_scale && def->f_scale) {
    memcpy(w->x_unit, def->x_scale, (size_t)n * sizeof(double));
    memcpy(w->f_unit, def->f_scale, (size_t)n * sizeof(double));
  } else {
    memcpy(w->x, x, (size_t)n * sizeof(double));
    if (!def->evaluate(def->context, w->x, w->g, w->matrix)) return false;
    if (!ab_dense_finite(w->g, (size_t)n) || !ab_dense_finite(w->matrix, (size_t)n * (size_t)n))
      return false;
    balance_units(w);
    if (!def->x_scale && !def->f_scale) size = w->size = common_size(w, x);
  }
  for (int i = 0; i < n; i++) {
    w->x_unit[i] *= size, w->f_unit[i] *= size;
    w->lower[i] = (def->lower ? def->lower[i] : -INFINITY) / w->x_unit[i];
    w->upper[i] = (def->upper ? def->upper[i] : INFINITY) / w->x_unit[i];
    w->y[i] = x[i] / w->x_unit[i];
  }
  return true;
}

static double clamp(const abMcpWork* w, int i, double y) {
  return larger(w->lower[i], smaller(y, w->upper[i]));
}

// Smoothing levels from 1e-1 to 1e-8, each from where the last ended, solved or not.
static abSolveStatus smoothing(abMcpWork* w, double target) {
  for (double level = 0.1; level > 0.5e-8 && w->best_residual > target; level *= 0.1) {
    w->smoothing = level;
    if (ab_mcp_newton(w, 1e-2 * level, 12) == AB_SOLVE_NUMERIC) break;
  }
  w->smoothing = 0;
  return ab_mcp_newton(w, target, 60);
}

// Proximal levels from 10 down to 1e-3. The path is followed: a level starts from the solution of
// the last, and where it fails, a level between the two is tried.
static abSolveStatus proximal(abMcpWork* w, double target) {
  double last = 100, factor = 0.1;
  size_t bytes = (size_t)w->n * sizeof(double);
  memcpy(w->centre, w->y, bytes), memcpy(w->solved, w->y, bytes);
  while (last > 1e-3 && factor < 0.99 && w->iterations < w->limit && w->best_residual > target) {
    w->proximal = last * factor;
    if (ab_mcp_newton(w, 1e-3, 12) == AB_SOLVE_OK) {
      last = w->proximal, factor = larger(0.1, factor * factor);
      memcpy(w->solved, w->y, bytes);
    } else {
      factor = sqrt(factor);
      memcpy(w->y, w->solved, bytes);
    }
  }
  w->proximal = 0;
  return ab_mcp_newton(w, target, 60);
}

// Moves the start into the bounds; false if it lies there already.
static bool move_start(abMcpWork* w) {
  bool moved = false;
  for (int i = 0; i < w->n; i++) {
    double l = w->def->lower ? w->def->lower[i] : -INFINITY,
           u = w->def->upper ? w->def->upper[i] : INFINITY;
    double x = larger(l, smaller(w->start[i], u));
    moved = moved || x != w->start[i];
    w->start[i] = x;
  }
  return moved;
}

// Displaced starts: all up by one unit, alternately up and down, then scattered within 1, 2 or 4
// units by fractions of multiples of the golden ratio, which spread evenly: the same on every run
// and machine.
static double displacement(int number, int i) {
  if (number <= 5) return number == 5 && i % 2 ? -1 : 1;
  double phase = 0.6180339887498949 * (i + 1) * (number - 4) + 0.4142135623730950 * number;
  return ldexp(2 * (phase - floor(phase)) - 1, number % 3);
}

enum { MCP_ATTEMPTS = 12 };

// The attempts in their order: the start; the start within the bounds; smoothing; displaced;
// proximal.
static abSolveStatus attempt(abMcpWork* w, int number, double target) {
  w->best_residual = INFINITY;  // in the units of this attempt
  if (number == 2 && !move_start(w)) return AB_SOLVE_STALLED;
  if (!choose_units(w, w->start)) return AB_SOLVE_NUMERIC;
  if (number == 3) return smoothing(w, target);
  if (number == MCP_ATTEMPTS) return proximal(w, target);
  for (int i = 0; i < w->n && number > 3; i++)
    w->y[i] = clamp(w, i, w->y[i] + displacement(number, i));
  return ab_mcp_newton(w, target, 60);
}

// The answer lies within its bounds exactly; the residual is taken there, in the units at hand.
static void finish(abMcpWork* w, double* x, abSolveResult* result) {
  for (int i = 0; i < w->n; i++) w->y[i] = clamp(w, i, w->best[i]);
  if (!ab_mcp_evaluate(w, w->y, w->g, NULL)) return;
  double residual = ab_mcp_natural(w, w->y, w->g);
  if (!(residual <= result->residual)) return;
  result->residual = residual;
  result->value = ab_mcp_merit(w, w->y, w->g);
  for (int i = 0; i < w->n; i++) {
    double bound = w->y[i] == w->lower[i]   ? w->def->lower[i]
                   : w->y[i] == w->upper[i] ? w->def->upper[i]
                                            : NAN;
    x[i] = bound == bound ? bound : w->y[i] * w->x_unit[i];
  }
}

// A start far away gives units in which a solution nearby looks better than it is: judged, and
// where needed improved, in its own units, which are at least 1e-4 of the first (a solution at 0
// has none of its own).
static void polish(abMcpWork* w, double* x, double target, abSolveResult* result) {
  if (w->def->x_scale || w->def->f_scale) return;
  w->least_size = 1e-4 * w->size;
  memcpy(w->start, x, (size_t)w->n * sizeof(double));
  if (!choose_units(w, w->start)) return;
  w->best_residual = result->residual = INFINITY;
  result->status = ab_mcp_newton(w, target, 30);
  finish(w, x, result);
  if (result->residual <= target) result->status = AB_SOLVE_OK;
}

static void begin(abMcpWork* w, const abMcpDef* def, void* workspace) {
  ab_mcp_layout(w, def->n, workspace);
  w->def = def;
  memset(w->centre, 0, (size_t)def->n * sizeof(double));
}

abSolveResult ab_mcp(const abMcpDef* def, double* x, void* workspace) {
  abSolveResult result = {AB_SOLVE_INPUT, 0, INFINITY, INFINITY};
  abMcpWork w;
  if (!workspace || !acceptable(def, x)) return result;
  begin(&w, def, workspace);
  w.limit = def->max_iteration > 0 ? def->max_iteration : 400;
  double target = def->tolerance > 0 ? def->tolerance : 1e-10;
  memcpy(w.start, x, (size_t)def->n * sizeof(double));
  for (int number = 1; number <= (def->direct ? 1 : MCP_ATTEMPTS); number++) {
    abSolveStatus status = attempt(&w, number, target);
    if (number == 1) result.status = status;
    if (isfinite(w.best_residual)) finish(&w, x, &result);
    if (result.residual <= target) result.status = AB_SOLVE_OK;
    if (result.status == AB_SOLVE_OK || w.iterations >= w.limit) break;
  }
  if (result.status == AB_SOLVE_OK) polish(&w, x, target, &result);
  if (result.status != AB_SOLVE_OK && w.iterations >= w.limit) result.status = AB_SOLVE_ITERATIONS;
  result.iterations = w.iterations;
  return result;
}

double ab_mcp_check_jacobian(const abMcpDef* def, const double* x, void* workspace) {
  abMcpWork w;
  if (!workspace || !acceptable(def, x)) return INFINITY;
  int n = def->n;
  begin(&w, def, workspace);
  if (!choose_units(&w, x) || !ab_mcp_evaluate(&w, w.y, w.g, w.jacobian)) return INFINITY;
  double worst = 0, *plus = w.trial_g, *minus = w.g;
  for (int i = 0; i < n; i++) w.slope[i] = ab_dense_max(w.jacobian + i * n, (size_t)n);
  for (int j = 0; j < n; j++) {
    // The step that balances rounding (eps / h) and curvature (h^2) of a central difference.
    double y = w.y[j], h = cbrt(DBL_EPSILON) * larger(1, fabs(y));
    w.y[j] = y + h;
    bool good = ab_mcp_evaluate(&w, w.y, plus, NULL);
    w.y[j] = y - h;
    good = good && ab_mcp_evaluate(&w, w.y, minus, NULL);
    w.y[j] = y;
    if (!good) return INFINITY;
    for (int i = 0; i < n; i++) {
      double difference = fabs((plus[i] - minus[i]) / (2 * h) - w.jacobian[i * n + j]);
      double size = larger(w.slope[i], fabs(plus[i] - minus[i]) / (2 * h));
      if (size > 0) worst = larger(worst, difference / size);
    }
  }
  return worst;
}
