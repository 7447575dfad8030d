// The numbers of runs: even where they should be even, random where they should be random, and the
// same whoever asks.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "support/check.h"

static abSweep* sweep_of(const char* rest) {
  char text[1024];
  abError error = {0};
  snprintf(text, sizeof text,
           "{\"scene\": \"scenes/slide.xml\", \"measure\": {\"x\": \"body.cube.x\"}, %s}", rest);
  abSweep* s = ab_sweep_parse(text, "", &error);
  if (!s) fail_msg("%s", error.message);
  return s;
}

static void a_grid_is_nested_loops_with_exact_ends(void** state) {
  (void)state;
  abSweep* s = sweep_of(
      "\"vary\": {\"geom.cube.friction\": {\"grid\": [0.1, 0.7, 3]},"
      "\"key.slide.qvel[0]\": {\"list\": [5, 3]}}");
  const double wanted[][2] = {{0.1, 5}, {0.1, 3}, {0.4, 5}, {0.4, 3}, {0.7, 5}, {0.7, 3}};
  assert_int_equal(ab_sweep_count(s), 6);
  for (int i = 0; i < 6; i++) {
    double x[2];
    ab_sweep_values(s, i, x);
    check_near(x[0], wanted[i][0], i / 2 == 1 ? 1e-16 : 0);  // the middle is rounded, ends are not
    check_near(x[1], wanted[i][1], 0);
  }
  ab_sweep_free(s);
}

static void samples_repeat_the_points_of_a_grid(void** state) {
  (void)state;
  abSweep* s = sweep_of(
      "\"vary\": {\"geom.cube.friction\": {\"grid\": [0.1, 0.7, 3]},"
      "\"body.cube.mass\": {\"uniform\": [1, 2]}}, \"samples\": 4, \"repeat\": 2");
  assert_int_equal(ab_sweep_count(s), 24);
  double last = 0;
  for (int i = 0; i < 24; i++) {
    double x[2];
    ab_sweep_values(s, i, x);
    check_near(x[0], 0.1 + 0.3 * (i / 4 % 3), 2e-16);
    assert_true(x[1] >= 1 && x[1] < 2 && x[1] != last);
    last = x[1];
  }
  ab_sweep_free(s);
}

// Every stratum of every variable holds exactly one run.
static void a_latin_hypercube_has_one_run_in_each_stratum(void** state) {
  (void)state;
  enum { N = 1000 };
  abSweep* s = sweep_of(
      "\"vary\": {\"geom.cube.friction\": {\"uniform\": [0, 1]},"
      "\"body.cube.mass\": {\"uniform\": [0, 1]}}, \"method\": \"lhs\", \"samples\": 1000");
  int hit[2][N] = {{0}};
  int same = 0;
  for (int i = 0; i < N; i++) {
    double x[2];
    ab_sweep_values(s, i, x);
    for (int k = 0; k < 2; k++) hit[k][(int)(x[k] * N)]++;
    same += (int)(x[0] * N) == (int)(x[1] * N);
  }
  for (int i = 0; i < N; i++) assert_true(hit[0][i] == 1 && hit[1][i] == 1);
  assert_true(same < 20);  // 1 is expected of two independent permutations
  ab_sweep_free(s);
}

// The first 2^m points of each dimension lie one in each interval of length 2^-m, shifted or not.
static void sobol_fills_every_axis_evenly(void** state) {
  (void)state;
  enum { N = 1024 };
  for (int d = 0; d < sobol_most(); d++)
    for (uint64_t shift = 0; shift < 2; shift++) {
      int hit[N] = {0};
      for (uint64_t i = 0; i < N; i++)
        hit[(int)(N * sobol_unit(i, d, shift * 0x123456789abcdef1u))]++;
      for (int i = 0; i < N; i++)
        if (hit[i] != 1) fail_msg("dimension %d, interval %d: %d points", d, i, hit[i]);
    }
}

// Of 1024 points each of 8 x 8 cells holds 16. Random ones scatter by 4 about it; the worst of all
// pairs of dimensions, by the table's own measure (t <= 5), may have twice as many, and pairs of
// the first ten, which most sweeps get along with, none but 16.
static void sobol_fills_squares_evenly(void** state) {
  (void)state;
  enum { N = 1024, SIDE = 8, EVEN = N / (SIDE * SIDE) };
  for (int a = 0; a < sobol_most(); a++)
    for (int b = 0; b < a; b++) {
      int hit[SIDE][SIDE] = {{0}}, most = 0;
      for (uint64_t i = 0; i < N; i++)
        hit[(int)(SIDE * sobol_unit(i, a, 0))][(int)(SIDE * sobol_unit(i, b, 0))]++;
      for (int i = 0; i < SIDE * SIDE; i++)
        if (hit[i / SIDE][i % SIDE] > most) most = hit[i / SIDE][i % SIDE];
      if (most > (a < 10 ? EVEN : 2 * EVEN))
        fail_msg("dimensions %d and %d: %d points in a cell", a, b, most);
    }
}

static void the_normal_quantile_inverts_the_distribution(void** state) {
  (void)state;
  for (double u = 1e-300; u < 1; u = u < 0.01 ? u * 7 : u + 0.0137) {
    double x = normal_quantile(u), back = 0.5 * erfc(-x / sqrt(2));
    // the relative condition of u on x is |x| density / u, about x^2 in the tail
    check_near(back / u, 1, 1e-15 * (4 + x * x));
  }
  check_near(normal_quantile(0.5), 0, 1e-16);
  check_near(normal_quantile(0.975), 1.959963984540054, 1e-15);
}

static void moments(const abSweep* s, int k, double* mean, double* variance) {
  double sum = 0, square = 0, x[4];
  int64_t n = ab_sweep_count(s);
  for (int64_t i = 0; i < n; i++) {
    ab_sweep_values(s, i, x);
    sum += x[k];
    square += x[k] * x[k];
  }
  *mean = sum / (double)n;
  *variance = square / (double)n - *mean * *mean;
}

// Means and variances of 10 000 draws are within five standard errors: of the mean sqrt(v / n), of
// the variance v sqrt((kurtosis - 1) / n), kurtosis 3 and 1.8.
static void draws_have_the_moments_they_should(void** state) {
  (void)state;
  double mean, variance;
  abSweep* s = sweep_of(
      "\"vary\": {\"geom.cube.friction\": {\"uniform\": [1, 3]},"
      "\"body.cube.mass\": {\"normal\": [5, 2]}}, \"samples\": 10000, \"seed\": 3");
  moments(s, 0, &mean, &variance);
  check_near(mean, 2, 5 * sqrt(1.0 / 3 / 1e4));
  check_near(variance, 1.0 / 3, 5 * 1.0 / 3 * sqrt(0.8 / 1e4));
  moments(s, 1, &mean, &variance);
  check_near(mean, 5, 5 * 2 / 1e2);
  check_near(variance, 4, 5 * 4 * sqrt(2 / 1e4));
  ab_sweep_free(s);
}

// Sobol's points integrate a smooth function far better than 1 / sqrt(n).
static void sobol_integrates_better_than_chance(void** state) {
  (void)state;
  abSweep* s = sweep_of(
      "\"vary\": {\"geom.cube.friction\": {\"uniform\": [0, 1]},"
      "\"body.cube.mass\": {\"normal\": [0, 1]}}, \"samples\": 4096, \"method\": \"sobol\"");
  double mean, variance;
  moments(s, 0, &mean, &variance);
  check_near(mean, 0.5, 1e-3 * sqrt(1.0 / 12));  // chance: 1/64 of the deviation
  moments(s, 1, &mean, &variance);
  check_near(mean, 0, 2e-3);
  check_near(variance, 1, 1e-2);
  ab_sweep_free(s);
}

static void truncated_normals_stay_in_their_range(void** state) {
  (void)state;
  abSweep* s = sweep_of(
      "\"vary\": {\"geom.cube.friction\": {\"normal\": [0.3, 0.2, 0.1, 0.35]}},"
      "\"samples\": 2000");
  double low = INFINITY, high = -INFINITY, x;
  for (int i = 0; i < 2000; i++) {
    ab_sweep_values(s, i, &x);
    low = fmin(low, x), high = fmax(high, x);
  }
  // 2000 draws come to within a hundredth of the ends
  assert_true(low >= 0.1 && low < 0.1025 && high <= 0.35 && high > 0.3475);
  ab_sweep_free(s);
}

static void seeds_give_other_draws_and_the_same_seed_the_same(void** state) {
  (void)state;
  static const char* const method[] = {"random", "lhs", "sobol"};
  for (int k = 0; k < 3; k++) {
    abSweep* s[3];
    for (int i = 0; i < 3; i++) {
      char rest[256];
      snprintf(rest, sizeof rest,
               "\"vary\": {\"geom.cube.friction\": {\"uniform\": [0, 1]}}, \"samples\": 50,"
               "\"method\": \"%s\", \"seed\": %d",
               method[k], i == 2 ? 2 : 1);
      s[i] = sweep_of(rest);
    }
    int same = 0;
    for (int i = 0; i < 50; i++) {
      double x[3];
      for (int m = 0; m < 3; m++) ab_sweep_values(s[m], i, &x[m]);
      assert_true(x[0] == x[1]);
      same += x[0] == x[2];
    }
    assert_int_equal(same, 0);
    for (int i = 0; i < 3; i++) ab_sweep_free(s[i]);
  }
}

int main(void) {
  const struct CMUnitTest test[] = {
      cmocka_unit_test(a_grid_is_nested_loops_with_exact_ends),
      cmocka_unit_test(samples_repeat_the_points_of_a_grid),
      cmocka_unit_test(a_latin_hypercube_has_one_run_in_each_stratum),
      cmocka_unit_test(sobol_fills_every_axis_evenly),
      cmocka_unit_test(sobol_fills_squares_evenly),
      cmocka_unit_test(the_normal_quantile_inverts_the_distribution),
      cmocka_unit_test(draws_have_the_moments_they_should),
      cmocka_unit_test(sobol_integrates_better_than_chance),
      cmocka_unit_test(truncated_normals_stay_in_their_range),
      cmocka_unit_test(seeds_give_other_draws_and_the_same_seed_the_same),
  };
  return cmocka_run_group_tests(test, NULL, NULL);
}
