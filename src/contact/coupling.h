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
