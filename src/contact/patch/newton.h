// What the parts of the solver of an island share: solve.c, line_search.c, loads.c, passes.c.
#ifndef ABUT_CONTACT_PATCH_NEWTON_H
#define ABUT_CONTACT_PATCH_NEWTON_H

#include "contact/patch/patch.h"

typedef struct abPatchWork {
  abPatchMatrix matrix;
  double* load_step;  // change of d by that of the loads
  double* change;     // per contact: of its load, and of where that acts (x, y)
  int nbent, nbent_row, nbent_join;
  abPatchContact** bent;  // contacts and rows that are not linear along the step
  abPatchRow** bent_row;
  abPatchJoin** bent_join;
  double at0, rate;  // slope of all the others along the step: at0 + a rate
} abPatchWork;

// --- solve.c
// The law at V.
void ab_patch_evaluate_all(abPatchIsland* island);
// The step d from gradient, answer and G. False if it is not finite.
bool ab_patch_find_direction(abPatchIsland* island, abPatchWork* w);
void ab_patch_take_step(abPatchIsland* island, double a);
// What the user is told: the residual of the forces, and of the bound of friction so that
// AB_PATCH_GAP counts as the default tolerance.
static inline double ab_patch_reported(double residual, double gap) {
  return fmax(residual, 0.01 * gap);
}

// --- line_search.c
// How much of the step is taken.
double ab_patch_line_search(abPatchIsland* island, abPatchWork* w);

// --- loads.c
typedef struct abPatchFollow {
  int times;      // not counting steps with each contact relaxed
  bool was_near;  // the residual was near zero the last time
  double enough;  // gap
  bool direct;    // solve_loads
  bool good;      // those of the last step are nearly right, and stay until the forces are
  double share;   // of what is wanted: grows while the gap shrinks, and halves when it does not
  double gap;     // of the last time
} abPatchFollow;

// The loads that bound friction, and where they act, follow the step d, and d follows them.
void ab_patch_follow(abPatchIsland* island, abPatchWork* w, abPatchFollow* loads, bool relaxed,
                     double gap);
// Only the share a of the step was taken.
void ab_patch_shorten_loads(abPatchIsland* island, double a);

// --- passes.c
// Until the residual is `enough`; returns the reported residual, `score` where that is not less.
double ab_patch_fall_back(abPatchIsland* island, abPatchWork* w, double enough, double score);

#endif
