#include "unsupported.h"

#include "base/error.h"

abStatus ab_model_unsupported(const abModel* m, abError* error) {
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
