// From a joint solution that breaks inequalities to the modes that keep them.
//
// Block Gauss-Seidel (many.c) chooses the mode of each contact with the impulses of the others
// held, and where these press against each other it may never agree with the joint solution. Here
// the joint solution itself is asked: the contact that fails most is given another mode, of those
// near at the poses of that very solution, and the island is solved again by Newton. Where that
// contact then holds and another fails, that one is next: a search in depth.
#include "contact/ecp/island.h"

enum { CANDIDATES = 16, DEPTH = AB_ECP_LEVELS - AB_ECP_PIVOT };

// Modes given to contacts on the way to the present state.
typedef struct Pivot {
  abEcpIsland* island;
  int solves, most;  // Newton solutions tried, and how many may be
  bool every_start;
  int contact[DEPTH];
  abEcpMode mode[DEPTH];
} Pivot;

// The contact that fails most, and by how much; -1 if none does. Overlap of contacts left out
// counts as well.
static int worst_contact(const abEcpIsland* island, double* worst) {
  int at = -1;
  *worst = 0;
  for (int i = 0; i < island->ncontact; i++) {
    const abEcpContact* c = &island->contact[i];
    double fails = 0;
    bool good = true;
    if (ab_ecp_bears(c)) {
      good = ab_ecp_admissible(&island->system, c, &fails);
    } else {
      fails = -ab_ecp_gap(c);
      good = fails <= 1e-12;  // rounding of a length 1
    }
    if (!good && fails > *worst) *worst = fails, at = i;
  }
  return at;
}

bool ab_ecp_change_mode(abEcpIsland* island, int i, abEcpMode mode) {
  abEcpContact* c = &island->contact[i];
  if (mode.kind[0] == AB_ECP_NONE) {
    c->active = false;
    c->pn = c->s[0] = c->s[1] = c->s[2] = 0;
    return true;
  }
  abEcpKinematics k;
  abVec3 P = v3_zero(), a;
  bool bore = ab_ecp_bears(c);
  if (bore) {
    ab_ecp_kinematics(c, &k);
    P = ab_ecp_impulse(c, &k), a = k.a;
  } else {
    a = ab_ecp_witness(c);
  }
  c->active = true;
  if (!ab_ecp_set_mode(c, mode) || !ab_ecp_place(c, a)) return false;
  if (bore && c->cornered) ab_ecp_corner_turn(c, k.n);
  ab_ecp_kinematics(c, &k);
  c->pn = fmax(0, v3_dot(P, k.n));
  c->s[0] = c->e[0] > 0 ? v3_dot(P, k.t) / c->e[0] : 0;
  c->s[1] = c->e[1] > 0 ? v3_dot(P, k.o) / c->e[1] : 0;
  return true;
}

// The mode of a contact not yet in a mode, alone under the impulses of the others.
static bool find_mode(abEcpIsland* island, int i, abEcpMode* mode) {
  for (int j = 0; j < island->ncontact; j++) ab_ecp_keep_impulse(&island->contact[j]);
  abEcpContact* c = &island->contact[i];
  c->active = true;
  ab_ecp_external_loads(island, c);
  bool found = ab_ecp_solve_single(island, c, NULL);
  *mode = c->mode;
  return found;
}

bool ab_ecp_newton_branches(abEcpIsland* island) {
  enum { MOST = 4 };
  abEcpContact* c[MOST];
  int n = 0;
  for (int i = 0; i < island->ncontact && n < MOST; i++)
    if (ab_ecp_bears(&island->contact[i])) c[n++] = &island->contact[i];
  ab_ecp_save(island, AB_ECP_PIVOT);
  for (int mask = 0; mask < 1 << n && !ab_ecp_exhausted(island); mask++) {
    ab_ecp_restore(island, AB_ECP_PIVOT);
    for (int i = 0; i < n; i++) c[i]->branch = mask >> i & 1 ? AB_ECP_STICKS : AB_ECP_SLIPS;
    bool solved = ab_ecp_newton_island(island, true) == AB_ECP_SOLVED;
    for (int i = 0; i < n; i++) c[i]->branch = AB_ECP_AS_IT_IS;
    // if the laws agree with the branches this is solved already
    if (solved && ab_ecp_newton_island(island, true) == AB_ECP_SOLVED &&
        ab_ecp_plausible(&island->system))
      return true;
  }
  ab_ecp_restore(island, AB_ECP_PIVOT);
  return false;
}

static bool may_go_on(const Pivot* p) {
  return p->solves < p->most && !ab_ecp_exhausted(p->island);
}

static bool tried(const Pivot* p, int depth, int contact, abEcpMode mode) {
  for (int i = 0; i < depth; i++)
    if (p->contact[i] == contact && ab_ecp_mode_equal(p->mode[i], mode)) return true;
  const abEcpContact* c = &p->island->contact[contact];
  return ab_ecp_bears(c) && ab_ecp_mode_equal(c->mode, mode);
}

static bool resolve(Pivot* p, int depth);

// A rim may be met at several azimuths; Newton finds the one it starts near. How many starts, and
// the parameters of one of them.
static int starts_of(abEcpMode mode) {
  int rims = (mode.kind[0] == AB_ECP_RIM) + (mode.kind[1] == AB_ECP_RIM);
  return rims == 2 ? 25 : rims == 1 ? 9 : 1;
}

static bool turn_start(abEcpContact* c, int start) {
  if (start == 0 || c->rounded) return start == 0;
  const double turn = 6.283185307179586;
  int own = c->mode.kind[0] != AB_ECP_RIM && c->npar == 2;  // which parameter is the rim's
  if (c->mode.kind[0] == AB_ECP_RIM && c->mode.kind[1] == AB_ECP_RIM) {
    int row = start / 5 - 2, column = start % 5 - 2;
    c->par[0] += turn * row / 10, c->par[1] += turn * column / 10;
  } else {
    c->par[own] += turn * start / 9;
  }
  return ab_ecp_orient(c);
}

// The state saved at this depth with contact i in the given mode, and what follows from that.
static bool try_start(Pivot* p, int depth, int i, abEcpMode mode, int start) {
  abEcpIsland* island = p->island;
  abEcpContact* c = &island->contact[i];
  ab_ecp_restore(island, AB_ECP_PIVOT + depth);
  if (!ab_ecp_change_mode(island, i, mode) || !turn_start(c, start)) return false;
  p->solves++;
  if (ab_ecp_newton_island(island, true) != AB_ECP_SOLVED) return false;
  if (!ab_ecp_plausible(&island->system)) return false;
  double worst;
  if (ab_ecp_bears(c) && !ab_ecp_admissible(&island->system, c, &worst)) return false;
  p->contact[depth] = i, p->mode[depth] = mode;
  return resolve(p, depth + 1);
}

static bool try_mode(Pivot* p, int depth, int i, abEcpMode mode) {
  ab_ecp_restore(p->island, AB_ECP_PIVOT + depth);
  if (tried(p, depth, i, mode)) return false;
  int n = p->every_start ? starts_of(mode) : 1;
  for (int start = 0; start < n && may_go_on(p); start++)
    if (try_start(p, depth, i, mode, start)) return true;
  return false;
}

// All modes near for contact i.
static bool change_contact(Pivot* p, int depth, int i) {
  abEcpIsland* island = p->island;
  abEcpMode mode[CANDIDATES], found, none = ab_ecp_mode(AB_ECP_NONE, 0, AB_ECP_NONE, 0);
  bool bore = ab_ecp_bears(&island->contact[i]);
  ab_ecp_save(island, AB_ECP_PIVOT + depth);
  if (bore && try_mode(p, depth, i, none)) return true;
  ab_ecp_restore(island, AB_ECP_PIVOT + depth);
  if (!bore && find_mode(island, i, &found) && try_mode(p, depth, i, found)) return true;
  ab_ecp_restore(island, AB_ECP_PIVOT + depth);
  int n = ab_ecp_candidates(&island->contact[i], CANDIDATES, mode);
  for (int j = 0; j < n && may_go_on(p); j++)
    if (try_mode(p, depth, i, mode[j])) return true;
  ab_ecp_restore(island, AB_ECP_PIVOT + depth);
  return false;
}

static bool resolve(Pivot* p, int depth) {
  double worst;
  int i = worst_contact(p->island, &worst);
  if (i < 0) return true;
  return depth < DEPTH && may_go_on(p) && change_contact(p, depth, i);
}

bool ab_ecp_pivot(abEcpIsland* island, bool solved, bool thorough) {
  Pivot p = {.island = island, .most = thorough ? 400 : 40};
  for (int pass = 0; pass < (thorough ? 2 : 1); pass++) {
    p.every_start = pass == 1;
    p.solves = 0;
    if (solved && ab_ecp_plausible(&island->system)) {
      if (resolve(&p, 0)) return true;
      continue;
    }
    for (int i = 0; i < island->ncontact; i++)
      if (ab_ecp_bears(&island->contact[i]) && change_contact(&p, 0, i)) return true;
  }
  return false;
}
