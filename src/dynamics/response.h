// How impulses change motion; the functions themselves are in <abut/contact.h>.
#ifndef ABUT_DYNAMICS_RESPONSE_H
#define ABUT_DYNAMICS_RESPONSE_H

#include <abut/data.h>

// Fills data->response. Needs ab_free_motion of the same state.
void ab_response_update(const abModel* model, abData* data);

#endif
