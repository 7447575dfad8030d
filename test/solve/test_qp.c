// Quadratic programs against enumeration of active sets, the optimality conditions, and the simplex
// method.
#include "cases.h"

enum { N = 40, M = 80 };

typedef struct Case {
  int n, m, nequal;
  double h[N * N], g[N], a[M * N], b[M], x[N], u[M];
} Case;

static abSolveResult solve(Case* c) {
  abQpDef def = {
      .nvar = c->n, .nrow = c->m, .nequal = c->nequal, .h = c->h, .g = c->g, .a = c->a, .b = c->b};
  size_t bytes = ab_qp_workspace(c->n, c->m);
  void* workspace = junk_memory(bytes);
  abSolveResult result = ab_qp(&def, c->x, c->u, workspace);
  check_guard(workspace, bytes);
  free(workspace);
  return result;
}

static double objective(const Case* c, const double* x) {
  double sum = 0;
  for (int i = 0; i < c->n; i++) {
    sum += c->g[i] * x[i];
    for (int j = 0; j < c->n; j++) sum += 0.5 * x[i] * c->h[i * c->n + j] * x[j];
  }
  return sum;
}

static double slack(const Case* c, int k, const double* x, double* size) {
  double sum = -c->b[k];
  *size = fabs(c->b[k]);
  for (int i = 0; i < c->n; i++) {
    sum += c->a[k * c->n + i] * x[i];
    *size += fabs(c->a[k * c->n + i] * x[i]);
  }
  return sum;
}

// The optimality conditions from the definition, each relative to its own terms; data of size 1.
static void check_optimal(const Case* c, const abSolveResult* result, double tolerance) {
  assert_int_equal(result->status, AB_SOLVE_OK);
  check_below(result->residual, tolerance);
  double size;
  for (int i = 0; i < c->n; i++) {
    double sum = c->g[i], terms = 1 + fabs(sum);
    for (int j = 0; j < c->n; j++)
      sum += c->h[i * c->n + j] * c->x[j], terms += fabs(c->h[i * c->n + j] * c->x[j]);
    for (int k = 0; k < c->m; k++)
      sum -= c->a[k * c->n + i] * c->u[k], terms += fabs(c->a[k * c->n + i] * c->u[k]);
    check_near(sum, 0, 10 * tolerance * terms);
  }
  for (int k = 0; k < c->m; k++) {
    double s = slack(c, k, c->x, &size);
    check_below(-s, 10 * tolerance * (1 + size));
    if (k < c->nequal) check_below(s, 10 * tolerance * (1 + size));
    if (k < c->nequal) continue;
    check_below(-c->u[k], 10 * tolerance);
    if (c->u[k] > 0) check_near(s, 0, 10 * tolerance * (1 + size));
  }
  check_near(result->value, objective(c, c->x), 1e-12 * (1 + fabs(result->value)));
}

// Minimum on the rows of `set` taken as equalities; false if singular.
static bool minimise_on(const Case* c, unsigned set, double* x) {
  double t[16][17];
  int p[M], k = 0, n = c->n;
  for (int j = 0; j < c->m; j++)
    if (set >> j & 1 || j < c->nequal) p[k++] = j;
  if (k > n) return false;
  int size = n + k;
  memset(t, 0, sizeof t);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) t[i][j] = c->h[i * n + j];
    for (int j = 0; j < k; j++) t[i][n + j] = t[n + j][i] = c->a[p[j] * n + i];
    t[i][size] = -c->g[i];
  }
  for (int j = 0; j < k; j++) t[n + j][size] = c->b[p[j]];
  for (int i = 0; i < size; i++) {
    int best = i;
    for (int l = i; l < size; l++)
      if (fabs(t[l][i]) > fabs(t[best][i])) best = l;
    if (fabs(t[best][i]) < 1e-9) return false;
    for (int j = 0; j <= size; j++) {
      double v = t[i][j];
      t[i][j] = t[best][j], t[best][j] = v;
    }
    for (int l = 0; l < size; l++)
      if (l != i)
        for (int j = size; j >= i; j--) t[l][j] -= t[l][i] / t[i][i] * t[i][j];
  }
  for (int i = 0; i < n; i++) x[i] = t[i][size] / t[i][i];
  return true;
}

// The least objective over feasible minima of all active sets; INFINITY if there is none.
static double brute_force(const Case* c) {
  double best = INFINITY, x[N], size;
  for (unsigned set = 0; set < 1u << c->m; set++) {
    if ((set & ((1u << c->nequal) - 1)) != 0 || !minimise_on(c, set, x)) continue;
    bool feasible = true;
    for (int k = 0; k < c->m && feasible; k++) {
      double s = slack(c, k, x, &size);
      feasible = s > -1e-11 * (1 + size) && (k >= c->nequal || s < 1e-11 * (1 + size));
    }
    if (feasible) best = fmin(best, objective(c, x));
  }
  return best;
}

static void fill_hessian(Random* r, Case* c, int rank) {
  memset(c->h, 0, sizeof c->h);
  for (int k = 0; k < rank; k++) {
    double v[N];
    fill_normal(r, v, c->n);
    for (int i = 0; i < c->n; i++)
      for (int j = 0; j < c->n; j++) c->h[i * c->n + j] += v[i] * v[j];
  }
}

static void small_problems_match_enumeration(void** state) {
  (void)state;
  Random r = {1};
  int infeasible = 0;
  for (int trial = 0; trial < 500; trial++) {
    static Case c;
    c.n = 1 + random_below(&r, 4), c.m = random_below(&r, 9);
    c.nequal = c.m > 0 && c.n > 1 ? random_below(&r, 2) : 0;
    fill_hessian(&r, &c, c.n + 2);
    fill_normal(&r, c.g, c.n);
    if (trial % 2)
      fill_normal(&r, c.a, c.m * c.n), fill_normal(&r, c.b, c.m);
    else
      fill_integer(&r, c.a, c.m * c.n), fill_integer(&r, c.b, c.m);
    double best = brute_force(&c);
    abSolveResult result = solve(&c);
    if (isinf(best)) {
      infeasible++;
      // An equality with no entries cannot be enumerated; the definition decides.
      if (result.status == AB_SOLVE_OK)
        check_optimal(&c, &result, 1e-10);
      else
        assert_int_equal(result.status, AB_SOLVE_INFEASIBLE);
    } else {
      check_optimal(&c, &result, 1e-11);
      // The enumeration accepts points that violate a row by 1e-11 of its terms, which gains this
      // much.
      double gain = 0, size;
      for (int k = 0; k < c.m; k++)
        slack(&c, k, c.x, &size), gain += 1e-11 * (1 + size) * fabs(c.u[k]);
      check_near(result.value, best, 1e-9 * (1 + fabs(best)) + gain);
    }
  }
  assert_true(infeasible > 20);
}

static void larger_problems_satisfy_the_conditions(void** state) {
  (void)state;
  Random r = {2};
  for (int trial = 0; trial < 60; trial++) {
    static Case c;
    c.n = 10 + random_below(&r, N - 10), c.m = random_below(&r, M),
    c.nequal = c.m > 8 ? trial % 6 : 0;
    fill_hessian(&r, &c, c.n + 5);
    fill_normal(&r, c.g, c.n), fill_normal(&r, c.a, c.m * c.n);
    for (int k = 0; k < c.m; k++) {  // feasible at (1, 0, 1, 0, ...)
      c.b[k] = k < c.nequal ? 0 : -random_uniform(&r, 0, 0.5);
      for (int i = 0; i < c.n; i += 2) c.b[k] += c.a[k * c.n + i];
    }
    abSolveResult result = solve(&c);
    check_optimal(&c, &result, 1e-11);
  }
}

static void semidefinite_problems_reach_a_minimum(void** state) {
  (void)state;
  Random r = {3};
  for (int trial = 0; trial < 300; trial++) {
    static Case c;
    c.n = 2 + random_below(&r, 5), c.m = 2 * c.n, c.nequal = 0;
    fill_hessian(&r, &c, random_below(&r, c.n));
    fill_normal(&r, c.g, c.n);
    memset(c.a, 0, sizeof c.a);
    for (int i = 0; i < c.n; i++) {  // the box -1 <= x <= 1
      c.a[i * c.n + i] = 1, c.a[(c.n + i) * c.n + i] = -1;
      c.b[i] = c.b[c.n + i] = -1;
    }
    abSolveResult result = solve(&c);
    check_optimal(&c, &result, 1e-11);
  }
}

static void without_a_hessian_it_is_a_linear_program(void** state) {
  (void)state;
  Random r = {4};
  for (int trial = 0; trial < 100; trial++) {
    static Case c;
    double columns[N * 6], x[N];
    int equal = 1 + random_below(&r, 5);
    c.n = equal + 1 + random_below(&r, 10), c.nequal = equal, c.m = equal + c.n;
    memset(c.h, 0, sizeof c.h), memset(c.a, 0, sizeof c.a), memset(c.b, 0, sizeof c.b);
    for (int i = 0; i < c.n; i++) {
      c.g[i] = random_uniform(&r, 0.1, 1);
      c.a[(equal + i) * c.n + i] = 1;
      for (int k = 0; k < equal; k++) {
        c.a[k * c.n + i] = columns[i * equal + k] = random_normal(&r);
        c.b[k] += c.a[k * c.n + i] * (i % 2);
      }
    }
    abLpDef lp = {.nrow = equal, .ncol = c.n, .a = columns, .b = c.b, .c = c.g};
    void* workspace = junk_memory(ab_lp_workspace(equal, c.n));
    abSolveResult expected = ab_lp(&lp, x, NULL, workspace);
    free(workspace);
    abSolveResult result = solve(&c);
    assert_int_equal(expected.status, AB_SOLVE_OK);
    check_optimal(&c, &result, 1e-10);
    check_near(result.value, expected.value, 1e-9 * (1 + fabs(expected.value)));
  }
}

static void units_do_not_change_the_minimum(void** state) {
  (void)state;
  Random r = {5};
  for (int trial = 0; trial < 200; trial++) {
    static Case c, d;
    double unit[N], whole = ten_to(&r, 6);
    c.n = 2 + random_below(&r, 10), c.m = 2 + random_below(&r, 15), c.nequal = random_below(&r, 2);
    fill_hessian(&r, &c, c.n + 3);
    fill_normal(&r, c.g, c.n), fill_normal(&r, c.a, c.m * c.n);
    for (int k = 0; k < c.m; k++) {
      c.b[k] = k < c.nequal ? 0 : -random_uniform(&r, 0, 0.5);
      for (int i = 0; i < c.n; i += 2) c.b[k] += c.a[k * c.n + i];
    }
    d = c;
    for (int i = 0; i < c.n; i++) unit[i] = ten_to(&r, 6);
    for (int i = 0; i < c.n; i++) {
      d.g[i] *= whole * unit[i];
      for (int j = 0; j < c.n; j++) d.h[i * c.n + j] *= whole * unit[i] * unit[j];
    }
    for (int k = 0; k < c.m; k++) {
      double row = ten_to(&r, 6);
      d.b[k] *= row;
      for (int i = 0; i < c.n; i++) d.a[k * c.n + i] *= row * unit[i];
    }
    abSolveResult first = solve(&c), second = solve(&d);
    check_optimal(&c, &first, 1e-12);
    assert_int_equal(second.status, AB_SOLVE_OK);
    check_near(second.value / whole, first.value, 1e-8 * (1 + fabs(first.value)));
    for (int i = 0; i < c.n; i++) check_near(d.x[i] * unit[i], c.x[i], 1e-7 * (1 + fabs(c.x[i])));
  }
}

static void contradictions_and_rays_are_told_apart(void** state) {
  (void)state;
  static Case c = {.n = 2, .m = 2, .h = {1, 0, 0, 1}, .a = {1, 1, -1, -1}, .b = {1, 0}};
  assert_int_equal(solve(&c).status, AB_SOLVE_INFEASIBLE);
  static Case equal = {
      .n = 2, .m = 2, .nequal = 2, .h = {1, 0, 0, 1}, .a = {1, 1, 2, 2}, .b = {1, 3}};
  assert_int_equal(solve(&equal).status, AB_SOLVE_INFEASIBLE);
  equal.b[1] = 2;
  abSolveResult result = solve(&equal);
  assert_int_equal(result.status, AB_SOLVE_OK);
  check_near(equal.x[0], 0.5, 1e-15);
  static Case ray = {.n = 2, .m = 1, .h = {1, 0, 0, 0}, .g = {0, -1}, .a = {0, 1}, .b = {0}};
  assert_int_equal(solve(&ray).status, AB_SOLVE_UNBOUNDED);
  ray.g[1] = 1;
  assert_int_equal(solve(&ray).status, AB_SOLVE_OK);
  static Case free_point = {.n = 1, .h = {2}, .g = {-4}};
  assert_int_equal(solve(&free_point).status, AB_SOLVE_OK);
  check_near(free_point.x[0], 2, 1e-15);
  static Case indefinite = {.n = 2, .h = {1, 3, 3, 1}};
  assert_int_equal(solve(&indefinite).status, AB_SOLVE_NUMERIC);
}

static void duplicated_rows_do_not_cycle(void** state) {
  (void)state;
  Random r = {6};
  for (int trial = 0; trial < 200; trial++) {
    static Case c;
    c.n = 3, c.m = 60, c.nequal = 0;
    fill_hessian(&r, &c, 5);
    fill_normal(&r, c.g, 3);
    for (int k = 0; k < c.m; k++) {
      int same = k % 5;
      for (int i = 0; i < 3; i++)
        c.a[k * 3 + i] = k < 5 ? random_normal(&r) : c.a[same * 3 + i] * (1 + k / 5);
      c.b[k] = k < 5 ? random_uniform(&r, -1, 0.3) : c.b[same] * (1 + k / 5);
    }
    abSolveResult result = solve(&c);
    if (result.status != AB_SOLVE_INFEASIBLE) check_optimal(&c, &result, 1e-11);
    assert_true(result.iterations < 200);
  }
}

static void junk_gives_a_status(void** state) {
  (void)state;
  Random r = {7};
  double bad[] = {NAN, INFINITY, -INFINITY};
  for (int trial = 0; trial < 400; trial++) {
    static Case c;
    c.n = 1 + random_below(&r, 5), c.m = 1 + random_below(&r, 6), c.nequal = random_below(&r, 2);
    double range = trial % 4 ? 30 : 300;
    for (int i = 0; i < c.n * c.n; i++) c.h[i] = random_normal(&r) * ten_to(&r, range);
    for (int i = 0; i < c.n; i++) c.g[i] = random_normal(&r) * ten_to(&r, range);
    for (int i = 0; i < c.n * c.m; i++) c.a[i] = random_normal(&r) * ten_to(&r, range);
    for (int i = 0; i < c.m; i++) c.b[i] = random_normal(&r) * ten_to(&r, range);
    double* where[] = {c.h, c.g, c.a, c.b};
    bool poison = trial % 2;
    if (poison) where[trial / 2 % 4][0] = bad[trial % 3];
    abSolveResult result = solve(&c);
    if (poison) assert_int_equal(result.status, AB_SOLVE_INPUT);
    assert_true(result.residual >= 0);
    for (int i = 0; i < c.n; i++) assert_true(c.x[i] == c.x[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_problems_match_enumeration),
      cmocka_unit_test(larger_problems_satisfy_the_conditions),
      cmocka_unit_test(semidefinite_problems_reach_a_minimum),
      cmocka_unit_test(without_a_hessian_it_is_a_linear_program),
      cmocka_unit_test(units_do_not_change_the_minimum),
      cmocka_unit_test(contradictions_and_rays_are_told_apart),
      cmocka_unit_test(duplicated_rows_do_not_cycle),
      cmocka_unit_test(junk_gives_a_status),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
