#include "oracle/patch_world.h"

#include <stdio.h>

#include "support/check.h"

static void stop(const abError* error) {
  fprintf(stderr, "%s\n", error->message);
  fail();
}

PatchWorld patch_world(double h, double mu) {
  PatchWorld w = {.scene = ab_scene_create(), .mu = mu > 0 ? mu : 0};
  abSceneOption* o = ab_scene_option(w.scene);
  o->gravity = v3(0, 0, -9.8);
  o->timestep = h;
  if (mu >= 0) patch_plane(&w, pose_identity(), mu);
  return w;
}

int patch_plane(PatchWorld* w, abPose pose, double mu) {
  abError error;
  abGeomDef g = ab_geom_def();
  g.body = 0, g.type = AB_SHAPE_PLANE, g.size = v3(1, 1, 1), g.pose = pose, g.friction[0] = mu;
  int i = ab_scene_add_geom(w->scene, &g, &error);
  if (i < 0) stop(&error);
  return i;
}

int patch_box(PatchWorld* w, const PatchBox* box) {
  abError error;
  abBodyDef b = ab_body_def();
  b.pose = box->pose;
  int body = ab_scene_add_body(w->scene, &b, &error);
  if (body < 0) stop(&error);
  abJointDef j = ab_joint_def();
  j.body = body, j.type = AB_JOINT_FREE;
  if (ab_scene_add_joint(w->scene, &j, &error) < 0) stop(&error);
  abGeomDef g = ab_geom_def();
  g.body = body, g.type = AB_SHAPE_BOX, g.size = box->half, g.mass = box->mass;
  g.friction[0] = box->mu > 0 ? box->mu : w->mu;
  if (box->mu_static > 0) g.mu_static = box->mu_static;
  g.restitution = box->restitution;
  if (ab_scene_add_geom(w->scene, &g, &error) < 0) stop(&error);
  return body;
}

void patch_ready(PatchWorld* w) {
  abError error;
  w->model = ab_scene_compile(w->scene, &error);
  if (!w->model) stop(&error);
  w->data = ab_data_create(w->model, &error);
  if (!w->data) stop(&error);
  if (ab_set_contact(w->model, w->data, "patch", &error) != AB_OK) stop(&error);
}

void patch_free(PatchWorld* w) {
  ab_data_free(w->data);
  ab_model_free(w->model);
  ab_scene_free(w->scene);
}

void patch_step(PatchWorld* w) {
  if (ab_step(w->model, w->data) == AB_STEP_BROKEN) {
    fprintf(stderr, "step broke at t = %g\n", w->data->time);
    fail();
  }
}

void patch_run(PatchWorld* w, double time) {
  long n = lround(time / w->data->h);
  for (long i = 0; i < n; i++) patch_step(w);
}

double* patch_q(const PatchWorld* w, int body) {
  return w->data->q + w->model->joint[w->model->body[body].joint0].q0;
}
double* patch_v(const PatchWorld* w, int body) {
  return w->data->v + w->model->joint[w->model->body[body].joint0].v0;
}

abVec3 patch_force(const PatchWorld* w, int body) {
  abVec3 sum = v3_zero();
  for (int i = 0; i < w->data->ncontact; i++) {
    const abContact* c = &w->data->contacts[i];
    if (c->body1 == body) sum = v3_add(sum, c->wrench.force);
    if (c->body2 == body) sum = v3_sub(sum, c->wrench.force);
  }
  return sum;
}

double patch_kinetic_and_height(const PatchWorld* w) {
  abEnergy e = ab_energy(w->model, w->data);
  return e.kinetic + e.gravity;
}
