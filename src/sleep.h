// Sleeping islands (sleep.c): what a step calls for them, in this order.
#ifndef ABUT_SLEEP_H
#define ABUT_SLEEP_H

#include <abut/data.h>

struct abSleep;

// asleep: where it says so, per body.
abStatus ab_sleep_create(const abModel* model, struct abSleep** sleep, const bool** asleep);
void ab_sleep_free(struct abSleep* sleep);
// Everybody is awake, and nothing is known of contacts.
void ab_sleep_forget(struct abSleep* sleep);

// Before a step: wakes whom somebody has disturbed since the last one.
abStatus ab_sleep_begin(const abModel* model, abData* data);
// Nobody is awake: there is nothing to do in this step.
bool ab_sleep_all(const abModel* model, const abData* data);
// After the broad phase: leaves the candidates of which one is awake.
abStatus ab_sleep_candidates(abData* data);
// After the narrow phase: wakes who is touched. True if there was somebody: then candidates and
// pairs are to be found again.
abStatus ab_sleep_touched(const abModel* model, abData* data, bool* woken);
// After the report: adds the contacts of those asleep, as they were.
abStatus ab_sleep_contacts(abData* data);
// After a step that went well: lets fall asleep what has come to rest. Needs ab_kinematics.
void ab_sleep_end(const abModel* model, abData* data);

#endif
