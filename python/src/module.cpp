#include "core.h"

NB_MODULE(_core, m) {
  m.doc() = "The compiled part of abut; use the package abut.";
  bind_model(m);
  bind_scene(m);
  bind_data(m);
  bind_record(m);
  bind_batch(m);
  bind_rollout(m);
  bind_sweep(m);
  bind_picture(m);
}
