// Linear complementarity problems: w = M z + q, w >= 0, z >= 0, w . z = 0, by Lemke's method.
//
// An artificial variable z0 with a positive column d is added: w = q + M z + d z0. With z0 large
// enough, w > 0 and z = 0 is feasible. z0 comes down until the first w_r reaches 0; then at every
// step the complement of the variable that has just left enters, so that of each pair (w_i, z_i) at
// most one is basic but for one pair of which none is. When z0 leaves, the problem is solved. When
// nothing stops the entering variable the path ends on a ray; for positive semidefinite (more
// generally copositive-plus) M this proves that no solution exists (Lemke 1965; Cottle, Pang &
// Stone 1992, section 4.4).
//
// The state is a dictionary: each basic variable as a function of the n + 1 non-basic ones,
//     basic = rhs + T nonbasic,
// n (n + 1) numbers, half of a tableau with all columns. An exchange of a basic and a non-basic
// variable updates it in place.
//
// The choice of the leaving variable is lexicographic, which excludes cycling: among rows of equal
// smallest ratio, rows of B^-1 divided by the entry of the entering column are compared, B being
// the basis in terms of the first one. Column j of B^-1 belongs to w_j: it is minus the column of T
// if w_j is non-basic, and a unit vector if it is basic, so nothing beyond T needs to be stored. If
// z0 is among the rows of equal ratio it leaves.
//
// Rows and columns of M may be scaled separately (w and z each have their own units) and the path
// does not change but for the choice of d; we balance M (dense.c), divide q by its largest entry
// and take d = 1, i.e. 1/row factor in the caller's units (another d if that path is too long, ends
// on a ray or loses digits). Where the dictionary has lost digits, the basis
// is solved again from the data and corrected by principal pivoting (see finish).
#include <float.h>
#include <math.h>
#include <string.h>

#include "solve/dense.h"

typedef struct Lemke {
  int n;
  double* t;    // dictionary, n rows of n + 1
  double* rhs;  // values of the basics
  double* row;  // balance: w_i = w_i balanced / row[i]
  double* col;  // z_j = z_j balanced * col[j]
  double* z;    // balanced solution
  double* w;
  double* kept;   // a second z
  int* basic;     // variable of each row: z_j is j, w_j is n + j, z0 is 2 n
  int* nonbasic;  // variable of each column
  int* place;     // of each variable: its row if basic, else -1 - its column
  int* tie;       // rows of equal ratio
  double qsize, shift;
} Lemke;

// Allowances on the balanced problem.
static const double pivot_least = 1e-11;  // of the entering column relative to its largest entry
static const double tie_slack = 1e-13;    // two ratios nearer than this are equal

static size_t layout(Lemke* s, int n, void* workspace) {
  abCarve k = {(char*)workspace, 0};
  size_t size = (size_t)n;
  *s = (Lemke){.n = n};
  s->t = carve_double(&k, size * (size + 1));
  s->rhs = carve_double(&k, size);
  s->row = carve_double(&k, size);
  s->col = carve_double(&k, size);
  s->z = carve_double(&k, size);
  s->w = carve_double(&k, size);
  s->kept = carve_double(&k, size);
  s->basic = carve_int(&k, size);
  s->nonbasic = carve_int(&k, size + 1);
  s->place = carve_int(&k, 2 * size + 1);
  s->tie = carve_int(&k, size);
  return k.used;
}

size_t ab_lcp_workspace(int n) {
  Lemke s;
  return n < 0 ? 0 : layout(&s, n, NULL);
}

static double entry(const Lemke* s, const abLcpDef* def, int i, int j) {
  return def->m[(size_t)i * (size_t)s->n + (size_t)j] + (i == j ? s->shift : 0);
}

// The column d. There are problems on which the path for d = 1 visits 2^n bases (Murty 1978);
// another d takes another path: multiples of the golden ratio, whose fractions spread evenly over
// 0..1.
static double cover(int i, int attempt) {
  double phase = 0.6180339887498949 * (i + 1);
  return attempt == 0 ? 1 : 1 + attempt * (phase - floor(phase));
}

// Fills the first dictionary with the balanced problem; the balance is found on the matrix by rows,
// whose rows are the columns of the transpose.
static void load(Lemke* s, const abLcpDef* def, int attempt) {
  int n = s->n;
  double trace = 0;
  for (int i = 0; i < n; i++) trace += def->m[(size_t)i * (size_t)n + (size_t)i];
  s->shift = n > 0 ? def->regularisation * trace / n : 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) s->t[i * n + j] = entry(s, def, i, j);
  ab_dense_balance(n, n, s->t, s->col, s->row);
  for (int i = n - 1; i >= 0; i--) {
    memmove(s->t + i * (n + 1), s->t + i * n, (size_t)n * sizeof(double));
    s->t[i * (n + 1) + n] = cover(i, attempt);
  }
  s->qsize = 0;
  for (int i = 0; i < n; i++) {
    s->rhs[i] = s->row[i] * def->q[i];
    s->qsize = larger(s->qsize, fabs(s->rhs[i]));
    s->basic[i] = n + i, s->place[n + i] = i;
    s->nonbasic[i] = i, s->place[i] = -1 - i;
  }
  s->nonbasic[n] = 2 * n, s->place[2 * n] = -1 - n;
  if (s->qsize == 0) s->qsize = 1;
  for (int i = 0; i < n; i++) s->rhs[i] /= s->qsize;
}

// Exchanges the basic variable of row r and the non-basic one of column e.
static void exchange(Lemke* s, int r, int e) {
  int n = s->n, width = n + 1;
  double *p = s->t + r * width, inverse = 1 / p[e];
  for (int k = 0; k < width; k++) p[k] *= -inverse;
  p[e] = inverse;
  s->rhs[r] *= -inverse;
  for (int i = 0; i < n; i++) {
    double *q = s->t + i * width, f = q[e];
    if (i == r || f == 0) continue;
    q[e] = 0;
    dense_axpy(f, p, q, width);
    s->rhs[i] += f * s->rhs[r];
  }
  int in = s->nonbasic[e], out = s->basic[r];
  s->basic[r] = in, s->place[in] = r;
  s->nonbasic[e] = out, s->place[out] = -1 - e;
}

// Column j of the inverse basis in row i.
static double inverse_entry(const Lemke* s, int i, int j) {
  int place = s->place[s->n + j];
  if (place >= 0) return place == i;
  return -s->t[i * (s->n + 1) - 1 - place];
}

// Of the tied rows the lexicographically smallest.
static int break_tie(const Lemke* s, int ntie, int e) {
  int width = s->n + 1;
  for (int j = 0; j < s->n && ntie > 1; j++) {
    double best = INFINITY;
    for (int k = 0; k < ntie; k++)
      best = smaller(best, inverse_entry(s, s->tie[k], j) / -s->t[s->tie[k] * width + e]);
    int kept = 0;
    for (int k = 0; k < ntie; k++) {
      double v = inverse_entry(s, s->tie[k], j) / -s->t[s->tie[k] * width + e];
      if (v <= best + tie_slack * (1 + fabs(best))) s->tie[kept++] = s->tie[k];
    }
    ntie = kept;
  }
  return s->tie[0];
}

// The row that stops the entering column e, or -1.
static int leaving(const Lemke* s, int e) {
  int n = s->n, width = n + 1, ntie = 0;
  double largest = 0, bound = INFINITY;
  for (int i = 0; i < n; i++) largest = larger(largest, fabs(s->t[i * width + e]));
  double least = -pivot_least * largest;
  for (int i = 0; i < n; i++)
    if (s->t[i * width + e] < least)
      bound = smaller(bound, larger(s->rhs[i], 0) / -s->t[i * width + e]);
  if (isinf(bound)) return -1;
  for (int i = 0; i < n; i++) {
    double f = -s->t[i * width + e];
    if (!(f > -least)) continue;
    // rhs is of size 1 and carries its rounding, which the division by f magnifies.
    if (larger(s->rhs[i], 0) - bound * f > tie_slack) continue;
    if (s->basic[i] == 2 * n) return i;
    s->tie[ntie++] = i;
  }
  return break_tie(s, ntie, e);
}

// The first exchange: z0 against the w that is most negative in units of d; of equal ones the last,
// which is smallest lexicographically. -1 if q >= 0 and z = 0 solves the problem.
static int first_row(const Lemke* s) {
  int r = -1, n = s->n;
  double least = 0;
  for (int i = 0; i < n; i++) {
    double t = s->rhs[i] / s->t[i * (n + 1) + n];
    if (t < 0 && t <= least) least = t, r = i;
  }
  return r;
}

static abSolveStatus follow_path(Lemke* s, const abLcpDef* def, int* iterations) {
  int n = s->n, r = first_row(s), e = n, end;
  // About n exchanges are usual; the worst case is exponential.
  int limit = def->max_iteration > 0 ? def->max_iteration : 20 * n + 50;
  if (r < 0) return AB_SOLVE_OK;
  for (end = *iterations + limit; *iterations < end; ++*iterations) {
    int out = s->basic[r];
    exchange(s, r, e);
    if (out == 2 * n) return AB_SOLVE_OK;
    int in = out < n ? out + n : out - n;
    e = -1 - s->place[in];
    r = leaving(s, e);
    if (r < 0) return AB_SOLVE_RAY;
  }
  return AB_SOLVE_ITERATIONS;
}

// w from z and the data, both balanced; returns the residual. z must be >= 0.
static double measure(Lemke* s, const abLcpDef* def) {
  int n = s->n;
  double worst = 0, size = 1;
  for (int i = 0; i < n; i++) {
    double sum = def->q[i] * s->row[i] / s->qsize;
    for (int j = 0; j < n; j++)
      if (s->z[j] != 0) sum += s->row[i] * entry(s, def, i, j) * s->col[j] * s->z[j];
    s->w[i] = sum;
    worst = larger(worst, fabs(smaller(s->z[i], sum)));
    size = larger(size, s->z[i]);
  }
  return ab_dense_finite(s->w, (size_t)n) ? worst / size : INFINITY;
}

// Solves M_aa z_a = -q_a afresh for the basic z, in the memory of the dictionary. The rows are the
// complements of the basic z.
static bool resolve(Lemke* s, const abLcpDef* def) {
  int n = s->n, k = 0, *active = s->nonbasic;
  for (int j = 0; j < n; j++)
    if (s->place[j] >= 0) active[k++] = j;
  for (int i = 0; i < k; i++) {
    for (int j = 0; j < k; j++)
      s->t[i * k + j] = s->row[active[i]] * entry(s, def, active[i], active[j]) * s->col[active[j]];
    s->rhs[i] = -def->q[active[i]] * s->row[active[i]] / s->qsize;
  }
  if (!ab_dense_lu(k, s->t, s->tie, DBL_EPSILON)) return false;
  ab_dense_lu_solve(k, s->t, s->tie, s->rhs);
  memset(s->z, 0, (size_t)n * sizeof(double));
  for (int i = 0; i < k; i++) s->z[active[i]] = s->rhs[i];
  return true;
}

// The first index at which the basis just solved is infeasible, or -1: z below 0 in the basis, w
// below 0 outside. s->w must belong to s->z.
static int first_infeasible(const Lemke* s) {
  double size = larger(1, ab_dense_max(s->z, (size_t)s->n));
  for (int i = 0; i < s->n; i++)
    if ((s->place[i] >= 0 ? s->z[i] : s->w[i]) < -tie_slack * size) return i;
  return -1;
}

// Reads z from the last dictionary. Where digits were lost the basis is solved again from the data,
// and if the loss has made it a wrong basis, corrected by principal pivoting with the least index
// (Murty 1974), which ends at the solution for any matrix with positive principal minors. The best
// point is kept.
static void finish(Lemke* s, const abLcpDef* def, abSolveResult* result) {
  int n = s->n;
  size_t bytes = (size_t)n * sizeof(double);
  for (int j = 0; j < n; j++) s->z[j] = s->place[j] >= 0 ? larger(s->rhs[s->place[j]], 0) : 0;
  result->residual = measure(s, def);
  // n roundings of a well conditioned dictionary stay below this; more means lost digits.
  double good = 4 * n * DBL_EPSILON;
  if (result->status != AB_SOLVE_OK || result->residual <= good) return;
  memcpy(s->kept, s->z, bytes);
  for (int step = 0; step < 4 * n && result->residual > good && resolve(s, def); step++) {
    measure(s, def);
    int wrong = first_infeasible(s);
    for (int j = 0; j < n; j++) s->z[j] = larger(s->z[j], 0);
    double residual = measure(s, def);
    if (residual < result->residual) result->residual = residual, memcpy(s->kept, s->z, bytes);
    if (wrong < 0) break;
    s->place[wrong] = s->place[wrong] >= 0 ? -1 : 0;  // only its sign is read from here on
  }
  memcpy(s->z, s->kept, bytes);
  result->residual = measure(s, def);
}

// z, w and z . w in the caller's units.
static double write(const Lemke* s, double* z, double* w) {
  double product = 0;
  for (int i = 0; i < s->n; i++) {
    z[i] = s->z[i] > 0 ? smaller(s->z[i] * s->col[i] * s->qsize, DBL_MAX) : 0;
    double slack = larger(-DBL_MAX, smaller(s->w[i] * s->qsize / s->row[i], DBL_MAX));
    if (w) w[i] = slack;
    product += z[i] * slack;
  }
  return product;
}

static bool acceptable(const abLcpDef* def) {
  size_t n = (size_t)def->n;
  return def->n >= 0 && ab_dense_finite(def->m, n * n) && ab_dense_finite(def->q, n) &&
         isfinite(def->regularisation);
}

abSolveResult ab_lcp(const abLcpDef* def, double* z, double* w, void* workspace) {
  abSolveResult best = {AB_SOLVE_INPUT, 0, INFINITY, INFINITY}, now = best;
  if (!def || !z || !workspace) return best;
  double tolerance = def->tolerance > 0 ? def->tolerance : 1e-9;
  Lemke s;
  if (def->n > 0) memset(z, 0, (size_t)def->n * sizeof(double));
  if (def->n > 0 && w) memset(w, 0, (size_t)def->n * sizeof(double));
  if (!acceptable(def)) return best;
  layout(&s, def->n, workspace);
  for (int attempt = 0; attempt < 3; attempt++) {
    load(&s, def, attempt);
    now.status = follow_path(&s, def, &now.iterations);
    finish(&s, def, &now);
    if (now.status == AB_SOLVE_OK && !(now.residual <= tolerance)) now.status = AB_SOLVE_NUMERIC;
    bool better = now.status == AB_SOLVE_OK
                      ? best.status != AB_SOLVE_OK || now.residual < best.residual
                      : attempt == 0;
    if (better) best = now, best.value = write(&s, z, w);
    // Far below the tolerance the basis is right; near it, rounding has chosen a wrong one.
    if (best.status == AB_SOLVE_OK && best.residual <= 1e-3 * tolerance) break;
    if (best.status == AB_SOLVE_RAY && attempt > 0) break;
  }
  best.iterations = now.iterations;
  return best;
}
