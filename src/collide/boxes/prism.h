// A slab between two faces that lie on each other, cut into prisms: its integrals, for face_face.c
// and prism.c; and the overlap of two such faces of any number of sides (prism.c).
//
// Prism i, the edge between two neighbouring sides, runs from P_i in the one face to Q_i in the
// other. With positions from P_0 in axes u, v, w, where all P have w = 0, and b_i = Q_i+1 x Q_i,
// the tetrahedra between P_0 and the triangles (Q_i, Q_i+1, P_i+1), (Q_i, P_i+1, P_i) and (Q_0,
// Q_i+1, Q_i) have six times the volumes
//
//   t1 = -P_i+1 . b_i,   t2 = -w(Q_i) (P_i x P_i+1)_w,   t3 = Q_0 . b_i
//
// and fill the slab; its centroid is a mean of theirs. Four prisms are worked on at once: where
// there are fewer, the first follows the last, for the edges from it to itself add nothing.
//
// Why two ways lead here. prism.c alone would do: with support faces of four corners
// (AB_SUPPORT_CORNERS) it gives boxes the same patches, to the last digit summed over the poses of
// bench_geometry. But two boxes know their sides without looking for them, and they are the most
// frequent pair of all. Instructions per pair, of overlap and patch together (bench_geometry under
// callgrind):
//
//                    face_face.c  prism.c  cutting plane by plane
//   box-box face           4228      6270                    8003
//   box-box flush          3977      5547                    8455
//
// And face_face.c cannot do the rest: it takes eight prisms at most, as bits of a word.
#ifndef ABUT_COLLIDE_PRISM_H
#define ABUT_COLLIDE_PRISM_H

#include <string.h>

#include "collide/clip/overlap.h"
#include "math/quad.h"

typedef struct abFourPrisms {
  abFour pu, pv, qu, qv, qw;
} abFourPrisms;

typedef struct abPrismSums {
  abFour volume, last, u, v, w, top, bu, bv, bw;
  abVec3 first;  // Q_0
} abPrismSums;

// Volume, centroid from P_0, twice the area of the face of P and twice the area vector of that of
// Q.
typedef struct abPrismTotal {
  double volume, top;
  abVec3 centroid, bottom;
} abPrismTotal;

static inline void ab_prism_begin(abPrismSums* s, abVec3 first) {
  abFour none = {0};
  s->volume = s->last = s->u = s->v = s->w = s->top = s->bu = s->bv = s->bw = none;
  s->first = first;
}

// Four prisms and those next to them; side: where twice the area vectors of the sides between them
// go, all u, all v and all w.
static inline void ab_prism_add(abPrismSums* s, const abFourPrisms* p, const abFourPrisms* n,
                                double* const side[3]) {
  abVec3 f = s->first;
  abFour cu = n->qv * p->qw - n->qw * p->qv, cv = n->qw * p->qu - n->qu * p->qw,
         cw = n->qu * p->qv - n->qv * p->qu;
  abFour ct = p->pu * n->pv - p->pv * n->pu;
  abFour t1 = -(n->pu * cu + n->pv * cv), t2 = -p->qw * ct, t3 = f.x * cu + f.y * cv + f.z * cw;
  abFour both = t1 + t3, all = both + t2, upper = t1 + t2;
  s->volume += all, s->last += t3, s->top += ct;
  s->bu += cu, s->bv += cv, s->bw += cw;
  s->u += p->qu * all + n->qu * both + n->pu * upper + p->pu * t2;
  s->v += p->qv * all + n->qv * both + n->pv * upper + p->pv * t2;
  s->w += p->qw * all + n->qw * both;
  abFour du = n->pu - p->qu, dv = n->pv - p->qv, eu = p->pu - n->qu, ev = p->pv - n->qv;
  abFour su = p->qw * ev - dv * n->qw, sv = du * n->qw - p->qw * eu, sw = du * ev - dv * eu;
  memcpy(side[0], &su, sizeof su);
  memcpy(side[1], &sv, sizeof sv);
  memcpy(side[2], &sw, sizeof sw);
}

static inline void ab_prism_end(const abPrismSums* s, abPrismTotal* out) {
  double volume = AB_TOTAL(s->volume), last = AB_TOTAL(s->last), per = 0.25 / volume;
  abVec3 moment = {AB_TOTAL(s->u), AB_TOTAL(s->v), AB_TOTAL(s->w)};
  out->volume = volume * (1.0 / 6);
  out->centroid = v3_scale(per, v3_axpy(last, s->first, moment));
  out->top = AB_TOTAL(s->top);
  out->bottom = v3(AB_TOTAL(s->bu), AB_TOTAL(s->bv), AB_TOTAL(s->bw));
}

// The overlap, if a support face of S lies on face `first` of L. False: it does not, rounding
// leaves doubts, or the arena is exhausted; then nothing is changed.
bool ab_prism_overlap(abOverlapWork* work, int first, abArena* arena, abOverlap* out);

#endif
