// The motion without contact.
#ifndef ABUT_DYNAMICS_FREE_MOTION_H
#define ABUT_DYNAMICS_FREE_MOTION_H

#include <abut/data.h>

struct abTrees;

// Everything the dynamics layer keeps between calls, in one allocation.
abStatus ab_trees_create(const abModel* model, struct abTrees** out);
void ab_trees_free(struct abTrees* trees);
// -> v_free, actuator_force and the factorised inertias in data->trees. Needs ab_kinematics.
void ab_free_motion(const abModel* model, abData* data);

#endif
