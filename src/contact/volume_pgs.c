// volume-pgs: 6-axis forces of contact volumes, contact by contact.
//
// Zhang, Wakisaka & Sugihara, "A fast volumetric contact force computation of rigid bodies by
// decomposition and iteration": the contacts are visited in turn; each takes the forces of all
// others as given and finds its own 6-axis impulse from the motion they leave, v0 (contact/volume.h
// has the law and the friction cone). Sweeps are repeated until no impulse changes by more than the
// tolerance. One sweep costs O(contacts).
//
// Variants, by the parameter `variant`:
//   0  repaired (default): sticking force if the friction cone holds it, else the sliding
//   complementarity problem 1  clip, as printed: full step to v*, weights by the pseudo-inverse,
//   negative ones set to zero. It is no projection:
//      it changes admissible forces and creates energy; kept for comparison
//   2  nnls: the admissible force nearest to the full step, in the metric of Phi: a convex
//   relaxation that lifts sliding bodies
//
// Departures from the paper: the law is regularised (contact/volume.h), so that the overlap settles
// at a small depth instead of decaying until contact is lost; Phi = X M^-1 X^T (the paper prints X
// M); sweeps start from the last step's impulses, and a first sweep in file order is followed by
// one in reverse, so that chains are swept both ways.
#include <abut/solve.h>
#include <string.h>

#include "base/arena.h"
#include "contact/volume.h"

enum { P_TOLERANCE, P_SWEEPS, P_RATE, P_R_NORMAL, P_R_TANGENT, P_PYRAMID, P_VARIANT };
static const abParam param[] = {
    {"tolerance", 1e-6, "1",
     "change of an impulse in a sweep, relative to the largest weight times step, at which a step "
     "counts as solved"},
    {"sweeps", 200, "1", "most sweeps of a step"},
    {"rate", 0.05, "1", "part of the overlap that is to vanish in one step (k h)"},
    {"r_normal", 0.03, "1", "regularisation along the normal: rest depth is r_normal g h^2 / rate"},
    {"r_tangent", 1e-4, "1", "regularisation of sticking: creep is r_tangent F h / m"},
    {"pyramid", 8, "1", "edges of the friction pyramid"},
    {"variant", 0, "0|1|2", "0 repaired, 1 clip (as printed), 2 nnls"},
};

typedef struct Memory {
  double f[6];  // of the last step, world axes, at the patch centre
} Memory;

typedef struct Sweep {
  const abContactProblem* problem;
  abVolumeContact* contact;
  double* v;         // generalised velocities under the present impulses
  double (*now)[6];  // relative twists at the start of the step
  int npyramid, variant;
  double scale;  // of impulses
  int nfailed;   // local problems that were not solved in this sweep
} Sweep;

// --- the printed variants
// -----------------------------------------------------------------------------------

// Full step to v*: f = Phi^-1 (v* - v0), v* = k Q^-1 (V n, 0): the affine thickness as a velocity
// field.
static bool full_step(const abVolumeContact* c, double k, const double v0[6], double f[6]) {
  const abPatch* p = &c->pair->patch;
  double A[36];
  int pivot[6];
  memcpy(A, c->phi, sizeof A);
  const double target[6] = {0, 0, k * p->h0, k * p->hy * c->size, -k * p->hx * c->size, 0};
  for (int i = 0; i < 6; i++) f[i] = target[i] - v0[i];
  return dense_lu_solve(6, A, f, pivot);
}

static void pyramid(const abVolumeContact* c, double mu, int npyramid, double* A) {
  for (int p = 0; p < npyramid; p++) {
    double angle = 6.283185307179586 * p / npyramid;
    abVec2 e[AB_VOLUME_MAX_VERTEX];
    for (int l = 0; l < c->nvert; l++) e[l] = v2(cos(angle), sin(angle));
    ab_volume_generators(c, mu, e, A + (ptrdiff_t)p * 6 * c->nvert);
  }
}

static void combine(const double* A, int n, const double* eps, double f[6]) {
  memset(f, 0, 6 * sizeof(double));
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 6; i++) f[i] += A[6 * j + i] * eps[j];
}

// eps = A^# f with negative entries set to zero, A^# = A^T (A A^T)^-1.
static void clip(const double* A, int n, double* eps, double f[6]) {
  double AAt[36] = {0};
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < 6; k++) AAt[6 * i + k] += A[6 * j + i] * A[6 * j + k];
  double trace = 0;
  for (int i = 0; i < 6; i++) trace += AAt[7 * i];
  for (int i = 0; i < 6; i++) AAt[7 * i] += 1e-12 * trace;
  int pivot[6];
  if (!dense_lu_solve(6, AAt, f, pivot)) memset(f, 0, 6 * sizeof(double));
  for (int j = 0; j < n; j++) {
    double s = 0;
    for (int i = 0; i < 6; i++) s += A[6 * j + i] * f[i];
    eps[j] = s > 0 ? s : 0;
  }
  combine(A, n, eps, f);
}

// min (f - A eps)^T Phi (f - A eps): least squares after multiplying by L^T, Phi = L L^T.
static bool nearest_in_phi(const abVolumeContact* c, const double* A, int n, double* eps,
                           double f[6], abArena* scratch) {
  double L[36], b[6];
  memcpy(L, c->phi, sizeof L);
  double trace = 0;
  for (int i = 0; i < 6; i++) trace += L[7 * i];
  dense_cholesky(6, L, 1e-14 * trace);
  double* LA = AB_TAKE(scratch, double, 6 * n);
  void* workspace = ab_arena_take(scratch, ab_nnls_workspace(6, n));
  if (!LA || !workspace) return false;
  for (int j = 0; j <= n; j++) {
    const double* x = j < n ? A + 6 * j : f;
    double* y = j < n ? LA + 6 * j : b;
    for (int i = 0; i < 6; i++) {
      y[i] = 0;
      for (int k = i; k < 6; k++) y[i] += L[6 * k + i] * x[k];
    }
  }
  abNnlsDef def = {.nrow = 6, .ncol = n, .a = LA, .b = b};
  if (ab_nnls(&def, eps, workspace).status != AB_SOLVE_OK) return false;
  combine(A, n, eps, f);
  return true;
}

static bool solve_printed(Sweep* s, abVolumeContact* c, const double v0[6], double f[6]) {
  abArena* scratch = s->problem->scratch;
  abArenaMark mark = ab_arena_mark(scratch);
  int n = c->nvert * s->npyramid;
  double* A = AB_TAKE(scratch, double, 6 * n);
  double* eps = AB_TAKE(scratch, double, n);
  double k = s->problem->param[P_RATE] / s->problem->h;
  bool solved = A && eps && full_step(c, k, v0, f);
  if (solved) {
    pyramid(c, c->pair->surface.mu_static, s->npyramid, A);
    if (s->variant == 1)
      clip(A, n, eps, f);
    else
      solved = nearest_in_phi(c, A, n, eps, f, scratch);
  }
  ab_arena_release(scratch, mark);
  return solved;
}

// --- one contact, one sweep
// ------------------------------------------------------------------------------------

static bool solve_repaired(Sweep* s, int i, const double v0[6], double f[6]) {
  abVolumeContact* c = &s->contact[i];
  abArena* scratch = s->problem->scratch;
  double mu = c->pair->surface.condim == 1 ? 0 : c->pair->surface.mu_static;
  c->sliding =
      !ab_volume_stick(c, v0, f) || !ab_volume_in_cone(c, f, mu, s->npyramid, s->scale, scratch);
  return c->sliding ? ab_volume_slide(c, v0, s->now[i], scratch, f) : true;
}

// Finds contact i's impulse anew and returns how much it changed, as an impulse.
static double visit(Sweep* s, int i) {
  abVolumeContact* c = &s->contact[i];
  if (!c->active) return 0;
  double v0[6], f[6], df[6], change = 0;
  abVec3 center = c->pair->patch.center;
  ab_volume_twist_in(c, ab_pair_twist(s->problem, c->pair, center, s->v), v0);
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 6; b++) v0[a] -= c->phi[a][b] * c->f[b];
  bool solved = s->variant == 0 ? solve_repaired(s, i, v0, f) : solve_printed(s, c, v0, f);
  if (!solved) s->nfailed++;
  for (int a = 0; a < 6; a++) {
    if (!isfinite(f[a])) f[a] = 0;
    df[a] = f[a] - c->f[a];
    change = fmax(change, fabs(df[a]));
    c->f[a] = f[a];
  }
  ab_pair_apply(s->problem, c->pair, center, ab_volume_wrench_out(c, df), s->v);
  return change;
}

static double sweep(Sweep* s, bool backwards) {
  double change = 0;
  s->nfailed = 0;
  int n = s->problem->npair;
  for (int k = 0; k < n; k++) change = fmax(change, visit(s, backwards ? n - 1 - k : k));
  return change;
}

// --- the step
// ---------------------------------------------------------------------------------------------------

static void start_from_memory(Sweep* s) {
  for (int i = 0; i < s->problem->npair; i++) {
    abVolumeContact* c = &s->contact[i];
    const abPair* pair = &s->problem->pair[i];
    if (!c->active) continue;
    ab_volume_twist_in(c, ab_pair_twist_now(s->problem, pair, pair->patch.center), s->now[i]);
    if (pair->fresh || s->variant != 0) continue;
    const Memory* memory = pair->memory;
    ab_volume_wrench_in(c, wrench_from_array(memory->f), c->f);
    ab_pair_apply(s->problem, pair, pair->patch.center, wrench_from_array(memory->f), s->v);
  }
}

static void remember(const Sweep* s) {
  for (int i = 0; i < s->problem->npair; i++) {
    Memory* memory = s->problem->pair[i].memory;
    wrench_to_array(ab_volume_wrench_out(&s->contact[i], s->contact[i].f), memory->f);
  }
}

static void solve(const abContactProblem* problem, abContactSolution* solution) {
  int n = problem->npair, ndof = problem->response->ndof;
  abArena* scratch = problem->scratch;
  const double* p = problem->param;
  Sweep s = {.problem = problem,
             .contact = AB_TAKE(scratch, abVolumeContact, n),
             .v = AB_TAKE(scratch, double, ndof),
             .now = ab_arena_take(scratch, sizeof(double[6]) * (size_t)n),
             .npyramid = (int)p[P_PYRAMID],
             .variant = (int)p[P_VARIANT],
             .scale = ab_impulse_scale(problem)};
  if (!s.contact || !s.v || !s.now) {
    solution->status = AB_STEP_BROKEN;
    return;
  }
  memcpy(s.v, problem->v_free, sizeof(double) * (size_t)ndof);
  abVolumeOption option = {.k = p[P_RATE] / problem->h,
                           .max_speed = ab_volume_max_speed(problem),
                           .r_normal = p[P_R_NORMAL],
                           .r_tangent = p[P_R_TANGENT],
                           .npyramid = s.npyramid};
  for (int i = 0; i < n; i++) ab_volume_prepare(problem, &problem->pair[i], &option, &s.contact[i]);
  start_from_memory(&s);
  double change = INFINITY;
  while (solution->iterations < (int)p[P_SWEEPS] && change > p[P_TOLERANCE] * s.scale) {
    change = sweep(&s, solution->iterations % 2 == 1);
    solution->iterations++;
  }
  remember(&s);
  for (int i = 0; i < n; i++) ab_volume_report(problem, &s.contact[i], s.v, &solution->pair[i]);
  solution->residual = s.scale > 0 ? change / s.scale : 0;
  solution->nregularised = s.nfailed;
  bool solved = change <= p[P_TOLERANCE] * s.scale && s.nfailed == 0;
  solution->status = solved ? AB_STEP_OK : AB_STEP_UNCONVERGED;
}

static size_t memory_bytes(const double* p) {
  (void)p;
  return sizeof(Memory);
}

const abContactModel ab_model_volume_pgs = {
    .name = "volume-pgs",
    .source = "Zhang, Wakisaka & Sugihara: decomposition and iteration",
    .summary = "6-axis forces of contact volumes, contact by contact (projected Gauss-Seidel)",
    .geometry = AB_GEOMETRY_VOLUME,
    .nparam = sizeof param / sizeof *param,
    .param = param,
    .memory_bytes = memory_bytes,
    .solve = solve,
};
