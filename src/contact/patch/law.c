// The law of one patch: relative twist -> impulse and its derivative.
//
// With the normal velocity u(x, y) = V_n + W_1 y - W_2 x and the tangential velocity s(x, y) =
// (V_1 - W_n y, V_2 + W_n x):
//
// Pressure. Thickness and motion are affine over the patch, so two bodies do not overlap if they do
// not at the corners of the polygon. There the impulse k_i max(0, v*_i - u_i) acts, k_i the
// corner's share of the stiffness (area.c). It is linear in the motion as long as the same corners
// press: whether a body stands on a face, an edge or a corner, Newton's method has nothing to learn
// but which of them do.
//
// Friction. The pressure that friction feels is spread over the area (area.c). The traction
// opposes the slip: friction is the integral of -gain p s / max(|s|, slip_speed). Where the slip is
// below slip_speed at every corner of the region (the speed is convex), it has a closed form in
// moments. Else it is a sum over the points of a rule that is exact for cubics, so both give the
// same. Where the patch turns about a pole in or near it, the direction of slip has a kink there,
// which the rule misses by several per cent of the load; then it is integrated in closed form, in
// polar coordinates about the pole (quadrature.c), unless the region is so thin that cancellation
// would leave noise. Which of the two is decided once in a step. On a line a rule of four points is
// exact to rounding unless the pole is near, and the closed form there is cheap.
// Tests: test_patch_law.
#include <math.h>
#include <string.h>

#include "contact/patch/patch.h"
#include "math/quad.h"

// As fmax, but an instruction instead of a call; no argument here is NaN unless all are.
static inline double max2(double a, double b) { return a > b ? a : b; }

enum { L = AB_LANES };
typedef abFour Load __attribute__((aligned(8)));

// With p = aim - (u[0] + u[1] y - u[2] x): sum[0..2] of w p, w p x, w p y, sum[3..8] of w, w x, w
// y, w xx, w xy, w yy, w the share, over the corners where p is positive. Returns the least p.
static inline double sum_pressure(const abPatchLaw* law, const double u[3], double sum[9]) {
  abFour s0 = {0}, s1 = {0}, s2 = {0}, m0 = {0}, m1 = {0}, m2 = {0}, m3 = {0}, m4 = {0}, m5 = {0};
  abFour least = {INFINITY, INFINITY, INFINITY, INFINITY};
  for (int i = 0; i < law->nlane; i += L) {
    abFour x = *(const Load*)(law->x + i), y = *(const Load*)(law->y + i);
    abFour p = *(const Load*)(law->aim + i) - (u[0] + u[1] * y - u[2] * x);
    abFour w = (abFour)((abFourMask)(p > 0) & (abFourMask) * (const Load*)(law->share + i));
    abFour wx = w * x, wy = w * y, wp = w * p;
    least = AB_FOUR_LESS(least, p);
    s0 += wp, s1 += wp * x, s2 += wp * y;
    m0 += w, m1 += wx, m2 += wy;
    m3 += wx * x, m4 += wx * y, m5 += wy * y;
  }
  *(Load*)sum = AB_FOUR_TOTALS(s0, s1, s2, m0);
  *(Load*)(sum + 4) = AB_FOUR_TOTALS(m1, m2, m3, m4);
  sum[8] = AB_TOTAL(m5);
  return AB_FOUR_LEAST(least);
}

static inline bool press(const abPatchLaw* law, const double V[6], double f[6], abPatchSlope* G) {
  double s[9], k = law->stiffness;
  bool whole = sum_pressure(law, V + 2, s) > 0;
  f[2] = k * s[0], f[3] = k * s[2], f[4] = -k * s[1];
  if (!G) return whole;
  double* n = G->n;
  n[0] = k * s[3], n[1] = k * s[5], n[2] = k * s[8];
  n[3] = -k * s[4], n[4] = -k * s[7], n[5] = k * s[6];
  return whole;
}

// --- friction

// s: at the patch's centre; field and region are moved by `at`.
typedef struct Slip {
  double s[3], at[2], gain, slow;
} Slip;

// Friction -gain w s / max(|s|, slow) with s = (s0 - s2 y, s1 + s2 x): the force f, its moment, and
// minus the derivative with respect to (s0, s1, s2), packed as 00 01 11 02 12 22; slack: by how
// much the derivative is reduced along the slip.
//
// Of a point that slips with the velocity q = (a, b) = B (s0, s1, s2) the derivative is
// B^T (slope)(1 - q q^T / |q|^2) B, where the columns of B are (1, 0), (0, 1), (-y, x), and
// B^T q = (a, b, t) with t = x b - y a; the slack is what is subtracted. The force is linear in the
// slip, with the sums of the slopes.
static inline void sum_friction(const abPatchLaw* law, const Slip* slip, double f[3], double G[6],
                                double slack[6]) {
  double s0 = slip->s[0], s1 = slip->s[1], s2 = slip->s[2], slow2 = slip->slow * slip->slow;
  abFour least = {slow2, slow2, slow2, slow2};
  abFour g0 = {0}, gx = {0}, gy = {0}, gr = {0};
  abFour l0 = {0}, l1 = {0}, l2 = {0}, l3 = {0}, l4 = {0}, l5 = {0};
  for (int i = 0; i < law->npoint; i += L) {
    abFour x = *(const Load*)(law->px + i) + slip->at[0];
    abFour y = *(const Load*)(law->py + i) + slip->at[1];
    abFour a = s0 - s2 * y, b = s1 + s2 * x, square = a * a + b * b;
    abFour most = AB_FOUR_MORE(square, least);
    abFour per = 1 / AB_FOUR_ROOT(most), slope = *(const Load*)(law->pw + i) * per;
    abFour less = (abFour)((abFourMask)(square > slow2) & (abFourMask)(slope * (per * per)));
    abFour t = x * b - y * a, la = less * a, lb = less * b, sx = slope * x, sy = slope * y;
    g0 += slope, gx += sx, gy += sy, gr += sx * x + sy * y;
    l0 += la * a, l1 += la * b, l2 += lb * b;
    l3 += la * t, l4 += lb * t, l5 += less * t * t;
  }
  double m[4];
  abFour all = slip->gain * AB_FOUR_TOTALS(g0, gx, gy, gr);
  *(Load*)m = all;
  f[0] = s2 * m[2] - s0 * m[0], f[1] = -s2 * m[1] - s1 * m[0];
  f[2] = s0 * m[2] - s1 * m[1] - s2 * m[3];
  *(Load*)slack = slip->gain * AB_FOUR_TOTALS(l0, l1, l2, l3);
  slack[4] = slip->gain * AB_TOTAL(l4), slack[5] = slip->gain * AB_TOTAL(l5);
  G[0] = m[0] - slack[0], G[1] = -slack[1], G[2] = m[0] - slack[2];
  G[3] = -m[2] - slack[3], G[4] = m[1] - slack[4], G[5] = m[3] - slack[5];
}

static double most_at_corners(const abPatchLaw* law, const double s[3]) {
  double most = 0;
  for (int i = 0; i < law->nregion; i++) {
    double a = s[0] - s[2] * law->region[i].y, b = s[1] + s[2] * law->region[i].x;
    most = max2(most, a * a + b * b);
  }
  return most;
}

static void friction_stick(const abPatchLaw* law, const double s[3], double f[6],
                           abPatchSlope* slope) {
  double k = law->gain * law->sum / law->slip_speed;
  double x = law->centre.x + law->at[0], y = law->centre.y + law->at[1];
  f[0] = -k * (s[0] - s[2] * y), f[1] = -k * (s[1] + s[2] * x);
  f[5] = x * f[1] - y * f[0] - k * law->spread2 * s[2];
  if (!slope) return;
  double* G = slope->t;
  G[0] = k, G[1] = 0, G[2] = k;
  G[3] = -k * y, G[4] = k * x, G[5] = k * (law->spread2 + x * x + y * y);
  memset(slope->slack, 0, sizeof slope->slack);
}

// Minus the derivative p of friction at the point (x, y), in the order of abPatchSlope, moved to
// the centre.
static void about(double x, double y, const double p[6], double G[6]) {
  G[0] = p[0], G[1] = p[1], G[2] = p[2];
  G[3] = p[3] - y * p[0] + x * p[1], G[4] = p[4] - y * p[1] + x * p[2];
  G[5] = p[5] + y * y * p[0] - 2 * x * y * p[1] + x * x * p[2] + 2 * (x * p[4] - y * p[3]);
}

// The law about the pole c, where s = s_2 n x (r - c): a point slips along n x e, and the circle of
// quadrature.h is that within which it sticks. With the moments about the pole
//
//   force   -gain sign(s_2) n x (beyond1 + within1 / b)
//   torque  -gain sign(s_2) (beyond0 + within2 / b)
//
// and the derivative likewise: across the slip all points resist, along it only those that stick;
// the others are the slack. Both are symmetric and taken at the pole.
static void friction_about(const abPole* pole, const abPoleSums* m, const Slip* slip, double f[3],
                           abPatchSlope* slope) {
  double x = pole->at.x + slip->at[0], y = pole->at.y + slip->at[1];
  double b = pole->radius, turn = slip->s[2];
  double k = turn > 0 ? slip->gain : -slip->gain;
  double fx = k * (m->beyond1[1] + m->within1[1] / b);
  double fy = -k * (m->beyond1[0] + m->within1[0] / b);
  f[0] = fx, f[1] = fy, f[2] = x * fy - y * fx - k * (m->beyond0 + m->within2 / b);
  if (!slope) return;
  double unit = k / turn;
  const double* r = m->beyond2;
  about(x, y,
        (double[6]){unit * (r[0] + m->within0 / b), unit * r[1], unit * (r[2] + m->within0 / b),
                    -unit * m->within1[1] / b, unit * m->within1[0] / b, unit * m->within2 / b},
        slope->t);
  about(x, y,
        (double[6]){unit * r[2], -unit * r[1], unit * r[0], -unit * m->beyond1[1],
                    unit * m->beyond1[0], unit * m->beyond0},
        slope->slack);
}

// The slip at the origin of the moved field.
static void slip_of_field(const abPatchLaw* law, const double V[6], double s[3]) {
  s[0] = V[0] + law->bristle[0], s[1] = V[1] + law->bristle[1], s[2] = V[5] + law->bristle[2];
  s[0] -= s[2] * law->at[1], s[1] += s[2] * law->at[0];
}

// Whether the pole of the slip is nearer to where friction acts than `far` radii of the pressure,
// squared.
static bool pole_is_near(const abPatchLaw* law, const double s[3], double far) {
  double a = s[0] - s[2] * law->centre.y, b = s[1] + s[2] * law->centre.x;
  return a * a + b * b < far * s[2] * s[2] * law->spread2;
}

static void fill_ring(abPatchLaw* law) {
  abRing* ring = &law->ring;
  if (ring->n > 0) return;
  ring->n = law->nregion;
  for (int i = 0; i < ring->n; i++) ring->x[i] = law->region[i].x, ring->y[i] = law->region[i].y;
  ab_ring_close(ring);
}

// False if that is not for this pole. On a line both ways give the same where one takes over from
// the other.
static bool friction_turning(abPatchLaw* law, const double s[3], const Slip* slip, double f[3],
                             abPatchSlope* G) {
  bool line = law->nregion == 2;
  if (law->slender || !(line || law->about_pole)) return false;
  if (!pole_is_near(law, s, line ? AB_PATCH_FAR_LINE : AB_PATCH_FAR_POLE)) return false;
  abPole pole = {{-s[1] / s[2], s[0] / s[2]}, slip->slow / fabs(s[2])};
  abPoleSums sums;
  if (line) {
    ab_line_pole(law->region, law->field, &pole, &sums);
  } else {
    fill_ring(law);
    ab_ring_pole(&law->ring, law->field, &pole, G != NULL, &sums);
  }
  friction_about(&pole, &sums, slip, f, G);
  return true;
}

// s: as the moved field sees it.
static void friction_slip(abPatchLaw* law, const double s[3], const Slip* slip, double f[6],
                          abPatchSlope* G) {
  abPatchSlope rest;
  double t[3];
  if (!friction_turning(law, s, slip, t, G)) {
    ab_patch_fill_points(law);
    abPatchSlope* to = G ? G : &rest;
    sum_friction(law, slip, t, to->t, to->slack);
  }
  f[0] = t[0], f[1] = t[1], f[5] = t[2];
}

// Where the pole of the slip lies within a few radii of the patch, its kink is seen. Who has been
// integrated about it is so for longer, for the two differ by a thousandth there.
void ab_patch_choose_rule(abPatchLaw* law, const double V[6]) {
  double s[3];
  slip_of_field(law, V, s);
  law->about_pole =
      !law->slender && law->nregion > 2 && pole_is_near(law, s, law->about_pole ? 100 : 20);
}

static inline bool rub(abPatchLaw* law, const double V[6], double f[6], abPatchSlope* G) {
  if (!(law->slip_speed > 0)) {
    f[0] = f[1] = f[5] = 0;
    if (G) memset(G->t, 0, sizeof G->t), memset(G->slack, 0, sizeof G->slack);
    return true;
  }
  const double* b = law->bristle;
  Slip slip = {.s = {V[0] + b[0], V[1] + b[1], V[5] + b[2]},
               .at = {law->at[0], law->at[1]},
               .gain = law->gain,
               .slow = law->slip_speed};
  double s[3];
  slip_of_field(law, V, s);
  bool sticks = most_at_corners(law, s) <= law->slip_speed * law->slip_speed;
  if (sticks)
    friction_stick(law, slip.s, f, G);
  else
    friction_slip(law, s, &slip, f, G);
  return sticks;
}

AB_SIMD AB_FLATTEN bool ab_patch_press(const abPatchLaw* law, const double V[6], double f[6],
                                       abPatchSlope* G) {
  return press(law, V, f, G);
}

AB_SIMD AB_FLATTEN bool ab_patch_rub(abPatchLaw* law, const double V[6], double f[6],
                                     abPatchSlope* G) {
  return rub(law, V, f, G);
}

AB_SIMD AB_FLATTEN bool ab_patch_evaluate(abPatchLaw* law, const double V[6], double f[6],
                                          abPatchSlope* G) {
  bool whole = press(law, V, f, G);
  return rub(law, V, f, G) && whole;
}

void ab_patch_set_load(abPatchLaw* law, double load) {
  bool drags = law->mu > 0 && load > 0;
  law->load = load;
  law->gain = drags ? law->mu * load / law->sum : 0;
  law->slip_speed = drags ? law->mu * load / law->stiffness_t : 0;
}

double ab_patch_slipping_share(abPatchLaw* law, const double V[6], double speed) {
  double s[3] = {V[0], V[1], V[5]}, slipping = 0, all = 0;
  if (!(law->load > 0)) return 0;
  s[0] -= s[2] * law->at[1], s[1] += s[2] * law->at[0];
  if (most_at_corners(law, s) <= speed * speed) return 0;
  ab_patch_fill_points(law);
  for (int i = 0; i < law->npoint; i++) {
    double a = s[0] - s[2] * law->py[i], b = s[1] + s[2] * law->px[i];
    all += law->pw[i];
    if (a * a + b * b > speed * speed) slipping += law->pw[i];
  }
  return slipping / all;
}

// --- the derivative

void ab_patch_apply_G(const abPatchSlope* G, const double x[6], double y[6]) {
  const double *t = G->t, *n = G->n;
  y[0] = t[0] * x[0] + t[1] * x[1] + t[3] * x[5];
  y[1] = t[1] * x[0] + t[2] * x[1] + t[4] * x[5];
  y[5] = t[3] * x[0] + t[4] * x[1] + t[5] * x[5];
  y[2] = n[0] * x[2] + n[1] * x[3] + n[3] * x[4];
  y[3] = n[1] * x[2] + n[2] * x[3] + n[4] * x[4];
  y[4] = n[3] * x[2] + n[4] * x[3] + n[5] * x[4];
}
