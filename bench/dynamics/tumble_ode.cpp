#include <ode/ode.h>

#include "tumble.h"

Tumble tumble_ode(void) {
  dInitODE();
  dWorldID world = dWorldCreate();
  dWorldSetGravity(world, 0, 0, 0);
  dBodyID body = dBodyCreate(world);
  dMass mass;
  dMassSetParameters(&mass, 1, 0, 0, 0, 1, 2, 3, 0, 0, 0);
  dBodySetMass(body, &mass);
  dBodySetAngularVel(body, 0.01, 5, 0.01);
  TumbleMeter meter = {};
  for (int i = 0; i <= TUMBLE_STEPS; i++) {
    const dReal *M = dBodyGetRotation(body), *v = dBodyGetAngularVel(body);
    double w[3] = {0, 0, 0}, R[3][3];
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) {
        R[r][c] = M[4 * r + c];
        w[c] += M[4 * r + c] * v[r];
      }
    tumble_measure(&meter, w, R);
    dWorldStep(world, TUMBLE_STEP);
  }
  dWorldDestroy(world);
  dCloseODE();
  return meter.worst;
}
