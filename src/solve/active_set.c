// The dual method of Goldfarb & Idnani 1983 (A numerically stable dual method for solving strictly
// convex quadratic programs): minimise x . H x / 2 + g . x subject to the rows of A x >= b, the
// first nequal of them equalities.
//
// Start at the unconstrained minimum. While a row is violated, take the most violated one, with
// normal n, and raise its multiplier t from 0. With N the normals of the active rows and u their
// multipliers, the point that stays optimal for them moves by
//     dx/dt = z = (J2 J2^T) n,    du/dt = -s,   s = R^-1 J1^T n,
// until the row is satisfied (t = -slack / n.z: it becomes active), or a multiplier reaches 0 first
// (that row leaves, and the move goes on). If z = 0 and no multiplier falls, the row contradicts
// the active ones. The dual objective grows at each step, so no active set returns.
//
// J = [J1 J2] and R come from H = L L^T: J = L^-T Q with orthogonal Q such that J^T N = [R; 0].
// Adding a row turns columns of J by Givens rotations until J^T n has no entries below R; dropping
// a row turns them back. Each costs O(n^2).
// Tests: test_qp.
#include "solve/active_set.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A normal whose part outside the span of the active ones is below this fraction counts as
// dependent: J carries the square root of the condition of H, at most 1e5 by the caller's
// regularisation.
static const double dependent = 1e-11;
// A row is violated beyond this, relative to 1 + |x|: what the updates of x leave on satisfied
// rows.
static const double violated = 1e-13;

void ab_active_set_layout(abActiveSet* s, int n, int m, abCarve* c) {
  size_t size = (size_t)n, rows = (size_t)m, most = (size_t)(n < m ? n : m) + 1;
  s->n = n, s->m = m;
  s->l = carve_double(c, size * size);
  s->j = carve_double(c, size * size);
  s->r = carve_double(c, size * size);
  s->x = carve_double(c, size);
  s->u = carve_double(c, most);
  s->d = carve_double(c, size);
  s->z = carve_double(c, size);
  s->s = carve_double(c, size);
  s->slack = carve_double(c, rows);
  s->gradient = carve_double(c, size);
  s->active = carve_int(c, most);
  s->sign = carve_double(c, most);
  s->state = carve_int(c, rows);
}

// J = L^-T and x = -H^-1 g.
static void start(abActiveSet* s, const double* g) {
  int n = s->n;
  memset(s->j, 0, (size_t)n * (size_t)n * sizeof(double));
  // Column k of L^-T is row k of L^-1: forward substitution on the rows of the identity.
  for (int k = 0; k < n; k++) {
    for (int i = k; i < n; i++) {
      double sum = i == k;
      for (int p = k; p < i; p++) sum -= s->l[i * n + p] * s->j[p * n + k];
      s->j[i * n + k] = sum / s->l[i * n + i];
    }
  }
  for (int i = 0; i < n; i++) s->x[i] = -g[i];
  ab_dense_cholesky_solve(n, s->l, s->x);
  memset(s->state, 0, (size_t)s->m * sizeof(int));
  s->size = 0;
  s->reach = 0;
}

// Turns columns p and p+1 of J.
static void turn(abActiveSet* s, int p, double cosine, double sine) {
  double *a = s->j + p * s->n, *b = a + s->n;
  for (int i = 0; i < s->n; i++) {
    double u = a[i], v = b[i];
    a[i] = cosine * u + sine * v;
    b[i] = cosine * v - sine * u;
  }
}

// d = J^T n, z = J2 J2^T n, s = R^-1 J1^T n. Returns |J2^T n|^2 = n . z, or 0 if n depends on the
// active.
static double directions(abActiveSet* s, const double* normal, double sign) {
  int n = s->n, q = s->size;
  double outer = 0, inner = 0;
  ab_dense_slopes(n, n, s->j, normal, s->d);
  for (int i = 0; i < n; i++) {
    s->d[i] *= sign;
    *(i < q ? &inner : &outer) += s->d[i] * s->d[i];
  }
  memset(s->z, 0, (size_t)n * sizeof(double));
  for (int i = q; i < n; i++) dense_axpy(s->d[i], s->j + i * n, s->z, n);
  memcpy(s->s, s->d, (size_t)q * sizeof(double));
  for (int k = q - 1; k >= 0; k--) {
    s->s[k] /= s->r[k * n + k];
    dense_axpy(-s->s[k], s->r + k * n, s->s, k);
  }
  return outer > dependent * dependent * (inner + outer) ? outer : 0;
}

// Makes `row` active; d holds its J^T n and u[size] its multiplier.
static void add(abActiveSet* s, int row, double sign) {
  int n = s->n, q = s->size;
  for (int p = n - 2; p >= q; p--) {
    double h = hypot(s->d[p], s->d[p + 1]);
    if (s->d[p + 1] == 0) continue;
    turn(s, p, s->d[p] / h, s->d[p + 1] / h);
    s->d[p] = h, s->d[p + 1] = 0;
  }
  memcpy(s->r + q * n, s->d, (size_t)(q + 1) * sizeof(double));
  s->active[q] = row, s->sign[q] = sign, s->state[row] = 1;
  s->size = q + 1;
}

// The k-th active row leaves; the multiplier of the row on its way in moves down with the others.
static void drop(abActiveSet* s, int k) {
  int n = s->n, last = s->size - 1;
  s->state[s->active[k]] = 0;
  for (int i = k; i < last; i++) {
    s->active[i] = s->active[i + 1], s->sign[i] = s->sign[i + 1];
    memcpy(s->r + i * n, s->r + (i + 1) * n, (size_t)(i + 2) * sizeof(double));
  }
  memmove(s->u + k, s->u + k + 1, (size_t)(s->size - k) * sizeof(double));
  for (int p = k; p < last; p++) {
    double a = s->r[p * n + p], b = s->r[p * n + p + 1], h = hypot(a, b);
    if (b == 0) continue;
    turn(s, p, a / h, b / h);
    for (int i = p; i < last; i++) {
      double *c = s->r + i * n, u = c[p], v = c[p + 1];
      c[p] = (a * u + b * v) / h;
      c[p + 1] = (a * v - b * u) / h;
    }
  }
  s->size = last;
}

// The active inequality whose multiplier vanishes first, and when.
static int first_to_leave(const abActiveSet* s, double* time) {
  int first = -1;
  *time = INFINITY;
  for (int k = 0; k < s->size; k++) {
    if (s->active[k] < s->nequal || !(s->s[k] > 0)) continue;
    double t = larger(s->u[k], 0) / s->s[k];
    if (t < *time) *time = t, first = k;
  }
  return first;
}

// Brings one violated row in. A dependent equality that is satisfied already is marked redundant.
static abSolveStatus satisfy(abActiveSet* s, int row, double least) {
  const double* normal = s->a + row * s->n;
  double slack = dense_dot(normal, s->x, s->n) - s->b[row];
  double sign = row < s->nequal && slack > 0 ? -1 : 1;
  s->u[s->size] = 0;
  for (;;) {
    if (s->iterations++ >= s->limit) return AB_SOLVE_ITERATIONS;
    double along = directions(s, normal, sign), leave;
    int k = first_to_leave(s, &leave);
    if (along == 0 && k < 0) {
      s->state[row] = 2;
      // What a dependent row still lacks must be rounding, magnified by the other rows' part in it.
      return fabs(slack) <= 100 * least * (1 + ab_dense_max(s->s, (size_t)s->size))
                 ? AB_SOLVE_OK
                 : AB_SOLVE_INFEASIBLE;
    }
    double enter = along > 0 ? larger(-sign * slack, 0) / along : INFINITY,
           t = smaller(enter, leave);
    if (!(t >= 0 && t <= DBL_MAX)) return AB_SOLVE_NUMERIC;
    if (along > 0) dense_axpy(t, s->z, s->x, s->n);
    dense_axpy(-t, s->s, s->u, s->size);
    s->u[s->size] += t;
    if (enter <= leave) {
      add(s, row, sign);
      return AB_SOLVE_OK;
    }
    drop(s, k);
    slack = dense_dot(normal, s->x, s->n) - s->b[row];
  }
}

// What rounding leaves on satisfied rows. A nearly singular H starts far away, and the updates of x
// keep the rounding of the largest x on the way; when x has come back by more than two digits they
// are refined away.
static double rounding(abActiveSet* s, const double* g) {
  double now = 1 + ab_dense_max(s->x, (size_t)s->n);
  s->reach = larger(s->reach, now);
  if (s->reach > 100 * now) {
    int n = s->n;
    for (int i = 0; i < n; i++) {  // z = L^T x
      s->z[i] = 0;
      for (int k = i; k < n; k++) s->z[i] += s->l[k * n + i] * s->x[k];
    }
    for (int i = 0; i < n; i++) s->gradient[i] = g[i] + dense_dot(s->l + i * n, s->z, i + 1);
    for (int k = 0; k < s->size; k++)
      dense_axpy(-s->sign[k] * s->u[k], s->a + s->active[k] * n, s->gradient, n);
    ab_active_set_refine(s, s->gradient);
    s->reach = now;
  }
  return violated * s->reach;
}

abSolveStatus ab_active_set_run(abActiveSet* s, const double* g) {
  start(s, g);
  for (int row = 0; row < s->nequal; row++) {
    abSolveStatus status = satisfy(s, row, rounding(s, g));
    if (status != AB_SOLVE_OK) return status;
  }
  for (;;) {
    double least = rounding(s, g), worst = -least;
    int row = -1;
    ab_dense_slopes(s->n, s->m, s->a, s->x, s->slack);
    for (int k = s->nequal; k < s->m; k++)
      if (s->state[k] == 0 && s->slack[k] - s->b[k] < worst) worst = s->slack[k] - s->b[k], row = k;
    if (row < 0) return AB_SOLVE_OK;
    abSolveStatus status = satisfy(s, row, least);
    if (status != AB_SOLVE_OK) return status;
  }
}

// With dx = J1 p + J2 c: the active slacks vanish iff R^T p = b - N^T x =: e; the gradient vanishes
// iff c = -J2^T gradient and R du = p + J1^T gradient.
void ab_active_set_refine(abActiveSet* s, const double* gradient) {
  int n = s->n, q = s->size;
  ab_dense_slopes(n, n, s->j, gradient, s->d);
  for (int k = 0; k < q; k++) {
    int row = s->active[k];
    double e = s->sign[k] * (s->b[row] - dense_dot(s->a + row * n, s->x, n));
    s->s[k] = (e - dense_dot(s->r + k * n, s->s, k)) / s->r[k * n + k];
  }
  for (int i = 0; i < n; i++) dense_axpy(i < q ? s->s[i] : -s->d[i], s->j + i * n, s->x, n);
  for (int k = 0; k < q; k++) s->s[k] += s->d[k];
  for (int k = q - 1; k >= 0; k--) {
    s->s[k] /= s->r[k * n + k];
    dense_axpy(-s->s[k], s->r + k * n, s->s, k);
    s->u[k] += s->s[k];
  }
}
