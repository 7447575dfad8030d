// Four doubles in one register, or in two where the machine has only short ones: the same
// operations on the same lanes either way. For use inside functions marked AB_WIDE.
#ifndef ABUT_COLLIDE_QUAD_H
#define ABUT_COLLIDE_QUAD_H

#include <stdint.h>

#include "base/wide.h"

typedef double abQuad __attribute__((vector_size(32)));
typedef int64_t abQuadMask __attribute__((vector_size(32)));

// x y z w -> y z x w
#define AB_QUAD_TURN(a) __builtin_shufflevector(a, a, 1, 2, 0, 3)
// a x b of the first three; the last is a[3] b[3] - a[3] b[3]
#define AB_QUAD_CROSS(a, b) AB_QUAD_TURN((a)*AB_QUAD_TURN(b) - AB_QUAD_TURN(a) * (b))
// a where the mask is set, else b
#define AB_QUAD_CHOOSE(mask, a, b) \
  ((abQuad)(((mask) & (abQuadMask)(a)) | (~(mask) & (abQuadMask)(b))))
// Of each lane the smaller (larger); b where a is not a number.
#define AB_QUAD_LESS(a, b) AB_QUAD_CHOOSE((a) < (b), a, b)
#define AB_QUAD_MORE(a, b) AB_QUAD_CHOOSE((a) > (b), a, b)

static inline double ab_quad_least(const abQuad* a) {
  double x = (*a)[0] < (*a)[1] ? (*a)[0] : (*a)[1], y = (*a)[2] < (*a)[3] ? (*a)[2] : (*a)[3];
  return x < y ? x : y;
}
static inline double ab_quad_most(const abQuad* a) {
  double x = (*a)[0] > (*a)[1] ? (*a)[0] : (*a)[1], y = (*a)[2] > (*a)[3] ? (*a)[2] : (*a)[3];
  return x > y ? x : y;
}

#endif
