// abData: the state of one simulation, and everything a step computes, in the order the step
// computes it (src/step.c).
#ifndef ABUT_DATA_H
#define ABUT_DATA_H

#include <abut/contact.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the last step did, and how well.
typedef struct abStat {
  abStepStatus status;
  int iterations;
  double residual;
  int nregularised;
  const char* note;  // of the contact model on this step: static text, or NULL
  int ncandidate, npair, ncontact;
  double max_penetration;
  int bad_body;  // where a broken step first shows, else -1
} abStat;

typedef struct abEnergy {
  double kinetic, gravity, spring;
} abEnergy;

typedef struct abData {
  // --- the state: equal states give equal futures ---
  double time;
  double* q;  // nq coordinates, as in MJCF: free joint = position of the body frame, quaternion
  // nv velocities. Hinge and slide: rate of the coordinate. Ball: angular velocity in the body's
  // axes. Free: velocity of the centre of mass, angular velocity, both in world axes.
  double* v;
  struct abMemory* memory;  // what contact models remember of each pair

  // --- inputs, kept from step to step ---
  double* ctrl;                   // nactuator
  abWrench* applied;              // per body: force at the centre of mass and torque, world axes
  double h;                       // the step; starts as model->timestep
  const abContactModel* contact;  // NULL: contact off
  double param[64];               // its parameters
  int nthread;

  // --- computed by ab_kinematics (dynamics/kinematics.c) ---
  abPose* pose;    // body frames in the world
  abMat3* R;       // the same orientations as matrices
  abVec3* com;     // centres of mass
  abTwist* twist;  // at the centres of mass, world axes
  abPose* geom_pose;
  abMat3* inertia;  // about the centre of mass, world axes
  abMat3* inv_inertia;

  // --- computed by ab_broadphase (collide/broadphase.c) ---
  struct abBroadphase* broadphase;
  int ncandidate;
  const int (*candidate)[2];  // pairs of geoms, sorted

  // --- computed by ab_collide (collide/collide.c) ---
  int npair;
  abPair* pair;

  // --- computed by ab_free_motion (dynamics/free_motion.c) ---
  double* v_free;
  double* actuator_force;
  struct abTrees* trees;  // articulated inertias of the joint trees

  // --- computed by ab_response_update (dynamics/response.c) ---
  abResponse response;

  // --- computed by the contact model and ab_report_contacts (contact/report.c) ---
  int ncontact;
  const abContact* contacts;
  abStat stat;

  // --- storage ---
  struct abArena* step_arena;  // what the results above point into: valid until the next step
  struct abArena* scratch;     // empty between steps
  struct abArena* cache;       // the contact model's own between steps (see abContactProblem)
  struct abPool* pool;
} abData;

#ifdef __cplusplus
}
#endif

#endif
