// The articulated-body algorithm (Featherstone 1983) on the links of abTrees: factorise once,
// solve for many right-hand sides, each in O(links).
//
// Let I be a link's articulated inertia: the wrench its link needs for an acceleration when all
// joints behind it are free to give way. With U = I S and D = S^T U + E, where E holds armature,
// the implicit terms of the joint and the weights of its active bounds,
//
//   backwards:  I_p += I - U D^-1 U^T
//               f  = p + I c,   u = P - S^T f,   p_p += f + U D^-1 u
//   forwards:   a = A_p,   dv = D^-1 (u - U^T a),   A = a + c + S dv.
//
// Everything is in units of impulse and velocity: p is h times the inertial wrench less the load, c
// h times the velocity product, P the joint impulse. The sum over the tree is (M + E) dv = P - h
// bias, bias being the inertial forces less the loads.
//
// The response of a link to an impulse f on itself, omega: the parent feels N^T f with N = 1 - S
// D^-1 U^T and passes its own response down again, so that
//
//   omega = N omega_p N^T + S D^-1 S^T,
//
// one pass from the root for all links; see response.c for its use. Nearly all joints have one
// velocity; for them the loops over a joint's own are written out.
#include <string.h>

#include "base/simd.h"
#include "dynamics/trees.h"

// y = A x of a symmetric A
static inline void times6(const abMat6* A, const double x[6], double y[6]) {
  for (int i = 0; i < 6; i++) y[i] = A->m[0][i] * x[0];
  for (int j = 1; j < 6; j++)
    for (int i = 0; i < 6; i++) y[i] += A->m[j][i] * x[j];
}

static inline void rigid_expand(const abRigid* R, abMat6* out) {
  abVec3 c = R->c;
  const double* I = R->I;
  *out = (abMat6){{{R->m, 0, 0, 0, c.z, -c.y},
                   {0, R->m, 0, -c.z, 0, c.x},
                   {0, 0, R->m, c.y, -c.x, 0},
                   {0, -c.z, c.y, I[0], I[3], I[4]},
                   {c.z, 0, -c.x, I[3], I[1], I[5]},
                   {-c.y, c.x, 0, I[4], I[5], I[2]}}};
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

// The general case of factor_link.
static void factor_many(abTrees* t, int joint) {
  abLink* link = &t->link[joint];
  int n = link->ndof;
  double(*S)[6] = t->S + link->dof, (*U)[6] = t->U + link->dof, D[36];
  for (int k = 0; k < n; k++) times6(&link->articulated, S[k], U[k]);
  for (int k = 0; k < n; k++)
    for (int l = 0; l < n; l++) D[k * n + l] = dot6(S[k], U[l]) + t->extra[link->block + k * n + l];
  add_bounds(t, joint, D);
  double* Dinv = t->Dinv + link->block;
  small_inverse(n, D, Dinv);
  if (link->parent < 0) return;
  abMat6* up = &t->link[link->parent].articulated;
  m6_add_to(up, &link->articulated);
  for (int k = 0; k < n; k++) {
    double g[6] = {0};
    for (int l = 0; l < n; l++)
      for (int i = 0; i < 6; i++) g[i] += Dinv[k * n + l] * U[l][i];
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) up->m[i][j] -= U[k][i] * g[j];
  }
}

static inline void factor_link(abTrees* t, int joint) {
  abLink* link = &t->link[joint];
  const abMat6* I = &link->articulated;
  if (link->ndof > 1) {
    factor_many(t, joint);
    return;
  }
  const double* S = t->S[link->dof];
  double* U = t->U[link->dof];
  times6(I, S, U);
  double D = dot6(S, U) + t->extra[link->block];
  if (link->bound >= 0) add_bounds(t, joint, &D);
  double per = t->Dinv[link->block] = 1 / D;
  if (link->parent < 0) return;
  abMat6* up = &t->link[link->parent].articulated;
  for (int i = 0; i < 6; i++) {
    double g = per * U[i];
    for (int j = 0; j < 6; j++) up->m[i][j] += I->m[i][j] - g * U[j];
  }
}

AB_SIMD static void factor_links(abTrees* t, int begin, int end) {
  for (int j = begin; j < end; j++) rigid_expand(&t->link[j].rigid, &t->link[j].articulated);
  for (int j = end - 1; j >= begin; j--) factor_link(t, j);
}

void ab_tree_factor(abTrees* t, int mover) {
  abTreeRange range = tree_range(t->model, &t->model->mover[mover]);
  factor_links(t, range.joint0, range.joint1);
}

// y = D^-1 x of a link
static inline void apply_Dinv(const abTrees* t, const abLink* link, const double* x, double* y) {
  const double* Dinv = t->Dinv + link->block;
  int n = link->ndof;
  if (n == 1) {
    y[0] = Dinv[0] * x[0];
    return;
  }
  for (int k = 0; k < n; k++) {
    y[k] = 0;
    for (int l = 0; l < n; l++) y[k] += Dinv[k * n + l] * x[l];
  }
}

// f + U D^-1 u: what the parent feels of a link
static inline void pass_wrench(const abTrees* t, const abLink* link, const double* u, double f[6]) {
  double y[6];
  apply_Dinv(t, link, u, y);
  for (int k = 0; k < link->ndof; k++)
    for (int i = 0; i < 6; i++) f[i] += t->U[link->dof + k][i] * y[k];
}

// Forward half of a solve at one link: dv from u, and the link's twist change (without c).
static inline void give_way(const abTrees* t, const abLink* link, const double* u, double* dv,
                            double a[6]) {
  double w[6];
  for (int k = 0; k < link->ndof; k++) w[k] = u[k] - dot6(t->U[link->dof + k], a);
  apply_Dinv(t, link, w, dv);
  for (int k = 0; k < link->ndof; k++)
    for (int i = 0; i < 6; i++) a[i] += t->S[link->dof + k][i] * dv[k];
}

static inline void pull_of_parent(const abTrees* t, const abLink* link, double a[6]) {
  if (link->parent < 0)
    memset(a, 0, 6 * sizeof(double));
  else
    twist_to_array(t->pull[link->parent], a);
}

// The wrenches that the links need for their motion as it is, and c.
static void begin_solve(const abTrees* t, abTreeRange range, abLoad load, double h) {
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    abWrench need = load == AB_LOAD_NONE ? wrench_zero() : link->inertial;
    if (load == AB_LOAD_ALL) need = wrench_sub(need, link->load);
    t->push[j] = wrench_scale(h, need);
  }
}

void ab_tree_solve(const abTrees* t, int mover, abLoad load, double h, const double* impulse,
                   double* dv) {
  abTreeRange range = tree_range(t->model, &t->model->mover[mover]);
  begin_solve(t, range, load, h);
  for (int j = range.joint1 - 1; j >= range.joint0; j--) {
    const abLink* link = &t->link[j];
    double f[6], *u = t->u + link->dof;
    wrench_to_array(t->push[j], f);
    if (load != AB_LOAD_NONE && link->parent >= 0) {
      double c[6], y[6];
      twist_to_array(link->product, c);
      times6(&link->articulated, c, y);
      for (int i = 0; i < 6; i++) f[i] += h * y[i];
    }
    for (int k = 0; k < link->ndof; k++)
      u[k] = (impulse ? impulse[link->dof + k] : 0) - dot6(t->S[link->dof + k], f);
    if (link->parent < 0) continue;
    pass_wrench(t, link, u, f);
    t->push[link->parent] = wrench_add(t->push[link->parent], wrench_from_array(f));
  }
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    double a[6];
    pull_of_parent(t, link, a);
    give_way(t, link, t->u + link->dof, dv + link->dof, a);
    t->pull[j] = twist_from_array(a);
    if (load != AB_LOAD_NONE) t->pull[j] = twist_add(t->pull[j], twist_scale(h, link->product));
  }
}

void ab_tree_push(const abTrees* t, int mover, int joint, abWrench impulse, double* v) {
  const abMover* m = &t->model->mover[mover];
  abTreeRange range = tree_range(t->model, m);
  memset(t->u + m->dof0, 0, sizeof(double) * (size_t)m->ndof);
  double f[6];
  wrench_to_array(wrench_neg(impulse), f);
  for (int j = joint; j >= 0; j = t->link[j].parent) {
    const abLink* link = &t->link[j];
    double* u = t->u + link->dof;
    for (int k = 0; k < link->ndof; k++) u[k] = -dot6(t->S[link->dof + k], f);
    pass_wrench(t, link, u, f);
  }
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    double dv[6], a[6];
    pull_of_parent(t, link, a);
    give_way(t, link, t->u + link->dof, dv, a);
    t->pull[j] = twist_from_array(a);
    for (int k = 0; k < link->ndof; k++) v[link->dof + k] += dv[k];
  }
}

// omega = Z - S E^T - E S^T + S K S^T with Z = omega_p, E = Z U D^-1, K = D^-1 + D^-1 U^T E.
static void omega_many(abTrees* t, int joint) {
  const abLink* link = &t->link[joint];
  int n = link->ndof;
  const double(*S)[6] = (const double(*)[6])t->S + link->dof;
  const double(*U)[6] = (const double(*)[6])t->U + link->dof;
  const double* Dinv = t->Dinv + link->block;
  double E[6][6] = {{0}}, K[36];  // E by columns
  abMat6 Z = link->parent >= 0 ? t->omega[link->parent] : m6_zero();
  for (int l = 0; l < n && link->parent >= 0; l++) {
    double W[6];
    times6(&Z, U[l], W);
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

static inline void omega_one(abTrees* t, int joint) {
  const abLink* link = &t->link[joint];
  const double *S = t->S[link->dof], *U = t->U[link->dof], per = t->Dinv[link->block];
  const abMat6* Z = &t->omega[link->parent];
  abMat6* out = &t->omega[joint];
  double E[6], half[6];
  times6(Z, U, E);
  for (int i = 0; i < 6; i++) E[i] *= per;
  // K S S^T - S E^T - E S^T = S g^T + g S^T with g = K S / 2 - E
  double K = per + per * dot6(U, E);
  for (int i = 0; i < 6; i++) half[i] = 0.5 * K * S[i] - E[i];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) out->m[i][j] = Z->m[i][j] + (S[i] * half[j] + half[i] * S[j]);
}

AB_SIMD static void omega_links(abTrees* t, int begin, int end) {
  for (int j = begin; j < end; j++) {
    if (!t->wanted[j]) continue;
    if (t->link[j].ndof == 1 && t->link[j].parent >= 0)
      omega_one(t, j);
    else
      omega_many(t, j);
  }
}

void ab_tree_omega(abTrees* t, int mover) {
  abTreeRange range = tree_range(t->model, &t->model->mover[mover]);
  omega_links(t, range.joint0, range.joint1);
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
  }
}
