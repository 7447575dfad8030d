// Meshes to collide with that are flat: stickers and plates that were drawn without a thickness.
// They get that of a thousandth of their size, half of it to each side.
// Tests: test_urdf.
#include <math.h>

#include "math/vec.h"
#include "scene/scene.h"
#include "scene/urdf/urdf.h"

#define FLATNESS 1e-6   // of its size: what lies in one plane
#define THICKNESS 1e-3  // of its size

// The point farthest from a, or from the line through a along e.
static abVec3 farthest(const abMeshDef* d, abVec3 a, const abVec3* e) {
  abVec3 best = a;
  double most = -1;
  for (int i = 0; i < d->nvert; i++) {
    abVec3 r = v3_sub(d->vert[i], a);
    double far = e ? v3_norm(v3_cross(*e, r)) : v3_norm(r);
    if (far > most) most = far, best = d->vert[i];
  }
  return best;
}

// The normal of the plane that all points lie in; false if there is none, or more than one.
static bool find_plane(const abMeshDef* d, abVec3* normal, double* size) {
  if (d->nvert < 3) return false;
  abVec3 a = d->vert[0], b = farthest(d, a, NULL), e = v3_sub(b, a);
  *size = v3_norm(e);
  if (!(*size > 0)) return false;
  e = v3_scale(1 / *size, e);
  abVec3 n = v3_cross(e, v3_sub(farthest(d, a, &e), a));
  if (!(v3_norm(n) > FLATNESS * *size)) return false;
  *normal = n = v3_unit(n);
  for (int i = 0; i < d->nvert; i++)
    if (fabs(v3_dot(n, v3_sub(d->vert[i], a))) > FLATNESS * *size) return false;
  return true;
}

bool ab_urdf_thicken(abReading* m, const abXml* e, int mesh) {
  abMeshDef* d = &m->scene->mesh.item[mesh];
  abVec3 n;
  double size;
  if (!find_plane(d, &n, &size)) return true;
  abVec3* both = ab_bag_take(&m->scene->bag, 2 * (size_t)d->nvert * sizeof *both);
  if (!both) return ab_no_memory(m);
  for (int i = 0; i < d->nvert; i++) {
    both[i] = v3_axpy(0.5 * THICKNESS * size, n, d->vert[i]);
    both[d->nvert + i] = v3_axpy(-0.5 * THICKNESS * size, n, d->vert[i]);
  }
  d->vert = both;
  d->nvert *= 2;
  d->triangle = NULL, d->ntriangle = d->nmass = 0;
  d->file = NULL;  // it is another one now
  ab_note(m, AB_NOTE_FLAT, e, NULL);
  return true;
}
