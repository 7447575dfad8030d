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
  // Candidates and pairs are those looked at and solved: those among sleeping bodies are not.
  // Contacts are all there are.
  int ncandidate, npair, ncontact;
  int nasleep;  // bodies asleep after the step
  double max_penetration;
  int nhold;     // contacts whose depth is left as it is (abContact.hold): a scene to look at
  // How far the worst equality is from being met, m or rad (joints and tendons: their own units).
  double equality_error;
  int bad_body;  // where a broken step first shows, else -1
} abStat;

// When islands fall asleep (src/sleep.c says why like this). An island is what hangs together by
// contacts and joints. It falls asleep when each of its bodies has been at rest for rest * sqrt(r /
// |g|), r the body's radius (0.25 s for 0.1 m), and for `steps` steps at least: no speed above
// speed * |g| h, no point moved by more than drift * r in a third of that time, and not beginning
// to fall.
typedef struct abSleepRule {
  bool on;       // false, the default: nothing sleeps
  double rest;   // 2.5
  double speed;  // 0.01
  double drift;  // 1e-5
  int steps;     // 50
} abSleepRule;

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
  abVec3* mocap_pos;              // nmocap: where the mocap bodies are; what they do between two
  abQuat* mocap_quat;             // steps is not followed, they are where they are put
  double h;                       // the step; starts as model->timestep
  const abContactModel* contact;  // NULL: contact off
  double param[64];               // its parameters
  int nthread;
  abSleepRule sleep;

  // --- part of the state, too: who sleeps (src/sleep.c) ---
  const bool* asleep;  // per body; ab_data_wake ends it
  struct abSleep* sleeper;

  // --- computed by ab_kinematics (dynamics/kinematics.c) ---
  abPose* pose;    // body frames in the world
  abMat3* R;       // the same orientations as matrices
  abVec3* com;     // centres of mass
  abTwist* twist;  // at the centres of mass, world axes
  abPose* geom_pose;
  abMat3* inertia;  // about the centre of mass, world axes
  abMat3* inv_inertia;

  // --- computed by ab_free_motion (dynamics/free_motion.c) ---
  double* v_free;
  double* actuator_force;
  // nequality, in the step: connect and weld: the force on body1 at frame1.p and, of a weld, the
  // torque, world axes; joint and tendon: force.x along joint1 or tendon1
  abWrench* equality_force;
  double* tendon_force;   // ntendon: of spring, damping, armature, limit and friction, along L
  struct abTrees* trees;  // articulated inertias of the joint trees

  // --- computed by ab_response_update (dynamics/response.c) ---
  abResponse response;
  abTwist* twist_free;  // per body, at the end of the step, without contact
  abTwist* bias;        // per body: acceleration that the velocities alone cause

  // --- computed by ab_broadphase (collide/broad/broadphase.c) ---
  struct abBroadphase* broadphase;
  int ncandidate;
  const int (*candidate)[2];  // pairs of geoms, sorted

  // --- computed by ab_collide (collide/collide.c) ---
  int npair;
  abPair* pair;

  // --- computed by the contact model and ab_report_contacts (contact/report.c) ---
  int ncontact;
  const abContact* contacts;
  abStat stat;

  // --- storage ---
  struct abArena* step_arena;  // what the results above point into: valid until the next step
  struct abArena* scratch;     // empty between steps
  struct abPool* pool;
  int made_for[5];  // nq, nv, nbody, ngeom, nactuator of its model: steps with another are refused
} abData;

// Wakes the island of a body (body < 0: everybody). Not needed after a change of q, v, applied,
// ctrl, h or the contact model: that wakes whom it concerns by itself.
AB_API void ab_data_wake(abData* data, int body);

#ifdef __cplusplus
}
#endif

#endif
