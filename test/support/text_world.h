// A scene from text, and its simulation.
#ifndef ABUT_TEST_TEXT_WORLD_H
#define ABUT_TEST_TEXT_WORLD_H

#include <abut/abut.h>
#include <string.h>

#include "support/check.h"

typedef struct World {
  abModel* model;
  abData* data;
} World;

static inline World load(const char* text) {
  abError error = {0};
  abScene* scene = ab_scene_load_memory("text", text, strlen(text), NULL, &error);
  if (!scene) fail_msg("line %d: %s", error.line, error.message);
  World w = {ab_scene_compile(scene, &error), NULL};
  ab_scene_free(scene);
  if (!w.model) fail_msg("line %d: %s", error.line, error.message);
  w.data = ab_data_create(w.model, &error);
  if (!w.data) fail_msg("%s", error.message);
  return w;
}

static inline void finish(World w) {
  ab_data_free(w.data);
  ab_model_free(w.model);
}

static inline void steps(World w, int n) {
  for (int i = 0; i < n; i++)
    if (ab_step(w.model, w.data) != AB_STEP_OK)
      fail_msg("t = %g: residual %g", w.data->time, w.data->stat.residual);
}

static inline double energy(World w) {
  abEnergy e = ab_energy(w.model, w.data);
  return e.kinetic + e.gravity + e.spring;
}

#endif
