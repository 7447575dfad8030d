// Simbody 3.7 from Debian, with its compliant contact of elastic foundations: bodies are triangle
// meshes, the floor a half-space, the pressure acts at the middle of each triangle (4 x 4 squares
// on a face of a box). It has no default material: modulus 1e7 Pa over the half thickness of the
// body, dissipation 50 s/m (with 1 s/m a brick bounces for two seconds).
//
// Its integrators choose their own steps; h is the largest they may take and the time between two
// readings. Default: Runge-Kutta-Merson to its accuracy of 1e-3, friction regularised below
// 0.01 m/s: bodies creep at half that speed under any load, so that nothing counts as held in C.
// "best", for a body alone: the implicit integrator (CPodes, BDF, accuracy 1e-4), friction
// regularised below 2e-5 m/s, 8 x 8 squares on a face. For several bodies that integrator needs
// 0.4 s for a step of three cubes; there it is Runge-Kutta-Merson with 1e-3 m/s.
//
// Its rigid contact (PointPlaneContact, called experimental) knows points against planes only,
// which must be listed beforehand, and was left out. Stacks and piles are possible, but a step of
// ten cubes takes some 50 ms: most of F, M, N and E are cut.
#include <Simbody.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine.h"

namespace bench {
namespace {

using namespace SimTK;

Vec3 vec(const abVec3& v) { return Vec3(v.x, v.y, v.z); }
abVec3 back(const Vec3& v) { return {v[0], v[1], v[2]}; }
Transform transform(const abPose& p) {
  return Transform(Rotation(Quaternion(p.q.w, p.q.x, p.q.y, p.q.z)), vec(p.p));
}

// A ball cut in half and drawn out along z.
PolygonalMesh capsule_mesh(double radius, double half, int resolution) {
  PolygonalMesh ball = PolygonalMesh::createSphereMesh(radius, resolution), mesh;
  for (int i = 0; i < ball.getNumVertices(); i++) {
    Vec3 p = ball.getVertexPosition(i);
    p[2] += p[2] > -1e-9 * radius ? half : -half;
    mesh.addVertex(p);
  }
  for (int f = 0; f < ball.getNumFaces(); f++) {
    Array_<int> face;
    for (int k = 0; k < ball.getNumVerticesForFace(f); k++)
      face.push_back(ball.getFaceVertex(f, k));
    mesh.addFace(face);
  }
  return mesh;
}

class Simbody : public Engine {
 public:
  Simbody(const Scene& s, bool best) : h(s.h) {
    auto moves = [](const Body& b) { return !b.fixed; };
    alone = best && s.body.size() > 1 && std::count_if(s.body.begin(), s.body.end(), moves) == 1;
    gravity = Force::Gravity(forces, matter, -UnitVec3(ZAxis), -s.gravity.z);
    contact.setTransitionVelocity(alone ? 2e-5 : best ? 1e-3 : 0.01);
    discrete = Force::DiscreteForces(forces, matter);
    for (const Body& b : s.body)
      if (!b.fixed)
        for (const Geom& g : b.geom) floor_thickness = std::min(floor_thickness, thickness(g));
    for (const Body& b : s.body) add(s, b);
    State state = system.realizeTopology();
    for (size_t i = 0; i < s.body.size(); i++) set_state(s.body[i], body[i], state);
    if (alone)
      integrator = std::make_unique<CPodesIntegrator>(system, CPodes::BDF, CPodes::Newton);
    else
      integrator = std::make_unique<RungeKuttaMersonIntegrator>(system);
    if (alone) integrator->setAccuracy(1e-4);
    integrator->setMaximumStepSize(h);
    integrator->setAllowInterpolation(false);
    integrator->initialize(state);
  }
  void step() override {
    time += h;
    try {
      // it stops short wherever a load was changed
      while (integrator->getTime() < time - 1e-9 * h) integrator->stepTo(time);
    } catch (const std::exception& e) {
      fprintf(stderr, "Simbody: %s\n", e.what());
      is_broken = true;
    }
  }
  void apply(int b, abWrench w) override {
    State& state = integrator->updAdvancedState();
    discrete.setOneBodyForce(state, matter.getMobilizedBody(body[(size_t)b]),
                             SpatialVec(vec(w.torque), vec(w.force)));
    integrator->reinitialize(Stage::Dynamics, false);
  }
  abPose pose(int b) override {
    system.realize(integrator->getState(), Stage::Position);
    const MobilizedBody& m = matter.getMobilizedBody(body[(size_t)b]);
    Quaternion q = m.getBodyRotation(integrator->getState()).convertRotationToQuaternion();
    return {back(m.getBodyOriginLocation(integrator->getState())), {q[0], q[1], q[2], q[3]}};
  }
  abTwist twist(int b) override {
    system.realize(integrator->getState(), Stage::Velocity);
    const MobilizedBody& m = matter.getMobilizedBody(body[(size_t)b]);
    SpatialVec v = m.getBodyVelocity(integrator->getState());
    return {back(v[1]), back(v[0])};
  }
  int contacts() override {
    system.realize(integrator->getState(), Stage::Dynamics);
    return contact.getNumContactForces(integrator->getState());
  }
  bool broken() override { return is_broken; }

 private:
  static double thickness(const Geom& g) {
    return g.type == AB_SHAPE_BOX ? std::min({g.size.x, g.size.y, g.size.z}) : g.size.x;
  }
  ContactSurface surface(const Scene& s, const Geom& g) const {
    ContactMaterial material(1e7, 50, s.mu_static, s.mu_kinetic);
    int r = alone ? 8 : 4;
    if (g.type == AB_SHAPE_PLANE)
      return ContactSurface(ContactGeometry::HalfSpace(), material, floor_thickness);
    PolygonalMesh mesh;
    switch (g.type) {
      case AB_SHAPE_SPHERE:
        mesh = PolygonalMesh::createSphereMesh(g.size.x, 3);
        break;
      case AB_SHAPE_CAPSULE:
        mesh = capsule_mesh(g.size.x, g.size.y, 3);
        break;
      case AB_SHAPE_CYLINDER:
        mesh = PolygonalMesh::createCylinderMesh(ZAxis, g.size.x, g.size.y, r);
        break;
      default:
        mesh = PolygonalMesh::createBrickMesh(vec(g.size), r);
    }
    return ContactSurface(ContactGeometry::TriangleMesh(mesh), material, thickness(g));
  }
  void add(const Scene& s, const Body& b) {
    if (b.fixed) {
      // its half-space is x > 0
      for (const Geom& g : b.geom)
        matter.Ground().updBody().addContactSurface(Transform(Rotation(Pi / 2, YAxis)),
                                                    surface(s, g));
      body.push_back(matter.Ground().getMobilizedBodyIndex());
      return;
    }
    ::SimTK::Body::Rigid rigid(MassProperties(b.mass, Vec3(0), Inertia(vec(b.inertia))));
    for (const Geom& g : b.geom) rigid.addContactSurface(transform(g.pose), surface(s, g));
    if (b.rail) {
      // a slider moves along its x
      Transform frame(Rotation(UnitVec3(vec(b.axis)), XAxis), vec(b.pose.p));
      MobilizedBody::Slider m(matter.Ground(), frame, rigid, Transform(frame.R()));
      body.push_back(m.getMobilizedBodyIndex());
    } else {
      MobilizedBody::Free m(matter.Ground(), rigid);
      body.push_back(m.getMobilizedBodyIndex());
    }
    if (!b.gravity) gravity.setDefaultBodyIsExcluded(body.back(), true);
  }
  void set_state(const Body& b, MobilizedBodyIndex index, State& state) {
    if (b.fixed || b.rail) return;
    const MobilizedBody& m = matter.getMobilizedBody(index);
    m.setQToFitTransform(state, transform(b.pose));
    m.setUToFitVelocity(state, SpatialVec(vec(b.twist.ang), vec(b.twist.lin)));
  }

  double h, time = 0;
  double floor_thickness = INFINITY;
  bool alone;  // "best" with one moving body
  bool is_broken = false;
  MultibodySystem system;
  SimbodyMatterSubsystem matter{system};
  GeneralForceSubsystem forces{system};
  ContactTrackerSubsystem tracker{system};
  CompliantContactSubsystem contact{system, tracker};
  Force::Gravity gravity;
  Force::DiscreteForces discrete;
  std::vector<MobilizedBodyIndex> body;
  std::unique_ptr<Integrator> integrator;
};

std::unique_ptr<Engine> create(const Scene& scene, const EngineKind& kind) {
  return std::make_unique<Simbody>(scene, kind.name == "simbody/best");
}

}  // namespace

void add_simbody(std::vector<EngineKind>& list) {
  list.push_back({"simbody/default",
                  "Simbody 3.7, elastic foundations on meshes, Runge-Kutta-Merson at its defaults",
                  create, 30});
  list.push_back({"simbody/best",
                  "a body alone: CPodes to 1e-4, friction regularised below 2e-5 m/s, finer mesh; "
                  "several: Runge-Kutta-Merson, 1e-3 m/s",
                  create, 30});
}

}  // namespace bench
