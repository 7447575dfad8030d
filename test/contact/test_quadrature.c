// Claims about the exact integrals of a profile over a polygon.
#include "contact/quadrature.h"

#include "math/vec.h"
#include "support/check.h"
#include "support/random.h"

enum { N = 6 };

static void make_polygon(Random* r, abVec2* p) {
  for (int i = 0; i < N; i++) {
    double a = 6.283185307179586 * (i + random_uniform(r, 0.1, 0.9)) / N;
    p[i] = v2(0.3 + 2 * cos(a), -0.2 + 1.1 * sin(a));
  }
}

static bool inside(const abVec2* p, abVec2 q) {
  for (int i = 0; i < N; i++)
    if (v2_cross(v2_sub(p[(i + 1) % N], p[i]), v2_sub(q, p[i])) < 0) return false;
  return true;
}

static double profile_at(const double field[2][3], abVec2 q) {
  double a = field[0][0] + field[0][1] * q.x + field[0][2] * q.y;
  double b = field[1][0] + field[1][1] * q.x + field[1][2] * q.y;
  return fmax(0, fmin(a, b));
}

// Points in the middle of the cells of a fine grid.
static void profile_is_that_of_a_grid(void** state) {
  (void)state;
  enum { CELLS = 600 };
  Random r = {41};
  for (int k = 0; k < 60; k++) {
    abVec2 p[N], origin = v2(random_uniform(&r, -1, 1), random_uniform(&r, -1, 1));
    double field[2][3], sum[4], grid[4] = {0}, cell = 5.0 / CELLS;
    make_polygon(&r, p);
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 3; j++)
        field[i][j] = k % 4 == 0 && i > 0 ? field[0][j] : random_uniform(&r, -1, 1);
    ab_polygon_profile(N, p, (const double(*)[3])field, origin, sum);
    for (int i = 0; i < CELLS; i++)
      for (int j = 0; j < CELLS; j++) {
        abVec2 q = v2(-2.2 + cell * (i + 0.5), -2.7 + cell * (j + 0.5));
        if (!inside(p, q)) continue;
        double P = profile_at((const double(*)[3])field, q) * cell * cell;
        double x = q.x - origin.x, y = q.y - origin.y;
        grid[0] += P, grid[1] += P * x, grid[2] += P * y, grid[3] += P * (x * x + y * y);
      }
    // p up to 4, lever up to 4, border 10: cells cut by it are wrong by a random half
    double tolerance = 10 * cell * 4 * 16 * 0.5 / sqrt(10 / cell);
    for (int i = 0; i < 4; i++) check_near(sum[i], grid[i], tolerance);
  }
}

// The legs of the pressed corner are L long, those of the square 2: nothing is lost in rounding.
static void small_corner_is_as_exact_as_the_whole(void** state) {
  (void)state;
  for (double L = 1; L > 1e-9; L *= 0.1) {
    abVec2 p[4] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    double field[2][3] = {{L - 2, -1, -1}, {L - 2, -1, -1}}, sum[4];
    ab_polygon_profile(4, p, (const double(*)[3])field, p[0], sum);
    // integral over the triangle of (L - u - v) times 1, u, u^2 + v^2; L itself is a difference
    double exact[3] = {L * L * L / 6, pow(L, 4) / 24, pow(L, 5) / 30};
    double relative = 1e-15 * 10 / L;
    check_near(sum[0], exact[0], relative * exact[0]);
    check_near(sum[1], exact[1], relative * exact[1]);
    check_near(sum[3], exact[2], relative * exact[2]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(profile_is_that_of_a_grid),
      cmocka_unit_test(small_corner_is_as_exact_as_the_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
