// A few bodies stepped by the implicit model alone, without scene or world: each step is one
// hand-made contact problem.
#ifndef ABUT_TEST_ECP_WORLD_H
#define ABUT_TEST_ECP_WORLD_H

#include <abut/contact.h>

#include "base/arena.h"
#include "math/spatial.h"

enum { ECPW_BODIES = 24, ECPW_PAIRS = 400, ECPW_FIXED = 8 };

typedef struct EcpWorld {
  char name[40];  // for messages
  double h, gyro, gravity;
  double mu, mu_static, e_t, e_o, e_r;
  int nbody;  // body 0 is the world
  abContactBody body[ECPW_BODIES];
  const abShape* shape[ECPW_BODIES];
  abPose shape_pose[ECPW_BODIES];  // in the frame at the centre of mass
  double mass[ECPW_BODIES], inv_mass[ECPW_BODIES];
  abMat3 inertia_body[ECPW_BODIES];
  abMat3 inertia[ECPW_BODIES], inv_inertia[ECPW_BODIES];
  int mover_of_body[ECPW_BODIES];
  abMover mover[ECPW_BODIES];
  abWrench applied[ECPW_BODIES];
  int nfixed;
  const abShape* fixed_shape[ECPW_FIXED];
  abPose fixed_pose[ECPW_FIXED];
  int npair;
  abPair pair[ECPW_PAIRS];
  char memory[ECPW_PAIRS][512];
  bool touched[ECPW_PAIRS];
  abPairSolution solution[ECPW_PAIRS];
  abTwist twist_end[ECPW_BODIES];
  abContactSolution result;
  abContactBody before[ECPW_BODIES];  // the bodies as they were before the last step
  abArena arena;
  int steps;
} EcpWorld;

void ecpw_init(EcpWorld* w, double h, double gyro);
void ecpw_free(EcpWorld* w);
int ecpw_add_body(EcpWorld* w, const abShape* shape, double mass, abVec3 inertia, abPose pose);
void ecpw_add_fixed(EcpWorld* w, const abShape* shape, abPose pose);
void ecpw_step(EcpWorld* w);
double ecpw_energy(const EcpWorld* w);  // kinetic and of gravity, of all bodies

// A box with its polyhedron; a prism over a counter-clockwise convex polygon, |z| <= half.
typedef struct Solid {
  abShape shape;
  abPolyhedron poly;
  abVec3 vert[64];
  abPlane plane[40];
  int face_start[41], loop[256];
  int edge[128][4];
} Solid;
void solid_box(Solid* s, abVec3 half);
void solid_prism(Solid* s, int n, const abVec2* outline, double half);
abVec3 inertia_of_box(double mass, abVec3 half);

#endif
