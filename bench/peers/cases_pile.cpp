// The pile: n boxes of 0.2 x 0.1 x 0.05 m that fall from a loose lattice of eight layers onto the
// open floor. Falling steps are timed from the first touches on. For the settled pile every engine
// gets the same poses, which a fast engine has brought to rest beforehand, and relaxes them itself
// before anything is measured.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>

#include "cases.h"

namespace bench {

static const abVec3 brick = {0.1, 0.05, 0.025};

Scene pile_falling(int n) {
  Scene scene;
  scene.add_floor();
  std::mt19937 random(11);
  std::normal_distribution<double> g(0, 1);
  int side = 1;
  while (side * side * 8 < n) side++;
  for (int i = 0; i < n; i++) {
    int layer = i / (side * side), k = i % (side * side);
    double q[4], s = 0;
    for (double& c : q) c = g(random), s += c * c;
    s = std::sqrt(s);
    scene.add_box(brick, 1,
                  {{0.23 * (k % side), 0.23 * (k / side), 0.13 + 0.24 * layer},
                   {q[0] / s, q[1] / s, q[2] / s, q[3] / s}});
  }
  return scene;
}

// Piles at rest, by size; filled before the engines' processes are started.
static std::map<int, Scene> settled;

static void take_poses(Run& run, Scene& scene) {
  for (size_t i = 0; i < scene.body.size(); i++)
    if (!scene.body[i].fixed) scene.body[i].pose = run.pose((int)i);
}

// A fast engine lets it fall with large steps; an engine that brings piles to rest does so, with
// the step of the measurement, until nothing is faster than a thousandth of g h or 2.5 s are over.
// Three times: each time it begins without knowing what friction carried, as all engines will, so
// that what depends on it has gone.
void pile_prepare(const EngineKind& fast, const EngineKind& still, int n) {
  if (settled.count(n)) return;
  Scene scene = pile_falling(n), coarse = scene;
  coarse.h = 4e-3;
  Run falling(fast, coarse, 60);
  falling.advance(5);
  take_poses(falling, scene);
  for (int k = 0; k < 3; k++) {
    Run resting(still, scene, 300);
    while (resting.time < 2.5 && resting.step())
      if (resting.nstep % 50 == 0 && resting.max_speed() < 1e-3 * gravity * scene.h) break;
    take_poses(resting, scene);
  }
  settled[n] = scene;
}

// Up to the sizes that were prepared; larger ones are several of those side by side.
Scene pile_settled(int n) {
  auto it = settled.find(n);
  if (it != settled.end()) return it->second;
  const Scene& tile = settled.rbegin()->second;
  int count = settled.rbegin()->first;
  Scene scene = tile;
  scene.body.resize(1);
  for (int i = 0; i < n; i++) {
    Body b = tile.body[(size_t)(1 + i % count)];
    b.pose.p.x += 8 * (i / count);
    scene.body.push_back(b);
  }
  return scene;
}

namespace {

std::string with(const char* metric, int n) {
  char text[128];
  snprintf(text, sizeof text, "%s, n %d", metric, n);
  return text;
}

// The energy a pile has lost and gained since the start: contact without restitution only takes.
struct EnergyMeter {
  double start, before, gained = 0;
  explicit EnergyMeter(Run& run) : start(run.energy()), before(start) {}
  void look(Run& run) {
    double now = run.energy();
    gained += std::max(0.0, now - before);
    before = now;
  }
};

// Released at 0 s; the first touch at 0.1 s. ms per step, for the guess what the next size costs.
double falling(const EngineKind& kind, const Sink& sink, int n, double seconds) {
  Run run(kind, pile_falling(n), seconds);
  EnergyMeter energy(run);
  while (run.time < 0.15 && run.step()) energy.look(run);
  Spent before = run.stopwatch();
  long steps = run.nstep;
  double deepest = 0;
  while (run.time < 0.4 && run.step()) {
    energy.look(run);
    if (run.nstep % 25 == 0) deepest = std::max(deepest, run.penetration());
  }
  double ms = 1e3 * (run.stopwatch() - before).seconds() / (double)(run.nstep - steps);
  if (run.nstep > steps + 10) sink.put(with("falling, ms per step", n), ms);
  sink.put(with("falling, energy gained (rel.)", n), run.valid(energy.gained / energy.start));
  sink.put(with("falling, deepest penetration [m]", n), run.valid(deepest));
  return 1e3 * run.seconds() / (double)run.nstep;
}

double at_rest(const EngineKind& kind, const Sink& sink, int n, double seconds) {
  double weight = n * gravity;
  Run run(kind, pile_settled(n), seconds);
  double e0 = run.energy();
  bool relaxed = run.advance(0.8);
  // on to rest, for those who have the time
  while (relaxed && run.time < 2.4 && run.seconds() < 0.8 * seconds && run.step()) {
  }
  // the fastest of four groups of steps: what is slower is the machine's other work
  Series force;
  double best = INFINITY, speed = 0;
  for (int group = 0; group < 4; group++) {
    Spent start = run.stopwatch();
    int k = 0;
    while (k < 25 && (run.seconds() < 1.3 * seconds || k < 3)) {
      run.step();
      force.add(run.floor_force());
      speed = std::max(speed, run.max_speed());
      k++;
    }
    best = std::min(best, (run.stopwatch() - start).seconds() / k);
    if (run.seconds() > 1.3 * seconds) break;
  }
  sink.put(with("settled, ms per step", n), 1e3 * best);
  if (relaxed) {
    sink.put(with("force chatter std/weight", n), force.deviation() / weight);
    sink.put(with("floor force/weight", n), force.mean() / weight, 1);
    sink.put(with("largest speed [m/s]", n), speed);
    sink.put(with("penetration [m]", n), run.penetration());
    sink.put(with("energy gained while relaxing (rel.)", n), std::max(0.0, run.energy() / e0 - 1));
  }
  if (run.engine->unconverged() >= 0)
    sink.put(with("steps it calls unconverged, share", n),
             (double)run.engine->unconverged() / (double)run.nstep);
  sink.put(with("contacts", n), run.engine->contacts(), run.engine->contacts());
  if (run.engine->bytes() > 0)
    sink.put(with("memory per body [kB]", n), 1e-3 * run.engine->bytes() / n);
  return 1e3 * run.seconds() / (double)run.nstep;
}

// 400 steps each of the two piles; sizes that the budget does not let hope for are left out.
void pile(const EngineKind& kind, const Sink& sink) {
  if (kind.largest < 1000) narrow_budget(kind.largest < 300 ? 8 : 15);
  double fall = 0, rest = 0;
  int before = 1;
  for (int n : pile_sizes) {
    if (n > kind.largest) continue;
    double growth = std::pow((double)n / before, 1.2), share = budget_left() / (n < 1000 ? 4 : 2);
    if (0.4 * growth * fall < 2 * share) fall = falling(kind, sink, n, share);
    if (0.1 * growth * rest > 2 * share) return;
    rest = at_rest(kind, sink, n, share);
    before = n;
  }
}

double resident_bytes() {
  FILE* f = fopen("/proc/self/statm", "r");
  long all = 0, pages = 0;
  if (f && fscanf(f, "%ld %ld", &all, &pages) != 2) pages = 0;
  if (f) fclose(f);
  return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

struct Growth {
  double ms;        // of a step
  double counted;   // bytes per body by the engine's own count, 0 if it has none
  double resident;  // by what the process grew
};

// Steps of a settled pile alone: the fastest of four groups as in E, after 2.4 s, or after 160 s of
// the clock: large piles take longer to come to rest than small ones, and it is rest that is
// compared here. Single steps would not do: at rest some have nothing to do, and the fewer the
// bodies, the more of them.
Growth settled_step(const EngineKind& kind, int n) {
  malloc_trim(0);  // what earlier piles left must not hide what this one needs
  double before = resident_bytes();
  Run run(kind, pile_settled(n), 1e9);
  double best = INFINITY;
  while (run.time < 2.4 && run.seconds() < 160 && run.step()) {
  }
  for (int group = 0; group < 4 && run.seconds() < 180; group++) {
    Spent start = run.stopwatch();
    int k = 0;
    for (; k < 25 && (run.seconds() < 180 || k < 3); k++) run.step();
    best = std::min(best, (run.stopwatch() - start).seconds() / k);
  }
  return {1e3 * best, run.engine->bytes() / n, (resident_bytes() - before) / n};
}

// Slope of log t over log n.
double exponent(const std::vector<std::pair<double, double>>& point) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0, n = (double)point.size();
  for (auto& p : point) {
    double x = std::log(p.first), y = std::log(p.second);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

void threads(const EngineKind& kind, const Sink& sink, int n) {
  EngineKind two = kind;
  two.name = "abut/patch-2t";
  uint64_t hash[2];
  double best[2];
  for (int k = 0; k < 2; k++) {
    Run run(k ? two : kind, pile_settled(n), 1e9);
    best[k] = INFINITY;
    for (int i = 0; i < 40 && (run.seconds() < 5 || i < 10); i++) {
      double start = wall_seconds();
      run.step();
      best[k] = std::min(best[k], wall_seconds() - start);
    }
    run.engine.reset(two.create(run.scene, k ? two : kind).release());
    for (int i = 0; i < 10; i++) run.engine->step();
    hash[k] = run.engine->hash();
  }
  sink.put(with("speed-up by 2 threads", n), best[0] / best[1], 2);
  sink.put(with("same hash with 2 threads", n), hash[0] == hash[1], 1);
}

void scaling(const EngineKind& kind, const Sink& sink) {
  if (kind.largest < 5000) decline("left out: too slow for 5000 bodies");
  std::vector<std::pair<double, double>> point;
  for (int n : {100, 300, 1000, 2000, 5000}) {
    Growth g = settled_step(kind, n);
    sink.put(with("settled, ms per step", n), g.ms);
    if (g.counted > 0) sink.put(with("memory per body, counted [kB]", n), 1e-3 * g.counted);
    sink.put(with("memory per body, resident [kB]", n), 1e-3 * g.resident);
    point.push_back({n, g.ms});
  }
  sink.put("exponent of time over n = 100 to 5000", exponent(point), 1);
  if (kind.name == "abut/patch") {
    threads(kind, sink, 300);
    threads(kind, sink, 1000);
  }
}

}  // namespace

const std::vector<int> pile_sizes = {10, 30, 100, 300, 1000};

const std::vector<Case> pile_cases = {
    {'E', "pile",
     "n boxes 0.2 x 0.1 x 0.05 m, 1 kg, mu 0.5, h 1 ms. Falling: from 0.15 to 0.4 s after release. "
     "Settled: from the same resting poses for all, 0.8 s of relaxing, up to 2.4 s for engines "
     "that "
     "have the time, then the fastest of four groups of 25 steps. "
     "Energy: what rises from step to step while it falls, and from the given poses to those at "
     "rest, over the energy at the start (from the floor up). A dash: left out as too slow, or not "
     "relaxed within its time.",
     pile, 45, true, 320},
    {'S', "growth with the number of bodies, and threads",
     "Settled piles as in E, but 2.4 s of relaxing, or 160 s of the clock, since large piles take "
     "longer "
     "to rest; above 1000 boxes, piles of 1000 side by side. "
     "Fastest of four groups of 25 steps. "
     "Memory: by what the process grew, and where an engine counts it, by its count. Threads: wall "
     "time of a step, state hashes after ten steps.",
     scaling, 400, true, 300},
};

}  // namespace bench
