// Bodies that touch each other, solved together (island.c).
#ifndef ABUT_CONTACT_ECP_ISLAND_H
#define ABUT_CONTACT_ECP_ISLAND_H

#include "contact/ecp/ecp.h"

// What a pair remembers, in SI units.
typedef struct abEcpMemory {
  int active;
  abEcpMode mode;
  double pn, pr;
  abVec3 friction;  // world axes
  double par[2];
  abVec3 normal;  // of an ellipsoid without a plane, in the other body's coordinates
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
  int hulls;  // contacts where a hull may touch in a hole of its body
  double residual;
} abEcpReport;

// Solves all islands; false when out of memory.
bool ab_ecp_islands(const abContactProblem* p, int ntouch, const abEcpTouch* touch,
                    abContactSolution* out, abEcpReport* report);

// Copies of an island's state: who uses them.
enum { AB_ECP_BEST, AB_ECP_SAVED, AB_ECP_STAGE, AB_ECP_JOINT, AB_ECP_LEVELS };

// Bodies and contacts of one island with what is needed to go back to SI units.
typedef struct abEcpIsland {
  const abContactProblem* problem;
  int nbody, ncontact;
  abEcpBody* body;  // followed by room for AB_ECP_LEVELS copies
  abEcpContact* contact;
  abEcpBody ground;
  abVec3 origin;
  double length, mass;  // units; time: problem->h
  abEcpSystem system;
  struct abEcpManifold* manifold;  // room for one a contact
} abEcpIsland;

// --- units.c
void ab_ecp_units(abEcpIsland* island, int first_body, double radius);
double ab_ecp_shape_radius(const abShape* s);
void ab_ecp_load_body(const abEcpIsland* island, int index, abEcpBody* b);
void ab_ecp_load_contact(abEcpIsland* island, const abEcpTouch* touch, abEcpContact* c);
// Last step's mode and impulses; false if the pair did not touch then.
bool ab_ecp_recall(const abEcpIsland* island, abEcpContact* c, abEcpMode* mode);
void ab_ecp_store(const abEcpIsland* island, const abEcpContact* c, abContactSolution* out);

// --- many.c
// All contacts of the island, active ones chosen. Returns whether every equation and inequality
// holds.
bool ab_ecp_solve_island(abEcpIsland* island, abEcpReport* report);
// Parts of it. Active and with a mode: a contact just taken in has none until it is first solved.
bool ab_ecp_bears(const abEcpContact* c);
int ab_ecp_take_in_overlapping(abEcpIsland* island);  // contacts left out that overlap; how many
void ab_ecp_save(abEcpIsland* island, int level);
void ab_ecp_restore(abEcpIsland* island, int level);
void ab_ecp_free_motion(abEcpIsland* island);
void ab_ecp_start_poses(abEcpIsland* island);  // no motion at all
// One Newton system for the island at the present modes; together: and every inequality holds.
abEcpNewton ab_ecp_newton_island(abEcpIsland* island, bool damped);
bool ab_ecp_together(abEcpIsland* island, bool damped);
void ab_ecp_new_budget(abEcpIsland* island, double share);  // of work, for another attempt
bool ab_ecp_exhausted(const abEcpIsland* island);

void ab_ecp_all_bodies(abEcpIsland* island);
bool ab_ecp_holds(abEcpIsland* island);  // to 1e-9, whatever Newton says

// --- joint.c
bool ab_ecp_correct_modes(
    abEcpIsland* island);  // near a solution: Newton, changes of mode, Newton ...
bool ab_ecp_solve_jointly(abEcpIsland* island);  // all active contacts, modes included

// --- part.c
enum { AB_ECP_PUSHED = 32 };
typedef struct abEcpPushed {
  abEcpBody* body;
  double by[6];  // impulse, in the units of the rows of momentum (rows.c)
} abEcpPushed;
// A motion in which all contacts nearer than `reach` have opened by `apart` and none bears, and the
// impulses that make it so. Returns the number of bodies that they push, 0 if there is no such
// motion.
int ab_ecp_part(abEcpIsland* island, double reach, double apart, abEcpPushed* pushed);

// --- path.c
bool ab_ecp_follow_path(abEcpIsland* island);

#endif
