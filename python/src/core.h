// What the files of the extension share: models and simulations with their owners, and errors.
#pragma once

#include <abut/abut.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace nb = nanobind;

// A compiled model, or a variant of one: the same model with some numbers of its own. A variant
// shares everything else (names, shapes) with the model it was made of.
struct Model {
  const abModel* model = nullptr;
  abModel* own = nullptr;             // of a compiled model
  std::shared_ptr<const Model> base;  // of a variant
  abModel changed{};
  std::vector<abBody> body;
  std::vector<abJoint> joint;
  std::vector<abGeom> geom;
  std::vector<abActuator> actuator;
  std::vector<double> dof_damping, dof_armature, q0;

  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model();
};

std::shared_ptr<Model> make_variant(const std::shared_ptr<const Model>& base);
// After numbers of a variant were changed: what follows from them.
void finish_variant(Model& variant);

// A number, or a few, of every body, joint, geom or actuator, or of the model.
struct Field {
  const char* name;
  enum Of { BODY, JOINT, GEOM, ACTUATOR, MODEL } of;
  size_t offset;
  int count;  // numbers of one object; 0: one, without an axis of its own
  char type;  // d double, i int, f float, b bool
  bool may_vary;
};
const Field& find_field(const std::string& name);
int field_rows(const abModel* model, const Field& field);  // -1: the model itself
size_t field_stride(const Field& field);                   // bytes
const char* field_base(const Model& model, const Field& field);

// A simulation.
struct Data {
  std::shared_ptr<const Model> owner;
  const abModel* model = nullptr;
  abData* data = nullptr;
  std::atomic<bool> busy{false};
  long steps = 0, unconverged = 0;

  explicit Data(std::shared_ptr<const Model> m);
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;
  ~Data() { ab_data_free(data); }
};

// Refuses a second thread while one is stepping without the lock of the interpreter.
struct Busy {
  std::atomic<bool>& flag;
  explicit Busy(std::atomic<bool>& f) : flag(f) {
    if (flag.exchange(true))
      throw std::runtime_error(
          "this simulation is being stepped by another thread; give each thread its own Data "
          "(copy())");
  }
  ~Busy() { flag = false; }
};

// Work without the lock of the interpreter. What it works on is kept alive for its length: at the
// end of the program the interpreter drops what daemon threads hold. A thread whose interpreter is
// gone stays here for good; before 3.14 the interpreter ends it by unwinding its stack, which C++
// would answer with an abort of the whole process.
class Unlocked {
 public:
  explicit Unlocked(nb::handle keep = nb::none())
      : keep_(nb::borrow(keep)), state_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) pause();
    }
  }

 private:
  nb::object keep_;
  PyThreadState* state_;
};

// What a Python object holds. A class derived from ours may have forgotten to initialise it.
template <class T>
T& held(nb::handle self) {
  T* p = nullptr;
  if (!nb::try_cast<T*>(self, p) || !p)
    throw nb::type_error(
        "this object was never made: call super().__init__(...) in the derived class");
  return *p;
}

// A number that is assigned to an attribute.
double number(nb::handle x, const char* name);

// Raises abut.SceneError, ValueError, MemoryError or NotImplementedError, as the code says.
[[noreturn]] void raise(const abError& error);
[[noreturn]] void raise_step(const Model& model, const abData* data, long step);
[[noreturn]] void raise_value(const char* format, ...) __attribute__((format(printf, 1, 2)));
// Where q, v, ctrl or applied hold something that cannot be stepped: what and where; empty if not.
std::string bad_input(const abModel* model, const abData* data);
// "; did you mean 'x'?" or the list of what there is.
std::string known_names(const std::string& name, const std::vector<std::string>& known);
void check_same_sizes(const abModel* a, const abModel* b);
int find_key(const abModel* model, nb::handle key);  // None, index or name

// HDF5 is not made for several threads: whoever calls it without the lock of the interpreter, or
// with it, holds this one. It is never held while the interpreter's is waited for.
struct H5Lock {
  H5Lock();
  ~H5Lock();
};

using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

// A numpy array of doubles on memory that belongs to `owner`.
inline nb::object view(double* at, std::vector<size_t> shape, nb::handle owner,
                       std::vector<int64_t> strides = {}, bool writable = false) {
  const int64_t* s = strides.empty() ? nullptr : strides.data();
  if (writable)
    return nb::cast(nb::ndarray<nb::numpy, double>(at, shape.size(), shape.data(), owner, s));
  return nb::cast(nb::ndarray<nb::numpy, const double>(at, shape.size(), shape.data(), owner, s));
}

void bind_model(nb::module_& m);
void bind_scene(nb::module_& m);
void bind_data(nb::module_& m);
void bind_record(nb::module_& m);
void bind_batch(nb::module_& m);
void bind_rollout(nb::module_& m);
void bind_sweep(nb::module_& m);
void bind_picture(nb::module_& m);
