// Bullet's box on a static plane, four contact points, damping off.
#include "slide.h"

#include <btBulletDynamicsCommon.h>

#include <cmath>

void slide_bullet(double h, Slide* out) {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity(btVector3(0, 0, btScalar(-9.8)));
  btStaticPlaneShape plane(btVector3(0, 0, 1), 0);
  btBoxShape box(btVector3(0.5, 0.5, 0.5));
  btRigidBody floor(btRigidBody::btRigidBodyConstructionInfo(0, nullptr, &plane));
  btVector3 inertia;
  box.calculateLocalInertia(1, inertia);
  btRigidBody cube(btRigidBody::btRigidBodyConstructionInfo(1, nullptr, &box, inertia));
  btTransform start;
  start.setIdentity();
  start.setOrigin(btVector3(0, 0, btScalar(0.5)));
  cube.setWorldTransform(start);
  cube.setLinearVelocity(btVector3(4, 3, 0));
  // Bullet multiplies the two coefficients
  floor.setFriction(1);
  cube.setFriction(btScalar(0.12));
  cube.setDamping(0, 0);
  cube.setActivationState(DISABLE_DEACTIVATION);
  world.addRigidBody(&floor);
  world.addRigidBody(&cube);
  for (int i = 0; i < SLIDE_STEPS; i++) {
    world.stepSimulation(btScalar(h), 0);
    const btTransform& t = cube.getWorldTransform();
    out->x[i] = double(t.getOrigin().x()), out->y[i] = double(t.getOrigin().y());
    out->yaw[i] = std::atan2(double(t.getBasis()[1][0]), double(t.getBasis()[0][0]));
  }
  world.removeRigidBody(&cube);
  world.removeRigidBody(&floor);
}
