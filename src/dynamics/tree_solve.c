// The articulated-body algorithm (Featherstone 1983) on the links of abTrees: factorise once,
// solve for many right-hand sides, each in O(links).
//
// Let I be a link's articulated inertia: the wrench its link needs for an acceleration when all
// joints behind it are free to give way. With U = I S and D = S^T U + E, where E holds armature,
// the implicit terms of the joint and the weights of its active bounds,
//
//   backwards:  I_p += X^T (I - U D^-1 U^T) X
//               f  = p + I c,   u = P - S^T f,   p_p += X^T (f + U D^-1 u)
//   forwards:   a = X A_p,   dv = D^-1 (u - U^T a),   A = a + c + S dv.
//
// Everything is in units of impulse and velocity: p is h times the inertial wrench less the load, c
// h times the velocity product, P the joint impulse. The sum over the tree is (M + E) dv = P - h
// bias, bias being the inertial forces less the loads. X^T moves a wrench from the link's point to
// its parent's.
//
// The response of a link to an impulse f on itself, omega: the parent feels X^T N^T f with
// N = 1 - S D^-1 U^T and passes its own response down again, so that
//
//   omega = N X omega_p X^T N^T + S D^-1 S^T,
//
// one pass from the root for all links; see response.c for its use.
#include <string.h>

#include "dynamics/trees.h"

void ab_inertia6_add(abInertia6* a, const abInertia6* b) {
  a->A = m3_add(&a->A, &b->A);
  a->B = m3_add(&a->B, &b->B);
  a->C = m3_add(&a->C, &b->C);
}

// A [r]x
static abMat3 times_skew(const abMat3* A, abVec3 r) {
  abMat3 c;
  for (int i = 0; i < 3; i++) {
    abVec3 row = v3_cross(m3_row(A, i), r);
    c.m[i][0] = row.x, c.m[i][1] = row.y, c.m[i][2] = row.z;
  }
  return c;
}

// X^T [A B; B^T C] X with X = [1 -[r]x; 0 1]: B' = B - A [r]x, C' = C + [r]x B' - B^T [r]x.
abInertia6 ab_inertia6_shift(const abInertia6* I, abVec3 r) {
  abInertia6 s = *I;
  abMat3 Ar = times_skew(&I->A, r), Bt = m3_transpose(&I->B), Btr = times_skew(&Bt, r);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) s.B.m[i][j] -= Ar.m[i][j];
  // [r]x B' = -(B'^T [r]x)^T
  abMat3 Bn = m3_transpose(&s.B), Bnr = times_skew(&Bn, r);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) s.C.m[i][j] -= Bnr.m[j][i] + Btr.m[i][j];
  return s;
}

static double dot6(const double a[6], const double b[6]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

static void inertia_times(const abInertia6* I, const double s[6], double u[6]) {
  wrench_to_array(inertia6_apply(I, twist_from_array(s)), u);
}

// Inverse of a symmetric positive definite n x n matrix, n <= 6. A matrix that is not gives values
// that are not numbers, which the step reports.
static void small_inverse(int n, const double* D, double* inverse) {
  if (n == 1) {
    inverse[0] = 1 / D[0];
    return;
  }
  double L[36], column[6];
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double s = D[i * n + j];
      for (int k = 0; k < j; k++) s -= L[i * n + k] * L[j * n + k];
      L[i * n + j] = i == j ? sqrt(s) : s / L[j * n + j];
    }
  for (int c = 0; c < n; c++) {
    for (int i = 0; i < n; i++) column[i] = i == c ? 1 : 0;
    dense_cholesky_solve(n, L, column);
    for (int i = 0; i < n; i++) inverse[i * n + c] = column[i];
  }
}

// What a joint's bounds add to its inertia.
static void add_bounds(abTrees* t, int joint, double* D) {
  int n = t->link[joint].ndof;
  double bare[36];
  memcpy(bare, D, sizeof(double) * (size_t)(n * n));
  for (int b = t->link[joint].bound; b >= 0; b = t->bound[b].next) {
    abBound* bound = &t->bound[b];
    if (bound->stiff) {
      double m = 0;
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) m += bound->s[i] * bare[i * n + j] * bound->s[j];
      bound->weight = AB_BOUND_STIFFNESS * m;
    }
    if (bound->state != AB_BOUND_INSIDE) continue;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) D[i * n + j] += bound->weight * bound->s[i] * bound->s[j];
  }
}

static void factor_link(abTrees* t, int joint) {
  abLink* link = &t->link[joint];
  int n = link->ndof;
  double(*S)[6] = t->S + link->dof, (*U)[6] = t->U + link->dof, D[36];
  for (int k = 0; k < n; k++) inertia_times(&link->articulated, S[k], U[k]);
  for (int k = 0; k < n; k++)
    for (int l = 0; l < n; l++) D[k * n + l] = dot6(S[k], U[l]) + t->extra[link->block + k * n + l];
  add_bounds(t, joint, D);
  double* Dinv = t->Dinv + link->block;
  small_inverse(n, D, Dinv);
  if (link->parent < 0) return;
  abInertia6 rest = link->articulated;
  for (int k = 0; k < n; k++) {
    double g[6] = {0};
    for (int l = 0; l < n; l++)
      for (int i = 0; i < 6; i++) g[i] += Dinv[k * n + l] * U[l][i];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        rest.A.m[i][j] -= U[k][i] * g[j];
        rest.B.m[i][j] -= U[k][i] * g[3 + j];
        rest.C.m[i][j] -= U[k][3 + i] * g[3 + j];
      }
  }
  rest = ab_inertia6_shift(&rest, link->r);
  ab_inertia6_add(&t->link[link->parent].articulated, &rest);
}

void ab_tree_factor(abTrees* t, int mover) {
  abTreeRange range = tree_range(t->model, &t->model->mover[mover]);
  for (int j = range.joint0; j < range.joint1; j++) t->link[j].articulated = t->link[j].rigid;
  for (int j = range.joint1 - 1; j >= range.joint0; j--) factor_link(t, j);
}

// y = D^-1 x of a link
static void apply_Dinv(const abTrees* t, const abLink* link, const double* x, double* y) {
  const double* Dinv = t->Dinv + link->block;
  for (int k = 0; k < link->ndof; k++) {
    y[k] = 0;
    for (int l = 0; l < link->ndof; l++) y[k] += Dinv[k * link->ndof + l] * x[l];
  }
}

// f + U D^-1 u: what the parent feels of a link, still at the link's point
static abWrench pass_wrench(const abTrees* t, const abLink* link, abWrench f, const double* u) {
  double x[6], y[6];
  wrench_to_array(f, x);
  apply_Dinv(t, link, u, y);
  for (int k = 0; k < link->ndof; k++)
    for (int i = 0; i < 6; i++) x[i] += t->U[link->dof + k][i] * y[k];
  return wrench_from_array(x);
}

// Forward half of a solve at one link: dv from u, and the link's twist change (without c).
static abTwist give_way(const abTrees* t, const abLink* link, const double* u, double* dv) {
  abTwist a = link->parent < 0 ? twist_zero() : twist_move(t->pull[link->parent], link->r);
  double x[6], y[6], w[6] = {0};
  twist_to_array(a, x);
  for (int k = 0; k < link->ndof; k++) w[k] = u[k] - dot6(t->U[link->dof + k], x);
  apply_Dinv(t, link, w, y);
  for (int k = 0; k < link->ndof; k++) {
    dv[k] = y[k];
    for (int i = 0; i < 6; i++) x[i] += t->S[link->dof + k][i] * y[k];
  }
  return twist_from_array(x);
}

void ab_tree_solve(const abTrees* t, int mover, abLoad load, double h, const double* impulse,
                   double* dv) {
  abTreeRange range = tree_range(t->model, &t->model->mover[mover]);
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    abWrench need = load == AB_LOAD_NONE ? wrench_zero() : link->inertial;
    if (load == AB_LOAD_ALL) need = wrench_sub(need, link->load);
    t->push[j] = wrench_scale(h, need);
  }
  for (int j = range.joint1 - 1; j >= range.joint0; j--) {
    const abLink* link = &t->link[j];
    abWrench f = t->push[j];
    if (load != AB_LOAD_NONE)
      f = wrench_add(f, inertia6_apply(&link->articulated, twist_scale(h, link->product)));
    double x[6], *u = t->u + link->dof;
    wrench_to_array(f, x);
    for (int k = 0; k < link->ndof; k++)
      u[k] = (impulse ? impulse[link->dof + k] : 0) - dot6(t->S[link->dof + k], x);
    if (link->parent < 0) continue;
    f = wrench_move(pass_wrench(t, link, f, u), v3_neg(link->r));
    t->push[link->parent] = wrench_add(t->push[link->parent], f);
  }
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    abTwist a = give_way(t, link, t->u + link->dof, dv + link->dof);
    t->pull[j] = load == AB_LOAD_NONE ? a : twist_add(a, twist_scale(h, link->product));
  }
}

void ab_tree_push(const abTrees* t, int mover, int joint, abWrench impulse, double* v) {
  const abMover* m = &t->model->mover[mover];
  abTreeRange range = tree_range(t->model, m);
  memset(t->u + m->dof0, 0, sizeof(double) * (size_t)m->ndof);
  abWrench f = wrench_neg(impulse);
  for (int j = joint; j >= 0; j = t->link[j].parent) {
    const abLink* link = &t->link[j];
    double x[6], *u = t->u + link->dof;
    wrench_to_array(f, x);
    for (int k = 0; k < link->ndof; k++) u[k] = -dot6(t->S[link->dof + k], x);
    f = wrench_move(pass_wrench(t, link, f, u), v3_neg(link->r));
  }
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    double dv[6];
    t->pull[j] = give_way(t, link, t->u + link->dof, dv);
    for (int k = 0; k < link->ndof; k++) v[link->dof + k] += dv[k];
  }
}

// X Y X^T for a symmetric 6x6 Y: the response of the parent seen at the link's point. X adds ang x
// r to the linear part of every column, then of every row.
static abMat6 shift_response(const abMat6* Y, abVec3 r) {
  abMat6 Z = *Y;
  for (int j = 0; j < 6; j++) {
    abVec3 c = v3_cross(v3(Y->m[3][j], Y->m[4][j], Y->m[5][j]), r);
    Z.m[0][j] += c.x, Z.m[1][j] += c.y, Z.m[2][j] += c.z;
  }
  for (int i = 0; i < 6; i++) {
    abVec3 c = v3_cross(v3(Z.m[i][3], Z.m[i][4], Z.m[i][5]), r);
    Z.m[i][0] += c.x, Z.m[i][1] += c.y, Z.m[i][2] += c.z;
  }
  return Z;
}

// omega = Z - S E^T - E S^T + S K S^T with Z = X omega_p X^T, E = Z U D^-1,
// K = D^-1 + D^-1 U^T E.
static void link_omega(abTrees* t, int joint) {
  const abLink* link = &t->link[joint];
  int n = link->ndof;
  const double(*S)[6] = (const double(*)[6])t->S + link->dof;
  const double(*U)[6] = (const double(*)[6])t->U + link->dof;
  const double* Dinv = t->Dinv + link->block;
  double E[6][6] = {{0}}, K[36];  // E by columns
  abMat6 Z = m6_zero();
  if (link->parent >= 0) Z = shift_response(&t->omega[link->parent], link->r);
  for (int l = 0; l < n && link->parent >= 0; l++) {
    double W[6];
    m6_apply(&Z, U[l], W);
    for (int k = 0; k < n; k++)
      for (int i = 0; i < 6; i++) E[k][i] += W[i] * Dinv[l * n + k];
  }
  for (int k = 0; k < n; k++)
    for (int l = 0; l < n; l++) {
      K[k * n + l] = Dinv[k * n + l];
      for (int p = 0; p < n; p++) K[k * n + l] += Dinv[k * n + p] * dot6(U[p], E[l]);
    }
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 6; i++) {
      double SK = 0, s = S[k][i];
      for (int l = 0; l < n; l++) SK += S[l][i] * K[l * n + k];
      for (int j = 0; j < 6; j++) Z.m[i][j] += SK * S[k][j] - s * E[k][j] - E[k][i] * S[k][j];
    }
  t->omega[joint] = Z;
}

void ab_tree_omega(abTrees* t, int mover) {
  abTreeRange range = tree_range(t->model, &t->model->mover[mover]);
  for (int j = range.joint0; j < range.joint1; j++) link_omega(t, j);
}

void ab_tree_pass(const abTrees* t, int joint, abMat6* B) {
  const abLink* link = &t->link[joint];
  int n = link->ndof;
  for (int i = 0; i < 6; i++) {
    double *row = B->m[i], bs[6], y[6];
    for (int k = 0; k < n; k++) bs[k] = dot6(row, t->S[link->dof + k]);
    apply_Dinv(t, link, bs, y);
    for (int k = 0; k < n; k++)
      for (int j = 0; j < 6; j++) row[j] -= y[k] * t->U[link->dof + k][j];
    // times X: the linear part f of the row gives (r x f) to the angular one
    abVec3 c = v3_cross(link->r, v3(row[0], row[1], row[2]));
    row[3] += c.x, row[4] += c.y, row[5] += c.z;
  }
}
