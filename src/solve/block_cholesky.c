// Block-sparse Cholesky: order, pattern, factors.
//
// Order: by explicit elimination on the graph of blocks. Eliminating a block joins all its
// neighbours to a clique; the neighbours are the rows of its column of L. The adjacency is a square
// of bits where the graph is small enough for it, which makes the union of two neighbour sets a few
// words long. Next comes the block that makes the fewest new pairs of neighbours per neighbour, at
// equality that of the smallest degree, in scalar rows: on the graphs of piles factors cost up to
// a third less than with the smallest degree alone, on regular grids the same. The number of new
// pairs is brought up to date for the neighbours of what is eliminated only; it can have fallen for
// others, which then come later.
//
// Factors: left-looking. Column j gathers A_ij - sum_k L_ik L_jk^T over the columns k < j with a
// block in row j, then its diagonal block is factorised densely and the rest divided by it. A pivot
// is replaced when cancellation has eaten it: the ratio of the pivot to its diagonal entry before
// elimination has fallen below `floor`. Blocks of six rows, those of free bodies, keep L_jj^-T in
// place of L_jj: dividing by it is a product, with a column and with a vector.
#include "solve/block_cholesky.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "math/branch.h"

typedef struct Graph {
  int n, nword;
  uint64_t* bit;  // n rows of nword words
} Graph;

static uint64_t* bits_of(const Graph* g, int i) { return g->bit + (size_t)i * (size_t)g->nword; }
static void join(const Graph* g, int i, int j) {
  bits_of(g, i)[j >> 6] |= (uint64_t)1 << (j & 63);
  bits_of(g, j)[i >> 6] |= (uint64_t)1 << (i & 63);
}

// The members of row i of the graph, ascending; returns their number.
static int members(const Graph* g, int i, int* list) {
  const uint64_t* b = bits_of(g, i);
  int n = 0;
  for (int k = 0; k < g->nword; k++)
    for (uint64_t word = b[k]; word; word &= word - 1) list[n++] = (k << 6) + __builtin_ctzll(word);
  return n;
}

// Twice the number of pairs among the n neighbours (list) of block i that are not neighbours yet.
AB_SIMD static int missing(const Graph* g, int i, const int* list, int n) {
  const uint64_t* own = bits_of(g, i);
  int low = n > 0 ? list[0] >> 6 : 0, high = n > 0 ? list[n - 1] >> 6 : -1, sum = -n;
  for (int k = 0; k < n; k++) {
    const uint64_t* other = bits_of(g, list[k]);
    for (int w = low; w <= high; w++) sum += __builtin_popcountll(own[w] & ~other[w]);
  }
  return sum;
}

// What the choice goes by, the smaller the better; degree < 0: eliminated.
typedef struct Rank {
  double degree, growth;
} Rank;

static Rank rank_of(const Graph* g, int i, const int* size, int* list) {
  Rank r = {0, 0};
  int n = members(g, i, list);
  for (int k = 0; k < n; k++) r.degree += size[list[k]];
  if (n > 0) r.growth = (double)missing(g, i, list, n) / n;
  return r;
}

static int best_of(int n, const Rank* rank) {
  int best = -1;
  for (int i = 0; i < n; i++) {
    if (rank[i].degree < 0) continue;
    if (best < 0 || rank[i].growth < rank[best].growth ||
        (rank[i].growth == rank[best].growth && rank[i].degree < rank[best].degree))
      best = i;
  }
  return best;
}

// Eliminates block i: its neighbours (list, m of them) become a clique without i.
static void eliminate(Graph* g, int i, const int* list, int m) {
  const uint64_t* from = bits_of(g, i);
  for (int k = 0; k < m; k++) {
    uint64_t* to = bits_of(g, list[k]);
    for (int w = 0; w < g->nword; w++) to[w] |= from[w];
    to[list[k] >> 6] &= ~((uint64_t)1 << (list[k] & 63));
    to[i >> 6] &= ~((uint64_t)1 << (i & 63));
  }
}

typedef struct Elimination {
  int *order, *start, *row;  // rows in the caller's numbering until renamed
  int nrow, capacity;
  double flops;
} Elimination;

// Room for one more column; the rows grow at the end of the arena.
static bool grow(Elimination* e, int more, abArena* arena) {
  if (e->nrow + more <= e->capacity) return true;
  int add = (more / 4096 + 1) * 4096;
  int* row =
      ab_arena_extend(arena, e->row, sizeof(int) * (size_t)e->capacity, sizeof(int) * (size_t)add);
  if (!row) return false;
  e->row = row;
  e->capacity += add;
  return true;
}

static abStatus run_elimination(Graph* g, const int* size, double max_flops, Elimination* e,
                                abArena* scratch) {
  int n = g->n;
  Rank* rank = AB_TAKE(scratch, Rank, n);
  int* list = AB_TAKE(scratch, int, n);
  int* sub = AB_TAKE(scratch, int, n);
  if (!rank || !list || !sub) return AB_ERROR_MEMORY;
  for (int i = 0; i < n; i++) rank[i] = rank_of(g, i, size, list);
  e->row = NULL;
  for (int k = 0; k < n; k++) {
    int best = best_of(n, rank), m = members(g, best, list);
    double s = size[best], d = rank[best].degree;
    e->flops += s * s * s / 3 + s * s * d + s * d * (d + 1);
    if (e->flops > max_flops) return AB_ERROR_UNSUPPORTED;
    if (!grow(e, m + 1, scratch)) return AB_ERROR_MEMORY;
    e->order[k] = best;
    e->start[k] = e->nrow;
    e->row[e->nrow++] = best;
    memcpy(e->row + e->nrow, list, sizeof(int) * (size_t)m);
    e->nrow += m;
    eliminate(g, best, list, m);
    rank[best].degree = -1;
    for (int i = 0; i < m; i++) rank[list[i]] = rank_of(g, list[i], size, sub);
  }
  e->start[n] = e->nrow;
  return AB_OK;
}

// Rows into elimination order, ascending in each column (insertion sort: columns are short).
static void rename_rows(const Elimination* e, int n, const int* place) {
  for (int k = 0; k < n; k++) {
    int* r = e->row + e->start[k];
    int m = e->start[k + 1] - e->start[k];
    for (int i = 0; i < m; i++) {
      int p = place[r[i]], j = i;
      for (; j > 0 && r[j - 1] > p; j--) r[j] = r[j - 1];
      r[j] = p;
    }
  }
}

// Where the blocks of column k below row j, the first of them stored as `first`, are in column j:
// its rows are among those of column j.
static int* find_targets(const abBlockSymbolic* s, int j, int k, int first, int* to) {
  int at = s->start[j];
  for (int b = first; b < s->start[k + 1]; b++, at++) {
    while (s->row[at] != s->row[b]) at++;
    *to++ = s->value[at];
  }
  return to;
}

static abStatus index_blocks(abBlockSymbolic* s, abArena* keep) {
  int n = s->n, nblock = s->start[n], nupdate = 0;
  int* value = AB_TAKE(keep, int, nblock + 1);
  int* entry = AB_TAKE(keep, int, nblock);
  int* left = AB_TAKE(keep, int, n + 2);
  int* at = AB_TAKE(keep, int, nblock - n + 1);
  int* column = AB_TAKE(keep, int, nblock - n + 1);
  if (!value || !entry || !left || !at || !column) return AB_ERROR_MEMORY;
  memset(left, 0, sizeof(int) * (size_t)(n + 2));
  int nvalue = 0;
  for (int k = 0; k < n; k++)
    for (int b = s->start[k]; b < s->start[k + 1]; b++) {
      value[b] = nvalue;
      entry[b] = s->offset[s->order[s->row[b]]];
      nvalue += s->size[s->order[s->row[b]]] * s->size[s->order[k]];
      if (s->row[b] != k) left[s->row[b] + 2]++, nupdate += s->start[k + 1] - b;
    }
  value[nblock] = nvalue;
  for (int k = 0; k <= n; k++) left[k + 1] += left[k];
  for (int k = 0; k < n; k++)
    for (int b = s->start[k] + 1; b < s->start[k + 1]; b++) {
      int to = left[s->row[b] + 1]++;
      at[to] = b;
      column[to] = k;
    }
  s->value = value, s->entry = entry;
  s->nvalue = nvalue + s->offset[n];  // the diagonal's old entries are kept behind the blocks
  s->left = left, s->left_at = at, s->left_column = column;
  int* to = AB_TAKE(keep, int, nupdate);
  if (!to) return AB_ERROR_MEMORY;
  s->target = to;
  for (int j = 0; j < n; j++)
    for (int t = left[j]; t < left[j + 1]; t++) to = find_targets(s, j, column[t], at[t], to);
  return AB_OK;
}

abStatus ab_block_symbolic(int n, const int* size, int nedge, const int (*edge)[2],
                           double max_flops, abArena* keep, abArena* scratch, abBlockSymbolic* s) {
  *s = (abBlockSymbolic){.n = n};
  int* own_size = AB_TAKE(keep, int, n);
  int* offset = AB_TAKE(keep, int, n + 1);
  int* place = AB_TAKE(keep, int, n);
  Elimination e = {.order = AB_TAKE(keep, int, n), .start = AB_TAKE(keep, int, n + 1)};
  abArenaMark mark = ab_arena_mark(scratch);
  Graph g = {.n = n, .nword = (n + 63) / 64};
  g.bit = AB_TAKE(scratch, uint64_t, (size_t)n * (size_t)g.nword);
  if (!own_size || !offset || !place || !e.order || !e.start || !g.bit) return AB_ERROR_MEMORY;
  memset(g.bit, 0, sizeof(uint64_t) * (size_t)n * (size_t)g.nword);
  memcpy(own_size, size, sizeof(int) * (size_t)n);
  offset[0] = 0;
  for (int i = 0; i < n; i++) {
    offset[i + 1] = offset[i] + size[i];
    if (size[i] > s->largest) s->largest = size[i];
    s->mixed |= size[i] != 6;
  }
  for (int i = 0; i < nedge; i++) join(&g, edge[i][0], edge[i][1]);
  abStatus status = run_elimination(&g, size, max_flops, &e, scratch);
  ab_arena_release(scratch, mark);
  if (status != AB_OK) return status;
  // `keep` may be the same arena as `scratch`: then the rows move down over released memory
  e.row = ab_arena_save(keep, e.row, sizeof(int) * (size_t)e.nrow);
  if (!e.row) return AB_ERROR_MEMORY;
  for (int k = 0; k < n; k++) place[e.order[k]] = k;
  rename_rows(&e, n, place);
  s->size = own_size, s->offset = offset;
  s->order = e.order, s->place = place, s->start = e.start, s->row = e.row, s->flops = e.flops;
  return index_blocks(s, keep);
}

int ab_block_find(const abBlockSymbolic* s, int i, int j, bool* transposed) {
  int p = s->place[i], q = s->place[j];
  *transposed = p < q;
  int column = p < q ? p : q, row = p < q ? q : p;
  int low = s->start[column], high = s->start[column + 1] - 1;
  while (low < high) {
    int mid = (low + high) / 2;
    if (s->row[mid] < row)
      low = mid + 1;
    else
      high = mid;
  }
  return s->row[low] == row ? s->value[low] : -1;
}

// C (ni x nj) -= A (ni x nk) B^T (nj x nk)
static void subtract_product(int ni, int nj, int nk, const double* restrict A,
                             const double* restrict B, double* restrict C) {
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) {
      double sum = 0;
      for (int k = 0; k < nk; k++) sum += A[i * nk + k] * B[j * nk + k];
      C[i * nj + j] -= sum;
    }
}

typedef double Four __attribute__((vector_size(32), aligned(8)));
typedef double Two __attribute__((vector_size(16), aligned(8)));

// A row of six entries is a register of four and half of one that it shares with the next row.
#define ALL(x) ((Four){(x), (x), (x), (x)})
#define JOIN(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3)    // two halves
#define HALVES(a, b) __builtin_shufflevector(a, b, 0, 1, 6, 7)  // the first of a, the second of b

typedef struct Rows {
  Four first, second, ends;
} Rows;

static inline Rows load_rows(const double* x) {
  return (Rows){*(const Four*)x, *(const Four*)(x + 6),
                JOIN(*(const Two*)(x + 4), *(const Two*)(x + 10))};
}

// `next`: where the second row is from the first.
static inline void store_rows(Rows r, int next, double* x) {
  *(Four*)x = r.first;
  *(Four*)(x + next) = r.second;
  *(Two*)(x + 4) = __builtin_shufflevector(r.ends, r.ends, 0, 1);
  *(Two*)(x + next + 4) = __builtin_shufflevector(r.ends, r.ends, 2, 3);
}

// The same for m stacked 6 x 6 blocks A at once, each taken off a block of its own: C[b] begins at
// value[to[b]].
AB_SIMD static void subtract_products6(int m, const double* restrict A, const double* restrict B,
                                       double* restrict value, const int* to) {
  Four four[6], ends[6];
  for (int k = 0; k < 6; k++) {
    four[k] = (Four){B[k], B[6 + k], B[12 + k], B[18 + k]};
    ends[k] = (Four){B[24 + k], B[30 + k], B[24 + k], B[30 + k]};
  }
  for (int b = 0; b < m; b++)
    for (int i = 0; i < 36; i += 12, A += 12) {
      Rows c = load_rows(value + to[b] + i);
      for (int k = 0; k < 6; k += 2) {
        Four both = JOIN(*(const Two*)(A + k), *(const Two*)(A + 6 + k));
        c.first -= ALL(A[k]) * four[k];
        c.second -= ALL(A[6 + k]) * four[k];
        c.ends -= __builtin_shufflevector(both, both, 0, 0, 2, 2) * ends[k];
        c.first -= ALL(A[k + 1]) * four[k + 1];
        c.second -= ALL(A[7 + k]) * four[k + 1];
        c.ends -= __builtin_shufflevector(both, both, 1, 1, 3, 3) * ends[k + 1];
      }
      store_rows(c, 6, value + to[b] + i);
    }
}

// Blocks of so many rows are those of joint trees, with another triangular factor (math/branch.h):
// the diagonal block is F F^T here and there, F = L or L^T.
enum { LARGE_BLOCK = 8 };

// Dense Cholesky of a diagonal block, pivots guarded against what the diagonal was before.
static int factor_diagonal(int n, double* A, const double* before, double floor) {
  if (n >= LARGE_BLOCK) return branch_factor(n, A, before, floor);
  int nreplaced = 0;
  for (int j = 0; j < n; j++) {
    double d = A[j * n + j];
    for (int k = 0; k < j; k++) d -= A[j * n + k] * A[j * n + k];
    if (!(d > floor * before[j])) {
      d = before[j] > 0 ? before[j] : 1;
      nreplaced++;
    }
    double root = sqrt(d);
    A[j * n + j] = root;
    for (int i = j + 1; i < n; i++) {
      double t = A[i * n + j];
      for (int k = 0; k < j; k++) t -= A[i * n + k] * A[j * n + k];
      A[i * n + j] = t / root;
    }
  }
  return nreplaced;
}

// X <- X F^-T for a block X of m rows
static void divide_rows(int m, int n, const double* L, double* X) {
  for (int i = 0; i < m; i++) {
    double* x = X + i * n;
    if (n >= LARGE_BLOCK) branch_upper(n, L, x);
    for (int j = 0; j < n && n < LARGE_BLOCK; j++) {
      double t = x[j];
      for (int k = 0; k < j; k++) t -= x[k] * L[j * n + k];
      x[j] = t / L[j * n + j];
    }
  }
}

// The same of six rows, with L^-T in its place: what makes rows of L^T of those of A makes rows of
// L^-1 of those of the identity. A row is a register of four and one of two.
AB_SIMD static int factor_six(double* restrict A, const double* restrict before, double floor) {
  static const double unit[6][6] = {{1},          {0, 1},          {0, 0, 1},
                                    {0, 0, 0, 1}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 1}};
  int nreplaced = 0;
  Four a[6], x[6];
  Two b[6], y[6];
  double row[6], pivot[6], inverse[6][6];
  for (int i = 0; i < 6; i++)
    for (int j = i + 1; j < 6; j++) A[6 * i + j] = A[6 * j + i];
  for (int i = 0; i < 6; i++) {
    a[i] = *(const Four*)(A + 6 * i), b[i] = *(const Two*)(A + 6 * i + 4);
    x[i] = *(const Four*)unit[i], y[i] = *(const Two*)(unit[i] + 4);
  }
  for (int j = 0; j < 6; j++) {
    *(Four*)row = a[j], *(Two*)(row + 4) = b[j];
    double d = row[j];
    if (!(d > floor * before[j])) {
      d = before[j] > 0 ? before[j] : 1;
      nreplaced++;
    }
    pivot[j] = d;
    double per = 1 / d;
    for (int i = j + 1; i < 6; i++) {
      double w = per * row[i];
      a[i] -= w * a[j], b[i] -= w * b[j];
      x[i] -= w * x[j], y[i] -= w * y[j];
    }
  }
  for (int j = 0; j < 6; j++) {  // the roots do not wait for each other here
    double per = 1 / sqrt(pivot[j]);
    *(Four*)inverse[j] = per * x[j], *(Two*)(inverse[j] + 4) = per * y[j];
  }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) A[6 * i + j] = inverse[j][i];
  return nreplaced;
}

// X <- X P for m rows of six.
AB_SIMD static void multiply_rows6(int m, const double P[36], double* X) {
  Four four[6], ends[6];
  for (int k = 0; k < 6; k++) {
    four[k] = *(const Four*)(P + 6 * k);
    ends[k] = JOIN(*(const Two*)(P + 6 * k + 4), *(const Two*)(P + 6 * k + 4));
  }
  for (int i = 0; i < m; i += 2, X += 12) {
    int next = i + 1 < m ? 6 : 0;  // an odd last row: twice the same
    Rows c = {0};
    for (int k = 0; k < 6; k++) {
      Four p = ALL(X[k]), q = ALL(X[next + k]);
      c.first += p * four[k];
      c.second += q * four[k];
      c.ends += HALVES(p, q) * ends[k];
    }
    store_rows(c, next, X);
  }
}

// Divides the blocks of column j below its diagonal by it.
static void divide_column(const abBlockSymbolic* s, double* value, int j) {
  int nj = s->size[s->order[j]], first = s->start[j] + 1, last = s->start[j + 1];
  const double* diagonal = value + s->value[s->start[j]];
  if (nj == 6 && first < last)
    multiply_rows6((s->value[last] - s->value[first]) / 6, diagonal, value + s->value[first]);
  for (int b = first; b < last && nj != 6; b++)
    divide_rows(s->size[s->order[s->row[b]]], nj, diagonal, value + s->value[b]);
}

// Takes off column j what column k, whose block in row j is stored as `first`, adds to it.
static void subtract_column(const abBlockSymbolic* s, double* value, int j, int k, int first,
                            const int* to) {
  const double* Ljk = value + s->value[first];
  int m = s->start[k + 1] - first;
  if (!s->mixed) {
    subtract_products6(m, Ljk, Ljk, value, to);
    return;
  }
  int nj = s->size[s->order[j]], nk = s->size[s->order[k]];
  for (int b = first; b < first + m; b++, to++) {
    int ni = s->size[s->order[s->row[b]]];
    const double* Lik = value + s->value[b];
    if (ni == 6 && nj == 6 && nk == 6)
      subtract_products6(1, Lik, Ljk, value, to);
    else
      subtract_product(ni, nj, nk, Lik, Ljk, value + *to);
  }
}

int ab_block_factor(const abBlockSymbolic* s, double* value, double floor) {
  int nreplaced = 0;
  const int* to = s->target;
  for (int j = 0; j < s->n; j++) {
    int nj = s->size[s->order[j]];
    double* diagonal = value + s->value[s->start[j]];
    double* before = value + s->value[s->start[s->n]] + s->offset[s->order[j]];
    for (int i = 0; i < nj; i++) before[i] = diagonal[i * nj + i];
    for (int t = s->left[j]; t < s->left[j + 1]; t++) {
      int k = s->left_column[t], first = s->left_at[t];
      subtract_column(s, value, j, k, first, to);
      to += s->start[k + 1] - first;
    }
    nreplaced += nj == 6 ? factor_six(diagonal, before, floor)
                         : factor_diagonal(nj, diagonal, before, floor);
    divide_column(s, value, j);
  }
  return nreplaced;
}

// Two rows times a vector, which is laid out as they are.
__attribute__((always_inline)) static inline Two times_rows(const double* rows, const Four* four,
                                                            const Four* ends) {
  Rows r = load_rows(rows);
  Four p = r.first * *four, q = r.second * *four, e = r.ends * *ends;
  Four pairs =
      __builtin_shufflevector(p, q, 0, 4, 2, 6) + __builtin_shufflevector(p, q, 1, 5, 3, 7);
  return __builtin_shufflevector(pairs, pairs, 0, 1) + __builtin_shufflevector(pairs, pairs, 2, 3) +
         (__builtin_shufflevector(e, e, 0, 2) + __builtin_shufflevector(e, e, 1, 3));
}

// y -= B x for m stacked 6 x 6 blocks B; the entries of y for block b begin at y[to[b]].
AB_SIMD static void subtract_forward6(int m, const double* restrict B, const double* restrict x,
                                      double* restrict y, const int* to) {
  Four four = *(const Four*)x, ends = JOIN(*(const Two*)(x + 4), *(const Two*)(x + 4));
  for (int b = 0; b < m; b++)
    for (int i = 0; i < 6; i += 2, B += 12) *(Two*)(y + to[b] + i) -= times_rows(B, &four, &ends);
}

// x -= B^T y likewise.
AB_SIMD static void subtract_backward6(int m, const double* restrict B, const double* restrict y,
                                       const int* from, double* restrict x) {
  Four four = *(const Four*)x;
  Two two = *(const Two*)(x + 4);
  for (int b = 0; b < m; b++)
    for (int i = 0; i < 6; i++, B += 6) {
      double t = y[from[b] + i];
      four -= *(const Four*)B * ALL(t);
      two -= *(const Two*)(B + 4) * (Two){t, t};
    }
  *(Four*)x = four;
  *(Two*)(x + 4) = two;
}

// x <- P^T x and P x of a diagonal block of six rows.
AB_SIMD static void multiply_transposed6(const double* restrict P, double* restrict x) {
  Four four = {0};
  Two two = {0};
  for (int k = 0; k < 6; k++, P += 6) {
    four += ALL(x[k]) * *(const Four*)P;
    two += (Two){x[k], x[k]} * *(const Two*)(P + 4);
  }
  *(Four*)x = four;
  *(Two*)(x + 4) = two;
}

AB_SIMD static void multiply6(const double* restrict P, double* restrict x) {
  Four four = *(const Four*)x, ends = JOIN(*(const Two*)(x + 4), *(const Two*)(x + 4));
  for (int i = 0; i < 6; i += 2, P += 12) *(Two*)(x + i) = times_rows(P, &four, &ends);
}

static void solve_forward(const abBlockSymbolic* s, const double* value, double* x) {
  for (int j = 0; j < s->n; j++) {
    int nj = s->size[s->order[j]], first = s->start[j] + 1, last = s->start[j + 1];
    double* xj = x + s->offset[s->order[j]];
    const double* L = value + s->value[s->start[j]];
    if (nj == 6) multiply_transposed6(L, xj);
    if (nj >= LARGE_BLOCK) branch_upper(nj, L, xj);
    for (int i = 0; i < nj && nj < LARGE_BLOCK && nj != 6; i++) {
      double t = xj[i];
      for (int k = 0; k < i; k++) t -= L[i * nj + k] * xj[k];
      xj[i] = t / L[i * nj + i];
    }
    if (!s->mixed) {
      subtract_forward6(last - first, value + s->value[first], xj, x, s->entry + first);
      continue;
    }
    for (int b = first; b < last; b++) {
      const double* B = value + s->value[b];
      int ni = s->size[s->order[s->row[b]]];
      for (int r = 0; r < ni; r++)
        for (int k = 0; k < nj; k++) x[s->entry[b] + r] -= B[r * nj + k] * xj[k];
    }
  }
}

static void solve_backward(const abBlockSymbolic* s, const double* value, double* x) {
  for (int j = s->n - 1; j >= 0; j--) {
    int nj = s->size[s->order[j]], first = s->start[j] + 1, last = s->start[j + 1];
    double* xj = x + s->offset[s->order[j]];
    const double* L = value + s->value[s->start[j]];
    if (!s->mixed)
      subtract_backward6(last - first, value + s->value[first], x, s->entry + first, xj);
    for (int b = first; b < last && s->mixed; b++) {
      const double* B = value + s->value[b];
      int ni = s->size[s->order[s->row[b]]];
      for (int r = 0; r < ni; r++)
        for (int k = 0; k < nj; k++) xj[k] -= B[r * nj + k] * x[s->entry[b] + r];
    }
    if (nj == 6) multiply6(L, xj);
    if (nj >= LARGE_BLOCK) branch_lower(nj, L, xj);
    for (int i = nj - 1; i >= 0 && nj < LARGE_BLOCK && nj != 6; i--) {
      double t = xj[i];
      for (int k = i + 1; k < nj; k++) t -= L[k * nj + i] * xj[k];
      xj[i] = t / L[i * nj + i];
    }
  }
}

void ab_block_solve(const abBlockSymbolic* s, const double* value, double* b) {
  solve_forward(s, value, b);
  solve_backward(s, value, b);
}
