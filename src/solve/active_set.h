// The dual active-set method of Goldfarb & Idnani for a strictly convex quadratic program whose
// variables and rows have been scaled. qp.c prepares the problem and judges the answer.
#ifndef ABUT_SOLVE_ACTIVE_SET_H
#define ABUT_SOLVE_ACTIVE_SET_H

#include "solve/dense.h"

typedef struct abActiveSet {
  int n, m, nequal;  // variables, rows, of which the first nequal are equalities
  const double* a;   // rows of unit length: a[row * n + variable]
  const double* b;
  double* l;  // Cholesky factor of the Hessian, by rows
  double* j;  // J, n x n by columns: J^T H J = 1
  double* r;  // R, by columns with stride n: J^T N = [R; 0]
  double* x;
  double* u;      // multipliers of the active rows, and of the row on its way in
  double* d;      // J^T (normal of that row)
  double* z;      // its primal direction
  double* s;      // its dual direction
  double* slack;  // A x - b
  int* active;    // active rows in the order of the columns of R
  double* sign;   // per active row: the side it was approached from, 1 but for equalities
  int* state;     // per row: 1 if active, 2 if redundant
  double* gradient;
  double reach;  // the largest |x| since x was last refined
  int size;      // number of active rows
  int iterations, limit;
} abActiveSet;

void ab_active_set_layout(abActiveSet* s, int n, int m, abCarve* c);
// Minimises x . H x / 2 + g . x, H = L L^T, from an empty active set.
abSolveStatus ab_active_set_run(abActiveSet* s, const double* g);
// One step of refinement for the active set found: given the gradient of the Lagrangian at x and u
// it moves x and u to where gradient and active slacks vanish.
void ab_active_set_refine(abActiveSet* s, const double* gradient);

#endif
