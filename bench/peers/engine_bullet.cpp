// Bullet 3.24 from Debian. Friction belongs to a body, not to a geom; that of a pair is made the
// larger of the two, as elsewhere. Sleeping is off: a body that is put to sleep is not simulated.
// "best" applies loads as impulses before the step, because friction in a step does not see its
// forces: a pushed body creeps with F h / m whatever the number of iterations.
#include <btBulletDynamicsCommon.h>

#include <algorithm>

#include "engine.h"

namespace bench {
namespace {

btVector3 vec(const abVec3& v) { return {btScalar(v.x), btScalar(v.y), btScalar(v.z)}; }
btTransform transform(const abPose& p) {
  return btTransform(
      btQuaternion(btScalar(p.q.x), btScalar(p.q.y), btScalar(p.q.z), btScalar(p.q.w)), vec(p.p));
}
abVec3 back(const btVector3& v) { return {v.x(), v.y(), v.z()}; }

btScalar larger_friction(const btCollisionObject* a, const btCollisionObject* b) {
  return std::max(a->getFriction(), b->getFriction());
}

class Bullet : public Engine {
 public:
  Bullet(const Scene& s, const std::string& setting) : h(btScalar(s.h)), best(setting == "best") {
    gCalculateCombinedFrictionCallback = larger_friction;
    world.setGravity(vec(s.gravity));
    btContactSolverInfo& info = world.getSolverInfo();
    if (best) {
      info.m_numIterations = 200;
      info.m_solverMode |= SOLVER_INTERLEAVE_CONTACT_AND_FRICTION_CONSTRAINTS;
      info.m_leastSquaresResidualThreshold = 0;
    }
    for (const Body& b : s.body) add(s, b);
    for (const Joint& j : s.joint) add(j);
  }
  ~Bullet() override {
    for (auto& c : constraint) world.removeConstraint(c.get());
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
      case AB_SHAPE_PLANE:
        if (!best) return keep(new btStaticPlaneShape(btVector3(0, 0, 1), 0));
        // the box-box detector gives all corners of a face at once; planes collect them over steps
        offset.setOrigin(btVector3(0, 0, -1));
        return keep(new btBoxShape(btVector3(100, 100, 1)));
      case AB_SHAPE_SPHERE:
        return keep(new btSphereShape(x));
      case AB_SHAPE_CAPSULE:
        return keep(new btCapsuleShapeZ(x, 2 * y));
      case AB_SHAPE_CYLINDER:
        return keep(new btCylinderShapeZ(btVector3(x, x, y)));
      case AB_SHAPE_MESH:
        return keep(make_hull(*g.poly));
      default:
        return keep(new btBoxShape(vec(g.size)));
    }
  }
  // A hull's margin lies outside: it is made a hundredth of the size instead of 4 cm.
  static btCollisionShape* make_hull(const abPolyhedron& p) {
    auto* hull = new btConvexHullShape;
    for (int i = 0; i < p.nvert; i++) hull->addPoint(vec(p.vert[i]), false);
    hull->recalcLocalAabb();
    hull->setMargin(btScalar(0.01 * p.radius));
    return hull;
  }
  static bool is_identity(const abPose& p) {
    return p.p.x == 0 && p.p.y == 0 && p.p.z == 0 && p.q.w == 1;
  }
  // A single shape as it is, several or a displaced one in a compound, which costs more.
  btCollisionShape* make_all(const Body& b, btTransform& frame) {
    btTransform offset;
    if (b.geom.empty()) return keep(new btEmptyShape);
    if (b.geom.size() == 1 && (b.fixed || is_identity(b.geom[0].pose))) {
      btCollisionShape* shape = make(b.geom[0], offset);
      frame = frame * offset;
      return shape;
    }
    auto* compound = new btCompoundShape;
    keep(compound);
    for (const Geom& g : b.geom) {
      btCollisionShape* part = make(g, offset);
      compound->addChildShape(offset, part);
    }
    return compound;
  }
  void add(const Joint& j) {
    btRigidBody& child = *body[(size_t)j.child];
    btRigidBody& parent =
        j.parent < 0 ? btTypedConstraint::getFixedBody() : *body[(size_t)j.parent];
    btTransform to_a = child.getWorldTransform().inverse(),
                to_b = parent.getWorldTransform().inverse();
    btVector3 p = vec(j.pos), axis = vec(j.axis);
    btTypedConstraint* c;
    if (j.type == AB_JOINT_BALL) {
      c = new btPoint2PointConstraint(child, parent, to_a * p, to_b * p);
    } else if (j.type == AB_JOINT_HINGE) {
      c = new btHingeConstraint(child, parent, to_a * p, to_b * p, to_a.getBasis() * axis,
                                to_b.getBasis() * axis);
    } else {
      btTransform slider(shortestArcQuat(btVector3(1, 0, 0), axis), p);  // it slides along x
      auto* s = new btSliderConstraint(child, parent, to_a * slider, to_b * slider, false);
      s->setLowerLinLimit(1), s->setUpperLinLimit(-1);  // none
      s->setLowerAngLimit(0), s->setUpperAngLimit(0);
      c = s;
    }
    constraint.emplace_back(c);
    world.addConstraint(c, j.parent >= 0);  // true: the two do not collide
  }
  void add(const Scene& s, const Body& b) {
    btTransform frame = transform(b.pose);
    btCollisionShape* shape = make_all(b, frame);
    double mu = b.geom.empty() ? 0 : b.geom[0].friction;
    for (const Geom& g : b.geom) mu = std::max(mu, g.friction);
    if (mu < 0) mu = s.mu_kinetic;
    btRigidBody::btRigidBodyConstructionInfo info(b.fixed ? btScalar(0) : btScalar(b.mass), nullptr,
                                                  shape,
                                                  b.fixed ? btVector3(0, 0, 0) : vec(b.inertia));
    info.m_startWorldTransform = frame;
    info.m_friction = btScalar(mu);
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
  std::vector<std::unique_ptr<btTypedConstraint>> constraint;
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
