// Bullet 3.24 from Debian. Friction of a pair is the product of the two bodies', so each gets the
// root. Sleeping is off: a body that is put to sleep is not simulated. "best" applies loads as
// impulses before the step, because friction in a step does not see its forces: a pushed body
// creeps with F h / m whatever the number of iterations.
#include <btBulletDynamicsCommon.h>

#include <cmath>

#include "engine.h"

namespace bench {
namespace {

btVector3 vec(const abVec3& v) { return {btScalar(v.x), btScalar(v.y), btScalar(v.z)}; }
btTransform transform(const abPose& p) {
  return btTransform(
      btQuaternion(btScalar(p.q.x), btScalar(p.q.y), btScalar(p.q.z), btScalar(p.q.w)), vec(p.p));
}
abVec3 back(const btVector3& v) { return {v.x(), v.y(), v.z()}; }

class Bullet : public Engine {
 public:
  Bullet(const Scene& s, const std::string& setting) : h(btScalar(s.h)), best(setting == "best") {
    world.setGravity(vec(s.gravity));
    btContactSolverInfo& info = world.getSolverInfo();
    if (best) {
      info.m_numIterations = 200;
      info.m_solverMode |= SOLVER_INTERLEAVE_CONTACT_AND_FRICTION_CONSTRAINTS;
      info.m_leastSquaresResidualThreshold = 0;
    }
    for (const Body& b : s.body) add(s, b);
  }
  ~Bullet() override {
    for (auto& b : body) world.removeRigidBody(b.get());
  }
  void step() override {
    for (size_t i = 0; i < body.size(); i++) {
      if (best) {
        body[i]->applyCentralImpulse(h * vec(wrench[i].force));
        body[i]->applyTorqueImpulse(h * vec(wrench[i].torque));
      } else {
        body[i]->applyCentralForce(vec(wrench[i].force));
        body[i]->applyTorque(vec(wrench[i].torque));
      }
    }
    world.stepSimulation(h, 0);
  }
  void apply(int b, abWrench w) override { wrench[(size_t)b] = w; }
  abPose pose(int b) override {
    const btTransform& t = body[(size_t)b]->getWorldTransform();
    btQuaternion q = t.getRotation();
    return {back(t.getOrigin()), {q.w(), q.x(), q.y(), q.z()}};
  }
  abTwist twist(int b) override {
    return {back(body[(size_t)b]->getLinearVelocity()),
            back(body[(size_t)b]->getAngularVelocity())};
  }
  int contacts() override {
    int n = 0;
    for (int i = 0; i < dispatcher.getNumManifolds(); i++)
      n += dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
    return n;
  }

 private:
  btCollisionShape* keep(btCollisionShape* shape) {
    shapes.emplace_back(shape);
    return shape;
  }
  btCollisionShape* make(const Geom& g, btTransform& offset) {
    offset = transform(g.pose);
    btScalar x = btScalar(g.size.x), y = btScalar(g.size.y);
    switch (g.type) {
      case AB_PLANE:
        if (!best) return keep(new btStaticPlaneShape(btVector3(0, 0, 1), 0));
        // the box-box detector gives all corners of a face at once; planes collect them over steps
        offset.setOrigin(btVector3(0, 0, -1));
        return keep(new btBoxShape(btVector3(100, 100, 1)));
      case AB_SPHERE:
        return keep(new btSphereShape(x));
      case AB_CAPSULE:
        return keep(new btCapsuleShapeZ(x, 2 * y));
      case AB_CYLINDER:
        return keep(new btCylinderShapeZ(btVector3(x, x, y)));
      default:
        return keep(new btBoxShape(vec(g.size)));
    }
  }
  void add(const Scene& s, const Body& b) {
    btTransform offset, frame = transform(b.pose);
    btCollisionShape* shape = make(b.geom[0], offset);
    if (b.geom.size() > 1) {
      auto* compound = new btCompoundShape;
      keep(compound);
      for (const Geom& g : b.geom) {
        btCollisionShape* part = make(g, offset);
        compound->addChildShape(offset, part);
      }
      shape = compound;
    } else if (b.fixed) {
      frame = frame * offset;
    }
    btRigidBody::btRigidBodyConstructionInfo info(b.fixed ? btScalar(0) : btScalar(b.mass), nullptr,
                                                  shape,
                                                  b.fixed ? btVector3(0, 0, 0) : vec(b.inertia));
    info.m_startWorldTransform = frame;
    info.m_friction = btScalar(std::sqrt(s.mu_kinetic));
    auto rigid = std::make_unique<btRigidBody>(info);
    rigid->setActivationState(DISABLE_DEACTIVATION);
    rigid->setLinearVelocity(vec(b.twist.lin));
    rigid->setAngularVelocity(vec(b.twist.ang));
    if (b.rail) {
      rigid->setLinearFactor(vec(b.axis));
      rigid->setAngularFactor(btScalar(0));
    }
    world.addRigidBody(rigid.get());
    if (!b.gravity) rigid->setGravity(btVector3(0, 0, 0));
    body.push_back(std::move(rigid));
    wrench.push_back({});
  }

  btScalar h;
  bool best;
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btRigidBody>> body;
  std::vector<abWrench> wrench;
  btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
};

std::unique_ptr<Engine> create(const Scene& scene, const EngineKind& kind) {
  return std::make_unique<Bullet>(scene, kind.name.substr(7));
}

}  // namespace

void add_bullet(std::vector<EngineKind>& list) {
  std::string precision = sizeof(btScalar) == 8 ? "double" : "single";
  list.push_back({"bullet/default",
                  "Bullet 3.24, " + precision + " precision, defaults, sleeping off", create,
                  100000});
  list.push_back({"bullet/best",
                  "200 iterations, contact and friction interleaved, floor a box instead of a "
                  "plane, loads as impulses",
                  create, 100000});
}

}  // namespace bench
