// point-pgs: contact points with friction cones by projected Gauss-Seidel, the papers' point
// baseline.
//
// As Nakaoka et al. 2007: the vertices of the contact polygon are contact points. Each carries an
// impulse (f_n, f_t); the relative velocity at the point must satisfy
//
//     0 <= f_n  _|_  v_n - v_c >= 0,        |f_t| <= mu f_n, f_t against the sliding,
//
// where v_c = min(rate d / h, v_max) pushes the overlap d out, saturated so that deep overlaps do
// not shoot bodies away. mu is the static coefficient while a point sticks and the kinetic one when
// it slides. Points are visited in turn, first the normal, then the tangential impulse, each
// projected on its admissible set; sweeps start from the last step's impulses and stop at the
// tolerance.
//
// The overlap decays until contact is lost for a moment, and four points share the load of a box
// arbitrarily: force chatter and friction torque at the corners' arm are the method's own.
// Tests: test_volume_models.
#include <string.h>

#include "base/arena.h"
#include "contact/coupling.h"
#include "contact/point/point.h"

enum { POINT_TOLERANCE, POINT_SWEEPS, POINT_RATE, POINT_SPEED };
static const abParam param[] = {
    {"tolerance", 1e-6, "1",
     "change of an impulse in a sweep, relative to the largest weight times step"},
    {"sweeps", 50, "1", "most sweeps of a step"},
    {"rate", 0.2, "1", "part of the overlap that is to vanish in one step"},
    {"max_speed", 0.1, "sqrt(g L)",
     "largest correction velocity, relative to a fall through the scene's length"},
};

typedef struct Memory {
  int npoint;
  double f[AB_POINT_MOST][3];  // normal, t1, t2
} Memory;

typedef struct Point {
  int pair;
  abLever lever;
  double target;
  double inv_normal, inv_tangent;  // effective masses
  double f[3];
  bool sliding;
} Point;

static void add_points(const abContactProblem* problem, int i, Point* point, int* n) {
  const abPair* pair = &problem->pair[i];
  const abPatch* patch = &pair->patch;
  int count = patch->nvert < AB_POINT_MOST ? patch->nvert : AB_POINT_MOST;
  const Memory* memory = pair->memory;
  double limit = problem->param[POINT_SPEED] * sqrt(v3_norm(problem->gravity) * problem->length);
  for (int k = 0; k < count; k++) {
    abVec2 r = patch->polygon[k * patch->nvert / count];
    Point* q = &point[(*n)++];
    abVec3 p = ab_patch_point(patch, r);
    *q = (Point){.pair = i};
    ab_lever_make(problem, pair, p, &q->lever);
    double depth = fmax(0, patch->h0 + patch->hx * r.x + patch->hy * r.y);
    q->target = problem->param[POINT_RATE] * depth / problem->h;
    if (limit > 0) q->target = fmin(q->target, limit);
    abMat6 phi;
    ab_pair_response(problem, pair, p, &phi);
    q->inv_normal = ab_effective_mass(&phi, patch->normal);
    q->inv_tangent = fmin(ab_effective_mass(&phi, patch->t1), ab_effective_mass(&phi, patch->t2));
    if (!pair->fresh && memory->npoint == count) memcpy(q->f, memory->f[k], sizeof q->f);
  }
}

static abVec3 in_world(const abPatch* patch, const double f[3]) {
  return v3_axpy(f[2], patch->t2, v3_axpy(f[1], patch->t1, v3_scale(f[0], patch->normal)));
}

static void push(const abContactProblem* problem, const Point* q, const double df[3], double* v) {
  const abPair* pair = &problem->pair[q->pair];
  ab_lever_apply(&q->lever, (abWrench){in_world(&pair->patch, df), v3_zero()}, v);
}

// Brings one point's impulse up to date and returns how much it changed.
static double visit(const abContactProblem* problem, Point* q, double* v) {
  const abPair* pair = &problem->pair[q->pair];
  const abPatch* patch = &pair->patch;
  abVec3 u = ab_lever_twist(&q->lever, v).lin;
  double before = q->f[0], change;
  q->f[0] = fmax(0, before + q->inv_normal * (q->target - v3_dot(patch->normal, u)));
  push(problem, q, (double[3]){q->f[0] - before, 0, 0}, v);
  change = fabs(q->f[0] - before);
  if (pair->surface.condim == 1) return change;
  u = ab_lever_twist(&q->lever, v).lin;
  double t1 = q->f[1] - q->inv_tangent * v3_dot(patch->t1, u);
  double t2 = q->f[2] - q->inv_tangent * v3_dot(patch->t2, u);
  double size = hypot(t1, t2);
  q->sliding = size > pair->surface.mu_static * q->f[0];
  if (q->sliding) {
    double s = size > 0 ? pair->surface.mu_kinetic * q->f[0] / size : 0;
    t1 *= s, t2 *= s;
  }
  const double df[3] = {0, t1 - q->f[1], t2 - q->f[2]};
  q->f[1] = t1, q->f[2] = t2;
  push(problem, q, df, v);
  return fmax(change, hypot(df[1], df[2]));
}

static void report(const abContactProblem* problem, const Point* point, int n,
                   abPairSolution* out) {
  for (int k = 0; k < n; k++) {
    const Point* q = &point[k];
    const abPatch* patch = &problem->pair[q->pair].patch;
    abPairSolution* s = &out[q->pair];
    abVec3 arm = v3_sub(q->lever.point, patch->center);
    s->impulse = wrench_add(s->impulse, wrench_of_force(arm, in_world(patch, q->f)));
    s->normal_part =
        wrench_add(s->normal_part, wrench_of_force(arm, v3_scale(q->f[0], patch->normal)));
    if (q->f[0] > 0 && s->mode != AB_CONTACT_SLIP)
      s->mode = q->sliding ? AB_CONTACT_SLIP : AB_CONTACT_STICK;
  }
}

static void remember(const abContactProblem* problem, const Point* point, int n) {
  for (int i = 0; i < problem->npair; i++) ((Memory*)problem->pair[i].memory)->npoint = 0;
  for (int k = 0; k < n; k++) {
    Memory* memory = problem->pair[point[k].pair].memory;
    memcpy(memory->f[memory->npoint++], point[k].f, sizeof point[k].f);
  }
}

static void solve(const abContactProblem* problem, abContactSolution* solution) {
  int n = 0, ndof = problem->response->ndof;
  Point* point = AB_TAKE(problem->scratch, Point, AB_POINT_MOST * problem->npair);
  double* v = AB_TAKE(problem->scratch, double, ndof);
  if (!point || !v) {
    solution->status = AB_STEP_BROKEN;
    return;
  }
  memcpy(v, problem->v_free, sizeof(double) * (size_t)ndof);
  for (int i = 0; i < problem->npair; i++) {
    solution->pair[i].point = problem->pair[i].patch.center;
    solution->pair[i].mode = AB_CONTACT_SEPARATING;
    add_points(problem, i, point, &n);
  }
  for (int k = 0; k < n; k++) push(problem, &point[k], point[k].f, v);
  double scale = ab_impulse_scale(problem), change = INFINITY;
  while (solution->iterations < (int)problem->param[POINT_SWEEPS] &&
         change > problem->param[POINT_TOLERANCE] * scale) {
    change = 0;
    for (int k = 0; k < n; k++) change = fmax(change, visit(problem, &point[k], v));
    solution->iterations++;
  }
  report(problem, point, n, solution->pair);
  remember(problem, point, n);
  solution->residual = scale > 0 ? change / scale : 0;
  solution->status =
      change <= problem->param[POINT_TOLERANCE] * scale ? AB_STEP_OK : AB_STEP_UNCONVERGED;
}

static size_t memory_bytes(const double* p) {
  (void)p;
  return sizeof(Memory);
}

const abContactModel ab_model_point_pgs = {
    .name = "point-pgs",
    .source = "Nakaoka et al. 2007, the papers' point baseline",
    .summary = "contact points with friction cones by projected Gauss-Seidel",
    .geometry = AB_GEOMETRY_VOLUME,
    .nparam = sizeof param / sizeof *param,
    .param = param,
    .memory_bytes = memory_bytes,
    .solve = solve,
};
