// A polyhedron back from a file. Nothing in the file is believed: it is built from its vertices and
// faces, and what was known better than that (exact planes of a box, the volume before it was
// moved) is taken over only where it agrees with what was built.
// Tests: test_polyhedron.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "geometry/polyhedron.h"
#include "math/vec.h"

// Faces of files are flat to AB_FLAT, and their hulls may have been made with four times that.
static const double LOOSE = 10 * AB_FLAT;

static const char* bad_faces(const abPolyhedronData* d) {
  if (d->nvert < 4 || d->nface < 4) return "it has fewer than 4 corners or faces";
  if (d->face_start[0] != 0 || d->face_start[d->nface] != d->nloop) return "its faces have gaps";
  for (int f = 0; f < d->nface; f++) {
    // Starts are compared before they are subtracted: they may be anything.
    if (d->face_start[f] < 0 || d->face_start[f + 1] > d->nloop) return "a face is out of range";
    if (d->face_start[f + 1] < d->face_start[f] + 3) return "a face has fewer than 3 corners";
  }
  for (int i = 0; i < d->nloop; i++)
    if (d->loop[i] < 0 || d->loop[i] >= d->nvert) return "a corner is out of range";
  return NULL;
}

// Each vertex belongs to a face.
static const char* bad_corners(const abPolyhedronData* d) {
  bool* used = ab_alloc_zero((size_t)d->nvert * sizeof *used);
  if (!used) return "there is no memory for it";
  for (int i = 0; i < d->nloop; i++) used[d->loop[i]] = true;
  bool all = true;
  for (int i = 0; i < d->nvert; i++) all = all && used[i];
  ab_free(used);
  return all ? NULL : "a corner belongs to no face";
}

static bool is_outside(const abPolyhedronData* d, abPlane plane, double allowed) {
  for (int i = 0; i < d->nvert; i++)
    if (!(v3_dot(plane.n, d->vert[i]) - plane.d <= allowed)) return true;
  return false;
}

static const char* bad_plane(const abPolyhedronData* d, int f, double allowed) {
  abPlane plane = d->plane[f];
  if (!(fabs(v3_norm(plane.n) - 1) < 1e-9)) return "the normal of a face is no unit vector";
  for (int i = d->face_start[f]; i < d->face_start[f + 1]; i++)
    if (!(fabs(v3_dot(plane.n, d->vert[d->loop[i]]) - plane.d) <= allowed))
      return "a face is not flat";
  return is_outside(d, plane, allowed) ? "it is not convex" : NULL;
}

static const char* bad_numbers(const abPolyhedronData* d, const abPolyhedron* built) {
  const abSkin* skin = ab_polyhedron_skin(built);
  double size = skin->size;
  if (!(size < 1e60) || !(size > 1e-60)) return "its size is beyond what can be computed";
  if (built->nvert - built->nedge + built->nface != 2) return "it is not one closed surface";
  if (!(built->volume > 0)) return "it encloses no volume";
  // Vertices far from the origin are known to the rounding of their distance only.
  double rounding = 64 * DBL_EPSILON * built->radius, allowed = LOOSE * size + rounding;
  for (int f = 0; f < d->nface; f++) {
    const char* bad = bad_plane(d, f, allowed);
    if (bad) return bad;
  }
  if (!(fabs(d->radius - built->radius) <= 1e-9 * built->radius)) return "its radius is wrong";
  if (!(fabs(d->volume - built->volume) <= LOOSE * built->volume + rounding * size * size))
    return "its volume is wrong";
  if (!(v3_norm(v3_sub(d->centroid, built->centroid)) <= allowed + rounding * 1e3))
    return "its centroid is wrong";
  return NULL;
}

abPolyhedron* ab_polyhedron_restore(const abPolyhedronData* d, abError* error) {
  const char* bad = bad_faces(d);
  if (!bad) bad = bad_corners(d);
  abPolyhedron* p = NULL;
  if (!bad) {
    p = ab_polyhedron_build(d->nvert, d->vert, d->nface, d->face_start, d->loop, error);
    if (!p) return NULL;
    bad = bad_numbers(d, p);
  }
  if (bad) {
    ab_fail(error, AB_ERROR_SCENE, NULL, 0, "%s", bad);
    ab_free(p);
    return NULL;
  }
  for (int f = 0; f < d->nface; f++) ((abPlane*)p->plane)[f] = d->plane[f];
  p->volume = d->volume, p->radius = d->radius;
  ab_polyhedron_set_centroid(p, d->centroid);
  return p;
}
