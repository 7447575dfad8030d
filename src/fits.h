// Whether a simulation and a model belong together, as far as memory is concerned: a step with the
// data of another model would write past its arrays.
#ifndef ABUT_FITS_H
#define ABUT_FITS_H

#include <abut/data.h>
#include <abut/model.h>

static inline bool ab_data_fits(const abModel* m, const abData* d) {
  return m && d && d->made_for[0] == m->nq && d->made_for[1] == m->nv &&
         d->made_for[2] == m->nbody && d->made_for[3] == m->ngeom && d->made_for[4] == m->nactuator;
}

#endif
