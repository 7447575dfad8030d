// The motion at the beginning of a path (path.c): bodies apart, and the impulses that part
// them.
//
// From where they start the bodies are displaced by as little (sum of m |e|^2) as opens all
// contacts that are near by a given length, n.(e1 - e2) >= apart, which Hildreth's method finds,
// and are turned a little, each in another way: a box that lies flat would come down with four
// corners at once, to a state where many pieces meet.
// Tests: test_ecp_throw, test_ecp_heap.
#include "contact/ecp/island.h"

typedef struct Near {
  const abEcpContact* c;
  abVec3 n;
  double apart, multiplier;
} Near;

// The normal of a contact at the start: that of the last step, or of the nearest mode.
static bool normal_of(const abEcpIsland* island, abEcpContact* c, abVec3* n) {
  abEcpMode mode;
  if (!ab_ecp_recall(island, c, &mode)) {
    if (ab_ecp_candidates(c, 1, &mode) < 1 || !ab_ecp_set_mode(c, mode)) return false;
    if (!ab_ecp_place(c, c->ref < 0 ? ab_ecp_witness(c) : c->body[1 - c->ref]->x)) return false;
  }
  abEcpKinematics k;
  ab_ecp_kinematics(c, &k);
  *n = k.n;
  return true;
}

static void project(Near* q) {
  double have = 0, compliance = 0;
  for (int side = 0; side < 2; side++) {
    const abEcpBody* b = q->c->body[side];
    if (!b->moving) continue;
    have += (side == 0 ? 1 : -1) * v3_dot(q->n, b->v);
    compliance += 1 / b->m;
  }
  double change = fmax(-q->multiplier, (q->apart - have) / compliance);
  q->multiplier += change;
  for (int side = 0; side < 2; side++) {
    abEcpBody* b = q->c->body[side];
    if (b->moving) b->v = v3_axpy((side == 0 ? change : -change) / b->m, q->n, b->v);
  }
}

static void leave_out(abEcpContact* c) {
  c->active = false, c->branch = AB_ECP_AS_IT_IS;
  c->pn = c->s[0] = c->s[1] = c->s[2] = 0;
  c->mode = ab_ecp_mode(AB_ECP_NONE, 0, AB_ECP_NONE, 0);
}

// Bodies of contacts that are near; the others move freely.
static int list_bodies(abEcpIsland* island, int n, const Near* near, abEcpPushed* pushed) {
  int count = 0;
  for (int i = 0; i < island->nbody; i++) {
    abEcpBody* b = &island->body[i];
    bool met = false;
    for (int j = 0; j < n; j++) met = met || near[j].c->body[0] == b || near[j].c->body[1] == b;
    if (!met) ab_ecp_body_free(b, island->system.exact_momentum);
    if (met && count == AB_ECP_PUSHED) return 0;
    if (met) pushed[count++].body = b;
  }
  return count;
}

int ab_ecp_part(abEcpIsland* island, double reach, double apart, abEcpPushed* pushed) {
  Near near[AB_ECP_PART_CONTACTS];
  int n = 0;
  ab_ecp_start_poses(island);
  for (int i = 0; i < island->nbody; i++)
    island->body[i].f_ext = island->body[i].tau_ext = v3_zero();
  for (int i = 0; i < island->ncontact; i++) {
    abEcpContact* c = &island->contact[i];
    if (ab_ecp_gap(c) > reach) continue;
    if (n == AB_ECP_PART_CONTACTS) return 0;
    // not all alike, so that they do not close all at once
    near[n] = (Near){.c = c, .apart = apart * (1 + 0.37 * i / (1 + i))};
    if (!normal_of(island, c, &near[n++].n)) return 0;
  }
  int count = list_bodies(island, n, near, pushed);
  for (int sweep = 0; sweep < AB_ECP_PART_SWEEPS; sweep++)
    for (int i = 0; i < n; i++) project(&near[i]);
  for (int i = 0; i < count; i++) {
    abEcpBody* b = pushed[i].body;
    double J[36], turn = 0.3 * apart * sqrt(b->m / b->inertia_scale);
    b->w = v3_scale(turn, v3_unit(v3(cos(3 * i + 1), sin(5 * i + 2), cos(7 * i + 3))));
    ab_ecp_body_end(b, island->system.exact_momentum);
    ab_ecp_body_rows(&island->system, b, pushed[i].by, J, 6);
  }
  for (int i = 0; i < island->ncontact; i++) {
    leave_out(&island->contact[i]);
    if (ab_ecp_gap(&island->contact[i]) <= 0) return 0;
  }
  return count;
}
