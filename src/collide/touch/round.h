// Shared by the files of round.c.
#ifndef ABUT_COLLIDE_TOUCH_ROUND_H
#define ABUT_COLLIDE_TOUCH_ROUND_H

#include "collide/touch/work.h"

// Half width of strips and dots, of the radius.
#define AB_TOUCH_DOT 1e-5
// Faces of a polyhedron that are looked at one by one, at most.
#define AB_TOUCH_MANY_FACES 200
// Who comes deeper than this share of the smaller body strikes, or is too deep for its normal to
// tell how it rolls on.
#define AB_TOUCH_NOT_DEEP 0.1

// Both bodies at some time of the step; from the work's origin.
typedef struct abTouchPlace {
  double time;  // since the start
  abPose pose[2];
  abMat3 R[2];
  abVec3 com[2];
} abTouchPlace;

// The nearest points of a shape along a normal: one, or the ends of a segment.
typedef struct abTouchLine {
  int n;
  abVec3 p[2];
} abTouchLine;

// A direction from 2 to 1 and the gap along it; the face or flat end it belongs to.
typedef struct abTouchWay {
  abVec3 n;
  double gap;
  int side, face;  // -1: none; face of a polyhedron, or 0, 1 for the ends of a cylinder
} abTouchWay;

static inline const abTwist* ab_touch_twist(const abTouchWork* w, int i) {
  const abTwist* before = i ? w->touch->before2 : w->touch->before1;
  return before ? before : &w->side[i].twist;
}

// A ball, or a segment with a skin about it.
static inline bool ab_touch_has_skin(const abTouchSide* s) {
  return s->shape->type == AB_SHAPE_SPHERE || s->shape->type == AB_SHAPE_CAPSULE;
}

static inline bool ab_touch_flat(const abTouchSide* s) {
  return s->shape->type == AB_SHAPE_BOX || (s->shape->type == AB_SHAPE_MESH && !s->smooth);
}
// The point of the smooth surface through the vertices that is farthest along d, as `vertex` is of
// them, if the mesh is meant to be round there (smooth.c).
// *deep: how far edges that long may lie below it.
bool ab_touch_smooth(const abPolyhedron* poly, int vertex, abVec3 d, abVec3* point, double* deep);
// Both bodies `time` after the start, with the twists of the start.
void ab_touch_place(const abTouchWork* w, double time, abTouchPlace* out);
// The point of body i farthest along d.
abVec3 ab_touch_far(const abTouchWork* w, const abTouchPlace* at, int i, abVec3 d);
double ab_touch_gap(const abTouchWork* w, const abTouchPlace* at, abVec3 n);

// The direction in which the two are nearest; guess: that of the last step, or NULL.
void ab_touch_find_way(const abTouchWork* w, const abTouchPlace* at, const abVec3* guess,
                       abTouchWay* way);
// The gap at the start, and its direction.
double ab_touch_way_now(const abTouchWork* w, const abVec3* guess, abVec3* n);

// The place at which the contact is linearised, and the way there. False if the two do not meet.
bool ab_touch_meet(const abTouchWork* w, abTouchPlace* at, abTouchWay* way);
// The same for body i taken as smooth, on a plane or a flat face of the other. False also if it is
// not smooth there, or strikes harder than that.
bool ab_touch_meet_smooth(const abTouchWork* w, int i, abTouchPlace* at, abTouchWay* way);

// What of body i is nearest to the other along n (line.c): only what the step can reach of
// it. A line that rises is cut, and one that stands upright is its lower end.
abTouchLine ab_touch_line(const abTouchWork* w, const abTouchPlace* at, int i, abVec3 n);
// The edge of polyhedron i that lies flattest at its vertex nearest to the other along n.
abTouchLine ab_touch_edge(const abTouchWork* w, const abTouchPlace* at, int i, abVec3 n);
// Leaves the end that is farther along d.
void ab_touch_keep_lowest(abVec3 d, abTouchLine* l);
// What of the line lies over the face of the way; false if nothing does.
bool ab_touch_cut_line(const abTouchWork* w, const abTouchPlace* at, const abTouchWay* way,
                       abTouchLine* l);
// The face of a cylinder's tessellation that is its lower or upper end.
int ab_touch_end_face(const abPolyhedron* p, int end);
// Nearest points of two segments m + s e, |s| <= l.
void ab_touch_segments(abVec3 ma, abVec3 ea, double la, abVec3 mb, abVec3 eb, double lb, abVec3* pa,
                       abVec3* pb);

#endif
