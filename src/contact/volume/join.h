// All contacts of an island brought forward together: a Newton step on the laws of their modes.
//
// Sweeps carry news from one contact to the next, so that a group needs the more of them the larger
// it is. After a sweep every contact has a mode and a motion v_i in which its law gives its force;
// near it the law is linear, f_i(v) = f_i + D_i (v - v_i) (contact/volume/law.c). The motion u of
// the bodies that agrees with all these lines at once solves
//
//     (M - sum_i J_i^T D_i J_i) du = sum_i J_i^T (f_i + D_i (J_i u - v_i) - g_i),
//
// M the inertia, J_i u the relative twist of contact i and g_i its present force, of which u
// consists: M (u - u_free) = sum J_i^T g_i. It is the system of volume-qp (qp.c), taken
// about the answers of the contacts instead of the motion of all: each line touches its law where
// the contact itself found it right. Contacts that stick, or carry the same vertices, are straight:
// one step is then exact. Whether modes and laws agree is for the next sweep to say; a step decides
// nothing.
//
// A body touches few others, so the matrix is sparse and its factorisation costs about as much as a
// sweep (solve/dense_blocks.h). Sliding makes it unsymmetric: friction follows the load, the load
// does not follow friction. Contacts that a sweep left on their lines keep them:
// only what is new is written into the matrix.
#ifndef ABUT_CONTACT_VOLUME_JOIN_H
#define ABUT_CONTACT_VOLUME_JOIN_H

#include "contact/volume/volume.h"
#include "solve/dense_blocks.h"

typedef struct abVolumeLine {
  double v[6], f[6], D[36];  // a point of it and its slope
  double dv[6];              // from there to the present motion
} abVolumeLine;

typedef struct abVolumeJoin {
  const abContactProblem* problem;
  abVolumeContact* contact;  // of the step
  const abLever* lever;
  int npair, nmover;  // of the island
  const int *pair, *mover;
  int* block;  // per mover of the step: its place in the island
  double* dv;  // room for all velocities of the step
  abBlockSymbolic symbolic;
  abBlockLu matrix, factor;
  double* du;
  abVolumeLine* line;
} abVolumeJoin;

// `join` with problem, contact, lever, npair, nmover, pair, mover, block and dv set.
// AB_ERROR_UNSUPPORTED if a step would cost more than `most_sweeps` sweeps, AB_ERROR_MEMORY if the
// arena is full.
abStatus ab_volume_join_begin(abVolumeJoin* join, double most_sweeps);
// One step: forces of the contacts and velocities v. False, and these are not changed, if there is
// none; that ends the matter.
bool ab_volume_join_step(abVolumeJoin* join, double* v);

#endif
