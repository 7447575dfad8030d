// Small models built by hand for tests of the dynamics, without the scene layer.
#ifndef ABUT_TEST_ORACLE_DYNAMICS_MODEL_H
#define ABUT_TEST_ORACLE_DYNAMICS_MODEL_H

#include <abut/abut.h>

#include "math/rotation.h"

enum { MODEL_MAX = 512 };

typedef struct HandModel {
  abModel model;
  abBody body[MODEL_MAX];
  abJoint joint[MODEL_MAX];
  abActuator actuator[MODEL_MAX];
  abMover mover[MODEL_MAX];
  double q0[7 * MODEL_MAX];
  int dof_joint[6 * MODEL_MAX];
  double dof_damping[6 * MODEL_MAX], dof_armature[6 * MODEL_MAX];
} HandModel;

// An empty world with gravity (0, 0, -9.81), step 1 ms, contact off. Free with hand_free.
HandModel* hand_create(void);
void hand_free(HandModel* hand);
// A body of mass 1 and moments 1 at its parent's frame; change it through the pointer. Bodies come
// in depth-first order; joints follow their body at once.
abBody* hand_body(HandModel* hand, int parent);
// A joint of the last body: axis z, no limits, no spring.
abJoint* hand_joint(HandModel* hand, abJointType type);
abActuator* hand_motor(HandModel* hand, int joint);
// Fills in everything that follows from the above.
const abModel* hand_finish(HandModel* hand);
// A simulation of it; the test fails if there is none.
abData* hand_data(const abModel* model);

#endif
