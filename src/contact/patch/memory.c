// What is kept of a patch for the next step, and what is told about it.
// Tests: test_patch, test_patch_stories.
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "contact/patch/patch.h"
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

// Where friction acts in the next step. Of a patch that sticks most of the old place stays: taken
// over at once, friction moves the pressure and the pressure the friction, from step to step: a
// patch high up on a pile answers with several times the change.
static void keep_acts(const abPatchContact* c, bool old, double acts[2]) {
  const abPatchLaw* law = &c->law;
  double N = c->impulse[2], share = old && !(c->moves && c->slipping) ? AB_PATCH_TAKEN_OVER : 1;
  acts[0] = law->centre.x + law->at[0], acts[1] = law->centre.y + law->at[1];
  if (!(N > 0)) return;
  acts[0] += share * (-c->impulse[4] / N - acts[0]);
  acts[1] += share * (c->impulse[3] / N - acts[1]);
}

// Centre and axes as the two bodies carry them.
static void keep_place(const abContactProblem* problem, const abPair* pair, const abPatchContact* c,
                       abPatchMemory* m) {
  abPose pose[2] = {pair->pose1, pair->pose2};
  for (int k = 0; k < 2; k++) {
    abQuat back = quat_conj(pose[k].q);
    abVec3 at = v3_add(problem->body[c->side[k].body].com, c->side[k].r);
    m->center[k] = quat_rotate(back, v3_sub(at, pose[k].p));
    m->normal[k] = quat_rotate(back, c->axis[2]);
    m->t1[k] = quat_rotate(back, c->axis[0]);
    m->lever[k] = c->side[k].r;
    m->q[k] = pose[k].q;
  }
  m->thick = pair->patch.h0;
  m->area = pair->patch.area;
}

static void keep(const abPatchIsland* island, abPatchContact* c) {
  const abPatchSystem* system = island->system;
  const abPair* pair = &system->problem->pair[c->pair];
  abPatchMemory* m = pair->memory;
  double h = system->h, k = system->param[AB_PATCH_RECOVERY] / h;
  keep_place(system->problem, pair, c, m);
  m->slide[0] = c->X[0] + c->law.bristle[0];
  m->slide[1] = c->X[1] + c->law.bristle[1];
  m->slide[2] = c->X[5] + c->law.bristle[2];
  move_bristle(system, c);
  for (int i = 0; i < 3; i++) m->bristle[i] = c->law.bristle[i] / k;
  // what the coordinates are moved by on purpose is no drift
  for (int i = 0; i < 6; i++) m->V[i] = c->V[i] - c->drift[i];
  if (island->shifted) {
    double shift[6];
    ab_patch_relative(island, c, island->shift, shift);
    for (int i = 0; i < 6; i++) m->V[i] += shift[i];
  }
  m->went[0] = h * c->V[0], m->went[1] = h * c->V[1], m->went[2] = h * c->V[5];
  memcpy(m->impulse, c->impulse, sizeof m->impulse);
  m->lasting = fmin(c->load_before, fmax(0, c->impulse[2]));
  keep_acts(c, m->h > 0, m->acts);
  const double *t = ab_patch_aim(&c->law), k_n = c->law.stiffness;
  m->field[0] = k_n * (t[0] - c->X[2]);
  m->field[1] = k_n * (t[1] + c->X[4]);
  m->field[2] = k_n * (t[2] - c->X[3]);
  m->h = h;
  m->thin = c->thin;
  m->load = c->law.mu > 0 ? c->law.load : fmax(0, c->impulse[2]);
  m->slipping = c->slipping;
  m->about_pole = c->law.about_pole;
  m->held = c->held;
  m->rest = c->rest;
  m->sunk = c->sunk;
  m->slowed = c->slowed;
  m->spread[0] = c->law.centre.x + c->law.at[0], m->spread[1] = c->law.centre.y + c->law.at[1];
  m->stiff_for = c->stiff_for;
  m->moves = c->moves;
  memcpy(m->rests, c->rests, sizeof m->rests);
}

static void tell(const abPatchSystem* system, const abPatchContact* c, abPairSolution* s) {
  const abPatch* patch = &system->problem->pair[c->pair].patch;
  double normal[6] = {0, 0, c->impulse[2], c->impulse[3], c->impulse[4], 0};
  double N = c->impulse[2];
  s->point = v3_add(system->problem->body[c->side[0].body].com, c->side[0].r);
  if (c->delayed) s->apart = v3_sub(patch->meet[0], patch->meet[1]);
  s->impulse = to_world(c, c->impulse);
  s->normal_part = to_world(c, normal);
  s->kind = N > 0 || patch->depth > 0 ? patch->kind : AB_PATCH_NONE;
  s->area = patch->area;
  s->depth = patch->depth;
  s->hold = c->held && patch->depth > 0 ? AB_HOLD_CLOSED
            : c->rest > 0               ? AB_HOLD_RESTS
                                        : AB_HOLD_NONE;
  s->normal = patch->normal;
  s->mode = !(N > 0) ? AB_CONTACT_SEPARATING : c->slipping ? AB_CONTACT_SLIP : AB_CONTACT_STICK;
  double x = N > 0 ? -c->impulse[4] / N : 0, y = N > 0 ? c->impulse[3] / N : 0;
  // as far as a load that lasts would push the bodies in a step
  double mass = c->mass, load = fmin(N, fmax(c->load_before, mass * c->unit));
  if (N > ab_patch_least_load(c)) s->watch = fmin(system->h * fmax(0, load) / mass, 0.5 * c->thin);
  s->slip[0] = c->V[0] - c->V[5] * y;
  s->slip[1] = c->V[1] + c->V[5] * x;
  s->slip[2] = c->V[5];
  const abPatchLaw* law = &c->law;
  double *pressure = (double*)s->pressure, per = fmax(N, 0) / (law->sum * system->h);
  for (int i = 0; i < patch->nvert && pressure; i++) {
    double px = patch->polygon[i].x - law->at[0], py = patch->polygon[i].y - law->at[1];
    pressure[i] = per * fmax(0, law->field[0] + law->field[1] * px + law->field[2] * py);
  }
}

AB_SIMD AB_FLATTEN void ab_patch_remember(const abPatchIsland* island, abPatchContact* c,
                                          abPairSolution* solution) {
  const abPatchSystem* system = island->system;
  // Who slides and who sticks in the next step is decided here, by the motion found, never within
  // a step: Newton's iterates would decide it.
  double fast = AB_PATCH_SLIDING * c->law.slip_speed;
  for (int k = 0; k < 6; k++) c->impulse[k] += c->given[k];
  c->slipping = c->impulse[2] > 0 ? ab_patch_slipping_share(&c->law, c->V, fast) > 0.5
                                  : ab_patch_slides(c, c->V);
  tell(system, c, solution);
  keep(island, c);
}
