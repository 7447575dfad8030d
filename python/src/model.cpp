// Models: compiled ones, variants of them, and their numbers as arrays.
#include <cstddef>
#include <cstring>

#include "core.h"

Model::~Model() { ab_model_free(own); }

std::shared_ptr<Model> make_variant(const std::shared_ptr<const Model>& base) {
  auto v = std::make_shared<Model>();
  const abModel* m = base->model;
  v->base = base;
  v->changed = *m;
  v->body.assign(m->body, m->body + m->nbody);
  v->joint.assign(m->joint, m->joint + m->njoint);
  v->geom.assign(m->geom, m->geom + m->ngeom);
  v->actuator.assign(m->actuator, m->actuator + m->nactuator);
  v->dof_damping.assign(m->dof_damping, m->dof_damping + m->nv);
  v->dof_armature.assign(m->dof_armature, m->dof_armature + m->nv);
  v->q0.assign(m->q0, m->q0 + m->nq);
  v->changed.body = v->body.data();
  v->changed.joint = v->joint.data();
  v->changed.geom = v->geom.data();
  v->changed.actuator = v->actuator.data();
  v->changed.dof_damping = v->dof_damping.data();
  v->changed.dof_armature = v->dof_armature.data();
  v->changed.q0 = v->q0.data();
  v->model = &v->changed;
  return v;
}

// Numbers no scene could have been compiled with.
static void check_variant(const Model& v) {
  const abModel& m = v.changed;
  if (!(m.timestep > 0)) raise_value("timestep must be above 0, it is %g", m.timestep);
  for (const abBody& b : v.body) {
    if (b.mover < 0) continue;
    bool heavy = b.mass > 0 && b.inertia.x > 0 && b.inertia.y > 0 && b.inertia.z > 0;
    if (b.mass < 0 || (!heavy && b.njoint > 0 && !m.mover[b.mover].jointed))
      raise_value("body '%s' needs a mass and an inertia above 0", b.name);
  }
  for (const abGeom& g : v.geom)
    if (g.friction[0] < 0 || g.friction[1] < 0 || g.friction[2] < 0 || g.restitution < 0)
      raise_value("friction and restitution of geom '%s' must not be below 0", g.name);
  for (const abJoint& j : v.joint) {
    if (j.damping < 0 || j.armature < 0 || j.stiffness < 0 || j.frictionloss < 0)
      raise_value("damping, armature, stiffness and frictionloss of joint '%s' must not be below 0",
                  j.name ? j.name : "");
    bool any = j.damping > 0 || j.armature > 0 || j.stiffness > 0 || j.frictionloss > 0;
    int mover = v.body[(size_t)j.body].mover;
    if (any && mover >= 0 && !m.mover[mover].jointed)
      raise_value("the free joint of body '%s' was compiled without damping; say it in the scene",
                  v.body[(size_t)j.body].name);
  }
}

void finish_variant(Model& v) {
  check_variant(v);
  v.changed.total_mass = 0;
  for (const abBody& b : v.body)
    if (b.mover >= 0) v.changed.total_mass += b.mass;
  for (int i = 0; i < v.changed.nv; i++) {
    const abJoint& joint = v.joint[(size_t)v.changed.dof_joint[i]];
    v.dof_damping[(size_t)i] = joint.damping;
    v.dof_armature[(size_t)i] = joint.armature;
  }
}

static const Field fields[] = {
    {"gravity", Field::MODEL, offsetof(abModel, gravity), 3, 'd', true},
    {"timestep", Field::MODEL, offsetof(abModel, timestep), 0, 'd', true},
    {"total_mass", Field::MODEL, offsetof(abModel, total_mass), 0, 'd', false},
    {"extent", Field::MODEL, offsetof(abModel, extent), 0, 'd', false},
    {"body_parent", Field::BODY, offsetof(abBody, parent), 0, 'i', false},
    {"body_mass", Field::BODY, offsetof(abBody, mass), 0, 'd', true},
    {"body_com", Field::BODY, offsetof(abBody, com), 3, 'd', true},
    {"body_inertia", Field::BODY, offsetof(abBody, inertia), 3, 'd', true},
    {"joint_type", Field::JOINT, offsetof(abJoint, type), 0, 'i', false},
    {"joint_body", Field::JOINT, offsetof(abJoint, body), 0, 'i', false},
    {"joint_q", Field::JOINT, offsetof(abJoint, q0), 0, 'i', false},
    {"joint_v", Field::JOINT, offsetof(abJoint, v0), 0, 'i', false},
    {"joint_axis", Field::JOINT, offsetof(abJoint, axis), 3, 'd', false},
    {"joint_range", Field::JOINT, offsetof(abJoint, range), 2, 'd', true},
    {"joint_stiffness", Field::JOINT, offsetof(abJoint, stiffness), 0, 'd', true},
    {"joint_damping", Field::JOINT, offsetof(abJoint, damping), 0, 'd', true},
    {"joint_armature", Field::JOINT, offsetof(abJoint, armature), 0, 'd', true},
    {"joint_frictionloss", Field::JOINT, offsetof(abJoint, frictionloss), 0, 'd', true},
    {"joint_springref", Field::JOINT, offsetof(abJoint, springref), 0, 'd', true},
    {"geom_body", Field::GEOM, offsetof(abGeom, body), 0, 'i', false},
    {"geom_type", Field::GEOM, offsetof(abGeom, shape.type), 0, 'i', false},
    {"geom_size", Field::GEOM, offsetof(abGeom, shape.size), 3, 'd', false},
    {"geom_pos", Field::GEOM, offsetof(abGeom, pose.p), 3, 'd', false},
    {"geom_quat", Field::GEOM, offsetof(abGeom, pose.q), 4, 'd', false},
    {"geom_friction", Field::GEOM, offsetof(abGeom, friction), 3, 'd', true},
    {"geom_mu_static", Field::GEOM, offsetof(abGeom, mu_static), 0, 'd', true},
    {"geom_e_t", Field::GEOM, offsetof(abGeom, e_t), 0, 'd', true},
    {"geom_e_o", Field::GEOM, offsetof(abGeom, e_o), 0, 'd', true},
    {"geom_e_r", Field::GEOM, offsetof(abGeom, e_r), 0, 'd', true},
    {"geom_restitution", Field::GEOM, offsetof(abGeom, restitution), 0, 'd', true},
    {"geom_rgba", Field::GEOM, offsetof(abGeom, rgba), 4, 'f', false},
    {"actuator_joint", Field::ACTUATOR, offsetof(abActuator, joint), 0, 'i', false},
    {"actuator_gear", Field::ACTUATOR, offsetof(abActuator, gear), 6, 'd', true},
    {"actuator_gainprm", Field::ACTUATOR, offsetof(abActuator, gainprm), 3, 'd', true},
    {"actuator_biasprm", Field::ACTUATOR, offsetof(abActuator, biasprm), 3, 'd', true},
    {"actuator_ctrl_limited", Field::ACTUATOR, offsetof(abActuator, ctrl_limited), 0, 'b', false},
    {"actuator_ctrl_range", Field::ACTUATOR, offsetof(abActuator, ctrl_range), 2, 'd', true},
    {"actuator_force_range", Field::ACTUATOR, offsetof(abActuator, force_range), 2, 'd', true},
};

const Field& find_field(const std::string& name) {
  std::vector<std::string> known;
  for (const Field& f : fields) {
    if (name == f.name) return f;
    known.push_back(f.name);
  }
  raise_value("a model has no numbers called '%s'%s", name.c_str(),
              known_names(name, known).c_str());
}

int field_rows(const abModel* m, const Field& f) {
  const int n[] = {m->nbody, m->njoint, m->ngeom, m->nactuator, -1};
  return n[f.of];
}

size_t field_stride(const Field& f) {
  const size_t n[] = {sizeof(abBody), sizeof(abJoint), sizeof(abGeom), sizeof(abActuator), 0};
  return n[f.of];
}

const char* field_base(const Model& model, const Field& f) {
  const abModel* m = model.model;
  const void* at[] = {m->body, m->joint, m->geom, m->actuator, m};
  return (const char*)at[f.of] + f.offset;
}

// A read-only array on the model's memory.
static nb::object field_view(nb::handle self, const Model& model, const Field& f) {
  std::vector<size_t> shape;
  std::vector<int64_t> strides;
  size_t item = f.type == 'd' ? 8 : f.type == 'b' ? 1 : 4;
  int rows = field_rows(model.model, f);
  if (rows >= 0)
    shape.push_back((size_t)rows), strides.push_back((int64_t)(field_stride(f) / item));
  if (f.count > 0) shape.push_back((size_t)f.count), strides.push_back(1);
  void* at = (void*)field_base(model, f);
  nb::dlpack::dtype type = f.type == 'd'   ? nb::dtype<double>()
                           : f.type == 'f' ? nb::dtype<float>()
                           : f.type == 'b' ? nb::dtype<bool>()
                                           : nb::dtype<int32_t>();
  static_assert(sizeof(bool) == 1 && sizeof(int) == 4);
  return nb::cast(
      nb::ndarray<nb::numpy, nb::ro>(at, shape.size(), shape.data(), self, strides.data(), type));
}

template <class T>
static nb::tuple names_of(const T* item, int n) {
  nb::list names;
  for (int i = 0; i < n; i++) names.append(nb::str(item[i].name ? item[i].name : ""));
  return nb::tuple(names);
}

static nb::tuple names(const Model& model, const std::string& what) {
  const abModel* m = model.model;
  if (what == "body") return names_of(m->body, m->nbody);
  if (what == "joint") return names_of(m->joint, m->njoint);
  if (what == "geom") return names_of(m->geom, m->ngeom);
  if (what == "actuator") return names_of(m->actuator, m->nactuator);
  if (what == "key") return names_of(m->key, m->nkey);
  raise_value("no names of '%s'", what.c_str());
}

// One numpy array, or a number, per changed field: checked and copied into the variant.
static void change(Model& v, const std::string& name, Doubles values) {
  const Field& f = find_field(name);
  if (!f.may_vary) raise_value("%s cannot be changed once a scene is compiled", f.name);
  size_t rows = f.of == Field::MODEL ? 1 : (size_t)field_rows(v.model, f);
  size_t each = f.count > 0 ? (size_t)f.count : 1;
  if (values.size() != rows * each)
    raise_value("%s needs %zu numbers, %zu were given", f.name, rows * each, values.size());
  for (size_t r = 0; r < rows; r++)
    memcpy((char*)field_base(v, f) + r * field_stride(f), values.data() + r * each,
           each * sizeof(double));
}

static std::shared_ptr<Model> changed(const std::shared_ptr<Model>& base, nb::dict numbers) {
  auto v = make_variant(base);
  for (auto [name, values] : numbers)
    change(*v, nb::cast<std::string>(name), nb::cast<Doubles>(values));
  finish_variant(*v);
  return v;
}

static nb::object key_array(nb::handle self, const Model& m, int key, const std::string& what) {
  if (key < 0 || key >= m.model->nkey) raise_value("there is no keyframe %d", key);
  const abModel* model = m.model;
  const size_t nq = (size_t)model->nq, nv = (size_t)model->nv, nu = (size_t)model->nactuator,
               k = (size_t)key;
  if (what == "q") return view((double*)model->key_q + k * nq, {nq}, self);
  if (what == "v") return view((double*)model->key_v + k * nv, {nv}, self);
  return view((double*)model->key_ctrl + k * nu, {nu}, self);
}

static std::string model_json(const Model& m, bool meshes) {
  char* text = ab_model_json(m.model, meshes);
  if (!text) throw std::bad_alloc();
  std::string json = text;
  ab_json_free(text);
  return json;
}

static nb::list contact_models() {
  nb::list all;
  for (int i = 0; i < ab_contact_model_count(); i++) {
    const abContactModel* c = ab_contact_model(i);
    nb::list params;
    for (int k = 0; k < c->nparam; k++)
      params.append(nb::make_tuple(c->param[k].name, c->param[k].value,
                                   c->param[k].unit ? c->param[k].unit : "", c->param[k].doc));
    all.append(nb::make_tuple(c->name, c->summary, c->source, params));
  }
  return all;
}

void bind_model(nb::module_& m) {
  nb::class_<Model>(m, "Model", nb::dynamic_attr(), nb::is_weak_referenceable())
      .def_prop_ro("nq", [](const Model& s) { return s.model->nq; })
      .def_prop_ro("nv", [](const Model& s) { return s.model->nv; })
      .def_prop_ro("nbody", [](const Model& s) { return s.model->nbody; })
      .def_prop_ro("njoint", [](const Model& s) { return s.model->njoint; })
      .def_prop_ro("ngeom", [](const Model& s) { return s.model->ngeom; })
      .def_prop_ro("nu", [](const Model& s) { return s.model->nactuator; })
      .def_prop_ro("nkey", [](const Model& s) { return s.model->nkey; })
      .def_prop_ro("name",
                   [](const Model& s) { return std::string(s.model->name ? s.model->name : ""); })
      .def_prop_ro("file",
                   [](const Model& s) { return std::string(s.model->file ? s.model->file : ""); })
      .def_prop_ro(
          "contact",
          [](const Model& s) {
            return std::string(s.model->contact ? s.model->contact : ab_contact_model(0)->name);
          })
      .def_prop_ro("nbytes", [](const Model& s) { return s.model->bytes; })
      .def("names", &names, nb::arg("what"))
      .def(
          "field",
          [](nb::handle_t<Model> self, const std::string& name) {
            return field_view(self, *nb::cast<Model*>(self), find_field(name));
          },
          nb::arg("name"))
      .def(
          "key_array",
          [](nb::handle_t<Model> self, int key, const std::string& what) {
            return key_array(self, *nb::cast<Model*>(self), key, what);
          },
          nb::arg("key"), nb::arg("what"))
      .def_prop_ro("q0",
                   [](nb::handle_t<Model> self) {
                     Model* s = nb::cast<Model*>(self);
                     return view((double*)s->model->q0, {(size_t)s->model->nq}, self);
                   })
      .def(
          "find_key", [](const Model& s, nb::handle key) { return find_key(s.model, key); },
          nb::arg("key").none())
      .def("json", &model_json, nb::arg("meshes") = false);
  m.def("changed", &changed, nb::arg("model"), nb::arg("numbers"));
  m.def("contact_models", &contact_models);
  m.def("version", [] { return std::string(ab_version()); });
  m.def("varying_fields", [] {
    nb::list names;
    for (const Field& f : fields)
      if (f.may_vary) names.append(nb::str(f.name));
    return names;
  });
}
