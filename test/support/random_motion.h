// Coordinates and velocities at random, within what joints may have.
#ifndef ABUT_TEST_RANDOM_MOTION_H
#define ABUT_TEST_RANDOM_MOTION_H

#include <abut/abut.h>

#include "support/random.h"

static inline void random_motion(const abModel* m, Random* r, abData* data) {
  for (int j = 0; j < m->njoint; j++) {
    const abJoint* joint = &m->joint[j];
    double* q = data->q + joint->q0;
    if (joint->type == AB_JOINT_FREE)
      for (int i = 0; i < 3; i++) *q++ = random_uniform(r, -1, 1);
    if (joint->type == AB_JOINT_FREE || joint->type == AB_JOINT_BALL) {
      abQuat a = random_rotation(r);
      q[0] = a.w, q[1] = a.x, q[2] = a.y, q[3] = a.z;
    } else {
      q[0] = random_uniform(r, -2, 2);
    }
  }
  for (int i = 0; i < m->nv; i++) data->v[i] = random_uniform(r, -2, 2);
}

#endif
