// Claims about the polygon's quadrature and the law of one patch.
#include <string.h>

#include "contact/patch/patch.h"
#include "math/vec.h"
#include "oracle/patch_world.h"
#include "support/check.h"
#include "support/random.h"

enum { N = 7, NPOINT = 4 * N + 4, NSTORE = 3 * NPOINT + 4 * (N + 2) };

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
  law->mu = 0.6;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) {
      law->target[i][j] = (j == 0 ? 1 : 0) + random_uniform(r, -0.5, 0.5);
      law->profile[i][j] = (j == 0 ? 1 : 0) + random_uniform(r, -0.3, 0.3);
    }
  for (int j = 0; j < 3; j++) law->bristle[j] = random_uniform(r, -0.3, 0.3);
  ab_patch_part_area(law, store + 3 * NPOINT);
  ab_patch_profile_ready(law);
  ab_patch_set_load(law, 3);
}

// Sutherland and Hodgman's clipping: what is left of a polygon where the field is positive.
static int clip(int n, const abVec2* p, const double field[3], abVec2* out) {
  int m = 0;
  for (int i = 0; i < n; i++) {
    abVec2 a = p[i], b = p[(i + 1) % n];
    double fa = field[0] + field[1] * a.x + field[2] * a.y;
    double fb = field[0] + field[1] * b.x + field[2] * b.y;
    if (fa > 0) out[m++] = a;
    if ((fa > 0) != (fb > 0)) out[m++] = v2_add(a, v2_scale(fa / (fa - fb), v2_sub(b, a)));
  }
  return m;
}

// Integral of p^2 where the first of two fields is the smaller and positive: p is affine there, and
// the rule on that polygon is exact.
static double square_of_smaller(int n, const abVec2* polygon, const double first[3],
                                const double second[3]) {
  enum { MOST = 2 * N };
  abVec2 half[MOST], rest[MOST];
  double less[3], x[4 * MOST + 4], y[4 * MOST + 4], w[4 * MOST + 4], sum = 0;
  for (int k = 0; k < 3; k++) less[k] = second[k] - first[k];
  int m = clip(n, polygon, less, half);
  m = clip(m, half, first, rest);
  if (m < 3) return 0;
  ab_quadrature_polygon(m, rest, x, y, w);
  for (int i = 0; i < ab_quadrature_count(m); i++) {
    double p = first[0] + first[1] * x[i] + first[2] * y[i];
    sum += w[i] * p * p;
  }
  return sum;
}

// The same along the border, edge by edge: p^2 is quadratic between the ends of what is left of the
// edge, and Simpson's rule is exact.
static double square_on_border(int n, const abVec2* polygon, const double first[3],
                               const double second[3]) {
  double sum = 0, less[3];
  for (int k = 0; k < 3; k++) less[k] = second[k] - first[k];
  for (int i = 0; i < n; i++) {
    abVec2 a = polygon[i], d = v2_sub(polygon[(i + 1) % n], a);
    double low = 0, high = 1;
    const double* field[2] = {less, first};
    for (int k = 0; k < 2; k++) {
      double at0 = field[k][0] + field[k][1] * a.x + field[k][2] * a.y;
      double slope = field[k][1] * d.x + field[k][2] * d.y, root = -at0 / slope;
      if (slope > 0) low = fmax(low, root);
      if (slope < 0) high = fmin(high, root);
    }
    if (!(high > low)) continue;
    double p[3];
    for (int k = 0; k < 3; k++) {
      double t = low + 0.5 * k * (high - low);
      p[k] = first[0] + first[1] * (a.x + t * d.x) + first[2] * (a.y + t * d.y);
    }
    sum += v2_norm(d) * (high - low) * (p[0] * p[0] + 4 * p[1] * p[1] + p[2] * p[2]) / 6;
  }
  return sum;
}

// The energy whose negative gradient the law is.
static double energy(const abPatchLaw* law, const double V[6]) {
  double field[2][3];
  ab_patch_pressure_fields(law, V, field);
  double perimeter = 0;
  for (int i = 0; i < N; i++)
    perimeter += v2_norm(v2_sub(law->polygon[(i + 1) % N], law->polygon[i]));
  double border = AB_PATCH_BORDER * law->moments.m[AB_M_1] / perimeter, sum = 0;
  for (int i = 0; i < 2; i++)
    sum += ((1 - AB_PATCH_BORDER) * square_of_smaller(N, law->polygon, field[i], field[1 - i]) +
            border * square_on_border(N, law->polygon, field[i], field[1 - i])) /
           (2 * law->weight);
  for (int i = 0; i < law->npoint; i++) {
    double x = law->x[i], y = law->y[i];
    double lag = fmin(law->profile[0][0] + law->profile[0][1] * x + law->profile[0][2] * y,
                      law->profile[1][0] + law->profile[1][1] * x + law->profile[1][2] * y);
    double a = V[0] + law->bristle[0] - (V[5] + law->bristle[2]) * y;
    double b = V[1] + law->bristle[1] + (V[5] + law->bristle[2]) * x;
    double c = (V[5] + law->bristle[2]) * law->spread;
    double s = sqrt(a * a + b * b + c * c), limit = law->slip_speed;
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
    double store[NSTORE], V[6], f[6];
    abPatchSlope G;
    abPatchLaw law;
    make_polygon(&r, p);
    make_law(&r, &law, p, store);
    double scale = k % 3 == 0 ? 0.02 : 1;  // sometimes everything sticks and presses
    for (int i = 0; i < 6; i++) V[i] = scale * random_uniform(&r, -1, 1);
    if (k % 3 == 0) memset(law.bristle, 0, sizeof law.bristle);
    ab_quadrature_polygon(N, p, law.x, law.y, law.w);
    law.filled = true;
    ab_patch_evaluate(&law, V, f, &G);
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
    double store[NSTORE], V[6], f[6];
    abPatchSlope G;
    abPatchLaw law;
    make_polygon(&r, p);
    make_law(&r, &law, p, store);
    for (int i = 0; i < 6; i++) V[i] = random_uniform(&r, -1, 1);
    ab_patch_evaluate(&law, V, f, &G);
    for (int i = 0; i < 6; i++) {
      double step = 1e-7, W[6], g[6], x[6] = {0}, y[6];
      memcpy(W, V, sizeof W);
      W[i] += step, x[i] = 1;
      ab_patch_evaluate(&law, W, g, NULL);
      ab_patch_apply_G(&G, x, y);
      for (int j = 0; j < 6; j++, total++)
        if (!(fabs((g[j] - f[j]) / step + y[j]) < 1e-4)) worse++;
    }
  }
  // a kink between V and W is rare
  check_below((double)worse / total, 0.01);
}

// Friction has a closed form while every point sticks and is a sum over points when one slips, by
// the one rule or by the finer one: nothing may jump in between, also where the profile is cut off.
static void friction_does_not_jump_where_slip_begins(void** state) {
  (void)state;
  Random r = {13};
  int nfine = 0;
  for (int k = 0; k < 200; k++) {
    abVec2 p[N];
    double store[NSTORE], fine[36 * N], V[6] = {0}, f[2][6];
    abPatchLaw law;
    make_polygon(&r, p);
    make_law(&r, &law, p, store);
    memset(law.bristle, 0, sizeof law.bristle);
    for (int j = 1; j < 3; j++) law.profile[0][j] = random_uniform(&r, -1, 1);
    ab_patch_profile_ready(&law);
    ab_patch_set_load(&law, 3);
    V[0] = random_uniform(&r, -1, 1), V[1] = random_uniform(&r, -1, 1);
    V[5] = random_uniform(&r, -1, 1);
    law.fine = k % 2 ? fine : NULL;
    double fast[6];
    for (int i = 0; i < 6; i++) fast[i] = 1e3 * V[i];
    ab_patch_choose_rule(&law, fast);
    nfine += law.use_fine;
    double most = 0;
    for (int i = 0; i < N; i++) {
      abVec2 s = v2(V[0] - V[5] * p[i].y, V[1] + V[5] * p[i].x);
      most = fmax(most, v2_norm(s));
    }
    for (int side = 0; side < 2; side++) {
      double W[6] = {0}, factor = (1 + (side ? 1e-9 : -1e-9)) * law.slip_speed / most;
      for (int i = 0; i < 6; i++) W[i] = factor * V[i];
      ab_patch_evaluate(&law, W, f[side], NULL);
    }
    // the motion differs by 2e-9, forces by as much; the lever is up to 3
    double limit = 1e-7 * law.mu * law.load;
    check_near(f[0][0], f[1][0], limit);
    check_near(f[0][1], f[1][1], limit);
    check_near(f[0][5], f[1][5], 3 * limit);
  }
  assert_true(nfine > 20);
}

// The triangle's pressure p (1 - u - v) with u, v in units of its legs L has the centre L / 4 from
// each leg and the squared radius of gyration 2 (1/10 - 1/16) L^2.
static void pressure_at_a_corner_resists_turning(void** state) {
  (void)state;
  double length[3] = {0.2, 0.01, 1e-4};
  for (int k = 0; k < 3; k++) {
    abVec2 p[4] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    double store[3 * 20], L = length[k], R = sqrt(0.075) * L, f[6];
    abPatchSlope G;
    abPatchLaw law;
    memset(&law, 0, sizeof law);
    law.ncorner = 4, law.npoint = ab_quadrature_count(4), law.polygon = p;
    law.x = store, law.y = store + 20, law.w = store + 40;
    for (int i = 0; i < 4; i++) law.x[i] = p[i].x, law.y[i] = p[i].y;
    ab_polygon_moments(4, p, &law.moments);
    law.weight = law.weight_t = 1, law.mu = 0.5;
    for (int i = 0; i < 2; i++)
      law.profile[i][0] = L - 2, law.profile[i][1] = law.profile[i][2] = -1;
    ab_patch_profile_ready(&law);
    ab_patch_set_load(&law, 3);
    // about the corner, where the one point is: slowly, and so fast that all slips
    double slow[6] = {0}, fast[6] = {0}, limit = 0.5 * 3;
    slow[5] = 0.1 * law.slip_speed, slow[0] = -slow[5], slow[1] = slow[5];
    fast[5] = 1e6 * law.slip_speed / L, fast[0] = -fast[5], fast[1] = fast[5];
    ab_patch_evaluate(&law, slow, f, &G);
    // rounding of squares of size 1
    double rounding = 1e-15 / (R * R);
    check_near(f[5] + f[0] - f[1], -limit * 0.1 * R * R, (1e-9 + rounding) * limit * 0.1 * R * R);
    ab_patch_evaluate(&law, fast, f, &G);
    check_near(f[5] + f[0] - f[1], -limit * R, (1e-9 + rounding) * limit * R);
  }
}

// A plate of one metre with its weight above a corner, where no other point of the rule is under
// pressure: the torque that stops its spin is mu N R, with what it slides meanwhile less. Without
// it the plate went on turning about its corner.
static void plate_that_spins_on_its_corner_comes_to_rest(void** state) {
  (void)state;
  abError error;
  PatchWorld w = patch_world(1e-3, 0.5);
  abBodyDef b = ab_body_def();
  b.pose.p = v3(0, 0, 0.05);
  b.has_inertial = true, b.mass = 1, b.inertial.p = v3(0.46, 0.46, -0.04);
  b.inertia[0] = b.inertia[1] = 0.02, b.inertia[2] = 0.04;
  abJointDef j = ab_joint_def();
  abGeomDef g = ab_geom_def();
  j.body = g.body = ab_scene_add_body(w.scene, &b, &error);
  j.type = AB_JOINT_FREE;
  g.type = AB_BOX, g.size = v3(0.5, 0.5, 0.05), g.friction[0] = 0.5;
  assert_true(ab_scene_add_joint(w.scene, &j, &error) >= 0);
  assert_true(ab_scene_add_geom(w.scene, &g, &error) >= 0);
  patch_ready(&w);
  patch_run(&w, 0.5);
  // about its centre of mass
  double w0 = 1, L = 4 * 0.04, R = sqrt(0.075) * L;
  patch_v(&w, 1)[5] = w0, patch_v(&w, 1)[0] = 0.46 * w0, patch_v(&w, 1)[1] = -0.46 * w0;
  double stop = 0.04 * w0 / (0.5 * 9.8 * R);
  patch_run(&w, 0.5 * stop);
  assert_true(fabs(patch_v(&w, 1)[5]) > 0.1 * w0);
  patch_run(&w, 2 * stop);
  check_below(fabs(patch_v(&w, 1)[5]), 1e-6 * w0);
  patch_free(&w);
}

// Friction by the definition, on a fine grid.
static void friction_on_grid(const abPatchLaw* law, const double s[3], double f[3]) {
  enum { CELLS = 700 };
  double profile = 0, cell = 8.0 / CELLS;
  f[0] = f[1] = f[2] = 0;
  for (int i = 0; i < CELLS * CELLS; i++) {
    double x = (i % CELLS + 0.5) * cell - 4, y = ((double)(i / CELLS) + 0.5) * cell - 4;
    double p = law->profile[0][0] + law->profile[0][1] * x + law->profile[0][2] * y;
    bool inside = p > 0;
    for (int k = 0; k < N && inside; k++) {
      abVec2 a = law->polygon[k], u = v2_sub(law->polygon[(k + 1) % N], a);
      inside = v2_cross(u, v2_sub(v2(x, y), a)) > 0;
    }
    if (!inside) continue;
    double a = s[0] - s[2] * y, b = s[1] + s[2] * x, v = fmax(sqrt(a * a + b * b), law->slip_speed);
    profile += p;
    f[0] -= p * a / v, f[1] -= p * b / v, f[2] -= p * (x * b - y * a) / v;
  }
  for (int k = 0; k < 3; k++) f[k] *= law->mu * law->load / profile;
}

// A law with an affine profile that is positive on all of the patch, and with a finer rule.
static void make_turning(Random* r, abPatchLaw* law, const abVec2* p, double* store, double* fine) {
  make_law(r, law, p, store);
  memset(law->bristle, 0, sizeof law->bristle);
  double sx = random_uniform(r, -0.15, 0.15), sy = random_uniform(r, -0.15, 0.15);
  for (int i = 0; i < 2; i++)
    law->profile[i][0] = 1, law->profile[i][1] = sx, law->profile[i][2] = sy;
  ab_patch_profile_ready(law);
  ab_patch_set_load(law, 3);
  law->fine = fine;
}

// About poles in and around the patch; at full speed, and so slow that a part of it sticks.
static void friction_of_a_fast_turning_patch_is_the_integral(void** state) {
  (void)state;
  Random r = {41};
  int npole = 0;
  for (int k = 0; k < 24; k++) {
    abVec2 p[N];
    double store[NSTORE], fine[36 * N], V[6] = {0}, f[6], grid[3];
    abPatchSlope G;
    abPatchLaw law;
    make_polygon(&r, p);
    make_turning(&r, &law, p, store, fine);
    V[5] = (k % 2 ? 1 : -1) * law.slip_speed * 1e4;
    V[0] = V[5] * random_uniform(&r, -3, 3), V[1] = V[5] * random_uniform(&r, -3, 3);
    ab_patch_choose_rule(&law, V);
    npole += law.about_pole;
    if (!law.about_pole) continue;
    for (int i = 0; i < 6 && k % 4 == 3; i++) V[i] *= 1.5e-4;
    ab_patch_evaluate(&law, V, f, &G);
    friction_on_grid(&law, (double[3]){V[0], V[1], V[5]}, grid);
    // cells of 0.011 at a border of length 10 around an area of 6: a thousandth, times the lever
    double limit = 1e-3 * law.mu * law.load;
    check_near(f[0], grid[0], limit);
    check_near(f[1], grid[1], limit);
    check_near(f[5], grid[2], 3 * limit);
    static const int tangential[3] = {0, 1, 5};
    for (int j = 0; j < 3; j++) {
      double step = 1e-5 * fabs(V[5]), W[6], g[6], x[6] = {0}, y[6];
      memcpy(W, V, sizeof W);
      W[tangential[j]] += step, x[tangential[j]] = 1;
      ab_patch_evaluate(&law, W, g, NULL);
      ab_patch_apply_G(&G, x, y);
      for (int i = 0; i < 3; i++) {
        int t = tangential[i];
        // where it changes: mu N over the speed, with levers up to 3; curved by the step
        check_near((g[t] - f[t]) / step, -y[t], 2e-3 * law.mu * law.load / fabs(V[5]));
      }
    }
  }
  assert_true(npole > 12);
}

// The pole moves away from the patch in steps of a thousandth: nothing changes by much more than
// it, and outside of the patch by hardly more than in the step before (1e-6 for the curve, and the
// tolerance of large islands where the finer rule takes over).
static void friction_does_not_jump_as_the_pole_goes_far(void** state) {
  (void)state;
  Random r = {42};
  for (int k = 0; k < 20; k++) {
    abVec2 p[N];
    double store[NSTORE], fine[36 * N], V[6] = {0}, last[6], change[6], f[6];
    abPatchLaw law;
    make_polygon(&r, p);
    make_turning(&r, &law, p, store, fine);
    double angle = random_uniform(&r, 0, 6.28), speed = 1e4 * law.slip_speed;
    V[5] = speed;
    ab_patch_choose_rule(&law, V);
    assert_true(law.about_pole);
    for (int i = 0; i < 12000; i++) {
      double away = 0.2 * pow(1.001, i);  // up to 30000
      V[0] = speed * cos(angle), V[1] = speed * sin(angle), V[5] = speed / away;
      ab_patch_evaluate(&law, V, f, NULL);
      double most = 3e-3 * law.mu * law.load, bend = (1e-6 + 1e-5) * law.mu * law.load;
      for (int j = 0; j < 6 && i > 0; j++) {
        check_near(f[j], last[j], most * (j < 5 ? 1 : 3));
        if (away > 5) check_near(f[j] - last[j], change[j], bend * (j < 5 ? 1 : 3));
        change[j] = f[j] - last[j];
      }
      memcpy(last, f, sizeof last);
    }
    // from infinitely far all goes one way
    check_near(f[0], -law.mu * law.load * cos(angle), 1e-4 * law.mu * law.load);
  }
}

static void pressure_does_not_feel_a_vertex_on_an_edge(void** state) {
  (void)state;
  Random r = {14};
  for (int k = 0; k < 100; k++) {
    abVec2 p[N], q[N];
    double store[2][NSTORE], V[6] = {0}, f[2][6];
    abPatchSlope G[2];
    abPatchLaw law[2];
    make_polygon(&r, p);
    memcpy(q, p, sizeof q);
    p[N - 1] = v2_scale(0.5, v2_add(p[N - 2], p[0]));  // on the edge, and elsewhere on it
    q[N - 1] = v2_add(p[0], v2_scale(0.1, v2_sub(p[N - 2], p[0])));
    Random same = r;
    make_law(&r, &law[0], p, store[0]);
    make_law(&same, &law[1], q, store[1]);
    for (int i = 2; i < 5; i++) V[i] = random_uniform(&r, -1, 1);
    for (int i = 0; i < 2; i++) {
      law[i].slip_speed = 0;
      ab_patch_evaluate(&law[i], V, f[i], &G[i]);
    }
    for (int i = 2; i < 5; i++) check_near(f[0][i], f[1][i], 1e-12 * 100);
    for (int i = 0; i < 6; i++) check_near(G[0].n[i], G[1].n[i], 1e-12 * 100);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rule_is_exact_for_cubics_and_positive),
      cmocka_unit_test(unit_square_has_known_moments),
      cmocka_unit_test(impulse_is_the_gradient_of_the_energy),
      cmocka_unit_test(derivative_is_that_of_the_impulse),
      cmocka_unit_test(friction_does_not_jump_where_slip_begins),
      cmocka_unit_test(pressure_at_a_corner_resists_turning),
      cmocka_unit_test(plate_that_spins_on_its_corner_comes_to_rest),
      cmocka_unit_test(friction_of_a_fast_turning_patch_is_the_integral),
      cmocka_unit_test(friction_does_not_jump_as_the_pole_goes_far),
      cmocka_unit_test(pressure_does_not_feel_a_vertex_on_an_edge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
