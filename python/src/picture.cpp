// Pictures.
#include "core.h"

namespace {

abVec3 vector(const std::vector<double>& x, const char* what) {
  if (x.size() != 3) raise_value("%s needs 3 numbers, not %zu", what, x.size());
  return {x[0], x[1], x[2]};
}

// (eye, target, angle of view [rad]) that hold all moving bodies.
nb::tuple view_all(Data& s, int width, int height) {
  Busy busy(s.busy);
  ab_forward(s.model, s.data);
  abCamera v = ab_camera_all(s.model, s.data, width, height);
  return nb::make_tuple(nb::make_tuple(v.eye.x, v.eye.y, v.eye.z),
                        nb::make_tuple(v.target.x, v.target.y, v.target.z), v.fovy);
}

nb::object picture(nb::handle_t<Data> self, int width, int height, const std::vector<double>& eye,
                   const std::vector<double>& target, double fovy) {
  Data& s = held<Data>(self);
  Busy busy(s.busy);
  abCamera v = {vector(eye, "eye"), vector(target, "target"), fovy, width, height};
  if (width < 1 || height < 1 || width > 8192 || height > 8192)
    raise_value("a picture of %d x %d pixels; give 1 to 8192 each", width, height);
  size_t shape[3] = {(size_t)height, (size_t)width, 3};
  auto* rgb = new unsigned char[shape[0] * shape[1] * 3];
  nb::capsule owner(rgb, [](void* p) noexcept { delete[](unsigned char*) p; });
  abError error{};
  abStatus status;
  {
    Unlocked unlocked(self);
    ab_forward(s.model, s.data);
    status = ab_picture(s.model, s.data, &v, rgb, &error);
  }
  if (status != AB_OK) raise(error);
  return nb::cast(nb::ndarray<nb::numpy, unsigned char>(rgb, 3, shape, owner));
}

}  // namespace

void bind_picture(nb::module_& m) {
  m.def("view_all", &view_all, nb::arg("data"), nb::arg("width"), nb::arg("height"));
  m.def("picture", &picture, nb::arg("data"), nb::arg("width"), nb::arg("height"), nb::arg("eye"),
        nb::arg("target"), nb::arg("fovy"));
}
