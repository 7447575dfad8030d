// From coordinates and velocities to the motion of every body.
#ifndef ABUT_DYNAMICS_KINEMATICS_H
#define ABUT_DYNAMICS_KINEMATICS_H

#include <abut/data.h>

// q, v -> pose, R, com, twist, inertia, inv_inertia, geom_pose; also the joints' anchors and axes
// in data->trees.
void ab_kinematics(const abModel* model, abData* data);
// The same without the geoms.
void ab_kinematics_bodies(const abModel* model, abData* data);
// The same for the bodies [begin, end) whose parents outside are up to date.
void ab_kinematics_range(const abModel* model, abData* data, int begin, int end);
// The twist of a placed body at velocities v, from that of its parent among `all`: at each joint it
// is taken at the anchor.
abTwist ab_kinematics_twist(const abModel* model, const abData* data, int body, const abTwist* all,
                            const double* v);
// The geoms alone, from an up-to-date data->pose.
void ab_kinematics_geoms(const abModel* model, abData* data);

#endif
