// Bullet's pair algorithm, chosen by its own dispatcher, run on one pair at a time.
#include <btBulletCollisionCommon.h>

#include <memory>

#include "pairs.h"

namespace {

std::unique_ptr<btCollisionShape> make_shape(const abShape& s) {
  if (s.type == AB_SHAPE_PLANE)
    return std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), btScalar(0));
  if (s.type == AB_SHAPE_BOX)
    return std::make_unique<btBoxShape>(
        btVector3(btScalar(s.size.x), btScalar(s.size.y), btScalar(s.size.z)));
  auto hull = std::make_unique<btConvexHullShape>();
  for (int i = 0; i < s.poly->nvert; i++) {
    const abVec3& v = s.poly->vert[i];
    hull->addPoint(btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z)), false);
  }
  hull->recalcLocalAabb();
  hull->setMargin(0);
  return hull;
}

btTransform transform(const abPose& p) {
  return btTransform(
      btQuaternion(btScalar(p.q.x), btScalar(p.q.y), btScalar(p.q.z), btScalar(p.q.w)),
      btVector3(btScalar(p.p.x), btScalar(p.p.y), btScalar(p.p.z)));
}

struct State {
  const BenchPair* pair;
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  std::unique_ptr<btCollisionShape> shape_a, shape_b;
  btCollisionObject a, b;
  btDispatcherInfo info;
  btPersistentManifold* manifold = nullptr;
  btCollisionAlgorithm* algorithm = nullptr;

  State(const BenchPair* p, bool faces)
      : pair(p), shape_a(make_shape(p->a)), shape_b(make_shape(p->b)) {
    // the faces of hulls, so that they are clipped against each other; else Bullet finds one point
    // in each call, and a face's contact only in the course of several steps
    if (faces)
      for (btCollisionShape* shape : {shape_a.get(), shape_b.get()})
        if (shape->isPolyhedral())
          static_cast<btPolyhedralConvexShape*>(shape)->initializePolyhedralFeatures();
    a.setCollisionShape(shape_a.get());
    b.setCollisionShape(shape_b.get());
  }

  int collide(int i) {
    a.setWorldTransform(transform(pair->pose_a[i]));
    b.setWorldTransform(transform(pair->pose_b[i]));
    btCollisionObjectWrapper wa(nullptr, shape_a.get(), &a, a.getWorldTransform(), -1, -1);
    btCollisionObjectWrapper wb(nullptr, shape_b.get(), &b, b.getWorldTransform(), -1, -1);
    // the algorithm keeps a manifold of its own; emptied, so that each call starts afresh
    if (!algorithm)
      algorithm = dispatcher.findAlgorithm(&wa, &wb, nullptr, BT_CONTACT_POINT_ALGORITHMS);
    if (manifold) manifold->clearManifold();
    btManifoldResult result(&wa, &wb);
    algorithm->processCollision(&wa, &wb, info, &result);
    if (!manifold) {
      btManifoldArray all;
      algorithm->getAllContactManifolds(all);
      manifold = all.size() ? all[0] : nullptr;
    }
    return manifold ? manifold->getNumContacts() : 0;
  }

  ~State() {
    if (!algorithm) return;
    algorithm->~btCollisionAlgorithm();
    dispatcher.freeCollisionAlgorithm(algorithm);
  }
};

void* prepare(const BenchPair* pair) { return new State(pair, false); }
void* prepare_faces(const BenchPair* pair) {
  bool mesh = pair->a.type == AB_SHAPE_MESH || pair->b.type == AB_SHAPE_MESH;
  return mesh ? new State(pair, true) : nullptr;
}
int collide(void* state, int i) { return static_cast<State*>(state)->collide(i); }
void release(void* state) { delete static_cast<State*>(state); }

}  // namespace

extern "C" {
extern const BenchPeer bench_bullet, bench_bullet_faces;
const BenchPeer bench_bullet = {"Bullet", prepare, collide, release};
const BenchPeer bench_bullet_faces = {"Bullet faces", prepare_faces, collide, release};
}
