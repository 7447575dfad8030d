// Recordings: written while a simulation steps, and read.
#include <mutex>

#include "contacts.h"
#include "core.h"

namespace {

std::mutex h5_mutex;

struct Recorder {
  abRecorder* recorder = nullptr;
  std::shared_ptr<const Model> owner;

  Recorder(const std::string& path, const Data& data) : owner(data.owner) {
    abError error{};
    {
      H5Lock lock;
      recorder = ab_record_open(path.c_str(), owner->model, &error);
    }
    if (!recorder) raise(error);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() {
    H5Lock lock;
    if (recorder) ab_record_close(recorder, nullptr);
  }
  void sample(Data& data) {
    Busy busy(data.busy);
    abError error{};
    if (!recorder) raise_value("this recording is closed");
    if (data.owner != owner) raise_value("this recording is of another model");
    abStatus status;
    {
      H5Lock lock;
      status = ab_record_sample(recorder, owner->model, data.data, &error);
    }
    if (status != AB_OK) raise(error);
  }
  void close() {
    abError error{};
    abRecorder* r = recorder;
    recorder = nullptr;
    abStatus status = AB_OK;
    if (r) {
      H5Lock lock;
      status = ab_record_close(r, &error);
    }
    if (status != AB_OK) raise(error);
  }
};

// --- reading: by the library's own reader, which checks what it reads

struct Recording {
  abRecording* recording;

  explicit Recording(const std::string& path) {
    abError error{};
    recording = ab_recording_open(path.c_str(), &error);
    if (!recording) raise(error);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() { ab_recording_close(recording); }
  const abModel* model() const { return ab_recording_model(recording); }
  const abData* sample(int i) {
    abError error{};
    const abData* d = ab_recording_sample(recording, i, &error);
    if (!d) raise(error);
    return d;
  }
};

nb::object copied(const void* from, size_t n, std::vector<size_t> shape) {
  double* at = new double[n + 1];
  if (n) memcpy(at, from, n * sizeof(double));
  nb::capsule owner(at, [](void* p) noexcept { delete[](double*) p; });
  return view(at, std::move(shape), owner, {}, true);
}

// (time, q, v, pos, quat, twist, contacts as bytes, outlines and pressures of the contacts)
nb::tuple sample(Recording& r, int i) {
  const abModel* m = r.model();
  const abData* d = r.sample(i);
  size_t nbody = (size_t)m->nbody, n = (size_t)d->ncontact;
  std::vector<abQuat> turn(nbody);
  for (size_t b = 0; b < nbody; b++) turn[b] = d->pose[b].q;
  std::vector<ContactRecord> record(n);
  nb::list outline;
  for (size_t k = 0; k < n; k++) {
    const abContact& c = d->contacts[k];
    size_t nvert = (size_t)c.nvert, npressure = c.pressure ? nvert : 0;
    record[k] = contact_record(c);
    outline.append(nb::make_tuple(copied(c.polygon, 3 * nvert, {nvert, 3}),
                                  copied(c.pressure, npressure, {npressure})));
  }
  return nb::make_tuple(
      d->time, copied(d->q, (size_t)m->nq, {(size_t)m->nq}),
      copied(d->v, (size_t)m->nv, {(size_t)m->nv}), copied(d->com, 3 * nbody, {nbody, 3}),
      copied(turn.data(), 4 * nbody, {nbody, 4}), copied(d->twist, 6 * nbody, {nbody, 6}),
      nb::bytes(record.data(), n * sizeof(ContactRecord)), outline);
}

std::vector<std::string> names(const Recording& r, const std::string& what) {
  const abModel* m = r.model();
  std::vector<std::string> all;
  auto add = [&](const char* name) { all.push_back(name ? name : ""); };
  for (int i = 0; what == "body" && i < m->nbody; i++) add(m->body[i].name);
  for (int i = 0; what == "joint" && i < m->njoint; i++) add(m->joint[i].name);
  for (int i = 0; what == "geom" && i < m->ngeom; i++) add(m->geom[i].name);
  return all;
}

// The recording as a file of another kind (.html, .glb, a folder).
abStatus copy_samples(Recording& r, abRecorder* to, abError* error) {
  abStatus status = AB_OK;
  for (int i = 0; i < ab_recording_count(r.recording) && !status; i++) {
    const abData* d = ab_recording_sample(r.recording, i, error);
    status = d ? ab_record_sample(to, r.model(), d, error) : error->code;
  }
  return status;
}

void convert(Recording& r, const std::string& path) {
  abError error{}, last{};
  abStatus status = AB_OK;
  {
    H5Lock lock;
    abRecorder* to = ab_record_open(path.c_str(), r.model(), &error);
    status = to ? copy_samples(r, to, &error) : error.code;
    if (to && ab_record_close(to, &last) && !status) status = last.code, error = last;
  }
  if (status) raise(error);
}

}  // namespace

H5Lock::H5Lock() { h5_mutex.lock(); }
H5Lock::~H5Lock() { h5_mutex.unlock(); }

void bind_record(nb::module_& m) {
  nb::class_<Recorder>(m, "Recorder")
      .def(nb::init<const std::string&, const Data&>(), nb::arg("path"), nb::arg("data"))
      .def("sample", &Recorder::sample, nb::arg("data"))
      .def("close", &Recorder::close)
      .def_prop_ro("closed", [](const Recorder& r) { return r.recorder == nullptr; });
  nb::class_<Recording>(m, "Recording")
      .def(nb::init<const std::string&>(), nb::arg("path"))
      .def_prop_ro("count", [](const Recording& r) { return ab_recording_count(r.recording); })
      .def("sample", &sample, nb::arg("i"))
      .def("names", &names, nb::arg("what"))
      .def("convert", &convert, nb::arg("path"));
}
