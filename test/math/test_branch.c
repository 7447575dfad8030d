// Systems of joint trees: solutions against the matrix itself, zeros that stay zero, replaced
// pivots.
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "math/branch.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST = 40 };

// Whether row i hangs on row j, by the rows' parents.
static bool carries(const int* parent, int j, int i) {
  while (i > j) i = parent[i];
  return i == j;
}

// A = B^T B with entries of B only where a row hangs on another: so has A.
static void random_system(Random* r, int n, int* parent, double* A) {
  double B[MOST * MOST] = {0};
  for (int i = 0; i < n; i++) {
    parent[i] = i == 0 ? -1 : random_below(r, 3) ? i - 1 : random_below(r, i);
    for (int j = 0; j <= i; j++)
      if (carries(parent, j, i)) B[i * n + j] = random_uniform(r, -1, 1) + (i == j ? 3 : 0);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      A[i * n + j] = 0;
      for (int k = 0; k < n; k++) A[i * n + j] += B[k * n + i] * B[k * n + j];
    }
}

static void solutions_solve_the_system(void** state) {
  (void)state;
  Random r = {7};
  for (int n = 1; n <= MOST; n++) {
    double A[MOST * MOST], L[MOST * MOST], x[MOST], b[MOST], most = 0;
    int parent[MOST];
    random_system(&r, n, parent, A);
    // the upper half is not read
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) L[i * n + j] = j > i ? NAN : A[i * n + j];
    for (int i = 0; i < n; i++) b[i] = x[i] = random_uniform(&r, -1, 1);
    assert_int_equal(branch_factor(n, L, NULL, 0), 0);
    branch_solve(n, L, x);
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    for (int i = 0; i < n; i++) {
      double sum = 0, size = 0;
      for (int j = 0; j < n; j++) sum += A[i * n + j] * x[j], size += fabs(A[i * n + j]) * most;
      check_near(sum, b[i], 16 * n * DBL_EPSILON * (size + 1));  // rounding of n sums
    }
  }
}

static void branches_stay_apart(void** state) {
  (void)state;
  Random r = {8};
  for (int n = 2; n <= MOST; n++) {
    double A[MOST * MOST];
    int parent[MOST];
    random_system(&r, n, parent, A);
    branch_factor(n, A, NULL, 0);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < i; j++)
        if (!carries(parent, j, i)) assert_true(A[i * n + j] == 0);
  }
}

// A = 1 with a row that says nothing: its pivot is that of before, and is counted.
static void empty_pivots_are_replaced(void** state) {
  (void)state;
  double A[100] = {0}, before[10], b[10];
  for (int i = 0; i < 10; i++) A[11 * i] = i == 4 ? 1e-30 : 1, before[i] = 4, b[i] = 1;
  assert_int_equal(branch_factor(10, A, before, 1e-14), 1);
  branch_solve(10, A, b);
  for (int i = 0; i < 10; i++) check_near(b[i], i == 4 ? 0.25 : 1, 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solutions_solve_the_system),
      cmocka_unit_test(branches_stay_apart),
      cmocka_unit_test(empty_pivots_are_replaced),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
