// Bodies that touch each other, solved together (ecp_island.c).
#ifndef ABUT_CONTACT_ECP_ISLAND_H
#define ABUT_CONTACT_ECP_ISLAND_H

#include "contact/ecp.h"

// What a pair remembers, in SI units.
typedef struct abEcpMemory {
  int active;
  abEcpMode mode;
  double pn, pr;
  abVec3 friction;  // world axes
  double par[2];
} abEcpMemory;

// A pair to be looked at; hull: the whole body instead of the pair's own geom.
typedef struct abEcpTouch {
  int pair;
  const abShape* hull[2];
} abEcpTouch;

typedef struct abEcpReport {
  double tolerance;
  bool exact_momentum;
  int iterations, fallbacks;
  double residual;
} abEcpReport;

// Solves all islands; false when out of memory.
bool ab_ecp_islands(const abContactProblem* p, int ntouch, const abEcpTouch* touch,
                    abContactSolution* out, abEcpReport* report);

// Bodies and contacts of one island with what is needed to go back to SI units.
typedef struct abEcpIsland {
  const abContactProblem* problem;
  int nbody, ncontact;
  abEcpBody* body;
  abEcpContact* contact;
  abEcpBody* saved_body;  // room for a copy of both
  abEcpContact* saved_contact;
  abEcpBody ground;
  abVec3 origin;
  double length, mass;  // units; time: problem->h
  abEcpSystem system;
} abEcpIsland;

// --- ecp_units.c
void ab_ecp_units(abEcpIsland* island, int first_body, double radius);
double ab_ecp_shape_radius(const abShape* s);
void ab_ecp_load_body(const abEcpIsland* island, int index, abEcpBody* b);
void ab_ecp_load_contact(abEcpIsland* island, const abEcpTouch* touch, abEcpContact* c);
// Last step's mode and impulses; false if the pair did not touch then.
bool ab_ecp_recall(const abEcpIsland* island, abEcpContact* c, abEcpMode* mode);
void ab_ecp_store(const abEcpIsland* island, const abEcpContact* c, abContactSolution* out);

// --- ecp_many.c
// All contacts of the island, active ones chosen. Returns whether every equation and inequality
// holds.
bool ab_ecp_solve_island(abEcpIsland* island, abEcpReport* report);

#endif
