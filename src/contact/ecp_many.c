// Several contacts at once.
//
// Which contacts bear is found first with the motion free of contact: those that would overlap are
// active. One active contact is the plain search (ecp_search.c). Several are coupled through their
// bodies:
//   1 all with the modes and impulses of the last step, one Newton system for the island;
//   2 else block Gauss-Seidel: each contact in turn is solved exactly with the impulses of the
//     others held fixed, which finds modes and good impulses but converges only linearly;
//   3 after every few sweeps the Newton system of the whole island with the modes found, which
//     ends at rounding level: the residual reported is that of the full problem.
// After each solution contacts left out are tested for overlap and taken in, and those that pull
// are let go. The Newton system is dense: for the islands this model is meant for (a few bodies)
// that is faster than any ordering.
#include "contact/ecp_island.h"

enum { ROUNDS = 12, SWEEPS = 6 };

static void all_bodies(abEcpIsland* island) {
  abEcpSystem* s = &island->system;
  s->nbody = island->nbody;
  for (int i = 0; i < island->nbody; i++) s->body[i] = &island->body[i];
}

static void active_contacts(abEcpIsland* island) {
  abEcpSystem* s = &island->system;
  s->ncontact = 0;
  for (int i = 0; i < island->ncontact; i++)
    if (island->contact[i].active) s->contact[s->ncontact++] = &island->contact[i];
}

static void clear_external(abEcpIsland* island) {
  for (int i = 0; i < island->nbody; i++)
    island->body[i].f_ext = island->body[i].tau_ext = v3_zero();
}

// Overlap at the present end poses that no active contact prevents. Rounding of a length 1.
static const double OVERLAP = 1e-12;

static int take_in_overlapping(abEcpIsland* island) {
  int n = 0;
  for (int i = 0; i < island->ncontact; i++) {
    abEcpContact* c = &island->contact[i];
    if (c->active || ab_ecp_gap(c) >= -OVERLAP) continue;
    c->active = true;
    c->pn = c->s[0] = c->s[1] = c->s[2] = 0;
    c->mode = ab_ecp_mode(AB_ECP_NONE, 0, AB_ECP_NONE, 0);
    n++;
  }
  return n;
}

static bool solve_single(abEcpIsland* island, abEcpContact* c, const abEcpMode* last) {
  abEcpSystem* s = &island->system;
  s->nbody = 0;
  for (int i = 0; i < 2; i++)
    if (c->body[i]->moving) s->body[s->nbody++] = c->body[i];
  s->ncontact = 1;
  s->contact[0] = c;
  return ab_ecp_search(s, last);
}

// The impulses of all active contacts but `except`, as loads.
static void external_loads(abEcpIsland* island, const abEcpContact* except) {
  clear_external(island);
  for (int i = 0; i < island->ncontact; i++) {
    const abEcpContact* c = &island->contact[i];
    if (!c->active || c == except || !(c->pn > 0)) continue;
    for (int side = 0; side < 2; side++) {
      abEcpBody* b = c->body[side];
      if (!b->moving) continue;
      double sign = side == 0 ? 1 : -1;
      b->f_ext = v3_axpy(sign, c->impulse, b->f_ext);
      b->tau_ext = v3_axpy(sign, c->moment[side], b->tau_ext);
    }
  }
}

static void keep_impulse(abEcpContact* c) {
  abEcpKinematics k;
  ab_ecp_kinematics(c, &k);
  c->impulse = ab_ecp_impulse(c, &k);
  for (int side = 0; side < 2; side++)
    c->moment[side] =
        v3_axpy(c->e[2] * c->s[2], k.n, v3_cross(v3_sub(k.a, c->body[side]->x), c->impulse));
}

static void sweep(abEcpIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    abEcpContact* c = &island->contact[i];
    if (!c->active) continue;
    external_loads(island, c);
    bool known = c->mode.kind[0] != AB_ECP_NONE && c->pn > 0;
    abEcpMode last = c->mode;
    for (int side = 0; side < 2; side++)
      ab_ecp_body_free(c->body[side], island->system.exact_momentum);
    if (ab_ecp_gap(c) >= 0) {
      c->pn = c->s[0] = c->s[1] = c->s[2] = 0;
      c->impulse = c->moment[0] = c->moment[1] = v3_zero();
      continue;
    }
    solve_single(island, c, known ? &last : NULL);
    keep_impulse(c);
  }
}

static abEcpVerdict whole_verdict(abEcpIsland* island) {
  clear_external(island);
  all_bodies(island);
  active_contacts(island);
  return ab_ecp_check(&island->system);
}

// One Newton system for the island at the present modes.
static bool together(abEcpIsland* island, bool damped) {
  clear_external(island);
  all_bodies(island);
  active_contacts(island);
  abEcpSystem* s = &island->system;
  ab_ecp_layout(s);
  s->modes++;
  if (ab_ecp_newton(s, damped ? 30 : 12, damped) != AB_ECP_SOLVED) return false;
  for (int i = 0; i < s->ncontact; i++) {
    double worst;
    if (!ab_ecp_admissible(s, s->contact[i], &worst)) return false;
  }
  return true;
}

static void free_motion(abEcpIsland* island) {
  clear_external(island);
  for (int i = 0; i < island->nbody; i++)
    ab_ecp_body_free(&island->body[i], island->system.exact_momentum);
}

static void start_twists(abEcpIsland* island) {
  for (int i = 0; i < island->nbody; i++) {
    abEcpBody* b = &island->body[i];
    b->v = b->v0, b->w = b->w0;
  }
}

static bool solve_several(abEcpIsland* island) {
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < SWEEPS; i++) sweep(island);
    for (int i = 0; i < island->ncontact; i++) {
      abEcpContact* c = &island->contact[i];
      if (c->active && !(c->pn > 0)) c->active = false;
    }
    if (together(island, false)) return true;
    for (int i = 0; i < island->ncontact; i++)
      if (island->contact[i].active) keep_impulse(&island->contact[i]);
    take_in_overlapping(island);
  }
  return false;
}

static int count_active(const abEcpIsland* island) {
  int n = 0;
  for (int i = 0; i < island->ncontact; i++) n += island->contact[i].active;
  return n;
}

static bool solve_active(abEcpIsland* island, bool warm, const abEcpMode* last) {
  int n = count_active(island);
  if (n == 1) {
    for (int i = 0; i < island->ncontact; i++) {
      abEcpContact* c = &island->contact[i];
      if (!c->active) continue;
      clear_external(island);
      return solve_single(island, c, warm ? &last[i] : NULL);
    }
  }
  if (warm && together(island, false)) return true;
  free_motion(island);
  return solve_several(island);
}

bool ab_ecp_solve_island(abEcpIsland* island, abEcpReport* report) {
  free_motion(island);
  if (take_in_overlapping(island) == 0) return true;
  abEcpMode last[64];
  bool warm = island->ncontact <= 64;
  for (int i = 0; i < island->ncontact && warm; i++) {
    abEcpContact* c = &island->contact[i];
    if (c->active && !ab_ecp_recall(island, c, &last[i])) warm = false;
  }
  if (warm) start_twists(island);
  bool solved = false;
  for (int round = 0; round < ROUNDS; round++) {
    solved = solve_active(island, warm, last);
    // bodies that the last system left out have moved freely
    if (!solved || take_in_overlapping(island) == 0) break;
    warm = false;
  }
  abEcpVerdict verdict = whole_verdict(island);
  double residual = fmax(verdict.residual, verdict.violated);
  if (!isfinite(residual)) residual = 1;
  if (!solved) {
    residual = fmax(residual, 2 * report->tolerance);
    report->fallbacks++;
  }
  report->residual = fmax(report->residual, residual);
  return solved;
}
