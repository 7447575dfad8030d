// Distance of two convex shapes that are apart, by kind of pair: nanoseconds of abut's GJK, cold
// and with the direction of the last step, of libccd's (which answers only whether they touch) and
// of Bullet's pair detector; and by how much Bullet's distance differs from abut's, relative to the
// size of the shapes.
#include <time.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

extern "C" {
#include "collide/distance/gjk.h"
#include "geometry/polyhedron.h"
#include "geometry/support.h"
}
#ifdef ABUT_HAVE_CCD
#include <ccd/ccd.h>
#include <ccd/quat.h>
#endif
#ifdef ABUT_HAVE_BULLET
#include <btBulletCollisionCommon.h>

#include <BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>

#include <memory>
#endif

namespace {

const int nposes = 64;

struct Pair {
  const char* name;
  abShape a, b;
  abPose pose_a[nposes], pose_b[nposes];
};

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Nanoseconds per call: the best of several rounds of at least 2 ms.
template <class F>
double nanoseconds(F call) {
  double best = INFINITY;
  for (int round = 0, repeat = 1; round < 12; round++) {
    double start = now();
    for (int k = 0; k < repeat; k++)
      for (int i = 0; i < nposes; i++) call(i);
    double seconds = now() - start;
    if (seconds < 2e-3) {
      repeat *= 2, round--;
      continue;
    }
    best = std::fmin(best, 1e9 * seconds / (repeat * nposes));
  }
  return best;
}

abShape shape(abShapeType type, abVec3 size) {
  abShape s = {};
  s.type = type;
  s.size = size;
  if (type == AB_SHAPE_BOX) s.poly = ab_polyhedron_box(size);
  return s;
}

abShape hull(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> g(0, 1);
  std::vector<abVec3> point;
  for (int i = 0; i < n; i++) {
    abVec3 p = {g(random), g(random), g(random)};
    double s = 0.1 / std::sqrt(p.x * p.x + p.y * p.y + p.z * p.z);
    point.push_back({s * p.x, s * p.y, s * p.z});
  }
  abError error;
  abShape s = {};
  s.type = AB_SHAPE_MESH;
  s.poly = ab_polyhedron_hull(n, point.data(), &error);
  return s;
}

// B at the origin, A beside it with a gap of about a tenth of its size; the poses of a slow motion.
Pair make_pair(const char* name, abShape a, abShape b) {
  Pair p = {name, a, b, {}, {}};
  double reach = ab_shape_radius(&a) + ab_shape_radius(&b);
  for (int i = 0; i < nposes; i++) {
    double t = 0.02 * i;
    double w = std::cos(0.3 + t), v = std::sin(0.3 + t) / std::sqrt(3);
    p.pose_a[i] = {{reach * std::cos(t), reach * std::sin(t), 0.1 * reach * std::sin(3 * t)},
                   {w, v, v, v}};
    p.pose_b[i] = {{0, 0, 0}, {1, 0, 0, 0}};
  }
  return p;
}

#ifdef ABUT_HAVE_CCD
struct CcdBody {
  const abShape* shape;
  abPose pose;
};

void ccd_support(const void* object, const ccd_vec3_t* direction, ccd_vec3_t* out) {
  const CcdBody* b = static_cast<const CcdBody*>(object);
  const abQuat& r = b->pose.q;
  ccd_quat_t q, inverse;
  ccdQuatSet(&q, r.x, r.y, r.z, r.w);
  ccdQuatInvert2(&inverse, &q);
  ccd_vec3_t d = *direction;
  ccdQuatRotVec(&d, &inverse);
  abVec3 s = ab_support(b->shape, {d.v[0], d.v[1], d.v[2]});
  ccdVec3Set(out, s.x, s.y, s.z);
  ccdQuatRotVec(out, &q);
  ccd_vec3_t p;
  ccdVec3Set(&p, b->pose.p.x, b->pose.p.y, b->pose.p.z);
  ccdVec3Add(out, &p);
}

double ccd_time(const Pair& p) {
  ccd_t ccd;
  CCD_INIT(&ccd);
  ccd.support1 = ccd.support2 = ccd_support;
  ccd.max_iterations = 100;
  return nanoseconds([&](int i) {
    CcdBody a = {&p.a, p.pose_a[i]}, b = {&p.b, p.pose_b[i]};
    ccdGJKIntersect(&a, &b, &ccd);
  });
}
#endif

#ifdef ABUT_HAVE_BULLET
btTransform transform(const abPose& p) {
  return btTransform(
      btQuaternion(btScalar(p.q.x), btScalar(p.q.y), btScalar(p.q.z), btScalar(p.q.w)),
      btVector3(btScalar(p.p.x), btScalar(p.p.y), btScalar(p.p.z)));
}

std::unique_ptr<btConvexShape> bullet_shape(const abShape& s) {
  btScalar x = btScalar(s.size.x), y = btScalar(s.size.y), z = btScalar(s.size.z);
  if (s.type == AB_SHAPE_SPHERE) return std::make_unique<btSphereShape>(x);
  if (s.type == AB_SHAPE_CAPSULE) return std::make_unique<btCapsuleShapeZ>(x, 2 * y);
  if (s.type == AB_SHAPE_CYLINDER) return std::make_unique<btCylinderShapeZ>(btVector3(x, x, y));
  if (s.type == AB_SHAPE_BOX) return std::make_unique<btBoxShape>(btVector3(x, y, z));
  auto h = std::make_unique<btConvexHullShape>();
  for (int i = 0; i < s.poly->nvert; i++)
    h->addPoint(btVector3(btScalar(s.poly->vert[i].x), btScalar(s.poly->vert[i].y),
                          btScalar(s.poly->vert[i].z)),
                false);
  h->recalcLocalAabb();
  h->setMargin(0);
  return h;
}

double bullet_time(const Pair& p, double* difference) {
  auto a = bullet_shape(p.a), b = bullet_shape(p.b);
  btVoronoiSimplexSolver simplex;
  auto distance = [&](int i) {
    btGjkPairDetector detector(a.get(), b.get(), &simplex, nullptr);
    btGjkPairDetector::ClosestPointInput input;
    input.m_transformA = transform(p.pose_a[i]);
    input.m_transformB = transform(p.pose_b[i]);
    btPointCollector result;
    detector.getClosestPoints(input, result, nullptr);
    return double(result.m_distance);
  };
  *difference = 0;
  for (int i = 0; i < nposes; i++) {
    abDistance d;
    ab_distance(&p.a, p.pose_a[i], &p.b, p.pose_b[i], nullptr, &d);
    *difference =
        std::fmax(*difference, std::fabs(distance(i) - d.separation) / ab_shape_radius(&p.a));
  }
  return nanoseconds([&](int i) { distance(i); });
}
#endif

}  // namespace

int main() {
  abShape box = shape(AB_SHAPE_BOX, {0.1, 0.05, 0.025}),
          cylinder = shape(AB_SHAPE_CYLINDER, {0.05, 0.1, 0});
  abShape capsule = shape(AB_SHAPE_CAPSULE, {0.05, 0.1, 0}),
          sphere = shape(AB_SHAPE_SPHERE, {0.1, 0, 0});
  abShape small = hull(20, 1), large = hull(200, 2);
  const Pair pairs[] = {make_pair("sphere, sphere", sphere, sphere),
                        make_pair("box, sphere", box, sphere),
                        make_pair("capsule, capsule", capsule, capsule),
                        make_pair("box, box", box, box),
                        make_pair("box, cylinder", box, cylinder),
                        make_pair("cylinder, cylinder", cylinder, cylinder),
                        make_pair("hull 20, box", small, box),
                        make_pair("hull 20, hull 20", small, small),
                        make_pair("hull 200, hull 200", large, large)};
  printf("Nanoseconds per distance query of shapes that are apart.\n\n");
  printf("%-20s %10s %10s %12s %14s %12s %16s %12s\n", "pair", "abut cold", "abut warm",
         "iterations", "error bound", "libccd y/n", "Bullet distance", "difference");
  for (const Pair& p : pairs) {
    abDistance d = {};
    double cold =
        nanoseconds([&](int i) { ab_distance(&p.a, p.pose_a[i], &p.b, p.pose_b[i], nullptr, &d); });
    abGjkSeed seed = {};
    double iterations = 0, error = 0;
    double warm =
        nanoseconds([&](int i) { ab_distance(&p.a, p.pose_a[i], &p.b, p.pose_b[i], &seed, &d); });
    for (int i = 0; i < nposes; i++) {
      ab_distance(&p.a, p.pose_a[i], &p.b, p.pose_b[i], &seed, &d);
      iterations += (double)d.iterations / nposes;
      error = std::fmax(error, d.error);
    }
    printf("%-20s %10.0f %10.0f %12.1f %14.1e", p.name, cold, warm, iterations,
           error / ab_shape_radius(&p.a));
#ifdef ABUT_HAVE_CCD
    printf(" %12.0f", ccd_time(p));
#else
    printf(" %12s", "-");
#endif
#ifdef ABUT_HAVE_BULLET
    double difference;
    double bullet = bullet_time(p, &difference);
    printf(" %16.0f %12.1e\n", bullet, difference);
#else
    printf(" %16s %12s\n", "-", "-");
#endif
  }
  return 0;
}
