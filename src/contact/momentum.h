// Whether velocities and impulses of a solution belong together (momentum.c).
#ifndef ABUT_CONTACT_MOMENTUM_H
#define ABUT_CONTACT_MOMENTUM_H

#include <abut/contact.h>

// The largest error of momentum relative to what is allowed, at most 1 where
// v = v_free + M^-1 (J^T f + impulses of the laws) holds for all movers; -1: no memory.
double ab_momentum_error(const abContactProblem* problem, const abContactSolution* solution);

#endif
