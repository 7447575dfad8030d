// Islands: bodies joined by pairs that may touch. Fixed bodies join nothing.
// Tests: test_ecp_bodies, test_ecp_throw.
#include "contact/ecp/island.h"

#include "base/arena.h"
#include "contact/ecp/manifold.h"

static int find_root(int* parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static int mover_body(const abContactProblem* p, int body) {
  int m = p->response->mover_of_body[body];
  return m < 0 ? -1 : p->response->mover[m].body0;
}

// Joins bodies; the smaller index is the root, so that the result does not depend on the order.
static void join(const abContactProblem* p, int n, const abEcpTouch* touch, int* parent) {
  for (int i = 0; i < p->nbody; i++) parent[i] = i;
  for (int i = 0; i < n; i++) {
    const abPair* pair = &p->pair[touch[i].pair];
    int a = mover_body(p, pair->body1), b = mover_body(p, pair->body2);
    if (a < 0 || b < 0) continue;
    a = find_root(parent, a), b = find_root(parent, b);
    if (a < b) parent[b] = a;
    if (b < a) parent[a] = b;
  }
}

static bool take_system(abArena* arena, const abEcpIsland* island, abEcpSystem* s) {
  size_t n = (size_t)(6 * island->nbody + 6 * island->ncontact);
  s->body = AB_TAKE(arena, abEcpBody*, island->nbody + 1);
  s->contact = AB_TAKE(arena, abEcpContact*, island->ncontact + 1);
  size_t dense = n < AB_ECP_DENSE ? n : AB_ECP_DENSE, condensed = 6 * (size_t)island->nbody;
  size_t square = dense > condensed ? dense * dense : condensed * condensed;
  s->F = AB_TAKE(arena, double, 4 * n + square + 36 * (size_t)island->nbody + 1);
  s->block = AB_TAKE(arena, abEcpBlock, n > AB_ECP_DENSE ? island->ncontact : 1);
  s->pivot = AB_TAKE(arena, int, 4 * n + 2);
  if (!s->body || !s->contact || !s->F || !s->pivot || !s->block) return false;
  s->step = s->F + n;
  s->trial = s->step + n;
  s->copy = s->trial + n;
  s->diagonal = s->copy + n;
  s->J = s->diagonal + 36 * (size_t)island->nbody;
  return true;
}

static bool solve_root(const abContactProblem* p, int root, int* parent, int ntouch,
                       const abEcpTouch* touch, abContactSolution* out, abEcpReport* report) {
  abArenaMark mark = ab_arena_mark(p->scratch);
  abEcpIsland island = {.problem = p};
  int* member = AB_TAKE(p->scratch, int, p->nbody + ntouch + 1);
  if (!member) return false;
  int* mine = member + p->nbody;
  for (int i = 0; i < p->nbody; i++)
    if (mover_body(p, i) == i && find_root(parent, i) == root) member[island.nbody++] = i;
  double radius = 0;
  for (int i = 0; i < ntouch; i++) {
    const abPair* pair = &p->pair[touch[i].pair];
    int b = mover_body(p, pair->body1);
    bool first = b >= 0;
    if (!first) b = mover_body(p, pair->body2);
    if (b < 0 || find_root(parent, b) != root) continue;
    const abShape* shape = touch[i].hull[first ? 0 : 1];
    if (!shape) shape = first ? pair->shape1 : pair->shape2;
    if (radius == 0) radius = ab_ecp_shape_radius(shape);
    mine[island.ncontact++] = i;
  }
  if (!(radius > 0) || !isfinite(radius)) radius = p->length > 0 ? p->length : 1;
  island.body = AB_TAKE(p->scratch, abEcpBody, (1 + AB_ECP_LEVELS) * island.nbody);
  island.contact = AB_TAKE(p->scratch, abEcpContact, (1 + AB_ECP_LEVELS) * island.ncontact + 1);
  island.manifold = AB_TAKE(p->scratch, abEcpManifold, island.ncontact);
  if (!island.body || !island.contact || !island.manifold ||
      !take_system(p->scratch, &island, &island.system))
    return false;
  island.system.exact_momentum = report->exact_momentum;
  ab_ecp_units(&island, root, radius);
  for (int i = 0; i < island.nbody; i++) ab_ecp_load_body(&island, member[i], &island.body[i]);
  for (int i = 0; i < island.ncontact; i++)
    ab_ecp_load_contact(&island, &touch[mine[i]], &island.contact[i]);
  ab_ecp_solve_island(&island, report);
  report->iterations += island.system.iterations;
  double back = radius / p->h;
  for (int i = 0; i < island.nbody; i++) {
    const abEcpBody* b = &island.body[i];
    out->twist_end[b->index] = (abTwist){v3_scale(back, b->v), v3_scale(1 / p->h, b->w)};
  }
  for (int i = 0; i < island.ncontact; i++) ab_ecp_store(&island, &island.contact[i], out);
  ab_arena_release(p->scratch, mark);
  return true;
}

bool ab_ecp_islands(const abContactProblem* p, int ntouch, const abEcpTouch* touch,
                    abContactSolution* out, abEcpReport* report) {
  int* parent = AB_TAKE(p->scratch, int, p->nbody + 1);
  if (!parent) return false;
  join(p, ntouch, touch, parent);
  for (int i = 0; i < p->nbody; i++) {
    int m = p->response->mover_of_body[i];
    if (m < 0 || p->response->mover[m].jointed || p->response->mover[m].body0 != i) continue;
    if (find_root(parent, i) != i) continue;
    if (!solve_root(p, i, parent, ntouch, touch, out, report)) return false;
  }
  return true;
}
