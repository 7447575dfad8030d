// Patches of round shapes, without their tessellation.
#ifndef ABUT_COLLIDE_ROUND_H
#define ABUT_COLLIDE_ROUND_H

#include <abut/contact.h>

#include "collide/patch/patch.h"

enum { AB_ROUND_POLYGON = 4 };  // points of its polygon

// Whether one of them has a round side at all.
static inline bool ab_is_round(const abShape* s) {
  return s->type != AB_SHAPE_PLANE && s->type != AB_SHAPE_BOX && s->type != AB_SHAPE_MESH;
}
static inline bool ab_round_sides(const abShape* a, const abShape* b) {
  return ab_is_round(a) || ab_is_round(b);
}

// The patch of a pair that touches with a round side: sphere, capsule, lying cylinder, ellipsoid on
// a plane; sphere and capsule on anything convex. Returns false where the pair must be treated by
// overlap volumes (flat sides, or overlaps deeper than the round skin). patch->kind stays
// AB_PATCH_NONE where they are apart.
bool ab_round_patch(const abPair* pair, const abPatchHint* hint, abVec2* polygon, abPatch* patch);

#endif
