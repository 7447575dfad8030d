// Where two bricks meet (apart.c).
#ifndef ABUT_COLLIDE_APART_H
#define ABUT_COLLIDE_APART_H

#include <stdbool.h>

// Of two bricks, S and L, that overlap: the axes along which they do so least.
typedef struct abMeeting {
  int face;     // 0 to 2: along the axis of S, 3 to 5: of L; -1: no bricks, or apart
  int edge[2];  // across the axes of S and of L,
  bool edges;   // and along this product less than along any face
} abMeeting;

#endif
