#include "motion.h"

#include <abut/abut.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "../patch/pile_scene.h"
#include "model_scene.h"

using namespace bench;

// An engine at work on a scene.
struct Motion {
  virtual ~Motion() = default;
  virtual void reset() = 0;
  virtual void step() = 0;
  virtual double kinetic() = 0;
  virtual double status() = 0;
};

namespace {

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// What two looks at the clock take by themselves.
double clock_cost() {
  double least = INFINITY;
  for (int i = 0; i < 1000; i++) {
    double before = thread_seconds();
    least = std::min(least, thread_seconds() - before);
  }
  return least;
}

void require(bool ok, const abError& error) {
  if (!ok) throw std::runtime_error(error.message);
}

// A scene file at its start.
struct Loaded {
  abModel* model = nullptr;
  abData* data = nullptr;
  int key = -1;

  Loaded(const char* file, const char* name) {
    abError error = {};
    model = ab_load(file, nullptr, &error);
    require(model, error);
    data = ab_data_create(model, &error);
    require(data, error);
    if (*name) key = ab_find_key(model, name);
    if (*name && key < 0) throw std::runtime_error(std::string("no key '") + name + "'");
    reset();
  }
  Loaded(const Loaded&) = delete;
  ~Loaded() {
    ab_data_free(data);
    ab_model_free(model);
  }
  void reset() const {
    if (ab_data_reset(model, data, key) != AB_OK) throw std::runtime_error("no reset");
    ab_forward(model, data);
  }
};

struct Ours : Motion {
  Loaded at;
  abStepStatus last = AB_STEP_OK;

  Ours(const char* file, const char* key) : at(file, key) {}
  void reset() override { at.reset(); }
  void step() override { last = ab_step(at.model, at.data); }
  double kinetic() override { return ab_energy(at.model, at.data).kinetic; }
  double status() override { return last == AB_STEP_OK ? 0 : last == AB_STEP_BROKEN ? 2 : 1; }
};

struct Peer : Motion {
  Loaded at;
  Scene scene;
  EngineKind kind;
  std::unique_ptr<Engine> engine;

  Peer(const EngineKind& k, const char* file, const char* key) : at(file, key), kind(k) {
    std::string lacks;
    scene = scene_of_model(at.model, at.data, lacks);
    if (!lacks.empty()) throw std::runtime_error("cannot represent " + lacks);
    reset();
  }
  void reset() override {
    engine.reset();  // before the next one: ODE has a world of its own
    engine = kind.create(scene, kind);
  }
  void step() override { engine->step(); }
  double kinetic() override {
    double e = 0;
    for (size_t i = 0; i < scene.body.size(); i++)
      if (!scene.body[i].fixed)
        e += kinetic_energy(scene.body[i], engine->pose((int)i).q, engine->twist((int)i));
    return e;
  }
  double status() override { return NAN; }
};

struct Foreign : Motion {
  MotionForeign f;

  explicit Foreign(const MotionForeign& foreign) : f(foreign) {}
  void reset() override {}
  void step() override { f.step(f.model, f.data); }
  double kinetic() override {
    f.measure(f.model, f.data);
    return *f.kinetic;
  }
  double status() override {
    for (int i = 0; i < f.niterations; i++)
      if (f.iterations[i] >= f.limit) return 1;
    return 0;
  }
};

std::vector<EngineKind> peers() {
  std::vector<EngineKind> list;
#ifdef ABUT_HAVE_BULLET
  add_bullet(list);
#endif
#ifdef ABUT_HAVE_ODE
  add_ode(list);
#endif
  return list;
}

Motion* open_engine(const std::string& engine, const char* file, const char* key) {
  if (engine == "abut") return new Ours(file, key);
  for (const EngineKind& k : peers())
    if (k.name == engine) return new Peer(k, file, key);
  throw std::runtime_error("not built in");
}

MotionScene describe(const abModel* m) {
  double g = std::hypot(m->gravity.x, m->gravity.y, m->gravity.z);
  MotionScene s = {m->timestep, 0, 0};
  for (int i = 1; i < m->nbody; i++) {
    const abBody& b = m->body[i];
    if (b.mover < 0 || b.mass <= 0) continue;
    s.bodies++;
    s.unit += g * std::sqrt(b.mass * (b.inertia.x + b.inertia.y + b.inertia.z) / 2);
  }
  return s;
}

// Calls f; what it throws becomes a message.
template <typename F>
bool guarded(char* why, F f) {
  try {
    f();
    return true;
  } catch (const std::exception& e) {
    snprintf(why, MOTION_TEXT, "%s", e.what());
    return false;
  }
}

}  // namespace

void bench::decline(const std::string& reason) { throw std::runtime_error(reason); }

int motion_about(const char* file, MotionScene* scene, char* why) {
  return !guarded(why, [&] { *scene = describe(Loaded(file, "").model); });
}

int motion_write_heap(int n, double h, const char* file, char* why) {
  return !guarded(why, [&] {
    abError error = {};
    abScene* scene = pile_scene(n, h, 0.27, 1);
    abStatus status = ab_scene_save(scene, file, &error);
    ab_scene_free(scene);
    require(status == AB_OK, error);
  });
}

Motion* motion_open(const char* engine, const char* file, const char* key, char* why) {
  Motion* motion = nullptr;
  guarded(why, [&] { motion = open_engine(engine, file, key); });
  return motion;
}

Motion* motion_adopt(const MotionForeign* foreign) { return new Foreign(*foreign); }

void motion_close(Motion* motion) { delete motion; }

void motion_reset(Motion* motion) { motion->reset(); }

int motion_run(Motion* motion, int n, MotionStep* out) {
  static const double cost = clock_cost();
  for (int i = 0; i < n; i++) {
    double before = thread_seconds();
    motion->step();
    out[i].seconds = thread_seconds() - before - cost;
    out[i].kinetic = motion->kinetic();
    out[i].status = std::isfinite(out[i].kinetic) ? motion->status() : 2;
    if (out[i].status == 2) return i + 1;
  }
  return n;
}
