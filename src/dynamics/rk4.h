// The fourth-order integrator's part of the free motion.
#ifndef ABUT_DYNAMICS_RK4_H
#define ABUT_DYNAMICS_RK4_H

#include <abut/data.h>

// v_free and q_smooth (in data->trees) of a free body under a constant load.
void ab_rk4_free_body(const abModel* model, abData* data, const abMover* mover, abWrench load);

#endif
