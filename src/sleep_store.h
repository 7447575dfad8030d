// What is kept of the pairs of sleeping islands (sleep_store.c).
#ifndef ABUT_SLEEP_STORE_H
#define ABUT_SLEEP_STORE_H

#include <abut/data.h>

typedef struct abSleepStore abSleepStore;

typedef struct abSleepPair {
  int pair;  // of this step
  int body;  // one that stands for its island
} abSleepPair;

abStatus ab_sleep_store_create(abSleepStore** store);
void ab_sleep_store_free(abSleepStore* store);
void ab_sleep_store_clear(abSleepStore* store);
// Takes in pairs of the step that has just ended, ascending: what is remembered of them, and their
// contacts.
abStatus ab_sleep_store_add(abSleepStore* store, abData* data, int n, const abSleepPair* pair);
// Gives back to data->memory what is remembered of the pairs whose island is not asleep any more,
// as if they had been in the last step; they are in the store no longer.
abStatus ab_sleep_store_wake(abSleepStore* store, const bool* asleep, abData* data);
// Adds the contacts of the store to those of this step. They stay readable until the next step.
abStatus ab_sleep_store_contacts(const abSleepStore* store, abData* data);

#endif
