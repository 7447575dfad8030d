// What the solved motion brings together (unseen.c).
#ifndef ABUT_UNSEEN_H
#define ABUT_UNSEEN_H

#include <abut/data.h>

#include "impulses.h"

// Impulses (ab_impulses), and once more with the pairs that the answer brings into each other and
// the step's contacts do not know of, until there are none, or a few times.
abStatus ab_impulses_of_all(const abModel* model, abData* data, abAnswer* answer);

#endif
