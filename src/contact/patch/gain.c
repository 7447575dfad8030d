// No step adds energy.
//
// What contacts do to the energy of free bodies follows from their impulses J. Of a step that
// begins with v, is free to become v + a h and ends with v', the work is J . (v + (v' - a h) / 2)
// for the bodies' own motion along the contacts; the coordinates move by h (v' + shift), which is
// not h times the mean of v and v', and the weight's part in that is added. The free motion itself,
// semi-implicit, loses m (a h)^2 / 2.
//
// Two things can make that positive. Depth is taken back at a velocity of its own choice, and what
// lies on it is lifted. In the same island others may strike and lose more, which is why no rule
// for one contact tells how fast it may be; where the island as a whole would gain, all that is
// taken back in it is slowed down, by the factor that the work at these velocities calls for.
// And restitution of the normal velocity can gain where friction couples it with the tangential
// one (Kane's paradox): then the rebound is lowered by halves. Depth that bodies began with, in
// a scene or by somebody who moved them, is not of the simulation's making, and comes out anyhow.
// Tests: test_patch_stories, test_stories_motion.
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

double ab_patch_gain(const abPatchIsland* island, double* size) {
  double sum = -shifted(island), fall = island->system->gravity * island->system->h;
  *size = 0;
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchContact* c = island->contact[i];
    for (int k = 0; k < 6; k++) {
      double end = c->V[k] - c->drift[k];
      sum += c->impulse[k] * (c->start[k] + 0.5 * (end - c->free[k]));
      *size += fabs(c->impulse[k] * c->start[k]);
    }
  }
  for (int b = 0; b < island->nblock; b++) sum -= 0.5 * island->mass[b] * fall * fall;
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

// The work done by what presses while it takes back depth.
static double recovered(const abPatchContact* c) {
  const abPatchLaw* law = &c->law;
  double sum = 0;
  for (int i = 0; i < law->ncorner; i++) {
    double u = c->V[2] + c->V[3] * law->y[i] - c->V[4] * law->x[i];
    sum += law->share[i] * fmax(0, law->aim[i] - u) * fmax(0, law->aim[i]);
  }
  return law->stiffness * sum;
}

static bool is_slowed(const abPatchContact* c) { return !c->sunk && !c->rebounds; }

bool ab_patch_slow_recovery(abPatchIsland* island) {
  double size, gain = ab_patch_gain(island, &size), sum = 0;
  if (!(gain > 0)) return false;
  double most = allowed(island);
  if (!(gain > most)) return false;
  for (int i = 0; i < island->ncontact; i++)
    if (is_slowed(island->contact[i])) sum += recovered(island->contact[i]);
  if (!(sum > AB_PATCH_GAIN_LEFT * gain)) return false;
  double share = fmax(0, 1 - (gain - 0.9 * most) / sum);
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    if (!is_slowed(c)) continue;
    for (int k = 0; k < 3; k++) c->law.target[0][k] *= share;
    ab_patch_set_aims(&c->law);
    c->known = false;
  }
  return true;
}
