// What the experiments after Xie & Chakraborty share: a scene file, one body, one contact.
#ifndef ABUT_EXPERIMENT_XIE_H
#define ABUT_EXPERIMENT_XIE_H

#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/experiment.h"

typedef struct Run {
  abModel* model;
  abData* data;
  int body;
  double worst_residual, worst_depth;
  int unconverged;
} Run;

// Ends the program with a message where a file or a name is wrong: the program is, then.
static inline void require(bool ok, const abError* error) {
  if (ok) return;
  fprintf(stderr, "%s:%d: %s\n", error->file, error->line, error->message);
  exit(2);
}

// The scene experiments/NAME, its body, from its keyframe "start" if it has one.
static inline Run run_begin(const char* name, const char* body) {
  Run r = {0};
  abError error = {0};
  char path[1024];
  snprintf(path, sizeof path, "experiments/%s", name);
  r.model = ab_load(experiment_file(path), NULL, &error);
  require(r.model != NULL, &error);
  r.data = ab_data_create(r.model, &error);
  require(r.data != NULL, &error);
  int key = ab_find_key(r.model, "start");
  if (key >= 0) ab_data_reset(r.model, r.data, key);
  r.body = ab_find_body(r.model, body);
  ab_forward(r.model, r.data);
  return r;
}

static inline void run_end(Run* r) {
  ab_data_free(r->data);
  ab_model_free(r->model);
}

static inline void run_twist(Run* r, abVec3 v, abVec3 w) {
  double* x = r->data->v + r->model->body[r->body].dof0;
  x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = w.x, x[4] = w.y, x[5] = w.z;
  ab_forward(r->model, r->data);
}

// One step with this force and torque on the body.
static inline void run_step(Run* r, abWrench applied) {
  r->data->applied[r->body] = applied;
  abStepStatus status = ab_step(r->model, r->data);
  r->unconverged += status != AB_STEP_OK;
  r->worst_residual = fmax(r->worst_residual, r->data->stat.residual);
  r->worst_depth = fmax(r->worst_depth, r->data->stat.max_penetration);
}

// The body's first contact of the last step, or NULL.
static inline const abContact* run_contact(const Run* r) {
  for (int i = 0; i < r->data->ncontact; i++)
    if (r->data->contacts[i].body1 == r->body) return &r->data->contacts[i];
  return NULL;
}

static inline abVec3 run_position(const Run* r) { return r->data->com[r->body]; }
static inline abTwist run_motion(const Run* r) { return r->data->twist[r->body]; }

static inline void claim_solved(const Run* r) {
  experiment_claim(r->unconverged == 0 && r->worst_residual <= 1e-9,
                   "every step is solved (scaled residual of the paper's equations)", "1e-8",
                   "%.1e", r->worst_residual);
  experiment_claim(r->worst_depth <= 1e-9, "no penetration at any step end [m]", "0", "%.1e",
                   r->worst_depth);
}

#endif
