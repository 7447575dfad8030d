// Shared by holdback.c and holdback_near.c.
#ifndef ABUT_HOLDBACK_WORK_H
#define ABUT_HOLDBACK_WORK_H

#include <abut/data.h>

#include "collide/broad/tree.h"
#include "dynamics/rotate.h"
#include "geometry/support.h"

// Part of the thinner body that may be in the other at the end of a step; and of two that the
// step's contacts do not know of, since only what struck one of them brought them together.
#define AB_HOLD_DEEP 0.2
#define AB_HOLD_UNSEEN 0.02

// How a mover moves in the step.
typedef struct abFlight {
  bool free;  // by v and spin, until a time of its own; else by the present twists of its bodies
  abVec3 v;
  abSpin spin;
  double bend;   // by how much the angular velocity changes in the step
  abTwist kick;  // what contacts changed of it
  double until;  // from then on it stands still
} abFlight;

typedef struct abHoldPair {
  int geom[2];
  double deep;  // that it may become
  bool again;   // to be followed (again)
} abHoldPair;

typedef struct abHoldWork {
  const abModel* model;
  abData* data;
  abFlight* flight;         // per mover
  double* next;             // per mover: `until` after this round
  double *thin, *way;       // per geom; way: how far any of its points goes,
  double* kick;             // and how far otherwise than without contacts
  abBox* box;               // per fast geom: where it may be
  int nfast, *fast, *rank;  // the fast geoms; per geom its number among them, -1: none
  double unseen;            // share of the thinner body that counts as AB_HOLD_UNSEEN does
  bool only_unseen;
  int nkey;
  uint64_t* key;  // of pairs that may meet
  abHoldPair* meeting;
  int geom;  // of a search
} abHoldWork;

static inline int ab_hold_mover(const abHoldWork* w, int geom) {
  return w->model->body[w->model->geom[geom].body].mover;
}

static inline bool ab_hold_stands(const abHoldWork* w, int geom) {
  int m = ab_hold_mover(w, geom);
  return m < 0 || w->data->asleep[w->model->geom[geom].body];
}

static inline abVec3 ab_hold_velocity(const abHoldWork* w, int geom) {
  const abFlight* f = &w->flight[ab_hold_mover(w, geom)];
  return f->free ? f->v : w->data->twist[w->model->geom[geom].body].lin;
}

static inline double ab_hold_radius(const abHoldWork* w, int geom) {
  const abGeom* g = &w->model->geom[geom];
  return ab_shape_radius(&g->shape) +
         v3_norm(v3_sub(w->data->geom_pose[geom].p, w->data->com[g->body]));
}

// The pair of two geoms among those of the step's contacts, or NULL.
const abPair* ab_hold_known(const abHoldWork* work, int a, int b);
// How deep they may become.
double ab_hold_deep(const abHoldWork* work, int a, int b);
// The bodies' motion along v + shift. False if the scratch is exhausted.
bool ab_hold_begin(abHoldWork* work, const double* v, const double* shift);
// Fills key with the pairs of geoms of which one moves so far that the two could be too deep in
// each other at the end of the step (holdback_near.c). False if the scratch is exhausted.
bool ab_hold_near(abHoldWork* work);

#endif
