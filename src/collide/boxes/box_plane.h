// The patch of a box that stands on a plane, in closed form (box_plane.c).
#ifndef ABUT_COLLIDE_BOX_PLANE_H
#define ABUT_COLLIDE_BOX_PLANE_H

#include "collide/patch/patch.h"

// Body A of the hint is the box, at pose_a; B the half-space at pose_b. polygon has room for 8
// points. False where the box does not stand on all corners of a face, or rounding leaves doubts:
// then the patch is none.
bool ab_box_plane_patch(const abShape* box, const abPatchHint* hint, abVec2* polygon,
                        abPatch* patch);

#endif
