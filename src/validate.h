// What must hold in every step, looked at in Debug builds (validate.c).
#ifndef ABUT_VALIDATE_H
#define ABUT_VALIDATE_H

#include <abut/contact.h>
#include <abut/data.h>

// Before anything is done: the scratch is empty, the state has the right shape.
void ab_validate_begin(const abModel* model, const abData* data);
// After collide: keys ascend, slots belong to their pairs, patches are convex.
void ab_validate_pairs(const abModel* model, const abData* data);
// After contact: velocities are what the impulses of contacts and laws make of the free motion, for
// free bodies and joint trees (contact/momentum.c). For a model that says which velocities it
// leaves; those of the others are computed from its impulses (impulses.c).
void ab_validate_momentum(const abContactProblem* problem, const abContactSolution* solution);
// After a step: quaternions are unit, contacts lie between bodies of the model.
void ab_validate_end(const abModel* model, const abData* data);

#endif
