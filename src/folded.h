#ifndef ABUT_FOLDED_H
#define ABUT_FOLDED_H

#include <abut/data.h>

// After the pairs are known. The free motion of such trees changes, and the response begins anew.
abStatus ab_folded_stay(const abModel* model, abData* data);

#endif
