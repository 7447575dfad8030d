// From abError and bad arguments to Python's exceptions.
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "core.h"

[[noreturn]] static void raise_object(nb::handle type, nb::object value) {
  PyErr_SetObject(type.ptr(), value.ptr());
  throw nb::python_error();
}

static nb::object error_type(const char* name) {
  return nb::module_::import_("abut._errors").attr(name);
}

void raise(const abError& e) {
  if (e.code == AB_ERROR_MEMORY) raise_object(PyExc_MemoryError, nb::str(e.message));
  if (e.code == AB_ERROR_ARGUMENT && e.line == 0 && !e.file[0])
    raise_object(PyExc_ValueError, nb::str(e.message));
  nb::object type = error_type("SceneError");
  raise_object(type, type(nb::str(e.message), nb::str(e.file), e.line));
}

void raise_value(const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  raise_object(PyExc_ValueError, nb::str(text));
}

void raise_step(const Model& model, const abData* data, long step) {
  const abStat& s = data->stat;
  bool broken = s.status == AB_STEP_BROKEN;
  std::string body =
      s.bad_body >= 0 && s.bad_body < model.model->nbody ? model.model->body[s.bad_body].name : "";
  char text[1024], why[300];
  snprintf(text, sizeof text, "step %ld (time %.9g s) %s%s%s; residual %.3g; %s; %s", step,
           data->time, broken ? "broke down" : "was not solved to the tolerance",
           body.empty() ? "" : ": body ", body.c_str(), s.residual,
           ab_step_text(model.model, data, why, sizeof why),
           broken ? "try a smaller h, or look for extreme forces or masses; the state is that "
                    "before the step"
                  : "try a smaller h or a larger tolerance");
  nb::object type = error_type("StepError");
  raise_object(type, type(nb::str(text), step, data->time,
                          body.empty() ? nb::object(nb::none()) : nb::object(nb::str(body.c_str())),
                          s.residual));
}

// Edits that turn a into b.
static size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (size_t i = 1; i <= a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      size_t here = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = row[j];
      row[j] = here;
    }
  }
  return row[b.size()];
}

std::string known_names(const std::string& name, const std::vector<std::string>& known) {
  if (known.empty()) return "; there are none";
  const std::string* best = &known[0];
  for (const std::string& k : known)
    if (distance(name, k) < distance(name, *best)) best = &k;
  // a third of the letters wrong is a slip of the fingers; more is another word
  if (distance(name, *best) <= 1 + best->size() / 3) return "; did you mean '" + *best + "'?";
  std::string text = known.size() == 1 ? "; there is only: " : "; there are: ";
  for (size_t i = 0; i < known.size() && i < 20; i++) text += (i ? ", " : "") + known[i];
  return known.size() > 20 ? text + ", ..." : text;
}

static std::string joint_of(const abModel* m, int i, bool velocity) {
  for (int j = m->njoint - 1; j >= 0; j--)
    if ((velocity ? m->joint[j].v0 : m->joint[j].q0) <= i)
      return std::string(" (joint '") + (m->joint[j].name ? m->joint[j].name : "") + "' of body '" +
             m->body[m->joint[j].body].name + "')";
  return "";
}

double number(nb::handle x, const char* name) {
  double value;
  if (!nb::try_cast<double>(x, value))
    throw nb::type_error(
        (std::string(name) + " must be a number, not " + nb::type_name(x.type()).c_str()).c_str());
  return value;
}

static int first_bad(const double* x, int n) {
  for (int i = 0; i < n; i++)
    if (!std::isfinite(x[i])) return i;
  return -1;
}

std::string bad_input(const abModel* m, const abData* d) {
  const char* tail = " is not a finite number below 1e60; set it before stepping";
  int i;
  if ((i = first_bad(d->q, m->nq)) >= 0)
    return "q[" + std::to_string(i) + "]" + joint_of(m, i, false) + tail;
  if ((i = first_bad(d->v, m->nv)) >= 0)
    return "v[" + std::to_string(i) + "]" + joint_of(m, i, true) + tail;
  if ((i = first_bad(d->ctrl, m->nactuator)) >= 0)
    return "ctrl[" + std::to_string(i) + "] (actuator '" + m->actuator[i].name + "')" + tail;
  if ((i = first_bad(&d->applied[0].force.x, 6 * m->nbody)) >= 0)
    return "applied[" + std::to_string(i / 6) + ", " + std::to_string(i % 6) + "] (body '" +
           m->body[i / 6].name + "')" + tail;
  for (int j = 0; j < m->njoint; j++) {
    const abJoint& joint = m->joint[j];
    if (joint.type != AB_JOINT_FREE && joint.type != AB_JOINT_BALL) continue;
    const double* q = d->q + joint.q0 + (joint.type == AB_JOINT_FREE ? 3 : 0);
    double n2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!(n2 > 1e-12))
      return "the quaternion at q[" + std::to_string(q - d->q) + "]" +
             joint_of(m, joint.q0, false) + " is zero; set it to (1, 0, 0, 0) for no rotation";
  }
  return "";
}
