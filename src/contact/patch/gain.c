// No step adds energy.
//
// What contacts do to the energy of free bodies follows from their impulses J. Of a step that
// begins with v, is free to become v + a h and ends with v', the work is J . (v + (v' - a h) / 2)
// for the bodies' own motion along the contacts; the coordinates move by h (v' + shift), which is
// not h times the mean of v and v', and the load's part in that is added. The free motion itself,
// semi-implicit, loses (a h) M (a h) / 2, a from weight and loads alike: what these do is no gain.
//
// Two things can make that positive. Depth is taken back at a velocity of its own choice, and what
// lies on it is lifted. In the same island others may strike and lose more, which is why no rule
// for one contact tells how fast it may be; where the island as a whole would gain, all that is
// taken back in it is slowed down, by the factor that the work at these velocities calls for.
// And restitution of the normal velocity can gain where friction couples it with the tangential
// one (Kane's paradox): then the rebound is lowered by the share that is too much. Depth that
// bodies began with, in a scene or by somebody who moved them, is not of the simulation's making,
// and comes out anyhow. Tests: test_patch_stories, test_stories_motion.
#include <math.h>

#include "contact/patch/patch.h"
#include "math/spatial.h"

static int body_of(const abPatchIsland* island, int block) {
  return island->system->problem->response->mover[island->mover[block]].body0;
}

// The work of the free motion's forces at another height than the velocity says.
static double shifted(const abPatchIsland* island) {
  double sum = 0;
  for (int b = 0; b < island->nblock; b++) {
    if (island->inertia[b]) continue;
    const abContactBody* at = &island->system->problem->body[body_of(island, b)];
    const double* s = island->shift + island->offset[b];
    abVec3 change = v3_sub(at->twist_free.lin, at->twist.lin);
    sum += island->mass[b] * v3_dot(change, v3(s[0], s[1], s[2]));
  }
  return sum;
}

// What the free motion loses.
static double lost(const abPatchIsland* island) {
  double sum = 0;
  for (int b = 0; b < island->nblock; b++) {
    if (island->inertia[b]) continue;
    int body = body_of(island, b);
    const abContactBody* at = &island->system->problem->body[body];
    abTwist change = twist_sub(at->twist_free, at->twist);
    abVec3 L = m3_apply(&island->system->problem->response->inertia[body], change.ang);
    sum += island->mass[b] * v3_norm2(change.lin) + v3_dot(change.ang, L);
  }
  return 0.5 * sum;
}

double ab_patch_gain(const abPatchIsland* island, double* size) {
  double sum = -shifted(island) - lost(island);
  *size = 0;
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchContact* c = island->contact[i];
    for (int k = 0; k < 6; k++) {
      double end = c->V[k] - c->drift[k];
      sum += c->impulse[k] * (c->start[k] + 0.5 * (end - c->free[k]));
      *size += fabs(c->impulse[k] * c->start[k]);
    }
  }
  return sum;
}

// What the energy may rise by: rounding, seen against the island's own energies.
static double allowed(const abPatchIsland* island) {
  const abPatchSystem* system = island->system;
  double sum = 0, fall = system->gravity * system->h;
  for (int b = 0; b < island->nblock; b++) {
    int body = body_of(island, b);
    const abContactBody* at = &system->problem->body[body];
    double change = fmax(fall, v3_norm(v3_sub(at->twist_free.lin, at->twist.lin)));
    abVec3 L = m3_apply(&system->problem->response->inertia[body], at->twist.ang);
    double kinetic = island->mass[b] * v3_norm2(at->twist.lin) + v3_dot(L, at->twist.ang);
    sum += 0.5 * (AB_PATCH_GAIN * kinetic + AB_PATCH_GAIN_FALL * island->mass[b] * change * change);
  }
  return sum;
}

// A rolling contact that goes far over a body in a step: what its curvature asks for is known to
// second order only, and may be less. Else that would brake what only rolls.
static bool sweeps(const abPatchContact* c) { return c->curves && c->sweep > AB_PATCH_SWEEPS; }

// What the energy falls by, to first order, when all that a corner is asked for beyond rest is
// taken off: the recovery of depth, or the rebound. A corner that came with u and leaves with w
// gained (w^2 - u^2) / 2 times a mass, for an impulse of w - u times that.
static double at_stake_there(const abPatchContact* c, int i) {
  const abPatchLaw* law = &c->law;
  double x = law->x[i], y = law->y[i], w = c->V[2] + c->V[3] * y - c->V[4] * x;
  double f = law->share[i] * fmax(0, law->aim[i] - w);
  double curved = sweeps(c) ? -(c->drift[2] + c->drift[3] * y - c->drift[4] * x) : 0;
  if (!c->rebounds) return f * fmax(0, law->aim[i] + curved);
  double u = c->start[2] + c->start[3] * y - c->start[4] * x;
  double part = w > u ? fmin(1, fmax(0, w) / (w - u)) : 1;
  return f * part * fmax(0, law->aim[i] - law->calm[i]);
}

static double at_stake(const abPatchContact* c) {
  double sum = 0;
  for (int i = 0; i < c->law.ncorner; i++) sum += at_stake_there(c, i);
  return c->law.stiffness * sum;
}

static void ask_for(abPatchContact* c, double share) {
  abPatchLaw* law = &c->law;
  for (int k = 0; k < law->ncorner && c->rebounds; k++)
    law->aim[k] = law->calm[k] + share * (law->aim[k] - law->calm[k]);
  for (int k = 0; k < 3 && !c->rebounds; k++) law->target[0][k] *= share;
  if (!c->rebounds) c->slowed *= share;
  if (!c->rebounds) ab_patch_set_aims(law);
  for (int k = 2; k < 5 && sweeps(c); k++) {
    double less = (1 - share) * c->drift[k];
    c->drift[k] -= less, c->V[k] -= less;
  }
  c->known = false;
}

bool ab_patch_gains(const abPatchIsland* island) {
  double size, gain = ab_patch_gain(island, &size);
  return gain > 0 && gain > allowed(island);
}

bool ab_patch_ask_for_less(abPatchIsland* island, bool only_rebounds) {
  double size, gain = ab_patch_gain(island, &size), sum = 0;
  if (!(gain > 0)) return false;
  double most = allowed(island);
  if (!(gain > most)) return false;
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchContact* c = island->contact[i];
    if (c->rebounds || !(c->sunk || only_rebounds)) sum += at_stake(c);
  }
  if (!(sum > AB_PATCH_GAIN_LEFT * gain)) return false;
  double share = fmax(0, 1 - (gain - 0.9 * most) / sum);
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    if (c->rebounds || !(c->sunk || only_rebounds)) ask_for(c, share);
  }
  return true;
}
