#include "unsupported.h"

#include "base/error.h"

// A tendon that does nothing but have a length.
static bool is_idle(const abTendon* t) {
  return !t->limited && t->stiffness == 0 && t->damping == 0 && t->frictionloss == 0 &&
         t->armature == 0;
}

abStatus ab_model_unsupported(const abModel* m, abError* error) {
  for (int i = 0; i < m->nequality; i++)
    if (m->equality[i].active)
      return ab_fail(error, AB_ERROR_UNSUPPORTED, m->file, m->equality[i].line,
                     "equality '%s': not supported in a simulation: constraints between bodies, "
                     "joints or tendons; remove it, or set active=\"false\"",
                     m->equality[i].name);
  for (int i = 0; i < m->ntendon; i++)
    if (!is_idle(&m->tendon[i]))
      return ab_fail(error, AB_ERROR_UNSUPPORTED, m->file, 0,
                     "tendon '%s': not supported in a simulation: tendons with spring, damping, "
                     "friction, armature or limit; remove it, or put these numbers into the joints",
                     m->tendon[i].name);
  for (int i = 0; i < m->nactuator; i++)
    if (m->actuator[i].drive != AB_DRIVE_JOINT)
      return ab_fail(error, AB_ERROR_UNSUPPORTED, m->file, 0,
                     "actuator '%s': not supported in a simulation: actuators on tendons and "
                     "sites; drive the joints",
                     m->actuator[i].name);
  for (int i = 0; i < m->njoint; i++) {
    const abJoint* j = &m->joint[i];
    if (j->type == AB_JOINT_BALL && j->limited && !(j->range[1] > 0))
      return ab_fail(error, AB_ERROR_UNSUPPORTED, m->file, 0,
                     "joint '%s': not supported in a simulation: a ball joint whose range is 0 0; "
                     "say limited=\"false\", or leave the joint out where it shall be held",
                     j->name);
  }
  return AB_OK;
}
