// What joints let the two bodies of a contact do against each other.
//
// A contact asks for velocities along its normal. Free bodies can always follow; bodies of a joint
// tree may not. In a column i of the Jacobian (joint i turns or slides at unit speed) u_i is the
// velocity with which the contact opens, w_i the angular velocity of body 1 against body 2. The
// lever of the joint is |u_i| / |w_i|, infinite for one that shifts the bodies. The reach
//
//   L = sum of the levers
//
// tells how far the contact opens, at most, when no joint turns by more than one radian, as long as
// nothing else changes. A depth d needs turns of d / L. Where that is no small angle, the linear
// step says nothing about opening: base and first link of many a robot overlap, with the joint's
// axis inside both, and the contact asks for ever faster turns that never bring them apart. Such a
// contact is left as it is, without force, until the bodies have parted.
//
// Other contacts of jointed bodies that begin deep rest as they are: what they are asked for is not
// to get deeper anywhere (ab_patch_recall_rest). Taking all depths back at once may ask for what no
// motion gives, say of two arms that start inside each other, at any force; but nothing moving is a
// motion that suits all. So do those that are less deep, if it turns out that they jam.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "branch.h"
#include "contact/patch/patch.h"
#include "math/spatial.h"

// Of one tree, to which one or both sides belong. A joint before both of them moves neither against
// the other.
static double reach_of_tree(const abPatchContact* c, const bool has[2]) {
  double sum = 0;
  const abPatchBranch* b[2] = {has[0] ? c->side[0].branch : NULL,
                               has[1] ? c->side[1].branch : NULL};
  int next[2] = {0, 0};
  for (;;) {
    int at[2];
    for (int k = 0; k < 2; k++) at[k] = b[k] && next[k] < b[k]->n ? b[k]->at[next[k]] : INT_MAX;
    int k = at[0] < at[1] ? 0 : 1;
    if (at[k] == INT_MAX) return sum;
    const double* J = b[k]->J[next[k]++];
    if (at[0] == at[1]) {
      next[0]++;
      continue;
    }
    abVec3 turn = v3(J[3], J[4], J[5]), r = c->side[k].r;
    if (turn.x == 0 && turn.y == 0 && turn.z == 0) {  // a slide opens as far as it goes
      abVec3 lin = v3(J[0], J[1], J[2]);
      double u = v3_dot(c->axis[2], lin);
      if (u * u > 1e-18 * v3_norm2(lin)) return INFINITY;
      continue;
    }
    abVec3 v = v3_add(v3(J[0], J[1], J[2]), v3_cross(turn, r));
    double u = fabs(v3_dot(c->axis[2], v)), w = v3_norm(turn);
    if (!(u > 1e-9 * (v3_norm(v) + w * v3_norm(r)))) continue;  // that is rounding
    if (!(u < 1e3 * w * c->thin)) return INFINITY;
    sum += u / w;
  }
}

static double reach(const abPatchContact* c) {
  const abPatchSide* s = c->side;
  for (int k = 0; k < 2; k++)
    if (s[k].block >= 0 && !s[k].branch) return INFINITY;
  bool one = s[0].block >= 0, two = s[1].block >= 0;
  if (one && two && s[0].block == s[1].block) return reach_of_tree(c, (bool[2]){true, true});
  double sum = 0;
  if (one) sum += reach_of_tree(c, (bool[2]){true, false});
  if (two) sum += reach_of_tree(c, (bool[2]){false, true});
  return sum;
}

void ab_patch_mobility(const abResponse* r, const abPatchContact* c, int k, double part[3]) {
  const abPatchSide* s = &c->side[k];
  part[0] = part[1] = part[2] = 0;
  if (s->block < 0) return;
  if (s->branch) {
    ab_response_along(r, s->body, s->body, s->r, s->r, c->axis, part);
    return;
  }
  for (int e = 0; e < 3; e++) {
    abVec3 torque = v3_cross(s->r, c->axis[e]);
    part[e] = r->inv_mass[s->body] + v3_dot(torque, m3_apply(&r->inv_inertia[s->body], torque));
  }
}

// The change of the relative velocity by a unit impulse on body 1 and its opposite on body 2. Two
// bodies of one tree share the joints before them, which move nothing of the one against the other.
static void find_mobility(const abResponse* r, const abPatchContact* c, double part[3]) {
  const abPatchSide* s = c->side;
  double other[3], both[3] = {0};
  ab_patch_mobility(r, c, 0, part);
  ab_patch_mobility(r, c, 1, other);
  if (s[0].branch && s[0].block >= 0 && s[0].block == s[1].block)
    ab_response_along(r, s[0].body, s[1].body, s[0].r, s[1].r, c->axis, both);
  for (int e = 0; e < 3; e++) part[e] += other[e] - 2 * both[e];
}

// Whether the depth needs turns that are no small angles. Once left alone, always so until the
// bodies have parted.
static bool out_of_reach(const abPatchContact* c, double depth, bool was) {
  if (was) return depth > 0.1 * AB_PATCH_OUT_OF_REACH * c->thin;
  return depth > AB_PATCH_OUT_OF_REACH * c->thin && depth > AB_PATCH_TURN_TO_OPEN * c->reach;
}

// Whether a depth that nothing explains is being taken back in vain. Where turning the joints
// further brings the bodies no farther apart, friction locks them or a limit of a joint stops them,
// only ever larger forces are left. The less deep, the larger a force counts as that: loads that
// are carried leave next to no depth.
static bool is_jammed(const abContactProblem* problem, const abPatchContact* c, double mobility) {
  const abPair* pair = &problem->pair[c->pair];
  const abPatchMemory* m = pair->memory;
  double depth = pair->patch.depth;
  if (pair->fresh || !(m->h > 0) || !(depth > AB_PATCH_JAMS * c->thin)) return false;
  double shallow = fmax(1, AB_PATCH_OUT_OF_REACH * c->thin / depth);
  double weight = AB_PATCH_JAMMED * shallow * v3_norm(problem->gravity) * m->h;
  double out = depth / ab_patch_recovery_time(problem, c->thin);
  return m->impulse[2] * mobility > fmax(weight, AB_PATCH_HARDER * out);
}

// The depth at which the contact rests, 0: none but that of its load. It follows a new normal, and
// the bodies when they part by more than AB_PATCH_REST_FOLLOWS of the thinner one. Would it follow
// the least motion, contacts that press against each other would each take over in turn what the
// others give way by, and wedge their bodies.
static double rest_depth(const abContactProblem* problem, const abPatchContact* c, double before,
                         double mobility) {
  const abPair* pair = &problem->pair[c->pair];
  double depth = pair->patch.depth, deep = AB_PATCH_BEGINS_DEEP * c->thin;
  if (before > 0) {
    if (depth > before + deep || (depth > before && is_jammed(problem, c, mobility))) return depth;
    if (!(depth > 0.1 * fmin(AB_PATCH_OUT_OF_REACH * c->thin, before))) return 0;
    return depth < before - AB_PATCH_REST_FOLLOWS * c->thin ? depth : before;
  }
  if (!(c->side[0].branch || c->side[1].branch)) return 0;
  if (is_jammed(problem, c, mobility)) return depth;
  if (!pair->fresh || !(depth > deep)) return 0;
  abVec3 v[2];
  for (int k = 0; k < 2; k++) v[k] = twist_at(problem->body[c->side[k].body].twist, c->side[k].r);
  double closing = v3_dot(c->axis[2], v3_sub(v[1], v[0]));
  return depth > 2 * problem->h * closing ? depth : 0;  // else it has just come there
}

AB_SIMD AB_FLATTEN void ab_patch_hold(const abContactProblem* problem, abPatchContact* c,
                                      double part[3]) {
  const abPair* pair = &problem->pair[c->pair];
  const abPatchMemory* memory = pair->memory;
  const abResponse* r = problem->response;
  double least = 0;
  for (int k = 0; k < 2; k++)
    if (c->side[k].block >= 0) least += AB_PATCH_HELD * r->inv_mass[c->side[k].body];
  find_mobility(r, c, part);
  c->reach = reach(c);
  bool was = !pair->fresh && memory->h > 0 && memory->held;
  c->held = pair->held || part[2] < AB_PATCH_CANNOT_OPEN * least ||
            out_of_reach(c, pair->patch.depth, was);
  c->rest = rest_depth(problem, c, pair->fresh ? 0 : memory->rest, part[2]);
  for (int e = 0; e < 3; e++) part[e] = fmax(part[e], least);
}
