#include "support/world.h"

#include <stdio.h>
#include <stdlib.h>

static void require(bool ok, const abError* error) {
  if (ok) return;
  fprintf(stderr, "%s:%d: %s\n", error->file, error->line, error->message);
  exit(2);
}

World world_begin(double h, bool floor) {
  World w = {.scene = ab_scene_create(), .mu_static = 0.5, .mu_kinetic = 0.5};
  ab_scene_option(w.scene)->timestep = h;
  ab_scene_option(w.scene)->gravity = (abVec3){0, 0, -9.8};
  if (floor) {
    abError error;
    abGeomDef def = ab_geom_def();
    def.type = AB_SHAPE_PLANE;
    def.size = (abVec3){10, 10, 1};
    def.friction[0] = 0;  // pairs take the larger: the bodies' own
    def.mu_static = 0;
    require(ab_scene_add_geom(w.scene, &def, &error) >= 0, &error);
  }
  return w;
}

static int add_geom(World* w, int body, abShapeType type, abVec3 size, double mass, abPose pose) {
  abError error;
  abGeomDef def = ab_geom_def();
  def.body = body;
  def.type = type;
  def.size = size;
  def.mass = mass;
  def.pose = pose;
  def.friction[0] = w->mu_kinetic;
  def.mu_static = w->mu_static;
  int geom = ab_scene_add_geom(w->scene, &def, &error);
  require(geom >= 0, &error);
  return geom;
}

int world_add_static_box(World* w, abVec3 half, abPose pose) {
  return add_geom(w, 0, AB_SHAPE_BOX, half, -1, pose);
}

int world_add_shape(World* w, abShapeType type, abVec3 size, double mass, abPose pose) {
  abError error;
  abBodyDef def = ab_body_def();
  def.pose = pose;
  int body = ab_scene_add_body(w->scene, &def, &error);
  require(body >= 0, &error);
  add_geom(w, body, type, size, mass, (abPose){{0, 0, 0}, {1, 0, 0, 0}});
  abJointDef joint = ab_joint_def();
  joint.body = body;
  joint.type = AB_JOINT_FREE;
  require(ab_scene_add_joint(w->scene, &joint, &error) >= 0, &error);
  return body;
}

int world_add_box(World* w, abVec3 half, double mass, abPose pose) {
  return world_add_shape(w, AB_SHAPE_BOX, half, mass, pose);
}

void world_start(World* w, const char* contact) {
  abError error;
  w->model = ab_scene_compile(w->scene, &error);
  require(w->model != NULL, &error);
  w->data = ab_data_create(w->model, &error);
  require(w->data != NULL, &error);
  require(ab_set_contact(w->model, w->data, contact, &error) == AB_OK, &error);
}

void world_free(World* w) {
  ab_data_free(w->data);
  ab_model_free(w->model);
  ab_scene_free(w->scene);
  *w = (World){0};
}

void world_set_param(World* w, const char* name, double value) {
  abError error;
  require(ab_set_param(w->data, name, value, &error) == AB_OK, &error);
}

static int dof0(const World* w, int body) { return w->model->body[body].dof0; }

void world_set_twist(World* w, int body, abTwist twist) {
  double* v = w->data->v + dof0(w, body);
  v[0] = twist.lin.x, v[1] = twist.lin.y, v[2] = twist.lin.z;
  v[3] = twist.ang.x, v[4] = twist.ang.y, v[5] = twist.ang.z;
  ab_forward(w->model, w->data);
}

abTwist world_twist(const World* w, int body) { return w->data->twist[body]; }

abPose world_pose(const World* w, int body) {
  return (abPose){w->data->com[body], w->data->pose[body].q};
}

abStepStatus world_run(World* w, double time) {
  abStepStatus worst = AB_STEP_OK;
  double end = w->data->time + time - 0.5 * w->data->h;
  while (w->data->time < end) {
    abStepStatus status = ab_step(w->model, w->data);
    if (status > worst) worst = status;
    if (status == AB_STEP_BROKEN) break;
  }
  return worst;
}

abVec3 world_force_on(const World* w, int body) {
  abVec3 sum = {0, 0, 0};
  for (int i = 0; i < w->data->ncontact; i++) {
    const abContact* c = &w->data->contacts[i];
    double sign = (c->body1 == body) - (c->body2 == body);
    sum.x += sign * c->wrench.force.x;
    sum.y += sign * c->wrench.force.y;
    sum.z += sign * c->wrench.force.z;
  }
  return sum;
}

double world_floor_force(const World* w) { return -world_force_on(w, 0).z; }

double world_energy(const World* w) {
  abEnergy e = ab_energy(w->model, w->data);
  return e.kinetic + e.gravity + e.spring;
}
