// What a contact bears until something strikes within the step: point 9 of patch.c.
//
// A block turns about its edge A, and after a share f of the step its face strikes with the edge B.
// The impulse at B conserves the angular momentum about B, so the speed after it is right however
// the step divides it. But until then A has borne the weight N, whose moment about B is N b f h;
// and since A leaves the floor in the same step, the law, which knows only the end of the step,
// gives nothing there. For a block of the mass m, turning about an edge with the inertia I, that is
// a loss of up to N b h / I of its speed. So A is given f times what it has borne in the last step.
// Tests: test_patch_stories, test_stories_motion.
#include <math.h>

#include "contact/patch/patch.h"
#include "math/spatial.h"

double ab_patch_turning(const abPatchSystem* system, const abPatchContact* c) {
  const abContactBody* body = system->problem->body;
  return fmax(v3_norm(body[c->side[0].body].twist.ang), v3_norm(body[c->side[1].body].twist.ang));
}

// The share of the step after which a corner strikes that is not touching yet, 1 if none does.
static double strike_share(const abPatchSystem* system, const abPair* pair,
                           const abPatchContact* c) {
  const abPatch* p = &pair->patch;
  const abPatchLaw* law = &c->law;
  const double* V = c->start;
  double first = 1;
  for (int i = 0; i < law->ncorner; i++) {
    double x = law->x[i], y = law->y[i], gap = -(p->h0 + p->hx * x + p->hy * y);
    double way = -system->h * (V[2] + V[3] * y - V[4] * x);
    if (gap > 0 && way > fmax(gap, system->h * c->unit)) first = fmin(first, gap / way);
  }
  return first;
}

// Normal velocity at the contact's point `at` that an impulse there would cause.
static double normal_response(const abContactProblem* problem, const abPatchContact* c, abVec3 at,
                              abWrench impulse) {
  double u = 0;
  for (int k = 0; k < 2; k++) {
    const abPatchSide* side = &c->side[k];
    if (side->block < 0) continue;
    abVec3 r = v3_add(side->r, at);
    abMat6 block;
    ab_response_block(problem->response, side->body, side->body, &block);
    abTwist t = m6_apply_wrench(&block, wrench_move(impulse, v3_neg(r)));
    u += v3_dot(c->axis[2], twist_move(t, r).lin);
  }
  return u;
}

// What the contact has carried in the last two steps counts, for no impact lasts, and
// no more of it than keeps its point of application from sinking until the strike: so it does no
// work. Friction stays within its bound, should the normal have turned. Of what tumbles the last
// step tells nothing.
void ab_patch_give_until_impact(const abPatchSystem* system, const abPair* pair,
                                abPatchContact* c) {
  const abContactProblem* problem = system->problem;
  const abPatchMemory* m = pair->memory;
  double share = strike_share(system, pair, c), N = c->impulse[2], after[6];
  if (!(share < 1) || c->rebounds || c->held || !(N > 0)) return;
  if (ab_patch_turning(system, c) * system->h > AB_PATCH_TUMBLES) return;
  double x = -c->impulse[4] / N, y = c->impulse[3] / N;
  double across = v2_norm(v2(c->impulse[0], c->impulse[1]));
  double slips = across > c->law.mu * N ? c->law.mu * N / across : 1;
  for (int k = 0; k < 6; k++) after[k] = c->start[k] + share * (c->free[k] - c->start[k]);
  double sinks = -(after[2] + after[3] * y - after[4] * x);
  abVec3 at = v3_add(v3_scale(x, c->axis[0]), v3_scale(y, c->axis[1]));
  abWrench force = {v3_scale(N, c->axis[2]), v3_zero()};
  for (int k = 0; k < 2; k++) force.force = v3_axpy(slips * c->impulse[k], c->axis[k], force.force);
  double rises = normal_response(problem, c, at, force);
  share *= fmin(1, m->lasting * system->h / (m->h * N));
  if (!(sinks > 0 && rises > 0)) return;
  share = fmin(share, sinks / rises);
  for (int k = 0; k < 6; k++) {
    c->given[k] = share * (k < 2 || k == 5 ? slips : 1) * c->impulse[k];
    c->impulse[k] -= c->given[k];
  }
}
