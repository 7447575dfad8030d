// The ways a file can give an orientation, as quaternions.
#ifndef ABUT_SCENE_ORIENTATION_H
#define ABUT_SCENE_ORIENTATION_H

#include <abut/types.h>

// At unit length, whatever the length was: the square of 1e200 is not finite, and the direction
// would become zero. A zero vector stays, a zero quaternion becomes the identity.
abVec3 ab_direction(abVec3 a);
abQuat ab_orientation(abQuat q);
// Three turns about the axes named by sequence: lower case about the axes as they have been turned
// (intrinsic), upper case about the fixed ones (extrinsic).
abQuat ab_quat_euler(const double angle[3], const char* sequence);
// x and y axes of the frame; y is made orthogonal to x. False if they are parallel or zero.
bool ab_quat_xyaxes(const double axes[6], abQuat* q);
// The shortest turn that brings the z axis onto `z`; about the x axis where it is the opposite.
// False if z is zero.
bool ab_quat_zaxis(abVec3 z, abQuat* q);

#endif
