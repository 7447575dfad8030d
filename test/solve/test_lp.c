// The simplex method against GLPK, certificates of optimality and infeasibility, and the classic
// traps.
#include "cases.h"
#ifdef ABUT_HAVE_GLPK
#include <glpk.h>
#endif

enum { ROWS = 40, COLUMNS = 200 };

typedef struct Case {
  int m, n;
  double a[ROWS * COLUMNS], b[ROWS], c[COLUMNS], x[COLUMNS], dual[ROWS];
} Case;

static abSolveResult run(Case* c, bool feasible) {
  abLpDef def = {.nrow = c->m, .ncol = c->n, .a = c->a, .b = c->b, .c = c->c};
  size_t bytes = ab_lp_workspace(c->m, c->n);
  void* workspace = junk_memory(bytes);
  abSolveResult result = feasible ? ab_lp_feasible(&def, c->x, c->dual, workspace)
                                  : ab_lp(&def, c->x, c->dual, workspace);
  check_guard(workspace, bytes);
  free(workspace);
  return result;
}

static abSolveResult solve(Case* c) { return run(c, false); }

static double dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// Largest |A x - b|, each row in units of its largest entry, relative to the largest sum of terms.
static double row_error(const Case* c) {
  double worst = 0, whole = 0;
  for (int i = 0; i < c->m; i++) {
    double sum = -c->b[i], size = fabs(c->b[i]), unit = 0;
    for (int j = 0; j < c->n; j++) {
      sum += c->a[j * c->m + i] * c->x[j];
      size += fabs(c->a[j * c->m + i] * c->x[j]);
      unit = fmax(unit, fabs(c->a[j * c->m + i]));
    }
    if (unit == 0) unit = 1;
    worst = fmax(worst, fabs(sum) / unit);
    whole = fmax(whole, size / unit);
  }
  return whole > 0 ? worst / whole : 0;
}

// Largest violation of A^T dual <= cost, each column in its own unit, relative likewise.
static double dual_error(const Case* c, const double* cost) {
  double worst = 0, whole = 0;
  for (int j = 0; j < c->n; j++) {
    double sum = -(cost ? cost[j] : 0), size = fabs(sum), unit = 0;
    for (int i = 0; i < c->m; i++) {
      sum += c->a[j * c->m + i] * c->dual[i];
      size += fabs(c->a[j * c->m + i] * c->dual[i]);
      unit = fmax(unit, fabs(c->a[j * c->m + i]));
    }
    if (unit == 0) unit = 1;
    worst = fmax(worst, sum / unit);
    whole = fmax(whole, size / unit);
  }
  return whole > 0 ? worst / whole : 0;
}

// Primal and dual feasibility and equal objectives prove the optimum without any other solver.
// `unit` is the size of the data, for optima at 0; 0 where the data have no common size.
static void check_optimal(const Case* c, const abSolveResult* result, double tolerance,
                          double unit) {
  assert_int_equal(result->status, AB_SOLVE_OK);
  double size = unit;
  for (int j = 0; j < c->n; j++) size += fabs(c->c[j] * c->x[j]), assert_true(c->x[j] >= 0);
  for (int i = 0; i < c->m; i++) size += fabs(c->b[i] * c->dual[i]);
  check_below(row_error(c), tolerance);
  check_below(dual_error(c, c->c), tolerance);
  check_near(dot(c->b, c->dual, c->m), dot(c->c, c->x, c->n), tolerance * size);
  check_near(result->value, dot(c->c, c->x, c->n), 1e-14 * size);
}

static void check_infeasible(const Case* c, const abSolveResult* result, double tolerance) {
  assert_int_equal(result->status, AB_SOLVE_INFEASIBLE);
  check_below(dual_error(c, NULL), tolerance);
  assert_true(dot(c->b, c->dual, c->m) > 0);
}

#ifdef ABUT_HAVE_GLPK
static int glpk_status(const Case* c, double* value) {
  glp_prob* lp = glp_create_prob();
  glp_term_out(GLP_OFF);
  glp_add_rows(lp, c->m);
  glp_add_cols(lp, c->n);
  for (int i = 0; i < c->m; i++) glp_set_row_bnds(lp, i + 1, GLP_FX, c->b[i], c->b[i]);
  for (int j = 0; j < c->n; j++) {
    int index[ROWS + 1];
    double v[ROWS + 1];
    for (int i = 0; i < c->m; i++) index[i + 1] = i + 1, v[i + 1] = c->a[j * c->m + i];
    glp_set_col_bnds(lp, j + 1, GLP_LO, 0, 0);
    glp_set_obj_coef(lp, j + 1, c->c[j]);
    glp_set_mat_col(lp, j + 1, c->m, index, v);
  }
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.meth = GLP_PRIMAL;
  glp_scale_prob(lp, GLP_SF_AUTO);
  glp_simplex(lp, &options);
  int status = glp_get_status(lp);
  *value = glp_get_obj_val(lp);
  glp_delete_prob(lp);
  return status;
}

static void check_against_glpk(Case* c, double tolerance) {
  double value, size = 0;
  int status = glpk_status(c, &value);
  abSolveResult result = solve(c);
  for (int j = 0; j < c->n; j++) size += fabs(c->c[j] * c->x[j]);
  if (status == GLP_OPT) {
    check_optimal(c, &result, tolerance, 1);
    check_near(result.value, value, 1e-7 * (1 + size));  // the data are of size 1
  } else if (status == GLP_NOFEAS) {
    check_infeasible(c, &result, tolerance);
  } else if (status == GLP_UNBND) {
    assert_int_equal(result.status, AB_SOLVE_UNBOUNDED);
    check_below(row_error(c), tolerance);
  } else {
    assert_true(result.status == AB_SOLVE_INFEASIBLE || result.status == AB_SOLVE_UNBOUNDED);
  }
}

static void random_problems_agree_with_glpk(void** state) {
  (void)state;
  Random r = {1};
  for (int trial = 0; trial < 400; trial++) {
    static Case c;
    c.m = 1 + random_below(&r, trial % 10 ? 12 : ROWS);
    c.n = 1 + random_below(&r, trial % 10 ? 30 : COLUMNS);
    fill_normal(&r, c.a, c.m * c.n), fill_normal(&r, c.b, c.m), fill_normal(&r, c.c, c.n);
    if (trial % 2)  // feasible by construction, costs bounded below by construction
      for (int i = 0; i < c.m; i++) {
        c.b[i] = 0;
        for (int j = 0; j < c.n; j++) c.b[i] += c.a[j * c.m + i] * (j % 3 == 0);
      }
    if (trial % 4 == 1)
      for (int j = 0; j < c.n; j++) c.c[j] = fabs(c.c[j]);
    check_against_glpk(&c, 1e-11);
  }
}

static void degenerate_integer_problems_agree_with_glpk(void** state) {
  (void)state;
  Random r = {2};
  for (int trial = 0; trial < 1000; trial++) {
    static Case c;
    c.m = 1 + random_below(&r, 10), c.n = 1 + random_below(&r, 25);
    fill_integer(&r, c.a, c.m * c.n), fill_integer(&r, c.c, c.n);
    fill_integer(&r, c.b, c.m);
    if (trial % 3)  // dependent rows and a feasible, highly degenerate vertex
      for (int i = 0; i < c.m; i++) {
        c.b[i] = c.n > 2 ? c.a[c.m + i] + c.a[i] : 0;
        if (i == 2)
          for (int j = 0; j <= c.n; j++) {
            double* v = j < c.n ? c.a + j * c.m : c.b;
            v[2] = v[0] + v[1];
          }
      }
    check_against_glpk(&c, 1e-12);
  }
}
#endif

static void scaled_rows_and_columns_keep_the_optimum(void** state) {
  (void)state;
  Random r = {3};
  for (int trial = 0; trial < 300; trial++) {
    static Case c, d;
    double row[ROWS], column[COLUMNS];
    c.m = 2 + random_below(&r, 10), c.n = c.m + 2 + random_below(&r, 30);
    fill_normal(&r, c.a, c.m * c.n);
    for (int j = 0; j < c.n; j++) c.c[j] = random_uniform(&r, 0.1, 2);
    for (int i = 0; i < c.m; i++) {
      c.b[i] = 0;
      for (int j = 0; j < c.n; j++) c.b[i] += c.a[j * c.m + i] * (j % 2);
    }
    abSolveResult first = solve(&c);
    check_optimal(&c, &first, 1e-12, 0);
    d = c;
    for (int i = 0; i < c.m; i++) d.b[i] *= row[i] = ten_to(&r, 6);
    for (int j = 0; j < c.n; j++) d.c[j] *= column[j] = ten_to(&r, 6);
    for (int j = 0; j < c.n; j++)
      for (int i = 0; i < c.m; i++) d.a[j * c.m + i] *= row[i] * column[j];
    abSolveResult second = solve(&d);
    check_optimal(&d, &second, 1e-10, 0);
    check_near(second.value, first.value, 1e-10 * fabs(first.value));
  }
}

static void cone_membership_is_right_on_both_sides_of_the_border(void** state) {
  (void)state;
  Random r = {4};
  for (int trial = 0; trial < 400; trial++) {
    static Case c;
    int nvertex = 4 + random_below(&r, 5), far = random_below(&r, nvertex);
    double radius = ten_to(&r, 3), force = ten_to(&r, 4), mu = 0.4, sum = 0;
    c.m = 6, c.n = 8 * nvertex;
    fill_cone(c.a, nvertex, 8, radius, mu);
    // All load slips along edge 2 of the pyramid: on the border; beyond it, outside.
    double push = trial % 2 ? 1 + 1e-7 : 1 - 1e-7, expected = mu * push;
    memset(c.b, 0, sizeof c.b);
    for (int v = 0; v < nvertex; v++) {
      double load = force * (v == far ? 1 : random_uniform(&r, 0, 1));
      for (int i = 0; i < 6; i++) c.b[i] += load * c.a[6 * (8 * v + 2) + i];
      sum += load;
    }
    double more = (expected - mu) * sum;
    // The extra force acts at the centre of pressure, so it adds no moment about it.
    c.b[1] += more, c.b[5] += -c.b[4] / sum * more;
    abSolveResult result = run(&c, true);
    if (trial % 2) {
      check_infeasible(&c, &result, 1e-12);
      // The error is the surplus force, seen in balanced units that are at most a factor 8 from
      // (mu, 1).
      assert_true(result.value > 1e-9 && result.value < 1e-6);
    } else {
      assert_int_equal(result.status, AB_SOLVE_OK);
      check_below(result.residual, 1e-13);
      check_below(row_error(&c), 1e-13);
    }
    assert_true(result.iterations < 40);
  }
}

// Klee & Minty 1972: a deformed cube whose 2^n vertices an unlucky rule visits one by one.
static void klee_minty_cubes_are_solved(void** state) {
  (void)state;
  for (int n = 2; n <= 10; n++) {
    static Case c;
    memset(&c, 0, sizeof c);
    c.m = n, c.n = 2 * n;
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < i; j++) c.a[j * n + i] = 2 * pow(2, i - j);
      c.a[i * n + i] = 1;
      c.a[(n + i) * n + i] = 1;
      c.b[i] = pow(5, i + 1);
      c.c[i] = -pow(2, n - 1 - i);
    }
    abSolveResult result = solve(&c);
    check_optimal(&c, &result, 1e-12, 1);
    check_near(result.value, -pow(5, n), 1e-12 * pow(5, n));
  }
}

// Beale 1955: cycles under the rule of the most negative reduced cost.
static void beales_example_does_not_cycle(void** state) {
  (void)state;
  static Case c = {.m = 3, .n = 7};
  double rows[3][7] = {
      {1, 0, 0, 0.25, -60, -0.04, 9}, {0, 1, 0, 0.5, -90, -0.02, 3}, {0, 0, 1, 0, 0, 1, 0}};
  double cost[7] = {0, 0, 0, -0.75, 150, -0.02, 6};
  for (int j = 0; j < 7; j++)
    for (int i = 0; i < 3; i++) c.a[j * 3 + i] = rows[i][j];
  c.b[2] = 1;
  memcpy(c.c, cost, sizeof cost);
  abSolveResult result = solve(&c);
  check_optimal(&c, &result, 1e-14, 1);
  check_near(result.value, -0.05, 1e-15);
  assert_true(result.iterations < 50);
}

// Assignment problems: 2 n rows of which one depends on the others, every vertex degenerate.
static void assignments_are_solved_at_degenerate_vertices(void** state) {
  (void)state;
  Random r = {5};
  for (int trial = 0; trial < 40; trial++) {
    static Case c;
    int n = 2 + trial % 8;
    memset(&c, 0, sizeof c);
    c.m = 2 * n, c.n = n * n;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        c.a[(i * n + j) * c.m + i] = c.a[(i * n + j) * c.m + n + j] = 1;
        c.c[i * n + j] = random_below(&r, 6);
        c.b[i] = c.b[n + j] = 1;
      }
    abSolveResult result = solve(&c);
    check_optimal(&c, &result, 1e-13, 1);
    for (int k = 0; k < n * n; k++) assert_true(fabs(c.x[k] * (c.x[k] - 1)) < 1e-13);
  }
}

static void contradictions_and_rays_are_told_apart(void** state) {
  (void)state;
  static Case c = {.m = 2, .n = 2, .a = {1, 1, 1, 1}, .b = {1, 2}, .c = {1, 1}};
  abSolveResult result = solve(&c);
  check_infeasible(&c, &result, 1e-15);
  static Case ray = {.m = 1, .n = 2, .a = {1, -1}, .b = {1}, .c = {-1, 0}};
  assert_int_equal(solve(&ray).status, AB_SOLVE_UNBOUNDED);
  static Case empty_row = {.m = 2, .n = 1, .a = {1, 0}, .b = {1, 1e-3}, .c = {1}};
  assert_int_equal(solve(&empty_row).status, AB_SOLVE_INFEASIBLE);
  static Case none = {.m = 0, .n = 2, .c = {1, 0}};
  assert_int_equal(solve(&none).status, AB_SOLVE_OK);
  none.c[1] = -1;
  assert_int_equal(solve(&none).status, AB_SOLVE_UNBOUNDED);
  static Case no_column = {.m = 1, .n = 0, .b = {1}};
  assert_int_equal(solve(&no_column).status, AB_SOLVE_INFEASIBLE);
}

static void junk_gives_a_status(void** state) {
  (void)state;
  Random r = {6};
  double bad[] = {NAN, INFINITY, -INFINITY};
  for (int trial = 0; trial < 600; trial++) {
    static Case c;
    c.m = 1 + random_below(&r, 6), c.n = 1 + random_below(&r, 12);
    double range = trial % 2 ? 300 : 20;
    for (int i = 0; i < c.m * c.n; i++) c.a[i] = random_normal(&r) * ten_to(&r, range);
    for (int i = 0; i < c.m; i++) c.b[i] = random_normal(&r) * ten_to(&r, range);
    for (int i = 0; i < c.n; i++) c.c[i] = random_normal(&r) * ten_to(&r, range);
    bool poison = trial % 3 == 0;
    if (poison) (trial % 9 == 0 ? c.a : trial % 9 == 3 ? c.b : c.c)[0] = bad[trial % 7 % 3];
    abSolveResult result = solve(&c);
    if (poison) assert_int_equal(result.status, AB_SOLVE_INPUT);
    assert_true(result.residual >= 0);
    for (int j = 0; j < c.n; j++) assert_true(c.x[j] >= 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
#ifdef ABUT_HAVE_GLPK
      cmocka_unit_test(random_problems_agree_with_glpk),
      cmocka_unit_test(degenerate_integer_problems_agree_with_glpk),
#endif
      cmocka_unit_test(scaled_rows_and_columns_keep_the_optimum),
      cmocka_unit_test(cone_membership_is_right_on_both_sides_of_the_border),
      cmocka_unit_test(klee_minty_cubes_are_solved),
      cmocka_unit_test(beales_example_does_not_cycle),
      cmocka_unit_test(assignments_are_solved_at_degenerate_vertices),
      cmocka_unit_test(contradictions_and_rays_are_told_apart),
      cmocka_unit_test(junk_gives_a_status),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
