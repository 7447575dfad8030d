// Turning orientations in time.
#ifndef ABUT_DYNAMICS_ROTATE_H
#define ABUT_DYNAMICS_ROTATE_H

#include "math/rotation.h"

// A free body as far as its spin is concerned.
typedef struct abSpin {
  abQuat q;       // orientation of the body frame
  abVec3 w;       // angular velocity, world axes
  abQuat axes;    // principal axes in the body frame
  abVec3 moment;  // principal moments
} abSpin;

// The torque-free motion of a spinning body over h: angular momentum and energy are kept to
// rounding for any h w.
abSpin ab_spin_free(abSpin spin, double h);

// q turned by the rotation vector r of the world. A turn too small to change any component leaves
// q as it is, bit for bit.
abQuat ab_turn(abQuat q, abVec3 r);
// q turned by Cay(r): the rotation about r by the angle 2 atan(|r| / 2).
abQuat ab_turn_cayley(abQuat q, abVec3 r);
// Angular velocity of the body whose angular momentum is L.
abVec3 ab_spin_velocity(abQuat principal, abVec3 moment, abVec3 L);
// R_new x - R_old x for a vector x that stands at x_world before; exact for small turns.
abVec3 ab_turn_difference(abQuat q_old, abQuat q_new, abVec3 x_world);

#endif
