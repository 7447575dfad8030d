// Four contact points at the corners and dContactApprox1, as the paper says it used ODE.
#include <math.h>
#include <ode/ode.h>

#include "slide.h"

typedef struct Scene {
  dWorldID world;
  dJointGroupID group;
} Scene;

static void touch(void* data, dGeomID a, dGeomID b) {
  const Scene* s = data;
  dContact c[4];
  int n = dCollide(a, b, 4, &c[0].geom, sizeof(dContact));
  for (int i = 0; i < n; i++) {
    c[i].surface.mode = dContactApprox1;
    c[i].surface.mu = 0.12;
    dJointAttach(dJointCreateContact(s->world, s->group, &c[i]), dGeomGetBody(a), dGeomGetBody(b));
  }
}

void slide_ode(double h, Slide* out) {
  dInitODE2(0);
  Scene s = {dWorldCreate(), dJointGroupCreate(0)};
  dSpaceID space = dSimpleSpaceCreate(NULL);
  dWorldSetGravity(s.world, 0, 0, -9.8);
  dCreatePlane(space, 0, 0, 1, 0);
  dBodyID cube = dBodyCreate(s.world);
  dGeomID geom = dCreateBox(space, 1, 1, 1);
  dMass mass;
  dMassSetBoxTotal(&mass, 1, 1, 1, 1);
  dBodySetMass(cube, &mass);
  dGeomSetBody(geom, cube);
  dBodySetPosition(cube, 0, 0, 0.5);
  dBodySetLinearVel(cube, 4, 3, 0);
  for (int i = 0; i < SLIDE_STEPS; i++) {
    dSpaceCollide(space, &s, touch);
    dWorldStep(s.world, h);
    dJointGroupEmpty(s.group);
    const dReal *p = dBodyGetPosition(cube), *R = dBodyGetRotation(cube);
    out->x[i] = (double)p[0], out->y[i] = (double)p[1];
    out->yaw[i] = atan2((double)R[4], (double)R[0]);
  }
  dJointGroupDestroy(s.group);
  dSpaceDestroy(space);
  dWorldDestroy(s.world);
  dCloseODE();
}
