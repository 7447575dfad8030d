// Which pairs of geoms may touch at all.
#ifndef ABUT_COLLIDE_FILTER_H
#define ABUT_COLLIDE_FILTER_H

#include <abut/model.h>

// What decides it of one geom, close together.
typedef struct abFilter {
  int contype, conaffinity;
  int weld, above;  // its rigid group, and the one this hangs on
  // NEVER: it has no bits and no pair names it. MOCAP: it is put somewhere, nothing pushes it.
  enum { AB_FILTER_FIXED, AB_FILTER_MOVES, AB_FILTER_MOCAP, AB_FILTER_PLANE, AB_FILTER_NEVER } kind;
} abFilter;
abFilter ab_filter(const abModel* model, int geom);

// ab_may_collide where no pairs are asked for or excluded by name.
static inline bool ab_filters_pass(const abFilter* a, const abFilter* b) {
  bool meant = (a->contype & b->conaffinity) || (b->contype & a->conaffinity);
  bool hangs = a->weld != 0 && b->weld != 0 && (a->above == b->weld || b->above == a->weld);
  bool moves = a->kind == AB_FILTER_MOVES || b->kind == AB_FILTER_MOVES;
  return meant && moves && a->weld != b->weld && !hangs;
}

// As in MJCF: never within one body (bodies welded together count as one), never two geoms that
// nothing can push (fixed to the world, or mocap), never a body and its parent unless the parent is
// fixed to the world, never an excluded pair of bodies; else by the bits (contype1 & conaffinity2)
// || (contype2 & conaffinity1). An explicit pair overrides all of these.
bool ab_may_collide(const abModel* model, int geom1, int geom2);
// The explicit rule for two geoms, or NULL.
const abPairRule* ab_find_pair_rule(const abModel* model, int geom1, int geom2);

#endif
