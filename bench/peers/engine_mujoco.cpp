// MuJoCo 2.2 from Debian, by MJCF text. Its contacts are soft by design; "best" is the most exact
// of the settings we tried that its documentation offers: elliptic cones, impratio 100, a contact
// time constant of four steps (at two, the least it allows, a sliding cube turns by 0.5 rad),
// solimp near 1, many Newton iterations, and the no-slip pass. Without contact it gets the RK4
// integrator. Its buffer holds a square of contact rows and is counted by an int: above about 500
// boxes of the pile it passes 2 GB and no model is made.
#include <mujoco/mujoco.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine.h"

namespace bench {
namespace {

void append_pose(std::string& xml, const abPose& p) {
  append(xml, " pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'", p.p.x, p.p.y, p.p.z, p.q.w,
         p.q.x, p.q.y, p.q.z);
}

std::string scene_xml(const Scene& s, bool best) {
  std::string xml = "<mujoco>";
  size_t n = s.body.size();
  if (best)
    append(xml,
           "<option timestep='%.17g' gravity='%.17g %.17g %.17g' cone='elliptic' impratio='100' "
           "solver='Newton' iterations='200' tolerance='1e-12' noslip_iterations='10' "
           "integrator='%s'/>",
           s.h, s.gravity.x, s.gravity.y, s.gravity.z, n == 1 ? "RK4" : "implicit");
  else
    append(xml, "<option timestep='%.17g' gravity='%.17g %.17g %.17g'/>", s.h, s.gravity.x,
           s.gravity.y, s.gravity.z);
  size_t contacts = n * 8 + 100;  // its arrays grow with the square of this
  append(xml, "<size nconmax='%zu' njmax='%zu'/>", contacts, contacts * 4);
  append(xml, "<default><geom friction='%.17g 0.005 0.0001' mass='0'", s.mu_kinetic);
  if (best) append(xml, " solref='%.17g 1' solimp='0.95 0.99 0.0001'", 4 * s.h);
  xml += "/></default><worldbody>";
  for (const Body& b : s.body) {
    if (!b.fixed) {
      xml += "<body";
      append_pose(xml, b.pose);
      // this version cannot switch gravity off for one body; those that ask are on level rails
      append(xml, "><inertial pos='0 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>", b.mass,
             b.inertia.x, b.inertia.y, b.inertia.z);
      if (b.rail)
        append(xml, "<joint type='slide' axis='%g %g %g'/>", b.axis.x, b.axis.y, b.axis.z);
      else
        xml += "<freejoint/>";
    }
    for (const Geom& g : b.geom) {
      append(xml, "<geom type='%s' size='%.17g %.17g %.17g'", shape_name(g.type), g.size.x,
             g.size.y, g.type == AB_SHAPE_CAPSULE || g.type == AB_SHAPE_CYLINDER ? 1 : g.size.z);
      append_pose(xml, b.fixed ? b.pose : g.pose);
      xml += "/>";
    }
    if (!b.fixed) xml += "</body>";
  }
  return xml + "</worldbody></mujoco>";
}

class Mujoco : public Engine {
 public:
  Mujoco(const Scene& s, bool best) {
    std::string xml = scene_xml(s, best);
    char error[512] = "";
    auto vfs = std::make_unique<mjVFS>();
    mj_defaultVFS(vfs.get());
    mj_makeEmptyFileVFS(vfs.get(), "scene.xml", (int)xml.size());
    memcpy(vfs->filedata[0], xml.data(), xml.size());
    model = mj_loadXML("scene.xml", vfs.get(), error, sizeof error);
    mj_deleteVFS(vfs.get());
    data = model ? mj_makeData(model) : nullptr;
    if (!data) decline(error);
    int next = 0;
    for (const Body& b : s.body) {
      index.push_back(b.fixed ? 0 : ++next);
      if (b.fixed || b.rail) continue;
      mjtNum* v = data->qvel + model->body_dofadr[next];
      v[0] = b.twist.lin.x, v[1] = b.twist.lin.y, v[2] = b.twist.lin.z;
      mjtNum w[3] = {b.twist.ang.x, b.twist.ang.y, b.twist.ang.z}, inverse[4];
      mjtNum q[4] = {b.pose.q.w, b.pose.q.x, b.pose.q.y, b.pose.q.z};
      mju_negQuat(inverse, q);
      mju_rotVecQuat(v + 3, w, inverse);  // its free joint turns in the body's axes
    }
  }
  ~Mujoco() override {
    mj_deleteData(data);
    mj_deleteModel(model);
  }
  void step() override { mj_step(model, data); }
  void apply(int body, abWrench w) override {
    mjtNum* f = data->xfrc_applied + 6 * index[(size_t)body];
    f[0] = w.force.x, f[1] = w.force.y, f[2] = w.force.z;
    f[3] = w.torque.x, f[4] = w.torque.y, f[5] = w.torque.z;
  }
  abPose pose(int body) override {
    int b = index[(size_t)body];
    if (!b) return {{0, 0, 0}, unit_quat};
    if (model->body_dofnum[b] == 1) {
      const mjtNum* p = model->body_pos + 3 * b;
      const mjtNum* a = model->jnt_axis + 3 * model->body_jntadr[b];
      double q = data->qpos[model->jnt_qposadr[model->body_jntadr[b]]];
      return {{p[0] + q * a[0], p[1] + q * a[1], p[2] + q * a[2]}, unit_quat};
    }
    const mjtNum* q = data->qpos + model->jnt_qposadr[model->body_jntadr[b]];
    return {{q[0], q[1], q[2]}, {q[3], q[4], q[5], q[6]}};
  }
  abTwist twist(int body) override {
    int b = index[(size_t)body];
    if (!b) return {{0, 0, 0}, {0, 0, 0}};
    const mjtNum* v = data->qvel + model->body_dofadr[b];
    if (model->body_dofnum[b] == 1) {
      const mjtNum* a = model->jnt_axis + 3 * model->body_jntadr[b];
      return {{v[0] * a[0], v[0] * a[1], v[0] * a[2]}, {0, 0, 0}};
    }
    const mjtNum* q = data->qpos + model->jnt_qposadr[model->body_jntadr[b]];
    mjtNum w[3];
    mju_rotVecQuat(w, v + 3, q + 3);
    return {{v[0], v[1], v[2]}, {w[0], w[1], w[2]}};
  }
  int contacts() override { return data->ncon; }
  bool broken() override {
    return data->warning[mjWARN_BADQPOS].number + data->warning[mjWARN_BADQVEL].number +
               data->warning[mjWARN_BADQACC].number + data->warning[mjWARN_CONTACTFULL].number +
               data->warning[mjWARN_CNSTRFULL].number >
           0;
  }

 private:
  mjModel* model;
  mjData* data;
  std::vector<int> index;
};

std::unique_ptr<Engine> create(const Scene& scene, const EngineKind& kind) {
  return std::make_unique<Mujoco>(scene, kind.name == "mujoco/best");
}

}  // namespace

void add_mujoco(std::vector<EngineKind>& list) {
  list.push_back({"mujoco/default", "MuJoCo 2.2.2, defaults", create, 300});
  list.push_back({"mujoco/best",
                  "elliptic cone, impratio 100, Newton 200 iterations to 1e-12, noslip 10, solref "
                  "(4h, 1), solimp (0.95, 0.99, 0.1 mm), implicit integrator (RK4 without contact)",
                  create, 300});
}

}  // namespace bench
