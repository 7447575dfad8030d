// Why a step broke down (fault.c).
#ifndef ABUT_FAULT_H
#define ABUT_FAULT_H

#include <abut/data.h>

// Fills stat.cause and what goes with it, after the state was put back. status: what the phases of
// the step returned; exploded: they went through, but the energy comes from nowhere.
void ab_fault_find(const abModel* model, abData* data, abStatus status, bool exploded);

#endif
