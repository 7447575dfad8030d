// Lemke's method against enumeration of all complementary bases, definitions, scaling and
// degeneracy.
#include "cases.h"

enum { MOST = 200 };

typedef struct Case {
  int n;
  double m[MOST * MOST], q[MOST], z[MOST], w[MOST], regularisation;
} Case;

static abSolveResult solve(Case* c) {
  abLcpDef def = {.n = c->n, .m = c->m, .q = c->q, .regularisation = c->regularisation};
  size_t bytes = ab_lcp_workspace(c->n);
  void* workspace = junk_memory(bytes);
  abSolveResult result = ab_lcp(&def, c->z, c->w, workspace);
  check_guard(workspace, bytes);
  free(workspace);
  return result;
}

static void check_solved(const Case* c, const abSolveResult* result, double tolerance) {
  assert_int_equal(result->status, AB_SOLVE_OK);
  check_below(result->residual, tolerance);
  double unit = 0, size = 0, worst = 0;
  for (int i = 0; i < c->n; i++) {
    double w = c->q[i], terms = fabs(w), row = 0;
    for (int j = 0; j < c->n; j++) {
      w += c->m[i * c->n + j] * c->z[j];
      terms += fabs(c->m[i * c->n + j] * c->z[j]);
      row = fmax(row, fabs(c->m[i * c->n + j]));
    }
    assert_true(c->z[i] >= 0);
    if (row == 0) row = 1;
    check_near(c->w[i], w, 1e-12 * (terms + row));
    worst = fmax(worst, fabs(c->z[i] > 0 ? w : fmin(w, 0)) / row);
    size = fmax(size, terms / row), unit = fmax(unit, row);
  }
  check_below(worst, tolerance * size);
}

// Solves the columns of the complementary basis `set` by elimination; true if it is a solution.
static bool is_solution(const Case* c, unsigned set, double* z) {
  double t[8][9];
  int p[8], k = 0;
  for (int j = 0; j < c->n; j++)
    if (set >> j & 1) p[k++] = j;
  for (int i = 0; i < k; i++) {
    for (int j = 0; j < k; j++) t[i][j] = c->m[p[i] * c->n + p[j]];
    t[i][k] = -c->q[p[i]];
  }
  for (int i = 0; i < k; i++) {
    int best = i;
    for (int l = i; l < k; l++)
      if (fabs(t[l][i]) > fabs(t[best][i])) best = l;
    if (fabs(t[best][i]) < 1e-10) return false;
    for (int j = 0; j <= k; j++) {
      double v = t[i][j];
      t[i][j] = t[best][j], t[best][j] = v;
    }
    for (int l = 0; l < k; l++)
      if (l != i)
        for (int j = k; j >= i; j--) t[l][j] -= t[l][i] / t[i][i] * t[i][j];
  }
  memset(z, 0, (size_t)c->n * sizeof *z);
  for (int i = 0; i < k; i++)
    if ((z[p[i]] = t[i][k] / t[i][i]) < -1e-10) return false;
  for (int i = 0; i < c->n; i++) {
    double w = c->q[i];
    for (int j = 0; j < c->n; j++) w += c->m[i * c->n + j] * z[j];
    if (w < -1e-10) return false;
  }
  return true;
}

// Number of complementary bases that solve the problem; z of the last one.
static int enumerate(const Case* c, double* z) {
  int count = 0;
  double trial[8];
  for (unsigned set = 0; set < 1u << c->n; set++)
    if (is_solution(c, set, trial)) count++, memcpy(z, trial, sizeof trial);
  return count;
}

// M = G G^T (of the given rank) + skew part: positive semidefinite.
static void fill_semidefinite(Random* r, Case* c, int rank, double skew, bool integer) {
  double g[MOST];
  memset(c->m, 0, sizeof c->m);
  for (int k = 0; k < rank; k++) {
    if (integer)
      fill_integer(r, g, c->n);
    else
      fill_normal(r, g, c->n);
    for (int i = 0; i < c->n; i++)
      for (int j = 0; j < c->n; j++) c->m[i * c->n + j] += g[i] * g[j];
  }
  for (int i = 0; i < c->n; i++)
    for (int j = 0; j < i; j++) {
      double s = integer ? random_below(r, 3) - 1 : skew * random_normal(r);
      c->m[i * c->n + j] += s, c->m[j * c->n + i] -= s;
    }
}

static void definite_problems_have_the_enumerated_solution(void** state) {
  (void)state;
  Random r = {1};
  for (int trial = 0; trial < 500; trial++) {
    static Case c;
    double z[8];
    c.n = 1 + random_below(&r, 8), c.regularisation = 0;
    fill_semidefinite(&r, &c, c.n + 2, trial % 3, false);
    fill_normal(&r, c.q, c.n);
    abSolveResult result = solve(&c);
    check_solved(&c, &result, 1e-12);
    assert_int_equal(enumerate(&c, z), 1);
    for (int i = 0; i < c.n; i++) check_near(c.z[i], z[i], 1e-8 * (1 + fabs(z[i])));
  }
}

static void semidefinite_problems_are_solved_or_proved_infeasible(void** state) {
  (void)state;
  Random r = {2};
  int rays = 0;
  for (int trial = 0; trial < 2000; trial++) {
    static Case c;
    double z[8];
    c.n = 1 + random_below(&r, 7), c.regularisation = 0;
    fill_semidefinite(&r, &c, random_below(&r, c.n + 1), 1, trial % 2);
    if (trial % 2)
      fill_integer(&r, c.q, c.n);
    else
      fill_normal(&r, c.q, c.n);
    int count = enumerate(&c, z);
    abSolveResult result = solve(&c);
    if (result.status == AB_SOLVE_RAY) {
      rays++;
      assert_int_equal(count, 0);
    } else {
      check_solved(&c, &result, 1e-10);
    }
  }
  assert_true(rays > 50);
}

static void large_problems_satisfy_the_definition(void** state) {
  (void)state;
  Random r = {3};
  for (int trial = 0; trial < 12; trial++) {
    static Case c;
    c.n = 20 + 20 * (trial % 10), c.regularisation = 0;
    fill_semidefinite(&r, &c, trial % 2 ? c.n + 10 : c.n / 2, 0.5, false);
    fill_normal(&r, c.q, c.n);
    if (trial % 2 == 0)  // feasible: q = -M u + something non-negative
      for (int i = 0; i < c.n; i++) {
        c.q[i] = fabs(c.q[i]);
        for (int j = 0; j < c.n; j += 2) c.q[i] -= c.m[i * c.n + j];
      }
    abSolveResult result = solve(&c);
    check_solved(&c, &result, 1e-9);
  }
}

static void units_of_each_variable_do_not_matter(void** state) {
  (void)state;
  Random r = {4};
  for (int trial = 0; trial < 300; trial++) {
    static Case c, d;
    double s[MOST], t[MOST];
    c.n = 2 + random_below(&r, 12), c.regularisation = 0;
    fill_semidefinite(&r, &c, c.n + 2, 0.3, false);
    fill_normal(&r, c.q, c.n);
    abSolveResult result = solve(&c);
    check_solved(&c, &result, 1e-12);
    d = c;
    for (int i = 0; i < c.n; i++) s[i] = ten_to(&r, 6), t[i] = ten_to(&r, 6), d.q[i] *= s[i];
    for (int i = 0; i < c.n; i++)
      for (int j = 0; j < c.n; j++) d.m[i * c.n + j] *= s[i] * t[j];
    result = solve(&d);
    assert_int_equal(result.status, AB_SOLVE_OK);
    for (int i = 0; i < c.n; i++) check_near(d.z[i] * t[i], c.z[i], 1e-8 * (1 + c.z[i]));
  }
}

// Cottle, Pang & Stone 1992: Murty's matrix makes some pivoting methods visit 2^n bases; and equal
// right-hand sides make every ratio a tie.
static void murtys_problems_and_ties_are_solved(void** state) {
  (void)state;
  for (int n = 1; n <= 12; n++)
    for (int kind = 0; kind < 3; kind++) {
      static Case c;
      memset(&c, 0, sizeof c);
      c.n = n;
      for (int i = 0; i < n; i++) {
        c.q[i] = -1;
        for (int j = 0; j < n; j++)
          c.m[i * n + j] = kind == 2 ? 1 + (i == j) : i == j ? 1 : (kind ? j > i : j < i) ? 2 : 0;
      }
      abSolveResult result = solve(&c);
      check_solved(&c, &result, 1e-13);
      if (kind == 2)
        for (int i = 0; i < n; i++) check_near(c.z[i], 1.0 / (n + 1), 1e-14);
      else
        for (int i = 0; i < n; i++) check_near(c.z[i], kind ? i == n - 1 : i == 0, 1e-13);
    }
}

// A box of which k corners press on a plane: rank 3 of k, the loads not unique, the sum unique.
static void redundant_supports_carry_the_weight_together(void** state) {
  (void)state;
  for (int k = 4; k <= 8; k++)
    for (int decade = -6; decade <= 6; decade++) {
      static Case c;
      double mass = pow(10, decade), sum = 0;
      c.n = k, c.regularisation = decade % 2 ? 1e-9 : 0;
      for (int i = 0; i < k; i++) {
        double xi = cos(6.283185307179586 * i / k), yi = sin(6.283185307179586 * i / k);
        c.q[i] = -1 - 0.2 * xi;
        for (int j = 0; j < k; j++) {
          double xj = cos(6.283185307179586 * j / k), yj = sin(6.283185307179586 * j / k);
          c.m[i * k + j] = (1 + 2 * (xi * xj + yi * yj)) / mass;
        }
      }
      abSolveResult result = solve(&c);
      assert_int_equal(result.status, AB_SOLVE_OK);
      for (int i = 0; i < k; i++) sum += c.z[i];
      check_near(sum, mass, (c.regularisation > 0 ? 1e-8 : 1e-12) * mass);
    }
}

// A body of random inertia slides on up to 16 corners of a polygon, some of them double, some
// polygons flattened to a line: M = N Phi A has rank 3 at most and is not symmetric, with friction
// 0.4.
static void fill_sliding(Random* r, Case* c) {
  double mass = ten_to(r, 3), size = ten_to(r, 2), flat = random_below(r, 10) ? 0.7 : 1e-14;
  abVec3 arm[16], slip[16], inertia, v = random_vec(r, 1), w = v3_scale(1 / size, random_vec(r, 1));
  inertia.x = mass * size * size * random_uniform(r, 0.1, 0.5);
  inertia.y = mass * size * size * random_uniform(r, 0.1, 0.5);
  inertia.z = mass * size * size * random_uniform(r, 0.1, 0.5);
  abVec3 centre = v3_scale(
      size, v3(0.3 * random_normal(r), 0.3 * random_normal(r), random_uniform(r, 0.05, 1)));
  c->n = 3 + random_below(r, 14);
  v.z = -fabs(v.z);
  for (int i = 0; i < c->n; i++) {
    double turn = 6.283185307179586 * i / c->n;
    arm[i] = v3_sub(v3(size * cos(turn), flat * size * sin(turn), 0), centre);
    if (i > 0 && random_below(r, 5) == 0) arm[i] = arm[i - 1];
    slip[i] = v3_add(v, v3_cross(w, arm[i]));
    c->q[i] = slip[i].z;
  }
  for (int j = 0; j < c->n; j++) {
    double speed = hypot(slip[j].x, slip[j].y);
    abVec3 force = v3(-0.4 * slip[j].x / speed, -0.4 * slip[j].y / speed, 1),
           t = v3_cross(arm[j], force);
    abVec3 spin = v3(t.x / inertia.x, t.y / inertia.y, t.z / inertia.z);
    for (int i = 0; i < c->n; i++) c->m[i * c->n + j] = 1 / mass + v3_cross(spin, arm[i]).z;
  }
}

static void sliding_contacts_are_solved_to_rounding(void** state) {
  (void)state;
  Random r = {7};
  for (int trial = 0; trial < 6000; trial++) {
    static Case c;
    fill_sliding(&r, &c);
    c.regularisation = trial % 3 == 0 ? 0 : trial % 3 == 1 ? 1e-9 : 1e-6;
    abSolveResult result = solve(&c);
    assert_int_equal(result.status, AB_SOLVE_OK);
    check_below(result.residual, 1e-12);
  }
}

// Copositive but indefinite, and the general case: whatever is returned as solved is a solution.
static void arbitrary_matrices_never_give_a_false_solution(void** state) {
  (void)state;
  Random r = {5};
  int solved = 0;
  for (int trial = 0; trial < 2000; trial++) {
    static Case c;
    c.n = 1 + random_below(&r, 10), c.regularisation = 0;
    if (trial % 2)
      fill_normal(&r, c.m, c.n * c.n), fill_normal(&r, c.q, c.n);
    else
      fill_integer(&r, c.m, c.n * c.n), fill_integer(&r, c.q, c.n);
    abSolveResult result = solve(&c);
    if (result.status == AB_SOLVE_OK) {
      check_solved(&c, &result, 1e-9);
      solved++;
    } else {
      assert_true(result.status == AB_SOLVE_RAY || result.status == AB_SOLVE_NUMERIC);
    }
  }
  assert_true(solved > 400);
}

static void junk_gives_a_status(void** state) {
  (void)state;
  Random r = {6};
  double bad[] = {NAN, INFINITY, -INFINITY};
  for (int trial = 0; trial < 600; trial++) {
    static Case c;
    c.n = 1 + random_below(&r, 8), c.regularisation = 0;
    for (int i = 0; i < c.n * c.n; i++) c.m[i] = random_normal(&r) * ten_to(&r, 300);
    for (int i = 0; i < c.n; i++) c.q[i] = random_normal(&r) * ten_to(&r, 300);
    bool poison = trial % 2;
    if (poison) (trial % 4 == 1 ? c.m : c.q)[0] = bad[trial % 3];
    abSolveResult result = solve(&c);
    if (poison) assert_int_equal(result.status, AB_SOLVE_INPUT);
    assert_true(result.residual >= 0);
    for (int i = 0; i < c.n; i++) assert_true(c.z[i] >= 0);
  }
  static Case empty;
  assert_int_equal(solve(&empty).status, AB_SOLVE_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(definite_problems_have_the_enumerated_solution),
      cmocka_unit_test(semidefinite_problems_are_solved_or_proved_infeasible),
      cmocka_unit_test(large_problems_satisfy_the_definition),
      cmocka_unit_test(units_of_each_variable_do_not_matter),
      cmocka_unit_test(murtys_problems_and_ties_are_solved),
      cmocka_unit_test(redundant_supports_carry_the_weight_together),
      cmocka_unit_test(sliding_contacts_are_solved_to_rounding),
      cmocka_unit_test(arbitrary_matrices_never_give_a_false_solution),
      cmocka_unit_test(junk_gives_a_status),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
