// The law of one patch: relative twist -> impulse and its derivative. See patch.c for the law.
//
// With the normal velocity u(x, y) = V_n + W_1 y - W_2 x and the tangential velocity s(x, y) =
// (V_1 - W_n y, V_2 + W_n x):
//
// Pressure is the smaller of two affine fields, where positive. Which of them is the smaller does
// not depend on V, so the polygon is parted once along the line between; in each part the pressure
// is affine, cut off where it becomes negative, and the integrals are exact: closed forms in the
// moments of the part, or of what is left of it. So nothing jumps when a vertex of the polygon
// comes or goes. The border carries a share of the pressure (AB_PATCH_BORDER).
//
// Friction is a sum over the points of a rule. Where the slip is below slip_speed at every corner
// (the speed is convex), it has a closed form in sums of the profile, and gives the same result.
// Where the patch turns about a pole in or near it, the direction of slip has a kink there, which
// the first rule misses by several per cent of the load and a finer one by half a per cent in the
// mean. A patch that turns fast and is under pressure everywhere is integrated in closed form, in
// polar coordinates about the pole. Not so at rest: there nothing may depend on which rule it is.
//
// Where the pressure is cut off inside the patch the rule may have few points under pressure, at a
// corner a single one: the force is right, but there is no lever for a torque about the normal, and
// nothing would stop a body that spins on its corner. So a point stands for an area: as well as the
// velocity s at the point, friction works against c = rho W_n, the turning at the radius rho,
//
//   energy = sum over q of w_q gain p_q Huber(|(s_q, c)|; slip_speed),
//
// which is convex (the velocity is linear in the twist) and C1 as before; its gradient has the
// torque rho c / max(|(s, c)|, slip_speed) more. Alone under pressure a point so has the limit
// surface of Howe & Cutkosky (1996), an ellipsoid, whose torque goes where the patch slides off.
// rho^2 = what the rule misses of the squared radius of gyration of the profile about its own
// centre,
//
//   R^2 = (1/N) integral p r^2 - |(1/N) integral p r|^2,   N = integral p,
//
// integrated exactly and summed by the rule: so the stiffness against turning about the centre of
// pressure is the exact one. The torque of a single point in full slip is mu N R where the exact
// one is mu integral p r = 0.94 mu N R for an even disc or square and 0.87 for a line. Where the
// rule is exact (nothing is cut off) rho is zero.
#include <math.h>
#include <string.h>

#include "contact/patch/patch.h"
#include "contact/patch/points.h"

// As fmin and fmax, but instructions instead of calls; no argument here is NaN unless all are.
static inline double min2(double a, double b) { return a < b ? a : b; }
static inline double max2(double a, double b) { return a > b ? a : b; }

typedef struct Field {
  double c, x, y;
} Field;

static Field pressure_field(const abPatchLaw* law, int i, const double V[6]) {
  double w = law->weight;
  const double* t = law->target[i];
  return (Field){w * (t[0] - V[2]), w * (t[1] + V[4]), w * (t[2] - V[3])};
}
static double at(Field f, double x, double y) { return f.c + f.x * x + f.y * y; }

static void fill_points(abPatchLaw* law) {
  if (law->filled) return;
  ab_quadrature_polygon(law->ncorner, law->polygon, law->x, law->y, law->w);
  law->filled = true;
}

static abPatchPoints all_points(abPatchLaw* law) {
  fill_points(law);
  return (abPatchPoints){law->npoint, law->x, law->y, law->w};
}

static abPatchPoints friction_points_of(abPatchLaw* law) {
  if (!law->use_fine) return all_points(law);
  int n = ab_quadrature_fine_count(law->ncorner);
  double *x = law->fine, *y = x + n, *w = y + n;
  if (!law->fine_filled) ab_quadrature_fine(law->ncorner, law->polygon, x, y, w);
  law->fine_filled = true;
  return (abPatchPoints){n, x, y, w};
}

static double most_at_corners(const abPatchLaw* law, const double s[3]) {
  double most = 0;
  for (int i = 0; i < law->ncorner; i++) {
    double a = s[0] - s[2] * law->y[i], b = s[1] + s[2] * law->x[i];
    most = max2(most, a * a + b * b);
  }
  double turn = law->spread * s[2];
  return most + turn * turn;
}

static double profile_at(const abPatchLaw* law, double x, double y) {
  return min2(law->profile[0][0] + law->profile[0][1] * x + law->profile[0][2] * y,
              law->profile[1][0] + law->profile[1][1] * x + law->profile[1][2] * y);
}

static double gyration2(const double sum[4]) {
  double x = sum[1] / sum[0], y = sum[2] / sum[0];
  return sum[3] / sum[0] - x * x - y * y;
}

// What the rule misses; integrated from the most pressed corner, since all of the pressure may be
// near it.
static void find_spread(abPatchLaw* law) {
  int at_most = 0;
  double sum[4], most = -INFINITY;
  for (int i = 0; i < law->ncorner; i++) {
    double here = profile_at(law, law->x[i], law->y[i]);
    if (here > most) most = here, at_most = i;
  }
  ab_polygon_profile(law->ncorner, law->polygon, (const double(*)[3])law->profile,
                     law->polygon[at_most], sum);
  double missed = sum[0] > 0 ? gyration2(sum) - gyration2(law->stick) : 0;
  law->spread = sqrt(max2(0, missed));
}

// The two rules see a different load where the pressure is cut off inside the patch. Where they
// differ by much, all the load is at one corner, and the finer rule, which has no corners, is none.
static void scale_fine(abPatchLaw* law) {
  law->use_fine = true;
  abPatchPoints points = friction_points_of(law);
  double sum[4];
  ab_points_profile(&points, (const double(*)[3])law->profile, sum);
  law->use_fine = sum[0] > 0.5 * law->stick[0] && sum[0] < 2 * law->stick[0];
  law->fine_refused = !law->use_fine;
  law->fine_scale = law->use_fine ? law->stick[0] / sum[0] : 1;
  // what sticks and what slips must be summed alike: else friction jumps where slip begins
  for (int k = 1; k < 4 && law->use_fine; k++) law->stick[k] = law->fine_scale * sum[k];
  if (law->use_fine) find_spread(law);
}

// It matters where the pole of the slip lies within a few radii of the patch. Who has used the
// finer rule keeps it for longer, and at rest for good: a patch at rest that changed its rule would
// feel it, and change it again, for ever.
static bool wants_fine(const abPatchLaw* law, const double V[6], const double s[3]) {
  const double v[3] = {V[0], V[1], V[5]}, slow = AB_PATCH_SLIDING * law->slip_speed;
  if (law->was_fine && most_at_corners(law, v) < slow * slow) return true;
  const double* m = law->moments.m;
  double turning = s[2] * s[2] * (m[AB_M_XX] + m[AB_M_YY]) / m[AB_M_1];
  double ease = law->was_fine ? 0.25 : 1;
  return turning > ease * 0.05 * (s[0] * s[0] + s[1] * s[1]) &&
         most_at_corners(law, s) > ease * law->slip_speed * law->slip_speed;
}

// From FAST times slip_speed on, a turning patch is integrated about its pole, until it has come
// down to SLOW times it: speeds of millimetres per second, far above all that the bristle does.
#define FAST 1000
#define SLOW 300

void ab_patch_choose_rule(abPatchLaw* law, const double V[6]) {
  if (!law->fine || !(law->slip_speed > 0)) return;
  double s[3] = {V[0] + law->bristle[0], V[1] + law->bristle[1], V[5] + law->bristle[2]};
  if (!law->use_fine && !law->fine_refused) {
    if (wants_fine(law, V, s))
      scale_fine(law);
    else
      law->was_fine = false;  // who has given it up has to begin anew, also within the step
  }
  double least = (law->about_pole ? SLOW : FAST) * law->slip_speed;
  law->about_pole = law->use_fine && most_at_corners(law, s) > least * least;
}

double ab_patch_pressure(const abPatchLaw* law, const double V[6], double x, double y) {
  double a = at(pressure_field(law, 0, V), x, y), b = at(pressure_field(law, 1, V), x, y);
  return max2(0, min2(a, b));
}

static bool positive_at_corners(const abPatchLaw* law, Field p) {
  double least = INFINITY;
  for (int i = 0; i < law->ncorner; i++) least = min2(least, at(p, law->x[i], law->y[i]));
  return least > 0;
}

static Field profile_field(const abPatchLaw* law, int i) {
  return (Field){law->profile[i][0], law->profile[i][1], law->profile[i][2]};
}

// Which of the profile's fields is the smaller one on all of the patch and positive: -1 if neither.
static int only_field(const abPatchLaw* law) {
  Field f[2] = {profile_field(law, 0), profile_field(law, 1)};
  Field d = {f[1].c - f[0].c, f[1].x - f[0].x, f[1].y - f[0].y};
  bool first = true, second = true;
  for (int i = 0; i < law->ncorner; i++) {
    double v = at(d, law->x[i], law->y[i]);
    if (v < 0) first = false;
    if (v > 0) second = false;
  }
  int i = first ? 0 : 1;
  return (first || second) && positive_at_corners(law, f[i]) ? i : -1;
}

// Adds what an affine pressure p does on an area with the moments m.
static void add_pressure(const double m[6], Field p, double weight, double f[6], abPatchSlope* G) {
  f[2] += p.c * m[AB_M_1] + p.x * m[AB_M_X] + p.y * m[AB_M_Y];
  f[3] += p.c * m[AB_M_Y] + p.x * m[AB_M_XY] + p.y * m[AB_M_YY];
  f[4] -= p.c * m[AB_M_X] + p.x * m[AB_M_XX] + p.y * m[AB_M_XY];
  if (!G) return;
  double w = weight, *n = G->n;
  n[0] += w * m[AB_M_1], n[1] += w * m[AB_M_Y], n[2] += w * m[AB_M_YY];
  n[3] -= w * m[AB_M_X], n[4] -= w * m[AB_M_XY], n[5] += w * m[AB_M_XX];
}

// Returns whether all of the part presses.
static bool press_part(const abPatchLaw* law, abPatchPart* part, const double V[6], double f[6],
                       abPatchSlope* G) {
  Field p = pressure_field(law, part->target, V);
  double least = INFINITY, most = -INFINITY;
  const abPatchArea* area = &part->area;
  for (int i = 0; i < area->n; i++) {
    double here = at(p, area->x[i], area->y[i]);
    least = min2(least, here), most = max2(most, here);
  }
  if (least >= 0) {
    static const double everywhere[3] = {1, 0, 0};
    if (!part->measured) ab_area_positive(area, everywhere, part->m);
    part->measured = true;
    add_pressure(part->m, p, law->weight, f, G);
    return true;
  }
  if (most <= 0) return false;
  double m[6];
  const double field[3] = {p.c, p.x, p.y};
  ab_area_positive(area, field, m);
  add_pressure(m, p, law->weight, f, G);
  return false;
}

static void press_points(abPatchLaw* law, const double V[6], double f[6], abPatchSlope* G) {
  abPatchPoints points = all_points(law);
  double field[2][3], s[3], m[6];
  ab_patch_pressure_fields(law, V, field);
  ab_points_pressure(&points, (const double(*)[3])field, s, G ? m : NULL);
  f[2] = s[0], f[3] = s[2], f[4] = -s[1];
  if (!G) return;
  double w = law->weight, *n = G->n;
  n[0] = w * m[0], n[1] = w * m[2], n[2] = w * m[5];
  n[3] = -w * m[1], n[4] = -w * m[4], n[5] = w * m[3];
}

static bool normal_part(abPatchLaw* law, const double V[6], double f[6], abPatchSlope* G) {
  if (law->npart == 0) {
    press_points(law, V, f, G);
    return false;
  }
  bool whole = true;
  for (int i = 0; i < law->npart; i++) whole &= press_part(law, &law->part[i], V, f, G);
  return whole;
}

static bool sticks_at_corners(const abPatchLaw* law, const double s[3]) {
  return most_at_corners(law, s) <= law->slip_speed * law->slip_speed;
}

static void friction_stick(const abPatchLaw* law, const double s[3], double f[6],
                           abPatchSlope* slope) {
  double k = law->gain / law->slip_speed;
  const double* m = law->stick;
  double turn = m[3] + law->spread * law->spread * m[0];
  f[0] = -k * (s[0] * m[0] - s[2] * m[2]);
  f[1] = -k * (s[1] * m[0] + s[2] * m[1]);
  f[5] = -k * (s[2] * turn + s[1] * m[1] - s[0] * m[2]);
  if (!slope) return;
  double* G = slope->t;
  G[0] = k * m[0], G[1] = 0, G[2] = k * m[0];
  G[3] = -k * m[2], G[4] = k * m[1], G[5] = k * turn;
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
static void friction_about(const abPole* pole, const abPoleSums* m, const abPatchSlip* slip,
                           double f[3], abPatchSlope* slope) {
  double x = pole->at.x, y = pole->at.y, b = pole->radius, turn = slip->s[2];
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

// From this squared distance of the pole on, in radii of the patch, the finer rule is exact to
// less than the tolerance, and takes over.
#define FAR 1000

// False if that is not for this profile or pole.
static bool friction_turning(const abPatchLaw* law, const abPatchSlip* slip, double f[3],
                             abPatchSlope* G) {
  const double *s = slip->s, *m = law->moments.m;
  double turning = s[2] * s[2] * (m[AB_M_XX] + m[AB_M_YY]) / m[AB_M_1];
  int only = only_field(law);
  if (only < 0 || !(s[0] * s[0] + s[1] * s[1] < FAR * turning)) return false;
  abRing ring = {.n = law->ncorner};
  for (int i = 0; i < ring.n; i++) ring.x[i] = law->x[i], ring.y[i] = law->y[i];
  ab_ring_close(&ring);
  abPole pole = {{-s[1] / s[2], s[0] / s[2]}, slip->slow / fabs(s[2])};
  abPoleSums sums;
  ab_ring_pole(&ring, law->profile[only], &pole, G != NULL, &sums);
  friction_about(&pole, &sums, slip, f, G);
  return true;
}

static void friction_slip(abPatchLaw* law, const double s[3], double f[6], abPatchSlope* G) {
  abPatchSlip slip = {.s = {s[0], s[1], s[2]},
                      .gain = law->use_fine ? law->gain * law->fine_scale : law->gain,
                      .slow = law->slip_speed,
                      .spread = law->spread};
  double t[3];
  if (!(law->use_fine && law->about_pole && friction_turning(law, &slip, t, G))) {
    abPatchPoints points = friction_points_of(law);
    ab_points_friction(&points, (const double(*)[3])law->profile, &slip, t, G ? G->t : NULL,
                       G ? G->slack : NULL);
  }
  f[0] = t[0], f[1] = t[1], f[5] = t[2];
}

// From the moved profile's own origin to the centre.
static void move_friction(const double at[2], double f[6], abPatchSlope* G) {
  if (at[0] == 0 && at[1] == 0) return;
  f[5] += at[0] * f[1] - at[1] * f[0];
  if (!G) return;
  double p[6];
  memcpy(p, G->t, sizeof p);
  about(at[0], at[1], p, G->t);
  memcpy(p, G->slack, sizeof p);
  about(at[0], at[1], p, G->slack);
}

bool ab_patch_evaluate(abPatchLaw* law, const double V[6], double f[6], abPatchSlope* G) {
  for (int k = 0; k < 6; k++) f[k] = 0;
  if (G) memset(G, 0, sizeof *G);
  bool whole = normal_part(law, V, f, G);
  if (!(law->slip_speed > 0)) return whole;
  double s[3] = {V[0] + law->bristle[0], V[1] + law->bristle[1], V[5] + law->bristle[2]};
  s[0] -= s[2] * law->at[1], s[1] += s[2] * law->at[0];
  bool sticks = sticks_at_corners(law, s);
  if (sticks)
    friction_stick(law, s, f, G);
  else
    friction_slip(law, s, f, G);
  move_friction(law->at, f, G);
  return whole && sticks;
}

static void stick_closed(abPatchLaw* law, Field p) {
  const double* m = law->moments.m;
  law->stick[0] = p.c * m[AB_M_1] + p.x * m[AB_M_X] + p.y * m[AB_M_Y];
  law->stick[1] = p.c * m[AB_M_X] + p.x * m[AB_M_XX] + p.y * m[AB_M_XY];
  law->stick[2] = p.c * m[AB_M_Y] + p.x * m[AB_M_XY] + p.y * m[AB_M_YY];
  law->stick[3] = p.c * (m[AB_M_XX] + m[AB_M_YY]) + p.x * (m[AB_M_XXX] + m[AB_M_XYY]) +
                  p.y * (m[AB_M_XXY] + m[AB_M_YYY]);
}

void ab_patch_set_load(abPatchLaw* law, double load) {
  bool drags = law->mu > 0 && load > 0;
  law->load = load;
  law->gain = drags ? law->mu * load / law->stick[0] : 0;
  law->slip_speed = drags ? law->mu * load / (law->moments.m[AB_M_1] * law->weight_t) : 0;
}

static bool integrate_profile(abPatchLaw* law) {
  const double(*profile)[3] = (const double(*)[3])law->profile;
  int only = only_field(law);
  law->spread = 0;
  if (only >= 0) {
    stick_closed(law, profile_field(law, only));
  } else {
    abPatchPoints points = all_points(law);
    ab_points_profile(&points, profile, law->stick);
    if (law->polygon && law->stick[0] > 0) find_spread(law);
  }
  return law->stick[0] > 0;
}

void ab_patch_profile_ready(abPatchLaw* law) {
  law->fine_refused = false;
  if (!integrate_profile(law)) {
    for (int i = 0; i < 2; i++)  // no pressure anywhere: even
      law->profile[i][0] = 1, law->profile[i][1] = law->profile[i][2] = 0;
    integrate_profile(law);
  }
  if (law->use_fine) scale_fine(law);
}

void ab_patch_pressure_fields(const abPatchLaw* law, const double V[6], double field[2][3]) {
  for (int i = 0; i < 2; i++) {
    Field p = pressure_field(law, i, V);
    field[i][0] = p.c, field[i][1] = p.x, field[i][2] = p.y;
  }
}

double ab_patch_slipping_share(abPatchLaw* law, const double V[6], double speed) {
  double s[3] = {V[0], V[1], V[5]};
  if (most_at_corners(law, s) <= speed * speed || !(law->load > 0)) return 0;
  fill_points(law);
  double slipping = 0, turn = law->spread * V[5];
  for (int i = 0; i < law->npoint; i++) {
    double x = law->x[i], y = law->y[i];
    double p = profile_at(law, x, y);
    double a = V[0] - V[5] * y, b = V[1] + V[5] * x;
    if (p > 0 && a * a + b * b + turn * turn > speed * speed) slipping += law->w[i] * p;
  }
  return slipping / law->stick[0];
}

void ab_patch_apply_G(const abPatchSlope* G, const double x[6], double y[6]) {
  const double *t = G->t, *n = G->n;
  y[0] = t[0] * x[0] + t[1] * x[1] + t[3] * x[5];
  y[1] = t[1] * x[0] + t[2] * x[1] + t[4] * x[5];
  y[5] = t[3] * x[0] + t[4] * x[1] + t[5] * x[5];
  y[2] = n[0] * x[2] + n[1] * x[3] + n[3] * x[4];
  y[3] = n[1] * x[2] + n[2] * x[3] + n[4] * x[4];
  y[4] = n[3] * x[2] + n[4] * x[3] + n[5] * x[4];
}

void ab_patch_expand_G(const abPatchSlope* G, double full[36]) {
  for (int k = 0; k < 36; k++) full[k] = 0;
  static const int tangential[3] = {0, 1, 5}, normal[3] = {2, 3, 4};
  static const int packed[3][3] = {{0, 1, 3}, {1, 2, 4}, {3, 4, 5}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      full[tangential[i] * 6 + tangential[j]] = G->t[packed[i][j]];
      full[normal[i] * 6 + normal[j]] = G->n[packed[i][j]];
    }
}
