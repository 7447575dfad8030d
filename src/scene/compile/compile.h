// The compiler's desk: what the parts of the compiler share.
#ifndef ABUT_SCENE_COMPILE_H
#define ABUT_SCENE_COMPILE_H

#include <float.h>

#include "scene/scene.h"

// A principal moment below this fraction of the largest is nothing but rounding of the others.
#define AB_SINGULAR_INERTIA (1e3 * DBL_EPSILON)

typedef struct abCompiler {
  const abScene* scene;
  abError* error;
  int nproblem;  // what was found so far, the compiler going on to look for more
  abError* problem;
  abBag bag;      // everything below but the polyhedra
  abModel model;  // its arrays are the ones below
  abBody* body;
  abJoint* joint;
  abGeom* geom;
  abMesh* mesh;
  // compiled index -> index in the scene, and the other way round
  int *body_from, *body_to, *joint_from, *joint_to, *geom_from, *geom_to;
  int *site_from, *site_to;
  abPose* pose;  // of the bodies in the world at q0
  bool* paired;  // per geom: some abPairRule names it
  // the different polyhedra, and which of them each geom and each hull uses (-1: none)
  int npoly, poly_capacity;
  abPolyhedron** poly;
  const abPolyhedron** place;  // where they lie in the model's block
  int *geom_poly, *hull_poly;
  abShape* hull;  // at most one per body
} abCompiler;

abStatus ab_compile_no_memory(abCompiler* c);
// After a part failed with this status: puts the error on the list. AB_OK: go on with the next one.
abStatus ab_compile_go_on(abCompiler* c, abStatus status);
int ab_coordinates_of(abJointType type);
int ab_velocities_of(abJointType type);
// The given name, or the kind with the index, lengthened until nobody else has it. NULL when there
// is no memory.
const char* ab_compile_name(abCompiler* c, const char* given, const char* kind, int index,
                            const abNameTable* taken);

// The steps, in their order.
// tree.c: what comes where; bodies, joints, geoms, rules, movers, velocities.
abStatus ab_compile_order(abCompiler* c);
abStatus ab_compile_bodies(abCompiler* c);
abStatus ab_compile_geoms(abCompiler* c);
abStatus ab_compile_rules(abCompiler* c);
abStatus ab_compile_movers(abCompiler* c);
abStatus ab_compile_dofs(abCompiler* c);
// law.c: sites, tendons, equalities, actuators, bodies moved from outside.
abStatus ab_compile_sites(abCompiler* c);
abStatus ab_compile_mocap(abCompiler* c);
abStatus ab_compile_tendons(abCompiler* c);
abStatus ab_compile_equalities(abCompiler* c);
abStatus ab_compile_actuators(abCompiler* c);
// servo.c: velocity gains of servos that are given by their damping ratio.
abStatus ab_compile_damping_ratios(abCompiler* c, abActuator* actuator);
// shape.c: shapes of the geoms, vertices of the meshes; hulls of the bodies.
abStatus ab_compile_shapes(abCompiler* c);
abStatus ab_compile_hulls(abCompiler* c);
// mass.c: masses of geoms and bodies, checked.
abStatus ab_compile_masses(abCompiler* c);
// state.c: initial coordinates, keyframes, the scene's size.
abStatus ab_compile_state(abCompiler* c);

// pack.c: everything in one block, a new one or that of the model `over`.
abModel* ab_compile_pack(abCompiler* c, abModel* over);

#endif
