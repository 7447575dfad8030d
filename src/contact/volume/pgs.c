// volume-pgs: 6-axis forces of contact volumes, contact by contact.
//
// Zhang, Wakisaka & Sugihara, "A fast volumetric contact force computation of rigid bodies by
// decomposition and iteration": the contacts are visited in turn; each takes the forces of all
// others as given and finds its own 6-axis impulse from the motion they leave, v0
// (contact/volume/volume.h has the law and the friction cone). Sweeps are repeated until no impulse
// changes by more than the tolerance. One sweep costs O(contacts).
//
// Variants, by the parameter `variant`:
//   0  repaired (default): the modes of contact/volume/volume.h, each contact's from the motion the
//   others
//      leave it
//   1  clip, as printed: full step to v*, weights by the pseudo-inverse, negative ones set to zero.
//      It is no projection: it changes admissible forces and creates energy; kept for comparison
//   2  nnls: the admissible force nearest to the full step, in the metric of Phi: a convex
//      relaxation that lifts sliding bodies
//
// Departures from the paper: the law is regularised (contact/volume/volume.h), so that the overlap
// settles at a small depth instead of decaying until contact is lost; Phi = X M^-1 X^T (the paper
// prints X M); sweeps start from the last step's impulses; bodies that do not touch each other are
// solved apart and stop when they are done.
//
// Sweeps alone need the more rounds the more bodies lean on each other. So each is followed by a
// step of all contacts together, with the modes and near the forces the sweep found
// (contact/volume/join.h): a heap of ten boxes then takes four of both, one of four hundred nine. A
// sweep has the last word: every force returned is its contact's own answer, or a tenth of the
// tolerance from it, and the residual is what that sweep changed. Where such a step costs too much,
// or two dozen of them did not lead to the answer, a sweep forth is followed by one back, so that
// chains are swept both ways, and the pair is accelerated by its own history
// (contact/volume/accelerate.h). The parameter `accelerate` leaves the one or both away.
//
// With static friction above kinetic friction, a load between the two has no fixed point: a contact
// that slides leaves the others a motion in which it would stick, and the other way round. A
// contact may therefore go back towards sticking only AB_VOLUME_RELEASES times in a step, and not
// at all after its first answer if it slid in the last step: between the two coefficients what
// slides goes on sliding.
// Tests: test_volume_models, test_volume_scales.
#include <string.h>

#include "contact/volume/accelerate.h"
#include "contact/volume/join.h"
#include "contact/volume/volume.h"
#include "solve/dense.h"

enum {
  PGS_TOLERANCE,
  PGS_SWEEPS,
  PGS_RATE,
  PGS_R_NORMAL,
  PGS_R_TANGENT,
  PGS_PYRAMID,
  PGS_VARIANT,
  PGS_ACCELERATE
};
static const abParam param[] = {
    {"tolerance", 1e-6, "1",
     "change of an impulse in a sweep, relative to the largest weight times step, at which a step "
     "counts as solved"},
    {"sweeps", 200, "1", "most sweeps of a step, steps of all contacts together included"},
    {"rate", 0.05, "1", "part of the overlap that is to vanish in one step (k h)"},
    {"r_normal", 0.01, "1", "regularisation along the normal: rest depth is r_normal g h^2 / rate"},
    {"r_tangent", 1e-4, "1", "regularisation of sticking: creep is r_tangent F h / m"},
    {"pyramid", 8, "1", "edges of the friction pyramid"},
    {"variant", 0, "0|1|2", "0 repaired, 1 clip (as printed), 2 nnls"},
    {"accelerate", 2, "0|1|2",
     "variant 0: 0 sweeps alone, 1 accelerated by their history, 2 by steps of all contacts "
     "together"},
};

typedef struct Sweep {
  const abContactProblem* problem;
  abVolumeContact* contact;
  abLever* lever;
  int* nrelease;  // per contact
  double* v;      // generalised velocities under the present impulses
  int* block;     // work space of joint steps: a number per mover, a change per velocity
  double* dv;
  int variant;
  const abVolumeOption* option;
  // of the present island
  int npair, nmover;
  const int *pair, *mover;
  double still;  // a contact whose impulse would change by no more keeps it, and its line
  int nfailed;   // local problems that were not solved in this sweep
  int nchange;   // contacts that changed their mode
} Sweep;

// --- one contact, one sweep
// ------------------------------------------------------------------------------------

// The mode and the force it gives, trying no mode below `least`. False if the force is not that of
// the mode.
static bool choose(abVolumeContact* c, const double v0[6], double f[6], abVolumeMode least) {
  if (ab_volume_stands(c, v0, least, f)) return true;
  c->mode = AB_VOLUME_SLIDE;
  if (ab_volume_start_slide(c, c->f) && ab_volume_slide(c, v0, f)) return true;
  ab_volume_slide_on(c, v0, f);
  return false;
}

static bool solve_repaired(Sweep* s, int i, const double v0[6], double f[6]) {
  abVolumeContact* c = &s->contact[i];
  abVolumeMode was = c->mode;
  bool solved = choose(c, v0, f, s->nrelease[i] < AB_VOLUME_RELEASES ? AB_VOLUME_STICK : was);
  s->nrelease[i] += c->mode < was;
  s->nchange += c->mode != was;
  return solved;
}

// Finds contact i's impulse anew and returns how much it changed, as an impulse.
static double visit(Sweep* s, int i) {
  abVolumeContact* c = &s->contact[i];
  if (!c->active) return 0;
  double v[6], v0[6], f[6], df[6], change = 0;
  ab_volume_twist_in(c, ab_lever_twist(&s->lever[i], s->v), v);
  ab_volume_without_force(c, v, v0);
  bool solved =
      s->variant == 0 ? solve_repaired(s, i, v0, f) : ab_volume_printed(c, s->variant == 1, v0, f);
  if (!solved) s->nfailed++;
  for (int a = 0; a < 6; a++) {
    if (!isfinite(f[a])) f[a] = 0;
    df[a] = f[a] - c->f[a];
    change = larger(change, fabs(df[a]));
  }
  if (change <= s->still) return change;
  memcpy(c->f, f, sizeof c->f);
  ab_volume_with_force(c, v0, c->f, c->v);
  c->answered = true;
  ab_lever_apply(&s->lever[i], ab_volume_wrench_out(c, df), s->v);
  return change;
}

static double sweep(Sweep* s, bool backwards) {
  double change = 0;
  s->nfailed = 0;
  for (int k = 0; k < s->npair; k++) {
    double size = visit(s, s->pair[backwards ? s->npair - 1 - k : k]);
    if (size > change) change = size;
  }
  return change;
}

// --- an island
// -------------------------------------------------------------------------------------------------

typedef struct Outcome {
  int sweeps, nfailed;
  double change;
} Outcome;

// When an island is done: an impulse changes by no more than `small`, or `most` sweeps are over.
typedef struct Goal {
  double small;
  int most, accelerate;
} Goal;

// One sweep, back after forth; true if the island is done.
static bool sweep_once(Sweep* s, const Goal* goal, Outcome* out) {
  out->change = sweep(s, out->sweeps % 2 == 1);
  out->sweeps++;
  out->nfailed = s->nfailed;
  return out->change <= goal->small || out->sweeps >= goal->most;
}

typedef enum Progress { DONE, GIVEN_UP, NO_ROOM } Progress;

// Sweeps, each followed by a step of all contacts together, which is counted as a sweep.
static Progress solve_together(Sweep* s, const Goal* goal, Outcome* out) {
  abVolumeJoin join = {.problem = s->problem,
                       .contact = s->contact,
                       .lever = s->lever,
                       .npair = s->npair,
                       .nmover = s->nmover,
                       .pair = s->pair,
                       .mover = s->mover,
                       .block = s->block,
                       .dv = s->dv};
  if (sweep_once(s, goal, out)) return DONE;
  abStatus status = ab_volume_join_begin(&join, AB_VOLUME_JOIN_COST);
  if (status == AB_ERROR_MEMORY) return NO_ROOM;
  for (int k = 0; status == AB_OK && k < AB_VOLUME_JOINS && out->sweeps + 1 < goal->most; k++) {
    if (!ab_volume_join_step(&join, s->v)) break;
    out->sweeps++;
    s->still = AB_VOLUME_UNCHANGED * goal->small;
    if (sweep_once(s, goal, out)) return DONE;
  }
  return GIVEN_UP;
}

// The state of the iteration is the impulses; velocities follow from them linearly and go along.
static void copy_state(const Sweep* s, double* z, bool back) {
  for (int k = 0; k < s->npair; k++, z += 6) {
    double* f = s->contact[s->pair[k]].f;
    memcpy(back ? f : z, back ? z : f, 6 * sizeof(double));
  }
  for (int k = 0; k < s->nmover; k++) {
    const abMover* m = &s->problem->response->mover[s->mover[k]];
    double* v = s->v + m->dof0;
    memcpy(back ? v : z, back ? z : v, (size_t)m->ndof * sizeof(double));
    z += m->ndof;
  }
}

// Sweeps in pairs, accelerated after each.
static Progress solve_by_history(Sweep* s, const Goal* goal, Outcome* out) {
  int nresidual = 6 * s->npair, nstate = nresidual;
  for (int k = 0; k < s->nmover; k++) nstate += s->problem->response->mover[s->mover[k]].ndof;
  abArena* scratch = s->problem->scratch;
  double* z = AB_TAKE(scratch, double, nstate);
  double* r = AB_TAKE(scratch, double, nstate);
  abAccelerate accelerate;
  if (!z || !r || !ab_accelerate_begin(&accelerate, nresidual, nstate, scratch)) return NO_ROOM;
  double last = INFINITY;
  for (;;) {
    copy_state(s, r, false);
    s->nchange = 0;
    for (int k = 0; k < 2; k++)
      if (sweep_once(s, goal, out)) return DONE;
    copy_state(s, z, false);
    double size = 0;
    for (int i = 0; i < nresidual; i++) r[i] = z[i] - r[i], size += r[i] * r[i];
    // A new mode, or ten times the residual: what was learned before does not hold here. A smaller
    // rise is no reason to forget: sweeps alone may diverge where friction couples contacts.
    if (s->nchange > 0 || size > 100 * last) ab_accelerate_forget(&accelerate);
    last = size;
    // What has not converged by then ends with plain sweeps: an extrapolation may leave a cone.
    if (4 * out->sweeps > 3 * goal->most) continue;
    ab_accelerate_step(&accelerate, r, z);
    copy_state(s, z, true);
  }
}

// False if the arena is full.
static bool solve_island(Sweep* s, const abIslands* islands, int island, const Goal* goal,
                         Outcome* out) {
  s->npair = islands->pair_start[island + 1] - islands->pair_start[island];
  s->pair = islands->pair + islands->pair_start[island];
  s->nmover = islands->mover_start[island + 1] - islands->mover_start[island];
  s->mover = islands->mover + islands->mover_start[island];
  s->still = 0;
  *out = (Outcome){.change = INFINITY};
  Progress progress = GIVEN_UP;
  if (goal->accelerate > 1 && s->npair > 1) progress = solve_together(s, goal, out);
  s->still = 0;
  if (progress == GIVEN_UP && goal->accelerate > 0) progress = solve_by_history(s, goal, out);
  if (progress == GIVEN_UP)
    while (!sweep_once(s, goal, out)) continue;
  return progress != NO_ROOM;
}

// --- the step
// -------------------------------------------------------------------------------------------------

static bool prepare(Sweep* s) {
  const abContactProblem* problem = s->problem;
  size_t n = (size_t)problem->npair, ndof = (size_t)problem->response->ndof;
  abArena* scratch = problem->scratch;
  s->contact = AB_TAKE(scratch, abVolumeContact, n);
  s->lever = AB_TAKE(scratch, abLever, n);
  s->nrelease = AB_TAKE(scratch, int, n);
  s->v = AB_TAKE(scratch, double, ndof);
  s->block = AB_TAKE(scratch, int, problem->response->nmover);
  s->dv = AB_TAKE(scratch, double, ndof);
  if (!s->contact || !s->lever || !s->nrelease || !s->v || !s->block || !s->dv) return false;
  memset(s->nrelease, 0, n * sizeof(int));
  memcpy(s->v, problem->v_free, sizeof(double) * ndof);
  for (size_t i = 0; i < n; i++) {
    const abPair* pair = &problem->pair[i];
    abVolumeContact* c = &s->contact[i];
    ab_volume_prepare(problem, pair, s->option, c);
    if (!c->active) continue;
    ab_volume_prepare_stick(c);
    ab_lever_make(problem, pair, pair->patch.center, &s->lever[i]);
    if (s->variant != 0) continue;
    ab_volume_recall(c);
    s->nrelease[i] = c->slid ? AB_VOLUME_RELEASES : 0;
    ab_lever_apply(&s->lever[i], ab_volume_wrench_out(c, c->f), s->v);
  }
  return true;
}

// False if the arena is full.
static bool solve_islands(Sweep* s, Outcome* worst) {
  const double* p = s->problem->param;
  const Goal goal = {.small = p[PGS_TOLERANCE] * s->option->scale,
                     .most = (int)p[PGS_SWEEPS],
                     .accelerate = s->variant == 0 ? (int)p[PGS_ACCELERATE] : 0};
  abIslands islands;
  if (!ab_volume_islands(s->problem, &islands)) return false;
  *worst = (Outcome){0};
  for (int i = 0; i < islands.n; i++) {
    Outcome out;
    if (!solve_island(s, &islands, i, &goal, &out)) return false;
    if (out.sweeps > worst->sweeps) worst->sweeps = out.sweeps;
    worst->change = fmax(worst->change, out.change);
    worst->nfailed += out.nfailed;
  }
  return true;
}

static void solve(const abContactProblem* problem, abContactSolution* solution) {
  const double* p = problem->param;
  abVolumeOption option = {.k = p[PGS_RATE] / problem->h,
                           .r_normal = p[PGS_R_NORMAL],
                           .r_tangent = p[PGS_R_TANGENT],
                           .small = 0.1 * p[PGS_TOLERANCE],
                           .npyramid = (int)p[PGS_PYRAMID]};
  Sweep s = {.problem = problem, .option = &option, .variant = (int)p[PGS_VARIANT]};
  Outcome worst;
  if (!ab_volume_begin(problem, &option) || !prepare(&s) || !solve_islands(&s, &worst)) {
    solution->status = AB_STEP_BROKEN;
    return;
  }
  for (int i = 0; i < problem->npair; i++) {
    ab_volume_remember(&s.contact[i]);
    ab_volume_report(problem, &s.contact[i], s.v, &solution->pair[i]);
  }
  solution->iterations = worst.sweeps;
  solution->residual = option.scale > 0 ? worst.change / option.scale : 0;
  solution->nregularised = worst.nfailed;
  bool solved = worst.change <= p[PGS_TOLERANCE] * option.scale && worst.nfailed == 0;
  solution->status = solved ? AB_STEP_OK : AB_STEP_UNCONVERGED;
}

static size_t memory_bytes(const double* p) {
  (void)p;
  return sizeof(abVolumeMemory);
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
