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

// Rows of three are registers of four.

typedef abFour Four __attribute__((aligned(8), may_alias));

typedef abTwo Two __attribute__((aligned(8), may_alias));

// A vector of a contact as such a row; what stands behind it there is masked out.
#define ROW(v) ((abFour)((abFourMask){-1, -1, -1, 0} & (abFourMask) * (const Four*)&(v)))

typedef struct Stiffness {
  abFour A[3], B[3], Bt[3], C[3];
} Stiffness;

// What changes with the lever: B - A [q], C - B^T [q], and B^T + [q] A.
typedef struct Levered {
  abFour upper[3], right[3], lower[3];
} Levered;

// G couples (t1, t2, turn about n) and (n, turn about t1, turn about t2).
static inline void stiffness_of(const abPatchContact* c, Stiffness* K) {
  const double *t = c->G.t, *n = c->G.n;
  abFour e0 = ROW(c->axis[0]), e1 = ROW(c->axis[1]), e2 = ROW(c->axis[2]);
  abFour a0 = t[0] * e0 + t[1] * e1, a1 = t[1] * e0 + t[2] * e1, a2 = n[0] * e2;
  abFour u = t[3] * e0 + t[4] * e1, w = n[1] * e0 + n[3] * e1;
  abFour c0 = n[2] * e0 + n[4] * e1, c1 = n[4] * e0 + n[5] * e1, c2 = t[5] * e2;
  for (int i = 0; i < 3; i++) {
    K->A[i] = e0[i] * a0 + e1[i] * a1 + e2[i] * a2;
    K->B[i] = u[i] * e2 + e2[i] * w;
    K->Bt[i] = e2[i] * u + w[i] * e2;
    K->C[i] = e0[i] * c0 + e1[i] * c1 + e2[i] * c2;
  }
}

static inline void lever(const Stiffness* K, const abPatchSide* side, Levered* to) {
  const abFour *A = K->A, q = ROW(side->r);
  abVec3 at = side->r;
  for (int i = 0; i < 3; i++) {
    to->upper[i] = K->B[i] - AB_FOUR_CROSS(A[i], q);
    to->right[i] = K->C[i] - AB_FOUR_CROSS(K->Bt[i], q);
  }
  to->lower[0] = K->Bt[0] + (at.y * A[2] - at.z * A[1]);
  to->lower[1] = K->Bt[1] + (at.z * A[0] - at.x * A[2]);
  to->lower[2] = K->Bt[2] + (at.x * A[1] - at.y * A[0]);
}

// Two rows side by side to six numbers, of which no two stores meet.
#define ADD_ROW(sign, a, b, out)                                       \
  do {                                                                 \
    *(Four*)(out) += (sign)*__builtin_shufflevector(a, b, 0, 1, 2, 4); \
    *(Two*)((out) + 4) += (sign)*__builtin_shufflevector(b, b, 1, 2);  \
  } while (0)

// The block of the body at lever r, whose part is p, with the one whose part is q.
static inline void add_free_block(const Stiffness* K, double sign, abVec3 r, const Levered* p,
                                  const Levered* q, double* out) {
  const abFour* U = q->upper;
  abFour D[3] = {q->right[0] + (r.y * U[2] - r.z * U[1]), q->right[1] + (r.z * U[0] - r.x * U[2]),
                 q->right[2] + (r.x * U[1] - r.y * U[0])};
  for (int i = 0; i < 3; i++) {
    ADD_ROW(sign, K->A[i], U[i], out + 6 * i);
    ADD_ROW(sign, p->lower[i], D[i], out + 18 + 6 * i);
  }
}

AB_SIMD AB_FLATTEN static void add_free_contact(const abPatchContact* c, double* value) {
  const abPatchSide* s = c->side;
  Stiffness K;
  Levered part[2];
  stiffness_of(c, &K);
  for (int k = 0; k < 2; k++) {
    if (s[k].block < 0) continue;
    lever(&K, &s[k], &part[k]);
    add_free_block(&K, 1, s[k].r, &part[k], &part[k], value + c->stored[k]);
  }
  if (s[0].block < 0 || s[1].block < 0) return;
  int row = c->transposed, column = !row;
  add_free_block(&K, -1, s[row].r, &part[row], &part[column], value + c->stored[2]);
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
