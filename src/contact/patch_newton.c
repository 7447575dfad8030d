// Newton's method on one island, with the block-sparse factorisation of M + sum J^T G J.
//
// Invariant: velocities = v_free + M^-1 sum J^T impulse. A Newton step d solves
//
//   (M + sum J^T G J) d = -gradient,    gradient = sum J^T (impulse - answer),
//
// so the linearised impulses `answer - G J d` belong to the velocities v + d exactly, and a
// shortened step a d belongs to impulse + a (answer - G J d - impulse). The stiff law is never
// evaluated to produce an impulse that is handed out: momentum is right even where the iteration
// was stopped.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "base/wide.h"
#include "contact/patch.h"
#include "math/spatial.h"

// --- the matrix
// ----------------------------------------------------------------------------------------

// T (6 x n, row-major): from the block's velocities to the contact's local twist, with the side's
// sign.
static void side_matrix(const abPatchContact* c, int k, double* T) {
  const abPatchSide* s = &c->side[k];
  double sign = k == 0 ? 1 : -1;
  double X[36];
  double* out = s->J ? X : T;
  for (int i = 0; i < 3; i++) {
    abVec3 e = v3_scale(sign, c->axis[i]), m = v3_cross(s->r, e);
    double* lin = out + 6 * i;
    double* ang = out + 6 * (i + 3);
    lin[0] = e.x, lin[1] = e.y, lin[2] = e.z, lin[3] = m.x, lin[4] = m.y, lin[5] = m.z;
    ang[0] = ang[1] = ang[2] = 0, ang[3] = e.x, ang[4] = e.y, ang[5] = e.z;
  }
  if (!s->J) return;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < s->n; j++) {
      double sum = 0;
      for (int l = 0; l < 6; l++) sum += X[6 * i + l] * s->J[l * s->n + j];
      T[i * s->n + j] = sum;
    }
}

// H = G T
static void weigh(const double G[12], int n, const double* T, double* H) {
  for (int j = 0; j < n; j++) {
    double x[6], y[6];
    for (int i = 0; i < 6; i++) x[i] = T[i * n + j];
    ab_patch_apply_G(G, x, y);
    for (int i = 0; i < 6; i++) H[i * n + j] = y[i];
  }
}

// B (na x nb) += A^T H
static void add_product(int na, int nb, const double* A, const double* H, double* B) {
  for (int l = 0; l < 6; l++)
    for (int i = 0; i < na; i++) {
      double a = A[l * na + i];
      for (int j = 0; j < nb; j++) B[i * nb + j] += a * H[l * nb + j];
    }
}

AB_WIDE static void add_product6(const double* restrict A, const double* restrict H,
                                 double* restrict B) {
  for (int i = 0; i < 6; i++) {
    double b[6];
    for (int j = 0; j < 6; j++) b[j] = B[i * 6 + j];
    for (int l = 0; l < 6; l++) {
      double a = A[l * 6 + i];
      for (int j = 0; j < 6; j++) b[j] += a * H[l * 6 + j];
    }
    for (int j = 0; j < 6; j++) B[i * 6 + j] = b[j];
  }
}

// See line_search.
typedef struct Slope {
  double at0, rate;
  int nbent;
  abPatchContact** bent;
} Slope;

typedef struct Work {
  abPatchCache* cache;
  abBlockSymbolic* symbolic;
  abBlockSymbolic own;
  double *T[2], *H[2];
  double* value;
  Slope slope;
  bool full;  // the last step was not shortened
  double* v;  // velocities and contacts of a large island before the first iteration
  abPatchContact* contact;
} Work;

static void add_block(const abBlockSymbolic* s, Work* w, const abPatchContact* c, int a, int b) {
  bool transposed;
  int at = ab_block_find(s, c->side[a].block, c->side[b].block, &transposed);
  if (transposed) {
    int t = a;
    a = b, b = t;
  }
  int na = c->side[a].n, nb = c->side[b].n;
  if (na == 6 && nb == 6)
    add_product6(w->T[a], w->H[b], w->value + at);
  else
    add_product(na, nb, w->T[a], w->H[b], w->value + at);
}

static void add_contact(const abPatchContact* c, const abBlockSymbolic* s, Work* w) {
  const abPatchSide* side = c->side;
  bool has[2] = {side[0].block >= 0, side[1].block >= 0};
  for (int k = 0; k < 2; k++)
    if (has[k]) side_matrix(c, k, w->T[k]);
  if (has[0] && side[0].block == side[1].block) {  // two bodies of one tree: one combined matrix
    for (int i = 0; i < 6 * side[0].n; i++) w->T[0][i] += w->T[1][i];
    has[1] = false;
  }
  for (int k = 0; k < 2; k++) {
    if (!has[k]) continue;
    weigh(c->G, side[k].n, w->T[k], w->H[k]);
    add_block(s, w, c, k, k);
  }
  if (has[0] && has[1]) add_block(s, w, c, 0, 1);
}

static void add_inertia(const abPatchIsland* island, int b, double* block) {
  int n = island->size[b];
  if (island->inertia[b]) {
    memcpy(block, island->inertia[b], sizeof(double) * (size_t)(n * n));
    return;
  }
  const abResponse* r = island->system->problem->response;
  int body = r->mover[island->mover[b]].body0;
  for (int i = 0; i < 3; i++) {
    block[6 * i + i] = r->mass[body];
    for (int j = 0; j < 3; j++) block[6 * (i + 3) + j + 3] = r->inertia[body].m[i][j];
  }
}

static void assemble(abPatchIsland* island, const abBlockSymbolic* s, Work* w) {
  memset(w->value, 0, sizeof(double) * (size_t)s->nvalue);
  for (int b = 0; b < island->nblock; b++) {
    bool transposed;
    add_inertia(island, b, w->value + ab_block_find(s, b, b, &transposed));
  }
  for (int i = 0; i < island->ncontact; i++) add_contact(island->contact[i], s, w);
}

// The elimination order and pattern of the island's matrix, kept in `arena`. AB_ERROR_UNSUPPORTED:
// its factorisation would cost too much.
static abStatus plan_factors(const abPatchIsland* island, abArena* arena,
                             abBlockSymbolic* symbolic) {
  int(*edge)[2] = ab_arena_take(island->scratch, sizeof(int[2]) * (size_t)island->ncontact);
  if (!edge) return AB_ERROR_MEMORY;
  int n = 0;
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchSide* s = island->contact[i]->side;
    if (s[0].block < 0 || s[1].block < 0 || s[0].block == s[1].block) continue;
    edge[n][0] = s[0].block, edge[n][1] = s[1].block;
    n++;
  }
  return ab_block_symbolic(island->nblock, island->size, n, (const int(*)[2])edge,
                           island->system->param[AB_PATCH_DIRECT_LIMIT], arena, island->scratch,
                           symbolic);
}

// Symbolic factors: those kept, or new ones, to be kept if there is room.
static abStatus find_symbolic(const abPatchIsland* island, Work* w) {
  if (w->cache) {
    w->symbolic = ab_patch_cache_symbolic(w->cache);
    return AB_OK;
  }
  w->cache = ab_patch_cache_make(island);
  w->symbolic = w->cache ? ab_patch_cache_symbolic(w->cache) : &w->own;
  abStatus status = plan_factors(island, w->cache ? island->cache : island->scratch, w->symbolic);
  if (status != AB_OK && w->cache) ab_patch_cache_forget(island);
  return status;
}

// What is left unfinished in a large island is no good beginning for the sweeps: they begin where
// Newton's method did.
static bool put_aside(const abPatchIsland* island, Work* w) {
  if (island->ncontact <= AB_PATCH_LARGE) return true;
  w->v = AB_TAKE(island->scratch, double, island->ndof);
  w->contact = AB_TAKE(island->scratch, abPatchContact, island->ncontact);
  if (!w->v || !w->contact) return false;
  memcpy(w->v, island->v, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->ncontact; i++) w->contact[i] = *island->contact[i];
  return true;
}

static void take_back(abPatchIsland* island, const Work* w) {
  memcpy(island->v, w->v, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->ncontact; i++) *island->contact[i] = w->contact[i];
}

static abStatus take_work(const abPatchIsland* island, Work* w) {
  abStatus status = find_symbolic(island, w);
  if (status != AB_OK) return status;
  const abBlockSymbolic* s = w->symbolic;
  for (int k = 0; k < 2; k++) {
    w->T[k] = AB_TAKE(island->scratch, double, 6 * s->largest);
    w->H[k] = AB_TAKE(island->scratch, double, 6 * s->largest);
    if (!w->T[k] || !w->H[k]) return AB_ERROR_MEMORY;
  }
  w->value = w->cache ? ab_patch_cache_value(island, w->cache)
                      : AB_TAKE(island->scratch, double, s->nvalue);
  w->slope.bent = AB_TAKE(island->scratch, abPatchContact*, island->ncontact);
  return w->value && w->slope.bent && put_aside(island, w) ? AB_OK : AB_ERROR_MEMORY;
}

// --- line search
// ---------------------------------------------------------------------------------------

// Derivative of the energy along the step at v + a d: a d^T M d + sum of J d . (impulse - answer(V
// + a J d)). Where the law is linear at both ends it is so in between (patch_law.c), and only the
// other contacts need be asked again.
static double slope_of(abPatchContact* c, double a) {
  double V[6], f[6], sum = 0;
  for (int k = 0; k < 6; k++) V[k] = c->V[k] + a * c->step[k];
  ab_patch_evaluate(&c->law, V, f, NULL);
  for (int k = 0; k < 6; k++) sum -= c->step[k] * f[k];
  return sum;
}

// A contact whose part in the slope at the end of the step is as its derivative said, but for this
// share of the whole slope at the beginning, is taken for linear.
#define STRAIGHT 1e-4

// Looks at the end of the step; returns the slope there.
static double find_slope(const abPatchIsland* island, double slope0, Slope* slope) {
  double bent = 0;
  slope->at0 = 0, slope->nbent = 0;
  for (int i = 0; i < island->ndof; i++) slope->at0 += island->direction[i] * island->momentum[i];
  slope->rate = ab_patch_kinetic(island, island->direction);
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    double V[6], f[6], Gd[6], first = 0, last = 0, rise = 0;
    for (int k = 0; k < 6; k++) V[k] = c->V[k] + c->step[k];
    bool linear = ab_patch_evaluate(&c->law, V, f, NULL) && c->linear;
    ab_patch_apply_G(c->G, c->step, Gd);
    for (int k = 0; k < 6; k++) {
      first -= c->step[k] * c->answer[k];
      last -= c->step[k] * f[k];
      rise += c->step[k] * Gd[k];
    }
    if (linear || fabs(last - first - rise) <= STRAIGHT * -slope0)
      slope->at0 += first, slope->rate += last - first;
    else
      slope->bent[slope->nbent++] = c, bent += last;
  }
  return slope->at0 + slope->rate + bent;
}

static double slope_at(const Slope* slope, double a) {
  double sum = slope->at0 + a * slope->rate;
  for (int i = 0; i < slope->nbent; i++) sum += slope_of(slope->bent[i], a);
  return sum;
}

// The energy is convex, its slope along d grows: 1 if that is nearly its root, else the root. False
// position, but bisection whenever it has not halved the bracket: where a contact comes into play
// the slope has a kink, hardly rising before it and steep behind it. What is returned lies behind
// the kink, so that the next step knows of the contact. Full steps are taken where the slope at
// their end is at most `accept` times that at the beginning.
static double line_search(abPatchIsland* island, Work* w, double accept) {
  double slope0 = 0;
  for (int i = 0; i < island->ndof; i++) slope0 += island->gradient[i] * island->direction[i];
  double slope1 = find_slope(island, slope0, &w->slope);
  if (!(slope0 < 0) || slope1 <= accept * -slope0) return 1;
  double low = 0, high = 1, flow = slope0, fhigh = slope1;
  bool bisect = false;
  for (int i = 0; i < 24 && high - low > 0.03 * accept * high; i++) {
    double width = high - low;
    double a = bisect ? 0.5 * (low + high) : (low * fhigh - high * flow) / (fhigh - flow);
    double f = slope_at(&w->slope, a);
    if (fabs(f) <= 0.3 * accept * -slope0) return a;
    if (f > 0)
      high = a, fhigh = f;
    else
      low = a, flow = f;
    bisect = high - low > 0.5 * width;
  }
  return high;
}

static void take_step(abPatchIsland* island, double a) {
  for (int i = 0; i < island->ndof; i++) island->v[i] += a * island->direction[i];
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    double Gd[6];
    ab_patch_apply_G(c->G, c->step, Gd);
    for (int k = 0; k < 6; k++) {
      c->V[k] += a * c->step[k];
      c->impulse[k] += a * (c->answer[k] - Gd[k] - c->impulse[k]);
    }
  }
}

// --- passes
// --------------------------------------------------------------------------------------------

static void evaluate_chunk(void* context, int chunk, int worker) {
  (void)worker;
  const abPatchIsland* island = context;
  int first = chunk * AB_PATCH_CHUNK, last = first + AB_PATCH_CHUNK;
  for (int i = first; i < last && i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    c->law.trust = 1;
    c->linear = ab_patch_evaluate(&c->law, c->V, c->answer, c->G);
    if (c->linear) continue;
    c->law.trust = ab_patch_trust(c, c->impulse);
    if (c->law.trust < 1) ab_patch_evaluate(&c->law, c->V, c->answer, c->G);
  }
}

static void evaluate(abPatchIsland* island) {
  ab_pool_run(island->pool, ab_patch_chunks(island->ncontact), evaluate_chunk, island);
}

// Solves for the step d from gradient, answer and G.
static bool find_direction(abPatchIsland* island, Work* w) {
  const abBlockSymbolic* s = w->symbolic;
  if (w->cache) ab_patch_cache_factored(island, w->cache, false);
  assemble(island, s, w);
  // Pivots smaller than rounding of what was subtracted carry no information.
  island->nregularised += ab_block_factor(s, w->value, 16 * DBL_EPSILON);
  if (w->cache) ab_patch_cache_factored(island, w->cache, true);
  for (int i = 0; i < island->ndof; i++) island->direction[i] = -island->gradient[i];
  ab_block_solve(s, w->value, island->direction);
  double sum = 0;
  for (int i = 0; i < island->ndof; i++) sum += 0 * island->direction[i];
  if (sum != 0) return false;
  for (int i = 0; i < island->ncontact; i++)
    ab_patch_relative(island, island->contact[i], island->direction, island->contact[i]->step);
  return true;
}

static bool newton_step(abPatchIsland* island, Work* w, double accept) {
  if (!find_direction(island, w)) return false;
  double a = line_search(island, w, accept);
  take_step(island, a);
  w->full = a == 1;
  return true;
}

// The first step of all: the law linearised not at the present twist but where it gave the last
// step's impulse, so that each point of a patch is taken to press and to stick as it did then. At
// the present twist of a moving pile, which the stiff law was never asked about, most points would
// wrongly seem to have come off.
static bool predict(abPatchIsland* island, Work* w) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    double d[6], Gd[6];
    c->law.trust = 1;
    ab_patch_evaluate(&c->law, c->state, c->answer, c->G);
    for (int k = 0; k < 6; k++) d[k] = c->V[k] - c->state[k];
    ab_patch_apply_G(c->G, d, Gd);
    for (int k = 0; k < 6; k++) c->answer[k] -= Gd[k];
  }
  ab_patch_residual(island);
  if (!find_direction(island, w)) return false;
  take_step(island, 1);
  return true;
}

// A large island begins so too, and then goes on with full steps and the law linearised where each
// contact by itself would go (ab_patch_relax), as long as that mends many of them. What is left is
// for Newton's method proper. Returns false if a step cannot be found.
static bool relax(abPatchIsland* island, Work* w) {
  enum { FIRST = 5, MOST = 24 };
  int few = island->ncontact / 12, last = island->ncontact;
  abPatchAlone* alone = ab_patch_alone(island);
  if (!alone) return false;
  for (int i = 0; i < MOST; i++) {
    int wrong = i > 0 ? ab_patch_relax(island, alone) : last;
    if (wrong <= few || (i > FIRST && wrong >= last)) break;
    last = wrong;
    ab_patch_residual(island);
    island->iterations++;
    if (!find_direction(island, w)) return false;
    take_step(island, 1);
  }
  return true;
}

enum { MOST_PASSES = 30, STRIKING_PASSES = 4, SMALL_ISLAND = 8, PATIENCE = 4 };

// How Newton's method goes on.
typedef struct Progress {
  double tolerance;  // residual wanted in the end
  double loose;      // and what may be left if rounding stops it
  double enough;     // residual wanted of this pass
  double last, best, disturbed, blend;
  int pass, since;  // passes; iterations since the residual was last halved
} Progress;

// Once it has begun, a large island is solved much better than need be, which costs an iteration at
// most: the next steps then begin well within the tolerance, and have nothing to do at rest.
#define BEYOND 0.1

// What is left of a step adds up over thousands of them; where a factorisation costs next to
// nothing, little is left. Not so where bodies strike: the next step has other contacts.
static Progress begin_progress(const abPatchIsland* island) {
  double loose = island->system->param[AB_PATCH_TOLERANCE];
  bool strikes = island->departure > 1;
  if (island->ncontact <= AB_PATCH_LARGE) loose *= strikes ? 0.1 : 1e-3;
  double tolerance = island->ncontact <= SMALL_ISLAND && !strikes ? 1e-5 * loose : loose;
  return (Progress){.tolerance = tolerance,
                    .loose = loose,
                    .enough = tolerance,
                    .last = INFINITY,
                    .best = INFINITY,
                    .disturbed = INFINITY,
                    .blend = 1};
}

// After a pass: the pressure that bounds friction becomes that of the pass. Returns whether that is
// the end. In a large island it is: there the bound lags by one step. At rest that makes no
// difference, and where bodies move it is as good as the next pass, which would be as much work.
static bool end_pass(abPatchIsland* island, Progress* p, bool stalled) {
  if (island->ncontact > AB_PATCH_LARGE) {
    island->loads_follow = true;
    return true;
  }
  for (int i = 0; i < island->ncontact; i++)
    ab_patch_update_load(island->contact[i], island->contact[i]->answer, p->blend);
  evaluate(island);
  island->residual = ab_patch_residual(island);
  if (island->residual <= (stalled ? p->loose : p->tolerance) || ++p->pass >= MOST_PASSES)
    return true;
  if (p->pass >= STRIKING_PASSES && island->departure > 1) {  // near enough for a blow
    island->residual = p->last;
    return true;
  }
  // It swings: go a shorter way.
  if (p->pass >= 2 && island->residual > 0.5 * p->disturbed && p->blend > 0.3) p->blend *= 0.7;
  p->disturbed = island->residual;
  p->enough = fmax(p->tolerance, 0.1 * island->residual);  // a tenth of what the bound disturbs
  if (p->pass + 1 >= STRIKING_PASSES && island->departure > 1) p->enough = p->tolerance;
  p->last = INFINITY;
  return false;
}

// Near rest: a residual this small is worth a trial with the factors of some step before, and they
// go on while each step takes off this much.
#define NEARLY 0.3
#define GOES_ON 0.3
// Once begun, they go on to this share of the tolerance.
#define MENDED 0.3

// Leaves answers and residual of what it has reached.
static void mend_by_old_factors(abPatchIsland* island, const abPatchCache* cache,
                                const Progress* p) {
  double last = INFINITY, wanted = island->pays ? 0 : p->tolerance;
  for (bool moved = island->owed != NULL;; moved = true) {
    island->residual = ab_patch_look(island, moved);
    bool nearly = island->residual <= NEARLY && island->residual <= GOES_ON * last;
    if (island->residual <= wanted) return;
    if (nearly && ab_patch_chord(island, cache)) {
      ab_patch_solved(island);
      last = island->residual, wanted = MENDED * p->tolerance;
      island->iterations++;
    } else if (!ab_patch_release(island)) {
      return;
    }
  }
}

// Near the end of Newton's method in a large island, after a full step with this residual, the
// factors at hand will do.
#define AT_THE_END 1e-2

static void end_by_old_factors(abPatchIsland* island, const Work* w, Progress* p) {
  if (island->ncontact <= AB_PATCH_LARGE || island->residual <= p->tolerance) return;
  mend_by_old_factors(island, w->cache, p);
  if (island->residual <= p->tolerance) {
    p->enough = p->tolerance;
  } else {
    evaluate(island);
    island->residual = ab_patch_residual(island);
  }
}

// Passes: the pressure that bounds friction is that of the last pass.
abStatus ab_patch_newton(abPatchIsland* island) {
  int most = (int)island->system->param[AB_PATCH_ITERATIONS];
  Work work = {.cache = ab_patch_cache_find(island)};
  Progress p = begin_progress(island);
  if (work.cache) ab_patch_hold(island);
  mend_by_old_factors(island, work.cache, &p);
  int first = island->iterations;
  for (bool known = true;; known = false) {
    if (!known) {
      evaluate(island);
      island->residual = ab_patch_residual(island);
      if (work.full && island->residual <= AT_THE_END) end_by_old_factors(island, &work, &p);
    }
    bool stalled = island->residual <= p.loose && island->residual > 0.5 * p.last;  // by rounding
    p.last = island->residual;
    if (island->residual < 0.5 * p.best) p.best = island->residual, p.since = 0;
    bool enough = island->residual <= p.enough || stalled;
    if (enough && end_pass(island, &p, stalled)) break;
    if (island->iterations - first >= most) break;
    if (!work.value) {
      ab_patch_wake_all(island);
      abStatus status = take_work(island, &work);
      if (status != AB_OK) return status == AB_ERROR_MEMORY ? status : AB_OK;
    }
    if (island->ncontact > AB_PATCH_LARGE) p.enough = BEYOND * p.tolerance;
    // Where it goes to and fro between two kinks, only an exact search gets on.
    double accept = ++p.since > PATIENCE ? 1e-3 : 0.3;
    bool begins = island->iterations == first, large = island->ncontact > AB_PATCH_LARGE;
    // where old factors have come near, new ones will do
    bool nearly = begins && large && island->residual <= AT_THE_END;
    if (nearly) evaluate(island), ab_patch_residual(island);
    if (!begins || !large || nearly) island->iterations++;
    bool done = !begins || nearly ? newton_step(island, &work, accept)
                : large           ? relax(island, &work)
                                  : predict(island, &work);
    if (!done) {
      island->nregularised++;
      break;
    }
  }
  if (work.contact && !(island->residual <= p.tolerance)) {
    take_back(island, &work);
    island->loads_follow = false;
    return AB_OK;
  }
  island->state_is_now = true;
  return AB_OK;
}
