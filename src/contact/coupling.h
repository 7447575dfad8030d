// How the pairs of a problem act on each other, seen at their contact points: shared by the models
// that work pair by pair.
//
// A pair's relative twist is taken at a point p: X1 (twist of body 1) - X2 (twist of body 2), X =
// [1, -[(p - com) x]; 0, 1]; an impulse f at p acts on body 1 as X1^T f and on body 2 as -X2^T f.
#ifndef ABUT_CONTACT_COUPLING_H
#define ABUT_CONTACT_COUPLING_H

#include <abut/contact.h>

#include "math/spatial.h"

// Relative twist of a pair at p when the generalised velocities are v.
abTwist ab_pair_twist(const abContactProblem* problem, const abPair* pair, abVec3 p,
                      const double* v);
// The same at the start of the step.
abTwist ab_pair_twist_now(const abContactProblem* problem, const abPair* pair, abVec3 p);
// v += what the impulse f at p does.
void ab_pair_apply(const abContactProblem* problem, const abPair* pair, abVec3 p, abWrench f,
                   double* v);
// The same two for methods that need them many times at one point: arms and inertias are looked up
// once.
typedef struct abLever {
  const abContactProblem* problem;
  const abPair* pair;
  abVec3 point;
  bool jointed;        // a body of a joint tree takes part: answered by the functions above
  int dof[2];          // first velocity of each body, -1 if fixed to the world
  abVec3 arm[2];       // from its centre of mass to the point
  double inv_mass[2];  // of body 2 with the opposite sign, as its inertia: it gets the opposite
  abMat3 inv_inertia[2];
} abLever;

void ab_lever_make(const abContactProblem* problem, const abPair* pair, abVec3 p, abLever* lever);
abTwist ab_lever_twist_of_tree(const abLever* lever, const double* v);
void ab_lever_apply_to_tree(const abLever* lever, abWrench f, double* v);

static inline abTwist ab_lever_twist(const abLever* lever, const double* v) {
  if (lever->jointed) return ab_lever_twist_of_tree(lever, v);
  abTwist t = twist_zero();
  if (lever->dof[0] >= 0) t = twist_move(twist_from_array(v + lever->dof[0]), lever->arm[0]);
  if (lever->dof[1] >= 0)
    t = twist_sub(t, twist_move(twist_from_array(v + lever->dof[1]), lever->arm[1]));
  return t;
}

static inline void ab_lever_apply(const abLever* lever, abWrench f, double* v) {
  if (lever->jointed) {
    ab_lever_apply_to_tree(lever, f, v);
    return;
  }
  for (int k = 0; k < 2; k++) {
    if (lever->dof[k] < 0) continue;
    double* u = v + lever->dof[k];
    abVec3 torque = v3_add(f.torque, v3_cross(lever->arm[k], f.force));
    abVec3 ang = m3_apply(&lever->inv_inertia[k], torque);
    u[0] += lever->inv_mass[k] * f.force.x;
    u[1] += lever->inv_mass[k] * f.force.y;
    u[2] += lever->inv_mass[k] * f.force.z;
    u[3] += ang.x, u[4] += ang.y, u[5] += ang.z;
  }
}
// Phi: change of the pair's relative twist at p per impulse at p.
void ab_pair_response(const abContactProblem* problem, const abPair* pair, abVec3 p, abMat6* phi);
// Inertia against a push along unit vector n at the point phi is taken at.
double ab_effective_mass(const abMat6* phi, abVec3 n);
// Mass of the two bodies against each other, as if they met head on: 1 / (1/m1 + 1/m2).
double ab_reduced_mass(const abContactProblem* problem, const abPair* pair);
// World position of a point of the contact plane.
static inline abVec3 ab_patch_point(const abPatch* patch, abVec2 r) {
  return v3_axpy(r.y, patch->t2, v3_axpy(r.x, patch->t1, patch->center));
}
// Typical impulse of a step, against which residuals are measured: the largest m (|g| h + |v_free -
// v|) of a touching body.
double ab_impulse_scale(const abContactProblem* problem);

#endif
