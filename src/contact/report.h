// From a model's answer to what users read.
#ifndef ABUT_CONTACT_REPORT_H
#define ABUT_CONTACT_REPORT_H

#include <abut/data.h>

// Fills data->contacts (in data->step_arena), data->ncontact and stat.max_penetration.
abStatus ab_report_contacts(abData* data, const abPairSolution* solution);

#endif
