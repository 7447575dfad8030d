// Acceleration of a fixed-point iteration z <- g(z) by its own history (Anderson 1965, "Iterative
// procedures for nonlinear integral equations").
//
// With r_k = g(z_k) - z_k, the next state is the combination of the last g(z_j), with weights that
// sum to 1, whose residuals combined the same way are smallest. For a linear g this is the
// method of generalised minimal residuals: an iteration that loses a hundredth of its error a round
// loses a fifth. Where g changes its branch the history says nothing and is forgotten.
#ifndef ABUT_CONTACT_VOLUME_ACCELERATE_H
#define ABUT_CONTACT_VOLUME_ACCELERATE_H

#include "contact/volume/volume.h"

typedef struct abAccelerate {
  int nresidual, nstate;
  int count;   // differences kept
  int newest;  // where the last one stands
  bool started;
  double* r;  // the last residual and g(z)
  double* g;
  double* dr[AB_VOLUME_HISTORY];
  double* dg[AB_VOLUME_HISTORY];
  double* q[AB_VOLUME_HISTORY];  // scratch
} abAccelerate;

bool ab_accelerate_begin(abAccelerate* a, int nresidual, int nstate, abArena* arena);
void ab_accelerate_forget(abAccelerate* a);
// Given the residual r and g(z), replaces the latter by the next state.
void ab_accelerate_step(abAccelerate* a, const double* r, double* g);

#endif
