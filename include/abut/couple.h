// A spring and damper between a body and something that moves it from outside: a pointer on a
// screen, a hand on a device.
//
// Plain data that belongs to whoever uses it. ab_coupling and ab_couple change nothing: any number
// of threads may call them while no thread steps the simulation.
#ifndef ABUT_COUPLE_H
#define ABUT_COUPLE_H

#include <abut/data.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abCoupling {
  int body;                       // the body that is drawn
  abPose grip;                    // in the body frame [m]: what is drawn to the target
  double stiffness, damping;      // N / m, N s / m
  double stiffness_r, damping_r;  // N m / rad, N m s / rad; both 0: the body turns freely
  double limit, limit_r;          // the largest force and torque [N, N m]; 0: none
} abCoupling;

// A coupling whose point follows the target like a damped oscillator of this frequency [rad / s],
// judged by the mass of the mover the body belongs to; without limit. The body turns freely.
AB_API abCoupling ab_coupling(const abModel* model, int body, double frequency);

// The wrench on the body, at the grip, world axes, that the coupling exerts over the next step;
// zero for a body that cannot move. It is the implicit one: computed with the velocity it will
// itself have produced, so that it is stable for any stiffness as long as nothing else touches the
// body. Against a load it gives way by load / stiffness times 1 + h (damping + h stiffness) / mass.
// Zero, too, where the body does not exist or data belongs to another model.
AB_API abWrench ab_couple(const abModel* model, const abData* data, const abCoupling* coupling,
                          abPose target, abTwist target_twist);
// The same wrench added to data->applied[body], which is at the centre of mass.
AB_API abWrench ab_couple_apply(const abModel* model, abData* data, const abCoupling* coupling,
                                abPose target, abTwist target_twist);

#ifdef __cplusplus
}
#endif

#endif
