// The matrix M + sum J^T G J of one island: assembly and block-sparse factorisation. Rows of joints
// add their stiffness where they are inside now, and take it off where the inertia holds it though
// they have left that branch.
#include <float.h>
#include <string.h>

#include "base/simd.h"
#include "contact/patch/patch.h"
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

// G times a local twist
static inline void weigh(const abPatchSlope* G, const double x[6], double y[6]) {
  const double *t = G->t, *g = G->n;
  y[0] = t[0] * x[0] + t[1] * x[1] + t[3] * x[5];
  y[1] = t[1] * x[0] + t[2] * x[1] + t[4] * x[5];
  y[2] = g[0] * x[2] + g[1] * x[3] + g[3] * x[4];
  y[3] = g[1] * x[2] + g[2] * x[3] + g[4] * x[4];
  y[4] = g[3] * x[2] + g[4] * x[3] + g[5] * x[4];
  y[5] = t[3] * x[0] + t[4] * x[1] + t[5] * x[5];
}

// H = G T for a free body
static void weigh6(const abPatchSlope* G, const double* T, double* H) {
  for (int j = 0; j < 6; j++) {
    double x[6], y[6];
    for (int i = 0; i < 6; i++) x[i] = T[6 * i + j];
    weigh(G, x, y);
    for (int i = 0; i < 6; i++) H[6 * i + j] = y[i];
  }
}

static inline double dot6(const double a[6], const double b[6]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

// B (n columns) += A^T G C. `lower`: A and C are the same, and the upper half of B is not read.
static void add_columns(const abPatchSlope* G, const abPatchColumns* A, const abPatchColumns* C,
                        bool lower, int n, double* B) {
  for (int i = 0; i < A->n; i++) {
    double y[6], *to = B + A->at[i] * n;
    weigh(G, A->T[i], y);
    for (int j = 0; j < (lower ? i + 1 : C->n); j++) to[C->at[j]] += dot6(y, C->T[j]);
  }
}

AB_SIMD static void add_product6(const double* restrict A, const double* restrict H,
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

// Its six velocities as columns.
typedef struct FreeColumns {
  int at[6];
  double T[6][6];
  abPatchColumns columns;
} FreeColumns;

static void free_columns(const double* T, FreeColumns* f) {
  for (int j = 0; j < 6; j++) {
    f->at[j] = j;
    for (int i = 0; i < 6; i++) f->T[j][i] = T[6 * i + j];
  }
  f->columns = (abPatchColumns){6, f->at, f->T};
}

// The block of a tree with itself or with anything else.
static void add_tree_block(abPatchMatrix* m, const abPatchContact* c, int a, int b) {
  bool transposed;
  int at = ab_block_find(&m->symbolic, c->side[a].block, c->side[b].block, &transposed);
  if (transposed) {
    int t = a;
    a = b, b = t;
  }
  const abPatchColumns *A = &c->tree[a], *B = &c->tree[b];
  FreeColumns free;
  if (!c->side[a].branch) free_columns(m->T[a], &free), A = &free.columns;
  if (!c->side[b].branch) free_columns(m->T[b], &free), B = &free.columns;
  add_columns(&c->G, A, B, a == b, c->side[b].n, m->value + at);
}

static void add_block(abPatchMatrix* m, const abPatchContact* c, int a, int b) {
  if (c->side[a].branch || c->side[b].branch) {
    add_tree_block(m, c, a, b);
    return;
  }
  bool transposed;
  int at = ab_block_find(&m->symbolic, c->side[a].block, c->side[b].block, &transposed);
  if (transposed)
    add_product6(m->T[b], m->H[a], m->value + at);
  else
    add_product6(m->T[a], m->H[b], m->value + at);
}

static void add_contact(abPatchMatrix* m, const abPatchContact* c) {
  const abPatchSide* side = c->side;
  bool has[2] = {side[0].block >= 0, side[1].block >= 0};
  if (has[0] && side[0].block == side[1].block) has[1] = false;  // both in tree[0]
  for (int k = 0; k < 2; k++) {
    if (!has[k]) continue;
    if (!side[k].branch) {
      free_matrix(c, k, m->T[k]);
      weigh6(&c->G, m->T[k], m->H[k]);
    }
    add_block(m, c, k, k);
  }
  if (has[0] && has[1]) add_block(m, c, 0, 1);
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
  ab_patch_add_joins(island, m);
  // Pivots smaller than rounding of what was subtracted carry no information.
  island->nregularised += ab_block_factor(&m->symbolic, m->value, 16 * DBL_EPSILON);
  m->factored = true;
}

void ab_patch_back(const abPatchMatrix* m, double* x) { ab_block_solve(&m->symbolic, m->value, x); }

// --- making it

// The columns of one side, from its body's.
static void set_columns(const abPatchContact* c, int k, abPatchColumns* to) {
  const abPatchSide* s = &c->side[k];
  double sign = k == 0 ? 1 : -1;
  for (int j = 0; j < s->branch->n; j++) {
    const double* J = s->branch->J[j];
    abVec3 ang = v3(J[3], J[4], J[5]), lin = v3_add(v3(J[0], J[1], J[2]), v3_cross(ang, s->r));
    double* T = to->T[to->n];
    for (int i = 0; i < 3; i++) {
      T[i] = sign * v3_dot(c->axis[i], lin);
      T[3 + i] = sign * v3_dot(c->axis[i], ang);
    }
    to->at[to->n++] = s->branch->at[j];
  }
}

// Two bodies of one tree: joints that carry both do not move them against each other. `at` is
// ascending in both halves; so it is left.
static void join_columns(int first, abPatchColumns* c) {
  int n = 0, i = 0, j = first, end = c->n;
  abPatchColumns old = *c;
  c->at += end, c->T += end;  // the room of the second side
  while (i < first || j < end) {
    bool one = j == end || (i < first && old.at[i] < old.at[j]);
    bool both = i < first && j < end && old.at[i] == old.at[j];
    if (both) {
      i++, j++;
      continue;
    }
    int from = one ? i++ : j++;
    memcpy(c->T[n], old.T[from], sizeof *c->T);
    c->at[n++] = old.at[from];
  }
  c->n = n;
}

abStatus ab_patch_columns(abPatchIsland* island, abArena* arena) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    c->tree[0] = c->tree[1] = (abPatchColumns){0};
    bool same = c->side[0].branch && c->side[0].block == c->side[1].block;
    for (int k = 0; k < (same ? 1 : 2); k++) {
      const abPatchBranch* b = c->side[k].branch;
      if (!b) continue;
      int room = same ? 2 * (b->n + c->side[1].branch->n) : b->n;
      c->tree[k].at = AB_TAKE(arena, int, room);
      c->tree[k].T = ab_arena_take(arena, sizeof *c->tree[k].T * (size_t)room);
      if (!c->tree[k].at || !c->tree[k].T) return AB_ERROR_MEMORY;
      set_columns(c, k, &c->tree[k]);
      if (!same) continue;
      set_columns(c, 1, &c->tree[0]);
      join_columns(b->n, &c->tree[0]);
    }
  }
  return AB_OK;
}

abStatus ab_patch_matrix(abPatchIsland* island, abPatchMatrix* m) {
  abArena* arena = island->scratch;
  int n = island->ncontact;
  for (int i = 0; i < island->njoin; i++)
    n += island->join[i].npart * (island->join[i].npart - 1) / 2;
  int(*edge)[2] = ab_arena_take(arena, sizeof(int[2]) * (size_t)n);
  if (!edge) return AB_ERROR_MEMORY;
  n = 0;
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchSide* s = island->contact[i]->side;
    if (s[0].block < 0 || s[1].block < 0 || s[0].block == s[1].block) continue;
    edge[n][0] = s[0].block, edge[n][1] = s[1].block;
    n++;
  }
  for (int i = 0; i < island->njoin; i++)
    for (int a = 0; a < island->join[i].npart; a++)
      for (int b = 0; b < a; b++, n++)
        edge[n][0] = island->join[i].block[a], edge[n][1] = island->join[i].block[b];
  *m = (abPatchMatrix){.factored = false};
  abStatus status =
      ab_block_symbolic(island->nblock, island->size, n, (const int(*)[2])edge,
                        island->system->param[AB_PATCH_DIRECT_LIMIT], arena, arena, &m->symbolic);
  if (status != AB_OK) return status;
  m->value = AB_TAKE(arena, double, m->symbolic.nvalue);
  return m->value ? AB_OK : AB_ERROR_MEMORY;
}
