// Many worlds of one model. What users see of them lies in one array for all worlds: the pointers
// of each world's data are turned to its row, so that nothing is ever copied.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "contacts.h"
#include "core.h"
#include "pool.h"

namespace {

// A number of the model, or a parameter of the contact model, that each world has for itself.
struct Varied {
  std::string name;
  const Field* field;  // nullptr: a parameter of the contact model
  int param;
  size_t each;                // numbers of one world
  std::vector<double> value;  // of all worlds: what users see
  std::vector<double> used;   // what the worlds were made with
};

struct World {
  std::shared_ptr<Model> variant;  // where a number varies
  abData* data = nullptr;
};

struct Batch {
  std::shared_ptr<const Model> owner;
  const abModel* model;
  int n;
  Pool pool;
  std::atomic<bool> busy{false};
  std::vector<World> world;
  std::vector<double> q, v, ctrl, applied, com, pose, twist, time;
  std::vector<int32_t> status;
  std::vector<std::unique_ptr<Varied>> varied;
  std::string contact;
  std::vector<std::pair<std::string, double>> params;
  double h = 0;
  bool sleep = false;

  Batch(std::shared_ptr<const Model> m, int n_, int threads);
  ~Batch() {
    for (World& w : world) ab_data_free(w.data);
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  const abModel* model_of(int i) const {
    return world[(size_t)i].variant ? world[(size_t)i].variant->model : model;
  }
};

// --- making worlds

double* row(std::vector<double>& all, int i, size_t each) { return all.data() + (size_t)i * each; }

void apply_settings(Batch& b, int i, const abModel* m, abData* d) {
  abError error{};
  if (!b.contact.empty() && ab_set_contact(m, d, b.contact.c_str(), &error) != AB_OK) raise(error);
  for (auto& [name, value] : b.params)
    if (ab_set_param(d, name.c_str(), value, &error) != AB_OK) raise(error);
  for (auto& p : b.varied)
    if (!p->field && d->contact &&
        ab_set_param(d, d->contact->param[p->param].name, p->value[(size_t)i], &error) != AB_OK)
      raise(error);
  if (b.h > 0) d->h = b.h;
  d->sleep.on = b.sleep;
}

// The row gets what the data holds, and the data the row.
template <class T>
void turn(T*& pointer, std::vector<double>& all, int i, size_t each) {
  double* to = row(all, i, each);
  memcpy(to, pointer, each * sizeof(double));
  pointer = (T*)(void*)to;
}

void make_world(Batch& b, int i) {
  const abModel* m = b.model_of(i);
  abError error{};
  abData* d = ab_data_create(m, &error);
  if (!d) raise(error);
  World& w = b.world[(size_t)i];
  ab_data_free(w.data);
  w.data = d;
  apply_settings(b, i, m, d);
  size_t nbody = (size_t)m->nbody;
  turn(d->q, b.q, i, (size_t)m->nq);
  turn(d->v, b.v, i, (size_t)m->nv);
  turn(d->ctrl, b.ctrl, i, (size_t)m->nactuator);
  turn(d->applied, b.applied, i, 6 * nbody);
  turn(d->com, b.com, i, 3 * nbody);
  turn(d->pose, b.pose, i, 7 * nbody);
  turn(d->twist, b.twist, i, 6 * nbody);
}

Batch::Batch(std::shared_ptr<const Model> m, int n_, int threads)
    : owner(std::move(m)), model(owner->model), n(n_), pool(thread_count(threads)) {
  if (n < 1) raise_value("a batch needs at least one world, not %d", n);
  if (threads < 0 || threads > 1024)
    raise_value("%d threads: use 0 (all processors) to 1024", threads);
  size_t N = (size_t)n, nbody = (size_t)model->nbody;
  world.resize(N);
  // one more than needed: an empty array has an address, too
  q.resize(N * (size_t)model->nq + 1);
  v.resize(N * (size_t)model->nv + 1);
  ctrl.resize(N * (size_t)model->nactuator + 1);
  applied.resize(N * 6 * nbody);
  com.resize(N * 3 * nbody);
  pose.resize(N * 7 * nbody);
  twist.resize(N * 6 * nbody);
  time.resize(N);
  status.resize(N);
  try {
    for (int i = 0; i < n; i++) make_world(*this, i);
  } catch (...) {
    for (World& w : world) ab_data_free(w.data);
    throw;
  }
}

// --- numbers of each world's own

bool has_changed(const Varied& p, int i) {
  size_t at = (size_t)i * p.each;
  return memcmp(&p.value[at], &p.used[at], p.each * sizeof(double)) != 0;
}

void take_over(Batch& b, int i, Varied& p) {
  size_t at = (size_t)i * p.each;
  for (size_t k = 0; k < p.each; k++)
    if (!std::isfinite(p.value[at + k]))
      raise_value("%s of world %d is not a finite number", p.name.c_str(), i);
  memcpy(&p.used[at], &p.value[at], p.each * sizeof(double));
  if (!p.field) return;
  Model& variant = *b.world[(size_t)i].variant;
  size_t count = p.field->count > 0 ? (size_t)p.field->count : 1, rows = p.each / count;
  for (size_t r = 0; r < rows; r++)
    memcpy((char*)field_base(variant, *p.field) + r * field_stride(*p.field),
           &p.value[at + r * count], count * sizeof(double));
}

// A world whose numbers have changed is made anew.
void renew(Batch& b, int i) {
  bool changed = false;
  for (auto& p : b.varied) changed = changed || has_changed(*p, i);
  if (!changed) return;
  for (auto& p : b.varied) take_over(b, i, *p);
  if (b.world[(size_t)i].variant) finish_variant(*b.world[(size_t)i].variant);
  make_world(b, i);
}

nb::object varied_view(nb::handle self, const Batch& b, Varied& p) {
  std::vector<size_t> shape = {(size_t)b.n};
  if (p.field) {
    int rows = field_rows(b.model, *p.field);
    if (rows >= 0) shape.push_back((size_t)rows);
    if (p.field->count > 0) shape.push_back((size_t)p.field->count);
  }
  return view(p.value.data(), shape, self, {}, true);
}

int find_param(const Batch& b, const std::string& name) {
  const abContactModel* c = b.world[0].data->contact;
  std::vector<std::string> known;
  for (int i = 0; c && i < c->nparam; i++) {
    if (name == c->param[i].name) return i;
    known.push_back(c->param[i].name);
  }
  raise_value("the contact model %s has no parameter '%s'%s", c ? c->name : "none", name.c_str(),
              known_names(name, known).c_str());
}

void fill_from_model(Batch& b, Varied& p) {
  const Field& f = *p.field;
  size_t count = f.count > 0 ? (size_t)f.count : 1, rows = p.each / count;
  for (int i = 0; i < b.n; i++) {
    World& w = b.world[(size_t)i];
    if (!w.variant) w.variant = make_variant(b.owner);
    for (size_t r = 0; r < rows; r++)
      memcpy(&p.value[(size_t)i * p.each + r * count],
             field_base(*w.variant, f) + r * field_stride(f), count * sizeof(double));
  }
}

nb::object expand(nb::handle_t<Batch> self, const std::string& name) {
  Batch& b = held<Batch>(self);
  Busy busy(b.busy);
  for (auto& p : b.varied)
    if (p->name == name) return varied_view(self, b, *p);
  auto p = std::make_unique<Varied>();
  p->name = name;
  p->field = nullptr;
  p->each = 1;
  if (name.rfind("contact.", 0) == 0) {
    p->param = find_param(b, name.substr(8));
  } else {
    p->field = &find_field(name);
    if (!p->field->may_vary) raise_value("%s cannot differ between worlds", name.c_str());
    int rows = field_rows(b.model, *p->field);
    p->each = (rows < 0 ? 1 : (size_t)rows) * (p->field->count > 0 ? (size_t)p->field->count : 1);
  }
  p->value.resize((size_t)b.n * p->each + 1);
  if (p->field)
    fill_from_model(b, *p);
  else
    for (int i = 0; i < b.n; i++) {
      const abData* d = b.world[(size_t)i].data;
      ab_get_param(d, d->contact->param[p->param].name, &p->value[(size_t)i], nullptr);
    }
  // nothing is used yet: the next reset of a world goes over to its own model
  p->used.assign(p->value.size(), NAN);
  b.varied.push_back(std::move(p));
  return varied_view(self, b, *b.varied.back());
}

// --- stepping

void reset_world(Batch& b, int i, int key) {
  renew(b, i);
  ab_data_reset(b.model_of(i), b.world[(size_t)i].data, key);
  b.time[(size_t)i] = b.world[(size_t)i].data->time;
  b.status[(size_t)i] = AB_STEP_OK;
}

void reset(Batch& b, nb::object mask, nb::handle key) {
  Busy busy(b.busy);
  int k = find_key(b.model, key);
  if (mask.is_none()) {
    for (int i = 0; i < b.n; i++) reset_world(b, i, k);
    return;
  }
  nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu> m;
  if (!nb::try_cast(mask, m) || m.shape(0) != (size_t)b.n)
    raise_value("the mask must be an array of %d bools, one for each world", b.n);
  for (int i = 0; i < b.n; i++)
    if (m.data()[i]) reset_world(b, i, k);
}

void step_world(Batch& b, int i, long n) {
  abData* d = b.world[(size_t)i].data;
  const abModel* m = b.model_of(i);
  int32_t worst = b.status[(size_t)i];
  d->time = b.time[(size_t)i];
  for (long k = 0; k < n && worst != AB_STEP_BROKEN; k++) {
    int32_t s = (int32_t)ab_step(m, d);
    if (s > worst) worst = s;
  }
  b.time[(size_t)i] = d->time;
  b.status[(size_t)i] = worst;
}

void check_inputs(const Batch& b) {
  for (int i = 0; i < b.n; i++) {
    if (b.status[(size_t)i] == AB_STEP_BROKEN) continue;
    std::string bad = bad_input(b.model, b.world[(size_t)i].data);
    if (!bad.empty()) raise_value("world %d: %s", i, bad.c_str());
  }
}

// In pieces of about a tenth of a second, so that Ctrl-C ends it. A status is the worst of the
// call's.
void step(nb::handle_t<Batch> self, long n, nb::object progress) {
  Batch& b = held<Batch>(self);
  if (n < 0) raise_value("%ld steps: give 0 or more", n);
  Busy busy(b.busy);
  check_inputs(b);
  for (int32_t& s : b.status)
    if (s != AB_STEP_BROKEN) s = AB_STEP_OK;
  for (long piece = 16, all = n; n > 0;) {
    long now = std::min(n, piece);
    auto begun = std::chrono::steady_clock::now();
    {
      Unlocked unlocked(self);
      b.pool.run(b.n, 1, [&](int i, int) { step_world(b, i, now); });
    }
    std::chrono::duration<double> past = std::chrono::steady_clock::now() - begun;
    if (past.count() < 0.1 && piece < (1 << 20)) piece *= 2;
    n -= now;
    if (n > 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress.is_none()) progress((double)(all - n));
  }
}

void set_contact(Batch& b, const std::string& name, nb::dict params) {
  Busy busy(b.busy);
  for (auto& p : b.varied)
    if (!p->field) raise_value("choose the contact model before expanding %s", p->name.c_str());
  abError error{};
  std::vector<std::pair<std::string, double>> list;
  for (auto [key, value] : params)
    list.emplace_back(nb::cast<std::string>(key), nb::cast<double>(value));
  for (int i = 0; i < b.n; i++) {
    abData* d = b.world[(size_t)i].data;
    if (ab_set_contact(b.model_of(i), d, name.c_str(), &error) != AB_OK) raise(error);
    for (auto& [key, value] : list)
      if (ab_set_param(d, key.c_str(), value, &error) != AB_OK) raise(error);
  }
  b.contact = name;
  b.params = list;
}

int check_world(const Batch& b, int i) {
  if (i < -b.n || i >= b.n) throw nb::index_error("there is no such world");
  return i < 0 ? i + b.n : i;
}

std::shared_ptr<Model> world_model(const Batch& b, int i) {
  const World& w = b.world[(size_t)check_world(b, i)];
  // a copy: the world's own may change when it is reset
  return w.variant ? make_variant(w.variant) : std::const_pointer_cast<Model>(b.owner);
}

void copy_world(Batch& b, int i, Data& to) {
  Busy busy(b.busy), other(to.busy);
  check_same_sizes(b.model, to.model);
  i = check_world(b, i);
  abData* d = b.world[(size_t)i].data;
  d->time = b.time[(size_t)i];
  abError error{};
  if (ab_data_copy(b.model_of(i), d, to.data, &error) != AB_OK) raise(error);
}

nb::bytes save(Batch& b, int i) {
  Busy busy(b.busy);
  i = check_world(b, i);
  abData* d = b.world[(size_t)i].data;
  d->time = b.time[(size_t)i];
  std::vector<char> block(ab_state_size(b.model_of(i), d));
  if (ab_state_get(b.model_of(i), d, block.data(), block.size()) != AB_OK) throw std::bad_alloc();
  return nb::bytes(block.data(), block.size());
}

void restore(Batch& b, int i, nb::bytes block) {
  Busy busy(b.busy);
  i = check_world(b, i);
  abError error{};
  abData* d = b.world[(size_t)i].data;
  if (ab_state_set(b.model_of(i), d, block.c_str(), block.size(), &error) != AB_OK) raise(error);
  b.time[(size_t)i] = d->time;
  b.status[(size_t)i] = AB_STEP_OK;
}

nb::object wrench(Batch& b, int body1, int body2) {
  Busy busy(b.busy);
  size_t N = (size_t)b.n;
  auto* x = new double[6 * N]();
  nb::capsule owner(x, [](void* p) noexcept { delete[](double*) p; });
  for (size_t i = 0; i < N; i++) sum_wrench(b.world[i].data, body1, body2, x + 6 * i);
  return view(x, {N, 6}, owner, {}, true);
}

nb::object stats(Batch& b, const std::string& what) {
  Busy busy(b.busy);
  size_t N = (size_t)b.n;
  auto* x = new double[N]();
  nb::capsule owner(x, [](void* p) noexcept { delete[](double*) p; });
  for (size_t i = 0; i < N; i++) {
    const abStat& s = b.world[i].data->stat;
    x[i] = what == "residual"          ? s.residual
           : what == "max_penetration" ? s.max_penetration
           : what == "ncontact"        ? s.ncontact
                                       : s.iterations;
  }
  return view(x, {N}, owner, {}, true);
}

template <std::vector<double> Batch::*array>
nb::object rows(nb::handle_t<Batch> self, std::vector<size_t> shape, bool writable,
                std::vector<int64_t> strides = {}, size_t offset = 0) {
  Batch* b = &held<Batch>(self);
  shape.insert(shape.begin(), (size_t)b->n);
  return view((b->*array).data() + offset, shape, self, strides, writable);
}

}  // namespace

static void bind_rows(nb::class_<Batch>& c) {
  using Self = nb::handle_t<Batch>;
#define COUNT(field) ((size_t)held<Batch>(self).model->field)
  c.def_prop_ro("q", [](Self self) { return rows<&Batch::q>(self, {COUNT(nq)}, true); })
      .def_prop_ro("v", [](Self self) { return rows<&Batch::v>(self, {COUNT(nv)}, true); })
      .def_prop_ro("ctrl",
                   [](Self self) { return rows<&Batch::ctrl>(self, {COUNT(nactuator)}, true); })
      .def_prop_ro("applied",
                   [](Self self) {
                     return rows<&Batch::applied>(self, {COUNT(nbody), 6}, true);
                   })
      .def_prop_ro("pos",
                   [](Self self) {
                     return rows<&Batch::com>(self, {COUNT(nbody), 3}, false);
                   })
      .def_prop_ro("twist",
                   [](Self self) {
                     return rows<&Batch::twist>(self, {COUNT(nbody), 6}, false);
                   })
      .def_prop_ro("quat",
                   [](Self self) {
                     int64_t n = 7 * (int64_t)COUNT(nbody);
                     return rows<&Batch::pose>(self, {COUNT(nbody), 4}, false, {n, 7, 1}, 3);
                   })
      .def_prop_ro("origin",
                   [](Self self) {
                     int64_t n = 7 * (int64_t)COUNT(nbody);
                     return rows<&Batch::pose>(self, {COUNT(nbody), 3}, false, {n, 7, 1});
                   })
      .def_prop_ro("time", [](Self self) { return rows<&Batch::time>(self, {}, true); })
      .def_prop_ro("status", [](Self self) {
        Batch* b = &held<Batch>(self);
        size_t shape[] = {(size_t)b->n};
        return nb::cast(nb::ndarray<nb::numpy, const int32_t>(b->status.data(), 1, shape, self));
      });
#undef COUNT
}

void bind_batch(nb::module_& m) {
  nb::class_<Batch> c(m, "Batch", nb::dynamic_attr(), nb::is_weak_referenceable());
  c.def(nb::init<std::shared_ptr<Model>, int, int>(), nb::arg("model"), nb::arg("n"),
        nb::arg("threads") = 0)
      .def_prop_ro("n", [](const Batch& b) { return b.n; })
      .def_prop_ro("threads", [](const Batch& b) { return b.pool.size(); })
      .def_prop_rw(
          "h", [](const Batch& b) { return b.world[0].data->h; },
          [](Batch& b, nb::handle x) {
            double h = number(x, "h");
            if (!(h > 0) || !std::isfinite(h))
              raise_value("h must be a number above 0, it is %g", h);
            b.h = h;
            for (World& w : b.world) w.data->h = h;
          },
          nb::for_setter(nb::arg("value").none()))
      .def_prop_rw(
          "sleep", [](const Batch& b) { return b.sleep; },
          [](Batch& b, bool on) {
            b.sleep = on;
            for (World& w : b.world) w.data->sleep.on = on;
          })
      .def_prop_ro("contact",
                   [](const Batch& b) {
                     const abContactModel* k = b.world[0].data->contact;
                     return std::string(k ? k->name : "none");
                   })
      .def("step", &step, nb::arg("k") = 1, nb::arg("progress") = nb::none())
      .def("forward",
           [](Batch& b) {
             Busy busy(b.busy);
             check_inputs(b);
             for (int i = 0; i < b.n; i++) ab_forward(b.model_of(i), b.world[(size_t)i].data);
           })
      .def("reset", &reset, nb::arg("mask").none() = nb::none(), nb::arg("key").none() = nb::none())
      .def("expand", &expand, nb::arg("name"))
      .def("choose_contact", &set_contact, nb::arg("name"), nb::arg("params"))
      .def("world_model", &world_model, nb::arg("world"))
      .def("copy_world", &copy_world, nb::arg("world"), nb::arg("to"))
      .def("save", &save, nb::arg("world"))
      .def("restore", &restore, nb::arg("world"), nb::arg("block"))
      .def("stats", &stats, nb::arg("what"))
      .def("wrench_on", &wrench, nb::arg("body1"), nb::arg("body2"));
  bind_rows(c);
}
