// The articulated-body algorithm (Featherstone 1983) on the links of abTrees: factorise once,
// solve for many right-hand sides, each in O(links).
//
// Let I be a link's articulated inertia: the wrench its link needs for an acceleration when all
// joints behind it are free to give way. With U = I S, D = S^T U + E, where E holds armature, the
// implicit terms of the joint and the weights of its active bounds, and G = U D^-1,
//
//   factorise:  I_p += I - U G^T
//   backwards:  u = P - S^T f,            f_p += f + G u
//   forwards:   dv = D^-1 u - G^T A_p,    A = A_p + S dv.
//
// P are the joint impulses, all that acts on the tree as it is felt at the joints, f and A scratch;
// the whole is (M + E) dv = P.
//
// The response of a link to an impulse f on itself, omega: the parent feels N^T f with N = 1 - S
// G^T and passes its own response down again, so that
//
//   omega = N omega_p N^T + S D^-1 S^T,
//
// one pass from the root for all links; see response.c for its use. Nearly all joints have one
// velocity; for them the loops over a joint's own are written out. The inertia of a free root is
// its D, and D^-1 its omega.
// Tests: test_tree, test_peer.
#include <string.h>

#include "base/simd.h"
#include "dynamics/trees.h"

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

// The same of a joint of one velocity.
static inline double with_bounds(abTrees* t, int joint, double bare) {
  double D = bare;
  for (int b = t->link[joint].bound; b >= 0; b = t->bound[b].next) {
    abBound* bound = &t->bound[b];
    double ss = bound->s[0] * bound->s[0];
    if (bound->stiff) bound->weight = AB_BOUND_STIFFNESS * (ss * bare);
    if (bound->state == AB_BOUND_INSIDE) D += bound->weight * ss;
  }
  return D;
}

static inline void factor_root(abTrees* t, int joint) {
  const abLink* link = &t->link[joint];
  double D[36];
  for (int k = 0; k < 6; k++)
    for (int l = 0; l < 6; l++)
      D[k * 6 + l] = six_get(&t->articulated[joint].row[k], l) + t->extra[link->block + k * 6 + l];
  if (link->bound >= 0) add_bounds(t, joint, D);
  small_inverse(6, D, t->Dinv + link->block);
}

static inline void factor_ball(abTrees* t, int joint) {
  const abLink* link = &t->link[joint];
  const abSix6* I = &t->articulated[joint];
  const abSix* S = t->S + link->dof;
  abSix U[3], *G = t->G + link->dof;
  double D[9], *Dinv = t->Dinv + link->block;
  for (int k = 0; k < 3; k++) six_times(I, &S[k], &U[k]);
  for (int k = 0; k < 3; k++)
    for (int l = 0; l < 3; l++)
      D[k * 3 + l] = six_dot(&S[k], &U[l]) + t->extra[link->block + k * 3 + l];
  if (link->bound >= 0) add_bounds(t, joint, D);
  small_inverse(3, D, Dinv);
  for (int k = 0; k < 3; k++) {
    six_clear(&G[k]);
    for (int l = 0; l < 3; l++) six_axpy(Dinv[k * 3 + l], &U[l], &G[k]);
  }
  if (link->parent < 0) return;
  abSix* up = t->articulated[link->parent].row;
  for (int i = 0; i < 6; i++) {
    six_add(&I->row[i], &up[i]);
    for (int k = 0; k < 3; k++) six_axpy(-six_get(&U[k], i), &G[k], &up[i]);
  }
}

static inline void factor_one(abTrees* t, int joint) {
  const abLink* link = &t->link[joint];
  const abSix6* I = &t->articulated[joint];
  const abSix* S = &t->S[link->dof];
  abSix U, G;
  six_times(I, S, &U);
  double D = with_bounds(t, joint, six_dot(S, &U) + t->extra[link->block]);
  double per = t->Dinv[link->block] = 1 / D;
  G.lin = per * U.lin, G.ang = per * U.ang;
  t->G[link->dof] = G;
  if (link->parent < 0) return;
  abSix* up = t->articulated[link->parent].row;
  for (int i = 0; i < 6; i++) {
    double u = six_get(&U, i);
    up[i].lin += I->row[i].lin - u * G.lin;
    up[i].ang += I->row[i].ang - u * G.ang;
  }
}

AB_SIMD AB_FLATTEN static void factor_links(abTrees* t, int begin, int end) {
  for (int j = begin; j < end; j++) rigid_expand(&t->rigid[j], &t->articulated[j]);
  for (int j = end - 1; j >= begin; j--) {
    int n = t->link[j].ndof;
    if (n == 1)
      factor_one(t, j);
    else if (n == 3)
      factor_ball(t, j);
    else
      factor_root(t, j);
  }
}

void ab_tree_factor(abTrees* t, int mover) {
  abTreeRange range = tree_range(t->model, &t->model->mover[mover]);
  factor_links(t, range.joint0, range.joint1);
}

// y = D^-1 x of a link
static inline void apply_Dinv(const abTrees* t, const abLink* link, int n, const double* x,
                              double* y) {
  const double* Dinv = t->Dinv + link->block;
  for (int k = 0; k < n; k++) {
    y[k] = 0;
    for (int l = 0; l < n; l++) y[k] += Dinv[k * n + l] * x[l];
  }
}

// u of a link that feels the wrench f, and f + G u, what its parent feels.
static inline void pass_wrench(const abTrees* t, const abLink* link, const double* impulse,
                               abSix* f) {
  abSix sum = *f;
  for (int k = link->dof; k < link->dof + link->ndof; k++) {
    double u = (impulse ? impulse[k] : 0) - six_dot(&t->S[k], f);
    if (link->parent >= 0) six_axpy(u, &t->G[k], &sum);
    t->u[k] = u;
  }
  *f = sum;
}

// Forward half of a solve: dv from u, link by link.
static inline void give_way(const abTrees* t, abTreeRange range, double* dv) {
  abSix A;
  six_clear(&A);
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    const double* u = t->u + link->dof;
    double* own = dv + link->dof;
    if (link->parent < 0)
      six_clear(&A);
    else if (link->parent < j - 1)
      A = t->pull[link->parent];
    if (link->ndof == 1) {
      double x = t->Dinv[link->block] * u[0] - six_dot(&t->G[link->dof], &A);
      six_axpy(x, &t->S[link->dof], &A);
      own[0] = x;
    } else if (link->ndof == 3) {
      apply_Dinv(t, link, 3, u, own);
      for (int k = 0; k < 3; k++) own[k] -= six_dot(&t->G[link->dof + k], &A);
      for (int k = 0; k < 3; k++) six_axpy(own[k], &t->S[link->dof + k], &A);
    } else {
      apply_Dinv(t, link, 6, u, own);
      six_set(v3(own[0], own[1], own[2]), v3(own[3], own[4], own[5]), &A);
    }
    t->pull[j] = A;
  }
}

// The links of a branch follow each other: what goes from one to the next stays in registers.
AB_SIMD AB_FLATTEN static void solve_links(const abTrees* t, abTreeRange range,
                                           const double* impulse, double* dv) {
  abSix f;
  for (int j = range.joint0; j < range.joint1; j++) six_clear(&t->push[j]);
  six_clear(&f);
  for (int j = range.joint1 - 1; j >= range.joint0; j--) {
    const abLink* link = &t->link[j];
    six_add(&t->push[j], &f);
    pass_wrench(t, link, impulse, &f);
    if (link->parent == j - 1 || link->parent < 0) continue;
    six_add(&f, &t->push[link->parent]);
    six_clear(&f);
  }
  give_way(t, range, dv);
}

void ab_tree_solve(const abTrees* t, int mover, const double* impulse, double* dv) {
  solve_links(t, tree_range(t->model, &t->model->mover[mover]), impulse, dv);
}

AB_SIMD AB_FLATTEN static void push_links(const abTrees* t, abTreeRange range, int joint,
                                          const abSix* impulse, double* dv) {
  abSix f = {-impulse->lin, -impulse->ang};
  for (int j = joint; j >= 0; j = t->link[j].parent) pass_wrench(t, &t->link[j], NULL, &f);
  give_way(t, range, dv);
}

void ab_tree_push(const abTrees* t, int mover, int joint, abWrench impulse, double* v) {
  const abMover* m = &t->model->mover[mover];
  abSix f;
  six_set(impulse.force, impulse.torque, &f);
  memset(t->u + m->dof0, 0, sizeof(double) * (size_t)m->ndof);
  push_links(t, tree_range(t->model, m), joint, &f, t->change);
  for (int i = m->dof0; i < m->dof0 + m->ndof; i++) v[i] += t->change[i];
}

// omega = Z - S E^T - E S^T + S K S^T with Z = omega_p, E = Z G, K = D^-1 + G^T E.
static inline void omega_ball(abTrees* t, int joint, const abSix6* Z, abSix6* out) {
  const abLink* link = &t->link[joint];
  const abSix *S = t->S + link->dof, *G = t->G + link->dof;
  const double* Dinv = t->Dinv + link->block;
  abSix E[3], SK[3];
  for (int k = 0; k < 3; k++) six_times(Z, &G[k], &E[k]);
  for (int k = 0; k < 3; k++) {
    six_clear(&SK[k]);
    for (int l = 0; l < 3; l++) six_axpy(Dinv[l * 3 + k] + six_dot(&G[l], &E[k]), &S[l], &SK[k]);
  }
  for (int i = 0; i < 6; i++) {
    out->row[i] = Z->row[i];
    for (int k = 0; k < 3; k++) {
      six_axpy(six_get(&SK[k], i) - six_get(&E[k], i), &S[k], &out->row[i]);
      six_axpy(-six_get(&S[k], i), &E[k], &out->row[i]);
    }
  }
}

static inline void omega_one(abTrees* t, int joint, const abSix6* Z, abSix6* out) {
  const abLink* link = &t->link[joint];
  const abSix *S = &t->S[link->dof], *G = &t->G[link->dof];
  abSix E, half;
  six_times(Z, G, &E);
  // K S S^T - S E^T - E S^T = S g^T + g S^T with g = K S / 2 - E
  double K = 0.5 * (t->Dinv[link->block] + six_dot(G, &E));
  half.lin = K * S->lin - E.lin, half.ang = K * S->ang - E.ang;
  for (int i = 0; i < 6; i++) {
    double s = six_get(S, i), g = six_get(&half, i);
    out->row[i].lin = Z->row[i].lin + (s * half.lin + g * S->lin);
    out->row[i].ang = Z->row[i].ang + (s * half.ang + g * S->ang);
  }
}

AB_SIMD AB_FLATTEN static void omega_links(abTrees* t, int begin, int end) {
  static const abSix6 none;
  for (int j = begin; j < end; j++) {
    const abLink* link = &t->link[j];
    if (!t->wanted[j]) continue;
    const abSix6* Z = link->parent >= 0 ? &t->omega[link->parent] : &none;
    if (link->ndof == 1)
      omega_one(t, j, Z, &t->omega[j]);
    else if (link->ndof == 3)
      omega_ball(t, j, Z, &t->omega[j]);
    else
      for (int i = 0; i < 6; i++) {
        const double* D = t->Dinv + link->block + 6 * i;
        six_set(v3(D[0], D[1], D[2]), v3(D[3], D[4], D[5]), &t->omega[j].row[i]);
      }
  }
}

void ab_tree_omega(abTrees* t, int mover) {
  abTreeRange range = tree_range(t->model, &t->model->mover[mover]);
  omega_links(t, range.joint0, range.joint1);
}
