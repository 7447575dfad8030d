// How impulses change motion; the functions themselves are in <abut/contact.h>.
#ifndef ABUT_DYNAMICS_RESPONSE_H
#define ABUT_DYNAMICS_RESPONSE_H

#include <abut/data.h>

// Fills data->response and twist_free. Needs ab_free_motion of the same state. All but
// ab_response_block can then be asked.
void ab_response_begin(const abModel* model, abData* data);
// And ab_response_block for the bodies of data->pair.
void ab_response_touch(const abModel* model, abData* data);
// And for all.
void ab_response_update(const abModel* model, abData* data);

#endif
