// Whether a simulation and a model belong together, as far as memory is concerned: a step with the
// data of another model would write past its arrays.
#ifndef ABUT_FITS_H
#define ABUT_FITS_H

#include <abut/data.h>
#include <abut/model.h>

#include "internal.h"

static inline bool ab_data_fits(const abModel* m, const abData* d) {
  const int* made_for = m && d && d->internal ? d->internal->made_for : NULL;
  return made_for && made_for[0] == m->nq && made_for[1] == m->nv && made_for[2] == m->nbody &&
         made_for[3] == m->ngeom && made_for[4] == m->nactuator;
}

#endif
