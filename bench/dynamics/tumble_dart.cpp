#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/simulation/World.hpp>

#include "tumble.h"

Tumble tumble_dart(void) {
  auto skeleton = dart::dynamics::Skeleton::create("body");
  auto pair = skeleton->createJointAndBodyNodePair<dart::dynamics::FreeJoint>();
  auto body = pair.second;
  body->setInertia(
      dart::dynamics::Inertia(1, Eigen::Vector3d::Zero(), Eigen::Vector3d(1, 2, 3).asDiagonal()));
  auto world = dart::simulation::World::create();
  world->setGravity(Eigen::Vector3d::Zero());
  world->setTimeStep(TUMBLE_STEP);
  world->addSkeleton(skeleton);
  pair.first->setAngularVelocity(Eigen::Vector3d(0.01, 5, 0.01));
  TumbleMeter meter = {};
  for (int i = 0; i <= TUMBLE_STEPS; i++) {
    Eigen::Matrix3d M = body->getWorldTransform().linear();
    Eigen::Vector3d local = M.transpose() * body->getAngularVelocity();
    double w[3] = {local.x(), local.y(), local.z()}, R[3][3];
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) R[r][c] = M(r, c);
    tumble_measure(&meter, w, R);
    world->step();
  }
  return meter.worst;
}
