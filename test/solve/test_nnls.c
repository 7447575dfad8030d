// Non-negative least squares against enumeration of passive sets, optimality conditions, and
// scaling.
#include "cases.h"

typedef struct Case {
  int m, n;
  double a[64 * 300], b[64], x[300];
} Case;

static abSolveResult solve(Case* c, bool warm) {
  abNnlsDef def = {.nrow = c->m, .ncol = c->n, .a = c->a, .b = c->b, .warm = warm};
  size_t bytes = ab_nnls_workspace(c->m, c->n);
  void* workspace = junk_memory(bytes);
  abSolveResult result = ab_nnls(&def, c->x, workspace);
  check_guard(workspace, bytes);
  free(workspace);
  return result;
}

// |b - A x| and the largest slope, from the definition.
static double residual_norm(const Case* c, double* rest) {
  double square = 0;
  for (int i = 0; i < c->m; i++) {
    rest[i] = c->b[i];
    for (int j = 0; j < c->n; j++) rest[i] -= c->a[j * c->m + i] * c->x[j];
    square += rest[i] * rest[i];
  }
  return sqrt(square);
}

static double column_norm(const Case* c, int j) {
  double square = 0;
  for (int i = 0; i < c->m; i++) square += c->a[j * c->m + i] * c->a[j * c->m + i];
  return sqrt(square);
}

static double vector_norm(const double* v, int n) {
  double square = 0;
  for (int i = 0; i < n; i++) square += v[i] * v[i];
  return sqrt(square);
}

// The optimality conditions; `tolerance` relative to |a_j| |b|.
static void check_optimal(const Case* c, const abSolveResult* result, double tolerance) {
  double rest[64], size = vector_norm(c->b, c->m), norm = residual_norm(c, rest);
  assert_int_equal(result->status, AB_SOLVE_OK);
  check_near(result->value, norm, 1e-12 * size);
  check_below(result->residual, tolerance);
  for (int j = 0; j < c->n; j++) {
    double w = 0, length = column_norm(c, j);
    for (int i = 0; i < c->m; i++) w += c->a[j * c->m + i] * rest[i];
    check_below(-c->x[j], 0);
    check_below(w, tolerance * length * size);
    if (c->x[j] > 0) check_below(-w, tolerance * length * size);
  }
}

// The least |A x - b| over all passive sets of at most m columns, by normal equations with
// elimination.
static double brute_force(const Case* c) {
  double best = vector_norm(c->b, c->m);
  for (unsigned set = 1; set < 1u << c->n; set++) {
    int p[8], k = 0;
    for (int j = 0; j < c->n; j++)
      if (set >> j & 1) p[k++] = j;
    double t[8][9], z[8];
    for (int i = 0; i < k; i++) {
      for (int j = 0; j < k; j++) {
        t[i][j] = 0;
        for (int l = 0; l < c->m; l++) t[i][j] += c->a[p[i] * c->m + l] * c->a[p[j] * c->m + l];
      }
      t[i][k] = 0;
      for (int l = 0; l < c->m; l++) t[i][k] += c->a[p[i] * c->m + l] * c->b[l];
    }
    bool good = true;
    for (int i = 0; i < k && good; i++) {
      good = fabs(t[i][i]) > 1e-9;
      for (int l = i + 1; l < k && good; l++)
        for (int j = k; j >= i; j--) t[l][j] -= t[l][i] / t[i][i] * t[i][j];
    }
    for (int i = k - 1; i >= 0 && good; i--) {
      z[i] = t[i][k];
      for (int j = i + 1; j < k; j++) z[i] -= t[i][j] * z[j];
      good = (z[i] /= t[i][i]) >= 0;
    }
    if (!good) continue;
    Case trial = *c;
    double rest[64];
    memset(trial.x, 0, sizeof trial.x);
    for (int i = 0; i < k; i++) trial.x[p[i]] = z[i];
    best = fmin(best, residual_norm(&trial, rest));
  }
  return best;
}

static void small_problems_match_enumeration(void** state) {
  (void)state;
  Random r = {1};
  for (int trial = 0; trial < 600; trial++) {
    static Case c;
    c.m = 1 + random_below(&r, 8), c.n = 1 + random_below(&r, 8);
    if (trial % 2)
      fill_normal(&r, c.a, c.m * c.n), fill_normal(&r, c.b, c.m);
    else
      fill_integer(&r, c.a, c.m * c.n), fill_integer(&r, c.b, c.m);
    abSolveResult result = solve(&c, false);
    check_optimal(&c, &result, 1e-13 * c.m);
    check_near(result.value, brute_force(&c), 1e-10 * (1 + vector_norm(c.b, c.m)));
  }
}

static void larger_problems_satisfy_the_conditions(void** state) {
  (void)state;
  Random r = {2};
  int sizes[][2] = {{6, 64}, {6, 300}, {30, 30}, {60, 20}, {40, 200}, {64, 64}};
  for (int trial = 0; trial < 60; trial++) {
    static Case c;
    c.m = sizes[trial % 6][0], c.n = sizes[trial % 6][1];
    fill_normal(&r, c.a, c.m * c.n), fill_normal(&r, c.b, c.m);
    abSolveResult result = solve(&c, false);
    check_optimal(&c, &result, 1e-13 * c.m);
  }
}

static void wrenches_inside_a_friction_cone_leave_no_residual(void** state) {
  (void)state;
  Random r = {3};
  for (int trial = 0; trial < 300; trial++) {
    static Case c;
    int nvertex = 3 + random_below(&r, 6);
    double radius = ten_to(&r, 3), force = ten_to(&r, 4);
    c.m = 6, c.n = 8 * nvertex;
    fill_cone(c.a, nvertex, 8, radius, 0.5);
    memset(c.b, 0, sizeof c.b);
    for (int j = 0; j < c.n; j++)
      for (int i = 0; i < 6; i++)
        c.b[i] += force * (j % 3 ? 0.1 : 1) * ((trial + j) % 5) * c.a[6 * j + i];
    // the caller's metric: torques in units of force times radius
    for (int i = 3; i < 6; i++) {
      c.b[i] /= radius;
      for (int j = 0; j < c.n; j++) c.a[6 * j + i] /= radius;
    }
    abSolveResult result = solve(&c, false);
    check_optimal(&c, &result, 1e-12);
    check_below(result.value, 1e-13 * vector_norm(c.b, 6));
    assert_true(result.iterations < 60);
  }
}

static void columns_in_other_units_give_the_same_point(void** state) {
  (void)state;
  Random r = {4};
  for (int trial = 0; trial < 200; trial++) {
    static Case c, d;
    c.m = 2 + random_below(&r, 7), c.n = 2 + random_below(&r, 20);
    fill_normal(&r, c.a, c.m * c.n), fill_normal(&r, c.b, c.m);
    d = c;
    double whole = ten_to(&r, 100);
    for (int j = 0; j < c.n; j++) {
      double s = ten_to(&r, 6);
      for (int i = 0; i < c.m; i++) d.a[j * c.m + i] *= s;
    }
    for (int i = 0; i < c.m; i++) d.b[i] *= whole;
    abSolveResult first = solve(&c, false), second = solve(&d, false);
    assert_int_equal(first.status, AB_SOLVE_OK);
    assert_int_equal(second.status, AB_SOLVE_OK);
    check_near(second.value / whole, first.value, 1e-12 * vector_norm(c.b, c.m));
    check_below(second.residual, 1e-12);
  }
}

static void nearly_dependent_columns_are_handled(void** state) {
  (void)state;
  Random r = {5};
  for (int trial = 0; trial < 200; trial++) {
    static Case c;
    c.m = 6, c.n = 40;
    double spread = pow(10, -1 - trial % 15);
    for (int j = 0; j < c.n; j++)
      for (int i = 0; i < c.m; i++) c.a[j * c.m + i] = (i == 0) + spread * random_normal(&r);
    fill_normal(&r, c.b, c.m);
    c.b[0] = 3;
    abSolveResult result = solve(&c, false);
    assert_true(result.status == AB_SOLVE_OK || result.status == AB_SOLVE_STALLED);
    double rest[64];
    check_near(result.value, residual_norm(&c, rest), 1e-12 * vector_norm(c.b, 6) / spread);
    check_below(result.value, vector_norm(c.b, 6));
    if (spread >= 1e-10) check_below(result.residual, 1e-9);
  }
}

static void a_warm_start_gives_the_same_answer_in_fewer_steps(void** state) {
  (void)state;
  Random r = {6};
  int cold = 0, again = 0, near = 0;
  for (int trial = 0; trial < 200; trial++) {
    static Case c, d;
    c.m = 6, c.n = 64;
    fill_normal(&r, c.a, c.m * c.n), fill_normal(&r, c.b, c.m);
    for (int j = 0; j < c.n; j++) c.a[6 * j] = fabs(c.a[6 * j]) + 2;
    c.b[0] = 0.1;
    abSolveResult first = solve(&c, false);
    cold += first.iterations;
    d = c;
    again += solve(&d, true).iterations;
    for (int j = 0; j < c.n; j++) check_near(d.x[j], c.x[j], 1e-11);
    for (int i = 0; i < 6; i++) d.b[i] += 1e-3 * random_normal(&r);
    abSolveResult moved = solve(&d, true);
    near += moved.iterations;
    check_optimal(&d, &moved, 1e-12);
    // Nonsense is no worse than nothing.
    fill_normal(&r, d.x, d.n);
    moved = solve(&d, true);
    check_optimal(&d, &moved, 1e-12);
    d.x[3] = NAN, d.x[5] = INFINITY, d.x[7] = 1e308;
    moved = solve(&d, true);
    check_optimal(&d, &moved, 1e-12);
  }
  assert_int_equal(again, 0);
  assert_true(4 * near < cold);
}

// Wrenches near the border of a friction cone with repeated corners: the simplex method's answer
// and a vanishing distance are the same statement.
static void membership_agrees_with_the_simplex_method(void** state) {
  (void)state;
  Random r = {8};
  int inside = 0, outside = 0;
  for (int trial = 0; trial < 3000; trial++) {
    static Case c;
    int nvertex = 3 + random_below(&r, 6);
    c.m = 6, c.n = 8 * nvertex;
    fill_cone(c.a, nvertex, 8, 1, 0.5);
    if (nvertex > 4) memcpy(c.a + 48, c.a, 48 * sizeof(double));
    memset(c.b, 0, sizeof c.b);
    for (int k = 0; k < 1 + trial % 7; k++) {  // a face of the cone, of dimension up to 7
      int j = random_below(&r, c.n);
      double load = random_uniform(&r, 0, 1);
      for (int i = 0; i < 6; i++) c.b[i] += load * c.a[6 * j + i];
    }
    double off = trial % 3 == 0 ? 0 : pow(10, -random_below(&r, 6));
    for (int i = 0; i < 6; i++) c.b[i] += off * random_normal(&r);
    double size = vector_norm(c.b, 6);
    abSolveResult distance = solve(&c, false);
    abLpDef lp = {.nrow = 6, .ncol = c.n, .a = c.a, .b = c.b};
    void* workspace = junk_memory(ab_lp_workspace(6, c.n));
    abSolveResult feasible = ab_lp_feasible(&lp, c.x, NULL, workspace);
    free(workspace);
    assert_int_equal(distance.status, AB_SOLVE_OK);
    if (feasible.status == AB_SOLVE_OK) {
      inside++;
      check_below(distance.value, 1e-8 * size);
    } else {
      outside++;
      assert_int_equal(feasible.status, AB_SOLVE_INFEASIBLE);
      assert_true(distance.value > 1e-11 * size);
    }
  }
  assert_true(inside > 500 && outside > 500);
}

static void junk_is_refused_and_nothing_is_solved_by_zero(void** state) {
  (void)state;
  static Case c = {.m = 3, .n = 4};
  double values[] = {NAN, INFINITY, -INFINITY};
  for (int k = 0; k < 3; k++)
    for (int where = 0; where < 2; where++) {
      for (int i = 0; i < 12; i++) c.a[i] = i % 5;
      for (int i = 0; i < 3; i++) c.b[i] = i;
      (where ? c.a : c.b)[1] = values[k];
      assert_int_equal(solve(&c, false).status, AB_SOLVE_INPUT);
      for (int j = 0; j < 4; j++) assert_true(c.x[j] == 0);
    }
  for (int i = 0; i < 12; i++) c.a[i] = i % 5;
  memset(c.b, 0, sizeof c.b);
  assert_int_equal(solve(&c, false).status, AB_SOLVE_OK);
  memset(c.a, 0, sizeof c.a);
  c.b[0] = 2;
  abSolveResult result = solve(&c, false);
  assert_int_equal(result.status, AB_SOLVE_OK);
  check_near(result.value, 2, 0);
  c.n = 0;
  check_near(solve(&c, false).value, 2, 0);
  c.m = -1;
  assert_int_equal(solve(&c, false).status, AB_SOLVE_INPUT);
}

static void extreme_magnitudes_give_a_status(void** state) {
  (void)state;
  Random r = {7};
  for (int trial = 0; trial < 500; trial++) {
    static Case c;
    c.m = 1 + random_below(&r, 6), c.n = 1 + random_below(&r, 20);
    for (int i = 0; i < c.m * c.n; i++) c.a[i] = random_normal(&r) * ten_to(&r, 300);
    for (int i = 0; i < c.m; i++) c.b[i] = random_normal(&r) * ten_to(&r, 300);
    abSolveResult result = solve(&c, false);
    assert_true(result.status <= AB_SOLVE_INPUT);
    assert_true(result.residual >= 0 && result.value >= 0);
    for (int j = 0; j < c.n; j++) assert_true(c.x[j] >= 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_problems_match_enumeration),
      cmocka_unit_test(larger_problems_satisfy_the_conditions),
      cmocka_unit_test(wrenches_inside_a_friction_cone_leave_no_residual),
      cmocka_unit_test(columns_in_other_units_give_the_same_point),
      cmocka_unit_test(nearly_dependent_columns_are_handled),
      cmocka_unit_test(a_warm_start_gives_the_same_answer_in_fewer_steps),
      cmocka_unit_test(membership_agrees_with_the_simplex_method),
      cmocka_unit_test(junk_is_refused_and_nothing_is_solved_by_zero),
      cmocka_unit_test(extreme_magnitudes_give_a_status),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
