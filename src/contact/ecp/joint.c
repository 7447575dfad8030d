// All contacts of a large island at once, modes included.
//
// Block Gauss-Seidel finds the modes of a few contacts; a tower that is struck would need thousands
// of sweeps, and Newton's method with wrong modes goes astray. Here contacts are points that press
// (manifold.c), and which of them do is an outcome of one complementarity problem for the whole
// island, solved by its augmented Lagrangian: the motion for given multipliers (press.c), then
// the multipliers set to what that gave, which makes the violation of the contact laws (`drift`, a
// length) smaller by the ratio of 1/k to the bodies' compliance; k is raised from 10 to 1000
// reduced masses, and further where laws cannot hold all at once and multipliers must grow until
// one gives way. It has no excess of unknowns where statics does not divide a load, and no mode to
// be wrong. Near the solution patches are made anew, at the poses found and with the normals of the
// modes that the points make; edges that do not cross there any more are given another mode.
//
// The points that press are the modes from which Newton's method on the equations themselves
// starts, and ends at rounding (ab_ecp_correct_modes): a contact point beyond its border goes to
// the border, what sinks in joins the contact, what pulls or finds no mode is let go, what overlaps
// comes back; all contacts at once, since near the solution only few are wrong. The same is tried
// first with the modes of the last step, which is most steps.
//
// Measured on the tower of 18 planks of scenes/demo.xml, struck by a block (19 bodies, 50 to 60
// contacts at a time), 500 steps: all solved, the worst to 4.6e-10; 54 % of the steps take below 2
// ms, 81 % below 10 ms, the longest 160 ms. Block Gauss-Seidel with Newton's method took up to 6 s
// and left 6 of the first 175 unsolved. With all speeds at the start times 0.9, 1.1 and
// 1.15, 4, 1 and 2 steps of 500 stay unsolved (reported): those in which the block strikes the
// tower, and planks wedge each other. Of 25 heaps of ten hulls, some 6,800 steps, those that stay
// unsolved here are found by path.c.
// Tests: test_ecp_heap.
#include "contact/ecp/manifold.h"

#include <float.h>

#include "contact/ecp/island.h"

// A contact just taken in has no mode: the nearest one.
static bool give_mode(abEcpContact* c) {
  if (c->mode.kind[0] != AB_ECP_NONE) return true;
  abEcpMode mode[AB_ECP_NEAR_MODES];
  int n = ab_ecp_candidates(c, AB_ECP_NEAR_MODES, mode), best = -1;
  bool plane = c->shape[1].shape->type == AB_SHAPE_PLANE;
  abVec3 witness = plane ? c->body[0]->x : ab_ecp_witness(c);
  double most = -INFINITY;
  for (int i = 0; i < n; i++) {
    if (!ab_ecp_set_mode(c, mode[i]) || !ab_ecp_place(c, witness)) continue;
    abEcpKinematics k;
    ab_ecp_kinematics(c, &k);
    // where bodies overlap, faces that meet are a better guess than edges that cross
    abEcpManifold m;
    double apart = plane ? 0 : ab_ecp_separation(c, k.n);
    if (!plane && c->ref >= 0) apart += ab_ecp_manifold(c, &m) ? 0.01 : -0.01;
    if (apart > most + 1e-6) most = apart, best = i;
  }
  return best >= 0 && ab_ecp_set_mode(c, mode[best]) && ab_ecp_place(c, witness);
}

static double unit_of(const abEcpSystem* s) {
  double sum = 0;
  for (int i = 0; i < s->nbody; i++) {
    const abEcpBody* b = s->body[i];
    sum += v3_norm2(b->f) / (b->m * b->m) + v3_norm2(b->v0);
  }
  return sqrt(sum) + DBL_MIN;
}

static bool make_manifold(abEcpContact* c, abEcpManifold* m) {
  if (!give_mode(c)) return false;
  if (ab_ecp_manifold(c, m)) return true;
  c->mode = ab_ecp_mode(AB_ECP_NONE, 0, AB_ECP_NONE, 0);
  if (!give_mode(c)) return false;
  ab_ecp_manifold(c, m);
  return true;
}

// Edges that do not cross, at the present poses, or only beyond their ends.
static bool astray(const abEcpContact* c) {
  const abEcpFeature* f = c->feature;
  if (!ab_ecp_bears(c) || c->ref >= 0 || c->cornered) return false;
  if (f[0].kind != AB_ECP_SEGMENT || f[1].kind != AB_ECP_SEGMENT) return false;
  abVec3 u0 = m3_apply(&c->body[0]->R, f[0].u), u1 = m3_apply(&c->body[1]->R, f[1].u);
  abVec3 x0 = v3_add(c->body[0]->x, m3_apply(&c->body[0]->R, f[0].c));
  abVec3 x1 = v3_add(c->body[1]->x, m3_apply(&c->body[1]->R, f[1].c));
  abVec3 d = v3_sub(x1, x0), m = v3_cross(u0, u1);
  double norm2 = v3_norm2(m);
  if (norm2 < AB_ECP_PARALLEL) return true;
  double s0 = v3_dot(v3_cross(d, u1), m) / norm2, s1 = v3_dot(v3_cross(d, u0), m) / norm2;
  return fabs(s0) > f[0].half || fabs(s1) > f[1].half;
}

// At the present poses, with the impulses found so far, and the normals of the modes that they
// make.
static bool renew_manifolds(abEcpJoint* q) {
  for (int i = 0; i < q->n; i++) {
    abEcpManifold *m = &q->m[i], old = *m;
    if (!ab_ecp_manifold_mode(m, AB_ECP_BORDER)) return false;
    m->c->active = true;
    if (astray(m->c)) m->c->mode = ab_ecp_mode(AB_ECP_NONE, 0, AB_ECP_NONE, 0);
    if (!make_manifold(m->c, m)) return false;
    ab_ecp_manifold_inherit(m, &old);
  }
  return true;
}

static bool load_manifolds(abEcpJoint* q) {
  abEcpIsland* island = q->island;
  q->n = 0;
  for (int i = 0; i < island->ncontact; i++) {
    abEcpContact* c = &island->contact[i];
    if (!c->active) continue;
    if (!make_manifold(c, &q->m[q->n])) return false;
    ab_ecp_manifold_recall(&q->m[q->n++], c->pn, c->s);
  }
  return true;
}

static void prepare(abEcpJoint* q) {
  ab_ecp_all_bodies(q->island);
  for (int i = 0; i < q->s->nbody; i++) q->s->body[i]->slot = 6 * i;
}

// The contacts whose present solution breaks an inequality, in other modes. Returns how many; -1 if
// there is no other mode for one of them.
static int change_modes(abEcpIsland* island) {
  int changed = 0;
  for (int i = 0; i < island->ncontact; i++) {
    abEcpContact* c = &island->contact[i];
    double worst;
    if (!ab_ecp_bears(c) || ab_ecp_admissible(&island->system, c, &worst)) continue;
    changed++;
    if (c->pn > 0 && ab_ecp_next_mode(c)) continue;
    c->active = false;  // if it overlaps then, it comes back
    c->pn = c->s[0] = c->s[1] = c->s[2] = 0;
  }
  if (ab_ecp_take_in_overlapping(island) == 0) return changed;
  for (int i = 0; i < island->ncontact; i++) {
    abEcpContact* c = &island->contact[i];
    if (!c->active || ab_ecp_bears(c)) continue;
    if (!give_mode(c)) return -1;
    changed++;
  }
  return changed;
}

bool ab_ecp_correct_modes(abEcpIsland* island) {
  for (int round = 0; round < AB_ECP_CORRECTIONS && !ab_ecp_exhausted(island); round++) {
    bool solved = ab_ecp_newton_island(island, true) == AB_ECP_SOLVED;
    if (!solved && !(island->system.residual < AB_ECP_NEAR)) return false;
    int changed = change_modes(island);
    if (changed == 0 && !solved) return ab_ecp_holds(island);
    if (changed <= 0) return changed == 0 && ab_ecp_plausible(&island->system);
  }
  return false;
}

// The contacts in the modes that the points make. Those that hardly press are left out: where they
// act is not known.
static void set_modes(abEcpJoint* q) {
  double most = 0;
  for (int i = 0; i < q->n; i++) most = fmax(most, q->m[i].pn / q->m[i].mass);
  for (int i = 0; i < q->n; i++) {
    abEcpManifold* m = &q->m[i];
    if (m->pn < 1e-6 * most * m->mass) m->pn = 0;
    if (!ab_ecp_manifold_mode(m, AB_ECP_BORDER)) m->c->active = false;
  }
}

static void restore(abEcpJoint* q) {
  ab_ecp_restore(q->island, AB_ECP_SAVED);
  prepare(q);
}

// One stage: motion for the present multipliers.
static bool rest(abEcpJoint* q, double unit) {
  ab_ecp_save(q->island, AB_ECP_SAVED);
  if (ab_ecp_balance(q, unit)) return true;
  restore(q);
  if (!q->coupled) return false;
  q->coupled = false;
  if (ab_ecp_balance(q, unit)) return true;
  restore(q);
  return false;
}

bool ab_ecp_solve_jointly(abEcpIsland* island) {
  abEcpJoint q = {
      .island = island, .s = &island->system, .m = island->manifold, .stiffness = AB_ECP_SOFT};
  prepare(&q);
  if (!load_manifolds(&q)) return false;
  double unit = unit_of(q.s), last = INFINITY, tried = 1e-4, best = INFINITY;
  bool fresh = false;
  int since = 0;
  for (int stage = 0; stage < AB_ECP_STAGES && !ab_ecp_exhausted(island); stage++) {
    q.coupled = last < AB_ECP_NEAR;
    bool ok = rest(&q, unit);
    if (!ok) {
      q.stiffness *= 0.2;
      q.extrapolate = false;
      continue;
    }
    if (last < 1e-6 && !fresh) {
      if (!renew_manifolds(&q)) break;
      fresh = true;
      q.extrapolate = false;
      continue;
    }
    double drift = ab_ecp_renew(&q);
    ab_ecp_save(island, AB_ECP_SAVED);
    if (drift < best) {
      best = drift;
      set_modes(&q);
      ab_ecp_save(island, AB_ECP_JOINT);
      restore(&q);
    }
    since++;
    if (drift < tried || (drift < 1e-6 && since > 3)) {
      tried = 0.1 * drift, since = 0;
      set_modes(&q);
      if (ab_ecp_correct_modes(island)) return true;
      restore(&q);
      if (drift < 1e-10) {
        if (!renew_manifolds(&q)) break;
        tried = drift;
        continue;
      }
    }
    bool stuck = drift > 0.5 * last && drift < AB_ECP_NEAR;
    if (q.stiffness < AB_ECP_STIFF || (stuck && q.coupled && q.stiffness < AB_ECP_STIFFEST)) {
      q.stiffness *= 4;
      q.extrapolate = false;
    }
    last = drift;
  }
  if (isfinite(best)) ab_ecp_restore(island, AB_ECP_JOINT);
  return false;
}
