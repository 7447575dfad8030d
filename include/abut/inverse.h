// Contact inverse: from the motion over one step to the contact that must have caused it.
//
// Momentum gives the contact impulse P and its moment about the centre of mass; where the contact
// plane is known, the point at which a force and a moment about the normal alone explain both is
// unique (Xie & Chakraborty, proposition 2 and remark 5).
//
// Nothing outlives a call: any thread may call at any time.
#ifndef ABUT_INVERSE_H
#define ABUT_INVERSE_H

#include <abut/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// One body over one step; world axes.
typedef struct abInverseDef {
  double h;               // the step [s]
  double mass;            // [kg]
  abMat3 inertia_start;   // about the centre of mass [kg m2]
  abMat3 inertia_end;     // likewise
  abTwist twist_start;    // at the centre of mass [m/s, rad/s]
  abTwist twist_end;      // likewise
  abVec3 com_end;         // the centre of mass at the end [m]
  abWrench load;          // gravity and applied wrench at the centre of mass [N, N m]
  abPlane plane;          // the support n . x <= d; n points to the body
  bool explicit_gyro;     // the step took I (w+ - w) = h (tau - w x I w) + ...: `ecp` with gyro = 0
  abTwist support_twist;  // of the support's material at com_end [m/s, rad/s]; zero if it is fixed
} abInverseDef;

typedef struct abInverseContact {
  bool touching;     // false: the load alone explains the motion; the rest is zero
  abVec3 point;      // where the line of action meets the plane [m]: the equivalent contact point
  abWrench impulse;  // on the body, at `point` [N s, N m s]; the torque is along the normal
  double p_n, p_t, p_o, p_r;  // the same in the frame (t, o, n), t the world's x made tangential
  double slip[3];  // v_t, v_o [m/s], v_r [rad/s] of the body over the support at `point`; unless
                   // explicit_gyro, at the mean arm of the step, where the impulse acted
} abInverseContact;

// AB_ERROR_ARGUMENT where a number makes no sense; AB_ERROR_NUMERIC where the impulse pulls or runs
// along the plane, so that no contact with that plane explains the motion.
AB_API abStatus ab_contact_inverse(const abInverseDef* def, abInverseContact* out, abError* error);

#ifdef __cplusplus
}
#endif

#endif
