// One run of the damped semismooth Newton method on a scaled, possibly perturbed complementarity
// problem. mcp.c chooses units, starts and perturbations.
#ifndef ABUT_SOLVE_MCP_NEWTON_H
#define ABUT_SOLVE_MCP_NEWTON_H

#include "solve/dense.h"

enum { AB_MCP_MEMORY = 6 };  // merit values the line search may fall back to

typedef struct abMcpWork {
  const abMcpDef* def;
  int n;
  double *x_unit, *f_unit;   // x = x_unit y; F = f_unit G
  double *lower, *upper;     // of y
  double *y, *g, *jacobian;  // iterate, G(y) and dG/dy
  double *phi, *dy, *dg;     // Fischer-Burmeister residual and its derivatives by y_i and G_i
  double *matrix, *factor;   // V = diag(dy) + diag(dg) dG/dy, and its factorisation
  double *step, *slope;      // direction and gradient of the merit function
  double *trial, *trial_g, *trial_jacobian;
  double* x;       // scratch for the callback
  double* best;    // y of least natural residual
  double* solved;  // y at the last level of a continuation
  double* start;   // the caller's start
  double* centre;  // of the proximal perturbation
  int* pivot;
  double smoothing;  // epsilon: phi(a, b) = a + b - sqrt(a^2 + b^2 + 2 epsilon^2)
  double proximal;   // mu: G + mu (y - centre)
  double best_residual;
  double size, least_size;  // common size of x and F, and its lower limit
  int iterations, limit;
} abMcpWork;

size_t ab_mcp_layout(abMcpWork* w, int n, void* workspace);
// G(y) (perturbed) and, where jacobian is not NULL, its derivative. False if F is undefined or not
// finite.
bool ab_mcp_evaluate(abMcpWork* w, const double* y, double* g, double* jacobian);
// Newton steps from w->y until the natural residual is below `target` (the Fischer-Burmeister
// residual, while the problem is smoothed or perturbed), at most `most` of them. Keeps the best
// point.
abSolveStatus ab_mcp_newton(abMcpWork* w, double target, int most);
// The natural residual of the unperturbed problem at y, where g is what ab_mcp_evaluate gave.
double ab_mcp_natural(const abMcpWork* w, const double* y, const double* g);
// Half the squared Fischer-Burmeister residual; fills w->phi, w->dy, w->dg.
double ab_mcp_merit(abMcpWork* w, const double* y, const double* g);

#endif
