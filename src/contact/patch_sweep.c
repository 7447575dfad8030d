// Block Gauss-Seidel on one island: contact by contact, each solved for its six impulses while the
// others wait.
//
// With V0 the relative twist without the contact's own impulse and Phi its 6 x 6 mobility, the
// local problem is
//
//   minimise 1/2 (V - V0)^T Phi^-1 (V - V0) + energy(V),      impulse = Phi^-1 (V - V0),
//
// convex in six unknowns; a few Newton steps with the exact derivative of the law. Velocities are
// kept equal to v_free + M^-1 sum J^T impulse throughout, so that momentum is right wherever the
// sweeps stop, and what is left is a mismatch between velocity and law, measured as a velocity. A
// contact whose mismatch is below the tolerance is passed over, and not even looked at while its
// bodies keep their velocities: in a pile where one corner moves the work is done there. The bound
// of friction stays what it was: followed from visit to visit, friction and pressure push each
// other to and fro, and the sweeps do not converge.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "contact/patch.h"
#include "math/spatial.h"

// One contact by itself. X: the twist c->state.
typedef struct abPatchAlone {
  bool ready, known;          // R; and what belongs to X
  int seen;                   // the visit at which the contact was last looked at
  double left;                // what was wrong then, and not mended
  double limit;               // velocity that may be wrong in the end
  double R[36];               // Phi^-1
  double f[6], G[12], A[36];  // law and minus its derivative at X; factors of R + G
} Local;

// Columns of Phi for one free body: see mobility() in patch_setup.c for one entry.
static void add_mobility(const abResponse* r, const abPatchContact* c, int k, double* phi) {
  const abPatchSide* s = &c->side[k];
  abVec3 a[6], b[6];
  for (int i = 0; i < 3; i++) {
    a[i] = v3_cross(s->r, c->axis[i]);
    a[3 + i] = c->axis[i];
  }
  for (int i = 0; i < 6; i++) b[i] = m3_apply(&r->inv_inertia[s->body], a[i]);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j <= i; j++) {
      double v = v3_dot(a[i], b[j]);
      if (i == j && i < 3) v += r->inv_mass[s->body];
      phi[6 * i + j] += v;
      if (i != j) phi[6 * j + i] += v;
    }
}

// The same for a body of a joint tree, and the coupling of two bodies of one tree.
static void add_tree_mobility(const abResponse* r, const abPatchContact* c, int p, int q,
                              double* phi) {
  abMat6 block;
  ab_response_block(r, c->side[p].body, c->side[q].body, &block);
  double X[2][6][6];
  const int which[2] = {p, q};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++) {
      abVec3 e = v3_scale(which[k] == 0 ? 1 : -1, c->axis[i]), m = v3_cross(c->side[which[k]].r, e);
      double lin[6] = {e.x, e.y, e.z, m.x, m.y, m.z}, ang[6] = {0, 0, 0, e.x, e.y, e.z};
      memcpy(X[k][i], lin, sizeof lin);
      memcpy(X[k][3 + i], ang, sizeof ang);
    }
  for (int j = 0; j < 6; j++) {
    double y[6];
    m6_apply(&block, X[1][j], y);
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < 6; k++) phi[6 * i + j] += X[0][i][k] * y[k];
  }
}

// A = L D L^T in place, pivots guarded; returns how many were replaced. 1 / D is on the diagonal.
// Fixed size: the compiler unrolls it.
static int factor6(double A[36]) {
  int nreplaced = 0;
  double most = 0, D[6];
  for (int i = 0; i < 6; i++) most = A[7 * i] > most ? A[7 * i] : most;
  for (int j = 0; j < 6; j++) {
    double d = A[7 * j], u[6];
    for (int k = 0; k < j; k++) u[k] = A[6 * j + k] * D[k], d -= A[6 * j + k] * u[k];
    if (!(d > DBL_EPSILON * most)) d = most > 0 ? most : 1, nreplaced++;
    D[j] = d;
    double per = A[7 * j] = 1 / d;
    for (int i = j + 1; i < 6; i++) {
      double t = A[6 * i + j];
      for (int k = 0; k < j; k++) t -= A[6 * i + k] * u[k];
      A[6 * i + j] = t * per;
    }
  }
  return nreplaced;
}

static void solve6(const double A[36], double x[6]) {
  for (int i = 1; i < 6; i++)
    for (int k = 0; k < i; k++) x[i] -= A[6 * i + k] * x[k];
  for (int i = 0; i < 6; i++) x[i] *= A[7 * i];
  for (int i = 4; i >= 0; i--)
    for (int k = i + 1; k < 6; k++) x[i] -= A[6 * k + i] * x[k];
}

static int prepare(const abPatchIsland* island, const abPatchContact* c, Local* local) {
  const abResponse* r = island->system->problem->response;
  double phi[36] = {0};
  for (int k = 0; k < 2; k++) {
    if (c->side[k].block < 0) continue;
    if (c->side[k].J)
      add_tree_mobility(r, c, k, k, phi);
    else
      add_mobility(r, c, k, phi);
  }
  if (c->side[0].J && c->side[0].block == c->side[1].block) {
    add_tree_mobility(r, c, 0, 1, phi);
    add_tree_mobility(r, c, 1, 0, phi);
  }
  int nreplaced = factor6(phi);
  for (int j = 0; j < 6; j++) {
    double e[6] = {0};
    e[j] = 1;
    solve6(phi, e);
    for (int i = 0; i < 6; i++) local->R[6 * i + j] = e[i];
  }
  local->ready = true;
  return nreplaced;
}

static void apply6(const double* A, const double x[6], double y[6]) {
  for (int i = 0; i < 6; i++) {
    double s = 0;
    for (int j = 0; j < 6; j++) s += A[6 * i + j] * x[j];
    y[i] = s;
  }
}

// v += M^-1 J^T df for the two movers of a contact
static void push(const abPatchIsland* island, const abPatchContact* c, const double df[6]) {
  const abResponse* r = island->system->problem->response;
  abVec3 force = v3_zero(), torque = v3_zero();
  for (int k = 0; k < 3; k++) {
    force = v3_axpy(df[k], c->axis[k], force);
    torque = v3_axpy(df[3 + k], c->axis[k], torque);
  }
  for (int k = 0; k < 2; k++) {
    const abPatchSide* s = &c->side[k];
    if (s->block < 0) continue;
    double sign = k == 0 ? 1 : -1;
    double* v = island->v + island->offset[s->block];
    abVec3 t = v3_scale(sign, v3_add(torque, v3_cross(s->r, force)));
    abVec3 f = v3_scale(sign, force);
    if (!s->J) {
      double m = r->inv_mass[s->body];
      abVec3 w = m3_apply(&r->inv_inertia[s->body], t);
      v[0] += m * f.x, v[1] += m * f.y, v[2] += m * f.z, v[3] += w.x, v[4] += w.y, v[5] += w.z;
    } else {
      double* g = island->direction + island->offset[s->block];
      double w[6] = {f.x, f.y, f.z, t.x, t.y, t.z};
      for (int j = 0; j < s->n; j++) {
        g[j] = 0;
        for (int i = 0; i < 6; i++) g[j] += s->J[i * s->n + j] * w[i];
      }
      dense_cholesky_solve(s->n, island->factor[s->block], g);
      for (int j = 0; j < s->n; j++) v[j] += g[j];
    }
  }
}

// What the mismatch between the law's answer and the impulse means as a velocity of the contact's
// own bodies.
static double mismatch(const abPatchIsland* island, const abPatchContact* c,
                       const double answer[6]) {
  const double *m = c->law.moments.m, *param = island->system->param;
  double d[6];
  for (int k = 0; k < 6; k++) d[k] = answer[k] - c->impulse[k];
  double second = m[AB_M_XX] + m[AB_M_YY], per_r2 = second > 0 ? m[AB_M_1] / second : 0;
  double normal = sqrt(d[2] * d[2] + (d[3] * d[3] + d[4] * d[4]) * per_r2);
  double along = sqrt(d[0] * d[0] + d[1] * d[1] + d[5] * d[5] * per_r2);
  return (normal * param[AB_PATCH_STIFFNESS] / c->law.weight +
          along * param[AB_PATCH_FRICTION_STIFFNESS] / c->law.weight_t) /
         m[AB_M_1];
}

// A contact is left alone where it is wrong by less than this share of what may be wrong in the
// end.
#define LEFT_ALONE 0.3
// What strikes or is struck need not be solved finer than to this share of how its motion changes.
#define MOVING_SHARE 3e-3

typedef struct Visit {
  abPatchIsland* island;
  int* moved;  // per block: the visit that last changed its velocity
  int now;     // visits so far
} Visit;

// --- the local problem, about its last solution X = c->state. What presses presses there as it did
// when the law last gave its impulse: the neighbours have since moved the bodies by far more than
// the law's width, and at the present velocity V most points would wrongly seem to have come off,
// or to slip.

// The impulse that belongs to X: impulse + R (X - V).
static void impulse_at(const abPatchContact* c, const Local* l, double F[6]) {
  double d[6];
  for (int k = 0; k < 6; k++) d[k] = c->state[k] - c->V[k];
  apply6(l->R, d, F);
  for (int k = 0; k < 6; k++) F[k] += c->impulse[k];
}

// The law at X; its derivative is trusted as far as the impulse F agrees.
static void ask(abPatchContact* c, Local* l, const double F[6]) {
  c->law.trust = 1;
  if (!ab_patch_evaluate(&c->law, c->state, l->f, l->G)) {
    memcpy(c->answer, l->f, sizeof c->answer);
    c->law.trust = ab_patch_trust(c, F);
    if (c->law.trust < 1) ab_patch_evaluate(&c->law, c->state, l->f, l->G);
  }
  ab_patch_expand_G(l->G, l->A);
  for (int k = 0; k < 36; k++) l->A[k] += l->R[k];
  factor6(l->A);
  l->known = true;
}

// A change of the twist as a speed: of the effective mass along the normal with the same energy.
// The speeds at the patch alone would not do: a small patch may turn fast, and its bodies with it.
static double size_of(const abPatchContact* c, const Local* l, const double d[6]) {
  double y[6], sum = 0;
  apply6(l->R, d, y);
  for (int k = 0; k < 6; k++) sum += d[k] * y[k];
  return sqrt(fmax(0, sum) / (c->push * c->law.moments.m[AB_M_1]));
}

// The step from X to the solution, by the derivative; returns its size.
static double step_of(const abPatchContact* c, const Local* l, const double F[6], double s[6]) {
  for (int k = 0; k < 6; k++) s[k] = l->f[k] - F[k];
  solve6(l->A, s);
  return size_of(c, l, s);
}

typedef struct Line {
  double X[6], F[6];  // where it begins
  double s[6], Rs[6];
} Line;

// Goes the fraction a of the step; returns the energy's slope there.
static double try_step(abPatchContact* c, const Line* line, double a) {
  double slope = 0, f[6];
  for (int k = 0; k < 6; k++) c->state[k] = line->X[k] + a * line->s[k];
  ab_patch_evaluate(&c->law, c->state, f, NULL);
  for (int k = 0; k < 6; k++) slope += line->s[k] * (line->F[k] + a * line->Rs[k] - f[k]);
  return slope;
}

// As line_search in patch_newton.c; fhigh: the slope at the end.
static void local_search(abPatchContact* c, const Line* line, double slope0, double fhigh) {
  double low = 0, high = 1, flow = slope0;
  bool bisect = false;
  for (int i = 0; i < 12 && high - low > 0.05 * high; i++) {
    double width = high - low;
    double a = bisect ? 0.5 * (low + high) : (low * fhigh - high * flow) / (fhigh - flow);
    double f = try_step(c, line, a);
    if (fabs(f) <= 0.3 * -slope0) return;
    if (f > 0)
      high = a, fhigh = f;
    else
      low = a, flow = f;
    bisect = high - low > 0.5 * width;
  }
  for (int k = 0; k < 6; k++) c->state[k] = line->X[k] + high * line->s[k];
}

enum { LOCAL_STEPS = 12 };

// Newton's method from X on, with its first step in `line`, until the step is at most `enough`:
// returns whether it came to that.
static bool solve_from_state(abPatchContact* c, Local* l, Line* line, double enough) {
  for (int i = 0; i < LOCAL_STEPS; i++) {
    double slope0 = 0, slope1 = 0, F[6];
    for (int k = 0; k < 6; k++) slope0 -= (l->f[k] - line->F[k]) * line->s[k];
    apply6(l->R, line->s, line->Rs);
    memcpy(line->X, c->state, sizeof line->X);
    for (int k = 0; k < 6; k++) c->state[k] += line->s[k], F[k] = line->F[k] + line->Rs[k];
    ask(c, l, F);
    for (int k = 0; k < 6; k++) slope1 += line->s[k] * (F[k] - l->f[k]);
    if (slope1 > 0.5 * -slope0) {
      local_search(c, line, slope0, slope1);
      impulse_at(c, l, F);
      ask(c, l, F);
    }
    memcpy(line->F, F, sizeof F);
    if (step_of(c, l, line->F, line->s) <= enough) return true;
  }
  return false;
}

// What did not press, and what has gone astray, begins at V.
static void solve_contact(abPatchContact* c, Local* l, Line* line, double enough) {
  if (c->impulse[2] > 0 && solve_from_state(c, l, line, enough)) return;
  memcpy(c->state, c->V, sizeof c->state);
  memcpy(line->F, c->impulse, sizeof line->F);
  ask(c, l, line->F);
  if (step_of(c, l, line->F, line->s) > enough) solve_from_state(c, l, line, enough);
}

static bool moved_since(const Visit* visit, const abPatchContact* c, int seen) {
  for (int k = 0; k < 2; k++)
    if (c->side[k].block >= 0 && visit->moved[c->side[k].block] > seen) return true;
  return false;
}

// Looks at a contact and solves it if it is wrong; returns the velocity it was wrong by.
static double visit_contact(Visit* visit, abPatchContact* c, Local* local) {
  abPatchIsland* island = visit->island;
  if (!moved_since(visit, c, local->seen)) return local->left;
  ab_patch_relative(island, c, island->v, c->V);
  local->seen = ++visit->now;
  if (!local->ready) island->nregularised += prepare(island, c, local);
  Line line;
  double d[6], df[6], sum = 0, least = LEFT_ALONE * local->limit;
  impulse_at(c, local, line.F);
  if (!local->known) ask(c, local, line.F);
  double way = step_of(c, local, line.F, line.s);
  for (int k = 0; k < 6; k++) d[k] = c->state[k] + line.s[k] - c->V[k];
  local->left = size_of(c, local, d);
  if (local->left <= least && way <= local->limit) return local->left;
  solve_contact(c, local, &line, LEFT_ALONE * least);
  for (int k = 0; k < 6; k++) d[k] = c->state[k] - c->V[k];
  local->left = size_of(c, local, d);
  if (local->left <= least) return local->left;
  apply6(local->R, d, df);
  for (int k = 0; k < 6; k++) sum += 0 * df[k];
  if (sum != 0) {  // not finite
    island->nregularised++;
    memcpy(c->state, c->V, sizeof c->state);
    local->known = false;
    return local->left;
  }
  memcpy(c->V, c->state, sizeof c->V);
  for (int k = 0; k < 6; k++) c->impulse[k] += df[k];
  push(island, c, df);
  for (int k = 0; k < 2; k++)
    if (c->side[k].block >= 0) visit->moved[c->side[k].block] = visit->now;
  double change = local->left;
  local->left = 0;
  local->limit = fmax(local->limit, MOVING_SHARE * change);
  return change;
}

// How far X is from where the law gives the impulse.
static double gap_of(const abPatchIsland* island, abPatchContact* c, const Local* l) {
  double s[6];
  if (!l->known) {
    ab_patch_evaluate(&c->law, c->state, s, NULL);
    return mismatch(island, c, s);
  }
  for (int k = 0; k < 6; k++) s[k] = l->f[k] - c->impulse[k];
  solve6(l->A, s);
  return ab_patch_speed(c, s);
}

// The velocity that a contact is wrong by, at most: how far it is from where the law gives its
// impulse, or what the law's answer to its motion would change, whichever is less. V has been set.
static double wrong_by(const abPatchIsland* island, abPatchContact* c, const Local* l,
                       double limit) {
  double d[6];
  for (int k = 0; k < 6; k++) d[k] = c->V[k] - c->state[k];
  double far = ab_patch_speed(c, d) + gap_of(island, c, l);
  if (far <= LEFT_ALONE * limit) return far;
  ab_patch_evaluate(&c->law, c->V, c->answer, NULL);
  double change = mismatch(island, c, c->answer);
  if (change > far) return far;
  memcpy(c->state, c->V, sizeof c->state);
  return change;
}

// Momentum. What sweeps are slow at is carrying loads through many bodies; a step along the changes
// of the sweeps before makes up for it, as in the nonsmooth nonlinear conjugate gradients of
// Silcowitz, Niebe & Erleben (2010). One iteration is a sweep forward and one backward, which
// together are symmetric, as conjugate gradients want; the change g of the velocities in it stands
// for the gradient, |g|^2 = g^T M g, and beta = |g|^2 / |g of the iteration before|^2. Where that
// is above one, the direction is dropped. Impulses and velocities go together, so that each belongs
// to the other; the last iteration goes without, so that what is handed out has been visited.
typedef struct Momentum {
  double *v0, *v;            // velocities before the iteration; direction
  double (*f0)[6], (*f)[6];  // likewise, impulses
  double (*s0)[6], (*s)[6];  // likewise, the twists where the law gives them
  double* g;                 // change of velocities
  double last;               // |g|^2 of the iteration before, 0: none
} Momentum;

static bool take_momentum(const abPatchIsland* island, Momentum* m) {
  abArena* arena = island->scratch;
  size_t bytes = sizeof(double[6]) * (size_t)island->ncontact;
  *m = (Momentum){.v0 = AB_TAKE(arena, double, island->ndof),
                  .v = AB_TAKE(arena, double, island->ndof),
                  .f0 = ab_arena_take(arena, bytes),
                  .f = ab_arena_take(arena, bytes),
                  .s0 = ab_arena_take(arena, bytes),
                  .s = ab_arena_take(arena, bytes),
                  .g = AB_TAKE(arena, double, island->ndof)};
  return m->v0 && m->v && m->f0 && m->f && m->s0 && m->s && m->g;
}

static void begin_iteration(const abPatchIsland* island, Momentum* m) {
  memcpy(m->v0, island->v, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->ncontact; i++) {
    memcpy(m->f0[i], island->contact[i]->impulse, sizeof m->f0[i]);
    memcpy(m->s0[i], island->contact[i]->state, sizeof m->s0[i]);
  }
}

// x, moved from x0, goes on by beta times the direction d, which becomes all of its motion.
static void go_on(int n, double beta, const double* x0, double* x, double* d) {
  for (int i = 0; i < n; i++) {
    double along = beta > 0 ? beta * d[i] : 0, change = x[i] - x0[i];
    x[i] += along;
    d[i] = along + change;
  }
}

// Goes along the direction; returns whether it has moved.
static bool carry_on(abPatchIsland* island, Momentum* m) {
  for (int i = 0; i < island->ndof; i++) m->g[i] = island->v[i] - m->v0[i];
  double now = ab_patch_kinetic(island, m->g);
  double beta = m->last > 0 && now <= m->last ? now / m->last : 0;
  m->last = now;
  go_on(island->ndof, beta, m->v0, island->v, m->v);
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    go_on(6, beta, m->f0[i], c->impulse, m->f[i]);
    go_on(6, beta, m->s0[i], c->state, m->s[i]);
  }
  return beta > 0;
}

// One sweep; returns the largest velocity in it that was wrong, in units of what may be.
static double sweep_once(Visit* visit, Local* local, bool back) {
  const abPatchIsland* island = visit->island;
  double worst = 0;
  for (int k = 0; k < island->ncontact; k++) {
    int i = back ? island->ncontact - 1 - k : k;
    double wrong = visit_contact(visit, island->contact[i], &local[i]);
    worst = fmax(worst, wrong / local[i].limit);
  }
  return worst;
}

// What is wrong in the end, in units of what may be at rest.
static double left_wrong(abPatchIsland* island, const Local* local, double limit) {
  double worst = 0;
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    ab_patch_relative(island, c, island->v, c->V);
    worst = fmax(worst, wrong_by(island, c, &local[i], limit));
  }
  return worst / limit;
}

// While bodies strike, nobody sees what is smaller than this share of the fastest change, or, in
// units of g h, than this.
#define STRIKING_SHARE 1e-3
#define STRIKING_MOST 0.1

// Where sweeps that are cut short would leave a blow with more energy than it had, they go on, up
// to this many times the number allowed.
enum { MOST_LONGER = 8 };

abStatus ab_patch_sweep(abPatchIsland* island) {
  const abPatchSystem* system = island->system;
  int most = (int)system->param[AB_PATCH_SWEEPS];
  bool strikes = island->ncontact > AB_PATCH_LARGE && island->departure > AB_PATCH_CALM;
  int longest = MOST_LONGER * most;
  if (strikes) most = (most + 1) / 2;  // the next step brings other blows
  double limit = system->param[AB_PATCH_SWEEP_TOLERANCE] * ab_patch_unit_speed(system);
  double loose = strikes ? fmin(STRIKING_SHARE * island->departure, STRIKING_MOST) : 0;
  Local* local = AB_TAKE(island->scratch, Local, island->ncontact);
  Visit visit = {.island = island, .moved = AB_TAKE(island->scratch, int, island->nblock)};
  Momentum momentum;
  if (!local || !visit.moved || !take_momentum(island, &momentum)) return AB_ERROR_MEMORY;
  ab_patch_wake_all(island);
  for (int i = 0; i < island->ncontact; i++)
    local[i].ready = local[i].known = false, local[i].seen = -1,
    local[i].limit = fmax(limit, loose * ab_patch_unit_speed(system));
  for (int b = 0; b < island->nblock; b++) visit.moved[b] = 0;
  for (int sweep = 0; sweep < most; sweep++) {
    bool back = sweep % 2;
    if (!back) begin_iteration(island, &momentum);
    double worst = sweep_once(&visit, local, back);
    island->iterations++;
    if (worst <= 1) break;
    if (sweep + 1 == most && most < longest && ab_patch_gains(island))
      most += 2 * (1 + (most + 1) / 4);
    if (back && sweep + 2 < most && carry_on(island, &momentum))
      for (int i = 0; i < island->ncontact; i++) local[i].seen = -1, local[i].known = false;
  }
  island->residual = left_wrong(island, local, limit) * system->param[AB_PATCH_TOLERANCE];
  island->loads_follow = true;
  return AB_OK;
}

// --- for Newton's method
// ---------------------------------------------------------------------------------------

// Newton's step for the whole island is as good as each contact's law is straight, and where a
// patch is to begin or to cease slipping it is not: full steps then jump to and fro, shortened ones
// hold up all the others. So the law is linearised not at the twist V but where the contact alone,
// with the velocities its impulse has left it, would go: at the X of its local problem
//
//   law(X) = impulse + R (X - V),
//
// R the inertia of its two bodies against relative motion, made stiffer by what surrounds them.
// Where the impulse is the law's, X = V. With R infinite this is Newton's method in velocities,
// with R = 0 in impulses (as for augmented Lagrangians: Alart & Curnier 1991). The pressure, a
// power of the depth, wants the second, and friction something between.
#define STIFFER_NORMAL 4.0
#define STIFFER_ALONG 10.0

typedef struct Alone {
  abPatchIsland* island;
  Local* local;
} Alone;

static void stiffen(double R[36]) {
  double n = sqrt(STIFFER_NORMAL), t = sqrt(STIFFER_ALONG), by[6] = {t, t, n, n, n, t};
  for (int k = 0; k < 36; k++) R[k] *= by[k / 6] * by[k % 6];
}

// Answer and derivative at V as seen from X, trusted as far as the impulse agrees.
static void answer_from_state(abPatchContact* c, Local* l) {
  double d[6], Gd[6];
  for (int k = 0; k < 6; k++) d[k] = c->V[k] - c->state[k];
  ab_patch_apply_G(l->G, d, Gd);
  for (int k = 0; k < 6; k++) c->answer[k] = l->f[k] - Gd[k];
  memcpy(c->G, l->G, sizeof c->G);
}

static void relax_contact(abPatchContact* c, Local* l) {
  Line line;
  impulse_at(c, l, line.F);
  l->left = step_of(c, l, line.F, line.s);
  if (l->left <= LEFT_ALONE * l->limit) return;
  solve_contact(c, l, &line, fmax(0.01 * l->left, l->limit));
  memcpy(c->answer, l->f, sizeof c->answer);
  if (ab_patch_trust(c, c->impulse) != c->law.trust) ask(c, l, c->impulse);
}

static void relax_chunk(void* context, int chunk, int worker) {
  (void)worker;
  const Alone* w = context;
  int first = chunk * AB_PATCH_CHUNK, last = first + AB_PATCH_CHUNK;
  for (int i = first; i < last && i < w->island->ncontact; i++) {
    relax_contact(w->island->contact[i], &w->local[i]);
    answer_from_state(w->island->contact[i], &w->local[i]);
  }
}

// Far is what would be left alone by the sweeps, at rest.
int ab_patch_relax(abPatchIsland* island, abPatchAlone* alone) {
  Alone work = {island, alone};
  int n = 0;
  ab_pool_run(island->pool, ab_patch_chunks(island->ncontact), relax_chunk, &work);
  for (int i = 0; i < island->ncontact; i++) n += alone[i].left > 10 * alone[i].limit;
  return n;
}

abPatchAlone* ab_patch_alone(abPatchIsland* island) {
  abPatchAlone* alone = AB_TAKE(island->scratch, abPatchAlone, island->ncontact);
  double limit =
      0.1 * island->system->param[AB_PATCH_SWEEP_TOLERANCE] * ab_patch_unit_speed(island->system);
  for (int i = 0; i < island->ncontact && alone; i++) {
    abPatchContact* c = island->contact[i];
    Local* l = &alone[i];
    l->limit = limit;
    island->nregularised += prepare(island, c, l);
    stiffen(l->R);
    ask(c, l, c->impulse);
    answer_from_state(c, l);
  }
  return alone;
}
