// Claims about the block-sparse Cholesky factorisation.
#include <string.h>

#include "math/spatial.h"
#include "solve/block_cholesky.h"
#include "support/check.h"
#include "support/random.h"

typedef struct Case {
  int n, nedge, total;
  int size[64], offset[65], edge[512][2];
  double dense[400 * 400];
} Case;

static Case problem;
static abArena arena;

static int setup(void** state) {
  (void)state;
  ab_arena_init(&arena, (size_t)1 << 28);
  return 0;
}
static int teardown(void** state) {
  (void)state;
  ab_arena_free(&arena);
  return 0;
}

// Random graph, random blocks, made diagonally dominant enough to be positive definite.
static void make_case(Case* c, Random* r, int n, int nedge, int largest) {
  c->n = n, c->nedge = nedge, c->offset[0] = 0;
  for (int i = 0; i < n; i++) {
    c->size[i] = largest == 6 ? 6 : 1 + random_below(r, largest);
    c->offset[i + 1] = c->offset[i] + c->size[i];
  }
  int N = c->total = c->offset[n];
  memset(c->dense, 0, sizeof c->dense);
  for (int e = 0; e < nedge; e++) {
    int a = random_below(r, n), b = (a + 1 + random_below(r, n - 1)) % n;
    c->edge[e][0] = a, c->edge[e][1] = b;
    // add (x_a - T x_b)^2 terms: keeps the sum positive semidefinite
    for (int k = 0; k < 6; k++) {
      double row[400] = {0};
      for (int i = 0; i < c->size[a]; i++) row[c->offset[a] + i] = random_uniform(r, -1, 1);
      for (int i = 0; i < c->size[b]; i++) row[c->offset[b] + i] = random_uniform(r, -1, 1);
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) c->dense[i * N + j] += row[i] * row[j];
    }
  }
  for (int i = 0; i < N; i++) c->dense[i * N + i] += 1;
}

static void fill_values(const Case* c, const abBlockSymbolic* s, double* value) {
  memset(value, 0, sizeof(double) * (size_t)s->nvalue);
  for (int e = -c->n; e < c->nedge; e++) {
    int a = e < 0 ? e + c->n : c->edge[e][0], b = e < 0 ? a : c->edge[e][1];
    bool transposed;
    int at = ab_block_find(s, a, b, &transposed);
    assert_true(at >= 0);
    int i = transposed ? b : a, j = transposed ? a : b;
    for (int k = 0; k < c->size[i]; k++)
      for (int l = 0; l < c->size[j]; l++)
        value[at + k * c->size[j] + l] = c->dense[(c->offset[i] + k) * c->total + c->offset[j] + l];
  }
}

static double solve_error(const Case* c, Random* r) {
  abArenaMark mark = ab_arena_mark(&arena);
  abBlockSymbolic s;
  assert_int_equal(ab_block_symbolic(c->n, c->size, c->nedge, (const int(*)[2])c->edge, INFINITY,
                                     &arena, &arena, &s),
                   AB_OK);
  double* value = AB_TAKE(&arena, double, s.nvalue);
  fill_values(c, &s, value);
  assert_int_equal(ab_block_factor(&s, value, 1e-14), 0);
  double x[400], b[400], worst = 0, most = 0;
  for (int i = 0; i < c->total; i++) x[i] = random_uniform(r, -1, 1);
  for (int i = 0; i < c->total; i++) {
    b[i] = 0;
    for (int j = 0; j < c->total; j++) b[i] += c->dense[i * c->total + j] * x[j];
  }
  ab_block_solve(&s, value, b);
  for (int i = 0; i < c->total; i++) {
    worst = fmax(worst, fabs(b[i] - x[i]));
    most = fmax(most, fabs(x[i]));
  }
  ab_arena_release(&arena, mark);
  return worst / most;
}

static void sparse_solution_is_the_dense_one(void** state) {
  (void)state;
  Random r = {7};
  for (int k = 0; k < 60; k++) {
    int n = 2 + random_below(&r, 40);
    make_case(&problem, &r, n, random_below(&r, 3 * n), k % 2 ? 6 : 9);
    // condition of these matrices is below 1e4
    check_below(solve_error(&problem, &r), 1e-11);
  }
}

static void chain_has_no_fill(void** state) {
  (void)state;
  enum { N = 300 };
  int size[N], edge[N - 1][2];
  for (int i = 0; i < N; i++) size[i] = 6;
  for (int i = 0; i + 1 < N; i++) edge[i][0] = (i * 7 + 3) % N, edge[i][1] = ((i + 1) * 7 + 3) % N;
  abArenaMark mark = ab_arena_mark(&arena);
  abBlockSymbolic s;
  assert_int_equal(
      ab_block_symbolic(N, size, N - 1, (const int(*)[2])edge, INFINITY, &arena, &arena, &s),
      AB_OK);
  assert_int_equal(s.start[N], 2 * N - 1);
  ab_arena_release(&arena, mark);
}

enum { POINTS = 500 };

// What the factors cost with blocks of six eliminated by smallest degree.
static double cost_by_smallest_degree(int nedge, const int (*edge)[2]) {
  static bool joined[POINTS][POINTS], gone[POINTS];
  memset(joined, 0, sizeof joined);
  memset(gone, 0, sizeof gone);
  for (int i = 0; i < nedge; i++)
    joined[edge[i][0]][edge[i][1]] = joined[edge[i][1]][edge[i][0]] = true;
  double flops = 0;
  for (int step = 0; step < POINTS; step++) {
    int best = -1, list[POINTS], least = POINTS;
    for (int i = 0; i < POINTS; i++) {
      int degree = 0;
      for (int j = 0; j < POINTS; j++) degree += joined[i][j] && !gone[j];
      if (!gone[i] && degree < least) best = i, least = degree;
    }
    int n = 0;
    for (int j = 0; j < POINTS; j++)
      if (joined[best][j] && !gone[j]) list[n++] = j;
    for (int a = 0; a < n; a++)
      for (int b = 0; b < n; b++) joined[list[a]][list[b]] = a != b;
    gone[best] = true;
    flops += 72 + 36.0 * 6 * n + 6.0 * 6 * n * (6 * n + 1);
  }
  return flops;
}

// Points in a cube, each joined to those near it: as in a pile.
static void pile_costs_less_than_by_smallest_degree(void** state) {
  (void)state;
  Random r = {11};
  double x[POINTS][3];
  static int edge[20 * POINTS][2];
  int size[POINTS], nedge = 0;
  for (int i = 0; i < POINTS; i++) {
    size[i] = 6;
    for (int k = 0; k < 3; k++) x[i][k] = random_uniform(&r, 0, 1);
    for (int j = 0; j < i; j++)
      if (hypot(hypot(x[i][0] - x[j][0], x[i][1] - x[j][1]), x[i][2] - x[j][2]) < 0.14)
        edge[nedge][0] = i, edge[nedge++][1] = j;
  }
  abArenaMark mark = ab_arena_mark(&arena);
  abBlockSymbolic s;
  assert_int_equal(
      ab_block_symbolic(POINTS, size, nedge, (const int(*)[2])edge, INFINITY, &arena, &arena, &s),
      AB_OK);
  check_below(s.flops, 0.9 * cost_by_smallest_degree(nedge, (const int(*)[2])edge));
  ab_arena_release(&arena, mark);
}

static void too_costly_factorisation_is_refused(void** state) {
  (void)state;
  Random r = {3};
  make_case(&problem, &r, 40, 200, 6);
  abBlockSymbolic s;
  abArenaMark mark = ab_arena_mark(&arena);
  assert_int_equal(ab_block_symbolic(40, problem.size, 200, (const int(*)[2])problem.edge, 1e4,
                                     &arena, &arena, &s),
                   AB_ERROR_UNSUPPORTED);
  ab_arena_release(&arena, mark);
}

static void singular_pivot_is_replaced_and_counted(void** state) {
  (void)state;
  int size[2] = {2, 2}, edge[1][2] = {{0, 1}};
  abBlockSymbolic s;
  abArenaMark mark = ab_arena_mark(&arena);
  assert_int_equal(
      ab_block_symbolic(2, size, 1, (const int(*)[2])edge, INFINITY, &arena, &arena, &s), AB_OK);
  double* value = AB_TAKE(&arena, double, s.nvalue);
  memset(value, 0, sizeof(double) * (size_t)s.nvalue);
  bool t;
  double* a = value + ab_block_find(&s, 0, 0, &t);
  double* b = value + ab_block_find(&s, 1, 1, &t);
  double* c = value + ab_block_find(&s, 0, 1, &t);
  a[0] = a[3] = b[0] = b[3] = c[0] = c[3] = 2;  // [[2, 2], [2, 2]] twice: singular
  assert_int_equal(ab_block_factor(&s, value, 1e-14), 2);
  double x[4] = {1, 2, 3, 4};
  ab_block_solve(&s, value, x);
  for (int i = 0; i < 4; i++) assert_true(isfinite(x[i]));
  ab_arena_release(&arena, mark);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sparse_solution_is_the_dense_one),
      cmocka_unit_test(chain_has_no_fill),
      cmocka_unit_test(pile_costs_less_than_by_smallest_degree),
      cmocka_unit_test(too_costly_factorisation_is_refused),
      cmocka_unit_test(singular_pivot_is_replaced_and_counted),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
