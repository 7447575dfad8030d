// Newton's method on bodies and contacts whose modes are given.
//
// Unknowns: the end twist (v, w) of each body; per contact p_n, s and the parameters of its mode;
// equations in rows.c. Small systems are eliminated as they are, large ones condensed to their
// bodies (condense.c).
// Tests: test_ecp_drop, test_ecp_roll.
#include <float.h>
#include <string.h>

#include "contact/ecp/ecp.h"

static void layout_condensed(abEcpSystem* s) {
  int n = 0;
  for (int i = 0; i < s->nbody; i++) s->body[i]->slot = n, n += 6;
  for (int j = 0; j < s->ncontact; j++) s->contact[j]->offset = n, n += 4 + s->contact[j]->npar;
  s->n = n;
}

// Each contact follows the later of its two bodies, so that in stacks and rows unknowns that meet
// in an equation are near each other (eliminate makes use of it).
void ab_ecp_layout(abEcpSystem* s) {
  int n = 6 * s->nbody;
  for (int j = 0; j < s->ncontact; j++) n += 4 + s->contact[j]->npar;
  s->condensed = n > AB_ECP_DENSE;
  if (s->condensed) {
    layout_condensed(s);
    return;
  }
  n = 0;
  for (int j = 0; j < s->ncontact; j++) s->contact[j]->offset = -1;
  for (int i = 0; i < s->nbody; i++) s->body[i]->slot = -1;
  for (int i = 0; i < s->nbody; i++) {
    s->body[i]->slot = n, n += 6;
    for (int j = 0; j < s->ncontact; j++) {
      abEcpContact* c = s->contact[j];
      bool placed = c->offset >= 0;
      for (int side = 0; side < 2; side++)
        if (c->body[side]->moving && c->body[side]->slot < 0)
          placed = true;  // its turn comes later
      if (!placed) c->offset = n, n += 4 + c->npar;
    }
  }
  s->n = n;
}

static void dense_rows(abEcpSystem* s) {
  int n = s->n;
  memset(s->J, 0, sizeof(double) * (size_t)(n * n));
  for (int i = 0; i < s->nbody; i++) {
    int r = s->body[i]->slot;
    ab_ecp_body_rows(s, s->body[i], s->F + r, s->J + r * n + r, n);
  }
  for (int i = 0; i < s->ncontact; i++) {
    abEcpContact* c = s->contact[i];
    abEcpRows at = {n, {c->body[0]->slot, c->body[1]->slot}, c->offset, s->F, s->J};
    ab_ecp_contact_rows(s, c, &at);
  }
}

// Change of velocity by all that acts on a body: what the rows of momentum are compared with.
static double speed_of(const abEcpSystem* s) {
  double speed = 0;
  for (int i = 0; i < s->nbody; i++) {
    const abEcpBody* b = s->body[i];
    double load = fmax(v3_norm(b->f), v3_norm(b->f_ext)) / b->m;
    speed = fmax(speed, fmax(load, 1e-6 * v3_norm(b->v)));
  }
  for (int i = 0; i < s->ncontact; i++)
    speed = fmax(speed, fabs(s->contact[i]->pn) / ab_ecp_reduced_mass(s->contact[i]));
  return speed;
}

// Fills F and J; returns the scaled residual.
double ab_ecp_assemble(abEcpSystem* s) {
  for (int i = 0; i < s->nbody; i++) ab_ecp_body_end(s->body[i], s->exact_momentum);
  if (s->condensed)
    ab_ecp_condensed_rows(s);
  else
    dense_rows(s);
  double speed = speed_of(s);
  s->speed = speed;
  double worst = 0, tiny = DBL_MIN;
  for (int i = 0; i < s->nbody; i++)
    for (int j = 0; j < 6; j++)
      worst = fmax(worst, fabs(s->F[s->body[i]->slot + j]) / (speed + tiny));
  for (int i = 0; i < s->ncontact; i++) {
    const abEcpContact* c = s->contact[i];
    for (int e = 0; e < c->neq; e++) worst = fmax(worst, fabs(s->F[c->offset + e]));
    for (int e = 0; e < 3; e++)
      worst =
          fmax(worst, fabs(s->F[c->offset + c->neq + e]) / (speed * ab_ecp_reduced_mass(c) + tiny));
  }
  return s->residual = isfinite(worst) ? worst : INFINITY;
}

static void back_substitute(int n, const double* A, const double* b, const int* work, double* x) {
  const int *last = work + n, *row = work + 2 * n, *column = work + 3 * n;
  memset(x, 0, sizeof(double) * (size_t)n);
  for (int r = work[4 * n] - 1; r >= 0; r--) {
    int p = row[r], k = column[r];
    double sum = b[p];
    for (int j = k + 1; j <= last[p]; j++) sum -= A[p * n + j] * x[j];
    x[k] = sum / A[p * n + k];
  }
}

// Gaussian elimination with row pivoting: A x = b, both destroyed. Where several contacts share a
// load that statics alone does not divide (a table on four legs), columns depend on each other:
// such an unknown keeps its present value, which is what the last step or the sweeps made of it.
// Returns the rank. Rows are not moved: work holds for each row its first column that may not be
// zero (n once it is used up) and its last one, then the order of pivots and the rank: 4 n + 1
// integers. The factors stay in A.
int ab_ecp_eliminate(int n, double* A, double* b, int* work, double* x) {
  int *first = work, *last = work + n, *row = work + 2 * n, *column = work + 3 * n, rank = 0;
  for (int i = 0; i < n; i++) {
    int f = 0, l = n - 1;
    while (l > 0 && A[i * n + l] == 0) l--;
    while (f < l && A[i * n + f] == 0) f++;
    first[i] = f, last[i] = l;
  }
  for (int k = 0; k < n; k++) {
    int p = -1;
    double most =
        AB_ECP_PIVOT;  // rows are of order one, and so are pivots where nothing is degenerate
    for (int i = 0; i < n; i++)
      if (first[i] <= k && fabs(A[i * n + k]) > most) most = fabs(A[i * n + k]), p = i;
    if (p < 0) continue;
    first[p] = n;
    double inverse = 1 / A[p * n + k];
    for (int i = 0; i < n; i++) {
      if (first[i] > k) continue;
      double m = A[i * n + k] * inverse;
      A[i * n + k] = m;
      if (m == 0) continue;
      double *u = A + i * n, *v = A + p * n;
      for (int j = k + 1; j <= last[p]; j++) u[j] -= m * v[j];
      b[i] -= m * b[p];
      if (last[p] > last[i]) last[i] = last[p];
    }
    row[rank] = p, column[rank++] = k;
  }
  work[4 * n] = rank;
  back_substitute(n, A, b, work, x);
  return rank;
}

void ab_ecp_substitute(int n, const double* A, double* b, const int* work, double* x) {
  const int *row = work + 2 * n, *column = work + 3 * n;
  int rank = work[4 * n];
  for (int r = 0; r < rank; r++) {
    double v = b[row[r]];
    for (int q = r + 1; q < rank && v != 0; q++) b[row[q]] -= A[row[q] * n + column[r]] * v;
  }
  back_substitute(n, A, b, work, x);
}
void ab_ecp_read_unknowns(const abEcpSystem* s, double* x) {
  for (int i = 0; i < s->nbody; i++) {
    const abEcpBody* b = s->body[i];
    twist_to_array((abTwist){b->v, b->w}, x + b->slot);
  }
  for (int i = 0; i < s->ncontact; i++) {
    const abEcpContact* c = s->contact[i];
    double* y = x + c->offset;
    y[0] = c->pn, y[1] = c->s[0], y[2] = c->s[1], y[3] = c->s[2];
    for (int j = 0; j < c->npar; j++) y[4 + j] = c->par[j];
  }
}

// Where a parameter only places the point of action on a flat feature, what is linear in the
// equations is the moment p_n times it: the step is one of that moment.
static bool places_only(const abEcpContact* c) {
  if (c->ref < 0) return false;
  abEcpKind kind = c->feature[1 - c->ref].kind;
  return kind == AB_ECP_FACE || kind == AB_ECP_SEGMENT;
}

void ab_ecp_write_unknowns(const abEcpSystem* s, const double* x, const double* dx, double alpha) {
  for (int i = 0; i < s->nbody; i++) {
    abEcpBody* b = s->body[i];
    const double *p = x + b->slot, *d = dx + b->slot;
    b->v = v3(p[0] - alpha * d[0], p[1] - alpha * d[1], p[2] - alpha * d[2]);
    b->w = v3(p[3] - alpha * d[3], p[4] - alpha * d[4], p[5] - alpha * d[5]);
  }
  for (int i = 0; i < s->ncontact; i++) {
    abEcpContact* c = s->contact[i];
    const double *p = x + c->offset, *d = dx + c->offset;
    c->pn = p[0] - alpha * d[0];
    for (int j = 0; j < 3; j++) c->s[j] = p[1 + j] - alpha * d[1 + j];
    bool moments = s->condensed && c->pn > 0 && p[0] > 0 && places_only(c);
    for (int j = 0; j < c->npar; j++) {
      c->par[j] = p[4 + j] - alpha * d[4 + j];
      if (moments) c->par[j] = p[4 + j] - alpha * d[4 + j] * p[0] / c->pn;
    }
  }
}

// A turn of more than about a radian a step is outside what a mode can mean; the iteration is kept
// within.
static double step_limit(const abEcpSystem* s, const double* dx) {
  double most = 0;
  for (int i = 0; i < s->nbody; i++) {
    const double* d = dx + s->body[i]->slot + 3;
    most = fmax(most, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
  }
  return most > 1 ? 1 / most : 1;
}

// How far a contact may go on along the step until it lets go or begins to slide.
static double reach(const abEcpContact* c, const double* d) {
  double far = d[0] > 0 ? c->pn / d[0] : INFINITY, a = 0, b = 0, e = 0;
  if (!c->stick || !(c->mu > 0)) return far;
  for (int j = 0; j < 3; j++) {  // |s - x ds|^2 = mu^2 (p_n - x dp_n)^2
    double ds = d[1 + j];
    a += ds * ds, b -= c->s[j] * ds, e += c->s[j] * c->s[j];
  }
  double mu2 = c->mu * c->mu;
  a -= mu2 * d[0] * d[0], b += mu2 * c->pn * d[0], e -= mu2 * c->pn * c->pn;
  double root = b * b - a * e;
  return a > 0 && root > 0 ? fmin(far, fmax(0, (sqrt(root) - b) / a)) : far;
}

// Constraints that cannot hold together make impulses grow by the same step again and again, until
// a contact gives way: this goes there at once. False if none would.
static bool go_on(const abEcpSystem* s) {
  double far = INFINITY;
  for (int i = 0; i < s->ncontact; i++) {
    const abEcpContact* c = s->contact[i];
    far = fmin(far, reach(c, s->step + c->offset));
  }
  if (!isfinite(far)) return false;
  far *= 1 + 1e-6;
  for (int i = 0; i < s->ncontact; i++) {
    abEcpContact* c = s->contact[i];
    const double* d = s->step + c->offset;
    double pn = c->pn;
    c->pn -= far * d[0];
    for (int j = 0; j < 3; j++) c->s[j] -= far * d[1 + j];
    for (int j = 0; j < c->npar && c->pn > 0.1 * pn && places_only(c); j++)
      c->par[j] -= far * d[4 + j] * pn / c->pn;
  }
  return true;
}

static bool find_step(abEcpSystem* s) {
  double size = (s->condensed ? 6 * s->nbody : s->n) / (double)AB_ECP_DENSE;
  s->work += 1 + size * size * size + 0.6 * s->ncontact;
  if (s->condensed) {
    ab_ecp_condensed_step(s);
    return true;
  }
  if (ab_ecp_eliminate(s->n, s->J, s->F, s->pivot, s->step) == s->n) return true;
  if (s->ncontact <= 1) return false;  // never in excess: the mode contradicts itself
  s->proximal = AB_ECP_PROXIMAL;
  ab_ecp_assemble(s);
  ab_ecp_eliminate(s->n, s->J, s->F, s->pivot, s->step);
  return true;
}

static abEcpNewton iterate(abEcpSystem* s, int max_iterations, bool damped) {
  s->proximal = s->condensed ? AB_ECP_PROXIMAL : 0;
  double residual = ab_ecp_assemble(s), first = residual;
  // Bodies are checked one by one, each by what acts on it.
  double enough = s->nbody > 1 ? AB_ECP_ENOUGH_EACH : AB_ECP_ENOUGH;
  int slow = 0, rays = 0;
  for (int it = 0;; it++) {
    // Quadratic convergence: one that has come this far has nothing left but rounding.
    if (residual <= AB_ECP_EXACT) return AB_ECP_SOLVED;
    // with modes that are right, or nearly so, large systems converge at once or not at all
    if (s->condensed && it >= 8 && rays == 0 && residual > 0.1 * first) return AB_ECP_STALLED;
    if (it >= max_iterations + 8 * rays || !isfinite(residual)) return AB_ECP_STALLED;
    s->iterations++;
    if (!find_step(s)) return AB_ECP_SINGULAR;
    ab_ecp_read_unknowns(s, s->trial);
    double alpha = step_limit(s, s->step), last = residual;
    for (int halving = 0;; halving++) {
      ab_ecp_write_unknowns(s, s->trial, s->step, alpha);
      residual = ab_ecp_assemble(s);
      if (residual <= last || !damped || halving == 5) break;
      alpha *= 0.5;
    }
    slow = s->condensed && last < AB_ECP_NEAR && residual > 0.8 * last ? slow + 1 : 0;
    // Constraints that contradict each other by rounding drive impulses: the less so the softer.
    if (slow > 0) s->proximal = fmin(1e3 * AB_ECP_PROXIMAL, 10 * s->proximal);
    if (slow > 3 && last > enough) {
      if (residual <= AB_ECP_ENOUGH || rays++ == AB_ECP_RAYS || !go_on(s))
        return AB_ECP_STALLED;  // the modes contradict each other
      residual = ab_ecp_assemble(s);
      slow = 0;
      continue;
    }
    // Below this and no longer falling: rounding is all that is left.
    if (last <= enough && residual > (s->condensed ? 0.9 : 0.5) * last) {
      if (residual > last) {
        ab_ecp_write_unknowns(s, s->trial, s->step, 0);
        ab_ecp_assemble(s);
      }
      return AB_ECP_SOLVED;
    }
  }
}

abEcpNewton ab_ecp_newton(abEcpSystem* s, int max_iterations, bool damped) {
  abEcpNewton result = iterate(s, max_iterations, damped);
  if (result == AB_ECP_SOLVED && s->condensed) ab_ecp_condensed_settle(s);
  return result;
}
