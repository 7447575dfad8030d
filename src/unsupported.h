// What a model can say that the step does not do yet.
#ifndef ABUT_UNSUPPORTED_H
#define ABUT_UNSUPPORTED_H

#include <abut/model.h>

// AB_OK, or the first law of the model that a step would pass over in silence, as an error.
abStatus ab_model_unsupported(const abModel* model, abError* error);

#endif
