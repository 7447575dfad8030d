// ODE 0.16 from Debian (double precision). dContactApprox1 makes mu a coefficient instead of a
// largest force, as every user sets it. "best": the direct solver with the friction pyramid turned
// along the slip. A surface layer, a smaller CFM and finite rotations were tried: the first lets
// towers fall, the others change nothing that is measured here.
#include <ode/ode.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "engine.h"

namespace bench {
namespace {

class Ode : public Engine {
 public:
  Ode(const Scene& s, const std::string& setting)
      : h(s.h),
        mu(s.mu_kinetic),
        quick(setting == "quick"),
        best(setting == "best"),
        jointed(!s.joint.empty()) {
    dInitODE2(0);
    world = dWorldCreate();
    space = dHashSpaceCreate(nullptr);
    group = dJointGroupCreate(0);
    dWorldSetGravity(world, s.gravity.x, s.gravity.y, s.gravity.z);
    for (const Body& b : s.body) add(b);
    for (const Joint& j : s.joint) add(j);
  }
  ~Ode() override {
    dJointGroupDestroy(group);
    dSpaceDestroy(space);
    dWorldDestroy(world);
    dCloseODE();
  }
  void step() override {
    for (size_t i = 0; i < body.size(); i++) {
      if (!body[i]) continue;
      const abWrench& w = wrench[i];
      dBodyAddForce(body[i], w.force.x, w.force.y, w.force.z);
      dBodyAddTorque(body[i], w.torque.x, w.torque.y, w.torque.z);
    }
    ncontact = 0;
    dSpaceCollide(space, this, near_pair);
    if (quick)
      dWorldQuickStep(world, h);
    else
      dWorldStep(world, h);
    dJointGroupEmpty(group);
  }
  void apply(int b, abWrench w) override { wrench[(size_t)b] = w; }
  abPose pose(int b) override {
    if (!body[(size_t)b]) return {{0, 0, 0}, unit_quat};
    const dReal *p = dBodyGetPosition(body[(size_t)b]), *q = dBodyGetQuaternion(body[(size_t)b]);
    return {{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}};
  }
  abTwist twist(int b) override {
    if (!body[(size_t)b]) return {{0, 0, 0}, {0, 0, 0}};
    const dReal *v = dBodyGetLinearVel(body[(size_t)b]), *w = dBodyGetAngularVel(body[(size_t)b]);
    return {{v[0], v[1], v[2]}, {w[0], w[1], w[2]}};
  }
  int contacts() override { return ncontact; }

 private:
  void add(const Body& b) {
    dBodyID id = nullptr;
    if (!b.fixed) {
      id = dBodyCreate(world);
      dMass mass;
      dMassSetParameters(&mass, b.mass, 0, 0, 0, b.inertia.x, b.inertia.y, b.inertia.z, 0, 0, 0);
      dBodySetMass(id, &mass);
      dBodySetPosition(id, b.pose.p.x, b.pose.p.y, b.pose.p.z);
      dQuaternion q = {b.pose.q.w, b.pose.q.x, b.pose.q.y, b.pose.q.z};
      dBodySetQuaternion(id, q);
      dBodySetLinearVel(id, b.twist.lin.x, b.twist.lin.y, b.twist.lin.z);
      dBodySetAngularVel(id, b.twist.ang.x, b.twist.ang.y, b.twist.ang.z);
      dBodySetGravityMode(id, b.gravity);
    }
    for (const Geom& g : b.geom) add_geom(b, id, g);
    if (b.rail) {
      dJointID joint = dJointCreateSlider(world, nullptr);
      dJointAttach(joint, id, nullptr);
      dJointSetSliderAxis(joint, b.axis.x, b.axis.y, b.axis.z);
    }
    body.push_back(id);
    wrench.push_back({});
  }
  void add(const Joint& j) {
    const abVec3 &p = j.pos, &a = j.axis;
    dBodyID child = body[(size_t)j.child], parent = j.parent < 0 ? nullptr : body[(size_t)j.parent];
    if (j.type == AB_JOINT_BALL) {
      dJointID id = dJointCreateBall(world, nullptr);
      dJointAttach(id, child, parent);
      dJointSetBallAnchor(id, p.x, p.y, p.z);
    } else if (j.type == AB_JOINT_HINGE) {
      dJointID id = dJointCreateHinge(world, nullptr);
      dJointAttach(id, child, parent);
      dJointSetHingeAnchor(id, p.x, p.y, p.z);
      dJointSetHingeAxis(id, a.x, a.y, a.z);
    } else {
      dJointID id = dJointCreateSlider(world, nullptr);
      dJointAttach(id, child, parent);
      dJointSetSliderAxis(id, a.x, a.y, a.z);
    }
  }
  // It keeps pointers to what it is given.
  struct Convex {
    std::vector<dReal> plane, point;
    std::vector<unsigned> polygon;
  };
  dGeomID make_convex(const abPolyhedron& p) {
    hull.emplace_back();
    Convex& c = hull.back();
    for (int i = 0; i < p.nvert; i++)
      c.point.insert(c.point.end(), {p.vert[i].x, p.vert[i].y, p.vert[i].z});
    for (int f = 0; f < p.nface; f++) {
      const abPlane& s = p.plane[f];
      c.plane.insert(c.plane.end(), {s.n.x, s.n.y, s.n.z, s.d});
      c.polygon.push_back((unsigned)(p.face_start[f + 1] - p.face_start[f]));
      for (int k = p.face_start[f]; k < p.face_start[f + 1]; k++)
        c.polygon.push_back((unsigned)p.loop[k]);
    }
    return dCreateConvex(space, c.plane.data(), (unsigned)p.nface, c.point.data(),
                         (unsigned)p.nvert, c.polygon.data());
  }
  dGeomID make(const Geom& g) {
    switch (g.type) {
      case AB_SHAPE_SPHERE:
        return dCreateSphere(space, g.size.x);
      case AB_SHAPE_CAPSULE:
        return dCreateCapsule(space, g.size.x, 2 * g.size.y);
      case AB_SHAPE_CYLINDER:
        return dCreateCylinder(space, g.size.x, 2 * g.size.y);
      case AB_SHAPE_MESH:
        return make_convex(*g.poly);
      default:
        return dCreateBox(space, 2 * g.size.x, 2 * g.size.y, 2 * g.size.z);
    }
  }
  dGeomID make_plane(const abPose& p) {
    abVec3 n = rotate(p.q, {0, 0, 1});
    return dCreatePlane(space, n.x, n.y, n.z, n.x * p.p.x + n.y * p.p.y + n.z * p.p.z);
  }
  void add_geom(const Body& b, dBodyID id, const Geom& g) {
    dGeomID geom = g.type == AB_SHAPE_PLANE ? make_plane(b.pose) : make(g);
    friction.push_back(g.friction < 0 ? mu : g.friction);
    dGeomSetData(geom, &friction.back());
    if (g.type == AB_SHAPE_PLANE) return;
    const abPose& p = b.fixed ? b.pose : g.pose;
    dQuaternion q = {p.q.w, p.q.x, p.q.y, p.q.z};
    if (id) {
      dGeomSetBody(geom, id);
      dGeomSetOffsetPosition(geom, p.p.x, p.p.y, p.p.z);
      dGeomSetOffsetQuaternion(geom, q);
    } else {
      dGeomSetPosition(geom, p.p.x, p.p.y, p.p.z);
      dGeomSetQuaternion(geom, q);
    }
  }
  // The direction of slip at a contact, in its plane; false where there is none to speak of.
  static bool slip_direction(const dContactGeom& c, dBodyID a, dBodyID b, dVector3 out) {
    dVector3 va = {0, 0, 0}, vb = {0, 0, 0};
    if (a) dBodyGetPointVel(a, c.pos[0], c.pos[1], c.pos[2], va);
    if (b) dBodyGetPointVel(b, c.pos[0], c.pos[1], c.pos[2], vb);
    double n = 0, size = 0;
    for (int i = 0; i < 3; i++) out[i] = va[i] - vb[i], n += out[i] * c.normal[i];
    for (int i = 0; i < 3; i++) out[i] -= n * c.normal[i], size += out[i] * out[i];
    size = std::sqrt(size);
    for (int i = 0; i < 3; i++) out[i] /= size;
    return size > 1e-2;  // nearly at rest the direction is noise, and towers fall
  }
  static void near_pair(void* self, dGeomID g1, dGeomID g2) {
    Ode* o = static_cast<Ode*>(self);
    dBodyID a = dGeomGetBody(g1), b = dGeomGetBody(g2);
    if ((!a && !b) || a == b) return;
    if (o->jointed && a && b && dAreConnectedExcluding(a, b, dJointTypeContact)) return;
    dContact c[16];
    int n = dCollide(g1, g2, 16, &c[0].geom, sizeof(dContact));
    o->ncontact += n;
    double mu = std::max(*(double*)dGeomGetData(g1), *(double*)dGeomGetData(g2));
    for (int i = 0; i < n; i++) {
      c[i].surface.mode = dContactApprox1;
      c[i].surface.mu = mu;
      if (o->best && slip_direction(c[i].geom, a, b, c[i].fdir1))
        c[i].surface.mode |= dContactFDir1;
      dJointAttach(dJointCreateContact(o->world, o->group, &c[i]), a, b);
    }
  }

  double h, mu;
  bool quick, best, jointed;
  int ncontact = 0;
  dWorldID world;
  dSpaceID space;
  dJointGroupID group;
  std::vector<dBodyID> body;
  std::deque<double> friction;  // of the geoms, which keep pointers to it
  std::deque<Convex> hull;
  std::vector<abWrench> wrench;
};

std::unique_ptr<Engine> create(const Scene& scene, const EngineKind& kind) {
  return std::make_unique<Ode>(scene, kind.name.substr(4));
}

}  // namespace

void add_ode(std::vector<EngineKind>& list) {
  list.push_back({"ode/step", "ODE 0.16, double, dWorldStep, defaults", create, 30});
  list.push_back({"ode/quick", "dWorldQuickStep, 20 sweeps, defaults", create, 100000});
  list.push_back({"ode/best", "dWorldStep, friction pyramid along the slip", create, 30});
}

}  // namespace bench
