// Nobody passes through anybody in a step (holdback.c).
#ifndef ABUT_HOLDBACK_H
#define ABUT_HOLDBACK_H

#include <abut/data.h>

// share, per mover: how much of the step each free body may move along v + shift before it would go
// through something; 1 for nearly all. What contact models remember of the contacts of those held
// back is forgotten. Scratch from data->scratch, given back.
abStatus ab_hold_back(const abModel* model, abData* data, const double* v, const double* shift,
                      double* share);

#endif
