// Newton's method on one island, with the bound of friction followed inside the linear problem.
//
// Unknowns are the velocities v and the loads l that bound the friction of each contact. For fixed
// loads the problem is convex. Invariant: v = v_free + M^-1 sum J^T impulse. A Newton step d solves
//
//   (M + sum J^T G J) d = -gradient,    gradient = M (v - v_free) - sum J^T answer,
//
// so the linearised impulses `answer - G J d` belong to the velocities v + d exactly, and a
// shortened step a d belongs to impulse + a (answer - G J d - impulse). The stiff law is never
// evaluated to produce an impulse that is handed out: momentum is right even where the iteration
// was stopped.
//
// Coulomb's coupling. Friction is homogeneous of degree one in (s, l), s the slip with the bristle:
// f_t(s, l) = s df/ds + l df/dl, hence its rate with the load is (f_t + G_t s) / l, zero where it
// sticks, f_t / l where it slips. After each linear solve the normal impulse of the step, N =
// (answer - G J d)_n, becomes the load, friction changes by rate (N - l), and d by one more
// substitution with the factors at hand. The matrix is positive definite whatever the loads, so d
// descends. Of a step that is shortened the loads change by the same share: they belong to d as the
// velocities do, and loads of a step that is not taken throw the whole island back. Where d goes
// uphill at once with its loads, the next step leaves them as they are, which always descends; but
// where the forces are balanced only other loads lead on, and they change nonetheless. As soon as
// the loads are right to AB_PATCH_GAP they are frozen, and the end is convex.
//
// The first iterations are full steps, with the law linearised where each contact alone would go
// (alone.c); then the steps are those of Newton's method with an exact line search.
// Tests: test_patch_newton, test_patch_stack.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "base/simd.h"
#include "contact/patch/newton.h"
#include "math/spatial.h"

static bool has_joints(const abPatchIsland* island) {
  for (int b = 0; b < island->nblock; b++)
    if (island->inertia[b]) return true;
  return false;
}

// The contacts that are to be solved each alone (alone.c) need all of their bodies' response.
static void find_mobilities(const abPatchIsland* island) {
  const abResponse* r = island->system->problem->response;
  for (int i = 0; i < island->ncontact; i++)
    for (int k = 0; k < 2; k++) {
      const abPatchSide* side = &island->contact[i]->side[k];
      abPatchBranch* b = side->branch;
      if (!b || b->known) continue;
      ab_response_block(r, side->body, side->body, &b->mobility);
      b->known = true;
    }
}

static abStatus take_work(abPatchIsland* island, abPatchWork* w) {
  abStatus status = ab_patch_matrix(island, &w->matrix);
  if (status != AB_OK) return status;
  w->load_step = AB_TAKE(island->scratch, double, island->ndof);
  w->change = AB_TAKE(island->scratch, double, 3 * island->ncontact);
  w->bent = AB_TAKE(island->scratch, abPatchContact*, island->ncontact);
  w->bent_row = AB_TAKE(island->scratch, abPatchRow*, island->nrow);
  w->bent_join = AB_TAKE(island->scratch, abPatchJoin*, island->njoin);
  return w->load_step && w->change && w->bent && w->bent_row && w->bent_join ? AB_OK
                                                                             : AB_ERROR_MEMORY;
}

// --- steps

static void evaluate_chunk(void* context, int chunk, int worker) {
  (void)worker;
  const abPatchIsland* island = context;
  int first = chunk * AB_PATCH_CHUNK, last = first + AB_PATCH_CHUNK;
  for (int i = first; i < last && i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    bool known = c->known && memcmp(c->X, c->V, sizeof c->X) == 0;  // by the line search
    memcpy(c->X, c->V, sizeof c->X);
    if (!known) c->X_linear = ab_patch_evaluate(&c->law, c->X, c->X_f, &c->X_G);
    c->X_load = c->law.load;
    c->known = false;
    c->linear = c->X_linear;
    memcpy(c->answer, c->X_f, sizeof c->answer);
    c->G = c->X_G;
    if (!c->linear) ab_patch_mix_slack(&c->G, ab_patch_trust(c, c->answer, c->impulse));
  }
}

// The law at V.
void ab_patch_evaluate_all(abPatchIsland* island) {
  ab_pool_run(island->pool, ab_patch_chunks(island->ncontact), evaluate_chunk, island);
}

// The step d from gradient, answer and G. False if it is not finite.
bool ab_patch_find_direction(abPatchIsland* island, abPatchWork* w) {
  ab_patch_factor(island, &w->matrix);
  for (int i = 0; i < island->ndof; i++) island->direction[i] = -island->gradient[i];
  ab_patch_back(&w->matrix, island->direction);
  double sum = 0;
  for (int i = 0; i < island->ndof; i++) sum += 0 * island->direction[i];
  if (sum != 0) return false;
  for (int i = 0; i < island->ncontact; i++)
    ab_patch_relative(island, island->contact[i], island->direction, island->contact[i]->step);
  return true;
}

AB_SIMD AB_FLATTEN void ab_patch_take_step(abPatchIsland* island, double a) {
  for (int i = 0; i < island->ndof; i++) island->v[i] += a * island->direction[i];
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    double Gd[6];
    ab_patch_apply_G(&c->G, c->step, Gd);
    for (int k = 0; k < 6; k++) {
      c->V[k] += a * c->step[k];
      c->impulse[k] += a * (c->answer[k] - Gd[k] - c->impulse[k]);
    }
  }
}

// --- the whole

// What the invariant lacks, M (v - v_free) - sum J^T impulse, but not of velocities that a row or a
// law acts on: their impulses follow from the velocities found.
static void find_lack(const abPatchIsland* island, double* lack) {
  double f[6];
  for (int i = 0; i < island->ndof; i++) island->direction[i] = island->v[i] - island->v_free[i];
  ab_patch_apply_inertia(island, island->direction, lack);
  for (int i = 0; i < island->ncontact; i++) {
    for (int k = 0; k < 6; k++) f[k] = -island->contact[i]->impulse[k];
    ab_patch_scatter(island, island->contact[i], f, lack);
  }
  for (int i = 0; i < island->nrow; i++)
    for (int k = 0; k < island->row[i].row->n; k++) lack[island->row[i].at + k] = 0;
  for (int i = 0; i < island->njoin; i++)
    for (int k = 0; k < island->join[i].row->n; k++) lack[island->join[i].at[k]] = 0;
}

// A step solved with a matrix as stiff as contacts are has a rounding as large against the inertia:
// momentum would be lost by it. What the invariant lacks is free of that, since impulses act on
// both bodies alike; taken off through the same matrix it leaves what lies within the contacts as
// it is. The rest is taken off body by body, to the last bit.
static void restore_momentum(abPatchIsland* island, const abPatchWork* w) {
  double *lack = island->gradient, change[6];
  find_lack(island, lack);
  ab_patch_back(&w->matrix, lack);
  for (int i = 0; i < island->ndof; i++) island->v[i] -= lack[i];
  for (int i = 0; i < island->ncontact; i++) {
    ab_patch_relative(island, island->contact[i], lack, change);
    for (int k = 0; k < 6; k++) island->contact[i]->V[k] -= change[k];
  }
  if (island->nrow == 0 && island->njoin == 0) {
    ab_patch_momenta(island);
    return;
  }
  find_lack(island, lack);
  ab_patch_solve_inertia(island, lack);
  for (int i = 0; i < island->ndof; i++) island->v[i] -= lack[i];
}

// Who slides with the impulses of the last step: decided once, since the first iterates may say
// anything, and a patch at rest would be taken for a sliding one.
static void find_sliding(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    double fast = AB_PATCH_SLIDING * c->law.slip_speed;
    if (c->law.mu > 0 && !c->moves) c->moves = ab_patch_slipping_share(&c->law, c->V, fast) > 0.5;
  }
}

// The loads of the last step where they are near, else those of the impulses.
static void renew_profiles(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    if (!(c->law.mu > 0)) continue;
    ab_patch_set_load(&c->law, fmax(c->impulse[2], ab_patch_least_load(c)));
    ab_patch_follow_pressure(c, c->X, c->X_f);
  }
}

// Bodies at rest lie so little deep that rounding of their coordinates is seen as a force.
static double rounding(const abPatchIsland* island) {
  const abPatchSystem* system = island->system;
  double rate = system->param[AB_PATCH_RECOVERY] / system->h, most = 0;
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchContact* c = island->contact[i];
    abVec3 p = system->problem->pair[c->pair].patch.center;
    most = fmax(most, v3_norm(p) * c->law.stiffness / (c->mass * c->unit));
  }
  double unit = system->gravity * system->h + 1e-8 * system->problem->length / system->h;
  return fmax(4 * DBL_EPSILON * rate * most, ab_patch_join_rounding(island, unit));
}

// Whether a joint tree is faster than gravity makes it in a step: what is left of a step then adds
// up to nothing that is seen.
static bool tree_moves(const abPatchIsland* island) {
  double speed = island->system->gravity * island->system->h;
  for (int b = 0; b < island->nblock; b++) {
    const double *per = island->per[b], *v = island->v + island->offset[b];
    double sum = 0;
    for (int i = 0; i < island->size[b] && per; i++) sum += v[i] * v[i] / per[i];
    if (sum > island->mass[b] * speed * speed) return true;
  }
  return false;
}

static double wanted_residual(const abPatchIsland* island) {
  double tolerance = island->system->param[AB_PATCH_TOLERANCE];
  bool slides = false;
  if (island->departure > 1 || tree_moves(island)) return AB_PATCH_STRIKING_SHARE * tolerance;
  for (int i = 0; i < island->ncontact; i++) slides |= island->contact[i]->moves;
  if (slides && island->ncontact <= AB_PATCH_FEW) return AB_PATCH_FEW_SHARE * tolerance;
  return fmin(0.1 * tolerance, fmax(AB_PATCH_CALM_SHARE * tolerance, rounding(island)));
}

// Where every contact sticks with all of its corners, the law at V is the right one already.
static bool all_linear(const abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++)
    if (!island->contact[i]->linear) return false;
  return true;
}

static void measure(abPatchIsland* island, double* gap) {
  island->residual = ab_patch_residual(island);
  *gap = ab_patch_gap(island);
}

// Twists of the last step, which the law at V, looked at first, takes the place of.
static void keep_last(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    bool pressed = c->impulse[2] > 0;
    memcpy(c->last, pressed ? c->X : c->V, sizeof c->last);
  }
}

// The first step of an island with joints: the law is linearised where the last step left each
// contact. Who pressed and slid there mostly still does, with the same corners and in nearly the
// same direction, while the velocities that the impulses of the last step lead to are off by more
// than the narrow zone in which it sticks.
static void begin_at_last(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    memcpy(c->X, c->last, sizeof c->X);
    ab_patch_evaluate(&c->law, c->X, c->X_f, &c->X_G);
    ab_patch_linearise(c);
  }
}

// Contacts take energy, so what they change is no more than the free motion has, but for targets
// and factors of two. Steps with each contact linearised where it alone would go are full ones, and
// where two contacts of the same place answer each other they may run away: by factors of a
// thousand from one to the next, until rounding has eaten the momentum. After ab_patch_residual.
static bool runs_away(const abPatchIsland* island) {
  double change = 0, most = 0;
  for (int i = 0; i < island->ndof; i++) change += island->direction[i] * island->momentum[i];
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchContact* c = island->contact[i];
    double speed = fmax(c->unit, fmax(ab_patch_speed(c, c->free), fabs(c->law.aim[0])));
    most += c->mass * speed * speed;
  }
  if (!(change > AB_PATCH_RUNS_AWAY * most)) return false;
  ab_patch_apply_inertia(island, island->v_free, island->direction);
  for (int i = 0; i < island->ndof; i++) most += island->v_free[i] * island->direction[i];
  return change > AB_PATCH_RUNS_AWAY * most;
}

void ab_patch_begin_anew(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    memset(c->impulse, 0, sizeof c->impulse);
    ab_patch_set_load(&c->law, fmax(c->load_before, ab_patch_least_load(c)));
    c->known = false;
  }
  ab_patch_momenta(island);
  ab_patch_set_twists(island);
}

// --- Newton's method

typedef struct Progress {
  bool only;     // the island is one contact
  bool direct;   // loads are solved for at once
  bool relaxed;  // the law is linearised where each contact alone would go
  bool renewed;  // of direct islands: who slides is decided
  int since;     // looks since the residual was halved
  int accepted;  // how often loads that are right to the tolerance are followed on
  double tolerance, enough;
  double gap, best, taken;
  double way;  // the shortest that contacts alone would go from V
  int stale;   // steps since that was halved
  abPatchFollow loads;
} Progress;

static Progress begin_progress(abPatchIsland* island) {
  bool only = ab_patch_only(island), joined = has_joints(island) || island->njoin > 0;
  bool direct = joined && island->ncontact <= AB_PATCH_MOST_DIRECT && !only;
  if (!direct) find_sliding(island);
  double tolerance = island->system->param[AB_PATCH_TOLERANCE], enough = wanted_residual(island);
  bool calm = enough < AB_PATCH_STRIKING_SHARE * tolerance;
  double direct_gap = calm ? AB_PATCH_DIRECT_GAP : AB_PATCH_MOVING_GAP;
  return (Progress){.only = only,
                    .direct = direct,
                    .relaxed = only,
                    .accepted = direct ? AB_PATCH_MOST_ACCEPTED_DIRECT : AB_PATCH_MOST_ACCEPTED,
                    .tolerance = tolerance,
                    .enough = enough,
                    .best = INFINITY,
                    .taken = 1,
                    .loads = {.enough = direct ? direct_gap : ab_patch_wanted_gap(island),
                              .direct = direct,
                              .share = 0.5}};
}

// The line search straightens out about one contact in a step.
static int patience(const abPatchIsland* island) {
  int moved = 0;
  for (int i = 0; i < island->ncontact && moved < AB_PATCH_STALE; i++)
    moved += island->contact[i]->moved;
  return moved;
}

static void look_again(abPatchIsland* island, Progress* p) {
  ab_patch_evaluate_all(island);
  measure(island, &p->gap);
}

// The law where the iteration has come to, and the residual; n: the number of steps so far.
static void look(abPatchIsland* island, Progress* p, int n) {
  if (n == 1 && p->relaxed && !p->direct && !p->only) renew_profiles(island);
  // the only contact has found its place by then
  bool turn = n > 0 && (p->direct || (p->only && !island->contact[0]->moved));
  turn |= n > 0 && (island->residual <= AB_PATCH_RELAXED || n >= AB_PATCH_MOST_RELAXED);
  if (n > 0 && p->relaxed && !turn) {
    double way = ab_patch_relax(island, false);
    p->stale = way < 0.5 * p->way ? 0 : p->stale + 1;
    p->way = fmin(way, p->way);
    turn = !(way > 0) || p->stale >= patience(island);
  }
  if (turn && p->relaxed && !p->direct) ab_patch_stiffen(island);
  if (turn) p->relaxed = false;
  if (n == 0 || !p->relaxed) ab_patch_evaluate_all(island);
  measure(island, &p->gap);
  if (p->relaxed && n > 1 && runs_away(island)) {
    p->relaxed = false;
    ab_patch_begin_anew(island);
    look_again(island, p);
  }
}

// After the first look, how the iteration begins; of direct islands later, who slides.
static void choose_way(abPatchIsland* island, Progress* p, int n) {
  bool near = island->residual <= AB_PATCH_NEAR;
  if (n == 0 && p->direct) {
    p->relaxed = !all_linear(island);
    p->loads.good = p->gap <= AB_PATCH_GOOD_LOADS;
  } else if (n == 0) {
    p->relaxed |= !near;
  } else if (p->direct && !p->renewed && (near || n >= AB_PATCH_LATEST_RENEWAL)) {
    p->renewed = true;
    find_sliding(island);
    renew_profiles(island);
    look_again(island, p);
  }
}

// Whether forces and loads are right, or rounding stops the iteration.
static bool is_solved(const abPatchIsland* island, Progress* p) {
  int most = 0.01 * p->gap <= p->tolerance ? p->accepted : AB_PATCH_MOST_FOLLOWED;
  bool settled = p->gap <= p->loads.enough || p->loads.times >= most;
  if (island->residual <= p->enough && settled) return true;
  if (island->residual < 0.5 * p->best) p->best = island->residual, p->since = 0;
  return ++p->since > 3 && settled && island->residual <= p->tolerance;
}

static abStatus prepare(abPatchIsland* island, abPatchWork* w, Progress* p) {
  abStatus status = take_work(island, w);
  if (status == AB_OK && p->relaxed && !p->direct) {
    find_mobilities(island);
    status = ab_patch_alone(island);
  }
  if (status != AB_OK || !p->relaxed) return status;
  if (p->direct)
    begin_at_last(island);
  else
    p->way = ab_patch_relax(island, true), p->stale = 0;
  island->residual = ab_patch_residual(island);
  return AB_OK;
}

// The step, after its direction is known; the loads follow it.
static void go_on(abPatchIsland* island, abPatchWork* w, Progress* p) {
  bool far = island->residual > AB_PATCH_NEAR, uphill = p->taken < AB_PATCH_HARDLY_MOVES;
  bool follows = p->direct ? !p->relaxed : !(far && uphill);
  if (follows) ab_patch_follow(island, w, &p->loads, p->relaxed, p->gap);
  p->taken = p->relaxed ? 1 : ab_patch_line_search(island, w);
  ab_patch_take_step(island, p->taken);
  uphill = p->taken < AB_PATCH_HARDLY_MOVES;
  if (follows && !p->direct && p->taken < 1 && (far || !uphill))
    ab_patch_shorten_loads(island, p->taken);
}

static void finish(abPatchIsland* island, abPatchWork* w, const Progress* p) {
  bool joined = island->njoin > 0;
  island->residual = ab_patch_reported(island->residual, p->gap);
  if (!(island->residual <= p->tolerance) && w->load_step && !joined)
    island->residual = ab_patch_fall_back(island, w, 0.1 * p->tolerance, island->residual);
  if (w->matrix.factored) restore_momentum(island, w);
  ab_patch_join_finish(island);
  ab_patch_find_shift(island, &w->matrix);
}

// An island with joints may have several solutions, four feet that push against each other, say,
// with some of them in the air. Loads that are right already are the way to the one that goes on
// from the last step: they are left alone until the forces are nearly balanced. Then who slides is
// decided, and where friction acts.
abStatus ab_patch_solve(abPatchIsland* island) {
  Progress p = begin_progress(island);
  abPatchWork w = {0};
  int most = (int)island->system->param[AB_PATCH_ITERATIONS];
  keep_last(island);
  for (int n = 0;; n++) {
    look(island, &p, n);
    choose_way(island, &p, n);
    if ((n == 0 || !p.relaxed) && is_solved(island, &p)) break;
    if (n >= most || !isfinite(island->residual)) break;
    abStatus status = n == 0 ? prepare(island, &w, &p) : AB_OK;
    if (status != AB_OK) return status;
    island->iterations++;
    if (!ab_patch_find_direction(island, &w)) {
      island->nregularised++;
      break;
    }
    go_on(island, &w, &p);
  }
  finish(island, &w, &p);
  return AB_OK;
}
