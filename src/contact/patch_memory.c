// What is kept of a patch for the next step, and what is told about it.
#include <math.h>
#include <string.h>

#include "contact/patch.h"
#include "math/spatial.h"

static abWrench to_world(const abPatchContact* c, const double f[6]) {
  abWrench w = wrench_zero();
  for (int k = 0; k < 3; k++) {
    w.force = v3_axpy(f[k], c->axis[k], w.force);
    w.torque = v3_axpy(f[3 + k], c->axis[k], w.torque);
  }
  return w;
}

// The largest speed of the field k (r_b + theta_b n x r) on the patch.
static double bristle_speed(const abPatchLaw* law, const double b[3]) {
  double most = 0;
  for (int i = 0; i < law->ncorner; i++) {
    double x = b[0] - b[2] * law->y[i], y = b[1] + b[2] * law->x[i];
    most = fmax(most, x * x + y * y);
  }
  return sqrt(most);
}

// Bristle at the end of the step: it has taken the relative motion, without any refit; only its
// length is bounded, where the patch slides at the point at which friction has just become full.
static void move_bristle(const abPatchSystem* system, abPatchContact* c) {
  abPatchLaw* law = &c->law;
  double kh = system->param[AB_PATCH_RECOVERY];
  law->bristle[0] += kh * c->V[0];
  law->bristle[1] += kh * c->V[1];
  law->bristle[2] += kh * c->V[5];
  double limit = (c->slipping ? 1 : AB_PATCH_BRISTLE) * law->slip_speed;
  double speed = bristle_speed(law, law->bristle);
  if (speed > limit)
    for (int k = 0; k < 3; k++) law->bristle[k] *= limit / speed;
}

static abTwist mean_twist(const abPatchContact* c, const abTwist end[2]) {
  abTwist a = twist_move(end[0], c->side[0].r), b = twist_move(end[1], c->side[1].r);
  return twist_scale(0.5, twist_add(a, b));
}

// Most of the old profile stays. Taken over at once, friction moves the pressure and the pressure
// the friction, to and fro from step to step: a patch high up on a pile answers with several times
// the change. With this share of the new one it comes to rest as long as that factor is below
// 2 / TAKEN_OVER - 1.
#define TAKEN_OVER 0.25

static void keep_profile(const abPatchLaw* law, const double V[6], bool old,
                         double pressure[2][3]) {
  ab_patch_pressure_fields(law, V, pressure);
  for (int i = 0; i < 2 && old; i++)
    for (int k = 0; k < 3; k++)
      pressure[i][k] = law->profile[i][k] + TAKEN_OVER * (pressure[i][k] - law->profile[i][k]);
}

static void keep(const abPatchSystem* system, abPatchContact* c, const abTwist end[2]) {
  const abPair* pair = &system->problem->pair[c->pair];
  abPatchMemory* m = pair->memory;
  double h = system->h, k = system->param[AB_PATCH_RECOVERY] / h;
  double* s = c->slide;
  s[0] = c->state[0] + c->law.bristle[0];
  s[1] = c->state[1] + c->law.bristle[1];
  s[2] = c->state[5] + c->law.bristle[2];
  move_bristle(system, c);
  abTwist mean = mean_twist(c, end);
  abQuat turn = quat_from_rotvec(v3_scale(h, mean.ang));
  m->center = v3_axpy(h, mean.lin, pair->patch.center);
  m->t1 = quat_rotate(turn, c->axis[0]);
  m->normal = quat_rotate(turn, c->axis[2]);
  for (int i = 0; i < 3; i++) m->bristle[i] = c->law.bristle[i] / k;
  memcpy(m->slide, s, sizeof m->slide);
  memcpy(m->impulse, c->impulse, sizeof m->impulse);
  keep_profile(&c->law, c->V, m->h > 0, m->pressure);
  double now[2][3];
  ab_patch_pressure_fields(&c->law, c->state, now);
  memcpy(m->field, now[0], sizeof m->field);
  m->h = h;
  m->load = c->law.mu > 0 ? c->law.load : c->impulse[2];
  m->slipping = c->slipping;
  m->fine = c->law.use_fine;
  m->newton_wait = c->newton_wait;
  m->age = c->age < AB_PATCH_NEW ? c->age + 1 : c->age;
  ab_patch_place_wrote(system->problem, c->place, m);
}

static void tell(const abPatchSystem* system, const abPatchContact* c, abPairSolution* s) {
  const abPatch* patch = &system->problem->pair[c->pair].patch;
  double normal[6] = {0, 0, c->impulse[2], c->impulse[3], c->impulse[4], 0};
  double N = c->impulse[2];
  s->point = patch->center;
  s->impulse = to_world(c, c->impulse);
  s->normal_part = to_world(c, normal);
  s->kind = patch->kind;
  s->area = patch->area;
  s->depth = patch->depth;
  s->normal = patch->normal;
  s->mode = !(N > 0) ? AB_SEPARATING : c->slipping ? AB_SLIP : AB_STICK;
  double x = N > 0 ? -c->impulse[4] / N : 0, y = N > 0 ? c->impulse[3] / N : 0;
  s->slip[0] = c->V[0] - c->V[5] * y;
  s->slip[1] = c->V[1] + c->V[5] * x;
  s->slip[2] = c->V[5];
  double* pressure = (double*)s->pressure;
  for (int i = 0; i < patch->nvert && pressure; i++)
    pressure[i] =
        ab_patch_pressure(&c->law, c->V, patch->polygon[i].x, patch->polygon[i].y) / system->h;
}

void ab_patch_remember(const abPatchIsland* island, abPatchContact* c, abPairSolution* solution) {
  const abPatchSystem* system = island->system;
  if (island->loads_follow) ab_patch_follow_load(c);
  if (island->state_is_now) memcpy(c->state, c->V, sizeof c->state);
  abTwist end[2];
  for (int k = 0; k < 2; k++) {
    if (c->side[k].block >= 0)
      ab_patch_twist(island, &c->side[k], island->v, &end[k]);
    else
      end[k] = twist_zero();
  }
  // back to sticking when less than half of the load still moves
  if (c->slipping &&
      ab_patch_slipping_share(&c->law, c->V, AB_PATCH_SLIDING * c->law.slip_speed) <= 0.5)
    c->slipping = false;
  c->newton_wait = island->newton_wait;
  if (c->woken)  // nobody has made room for an answer
    *solution = (abPairSolution){.pressure = system->pressure[c->pair]};
  tell(system, c, solution);
  keep(system, c, end);
}
