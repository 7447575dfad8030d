// Newton's method on bodies and contacts whose modes are given.
//
// Unknowns: the end twist (v, w) of each body; per contact p_n, the friction impulses over their
// ellipsoid axes s = (p_t/e_t, p_o/e_o, p_r/e_r), and the parameters of its mode. Equations:
//     m (v - v0) - f - sum P = 0                          P = p_n n + p_t t + p_o o
//     I+ w - I w0 - tau - sum (arm x P + p_r n) = 0       (variant D; A in ecp_body.c; arm in
//                                                          ecp_lever.c)
//     the mode's geometry at the end pose                 (ecp_mode.c)
//     s - Proj_{|s| <= mu p_n}(s - rho (e_t v_t, e_o v_o, e_r v_r)) = 0
// The last is Coulomb's law with the friction ellipsoid, Xie & Chakraborty's (9), without its
// multiplier sigma: where |s - rho w| <= mu p_n it says w = 0 (stick), elsewhere that s is mu p_n
// against the direction of w (slip), and there sigma = |w|. It is regular at rest, where (9) is
// not, and its scaling does not depend on e_r. rho is the reduced mass, which makes both branches
// comparable. An axis with e = 0 carries no friction: its equation is s = 0.
#include <float.h>
#include <string.h>

#include "contact/ecp.h"

// Each contact follows the later of its two bodies, so that in stacks and rows unknowns that meet
// in an equation are near each other (eliminate makes use of it).
void ab_ecp_layout(abEcpSystem* s) {
  int n = 0;
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

abVec3 ab_ecp_impulse(const abEcpContact* c, const abEcpKinematics* k) {
  abVec3 P = v3_scale(c->pn, k->n);
  return v3_axpy(c->e[0] * c->s[0], k->t, v3_axpy(c->e[1] * c->s[1], k->o, P));
}

// The columns of the kinematics that are unknowns, once turned into derivatives by (v, w).
typedef struct Columns {
  int n, from[AB_ECP_COLUMNS], to[AB_ECP_COLUMNS];
} Columns;

static void by_twist(double J[3][AB_ECP_COLUMNS], int rows, int column, const abMat3* T) {
  for (int i = 0; i < rows; i++) {
    double a = J[i][column], b = J[i][column + 1], c = J[i][column + 2];
    for (int j = 0; j < 3; j++) J[i][column + j] = a * T->m[0][j] + b * T->m[1][j] + c * T->m[2][j];
  }
}

static Columns columns_of(const abEcpContact* c, abEcpKinematics* k) {
  Columns q = {0};
  for (int i = 0; i < 2; i++) {
    const abEcpBody* b = c->body[i];
    if (!b->moving) continue;
    by_twist(k->Jg, c->neq, 6 * i + 3, &b->T);
    by_twist(k->Ja, 3, 6 * i + 3, &b->T);
    by_twist(k->psi, 3, 6 * i + 3, &b->T);
    for (int j = 0; j < 6; j++) q.from[q.n] = 6 * i + j, q.to[q.n++] = b->slot + j;
  }
  for (int j = 0; j < c->npar; j++) q.from[q.n] = AB_ECP_PAR + j, q.to[q.n++] = c->offset + 4 + j;
  return q;
}

static const abVec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static abVec3 column(double J[3][AB_ECP_COLUMNS], int j) { return v3(J[0][j], J[1][j], J[2][j]); }

static void subtract(double* J, int n, int row, int col, abVec3 a) {
  J[row * n + col] -= a.x, J[(row + 1) * n + col] -= a.y, J[(row + 2) * n + col] -= a.z;
}

static void body_rows(const abEcpSystem* s, const abEcpBody* b) {
  int n = s->n, r = b->slot;
  double *F = s->F + r, *J = s->J + r * n + r, im = 1 / b->m, ii = 1 / b->inertia_scale;
  abVec3 lin = v3_sub(v3_sub(b->v, b->v0), v3_scale(im, v3_add(b->f, b->f_ext)));
  abVec3 L0 = m3_apply(&b->I, b->w0), ang;
  abMat3 D;
  if (s->exact_momentum) {
    ang = v3_sub(b->L, L0);
    abMat3 W = m3_skew(b->w), IW = m3_mul(&b->I_end, &W), S = m3_skew(b->L);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) IW.m[i][j] -= S.m[i][j];
    D = m3_mul(&IW, &b->T);
    D = m3_add(&b->I_end, &D);
  } else {
    D = b->I;
    ang = v3_add(m3_apply(&D, v3_sub(b->w, b->w0)), v3_cross(b->w0, L0));
  }
  ang = v3_scale(ii, v3_sub(ang, v3_add(b->tau, b->tau_ext)));
  F[0] = lin.x, F[1] = lin.y, F[2] = lin.z, F[3] = ang.x, F[4] = ang.y, F[5] = ang.z;
  for (int i = 0; i < 3; i++) {
    J[i * n + i] = 1;
    for (int j = 0; j < 3; j++) J[(3 + i) * n + 3 + j] = ii * D.m[i][j];
  }
}

// The contact's impulse on body `side`, subtracted from its momentum balance.
static void wrench_rows(const abEcpSystem* s, const abEcpContact* c, abEcpKinematics* k,
                        const abEcpLevers* lever, const Columns* q, int side) {
  const abEcpBody* b = c->body[side];
  int n = s->n, r = b->slot, off = c->offset;
  double sign = side == 0 ? 1 : -1, im = sign / b->m, ii = sign / b->inertia_scale;
  abVec3 P = ab_ecp_impulse(c, k), arm = lever->arm[side];
  abVec3 pr = v3_scale(c->e[2] * c->s[2], k->n);
  abVec3 torque = v3_add(v3_cross(arm, P), pr);
  double* F = s->F + r;
  F[0] -= im * P.x, F[1] -= im * P.y, F[2] -= im * P.z;
  F[3] -= ii * torque.x, F[4] -= ii * torque.y, F[5] -= ii * torque.z;
  for (int i = 0; i < q->n; i++) {
    int j = q->from[i];
    abVec3 psi = column(k->psi, j), dP = v3_cross(psi, P);
    abVec3 dt =
        v3_add(v3_cross(lever->Jarm[side][j], P), v3_add(v3_cross(arm, dP), v3_cross(psi, pr)));
    subtract(s->J, n, r, q->to[i], v3_scale(im, dP));
    subtract(s->J, n, r + 3, q->to[i], v3_scale(ii, dt));
  }
  abVec3 axis[3] = {k->n, v3_scale(c->e[0], k->t), v3_scale(c->e[1], k->o)};
  for (int i = 0; i < 3; i++) {
    subtract(s->J, n, r, off + i, v3_scale(im, axis[i]));
    subtract(s->J, n, r + 3, off + i, v3_scale(ii, v3_cross(arm, axis[i])));
  }
  subtract(s->J, n, r + 3, off + 3, v3_scale(ii * c->e[2], k->n));
}

abVec3 ab_ecp_slip(const abEcpContact* c, const abEcpLevers* lever) {
  const abEcpBody *b0 = c->body[0], *b1 = c->body[1];
  return v3_sub(v3_add(b0->v, v3_cross(b0->w, lever->slide[0])),
                v3_add(b1->v, v3_cross(b1->w, lever->slide[1])));
}

// Sliding velocity (e_t v_t, e_o v_o, e_r v_r) and its derivative.
static void sliding(const abEcpContact* c, abEcpKinematics* k, const abEcpLevers* lever,
                    const Columns* q, double w[3], double dw[3][AB_ECP_COLUMNS]) {
  const abEcpBody *b0 = c->body[0], *b1 = c->body[1];
  abVec3 spin = v3_sub(b0->w, b1->w), u = ab_ecp_slip(c, lever);
  w[0] = c->e[0] * v3_dot(k->t, u);
  w[1] = c->e[1] * v3_dot(k->o, u);
  w[2] = c->e[2] * v3_dot(k->n, spin);
  for (int i = 0; i < q->n; i++) {
    int j = q->from[i], side = j / 6;
    abVec3 dspin = v3_zero(), psi = column(k->psi, j);
    abVec3 du = v3_sub(v3_cross(b0->w, lever->Jslide[0][j]), v3_cross(b1->w, lever->Jslide[1][j]));
    if (side < 2) {
      abVec3 e = unit[j % 3], d = e;
      if (j % 6 >= 3) {
        d = v3_cross(e, lever->slide[side]);
        dspin = side == 0 ? e : v3_neg(e);
      }
      du = v3_axpy(side == 0 ? 1 : -1, d, du);
    }
    dw[0][i] = c->e[0] * (v3_dot(k->t, du) + v3_dot(v3_cross(psi, k->t), u));
    dw[1][i] = c->e[1] * (v3_dot(k->o, du) + v3_dot(v3_cross(psi, k->o), u));
    dw[2][i] = c->e[2] * (v3_dot(k->n, dspin) + v3_dot(v3_cross(psi, k->n), spin));
  }
}

double ab_ecp_reduced_mass(const abEcpContact* c) {
  double inverse = 0;
  for (int i = 0; i < 2; i++)
    if (c->body[i]->moving) inverse += 1 / c->body[i]->m;
  return 1 / inverse;
}

static void friction_rows(const abEcpSystem* s, abEcpContact* c, abEcpKinematics* k,
                          const abEcpLevers* lever, const Columns* q) {
  int n = s->n, row = c->offset + c->neq, off = c->offset;
  double w[3], dw[3][AB_ECP_COLUMNS], y[3], rho = ab_ecp_reduced_mass(c), norm = 0;
  sliding(c, k, lever, q, w, dw);
  for (int i = 0; i < 3; i++) {
    y[i] = c->e[i] > 0 && c->mu > 0 ? c->s[i] - rho * w[i] : 0;
    norm += y[i] * y[i];
  }
  norm = sqrt(norm);
  double limit = c->pn > 0 ? c->mu * c->pn : 0;
  c->stick = c->branch == 0 || !(norm > 0) ? norm <= limit : c->branch == 1;
  double ratio = c->stick ? 1 : limit / norm;
  for (int i = 0; i < 3; i++) {
    double* J = s->J + (row + i) * n;
    if (!(c->e[i] > 0 && c->mu > 0)) {
      s->F[row + i] = c->s[i];
      J[off + 1 + i] = 1;
      continue;
    }
    if (c->stick) {
      s->F[row + i] = rho * w[i];
      for (int j = 0; j < q->n; j++) J[q->to[j]] = rho * dw[i][j];
      continue;
    }
    s->F[row + i] = c->s[i] - ratio * y[i];
    J[off + 1 + i] += 1;
    if (c->pn > 0) J[off] -= c->mu * y[i] / norm;
    for (int a = 0; a < 3; a++) {
      double G = ratio * ((a == i) - y[i] * y[a] / (norm * norm));
      if (!(c->e[a] > 0)) continue;
      J[off + 1 + a] -= G;
      for (int j = 0; j < q->n; j++) J[q->to[j]] += G * rho * dw[a][j];
    }
  }
}

// Proximal terms: a little compliance between each constraint and the impulse that answers it,
// about the present iterate. F is unchanged, and so is what solves it; but of the many ways to
// share a load between contacts in excess, a step takes one near the present one, in which none
// pulls.
static void hold_back(const abEcpSystem* s, const abEcpContact* c) {
  int n = s->n, off = c->offset, row = off + c->neq;
  double soft = s->proximal / ab_ecp_reduced_mass(c);
  s->J[off * n + off] += soft;
  for (int e = 1; e < c->neq; e++) s->J[(off + e) * n + off + 3 + e] += soft * fabs(c->pn);
  for (int j = 0; j < 3 && c->stick; j++) s->J[(row + j) * n + off + 1 + j] += s->proximal;
}

// Fills F and J; returns the scaled residual.
static double assemble(abEcpSystem* s) {
  int n = s->n;
  memset(s->J, 0, sizeof(double) * (size_t)(n * n));
  for (int i = 0; i < s->nbody; i++) {
    ab_ecp_body_end(s->body[i], s->exact_momentum);
    body_rows(s, s->body[i]);
  }
  double speed = 0;  // of a body, by all that acts on it: what the rows of momentum compare with
  for (int i = 0; i < s->nbody; i++) {
    const abEcpBody* b = s->body[i];
    double load = fmax(v3_norm(b->f), v3_norm(b->f_ext)) / b->m;
    speed = fmax(speed, fmax(load, 1e-6 * v3_norm(b->v)));
  }
  for (int i = 0; i < s->ncontact; i++) {
    abEcpContact* c = s->contact[i];
    abEcpKinematics k;
    ab_ecp_kinematics(c, &k);
    Columns q = columns_of(c, &k);
    abEcpLevers lever;
    ab_ecp_levers(c, &k, q.n, q.from, &lever);
    for (int side = 0; side < 2; side++)
      if (c->body[side]->moving) wrench_rows(s, c, &k, &lever, &q, side);
    for (int e = 0; e < c->neq; e++) {
      s->F[c->offset + e] = k.g[e];
      for (int j = 0; j < q.n; j++) s->J[(c->offset + e) * n + q.to[j]] = k.Jg[e][q.from[j]];
    }
    friction_rows(s, c, &k, &lever, &q);
    if (s->proximal > 0) hold_back(s, c);
    speed = fmax(speed, fabs(c->pn) / ab_ecp_reduced_mass(c));
  }
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
  return isfinite(worst) ? worst : INFINITY;
}

// Gaussian elimination with row pivoting: A x = b, both destroyed. Where several contacts share a
// load that statics alone does not divide (a table on four legs), columns depend on each other:
// such an unknown keeps its present value, which is what the last step or the sweeps made of it.
// Returns the rank. Rows are not moved: work holds for each row its first column that may not be
// zero (n once it is used up) and its last one, then the order of pivots: 4 n integers.
static int eliminate(int n, double* A, double* b, int* work, double* x) {
  int *first = work, *last = work + n, *row = work + 2 * n, *column = work + 3 * n, rank = 0;
  for (int i = 0; i < n; i++) {
    int f = 0, l = n - 1;
    while (l > 0 && A[i * n + l] == 0) l--;
    while (f < l && A[i * n + f] == 0) f++;
    first[i] = f, last[i] = l;
  }
  for (int k = 0; k < n; k++) {
    int p = -1;
    double most = 1e-12;  // rows are of order one, and so are pivots where nothing is degenerate
    for (int i = 0; i < n; i++)
      if (first[i] <= k && fabs(A[i * n + k]) > most) most = fabs(A[i * n + k]), p = i;
    if (p < 0) continue;
    first[p] = n;
    double inverse = 1 / A[p * n + k];
    for (int i = 0; i < n; i++) {
      if (first[i] > k) continue;
      double m = A[i * n + k] * inverse;
      if (m == 0) continue;
      double *u = A + i * n, *v = A + p * n;
      for (int j = k + 1; j <= last[p]; j++) u[j] -= m * v[j];
      b[i] -= m * b[p];
      if (last[p] > last[i]) last[i] = last[p];
    }
    row[rank] = p, column[rank++] = k;
  }
  memset(x, 0, sizeof(double) * (size_t)n);
  for (int r = rank - 1; r >= 0; r--) {
    int p = row[r], k = column[r];
    double sum = b[p];
    for (int j = k + 1; j <= last[p]; j++) sum -= A[p * n + j] * x[j];
    x[k] = sum / A[p * n + k];
  }
  return rank;
}

static void read_unknowns(const abEcpSystem* s, double* x) {
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

static void write_unknowns(const abEcpSystem* s, const double* x, const double* dx, double alpha) {
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
    for (int j = 0; j < c->npar; j++) c->par[j] = p[4 + j] - alpha * d[4 + j];
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

abEcpNewton ab_ecp_newton(abEcpSystem* s, int max_iterations, bool damped) {
  s->proximal = 0;
  double residual = assemble(s);
  for (int it = 0;; it++) {
    // Quadratic convergence: one that has come this far has nothing left but rounding.
    if (residual <= 1e-13) return AB_ECP_SOLVED;
    if (it >= max_iterations || !isfinite(residual)) return AB_ECP_STALLED;
    s->iterations++;
    double size = s->n / 60.0;  // from where elimination costs more than the rest
    s->work += 1 + size * size * size;
    int rank = eliminate(s->n, s->J, s->F, s->pivot, s->step);
    if (rank < s->n) {
      // one contact alone is never in excess: its mode contradicts itself
      if (s->ncontact <= 1) return AB_ECP_SINGULAR;
      s->proximal = 1e-6;  // of the bodies' own compliance 1 / m
      assemble(s);
      eliminate(s->n, s->J, s->F, s->pivot, s->step);
    }
    read_unknowns(s, s->trial);
    double alpha = step_limit(s, s->step), last = residual;
    for (int halving = 0;; halving++) {
      write_unknowns(s, s->trial, s->step, alpha);
      residual = assemble(s);
      if (residual <= last || !damped || halving == 5) break;
      alpha *= 0.5;
    }
    // Below 1e-9 and no longer falling: rounding is all that is left.
    if (last <= 1e-9 && residual > 0.1 * last) {
      if (residual > last) {
        write_unknowns(s, s->trial, s->step, 0);
        assemble(s);
      }
      return AB_ECP_SOLVED;
    }
  }
}
