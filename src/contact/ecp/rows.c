// The equations of bodies and contacts whose modes are given, and their derivatives.
//
// Unknowns: the end twist (v, w) of each body; per contact p_n, the friction impulses over their
// ellipsoid axes s = (p_t/e_t, p_o/e_o, p_r/e_r), and the parameters of its mode. Equations:
//     m (v - v0) - f - sum P = 0                          P = p_n n + p_t t + p_o o
//     I+ w - I w0 - tau - sum (arm x P + p_r n) = 0       (variant D; A in body.c; arm in
//                                                          lever.c)
//     the mode's geometry at the end pose                 (mode.c)
//     s - Proj_{|s| <= mu p_n}(s - rho (e_t v_t, e_o v_o, e_r v_r)) = 0
// The last is Coulomb's law with the friction ellipsoid, Xie & Chakraborty's (9), without its
// multiplier sigma: where |s - rho w| <= mu p_n it says w = 0 (stick), elsewhere that s is mu p_n
// against the direction of w (slip), and there sigma = |w|. It is regular at rest, where (9) is
// not, and its scaling does not depend on e_r. rho is the reduced mass, which makes both branches
// comparable. An axis with e = 0 carries no friction: its equation is s = 0.
// Tests: test_ecp_drop, test_ecp_roll.
#include "contact/ecp/ecp.h"

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

static Columns columns_of(const abEcpContact* c, abEcpKinematics* k, const abEcpRows* at) {
  Columns q = {0};
  for (int i = 0; i < 2; i++) {
    const abEcpBody* b = c->body[i];
    if (!b->moving) continue;
    by_twist(k->Jg, c->neq, 6 * i + 3, &b->T);
    by_twist(k->Ja, 3, 6 * i + 3, &b->T);
    by_twist(k->psi, 3, 6 * i + 3, &b->T);
    for (int j = 0; j < 6; j++) q.from[q.n] = 6 * i + j, q.to[q.n++] = at->body[i] + j;
  }
  for (int j = 0; j < c->npar; j++) q.from[q.n] = AB_ECP_PAR + j, q.to[q.n++] = at->own + 4 + j;
  return q;
}

static const abVec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static abVec3 column(double J[3][AB_ECP_COLUMNS], int j) { return v3(J[0][j], J[1][j], J[2][j]); }

static void subtract(double* J, int n, int row, int col, abVec3 a) {
  J[row * n + col] -= a.x, J[(row + 1) * n + col] -= a.y, J[(row + 2) * n + col] -= a.z;
}

void ab_ecp_body_rows(const abEcpSystem* s, const abEcpBody* b, double* F, double* J, int n) {
  double im = 1 / b->m, ii = 1 / b->inertia_scale;
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
static void wrench_rows(const abEcpRows* at, const abEcpContact* c, abEcpKinematics* k,
                        const abEcpLevers* lever, const Columns* q, int side) {
  const abEcpBody* b = c->body[side];
  int n = at->n, r = at->body[side], off = at->own;
  double sign = side == 0 ? 1 : -1, im = sign / b->m, ii = sign / b->inertia_scale;
  abVec3 P = ab_ecp_impulse(c, k), arm = lever->arm[side];
  abVec3 pr = v3_scale(c->e[2] * c->s[2], k->n);
  abVec3 torque = v3_add(v3_cross(arm, P), pr);
  double* F = at->F + r;
  F[0] -= im * P.x, F[1] -= im * P.y, F[2] -= im * P.z;
  F[3] -= ii * torque.x, F[4] -= ii * torque.y, F[5] -= ii * torque.z;
  for (int i = 0; i < q->n; i++) {
    int j = q->from[i];
    abVec3 psi = column(k->psi, j), dP = v3_cross(psi, P);
    abVec3 dt =
        v3_add(v3_cross(lever->Jarm[side][j], P), v3_add(v3_cross(arm, dP), v3_cross(psi, pr)));
    subtract(at->J, n, r, q->to[i], v3_scale(im, dP));
    subtract(at->J, n, r + 3, q->to[i], v3_scale(ii, dt));
  }
  abVec3 axis[3] = {k->n, v3_scale(c->e[0], k->t), v3_scale(c->e[1], k->o)};
  for (int i = 0; i < 3; i++) {
    subtract(at->J, n, r, off + i, v3_scale(im, axis[i]));
    subtract(at->J, n, r + 3, off + i, v3_scale(ii, v3_cross(arm, axis[i])));
  }
  subtract(at->J, n, r + 3, off + 3, v3_scale(ii * c->e[2], k->n));
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

static void friction_rows(const abEcpRows* at, abEcpContact* c, abEcpKinematics* k,
                          const abEcpLevers* lever, const Columns* q) {
  int n = at->n, off = at->own, row = off + c->neq;
  double w[3], dw[3][AB_ECP_COLUMNS], y[3], rho = ab_ecp_reduced_mass(c), norm = 0;
  sliding(c, k, lever, q, w, dw);
  for (int i = 0; i < 3; i++) {
    y[i] = c->e[i] > 0 && c->mu > 0 ? c->s[i] - rho * w[i] : 0;
    norm += y[i] * y[i];
  }
  norm = sqrt(norm);
  // held at slipping the law goes on smoothly to where p_n pulls
  bool smooth = c->pn > 0 || c->branch == AB_ECP_SLIPS;
  double limit = smooth ? c->mu * c->pn : 0;
  c->stick = c->branch == 0 || !(norm > 0) ? norm <= limit : c->branch == AB_ECP_STICKS;
  double ratio = c->stick ? 1 : limit / norm;
  for (int i = 0; i < 3; i++) {
    double* J = at->J + (row + i) * n;
    if (!(c->e[i] > 0 && c->mu > 0)) {
      at->F[row + i] = c->s[i];
      J[off + 1 + i] = 1;
      continue;
    }
    if (c->stick) {
      at->F[row + i] = rho * w[i];
      for (int j = 0; j < q->n; j++) J[q->to[j]] = rho * dw[i][j];
      continue;
    }
    at->F[row + i] = c->s[i] - ratio * y[i];
    J[off + 1 + i] += 1;
    if (smooth) J[off] -= c->mu * y[i] / norm;
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
void ab_ecp_hold_back(const abEcpSystem* s, const abEcpContact* c, const abEcpRows* at) {
  int n = at->n, off = at->own, row = off + c->neq;
  double soft = s->proximal / ab_ecp_reduced_mass(c);
  at->J[off * n + off] += soft;
  for (int e = 1; e < c->neq; e++) at->J[(off + e) * n + off + 3 + e] += soft * fabs(c->pn);
  for (int j = 0; j < 3 && c->stick; j++) at->J[(row + j) * n + off + 1 + j] += s->proximal;
}

void ab_ecp_contact_rows(const abEcpSystem* s, abEcpContact* c, const abEcpRows* at) {
  abEcpKinematics k;
  ab_ecp_kinematics(c, &k);
  Columns q = columns_of(c, &k, at);
  abEcpLevers lever;
  ab_ecp_levers(c, &k, q.n, q.from, &lever);
  for (int side = 0; side < 2; side++)
    if (c->body[side]->moving) wrench_rows(at, c, &k, &lever, &q, side);
  for (int e = 0; e < c->neq; e++) {
    at->F[at->own + e] = k.g[e];
    for (int j = 0; j < q.n; j++) at->J[(at->own + e) * at->n + q.to[j]] = k.Jg[e][q.from[j]];
  }
  friction_rows(at, c, &k, &lever, &q);
  if (s->proximal > 0 && !s->condensed) ab_ecp_hold_back(s, c, at);
}
