// Scenes: from files, from text, and made in code. The definition structs are filled by name, so
// that the Python side holds the signatures and this side the types.
#include <cstddef>
#include <cstring>

#include "core.h"

struct Scene {
  abScene* scene = nullptr;
  bool loaded = false;  // from a file: nobody adds to it
  Scene() : scene(ab_scene_create()) {
    if (!scene) throw std::bad_alloc();
  }
  explicit Scene(abScene* s) : scene(s), loaded(true) {}
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene() { ab_scene_free(scene); }
};

// One member of a definition struct: d doubles, i an int, b a bool, s a string, f floats.
struct Member {
  const char* name;
  char type;
  size_t offset;
  int count;
};
#define D(T, name, n) \
  { #name, 'd', offsetof(T, name), n }
#define I(T, name) \
  { #name, 'i', offsetof(T, name), 1 }
#define B(T, name) \
  { #name, 'b', offsetof(T, name), 1 }
#define S(T, name) \
  { #name, 's', offsetof(T, name), 1 }

static const std::vector<Member> body_members = {
    S(abBodyDef, name),         I(abBodyDef, parent),  D(abBodyDef, pose, 7),
    B(abBodyDef, has_inertial), D(abBodyDef, mass, 1), D(abBodyDef, inertial, 7),
    D(abBodyDef, inertia, 6),   B(abBodyDef, gravity)};
static const std::vector<Member> joint_members = {
    S(abJointDef, name),       I(abJointDef, body),        I(abJointDef, type),
    D(abJointDef, pos, 3),     D(abJointDef, axis, 3),     B(abJointDef, limited),
    D(abJointDef, range, 2),   D(abJointDef, margin, 1),   D(abJointDef, stiffness, 1),
    D(abJointDef, damping, 1), D(abJointDef, armature, 1), D(abJointDef, frictionloss, 1),
    D(abJointDef, ref, 1),     D(abJointDef, springref, 1)};
static const std::vector<Member> geom_members = {S(abGeomDef, name),
                                                 I(abGeomDef, body),
                                                 I(abGeomDef, type),
                                                 D(abGeomDef, size, 3),
                                                 D(abGeomDef, pose, 7),
                                                 I(abGeomDef, mesh),
                                                 D(abGeomDef, mass, 1),
                                                 D(abGeomDef, density, 1),
                                                 B(abGeomDef, shell),
                                                 I(abGeomDef, contype),
                                                 I(abGeomDef, conaffinity),
                                                 I(abGeomDef, condim),
                                                 I(abGeomDef, priority),
                                                 I(abGeomDef, group),
                                                 D(abGeomDef, friction, 3),
                                                 D(abGeomDef, mu_static, 1),
                                                 D(abGeomDef, e_t, 1),
                                                 D(abGeomDef, e_o, 1),
                                                 D(abGeomDef, e_r, 1),
                                                 D(abGeomDef, restitution, 1),
                                                 D(abGeomDef, margin, 1),
                                                 D(abGeomDef, gap, 1),
                                                 {"rgba", 'f', offsetof(abGeomDef, rgba), 4}};
static const std::vector<Member> actuator_members = {
    S(abActuatorDef, name),          I(abActuatorDef, joint),
    D(abActuatorDef, gear, 6),       I(abActuatorDef, gain),
    I(abActuatorDef, bias),          D(abActuatorDef, gainprm, 3),
    D(abActuatorDef, biasprm, 3),    B(abActuatorDef, ctrl_limited),
    B(abActuatorDef, force_limited), D(abActuatorDef, ctrl_range, 2),
    D(abActuatorDef, force_range, 2)};
static const std::vector<Member> pair_members = {I(abPairDef, geom1),     I(abPairDef, geom2),
                                                 I(abPairDef, condim),    D(abPairDef, friction, 5),
                                                 D(abPairDef, margin, 1), D(abPairDef, gap, 1)};

static void fill_numbers(const Member& m, nb::handle value, char* at) {
  std::vector<double> x;
  if (nb::isinstance<nb::sequence>(value) || nb::hasattr(value, "__len__"))
    for (nb::handle item : value) x.push_back(number(item, m.name));
  else
    x.push_back(number(value, m.name));
  if ((int)x.size() != m.count)
    raise_value("%s needs %d number%s, %zu were given", m.name, m.count, m.count > 1 ? "s" : "",
                x.size());
  for (int i = 0; i < m.count; i++) {
    if (!(x[(size_t)i] - x[(size_t)i] == 0))
      raise_value("%s has a number that is not finite", m.name);
    if (m.type == 'd')
      memcpy(at + 8 * i, &x[(size_t)i], 8);
    else
      ((float*)(void*)at)[i] = (float)x[(size_t)i];
  }
}

// What an entry of the dictionary holds, or an error that names it.
template <class T>
static T entry(nb::handle value, const char* name, const char* kind) {
  T x;
  if (!nb::try_cast<T>(value, x))
    throw nb::type_error(
        (std::string(name) + " must be " + kind + ", not " + nb::type_name(value.type()).c_str())
            .c_str());
  return x;
}

// Strings stay alive in `keep`.
static void fill(const std::vector<Member>& members, nb::dict values, void* def,
                 std::vector<std::string>& keep) {
  keep.reserve(values.size());
  for (auto [key, value] : values) {
    std::string name = nb::cast<std::string>(key);
    const Member* m = nullptr;
    for (const Member& one : members)
      if (name == one.name) m = &one;
    if (!m) raise_value("nothing is called '%s' here", name.c_str());
    char* at = (char*)def + m->offset;
    if (m->type == 's') {
      keep.push_back(entry<std::string>(value, m->name, "a text"));
      const char* text = keep.back().c_str();
      memcpy(at, &text, sizeof text);
    } else if (m->type == 'i') {
      int x = entry<int>(value, m->name, "a whole number");
      memcpy(at, &x, sizeof x);
    } else if (m->type == 'b') {
      bool x = entry<bool>(value, m->name, "True or False");
      memcpy(at, &x, sizeof x);
    } else {
      fill_numbers(*m, value, at);
    }
  }
}

template <class Def>
static int add(Scene& s, nb::dict values, const std::vector<Member>& members, Def (*make)(),
               int (*put)(abScene*, const Def*, abError*)) {
  Def def = make();
  std::vector<std::string> keep;
  fill(members, values, &def, keep);
  abError error{};
  int index = put(s.scene, &def, &error);
  if (index < 0) raise(error);
  return index;
}

static int add_mesh(Scene& s, const std::string& name, const std::string& file, nb::object vert,
                    nb::object triangle, const std::vector<double>& scale) {
  abMeshDef def = ab_mesh_def();
  using Ints = nb::ndarray<const int32_t, nb::c_contig, nb::shape<-1, 3>, nb::device::cpu>;
  using Verts = nb::ndarray<const double, nb::c_contig, nb::shape<-1, 3>, nb::device::cpu>;
  Verts v;
  Ints t;
  def.name = name.c_str();
  if (!file.empty()) def.file = file.c_str();
  if (!vert.is_none()) {
    v = entry<Verts>(vert, "vertices", "an array (n, 3) of numbers");
    def.nvert = (int)v.shape(0);
    def.vert = (const abVec3*)(const void*)v.data();
  }
  if (!triangle.is_none()) {
    t = entry<Ints>(triangle, "triangles", "an array (m, 3) of whole numbers");
    def.ntriangle = (int)t.shape(0);
    def.triangle = (const int(*)[3])(const void*)t.data();
    for (size_t i = 0; i < t.size(); i++)
      if (t.data()[i] < 0 || t.data()[i] >= def.nvert)
        raise_value("triangle %zu of mesh '%s' names vertex %d of %d", i / 3, name.c_str(),
                    t.data()[i], def.nvert);
  }
  def.scale = {scale.at(0), scale.at(1), scale.at(2)};
  abError error{};
  int index = ab_scene_add_mesh(s.scene, &def, &error);
  if (index < 0) raise(error);
  return index;
}

static int add_key(Scene& s, const std::string& name, double time, const std::vector<double>& q,
                   const std::vector<double>& v, const std::vector<double>& ctrl) {
  abKeyDef def = ab_key_def();
  def.name = name.c_str();
  def.time = time;
  def.nq = (int)q.size(), def.nv = (int)v.size(), def.nctrl = (int)ctrl.size();
  def.q = q.data(), def.v = v.data(), def.ctrl = ctrl.data();
  abError error{};
  int index = ab_scene_add_key(s.scene, &def, &error);
  if (index < 0) raise(error);
  return index;
}

static void set_option(Scene& s, const std::string& name, nb::handle value) {
  abSceneOption* o = ab_scene_option(s.scene);
  if (name == "name")
    o->name = ab_scene_string(s.scene, entry<std::string>(value, name.c_str(), "a text").c_str());
  else if (name == "contact")
    o->contact =
        ab_scene_string(s.scene, entry<std::string>(value, name.c_str(), "a text").c_str());
  else if (name == "file")
    o->file = ab_scene_string(s.scene, entry<std::string>(value, name.c_str(), "a text").c_str());
  else if (name == "timestep")
    o->timestep = number(value, name.c_str());
  else if (name == "integrator")
    o->integrator = entry<std::string>(value, name.c_str(), "a text") == "RK4"
                        ? AB_INTEGRATOR_RK4
                        : AB_INTEGRATOR_EULER;
  else if (name == "tessellation")
    o->tessellation = number(value, name.c_str());
  else if (name == "gravity") {
    auto g = entry<std::vector<double>>(value, name.c_str(), "a list of numbers");
    if (g.size() != 3) raise_value("gravity needs 3 numbers, %zu were given", g.size());
    o->gravity = {g[0], g[1], g[2]};
  } else
    raise_value("a scene has no option '%s'", name.c_str());
}

// A scene made in code keeps the lock of the interpreter: another thread might add to it meanwhile.
static std::shared_ptr<Model> compile(nb::handle_t<Scene> self) {
  Scene& s = held<Scene>(self);
  abError error{};
  abModel* model;
  if (s.loaded) {
    Unlocked unlocked(self);
    model = ab_scene_compile(s.scene, &error);
  } else {
    model = ab_scene_compile(s.scene, &error);
  }
  if (!model) raise(error);
  auto m = std::make_shared<Model>();
  m->model = m->own = model;
  return m;
}

// The scene and the notes: (message, file, line).
static nb::tuple loaded(abScene* scene, abNotes* notes, const abError& error) {
  if (!scene) {
    ab_notes_free(notes);
    raise(error);
  }
  nb::object s = nb::cast(new Scene(scene), nb::rv_policy::take_ownership);
  nb::list list;
  for (int i = 0; i < notes->n; i++)
    list.append(nb::make_tuple(notes->note[i].message, notes->note[i].file, notes->note[i].line));
  ab_notes_free(notes);
  return nb::make_tuple(s, list);
}

static nb::tuple load(const std::string& path) {
  abError error{};
  abNotes notes{};
  abScene* scene;
  {
    Unlocked unlocked;
    scene = ab_scene_load(path.c_str(), &notes, &error);
  }
  return loaded(scene, &notes, error);
}

static nb::tuple loads(const std::string& text, const std::string& name) {
  abError error{};
  abNotes notes{};
  abScene* scene = ab_scene_load_memory(name.c_str(), text.data(), text.size(), &notes, &error);
  return loaded(scene, &notes, error);
}

void bind_scene(nb::module_& m) {
  nb::class_<Scene>(m, "Scene")
      .def(nb::init<>())
      .def("add_body",
           [](Scene& s, nb::dict d) {
             return add<abBodyDef>(s, d, body_members, ab_body_def, ab_scene_add_body);
           })
      .def("add_joint",
           [](Scene& s, nb::dict d) {
             return add<abJointDef>(s, d, joint_members, ab_joint_def, ab_scene_add_joint);
           })
      .def("add_geom",
           [](Scene& s, nb::dict d) {
             return add<abGeomDef>(s, d, geom_members, ab_geom_def, ab_scene_add_geom);
           })
      .def("add_actuator",
           [](Scene& s, nb::dict d) {
             return add<abActuatorDef>(s, d, actuator_members, ab_actuator_def,
                                       ab_scene_add_actuator);
           })
      .def("add_pair",
           [](Scene& s, nb::dict d) {
             return add<abPairDef>(s, d, pair_members, ab_pair_def, ab_scene_add_pair);
           })
      .def("add_mesh", &add_mesh, nb::arg("name"), nb::arg("file"), nb::arg("vert").none(),
           nb::arg("triangle").none(), nb::arg("scale"))
      .def("add_key", &add_key)
      .def("add_exclude",
           [](Scene& s, int a, int b) {
             abError error{};
             if (ab_scene_add_exclude(s.scene, a, b, &error) < 0) raise(error);
           })
      .def("set_param",
           [](Scene& s, const std::string& name, double value) {
             abError error{};
             if (ab_scene_set(s.scene, name.c_str(), value, &error) != AB_OK) raise(error);
           })
      .def("set_option", &set_option)
      .def("find",
           [](const Scene& s, const std::string& what, const std::string& name) {
             const char* n = name.c_str();
             return what == "body"    ? ab_scene_find_body(s.scene, n)
                    : what == "joint" ? ab_scene_find_joint(s.scene, n)
                    : what == "geom"  ? ab_scene_find_geom(s.scene, n)
                                      : ab_scene_find_mesh(s.scene, n);
           })
      .def("compile", &compile)
      .def("save", [](const Scene& s, const std::string& path) {
        abError error{};
        if (ab_scene_save(s.scene, path.c_str(), &error) != AB_OK) raise(error);
      });
  m.def("load", &load, nb::arg("path"));
  m.def("loads", &loads, nb::arg("text"), nb::arg("name"));
}
