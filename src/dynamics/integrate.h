// From the velocities at the end of a step to the coordinates there.
#ifndef ABUT_DYNAMICS_INTEGRATE_H
#define ABUT_DYNAMICS_INTEGRATE_H

#include <abut/data.h>

// v_solved: generalised velocities at the end of the step, v_free + what contact added, expressed
// at the old configuration; coordinates of free bodies move along v_solved + shift. twist_end:
// NULL, or the bodies' twists from a contact model that moves bodies (then free bodies go x += h v,
// R <- Cay(h w) R, v = twist_end). share, per mover: a free body moves for this part of the step
// only (holdback.h); NULL: for all of it. Changes data->q and data->v only.
void ab_integrate(const abModel* model, abData* data, const double* v_solved, const double* shift,
                  const abTwist* twist_end, const double* share);
// Coordinates moved on by dq, in the directions of the velocities.
void ab_move_coordinates(const abModel* model, double* q, const double* dq);

#endif
