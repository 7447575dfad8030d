// Shared by the files of touch.c.
#ifndef ABUT_COLLIDE_TOUCH_WORK_H
#define ABUT_COLLIDE_TOUCH_WORK_H

#include "collide/touch/touch.h"
#include "geometry/polyhedron.h"
#include "math/spatial.h"

// A patch is never narrower than this fraction of the smaller body: enough for all that is divided
// by its area.
#define AB_TOUCH_WIDTH 1e-5
// Edges at less than this angle (squared) are parallel: their product adds no more to the gap than
// the angle times their length.
#define AB_TOUCH_PARALLEL 1e-10
// Directions closer than this (squared) are the same feature.
#define AB_TOUCH_SAME 1e-6
// Directions with a smaller product are across each other.
#define AB_TOUCH_ACROSS 0.7

// One of the two bodies. Positions are from the work's origin.
typedef struct abTouchSide {
  const abShape* shape;
  const abPolyhedron* poly;  // NULL: a plane
  const abSkin* skin;        // likewise
  abVec3 middle, half;       // of the box about it, in its frame
  bool smooth;               // a mesh taken for the smooth surface through its vertices
  abMat3 R0, R1;             // axes at the start and at the end
  abVec3 p0, p1;             // the shape frame's origin
  abVec3 com;                // at the start
  abTwist twist;             // there
} abTouchSide;

typedef struct abTouchWork {
  const abTouch* touch;
  abTouchSide side[2];
  abVec3 origin;
  double size;   // of the smaller body: half of its diagonal
  double width;  // least width of the patch
  double watch;  // gaps up to this keep the pair
  double tie;    // gaps that differ by less are equal
  abVec3 pull;   // what the step's loads add to the relative way, about the smaller body
  abArena* scratch;
  int* near;  // a vertex of either body that was farthest towards the other: where to look next
} abTouchWork;

// A direction in which the two are told apart, and the gaps along it. It turns with the features
// it belongs to: n is where it is at the start.
typedef struct abTouchFeature {
  abVec3 n;       // from 2 to 1
  double g0, g1;  // gap at the start and at the end
  int face[2];    // the face of either body whose normal it is, -1 if it is none's
  int edge[2];    // the half-edges whose product it is, -1 if they are not known
} abTouchFeature;

// The relative velocity v1 - v2 of the material at x.
static inline abVec3 ab_touch_velocity(const abTouchWork* w, abVec3 x) {
  const abTouchSide *a = &w->side[0], *b = &w->side[1];
  return v3_sub(twist_at(a->twist, v3_sub(x, a->com)), twist_at(b->twist, v3_sub(x, b->com)));
}

// By what features are compared: the gap, and in ties whether it is the last normal (to a
// hundredth), and faces before edges.
static inline double ab_touch_score(const abTouchWork* w, abVec3 n, double gap, bool edges) {
  const abVec3* last = w->touch->normal;
  double same = last ? 1 - 1e4 * v3_norm2(v3_sub(*last, n)) : 0;
  return gap + w->tie * ((same > 0 ? 2 * same : 0) - (edges ? 1 : 0));
}
// Of bodies that overlap, by what features are compared: the side they came from counts four times.
static inline double ab_touch_out(const abTouchWork* w, abVec3 n, double g0) {
  const abVec3* last = w->touch->normal;
  return last && v3_dot(*last, n) > 0.7 ? 0.25 * g0 : g0;
}
// The gap at the end without the step's loads.
static inline double ab_touch_coasting(const abTouchWork* w, abVec3 n, double g1) {
  return g1 - v3_dot(n, w->pull);
}

// The features along which the two are apart, best first: their number. 0: they cannot meet in this
// step.
enum { AB_TOUCH_FEATURES = 15 };
int ab_touch_box_box(abTouchWork* work, abTouchFeature feature[AB_TOUCH_FEATURES]);
// The best one that is none of the first `ntried`, behind them; if not thorough, near the first.
bool ab_touch_hulls(abTouchWork* work, int ntried, bool thorough, abTouchFeature* feature);
// True if boxes about the two stay apart.
bool ab_touch_sat(const abTouchWork* work);
// The axes and places at the end of the step.
void ab_touch_end(abTouchWork* work);

// The vertex farthest along d (axes of the polyhedron); `start` is a guess.
int ab_touch_support(const abPolyhedron* poly, abVec3 d, int start);

// Of the faces about the vertex farthest along `now`, the one that looks most along `mid`, but not
// too steep against `now`.
int ab_touch_face_at(const abPolyhedron* poly, abVec3 now, abVec3 mid, int start);

// Meshes with fewer vertices are what they are; others may stand for something round.
static inline bool ab_touch_facets(const abShape* s) {
  return s->type == AB_SHAPE_MESH && s->poly->nvert >= 60;
}
// The patch of a mesh that is smooth where it touches a plane or a flat face, if that is what there
// is: then *seen tells whether it is in reach.
bool ab_touch_rolls(abTouchWork* work, abVec2* polygon, abPatch* patch, bool* seen);

// The patch of a pair of which at least one is round. False if they cannot meet in this step.
bool ab_touch_round(abTouchWork* work, abVec2* polygon, abPatch* patch);

// Whether the step may bring body i as a whole past the surface of the other along n: by its speed,
// or by turning.
bool ab_touch_sweeps(const abTouchWork* work, int i, abVec3 n);

// The patch of the two faces that look at each other along the feature's direction. False if they
// do not within reach, and pass each other at more than `slack`.
bool ab_touch_faces(const abTouchWork* work, const abTouchFeature* feature, double slack,
                    abVec2* polygon, abPatch* patch);
// A dot between the two farthest points along the feature's direction.
bool ab_touch_dot(const abTouchWork* work, const abTouchFeature* feature, abVec2* polygon,
                  abPatch* patch);

// What follows from the polygon about `at` (work's origin, mid-way between the surfaces where the
// polygon's coordinates are 0) and from the thickness h0, hx, hy there: cleans and widens the
// polygon, moves the centre to its centroid, and fills moments, kind, depth and volume. False if
// there is no polygon.
bool ab_touch_measure(const abTouchWork* work, abVec3 at, abVec2 mid_slope, abVec2* polygon,
                      abPatch* patch);
// The same of a rectangle about `at` with the half length a along u and the half width b <= a; the
// thickness changes along u only.
void ab_touch_measure_strip(const abTouchWork* work, abVec3 at, abVec2 u, double a, double b,
                            abVec2* polygon, abPatch* patch);

#endif
