// Claims about the polygon's quadrature and the law of one patch.
#include <string.h>

#include "contact/patch/patch.h"
#include "math/vec.h"
#include "oracle/patch_world.h"
#include "support/check.h"
#include "support/random.h"

enum { N = 7, NPOINT = 4 * N + 4, NSTORE = 4 * 8 + 4 * (N + 5) + 3 * (NPOINT + 4) };

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

// The law of a patch of n corners; what the model would make of a pair.
static void make_patch_of(abPatchKind kind, abPatchLaw* law, int n, const abVec2* p,
                          double* store) {
  abPolygonMoments m;
  ab_polygon_moments(n, p, &m);
  abPair pair = {.patch = {.kind = kind,
                           .nvert = n,
                           .polygon = p,
                           .area = m.m[AB_M_1],
                           .mx = m.m[AB_M_X],
                           .my = m.m[AB_M_Y],
                           .mxx = m.m[AB_M_XX],
                           .mxy = m.m[AB_M_XY],
                           .myy = m.m[AB_M_YY]}};
  memset(law, 0, sizeof *law);
  assert_true(ab_patch_store_size(&pair) <= NSTORE);
  ab_patch_set_area(&pair, law, store);
}

static void make_patch(abPatchLaw* law, int n, const abVec2* p, double* store) {
  make_patch_of(AB_PATCH_SURFACE, law, n, p, store);
}

// A point of the polygon; far: near its border.
static abVec2 point_inside(Random* r, const abVec2* p, bool far) {
  abVec2 sum = v2(0, 0);
  double all = 0;
  for (int i = 0; i < N; i++) {
    double w = random_uniform(r, 0, 1);
    if (far) w = pow(w, 20);
    sum = v2_add(sum, v2_scale(w, p[i])), all += w;
  }
  return v2_scale(1 / all, sum);
}

static void make_law(Random* r, abPatchLaw* law, const abVec2* p, double* store) {
  make_patch(law, N, p, store);
  law->stiffness = random_uniform(r, 1, 3), law->stiffness_t = random_uniform(r, 1, 3);
  law->mu = 0.6;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) law->target[i][j] = (j == 0 ? 1 : 0) + random_uniform(r, -0.5, 0.5);
  ab_patch_set_aims(law);
  for (int j = 0; j < 3; j++) law->bristle[j] = random_uniform(r, -0.3, 0.3);
  abVec2 c = point_inside(r, p, random_uniform(r, 0, 1) < 0.5);
  ab_patch_spread(law, c.x, c.y);
  ab_patch_set_load(law, 3);
}

// The energy whose negative gradient the law is.
static double energy(abPatchLaw* law, const double V[6]) {
  double sum = 0;
  for (int i = 0; i < law->ncorner; i++) {
    double x = law->x[i], y = law->y[i], p = fmax(0, law->aim[i] - (V[2] + V[3] * y - V[4] * x));
    sum += 0.5 * law->stiffness * law->share[i] * p * p;
  }
  ab_patch_fill_points(law);
  for (int i = 0; i < law->npoint; i++) {
    double x = law->px[i] + law->at[0], y = law->py[i] + law->at[1];
    double a = V[0] + law->bristle[0] - (V[5] + law->bristle[2]) * y;
    double b = V[1] + law->bristle[1] + (V[5] + law->bristle[2]) * x;
    double s = sqrt(a * a + b * b), limit = law->slip_speed;
    sum += law->pw[i] * law->gain * (s < limit ? s * s / (2 * limit) : s - limit / 2);
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
  for (int k = 0; k < 400; k++) {
    abVec2 p[N];
    double store[NSTORE], V[6], f[6];
    abPatchSlope G;
    abPatchLaw law;
    make_polygon(&r, p);
    make_law(&r, &law, p, store);
    for (int i = 0; i < 6; i++) V[i] = random_uniform(&r, -1, 1);
    law.about_pole = k % 2;
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

// The derivative is positive semidefinite, whatever the motion: Newton's method relies on it.
static void derivative_is_positive(void** state) {
  (void)state;
  Random r = {15};
  for (int k = 0; k < 4000; k++) {
    abVec2 p[N];
    double store[NSTORE], V[6], f[6];
    abPatchSlope G;
    abPatchLaw law;
    make_polygon(&r, p);
    make_law(&r, &law, p, store);
    double fast = pow(10, random_uniform(&r, -3, 6)), turn = pow(10, random_uniform(&r, -4, 4));
    for (int i = 0; i < 6; i++) V[i] = law.slip_speed * fast * random_uniform(&r, -1, 1);
    V[5] *= turn;
    law.about_pole = k % 2;
    ab_patch_evaluate(&law, V, f, &G);
    // the determinants of the leading blocks, in units of the diagonal
    double *t = G.t, *d = G.slack;
    for (int part = 0; part < 2; part++, t = d) {
      double most = fmax(fmax(t[0], t[2]), 1e-300), R2 = law.radius * law.radius;
      double rounding = 1e-8 * most;
      check_below(-(t[0]), rounding);
      check_below(-(t[2]), rounding);
      check_below(-(t[0] * t[2] - t[1] * t[1]), rounding * most);
      check_below(-(t[5]), rounding * R2);
      check_below(-(t[0] * t[5] - t[3] * t[3]), rounding * (most * R2 + t[5]));
      check_below(-(t[2] * t[5] - t[4] * t[4]), rounding * (most * R2 + t[5]));
    }
  }
}

// Friction has a closed form while every point sticks and is a sum over points or an integral about
// the pole when one slips: nothing may jump in between, also where not all of the patch presses.
static void friction_does_not_jump_where_slip_begins(void** state) {
  (void)state;
  Random r = {13};
  for (int k = 0; k < 200; k++) {
    abVec2 p[N];
    double store[NSTORE], V[6] = {0}, f[2][6];
    abPatchLaw law;
    make_polygon(&r, p);
    make_law(&r, &law, p, store);
    memset(law.bristle, 0, sizeof law.bristle);
    V[0] = random_uniform(&r, -1, 1), V[1] = random_uniform(&r, -1, 1);
    V[5] = random_uniform(&r, -1, 1);
    law.about_pole = k % 2;
    double most = 0;
    for (int i = 0; i < law.nregion; i++) {
      double x = law.region[i].x + law.at[0], y = law.region[i].y + law.at[1];
      most = fmax(most, v2_norm(v2(V[0] - V[5] * y, V[1] + V[5] * x)));
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
}

// The pressure acts where it is wanted, and is affine where it is positive. What its few steps
// leave is moved; it is a small part of the patch wherever the pressure acts.
static void pressure_acts_where_it_should(void** state) {
  (void)state;
  Random r = {16};
  for (int k = 0; k < 2000; k++) {
    abVec2 p[N];
    double store[NSTORE];
    abPatchLaw law;
    make_polygon(&r, p);
    make_patch(&law, N, p, store);
    abVec2 c = point_inside(&r, p, k % 2);
    ab_patch_spread(&law, c.x, c.y);
    double x = law.centre.x + law.at[0], y = law.centre.y + law.at[1];
    // within the share of the radius by which it is kept off the border
    check_near(x, c.x, 3e-3 * law.radius);
    check_near(y, c.y, 3e-3 * law.radius);
    check_below(hypot(law.at[0], law.at[1]), 0.05 * sqrt(law.spread2) + 3e-3 * law.radius);
  }
}

// The triangle's pressure p (1 - u - v) with u, v in units of its legs L has the centre L / 4 from
// each leg and the squared radius of gyration 2 (1/10 - 1/16) L^2.
static void pressure_at_a_corner_resists_turning(void** state) {
  (void)state;
  double length[3] = {0.8, 0.2, 0.04};
  for (int k = 0; k < 3; k++) {
    abVec2 p[4] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    double store[NSTORE], L = length[k], R = sqrt(0.075) * L, f[6];
    abPatchSlope G;
    abPatchLaw law;
    make_patch(&law, 4, p, store);
    law.stiffness = law.stiffness_t = 1, law.mu = 0.5;
    ab_patch_spread(&law, -1 + L / 4, -1 + L / 4);
    ab_patch_set_load(&law, 3);
    double slow[6] = {0}, limit = 0.5 * 3, x = -1 + L / 4;
    slow[5] = 0.1 * law.slip_speed, slow[0] = slow[5] * x, slow[1] = -slow[5] * x;
    ab_patch_evaluate(&law, slow, f, &G);
    // about where it acts; found in a few steps, to a hundredth of the patch's radius
    double torque = f[5] - x * f[1] + x * f[0];
    check_near(torque, -limit * 0.1 * R * R, 0.05 * limit * 0.1 * R * R);
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
  g.type = AB_SHAPE_BOX, g.size = v3(0.5, 0.5, 0.05), g.friction[0] = 0.5;
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
static void friction_on_grid(const abPatchLaw* law, const abVec2* polygon, const double s[3],
                             double f[3]) {
  enum { CELLS = 700 };
  double all = 0, cell = 8.0 / CELLS;
  f[0] = f[1] = f[2] = 0;
  for (int i = 0; i < CELLS * CELLS; i++) {
    double x = (i % CELLS + 0.5) * cell - 4, y = ((double)(i / CELLS) + 0.5) * cell - 4;
    double p = law->field[0] + law->field[1] * x + law->field[2] * y;
    bool inside = p > 0;
    for (int k = 0; k < N && inside; k++) {
      abVec2 a = polygon[k], u = v2_sub(polygon[(k + 1) % N], a);
      inside = v2_cross(u, v2_sub(v2(x, y), a)) > 0;
    }
    if (!inside) continue;
    x += law->at[0], y += law->at[1];
    double a = s[0] - s[2] * y, b = s[1] + s[2] * x, v = fmax(sqrt(a * a + b * b), law->slip_speed);
    all += p;
    f[0] -= p * a / v, f[1] -= p * b / v, f[2] -= p * (x * b - y * a) / v;
  }
  for (int k = 0; k < 3; k++) f[k] *= law->mu * law->load / all;
}

// About poles in and around the patch; at full speed, and so slow that a part of it sticks.
static void friction_of_a_turning_patch_is_the_integral(void** state) {
  (void)state;
  Random r = {41};
  for (int k = 0; k < 24; k++) {
    abVec2 p[N];
    double store[NSTORE], V[6] = {0}, f[6], grid[3];
    abPatchSlope G;
    abPatchLaw law;
    make_polygon(&r, p);
    make_law(&r, &law, p, store);
    memset(law.bristle, 0, sizeof law.bristle);
    abVec2 c = v2_add(law.centroid, v2_scale(0.2 * law.radius, v2(cos(k), sin(k))));
    ab_patch_spread(&law, c.x, c.y);
    ab_patch_set_load(&law, 3);
    V[5] = (k % 2 ? 1 : -1) * law.slip_speed * 1e4;
    V[0] = V[5] * random_uniform(&r, -3, 3), V[1] = V[5] * random_uniform(&r, -3, 3);
    for (int i = 0; i < 6 && k % 4 == 3; i++) V[i] *= 1.5e-4;
    ab_patch_choose_rule(&law, V);
    assert_true(law.about_pole);
    ab_patch_evaluate(&law, V, f, &G);
    friction_on_grid(&law, p, (double[3]){V[0], V[1], V[5]}, grid);
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
}

// The pole moves away from the patch in steps of a thousandth: nothing changes by much more than
// it, and outside of the patch by hardly more than in the step before (1e-6 for the curve, and a
// tolerance where the rule takes over).
static void friction_does_not_jump_as_the_pole_goes_far(void** state) {
  (void)state;
  Random r = {42};
  for (int k = 0; k < 20; k++) {
    abVec2 p[N];
    double store[NSTORE], V[6] = {0}, last[6], change[6], f[6];
    abPatchLaw law;
    make_polygon(&r, p);
    make_law(&r, &law, p, store);
    memset(law.bristle, 0, sizeof law.bristle);
    ab_patch_spread(&law, law.centroid.x, law.centroid.y + 0.2 * law.radius);
    ab_patch_set_load(&law, 3);
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

// A coin that rolls on its rim: the line of contact turns from step to step, and where friction
// acted lies a hundred widths beside it.
static void friction_beside_a_line_acts_on_it(void** state) {
  (void)state;
  const double half = 2.7e-3, wide = 5e-7;
  const abVec2 p[4] = {{-half, -wide}, {half, -wide}, {half, wide}, {-half, wide}};
  double store[NSTORE];
  abPatchLaw law;
  make_patch_of(AB_PATCH_LINE, &law, 4, p, store);
  for (int k = -9; k <= 9; k++) {
    double x = 0.1 * k * half;
    ab_patch_spread(&law, x, 100 * wide);
    check_near(law.centre.x, x, 1e-9 * half);
    check_near(law.centre.x + law.at[0], x, 1e-12 * half);
    check_near(law.centre.y + law.at[1], 0, 1e-12 * half);
  }
}

// The friction of a line, of many points.
static void friction_on_line(const abPatchLaw* law, const double V[6], double f[3]) {
  enum { PIECES = 20000 };
  abVec2 a = law->region[0], way = v2_sub(law->region[1], a);
  f[0] = f[1] = f[2] = 0;
  for (int k = 0; k < PIECES; k++) {
    abVec2 at = v2_axpy((k + 0.5) / PIECES, way, a);
    double p = (law->field[0] + law->field[1] * at.x + law->field[2] * at.y) / PIECES;
    double x = at.x + law->at[0], y = at.y + law->at[1];
    double u = V[0] - V[5] * y, v = V[1] + V[5] * x, l = fmax(hypot(u, v), law->slip_speed);
    double fx = -law->gain * p * u / l, fy = -law->gain * p * v / l;
    f[0] += fx, f[1] += fy, f[2] += x * fy - y * fx;
  }
}

// A line that slides and turns about poles near and far, slowly and fast, pressed in its middle and
// near an end: its friction is the integral, and its derivative that of its friction.
static void friction_of_a_line_is_the_integral(void** state) {
  (void)state;
  Random r = {43};
  const double half = 0.05, wide = 1e-5;
  const abVec2 p[4] = {{-half, -wide}, {half, -wide}, {half, wide}, {-half, wide}};
  double store[NSTORE], V[6] = {0}, f[6], line[3];
  abPatchLaw law;
  abPatchSlope G;
  make_patch_of(AB_PATCH_LINE, &law, 4, p, store);
  law.mu = 0.5, law.stiffness_t = 1e3;
  memset(law.bristle, 0, sizeof law.bristle);
  for (int k = 0; k < 400; k++) {
    ab_patch_spread(&law, half * random_uniform(&r, -0.95, 0.95), 0);
    ab_patch_set_load(&law, 3);
    double bound = law.mu * law.load, away = half * pow(10, random_uniform(&r, -2, 2));
    double angle = random_uniform(&r, 0, 6.28);
    V[5] = law.slip_speed / half * pow(10, random_uniform(&r, -0.5, 3));
    V[0] = V[5] * away * cos(angle), V[1] = V[5] * away * sin(angle);
    ab_patch_evaluate(&law, V, f, &G);
    friction_on_line(&law, V, line);
    // pieces of 5e-5 across which friction turns round near the pole
    check_near(f[0], line[0], 1e-4 * bound);
    check_near(f[1], line[1], 1e-4 * bound);
    check_near(f[5], line[2], 1e-4 * bound * half);
    static const int tangential[3] = {0, 1, 5};
    for (int j = 0; j < 3; j++) {
      double step = 1e-6 * law.slip_speed * (j < 2 ? 1 : 1 / half), W[2][6], g[2][6];
      double x[6] = {0}, y[6];
      for (int i = 0; i < 2; i++) {
        memcpy(W[i], V, sizeof V);
        W[i][tangential[j]] += i ? step : -step;
        ab_patch_evaluate(&law, W[i], g[i], NULL);
      }
      x[tangential[j]] = 1;
      ab_patch_apply_G(&G, x, y);
      for (int i = 0; i < 3; i++) {
        int t = tangential[i];
        // at most the stiffness of what sticks; differences of steps of a millionth lose ten digits
        double most = bound / law.slip_speed * (i < 2 ? 1 : half) * (j < 2 ? 1 : half);
        check_near((g[1][t] - g[0][t]) / (2 * step), -y[t], 1e-5 * most);
      }
    }
  }
}

// A corner that hardly is one, or that a small cut replaces, changes nothing but a little.
static void pressure_hardly_feels_a_corner_that_comes_or_goes(void** state) {
  (void)state;
  Random r = {14};
  for (int k = 0; k < 100; k++) {
    abVec2 p[N], q[N];
    double store[2][NSTORE], V[6] = {0}, f[2][6];
    abPatchSlope G[2];
    abPatchLaw law[2];
    make_polygon(&r, p);
    memcpy(q, p, sizeof q);
    p[N - 1] = v2_add(p[0], v2_scale(1e-6, v2_sub(p[N - 2], p[0])));  // p[0] cut off, or not
    p[0] = v2_add(p[0], v2_scale(1e-6, v2_sub(p[1], p[0])));
    Random same = r;
    for (int i = 0; i < 2; i++) {
      make_patch(&law[i], i ? N - 1 : N, i ? q : p, store[i]);
      law[i].stiffness = 1;
      Random own = same;
      for (int t = 0; t < 6; t++) law[i].target[t / 3][t % 3] = random_uniform(&own, -0.5, 1);
      ab_patch_set_aims(&law[i]);
      for (int j = 2; j < 5; j++) V[j] = random_uniform(&own, -1, 1);
      ab_patch_evaluate(&law[i], V, f[i], &G[i]);
    }
    random_uniform(&r, 0, 1);
    // moved by 1e-6 of an edge of length 2; a corner at the brink of pressing is rare
    for (int i = 2; i < 5; i++) check_near(f[0][i], f[1][i], 1e-4);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rule_is_exact_for_cubics_and_positive),
      cmocka_unit_test(unit_square_has_known_moments),
      cmocka_unit_test(impulse_is_the_gradient_of_the_energy),
      cmocka_unit_test(derivative_is_that_of_the_impulse),
      cmocka_unit_test(derivative_is_positive),
      cmocka_unit_test(friction_does_not_jump_where_slip_begins),
      cmocka_unit_test(pressure_acts_where_it_should),
      cmocka_unit_test(pressure_at_a_corner_resists_turning),
      cmocka_unit_test(plate_that_spins_on_its_corner_comes_to_rest),
      cmocka_unit_test(friction_of_a_turning_patch_is_the_integral),
      cmocka_unit_test(friction_does_not_jump_as_the_pole_goes_far),
      cmocka_unit_test(friction_beside_a_line_acts_on_it),
      cmocka_unit_test(friction_of_a_line_is_the_integral),
      cmocka_unit_test(pressure_hardly_feels_a_corner_that_comes_or_goes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
