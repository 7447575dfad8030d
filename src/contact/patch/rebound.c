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

// Whether a corner would end below the surface: its gap, the way of a step at its target, what the
// impulse is too early by, and half a step's fall.
static bool lets_in(const abPatch* p, const abPatchLaw* law, const Rebound* r, const double V[6],
                    const double target[3], double ah, double h) {
  for (int i = 0; i < law->ncorner; i++) {
    double x = law->x[i], y = law->y[i];
    double gap = fmax(0, -(p->h0 + p->hx * x + p->hy * y));
    double before = V[2] + V[3] * y - V[4] * x, after = target[0] + target[1] * x + target[2] * y;
    double end = gap + h * (after + 0.5 * ah) - r->impulse_time * (after - before + ah);
    if (end < -1e-6 * h * r->launch) return true;
  }
  return false;
}

// Before the impact the body flies, and is not stopped where its velocity at the end of the step
// would lead but where its motion does, half a step's fall later: if no corner strikes.
static void fly_on(const abPatch* p, abPatchLaw* law, const double V[6], double ah, double h) {
  for (int i = 0; i < law->ncorner; i++) {
    double x = law->x[i], y = law->y[i], gap = -(p->h0 + p->hx * x + p->hy * y);
    if (!(gap > 0 && gap + h * (V[2] + V[3] * y - V[4] * x - 0.5 * ah) > 0)) return;
  }
  for (int i = 0; i < 2; i++) law->target[i][0] -= fmax(0, 0.5 * ah);
}

static double at_point(const double field[3], double x, double y) {
  return field[0] + field[1] * x + field[2] * y;
}

// Target of a rebound, and whether it is delayed. The whole patch leaves in proportion to how it
// came, unless a corner would be let in: then alike.
static bool aim(const abPair* pair, abPatchContact* c, const Rebound* r, const double before[6],
                double ah, double h) {
  abPatchLaw* law = &c->law;
  double cx = law->centroid.x, cy = law->centroid.y;
  double u = -(before[2] + before[3] * cy - before[4] * cx);
  double ratio = u > 0 ? r->launch / u : 0, flat[3] = {r->launch - r->fall, 0, 0};
  double target[3] = {-ratio * before[2] - r->fall, ratio * before[4], -ratio * before[3]};
  bool alike = u <= 0 || r->flights || lets_in(&pair->patch, law, r, before, target, ah, h);
  if (alike && lets_in(&pair->patch, law, r, before, flat, ah, h)) return false;
  for (int i = 0; i < 2; i++) {
    memcpy(law->target[i], alike ? flat : target, sizeof flat);
    c->plain[i][0] = -r->fall, c->plain[i][1] = c->plain[i][2] = 0;
  }
  c->delayed = true;
  c->impulse_time = r->impulse_time;
  return true;
}

static bool aim_promptly(abPatchContact* c, double launch, const double before[6], double u) {
  abPatchLaw* law = &c->law;
  double ratio = launch / u, flat[3] = {launch, 0, 0};
  double target[3] = {-ratio * before[2], ratio * before[4], -ratio * before[3]};
  bool alike = false;
  for (int i = 0; i < law->ncorner; i++) {
    double x = law->x[i], y = law->y[i];
    alike |= at_point(target, x, y) <
             fmin(at_point(law->target[0], x, y), at_point(law->target[1], x, y));
  }
  for (int i = 0; i < 2; i++) memcpy(law->target[i], alike ? flat : target, sizeof flat);
  return true;
}

bool ab_patch_add_restitution(const abPatchSystem* system, const abPair* pair, abPatchContact* c) {
  double e = pair->surface.restitution, h = system->h;
  c->delayed = false, c->impulse_time = 0;
  if (!(e > 0) || c->held) return false;
  abPatchLaw* law = &c->law;
  const double *before = c->start, *after = c->free;
  double cx = law->centroid.x, cy = law->centroid.y;
  double u = -(before[2] + before[3] * cy - before[4] * cx);
  double a = (before[2] - after[2]) / h;
  double gap = -(pair->patch.h0 + pair->patch.hx * cx + pair->patch.hy * cy);
  double old = fmin(at_point(law->target[0], cx, cy), at_point(law->target[1], cx, cy));
  if (!is_jointed(system, c)) {
    Rebound r = find_rebound(u, a, fmax(gap, 0), e, h);
    if (r.what == NO_IMPACT) fly_on(&pair->patch, law, before, a * h, h);
    if (r.what != LEAVES || (gap < 0 && r.launch - r.fall <= old)) return false;
    if (aim(pair, c, &r, before, a * h, h)) return true;
  }
  Rebound r = find_prompt_rebound(u, a, fmax(gap, 0), e, h);
  return r.what == LEAVES && r.launch > old && aim_promptly(c, r.launch, before, u);
}

void ab_patch_lower_rebound(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    if (!c->rebounds) continue;
    for (int k = 0; k < 2; k++)
      for (int j = 0; j < 3; j++)
        c->law.target[k][j] += 0.5 * (c->plain[k][j] - c->law.target[k][j]);
    ab_patch_set_aims(&c->law);
  }
}
