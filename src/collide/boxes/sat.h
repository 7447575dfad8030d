// Where two boxes meet (sat.c).
#ifndef ABUT_COLLIDE_SAT_H
#define ABUT_COLLIDE_SAT_H

#include <stdbool.h>

// What is nearer to a plane than this many times the rounding of its height is in doubt: the
// methods for boxes, planes and prisms leave it to the general one. Fewer: they disagree with it
// about what lies inside; more: it is asked where it need not be.
static const double AB_DOUBT = 64;

// Of two boxes, S and L, that overlap: the axes along which they do so least.
typedef struct abMeeting {
  int face;     // 0 to 2: along the axis of S, 3 to 5: of L; -1: no boxes, or apart
  int edge[2];  // across the axes of S and of L,
  bool edges;   // and along this product less than along any face
} abMeeting;

#endif
