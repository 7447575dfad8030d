// The patch of two boxes in closed form (box_box.c, face_face.c, edge_face.c).
#ifndef ABUT_COLLIDE_BOX_BOX_H
#define ABUT_COLLIDE_BOX_BOX_H

#include "collide/clip/overlap.h"
#include "collide/patch/patch.h"

// After ab_overlap_sat. polygon has room for 16 points. False if they are not both boxes, meet in
// another way, or rounding leaves doubts.
bool ab_box_box_patch(const abOverlapWork* work, const abPatchHint* hint, abVec2* polygon,
                      abPatch* patch);

// --- shared by its files

// What is parallel but for this angle crosses where rounding wants it to: that is left to the
// general method.
#define AB_SKEW 1e-6

// Box Y seen from box X, whose axes and middle are those of its frame.
typedef struct abBoxBoxView {
  double a[3], b[3];  // half lengths of X and of Y
  const double* M;    // axes of Y along those of X, see ab_view
  int row, column;
  double p[3];    // the middle of Y
  double noise;   // rounding of a coordinate
  double doubt;   // what is nearer to a plane than this is left to the general method
  double size;    // of the smaller box, as in abOverlap
  abPose X, Y;    // where the bodies are in the world,
  abVec3 mx, my;  // and where the boxes' middles are in their frames
  bool y_is_a;    // Y is body A
} abBoxBoxView;

// Axis j of Y along axis i of X.
static inline double ab_view(const abBoxBoxView* v, int i, int j) {
  return v->M[i * v->row + j * v->column];
}

// An edge of a slab: from P = (pu, pv, c) in the face of X to Q in that of Y, see face_face.c.
typedef struct abPrism {
  double pu, pv, qu, qv, qw;
  double tp, tq;  // P and Q along the axis of Y by whose sides is being cut
  int side;       // from here to the next prism: 0 to 3 of X, 4 to 7 of Y
} abPrism;

// The overlap of two faces that lie on each other.
enum { AB_PRISMS = 8 };
typedef struct abSlab {
  int n;
  abPrism prism[AB_PRISMS];
  bool both[4];  // side k of X lies in side k + 4 of Y
  // the axes u, v, w in the world, the face of X at the height c; in them, the axes of Y and its
  // middle, and the normals of the sides
  abVec3 u, v, w, U, V, W, p, out[8];
  double c, hU, hV, hW;
  double volume;
  abVec3 centroid, normal;  // from P_0, in these axes; from B to A in the world
} abSlab;

// Face i of X on face j of Y. False: it is no slab.
bool ab_face_face_make(const abBoxBoxView* view, int i, int j, abSlab* slab);
// The patch along patch->normal; its volume is there.
bool ab_face_face_patch(const abBoxBoxView* view, const abSlab* slab, const abPatchHint* hint,
                        abVec2* polygon, abPatch* patch);

// The overlap of an edge with a face, see edge_face.c. An end has its corners at (x0, 0, 0),
// (x1, y, 0) and (x2, 0, z).
typedef struct abWedgeEnd {
  double x0, x1, x2, y, z;
} abWedgeEnd;
typedef struct abWedge {
  double h;         // depth of the corner
  abVec3 m, sign;   // normal of Y's face, and the axes of X, which may be turned round
  abWedgeEnd P, Q;  // at the corner, and beyond
  abVec3 box;       // that holds them, from the corner
  abVec3 cap[2];    // outward normals of the ends
  bool of_y[2];     // which of them lie in sides of Y
  bool y_is_a;
  double volume;
  abVec3 centroid;        // in the axes of the wedge
  abVec3 axis[3];         // these, in the world
  abVec3 center, normal;  // in the world, the normal from B to A
} abWedge;

// The edge along axis i of X in the face of Y across its axis j. False: it is no wedge.
bool ab_edge_face_make(const abBoxBoxView* view, int i, int j, abWedge* wedge);
// The patch along patch->normal; its volume is there.
bool ab_edge_face_patch(const abBoxBoxView* view, const abWedge* wedge, const abPatchHint* hint,
                        abVec2* polygon, abPatch* patch);

#endif
