// What must hold in every step, looked at in Debug builds (validate.c).
#ifndef ABUT_VALIDATE_H
#define ABUT_VALIDATE_H

#include <abut/contact.h>
#include <abut/data.h>

// Before anything is done: the scratch is empty, the state has the right shape.
void ab_validate_begin(const abModel* model, const abData* data);
// After collide: keys ascend, slots belong to their pairs, patches are convex.
void ab_validate_pairs(const abModel* model, const abData* data);
// `added`: the sizes of what the impulses add, one by one.
// After contact: a free body's velocity at the end, v, is what the impulses of the contacts make of
// its free motion, `follows`: v_free + M^-1 J^T f. Joint trees are left out, and all where laws
// join bodies: their impulses are not among the contacts'.
void ab_validate_momentum(const abModel* model, const abData* data,
                          const abContactSolution* solution, const double* follows,
                          const double* added);
// After a step: quaternions are unit, contacts lie between bodies of the model.
void ab_validate_end(const abModel* model, const abData* data);

#endif
