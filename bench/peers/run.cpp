#include <abut/overlap.h>
#include <time.h>

#include <algorithm>

#include "cases.h"

namespace bench {

static double clock_seconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
double processor_seconds() { return clock_seconds(CLOCK_PROCESS_CPUTIME_ID); }
double wall_seconds() { return clock_seconds(CLOCK_MONOTONIC); }

static double least_tick() {
  double least = INFINITY;
  for (int k = 0; k < 3; k++) {
    double start = processor_seconds(), now = start;
    while (now == start) now = processor_seconds();
    least = std::min(least, now - start);
  }
  return least;
}
bool processor_clock_is_fine() {
  static const bool fine = least_tick() < 1e-4;
  return fine;
}

void Series::add(double x) {
  double d = x - average;
  n++, average += d / n, square += d * (x - average);
  low = std::min(low, x), high = std::max(high, x);
}

double Series::deviation() const { return std::sqrt(square / n); }

static double norm(abVec3 v) { return std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }
static double dot(abVec3 a, abVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

Run::Run(const EngineKind& kind, const Scene& s, double seconds) : scene(s), limit(seconds) {
  engine = kind.create(scene, kind);
  momentum = momentum_before = vertical_momentum();
}

bool Run::step() {
  double processor = processor_seconds(), wall = wall_seconds();
  engine->step();
  double before = spent.processor;
  if (engine->own_clock(&spent.processor, &spent.wall)) {
    check_budget(spent.processor - before);
  } else {
    spent.processor += processor_seconds() - processor;
    spent.wall += wall_seconds() - wall;
    check_budget(0);
  }
  time += scene.h;
  nstep++;
  momentum_before = momentum;
  momentum = vertical_momentum();
  failed = failed || spent.seconds() > limit || !std::isfinite(momentum) || engine->broken();
  return !failed;
}

bool Run::advance(double duration) {
  double end = time + duration - 0.5 * scene.h;
  while (time < end)
    if (!step()) return false;
  return true;
}

double Run::cost() const { return spent.seconds() / time; }

double Run::speed(int b) {
  const Body& body = scene.body[(size_t)b];
  double r = std::sqrt((body.inertia.x + body.inertia.y + body.inertia.z) / (2 * body.mass));
  abTwist t = twist(b);
  return norm(t.lin) + r * norm(t.ang);
}

double Run::max_speed() {
  double most = 0;
  for (size_t i = 0; i < scene.body.size(); i++)
    if (!scene.body[i].fixed) most = std::max(most, speed((int)i));
  return most;
}

double Run::vertical_momentum() {
  double p = 0;
  for (size_t i = 0; i < scene.body.size(); i++)
    if (!scene.body[i].fixed) p += scene.body[i].mass * twist((int)i).lin.z;
  return p;
}

double Run::floor_force() {
  double weight = 0;
  for (const Body& b : scene.body)
    if (!b.fixed && b.gravity) weight -= b.mass * scene.gravity.z;
  return (momentum - momentum_before) / scene.h + weight;
}

double Run::energy() {
  double e = 0;
  for (size_t i = 0; i < scene.body.size(); i++) {
    const Body& b = scene.body[i];
    if (b.fixed) continue;
    abPose p = pose((int)i);
    e += kinetic_energy(b, p.q, twist((int)i)) - b.mass * dot(scene.gravity, p.p);
  }
  return e;
}

static void box_corners(const Geom& g, abPose p, abVec3 out[8]) {
  for (int k = 0; k < 8; k++) {
    abVec3 c = {k & 1 ? g.size.x : -g.size.x, k & 2 ? g.size.y : -g.size.y,
                k & 4 ? g.size.z : -g.size.z};
    c = rotate(g.pose.q, c);
    c = rotate(p.q, {c.x + g.pose.p.x, c.y + g.pose.p.y, c.z + g.pose.p.z});
    out[k] = {c.x + p.p.x, c.y + p.p.y, c.z + p.p.z};
  }
}

// Only boxes are looked at: the cases that ask have nothing else.
double Run::penetration() {
  struct Item {
    abVec3 corner[8], center;
    double radius;
    size_t body;
  };
  std::vector<Item> item;
  double deepest = 0;
  for (size_t i = 0; i < scene.body.size(); i++) {
    if (scene.body[i].fixed) continue;
    for (const Geom& g : scene.body[i].geom) {
      Item it;
      box_corners(g, pose((int)i), it.corner);
      it.center = {0, 0, 0};
      for (const abVec3& c : it.corner) {
        it.center = {it.center.x + c.x / 8, it.center.y + c.y / 8, it.center.z + c.z / 8};
        deepest = std::max(deepest, -c.z);
      }
      it.radius = norm(g.size);
      it.body = i;
      item.push_back(it);
    }
  }
  static const int start[] = {0, 4, 8, 12, 16, 20, 24};
  static const int loop[] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                             2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
  for (size_t i = 0; i < item.size(); i++)
    for (size_t j = i + 1; j < item.size(); j++) {
      abVec3 d = {item[i].center.x - item[j].center.x, item[i].center.y - item[j].center.y,
                  item[i].center.z - item[j].center.z};
      if (item[i].body == item[j].body || norm(d) > item[i].radius + item[j].radius) continue;
      abConvex a = {8, item[i].corner, 6, start, loop}, b = {8, item[j].corner, 6, start, loop};
      abOverlapSummary summary;
      abError error;
      if (ab_overlap_of_convex(&a, &b, &summary, &error) == AB_OK && summary.contact)
        deepest = std::max(deepest, summary.depth);
    }
  return deepest;
}

double Run::yaw(int b) {
  abVec3 x = rotate(pose(b).q, {1, 0, 0});
  return std::atan2(x.y, x.x);
}

}  // namespace bench
