// The motion without contact.
#ifndef ABUT_DYNAMICS_FREE_MOTION_H
#define ABUT_DYNAMICS_FREE_MOTION_H

#include <abut/data.h>

struct abTrees;

// Everything the dynamics layer keeps between calls, in one allocation.
abStatus ab_trees_create(const abModel* model, struct abTrees** out);
// The model has other masses now.
void ab_trees_refresh(const abModel* model, struct abTrees* trees);
void ab_trees_free(struct abTrees* trees);
// -> v_free, actuator_force and the factorised inertias in data->trees. Needs ab_kinematics.
void ab_free_motion(const abModel* model, abData* data);
// Joint limits, dry friction and force ranges are piecewise linear, and v_free and the factorised
// inertias belong to one piece. If v, the velocities with contact, lie on another one, changes to
// that and returns true: contacts must then be solved again.
bool ab_free_motion_follow(const abModel* model, abData* data, const double* v);
// The same laws as rows for a contact model that solves them together with the contacts, sorted by
// mover; in data->scratch. False if there is no memory.
bool ab_free_motion_rows(const abModel* model, const abData* data, int* nrow, abRow** row);

#endif
