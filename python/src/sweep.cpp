// Sweeps: the engine of `abut sweep`, in memory or in a folder.
#include <sweep.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "core.h"
#include "pool.h"
#include "watch.h"

namespace {

struct Sweep {
  abSweep* sweep = nullptr;

  explicit Sweep(abSweep* s) : sweep(s) {}
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;
  ~Sweep() { ab_sweep_free(sweep); }
  int64_t count() const { return ab_sweep_count(sweep); }
  size_t width() const { return (size_t)ab_sweep_width(sweep); }
};

Sweep* load(const std::string& path) {
  abError error{};
  abSweep* s = ab_sweep_load(path.c_str(), &error);
  if (!s) raise(error);
  return new Sweep(s);
}

Sweep* parse(const std::string& json, const std::string& folder) {
  abError error{};
  abSweep* s = ab_sweep_parse(json.c_str(), folder.c_str(), &error);
  if (!s) raise(error);
  return new Sweep(s);
}

// An array of numpy on memory of malloc, which it frees.
template <class T>
nb::object taken(T* at, std::vector<size_t> shape) {
  nb::capsule owner(at, [](void* p) noexcept { free(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(at, shape.size(), shape.data(), owner));
}

// --- in memory

struct Memory {
  const abSweep* sweep;
  double* row;
  std::atomic<int64_t> next{0}, done{0};
};

bool take(void* context, int64_t* chunk) {
  Memory* m = (Memory*)context;
  *chunk = m->next++;
  return *chunk < ab_sweep_nchunk(m->sweep);
}

abStatus deliver(void* context, int64_t chunk, const double* row, abError*) {
  Memory* m = (Memory*)context;
  size_t width = (size_t)ab_sweep_width(m->sweep);
  int64_t first, n;
  ab_sweep_chunk(m->sweep, chunk, &first, &n);
  memcpy(m->row + (size_t)first * width, row, sizeof(double) * (size_t)n * width);
  m->done += n;
  return AB_OK;
}

nb::object run(nb::handle_t<Sweep> self, int threads, nb::object progress) {
  const Sweep& s = held<Sweep>(self);
  nb::object keep = nb::borrow(self);
  size_t n = (size_t)s.count(), width = s.width();
  if (n > SIZE_MAX / sizeof(double) / width) throw std::bad_alloc();
  Memory m{s.sweep, (double*)malloc(n * width * sizeof(double)), {}, {}};
  if (!m.row) throw std::bad_alloc();
  nb::object rows = taken(m.row, {n, width});
  abSweepSource source = {&m, take, deliver};
  volatile int stop = 0;
  abError error{};
  abStatus status = AB_OK;
  watch([&] { status = ab_sweep_run(s.sweep, &source, thread_count(threads), &stop, &error); },
        [&] { return (double)m.done; }, [&] { stop = 1; }, progress);
  if (status) raise(error);
  return rows;
}

// --- in a folder

struct Store {
  abSweepStore* store;
  ~Store() { ab_sweep_store_close(store); }
};

abStatus finish(abSweepStore* store, int64_t* missing, abError* error) {
  H5Lock lock;
  abSweepSummary summary{};
  abStatus status = ab_sweep_store_finish(store, missing, &summary, error);
  ab_sweep_summary_free(&summary);
  return status;
}

// (numbers of the runs, rows, how many are missing); no rows where all had been done before.
nb::tuple run_in(nb::handle_t<Sweep> self, const std::string& folder, nb::tuple shard, bool resume,
                 bool csv, int digits, int threads, nb::object progress) {
  const Sweep& s = held<Sweep>(self);
  nb::object keep = nb::borrow(self);
  abError error{};
  abSweepPlace place = {
      folder.c_str(), nb::cast<int>(shard[0]), nb::cast<int>(shard[1]), resume, !csv, digits};
  if (ab_sweep_check_room(s.sweep, folder.c_str(), &error)) raise(error);
  Store store{ab_sweep_store_open(s.sweep, &place, &error)};
  if (!store.store) raise(error);
  abSweepSource source = ab_sweep_store_source(store.store);
  volatile int stop = 0;
  abStatus status = AB_OK;
  int64_t nrow = 0, *number = nullptr, missing = 0;
  double* row = nullptr;
  auto work = [&] {
    if (ab_sweep_store_todo(store.store))
      status = ab_sweep_run(s.sweep, &source, thread_count(threads), &stop, &error);
    if (stop || status) return;
    status = ab_sweep_store_rows(store.store, &nrow, &number, &row, &error);
    if (!status) status = finish(store.store, &missing, &error);
  };
  try {
    watch(
        work, [&] { return (double)ab_sweep_store_done(store.store); }, [&] { stop = 1; },
        progress);
  } catch (...) {
    free(number), free(row);
    throw;
  }
  nb::object rows = row ? taken(row, {(size_t)nrow, s.width()}) : nb::none();
  nb::object numbers = number ? taken(number, {(size_t)nrow}) : nb::none();
  if (status) raise(error);
  return nb::make_tuple(numbers, rows, missing);
}

// --- one run

nb::tuple run_one(nb::handle_t<Sweep> self, int64_t k, nb::object record) {
  const Sweep& s = held<Sweep>(self);
  nb::object keep = nb::borrow(self);
  if (k < 0 || k >= s.count())
    raise_value("there is no run %lld; they are 0 to %lld", (long long)k, (long long)s.count() - 1);
  std::string path;
  if (!record.is_none()) path = nb::cast<std::string>(record);
  abError error{};
  abSweepWorker* worker = ab_sweep_worker_create(s.sweep, &error);
  if (!worker) raise(error);
  double* row = (double*)calloc(s.width(), sizeof(double));
  abRunStatus status = AB_RUN_OK;
  if (!row) {
    ab_sweep_worker_free(worker);
    throw std::bad_alloc();
  }
  nb::object rows = taken(row, {1, s.width()});
  volatile int stop = 0;
  ab_sweep_worker_heed(worker, &stop);
  std::shared_ptr<abSweepWorker> owned(worker, ab_sweep_worker_free);
  auto work = [&] {
    H5Lock lock;
    status = ab_sweep_worker_run(worker, k, path.empty() ? nullptr : path.c_str(), row, &error);
  };
  watch(
      work, [] { return 0.0; }, [&] { stop = 1; }, nb::none());
  if (status == AB_RUN_REFUSED && error.code == AB_ERROR_FILE) raise(error);
  return nb::make_tuple(rows, status == AB_RUN_OK ? "" : error.message);
}

std::vector<std::string> names(int n, const std::function<const char*(int)>& name) {
  std::vector<std::string> all;
  for (int i = 0; i < n; i++) all.push_back(name(i));
  return all;
}

nb::object values(const Sweep& s, int64_t k) {
  if (k < 0 || k >= s.count())
    raise_value("there is no run %lld; they are 0 to %lld", (long long)k, (long long)s.count() - 1);
  size_t n = (size_t)ab_sweep_nvary(s.sweep);
  double* value = (double*)calloc(n + 1, sizeof(double));
  if (!value) throw std::bad_alloc();
  ab_sweep_values(s.sweep, k, value);
  return taken(value, {n});
}

}  // namespace

void bind_sweep(nb::module_& m) {
#ifdef ABUT_HAS_HDF5
  m.attr("HAS_HDF5") = true;
#else
  m.attr("HAS_HDF5") = false;
#endif
  nb::class_<Sweep>(m, "Sweep")
      .def_static("load", &load, nb::arg("path"))
      .def_static("parse", &parse, nb::arg("json"), nb::arg("folder"))
      .def_prop_ro("count", &Sweep::count)
      .def_prop_ro("varied",
                   [](const Sweep& s) {
                     return names(ab_sweep_nvary(s.sweep),
                                  [&](int i) { return ab_sweep_vary_name(s.sweep, i); });
                   })
      .def_prop_ro("measured",
                   [](const Sweep& s) {
                     return names(ab_sweep_nmeasure(s.sweep),
                                  [&](int i) { return ab_sweep_measure_name(s.sweep, i); });
                   })
      .def_prop_ro("keeps_hash", [](const Sweep& s) { return ab_sweep_keeps_hash(s.sweep); })
      .def_prop_ro("nstate", [](const Sweep& s) { return ab_sweep_nstate(s.sweep); })
      .def_prop_ro("nrecord", [](const Sweep& s) { return ab_sweep_nrecord(s.sweep); })
      .def("values", &values, nb::arg("run"))
      .def("run", &run, nb::arg("threads"), nb::arg("progress").none())
      .def("run_in", &run_in, nb::arg("folder"), nb::arg("shard"), nb::arg("resume"),
           nb::arg("csv"), nb::arg("digits"), nb::arg("threads"), nb::arg("progress").none())
      .def("run_one", &run_one, nb::arg("run"), nb::arg("record").none());
}
