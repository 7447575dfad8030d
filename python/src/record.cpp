// Recordings.
#include "core.h"

struct Recorder {
  abRecorder* recorder = nullptr;
  std::shared_ptr<const Model> owner;

  Recorder(const std::string& path, const Data& data) : owner(data.owner) {
    abError error{};
    recorder = ab_record_open(path.c_str(), owner->model, &error);
    if (!recorder) raise(error);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() {
    if (recorder) ab_record_close(recorder, nullptr);
  }
  void sample(const Data& data) {
    abError error{};
    if (!recorder) raise_value("this recording is closed");
    if (data.owner != owner) raise_value("this recording is of another model");
    if (ab_record_sample(recorder, owner->model, data.data, &error) != AB_OK) raise(error);
  }
  void close() {
    abError error{};
    abRecorder* r = recorder;
    recorder = nullptr;
    if (r && ab_record_close(r, &error) != AB_OK) raise(error);
  }
};

void bind_record(nb::module_& m) {
  nb::class_<Recorder>(m, "Recorder")
      .def(nb::init<const std::string&, const Data&>(), nb::arg("path"), nb::arg("data"))
      .def("sample", &Recorder::sample, nb::arg("data"))
      .def("close", &Recorder::close)
      .def_prop_ro("closed", [](const Recorder& r) { return r.recorder == nullptr; });
}
