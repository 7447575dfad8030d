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
// Where the patch turns about a pole in or near it, the direction of slip has a kink there which
// sums over points miss by up to 3 % of the load; then friction is integrated in closed form too,
// in polar coordinates about the pole (ab_ring_pole). Where the profile is cut off or bends,
// that is done piece by piece.
#include <math.h>
#include <string.h>

#include "contact/patch.h"
#include "contact/patch_points.h"

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

static double most_at_corners(const abPatchLaw* law, const double s[3]) {
  double most = 0;
  for (int i = 0; i < law->ncorner; i++) {
    double a = s[0] - s[2] * law->y[i], b = s[1] + s[2] * law->x[i];
    most = max2(most, a * a + b * b);
  }
  return most;
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

// --- a patch that turns

static void measure_piece(abPatchPiece* p) {
  const abRing* r = &p->ring;
  double x = 0, y = 0, rr = 0, per = 1.0 / r->n;
  for (int i = 0; i < r->n; i++) x += per * r->x[i], y += per * r->y[i];
  for (int i = 0; i < r->n; i++)
    rr += per * ((r->x[i] - x) * (r->x[i] - x) + (r->y[i] - y) * (r->y[i] - y));
  p->center = (abVec2){x, y}, p->radius2 = rr / 3;
}

// Leaves of a convex polygon what is where the field is positive, or, with `zero`, not negative.
static void cut(const abRing* from, Field f, bool zero, abRing* to) {
  const double *x = from->x, *y = from->y;
  int n = from->n;
  to->n = 0;
  double before = n > 0 ? at(f, x[n - 1], y[n - 1]) : 0;
  for (int i = 0, j = n - 1; i < n; j = i++) {
    double here = at(f, x[i], y[i]);
    bool was = before > 0 || (zero && before == 0), is = here > 0 || (zero && here == 0);
    if (was != is) {
      double t = before / (before - here);
      to->x[to->n] = x[j] + t * (x[i] - x[j]), to->y[to->n++] = y[j] + t * (y[i] - y[j]);
    }
    if (is) to->x[to->n] = x[i], to->y[to->n++] = y[i];
    before = here;
  }
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

static void cut_piece(const abPatchLaw* law, const abRing* whole, abPatchPiece* p) {
  Field f = profile_field(law, p->field), g = profile_field(law, 1 - p->field);
  Field less = {g.c - f.c, g.x - f.x, g.y - f.y};
  abRing half;
  cut(whole, less, p->field == 0, &half);
  cut(&half, f, false, &p->ring);
}

// They are kept as long as the profile stays.
static const abPatchPieces* profile_pieces(const abPatchLaw* law) {
  abPatchPieces* pieces = (abPatchPieces*)law->fine;
  if (memcmp(pieces->profile, law->profile, sizeof law->profile) == 0) return pieces;
  memcpy(pieces->profile, law->profile, sizeof law->profile);
  pieces->n = 0;
  int only = only_field(law);
  abRing whole = {.n = law->ncorner};
  memcpy(whole.x, law->x, sizeof(double) * (size_t)law->ncorner);
  memcpy(whole.y, law->y, sizeof(double) * (size_t)law->ncorner);
  for (int i = 0; i < 2; i++) {
    abPatchPiece* p = &pieces->piece[pieces->n];
    if (only == 1 - i) continue;
    p->field = i, p->whole = only == i;
    if (p->whole)
      p->ring = whole;
    else
      cut_piece(law, &whole, p);
    if (p->ring.n < 3) continue;
    ab_ring_close(&p->ring);
    measure_piece(p);
    pieces->n++;
  }
  return pieces;
}

static void ring_vertices(const abRing* ring, abVec2* vertex) {
  for (int i = 0; i < ring->n; i++) vertex[i] = (abVec2){ring->x[i], ring->y[i]};
}

// Adds the integrals of an affine field times 1, x, y, x^2 + y^2 over an area with the moments m.
static void add_affine(const double m[10], const double p[3], double sum[4]) {
  sum[0] += p[0] * m[AB_M_1] + p[1] * m[AB_M_X] + p[2] * m[AB_M_Y];
  sum[1] += p[0] * m[AB_M_X] + p[1] * m[AB_M_XX] + p[2] * m[AB_M_XY];
  sum[2] += p[0] * m[AB_M_Y] + p[1] * m[AB_M_XY] + p[2] * m[AB_M_YY];
  sum[3] += p[0] * (m[AB_M_XX] + m[AB_M_YY]) + p[1] * (m[AB_M_XXX] + m[AB_M_XYY]) +
            p[2] * (m[AB_M_XXY] + m[AB_M_YYY]);
}

// The sums over points see a different load where the pressure is cut off inside the patch. Where
// they differ by much, all the load is at one corner or edge, and pieces are too thin.
static void scale_fine(abPatchLaw* law) {
  const abPatchPieces* pieces = profile_pieces(law);
  double sum[4] = {0};
  for (int i = 0; i < pieces->n; i++) {
    const abPatchPiece* p = &pieces->piece[i];
    abVec2 vertex[AB_RING_MOST];
    abPolygonMoments moments;
    ring_vertices(&p->ring, vertex);
    ab_polygon_moments(p->ring.n, vertex, &moments);
    add_affine(moments.m, law->profile[p->field], sum);
  }
  law->use_fine = sum[0] > 0.5 * law->stick[0] && sum[0] < 2 * law->stick[0];
  law->fine_refused = !law->use_fine;
  law->fine_scale = law->use_fine ? law->stick[0] / sum[0] : 1;
  // what sticks and what slips must be integrated alike: else friction jumps where slip begins
  for (int k = 1; k < 4 && law->use_fine; k++) law->stick[k] = law->fine_scale * sum[k];
}

// Squared distance of the pole of the slip, in radii of the patch.
static double distance2(const abPatchLaw* law, const double s[3]) {
  const double* m = law->moments.m;
  double turning = s[2] * s[2] * (m[AB_M_XX] + m[AB_M_YY]) / m[AB_M_1];
  return (s[0] * s[0] + s[1] * s[1]) / turning;
}

// It matters where the pole of the slip lies within a few radii of the patch. Who has been
// integrated goes on, wherever the pole, until nearly all of it sticks: a patch at rest that
// changed its rule would feel it, and change it again.
void ab_patch_choose_rule(abPatchLaw* law, const double V[6]) {
  if (law->use_fine || law->fine_refused || !law->fine || !(law->slip_speed > 0)) return;
  double s[3] = {V[0] + law->bristle[0], V[1] + law->bristle[1], V[5] + law->bristle[2]};
  double slow2 = law->slip_speed * law->slip_speed, most2 = most_at_corners(law, s);
  if (law->was_fine ? most2 > 0.25 * slow2 : most2 > slow2 && 0.05 * distance2(law, s) < 1)
    scale_fine(law);
}

// The law about the pole c, where s = s_2 n x (r - c): a point slips along n x e, and the circle of
// quadrature.h is that within which it sticks. With the moments about the pole
//
//   force   -gain sign(s_2) n x (beyond1 + within1 / b)
//   torque  -gain sign(s_2) (beyond0 + within2 / b)
//
// and the derivative likewise: across the slip all points resist, along it only those that stick,
// and the share 1 - trust of the others.
static void friction_about(const abPole* pole, const abPoleSums* m, const abPatchSlip* slip,
                           double f[3], double* G) {
  double x = pole->at.x, y = pole->at.y, b = pole->radius, turn = slip->s[2];
  double k = turn > 0 ? slip->gain : -slip->gain;
  double fx = k * (m->beyond1[1] + m->within1[1] / b);
  double fy = -k * (m->beyond1[0] + m->within1[0] / b);
  f[0] = fx, f[1] = fy, f[2] = x * fy - y * fx - k * (m->beyond0 + m->within2 / b);
  if (!G) return;
  double unit = k / turn, rest = 1 - slip->trust;
  const double* r = m->beyond2;
  double xx = unit * (r[0] + rest * r[2] + m->within0 / b), xy = unit * (1 - rest) * r[1],
         yy = unit * (r[2] + rest * r[0] + m->within0 / b);
  double hx = -unit * (rest * m->beyond1[1] + m->within1[1] / b),
         hy = unit * (rest * m->beyond1[0] + m->within1[0] / b);
  G[0] = xx, G[1] = xy, G[2] = yy;
  G[3] = hx - y * xx + x * xy, G[4] = hy - y * xy + x * yy;
  G[5] = unit * (rest * m->beyond0 + m->within2 / b) + y * y * xx - 2 * x * y * xy + x * x * yy +
         2 * (x * hy - y * hx);
}

// Adds what an affine pressure p does on an area with the moments m.
static void add_pressure(const double m[6], Field p, double weight, double f[6], double* G) {
  f[2] += p.c * m[AB_M_1] + p.x * m[AB_M_X] + p.y * m[AB_M_Y];
  f[3] += p.c * m[AB_M_Y] + p.x * m[AB_M_XY] + p.y * m[AB_M_YY];
  f[4] -= p.c * m[AB_M_X] + p.x * m[AB_M_XX] + p.y * m[AB_M_XY];
  if (!G) return;
  double w = weight;
  G[6] += w * m[AB_M_1], G[7] += w * m[AB_M_Y], G[8] += w * m[AB_M_YY];
  G[9] -= w * m[AB_M_X], G[10] -= w * m[AB_M_XY], G[11] += w * m[AB_M_XX];
}

// Returns whether all of the part presses.
static bool press_part(const abPatchLaw* law, abPatchPart* part, const double V[6], double f[6],
                       double* G) {
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

static void press_points(abPatchLaw* law, const double V[6], double f[6], double* G) {
  abPatchPoints points = all_points(law);
  double field[2][3], s[3], m[6];
  ab_patch_pressure_fields(law, V, field);
  ab_points_pressure(&points, (const double(*)[3])field, s, G ? m : NULL);
  f[2] = s[0], f[3] = s[2], f[4] = -s[1];
  if (!G) return;
  double w = law->weight;
  G[6] = w * m[0], G[7] = w * m[2], G[8] = w * m[5];
  G[9] = -w * m[1], G[10] = -w * m[4], G[11] = w * m[3];
}

static bool normal_part(abPatchLaw* law, const double V[6], double f[6], double* G) {
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

static void friction_stick(const abPatchLaw* law, const double s[3], double f[6], double* G) {
  double k = law->gain / law->slip_speed;
  const double* m = law->stick;
  f[0] = -k * (s[0] * m[0] - s[2] * m[2]);
  f[1] = -k * (s[1] * m[0] + s[2] * m[1]);
  f[5] = -k * (s[2] * m[3] + s[1] * m[1] - s[0] * m[2]);
  if (!G) return;
  G[0] = k * m[0], G[1] = 0, G[2] = k * m[0];
  G[3] = -k * m[2], G[4] = k * m[1], G[5] = k * m[3];
}

static void friction_points(abPatchLaw* law, const abPatchSlip* slip, double t[3], double* G) {
  abPatchPoints points = all_points(law);
  ab_points_friction(&points, (const double(*)[3])law->profile, slip, t, G);
}

// A sum over points all the same: as good as exact where the pole is far away.
static void friction_far(abPatchLaw* law, const abPatchPiece* piece, const abPatchSlip* slip,
                         double t[3], double* G) {
  if (piece->whole) {
    friction_points(law, slip, t, G);
    return;
  }
  enum { MOST = 4 * AB_RING_MOST + 4 };
  double x[MOST], y[MOST], w[MOST], field[2][3];
  abVec2 vertex[AB_RING_MOST];
  abPatchPoints points = {ab_quadrature_count(piece->ring.n), x, y, w};
  ring_vertices(&piece->ring, vertex);
  ab_quadrature_polygon(piece->ring.n, vertex, x, y, w);
  for (int k = 0; k < 2; k++) memcpy(field[k], law->profile[piece->field], sizeof field[k]);
  ab_points_friction(&points, (const double(*)[3])field, slip, t, G);
}

// Up to NEAR squared radii of the piece the pole is near, from FAR on it is far; between the two
// the answers, which hardly differ, are mixed, so that nothing jumps.
#define NEAR 100
#define FAR 400

static void friction_piece(abPatchLaw* law, const abPatchPiece* piece, const abPatchSlip* slip,
                           double t[3], double* G) {
  const double* s = slip->s;
  double a = s[0] - s[2] * piece->center.y, b = s[1] + s[2] * piece->center.x;
  double away = (a * a + b * b) / (s[2] * s[2] * piece->radius2);
  if (!(away < FAR)) {
    friction_far(law, piece, slip, t, G);
    return;
  }
  abPole pole = {{-s[1] / s[2], s[0] / s[2]}, slip->slow / fabs(s[2])};
  abPoleSums sums;
  ab_ring_pole(&piece->ring, law->profile[piece->field], &pole, G != NULL, &sums);
  friction_about(&pole, &sums, slip, t, G);
  if (away <= NEAR) return;
  double far[3], slope[6], share = (away - NEAR) / (FAR - NEAR);
  friction_far(law, piece, slip, far, G ? slope : NULL);
  for (int k = 0; k < 3; k++) t[k] += share * (far[k] - t[k]);
  for (int k = 0; k < 6 && G; k++) G[k] += share * (slope[k] - G[k]);
}

static void friction_turning(abPatchLaw* law, const abPatchSlip* slip, double t[3], double* G) {
  const abPatchPieces* pieces = profile_pieces(law);
  for (int k = 0; k < 3; k++) t[k] = 0;
  for (int k = 0; k < 6 && G; k++) G[k] = 0;
  for (int i = 0; i < pieces->n; i++) {
    double part[3], slope[6];
    friction_piece(law, &pieces->piece[i], slip, part, G ? slope : NULL);
    for (int k = 0; k < 3; k++) t[k] += part[k];
    for (int k = 0; k < 6 && G; k++) G[k] += slope[k];
  }
}

static void friction_slip(abPatchLaw* law, const double s[3], double f[6], double* G) {
  abPatchSlip slip = {.s = {s[0], s[1], s[2]},
                      .gain = law->use_fine ? law->gain * law->fine_scale : law->gain,
                      .slow = law->slip_speed,
                      .trust = law->trust};
  double t[3];
  if (law->use_fine)
    friction_turning(law, &slip, t, G);
  else
    friction_points(law, &slip, t, G);
  f[0] = t[0], f[1] = t[1], f[5] = t[2];
}

bool ab_patch_evaluate(abPatchLaw* law, const double V[6], double f[6], double G[12]) {
  for (int k = 0; k < 6; k++) f[k] = 0;
  for (int k = 0; k < 12 && G; k++) G[k] = 0;
  bool whole = normal_part(law, V, f, G);
  if (!(law->slip_speed > 0)) return whole;
  double s[3] = {V[0] + law->bristle[0], V[1] + law->bristle[1], V[5] + law->bristle[2]};
  bool sticks = sticks_at_corners(law, s);
  if (sticks)
    friction_stick(law, s, f, G);
  else
    friction_slip(law, s, f, G);
  return whole && sticks;
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
  if (only >= 0) {
    for (int k = 0; k < 4; k++) law->stick[k] = 0;
    add_affine(law->moments.m, profile[only], law->stick);
  } else {
    abPatchPoints points = all_points(law);
    ab_points_profile(&points, profile, law->stick);
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

// Of the pressure, the border carries a share, so that it resists tilting by more than the area
// would; friction is spread over the area alone. So that both have the same load and centre, the
// profile is the affine field q whose first three moments over the area are those of the pressure p
// over area and border: A q = B p with the two matrices of moments. On a square that makes its
// slope 1 + AB_PATCH_BORDER times as large.
static void spread_field(const double A[6], const double B[6], double p[3]) {
  double r[3] = {B[AB_M_1] * p[0] + B[AB_M_X] * p[1] + B[AB_M_Y] * p[2],
                 B[AB_M_X] * p[0] + B[AB_M_XX] * p[1] + B[AB_M_XY] * p[2],
                 B[AB_M_Y] * p[0] + B[AB_M_XY] * p[1] + B[AB_M_YY] * p[2]};
  double x = A[AB_M_X] / A[AB_M_1], y = A[AB_M_Y] / A[AB_M_1];  // about the centroid
  double xx = A[AB_M_XX] - x * A[AB_M_X], xy = A[AB_M_XY] - x * A[AB_M_Y];
  double yy = A[AB_M_YY] - y * A[AB_M_Y], det = xx * yy - xy * xy;
  double rx = r[1] - x * r[0], ry = r[2] - y * r[0];
  if (!(det > 1e-12 * xx * yy)) return;  // so slender that rounding would tell the slope across
  p[1] = (yy * rx - xy * ry) / det;
  p[2] = (xx * ry - xy * rx) / det;
  p[0] = r[0] / A[AB_M_1] - p[1] * x - p[2] * y;
}

void ab_patch_friction_fields(const abPatchLaw* law, const double V[6], double field[2][3]) {
  static const double everywhere[3] = {1, 0, 0};
  double B[6] = {0};
  ab_patch_pressure_fields(law, V, field);
  for (int i = 0; i < law->npart; i++) {
    const abPatchPart* part = &law->part[i];
    double m[6];
    if (!part->measured) ab_area_positive(&part->area, everywhere, m);
    for (int k = 0; k < 6; k++) B[k] += part->measured ? part->m[k] : m[k];
  }
  for (int i = 0; i < 2 && law->npart > 0; i++) spread_field(law->moments.m, B, field[i]);
}

static double profile_at(const abPatchLaw* law, double x, double y) {
  return min2(law->profile[0][0] + law->profile[0][1] * x + law->profile[0][2] * y,
              law->profile[1][0] + law->profile[1][1] * x + law->profile[1][2] * y);
}

double ab_patch_slipping_share(abPatchLaw* law, const double V[6], double speed) {
  double s[3] = {V[0], V[1], V[5]};
  if (most_at_corners(law, s) <= speed * speed || !(law->load > 0)) return 0;
  fill_points(law);
  double slipping = 0;
  for (int i = 0; i < law->npoint; i++) {
    double x = law->x[i], y = law->y[i];
    double p = profile_at(law, x, y);
    double a = V[0] - V[5] * y, b = V[1] + V[5] * x;
    if (p > 0 && a * a + b * b > speed * speed) slipping += law->w[i] * p;
  }
  return slipping / law->stick[0];
}

void ab_patch_apply_G(const double G[12], const double x[6], double y[6]) {
  y[0] = G[0] * x[0] + G[1] * x[1] + G[3] * x[5];
  y[1] = G[1] * x[0] + G[2] * x[1] + G[4] * x[5];
  y[5] = G[3] * x[0] + G[4] * x[1] + G[5] * x[5];
  y[2] = G[6] * x[2] + G[7] * x[3] + G[9] * x[4];
  y[3] = G[7] * x[2] + G[8] * x[3] + G[10] * x[4];
  y[4] = G[9] * x[2] + G[10] * x[3] + G[11] * x[4];
}

void ab_patch_expand_G(const double G[12], double full[36]) {
  for (int k = 0; k < 36; k++) full[k] = 0;
  static const int tangential[3] = {0, 1, 5}, normal[3] = {2, 3, 4};
  static const int packed[3][3] = {{0, 1, 3}, {1, 2, 4}, {3, 4, 5}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      full[tangential[i] * 6 + tangential[j]] = G[packed[i][j]];
      full[normal[i] * 6 + normal[j]] = G[6 + packed[i][j]];
    }
}
