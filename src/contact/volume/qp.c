// volume-qp: 6-axis forces of contact volumes, all contacts at once.
//
// Wakisaka & Sugihara 2017, "Loosely-constrained volumetric contact force computation for rigid
// body simulation". The law of a sticking contact, f_i = G_i (v*_i - v_i)
// (contact/volume/volume.h), is linear. With u the generalised velocities, M their inertia and J_i
// the map to the relative twist of contact i, all sticking contacts together give
//
//     W u = M u_free + sum_i J_i^T G_i v*_i,     W = M + sum_i J_i^T G_i J_i:
//
// one symmetric positive definite system whatever the shapes of the patches; the paper's problem
// (25) in f has the same solution with its regularisation measured as in contact/volume/volume.h.
// It is solved directly, island by island, so the cost grows as the cube of the bodies that touch.
//
// A contact whose force leaves the static friction cone holds or slides: its vertices carry
// unilateral forces, and friction in the direction they slide to. These, too, are functions f_i of
// the motion the contact leaves, with derivatives D_i (contact/volume/law.c), so that the motion of
// all is found by Newton's method,
//
//     (M - sum_i J_i^T D_i J_i) du = M (u_free - u) + sum_i J_i^T f_i,
//
// of which the sticking contacts' system above is one step. Then contacts are tested again, until
// none changes its mode. Modes are left from sticking to sliding; but what leaves its mode relieves
// others, which may have left theirs for nothing. So in the end those are asked, as volume-pgs does
// at every visit, whether they would go back in the motion the others leave them; each may do so
// once.
//
// `variant` 1 is the paper as printed (impulse units): regularised least squares (21) with lambda
// f^T f, pyramid test (37), friction by the linear program (42), (43); where that has no solution,
// the sticking normal force with friction scaled down.
// Tests: test_volume_models, test_volume_scales.
#include <string.h>

#include "base/arena.h"
#include "contact/volume/qp.h"

enum { QP_TOLERANCE, QP_RATE, QP_R_NORMAL, QP_R_TANGENT, QP_PYRAMID, QP_VARIANT, QP_LAMBDA, QP_K };
static const abParam param[] = {
    {"tolerance", 1e-8, "1",
     "change of an impulse in a Newton step, relative to the largest impulse or weight times step, "
     "at which a step counts as solved"},
    {"rate", 0.05, "1", "part of the overlap that is to vanish in one step (k h)"},
    {"r_normal", 0.01, "1", "regularisation along the normal: rest depth is r_normal g h^2 / rate"},
    {"r_tangent", 1e-4, "1", "regularisation of sticking: creep is r_tangent F h / m"},
    {"pyramid", 8, "1", "edges of the friction pyramid"},
    {"variant", 0, "0|1", "0 repaired, 1 as printed"},
    {"lambda", 1e-4, "m^2/kg^2", "variant 1: the paper's regularisation factor"},
    {"k", 1000, "1/s", "variant 1: the paper's compensation coefficient (each side counted)"},
};

// The next mode of a contact whose force is outside the cone.
static void leave_mode(abVolumeContact* c) {
  bool tips = c->mode == AB_VOLUME_STICK && ab_volume_tips(c, c->f);
  c->mode = tips ? AB_VOLUME_HOLD : AB_VOLUME_SLIDE;
  if (c->mode == AB_VOLUME_SLIDE && !ab_volume_start_slide(c, c->f))
    c->active = false;  // the arena is full
}

// Contacts whose mode does not allow their force go on to the next one. Returns whether any did.
static bool test_modes(abDirect* d) {
  bool changed = false;
  for (int i = 0; i < d->n; i++) {
    abVolumeContact* c = &d->contact[i];
    if (!c->active || c->mode == AB_VOLUME_SLIDE || ab_volume_in_cone(c, c->f)) continue;
    leave_mode(c);
    changed = true;
  }
  return changed;
}

// Lets contacts go back towards sticking. Returns whether any did.
static bool release_modes(abDirect* d) {
  bool changed = false;
  for (int i = 0; i < d->n; i++) {
    abVolumeContact* c = &d->contact[i];
    abVolumeMode was = c->mode;
    double v[6], v0[6], f[6];
    if (!c->active || was == AB_VOLUME_STICK || d->released[i] || !ab_volume_prepare_stick(c))
      continue;
    ab_direct_twist(d, i, d->u, v);
    ab_volume_without_force(c, v, v0);
    if (!ab_volume_stands(c, v0, AB_VOLUME_STICK, f)) c->mode = was;
    d->released[i] = c->mode != was;
    changed = changed || d->released[i];
  }
  return changed;
}

// The motion under the present modes; returns how much the last step changed a force, relative to
// the scale of all.
static double solve_modes(abDirect* d, double tolerance, int* steps) {
  double change = INFINITY;
  for (int k = 0; k < AB_VOLUME_QP_STEPS && change > tolerance; k++, ++*steps)
    if (!ab_direct_step(d, k >= AB_VOLUME_QP_OWN, &change)) return INFINITY;
  return change;
}

// No solution was found: what pulls is left out.
static void drop_unsound(abDirect* d) {
  for (int i = 0; i < d->n; i++) {
    abVolumeContact* c = &d->contact[i];
    bool sound = c->f[2] > 0;
    for (int a = 0; a < 6; a++) sound = sound && isfinite(c->f[a]);
    if (!sound) memset(c->f, 0, sizeof c->f);
  }
}

// Modes change at most five times for each contact: twice on, back, twice on.
static void solve_repaired(abDirect* d, abContactSolution* solution) {
  double tolerance = d->problem->param[QP_TOLERANCE], residual;
  int steps = 0;
  memcpy(d->u, d->v_free, sizeof(double) * (size_t)d->ndof);
  do residual = solve_modes(d, tolerance, &steps);
  while (test_modes(d) || (residual <= tolerance && release_modes(d)));
  if (steps > solution->iterations) solution->iterations = steps;
  solution->residual = fmax(solution->residual, residual);
  if (residual <= tolerance) return;
  drop_unsound(d);
  d->nregularised++;
  solution->status = AB_STEP_UNCONVERGED;
}

static void solve_printed(abDirect* d, abContactSolution* solution) {
  const double* p = d->problem->param;
  solution->iterations = 1;
  if (!ab_direct_solve_printed(d, p[QP_LAMBDA], p[QP_K])) solution->status = AB_STEP_UNCONVERGED;
}

// --- the step
// -------------------------------------------------------------------------------------------------

// The whole scene as one island, for the paper's problem; pairs that carry no force included.
static bool one_island(const abContactProblem* problem, abIslands* islands) {
  int nmover = problem->response->nmover, npair = problem->npair;
  int* number = AB_TAKE(problem->scratch, int, npair + nmover + 4);
  if (!number) return false;
  int *pair = number + 4, *mover = pair + npair;
  for (int i = 0; i < npair; i++) pair[i] = i;
  for (int i = 0; i < nmover; i++) mover[i] = i;
  number[0] = number[2] = 0, number[1] = npair, number[3] = nmover;
  *islands = (abIslands){npair > 0, number, pair, number + 2, mover};
  return true;
}

// False if the arena is full. v: where the velocities of all go.
static bool solve_island(abDirect* d, const abIslands* islands, int island, double* v,
                         abContactSolution* solution) {
  const abResponse* response = d->problem->response;
  d->n = islands->pair_start[island + 1] - islands->pair_start[island];
  d->pair = islands->pair + islands->pair_start[island];
  d->nmover = islands->mover_start[island + 1] - islands->mover_start[island];
  d->mover = islands->mover + islands->mover_start[island];
  if (!ab_direct_prepare(d)) return false;
  if (d->problem->param[QP_VARIANT] == 1)
    solve_printed(d, solution);
  else
    solve_repaired(d, solution);
  for (int k = 0; k < d->nmover; k++) {
    const abMover* m = &response->mover[d->mover[k]];
    memcpy(v + m->dof0, d->u + d->dof0[d->mover[k]], sizeof(double) * (size_t)m->ndof);
  }
  for (int i = 0; i < d->n; i++)
    ab_volume_report(d->problem, &d->contact[i], v, &solution->pair[d->pair[i]]);
  return true;
}

static void solve(const abContactProblem* problem, abContactSolution* solution) {
  const double* p = problem->param;
  abArena* scratch = problem->scratch;
  abVolumeOption option = {.k = p[QP_RATE] / problem->h,
                           .r_normal = p[QP_R_NORMAL],
                           .r_tangent = p[QP_R_TANGENT],
                           .npyramid = (int)p[QP_PYRAMID]};
  abDirect d = {.problem = problem,
                .option = &option,
                .dof0 = AB_TAKE(scratch, int, problem->response->nmover)};
  double* v = AB_TAKE(scratch, double, problem->response->ndof);
  abIslands islands;
  bool enough =
      d.dof0 && v && ab_volume_begin(problem, &option) &&
      (p[QP_VARIANT] == 1 ? one_island(problem, &islands) : ab_volume_islands(problem, &islands));
  for (int i = 0; i < problem->npair; i++) {
    solution->pair[i].point = problem->pair[i].patch.center;
    solution->pair[i].mode = AB_CONTACT_SEPARATING;
  }
  for (int i = 0; enough && i < islands.n; i++) {
    abArenaMark mark = ab_arena_mark(scratch);
    enough = solve_island(&d, &islands, i, v, solution);
    ab_arena_release(scratch, mark);
  }
  if (!enough) solution->status = AB_STEP_BROKEN;
  solution->nregularised = d.nregularised;
}

static size_t memory_bytes(const double* p) {
  (void)p;
  return 0;
}

const abContactModel ab_model_volume_qp = {
    .name = "volume-qp",
    .source = "Wakisaka & Sugihara 2017: loosely-constrained volumetric contact",
    .summary = "6-axis forces of contact volumes, all contacts at once (direct)",
    .geometry = AB_GEOMETRY_VOLUME,
    .nparam = sizeof param / sizeof *param,
    .param = param,
    .memory_bytes = memory_bytes,
    .solve = solve,
};
