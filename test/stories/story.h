// A scene of scenes/stories/, loaded and run.
#ifndef ABUT_TEST_STORY_H
#define ABUT_TEST_STORY_H

#include <abut/abut.h>
#include <stdio.h>
#include <stdlib.h>

#include "math/spatial.h"
#include "support/check.h"

typedef struct Story {
  abModel* model;
  abData* data;
} Story;

// Starts from the keyframe, or from the initial pose if key is NULL.
static inline Story story_begin(const char* name, const char* key) {
  char path[1024];
  snprintf(path, sizeof path, "%s/scenes/stories/%s", ABUT_SOURCE_DIR, name);
  abError error = {0};
  Story s = {.model = ab_load(path, NULL, &error)};
  s.data = s.model ? ab_data_create(s.model, &error) : NULL;
  if (!s.data) fail_msg("%s:%d: %s", error.file, error.line, error.message);
  if (key) assert_int_equal(ab_data_reset(s.model, s.data, ab_find_key(s.model, key)), AB_OK);
  return s;
}

static inline void story_end(Story* s) {
  ab_data_free(s->data);
  ab_model_free(s->model);
}

static inline int story_body(const Story* s, const char* name) {
  int body = ab_find_body(s->model, name);
  assert_true(body > 0);
  return body;
}

// Every step must be solved.
static inline void story_run(Story* s, double time) {
  long n = (long)(time / s->data->h + 0.5);
  for (long i = 0; i < n; i++) assert_int_equal(ab_step(s->model, s->data), AB_STEP_OK);
}

// Force of the world on all bodies, upwards.
static inline double story_floor_force(const Story* s) {
  double f = 0;
  for (int i = 0; i < s->data->ncontact; i++)
    if (s->model->body[s->data->contacts[i].body2].mover < 0)
      f += s->data->contacts[i].wrench.force.z;
  return f;
}

static inline double story_energy(const Story* s) {
  abEnergy e = ab_energy(s->model, s->data);
  return e.kinetic + e.gravity;
}

// The full length of the story where ABUT_LONG is set, else what fits into a test.
static inline double story_time(double full, double brief) {
  return getenv("ABUT_LONG") ? full : brief;
}

static const double g = 9.8;

#endif
