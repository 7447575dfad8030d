// Polyhedra in one block: struct, vertices, planes, skin, vertices by four, vertices and planes in
// lanes, a few of the vertices, edges, face starts, loops, half-edges, one half-edge of each vertex
// and each face, the edges in short, the same by vertex, the faces across the edges, and the
// support faces.
//
// A face's plane has Newell's normal, sum over the loop of (a - c) x (b - c) for consecutive
// vertices a, b and any c (here the mean of the vertices, which keeps the products small): the
// normal of least error for a loop that is flat only up to rounding. Its offset is the mean of n .
// v.
//
// Volume and centroid are sums over the tetrahedra between the mean of all vertices and the faces'
// triangles, so that they lose no digits when the polyhedron lies far from its frame's origin.
#include "geometry/polyhedron.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "geometry/support_face.h"
#include "math/rotation.h"

typedef struct HalfEdge {
  int low, high;  // its vertices
  int reversed;   // 1: runs from high to low
  int face;
} HalfEdge;

static size_t bytes_of(int nvert, int nface, const int* face_start) {
  size_t lanes = 3 * (size_t)ab_polyhedron_lanes(nvert) + 4 * (size_t)ab_polyhedron_lanes(nface);
  lanes += (size_t)ab_polyhedron_few(nvert) * 4;  // a vertex's number in the room of another one
  size_t support = 8;                             // they begin at a multiple of it
  int nloop = face_start[nface];
  for (int f = 0; f < nface; f++) {
    int n = face_start[f + 1] - face_start[f];
    if (n < AB_SUPPORT_CORNERS) continue;
    support += sizeof(abSupportFace) +
               AB_SUPPORT_NUMBERS * (size_t)ab_polyhedron_lanes(n) * sizeof(double);
  }
  return sizeof(abPolyhedron) + (size_t)nvert * sizeof(abVec3) + (size_t)nface * sizeof(abPlane) +
         sizeof(abSkin) + (4 * (size_t)(nvert + 1) + lanes) * sizeof(double) +
         (size_t)(nloop / 2) * (sizeof(int[4]) + 3 * sizeof(abLink)) +
         (size_t)nloop * (sizeof(abHalf) + sizeof(int)) +
         (size_t)(nface + 1 + nloop + nvert + nface + nvert + 1) * sizeof(int) + support;
}

// Points the arrays into the block behind the struct.
static void point_into(abPolyhedron* p) {
  char* at = (char*)(p + 1);
  p->vert = (const abVec3*)(void*)at;
  at += (size_t)p->nvert * sizeof(abVec3);
  p->plane = (const abPlane*)(void*)at;
  at += (size_t)p->nface * sizeof(abPlane) + sizeof(abSkin);
  at += 4 * (size_t)ab_polyhedron_places(p) * sizeof(double);
  at += 3 * (size_t)ab_polyhedron_lanes(p->nvert) * sizeof(double);
  at += 4 * (size_t)ab_polyhedron_lanes(p->nface) * sizeof(double);
  at += 4 * (size_t)ab_polyhedron_few(p->nvert) * sizeof(double);
  p->edge = (const int(*)[4])(void*)at;
  at += (size_t)p->nedge * sizeof(int[4]);
  p->face_start = (const int*)(void*)at;
  p->loop = p->face_start + p->nface + 1;
}

size_t ab_polyhedron_bytes(const abPolyhedron* p) {
  return bytes_of(p->nvert, p->nface, p->face_start);
}

abPolyhedron* ab_polyhedron_copy(const abPolyhedron* p, void* memory) {
  memcpy(memory, p, ab_polyhedron_bytes(p));
  point_into(memory);
  return memory;
}

void ab_polyhedron_free(abPolyhedron* p) { ab_free(p); }

static abVec3 mean_of_loop(const abVec3* vert, const int* loop, int n) {
  abVec3 c = v3_zero();
  for (int i = 0; i < n; i++) c = v3_add(c, vert[loop[i]]);
  return v3_scale(1.0 / n, c);
}

static abPlane plane_of_loop(const abVec3* vert, const int* loop, int n) {
  abVec3 c = mean_of_loop(vert, loop, n), normal = v3_zero();
  for (int i = 0; i < n; i++) {
    abVec3 a = v3_sub(vert[loop[i]], c), b = v3_sub(vert[loop[(i + 1) % n]], c);
    normal = v3_add(normal, v3_cross(a, b));
  }
  normal = v3_unit(normal);
  return (abPlane){normal, v3_dot(normal, c)};
}

static int compare_half_edges(const void* a, const void* b) {
  const HalfEdge *x = a, *y = b;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  if (x->high != y->high) return x->high < y->high ? -1 : 1;
  return x->reversed - y->reversed;
}

// Edges sorted by their vertices. AB_ERROR_SCENE unless each is run through once in each direction.
static abStatus fill_edges(abPolyhedron* p) {
  HalfEdge* half = ab_alloc((size_t)p->nloop * sizeof *half);
  if (!half) return AB_ERROR_MEMORY;
  for (int f = 0; f < p->nface; f++)
    for (int i = p->face_start[f]; i < p->face_start[f + 1]; i++) {
      int a = p->loop[i], b = p->loop[i + 1 < p->face_start[f + 1] ? i + 1 : p->face_start[f]];
      half[i] = a < b ? (HalfEdge){a, b, 0, f} : (HalfEdge){b, a, 1, f};
    }
  qsort(half, (size_t)p->nloop, sizeof *half, compare_half_edges);
  bool closed = p->nloop % 2 == 0;
  int(*edge)[4] = (int(*)[4])(void*)p->edge;
  for (int e = 0; closed && e < p->nedge; e++) {
    HalfEdge x = half[2 * e], y = half[2 * e + 1];
    closed = x.low < x.high && x.low == y.low && x.high == y.high && !x.reversed && y.reversed;
    edge[e][0] = x.low, edge[e][1] = x.high, edge[e][2] = x.face, edge[e][3] = y.face;
  }
  ab_free(half);
  return closed ? AB_OK : AB_ERROR_SCENE;
}

static void fill_moments(abPolyhedron* p) {
  abVec3 o = v3_zero();
  for (int i = 0; i < p->nvert; i++) {
    o = v3_axpy(1.0 / p->nvert, p->vert[i], o);
    p->radius = fmax(p->radius, v3_norm(p->vert[i]));
  }
  abVec3 moment = v3_zero();
  for (int f = 0; f < p->nface; f++) {
    const int* loop = p->loop + p->face_start[f];
    int n = p->face_start[f + 1] - p->face_start[f];
    abVec3 a = v3_sub(p->vert[loop[0]], o);
    for (int i = 1; i + 1 < n; i++) {
      abVec3 b = v3_sub(p->vert[loop[i]], o), c = v3_sub(p->vert[loop[i + 1]], o);
      double v = v3_dot(a, v3_cross(b, c)) / 6;
      p->volume += v;
      moment = v3_axpy(v / 4, v3_add(a, v3_add(b, c)), moment);
    }
  }
  p->centroid = v3_add(o, v3_scale(1 / p->volume, moment));
}

static const int BOX_START[7] = {0, 4, 8, 12, 16, 20, 24};
static const int BOX_LOOP[24] = {0, 1, 3, 2, 0, 2, 6, 4, 0, 4, 5, 1,
                                 1, 5, 7, 3, 2, 3, 7, 6, 4, 6, 7, 5};

const int AB_BOX_FACE[6] = {0, 5, 2, 4, 1, 3};

// The normal of AB_BOX_FACE[i].
static abVec3 box_normal(int i) {
  double sign = i & 1 ? 1 : -1;
  return v3(i / 2 == 0 ? sign : 0, i / 2 == 1 ? sign : 0, i / 2 == 2 ? sign : 0);
}

static bool is_box(const abPolyhedron* p) {
  for (int i = 0; i < 6; i++) {
    abVec3 n = p->plane[AB_BOX_FACE[i]].n, axis = box_normal(i);
    if (n.x != axis.x || n.y != axis.y || n.z != axis.z) return false;
  }
  return true;
}

static void fill_lanes(abPolyhedron* p) {
  int n = ab_polyhedron_lanes(p->nvert), m = ab_polyhedron_lanes(p->nface);
  double* x = (double*)(void*)ab_polyhedron_vert_lanes(p);
  for (int i = 0; i < n; i++) {
    abVec3 v = i < p->nvert ? v3_sub(p->vert[i], p->centroid) : v3(NAN, NAN, NAN);
    x[i] = v.x, x[n + i] = v.y, x[2 * n + i] = v.z;
  }
  double* a = (double*)(void*)ab_polyhedron_plane_lanes(p);
  for (int i = 0; i < m; i++) {
    abPlane plane = i < p->nface ? p->plane[i] : (abPlane){v3_zero(), DBL_MAX};
    a[i] = plane.n.x, a[m + i] = plane.n.y, a[2 * m + i] = plane.n.z, a[3 * m + i] = plane.d;
  }
}

// The vertices farthest along directions spread evenly over the sphere, in units of the bounding
// box: turned by the golden angle from height to height.
static void fill_few(abPolyhedron* p) {
  int few = ab_polyhedron_few(p->nvert);
  abVec3 h = ab_polyhedron_skin(p)->half;
  double* x = (double*)(void*)ab_polyhedron_few_lanes(p);
  int* vertex = (int*)(void*)ab_polyhedron_few_vertex(p);
  for (int i = 0; i < few; i++) {
    double z = 1 - (2 * i + 1.0) / few, r = sqrt(1 - z * z), turn = 2.399963229728653 * i;
    abVec3 d = v3(r * cos(turn) / h.x, r * sin(turn) / h.y, z / h.z);
    int best = 0;
    for (int k = 1; k < p->nvert; k++)
      if (v3_dot(d, p->vert[k]) > v3_dot(d, p->vert[best])) best = k;
    abVec3 v = v3_sub(p->vert[best], p->centroid);
    vertex[i] = best;
    x[i] = v.x, x[few + i] = v.y, x[2 * few + i] = v.z;
  }
}

// What follows from vertices, planes and centroid.
static void fill_skin(abPolyhedron* p) {
  abSkin* skin = (abSkin*)(void*)ab_polyhedron_skin(p);
  abVec3 low = p->vert[0], high = low;
  for (int i = 1; i < p->nvert; i++) {
    abVec3 v = p->vert[i];
    low = v3(fmin(low.x, v.x), fmin(low.y, v.y), fmin(low.z, v.z));
    high = v3(fmax(high.x, v.x), fmax(high.y, v.y), fmax(high.z, v.z));
  }
  skin->middle = v3_scale(0.5, v3_add(low, high));
  skin->half = v3_scale(0.5, v3_sub(high, low));
  skin->size = v3_norm(skin->half);
  skin->spread = skin->half.x + skin->half.y + skin->half.z;
  skin->thin = INFINITY;
  for (int f = 0; f < p->nface; f++)
    skin->thin = fmin(skin->thin, 2 * (p->plane[f].d - v3_dot(p->plane[f].n, p->centroid)));
  skin->boxlike = p->nvert == 8 && p->nface == 6 && p->nloop == 24 &&
                  !memcmp(p->face_start, BOX_START, sizeof BOX_START) &&
                  !memcmp(p->loop, BOX_LOOP, sizeof BOX_LOOP);
  skin->box = skin->boxlike && is_box(p);
  int n = ab_polyhedron_places(p);
  double* point = (double*)(void*)ab_polyhedron_points(p);
  for (int i = 0; i < n; i++) {
    abVec3 v = i < p->nvert ? v3_sub(p->vert[i], p->centroid) : v3(NAN, NAN, NAN);
    double four[4] = {v.x, v.y, v.z, i < p->nvert ? 1 : NAN};
    memcpy(point + 4 * i, four, sizeof four);
  }
  fill_lanes(p);
  fill_few(p);
}

void ab_polyhedron_set_centroid(abPolyhedron* p, abVec3 centroid) {
  p->centroid = centroid;
  fill_skin(p);
  ab_polyhedron_fill_support_faces(p);
}

// The half-edges of a face follow each other around it: where each begins is noted per vertex, then
// each finds its successor at the vertex where it ends. vert_half serves for the notes.
static void fill_half(abPolyhedron* p) {
  abHalf* half = (abHalf*)(void*)ab_polyhedron_half(p);
  int* vert_half = (int*)(void*)ab_polyhedron_vert_half(p);
  int* face_half = vert_half + p->nvert;
  for (int v = 0; v < p->nvert; v++) vert_half[v] = -1;
  for (int f = 0; f < p->nface; f++) face_half[f] = -1;
  for (int e = 0; e < p->nedge; e++)
    for (int k = 0; k < 2; k++) {
      // chained per face through `next` for now
      int h = 2 * e + k, f = p->edge[e][2 + k];
      half[h] = (abHalf){p->edge[e][k], face_half[f], f};
      face_half[f] = h;
    }
  for (int f = 0; f < p->nface; f++) {
    for (int h = face_half[f]; h >= 0; h = half[h].next) vert_half[half[h].from] = h;
    for (int h = face_half[f], after; h >= 0; h = after) {
      after = half[h].next;
      half[h].next = vert_half[half[h ^ 1].from];
    }
  }
}

// The edges in short, as they are listed and by vertex.
static void fill_links(abPolyhedron* p) {
  abLink *link = (abLink*)(void*)ab_polyhedron_link(p), *star = link + p->nedge;
  int* start = (int*)(void*)ab_polyhedron_star_start(p);
  // counted two places on, so that filling leaves each start where it belongs
  for (int v = 0; v <= p->nvert; v++) start[v] = 0;
  for (int e = 0; e < p->nedge; e++)
    for (int k = 0; k < 2; k++) {
      int v = p->edge[e][k];
      if (v + 2 <= p->nvert) start[v + 2]++;
    }
  for (int v = 2; v <= p->nvert; v++) start[v] += start[v - 1];
  for (int e = 0; e < p->nedge; e++) {
    const int* g = p->edge[e];
    link[e] = ab_link(g[0] & 255, g[1] & 255, g[2] & 255, g[3] & 255);
    star[start[g[0] + 1]++] = link[e];
    star[start[g[1] + 1]++] = ab_link(g[1] & 255, g[0] & 255, g[3] & 255, g[2] & 255);
  }
}

abPolyhedron* ab_polyhedron_build(int nvert, const abVec3* vert, int nface, const int* face_start,
                                  const int* loop, abError* error) {
  int nloop = face_start[nface];
  abPolyhedron* p = ab_alloc(bytes_of(nvert, nface, face_start));
  abStatus status = AB_ERROR_MEMORY;
  if (p) {
    *p = (abPolyhedron){.nvert = nvert, .nface = nface, .nedge = nloop / 2, .nloop = nloop};
    point_into(p);
    memcpy((abVec3*)p->vert, vert, (size_t)nvert * sizeof *vert);
    memcpy((int*)p->face_start, face_start, (size_t)(nface + 1) * sizeof *face_start);
    memcpy((int*)p->loop, loop, (size_t)nloop * sizeof *loop);
    status = fill_edges(p);
  }
  if (status) {
    ab_fail(error, status, NULL, 0, "%s",
            status == AB_ERROR_MEMORY
                ? "no memory for a polyhedron"
                : "the faces do not close: each edge must belong to two faces, run through in "
                  "opposite directions");
    ab_free(p);
    return NULL;
  }
  for (int f = 0; f < nface; f++)
    ((abPlane*)p->plane)[f] =
        plane_of_loop(vert, loop + face_start[f], face_start[f + 1] - face_start[f]);
  fill_moments(p);
  fill_skin(p);
  fill_half(p);
  fill_links(p);
  ab_polyhedron_fill_support_faces(p);
  return p;
}

abPolyhedron* ab_polyhedron_box(abVec3 h) {
  abVec3 vert[8];
  for (int i = 0; i < 8; i++)
    vert[i] = v3(i & 4 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 1 ? h.z : -h.z);
  abPolyhedron* p = ab_polyhedron_build(8, vert, 6, BOX_START, BOX_LOOP, NULL);
  if (!p) return NULL;
  // What is known exactly needs no rounding.
  p->volume = 8 * h.x * h.y * h.z;
  for (int i = 0; i < 6; i++)
    ((abPlane*)p->plane)[AB_BOX_FACE[i]] = (abPlane){box_normal(i), v3_get(h, i / 2)};
  ab_polyhedron_set_centroid(p, v3_zero());
  return p;
}

abPolyhedron* ab_polyhedron_moved(const abPolyhedron* poly, abPose pose, abError* error) {
  void* memory = ab_alloc(ab_polyhedron_bytes(poly));
  if (!memory) {
    ab_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for a polyhedron");
    return NULL;
  }
  abPolyhedron* p = ab_polyhedron_copy(poly, memory);
  abVec3* vert = (abVec3*)p->vert;
  p->radius = 0;
  for (int i = 0; i < p->nvert; i++) {
    vert[i] = pose_apply(pose, vert[i]);
    p->radius = fmax(p->radius, v3_norm(vert[i]));
  }
  for (int f = 0; f < p->nface; f++) {
    abVec3 n = quat_rotate(pose.q, p->plane[f].n);
    ((abPlane*)p->plane)[f] = (abPlane){n, p->plane[f].d + v3_dot(n, pose.p)};
  }
  p->centroid = pose_apply(pose, p->centroid);
  fill_skin(p);
  ab_polyhedron_fill_support_faces(p);
  return p;
}

// --- given faces ---

static double size_of(int n, const abVec3* vert) {
  abVec3 low = vert[0], high = vert[0];
  for (int i = 1; i < n; i++) {
    low = v3(fmin(low.x, vert[i].x), fmin(low.y, vert[i].y), fmin(low.z, vert[i].z));
    high = v3(fmax(high.x, vert[i].x), fmax(high.y, vert[i].y), fmax(high.z, vert[i].z));
  }
  return v3_norm(v3_sub(high, low));
}

static abStatus check_indices(int nvert, const abVec3* vert, int nface, const int* start,
                              const int* loop, abError* error) {
  if (nvert < 4 || nface < 4)
    return ab_fail(error, AB_ERROR_SCENE, NULL, 0,
                   "%d vertices and %d faces enclose no volume: give at least 4 of each", nvert,
                   nface);
  for (int i = 0; i < nvert; i++)
    if (!v3_finite(vert[i]))
      return ab_fail(error, AB_ERROR_SCENE, NULL, 0, "vertex %d is not a finite number", i);
  for (int f = 0; f < nface; f++) {
    if (start[f + 1] - start[f] < 3)
      return ab_fail(error, AB_ERROR_SCENE, NULL, 0, "face %d has fewer than 3 vertices", f);
    for (int i = start[f]; i < start[f + 1]; i++)
      if (loop[i] < 0 || loop[i] >= nvert)
        return ab_fail(error, AB_ERROR_SCENE, NULL, 0,
                       "face %d names vertex %d; there are %d, counted from 0", f, loop[i], nvert);
  }
  return AB_OK;
}

static abStatus check_convex(const abPolyhedron* p, abError* error) {
  double flat = AB_FLAT * size_of(p->nvert, p->vert);
  if (p->nvert - p->nedge + p->nface != 2)
    return ab_fail(error, AB_ERROR_SCENE, NULL, 0,
                   "%d vertices, %d edges and %d faces are not one closed surface", p->nvert,
                   p->nedge, p->nface);
  if (!(p->volume > 0))
    return ab_fail(error, AB_ERROR_SCENE, NULL, 0,
                   "the faces enclose no volume: list their vertices counter-clockwise seen from "
                   "outside");
  for (int f = 0; f < p->nface; f++) {
    for (int i = p->face_start[f]; i < p->face_start[f + 1]; i++)
      if (fabs(v3_dot(p->plane[f].n, p->vert[p->loop[i]]) - p->plane[f].d) > flat)
        return ab_fail(error, AB_ERROR_SCENE, NULL, 0, "face %d is not flat", f);
    for (int i = 0; i < p->nvert; i++)
      if (v3_dot(p->plane[f].n, p->vert[i]) - p->plane[f].d > flat)
        return ab_fail(error, AB_ERROR_SCENE, NULL, 0,
                       "not convex: vertex %d lies outside of face %d", i, f);
  }
  return AB_OK;
}

// Does an edge lie between two faces of one plane?
static bool has_flat_edge(const abPolyhedron* p) {
  double flat = AB_FLAT * size_of(p->nvert, p->vert);
  for (int e = 0; e < p->nedge; e++) {
    int f = p->edge[e][2], g = p->edge[e][3];
    bool coplanar = true;
    for (int i = p->face_start[g]; coplanar && i < p->face_start[g + 1]; i++)
      coplanar = fabs(v3_dot(p->plane[f].n, p->vert[p->loop[i]]) - p->plane[f].d) <= flat;
    if (coplanar) return true;
  }
  return false;
}

abPolyhedron* ab_polyhedron_faces(int nvert, const abVec3* vert, int nface, const int* face_start,
                                  const int* loop, abError* error) {
  if (check_indices(nvert, vert, nface, face_start, loop, error)) return NULL;
  abPolyhedron* p = ab_polyhedron_build(nvert, vert, nface, face_start, loop, error);
  if (!p) return NULL;
  if (check_convex(p, error)) {
    ab_free(p);
    return NULL;
  }
  if (!has_flat_edge(p)) return p;
  ab_free(p);
  return ab_polyhedron_hull(nvert, vert, error);
}
