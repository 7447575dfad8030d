// The matrix M + sum J^T G J of one island: assembly and block-sparse factorisation. Rows of joints
// add their stiffness where they are inside now, and take it off where the inertia holds it though
// they have left that branch.
// Tests: test_patch_newton, test_tree_contact.
#include <float.h>
#include <string.h>

#include "contact/patch/patch.h"
#include "math/quad.h"
#include "math/spatial.h"

// --- free bodies
//
// In world axes, at the patch's centre, G is the symmetric K = [A B; B^T C] of 3 x 3 blocks (force
// by velocity, force by turning, torque by turning). A body's velocity there is v + w x r = v - [r]
// w, so its block with a body at lever q is, with the signs of the sides,
//
//   [ 1    0 ] [ A   B ] [ 1  -[q] ]   [ A            B - A [q]                            ]
//   [ [r]  1 ] [ B^T C ] [ 0   1   ] = [ B^T + [r] A  C - B^T [q] + [r] (B - A [q])         ].

typedef struct Stiffness {
  double A[3][3], B[3][3], C[3][3];
} Stiffness;

// out += a u v^T
static inline void add_outer(double a, abVec3 u, abVec3 v, double out[3][3]) {
  double x[3] = {a * u.x, a * u.y, a * u.z};
  for (int i = 0; i < 3; i++)
    out[i][0] += x[i] * v.x, out[i][1] += x[i] * v.y, out[i][2] += x[i] * v.z;
}

static inline abVec3 mix(double a, abVec3 u, double b, abVec3 v) {
  return v3_axpy(b, v, v3_scale(a, u));
}

// G couples (t1, t2, turn about n) and (n, turn about t1, turn about t2).
static inline Stiffness stiffness_of(const abPatchContact* c) {
  const double *t = c->G.t, *n = c->G.n;
  const abVec3 *e = c->axis, u = mix(t[3], e[0], t[4], e[1]), w = mix(n[1], e[0], n[3], e[1]);
  Stiffness K = {{{0}}, {{0}}, {{0}}};
  add_outer(1, mix(t[0], e[0], t[1], e[1]), e[0], K.A);
  add_outer(1, mix(t[1], e[0], t[2], e[1]), e[1], K.A);
  add_outer(n[0], e[2], e[2], K.A);
  add_outer(1, u, e[2], K.B);
  add_outer(1, e[2], w, K.B);
  add_outer(1, mix(n[2], e[0], n[4], e[1]), e[0], K.C);
  add_outer(1, mix(n[4], e[0], n[5], e[1]), e[1], K.C);
  add_outer(t[5], e[2], e[2], K.C);
  return K;
}

// out = M - N [q]
static inline void less_turned(double M[3][3], double N[3][3], abVec3 q, double out[3][3]) {
  for (int i = 0; i < 3; i++) {
    out[i][0] = M[i][0] - (N[i][1] * q.z - N[i][2] * q.y);
    out[i][1] = M[i][1] - (N[i][2] * q.x - N[i][0] * q.z);
    out[i][2] = M[i][2] - (N[i][0] * q.y - N[i][1] * q.x);
  }
}

// out += sign (M + [r] N)
static inline void add_turned(double sign, double M[3][3], abVec3 r, double N[3][3], int at,
                              double* out) {
  for (int j = 0; j < 3; j++) {
    out[at + j] += sign * (M[0][j] + (r.y * N[2][j] - r.z * N[1][j]));
    out[at + 6 + j] += sign * (M[1][j] + (r.z * N[0][j] - r.x * N[2][j]));
    out[at + 12 + j] += sign * (M[2][j] + (r.x * N[1][j] - r.y * N[0][j]));
  }
}

// The block of the body at lever r with that at lever q.
static inline void add_free_block(Stiffness* K, double sign, abVec3 r, abVec3 q, double* out) {
  double upper[3][3], lower[3][3], Bt[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) Bt[i][j] = K->B[j][i];
  less_turned(K->B, K->A, q, upper);
  less_turned(K->C, Bt, q, lower);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out[6 * i + j] += sign * K->A[i][j];
      out[6 * i + 3 + j] += sign * upper[i][j];
    }
  add_turned(sign, Bt, r, K->A, 18, out);
  add_turned(sign, lower, r, upper, 21, out);
}

AB_SIMD AB_FLATTEN static void add_free_contact(const abPatchContact* c, double* value) {
  const abPatchSide* s = c->side;
  Stiffness K = stiffness_of(c);
  for (int k = 0; k < 2; k++)
    if (s[k].block >= 0) add_free_block(&K, 1, s[k].r, s[k].r, value + c->stored[k]);
  if (s[0].block < 0 || s[1].block < 0) return;
  if (c->transposed)
    add_free_block(&K, -1, s[1].r, s[0].r, value + c->stored[2]);
  else
    add_free_block(&K, -1, s[0].r, s[1].r, value + c->stored[2]);
}

// --- joint trees

// The six velocities of a free body as columns: its local twist by each, with the side's sign.
typedef struct FreeColumns {
  int at[8];
  double T[6][8];
  abPatchColumns columns;
} FreeColumns;

static void free_columns(const abPatchContact* c, int k, FreeColumns* f) {
  double sign = k == 0 ? 1 : -1;
  *f = (FreeColumns){.at = {0, 1, 2, 3, 4, 5}, .columns = {6, 8, f->at, f->T[0], NULL}};
  for (int i = 0; i < 3; i++) {
    abVec3 e = v3_scale(sign, c->axis[i]), m = v3_cross(c->side[k].r, e);
    const double lin[6] = {e.x, e.y, e.z, m.x, m.y, m.z}, ang[6] = {0, 0, 0, e.x, e.y, e.z};
    memcpy(f->T[i], lin, sizeof lin);
    memcpy(f->T[3 + i], ang, sizeof ang);
  }
}

// The block of two sides, one of which is a body of a tree; of a side with itself: a == b.
static void add_tree_block(const abPatchMatrix* m, const abPatchContact* c, int a, int b, int at) {
  FreeColumns free;
  const abPatchColumns *A = &c->tree[a], *B = &c->tree[b];
  if (!c->side[a].branch) free_columns(c, a, &free), A = &free.columns;
  if (!c->side[b].branch && a != b) free_columns(c, b, &free), B = &free.columns;
  ab_patch_columns_add(&c->G, A, a == b ? A : B, c->side[b].n, m->value + at);
}

static void add_tree_contact(const abPatchMatrix* m, const abPatchContact* c) {
  const abPatchSide* side = c->side;
  bool has[2] = {side[0].block >= 0, side[1].block >= 0 && side[0].block != side[1].block};
  for (int k = 0; k < 2; k++)
    if (has[k]) add_tree_block(m, c, k, k, c->stored[k]);
  if (has[0] && has[1])
    add_tree_block(m, c, c->transposed ? 1 : 0, c->transposed ? 0 : 1, c->stored[2]);
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
  bool whole = island->nblock == 1 && island->inertia[0];  // add_inertia fills all
  if (!whole) memset(m->value, 0, sizeof(double) * (size_t)m->symbolic.nvalue);
  for (int b = 0; b < island->nblock; b++) {
    bool transposed;
    add_inertia(island, b, m->value + ab_block_find(&m->symbolic, b, b, &transposed));
  }
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchContact* c = island->contact[i];
    if (c->side[0].branch || c->side[1].branch)
      add_tree_contact(m, c);
    else
      add_free_contact(c, m->value);
  }
  for (int i = 0; i < island->nrow; i++) add_row(island, m, &island->row[i]);
  ab_patch_add_joins(island, m);
  // Pivots smaller than rounding of what was subtracted carry no information.
  island->nregularised += ab_block_factor(&m->symbolic, m->value, 16 * DBL_EPSILON);
  m->factored = true;
}

void ab_patch_back(const abPatchMatrix* m, double* x) { ab_block_solve(&m->symbolic, m->value, x); }

// --- making it

// Where the blocks of a contact are stored.
static void find_blocks(const abBlockSymbolic* s, abPatchContact* c) {
  int a = c->side[0].block, b = c->side[1].block;
  bool same;
  if (a >= 0) c->stored[0] = ab_block_find(s, a, a, &same);
  if (b >= 0) c->stored[1] = ab_block_find(s, b, b, &same);
  if (a >= 0 && b >= 0 && a != b) c->stored[2] = ab_block_find(s, a, b, &c->transposed);
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
  for (int i = 0; i < island->ncontact; i++) find_blocks(&m->symbolic, island->contact[i]);
  m->value = AB_TAKE(arena, double, m->symbolic.nvalue);
  return m->value ? AB_OK : AB_ERROR_MEMORY;
}
