// The model `patch`: a unilateral spring, damper and Coulomb friction spread over the contact area,
// taken implicitly; one convex problem per step and island.
//
// Where it comes from. Hasegawa & Sato (2004) spread a penalty spring, damper and friction over the
// overlap's projection; Wakisaka & Sugihara (2017) ask for velocities over the same area instead of
// forces; Zhang, Wakisaka & Sugihara solve patch by patch. Here the forces are Hasegawa's, the step
// is implicit, so that they can be as stiff as wanted, and the unknowns are velocities.
//
// Symbols. A patch has the plane coordinates r = (x, y) about its centre, area S, normal n from
// body 2 to body 1, thickness h(r) = h0 + hx x + hy y. V = (V_1, V_2, V_n, W_1, W_2, W_n) is the
// relative twist of body 1 against body 2 at the centre at the END of the step, in the axes (t1,
// t2, n); u(r) = V_n + W_1 y - W_2 x its normal, s(r) = (V_1 - W_n y, V_2 + W_n x) its tangential
// velocity at r. dt is the step (`h` in the code), M the inertia of all movers, v their velocities,
// J v = V.
//
//   minimise over v   1/2 (v - v_free)^T M (v - v_free) + sum over patches and points q of
//                     w_q [ (W/2) max(0, v*_q - u_q)^2 + Huber(|s_q + k b_q|; limit mu sigma_q) ]
//
// Minus the gradient of a patch's part is its impulse: pressure impulse sigma_q = W max(0, v*_q -
// u_q) and friction -mu sigma_q (s_q + k b_q) / max(|s_q + k b_q|, s_y), s_y = mu N / (W_t S).
//
// 1 The sum over points stands for an integral over the area. That of the pressure is exact, with a
//   share of it on the border; friction is a sum over the points of a rule (quadrature.c), with
//   closed forms where the whole patch sticks, as at rest it does: patch_law.c.
// 2 Target v*_q = min( k (h_q - delta), (h_q - delta) / dt ): depth beyond the slop delta is taken
//   back at the rate k = recovery / dt, but not by more than a step of free fall; a patch less deep
//   may close until it has the slop's depth. delta = slop g dt^2, so that a patch at rest stays
//   whole, but at most a hundredth of the thinner body. With restitution e, v*_q is e
//   times the approach, lowered so that no energy is gained (patch_setup.c).
// 3 Stiffness in the kinetic metric: W = stiffness m / S with m the effective mass along n, times
//   the load carried in units of m g dt where that is more than one. So nothing depends on units,
//   and a patch that carries a thousand times its own bodies' weight gives way no more than one
//   that carries itself: this is what lets a heavy body rest on a light one, and keeps towers
//   straight. At rest a single body lies delta + g dt^2 / (recovery stiffness) deep.
// 4 Sticking without creep: b(r) = r_b + theta_b n x r is a rigid displacement of the patch (the
//   bristle), which takes up all relative motion, b += dt V, and carries the friction at rest.
//   Under a load inside the limit surface V falls by the factor 1 - recovery every step, to zero.
//   Where part of the patch is saturated the law is that of total deformation (Hencky): every load
//   inside the limit surface has its b at V = 0. An incremental law, refitting b whenever some
//   point slips, creeps. The bristle is bounded in length (AB_PATCH_BRISTLE), and in a patch that
//   slides to where friction has just become full.
// 5 The slope of friction is proportional to the pressure's distribution, so that all points
//   saturate together in translation. The distribution is that of the last step (in sliding
//   patches: of this one), the load N that of this step: sticking friction then depends on V alone,
//   and the passes that make N consistent have little to do.
// 6 mu_static while the patch sticks, mu_kinetic from when more than half of its load moves faster
//   than AB_PATCH_SLIDING s_y, until less than half does.
//
// Solving. Islands are solved one by one, in parallel: by Newton's method with the block-sparse
// factorisation (patch_newton.c), in large islands begun with full steps linearised where each
// contact alone would go, or by block Gauss-Seidel with momentum (patch_sweep.c): solve_one
// below decides. A single large island has all threads for its loops over contacts. Impulses handed
// out always belong exactly to the velocities they cause: action equals reaction to rounding,
// whatever is left as residual. The residual of Newton's method is one of forces, that of the
// sweeps one of velocities, in the same units of g h: a velocity wrong by the tolerance means a
// force wrong by up to `stiffness` times as much by the law, but by no more than the tolerance in
// what moves the bodies.
//
// Limits. The Coulomb bound is a fixed point (passes), not part of the convex problem; with strong
// coupling of friction and pressure it may swing and then ends as UNCONVERGED. In islands of more
// than AB_PATCH_LARGE contacts, and in the sweeps, there is one pass: the bound is the load of the
// step before, which at rest is the same; where bodies strike there are a few. The residual is that
// of the problem with the bound used. Friction is isotropic (e_t, e_o are not used) and its torque
// follows from the area (e_r is not used). Large islands in which bodies strike are left to the
// sweeps, whose steps mostly end UNCONVERGED.
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "contact/patch.h"
#include "math/spatial.h"

static const abParam params[AB_PATCH_NPARAM] = {
    [AB_PATCH_TOLERANCE] = {"tolerance", 1e-5, "1",
                            "scaled residual at which a step counts as solved"},
    [AB_PATCH_STIFFNESS] =
        {"stiffness", 5e3, "1",
         "normal stiffness of a patch against a velocity, in units of its effective mass"},
    [AB_PATCH_FRICTION_STIFFNESS] = {"friction_stiffness", 1e3, "1",
                                     "the same for sticking friction"},
    [AB_PATCH_RECOVERY] = {"recovery", 0.2, "1", "share of the excess depth taken back in a step"},
    [AB_PATCH_SLOP] = {"slop", 2, "g h^2",
                       "depth at rest (at most a hundredth of the thinner body)"},
    [AB_PATCH_ITERATIONS] = {"iterations", 60, "1", "most Newton steps"},
    [AB_PATCH_DIRECT_LIMIT] = {"direct_limit", 1e9, "flop",
                               "largest factorisation; beyond it islands are solved by sweeps"},
    [AB_PATCH_SWEEPS] = {"sweeps", 16, "1", "most sweeps over a large island"},
    [AB_PATCH_SWEEP_TOLERANCE] = {"sweep_tolerance", 3e-4, "g h",
                                  "change of velocity in a sweep at which sweeps stop"},
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

typedef struct Remembering {
  const abPatchIsland* island;
  abContactSolution* solution;
} Remembering;

// Two ways to solve an island. Newton's method gets to the end, and where nothing much happens it
// is there in a few iterations, at rest in none. Where bodies strike, every patch that slips or
// opens shortens its steps for all the others; in a large island sweeps then do better, which
// settle such things where they happen.
//
// After a failure Newton's method is not tried again for this many steps.
enum { NEWTON_WAIT = 16 };

static bool solved(const abPatchIsland* island) {
  return island->residual <= island->system->param[AB_PATCH_TOLERANCE];
}

static int wait_for_newton(const abPatchIsland* island) {
  int wait = 0;
  for (int i = 0; i < island->ncontact; i++)
    if (island->contact[i]->newton_wait > wait) wait = island->contact[i]->newton_wait;
  return wait;
}

static bool is_large(const abPatchIsland* island) { return island->ncontact > AB_PATCH_LARGE; }

static abStatus solve_one(abPatchIsland* island) {
  bool large = is_large(island);
  ab_patch_release(island);  // it was solved before: see below
  if (!large) ab_patch_wake_all(island);
  island->departure = ab_patch_departure(island);
  int wait = wait_for_newton(island);
  island->loads_follow = island->state_is_now = false;
  island->newton_wait = wait > 0 ? wait - 1 : 0;
  if (!large || (wait == 0 && island->departure <= AB_PATCH_CALM)) {
    abStatus status = ab_patch_newton(island);
    if (status != AB_OK || solved(island)) return status;
    if (large) island->newton_wait = NEWTON_WAIT;
  }
  return ab_patch_sweep(island);
}

// Restitution of the normal velocity with friction can gain energy where the two are coupled
// (Kane's paradox): then the rebound is lowered until it does not.
enum { MOST_LOWERED = 8 };

static abStatus solve_without_gain(abPatchIsland* island) {
  bool rebounds = false;
  for (int i = 0; i < island->ncontact; i++) rebounds |= island->contact[i]->rebounds;
  abStatus status = solve_one(island);
  for (int i = 0; i < MOST_LOWERED && rebounds && status == AB_OK; i++) {
    if (!(ab_patch_work(island) > 1e-12)) break;  // with e = 1 it is zero but for rounding
    ab_patch_lower_rebound(island);
    status = solve_one(island);
  }
  return status;
}

static void remember_chunk(void* context, int chunk, int worker) {
  (void)worker;
  const Remembering* r = context;
  int first = chunk * AB_PATCH_CHUNK, last = first + AB_PATCH_CHUNK;
  for (int i = first; i < last && i < r->island->ncontact; i++) {
    abPatchContact* c = r->island->contact[i];
    if (ab_patch_idles(r->island, c)) continue;
    if (c->still && ab_patch_stay(r->island->system, c)) continue;
    ab_patch_remember(r->island, c, &r->solution->pair[c->pair]);
    ab_patch_rest(r->island, c);
  }
}

static abStatus solve_and_remember(const Job* job, abPatchIsland* island, abArena* scratch) {
  abArenaMark mark = ab_arena_mark(scratch);
  if (ab_patch_open(island, scratch) != AB_OK) return AB_ERROR_MEMORY;
  ab_patch_find_blocks(island);
  ab_patch_momenta(island);
  island->residual = INFINITY;
  abStatus status = solve_without_gain(island);
  Remembering remembering = {island, job->solution};
  ab_pool_run(island->pool, ab_patch_chunks(island->ncontact), remember_chunk, &remembering);
  ab_patch_owe(island);
  ab_arena_release(scratch, mark);
  return status;
}

static void solve_island(void* context, int i, int worker) {
  Job* job = context;
  abArena* own = job->problem->pool ? ab_pool_scratch(job->problem->pool, worker) : NULL;
  if (i == job->alone) return;
  job->status[i] = solve_and_remember(job, &job->island[i], own ? own : job->problem->scratch);
}

// With fewer contacts, waking the threads for a loop takes longer than the loop.
enum { WORTH_SHARING = 1024 };

// Islands go to the threads one by one, but a single large one has them all for itself.
static void solve_islands(Job* job, int n) {
  const abContactProblem* problem = job->problem;
  int nlarge = 0;
  for (int i = 0; i < n; i++)
    if (is_large(&job->island[i])) nlarge++, job->alone = i;
  if (nlarge != 1) job->alone = -1;
  ab_pool_run(problem->pool, n, solve_island, job);
  if (job->alone < 0) return;
  abPatchIsland* island = &job->island[job->alone];
  island->pool = island->ncontact > WORTH_SHARING ? problem->pool : NULL;
  job->status[job->alone] = solve_and_remember(job, island, problem->scratch);
}

static void tell_velocities(const abContactProblem* problem, int n, const abPatchIsland* island,
                            abContactSolution* solution) {
  const abResponse* r = problem->response;
  memcpy(solution->v, problem->v_free, sizeof(double) * (size_t)r->ndof);
  for (int i = 0; i < n; i++)
    for (int b = 0; b < island[i].nblock; b++)
      memcpy(solution->v + r->mover[island[i].mover[b]].dof0, island[i].v + island[i].offset[b],
             sizeof(double) * (size_t)island[i].size[b]);
  solution->v_known = true;
}

static abStatus solve_all(const abContactProblem* problem, abContactSolution* solution) {
  abArena* arena = problem->scratch;
  abPatchSystem system;
  for (int i = 0; i < problem->npair; i++) {
    if (problem->still && problem->still[i] > 0) continue;
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
  ab_patch_cache_share(problem, n, job.island);
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
    .geometry = AB_GEOMETRY_VOLUME,
    .margin = 4,  // twice the rest depth: what touches is seen before it has fallen that far
    .moves_bodies = false,
    .nparam = AB_PATCH_NPARAM,
    .param = params,
    .memory_bytes = memory_bytes,
    .solve = solve,
};
