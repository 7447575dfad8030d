// Whether what a step made is a result, and why one broke down (fault.c).
#ifndef ABUT_FAULT_H
#define ABUT_FAULT_H

#include <abut/data.h>

// A number that moves bodies and is this large, or larger, is none: of 1e77 squares of squares
// would overflow, and with lengths, masses and steps multiplied to them those of 1e90 did.
#define AB_FARTHEST_INPUT 1e60

// Fills stat.cause and what goes with it, after the state was put back. status: what the phases of
// the step returned; exploded: they went through, but the energy comes from nowhere.
void ab_fault_find(const abModel* model, abData* data, abStatus status, bool exploded);
// Whether squares of squares of coordinates and velocities, which are formed, stay finite: else the
// geometry would have axes that are none. And of which body they do not.
bool ab_fault_squarable(const abModel* model, const abData* data, int* bad_body);
// Whether coordinates and velocities are finite and no velocity beyond all bounds; else of which
// body.
bool ab_fault_finite(const abModel* model, const abData* data, int* bad_body);
// Kinetic energy of the present state.
double ab_fault_energy(const abModel* model, const abData* data);
// Whether the step, which began with the energy `before`, has made energy that nothing explains; of
// the body with most of it.
bool ab_fault_exploded(const abModel* model, const abData* data, double before, int* bad_body);

#endif
