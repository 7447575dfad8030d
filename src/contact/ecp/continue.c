// A step that cannot be solved at once, by continuation in its length.
//
// The solution for the step theta h is followed from a small theta, where bodies hardly move and
// the modes are those of the start, to theta = 1. It is continuous in theta as long as it is
// regular: also where a contact begins, for its impulse grows from zero there. In step units the
// problem for theta has velocities theta (v, w) and loads theta^2 (f, tau), and the impulses of a
// neighbouring theta are scaled by the ratio. Between stages each contact keeps its mode or changes
// it by a pivot (pivot.c). Where a stage fails the next one is nearer.
#include "contact/ecp/island.h"

static void set_fraction(abEcpIsland* island, double theta) {
  for (int i = 0; i < island->nbody; i++) {
    abEcpBody* b = &island->body[i];
    b->v0 = v3_scale(theta, b->whole[0]), b->w0 = v3_scale(theta, b->whole[1]);
    b->f = v3_scale(theta * theta, b->whole[2]), b->tau = v3_scale(theta * theta, b->whole[3]);
  }
}

// The solution for one fraction as a start for another: the poses at its end are kept, for the
// geometry there is what is least linear, and what that leaves of the momenta is linear.
static void scale_solution(abEcpIsland* island, double ratio) {
  for (int i = 0; i < island->ncontact; i++) {
    abEcpContact* c = &island->contact[i];
    c->pn *= ratio;
    for (int j = 0; j < 3; j++) c->s[j] *= ratio;
    ab_ecp_keep_impulse(c);
  }
}

// thorough: all that can be tried; for small stages, where it is known to be needed.
static bool solve_stage(abEcpIsland* island, bool thorough) {
  ab_ecp_save(island, AB_ECP_SAVED);
  if (ab_ecp_newton_island(island, true) == AB_ECP_SOLVED && ab_ecp_pivot(island, true, thorough))
    return true;
  if (!thorough) return false;
  ab_ecp_restore(island, AB_ECP_SAVED);
  if (ab_ecp_newton_branches(island) && ab_ecp_pivot(island, true, false)) return true;
  ab_ecp_restore(island, AB_ECP_SAVED);
  return ab_ecp_pivot(island, false, true);
}

// The first, short stage: bodies stay where they are, contacts are those of the last step.
static bool first_stage(abEcpIsland* island, double theta) {
  set_fraction(island, theta);
  ab_ecp_new_budget(island, 1);
  if (ab_ecp_solve_cold(island)) return true;
  ab_ecp_free_motion(island);
  for (int i = 0; i < island->ncontact; i++) {
    abEcpMode mode;
    abEcpContact* c = &island->contact[i];
    c->active = ab_ecp_recall(island, c, &mode);
    if (!c->active) c->mode = ab_ecp_mode(AB_ECP_NONE, 0, AB_ECP_NONE, 0);
    c->pn *= theta;
    for (int j = 0; j < 3; j++) c->s[j] *= theta;
  }
  ab_ecp_new_budget(island, 2);
  return solve_stage(island, true);
}

bool ab_ecp_solve_by_continuation(abEcpIsland* island) {
  const double shortest = 1e-4;
  double theta = 1.0 / 16;
  bool begun = false;
  for (; !(begun = first_stage(island, theta)) && theta > shortest; theta /= 8) continue;
  double step = theta;
  ab_ecp_new_budget(island, 2);
  while (begun && theta < 1) {
    double next = fmin(1, theta + step);
    ab_ecp_save(island, AB_ECP_STAGE);
    set_fraction(island, next);
    scale_solution(island, next / theta);
    bool last_try = step < 4 * shortest;
    if (solve_stage(island, last_try)) {
      theta = next;
      step *= 2;
    } else {
      ab_ecp_restore(island, AB_ECP_STAGE);
      step = 0.25 * (next - theta);
      begun = !last_try && !ab_ecp_exhausted(island);
    }
  }
  if (!begun) set_fraction(island, 1);
  return begun;
}
