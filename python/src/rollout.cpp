// Many runs of one model from given starts under given controls. Each thread has one simulation and
// does one run after the other in it: a run begins with a reset, so who did it leaves no trace.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "contacts.h"
#include "core.h"
#include "pool.h"
#include "watch.h"

namespace {

struct Output {
  std::string name;
  size_t each;  // numbers of one sample
  double* at;   // n * nsample * each
};

struct Rollout {
  const abModel* model;
  int n, nsample;
  long nsub;
  const double *q, *v, *ctrl, *applied;  // starts; controls and wrenches per sample, or nullptr
  std::vector<std::string> block;        // saved states instead of q and v
  std::vector<std::pair<int, int>> pair;
  std::vector<Output> output;
  std::vector<abData*> data;  // one per thread
  int32_t* status;
  int32_t* length;
  std::vector<std::string> failure;
  std::atomic<bool> stop{false};  // Ctrl-C

  ~Rollout() {
    for (abData* d : data) ab_data_free(d);
  }
};

void write(const Rollout& r, const abData* d, const Output& o, double* to) {
  const abModel* m = r.model;
  if (o.name == "q") memcpy(to, d->q, o.each * 8);
  if (o.name == "v") memcpy(to, d->v, o.each * 8);
  if (o.name == "pos") memcpy(to, d->com, o.each * 8);
  if (o.name == "twist") memcpy(to, d->twist, o.each * 8);
  if (o.name == "ctrl") memcpy(to, d->ctrl, o.each * 8);
  if (o.name == "actuator_force") memcpy(to, d->actuator_force, o.each * 8);
  for (int b = 0; o.name == "quat" && b < m->nbody; b++) memcpy(to + 4 * b, &d->pose[b].q, 32);
  if (o.name == "time") *to = d->time;
  if (o.name == "ncontact") *to = d->ncontact;
  if (o.name == "residual") *to = d->stat.residual;
  if (o.name == "energy") {
    abEnergy e = ab_energy(m, d);
    *to = e.kinetic + e.gravity + e.spring;
  }
  if (o.name == "wrench") {
    memset(to, 0, o.each * 8);
    for (size_t k = 0; k < r.pair.size(); k++)
      sum_wrench(d, r.pair[k].first, r.pair[k].second, to + 6 * k);
  }
}

size_t size_of(const Rollout& r, const std::string& name) {
  const abModel* m = r.model;
  size_t nbody = (size_t)m->nbody;
  if (name == "q") return (size_t)m->nq;
  if (name == "v") return (size_t)m->nv;
  if (name == "ctrl" || name == "actuator_force") return (size_t)m->nactuator;
  if (name == "pos") return 3 * nbody;
  if (name == "quat") return 4 * nbody;
  if (name == "twist") return 6 * nbody;
  if (name == "wrench") return 6 * r.pair.size();
  const std::vector<std::string> known = {"q",        "v",        "ctrl",   "actuator_force",
                                          "pos",      "quat",     "twist",  "time",
                                          "ncontact", "residual", "energy", "wrench"};
  for (const std::string& k : known)
    if (k == name) return 1;
  raise_value("a rollout has no output '%s'%s", name.c_str(), known_names(name, known).c_str());
}

// Where run i starts; false with a reason.
bool begin(Rollout& r, int i, abData* d) {
  const abModel* m = r.model;
  ab_data_reset(m, d, -1);
  if (!r.block.empty()) {
    abError error{};
    const std::string& b = r.block[(size_t)i];
    if (ab_state_set(m, d, b.data(), b.size(), &error) == AB_OK) return true;
    r.failure[(size_t)i] = error.message;
    return false;
  }
  memcpy(d->q, r.q + (size_t)i * (size_t)m->nq, (size_t)m->nq * 8);
  memcpy(d->v, r.v + (size_t)i * (size_t)m->nv, (size_t)m->nv * 8);
  r.failure[(size_t)i] = bad_input(m, d);
  return r.failure[(size_t)i].empty();
}

void run(Rollout& r, int i, int worker) {
  abData* d = r.data[(size_t)worker];
  const abModel* m = r.model;
  size_t nu = (size_t)m->nactuator, nw = 6 * (size_t)m->nbody,
         sample = (size_t)i * (size_t)r.nsample;
  int t = 0;
  int32_t worst = AB_STEP_OK;
  if (!begin(r, i, d)) worst = AB_STEP_BROKEN;
  for (; t < r.nsample && worst != AB_STEP_BROKEN && !r.stop; t++) {
    if (r.ctrl && nu) memcpy(d->ctrl, r.ctrl + (sample + (size_t)t) * nu, nu * 8);
    if (r.applied) memcpy(d->applied, r.applied + (sample + (size_t)t) * nw, nw * 8);
    for (long k = 0; k < r.nsub && worst != AB_STEP_BROKEN && !r.stop; k++)
      worst = std::max(worst, (int32_t)ab_step(m, d));
    if (worst == AB_STEP_BROKEN) break;
    for (const Output& o : r.output) write(r, d, o, o.at + (sample + (size_t)t) * o.each);
  }
  r.status[i] = worst;
  r.length[i] = t;
  for (; t < r.nsample; t++)
    for (const Output& o : r.output)
      for (size_t k = 0; k < o.each; k++) o.at[(sample + (size_t)t) * o.each + k] = NAN;
}

void check_finite(const double* x, size_t n, const char* what) {
  for (size_t i = 0; i < n; i++)
    if (!std::isfinite(x[i]))
      raise_value("%s holds a number that is not finite (entry %zu)", what, i);
}

// (n, nsample, ...): checked against the sizes of the model.
const double* inputs(nb::object given, Doubles& x, const Rollout& r, size_t each,
                     const char* what) {
  if (given.is_none()) return nullptr;
  x = nb::cast<Doubles>(given);
  size_t want = (size_t)r.n * (size_t)r.nsample * each;
  if (x.size() != want) raise_value("%s needs %zu numbers, %zu were given", what, want, x.size());
  check_finite(x.data(), want, what);
  return x.data();
}

nb::object owned(size_t count, double** at, std::vector<size_t> shape) {
  *at = new double[count + 1]();
  nb::capsule owner(*at, [](void* p) noexcept { delete[](double*) p; });
  return view(*at, std::move(shape), owner, {}, true);
}

void make_simulations(Rollout& r, int threads, const std::string& contact, nb::dict params,
                      double h) {
  for (int k = 0; k < threads; k++) {
    abError error{};
    abData* d = ab_data_create(r.model, &error);
    if (!d) raise(error);
    r.data.push_back(d);
    if (!contact.empty() && ab_set_contact(r.model, d, contact.c_str(), &error) != AB_OK)
      raise(error);
    for (auto [key, value] : params)
      if (ab_set_param(d, nb::cast<std::string>(key).c_str(), nb::cast<double>(value), &error) !=
          AB_OK)
        raise(error);
    if (h > 0) d->h = h;
  }
}

nb::tuple rollout(std::shared_ptr<Model> model, int n, int nsample, nb::object states, nb::object q,
                  nb::object v, nb::object ctrl, nb::object applied, long nsub,
                  std::vector<std::string> outputs, nb::list pairs, nb::object settings,
                  int threads, nb::object progress) {
  Rollout r{};
  r.model = model->model;
  r.n = n, r.nsample = nsample, r.nsub = nsub;
  Doubles xq, xv, xc, xa;
  if (!states.is_none()) {
    for (nb::handle b : states) {
      nb::bytes block = nb::cast<nb::bytes>(b);
      r.block.emplace_back(block.c_str(), block.size());
    }
  } else {
    xq = nb::cast<Doubles>(q), xv = nb::cast<Doubles>(v);
    if (xq.size() != (size_t)n * (size_t)r.model->nq ||
        xv.size() != (size_t)n * (size_t)r.model->nv)
      raise_value("the starts need %d x %d coordinates and %d x %d velocities", n, r.model->nq, n,
                  r.model->nv);
    r.q = xq.data(), r.v = xv.data();
  }
  r.ctrl = inputs(ctrl, xc, r, (size_t)r.model->nactuator, "controls");
  r.applied = inputs(applied, xa, r, 6 * (size_t)r.model->nbody, "applied");
  for (nb::handle p : pairs) r.pair.emplace_back(nb::cast<int>(p[0]), nb::cast<int>(p[1]));
  r.failure.resize((size_t)n);

  std::vector<int32_t> status((size_t)n), length((size_t)n);
  r.status = status.data(), r.length = length.data();
  nb::dict result;
  for (const std::string& name : outputs) {
    size_t each = size_of(r, name);
    double* at;
    nb::object array =
        owned((size_t)n * (size_t)nsample * each, &at, {(size_t)n, (size_t)nsample, each});
    r.output.push_back({name, each, at});
    result[name.c_str()] = array;
  }
  Pool pool(std::min(thread_count(threads), n));
  make_simulations(r, pool.size(), nb::cast<std::string>(settings[0]),
                   nb::cast<nb::dict>(settings[1]), nb::cast<double>(settings[2]));
  std::atomic<long> done{0};
  auto one = [&](int i, int worker) {
    if (!r.stop) run(r, i, worker);
    done++;
  };
  watch([&] { pool.run(n, 1, one); }, [&] { return (double)done; }, [&] { r.stop = true; },
        progress);
  for (int i = 0; i < n; i++)
    if (!r.failure[(size_t)i].empty()) raise_value("run %d: %s", i, r.failure[(size_t)i].c_str());
  return nb::make_tuple(result, nb::cast(status), nb::cast(length));
}

}  // namespace

void bind_rollout(nb::module_& m) {
  m.def("rollout", &rollout, nb::arg("model"), nb::arg("n"), nb::arg("nsample"),
        nb::arg("states").none(), nb::arg("q").none(), nb::arg("v").none(), nb::arg("ctrl").none(),
        nb::arg("applied").none(), nb::arg("nsub"), nb::arg("outputs"), nb::arg("pairs"),
        nb::arg("settings"), nb::arg("threads"), nb::arg("progress").none());
}
