// One interface to all engines of the side-by-side benchmark: a scene of rigid bodies with one pair
// of friction coefficients, stepped, pushed and read. An adapter per engine translates; nothing is
// measured inside an engine (but the time of one in another process), so that every number of a
// table is obtained in the same way for all.
#ifndef ABUT_BENCH_ENGINE_H
#define ABUT_BENCH_ENGINE_H

#include <abut/model.h>
#include <abut/types.h>

#include <memory>
#include <string>
#include <vector>

namespace bench {

const abQuat unit_quat = {1, 0, 0, 0};

struct Geom {
  abShapeType type = AB_SHAPE_BOX;  // AB_SHAPE_PLANE, AB_SHAPE_BOX, AB_SHAPE_SPHERE,
                                    // AB_SHAPE_CAPSULE, AB_SHAPE_CYLINDER
  abVec3 size = {0, 0, 0};          // as in abShape
  abPose pose = {{0, 0, 0}, unit_quat};
  // Bullet and ODE only, as are joints: what a scene file has beyond the cases
  const abPolyhedron* poly = nullptr;  // of AB_SHAPE_MESH
  double friction = -1;                // < 0: the scene's; of a pair the larger one
};

// The body frame has its origin at the centre of mass and its axes along the principal axes.
struct Body {
  std::vector<Geom> geom;
  double mass = 1;
  abVec3 inertia = {0, 0, 0};
  abPose pose = {{0, 0, 0}, unit_quat};
  abTwist twist = {{0, 0, 0}, {0, 0, 0}};  // world axes
  bool fixed = false;
  bool gravity = true;
  bool rail = false;  // moves along `axis` only, does not turn
  abVec3 axis = {1, 0, 0};
};

// Between two bodies that do not collide with each other.
struct Joint {
  abJointType type;   // AB_JOINT_BALL, AB_JOINT_SLIDE, AB_JOINT_HINGE
  int parent, child;  // parent -1: the world
  abVec3 pos, axis;   // at the start, world
};

struct Scene {
  double h = 1e-3;
  abVec3 gravity = {0, 0, -9.8};
  double mu_static = 0.5, mu_kinetic = 0.5;  // engines with one coefficient take the kinetic one
  std::vector<Body> body;
  std::vector<Joint> joint;

  void add_floor();  // z <= 0
  // Uniform mass; returns the index.
  int add_box(abVec3 half, double mass, abPose pose, abTwist twist = {{0, 0, 0}, {0, 0, 0}});
  int add_cylinder(double radius, double half, double mass, abPose pose, abTwist twist);
  int add_capsule(double radius, double half, double mass, abPose pose);
};

// For engines that are told the scene in words: printf at the end of a text, and a shape's name in
// MJCF.
void append(std::string& out, const char* format, ...) __attribute__((format(printf, 2, 3)));
const char* shape_name(abShapeType type);
abVec3 rotate(abQuat q, abVec3 v);
double kinetic_energy(const Body& body, abQuat q, abTwist twist);

class Engine {
 public:
  virtual ~Engine() = default;
  virtual void step() = 0;
  // Force at the centre of mass and torque, world axes, in every step until the next call.
  virtual void apply(int body, abWrench wrench) = 0;
  virtual abPose pose(int body) = 0;
  virtual abTwist twist(int body) = 0;
  virtual int contacts() = 0;  // points, or patches
  virtual bool broken() { return false; }
  virtual long unconverged() { return -1; }  // steps the engine itself calls unsolved, if it tells
  virtual uint64_t hash() { return 0; }
  virtual double bytes() { return 0; }  // memory it holds, if it tells
  // Time of its own steps so far, from an engine that runs in another process.
  virtual bool own_clock(double* processor, double* wall) {
    (void)processor, (void)wall;
    return false;
  }
};

struct EngineKind {
  std::string name;  // engine/setting
  std::string note;  // what the setting is
  std::unique_ptr<Engine> (*create)(const Scene& scene, const EngineKind& kind);
  int largest;  // number of bodies above which it is left out of the pile (time, memory)
};

// Ends the job of an engine that cannot do a case; the reason stands below the table.
[[noreturn]] void decline(const std::string& reason);

// Each adapter adds its settings; what is not built in adds nothing.
void add_abut(std::vector<EngineKind>& list);
void add_mujoco(std::vector<EngineKind>& list);
void add_bullet(std::vector<EngineKind>& list);
void add_ode(std::vector<EngineKind>& list);
void add_dart(std::vector<EngineKind>& list);
void add_simbody(std::vector<EngineKind>& list);
void add_python(std::vector<EngineKind>& list);

}  // namespace bench

#endif
