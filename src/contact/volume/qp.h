// One island of volume-qp: its contacts and velocities numbered anew and one Newton step for all of
// them (qp_island.c), and the paper's own problem (qp_printed.c). qp.c decides
// which contacts stick, hold or slide.
#ifndef ABUT_CONTACT_VOLUME_QP_H
#define ABUT_CONTACT_VOLUME_QP_H

#include "contact/volume/volume.h"

// f(v) of a contact and its derivative, by rows.
typedef struct abDirectLaw {
  double f[6], D[36];
} abDirectLaw;

typedef struct abDirect {
  const abContactProblem* problem;
  int n, ndof, nmover;
  const int* pair;
  const int* mover;
  int* dof0;  // per mover of the scene: its first velocity here
  abVolumeContact* contact;
  abDirectLaw* law;
  double (*now)[6];  // relative twists at the start of the step
  bool* released;    // went back towards sticking
  double* J;         // per contact 6 x ndof, scaled patch frame
  double* M;         // ndof x ndof
  double* W;         // the system of a Newton step, and its factors
  int* pivot;
  double *v_free, *u, *du;  // generalised velocities without contact, with it, and the last change
  const abVolumeOption* option;
  int nregularised;
} abDirect;

// Numbers the island's velocities, prepares its contacts and takes the memory of its systems; false
// if the arena is full.
bool ab_direct_prepare(abDirect* d);
// Relative twist of contact i under the velocities u.
void ab_direct_twist(const abDirect* d, int i, const double* u, double v[6]);
// A Newton step from u; u and the contacts' forces follow. Laws are taken as straight about the
// present motion or, where contacts slide, about the answers they themselves give to it. *change:
// the largest of a force, relative to the largest force or the scale of all. False if the system is
// singular.
bool ab_direct_step(abDirect* d, bool own_answers, double* change);
// The paper as printed, with its coefficients; false if its system was singular or the arena full.
bool ab_direct_solve_printed(abDirect* d, double lambda, double k);

#endif
