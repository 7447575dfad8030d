// What a simulation holds beside its state, inputs and results: abData.internal, in the order a
// step fills it (step.c).
#ifndef ABUT_INTERNAL_H
#define ABUT_INTERNAL_H

#include <abut/data.h>

enum { AB_MAX_PARAM = 64 };  // of one contact model

struct abInternal {
  // --- settings ---
  double param[AB_MAX_PARAM];  // of data->contact, in the order of its list
  int made_for[5];  // nq, nv, nbody, ngeom, nactuator of its model: steps with another are refused

  // --- part of the state ---
  struct abMemory* memory;  // what contact models remember of each pair (pairs.h)
  struct abSleep* sleeper;  // who sleeps, and since when the others have rested (sleep.c)

  // --- computed by ab_kinematics (dynamics/kinematics.c) ---
  abMat3* inv_inertia;  // nbody: inverse of data->inertia

  // --- computed by ab_free_motion (dynamics/free_motion.c) ---
  struct abTrees* trees;  // articulated inertias of the joint trees

  // --- computed by ab_response_update (dynamics/response.c) ---
  abResponse response;
  abTwist* twist_free;  // nbody: at the end of the step, without contact
  abTwist* bias;        // nbody: acceleration that the velocities alone cause

  // --- computed by ab_broadphase (collide/broad/broadphase.c) ---
  struct abBroadphase* broadphase;
  int ncandidate;
  const int (*candidate)[2];  // pairs of geoms, sorted

  // --- computed by ab_collide (collide/collide.c) ---
  int npair;
  abPair* pair;

  // --- storage ---
  struct abArena* step_arena;  // what the results point into: valid until the next step
  struct abArena* scratch;     // empty between steps
  struct abPool* pool;         // threads, or NULL
};

// Nothing is known of contacts, neither results nor what was remembered (data.c).
void ab_forget_contacts(abData* data);

#endif
