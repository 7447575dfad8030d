// Bodies of joint trees: from a tree's velocities to the local twist of a contact, and back.
//
// The columns of a contact's side are kept as six rows, one for each part of the twist, of `room`
// numbers: zero behind the last column, so that all loops run over fours.
#include <limits.h>
#include <string.h>

#include "contact/patch/patch.h"
#include "math/quad.h"
#include "math/spatial.h"

typedef abFour Four __attribute__((aligned(8), may_alias));
#define LOAD(p) (*(const Four*)(p))

static int fours(int n) { return (n + 3) / 4 * 4; }

// --- making them

static bool take_columns(abArena* arena, int n, abPatchColumns* c) {
  *c = (abPatchColumns){.room = fours(n)};
  c->at = AB_TAKE(arena, int, c->room);
  c->T = AB_TAKE(arena, double, 6 * c->room);
  if (!c->at || !c->T) return false;
  memset(c->at, 0, sizeof *c->at * (size_t)c->room);
  memset(c->T, 0, sizeof *c->T * 6 * (size_t)c->room);
  return true;
}

// One more, by velocity j of the side's body.
static void add_column(const abPatchContact* c, int k, int j, abPatchColumns* to) {
  const abPatchSide* s = &c->side[k];
  const double *J = s->branch->J[j], sign = k == 0 ? 1 : -1;
  abVec3 ang = v3(J[3], J[4], J[5]), lin = v3_add(v3(J[0], J[1], J[2]), v3_cross(ang, s->r));
  for (int i = 0; i < 3; i++) {
    to->T[i * to->room + to->n] = sign * v3_dot(c->axis[i], lin);
    to->T[(3 + i) * to->room + to->n] = sign * v3_dot(c->axis[i], ang);
  }
  to->at[to->n++] = s->branch->at[j];
}

// Two bodies of one tree: joints that carry both do not move them against each other. The order is
// ascending in both, and so it is left.
static void add_difference(const abPatchContact* c, abPatchColumns* to) {
  const abPatchBranch *a = c->side[0].branch, *b = c->side[1].branch;
  for (int i = 0, j = 0; i < a->n || j < b->n;) {
    int p = i < a->n ? a->at[i] : INT_MAX, q = j < b->n ? b->at[j] : INT_MAX;
    if (p < q) add_column(c, 0, i, to);
    if (q < p) add_column(c, 1, j, to);
    i += p <= q, j += q <= p;
  }
}

abStatus ab_patch_columns(abPatchIsland* island, abArena* arena) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    const abPatchBranch *a = c->side[0].branch, *b = c->side[1].branch;
    c->tree[0] = c->tree[1] = (abPatchColumns){0};
    if (a && c->side[0].block == c->side[1].block) {
      if (!take_columns(arena, a->n + b->n, &c->tree[0])) return AB_ERROR_MEMORY;
      add_difference(c, &c->tree[0]);
      continue;
    }
    for (int k = 0; k < 2; k++) {
      const abPatchBranch* own = c->side[k].branch;
      if (!own) continue;
      if (!take_columns(arena, own->n, &c->tree[k])) return AB_ERROR_MEMORY;
      for (int j = 0; j < own->n; j++) add_column(c, k, j, &c->tree[k]);
    }
  }
  return AB_OK;
}

// --- using them

AB_SIMD AB_FLATTEN void ab_patch_columns_relative(const abPatchColumns* c, const double* v,
                                                  double V[6]) {
  Four sum[6] = {{0}};
  for (int j = 0; j < c->n; j += 4) {
    const int* at = c->at + j;
    Four x = {v[at[0]], v[at[1]], v[at[2]], v[at[3]]};
    for (int i = 0; i < 6; i++) sum[i] += LOAD(c->T + i * c->room + j) * x;
  }
  for (int i = 0; i < 6; i++) V[i] += AB_TOTAL(sum[i]);
}

AB_SIMD AB_FLATTEN void ab_patch_columns_scatter(const abPatchColumns* c, const double f[6],
                                                 double* g) {
  for (int j = 0; j < c->n; j += 4) {
    const int* at = c->at + j;
    Four y = {0};
    for (int i = 0; i < 6; i++) y += LOAD(c->T + i * c->room + j) * f[i];
    for (int l = 0; l < 4; l++) g[at[l]] += y[l];
  }
}

// G times column i
static inline void weigh(const abPatchSlope* G, const abPatchColumns* c, int i, double y[6]) {
  const double *t = G->t, *g = G->n;
  double x[6];
  for (int k = 0; k < 6; k++) x[k] = c->T[k * c->room + i];
  y[0] = t[0] * x[0] + t[1] * x[1] + t[3] * x[5];
  y[1] = t[1] * x[0] + t[2] * x[1] + t[4] * x[5];
  y[2] = g[0] * x[2] + g[1] * x[3] + g[3] * x[4];
  y[3] = g[1] * x[2] + g[2] * x[3] + g[4] * x[4];
  y[4] = g[3] * x[2] + g[4] * x[3] + g[5] * x[4];
  y[5] = t[3] * x[0] + t[4] * x[1] + t[5] * x[5];
}

AB_SIMD AB_FLATTEN void ab_patch_columns_add(const abPatchSlope* G, const abPatchColumns* A,
                                             const abPatchColumns* C, int n, double* B) {
  for (int i = 0; i < A->n; i++) {
    double y[6], *to = B + A->at[i] * n;
    weigh(G, A, i, y);
    for (int j = 0; j < (A == C ? i + 1 : C->n); j += 4) {
      const int* at = C->at + j;
      Four z = {0};
      for (int k = 0; k < 6; k++) z += LOAD(C->T + k * C->room + j) * y[k];
      for (int l = 0; l < 4; l++) to[at[l]] += z[l];
    }
  }
}
