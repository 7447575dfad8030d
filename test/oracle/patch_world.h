// Small worlds for the tests of the contact model `patch`, made in code.
#ifndef ABUT_TEST_PATCH_WORLD_H
#define ABUT_TEST_PATCH_WORLD_H

#include <abut/abut.h>

#include "math/spatial.h"

typedef struct PatchWorld {
  abScene* scene;
  abModel* model;
  abData* data;
  double mu;  // of bodies that name none
} PatchWorld;

typedef struct PatchBox {
  abVec3 half;
  double mass;
  abPose pose;
  double mu, mu_static;  // 0: those of the floor
  double restitution;
} PatchBox;

// A floor z = 0 with friction mu (none for mu < 0: no floor at all), gravity 9.8 down.
PatchWorld patch_world(double h, double mu);
// A plane with the given frame (normal = its z) in place of the floor.
int patch_plane(PatchWorld* w, abPose pose, double mu);
int patch_box(PatchWorld* w, const PatchBox* box);  // returns the body
void patch_ready(PatchWorld* w);                    // compiles; fails the test on an error
void patch_free(PatchWorld* w);
// One step; fails the test if it breaks.
void patch_step(PatchWorld* w);
void patch_run(PatchWorld* w, double time);
double* patch_q(const PatchWorld* w, int body);  // 7 coordinates
double* patch_v(const PatchWorld* w, int body);  // 6 velocities
// Sum of contact forces on `body` (world axes).
abVec3 patch_force(const PatchWorld* w, int body);
double patch_kinetic_and_height(const PatchWorld* w);

#endif
