// Simulations: the state as live arrays, steps without the interpreter's lock, saved states.
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstring>

#include "contacts.h"
#include "core.h"

Data::Data(std::shared_ptr<const Model> m) : owner(std::move(m)), model(owner->model) {
  abError error{};
  data = ab_data_create(model, &error);
  if (!data) raise(error);
}

// An array on the simulation's own memory; it keeps the simulation alive.
static nb::object array(nb::handle_t<Data> self, double* at, std::vector<size_t> shape,
                        bool writable) {
  return view(at, std::move(shape), self, {}, writable);
}

// Poses and twists of what q and v are now: they may have been written since the last step. Not
// while another thread steps.
static Data* up_to_date(nb::handle self) {
  Data* s = &held<Data>(self);
  if (!s->busy.exchange(true)) {
    ab_forward(s->model, s->data);
    s->busy = false;
  }
  return s;
}

static void assign(double* to, size_t n, nb::handle values, const char* name) {
  nb::object array = nb::module_::import_("numpy").attr("ascontiguousarray")(values, "float64");
  Doubles x = nb::cast<Doubles>(array);
  if (x.size() != n) raise_value("%s has %zu numbers, %zu were given", name, n, x.size());
  for (size_t i = 0; i < n; i++)
    if (!std::isfinite(x.data()[i])) raise_value("%s[%zu] is not a finite number", name, i);
  memcpy(to, x.data(), n * sizeof(double));
}

// --- stepping

// Runs until done, broken, or for about so long. Returns the number of steps done.
static long run_for(Data& s, long n, bool strict, double seconds) {
  auto begun = std::chrono::steady_clock::now();
  long done = 0;
  while (done < n) {
    abStepStatus status = ab_step(s.model, s.data);
    if (status == AB_STEP_BROKEN) break;
    done++;
    s.steps++;
    s.unconverged += status == AB_STEP_UNCONVERGED;
    if (strict && status != AB_STEP_OK) break;
    std::chrono::duration<double> past = std::chrono::steady_clock::now() - begun;
    if (past.count() > seconds) break;
  }
  return done;
}

static void step(nb::handle_t<Data> self, long n, bool strict) {
  Data& s = held<Data>(self);
  if (n < 0) raise_value("%ld steps: give 0 or more", n);
  Busy busy(s.busy);
  std::string bad = bad_input(s.model, s.data);
  if (!bad.empty()) raise_value("%s", bad.c_str());
  while (n > 0) {
    {
      Unlocked unlocked(self);
      n -= run_for(s, n, strict, 0.05);
    }
    abStepStatus status = s.data->stat.status;
    if (status == AB_STEP_BROKEN || (strict && status != AB_STEP_OK))
      raise_step(*s.owner, s.data, s.steps + (status == AB_STEP_BROKEN));
    if (n > 0 && PyErr_CheckSignals() != 0) throw nb::python_error();  // Ctrl-C ends it
  }
}

// --- settings

static void set_contact(Data& s, const std::string& name) {
  Busy busy(s.busy);
  std::vector<std::string> known = {"none"};
  bool found = name == "none";
  for (int i = 0; i < ab_contact_model_count(); i++) {
    known.push_back(ab_contact_model(i)->name);
    found = found || name == known.back();
  }
  if (!found)
    raise_value("there is no contact model '%s'%s", name.c_str(), known_names(name, known).c_str());
  abError error{};
  if (ab_set_contact(s.model, s.data, name.c_str(), &error) != AB_OK) raise(error);
}

static void set_param(Data& s, const std::string& name, double value) {
  Busy busy(s.busy);
  const abContactModel* c = s.data->contact;
  std::vector<std::string> known;
  bool found = false;
  for (int i = 0; c && i < c->nparam; i++) {
    known.push_back(c->param[i].name);
    found = found || name == known.back();
  }
  if (!found)
    raise_value("the contact model %s has no parameter '%s'%s", c ? c->name : "none", name.c_str(),
                known_names(name, known).c_str());
  if (!std::isfinite(value)) raise_value("%s must be a finite number", name.c_str());
  abError error{};
  if (ab_set_param(s.data, name.c_str(), value, &error) != AB_OK) raise(error);
}

static nb::dict params(const Data& s) {
  nb::dict all;
  for (int i = 0; s.data->contact && i < s.data->contact->nparam; i++) {
    const char* name = s.data->contact->param[i].name;
    double value = 0;
    ab_get_param(s.data, name, &value, nullptr);
    all[name] = value;
  }
  return all;
}

int find_key(const abModel* m, nb::handle key) {
  if (key.is_none()) return -1;
  std::string name;
  if (nb::try_cast(key, name)) {
    int k = ab_find_key(m, name.c_str());
    if (k >= 0) return k;
    std::vector<std::string> known;
    for (int i = 0; i < m->nkey; i++)
      if (m->key[i].name) known.push_back(m->key[i].name);
    raise_value("there is no keyframe '%s'%s", name.c_str(), known_names(name, known).c_str());
  }
  int k = -1;
  if (!nb::try_cast(key, k)) throw nb::type_error("a keyframe is named by a string or an index");
  if (k < 0 || k >= m->nkey) raise_value("there is no keyframe %d; the model has %d", k, m->nkey);
  return k;
}

// --- saved states

static nb::bytes state_get(Data& s) {
  Busy busy(s.busy);
  size_t n = ab_state_size(s.model, s.data);
  std::vector<char> block(n);
  if (ab_state_get(s.model, s.data, block.data(), n) != AB_OK) throw std::bad_alloc();
  return nb::bytes(block.data(), n);
}

static void state_set(Data& s, nb::bytes block) {
  Busy busy(s.busy);
  abError error{};
  if (ab_state_set(s.model, s.data, block.c_str(), block.size(), &error) != AB_OK) raise(error);
}

void check_same_sizes(const abModel* a, const abModel* b) {
  if (a->nq != b->nq || a->nv != b->nv || a->nbody != b->nbody || a->njoint != b->njoint ||
      a->ngeom != b->ngeom || a->nactuator != b->nactuator || a->nmover != b->nmover)
    raise_value("a simulation of another model cannot be copied here");
}

static void copy_from(Data& s, Data& from) {
  if (&s == &from) return;
  Busy busy(s.busy), other(from.busy);
  check_same_sizes(s.model, from.model);
  abError error{};
  if (ab_data_copy(s.model, from.data, s.data, &error) != AB_OK) raise(error);
  s.steps = from.steps, s.unconverged = from.unconverged;
}

// --- results

static nb::tuple stat_tuple(const Data& s) {
  const abStat& t = s.data->stat;
  static const char* const name[] = {"ok", "unconverged", "broken"};
  return nb::make_tuple(name[t.status], t.iterations, t.residual, t.nregularised,
                        t.note ? nb::object(nb::str(t.note)) : nb::object(nb::none()), t.ncandidate,
                        t.npair, t.ncontact, t.nasleep, t.max_penetration, t.bad_body, s.steps,
                        s.unconverged);
}

static std::string hash(const Data& s) {
  char text[17];
  snprintf(text, sizeof text, "%016" PRIx64, ab_state_hash(s.model, s.data));
  return text;
}

// The numbers of all contacts as bytes, in the layout of ContactRecord.
static nb::object contact_records(Data& s) {
  Busy busy(s.busy);
  size_t n = (size_t)s.data->ncontact;
  auto* records = new ContactRecord[n + 1]();
  for (size_t i = 0; i < n; i++) records[i] = contact_record(s.data->contacts[i]);
  nb::capsule owner(records, [](void* p) noexcept { delete[](ContactRecord*) p; });
  return nb::cast(nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>((uint8_t*)records,
                                                               {n * sizeof(ContactRecord)}, owner));
}

static nb::object outline(Data& s, int i, bool pressure) {
  Busy busy(s.busy);
  if (i < 0 || i >= s.data->ncontact) throw nb::index_error("no such contact");
  const abContact& c = s.data->contacts[i];
  size_t n = (size_t)c.nvert;
  if (pressure ? !c.pressure : !c.polygon) n = 0;
  size_t each = pressure ? 1 : 3;
  auto* x = new double[n * each + 1]();
  if (n) memcpy(x, pressure ? (const void*)c.pressure : (const void*)c.polygon, n * each * 8);
  nb::capsule owner(x, [](void* p) noexcept { delete[](double*) p; });
  return pressure ? view(x, {n}, owner, {}, true) : view(x, {n, 3}, owner, {}, true);
}

static nb::object wrench(Data& s, int body1, int body2) {
  Busy busy(s.busy);
  auto* x = new double[6]();
  nb::capsule owner(x, [](void* p) noexcept { delete[](double*) p; });
  sum_wrench(s.data, body1, body2, x);
  return view(x, {6}, owner, {}, true);
}

static void bind_state(nb::class_<Data>& c) {
  using Self = nb::handle_t<Data>;
#define ARRAY(name, field, count)                                            \
  def_prop_rw(                                                               \
      name,                                                                  \
      [](Self self) {                                                        \
        Data* s = &held<Data>(self);                                         \
        return array(self, s->data->field, {(size_t)s->model->count}, true); \
      },                                                                     \
      [](Data& s, nb::handle x) {                                            \
        Busy busy(s.busy);                                                   \
        assign(s.data->field, (size_t)s.model->count, x, name);              \
        ab_forward(s.model, s.data);                                         \
      },                                                                     \
      nb::for_setter(nb::arg("value").none()))
  c.ARRAY("q", q, nq).ARRAY("v", v, nv).ARRAY("ctrl", ctrl, nactuator);
#undef ARRAY
  c.def_prop_rw(
       "applied",
       [](Self self) {
         Data* s = &held<Data>(self);
         return array(self, &s->data->applied[0].force.x, {(size_t)s->model->nbody, 6}, true);
       },
       [](Data& s, nb::handle x) {
         Busy busy(s.busy);
         assign(&s.data->applied[0].force.x, 6 * (size_t)s.model->nbody, x, "applied");
       },
       nb::for_setter(nb::arg("value").none()))
      .def_prop_ro("pos",
                   [](Self self) {
                     Data* s = up_to_date(self);
                     return array(self, &s->data->com[0].x, {(size_t)s->model->nbody, 3}, false);
                   })
      .def_prop_ro("origin",
                   [](Self self) {
                     Data* s = up_to_date(self);
                     return view(&s->data->pose[0].p.x, {(size_t)s->model->nbody, 3}, self, {7, 1});
                   })
      .def_prop_ro("quat",
                   [](Self self) {
                     Data* s = up_to_date(self);
                     return view(&s->data->pose[0].q.w, {(size_t)s->model->nbody, 4}, self, {7, 1});
                   })
      .def_prop_ro(
          "rot",
          [](Self self) {
            Data* s = up_to_date(self);
            return array(self, &s->data->R[0].m[0][0], {(size_t)s->model->nbody, 3, 3}, false);
          })
      .def_prop_ro(
          "twist",
          [](Self self) {
            Data* s = up_to_date(self);
            return array(self, &s->data->twist[0].lin.x, {(size_t)s->model->nbody, 6}, false);
          })
      .def_prop_ro("actuator_force",
                   [](Self self) {
                     Data* s = &held<Data>(self);
                     return array(self, s->data->actuator_force, {(size_t)s->model->nactuator},
                                  false);
                   })
      .def_prop_ro("equality_force",
                   [](Self self) {
                     Data* s = &held<Data>(self);
                     return array(self, &s->data->equality_force[0].force.x,
                                  {(size_t)s->model->nequality, 6}, false);
                   })
      .def_prop_ro("tendon_force",
                   [](Self self) {
                     Data* s = &held<Data>(self);
                     return array(self, s->data->tendon_force, {(size_t)s->model->ntendon}, false);
                   })
      .def_prop_ro("asleep", [](Self self) {
        Data* s = &held<Data>(self);
        size_t shape[] = {(size_t)s->model->nbody};
        return nb::cast(nb::ndarray<nb::numpy, const bool>(s->data->asleep, 1, shape, self));
      });
}

static void bind_settings(nb::class_<Data>& c) {
  c.def_prop_rw(
       "time", [](const Data& s) { return s.data->time; },
       [](Data& s, nb::handle x) {
         double t = number(x, "time");
         if (!std::isfinite(t)) raise_value("time must be a finite number");
         s.data->time = t;
       },
       nb::for_setter(nb::arg("value").none()))
      .def_prop_rw(
          "h", [](const Data& s) { return s.data->h; },
          [](Data& s, nb::handle x) {
            double h = number(x, "h");
            if (!(h > 0) || !std::isfinite(h))
              raise_value("h must be a number above 0, it is %g", h);
            s.data->h = h;
          },
          nb::for_setter(nb::arg("value").none()))
      .def_prop_rw(
          "threads", [](const Data& s) { return s.data->nthread; },
          [](Data& s, nb::handle x) {
            Busy busy(s.busy);
            double n = number(x, "threads");
            if (n != std::floor(n) || std::fabs(n) > 1e9)
              raise_value("threads must be a whole number, it is %g", n);
            abError error{};
            if (ab_set_threads(s.data, (int)n, &error) != AB_OK) raise(error);
          },
          nb::for_setter(nb::arg("value").none()))
      .def_prop_rw(
          "sleep", [](const Data& s) { return s.data->sleep.on; },
          [](Data& s, bool on) { s.data->sleep.on = on; })
      .def_prop_ro("contact",
                   [](const Data& s) {
                     return std::string(s.data->contact ? s.data->contact->name : "none");
                   })
      .def_prop_ro("params", &params)
      .def("choose_contact", &set_contact, nb::arg("name"))
      .def("set_param", &set_param, nb::arg("name"), nb::arg("value"))
      .def(
          "wake",
          [](Data& s, int body) {
            Busy busy(s.busy);
            if (body >= s.model->nbody) raise_value("there is no body %d", body);
            ab_data_wake(s.data, body);
          },
          nb::arg("body") = -1);
}

void bind_data(nb::module_& m) {
  nb::class_<Data> c(m, "Data", nb::dynamic_attr(), nb::is_weak_referenceable());
  c.def(nb::init<std::shared_ptr<Model>>(), nb::arg("model"))
      .def("step", &step, nb::arg("n") = 1, nb::arg("strict") = false)
      .def("forward",
           [](Data& s) {
             Busy busy(s.busy);
             std::string bad = bad_input(s.model, s.data);
             if (!bad.empty()) raise_value("%s", bad.c_str());
             ab_forward(s.model, s.data);
           })
      .def(
          "reset_to",
          [](Data& s, nb::handle key) {
            Busy busy(s.busy);
            ab_data_reset(s.model, s.data, find_key(s.model, key));
            s.steps = s.unconverged = 0;
          },
          nb::arg("key").none())
      .def("state_get", &state_get)
      .def("state_set", &state_set, nb::arg("block"))
      .def("copy_from", &copy_from)
      .def("stat_tuple", &stat_tuple)
      .def_prop_ro("hash", &hash)
      .def("energy_tuple",
           [](nb::handle_t<Data> self) {
             Data* s = up_to_date(self);
             abEnergy e = ab_energy(s->model, s->data);
             return nb::make_tuple(e.kinetic, e.gravity, e.spring);
           })
      .def("momentum_tuple",
           [](nb::handle_t<Data> self) {
             Data* s = up_to_date(self);
             abWrench p = ab_momentum(s->model, s->data);
             return nb::make_tuple(p.force.x, p.force.y, p.force.z, p.torque.x, p.torque.y,
                                   p.torque.z);
           })
      .def_prop_ro("ncontact", [](const Data& s) { return s.data->ncontact; })
      .def("contact_records", &contact_records)
      .def("outline", &outline, nb::arg("contact"), nb::arg("pressure"))
      .def("wrench_on", &wrench, nb::arg("body1"), nb::arg("body2"));
  bind_state(c);
  bind_settings(c);
  m.attr("CONTACT_RECORD") = sizeof(ContactRecord);
}
