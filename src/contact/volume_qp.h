// One island of volume-qp: its contacts and velocities numbered anew, its linear system and its
// complementarity problem (volume_qp_island.c), and the paper's own problem on it
// (volume_qp_printed.c). volume_qp.c decides which contacts stick, hold or slide.
#ifndef ABUT_CONTACT_VOLUME_QP_H
#define ABUT_CONTACT_VOLUME_QP_H

#include "contact/volume.h"

typedef struct abDirect {
  const abContactProblem* problem;
  int n, ndof, nmover;
  const int* pair;
  const int* mover;
  int* dof0;  // per mover of the scene: its first velocity here
  abVolumeContact* contact;
  double (*now)[6];  // relative twists at the start of the step
  double* J;         // per contact 6 x ndof, scaled patch frame
  double* M;         // ndof x ndof
  double* W;         // its factor with the sticking contacts
  double *X, *C;     // see couple()
  double* v_free;    // generalised velocities without contact,
  double* u_stick;   // with the contacts that are not solved by their vertices,
  double* u;         // and with all
  const abVolumeOption* option;
  int nregularised;
} abDirect;

// Numbers the island's velocities, prepares its contacts and takes the memory of its systems; false
// if the arena is full.
bool ab_direct_prepare(abDirect* d);
// Relative twist of contact i under the velocities u.
void ab_direct_twist(const abDirect* d, int i, const double* u, double v[6]);
// What opposes the velocity linearly in a contact that sticks or holds.
const double* ab_direct_damper(const abVolumeContact* c);
// The motion of the sticking contacts alone, u_stick, and what forces at all others do through
// them.
void ab_direct_solve_sticking(abDirect* d);
// Vertices of the contacts that hold or slide.
int ab_direct_count_vertices(const abDirect* d);
// Solves their complementarity problem with friction times mu_scale and adds its effect to u and to
// the contacts' forces. False if Lemke's method failed.
bool ab_direct_solve_sliding(abDirect* d, double mu_scale, double tolerance, double* residual);
// The paper as printed, with its coefficients; false if its system was singular or the arena full.
bool ab_direct_solve_printed(abDirect* d, double lambda, double k);

#endif
