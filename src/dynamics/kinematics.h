// From coordinates and velocities to the motion of every body.
#ifndef ABUT_DYNAMICS_KINEMATICS_H
#define ABUT_DYNAMICS_KINEMATICS_H

#include <abut/data.h>

// q, v -> pose, R, com, twist, inertia, inv_inertia, geom_pose; also the joints' columns, the
// inertias and twists of the links in data->trees.
void ab_kinematics(const abModel* model, abData* data);
// The same without the geoms.
void ab_kinematics_bodies(const abModel* model, abData* data);
// Of the state that ab_kinematics was last called for (energy.c).
double ab_kinetic_energy(const abModel* model, const abData* data);
// The quaternion of a state at unit length. One that is a unit to rounding is taken as it is, so
// that a body at rest has the very same pose in every step.
abQuat ab_state_quat(const double* q);

#endif
