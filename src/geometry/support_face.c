// The faces of a polyhedron on which it may stand, prepared for overlaps (collide/boxes/prism.c).
// Tests: test_touch, test_polyhedron.
#include "geometry/support_face.h"

#include <float.h>

#include "math/rotation.h"

// A corner lies in the plane of its face if it is no further from it than its coordinates may have
// been rounded.
static const double SUPPORT_ROUNDING = 2 * DBL_EPSILON;

static inline int end_of(const abHalf* half, int h) { return half[h ^ 1].from; }
// The half-edge that leaves the same vertex, on the right of h.
static inline int around(const abHalf* half, int h) { return half[h ^ 1].next; }

// The half-edge of face f that leaves its first corner.
static int first_half(const abPolyhedron* p, int f) {
  const abHalf* half = ab_polyhedron_half(p);
  int h = ab_polyhedron_face_half(p)[f];
  while (half[h].from != p->loop[p->face_start[f]]) h = half[h].next;
  return h;
}

static void fill_across(abPolyhedron* p) {
  const abHalf* half = ab_polyhedron_half(p);
  int* across = (int*)(void*)ab_polyhedron_across(p);
  for (int f = 0; f < p->nface; f++) {
    int h = first_half(p, f);
    for (int i = p->face_start[f]; i < p->face_start[f + 1]; i++, h = half[h].next)
      across[i] = half[h ^ 1].left;
  }
}

// Are its corners in the plane, with three edges each?
static bool is_support_face(const abPolyhedron* p, int f) {
  const abHalf* half = ab_polyhedron_half(p);
  double flat = SUPPORT_ROUNDING * ab_polyhedron_skin(p)->size;
  int first = p->face_start[f], h = first_half(p, f);
  if (p->face_start[f + 1] - first < AB_SUPPORT_CORNERS) return false;
  abVec3 o = p->vert[p->loop[first]], w = p->plane[f].n;
  for (int i = first; i < p->face_start[f + 1]; i++, h = half[h].next) {
    if (around(half, around(half, around(half, h))) != h) return false;
    if (fabs(v3_dot(w, v3_sub(p->vert[p->loop[i]], o))) > flat) return false;
  }
  return true;
}

static void fill_support_face(const abPolyhedron* p, abSupportFace* support, double* number) {
  const abHalf* half = ab_polyhedron_half(p);
  int h = first_half(p, support->face), first = h, lanes = ab_polyhedron_lanes(support->n);
  abVec3 o = p->vert[half[first].from], u, v, w = p->plane[support->face].n;
  v3_tangents(w, &u, &v);
  abMat3 axes = {{{u.x, v.x, w.x}, {u.y, v.y, w.y}, {u.z, v.z, w.z}}};
  support->o = v3_sub(o, p->centroid);
  support->u = u, support->v = v, support->w = w;
  support->q = quat_from_matrix(&axes);
  for (int i = 0; i < lanes; i++, h = half[h].next) {
    int g = i < support->n ? h : first;
    abVec3 corner = p->vert[half[g].from], r = v3_sub(corner, o);
    // the edge on the right of g lies between the two sides
    abVec3 d = v3_sub(p->vert[end_of(half, around(half, g))], corner);
    abVec3 n = p->plane[half[g ^ 1].left].n;
    double of_corner[AB_SUPPORT_NUMBERS] = {v3_dot(u, r), v3_dot(v, r), v3_dot(u, d), v3_dot(v, d),
                                            v3_dot(w, d), v3_dot(u, n), v3_dot(v, n), v3_dot(w, n)};
    for (int k = 0; k < AB_SUPPORT_NUMBERS; k++) number[k * lanes + i] = of_corner[k];
  }
}

void ab_polyhedron_fill_support_faces(abPolyhedron* p) {
  fill_across(p);
  abSkin* skin = (abSkin*)(void*)ab_polyhedron_skin(p);
  abSupportFace* support = (abSupportFace*)(void*)ab_polyhedron_support_faces(p);
  skin->nsupport = 0;
  int start = 0;
  for (int f = 0; f < p->nface; f++) {
    if (!is_support_face(p, f)) continue;
    int n = p->face_start[f + 1] - p->face_start[f];
    support[skin->nsupport++] = (abSupportFace){.face = f, .n = n, .start = start};
    start += AB_SUPPORT_NUMBERS * ab_polyhedron_lanes(n);
  }
  double* number = (double*)(void*)ab_polyhedron_support_lanes(p);
  for (int i = 0; i < skin->nsupport; i++)
    fill_support_face(p, &support[i], number + support[i].start);
}
