// Semismooth Newton method for l <= y <= u, G(y) complementary, on the Fischer-Burmeister
// reformulation.
//
//     phi(a, b) = a + b - sqrt(a^2 + b^2)      is 0 iff a >= 0, b >= 0, a b = 0.
// Per component: G = 0 without bounds; phi(y - l, G) with a lower one; -phi(u - y, -G) with an
// upper one; phi(y - l, -phi(u - y, -G)) with both (Billups 1995), the smooth counterpart of
//     y - clamp(y - G) = min(y - l, max(y - u, G)).
// The system Phi(y) = 0 is semismooth: with V =
// diag(dPhi_i/dy_i) + diag(dPhi_i/dG_i) G'(y), steps V d = -Phi converge quadratically near a
// regular solution, and the merit function Psi = |Phi|^2 / 2 is continuously differentiable with
// gradient V^T Phi (De Luca, Facchinei & Kanzow 1996), so a line search on Psi makes the method
// global. At a = b = 0, where phi has no derivative, the limit along a = b is taken.
//
// Direction: the Newton step; if V is singular or the step finds no descent, a Levenberg-Marquardt
// step (V^T V + nu) d = -V^T Phi; if that fails, steepest descent. The line search compares with
// the largest of the last few merit values (Grippo, Lampariello & Lucidi 1986): phi's curved
// valleys make strict descent slow.
//
// Perturbations for the fallbacks: smoothing (sqrt(a^2 + b^2 + 2 eps^2), Kanzow 1996) makes Phi
// differentiable everywhere; the proximal term mu (y - centre) makes G monotone if mu is large.
// Tests: test_mcp.
#include "solve/mcp_newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

size_t ab_mcp_layout(abMcpWork* w, int n, void* workspace) {
  abCarve c = {(char*)workspace, 0};
  size_t size = (size_t)n;
  memset(w, 0, sizeof *w);
  w->n = n;
  double** vector[] = {&w->x_unit, &w->f_unit, &w->lower,  &w->upper,   &w->y,     &w->g,
                       &w->phi,    &w->dy,     &w->dg,     &w->step,    &w->slope, &w->trial,
                       &w->x,      &w->best,   &w->centre, &w->trial_g, &w->start, &w->solved};
  double** square[] = {&w->jacobian, &w->trial_jacobian, &w->matrix, &w->factor};
  for (size_t k = 0; k < sizeof vector / sizeof *vector; k++) *vector[k] = carve_double(&c, size);
  for (size_t k = 0; k < sizeof square / sizeof *square; k++)
    *square[k] = carve_double(&c, size * size);
  w->pivot = carve_int(&c, size);
  return c.used;
}

bool ab_mcp_evaluate(abMcpWork* w, const double* y, double* g, double* jacobian) {
  int n = w->n;
  for (int i = 0; i < n; i++) w->x[i] = y[i] * w->x_unit[i];
  if (!w->def->evaluate(w->def->context, w->x, g, jacobian)) return false;
  for (int i = 0; i < n; i++) g[i] = g[i] / w->f_unit[i] + w->proximal * (y[i] - w->centre[i]);
  if (!ab_dense_finite(g, (size_t)n)) return false;
  if (!jacobian) return true;
  for (int i = 0; i < n; i++) {
    double inverse = 1 / w->f_unit[i];
    for (int j = 0; j < n; j++) jacobian[i * n + j] *= inverse * w->x_unit[j];
    jacobian[i * n + i] += w->proximal;
  }
  return ab_dense_finite(jacobian, (size_t)n * (size_t)n);
}

double ab_mcp_natural(const abMcpWork* w, const double* y, const double* g) {
  double worst = 0;
  for (int i = 0; i < w->n; i++) {
    double force = g[i] - w->proximal * (y[i] - w->centre[i]);
    double moved = larger(w->lower[i], smaller(y[i] - force, w->upper[i]));
    // Without bounds in reach this is G itself, which y - (y - G) would round.
    double r = y[i] - force == moved ? force : y[i] - moved;
    worst = larger(worst, fabs(r));
  }
  return worst;
}

typedef struct Value {
  double value, by_a, by_b;
} Value;

static Value fischer(double a, double b, double eps) {
  double root = sqrt(a * a + b * b + 2 * eps * eps), sum = a + b;
  if (root == 0) return (Value){0, 1 - 0.7071067811865476, 1 - 0.7071067811865476};
  // For a + b > 0 the difference cancels; multiplied out, the squares do.
  double value = sum > 0 ? 2 * (a * b - eps * eps) / (sum + root) : sum - root;
  return (Value){value, 1 - a / root, 1 - b / root};
}

static void component(abMcpWork* w, int i, double y, double g) {
  double l = w->lower[i], u = w->upper[i], eps = w->smoothing;
  w->phi[i] = g, w->dy[i] = 0, w->dg[i] = 1;
  if (l == u) {
    w->phi[i] = y - l, w->dy[i] = 1, w->dg[i] = 0;
    return;
  }
  if (isfinite(u)) {
    Value v = fischer(u - y, -g, eps);
    w->phi[i] = -v.value, w->dy[i] = v.by_a, w->dg[i] = v.by_b;
  }
  if (isfinite(l)) {
    Value v = fischer(y - l, w->phi[i], eps);
    w->phi[i] = v.value;
    w->dy[i] = v.by_a + v.by_b * w->dy[i];
    w->dg[i] *= v.by_b;
  }
}

double ab_mcp_merit(abMcpWork* w, const double* y, const double* g) {
  for (int i = 0; i < w->n; i++) component(w, i, y[i], g[i]);
  return 0.5 * dense_dot(w->phi, w->phi, w->n);
}

// V and the gradient V^T Phi.
static void linearise(abMcpWork* w) {
  int n = w->n;
  memset(w->slope, 0, (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    double* row = w->matrix + i * n;
    for (int j = 0; j < n; j++) row[j] = w->dg[i] * w->jacobian[i * n + j];
    row[i] += w->dy[i];
    dense_axpy(w->phi[i], row, w->slope, n);
  }
}

static bool newton_step(abMcpWork* w) {
  int n = w->n;
  memcpy(w->factor, w->matrix, (size_t)n * (size_t)n * sizeof(double));
  // A pivot at the rounding of the matrix says nothing about the direction it belongs to.
  if (!ab_dense_lu(n, w->factor, w->pivot, 4 * DBL_EPSILON)) return false;
  for (int i = 0; i < n; i++) w->step[i] = -w->phi[i];
  ab_dense_lu_solve(n, w->factor, w->pivot, w->step);
  return ab_dense_finite(w->step, (size_t)n);
}

// nu relative to the largest diagonal of V^T V; it vanishes with |Phi|, which keeps convergence
// fast.
static bool marquardt_step(abMcpWork* w, double norm) {
  int n = w->n;
  double* t = w->factor;
  memset(t, 0, (size_t)n * (size_t)n * sizeof(double));
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      if (w->matrix[k * n + i] != 0)
        dense_axpy(w->matrix[k * n + i], w->matrix + k * n, t + i * n, i + 1);
  double largest = 0;
  for (int i = 0; i < n; i++) largest = larger(largest, t[i * n + i]);
  double nu = largest * larger(1e-12, smaller(1e-2, 1e-2 * norm));
  for (int i = 0; i < n; i++) t[i * n + i] += nu;
  if (ab_dense_cholesky(n, t, 0) < n) return false;
  for (int i = 0; i < n; i++) w->step[i] = -w->slope[i];
  ab_dense_cholesky_solve(n, t, w->step);
  return ab_dense_finite(w->step, (size_t)n);
}

static void swap(double** a, double** b) {
  double* t = *a;
  *a = *b, *b = t;
}

// Moves along the step by 1, 1/2, 1/4, ... until the merit falls enough below `reference`. The
// derivative is evaluated along with F at the full step, which is mostly accepted.
static bool search(abMcpWork* w, double reference, int halvings, double* merit) {
  double descent = dense_dot(w->slope, w->step, w->n), t = 1;
  if (!(descent < 0)) return false;
  for (int k = 0; k <= halvings; k++, t *= 0.5) {
    for (int i = 0; i < w->n; i++) w->trial[i] = w->y[i] + t * w->step[i];
    if (!ab_mcp_evaluate(w, w->trial, w->trial_g, k == 0 ? w->trial_jacobian : NULL)) continue;
    double now = ab_mcp_merit(w, w->trial, w->trial_g);
    if (!(now <= reference + 1e-4 * t * descent)) continue;
    if (k > 0 && !ab_mcp_evaluate(w, w->trial, w->trial_g, w->trial_jacobian)) continue;
    *merit = now;
    swap(&w->y, &w->trial), swap(&w->g, &w->trial_g), swap(&w->jacobian, &w->trial_jacobian);
    return true;
  }
  ab_mcp_merit(w, w->y, w->g);  // phi again at the old point
  return false;
}

// Newton, else Levenberg-Marquardt, else steepest descent; a Newton step shorter than 2^-8 is not
// worth it.
static bool advance(abMcpWork* w, double reference, double* merit) {
  double norm = sqrt(2 * *merit);
  linearise(w);
  if (newton_step(w) && search(w, reference, 8, merit)) return true;
  if (marquardt_step(w, norm) && search(w, reference, 20, merit)) return true;
  for (int i = 0; i < w->n; i++) w->step[i] = -w->slope[i];
  return search(w, *merit, 40, merit);
}

// Remembers the point if its natural residual is the best; returns what the target is compared
// with.
static double judge(abMcpWork* w) {
  double residual = ab_mcp_natural(w, w->y, w->g);
  if (residual < w->best_residual) {
    w->best_residual = residual;
    memcpy(w->best, w->y, (size_t)w->n * sizeof(double));
  }
  bool perturbed = w->smoothing > 0 || w->proximal > 0;
  return perturbed ? ab_dense_max(w->phi, (size_t)w->n) : residual;
}

abSolveStatus ab_mcp_newton(abMcpWork* w, double target, int most) {
  double memory[AB_MCP_MEMORY];
  if (!ab_mcp_evaluate(w, w->y, w->g, w->jacobian)) return AB_SOLVE_NUMERIC;
  double merit = ab_mcp_merit(w, w->y, w->g), mark = merit;
  int marked = 0;
  for (int k = 0; k < AB_MCP_MEMORY; k++) memory[k] = merit;
  for (int k = 0;; k++) {
    if (judge(w) <= target) return AB_SOLVE_OK;
    if (k == most || w->iterations >= w->limit) return AB_SOLVE_ITERATIONS;
    // Even at a degenerate solution each step quarters the merit; where twelve have not halved it
    // the method creeps along a valley, and another start serves better.
    if (merit <= 0.5 * mark) mark = merit, marked = k;
    if (k - marked >= 12) return AB_SOLVE_STALLED;
    w->iterations++;
    if (!advance(w, ab_dense_max(memory, AB_MCP_MEMORY), &merit)) return AB_SOLVE_STALLED;
    memory[k % AB_MCP_MEMORY] = merit;
  }
}
