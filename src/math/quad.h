// Four doubles as two registers of two, which every machine has: mostly a vector x, y, z with a
// fourth number along.
#ifndef ABUT_MATH_QUAD_H
#define ABUT_MATH_QUAD_H

#include <abut/types.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/simd.h"

typedef double abTwo __attribute__((vector_size(16)));
typedef int64_t abTwoMask __attribute__((vector_size(16)));

// Four lanes, for the inside of AB_SIMD functions.
typedef double abFour __attribute__((vector_size(32)));
typedef int64_t abFourMask __attribute__((vector_size(32)));
// Macros, since such vectors are not to be handed over: of each lane the larger (smaller), b where
// a is not a number; and the sum of the lanes.
#define AB_FOUR_PICK(m, a, b) ((abFour)(((m) & (abFourMask)(a)) | (~(m) & (abFourMask)(b))))
#define AB_FOUR_MORE(a, b) AB_FOUR_PICK((a) > (b), a, b)
#define AB_FOUR_LESS(a, b) AB_FOUR_PICK((a) < (b), a, b)
// Of all lanes the smallest and the largest.
#define AB_SMALLER(a, b) ((a) < (b) ? (a) : (b))
#define AB_LARGER(a, b) ((a) > (b) ? (a) : (b))
#define AB_FOUR_LEAST(a) AB_SMALLER(AB_SMALLER(a[0], a[1]), AB_SMALLER(a[2], a[3]))
#define AB_FOUR_MOST(a) AB_LARGER(AB_LARGER(a[0], a[1]), AB_LARGER(a[2], a[3]))
// As quad_turn and quad_cross.
#define AB_FOUR_TURN(a) __builtin_shufflevector(a, a, 1, 2, 0, 3)
#define AB_FOUR_CROSS(a, b) AB_FOUR_TURN((a)*AB_FOUR_TURN(b) - AB_FOUR_TURN(a) * (b))
#ifdef __SSE2__  // four calls of sqrt stay four instructions
#define AB_TWO_ROOT(a, i) ((abTwo)_mm_sqrt_pd((__m128d)__builtin_shufflevector(a, a, i, i + 1)))
#define AB_FOUR_ROOT(a) __builtin_shufflevector(AB_TWO_ROOT(a, 0), AB_TWO_ROOT(a, 2), 0, 1, 2, 3)
#else
#define AB_FOUR_ROOT(a) ((abFour){sqrt((a)[0]), sqrt((a)[1]), sqrt((a)[2]), sqrt((a)[3])})
#endif
#define AB_TOTAL(a) ((a[0] + a[1]) + (a[2] + a[3]))
// The totals of four at once, as AB_TOTAL adds them, in a fifth of the instructions.
#define AB_FOUR_PAIRS(a, b) \
  (__builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7))
#define AB_FOUR_ENDS(p, q) \
  (__builtin_shufflevector(p, q, 0, 1, 4, 5) + __builtin_shufflevector(p, q, 2, 3, 6, 7))
#define AB_FOUR_TOTALS(a, b, c, d) AB_FOUR_ENDS(AB_FOUR_PAIRS(a, b), AB_FOUR_PAIRS(c, d))

typedef struct abQuad {
  abTwo xy, zw;
} abQuad;

static inline abQuad quad(double x, double y, double z, double w) {
  return (abQuad){{x, y}, {z, w}};
}
static inline abQuad quad_all(double s) { return quad(s, s, s, s); }
static inline abVec3 quad_v3(abQuad a) { return (abVec3){a.xy[0], a.xy[1], a.zw[0]}; }
static inline abQuad quad_add(abQuad a, abQuad b) { return (abQuad){a.xy + b.xy, a.zw + b.zw}; }
static inline abQuad quad_sub(abQuad a, abQuad b) { return (abQuad){a.xy - b.xy, a.zw - b.zw}; }
static inline abQuad quad_mul(abQuad a, abQuad b) { return (abQuad){a.xy * b.xy, a.zw * b.zw}; }
static inline abQuad quad_scale(double s, abQuad a) { return (abQuad){s * a.xy, s * a.zw}; }
// a + s b
static inline abQuad quad_axpy(double s, abQuad b, abQuad a) {
  return (abQuad){a.xy + s * b.xy, a.zw + s * b.zw};
}
// x y z w -> y z x w
static inline abQuad quad_turn(abQuad a) {
  return (abQuad){__builtin_shufflevector(a.xy, a.zw, 1, 2),
                  __builtin_shufflevector(a.xy, a.zw, 0, 3)};
}
// The cross product of the first three; the fourth is 0 (or not a number).
static inline abQuad quad_cross(abQuad a, abQuad b) {
  return quad_turn(quad_sub(quad_mul(a, quad_turn(b)), quad_mul(quad_turn(a), b)));
}
// Of the first three.
static inline double quad_dot3(abQuad a, abQuad b) {
  abTwo p = a.xy * b.xy;
  return p[0] + p[1] + a.zw[0] * b.zw[0];
}

// Of each lane the smaller (larger); b where a is not a number.
static inline abTwo two_less(abTwo a, abTwo b) {
  abTwoMask m = a < b;
  return (abTwo)((m & (abTwoMask)a) | (~m & (abTwoMask)b));
}
static inline abTwo two_more(abTwo a, abTwo b) {
  abTwoMask m = a > b;
  return (abTwo)((m & (abTwoMask)a) | (~m & (abTwoMask)b));
}
static inline abTwo two_abs(abTwo a) { return two_more(a, -a); }
static inline abQuad quad_less(abQuad a, abQuad b) {
  return (abQuad){two_less(a.xy, b.xy), two_less(a.zw, b.zw)};
}
static inline abQuad quad_more(abQuad a, abQuad b) {
  return (abQuad){two_more(a.xy, b.xy), two_more(a.zw, b.zw)};
}
static inline abQuad quad_abs(abQuad a) { return (abQuad){two_abs(a.xy), two_abs(a.zw)}; }

#endif
