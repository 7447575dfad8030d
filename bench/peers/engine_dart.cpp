// DART 6.12 from Debian at its defaults (Dantzig's LCP with projected Gauss-Seidel as fallback),
// one skeleton per body, the floor a large box as in its examples. Debian builds two collision
// detectors: FCL (default), which works on triangle meshes, and DART's own, which knows boxes and
// balls. Both take a capsule for a ball of 0.1 m, so that a capsule is built of a cylinder and two
// balls. "best": DART's own detector where there are only boxes, whose faces it clips exactly.
#include <dart/collision/dart/DARTCollisionDetector.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/CylinderShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PrismaticJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>

#include "engine.h"

namespace bench {
namespace {

using namespace dart::dynamics;

Eigen::Vector3d vec(const abVec3& v) { return {v.x, v.y, v.z}; }
abVec3 back(const Eigen::Vector3d& v) { return {v.x(), v.y(), v.z()}; }
Eigen::Isometry3d transform(const abPose& p) {
  Eigen::Isometry3d t = Eigen::Isometry3d::Identity();
  t.translation() = vec(p.p);
  t.linear() = Eigen::Quaterniond(p.q.w, p.q.x, p.q.y, p.q.z).toRotationMatrix();
  return t;
}

class Dart : public Engine {
 public:
  Dart(const Scene& s, bool best) {
    bool boxes = true;
    for (const Body& b : s.body)
      for (const Geom& g : b.geom)
        boxes = boxes && (g.type == AB_SHAPE_BOX || g.type == AB_SHAPE_PLANE);
    if (best && boxes)
      world->getConstraintSolver()->setCollisionDetector(
          dart::collision::DARTCollisionDetector::create());
    world->setGravity(vec(s.gravity));
    world->setTimeStep(s.h);
    for (const Body& b : s.body) add(s, b);
  }
  void step() override {
    for (size_t i = 0; i < body.size(); i++) {
      if (!moves[i]) continue;
      body[i]->addExtForce(vec(wrench[i].force), Eigen::Vector3d::Zero(), false, true);
      body[i]->addExtTorque(vec(wrench[i].torque), false);
    }
    world->step();
  }
  void apply(int b, abWrench w) override { wrench[(size_t)b] = w; }
  abPose pose(int b) override {
    const Eigen::Isometry3d& t = body[(size_t)b]->getWorldTransform();
    Eigen::Quaterniond q(t.linear());
    return {back(t.translation()), {q.w(), q.x(), q.y(), q.z()}};
  }
  abTwist twist(int b) override {
    return {back(body[(size_t)b]->getCOMLinearVelocity()),
            back(body[(size_t)b]->getAngularVelocity())};
  }
  int contacts() override { return (int)world->getLastCollisionResult().getNumContacts(); }

 private:
  static std::vector<Geom> parts(const Geom& g) {
    if (g.type != AB_SHAPE_CAPSULE) return {g};
    Geom barrel = g, cap[2] = {g, g};
    barrel.type = AB_SHAPE_CYLINDER;
    Eigen::Isometry3d frame = transform(g.pose);
    for (int k = 0; k < 2; k++) {
      cap[k].type = AB_SHAPE_SPHERE;
      cap[k].pose.p = back(frame * Eigen::Vector3d(0, 0, k ? g.size.y : -g.size.y));
    }
    return {barrel, cap[0], cap[1]};
  }
  static ShapePtr make(const Geom& g, Eigen::Isometry3d& offset) {
    offset = transform(g.pose);
    switch (g.type) {
      case AB_SHAPE_PLANE:
        offset.translation().z() = -1;
        return std::make_shared<BoxShape>(Eigen::Vector3d(100, 100, 2));
      case AB_SHAPE_SPHERE:
        return std::make_shared<SphereShape>(g.size.x);
      case AB_SHAPE_CYLINDER:
        return std::make_shared<CylinderShape>(g.size.x, 2 * g.size.y);
      default:
        return std::make_shared<BoxShape>(2 * vec(g.size));
    }
  }
  BodyNode* joined(const Body& b, SkeletonPtr skeleton) {
    if (b.fixed) return skeleton->createJointAndBodyNodePair<WeldJoint>().second;
    if (b.rail) {
      auto pair = skeleton->createJointAndBodyNodePair<PrismaticJoint>();
      pair.first->setAxis(vec(b.axis));
      pair.first->setTransformFromParentBodyNode(transform(b.pose));
      return pair.second;
    }
    auto pair = skeleton->createJointAndBodyNodePair<FreeJoint>();
    pair.first->setTransform(transform(b.pose));
    pair.first->setLinearVelocity(vec(b.twist.lin));
    pair.first->setAngularVelocity(vec(b.twist.ang));
    return pair.second;
  }
  void add(const Scene& s, const Body& b) {
    auto skeleton = Skeleton::create("body" + std::to_string(body.size()));
    BodyNode* node = joined(b, skeleton);
    if (!b.fixed)
      node->setInertia(
          Inertia(b.mass, Eigen::Vector3d::Zero(), Eigen::Matrix3d(vec(b.inertia).asDiagonal())));
    node->setGravityMode(b.gravity);
    for (const Geom& geom : b.geom)
      for (const Geom& g : parts(geom)) {
        Eigen::Isometry3d offset;
        ShapePtr shape = make(g, offset);
        auto* shape_node = node->createShapeNodeWith<CollisionAspect, DynamicsAspect>(shape);
        shape_node->setRelativeTransform(offset);
        shape_node->getDynamicsAspect()->setFrictionCoeff(s.mu_kinetic);
      }
    world->addSkeleton(skeleton);
    body.push_back(node);
    moves.push_back(!b.fixed);
    wrench.push_back({});
  }

  dart::simulation::WorldPtr world = dart::simulation::World::create();
  std::vector<BodyNode*> body;
  std::vector<bool> moves;
  std::vector<abWrench> wrench;
};

std::unique_ptr<Engine> create(const Scene& scene, const EngineKind& kind) {
  return std::make_unique<Dart>(scene, kind.name == "dart/best");
}

}  // namespace

void add_dart(std::vector<EngineKind>& list) {
  list.push_back({"dart/default", "DART 6.12, defaults (FCL collisions)", create, 30});
  list.push_back({"dart/best", "its own collision detector for boxes", create, 30});
}

}  // namespace bench
