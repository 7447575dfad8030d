// abut through its public interface: one column per contact model, all at
// their defaults.
#include <abut/abut.h>

#include <cstdio>
#include <cstdlib>

#include "engine.h"

namespace bench {
namespace {

double held;  // bytes, counted by the allocator below

void* count_alloc(size_t bytes) {
  auto* p = static_cast<size_t*>(malloc(bytes + 16));
  if (!p) return nullptr;
  *p = bytes;
  held += (double)bytes;
  return p + 2;
}
void count_free(void* p) {
  if (!p) return;
  auto* q = static_cast<size_t*>(p) - 2;
  held -= (double)*q;
  free(q);
}
void* count_realloc(void* p, size_t bytes) {
  if (!p) return count_alloc(bytes);
  auto* q = static_cast<size_t*>(p) - 2;
  size_t old = *q;
  q = static_cast<size_t*>(realloc(q, bytes + 16));
  if (!q) return nullptr;
  *q = bytes;
  held += (double)bytes - (double)old;
  return q + 2;
}

void require(bool ok, const abError& error) {
  if (ok) return;
  decline(error.message);
}

class Abut : public Engine {
 public:
  Abut(const Scene& s, const char* contact, int nthread) {
    abError error = {};
    scene = ab_scene_create();
    abSceneOption* option = ab_scene_option(scene);
    option->timestep = s.h;
    option->gravity = s.gravity;
    for (const Body& b : s.body) index.push_back(add(s, b));
    model = ab_scene_compile(scene, &error);
    require(model, error);
    data = ab_data_create(model, &error);
    require(data, error);
    require(ab_set_contact(model, data, contact, &error) == AB_OK, error);
    if (nthread > 1) require(ab_set_threads(data, nthread, &error) == AB_OK, error);
    for (size_t i = 0; i < s.body.size(); i++) set_twist(s.body[i], index[i]);
    ab_forward(model, data);
  }
  ~Abut() override {
    ab_data_free(data);
    ab_model_free(model);
    ab_scene_free(scene);
  }
  void step() override {
    abStepStatus status = ab_step(model, data);
    nbroken += status == AB_STEP_BROKEN;
    nunconverged += status != AB_STEP_OK;
  }
  void apply(int body, abWrench wrench) override { data->applied[index[(size_t)body]] = wrench; }
  abPose pose(int body) override {
    int b = index[(size_t)body];
    return {data->com[b], data->pose[b].q};
  }
  abTwist twist(int body) override { return data->twist[index[(size_t)body]]; }
  int contacts() override { return data->ncontact; }
  bool broken() override { return nbroken > 0; }
  long unconverged() override { return nunconverged; }
  uint64_t hash() override { return ab_state_hash(model, data); }
  double bytes() override { return held; }

 private:
  int add(const Scene& s, const Body& b) {
    abError error = {};
    int body = 0;
    if (!b.fixed) {
      abBodyDef def = ab_body_def();
      def.pose = b.pose;
      def.has_inertial = true;
      def.mass = b.mass;
      def.inertia[0] = b.inertia.x, def.inertia[1] = b.inertia.y, def.inertia[2] = b.inertia.z;
      def.gravity = b.gravity;
      body = ab_scene_add_body(scene, &def, &error);
      require(body >= 0, error);
      abJointDef joint = ab_joint_def();
      joint.body = body;
      joint.type = b.rail ? AB_JOINT_SLIDE : AB_JOINT_FREE;
      joint.axis = b.axis;
      require(ab_scene_add_joint(scene, &joint, &error) >= 0, error);
    }
    for (const Geom& g : b.geom) {
      abGeomDef def = ab_geom_def();
      def.body = body;
      def.type = g.type;
      def.size = g.size;
      def.pose = b.fixed ? b.pose : g.pose;
      def.friction[0] = s.mu_kinetic;
      def.mu_static = s.mu_static;
      require(ab_scene_add_geom(scene, &def, &error) >= 0, error);
    }
    return body;
  }
  void set_twist(const Body& b, int body) {
    if (b.fixed || b.rail) return;
    double* v = data->v + model->body[body].dof0;
    v[0] = b.twist.lin.x, v[1] = b.twist.lin.y, v[2] = b.twist.lin.z;
    v[3] = b.twist.ang.x, v[4] = b.twist.ang.y, v[5] = b.twist.ang.z;
  }

  abScene* scene = nullptr;
  abModel* model = nullptr;
  abData* data = nullptr;
  std::vector<int> index;
  long nbroken = 0, nunconverged = 0;
};

std::unique_ptr<Engine> create(const Scene& scene, const EngineKind& kind) {
  bool two = kind.name == "abut/patch-2t";
  const char* contact = two ? "patch" : kind.name.c_str() + 5;
  return std::make_unique<Abut>(scene, contact, two ? 2 : 1);
}

}  // namespace

void add_abut(std::vector<EngineKind>& list) {
  ab_set_allocator({count_alloc, count_realloc, count_free});
  for (int i = 0; i < ab_contact_model_count(); i++) {
    const abContactModel* m = ab_contact_model(i);
    std::string name = m->name;
    // the penalty and projected models are the papers' own: kept out of the largest piles
    int largest = i == 0 ? 100000 : name == "ecp" || name == "volume-qp" ? 30 : 100;
    list.push_back({"abut/" + name, std::string(m->summary) + " (defaults)", create, largest});
  }
}

}  // namespace bench
