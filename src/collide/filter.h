// Which pairs of geoms may touch at all.
#ifndef ABUT_COLLIDE_FILTER_H
#define ABUT_COLLIDE_FILTER_H

#include <abut/model.h>

// As in MJCF: never within one body (bodies welded together count as one), never two geoms fixed to
// the world, never a body and its parent unless the parent is fixed to the world, never an excluded
// pair of bodies; else by the bits (contype1 & conaffinity2) || (contype2 & conaffinity1). An
// explicit pair overrides all of these.
bool ab_may_collide(const abModel* model, int geom1, int geom2);
// The explicit rule for two geoms, or NULL.
const abPairRule* ab_find_pair_rule(const abModel* model, int geom1, int geom2);

#endif
