// Mixed complementarity problems with known solutions, random linear ones against enumeration, and
// junk. The functions are written from the published definitions.
#include "cases.h"

enum { MOST = 64 };

static abSolveResult solve(const abMcpDef* def, double* x) {
  size_t bytes = ab_mcp_workspace(def->n);
  void* workspace = junk_memory(bytes);
  abSolveResult result = ab_mcp(def, x, workspace);
  check_guard(workspace, bytes);
  free(workspace);
  return result;
}

static double jacobian_error(const abMcpDef* def, const double* x) {
  void* workspace = junk_memory(ab_mcp_workspace(def->n));
  double error = ab_mcp_check_jacobian(def, x, workspace);
  free(workspace);
  return error;
}

// The natural residual in the problem's own units, from the definition.
static double natural_residual(const abMcpDef* def, const double* x) {
  double f[MOST], worst = 0;
  assert_true(def->evaluate(def->context, x, f, NULL));
  for (int i = 0; i < def->n; i++) {
    double l = def->lower ? def->lower[i] : -INFINITY, u = def->upper ? def->upper[i] : INFINITY;
    worst = fmax(worst, fabs(x[i] - fmin(u, fmax(l, x[i] - f[i]))));
  }
  return worst;
}

// ---- linear: F = M x + q
// --------------------------------------------------------------------------
typedef struct Linear {
  int n;
  double m[MOST * MOST], q[MOST];
} Linear;

static bool linear(void* context, const double* x, double* f, double* jacobian) {
  const Linear* c = (const Linear*)context;
  for (int i = 0; i < c->n; i++) {
    f[i] = c->q[i];
    for (int j = 0; j < c->n; j++) f[i] += c->m[i * c->n + j] * x[j];
  }
  if (jacobian) memcpy(jacobian, c->m, (size_t)(c->n * c->n) * sizeof(double));
  return true;
}

static void fill_monotone(Random* r, Linear* c, double skew) {
  memset(c->m, 0, sizeof c->m);
  for (int k = 0; k < c->n + 2; k++) {
    double v[MOST];
    fill_normal(r, v, c->n);
    for (int i = 0; i < c->n; i++)
      for (int j = 0; j < c->n; j++) c->m[i * c->n + j] += v[i] * v[j];
  }
  for (int i = 0; i < c->n; i++)
    for (int j = 0; j < i; j++) {
      double s = skew * random_normal(r);
      c->m[i * c->n + j] += s, c->m[j * c->n + i] -= s;
    }
  fill_normal(r, c->q, c->n);
}

// Solves with each component at its lower bound (digit 0), free (1) or at its upper bound (2).
static bool is_solution(const Linear* c, const double* l, const double* u, int code, double* x) {
  double t[8][9];
  int n = c->n, digit[8];
  for (int i = 0; i < n; i++, code /= 3) {
    digit[i] = code % 3;
    if ((digit[i] == 0 && isinf(l[i])) || (digit[i] == 2 && isinf(u[i]))) return false;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) t[i][j] = digit[i] == 1 ? c->m[i * n + j] : i == j;
    t[i][n] = digit[i] == 1 ? -c->q[i] : digit[i] == 0 ? l[i] : u[i];
  }
  for (int i = 0; i < n; i++) {
    int best = i;
    for (int k = i; k < n; k++)
      if (fabs(t[k][i]) > fabs(t[best][i])) best = k;
    if (fabs(t[best][i]) < 1e-10) return false;
    for (int j = 0; j <= n; j++) {
      double v = t[i][j];
      t[i][j] = t[best][j], t[best][j] = v;
    }
    for (int k = 0; k < n; k++)
      if (k != i)
        for (int j = n; j >= i; j--) t[k][j] -= t[k][i] / t[i][i] * t[i][j];
  }
  for (int i = 0; i < n; i++) x[i] = t[i][n] / t[i][i];
  for (int i = 0; i < n; i++) {
    double f = c->q[i];
    for (int j = 0; j < n; j++) f += c->m[i * n + j] * x[j];
    if (x[i] < l[i] - 1e-9 || x[i] > u[i] + 1e-9) return false;
    if ((digit[i] == 0 && f < -1e-9) || (digit[i] == 2 && f > 1e-9)) return false;
  }
  return true;
}

static void random_bounds(Random* r, int n, double* l, double* u) {
  for (int i = 0; i < n; i++) {
    int kind = random_below(r, 5);
    l[i] = kind == 0 || kind == 1 ? -INFINITY : random_normal(r);
    u[i] =
        kind == 0 || kind == 2 ? INFINITY : (isinf(l[i]) ? 0 : l[i]) + random_uniform(r, 0.01, 2);
    if (kind == 4 && random_below(r, 4) == 0) u[i] = l[i];
  }
}

static void linear_problems_have_the_enumerated_solution(void** state) {
  (void)state;
  Random r = {1};
  for (int trial = 0; trial < 300; trial++) {
    static Linear c;
    double l[8], u[8], x[8] = {0}, expected[8], trial_x[8];
    c.n = 1 + random_below(&r, 6);
    fill_monotone(&r, &c, trial % 3);
    random_bounds(&r, c.n, l, u);
    int found = 0, codes = (int)(pow(3, c.n) + 0.5);
    for (int code = 0; code < codes; code++)
      if (is_solution(&c, l, u, code, trial_x)) found++, memcpy(expected, trial_x, sizeof expected);
    assert_true(found >= 1);  // more than once only where lower = upper
    abMcpDef def = {.n = c.n, .evaluate = linear, .context = &c, .lower = l, .upper = u};
    if (trial % 2) fill_normal(&r, x, c.n);
    abSolveResult result = solve(&def, x);
    assert_int_equal(result.status, AB_SOLVE_OK);
    for (int i = 0; i < c.n; i++) {
      check_near(x[i], expected[i], 1e-7 * (1 + fabs(expected[i])));
      assert_true(x[i] >= l[i] && x[i] <= u[i]);
    }
  }
}

static void units_of_each_row_and_variable_do_not_matter(void** state) {
  (void)state;
  Random r = {2};
  for (int trial = 0; trial < 200; trial++) {
    static Linear c, d;
    double l[MOST], u[MOST], dl[MOST], du[MOST], x[MOST] = {0}, y[MOST] = {0}, s[MOST], t[MOST];
    c.n = 2 + random_below(&r, 20);
    fill_monotone(&r, &c, 0.5);
    random_bounds(&r, c.n, l, u);
    d = c;
    for (int i = 0; i < c.n; i++) s[i] = ten_to(&r, 6), t[i] = ten_to(&r, 6);
    for (int i = 0; i < c.n; i++) {
      d.q[i] *= s[i], dl[i] = l[i] / t[i], du[i] = u[i] / t[i];
      for (int j = 0; j < c.n; j++) d.m[i * c.n + j] *= s[i] * t[j];
    }
    abMcpDef first = {.n = c.n, .evaluate = linear, .context = &c, .lower = l, .upper = u};
    abMcpDef second = {.n = c.n, .evaluate = linear, .context = &d, .lower = dl, .upper = du};
    assert_int_equal(solve(&first, x).status, AB_SOLVE_OK);
    assert_int_equal(solve(&second, y).status, AB_SOLVE_OK);
    for (int i = 0; i < c.n; i++) check_near(y[i] * t[i], x[i], 1e-6 * (1 + fabs(x[i])));
    double unit[MOST];  // the caller's own units serve as well
    for (int i = 0; i < c.n; i++) s[i] *= 10, unit[i] = 1 / t[i];
    second.x_scale = unit, second.f_scale = s;
    memset(y, 0, sizeof y);
    assert_int_equal(solve(&second, y).status, AB_SOLVE_OK);
    for (int i = 0; i < c.n; i++) check_near(y[i] * t[i], x[i], 1e-6 * (1 + fabs(x[i])));
  }
}

// ---- classic nonlinear problems
// ------------------------------------------------------------------- Kojima & Shindo 1986:
// solutions (sqrt(6)/2, 0, 0, 1/2), degenerate, and (1, 0, 3, 0). Josephy 1979: the first only.
// They differ in three coefficients.
static bool four_quadratics(void* context, const double* x, double* f, double* jacobian) {
  const bool kojima = *(const bool*)context;
  double c = kojima ? 10 : 3, d = kojima ? 9 : 3, e = kojima ? 9 : 1;
  f[0] = 3 * x[0] * x[0] + 2 * x[0] * x[1] + 2 * x[1] * x[1] + x[2] + 3 * x[3] - 6;
  f[1] = 2 * x[0] * x[0] + x[0] + x[1] * x[1] + c * x[2] + 2 * x[3] - 2;
  f[2] = 3 * x[0] * x[0] + x[0] * x[1] + 2 * x[1] * x[1] + 2 * x[2] + d * x[3] - e;
  f[3] = x[0] * x[0] + 3 * x[1] * x[1] + 2 * x[2] + 3 * x[3] - 3;
  if (!jacobian) return true;
  double rows[16] = {6 * x[0] + 2 * x[1], 2 * x[0] + 4 * x[1], 1, 3, 4 * x[0] + 1, 2 * x[1], c, 2,
                     6 * x[0] + x[1],     x[0] + 4 * x[1],     2, d, 2 * x[0],     6 * x[1], 2, 3};
  memcpy(jacobian, rows, sizeof rows);
  return true;
}

static void kojima_shindo_and_josephy_are_solved_from_many_starts(void** state) {
  (void)state;
  Random r = {3};
  double lower[4] = {0}, first[4] = {sqrt(1.5), 0, 0, 0.5}, second[4] = {1, 0, 3, 0};
  for (int trial = 0; trial < 200; trial++) {
    bool kojima = trial % 2;
    double x[4], d1 = 0, d2 = 0;
    for (int i = 0; i < 4; i++) x[i] = trial < 2 ? 0 : trial < 4 ? 1 : random_uniform(&r, -1, 10);
    abMcpDef def = {.n = 4, .evaluate = four_quadratics, .context = &kojima, .lower = lower};
    check_below(jacobian_error(&def, x), 1e-8);
    abSolveResult result = solve(&def, x);
    assert_int_equal(result.status, AB_SOLVE_OK);
    for (int i = 0; i < 4; i++)
      d1 = fmax(d1, fabs(x[i] - first[i])), d2 = fmax(d2, fabs(x[i] - second[i]));
    // At the degenerate solution of Kojima's problem the error is of the order of the residual's
    // root.
    check_below(kojima ? fmin(d1, d2) : d1, kojima ? 1e-5 : 1e-9);
    // F reaches 31 at the solutions and rows are balanced to within 4: 1e-10 of that.
    check_below(natural_residual(&def, x), 1.3e-8);
  }
}

// Billups 1995: (x - 1)^2 - 1.01 with x >= 0. From 0 every descent method on the merit function is
// trapped.
static bool billups(void* context, const double* x, double* f, double* jacobian) {
  (void)context;
  f[0] = (x[0] - 1) * (x[0] - 1) - 1.01;
  if (jacobian) jacobian[0] = 2 * (x[0] - 1);
  return true;
}

static void billups_trap_is_left(void** state) {
  (void)state;
  double lower[1] = {0};
  for (int k = 0; k < 40; k++) {
    double x[1] = {k == 0 ? 0 : k * 0.25};
    abMcpDef def = {.n = 1, .evaluate = billups, .lower = lower};
    assert_int_equal(solve(&def, x).status, AB_SOLVE_OK);
    check_near(x[0], 1 + sqrt(1.01), 1e-9);
  }
}

// Murphy, Sherali & Soyster 1982: five firms choose outputs q_i; each maximises p(Q) q_i -
// cost(q_i), with p(Q) = (5000/Q)^(1/1.1) and marginal cost c_i + (q_i/5)^(1/b_i). Not defined for
// q < 0 or Q = 0.
static bool cournot(void* context, const double* q, double* f, double* jacobian) {
  static const double c[5] = {10, 8, 6, 4, 2}, b[5] = {1.2, 1.1, 1, 0.9, 0.8};
  const double e = 1 / 1.1;
  (void)context;
  double total = 0;
  for (int i = 0; i < 5; i++) {
    if (q[i] < 0) return false;
    total += q[i];
  }
  if (total <= 0) return false;
  double p = pow(5000 / total, e), p1 = -e * p / total, p2 = e * (e + 1) * p / (total * total);
  for (int i = 0; i < 5; i++) {
    f[i] = c[i] + pow(q[i] / 5, 1 / b[i]) - p - q[i] * p1;
    for (int j = 0; j < 5 && jacobian; j++)
      jacobian[i * 5 + j] =
          -p1 - q[i] * p2 + (i == j ? pow(q[i] / 5, 1 / b[i] - 1) / (5 * b[i]) - p1 : 0);
  }
  return true;
}

static void cournot_equilibrium_is_found(void** state) {
  (void)state;
  double lower[5] = {0}, expected[5] = {36.9318, 41.8175, 43.7060, 42.6588, 39.1786};
  double starts[] = {1, 10, 100, 1000};
  for (int k = 0; k < 4; k++) {
    double x[5];
    for (int i = 0; i < 5; i++) x[i] = starts[k];
    abMcpDef def = {.n = 5, .evaluate = cournot, .lower = lower};
    check_below(jacobian_error(&def, x), 1e-8);
    assert_int_equal(solve(&def, x).status, AB_SOLVE_OK);
    for (int i = 0; i < 5; i++) check_near(x[i], expected[i], 2e-3);
    check_below(natural_residual(&def, x), 1e-7);
  }
}

// Braess 1968: six units travel from one end to the other; unknowns are the flows of the three
// routes
// (>= 0) and the cost of travel (free). All three routes carry 2 at cost 92.
static bool braess(void* context, const double* x, double* f, double* jacobian) {
  (void)context;
  double a = x[0] + x[2], d = x[1] + x[2];
  f[0] = 10 * a + 50 + x[0] - x[3];
  f[1] = 50 + x[1] + 10 * d - x[3];
  f[2] = 10 * a + 10 + x[2] + 10 * d - x[3];
  f[3] = x[0] + x[1] + x[2] - 6;
  double rows[16] = {11, 0, 10, -1, 0, 11, 10, -1, 10, 10, 21, -1, 1, 1, 1, 0};
  if (jacobian) memcpy(jacobian, rows, sizeof rows);
  return true;
}

static void braess_traffic_takes_all_routes(void** state) {
  (void)state;
  double lower[4] = {0, 0, 0, -INFINITY}, x[4] = {0};
  abMcpDef def = {.n = 4, .evaluate = braess, .lower = lower};
  assert_int_equal(solve(&def, x).status, AB_SOLVE_OK);
  for (int i = 0; i < 3; i++) check_near(x[i], 2, 1e-11);
  check_near(x[3], 92, 1e-10);
}

// A string under load -1 above the obstacle 0.3 - 2 (s - 0.4)^2, and below the ceiling 0.05: both
// kinds of contact occur. Discretised it is a linear problem; the lcp solver agrees where the
// ceiling is away.
static void obstacle_problem_agrees_with_lemke(void** state) {
  (void)state;
  static Linear c;
  double lower[MOST], upper[MOST], x[MOST] = {0}, q[MOST], z[MOST];
  int n = c.n = 60;
  for (int i = 0; i < n; i++) {
    double s = (i + 1.0) / (n + 1), bump = 0.3 - 2 * (s - 0.4) * (s - 0.4);
    lower[i] = bump, upper[i] = INFINITY;
    c.q[i] = 1.0 / ((n + 1.0) * (n + 1.0));
    for (int j = 0; j < n; j++) c.m[i * n + j] = i == j ? 2 : abs(i - j) == 1 ? -1 : 0;
  }
  abMcpDef def = {.n = n, .evaluate = linear, .context = &c, .lower = lower, .upper = upper};
  assert_int_equal(solve(&def, x).status, AB_SOLVE_OK);
  for (int i = 0; i < n; i++) {
    q[i] = c.q[i];
    for (int j = 0; j < n; j++) q[i] += c.m[i * n + j] * lower[j];
  }
  abLcpDef lcp = {.n = n, .m = c.m, .q = q};
  void* workspace = junk_memory(ab_lcp_workspace(n));
  assert_int_equal(ab_lcp(&lcp, z, NULL, workspace).status, AB_SOLVE_OK);
  free(workspace);
  for (int i = 0; i < n; i++) check_near(x[i], lower[i] + z[i], 1e-9);
  int low = 0, high = 0;
  for (int i = 0; i < n; i++) {
    lower[i] = fmin(lower[i], 0.04), upper[i] = 0.05;
    if (i < n / 2) c.q[i] = -0.01;
  }
  abSolveResult result = solve(&def, x);
  assert_int_equal(result.status, AB_SOLVE_OK);
  check_below(natural_residual(&def, x), 1e-9);
  for (int i = 0; i < n; i++) low += x[i] == lower[i], high += x[i] == upper[i];
  assert_true(low > 3 && high > 3);
}

// The point of the unit disc nearest to p: x - p + lambda x = 0 (free), 0 <= lambda, 1 - |x|^2 >=
// 0.
static bool disc(void* context, const double* x, double* f, double* jacobian) {
  const double* p = (const double*)context;
  f[0] = x[0] - p[0] + x[2] * x[0];
  f[1] = x[1] - p[1] + x[2] * x[1];
  f[2] = 0.5 * (1 - x[0] * x[0] - x[1] * x[1]);
  double rows[9] = {1 + x[2], 0, x[0], 0, 1 + x[2], x[1], -x[0], -x[1], 0};
  if (jacobian) memcpy(jacobian, rows, sizeof rows);
  return true;
}

static void the_nearest_point_of_a_disc_is_found(void** state) {
  (void)state;
  Random r = {4};
  for (int trial = 0; trial < 200; trial++) {
    double p[2] = {random_normal(&r) * 3, random_normal(&r) * 3},
           length = sqrt(p[0] * p[0] + p[1] * p[1]);
    double lower[3] = {-INFINITY, -INFINITY, 0}, x[3] = {0, 0, 0};
    if (trial % 10 == 0) p[0] /= length, p[1] /= length, length = 1;  // on the border: biactive
    abMcpDef def = {.n = 3, .evaluate = disc, .context = p, .lower = lower};
    assert_int_equal(solve(&def, x).status, AB_SOLVE_OK);
    double shrink = fmax(1, length), tolerance = trial % 10 == 0 ? 1e-5 : 1e-9;
    check_near(x[0], p[0] / shrink, tolerance);
    check_near(x[1], p[1] / shrink, tolerance);
    check_near(x[2], shrink - 1, tolerance);
  }
}

static bool logarithm(void* context, const double* x, double* f, double* jacobian) {
  (void)context;
  if (x[0] <= 0) return false;
  f[0] = log(x[0]);
  if (jacobian) jacobian[0] = 1 / x[0];
  return true;
}

static void the_border_of_the_domain_is_respected(void** state) {
  (void)state;
  for (int k = -8; k <= 8; k++) {
    double x[1] = {pow(10, k)};
    abMcpDef def = {.n = 1, .evaluate = logarithm};
    assert_int_equal(solve(&def, x).status, AB_SOLVE_OK);
    check_near(x[0], 1, 1e-8);
  }
  double outside[1] = {-1}, lower[1] = {0.5};
  abMcpDef def = {.n = 1, .evaluate = logarithm, .lower = lower};
  assert_int_equal(solve(&def, outside).status, AB_SOLVE_OK);
  check_near(outside[0], 1, 1e-9);
}

static void a_warm_start_needs_few_steps(void** state) {
  (void)state;
  Random r = {5};
  int cold = 0, warm = 0;
  for (int trial = 0; trial < 50; trial++) {
    static Linear c;
    double lower[MOST] = {0}, x[MOST] = {0};
    c.n = 20;
    fill_monotone(&r, &c, 0.3);
    abMcpDef def = {.n = c.n, .evaluate = linear, .context = &c, .lower = lower, .direct = true};
    abSolveResult result = solve(&def, x);
    assert_int_equal(result.status, AB_SOLVE_OK);
    cold += result.iterations;
    assert_int_equal(solve(&def, x).iterations, 0);
    for (int i = 0; i < c.n; i++) c.q[i] *= 1 + 1e-4 * random_normal(&r);
    result = solve(&def, x);
    assert_int_equal(result.status, AB_SOLVE_OK);
    warm += result.iterations;
  }
  assert_true(warm < cold / 2);
}

// F_i = q_i + sum_j m_ij x_j + c_ij x_j x_(i+j), not monotone, built around a solution.
typedef struct Quadratic {
  int n;
  double m[256], c[256], q[16];
} Quadratic;

static bool quadratic(void* context, const double* x, double* f, double* jacobian) {
  const Quadratic* p = (const Quadratic*)context;
  int n = p->n;
  if (jacobian) memcpy(jacobian, p->m, (size_t)(n * n) * sizeof(double));
  for (int i = 0; i < n; i++) {
    f[i] = p->q[i];
    for (int j = 0; j < n; j++) {
      int k = (i + j) % n;
      f[i] += (p->m[i * n + j] + p->c[i * n + j] * x[k]) * x[j];
      if (!jacobian) continue;
      jacobian[i * n + j] += p->c[i * n + j] * x[k];
      jacobian[i * n + k] += p->c[i * n + j] * x[j];
    }
  }
  return true;
}

static void most_problems_that_are_not_monotone_are_solved(void** state) {
  (void)state;
  Random r = {7};
  int solved = 0, directly = 0;
  for (int trial = 0; trial < 500; trial++) {
    static Quadratic p;
    double lower[16] = {0}, x[16], y[16], f[16];
    int n = p.n = 2 + random_below(&r, 12);
    fill_normal(&r, p.m, n * n), fill_normal(&r, p.c, n * n);
    memset(p.q, 0, sizeof p.q);
    for (int i = 0; i < n * n; i++) p.c[i] *= 0.1;
    for (int i = 0; i < n; i++) x[i] = random_below(&r, 2) ? random_uniform(&r, 0, 2) : 0;
    quadratic(&p, x, f, NULL);
    for (int i = 0; i < n; i++) p.q[i] = -f[i] + (x[i] > 0 ? 0 : random_uniform(&r, 0, 2));
    for (int i = 0; i < n; i++) x[i] = y[i] = random_uniform(&r, 0, 2);
    abMcpDef def = {.n = n, .evaluate = quadratic, .context = &p, .lower = lower};
    check_below(jacobian_error(&def, x), 1e-8);
    if (solve(&def, x).status == AB_SOLVE_OK) {
      solved++;
      check_below(natural_residual(&def, x), 1e-7);
    }
    def.direct = true;
    directly += solve(&def, y).status == AB_SOLVE_OK;
  }
  // 494 and 370 of 500 when this was written.
  assert_true(solved >= 485);
  assert_true(directly >= 330);
}

// ---- problems without solution, and junk
// ----------------------------------------------------------
static bool no_root(void* context, const double* x, double* f, double* jacobian) {
  (void)context;
  f[0] = 1 + x[0] * x[0];
  if (jacobian) jacobian[0] = 2 * x[0];
  return true;
}
static bool constant(void* context, const double* x, double* f, double* jacobian) {
  (void)x;
  f[0] = *(const double*)context;
  if (jacobian) jacobian[0] = 0;
  return true;
}
static bool refuse(void* context, const double* x, double* f, double* jacobian) {
  (void)context, (void)x, (void)f, (void)jacobian;
  return false;
}

static void what_cannot_be_solved_is_reported(void** state) {
  (void)state;
  double x[1] = {3}, values[] = {1, NAN, INFINITY, 0};
  abMcpDef def = {.n = 1, .evaluate = no_root};
  abSolveResult result = solve(&def, x);
  assert_true(result.status == AB_SOLVE_STALLED || result.status == AB_SOLVE_ITERATIONS);
  check_below(natural_residual(&def, x), 1 + 1e-6);  // the best point is x = 0
  def.evaluate = constant;
  for (int k = 0; k < 4; k++) {
    def.context = values + k, x[0] = 3;
    result = solve(&def, x);
    assert_true((result.status == AB_SOLVE_OK) == (k == 3));
    assert_true(x[0] == x[0]);
  }
  def.evaluate = refuse, x[0] = 3;
  assert_int_equal(solve(&def, x).status, AB_SOLVE_NUMERIC);
  assert_true(x[0] == 3);
  def.evaluate = billups;
  double low[1] = {2}, high[1] = {1}, bad[] = {NAN, INFINITY};
  def.lower = low, def.upper = high;
  assert_int_equal(solve(&def, x).status, AB_SOLVE_INPUT);
  def.lower = def.upper = NULL;
  for (int k = 0; k < 2; k++) {
    x[0] = bad[k];
    assert_int_equal(solve(&def, x).status, AB_SOLVE_INPUT);
    def.lower = bad + k, x[0] = 1;
    assert_int_equal(solve(&def, x).status, AB_SOLVE_INPUT);
    def.lower = NULL, def.x_scale = bad + k;
    assert_int_equal(solve(&def, x).status, AB_SOLVE_INPUT);
    def.x_scale = NULL;
  }
}

static void wild_linear_problems_give_a_status(void** state) {
  (void)state;
  Random r = {6};
  for (int trial = 0; trial < 200; trial++) {
    static Linear c;
    double lower[MOST] = {0}, x[MOST] = {0};
    c.n = 1 + random_below(&r, 6);
    double range = trial % 2 ? 100 : 10;
    for (int i = 0; i < c.n * c.n; i++) c.m[i] = random_normal(&r) * ten_to(&r, range);
    for (int i = 0; i < c.n; i++) c.q[i] = random_normal(&r) * ten_to(&r, range);
    abMcpDef def = {.n = c.n, .evaluate = linear, .context = &c, .lower = lower};
    abSolveResult result = solve(&def, x);
    assert_true(result.residual >= 0 && result.iterations <= 400);
    for (int i = 0; i < c.n; i++) assert_true(x[i] >= 0);
  }
}

static bool wrong_jacobian(void* context, const double* x, double* f, double* jacobian) {
  four_quadratics(context, x, f, jacobian);
  if (jacobian) jacobian[6] *= 1.01;
  return true;
}

static void a_wrong_jacobian_is_noticed(void** state) {
  (void)state;
  bool kojima = true;
  double x[4] = {1, 2, 3, 4};
  abMcpDef def = {.n = 4, .evaluate = wrong_jacobian, .context = &kojima};
  assert_true(jacobian_error(&def, x) > 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linear_problems_have_the_enumerated_solution),
      cmocka_unit_test(units_of_each_row_and_variable_do_not_matter),
      cmocka_unit_test(kojima_shindo_and_josephy_are_solved_from_many_starts),
      cmocka_unit_test(billups_trap_is_left),
      cmocka_unit_test(cournot_equilibrium_is_found),
      cmocka_unit_test(braess_traffic_takes_all_routes),
      cmocka_unit_test(obstacle_problem_agrees_with_lemke),
      cmocka_unit_test(the_nearest_point_of_a_disc_is_found),
      cmocka_unit_test(the_border_of_the_domain_is_respected),
      cmocka_unit_test(a_warm_start_needs_few_steps),
      cmocka_unit_test(most_problems_that_are_not_monotone_are_solved),
      cmocka_unit_test(what_cannot_be_solved_is_reported),
      cmocka_unit_test(wild_linear_problems_give_a_status),
      cmocka_unit_test(a_wrong_jacobian_is_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
