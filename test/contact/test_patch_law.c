// Claims about the polygon's quadrature and the law of one patch.
#include <string.h>

#include "contact/patch.h"
#include "math/vec.h"
#include "support/check.h"
#include "support/random.h"

enum { N = 7, NPOINT = 4 * N + 4 };

static void make_polygon(Random* r, abVec2* p) {
  abVec2 shift = v2(random_uniform(r, -1, 1), random_uniform(r, -1, 1));
  for (int i = 0; i < N; i++) {
    double a = 6.283185307179586 * (i + random_uniform(r, 0.1, 0.9)) / N;
    p[i] = v2_add(shift, v2(2 * cos(a), 1.1 * sin(a)));
  }
}

static void rule_is_exact_for_cubics_and_positive(void** state) {
  (void)state;
  Random r = {5};
  for (int k = 0; k < 50; k++) {
    abVec2 p[N];
    double x[NPOINT], y[NPOINT], w[NPOINT], sum[10] = {0};
    make_polygon(&r, p);
    ab_quadrature_polygon(N, p, x, y, w);
    abPolygonMoments m;
    ab_polygon_moments(N, p, &m);
    for (int i = 0; i < NPOINT; i++) {
      assert_true(i <= 4 * N ? w[i] > 0 : w[i] == 0);
      double f[10] = {1,
                      x[i],
                      y[i],
                      x[i] * x[i],
                      x[i] * y[i],
                      y[i] * y[i],
                      x[i] * x[i] * x[i],
                      x[i] * x[i] * y[i],
                      x[i] * y[i] * y[i],
                      y[i] * y[i] * y[i]};
      for (int j = 0; j < 10; j++) sum[j] += w[i] * f[j];
    }
    // coordinates up to 3, area up to 7: rounding of sums of about 30 terms of size 200
    for (int j = 0; j < 10; j++) check_near(sum[j], m.m[j], 1e-12);
    double fx[12 * N], fy[12 * N], fw[12 * N], cubic = 0;
    ab_quadrature_fine(N, p, fx, fy, fw);
    for (int i = 0; i < 12 * N; i++) {
      assert_true(fw[i] > 0);
      cubic += fw[i] * fx[i] * fx[i] * fy[i];
    }
    check_near(cubic, m.m[AB_M_XXY], 1e-12);
  }
}

static void unit_square_has_known_moments(void** state) {
  (void)state;
  abVec2 p[4] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  abPolygonMoments m;
  ab_polygon_moments(4, p, &m);
  double expected[10] = {1,       1.0 / 2, 1.0 / 2, 1.0 / 3, 1.0 / 4,
                         1.0 / 3, 1.0 / 4, 1.0 / 6, 1.0 / 6, 1.0 / 4};
  for (int i = 0; i < 10; i++) check_near(m.m[i], expected[i], 1e-15);
}

static void make_law(Random* r, abPatchLaw* law, const abVec2* p, double* store) {
  memset(law, 0, sizeof *law);
  law->ncorner = N, law->npoint = NPOINT, law->polygon = p;
  law->x = store, law->y = store + NPOINT, law->w = store + 2 * NPOINT;
  for (int i = 0; i < N; i++) law->x[i] = p[i].x, law->y[i] = p[i].y;
  ab_polygon_moments(N, p, &law->moments);
  law->weight = random_uniform(r, 1, 3), law->weight_t = random_uniform(r, 1, 3);
  law->branch = 2, law->mu = 0.6, law->trust = 1;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) {
      law->target[i][j] = (j == 0 ? 1 : 0) + random_uniform(r, -0.5, 0.5);
      law->profile[i][j] = (j == 0 ? 1 : 0) + random_uniform(r, -0.3, 0.3);
    }
  for (int j = 0; j < 3; j++) law->bristle[j] = random_uniform(r, -0.3, 0.3);
  ab_patch_profile_ready(law);
  ab_patch_set_load(law, 3);
}

// The energy whose negative gradient the law is, summed point by point.
static double energy(const abPatchLaw* law, const double V[6]) {
  double sum = 0;
  for (int i = 0; i < law->npoint; i++) {
    double x = law->x[i], y = law->y[i], p = ab_patch_pressure(law, V, x, y);
    sum += law->w[i] * p * p / (2 * law->weight);
    double lag = fmin(law->profile[0][0] + law->profile[0][1] * x + law->profile[0][2] * y,
                      law->profile[1][0] + law->profile[1][1] * x + law->profile[1][2] * y);
    double a = V[0] + law->bristle[0] - (V[5] + law->bristle[2]) * y;
    double b = V[1] + law->bristle[1] + (V[5] + law->bristle[2]) * x;
    double s = sqrt(a * a + b * b), limit = law->slip_speed;
    if (lag > 0)
      sum += law->w[i] * law->gain * lag * (s < limit ? s * s / (2 * limit) : s - limit / 2);
  }
  return sum;
}

static void impulse_is_the_gradient_of_the_energy(void** state) {
  (void)state;
  Random r = {11};
  for (int k = 0; k < 200; k++) {
    abVec2 p[N];
    double store[3 * NPOINT], V[6], f[6], G[12];
    abPatchLaw law;
    make_polygon(&r, p);
    make_law(&r, &law, p, store);
    double scale = k % 3 == 0 ? 0.02 : 1;  // sometimes everything sticks and presses
    for (int i = 0; i < 6; i++) V[i] = scale * random_uniform(&r, -1, 1);
    if (k % 3 == 0) memset(law.bristle, 0, sizeof law.bristle);
    ab_quadrature_polygon(N, p, law.x, law.y, law.w);
    law.filled = true;
    ab_patch_evaluate(&law, V, f, G);
    for (int i = 0; i < 6; i++) {
      double step = 1e-6, W[6];
      memcpy(W, V, sizeof W);
      W[i] += step;
      double up = energy(&law, W);
      W[i] -= 2 * step;
      double slope = (up - energy(&law, W)) / (2 * step);
      // central differences of a C1 piecewise smooth function of size 10
      check_near(f[i], -slope, 2e-5);
    }
  }
}

static void derivative_is_that_of_the_impulse(void** state) {
  (void)state;
  Random r = {12};
  int worse = 0, total = 0;
  for (int k = 0; k < 200; k++) {
    abVec2 p[N];
    double store[3 * NPOINT], V[6], f[6], G[12];
    abPatchLaw law;
    make_polygon(&r, p);
    make_law(&r, &law, p, store);
    for (int i = 0; i < 6; i++) V[i] = random_uniform(&r, -1, 1);
    ab_patch_evaluate(&law, V, f, G);
    for (int i = 0; i < 6; i++) {
      double step = 1e-7, W[6], g[6], x[6] = {0}, y[6];
      memcpy(W, V, sizeof W);
      W[i] += step, x[i] = 1;
      ab_patch_evaluate(&law, W, g, NULL);
      ab_patch_apply_G(G, x, y);
      for (int j = 0; j < 6; j++, total++)
        if (!(fabs((g[j] - f[j]) / step + y[j]) < 1e-4)) worse++;
    }
  }
  // a kink between V and W is rare
  check_below((double)worse / total, 0.01);
}

static void closed_form_equals_the_sum_over_points(void** state) {
  (void)state;
  Random r = {13};
  for (int k = 0; k < 100; k++) {
    abVec2 p[N];
    double store[3 * NPOINT], V[6], f[6], g[6], G[12], H[12];
    abPatchLaw law;
    make_polygon(&r, p);
    make_law(&r, &law, p, store);
    memset(law.bristle, 0, sizeof law.bristle);
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 3; j++) {
        law.target[i][j] = j == 0 ? 5 + i : 0.02 * random_uniform(&r, -1, 1);
        law.profile[i][j] = j == 0 ? 5 + i : 0.02 * random_uniform(&r, -1, 1);
      }
    for (int i = 0; i < 6; i++) V[i] = 0.01 * random_uniform(&r, -1, 1);
    law.branch = 0, law.filled = false;
    ab_patch_profile_ready(&law);
    ab_patch_set_load(&law, 30);
    ab_patch_evaluate(&law, V, f, G);
    assert_false(law.filled);  // no point was needed
    abPatchLaw other = law;
    other.branch = 2;
    ab_quadrature_polygon(N, p, other.x, other.y, other.w);
    ab_patch_evaluate(&other, V, g, H);
    for (int i = 0; i < 6; i++) check_near(f[i], g[i], 1e-12 * 200);
    for (int i = 0; i < 12; i++) check_near(G[i], H[i], 1e-12 * 200);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rule_is_exact_for_cubics_and_positive),
      cmocka_unit_test(unit_square_has_known_moments),
      cmocka_unit_test(impulse_is_the_gradient_of_the_energy),
      cmocka_unit_test(derivative_is_that_of_the_impulse),
      cmocka_unit_test(closed_form_equals_the_sum_over_points),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
