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
// descends. As soon as the loads are right to AB_PATCH_GAP they are frozen, and the end is convex.
//
// The first iterations are full steps, with the law linearised where each contact alone would go
// (alone.c); then the steps are those of Newton's method with an exact line search.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "contact/patch/patch.h"
#include "math/spatial.h"

// Most steps with each contact relaxed, and most in which loads follow.
enum { MOST_RELAXED = 12, MOST_FOLLOWED = 60, BOLD = 4 };
// Where loads have been followed BOLD times without success, each change waits until the residual
// is near zero, and is a part of what is wanted that shrinks from one to the next, until the
// residual stays there: then they go on boldly.
#define NEAR 1e-2
// What is left of a step adds up over thousands of them: where nothing strikes, little is left.
#define CALM_SHARE 1e-3
#define STRIKING_SHARE 0.1
// In islands of few contacts that slide, where friction turns with the direction of what is left
// and a factorisation costs next to nothing, hardly anything is.
enum { FEW = 1 };
#define FEW_SHARE 1e-7

typedef struct Work {
  abPatchMatrix matrix;
  double* load_step;  // change of d by that of the loads
  double* change;     // per contact: of its load, and of where that acts (x, y)
  int nbent, nbent_row, nbent_join;
  abPatchContact** bent;  // contacts and rows that are not linear along the step
  abPatchRow** bent_row;
  abPatchJoin** bent_join;
  double at0, rate;  // slope of all the others along the step: at0 + a rate
} Work;

static abStatus take_work(abPatchIsland* island, Work* w) {
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

// --- line search

// Derivative of the energy along the step at v + a d: d^T M (v - v_free + a d) - sum of J d .
// answer(V + a J d) - the same of the rows. Where the law is linear at both ends it is so in
// between (law.c), and only the others need be evaluated again.
static double contact_slope(abPatchContact* c, double a) {
  double V[6], f[6], sum = 0;
  for (int k = 0; k < 6; k++) V[k] = c->V[k] + a * c->step[k];
  ab_patch_evaluate(&c->law, V, f, NULL);
  for (int k = 0; k < 6; k++) sum -= c->step[k] * f[k];
  return sum;
}

static double row_slope(const abPatchIsland* island, const abPatchRow* r, double a) {
  bool inside;
  double sv = ab_patch_row_speed(r, island->v);
  return -r->step * ab_patch_row_excess(r->row, sv + a * r->step, &inside);
}

// A contact whose part in the slope at the end of the step is as its derivative said, but for this
// share of the whole slope at the beginning, is taken for linear.
#define STRAIGHT 1e-6

static double find_rows(const abPatchIsland* island, Work* w) {
  double bent = 0;
  w->nbent_row = 0;
  for (int i = 0; i < island->nrow; i++) {
    abPatchRow* r = &island->row[i];
    r->step = ab_patch_row_speed(r, island->direction);
    bool inside;
    double sv = ab_patch_row_speed(r, island->v);
    double end = -r->step * ab_patch_row_excess(r->row, sv + r->step, &inside);
    double begin = -r->step * ab_patch_row_excess(r->row, sv, &inside);
    if (begin == 0 && end == 0) continue;
    w->bent_row[w->nbent_row++] = r, bent += end;
  }
  return bent;
}

static double join_slope(const abPatchIsland* island, const abPatchJoin* j, double a) {
  bool inside;
  double sv = ab_patch_join_speed(j, island->v);
  return -j->step * ab_patch_join_impulse(j, sv + a * j->step, &inside);
}

static double find_joins(const abPatchIsland* island, Work* w) {
  double bent = 0;
  w->nbent_join = 0;
  for (int i = 0; i < island->njoin; i++) {
    abPatchJoin* j = &island->join[i];
    bool inside;
    double sv = ab_patch_join_speed(j, island->v);
    j->step = ab_patch_join_speed(j, island->direction);
    double first = -j->step * ab_patch_join_impulse(j, sv, &inside);
    double last = -j->step * ab_patch_join_impulse(j, sv + j->step, &inside);
    if (inside && j->inside)
      w->at0 += first, w->rate += last - first;
    else
      w->bent_join[w->nbent_join++] = j, bent += last;
  }
  return bent;
}

// Looks at the end of the step; returns the slope there.
static double find_slope(const abPatchIsland* island, double slope0, Work* w) {
  double bent = find_rows(island, w);
  w->at0 = w->rate = 0, w->nbent = 0;
  bent += find_joins(island, w);
  ab_patch_apply_inertia(island, island->direction, island->gradient);
  for (int i = 0; i < island->ndof; i++) {
    w->at0 += island->direction[i] * island->momentum[i];
    w->rate += island->direction[i] * island->gradient[i];
  }
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    double *f = c->X_f, Gd[6], first = 0, last = 0, rise = 0;
    for (int k = 0; k < 6; k++) c->X[k] = c->V[k] + c->step[k];
    c->X_linear = ab_patch_evaluate(&c->law, c->X, f, &c->X_G);
    c->known = true;
    bool linear = c->X_linear && c->linear;
    ab_patch_apply_G(&c->G, c->step, Gd);
    for (int k = 0; k < 6; k++) {
      first -= c->step[k] * c->answer[k];
      last -= c->step[k] * f[k];
      rise += c->step[k] * Gd[k];
    }
    if (linear || fabs(last - first - rise) <= STRAIGHT * -slope0)
      w->at0 += first, w->rate += last - first;
    else
      w->bent[w->nbent++] = c, bent += last;
  }
  return w->at0 + w->rate + bent;
}

static double slope_at(const abPatchIsland* island, const Work* w, double a) {
  double sum = w->at0 + a * w->rate;
  for (int i = 0; i < w->nbent; i++) sum += contact_slope(w->bent[i], a);
  for (int i = 0; i < w->nbent_row; i++) sum += row_slope(island, w->bent_row[i], a);
  for (int i = 0; i < w->nbent_join; i++) sum += join_slope(island, w->bent_join[i], a);
  return sum;
}

// The energy is convex, its slope along d grows: 1 if that is nearly its root, else the root. False
// position, but bisection whenever it has not halved the bracket: where a contact comes into play
// the slope has a kink, hardly rising before it and steep behind it. What is returned lies behind
// the kink, so that the next step knows of the contact.
static double line_search(abPatchIsland* island, Work* w) {
  double slope0 = 0;
  for (int i = 0; i < island->ndof; i++) slope0 += island->gradient[i] * island->direction[i];
  if (!(slope0 < 0)) return 1;
  double slope1 = find_slope(island, slope0, w);
  if (slope1 <= 0.1 * -slope0) return 1;
  double low = 0, high = 1, flow = slope0, fhigh = slope1;
  bool bisect = false;
  for (int i = 0; i < 60 && high - low > 1e-13 * high; i++) {
    double width = high - low;
    double a = bisect ? 0.5 * (low + high) : (low * fhigh - high * flow) / (fhigh - flow);
    double f = slope_at(island, w, a);
    if (fabs(f) <= 1e-3 * -slope0) return a;
    if (f > 0)
      high = a, fhigh = f;
    else
      low = a, flow = f;
    bisect = high - low > 0.5 * width;
  }
  return high;
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
static void evaluate(abPatchIsland* island) {
  ab_pool_run(island->pool, ab_patch_chunks(island->ncontact), evaluate_chunk, island);
}

// Change of a contact's load that the step asks for, and of where it acts.
static void wanted_change(const abPatchContact* c, double change[3]) {
  double f[6];
  ab_patch_apply_G(&c->G, c->step, f);
  for (int k = 0; k < 6; k++) f[k] = c->answer[k] - f[k];
  double load = f[2] > 0 ? fmax(f[2], 0.1 * c->law.load) : 0;
  change[0] = fmax(load, ab_patch_least_load(c)) - c->law.load;
  if (!(f[2] >= 0.1 * c->law.load && ab_patch_offset(c, f, change + 1))) change[1] = change[2] = 0;
  double far = hypot(change[1], change[2]), most = c->law.radius;
  for (int k = 1; k < 3 && far > most; k++) change[k] *= most / far;
}

void ab_patch_friction_change(const abPatchContact* c, double dl, double x, double y,
                              double df[6]) {
  const abPatchLaw* law = &c->law;
  const double *t = c->X_G.t, *b = law->bristle;
  double s[3] = {c->X[0] + b[0], c->X[1] + b[1], c->X[5] + b[2]};
  double per = c->X_load > 0 ? dl / c->X_load : 0;
  // rate with the load times dl, less what the slip (-s_2 y, s_2 x) takes off
  double u[3] = {per * s[0] + s[2] * y, per * s[1] - s[2] * x, per * s[2]};
  df[0] = per * c->X_f[0] + t[0] * u[0] + t[1] * u[1] + t[3] * u[2];
  df[1] = per * c->X_f[1] + t[1] * u[0] + t[2] * u[1] + t[4] * u[2];
  df[5] = per * c->X_f[5] + t[3] * u[0] + t[4] * u[1] + t[5] * u[2] + x * c->X_f[1] - y * c->X_f[0];
  df[2] = df[3] = df[4] = 0;
}

// Loads and where they act change by `share` of what the step asks for; friction and d follow.
static void change_loads(abPatchIsland* island, Work* w, double share) {
  memset(w->load_step, 0, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    if (!(c->law.mu > 0)) continue;
    const double* change = w->change + 3 * i;
    double load = fmax(c->law.load + share * change[0], ab_patch_least_load(c)), df[6];
    double x = share * change[1], y = share * change[2];
    ab_patch_friction_change(c, load - c->law.load, x, y, df);
    c->answer[0] += df[0], c->answer[1] += df[1], c->answer[5] += df[5];
    c->law.at[0] += x, c->law.at[1] += y;
    ab_patch_set_load(&c->law, load);
    ab_patch_scatter(island, c, df, w->load_step);
  }
  for (int i = 0; i < island->ndof; i++) island->gradient[i] -= w->load_step[i];
  ab_patch_back(&w->matrix, w->load_step);
  for (int i = 0; i < island->ndof; i++) island->direction[i] += w->load_step[i];
  for (int i = 0; i < island->ncontact; i++)
    ab_patch_relative(island, island->contact[i], island->direction, island->contact[i]->step);
}

// What is wanted now, as shares of the load and of the patch's radius. Returns the largest, adds to
// the sums of Aitken's rule: the last change times the turn since, and the turn squared.
static double compare_change(const abPatchContact* c, const double last[3], double now[3],
                             double sum[2]) {
  double size = fmax(c->law.load, 1e-3 * c->mass * c->unit);
  double radius = c->law.radius * size / c->law.load, most = 0;
  wanted_change(c, now);
  for (int k = 0; k < 3; k++) {
    double unit = k == 0 ? size : radius, turn = (now[k] - last[k]) / unit;
    most = fmax(most, fabs(now[k]) / unit);
    sum[0] += last[k] / unit * turn, sum[1] += turn * turn;
  }
  return most;
}

// A fixed point within the linear problem: loads -> step -> loads. Where friction and pressure are
// strongly coupled (a rod that jams) its rounds shrink slowly; the share of the change that is
// taken follows from the last two by Aitken's rule.
static void follow_loads(abPatchIsland* island, Work* w, int rounds, double enough, double share) {
  memset(w->change, 0, sizeof(double) * 3 * (size_t)island->ncontact);
  for (int k = 0; k < rounds; k++) {
    double most = 0, sum[2] = {0};
    for (int i = 0; i < island->ncontact; i++) {
      double last[3];
      memcpy(last, w->change + 3 * i, sizeof last);
      if (!(island->contact[i]->law.mu > 0)) continue;
      most = fmax(most, compare_change(island->contact[i], last, w->change + 3 * i, sum));
    }
    if (most <= enough) return;
    if (k > 0 && sum[1] > 0) share = fmin(8, fmax(0.1, -share * sum[0] / sum[1]));
    change_loads(island, w, share);
  }
}

// The same in one go, for the few contacts of an island with joints. There, friction may press a
// foot down more than its load does (a leg that jams): rounds then leave the solution, each contact
// in its own direction. dN_i / dl_j is what the friction of contact j per load does to the normal
// impulse of contact i, and the loads are those with l = N of the linear problem: (1 - dN/dl) dl =
// N - l. What opens has no load.
enum { MOST_DIRECT = 24 };
#define DIRECT_GAP 1e-7  // it converges as Newton's method does
#define MOVING_GAP 1e-5

static void fill_column(abPatchIsland* island, Work* w, int j, double* A) {
  int n = island->ncontact;
  const abPatchContact* c = island->contact[j];
  double df[6];
  ab_patch_friction_change(c, 1, 0, 0, df);
  memset(w->load_step, 0, sizeof(double) * (size_t)island->ndof);
  ab_patch_scatter(island, c, df, w->load_step);
  ab_patch_back(&w->matrix, w->load_step);
  for (int i = 0; i < n; i++) {
    double V[6], Gd[6];
    ab_patch_relative(island, island->contact[i], w->load_step, V);
    ab_patch_apply_G(&island->contact[i]->G, V, Gd);
    A[i * n + j] = Gd[2] + (i == j);
  }
}

static bool solve_loads(abPatchIsland* island, Work* w) {
  int n = island->ncontact, pivot[MOST_DIRECT];
  double A[MOST_DIRECT * MOST_DIRECT], LU[MOST_DIRECT * MOST_DIRECT], b[MOST_DIRECT];
  bool opens[MOST_DIRECT];
  for (int i = 0; i < n; i++) {
    opens[i] = !(island->contact[i]->law.mu > 0);
    fill_column(island, w, i, A);
    memset(w->change + 3 * i, 0, 3 * sizeof *w->change);
    if (!opens[i]) wanted_change(island->contact[i], w->change + 3 * i);
  }
  for (bool again = true; again;) {
    again = false;
    for (int i = 0; i < n; i++) {
      const abPatchContact* c = island->contact[i];
      b[i] = opens[i] && c->law.mu > 0 ? ab_patch_least_load(c) - c->law.load : w->change[3 * i];
      for (int j = 0; j < n; j++) LU[i * n + j] = opens[i] ? i == j : A[i * n + j];
    }
    if (!dense_lu_solve(n, LU, b, pivot)) return false;
    for (int i = 0; i < n; i++)
      if (!opens[i] && island->contact[i]->law.load + b[i] < 0) opens[i] = again = true;
  }
  for (int i = 0; i < n; i++) w->change[3 * i] = b[i];
  change_loads(island, w, 1);
  return true;
}

// Where friction acts does not settle: it stays, and the loads alone go on.
static void pin_friction(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++) island->contact[i]->pinned = true;
}

typedef struct Follow {
  int times;      // not counting steps with each contact relaxed
  bool was_near;  // the residual was near zero the last time
  double enough;  // gap
  bool direct;    // solve_loads
  bool good;      // those of the last step are nearly right, and stay until the forces are
  double share;   // of what is wanted: grows while the gap shrinks, and halves when it does not
  double gap;     // of the last time
} Follow;

static void follow(abPatchIsland* island, Work* w, Follow* loads, bool relaxed, double gap) {
  bool near = island->residual <= NEAR, bold = (near && loads->was_near) || loads->times < BOLD;
  loads->was_near = near;
  if (relaxed) {
    follow_loads(island, w, 2, 1e-2, 1);
    return;
  }
  if (loads->times >= MOST_FOLLOWED || gap <= loads->enough || !(near || bold)) return;
  if (loads->good && !near) return;
  loads->share = gap < loads->gap ? fmin(1, 1.5 * loads->share) : 0.5 * loads->share;
  loads->gap = gap;
  if (!loads->direct || loads->times >= (near ? 2 * BOLD : BOLD) || !solve_loads(island, w))
    follow_loads(island, w, bold ? 4 : 1, 0.1 * loads->enough, bold ? 1 : loads->share);
  if (++loads->times == BOLD) pin_friction(island);
}

// The step d from gradient, answer and G. False if it is not finite.
static bool find_direction(abPatchIsland* island, Work* w) {
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

static void take_step(abPatchIsland* island, double a) {
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

// A step solved with a matrix as stiff as contacts are has a rounding as large against the inertia:
// momentum would be lost by it. What the invariant lacks, M (v - v_free) - sum J^T impulse, is free
// of that, since impulses act on both bodies alike; taken off through the same matrix it leaves
// what lies within the contacts as it is.
static void restore_momentum(abPatchIsland* island, const Work* w) {
  double *lack = island->gradient, change[6];
  for (int i = 0; i < island->ndof; i++) island->direction[i] = island->v[i] - island->v_free[i];
  ab_patch_apply_inertia(island, island->direction, lack);
  for (int i = 0; i < island->ncontact; i++) {
    for (int k = 0; k < 6; k++) change[k] = -island->contact[i]->impulse[k];
    ab_patch_scatter(island, island->contact[i], change, lack);
  }
  ab_patch_back(&w->matrix, lack);
  for (int i = 0; i < island->ndof; i++) island->v[i] -= lack[i];
  for (int i = 0; i < island->ncontact; i++) {
    ab_patch_relative(island, island->contact[i], lack, change);
    for (int k = 0; k < 6; k++) island->contact[i]->V[k] -= change[k];
  }
}

// What the user is told: the residual of the forces, and of the bound of friction so that
// AB_PATCH_GAP counts as the default tolerance.
static double reported(double residual, double gap) { return fmax(residual, 0.01 * gap); }

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
    const double *D = island->diagonal[b], *v = island->v + island->offset[b];
    double sum = 0;
    for (int i = 0; i < island->size[b] && D; i++) sum += D[i] * v[i] * v[i];
    if (sum > island->mass[b] * speed * speed) return true;
  }
  return false;
}

static double wanted_residual(const abPatchIsland* island) {
  double tolerance = island->system->param[AB_PATCH_TOLERANCE];
  bool slides = false;
  if (island->departure > 1 || tree_moves(island)) return STRIKING_SHARE * tolerance;
  for (int i = 0; i < island->ncontact; i++) slides |= island->contact[i]->moves;
  if (slides && island->ncontact <= FEW) return FEW_SHARE * tolerance;
  return fmin(0.1 * tolerance, fmax(CALM_SHARE * tolerance, rounding(island)));
}

// --- when that does not end
//
// Loads that follow the pressure inside the linear problem need not settle: where friction and
// pressure are strongly coupled, by joints, wedges or large coefficients, friction may be left
// without the pressure that allows it, at any size. There is a slower way. With loads l given the
// problem is convex, and Newton's method with the line search finds its solution from anywhere; its
// pressures N(l) are to be the loads. That is a fixed point, found by Anderson's acceleration: the
// next loads are the combination of the last few l whose N(l) - l vanishes to first order, moved on
// by what is left of it. The best answer counts.

enum { MOST_PASSES = 120, PASS_STEPS = 40, DEPTH = 5 };

static bool has_joints(const abPatchIsland* island) {
  for (int b = 0; b < island->nblock; b++)
    if (island->inertia[b]) return true;
  return false;
}

static double descend(abPatchIsland* island, Work* w, double enough) {
  for (int n = 0;; n++) {
    evaluate(island);
    island->residual = ab_patch_residual(island);
    if (island->residual <= enough || n >= PASS_STEPS || !isfinite(island->residual)) break;
    island->iterations++;
    if (!find_direction(island, w)) break;
    take_step(island, line_search(island, w));
  }
  return island->residual;
}

typedef struct Kept {
  double* v;
  abPatchContact* contact;
  double score;
} Kept;

static void keep_answer(const abPatchIsland* island, double score, Kept* kept) {
  memcpy(kept->v, island->v, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->ncontact; i++) kept->contact[i] = *island->contact[i];
  kept->score = score;
}

static void take_answer(abPatchIsland* island, const Kept* kept) {
  memcpy(island->v, kept->v, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->ncontact; i++) *island->contact[i] = kept->contact[i];
}

// The loads and what they lack, of the last passes; per contact, in units of its own size.
typedef struct Passes {
  int n, at;  // how many are known, where the next goes
  double *load[DEPTH], *lack[DEPTH];
  double* next;
} Passes;

static bool take_passes(abPatchIsland* island, Passes* p) {
  *p = (Passes){.next = AB_TAKE(island->scratch, double, island->ncontact)};
  bool all = p->next != NULL;
  for (int k = 0; k < DEPTH; k++) {
    p->load[k] = AB_TAKE(island->scratch, double, island->ncontact);
    p->lack[k] = AB_TAKE(island->scratch, double, island->ncontact);
    all = all && p->load[k] && p->lack[k];
  }
  return all;
}

static double size_of_load(const abPatchContact* c) {
  return fmax(fmax(c->impulse[2], c->law.load), 1e-3 * c->mass * c->unit);
}

// Weights w_k, 1 in all, for which |sum w_k lack_k| is least, as w_last = 1 - sum of the others:
// the normal equations in the differences, with as much on their diagonal as keeps them solvable.
static void find_weights(const abPatchIsland* island, const Passes* p, int last, double* weight) {
  int m = 0, which[DEPTH], pivot[DEPTH];
  double A[DEPTH * DEPTH], b[DEPTH];
  for (int k = 0; k < p->n; k++)
    if (k != last) which[m++] = k;
  for (int i = 0; i < m; i++) {
    b[i] = 0;
    for (int j = 0; j < m; j++) A[i * m + j] = 0;
    for (int c = 0; c < island->ncontact; c++) {
      double per = 1 / size_of_load(island->contact[c]), at = p->lack[last][c];
      double u = per * (p->lack[which[i]][c] - at);
      b[i] -= u * per * at;
      for (int j = 0; j < m; j++) A[i * m + j] += u * per * (p->lack[which[j]][c] - at);
    }
  }
  for (int i = 0; i < m; i++) A[i * m + i] *= 1 + 1e-10;
  for (int k = 0; k < p->n; k++) weight[k] = k == last;
  if (m == 0 || !dense_lu_solve(m, A, b, pivot)) return;
  for (int i = 0; i < m; i++) weight[which[i]] = b[i], weight[last] -= b[i];
}

// Notes the loads of this pass and what they lack, and sets those of the next.
static void next_loads(abPatchIsland* island, Passes* p, double share) {
  int last = p->at;
  double weight[DEPTH];
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchContact* c = island->contact[i];
    p->load[last][i] = c->law.load;
    p->lack[last][i] =
        c->law.mu > 0 ? fmax(c->impulse[2], ab_patch_least_load(c)) - c->law.load : 0;
  }
  p->at = (last + 1) % DEPTH;
  if (p->n < DEPTH) p->n++;
  find_weights(island, p, last, weight);
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    double load = 0, N = fmax(c->impulse[2], ab_patch_least_load(c));
    for (int k = 0; k < p->n; k++) load += weight[k] * (p->load[k][i] + share * p->lack[k][i]);
    // not far beyond what was found
    double low = 0.1 * fmin(N, c->law.load), high = 10 * fmax(N, c->law.load);
    ab_patch_set_load(&c->law, fmin(fmax(load, low), high));
  }
}

// Steps in the passes that have brought nothing better, after which they begin anew.
enum { PATIENCE = 8 };

static double fall_back(abPatchIsland* island, Work* w, double enough, double score) {
  Kept kept = {.v = AB_TAKE(island->scratch, double, island->ndof),
               .contact = AB_TAKE(island->scratch, abPatchContact, island->ncontact)};
  Passes passes;
  if (!take_passes(island, &passes) || !kept.v || !kept.contact) return score;
  keep_answer(island, score, &kept);
  double share = 1;
  for (int n = 0, since = 0; n < MOST_PASSES && !(kept.score <= 10 * enough); n++) {
    if (++since > PATIENCE) since = 0, share *= 0.5, passes.n = passes.at = 0;
    if (n > 0) next_loads(island, &passes, share);
    double left = descend(island, w, enough), now = reported(left, ab_patch_gap(island));
    if (!(now >= 0.5 * kept.score)) since = 0;
    if (!(now >= kept.score)) keep_answer(island, now, &kept);
  }
  take_answer(island, &kept);
  return kept.score;
}

// Where every contact sticks with all of its corners, the law at V is the right one already.
static bool all_linear(const abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++)
    if (!island->contact[i]->linear) return false;
  return true;
}

// An island with joints may have several solutions, four feet that push against each other, say,
// with some of them in the air. Loads that are right already are the way to the one that goes on
// from the last step: they are left alone until the forces are nearly balanced. Then who slides is
// decided, and where friction acts.
#define GOOD_LOADS 1e-2
enum { LATEST_RENEWAL = 8, MOST_ACCEPTED = 3, MOST_ACCEPTED_DIRECT = 12 };

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

abStatus ab_patch_solve(abPatchIsland* island) {
  const double* param = island->system->param;
  bool joined = island->njoin > 0, renewed = false;
  bool only = ab_patch_only(island), relaxed = island->departure > 0.01 || only,
       direct = (has_joints(island) || joined) && island->ncontact <= MOST_DIRECT && !only;
  if (!direct) find_sliding(island);
  if (direct) keep_last(island);
  double tolerance = param[AB_PATCH_TOLERANCE], enough = wanted_residual(island);
  int most = (int)param[AB_PATCH_ITERATIONS], since = 0;
  double gap = 0, best = INFINITY;
  double direct_gap = enough < STRIKING_SHARE * tolerance ? DIRECT_GAP : MOVING_GAP;
  Follow loads = {
      .enough = direct ? direct_gap : ab_patch_wanted_gap(island), .direct = direct, .share = 0.5};
  int accepted = direct ? MOST_ACCEPTED_DIRECT : MOST_ACCEPTED;
  Work w = {0};
  for (int n = 0;; n++) {
    bool turn = n > 0 && direct;  // one such step is enough to find who sticks
    if (n == 1 && relaxed && !direct && !only) renew_profiles(island);
    if (n > 0 && relaxed && !turn) {
      int far = ab_patch_relax(island);
      turn = island->residual <= 0.2 || n >= MOST_RELAXED || far == 0;
    }
    if (turn) relaxed = false;
    if (n == 0 || !relaxed) evaluate(island);
    measure(island, &gap);
    if (n == 0 && direct) relaxed = !all_linear(island), loads.good = gap <= GOOD_LOADS;
    if (n > 0 && direct && !renewed && (island->residual <= NEAR || n >= LATEST_RENEWAL)) {
      renewed = true;
      find_sliding(island);
      renew_profiles(island);
      evaluate(island);
      measure(island, &gap);
    }
    if (n == 0 || !relaxed) {
      bool settled = gap <= loads.enough ||
                     loads.times >= (0.01 * gap <= tolerance ? accepted : MOST_FOLLOWED);
      if (island->residual <= enough && settled) break;
      if (island->residual < 0.5 * best) best = island->residual, since = 0;
      // rounding stops it
      if (++since > 3 && settled && island->residual <= tolerance) break;
    }
    if (n >= most || !isfinite(island->residual)) break;
    if (n == 0) {
      abStatus status = take_work(island, &w);
      if (status == AB_OK && relaxed && !direct) status = ab_patch_alone(island);
      if (status != AB_OK) return status;
      if (relaxed && direct) begin_at_last(island);
      if (relaxed && !direct) ab_patch_relax(island);
      if (relaxed) island->residual = ab_patch_residual(island);
    }
    island->iterations++;
    if (!find_direction(island, &w)) {
      island->nregularised++;
      break;
    }
    if (!(direct && relaxed)) follow(island, &w, &loads, relaxed, gap);
    take_step(island, relaxed ? 1 : line_search(island, &w));
  }
  island->residual = reported(island->residual, gap);
  if (!(island->residual <= tolerance) && w.load_step && !joined)
    island->residual = fall_back(island, &w, 0.1 * tolerance, island->residual);
  if (w.matrix.factored && island->nrow == 0 && !joined) {
    restore_momentum(island, &w);
    ab_patch_momenta(island);  // to the last bit
  }
  ab_patch_join_finish(island);
  ab_patch_find_shift(island, &w.matrix);
  return AB_OK;
}
