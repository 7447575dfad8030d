// Restitution: where and with what velocity a rebound ends a step.
// Tests: test_patch_stories, test_stories_motion.
#include <math.h>
#include <string.h>

#include "contact/patch/patch.h"
#include "math/spatial.h"

// Rebound. A body approaches with u over the gap d while the free motion accelerates it towards the
// other by a; it strikes after the time t, d = u t + a t^2 / 2, with sqrt(u^2 + 2 a d) and leaves
// with e times that. What is left of the step may hold more flights, each e times as long as the
// one before, from 2 w / a on: their number follows from the sum of the series, and where the whole
// series, 2 w / (a (1 - e)), has room, the body has come to rest. In the last flight, begun with w
// and T old, it ends with the velocity w - a T at the height w T - a T^2 / 2: energy and time are
// right whatever the step's length.
//
// The velocity is the target. The height is another than d + h (w - a T): the impulse p did not act
// from the beginning of the step on but later, on the mean at the time t_p. The coordinates are
// moved back by t_p M^-1 J^T p for this, and by half a step's fall, as in free flight
// (shift.c): so turning and friction of a rebound are those of its time, too. That this gives
// the height above says what t_p is.
typedef struct Rebound {
  enum { NO_IMPACT, RESTS, LEAVES } what;
  int flights;          // that ended within the step
  double launch, time;  // w, t
  double fall;          // a T
  double impulse_time;  // t_p
} Rebound;

static Rebound find_rebound(double u, double a, double d, double e, double h) {
  Rebound r = {.what = NO_IMPACT};
  double square = u * u + 2 * a * d;
  if (!(square >= 0) || (u <= 0 && a <= 0)) return r;
  double strikes = sqrt(square);
  r.time = u > 0 ? 2 * d / (u + strikes) : (strikes - u) / a;
  if (!(r.time < h)) return r;
  double T = h - r.time, w = e * strikes, flight = a > 0 ? 2 * w / a : INFINITY;
  r.what = RESTS;
  if (!(w > 0) || T * (1 - e) >= flight) return r;
  if (T >= flight) {
    double n = e < 1 ? floor(log1p(-T * (1 - e) / flight) / log(e)) : floor(T / flight);
    double share = pow(e, n);
    T = fmax(0, T - flight * (e < 1 ? (1 - share) / (1 - e) : n));
    w *= share, r.flights = 1;
  }
  double height = (w - 0.5 * a * T) * T, gained = w - a * T + u + a * h;
  r.what = LEAVES, r.launch = w, r.fall = a * T;
  r.impulse_time = h * (w - a * T) + 0.5 * a * h * h - (height - d);
  r.impulse_time = gained > 0 ? fmin(fmax(r.impulse_time / gained, 0), h) : 0;
  return r;
}

// Where coordinates cannot be moved back in time, because of joints or of what turns, only the
// energy is made right, at the height d + h v',
//
//   v'^2 / 2 + a (d + h v') = e^2 (u^2 + 2 a d) / 2.
static Rebound find_prompt_rebound(double u, double a, double d, double e, double h) {
  Rebound r = {.what = NO_IMPACT};
  double ah = fmax(a, 0) * h, left = ah * ah + e * e * u * u - 2 * (1 - e * e) * fmax(a, 0) * d;
  if (!(u > 0) || d > h * (u + 0.5 * ah)) return r;
  r.launch = sqrt(fmax(0, left)) - ah;
  r.what = r.launch > AB_PATCH_REBOUND * fabs(a) * h ? LEAVES : NO_IMPACT;
  return r;
}

// What gives way at the impact is held by joints, to more than a thousandth: then it is no rebound
// of a free body from something that moves on as it did.
static bool is_jointed(const abPatchSystem* system, const abPatchContact* c) {
  double all = 0, held = 0;
  for (int k = 0; k < 2; k++) {
    double part[3];
    ab_patch_mobility(system->problem->response, c, k, part);
    all += part[2], held += c->side[k].branch ? part[2] : 0;
  }
  return held > 1e-3 * all;
}

// A corner of the patch: how far it is from the other body, how fast it approaches, and how the
// free motion accelerates it towards it.
typedef struct Corner {
  double gap, u, a;
} Corner;

static Corner corner_at(const abPatch* p, const abPatchContact* c, int i, double h) {
  double x = c->law.x[i], y = c->law.y[i];
  double before = c->start[2] + c->start[3] * y - c->start[4] * x;
  double after = c->free[2] + c->free[3] * y - c->free[4] * x;
  return (Corner){-(p->h0 + p->hx * x + p->hy * y), -before, (before - after) / h};
}

// The velocity with which the corner ends the step at the surface when the impulse acts at the time
// t_p: its gap, h v', half a step's fall, less what the impulse and the fall are too early by.
static double stays_out(const Corner* k, double t_p, double h) {
  double left = h - t_p;
  if (!(left > AB_PATCH_TIME_LEFT * h)) return AB_PATCH_NEVER_PRESSES;
  return -(fmax(k->gap, 0) + 0.5 * k->a * h * h - t_p * (k->u + k->a * h)) / left;
}

// Whether it has come to the surface, but for a trace, after the time t.
static bool is_there(const Corner* k, double t, double thin) {
  return k->gap <= (k->u + 0.5 * k->a * t) * t + AB_PATCH_AT_ONCE * thin;
}

// Before the impact the body flies, and is not stopped where its velocity at the end of the step
// would lead but where its motion does, half a step's fall later: if no corner strikes.
static void fly_on(const abPatch* p, abPatchContact* c, double h) {
  for (int i = 0; i < c->law.ncorner; i++) {
    Corner k = corner_at(p, c, i, h);
    if (!(k.gap > 0 && k.gap - h * (k.u + 0.5 * k.a * h) > 0)) return;
  }
  for (int i = 0; i < c->law.ncorner; i++)
    c->law.aim[i] -= fmax(0, 0.5 * h * corner_at(p, c, i, h).a);
}

// The corner that strikes first, -1: none; *strikes: whether any does, be it to rest.
static int first_to_leave(const abPatch* p, const abPatchContact* c, double e, double h,
                          Rebound* first, bool* strikes) {
  int which = -1;
  *strikes = false;
  for (int i = 0; i < c->law.ncorner; i++) {
    Corner k = corner_at(p, c, i, h);
    Rebound r = find_rebound(k.u, k.a, fmax(k.gap, 0), e, h);
    *strikes |= r.what != NO_IMPACT;
    if (r.what != LEAVES || (k.gap < 0 && r.launch - r.fall <= c->law.aim[i])) continue;
    if (which < 0 || r.time < first->time) *first = r, which = i;
  }
  return which;
}

static bool both_move(const abPatchContact* c) {
  return c->side[0].block >= 0 && c->side[1].block >= 0;
}

// When the impulse acts: where the levers of both bodies are those of it, so that the two together
// keep their angular momentum.
static double time_of_impulse(const abPatch* p, const abPatchContact* c, double by_gap) {
  return both_move(c) && p->meet_time > 0 ? p->meet_time : by_gap;
}

// Each corner strikes by itself: an edge or a corner of the patch that comes down first leaves,
// with all that are as near then but for a trace, while the others are only kept out.
static bool aim(const abPatch* p, abPatchContact* c, double e, double h) {
  abPatchLaw* law = &c->law;
  Rebound first;
  bool strikes;
  if (first_to_leave(p, c, e, h, &first, &strikes) < 0) {
    if (!strikes) fly_on(p, c, h);
    return false;
  }
  double t = first.time;
  c->impulse_time = time_of_impulse(p, c, first.impulse_time);
  for (int i = 0; i < law->ncorner; i++) {
    Corner k = corner_at(p, c, i, h);
    law->calm[i] = law->aim[i];
    law->aim[i] = stays_out(&k, c->impulse_time, h);
    if (!is_there(&k, t, c->thin)) continue;
    Rebound r = find_rebound(k.u, k.a, fmax((k.u + 0.5 * k.a * t) * t, 0), e, h);
    if (r.what == LEAVES) law->aim[i] = fmax(law->aim[i], r.launch - r.fall);
  }
  for (int i = 0; i < law->ncorner; i++) law->calm[i] = fmin(law->calm[i], law->aim[i]);
  return c->delayed = true;
}

// An edge that is pressed already, and does not leave as another corner does, bears its load from
// the beginning of the step on: that impulse is not to be delayed.
static bool bears(const abPatch* p, const abPatchContact* c, double e, double h) {
  bool stays = false, leaves = false;
  for (int i = 0; i < c->law.ncorner && c->load_before > 0; i++) {
    Corner k = corner_at(p, c, i, h);
    bool goes = find_rebound(k.u, k.a, fmax(k.gap, 0), e, h).what == LEAVES;
    leaves |= goes, stays |= !goes && k.gap <= AB_PATCH_AT_ONCE * c->thin;
  }
  return stays && leaves;
}

static bool aim_promptly(const abPatch* p, abPatchContact* c, double e, double h) {
  abPatchLaw* law = &c->law;
  bool any = false;
  for (int i = 0; i < law->ncorner; i++) {
    Corner k = corner_at(p, c, i, h);
    Rebound r = find_prompt_rebound(k.u, k.a, fmax(k.gap, 0), e, h);
    law->calm[i] = law->aim[i];
    if (r.what != LEAVES || r.launch <= law->aim[i]) continue;
    law->aim[i] = r.launch;
    any = true;
  }
  return any;
}

// Two bodies that meet without restitution, and nothing but that in their island: the corners that
// strike are stopped there, and the coordinates are moved as if it had been at that moment.
static void stop(const abPatch* p, abPatchContact* c, double h) {
  double first = INFINITY;
  for (int i = 0; i < c->law.ncorner; i++) {
    Corner k = corner_at(p, c, i, h);
    if (k.gap < -AB_PATCH_AT_ONCE * c->thin || k.u < AB_PATCH_STRIKES * c->unit) continue;
    Rebound r = find_rebound(k.u, k.a, fmax(k.gap, 0), 0, h);
    if (r.what == RESTS) first = fmin(first, r.time);
  }
  double t = time_of_impulse(p, c, first);
  if (!(first < h && t < h)) return;
  for (int i = 0; i < c->law.ncorner; i++) {
    Corner k = corner_at(p, c, i, h);
    bool strikes = is_there(&k, t, c->thin);
    c->law.aim[i] = strikes ? -0.5 * k.a * (h - t) : stays_out(&k, t, h);
  }
  c->delayed = true, c->impulse_time = t;
}

bool ab_patch_add_restitution(const abPatchSystem* system, const abPair* pair, abPatchContact* c,
                              bool alone) {
  double e = pair->surface.restitution, h = system->h;
  c->delayed = false, c->impulse_time = 0;
  if (c->held) return false;
  if (!(e > 0) && alone && both_move(c) && !(c->load_before > 0) && !c->sunk &&
      !is_jointed(system, c))
    stop(&pair->patch, c, h);
  if (!(e > 0)) return false;
  bool prompt = bears(&pair->patch, c, e, h) || is_jointed(system, c);
  return prompt ? aim_promptly(&pair->patch, c, e, h) : aim(&pair->patch, c, e, h);
}

bool ab_patch_act_at_once(abPatchIsland* island) {
  bool any = false;
  const abContactProblem* problem = island->system->problem;
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    if (!c->delayed) continue;
    const abPair* pair = &problem->pair[c->pair];
    any = true;
    c->delayed = c->known = false, c->impulse_time = 0;
    ab_patch_set_aims(&c->law);
    aim_promptly(&pair->patch, c, pair->surface.restitution, island->system->h);
  }
  return any;
}
