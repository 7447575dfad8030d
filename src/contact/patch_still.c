// Contacts that are left alone.
//
// At rest most contacts of a pile do the same in every step: their patch is kept, their law is
// asked by its derivative (patch_near.c), and what is remembered of them changes by less than
// AB_PATCH_SAME, which is left until it has added up. Of all that is known of such a contact, a
// step then needs the sides, the axes, the impulse and the law's last answer alone: the rest of it,
// its pair, its memory and what was last told of it are not even read.
//
// The law's question is e = V + o (patch_near.c), o the bristle and the target. A step moves both
// by the same rule: the bristle takes up the motion, and the thickness loses it, in units of a
// velocity
//
//   o += k h V,   all six components alike.
//
// So a contact that is still needs no more than `since`, what o has become since the question that
// is known, for which f = f_0 - G_0 (V + since).
//
// It is woken when
// - that question is too far, or has changed the pressure by AB_PATCH_SAME (which also bounds what
//   the contact last told is wrong by);
// - Newton's method proper or sweeps begin: they ask the law itself;
// - its pair is looked at again, because the bodies have gone as far as a kept patch may
//   (collide_watch.c).
// Bristle and target then follow from `since`.
//
// Islands that are not large are solved so well, and cost so little, that none of theirs is still.
#include <math.h>
#include <string.h>

#include "contact/patch.h"

// The bristle and the target in the order of the question.
static void set_offset(const abPatchSystem* system, abPatchLaw* law, const double o[6]) {
  double recovery = system->param[AB_PATCH_RECOVERY];
  law->bristle[0] = o[0], law->bristle[1] = o[1], law->bristle[2] = o[5];
  double target[3] = {-o[2], o[4], -o[3]};
  for (int k = 0; k < 3; k++)
    law->target[0][k] = target[k], law->target[1][k] = target[k] / recovery;
}

static void get_offset(const abPatchLaw* law, double o[6]) {
  const double *b = law->bristle, *t = law->target[0];
  double offset[6] = {b[0], b[1], -t[0], -t[2], t[1], b[2]};
  memcpy(o, offset, sizeof offset);
}

// The second target is the first at another rate, unless that was limited.
static bool targets_agree(const abPatchSystem* system, const abPatchLaw* law) {
  double recovery = system->param[AB_PATCH_RECOVERY], most = 0, apart = 0;
  for (int k = 0; k < 3; k++) {
    most = fmax(most, fabs(law->target[0][k]));
    apart = fmax(apart, fabs(law->target[0][k] - recovery * law->target[1][k]));
  }
  return apart <= 1e-12 * most;  // rounding
}

// The question that is known becomes that of now, with the derivative's answer: what follows is
// measured from here. The law itself was asked where it was: that much is taken off the reach.
static void move_question(abPatchNear* near, const double o[6], const double V[6]) {
  double d[6], Gd[6];
  for (int k = 0; k < 6; k++) d[k] = V[k] + o[k] - near->e[k];
  double reach = fmax(0, sqrt(near->reach2) - sqrt(ab_patch_way2(near, d)));
  near->reach2 = reach * reach;
  ab_patch_apply_G(near->G, d, Gd);
  for (int k = 0; k < 6; k++) near->f[k] -= Gd[k], near->e[k] += d[k];
}

void ab_patch_rest(const abPatchIsland* island, abPatchContact* c) {
  const abPatchSystem* system = island->system;
  int* still = system->problem->still;
  if (!still || island->ncontact <= AB_PATCH_LARGE || !c->kept || !c->near.known || c->woken)
    return;
  if (c->place == 0 || c->slipping || c->rebounds || c->age < AB_PATCH_NEW || c->newton_wait > 0)
    return;
  if (c->side[0].J || c->side[1].J || !targets_agree(system, &c->law)) return;
  double kh = system->param[AB_PATCH_RECOVERY], o[6], moved[6];
  get_offset(&c->law, o);
  for (int k = 0; k < 6; k++) moved[k] = kh * c->V[k];
  o[0] -= moved[0], o[1] -= moved[1], o[5] -= moved[5];  // the bristle has been moved already
  move_question(&c->near, o, c->V);
  for (int k = 0; k < 6; k++) o[k] += moved[k];
  for (int k = 0; k < 6; k++) c->near.since[k] = o[k] - c->near.e[k];
  c->still = true;
  still[c->pair] = c->place;
}

bool ab_patch_stay(const abPatchSystem* system, abPatchContact* c) {
  abPatchNear* near = &c->near;
  double d[6], kh = system->param[AB_PATCH_RECOVERY];
  for (int k = 0; k < 6; k++) d[k] = c->V[k] + near->since[k];
  double pressed2 = d[2] * d[2] + near->radius2 * (d[3] * d[3] + d[4] * d[4]);
  if (!(pressed2 <= near->same2)) {
    ab_patch_wake(system, c);
    return false;
  }
  for (int k = 0; k < 6; k++) near->since[k] += kh * c->V[k];
  return true;
}

void ab_patch_wake(const abPatchSystem* system, abPatchContact* c) {
  double o[6];
  for (int k = 0; k < 6; k++) {
    o[k] = c->near.e[k] + c->near.since[k];
    c->state[k] = -c->near.since[k];  // there the law gives the answer that is known
  }
  set_offset(system, &c->law, o);
  memcpy(c->plain, c->law.target, sizeof c->plain);
  c->still = false;
  c->woken = true;
  system->problem->still[c->pair] = 0;
}

void ab_patch_wake_all(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    if (!c->still) continue;
    ab_patch_relative(island, c, island->v, c->V);
    ab_patch_wake(island->system, c);
  }
}

void ab_patch_resume(const abPatchSystem* system, abPatchContact* c, abPatchMemory* m) {
  double e[6], kh = system->param[AB_PATCH_RECOVERY], w = c->law.weight;
  // the last question, before the step moved what is in it
  for (int k = 0; k < 6; k++) e[k] = c->near.e[k] + c->near.since[k] + (1 - kh) * c->V[k];
  ab_patch_wake(system, c);
  c->slide[0] = e[0], c->slide[1] = e[1], c->slide[2] = e[5];
  memcpy(m->slide, c->slide, sizeof m->slide);
  for (int k = 0; k < 3; k++) m->bristle[k] = c->law.bristle[k] * m->h / kh;
  memcpy(m->impulse, c->impulse, sizeof m->impulse);
  m->field[0] = -w * e[2], m->field[1] = w * e[4], m->field[2] = -w * e[3];
}
