// volume-penalty: springs and dampers distributed over the patch.
//
// Hasegawa & Sato 2004, "Real-time rigid body simulation for haptic interactions based on contact
// volume of polygonal objects". Everything is computed from the state at the start of the step,
// pair by pair, so the cost is linear; the step is semi-implicit Euler. Symbols: p in the plane
// relative to the patch centre, Sc the patch's area, h(p) the thickness, v(p) = K(p) v the relative
// velocity (body 1 - body 2), u its normal, v_T its tangential part; forces act on body 1.
//
// Normal pressure q(p) = (k h(p) - b u(p)) / Sc, once over the patch. Its wrench at the centre:
// spring (k V/Sc n, 0) exactly, since the centre is the overlap's barycentre; damper -(b/Sc) Qn v.
//
// Static friction: springs attached to both bodies all over the patch, stretched by l(p) = r +
// theta n x p (r in the plane): traction -(ks l + bs v_T) / Sc. Dynamic friction: -mu q v_T /
// |v_T|. State machine per pair: a new contact is static with r = 0, theta = 0; r and theta follow
// the relative motion. It becomes dynamic when the static wrench exceeds the largest the
// distribution can give, mu0 int q along the springs' traction; while dynamic, r and theta are set
// so that static and dynamic wrench agree; it becomes static again when the springs, moved on, ask
// for less than dynamic friction.
//
// Departures from the paper:
// - Friction integrals by quadrature with positive weights (contact/quadrature.h). The paper
// interpolates the traction linearly between
//   the vertices of the projected triangles, which gives a spinning square 0.236 a instead of 0.383
//   a mu N; `interpolation` 1 selects it for comparison.
// - "exceeds" compares one number, the component of the static wrench along the limit wrench (force
// and torque over the area's radius
//   of gyration); comparing forces and torques one by one, as printed, lets rounding decide where
//   one of them vanishes.
// - Torques are about the area's centroid, not the centre of pressure.
// - No tension: where the total normal force would pull, there is none.
// - k and b may be given, or relative to the reduced mass m and the step: k = k_relative m / h^2, b
// = b_relative m / h.
// Tests: test_volume_models, test_volume_scales.
#include <string.h>

#include "base/arena.h"
#include "contact/coupling.h"
#include "contact/quadrature.h"
#include "contact/volume/volume.h"

enum {
  SPRING_TOLERANCE,
  SPRING_K,
  SPRING_B,
  SPRING_K_FRICTION,
  SPRING_B_FRICTION,
  SPRING_K_RELATIVE,
  SPRING_B_RELATIVE,
  SPRING_INTERPOLATION
};
static const abParam param[] = {
    {"tolerance", 1e-9, "1", "not used: the method has no iteration"},
    {"k", 0, "N/m", "spring coefficient of a contact; 0: k_relative m / h^2"},
    {"b", 0, "N s/m", "damper coefficient of a contact; 0: b_relative m / h"},
    {"k_friction", 0, "N/m", "spring coefficient of static friction; 0: as along the normal"},
    {"b_friction", 0, "N s/m", "damper coefficient of static friction; 0: as along the normal"},
    {"k_relative", 0.05, "1", "k h^2 / m, m the reduced mass of the pair"},
    {"b_relative", 0.3, "1", "b h / m"},
    {"interpolation", 0, "0|1",
     "friction integrals: 0 quadrature, 1 the paper's interpolation between vertices"},
};

typedef struct Memory {
  abVec3 center;  // of the last patch
  double r[2];    // stretch of the friction springs at the centre, in the patch frame
  double theta;
  unsigned char dynamic;  // a flag; a byte, since a state may come from a file
} Memory;

// A planar wrench or motion: two components in the plane, one about the normal.
typedef struct Planar {
  double x, y, z;
} Planar;

typedef struct Patch {
  const abPatch* geometry;
  double k, b, ks, bs;
  double vn, w1, w2;  // normal velocity at the centre, tilting rates
  Planar v;           // sliding motion at the centre
  // points with weights that sum to the area
  int npoint;
  double *x, *y, *w;
  double* pressure;  // q >= 0 at the points
} Patch;

static double pressure_at(const Patch* p, double x, double y) {
  const abPatch* g = p->geometry;
  double h = g->h0 + g->hx * x + g->hy * y, u = p->vn + p->w1 * y - p->w2 * x;
  return fmax(0, (p->k * h - p->b * u) / g->area);
}

// --- friction
// -------------------------------------------------------------------------------------------------

// The length of a field's vectors below which their direction is rounding: such a point stands
// still.
static double standstill(const Patch* p, Planar d) {
  return AB_VOLUME_ROUNDING * (hypot(d.x, d.y) + fabs(d.z) * sqrt(p->geometry->area));
}

// Wrench about the patch centre of the tractions -c q d/|d| for a field d(p) = (d.x - d.z y, d.y +
// d.z x).
static Planar coulomb(const Patch* p, double c, Planar d) {
  Planar sum = {0};
  double still = standstill(p, d);
  for (int i = 0; i < p->npoint; i++) {
    double dx = d.x - d.z * p->y[i], dy = d.y + d.z * p->x[i], length = hypot(dx, dy);
    if (!(length > still)) continue;
    double s = -c * p->w[i] * p->pressure[i] / length;
    sum.x += s * dx;
    sum.y += s * dy;
    sum.z += s * (p->x[i] * dy - p->y[i] * dx);
  }
  return sum;
}

// The same with the traction known at the vertices and linear in each triangle of a fan (the
// paper's (14)-(17)).
static Planar coulomb_interpolated(const Patch* p, double c, Planar d) {
  const abPatch* g = p->geometry;
  Planar sum = {0};
  double still = standstill(p, d);
  for (int t = 1; t + 1 < g->nvert; t++) {
    const int index[3] = {0, t, t + 1};
    double fx[3], fy[3], px = 0, py = 0, mx = 0, my = 0, turn = 0;
    for (int i = 0; i < 3; i++) {
      abVec2 r = g->polygon[index[i]];
      double dx = d.x - d.z * r.y, dy = d.y + d.z * r.x, length = hypot(dx, dy);
      double s = length > still ? -c * pressure_at(p, r.x, r.y) / length : 0;
      fx[i] = s * dx, fy[i] = s * dy;
      px += r.x / 3, py += r.y / 3, mx += fx[i] / 3, my += fy[i] / 3;
      turn += (r.x * fy[i] - r.y * fx[i]) / 12;
    }
    abVec2 a = v2_sub(g->polygon[t], g->polygon[0]), b = v2_sub(g->polygon[t + 1], g->polygon[0]);
    double area = 0.5 * v2_cross(a, b);
    sum.x += area * mx;
    sum.y += area * my;
    sum.z += area * (0.75 * (px * my - py * mx) + turn);
  }
  return sum;
}

// -(1/Sc) int (a + z n x p, and its moment) for a rigid field: the linear law of springs and
// dampers.
static Planar linear(const abPatch* g, double c, Planar d) {
  double s = -c / g->area;
  return (Planar){s * (d.x * g->area - d.z * g->my), s * (d.y * g->area + d.z * g->mx),
                  s * (d.y * g->mx - d.x * g->my + d.z * (g->mxx + g->myy))};
}

// The rigid field whose linear law with coefficient c is the given wrench; false where the patch
// has no extent.
static bool linear_inverse(const abPatch* g, double c, Planar wrench, Planar* d) {
  double s = -c / g->area;
  double A[9] = {s * g->area, 0,         -s * g->my,           0, s * g->area, s * g->mx,
                 -s * g->my,  s * g->mx, s * (g->mxx + g->myy)};
  double b[3] = {wrench.x, wrench.y, wrench.z};
  int pivot[3];
  if (!dense_lu_solve(3, A, b, pivot)) return false;
  *d = (Planar){b[0], b[1], b[2]};
  return isfinite(b[0]) && isfinite(b[1]) && isfinite(b[2]);
}

static Planar add(Planar a, Planar b) { return (Planar){a.x + b.x, a.y + b.y, a.z + b.z}; }

// Torque about the area's centroid instead of the patch centre.
static double torque_at_centroid(const abPatch* g, Planar w) {
  return w.z - (g->mx * w.y - g->my * w.x) / g->area;
}

// Component of `load` along `limit`, as a multiple of it; torques divided by the radius of
// gyration.
static double load_factor(const abPatch* g, Planar load, Planar limit) {
  double gyration2 =
      (g->mxx + g->myy) / g->area - (g->mx * g->mx + g->my * g->my) / (g->area * g->area);
  double a = torque_at_centroid(g, load), b = torque_at_centroid(g, limit);
  double scale = gyration2 > 0 ? 1 / gyration2 : 0;
  double along = load.x * limit.x + load.y * limit.y + scale * a * b;
  double length2 = limit.x * limit.x + limit.y * limit.y + scale * b * b;
  if (length2 > 0) return along / length2;
  return load.x == 0 && load.y == 0 && a == 0 ? 0 : INFINITY;  // nothing is asked: it holds
}

// The friction wrench of this step; the memory moves on.
static Planar friction(const abContactProblem* problem, const abPair* pair, const Patch* p,
                       Memory* memory) {
  const abPatch* g = p->geometry;
  Planar (*integrate)(const Patch*, double, Planar) =
      problem->param[SPRING_INTERPOLATION] == 1 ? coulomb_interpolated : coulomb;
  if (pair->fresh) *memory = (Memory){.center = g->center};
  // The springs' stretch at the new centre, then stretched by the motion of the last step.
  abVec3 shift = v3_sub(g->center, memory->center);
  double sx = v3_dot(g->t1, shift), sy = v3_dot(g->t2, shift), h = problem->h;
  Planar l = {memory->r[0] - memory->theta * sy + h * p->v.x,
              memory->r[1] + memory->theta * sx + h * p->v.y, memory->theta + h * p->v.z};
  if (pair->fresh) l = (Planar){0};
  Planar fs = add(linear(g, p->ks, l), linear(g, p->bs, p->v));
  Planar pull = {p->ks * l.x + p->bs * p->v.x, p->ks * l.y + p->bs * p->v.y,
                 p->ks * l.z + p->bs * p->v.z};
  double mu_s = pair->surface.mu_static, mu_k = pair->surface.mu_kinetic;
  if (memory->dynamic)
    memory->dynamic = load_factor(g, fs, integrate(p, mu_k, p->v)) >= 1;
  else
    memory->dynamic = load_factor(g, fs, integrate(p, mu_s, pull)) > 1;
  Planar f = fs;
  if (memory->dynamic) {
    f = integrate(p, mu_k, hypot(p->v.x, p->v.y) + fabs(p->v.z) > 0 ? p->v : pull);
    Planar damper = linear(g, p->bs, p->v), rest = {f.x - damper.x, f.y - damper.y, f.z - damper.z};
    if (!linear_inverse(g, p->ks, rest, &l)) l = (Planar){0};
  }
  *memory =
      (Memory){.center = g->center, .r = {l.x, l.y}, .theta = l.z, .dynamic = memory->dynamic};
  return f;
}

// --- one pair
// -------------------------------------------------------------------------------------------------

static bool describe(const abContactProblem* problem, const abPair* pair, Patch* p) {
  const abPatch* g = &pair->patch;
  const double* q = problem->param;
  double m = ab_reduced_mass(problem, pair), h = problem->h;
  *p = (Patch){.geometry = g, .npoint = ab_quadrature_count(g->nvert)};
  p->k = q[SPRING_K] > 0 ? q[SPRING_K] : q[SPRING_K_RELATIVE] * m / (h * h);
  p->b = q[SPRING_B] > 0 ? q[SPRING_B] : q[SPRING_B_RELATIVE] * m / h;
  p->ks = q[SPRING_K_FRICTION] > 0 ? q[SPRING_K_FRICTION] : p->k;
  p->bs = q[SPRING_B_FRICTION] > 0 ? q[SPRING_B_FRICTION] : p->b;
  abTwist t = ab_pair_twist_now(problem, pair, g->center);
  p->vn = v3_dot(g->normal, t.lin);
  p->w1 = v3_dot(g->t1, t.ang), p->w2 = v3_dot(g->t2, t.ang);
  p->v = (Planar){v3_dot(g->t1, t.lin), v3_dot(g->t2, t.lin), v3_dot(g->normal, t.ang)};
  p->x = AB_TAKE(problem->scratch, double, p->npoint);
  p->y = AB_TAKE(problem->scratch, double, p->npoint);
  p->w = AB_TAKE(problem->scratch, double, p->npoint);
  p->pressure = AB_TAKE(problem->scratch, double, p->npoint);
  if (!p->x || !p->y || !p->w || !p->pressure) return false;
  ab_quadrature_polygon(g->nvert, g->polygon, p->x, p->y, p->w);
  for (int i = 0; i < p->npoint; i++) p->pressure[i] = pressure_at(p, p->x[i], p->y[i]);
  return true;
}

// Force along the normal and tilting moments (about t1, t2) of the springs and dampers.
static void normal_wrench(const Patch* p, double f[3]) {
  const abPatch* g = p->geometry;
  double s = p->b / g->area;
  f[0] = p->k * g->volume / g->area - s * (p->vn * g->area + p->w1 * g->my - p->w2 * g->mx);
  f[1] = -s * (p->vn * g->my + p->w1 * g->myy - p->w2 * g->mxy);
  f[2] = s * (p->vn * g->mx + p->w1 * g->mxy - p->w2 * g->mxx);
}

static bool solve_pair(const abContactProblem* problem, const abPair* pair, abPairSolution* out) {
  const abPatch* g = &pair->patch;
  out->point = g->center;
  out->mode = AB_CONTACT_SEPARATING;
  if (g->nvert < 3 || !(g->area > 0)) return true;
  Patch p;
  if (!describe(problem, pair, &p)) return false;
  double f[3], h = problem->h;
  normal_wrench(&p, f);
  Memory* memory = pair->memory;
  Planar t = {0};
  if (f[0] > 0) {
    if (pair->surface.condim != 1) t = friction(problem, pair, &p, memory);
    out->mode = memory->dynamic ? AB_CONTACT_SLIP : AB_CONTACT_STICK;
  } else {
    memset(f, 0, sizeof f);
    *memory = (Memory){.center = g->center};
  }
  abVec3 tilt = v3_axpy(f[2], g->t2, v3_scale(f[1], g->t1));
  out->normal_part = wrench_scale(h, (abWrench){v3_scale(f[0], g->normal), tilt});
  abVec3 tangential = v3_axpy(t.y, g->t2, v3_scale(t.x, g->t1));
  abWrench shear = {tangential, v3_scale(t.z, g->normal)};
  out->impulse = wrench_add(out->normal_part, wrench_scale(h, shear));
  out->pressure = p.pressure;  // the first points of the rule are the polygon's vertices
  out->slip[0] = p.v.x, out->slip[1] = p.v.y, out->slip[2] = p.v.z;
  return true;
}

static void solve(const abContactProblem* problem, abContactSolution* solution) {
  for (int i = 0; i < problem->npair; i++)
    if (!solve_pair(problem, &problem->pair[i], &solution->pair[i])) {
      solution->status = AB_STEP_BROKEN;
      return;
    }
}

static size_t memory_bytes(const double* p) {
  (void)p;
  return sizeof(Memory);
}

const abContactModel ab_model_volume_penalty = {
    .name = "volume-penalty",
    .source = "Hasegawa & Sato 2004: penalty method on the contact volume",
    .summary = "springs, dampers and Coulomb friction distributed over the patch (explicit)",
    .geometry = AB_GEOMETRY_VOLUME,
    .nparam = sizeof param / sizeof *param,
    .param = param,
    .memory_bytes = memory_bytes,
    .solve = solve,
};
