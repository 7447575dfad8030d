// The fourth-order integrator's part of the free motion.
#ifndef ABUT_DYNAMICS_RK4_H
#define ABUT_DYNAMICS_RK4_H

#include <abut/data.h>

// v_free and q_smooth (in data->trees) of a free body under a constant load.
void ab_rk4_free_body(const abModel* model, abData* data, const abMover* mover, abWrench load);
// Whether the mover is a free body that actuators push.
bool ab_rk4_driven(const abModel* model, int mover);
// q_smooth and v_smooth of all joint trees and driven free bodies. Leaves data->trees at the state
// of the last stage. False when the scratch memory is exhausted.
bool ab_rk4_stages(const abModel* model, abData* data);

#endif
