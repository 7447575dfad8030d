// The matrix M + sum J^T G J of one island: assembly and block-sparse factorisation. Rows of joints
// add their stiffness where they are inside now, and take it off where the inertia holds it though
// they have left that branch.
#include <float.h>
#include <string.h>

#include "base/wide.h"
#include "contact/patch.h"
#include "math/spatial.h"

// T (6 x 6, row-major): from a free body's velocities to the contact's local twist, with the side's
// sign.
static void free_matrix(const abPatchContact* c, int k, double* T) {
  const abPatchSide* s = &c->side[k];
  double sign = k == 0 ? 1 : -1;
  for (int i = 0; i < 3; i++) {
    abVec3 e = v3_scale(sign, c->axis[i]), m = v3_cross(s->r, e);
    double *lin = T + 6 * i, *ang = T + 6 * (i + 3);
    lin[0] = e.x, lin[1] = e.y, lin[2] = e.z, lin[3] = m.x, lin[4] = m.y, lin[5] = m.z;
    ang[0] = ang[1] = ang[2] = 0, ang[3] = e.x, ang[4] = e.y, ang[5] = e.z;
  }
}

// The same for a tree, made once per step: T = X J.
static void tree_matrix(const abPatchContact* c, int k, double* T) {
  const abPatchSide* s = &c->side[k];
  double X[36];
  free_matrix(c, k, X);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < s->n; j++) {
      double sum = 0;
      for (int l = 0; l < 6; l++) sum += X[6 * i + l] * s->J[l * s->n + j];
      T[i * s->n + j] = sum;
    }
}

// H = G T
static void weigh(const abPatchSlope* G, int n, const double* T, double* H) {
  const double *t = G->t, *g = G->n;
  for (int j = 0; j < n; j++) {
    double x0 = T[j], x1 = T[n + j], x2 = T[2 * n + j], x3 = T[3 * n + j], x4 = T[4 * n + j],
           x5 = T[5 * n + j];
    H[j] = t[0] * x0 + t[1] * x1 + t[3] * x5;
    H[n + j] = t[1] * x0 + t[2] * x1 + t[4] * x5;
    H[2 * n + j] = g[0] * x2 + g[1] * x3 + g[3] * x4;
    H[3 * n + j] = g[1] * x2 + g[2] * x3 + g[4] * x4;
    H[4 * n + j] = g[3] * x2 + g[4] * x3 + g[5] * x4;
    H[5 * n + j] = t[3] * x0 + t[4] * x1 + t[5] * x5;
  }
}

// B (na x nb) += A^T H
static void add_product(int na, int nb, const double* A, const double* H, double* B) {
  for (int i = 0; i < na; i++) {
    double* restrict to = B + i * nb;
    for (int l = 0; l < 6; l++) {
      double a = A[l * na + i];
      if (a == 0) continue;  // a joint off the body's branch
      const double* restrict h = H + l * nb;
      for (int j = 0; j < nb; j++) to[j] += a * h[j];
    }
  }
}

AB_WIDE static void add_product6(const double* restrict A, const double* restrict H,
                                 double* restrict B) {
  for (int i = 0; i < 6; i++) {
    double b[6];
    for (int j = 0; j < 6; j++) b[j] = B[i * 6 + j];
    for (int l = 0; l < 6; l++) {
      double a = A[l * 6 + i];
      for (int j = 0; j < 6; j++) b[j] += a * H[l * 6 + j];
    }
    for (int j = 0; j < 6; j++) B[i * 6 + j] = b[j];
  }
}

static void add_block(const abPatchMatrix* m, const abPatchContact* c, const double* const T[2],
                      int a, int b) {
  bool transposed;
  int at = ab_block_find(&m->symbolic, c->side[a].block, c->side[b].block, &transposed);
  if (transposed) {
    int t = a;
    a = b, b = t;
  }
  int na = c->side[a].n, nb = c->side[b].n;
  if (na == 6 && nb == 6)
    add_product6(T[a], m->H[b], m->value + at);
  else
    add_product(na, nb, T[a], m->H[b], m->value + at);
}

static void add_contact(const abPatchMatrix* m, const abPatchContact* c) {
  const abPatchSide* side = c->side;
  bool has[2] = {side[0].block >= 0, side[1].block >= 0};
  if (has[0] && side[0].block == side[1].block) has[1] = false;  // both in T[0]
  const double* T[2] = {c->T[0], c->T[1]};
  for (int k = 0; k < 2; k++) {
    if (!has[k]) continue;
    if (!T[k]) free_matrix(c, k, m->T[k]), T[k] = m->T[k];
    weigh(&c->G, side[k].n, T[k], m->H[k]);
    add_block(m, c, T, k, k);
  }
  if (has[0] && has[1]) add_block(m, c, T, 0, 1);
}

static void add_inertia(const abPatchIsland* island, int b, double* block) {
  int n = island->size[b];
  if (island->inertia[b]) {
    memcpy(block, island->inertia[b], sizeof(double) * (size_t)(n * n));
    return;
  }
  const abResponse* r = island->system->problem->response;
  int body = r->mover[island->mover[b]].body0;
  for (int i = 0; i < 3; i++) {
    block[6 * i + i] = r->mass[body];
    for (int j = 0; j < 3; j++) block[6 * (i + 3) + j + 3] = r->inertia[body].m[i][j];
  }
}

static void add_row(const abPatchIsland* island, const abPatchMatrix* m, const abPatchRow* r) {
  bool assumed = r->row->assumed == AB_BRANCH_INSIDE, transposed;
  if (r->inside == assumed) return;
  double w = r->inside ? r->row->weight : -r->row->weight;
  int n = island->size[r->block], at = r->at - island->offset[r->block];
  double* block = m->value + ab_block_find(&m->symbolic, r->block, r->block, &transposed);
  for (int i = 0; i < r->row->n; i++)
    for (int j = 0; j < r->row->n; j++)
      block[(at + i) * n + at + j] += w * r->row->s[i] * r->row->s[j];
}

void ab_patch_factor(abPatchIsland* island, abPatchMatrix* m) {
  memset(m->value, 0, sizeof(double) * (size_t)m->symbolic.nvalue);
  for (int b = 0; b < island->nblock; b++) {
    bool transposed;
    add_inertia(island, b, m->value + ab_block_find(&m->symbolic, b, b, &transposed));
  }
  for (int i = 0; i < island->ncontact; i++) add_contact(m, island->contact[i]);
  for (int i = 0; i < island->nrow; i++) add_row(island, m, &island->row[i]);
  // Pivots smaller than rounding of what was subtracted carry no information.
  island->nregularised += ab_block_factor(&m->symbolic, m->value, 16 * DBL_EPSILON);
  m->factored = true;
}

void ab_patch_back(const abPatchMatrix* m, double* x) { ab_block_solve(&m->symbolic, m->value, x); }

// --- making it

static bool make_tree_matrices(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    for (int k = 0; k < 2; k++) {
      c->T[k] = NULL;
      if (c->side[k].block < 0 || !c->side[k].J) continue;
      c->T[k] = AB_TAKE(island->scratch, double, 6 * c->side[k].n);
      if (!c->T[k]) return false;
      tree_matrix(c, k, c->T[k]);
    }
    // two bodies of one tree: one combined matrix
    if (c->T[0] && c->T[1] && c->side[0].block == c->side[1].block)
      for (int j = 0; j < 6 * c->side[0].n; j++) c->T[0][j] += c->T[1][j];
  }
  return true;
}

abStatus ab_patch_matrix(abPatchIsland* island, abPatchMatrix* m) {
  abArena* arena = island->scratch;
  int(*edge)[2] = ab_arena_take(arena, sizeof(int[2]) * (size_t)island->ncontact);
  if (!edge) return AB_ERROR_MEMORY;
  int n = 0;
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchSide* s = island->contact[i]->side;
    if (s[0].block < 0 || s[1].block < 0 || s[0].block == s[1].block) continue;
    edge[n][0] = s[0].block, edge[n][1] = s[1].block;
    n++;
  }
  *m = (abPatchMatrix){.factored = false};
  abStatus status =
      ab_block_symbolic(island->nblock, island->size, n, (const int(*)[2])edge,
                        island->system->param[AB_PATCH_DIRECT_LIMIT], arena, arena, &m->symbolic);
  if (status != AB_OK) return status;
  for (int k = 0; k < 2; k++) {
    m->T[k] = AB_TAKE(arena, double, 36);
    m->H[k] = AB_TAKE(arena, double, 6 * m->symbolic.largest);
    if (!m->T[k] || !m->H[k]) return AB_ERROR_MEMORY;
  }
  m->value = AB_TAKE(arena, double, m->symbolic.nvalue);
  return m->value && make_tree_matrices(island) ? AB_OK : AB_ERROR_MEMORY;
}
