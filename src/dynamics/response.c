// How impulses change motion.
//
// Free bodies: dv = P / m, dw = I^-1 L, from inv_mass and inv_inertia.
//
// Joint trees: through the articulated inertias that ab_free_motion left behind (tree_solve.c), so
// that armature, implicit joint terms and active bounds are part of what an impulse meets; the
// response is the inverse of exactly the matrix that ab_response_inertia writes out.
//
//   apply     the impulse is passed up to the root, each joint on the way giving way, and the
//             velocity changes down all links: O(links).
//   block     between two bodies on the same link it is the link's omega moved to the two centres
//             of mass. Else let k be the nearest common ancestor of their links: an impulse on b
//             acts on k as T_b^T f, k answers with omega_k, and a takes T_a of that, where T is the
//             product of N over the links below k: O(depth), and no memory.
//   along     the same between two points, along three directions only: with the wrenches w of unit
//             forces there, passed up to k, w_a^T omega_k w_b.
//   inertia   composite rigid bodies (Walker & Orin 1982).
//
// apply and inertia use scratch of the mover: one call per mover at a time. The others only read.
// Tests: test_joint, test_tree.
#include "dynamics/response.h"

#include <string.h>

#include "base/simd.h"
#include "branch.h"
#include "dynamics/trees.h"
#include "internal.h"

static bool is_free(const abResponse* r, int body) {
  return !r->mover[r->mover_of_body[body]].jointed;
}

// Acceleration at the centre of mass that the velocities alone cause. A free body keeps its angular
// momentum: I dw/dt = -w x I w.
static abTwist find_bias(const abResponse* r, int body, abVec3 w) {
  if (is_free(r, body)) {
    abVec3 torque = v3_cross(m3_apply(&r->inertia[body], w), w);
    return (abTwist){v3_zero(), m3_apply(&r->inv_inertia[body], torque)};
  }
  const abTrees* t = r->tree;
  int link = t->link_of_body[body];
  abTwist a = twist_move(six_twist(&t->bias[link]), t->arm[body]);
  // of the material that is there, not at the place
  abVec3 v = twist_at(six_twist(&t->twist[link]), t->arm[body]);
  a.lin = v3_add(a.lin, v3_cross(six_ang(&t->twist[link]), v));
  return a;
}

// Of all bodies of a tree, in one pass from the root.
static void tree_twists(const abTrees* t, int m, const double* v, abTwist* twist) {
  const abMover* mover = &t->model->mover[m];
  abVec3 carriage = tree_carriage(t->model, mover, v);
  ab_tree_twists(t, m, v, t->pull);
  for (int b = mover->body0; b < mover->body0 + mover->nbody; b++)
    twist[b] = tree_body_twist(t, b, &t->pull[t->link_of_body[b]], carriage);
}

AB_SIMD AB_FLATTEN void ab_response_begin(const abModel* model, abData* data) {
  abTrees* t = data->internal->trees;
  data->internal->response = (abResponse){.nbody = model->nbody,
                                          .nmover = model->nmover,
                                          .ndof = model->nv,
                                          .mover_of_body = t->mover_of_body,
                                          .mover = model->mover,
                                          .mass = t->mass,
                                          .inv_mass = t->inv_mass,
                                          .inertia = data->inertia,
                                          .inv_inertia = data->internal->inv_inertia,
                                          .tree = t};
  for (int b = 0; b < model->nbody; b++) {
    bool moves = t->mover_of_body[b] >= 0 && !data->asleep[b];
    data->internal->twist_free[b] = twist_zero();
    data->internal->bias[b] =
        moves ? find_bias(&data->internal->response, b, data->twist[b].ang) : twist_zero();
  }
  for (int m = 0; m < model->nmover; m++) {
    const abMover* mover = &model->mover[m];
    if (data->asleep[mover->body0]) continue;
    if (mover->jointed)
      tree_twists(t, m, data->v_free, data->internal->twist_free);
    else
      data->internal->twist_free[mover->body0] = twist_from_array(data->v_free + mover->dof0);
  }
}

static void find_omega(const abModel* model, abData* data) {
  for (int m = 0; m < model->nmover; m++)
    if (model->mover[m].jointed && !data->asleep[model->mover[m].body0])
      ab_tree_omega(data->internal->trees, m);
}

void ab_response_update(const abModel* model, abData* data) {
  ab_response_begin(model, data);
  for (int j = 0; j < model->njoint; j++) data->internal->trees->wanted[j] = true;
  find_omega(model, data);
}

void ab_response_touch(const abModel* model, abData* data) {
  abTrees* t = data->internal->trees;
  if (data->internal->npair == 0) return;
  for (int j = 0; j < model->njoint; j++) t->wanted[j] = false;
  for (int i = 0; i < data->internal->npair; i++) {
    int body[2] = {data->internal->pair[i].body1, data->internal->pair[i].body2};
    for (int k = 0; k < 2; k++)
      for (int j = t->link_of_body[body[k]]; j >= 0 && !t->wanted[j]; j = t->link[j].parent)
        t->wanted[j] = true;
  }
  find_omega(model, data);
}

// Whoever writes a contact model may ask for anything.
static bool has_body(const abResponse* r, int body) { return r && body >= 0 && body < r->nbody; }

abTwist ab_response_twist(const abResponse* r, const double* v, int body) {
  if (!has_body(r, body) || !v) return twist_zero();
  int m = r->mover_of_body[body];
  if (m < 0) return twist_zero();
  if (is_free(r, body)) return twist_from_array(v + r->mover[m].dof0);
  const abTrees* t = r->tree;
  abSix sum = {0};
  for (int j = t->link_of_body[body]; j >= 0; j = t->link[j].parent) {
    const abLink* link = &t->link[j];
    for (int k = link->dof; k < link->dof + link->ndof; k++) six_axpy(v[k], &t->S[k], &sum);
  }
  return twist_move(six_twist(&sum), t->arm[body]);
}

void ab_response_apply(const abResponse* r, int body, abWrench impulse, double* v) {
  if (!has_body(r, body) || !v) return;
  int m = r->mover_of_body[body];
  if (m < 0) return;
  if (!is_free(r, body)) {
    const abTrees* t = r->tree;
    ab_tree_push(t, m, t->link_of_body[body], wrench_move(impulse, v3_neg(t->arm[body])), v);
    return;
  }
  abVec3 lin = v3_scale(r->inv_mass[body], impulse.force);
  abVec3 ang = m3_apply(&r->inv_inertia[body], impulse.torque);
  double* u = v + r->mover[m].dof0;
  u[0] += lin.x, u[1] += lin.y, u[2] += lin.z;
  u[3] += ang.x, u[4] += ang.y, u[5] += ang.z;
}

// The twist at the centre of mass by that at the tree's origin: [1 -[d]x; 0 1].
static inline void to_centre(abVec3 d, abSix6* X) {
  X->row[0] = (abSix){{1, 0, 0, 0}, {0, d.z, -d.y, 0}};
  X->row[1] = (abSix){{0, 1, 0, 0}, {-d.z, 0, d.x, 0}};
  X->row[2] = (abSix){{0, 0, 1, 0}, {d.y, -d.x, 0, 0}};
  for (int k = 0; k < 3; k++) six_set(v3_zero(), v3(k == 0, k == 1, k == 2), &X->row[3 + k]);
}

// A W B^T
static inline void congruent(const abSix6* A, const abSix6* W, const abSix6* B, abMat6* out) {
  for (int i = 0; i < 6; i++) {
    abSix y;
    six_times(W, &A->row[i], &y);
    for (int j = 0; j < 6; j++) out->m[i][j] = six_dot(&y, &B->row[j]);
  }
}

AB_SIMD AB_FLATTEN static void tree_block(const abTrees* t, int a, int b, abMat6* block) {
  int ja = t->link_of_body[a], jb = t->link_of_body[b];
  abSix6 A, B;
  to_centre(t->arm[a], &A);
  to_centre(t->arm[b], &B);
  while (ja != jb) {
    // parents have smaller numbers, so the larger one is the one to climb
    if (ja > jb) {
      tree_pass(t, ja, &A);
      ja = t->link[ja].parent;
    } else {
      tree_pass(t, jb, &B);
      jb = t->link[jb].parent;
    }
  }
  if (ja >= 0)
    congruent(&A, &t->omega[ja], &B, block);
  else
    *block = m6_zero();
}

void ab_response_block(const abResponse* r, int a, int b, abMat6* block) {
  if (!block) return;
  *block = m6_zero();
  if (!has_body(r, a) || !has_body(r, b)) return;
  int m = r->mover_of_body[a];
  if (m < 0 || m != r->mover_of_body[b]) return;
  if (!is_free(r, a)) {
    tree_block(r->tree, a, b, block);
    return;
  }
  for (int i = 0; i < 3; i++) {
    block->m[i][i] = r->inv_mass[a];
    for (int j = 0; j < 3; j++) block->m[3 + i][3 + j] = r->inv_inertia[a].m[i][j];
  }
}

// w <- N^T w: what the parent feels of a wrench on a link that is free to give way.
static inline void pass_up(const abTrees* t, int joint, abSix w[3]) {
  const abLink* link = &t->link[joint];
  for (int i = 0; i < 3; i++) {
    abSix up = w[i];
    for (int k = link->dof; k < link->dof + link->ndof; k++)
      six_axpy(-six_dot(&w[i], &t->S[k]), &t->G[k], &up);
    w[i] = up;
  }
}

AB_SIMD AB_FLATTEN static void tree_along(const abTrees* t, int ja, int jb, abSix wa[3],
                                          abSix wb[3], double part[3]) {
  while (ja != jb) {
    if (ja > jb) {
      pass_up(t, ja, wa);
      ja = t->link[ja].parent;
    } else {
      pass_up(t, jb, wb);
      jb = t->link[jb].parent;
    }
  }
  for (int i = 0; i < 3; i++) {
    abSix y;
    part[i] = 0;
    if (ja < 0) continue;
    six_times(&t->omega[ja], &wb[i], &y);
    part[i] = six_dot(&wa[i], &y);
  }
}

void ab_response_along(const abResponse* r, int a, int b, abVec3 ra, abVec3 rb,
                       const abVec3 axis[3], double part[3]) {
  const abTrees* t = r->tree;
  abVec3 xa = v3_add(t->arm[a], ra), xb = v3_add(t->arm[b], rb);
  abSix wa[3], wb[3];
  for (int i = 0; i < 3; i++) {
    six_set(axis[i], v3_cross(xa, axis[i]), &wa[i]);
    six_set(axis[i], v3_cross(xb, axis[i]), &wb[i]);
  }
  tree_along(t, t->link_of_body[a], t->link_of_body[b], wa, wb, part);
}

// What active bounds add to the inertia of a joint.
static void add_bounds(const abTrees* t, const abLink* link, int n, double* M) {
  for (int b = link->bound; b >= 0; b = t->bound[b].next) {
    const abBound* bound = &t->bound[b];
    if (bound->state != AB_BOUND_INSIDE) continue;
    for (int k = 0; k < link->ndof; k++)
      for (int l = 0; l < link->ndof; l++)
        M[k * n + l] += bound->weight * bound->s[k] * bound->s[l];
  }
}

// Column of a velocity: the wrench of its link's composite body, felt by all joints up to the root.
static inline void inertia_column(const abTrees* t, int joint, int dof, int dof0, int n,
                                  double* M) {
  int c = dof - dof0;
  abSix F;
  rigid_apply(&t->composite[joint], &t->S[dof], &F);
  for (int j = joint; j >= 0; j = t->link[j].parent) {
    const abLink* up = &t->link[j];
    for (int k = up->dof; k < up->dof + up->ndof; k++)
      M[(k - dof0) * n + c] = M[c * n + k - dof0] = six_dot(&t->S[k], &F);
  }
}

AB_SIMD AB_FLATTEN static void tree_inertia(const abTrees* t, const abMover* mover, double* M) {
  abTreeRange range = tree_range(t->model, mover);
  int n = mover->ndof;
  for (int j = range.joint0; j < range.joint1; j++) t->composite[j] = t->rigid[j];
  for (int j = range.joint1 - 1; j >= range.joint0; j--)
    if (t->link[j].parent >= 0) rigid_add(&t->composite[j], &t->composite[t->link[j].parent]);
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    for (int k = link->dof; k < link->dof + link->ndof; k++)
      inertia_column(t, j, k, mover->dof0, n, M);
    double *own = M + (link->dof - mover->dof0) * (n + 1), *extra = t->extra + link->block;
    for (int k = 0; k < link->ndof; k++)
      for (int l = 0; l < link->ndof; l++) own[k * n + l] += extra[k * link->ndof + l];
    if (link->bound >= 0) add_bounds(t, link, n, own);
  }
}

void ab_response_inertia(const abResponse* r, int m, double* M) {
  if (!r || m < 0 || m >= r->nmover || !M) return;
  const abMover* mover = &r->mover[m];
  int n = mover->ndof, b = mover->body0;
  memset(M, 0, sizeof(double) * (size_t)(n * n));
  if (mover->jointed) {
    tree_inertia(r->tree, mover, M);
    return;
  }
  for (int i = 0; i < 3; i++) {
    M[i * 7] = r->mass[b];
    for (int j = 0; j < 3; j++) M[(3 + i) * 6 + 3 + j] = r->inertia[b].m[i][j];
  }
}

void ab_response_jacobian(const abResponse* r, int body, double* J) {
  if (!has_body(r, body) || !J) return;
  int m = r->mover_of_body[body];
  if (m < 0) return;
  int n = r->mover[m].ndof;
  for (int i = 0; i < 6 * n; i++) J[i] = !r->mover[m].jointed && i % 7 == 0 ? 1 : 0;
  if (!r->mover[m].jointed) return;
  const abTrees* t = r->tree;
  for (int j = t->link_of_body[body]; j >= 0; j = t->link[j].parent) {
    const abLink* link = &t->link[j];
    for (int k = link->dof; k < link->dof + link->ndof; k++) {
      double x[6];
      twist_to_array(twist_move(six_twist(&t->S[k]), t->arm[body]), x);
      for (int i = 0; i < 6; i++) J[i * n + k - r->mover[m].dof0] = x[i];
    }
  }
}

void ab_response_solve(const abResponse* r, int mover, double* x) {
  const abTrees* t = r->tree;
  const abMover* m = &r->mover[mover];
  size_t size = sizeof(double) * (size_t)m->ndof;
  memcpy(t->impulse + m->dof0, x, size);
  ab_tree_solve(t, mover, t->impulse, t->change);
  memcpy(x, t->change + m->dof0, size);
}

int ab_response_branch(const abResponse* r, int body, int* at, double (*J)[6]) {
  const abTrees* t = r->tree;
  int n = 0, dof0 = r->mover[r->mover_of_body[body]].dof0;
  for (int j = t->link_of_body[body]; j >= 0; j = t->link[j].parent) n += t->link[j].ndof;
  for (int j = t->link_of_body[body], k = n; j >= 0; j = t->link[j].parent) {
    const abLink* link = &t->link[j];
    k -= link->ndof;
    for (int i = 0; i < link->ndof; i++) {
      at[k + i] = link->dof + i - dof0;
      twist_to_array(twist_move(six_twist(&t->S[link->dof + i]), t->arm[body]), J[k + i]);
    }
  }
  return n;
}
