// Convex hull with polygonal faces.
//
// qhull (in its reentrant form) finds the facets. It merges only what double rounding cannot tell
// apart, while points from files are flat to single precision at best; so here facets that lie in
// one plane up to AB_FLAT become one polygon (merge.c).
//
// Points are first sorted and repeated ones dropped, so the result depends neither on their order
// nor on how often a file repeats them; qhull sees them shifted and scaled to size 1, so neither
// does it depend on units. The vertices returned are the given ones.
// Tests: test_polyhedron.
#include <float.h>
#include <libqhull_r/qhull_ra.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "geometry/merge.h"
#include "geometry/polyhedron.h"
#include "math/vec.h"

static void free_faces(abFaces* f) {
  ab_free(f->start);
  ab_free(f->loop);
  *f = (abFaces){0};
}

// --- points ---

static int compare_points(const void* a, const void* b) {
  const abVec3 *p = a, *q = b;
  if (p->x != q->x) return p->x < q->x ? -1 : 1;
  if (p->y != q->y) return p->y < q->y ? -1 : 1;
  return (p->z > q->z) - (p->z < q->z);
}

// The point farthest from the affine hull of the first k of base (k = 1, 2, 3), and its distance.
static double farthest(const abCloud* c, const abVec3* base, int k, abVec3* out) {
  abVec3 e = k > 1 ? v3_unit(v3_sub(base[1], base[0])) : v3_zero();
  abVec3 n = k > 2 ? v3_unit(v3_cross(e, v3_sub(base[2], base[0]))) : v3_zero();
  double best = -1;
  for (int i = 0; i < c->n; i++) {
    const double* s = c->scaled + 3 * (ptrdiff_t)i;
    abVec3 p = v3(s[0], s[1], s[2]), d = v3_sub(p, base[0]);
    double r = k == 1 ? v3_norm(d) : k == 2 ? v3_norm(v3_cross(e, d)) : fabs(v3_dot(n, d));
    if (r > best) best = r, *out = p;
  }
  return best;
}

static abStatus check_solid(const abCloud* c, double flat, abError* error) {
  abVec3 base[4] = {v3(c->scaled[0], c->scaled[1], c->scaled[2])};
  static const char* const what[3] = {"all points coincide", "all points lie on one line",
                                      "all points lie in one plane"};
  for (int k = 1; k <= 3; k++)
    if (!(farthest(c, base, k, &base[k]) > flat))
      return ab_fail(error, AB_ERROR_SCENE, NULL, 0,
                     "%s (to %g of their extent): the hull encloses no volume; give the mesh "
                     "thickness",
                     what[k - 1], flat);
  return AB_OK;
}

// Shift and scale to a bounding box of longest side 1.
static abStatus scale_points(abCloud* c, abError* error) {
  abVec3 low = c->point[0], high = c->point[0];
  for (int i = 1; i < c->n; i++) {
    abVec3 p = c->point[i];
    low = v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
    high = v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
  }
  abVec3 side = v3_sub(high, low);
  double size = fmax(side.x, fmax(side.y, side.z));
  // An inertia grows with the fifth power of the size: beyond 1e60 or below 1e-60 it is no number.
  if (!(size < 1e60) || (size > 0 && size < 1e-60))
    return ab_fail(error, AB_ERROR_SCENE, NULL, 0,
                   "a hull of size %g m is beyond what can be computed: check the mesh and its "
                   "scale",
                   size);
  c->size = size;
  double s = size > 0 ? 1 / size : 0;
  for (int i = 0; i < c->n; i++) {
    c->scaled[3 * i] = s * (c->point[i].x - low.x);
    c->scaled[3 * i + 1] = s * (c->point[i].y - low.y);
    c->scaled[3 * i + 2] = s * (c->point[i].z - low.z);
  }
  return AB_OK;
}

static abStatus gather(int n, const abVec3* point, double flat, abCloud* c, abError* error) {
  if (n < 4)
    return ab_fail(error, AB_ERROR_SCENE, NULL, 0,
                   "%d points have no convex hull with a volume: give at least 4", n);
  for (int i = 0; i < n; i++)
    if (!v3_finite(point[i]))
      return ab_fail(error, AB_ERROR_SCENE, NULL, 0, "point %d is not a finite number", i);
  c->point = ab_alloc((size_t)n * sizeof *c->point);
  c->scaled = ab_alloc((size_t)n * 3 * sizeof *c->scaled);
  if (!c->point || !c->scaled)
    return ab_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for the hull of %d points", n);
  // -0 and 0 are one number, but not to a comparison of bytes later on.
  for (int i = 0; i < n; i++) c->point[i] = v3_add(point[i], v3_zero());
  qsort(c->point, (size_t)n, sizeof *c->point, compare_points);
  for (int i = 0; i < n; i++)
    if (i == 0 || compare_points(&c->point[i], &c->point[c->n - 1])) c->point[c->n++] = c->point[i];
  abStatus status = scale_points(c, error);
  return status ? status : check_solid(c, flat, error);
}

// --- facets by qhull ---

static void reverse(int* loop, int n) {
  for (int i = 0; i < n / 2; i++) {
    int t = loop[i];
    loop[i] = loop[n - 1 - i];
    loop[n - 1 - i] = t;
  }
}

static bool allocate_facets(qhT* qh, abFaces* out) {
  facetT* facet;
  int nface = 0, nloop = 0;
  FORALLfacets {
    nface++;
    // A facet of k sides has k neighbours (a triangle of a simplicial facet, 3).
    nloop += qh_setsize(qh, facet->neighbors) + qh_setsize(qh, facet->vertices);
  }
  out->start = ab_alloc((size_t)(nface + 1) * sizeof(int));
  out->loop = ab_alloc((size_t)nloop * sizeof(int));
  return out->start && out->loop;
}

static void copy_facets(qhT* qh, const abCloud* c, abFaces* out) {
  facetT* facet;
  vertexT *vertex, **vertexp;
  double turn = 0;
  FORALLfacets {
    setT* vertices = qh_facet3vertex(qh, facet);
    int* loop = out->loop + out->nloop;
    int n = 0;
    FOREACHvertex_(vertices) loop[n++] = qh_pointid(qh, vertex->point);
    qh_settempfree(qh, &vertices);
    const double* normal = facet->normal;
    turn += v3_dot(ab_loop_normal(c, loop, n, NULL), v3(normal[0], normal[1], normal[2]));
    out->start[out->n++] = out->nloop;
    out->nloop += n;
  }
  out->start[out->n] = out->nloop;
  // qhull turns all loops alike; which way is settled by the large ones, for a sliver's own normal
  // may be all rounding.
  for (int k = 0; turn < 0 && k < out->n; k++)
    reverse(out->loop + out->start[k], out->start[k + 1] - out->start[k]);
}

// qhull jumps out of its functions when it meets an internal error.
static int read_facets(qhT* qh, const abCloud* c, abFaces* out) {
  int jumped = setjmp(qh->errexit);
  if (!jumped) {
    qh->NOerrexit = False;
    if (allocate_facets(qh, out)) copy_facets(qh, c, out);
  }
  qh->NOerrexit = True;
  return jumped ? jumped : out->start && out->loop ? 0 : qh_ERRmem;
}

static abStatus find_facets(const abCloud* c, abFaces* out, abError* error) {
  // qhull describes its troubles at length in a file; only that it had some matters here.
  FILE* sink = fopen("/dev/null", "w");
  if (!sink) sink = tmpfile();
  qhT* qh = ab_alloc(sizeof *qh);
  if (!qh || !sink) {
    ab_free(qh);
    if (sink) fclose(sink);
    return ab_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for the hull of %d points", c->n);
  }
  qh_zero(qh, sink);
  char command[] = "qhull Pp";
  int failed = qh_new_qhull(qh, 3, c->n, c->scaled, False, command, NULL, sink);
  if (!failed) failed = read_facets(qh, c, out);
  qh_freeqhull(qh, !qh_ALL);
  int left, total;
  qh_memfreeshort(qh, &left, &total);
  ab_free(qh);
  fclose(sink);
  if (failed == qh_ERRmem)
    return ab_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for the hull of %d points", c->n);
  if (failed)
    return ab_fail(error, AB_ERROR_SCENE, NULL, 0,
                   "no convex hull could be computed from the %d points", c->n);
  return AB_OK;
}

// --- the result ---

typedef struct SortedFace {
  const int* loop;
  int n;
} SortedFace;

static int compare_faces(const void* a, const void* b) {
  const SortedFace *x = a, *y = b;
  for (int i = 0; i < x->n && i < y->n; i++)
    if (x->loop[i] != y->loop[i]) return x->loop[i] < y->loop[i] ? -1 : 1;
  return x->n - y->n;
}

static void rotate_to_smallest(int* loop, int n) {
  int first = 0;
  for (int i = 1; i < n; i++)
    if (loop[i] < loop[first]) first = i;
  for (; first > 0; first--) {
    int t = loop[0];
    memmove(loop, loop + 1, (size_t)(n - 1) * sizeof(int));
    loop[n - 1] = t;
  }
}

// Unused points dropped, loops and faces in their canonical order.
static abPolyhedron* build_sorted(const abCloud* c, abFaces* f, abError* error) {
  int* index = ab_alloc((size_t)c->n * sizeof(int));
  abVec3* vert = ab_alloc((size_t)c->n * sizeof *vert);
  SortedFace* face = ab_alloc((size_t)f->n * sizeof *face);
  int* start = ab_alloc((size_t)(f->n + 1) * sizeof(int));
  int* loop = ab_alloc((size_t)f->nloop * sizeof(int));
  abPolyhedron* poly = NULL;
  if (index && vert && face && start && loop) {
    int nvert = 0, at = 0;
    for (int i = 0; i < c->n; i++) index[i] = -1;
    for (int i = 0; i < f->nloop; i++) index[f->loop[i]] = 0;
    for (int i = 0; i < c->n; i++)
      if (index[i] == 0) vert[nvert] = c->point[i], index[i] = nvert++;
    for (int i = 0; i < f->nloop; i++) f->loop[i] = index[f->loop[i]];
    for (int k = 0; k < f->n; k++) {
      face[k] = (SortedFace){f->loop + f->start[k], f->start[k + 1] - f->start[k]};
      rotate_to_smallest(f->loop + f->start[k], face[k].n);
    }
    qsort(face, (size_t)f->n, sizeof *face, compare_faces);
    for (int k = 0; k < f->n; k++) {
      start[k] = at;
      memcpy(loop + at, face[k].loop, (size_t)face[k].n * sizeof(int));
      at += face[k].n;
    }
    start[f->n] = at;
    poly = ab_polyhedron_build(nvert, vert, f->n, start, loop, error);
  } else {
    ab_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for the hull of %d points", c->n);
  }
  ab_free(index);
  ab_free(vert);
  ab_free(face);
  ab_free(start);
  ab_free(loop);
  return poly;
}

// One closed surface in which no vertex stands off the plane of a face it belongs to by more than
// the data's flatness.
static bool is_sound(const abCloud* c, const abPolyhedron* p, double flat) {
  if (p->nvert - p->nedge + p->nface != 2 || !(p->volume > 0)) return false;
  // n . v - d itself is only known to the rounding of the vertices' distance from the origin.
  double allowed = (4 * flat + 1e-12) * c->size + 64 * DBL_EPSILON * p->radius;
  for (int f = 0; f < p->nface; f++)
    for (int i = p->face_start[f]; i < p->face_start[f + 1]; i++) {
      double d = v3_dot(p->plane[f].n, p->vert[p->loop[i]]) - p->plane[f].d;
      if (!(fabs(d) <= allowed)) return false;
    }
  return true;
}

abPolyhedron* ab_polyhedron_hull(int n, const abVec3* point, abError* error) {
  return ab_polyhedron_hull_flat(n, point, AB_FLAT, error);
}

// The tolerance asked for; if that leaves slivers whose planes are all rounding, the next larger
// ones that files are held to; if it makes too much into one face, smaller ones.
static int list_tolerances(double flat, double out[16]) {
  int n = 0;
  out[n++] = flat;
  for (double t = 1e-13; t < 2 * AB_FLAT && n < 14; t *= 10)
    if (t > flat) out[n++] = t;
  out[n++] = 1e-3 * flat;
  out[n++] = 0;
  return n;
}

// The polyhedron of the facets merged with one tolerance, NULL with the reason in *status.
static abPolyhedron* try_tolerance(const abCloud* c, const abFaces* facet, double flat,
                                   abStatus* status) {
  abFaces merged = {0};
  abError error = {0};
  abPolyhedron* poly = NULL;
  *status = ab_merge_facets(c, facet, flat, &merged);
  if (!*status) {
    poly = build_sorted(c, &merged, &error);
    *status = error.code;
  }
  free_faces(&merged);
  if (!poly || is_sound(c, poly, flat)) return poly;
  *status = AB_ERROR_NUMERIC;
  ab_polyhedron_free(poly);
  return NULL;
}

abPolyhedron* ab_polyhedron_hull_flat(int n, const abVec3* point, double flat, abError* error) {
  abCloud cloud = {0};
  abFaces facet = {0};
  abPolyhedron* poly = NULL;
  if (!gather(n, point, flat, &cloud, error) && !find_facets(&cloud, &facet, error)) {
    double tolerance[16];
    int ntry = list_tolerances(flat, tolerance);
    abStatus status = AB_OK;
    for (int i = 0; i < ntry && !poly && status != AB_ERROR_MEMORY; i++)
      poly = try_tolerance(&cloud, &facet, tolerance[i], &status);
    if (!poly && status == AB_ERROR_MEMORY)
      ab_fail(error, status, NULL, 0, "no memory for the hull of %d points", n);
    else if (!poly)
      ab_fail(error, AB_ERROR_SCENE, NULL, 0, "the hull of the %d points does not close", n);
  }
  ab_free(cloud.point);
  ab_free(cloud.scaled);
  free_faces(&facet);
  return poly;
}
