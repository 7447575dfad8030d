// From pairs and laws to impulses and velocities (impulses.c).
#ifndef ABUT_IMPULSES_H
#define ABUT_IMPULSES_H

#include <abut/data.h>

typedef struct abAnswer {
  double *v, *shift;         // velocities at the end; coordinates move along v + shift
  const abTwist* twist_end;  // of models that move bodies themselves, else NULL
} abAnswer;

// Solves contacts and laws; fills the answer's arrays, of nv numbers each, what data->stat says of
// the solution, and the list of contacts.
abStatus ab_impulses(const abModel* model, abData* data, abAnswer* answer);

#endif
