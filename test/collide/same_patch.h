// Patches found in two ways.
#ifndef ABUT_TEST_COLLIDE_SAME_PATCH_H
#define ABUT_TEST_COLLIDE_SAME_PATCH_H

#include "collide/patch/patch.h"
#include "support/check.h"

// blur: what rounding of the coordinates makes of the overlap.
static inline void check_same_patch(const abPatch* a, const abPatch* b, double blur, double noise) {
  double d = 0;
  for (int i = 0; i < b->nvert; i++) d = fmax(d, v2_norm(b->polygon[i]));
  assert_int_equal(a->kind, b->kind);
  check_near(a->volume, b->volume, blur * b->volume);
  check_vec_near(a->center, b->center, blur * d + 8 * noise);
  // where sides cross at a millionth of a radian is known to a million times the noise
  check_vec_near(a->normal, b->normal, blur + 1e-9);
  check_vec_near(a->t1, b->t1, 8 * blur + 1e-8);
  check_near(a->area, b->area, blur * d * d);
  double d4 = d * d * d * d;
  check_near(a->mxx, b->mxx, 4 * blur * d4);
  check_near(a->mxy, b->mxy, 4 * blur * d4);
  check_near(a->myy, b->myy, 4 * blur * d4);
  // to the general way, faces that lean by less than a millionth are upright: where a chord ends in
  // one, it is wrong by that times the slope of the others
  check_near(a->depth, b->depth, (blur + 1e-7) * b->depth);
  // slopes of a thickness over a narrow patch are uncertain
  if (b->area < 1e-2 * d * d) return;
  check_near(a->h0, b->h0, 1e3 * blur * b->depth);
  check_near(a->hx * d, b->hx * d, 1e3 * blur * b->depth);
  check_near(a->hy * d, b->hy * d, 1e3 * blur * b->depth);
}

#endif
