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
// elimination has fallen below `floor`.
#include "solve/block_cholesky.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "math/spatial.h"

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
  int add = (more / 4096 + 1) * 4096;  // whole cache lines: what is taken next follows directly
  if (!ab_arena_take(arena, sizeof(int) * (size_t)add)) return false;
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
  e->row = AB_TAKE(scratch, int, 0);
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

static abStatus index_blocks(abBlockSymbolic* s, abArena* keep) {
  int n = s->n, nblock = s->start[n];
  int* value = AB_TAKE(keep, int, nblock + 1);
  int* left = AB_TAKE(keep, int, n + 2);
  int* at = AB_TAKE(keep, int, nblock - n + 1);
  int* column = AB_TAKE(keep, int, nblock - n + 1);
  if (!value || !left || !at || !column) return AB_ERROR_MEMORY;
  memset(left, 0, sizeof(int) * (size_t)(n + 2));
  int nvalue = 0;
  for (int k = 0; k < n; k++)
    for (int b = s->start[k]; b < s->start[k + 1]; b++) {
      value[b] = nvalue;
      nvalue += s->size[s->order[s->row[b]]] * s->size[s->order[k]];
      if (s->row[b] != k) left[s->row[b] + 2]++;
    }
  value[nblock] = nvalue;
  for (int k = 0; k <= n; k++) left[k + 1] += left[k];
  for (int k = 0; k < n; k++)
    for (int b = s->start[k] + 1; b < s->start[k + 1]; b++) {
      int to = left[s->row[b] + 1]++;
      at[to] = b;
      column[to] = k;
    }
  s->value = value;
  s->nvalue = nvalue + s->offset[n];  // the diagonal's old entries are kept behind the blocks
  s->left = left, s->left_at = at, s->left_column = column;
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
  }
  for (int i = 0; i < nedge; i++) join(&g, edge[i][0], edge[i][1]);
  abStatus status = run_elimination(&g, size, max_flops, &e, scratch);
  ab_arena_release(scratch, mark);
  if (status != AB_OK) return status;
  // `keep` may be the same arena as `scratch`: then the rows move down over released memory
  int* row = AB_TAKE(keep, int, e.nrow);
  if (!row) return AB_ERROR_MEMORY;
  memmove(row, e.row, sizeof(int) * (size_t)e.nrow);
  e.row = row;
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

// Blocks of so many rows, those of joint trees, are factorised and solved along rows of L^T.
enum { LARGE = 8 };

// Dense Cholesky of a diagonal block, pivots guarded against what the diagonal was before.
static int factor_diagonal(int n, double* A, const double* before, double floor) {
  if (n >= LARGE) return dense_cholesky_mirrored(n, A, before, floor);
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

// X <- X L^-T for a block X of m rows
static void divide_rows(int m, int n, const double* L, double* X) {
  for (int i = 0; i < m; i++) {
    double* x = X + i * n;
    for (int j = 0; j < n; j++) {
      double t = x[j];
      for (int k = 0; k < j; k++) t -= x[k] * L[j * n + k];
      x[j] = t / L[j * n + j];
    }
  }
}

// L^-T of a 6 x 6 block, row by row of the upper triangle.
static void invert_transposed6(const double* L, double P[36]) {
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      double t = i == j;
      for (int k = i; k < j; k++) t -= P[6 * i + k] * L[6 * j + k];
      P[6 * i + j] = j < i ? 0 : t / L[7 * j];
    }
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
  if (nj != 6) {
    for (int b = first; b < last; b++)
      divide_rows(s->size[s->order[s->row[b]]], nj, diagonal, value + s->value[b]);
  } else if (first < last) {
    double P[36];
    invert_transposed6(diagonal, P);
    multiply_rows6((s->value[last] - s->value[first]) / 6, P, value + s->value[first]);
  }
}

// Blocks are handed to the loops for 6 x 6 ones in batches of at most this many.
enum { BATCH = 64 };

// Takes off column j what column k, whose block in row j is stored as `first`, adds to it. The rows
// of column k below j are among those of column j.
static void subtract_column(const abBlockSymbolic* s, double* value, int j, int k, int first) {
  int nj = s->size[s->order[j]], nk = s->size[s->order[k]], to[BATCH];
  const double* Ljk = value + s->value[first];
  int at = s->start[j], end = s->start[k + 1];
  for (int b = first; b < end;) {
    int m = 0;
    for (; b + m < end && m < BATCH; m++, at++) {
      while (s->row[at] != s->row[b + m]) at++;
      int ni = s->size[s->order[s->row[at]]];
      if (ni != 6 || nj != 6 || nk != 6) break;
      to[m] = s->value[at];
    }
    if (m > 0) {
      subtract_products6(m, value + s->value[b], Ljk, value, to);
      b += m;
    } else {
      int ni = s->size[s->order[s->row[at]]];
      subtract_product(ni, nj, nk, value + s->value[b], Ljk, value + s->value[at]);
      b++, at++;
    }
  }
}

int ab_block_factor(const abBlockSymbolic* s, double* value, double floor) {
  int nreplaced = 0;
  for (int j = 0; j < s->n; j++) {
    int nj = s->size[s->order[j]];
    double* diagonal = value + s->value[s->start[j]];
    double* before = value + s->value[s->start[s->n]] + s->offset[s->order[j]];
    for (int i = 0; i < nj; i++) before[i] = diagonal[i * nj + i];
    for (int t = s->left[j]; t < s->left[j + 1]; t++)
      subtract_column(s, value, j, s->left_column[t], s->left_at[t]);
    nreplaced += factor_diagonal(nj, diagonal, before, floor);
    divide_column(s, value, j);
  }
  return nreplaced;
}

// y -= B x for m stacked 6 x 6 blocks B; the entries of y for block b begin at y[to[b]].
AB_SIMD static void subtract_forward6(int m, const double* restrict B, const double* restrict x,
                                      double* restrict y, const int* to) {
  Four four = *(const Four*)x, ends = JOIN(*(const Two*)(x + 4), *(const Two*)(x + 4));
  for (int b = 0; b < m; b++)
    for (int i = 0; i < 6; i += 2, B += 12) {
      Rows r = load_rows(B);
      Four p = r.first * four, q = r.second * four, e = r.ends * ends;
      Four pairs =
          __builtin_shufflevector(p, q, 0, 4, 2, 6) + __builtin_shufflevector(p, q, 1, 5, 3, 7);
      Two sum = __builtin_shufflevector(pairs, pairs, 0, 1) +
                __builtin_shufflevector(pairs, pairs, 2, 3) +
                (__builtin_shufflevector(e, e, 0, 2) + __builtin_shufflevector(e, e, 1, 3));
      *(Two*)(y + to[b] + i) -= sum;
    }
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

// Where the entries of the blocks first .. begin in a vector, as long as all are 6 x 6, at most
// BATCH of them; returns their number.
static int batch_of(const abBlockSymbolic* s, int nj, int first, int end, int* at) {
  int m = 0;
  for (; nj == 6 && first + m < end && m < BATCH; m++) {
    int i = s->order[s->row[first + m]];
    if (s->size[i] != 6) break;
    at[m] = s->offset[i];
  }
  return m;
}

// x <- L^-1 x and L^-T x of a large block, above whose diagonal L^T stands.
AB_SIMD static void solve_lower(int n, const double* restrict L, double* restrict x) {
  for (int k = 0; k < n; k++) {
    double t = x[k] /= L[k * n + k];
    for (int i = k + 1; i < n; i++) x[i] -= L[k * n + i] * t;
  }
}

AB_SIMD static void solve_upper(int n, const double* restrict L, double* restrict x) {
  for (int k = n - 1; k >= 0; k--) {
    double t = x[k] /= L[k * n + k];
    for (int i = 0; i < k; i++) x[i] -= L[k * n + i] * t;
  }
}

static void solve_forward(const abBlockSymbolic* s, const double* value, double* x) {
  for (int j = 0; j < s->n; j++) {
    int nj = s->size[s->order[j]], at[BATCH];
    double* xj = x + s->offset[s->order[j]];
    const double* L = value + s->value[s->start[j]];
    if (nj >= LARGE) solve_lower(nj, L, xj);
    for (int i = 0; i < nj && nj < LARGE; i++) {
      double t = xj[i];
      for (int k = 0; k < i; k++) t -= L[i * nj + k] * xj[k];
      xj[i] = t / L[i * nj + i];
    }
    for (int b = s->start[j] + 1, m; b < s->start[j + 1]; b += m) {
      const double* B = value + s->value[b];
      m = batch_of(s, nj, b, s->start[j + 1], at);
      if (m > 0) {
        subtract_forward6(m, B, xj, x, at);
      } else {
        int i = s->order[s->row[b]];
        for (int r = 0; r < s->size[i]; r++)
          for (int k = 0; k < nj; k++) x[s->offset[i] + r] -= B[r * nj + k] * xj[k];
        m = 1;
      }
    }
  }
}

static void solve_backward(const abBlockSymbolic* s, const double* value, double* x) {
  for (int j = s->n - 1; j >= 0; j--) {
    int nj = s->size[s->order[j]], at[BATCH];
    double* xj = x + s->offset[s->order[j]];
    for (int b = s->start[j] + 1, m; b < s->start[j + 1]; b += m) {
      const double* B = value + s->value[b];
      m = batch_of(s, nj, b, s->start[j + 1], at);
      if (m > 0) {
        subtract_backward6(m, B, x, at, xj);
      } else {
        int i = s->order[s->row[b]];
        for (int r = 0; r < s->size[i]; r++)
          for (int k = 0; k < nj; k++) xj[k] -= B[r * nj + k] * x[s->offset[i] + r];
        m = 1;
      }
    }
    const double* L = value + s->value[s->start[j]];
    if (nj >= LARGE) solve_upper(nj, L, xj);
    for (int i = nj - 1; i >= 0 && nj < LARGE; i--) {
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
