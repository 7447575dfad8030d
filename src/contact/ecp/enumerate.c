// The last resort for a few contacts: all modes near, in all combinations.
//
// Sweeps choose the mode of one contact under the impulses of the others, continuation follows one
// solution from a shorter step; both can miss a step in which several contacts change at once (a
// lying cylinder whose side closes on a disc, while another one on that disc rolls on to its rim:
// one of 570,000 steps of thrown bodies). Each combination of modes is one Newton system from the
// free motion, and the first whose solution keeps every inequality counts, those of the nearest
// modes first: by the sum of their ranks (candidate.c).
#include "contact/ecp/island.h"

enum { CONTACTS = 4, MODES = 40, CORNERS = 4 };
static const int modes_of[CONTACTS + 1] = {0, 40, 40, 16, 10};  // by the number of contacts

typedef struct Choice {
  int n;
  abEcpContact* contact[CONTACTS];
  int modes[CONTACTS];
  abEcpMode mode[CONTACTS][MODES + CORNERS + 1];
} Choice;

// Contacts as near, at the start, as bodies move in a step.
static bool list_modes(abEcpIsland* island, Choice* q) {
  double reach = 0;
  for (int i = 0; i < island->nbody; i++) {
    const abEcpBody* b = &island->body[i];
    reach = fmax(reach, 2 * (v3_norm(b->v0) + v3_norm(b->w0) + v3_norm(b->f) / b->m));
  }
  ab_ecp_start_poses(island);
  q->n = 0;
  for (int i = 0; i < island->ncontact; i++) {
    abEcpContact* c = &island->contact[i];
    c->active = false;
    if (ab_ecp_gap(c) > reach) continue;
    if (q->n == CONTACTS) return false;
    q->contact[q->n++] = c;
  }
  for (int i = 0; i < q->n; i++) {
    int n = ab_ecp_candidates(q->contact[i], modes_of[q->n], q->mode[i]);
    n += ab_ecp_corners(q->contact[i], CORNERS, q->mode[i] + n);
    q->mode[i][n++] = ab_ecp_mode(AB_ECP_NONE, 0, AB_ECP_NONE, 0);
    q->modes[i] = n;
  }
  return q->n > 0;
}

// Combination `index`: the rank of each contact's mode. Returns their sum.
static int combination(const Choice* q, long index, int rank[CONTACTS]) {
  int sum = 0;
  for (int i = 0; i < q->n; i++) {
    rank[i] = (int)(index % q->modes[i]);
    index /= q->modes[i];
    sum += rank[i];
  }
  return sum;
}

static bool begin(const Choice* q, const int rank[CONTACTS]) {
  for (int i = 0; i < q->n; i++) {
    abEcpContact* c = q->contact[i];
    abEcpMode mode = q->mode[i][rank[i]];
    c->active = mode.kind[0] != AB_ECP_NONE;
    c->mode = mode;
    c->pn = c->s[0] = c->s[1] = c->s[2] = 0;
    if (!c->active) continue;
    if (!ab_ecp_set_mode(c, mode)) return false;
    abVec3 a = c->ref < 0 ? ab_ecp_witness(c) : c->body[1 - c->ref]->x;
    if (!ab_ecp_place(c, a)) return false;
    const abEcpBody* b = c->body[c->body[0]->moving ? 0 : 1];
    c->pn = ab_ecp_reduced_mass(c) * v3_norm(b->f) / b->m;
  }
  return true;
}

bool ab_ecp_enumerate(abEcpIsland* island) {
  Choice q;
  if (!list_modes(island, &q)) return false;
  long total = 1;
  int most = 0, rank[CONTACTS];
  for (int i = 0; i < q.n; i++) total *= q.modes[i], most += q.modes[i] - 1;
  for (int sum = 0; sum <= most; sum++)
    for (long k = 0; k < total; k++) {
      if (combination(&q, k, rank) != sum) continue;
      if (ab_ecp_exhausted(island)) return false;
      ab_ecp_free_motion(island);
      if (!begin(&q, rank)) continue;
      if (ab_ecp_together(island, true) && ab_ecp_take_in_overlapping(island) == 0) return true;
      for (int i = 0; i < island->ncontact; i++) island->contact[i].active = false;
    }
  return false;
}
