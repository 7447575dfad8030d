// The model `patch`: a unilateral spring, damper and Coulomb friction spread over the contact area,
// taken implicitly; one problem per step and island, together with the laws of its joints.
//
// Where it comes from. Hasegawa & Sato (2004) spread a penalty spring, damper and friction over the
// overlap's projection; Wakisaka & Sugihara (2017) ask for velocities over the same area instead of
// forces; Zhang, Wakisaka & Sugihara solve patch by patch. Here the forces are Hasegawa's, the step
// is implicit, so that they can be as stiff as wanted, and the unknowns are velocities.
//
// Symbols. A patch (collide/touch/touch.c) has the plane coordinates r = (x, y) about its centre,
// normal n from body 2 to body 1, thickness t(r) = h0 + hx x + hy y, negative where there is a gap,
// and corners c. V = (V_1, V_2, V_n, W_1, W_2, W_n) is the relative twist of body 1 against body 2
// at the centre at the END of the step, in the axes (t1, t2, n); u(r) = V_n + W_1 y - W_2 x its
// normal, s(r) = (V_1 - W_n y, V_2 + W_n x) its tangential velocity at r. dt is the step (`h` in
// the code), M the inertia of all movers, v their velocities, V = J v + drift.
//
//   minimise over v   1/2 (v - v_free)^T M (v - v_free)
//                     + sum over patches of   sum over corners of (W_c / 2) max(0, v*_c - u_c)^2
//                                           + integral of Huber(|s + k b|; limit mu p(r))
//                     + sum over rows of psi(s . v),   psi' = -clamp(w (v* - s . v), low, high)
//
// Minus the gradient of a patch's part is its impulse: W_c max(0, v*_c - u_c) at each corner, N in
// all, and friction -mu p (s + k b) / max(|s + k b|, s_y) at each point, s_y = mu N / W_t. Rows are
// joint limits, dry friction and servos with a limited force (abRow).
//
// 1 Thickness and motion are affine, so bodies stay apart where they do at the corners. Rigid
// bodies
//   leave open how the pressure p is spread; of its sum N and of where it acts, which mechanics
//   fixes, friction feels the distribution without tension: affine where it is positive (area.c).
//   The integral has closed forms (law.c).
// 2 Target v*_c = min( k t_c, t_c / dt ): a gap may close, depth is taken back at the rate k =
//   recovery / dt, but slowly (limit_recovery in setup.c). Bodies at rest lie g dt^2 /
//   (recovery stiffness) deep: 1e-8 m at 1 ms. An impact is each corner's own: with restitution e,
//   v*_c is the velocity at the end of the step after all the flights that fall into it; corners
//   that do not strike are only kept out; and the coordinates move as if the impulse had acted at
//   its time, with the levers of that time. Two free bodies that meet without restitution stop in
//   the same way at the moment at which they meet (rebound.c).
// 3 Stiffness in the kinetic metric: W = stiffness m with m the effective mass along n, times the
//   load carried in units of m g dt where that is more than one. So nothing depends on units,
//   and a patch that carries a thousand times its own bodies' weight gives way no more than one
//   that carries itself: this is what lets a heavy body rest on a light one, and keeps towers
//   straight. A load that comes in this step counts in this step: where the solution bears much
//   more than its stiffness was made for, the step is solved once more (ab_patch_stiffen).
// 4 Sticking is a position: b(r) = r_b + theta_b n x r is a rigid displacement of the patch (the
//   bristle), which takes up all relative motion, and carries the friction at rest. The patch's
//   centre is remembered in the frames of both bodies; what lies between the two a step later is
//   what the bristle takes up. Under a load inside the limit surface V falls by the factor 1 -
//   recovery every step, to zero. Where part of the patch is saturated the law is that of total
//   deformation (Hencky): every load inside the limit surface has its b at V = 0. The bristle is
//   bounded in length (AB_PATCH_BRISTLE), and in a patch that slides to where friction has just
//   become full.
// 5 Drift. J v is the velocity at the start's configuration; whatever is carried round a corner
//   also moves by r w^2 dt^2 / 2. What the last step moved beyond dt J v, per dt, is added to V:
//   the law then sees displacements. Where the patch goes over a body, that is the way of ever new
//   points (rolled in recall.c). Of what rolls the geometry itself tells the drift: by how much the
//   motion closes the gap, and carries the points of contact along, beyond first order (`closes`
//   and `slides` of abPatch, touch/round.c). Together with points, normal and gap of the step's
//   beginning a rolling body is then moved as by the leapfrog method: forces act between two
//   velocities that are half a step before and after them, and the energy does not drift.
// 6 Where friction acts is, in a patch that slides, where the pressure of this step does, in one
// that
//   sticks where it did in the last steps; the load N is always that of this step.
// 7 mu_kinetic for a patch that slid at the end of the last step (more than half of its load faster
//   than AB_PATCH_SLIDING s_y), or, of a new one, when this step began; mu_static else.
// 8 Second order. Coordinates move along v + shift: free flight by the mean of the velocities
// before
//   and after, exact under gravity, and bodies on faces likewise in the directions that their
//   contacts leave free (shift.c). A straight slide is then exact.
// 9 Landing on a face. A block that turns about an edge until its face strikes, a share f of the
//   step after its start, is borne by that edge until then, though it leaves the floor there in the
//   same step. The law knows only the step's end. What the edge has borne in the last step is given
//   to it for that share of this one, whatever the law adds (impact.c).
//
// 10 No step adds energy: where the depth that is taken back in an island would, all of it is taken
//   back more slowly, in the next step, too, and rebounds are lowered (gain.c).
//
// Solving. Islands are solved one by one, in parallel, by Newton's method with the block-sparse
// factorisation: solve.c. Impulses handed out always belong exactly to the velocities they
// cause: action equals reaction to rounding, whatever is left as residual. The residual is that of
// the force balance with the law at the velocities found, relative to the impulses on a body and
// its weight during the step, and of the load that bounds friction against the normal impulse.
//
// Limits. Friction is isotropic (e_t, e_o are not used) and its torque follows from the area (e_r
// is not used). An island whose factorisation would cost more than `direct_limit` breaks the step.
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "contact/patch/patch.h"
#include "math/spatial.h"

static const abParam params[AB_PATCH_NPARAM] = {
    [AB_PATCH_TOLERANCE] = {"tolerance", 1e-5, "1",
                            "scaled residual at which a step counts as solved"},
    [AB_PATCH_STIFFNESS] =
        {"stiffness", 5e3, "1",
         "normal stiffness of a patch against a velocity, in units of its effective mass"},
    [AB_PATCH_FRICTION_STIFFNESS] = {"friction_stiffness", 1e3, "1",
                                     "the same for sticking friction"},
    [AB_PATCH_RECOVERY] = {"recovery", 0.2, "1", "share of a depth taken back in a step"},
    [AB_PATCH_ITERATIONS] = {"iterations", 100, "1", "most Newton steps"},
    [AB_PATCH_DIRECT_LIMIT] = {"direct_limit", 1e10, "flop",
                               "largest factorisation; beyond it the step breaks down"},
};

static size_t memory_bytes(const double* param) {
  (void)param;
  return sizeof(abPatchMemory);
}

typedef struct Job {
  abPatchIsland* island;
  abStatus* status;
  const abContactProblem* problem;
  abContactSolution* solution;
  int alone;  // the island that is solved after the others, -1: none
} Job;

static abStatus begin(abPatchIsland* island) {
  ab_patch_give(island);
  ab_patch_momenta(island);
  abStatus status = ab_patch_turn_rows(island);
  ab_patch_join_start(island);
  ab_patch_set_twists(island);
  island->departure = ab_patch_departure(island);
  return status;
}

// Where the stiffer problem cannot be solved, depth is the lesser evil.
static abStatus solve_with_loads(abPatchIsland* island) {
  double tolerance = island->system->param[AB_PATCH_TOLERANCE];
  abStatus status = ab_patch_solve(island);
  if (status == AB_OK && ab_patch_stiffen(island)) status = ab_patch_solve(island);
  if (status != AB_OK || island->residual <= tolerance || island->soft) return status;
  ab_patch_soften(island);
  ab_patch_begin_anew(island);
  return ab_patch_solve(island);
}

// See gain.c. What is not solved says nothing of energy.
static abStatus solve_with_less(abPatchIsland* island, int rounds, bool only_rebounds) {
  double tolerance = island->system->param[AB_PATCH_TOLERANCE];
  abStatus status = solve_with_loads(island);
  for (int i = 0; i < rounds && status == AB_OK; i++) {
    if (island->residual > tolerance || !ab_patch_ask_for_less(island, only_rebounds)) break;
    status = ab_patch_solve(island);
  }
  return status;
}

// In islands with joints only rebounds are lowered: what joints do to the energy is not known.
// Where a rebound gains however low it is, moving the coordinates back in time is the cause.
static abStatus solve_without_gain(abPatchIsland* island) {
  bool rebounds = false, jointed = island->njoin > 0;
  for (int i = 0; i < island->ncontact; i++) rebounds |= island->contact[i]->rebounds;
  for (int b = 0; b < island->nblock; b++) jointed |= island->inertia[b] != NULL;
  int rounds = rebounds ? AB_PATCH_MOST_LOWERED : jointed ? 0 : AB_PATCH_MOST_SLOWED;
  abStatus status = solve_with_less(island, rounds, jointed);
  if (status != AB_OK || !rebounds || !ab_patch_gains(island) || !ab_patch_act_at_once(island))
    return status;
  return solve_with_less(island, rounds, jointed);
}

// Overlaps that contradict each other, say of a body between two walls that are too near: neither
// is taken back, and what each asks for, times its stiffness, would be the force. Who presses more
// than a thousand times what would move its own bodies so asks for too much and rests as it is.
static bool let_rest(abPatchIsland* island) {
  bool any = false;
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    double wanted = fmin(c->law.target[0][0], c->law.target[1][0]);
    if (c->held || c->rebounds || c->rest > 0 || !(wanted > 0)) continue;
    double speed = wanted + c->unit + ab_patch_speed(c, c->start);
    if (!(c->impulse[2] > AB_PATCH_TOO_MUCH * c->mass * speed)) continue;
    const abPatch* p = &island->system->problem->pair[c->pair].patch;
    c->rest = p->depth;
    c->rests[0] = p->h0, c->rests[1] = p->hx, c->rests[2] = p->hy;
    memset(c->law.target, 0, sizeof c->law.target);
    ab_patch_set_aims(&c->law);
    any = true;
  }
  for (int i = 0; i < island->ncontact && any; i++)
    memset(island->contact[i]->impulse, 0, sizeof island->contact[i]->impulse);
  return any;
}

static abStatus solve_possible(abPatchIsland* island) {
  abStatus status = solve_without_gain(island);
  if (status != AB_OK || !let_rest(island)) return status;
  ab_patch_momenta(island);
  ab_patch_set_twists(island);
  return solve_without_gain(island);
}

static abStatus solve_and_remember(const Job* job, abPatchIsland* island, abArena* scratch) {
  abArenaMark mark = ab_arena_mark(scratch);
  island->scratch = scratch;
  abStatus status = begin(island);
  if (status == AB_OK) status = solve_possible(island);
  for (int i = 0; i < island->ncontact; i++)
    ab_patch_remember(island, island->contact[i], &job->solution->pair[island->contact[i]->pair]);
  ab_arena_release(scratch, mark);
  return status;
}

static void solve_island(void* context, int i, int worker) {
  Job* job = context;
  abArena* own = job->problem->pool ? ab_pool_scratch(job->problem->pool, worker) : NULL;
  if (i == job->alone) return;
  job->status[i] = solve_and_remember(job, &job->island[i], own ? own : job->problem->scratch);
}

// Islands go to the threads one by one, but a single large one has them all for itself.
static void solve_islands(Job* job, int n) {
  const abContactProblem* problem = job->problem;
  int nlarge = 0;
  for (int i = 0; i < n; i++)
    if (job->island[i].ncontact > AB_PATCH_LARGE) nlarge++, job->alone = i;
  if (nlarge != 1) job->alone = -1;
  ab_pool_run(problem->pool, n, solve_island, job);
  if (job->alone < 0) return;
  abPatchIsland* island = &job->island[job->alone];
  island->pool = island->ncontact > AB_PATCH_WORTH_SHARING ? problem->pool : NULL;
  job->status[job->alone] = solve_and_remember(job, island, problem->scratch);
}

static void spread(const abResponse* r, const abPatchIsland* island, const double* from,
                   double* to) {
  for (int b = 0; b < island->nblock; b++)
    memcpy(to + r->mover[island->mover[b]].dof0, from + island->offset[b],
           sizeof(double) * (size_t)island->size[b]);
}

// Bodies without contact fly: under gravity alone the mean of the velocities before and after is
// the exact motion. Where somebody pushes, the push may be that of a spring, which the mean would
// feed: then the velocity at the end moves the body, as everywhere else.
static void shift_free_flight(const abContactProblem* problem, abContactSolution* solution) {
  const abResponse* r = problem->response;
  for (int m = 0; m < r->nmover; m++) {
    if (r->mover[m].jointed) continue;
    const abContactBody* b = &problem->body[r->mover[m].body0];
    abVec3 fall = v3_scale(problem->h, b->gravity);
    abVec3 other = v3_sub(v3_sub(b->twist_free.lin, b->twist.lin), fall);
    double rounding = 1e-9 * v3_norm(fall) + 1e-14 * v3_norm(b->twist.lin);
    if (v3_norm(other) > rounding) continue;
    double* shift = solution->shift + r->mover[m].dof0;
    shift[0] = -0.5 * fall.x, shift[1] = -0.5 * fall.y, shift[2] = -0.5 * fall.z;
  }
}

static void tell_velocities(const abContactProblem* problem, int n, const abPatchIsland* island,
                            abContactSolution* solution) {
  const abResponse* r = problem->response;
  memcpy(solution->v, problem->v_free, sizeof(double) * (size_t)r->ndof);
  if (solution->shift) shift_free_flight(problem, solution);
  for (int i = 0; i < n; i++) {
    spread(r, &island[i], island[i].v, solution->v);
    if (solution->shift) spread(r, &island[i], island[i].shift, solution->shift);
  }
  solution->v_known = true;
}

static abStatus solve_all(const abContactProblem* problem, abContactSolution* solution) {
  abArena* arena = problem->scratch;
  abPatchSystem system;
  for (int i = 0; i < problem->npair; i++) {
    solution->pair[i].pressure = AB_TAKE(arena, double, problem->pair[i].patch.nvert);
    if (!solution->pair[i].pressure) return AB_ERROR_MEMORY;
    memset((double*)solution->pair[i].pressure, 0,
           sizeof(double) * (size_t)problem->pair[i].patch.nvert);
  }
  abArenaMark mark = ab_arena_mark(arena);
  if (ab_patch_setup(problem, &system) != AB_OK) return AB_ERROR_MEMORY;
  int n = system.islands.n;
  Job job = {.island = AB_TAKE(arena, abPatchIsland, n),
             .status = AB_TAKE(arena, abStatus, n),
             .problem = problem,
             .solution = solution};
  if (!job.island || !job.status) return AB_ERROR_MEMORY;
  for (int i = 0; i < n; i++)
    if (ab_patch_island(&system, i, &job.island[i]) != AB_OK) return AB_ERROR_MEMORY;
  solve_islands(&job, n);
  if (solution->v) tell_velocities(problem, n, job.island, solution);
  for (int i = 0; i < n; i++) {
    if (job.status[i] != AB_OK) return job.status[i];
    solution->iterations += job.island[i].iterations;
    solution->nregularised += job.island[i].nregularised;
    if (!(job.island[i].residual <= solution->residual))
      solution->residual = job.island[i].residual;
  }
  ab_arena_release(arena, mark);
  return AB_OK;
}

static void solve(const abContactProblem* problem, abContactSolution* solution) {
  solution->status = AB_STEP_OK;
  if (solve_all(problem, solution) != AB_OK || !isfinite(solution->residual))
    solution->status = AB_STEP_BROKEN;
  else if (solution->residual > problem->param[AB_PATCH_TOLERANCE])
    solution->status = AB_STEP_UNCONVERGED;
}

const abContactModel ab_model_patch = {
    .name = "patch",
    .source = "abut (after Hasegawa & Sato 2004, Wakisaka & Sugihara 2017)",
    .summary = "implicit pressure and friction spread over the contact area, true sticking",
    .geometry = AB_GEOMETRY_TOUCH,
    .moves_bodies = false,
    .takes_rows = true,
    .nparam = AB_PATCH_NPARAM,
    .param = params,
    .memory_bytes = memory_bytes,
    .solve = solve,
};
