// Bodies of joint trees: from a tree's velocities to the local twist of a contact, and back.
//
// The columns of a contact's side are kept as six rows, one for each part of the twist, of `room`
// numbers. Velocities of a branch mostly follow each other: columns come in fours of successive
// velocities, zero where one of them does not move the body, so that vectors of velocities and rows
// of matrices are read and written as they lie. The last four may begin within the one before:
// what both have is in the last. Blocks of fewer than four velocities have their columns one by
// one.
// Tests: test_tree_contact.
#include <limits.h>
#include <string.h>

#include "contact/patch/patch.h"
#include "math/quad.h"
#include "math/spatial.h"

typedef abFour Four __attribute__((aligned(8), may_alias));
#define LOAD(p) (*(const Four*)(p))

static int fours(int n) { return (n + 3) / 4 * 4; }

// --- making them

// A velocity that moves the contact: column j of the body of side k, and where its column goes.
typedef struct Mover {
  int k, j, at, place;
} Mover;

// Two bodies of one tree: joints that carry both do not move them against each other. The order is
// ascending in both, and so it is left.
static int find_difference(const abPatchContact* c, Mover* list) {
  const abPatchBranch *a = c->side[0].branch, *b = c->side[1].branch;
  int n = 0;
  for (int i = 0, j = 0; i < a->n || j < b->n;) {
    int p = i < a->n ? a->at[i] : INT_MAX, q = j < b->n ? b->at[j] : INT_MAX;
    if (p < q) list[n++] = (Mover){0, i, p, 0};
    if (q < p) list[n++] = (Mover){1, j, q, 0};
    i += p <= q, j += q <= p;
  }
  return n;
}

static int find_all(const abPatchContact* c, int k, Mover* list) {
  const abPatchBranch* own = c->side[k].branch;
  for (int j = 0; j < own->n; j++) list[j] = (Mover){k, j, own->at[j], 0};
  return own->n;
}

static int four_of(int at, int size) { return at < size - 4 ? at : size - 4; }

static int count_fours(const Mover* list, int n, int size) {
  int count = 0;
  for (int i = 0, end = -1; i < n; i++) {
    if (list[i].at < end) continue;
    end = four_of(list[i].at, size) + 4;
    count++;
  }
  return count;
}

static bool take_columns(abArena* arena, int n, bool in_fours, abPatchColumns* c) {
  *c = (abPatchColumns){.room = n};
  c->at = AB_TAKE(arena, int, n);
  c->T = AB_TAKE(arena, double, 6 * n);
  c->four = in_fours ? AB_TAKE(arena, abPatchFour, n / 4) : NULL;
  if (!c->at || !c->T || (in_fours && !c->four)) return false;
  memset(c->at, 0, sizeof *c->at * (size_t)n);
  memset(c->T, 0, sizeof *c->T * 6 * (size_t)n);
  return true;
}

// The first columns of the list, as many as belong to one four. What the last four has, too, goes
// there.
static int open_four(Mover* list, int n, int size, abPatchColumns* to) {
  int start = four_of(list[0].at, size), end = start + 4, count = 0;
  abPatchFour* four = &to->four[to->n / 4];
  while (count < n && list[count].at < end) count++;
  if (count < n && four_of(list[count].at, size) < end)
    while (list[count - 1].at >= size - 4) count--;
  *four = (abPatchFour){.at = start};
  for (int i = 0; i < count; i++) {
    list[i].place = to->n + list[i].at - start;
    four->real |= 1 << (list[i].at - start);
  }
  for (int l = 0; l < 4; l++) to->at[to->n + l] = start + l;
  to->n += 4;
  return count;
}

// Axes, and what is felt across the lever of a side, as columns of four numbers: the local twist
// (axis . (lin + ang x r), axis . ang) of a velocity is (A lin + B ang, A ang).
typedef struct Frame {
  double A[3][4], B[3][4];
} Frame;

static inline void set_frame(const abPatchContact* c, int k, Frame* f) {
  *f = (Frame){{{0}}, {{0}}};
  for (int i = 0; i < 3; i++) {
    abVec3 e = v3_scale(k == 0 ? 1 : -1, c->axis[i]), m = v3_cross(c->side[k].r, e);
    f->A[0][i] = e.x, f->A[1][i] = e.y, f->A[2][i] = e.z;
    f->B[0][i] = m.x, f->B[1][i] = m.y, f->B[2][i] = m.z;
  }
}

AB_SIMD AB_FLATTEN static void fill_columns(const abPatchContact* c, const Mover* list, int n,
                                            const abPatchColumns* to) {
  Frame frame[2];
  for (int k = 0; k < 2; k++)
    if (c->side[k].branch) set_frame(c, k, &frame[k]);
  for (int m = 0; m < n; m++) {
    const Frame* f = &frame[list[m].k];
    const double* J = c->side[list[m].k].branch->J[list[m].j];
    Four a = LOAD(f->A[0]), b = LOAD(f->A[1]), d = LOAD(f->A[2]);
    Four lin = (a * J[0] + b * J[1] + d * J[2]) +
               (LOAD(f->B[0]) * J[3] + LOAD(f->B[1]) * J[4] + LOAD(f->B[2]) * J[5]);
    Four ang = a * J[3] + b * J[4] + d * J[5];
    double* T = to->T + list[m].place;
    for (int i = 0; i < 3; i++) T[i * to->room] = lin[i], T[(3 + i) * to->room] = ang[i];
  }
}

static bool make_columns(const abPatchContact* c, Mover* list, int n, int size, abArena* arena,
                         abPatchColumns* to) {
  bool in_fours = size >= 4;
  int room = in_fours ? 4 * count_fours(list, n, size) : fours(n);
  if (!take_columns(arena, room, in_fours, to)) return false;
  for (int m = 0; m < n;) {
    if (in_fours) {
      m += open_four(list + m, n - m, size, to);
    } else {
      list[m].place = to->n, to->at[to->n++] = list[m].at;
      m++;
    }
  }
  fill_columns(c, list, n, to);
  return true;
}

abStatus ab_patch_columns(abPatchIsland* island, abArena* arena) {
  int most = 0;
  for (int b = 0; b < island->nblock; b++) most = most > island->size[b] ? most : island->size[b];
  Mover* list = AB_TAKE(arena, Mover, 2 * most);
  if (!list) return AB_ERROR_MEMORY;
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    bool same = c->side[0].branch && c->side[0].block == c->side[1].block;
    c->tree[0] = c->tree[1] = (abPatchColumns){0};
    for (int k = 0; k < (same ? 1 : 2); k++) {
      if (!c->side[k].branch) continue;
      int n = same ? find_difference(c, list) : find_all(c, k, list);
      if (!make_columns(c, list, n, c->side[k].n, arena, &c->tree[k])) return AB_ERROR_MEMORY;
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
    Four x;
    if (c->four)
      x = LOAD(v + c->four[j / 4].at);
    else
      x = (Four){v[at[0]], v[at[1]], v[at[2]], v[at[3]]};
    for (int i = 0; i < 6; i++) sum[i] += LOAD(c->T + i * c->room + j) * x;
  }
  for (int i = 0; i < 6; i++) V[i] += AB_TOTAL(sum[i]);
}

AB_SIMD AB_FLATTEN void ab_patch_columns_scatter(const abPatchColumns* c, const double f[6],
                                                 double* g) {
  for (int j = 0; j < c->n; j += 4) {
    Four y = {0};
    for (int i = 0; i < 6; i++) y += LOAD(c->T + i * c->room + j) * f[i];
    if (c->four)
      *(Four*)(g + c->four[j / 4].at) += y;
    else
      for (int l = 0; l < 4; l++) g[c->at[j + l]] += y[l];
  }
}

// G times the columns i .. i + 3
static inline void weigh(const abPatchSlope* G, const abPatchColumns* c, int i, double Y[6][4]) {
  const double *t = G->t, *g = G->n;
  Four x[6], y[6];
  for (int k = 0; k < 6; k++) x[k] = LOAD(c->T + k * c->room + i);
  y[0] = t[0] * x[0] + t[1] * x[1] + t[3] * x[5];
  y[1] = t[1] * x[0] + t[2] * x[1] + t[4] * x[5];
  y[2] = g[0] * x[2] + g[1] * x[3] + g[3] * x[4];
  y[3] = g[1] * x[2] + g[2] * x[3] + g[4] * x[4];
  y[4] = g[3] * x[2] + g[4] * x[3] + g[5] * x[4];
  y[5] = t[3] * x[0] + t[4] * x[1] + t[5] * x[5];
  for (int k = 0; k < 6; k++) *(Four*)Y[k] = y[k];
}

// Row `to` of B: y times the first m columns of C.
static inline void add_row(const abPatchColumns* C, int m, double y[6][4], int l, double* to) {
  const double *p = C->T, *q = p + C->room, *r = q + C->room, *s = r + C->room, *t = s + C->room,
               *u = t + C->room;
  double a = y[0][l], b = y[1][l], c = y[2][l], d = y[3][l], e = y[4][l], f = y[5][l];
  for (int j = 0; j < m; j += 4) {
    Four z = a * LOAD(p + j) + b * LOAD(q + j) + c * LOAD(r + j) + d * LOAD(s + j) +
             e * LOAD(t + j) + f * LOAD(u + j);
    if (C->four)
      *(Four*)(to + C->four[j / 4].at) += z;
    else
      for (int i = 0; i < 4; i++) to[C->at[j + i]] += z[i];
  }
}

AB_SIMD AB_FLATTEN void ab_patch_columns_add(const abPatchSlope* G, const abPatchColumns* A,
                                             const abPatchColumns* C, int n, double* B) {
  for (int i = 0; i < A->n; i += 4) {
    int left = A->n - i, real = A->four ? A->four[i / 4].real : (1 << (left < 4 ? left : 4)) - 1;
    double y[6][4];
    weigh(G, A, i, y);
    for (int l = 0; l < 4; l++)
      if (real >> l & 1) add_row(C, A == C ? i + l + 1 : C->n, y, l, B + A->at[i + l] * n);
  }
}
