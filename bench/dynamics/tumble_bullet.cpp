#include <btBulletDynamicsCommon.h>

#include "tumble.h"

bool tumble_bullet_is_double(void) { return sizeof(btScalar) == sizeof(double); }

Tumble tumble_bullet(void) {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity(btVector3(0, 0, 0));
  btSphereShape shape(btScalar(0.1));
  btRigidBody::btRigidBodyConstructionInfo info(1, nullptr, &shape, btVector3(1, 2, 3));
  btRigidBody body(info);
  body.setActivationState(DISABLE_DEACTIVATION);
  body.setAngularVelocity(btVector3(btScalar(0.01), 5, btScalar(0.01)));
  world.addRigidBody(&body);
  TumbleMeter meter = {};
  for (int i = 0; i <= TUMBLE_STEPS; i++) {
    btMatrix3x3 M = body.getWorldTransform().getBasis();
    btVector3 local = M.transpose() * body.getAngularVelocity();
    double w[3] = {local.x(), local.y(), local.z()}, R[3][3];
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) R[r][c] = M[r][c];
    tumble_measure(&meter, w, R);
    world.stepSimulation(btScalar(TUMBLE_STEP), 0);
  }
  world.removeRigidBody(&body);
  return meter.worst;
}
