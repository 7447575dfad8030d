#include "core.h"

NB_MODULE(_core, m) {
  m.doc() = "The compiled part of abut; use the package abut.";
  // A thread that the end of the program finds at work keeps what it works on, and that is no leak.
  nb::set_leak_warnings(false);
  bind_model(m);
  bind_scene(m);
  bind_data(m);
  bind_record(m);
  bind_batch(m);
  bind_rollout(m);
  bind_sweep(m);
  bind_picture(m);
}
