// The broad phase over n = 10^2 .. 10^5 boxes next to Bullet's btDbvtBroadphase: from poses to the
// list of near pairs, in three kinds of motion: none, 1 % and 20 % of a box's size per step. Boxes
// of 0.2 x 0.1 x 0.05 m at random, each with about one neighbour whose bounding box it meets.
#include <abut/abut.h>
#include <time.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

extern "C" {
#include "base/arena.h"
#include "collide/broad/broadphase.h"
#include "dynamics/kinematics.h"
#include "internal.h"
}
#ifdef ABUT_HAVE_BULLET
#include <btBulletCollisionCommon.h>
#endif

namespace {

const abVec3 half = {0.1, 0.05, 0.025};
const int nstep = 24;

// The fastest of so many: short runs are noisy.
int runs(int n) { return n <= 1000 ? 30 : 3; }

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Poses of all boxes; step() moves each along its own direction and back.
struct Swarm {
  std::vector<abPose> pose;
  std::vector<abVec3> way;
  explicit Swarm(int n) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> u(0, 1);
    std::normal_distribution<double> g(0, 1);
    double side = 0.2 * std::cbrt((double)n);
    for (int i = 0; i < n; i++) {
      double q[4], s = 0;
      for (double& c : q) c = g(random), s += c * c;
      s = std::sqrt(s);
      pose.push_back({{side * u(random), side * u(random), side * u(random)},
                      {q[0] / s, q[1] / s, q[2] / s, q[3] / s}});
      way.push_back({g(random), g(random), g(random)});
    }
  }
  void move(double by) {
    for (size_t i = 0; i < pose.size(); i++) {
      pose[i].p.x += by * way[i].x, pose[i].p.y += by * way[i].y, pose[i].p.z += by * way[i].z;
    }
  }
};

struct Answer {
  double seconds;  // of a step after the first, on average
  double first;
  long pairs;
};

Answer own(int n, double motion) {
  Swarm swarm(n);
  abError error = {};
  abScene* scene = ab_scene_create();
  for (int i = 0; i < n; i++) {
    abBodyDef body = ab_body_def();
    abGeomDef geom = ab_geom_def();
    abJointDef joint = ab_joint_def();
    body.pose = swarm.pose[(size_t)i];
    geom.body = joint.body = ab_scene_add_body(scene, &body, &error);
    geom.type = AB_SHAPE_BOX;
    geom.size = half;
    joint.type = AB_JOINT_FREE;
    ab_scene_add_geom(scene, &geom, &error);
    ab_scene_add_joint(scene, &joint, &error);
  }
  abModel* model = ab_scene_compile(scene, &error);
  abData* data = model ? ab_data_create(model, &error) : nullptr;
  if (!data) {
    fprintf(stderr, "%s\n", error.message);
    exit(2);
  }
  Answer a = {0, 0, 0};
  for (int k = 0; k <= nstep; k++) {
    for (int i = 0; i < n; i++) {
      double* q = data->q + 7 * i;
      const abVec3& p = swarm.pose[(size_t)i].p;
      q[0] = p.x, q[1] = p.y, q[2] = p.z;
    }
    ab_kinematics(model, data);
    ab_arena_release(data->internal->step_arena, 0);
    double start = now();
    ab_broadphase(model, data);
    double seconds = now() - start;
    if (k == 0)
      a.first = seconds;
    else
      a.seconds += seconds / nstep;
    a.pairs = data->internal->ncandidate;
    swarm.move(motion * 0.1);
  }
  ab_data_free(data);
  ab_model_free(model);
  ab_scene_free(scene);
  return a;
}

#ifdef ABUT_HAVE_BULLET
Answer bullet(int n, double motion) {
  Swarm swarm(n);
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broadphase;
  btCollisionWorld world(&dispatcher, &broadphase, &configuration);
  btBoxShape shape(btVector3(btScalar(half.x), btScalar(half.y), btScalar(half.z)));
  std::vector<std::unique_ptr<btCollisionObject>> object;
  auto place = [&](int i) {
    const abPose& p = swarm.pose[(size_t)i];
    object[(size_t)i]->setWorldTransform(btTransform(
        btQuaternion(btScalar(p.q.x), btScalar(p.q.y), btScalar(p.q.z), btScalar(p.q.w)),
        btVector3(btScalar(p.p.x), btScalar(p.p.y), btScalar(p.p.z))));
  };
  Answer a = {0, 0, 0};
  for (int i = 0; i < n; i++) {
    object.push_back(std::make_unique<btCollisionObject>());
    object.back()->setCollisionShape(&shape);
    place(i);
  }
  for (int k = 0; k <= nstep; k++) {
    for (int i = 0; i < n && k; i++) place(i);
    double start = now();
    if (k == 0) {
      for (auto& o : object) world.addCollisionObject(o.get());
      broadphase.optimize();
    }
    world.updateAabbs();
    world.computeOverlappingPairs();
    double seconds = now() - start;
    if (k == 0)
      a.first = seconds;
    else
      a.seconds += seconds / nstep;
    a.pairs = broadphase.getOverlappingPairCache()->getNumOverlappingPairs();
    swarm.move(motion * 0.1);
  }
  for (auto& o : object) world.removeCollisionObject(o.get());
  return a;
}
#endif

// The fastest of some runs.
Answer best(Answer (*run)(int, double), int n, double motion) {
  Answer a = run(n, motion);
  for (int k = 1; k < runs(n); k++) {
    Answer b = run(n, motion);
    a.seconds = std::fmin(a.seconds, b.seconds);
    a.first = std::fmin(a.first, b.first);
  }
  return a;
}

}  // namespace

int main() {
  printf(
      "Broad phase: nanoseconds per box and step (mean of %d, fastest of %d to %d runs), near "
      "pairs.\n\n",
      nstep, runs(100000), runs(100));
  printf("%8s %8s %12s %12s %10s %12s %12s %10s %8s\n", "boxes", "motion", "abut first", "abut",
         "pairs", "Bullet first", "Bullet", "pairs", "ratio");
  for (int n : {100, 1000, 10000, 100000})
    for (double motion : {0.0, 0.01, 0.2}) {
      Answer a = best(own, n, motion);
      printf("%8d %7g%% %12.0f %12.0f %10ld", n, 100 * motion, 1e9 * a.first / n,
             1e9 * a.seconds / n, a.pairs);
#ifdef ABUT_HAVE_BULLET
      if (n > 10000) {  // it needs more than a minute for its first step
        printf(" %12s\n", "-");
        continue;
      }
      Answer b = best(bullet, n, motion);
      printf(" %12.0f %12.0f %10ld %8.2f\n", 1e9 * b.first / n, 1e9 * b.seconds / n, b.pairs,
             a.seconds / b.seconds);
#else
      printf("\n");
#endif
      fflush(stdout);
    }
  return 0;
}
