// Convex polyhedra with polygonal faces: made from points, from given faces, from the shapes.
//
// Every function that makes one returns a single block of ab_alloc that ab_polyhedron_free gives
// back, or NULL with the error filled in. Messages carry no file and line: a caller that knows
// where the points came from adds them.
#ifndef ABUT_GEOMETRY_POLYHEDRON_H
#define ABUT_GEOMETRY_POLYHEDRON_H

#include <abut/model.h>
#include <stdint.h>

// The surface as half-edges: each edge is run through once on either side. Half-edge h of edge h /
// 2 (h even: as the edge is listed) leaves vertex `from` with face `left` on its left, where `next`
// follows; h ^ 1 is the same edge the other way.
typedef struct abHalf {
  int from, next, left;
} abHalf;

// An edge in one word, from the lowest byte: its vertices, and the faces on its left and right.
// Only of polyhedra whose numbers fit.
typedef uint32_t abLink;
static inline abLink ab_link(int from, int to, int left, int right) {
  return (abLink)from | (abLink)to << 8 | (abLink)left << 16 | (abLink)right << 24;
}
static inline int ab_link_from(abLink e) { return (int)(e & 255); }
static inline int ab_link_to(abLink e) { return (int)(e >> 8 & 255); }
static inline int ab_link_left(abLink e) { return (int)(e >> 16 & 255); }
static inline int ab_link_right(abLink e) { return (int)(e >> 24); }

// What overlaps need of a polyhedron beyond abPolyhedron. It lies in the polyhedron's block.
typedef struct abSkin {
  abVec3 middle, half;  // bounding box in the shape's frame
  double size, spread;  // half of its diagonal, and the sum of the half lengths
  double thin;          // twice the distance from the centroid to the nearest face
  bool boxlike;         // vertices, faces and edges are those of ab_polyhedron_box; corners may
                        // lie elsewhere
  bool box;             // likewise, and the faces' normals are the axes exactly
  int nsupport;         // of its support faces
} abSkin;

// A face of many corners on which a body may stand: each corner has one edge that leads away from
// it, and all lie in the plane of the face to rounding. Its numbers are in lanes,
// AB_SUPPORT_NUMBERS for each corner: u and v of it, the edge that leads away along u, v and w, and
// likewise the normal of the side that follows. The first corner fills the places that are left
// over.
typedef struct abSupportFace {
  int face, n;
  int start, pad;     // of its numbers, see ab_polyhedron_support_lanes
  abVec3 o, u, v, w;  // the first corner, from the centroid; axes, w the normal
  abQuat q;           // that turns x, y, z into u, v, w
} abSupportFace;

// Faces of so many corners or more count as support faces.
enum { AB_SUPPORT_CORNERS = 8, AB_SUPPORT_NUMBERS = 8 };

// Vertices closer to a plane than this fraction of the size of the whole lie in it. Files hold
// coordinates to single precision (STL: 6e-8) or to six digits (OBJ, often: 5e-7), so a flat face
// of a file is flat only to that; and a smooth surface would need two million triangles before its
// facets were as flat as this against each other.
#define AB_FLAT 1e-6

// The convex hull. Coplanar facets are one polygon; points that are no corners are left out. The
// result does not depend on the order of the points: vertices are sorted by x, y, z, each face
// begins with its smallest vertex, faces and edges are sorted by their vertices.
abPolyhedron* ab_polyhedron_hull(int n, const abVec3* point, abError* error);
// The same for points known better than files know them: only what is flat to the fraction `flat`
// of the size counts as flat (0: what double rounding cannot tell apart).
abPolyhedron* ab_polyhedron_hull_flat(int n, const abVec3* point, double flat, abError* error);
// The box of these half lengths, in the order ab_polyhedron_hull gives its corners.
abPolyhedron* ab_polyhedron_box(abVec3 half);
// Given faces: face f is loop[face_start[f]] .. loop[face_start[f + 1] - 1], counter-clockwise seen
// from outside. Checked to be closed, flat and convex. Vertices and faces keep their order, unless
// faces that share an edge are coplanar: then the hull is returned, which has them merged.
abPolyhedron* ab_polyhedron_faces(int nvert, const abVec3* vert, int nface, const int* face_start,
                                  const int* loop, abError* error);
// The polyhedron of a shape: exact for boxes, a copy for meshes, for the smooth shapes an inscribed
// one whose volume falls short by at most the fraction volume_error (see tessellate.c). *achieved
// (may be NULL) is the fraction reached. Planes have none.
abPolyhedron* ab_polyhedron_of_shape(const abShape* shape, double volume_error, double* achieved,
                                     abError* error);
void ab_polyhedron_free(abPolyhedron* poly);

// What of a polyhedron cannot be had again to the last bit from the rest: model files hold this.
typedef struct abPolyhedronData {
  int nvert, nface, nloop;
  const abVec3* vert;
  const abPlane* plane;
  const int *face_start, *loop;
  abVec3 centroid;
  double volume, radius;
} abPolyhedronData;

// The polyhedron of these numbers, bit for bit the one they were taken from; refused where they
// are no closed convex surface, or contradict each other.
abPolyhedron* ab_polyhedron_restore(const abPolyhedronData* data, abError* error);

// Parts of the block that abPolyhedron does not name; only for polyhedra made here.
static inline const abSkin* ab_polyhedron_skin(const abPolyhedron* p) {
  return (const abSkin*)(const void*)(p->plane + p->nface);
}
// 2 nedge of them.
static inline const abHalf* ab_polyhedron_half(const abPolyhedron* p) {
  return (const abHalf*)(const void*)(p->loop + p->nloop);
}
// A half-edge that leaves each vertex, and one of each face.
static inline const int* ab_polyhedron_vert_half(const abPolyhedron* p) {
  return (const int*)(ab_polyhedron_half(p) + 2 * p->nedge);
}
static inline const int* ab_polyhedron_face_half(const abPolyhedron* p) {
  return ab_polyhedron_vert_half(p) + p->nvert;
}

static inline const abLink* ab_polyhedron_link(const abPolyhedron* p) {
  return (const abLink*)(const void*)(ab_polyhedron_face_half(p) + p->nface);
}
// The vertices from the centroid as x, y, z, 1, in an even number of places; the last may be no
// number.
static inline int ab_polyhedron_places(const abPolyhedron* p) { return (p->nvert + 1) & ~1; }
static inline const double* ab_polyhedron_points(const abPolyhedron* p) {
  return (const double*)(const void*)(ab_polyhedron_skin(p) + 1);
}

// Numbers in lanes, for loops that work on several at once: the coordinates of the vertices from
// the centroid, all x, then all y, all z; and of the planes all x, y, z of the normals and all
// offsets. There are so many places of each, the last not numbers, or planes out of everyone's
// reach.
static inline int ab_polyhedron_lanes(int n) { return (n + 3) & ~3; }
static inline const double* ab_polyhedron_vert_lanes(const abPolyhedron* p) {
  return ab_polyhedron_points(p) + 4 * ab_polyhedron_places(p);
}
static inline const double* ab_polyhedron_plane_lanes(const abPolyhedron* p) {
  return ab_polyhedron_vert_lanes(p) + 3 * ab_polyhedron_lanes(p->nvert);
}

// Of a polyhedron of many vertices some, spread all around: where a search for the farthest begins,
// and enough to tell most pairs apart. Their coordinates from the centroid, in lanes, and which
// they are.
enum { AB_MANY_VERTICES = 96, AB_FEW = 32 };
static inline int ab_polyhedron_few(int nvert) { return nvert > AB_MANY_VERTICES ? AB_FEW : 0; }
static inline const double* ab_polyhedron_few_lanes(const abPolyhedron* p) {
  return ab_polyhedron_plane_lanes(p) + 4 * ab_polyhedron_lanes(p->nface);
}
static inline const int* ab_polyhedron_few_vertex(const abPolyhedron* p) {
  return (const int*)(const void*)(ab_polyhedron_few_lanes(p) + 3 * ab_polyhedron_few(p->nvert));
}

// The edges at vertex v, run through away from it: from star[start[v]] to star[start[v + 1] - 1].
static inline const abLink* ab_polyhedron_star(const abPolyhedron* p) {
  return ab_polyhedron_link(p) + p->nedge;
}
static inline const int* ab_polyhedron_star_start(const abPolyhedron* p) {
  return (const int*)(const void*)(ab_polyhedron_star(p) + 2 * p->nedge);
}

// The face across the edge that follows each corner of the loops.
static inline const int* ab_polyhedron_across(const abPolyhedron* p) {
  return ab_polyhedron_star_start(p) + p->nvert + 1;
}
// The support faces, nsupport of the skin, and their numbers.
static inline const abSupportFace* ab_polyhedron_support_faces(const abPolyhedron* p) {
  size_t offset = (size_t)((const char*)(ab_polyhedron_across(p) + p->nloop) - (const char*)p);
  return (const abSupportFace*)(const void*)((const char*)p + ((offset + 7) & ~(size_t)7));
}
static inline const double* ab_polyhedron_support_lanes(const abPolyhedron* p) {
  return (const double*)(const void*)(ab_polyhedron_support_faces(p) +
                                      ab_polyhedron_skin(p)->nsupport);
}

// Face 2 k + 1 (or 2 k) of this list is the one of a box that looks along axis k (against it).
extern const int AB_BOX_FACE[6];
// For a centroid that is known better than by the sums.
void ab_polyhedron_set_centroid(abPolyhedron* poly, abVec3 centroid);

// The block's size, and a copy of it into memory of that size (aligned as ab_alloc aligns).
size_t ab_polyhedron_bytes(const abPolyhedron* poly);
abPolyhedron* ab_polyhedron_copy(const abPolyhedron* poly, void* memory);
// A new polyhedron: poly seen from the frame in which it lies at `pose`.
abPolyhedron* ab_polyhedron_moved(const abPolyhedron* poly, abPose pose, abError* error);

// The block for these vertices and faces with planes, edges and moments computed, nothing checked
// but that each edge has two faces.
abPolyhedron* ab_polyhedron_build(int nvert, const abVec3* vert, int nface, const int* face_start,
                                  const int* loop, abError* error);

#endif
