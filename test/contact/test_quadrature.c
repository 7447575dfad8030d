// Claims about the exact integrals over polygons and lines in polar coordinates about a pole.
#include "contact/quadrature.h"

#include "math/vec.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST = 20, ROOM = MOST + 4 };

static void make_ring(Random* r, int n, double flat, abRing* ring) {
  ring->n = n;
  for (int i = 0; i < n; i++) {
    double a = 6.283185307179586 * (i + random_uniform(r, 0.1, 0.9)) / n;
    ring->x[i] = 0.3 + cos(a), ring->y[i] = -0.2 + flat * sin(a);
  }
  ab_ring_close(ring);
}

// The part of a ray from the pole that lies in the polygon.
static bool cut_ray(const abRing* ring, abVec2 pole, abVec2 e, double r[2]) {
  r[0] = 0, r[1] = 1e9;
  for (int i = 0; i < ring->n; i++) {
    abVec2 a = v2(ring->x[i], ring->y[i]), u = v2_sub(v2(ring->x[i + 1], ring->y[i + 1]), a);
    double in = v2_cross(u, v2_sub(pole, a)), slope = v2_cross(u, e);
    if (slope > 0) r[0] = fmax(r[0], -in / slope);
    if (slope < 0) r[1] = fmin(r[1], -in / slope);
    if (slope == 0 && in < 0) return false;
  }
  return r[1] > r[0];
}

// Integral of rho^power p over the ray from `from` to `to`, p = c + g rho.
static double along(double c, double g, double from, double to, int power) {
  if (!(to > from)) return 0;
  int n = power + 1;
  return c * (pow(to, n) - pow(from, n)) / n + g * (pow(to, n + 1) - pow(from, n + 1)) / (n + 1);
}

// The same sums ray by ray.
static abPoleSums sum_rays(const abRing* ring, const double f[3], const abPole* pole) {
  enum { RAYS = 40000 };
  abPoleSums s = {0};
  for (int k = 0; k < RAYS; k++) {
    double angle = 6.283185307179586 * (k + 0.5) / RAYS, d = 6.283185307179586 / RAYS, r[2];
    abVec2 e = v2(cos(angle), sin(angle));
    if (!cut_ray(ring, pole->at, e, r)) continue;
    double c = f[0] + f[1] * pole->at.x + f[2] * pole->at.y, g = f[1] * e.x + f[2] * e.y;
    double from = fmax(r[0], pole->radius), to = fmin(r[1], pole->radius);
    double one = d * along(c, g, from, r[1], 1), none = d * along(c, g, from, r[1], 0);
    double moment = d * along(c, g, r[0], to, 2);
    s.beyond0 += d * along(c, g, from, r[1], 2);
    s.beyond1[0] += one * e.x, s.beyond1[1] += one * e.y;
    s.beyond2[0] += none * e.x * e.x, s.beyond2[1] += none * e.x * e.y;
    s.beyond2[2] += none * e.y * e.y;
    s.within0 += d * along(c, g, r[0], to, 1);
    s.within1[0] += moment * e.x, s.within1[1] += moment * e.y;
    s.within2 += d * along(c, g, r[0], to, 3);
  }
  return s;
}

static void check_sums(const abPoleSums* a, const abPoleSums* b, double tolerance) {
  const double* x[2] = {(const double*)a, (const double*)b};
  for (size_t i = 0; i < sizeof *a / sizeof(double); i++) check_near(x[0][i], x[1][i], tolerance);
}

// Pole inside and outside; circle inside, across the border, around everything.
static void pole_sums_are_those_of_rays(void** state) {
  (void)state;
  Random r = {31};
  for (int k = 0; k < 120; k++) {
    double x[ROOM], y[ROOM];
    abRing ring = {.x = x, .y = y};
    make_ring(&r, 3 + k % (MOST - 2), k % 4 == 0 ? 0.05 : 0.8, &ring);
    double field[3] = {1, random_uniform(&r, -0.5, 0.5), random_uniform(&r, -0.5, 0.5)};
    abPole pole = {{random_uniform(&r, -2, 2), random_uniform(&r, -1.5, 1.5)},
                   k % 3 == 0 ? 1e-3 : random_uniform(&r, 0.01, 2)};
    abPoleSums sums, rays = sum_rays(&ring, field, &pole);
    ab_ring_pole(&ring, field, &pole, true, &sums);
    // one ray in 40000 at either end of each edge counts by half, of sums up to 10
    check_sums(&sums, &rays, 2e-4);
  }
}

// A square that turns about its centre: its mean distance from there is known.
static void square_has_its_mean_distance(void** state) {
  (void)state;
  double x[ROOM] = {-1, 1, 1, -1}, y[ROOM] = {-1, -1, 1, 1};
  abRing ring = {4, x, y};
  ab_ring_close(&ring);
  abPoleSums sums;
  const double even[3] = {1, 0, 0}, b = 1e-6;
  ab_ring_pole(&ring, even, &(abPole){{0, 0}, b}, true, &sums);
  check_near(sums.beyond0, 4 * (sqrt(2) + asinh(1)) / 3, 1e-14);
  // 1 / rho over the square, less the circle: 8 asinh 1 - 2 pi b
  check_near(sums.beyond2[0] + sums.beyond2[2], 8 * asinh(1) - 6.283185307179586 * b, 1e-14);
  check_near(sums.within0, 3.141592653589793 * b * b, 1e-26);
}

// With the pole at a vertex, on an edge and in line with one: no division by zero, and the sums of
// a pole a little aside.
static void pole_may_lie_on_the_border(void** state) {
  (void)state;
  static const abVec2 at[4] = {{1, 1}, {1, 0.3}, {1, 2}, {-1, -1}};
  double x[ROOM] = {-1, 1, 1, -1}, y[ROOM] = {-1, -1, 1, 1};
  abRing ring = {4, x, y};
  const double field[3] = {1, 0.2, -0.3};
  ab_ring_close(&ring);
  for (int k = 0; k < 8; k++) {
    abPole pole = {at[k / 2], k % 2 ? 1e-2 : 1e-9}, aside = pole;
    aside.at.x -= 1e-9, aside.at.y += 1e-9;
    abPoleSums on, near;
    ab_ring_pole(&ring, field, &pole, true, &on);
    ab_ring_pole(&ring, field, &aside, true, &near);
    check_sums(&on, &near, 1e-7);  // 1e-9 times its logarithm
  }
}

// All lengths a thousand times longer or shorter.
static void pole_sums_scale(void** state) {
  (void)state;
  Random r = {32};
  for (int k = 0; k < 100; k++) {
    double x[ROOM], y[ROOM], xl[ROOM], yl[ROOM];
    abRing ring = {.x = x, .y = y}, large = {.x = xl, .y = yl};
    make_ring(&r, 3 + k % (MOST - 2), 0.6, &ring);
    abPole pole = {{random_uniform(&r, -1, 1), random_uniform(&r, -1, 1)},
                   random_uniform(&r, 0.01, 1)};
    double s = k % 2 ? 1024 : 1.0 / 1024, field[3] = {1, 0.3, -0.2};
    double scaled[3] = {1, 0.3 / s, -0.2 / s};
    large.n = ring.n;
    for (int i = 0; i < ab_ring_room(ring.n); i++) xl[i] = s * x[i], yl[i] = s * y[i];
    abPole far = {v2_scale(s, pole.at), s * pole.radius};
    abPoleSums a, b;
    ab_ring_pole(&ring, field, &pole, true, &a);
    ab_ring_pole(&large, scaled, &far, true, &b);
    check_near(b.beyond0 / (s * s * s), a.beyond0, 1e-12);
    check_near(b.beyond1[0] / (s * s), a.beyond1[0], 1e-12);
    check_near(b.beyond2[1] / s, a.beyond2[1], 1e-12);
    check_near(b.within2 / (s * s * s * s), a.within2, 1e-12);
  }
}

// Means over a line, of points in the middle of small pieces; the pole beside it, on it and in line
// with it.
static abPoleSums sum_points(const abVec2 end[2], const double f[3], const abPole* pole) {
  enum { PIECES = 40000 };
  abPoleSums s = {0};
  for (int k = 0; k < PIECES; k++) {
    abVec2 x = v2_axpy((k + 0.5) / PIECES, v2_sub(end[1], end[0]), end[0]);
    abVec2 r = v2_sub(x, pole->at);
    double p = (f[0] + f[1] * x.x + f[2] * x.y) / PIECES, l = v2_norm(r);
    if (l > pole->radius) {
      s.beyond0 += p * l, s.beyond1[0] += p * r.x / l, s.beyond1[1] += p * r.y / l;
      s.beyond2[0] += p * r.x * r.x / (l * l * l), s.beyond2[1] += p * r.x * r.y / (l * l * l);
      s.beyond2[2] += p * r.y * r.y / (l * l * l);
    } else {
      s.within0 += p, s.within1[0] += p * r.x, s.within1[1] += p * r.y, s.within2 += p * l * l;
    }
  }
  return s;
}

static void line_sums_are_those_of_points(void** state) {
  (void)state;
  Random r = {33};
  for (int k = 0; k < 200; k++) {
    abVec2 end[2], along;
    for (int i = 0; i < 2; i++) end[i] = v2(random_uniform(&r, -1, 1), random_uniform(&r, -1, 1));
    along = v2_sub(end[1], end[0]);
    double field[3] = {1, random_uniform(&r, -0.5, 0.5), random_uniform(&r, -0.5, 0.5)};
    double beside = k % 4 == 0 ? 0 : random_uniform(&r, -1, 1);
    abPole pole = {v2_axpy(random_uniform(&r, -1, 2), along, end[0]), random_uniform(&r, 0.01, 1)};
    pole.at = v2_axpy(beside, v2(-along.y, along.x), pole.at);
    abPoleSums sums, points = sum_points(end, field, &pole);
    ab_line_pole(end, field, &pole, &sums);
    // half a piece at either end of the circle, and 1 / l up to 100 there
    check_sums(&sums, &points, 100 * 2.0 / 40000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pole_sums_are_those_of_rays),
      cmocka_unit_test(square_has_its_mean_distance),
      cmocka_unit_test(pole_may_lie_on_the_border),
      cmocka_unit_test(pole_sums_scale),
      cmocka_unit_test(line_sums_are_those_of_points),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
