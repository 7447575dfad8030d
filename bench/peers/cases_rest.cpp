// Standing, stacking, rolling, holding.
#include <algorithm>
#include <random>

#include "cases.h"

namespace bench {
namespace {

double total_weight(const Scene& scene) {
  double w = 0;
  for (const Body& b : scene.body)
    if (!b.fixed && b.gravity) w += b.mass * gravity;
  return w;
}

double apart(abVec3 a, abVec3 b) {
  return std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) +
                   (a.z - b.z) * (a.z - b.z));
}

// The last `window` seconds of a run at rest: how still, how steady, how deep.
void rest_rows(Run& run, double window, const std::string& tag, const Sink& sink) {
  double weight = total_weight(run.scene), speed = 0;
  std::vector<abVec3> start;
  for (size_t i = 0; i < run.scene.body.size(); i++) start.push_back(run.pose((int)i).p);
  Series force;
  double end = run.time + window - run.scene.h / 2;
  bool ok = true;
  while (ok && run.time < end) {
    ok = run.step();
    force.add(run.floor_force());
    speed = std::max(speed, run.max_speed());
  }
  double drift = 0;
  for (size_t i = 0; i < start.size(); i++)
    if (!run.scene.body[i].fixed) drift = std::max(drift, apart(start[i], run.pose((int)i).p));
  sink.put("force chatter std/weight" + tag, ok ? force.deviation() / weight : NAN);
  sink.put("lowest force/weight" + tag, ok ? force.low / weight : NAN, 1);
  sink.put("largest speed [m/s]" + tag, ok ? speed : NAN);
  sink.put("drift [m]" + tag, ok ? drift : NAN);
  sink.put("penetration [m]" + tag, ok ? run.penetration() : NAN);
}

// --- D: a brick falls askew from 0.3 m; when is it at rest, and how well?

void drop_and_rest(const EngineKind& kind, const Sink& sink) {
  for (double h : {1e-3, 5e-3, 10e-3}) {
    char tag[32];
    snprintf(tag, sizeof tag, ", h %g ms", 1e3 * h);
    Scene scene;
    scene.h = h;
    scene.add_floor();
    // 60, 45, 30 degrees about z, y, x
    int b = scene.add_box({0.1, 0.05, 0.025}, 1,
                          {{0, 0, 0.3}, {0.8223632, 0.0222600, 0.4396797, 0.3604234}});
    Run run(kind, scene);
    double e0 = run.energy(), gain = 0, before = e0, settled = 0, deepest = 0;
    while (run.time < 2 - h / 2 && run.step()) {
      double e = run.energy();
      gain = std::max(gain, (e - before) / e0);
      before = e;
      if (run.speed(b) > 1e-3) settled = run.time;
      deepest = std::max(deepest, run.penetration());
    }
    sink.put(std::string("settled [s]") + tag, run.valid(settled < 2 - 2 * h ? settled : NAN));
    sink.put(std::string("energy gain in a step (rel.)") + tag, run.valid(gain));
    sink.put(std::string("deepest at impact [m]") + tag, run.valid(deepest));
    rest_rows(run, 0.5, tag, sink);
  }
}

// --- F: towers of cubes set down with 2 mm and 0.05 rad of jitter.

void towers(const EngineKind& kind, const Sink& sink) {
  for (double h : {1e-3, 5e-3})
    for (int n : {3, 6, 10, 20}) {
      Scene scene;
      scene.h = h;
      scene.add_floor();
      std::mt19937 random(7);
      std::uniform_real_distribution<double> u(-1, 1);
      for (int i = 0; i < n; i++) {
        double yaw = 0.05 * u(random), x = 2e-3 * u(random), y = 2e-3 * u(random);
        scene.add_box({0.05, 0.05, 0.05}, 1,
                      {{x, y, 0.05 + 0.1 * i}, {std::cos(yaw / 2), 0, 0, std::sin(yaw / 2)}});
      }
      abVec3 start = scene.body.back().pose.p;
      Run run(kind, scene, 2.5);
      bool ok = run.advance(1.5);
      Series force;
      while (ok && run.time < 2 - h / 2) ok = run.step(), force.add(run.floor_force());
      double drift = apart(start, run.pose(n).p);
      char tag[64];
      snprintf(tag, sizeof tag, ", %d cubes, h %g ms", n, 1e3 * h);
      sink.put(std::string("top moved in 2 s [m]") + tag, ok ? drift : NAN);
      sink.put(std::string("force chatter std/weight") + tag,
               ok ? force.deviation() / total_weight(scene) : NAN);
      sink.put(std::string("us per step") + tag, 1e6 * run.seconds() / (double)run.nstep);
    }
}

// --- I: a heavy cube on a light one.

void mass_ratio(const EngineKind& kind, const Sink& sink) {
  for (double ratio : {1.0, 1e2, 1e4, 1e6}) {
    Scene scene;
    scene.add_floor();
    scene.add_box({0.05, 0.05, 0.05}, 1, {{0, 0, 0.05}, unit_quat});
    scene.add_box({0.05, 0.05, 0.05}, ratio, {{0, 0, 0.15}, unit_quat});
    Run run(kind, scene);
    bool ok = run.advance(0.5);
    Series force;
    while (ok && run.time < 1 - scene.h / 2) ok = run.step(), force.add(run.floor_force());
    char tag[64];
    snprintf(tag, sizeof tag, ", 1 : %g", ratio);
    double weight = total_weight(scene);
    sink.put(std::string("floor force/weight") + tag, ok ? force.mean() / weight : NAN, 1);
    sink.put(std::string("force chatter std/weight") + tag, ok ? force.deviation() / weight : NAN);
    sink.put(std::string("heavy cube sank [m]") + tag,
             ok ? std::fabs(0.15 - run.pose(2).p.z) : NAN);
  }
}

// --- J: a desk on four feet slides to a stop, is set down, and stands.

int add_desk(Scene& scene, abPose pose, abTwist twist) {
  Body b;
  b.mass = 15;
  b.inertia = {1.3, 1.3, 0.625};
  b.pose = pose;
  b.twist = twist;
  // the centre of mass at 0.45 m: top 0.5 x 0.5 x 0.04, legs 0.04 x 0.04 x 0.86
  Geom top;
  top.size = {0.25, 0.25, 0.02};
  top.pose.p = {0, 0, 0.43};
  b.geom.push_back(top);
  for (int k = 0; k < 4; k++) {
    Geom leg;
    leg.size = {0.02, 0.02, 0.43};
    leg.pose.p = {k & 1 ? 0.23 : -0.23, k & 2 ? 0.23 : -0.23, -0.02};
    b.geom.push_back(leg);
  }
  scene.body.push_back(b);
  return (int)scene.body.size() - 1;
}

void desk(const EngineKind& kind, const Sink& sink) {
  for (double h : {1e-3, 5e-3}) {
    char tag[32];
    snprintf(tag, sizeof tag, ", h %g ms", 1e3 * h);
    const double mu = 0.22, v0 = 1.5;
    Scene scene;
    scene.h = h;
    scene.mu_static = scene.mu_kinetic = mu;
    scene.add_floor();
    int b = add_desk(scene, {{0, 0, 0.45}, unit_quat}, {{v0 * 0.8, v0 * 0.6, 0}, {0, 0, 0}});
    Run run(kind, scene);
    run.advance(1.5);
    abVec3 p = run.pose(b).p;
    sink.put(std::string("path [m]") + tag, run.valid(0.8 * p.x + 0.6 * p.y),
             v0 * v0 / (2 * mu * gravity));
    sink.put(std::string("off the line [m]") + tag, run.valid(std::fabs(0.8 * p.y - 0.6 * p.x)));
    sink.put(std::string("yaw [rad]") + tag, run.valid(std::fabs(run.yaw(b))));
    rest_rows(run, 0.5, tag, sink);
    // off-centre push near the limit: held without a step of creep?
    double F = 0.9 * mu * 15 * gravity;
    run.engine->apply(b, {{F, 0, 0}, {0, -0.45 * F, 0}});
    run.advance(0.2);
    double x = run.pose(b).p.x;
    run.advance(1);
    sink.put(std::string("creep at 0.9 of the limit [m/s]") + tag,
             run.valid(std::fabs(run.pose(b).p.x - x)));
  }
}

// --- K: a cylinder thrown without spin slips until it rolls: v = 2/3 v0, for any step.

void rolling(const EngineKind& kind, const Sink& sink) {
  for (double h : {1e-3, 5e-3, 10e-3}) {
    char tag[32];
    snprintf(tag, sizeof tag, ", h %g ms", 1e3 * h);
    Scene scene;
    scene.h = h;
    scene.mu_static = scene.mu_kinetic = 0.3;
    scene.add_floor();
    // the axis along y
    int b = scene.add_cylinder(0.1, 0.15, 1, {{0, 0, 0.1}, {std::sqrt(0.5), std::sqrt(0.5), 0, 0}},
                               {{1, 0, 0}, {0, 0, 0}});
    Run run(kind, scene);
    double low = 1, high = 0;
    bool ok = true;
    while (ok && run.time < 2 - h / 2) {
      ok = run.step();
      low = std::min(low, run.pose(b).p.z), high = std::max(high, run.pose(b).p.z);
    }
    abTwist t = run.twist(b);
    sink.put(std::string("speed after 2 s [m/s]") + tag, run.valid(t.lin.x), 2.0 / 3);
    sink.put(std::string("w r / v") + tag, run.valid(t.ang.y * 0.1 / t.lin.x), 1);
    sink.put(std::string("sideways [m]") + tag, run.valid(std::fabs(run.pose(b).p.y)));
    sink.put(std::string("height wavers by [m]") + tag, ok ? high - low : NAN);
  }
}

// --- L: a capsule of 45 g lying between two pads on rails, each pressed by F. Holds iff 2 mu F > m
// g.

void pinch(const EngineKind& kind, const Sink& sink) {
  for (double h : {1e-3, 5e-3})
    for (double share : {0.8, 1.2, 3.0}) {
      const double m = 0.045, mu = 0.5, F = share * m * gravity / (2 * mu);
      Scene scene;
      scene.h = h;
      scene.mu_static = scene.mu_kinetic = mu;
      int pad[2];
      for (int k = 0; k < 2; k++) {
        double x = k ? 0.025 : -0.025;
        pad[k] = scene.add_box({0.01, 0.05, 0.05}, 0.2, {{x, 0, 0}, unit_quat});
        Body& b = scene.body[(size_t)pad[k]];
        b.gravity = false;
        b.rail = true;
      }
      // its axis along y
      int c =
          scene.add_capsule(0.015, 0.03, m, {{0, 0, 0}, {std::sqrt(0.5), std::sqrt(0.5), 0, 0}});
      Run run(kind, scene);
      run.engine->apply(pad[0], {{F, 0, 0}, {0, 0, 0}});
      run.engine->apply(pad[1], {{-F, 0, 0}, {0, 0, 0}});
      char tag[64];
      snprintf(tag, sizeof tag, ", F %g of the limit, h %g ms", share, 1e3 * h);
      bool ok = run.advance(0.05);
      double z = run.pose(c).p.z, v = run.twist(c).lin.z;
      double window = share < 1 ? 0.05 : 1;
      ok = ok && run.advance(window);
      double fell = z - run.pose(c).p.z, dv = v - run.twist(c).lin.z;
      if (share < 1)
        sink.put(std::string("acceleration [m/s2]") + tag, ok ? dv / window : NAN,
                 gravity * (1 - share));
      else
        sink.put(std::string("slid in 1 s [m]") + tag, ok ? std::fabs(fell) : NAN);
    }
}

// --- M: twenty playing cards of 0.3 mm.

void cards(const EngineKind& kind, const Sink& sink) {
  for (double h : {1e-3, 5e-3}) {
    Scene scene;
    scene.h = h;
    scene.mu_static = scene.mu_kinetic = 0.3;
    scene.add_floor();
    std::mt19937 random(3);
    std::uniform_real_distribution<double> u(-1, 1);
    for (int i = 0; i < 20; i++) {
      double yaw = 0.1 * u(random), x = 2e-3 * u(random), y = 2e-3 * u(random);
      scene.add_box({0.044, 0.0315, 0.00015}, 0.0018,
                    {{x, y, 0.00015 + 0.0003 * i}, {std::cos(yaw / 2), 0, 0, std::sin(yaw / 2)}});
    }
    Run run(kind, scene, 5);
    bool ok = run.advance(1);
    char tag[32];
    snprintf(tag, sizeof tag, ", h %g ms", 1e3 * h);
    sink.put(std::string("height of the top card [mm]") + tag,
             ok ? 1e3 * (run.pose(20).p.z + 0.00015) : NAN, 6);
    if (ok) rest_rows(run, 0.2, tag, sink);
    sink.put(std::string("us per step") + tag, 1e6 * run.seconds() / (double)run.nstep);
  }
}

// --- N: a wall in running bond: 20 courses of planks 117 x 23.4 x 7.8 mm, ten in the even ones,
// nine and two halves in the odd ones.

void wall(const EngineKind& kind, const Sink& sink) {
  Scene scene;
  scene.add_floor();
  auto plank = [&](double x, int row, double half) {
    scene.add_box({half, 0.0117, 0.0039}, 0.012 * half / 0.0585,
                  {{x, 0, 0.0039 + 0.0078 * row}, unit_quat});
  };
  for (int row = 0; row < 20; row++) {
    bool odd = row & 1;
    for (int k = 0; k < 10 - odd; k++) plank(0.118 * k + (odd ? 0.059 : 0), row, 0.0585);
    if (!odd) continue;
    plank(-0.0295, row, 0.029);
    plank(0.118 * 9 + 0.0295, row, 0.029);
  }
  if (kind.largest < 100) decline("left out: too slow for 210 bodies");
  // a share of the budget for the way to rest; the time of a step is told in any case
  Run run(kind, scene, 8);
  bool ok = run.advance(0.5);
  sink.put("ms per step", 1e3 * run.seconds() / (double)run.nstep);
  if (ok) {
    double moved = 0;
    for (size_t i = 1; i < scene.body.size(); i++)
      moved = std::max(moved, apart(scene.body[i].pose.p, run.pose((int)i).p));
    sink.put("moved in 0.5 s [m]", moved);
    rest_rows(run, 0.1, "", sink);
  }
}

}  // namespace

const std::vector<Case> rest_cases = {
    {'D', "drop and rest",
     "Brick 0.2 x 0.1 x 0.05 m, 1 kg, falls askew from 0.3 m, 2.5 s. Settled: below 1 mm/s for "
     "good. Rest rows: "
     "the last 0.5 s. Force of the floor by the balance of momentum.",
     drop_and_rest, 10, false, 5},
    {'F', "towers",
     "Cubes of 0.1 m, 1 kg, set down with 2 mm and 0.05 rad of jitter. Chatter in the last 0.5 of "
     "2 s.",
     towers, 10, false, 45},
    {'I', "mass ratio", "A cube of 1 kg under one of 1 to 1e6 kg, 1 ms, 1 s.", mass_ratio, 10,
     false, 15},
    {'J', "desk on four feet",
     "15 kg, mu 0.22, 1.5 m/s: 0.522 m, straight; then at rest, then pushed with 0.9 of the limit "
     "for 1.2 s.",
     desk, 10, false, 8},
    {'K', "rolling cylinder",
     "Radius 0.1 m, mu 0.3, thrown with 1 m/s without spin: rolls with 2/3 m/s, for any step.",
     rolling, 10, false, 8},
    {'L', "pinch", "45 g capsule between two 0.2 kg pads on rails, mu 0.5; the pads press with F.",
     pinch, 10, false, 15},
    {'M', "cards", "Twenty cards 88 x 63 x 0.3 mm of 1.8 g with 2 mm and 0.1 rad of jitter, 1.2 s.",
     cards, 10, false, 40},
    {'N', "wall of planks",
     "210 planks 117 x 23.4 x 7.8 mm (20 of them halves) in running bond, 20 courses, 1 ms, 0.6 s.",
     wall, 10, true, 80},
};

}  // namespace bench
