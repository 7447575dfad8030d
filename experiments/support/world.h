// Small worlds for experiments and tests: a floor, some boxes, a contact model, run for a while.
// Whatever cannot be built ends the program with a message: such a program is wrong.
#ifndef ABUT_EXPERIMENT_WORLD_H
#define ABUT_EXPERIMENT_WORLD_H

#include <abut/abut.h>

typedef struct World {
  abScene* scene;
  abModel* model;
  abData* data;
  double mu_static, mu_kinetic;  // of what is added next
} World;

// A floor z <= 0 unless floor is false; gravity 9.8.
World world_begin(double h, bool floor);
// Static plane or box; returns the geom's index.
int world_add_static_box(World* w, abVec3 half, abPose pose);
// A free box of the given mass with its centre at pose; returns the body's index.
int world_add_box(World* w, abVec3 half, double mass, abPose pose);
// Any free shape; size as in abGeomDef.
int world_add_shape(World* w, abShapeType type, abVec3 size, double mass, abPose pose);
// Compiles and chooses the contact model (NULL: the default).
void world_start(World* w, const char* contact);
void world_free(World* w);
void world_set_param(World* w, const char* name, double value);

// Velocity of a free body, at its centre of mass, world axes.
void world_set_twist(World* w, int body, abTwist twist);
abTwist world_twist(const World* w, int body);
abPose world_pose(const World* w, int body);
// Runs for `time`; returns the worst status seen.
abStepStatus world_run(World* w, double time);
// Sum of the contact forces on a body in the last step, and of all that act between any body and
// the world body.
abVec3 world_force_on(const World* w, int body);
double world_floor_force(const World* w);
double world_energy(const World* w);

#endif
