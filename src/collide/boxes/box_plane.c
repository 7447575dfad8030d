// A box that stands on a plane: the contact the world has most of, and one that needs no cutting.
//
// In the axes (u, v, w) of the box, w the one that points up, with half lengths h and the upward
// normal n of the plane in them, a column of the box over the point (u, v) of its lower face is
// below the plane to the length
//
//   l(u, v) = l0 + a u + b v,   l0 = -z / n_w,  a = -n_u / n_w,  b = -n_v / n_w,
//
// z the height of the lower face's middle. If all corners of that face are below the plane and all
// others above it, the overlap is all that, so
//
//   V = 4 h_u h_v l0,   its centroid   u = a h_u^2 / (3 l0),   v = b h_v^2 / (3 l0),
//   w = -h_w + (l0^2 + a^2 h_u^2 / 3 + b^2 h_v^2 / 3) / (2 l0).
//
// Its outline seen along n: a side of the box that looks up (n_u > 0 for +u) shows its lower edge
// there, one that looks down its upper edge, in the plane; where two different ones meet, the edge
// between them. The chord along n from the lowest corner leads into the box, since n points away
// from the sides that meet there, and is the longest if it reaches the plane inside.
#include "collide/boxes/box_plane.h"

#include <float.h>

#include "collide/boxes/sat.h"
#include "geometry/polyhedron.h"
#include "math/rotation.h"

// The box as it stands: its axes in the world, w up, and the normal and half lengths along them.
typedef struct Stand {
  abVec3 u, v, w;
  double nu, nv, nw, hu, hv, hw;
} Stand;

static Stand stand_up(const abShape* box, abQuat q, abVec3 up) {
  abMat3 R = quat_matrix(q);
  abVec3 axis[3] = {m3_col(&R, 0), m3_col(&R, 1), m3_col(&R, 2)};
  double n[3], h[3] = {box->size.x, box->size.y, box->size.z};
  for (int i = 0; i < 3; i++) n[i] = v3_dot(axis[i], up);
  double x = fabs(n[0]), y = fabs(n[1]), z = fabs(n[2]);
  int k = z >= x && z >= y ? 2 : y >= x ? 1 : 0, i = k < 2 ? k + 1 : 0, j = i < 2 ? i + 1 : 0;
  bool down = n[k] < 0;
  if (down) {  // the other way up, and still right-handed
    int other = i;
    i = j, j = other;
  }
  return (Stand){axis[i], axis[j], down ? v3_neg(axis[k]) : axis[k], n[i], n[j], fabs(n[k]), h[i],
                 h[j],    h[k]};
}

// Coordinates of a direction in the plane of the patch.
static abVec2 in_plane(const abPatch* p, abVec3 x) {
  return v2(v3_dot(p->t1, x), v3_dot(p->t2, x));
}

// The overlap: l0, a, b, and the centroid (u, v, w).
typedef struct Part {
  double l0, a, b;
  abVec3 centroid;
} Part;

// The outline, from the centroid. Returns the number of its corners.
static int outline(const Stand* s, const Part* part, const abPatch* p, abVec2* loop) {
  abVec2 U = in_plane(p, s->u), V = in_plane(p, s->v), W = in_plane(p, s->w);
  abVec3 c = part->centroid;
  // the sides in their order around w: +u, +v, -u, -v, +u
  bool up[5] = {s->nu > 0, s->nv > 0, s->nu < 0, s->nv<0, s->nu> 0};
  abVec2 base = v2_scale(-s->hw - c.z, W);
  int n = 0;
  for (int k = 0; k < 4; k++) {  // the corner between side k and the next
    double u = k == 0 || k == 3 ? s->hu : -s->hu, v = k < 2 ? s->hv : -s->hv;
    abVec2 low = v2_add(base, v2_add(v2_scale(u - c.x, U), v2_scale(v - c.y, V)));
    abVec2 high = v2_add(low, v2_scale(part->l0 + part->a * u + part->b * v, W));
    loop[n++] = up[k] ? low : high;
    if (up[k] != up[k + 1]) loop[n++] = up[k + 1] ? low : high;
  }
  return n;
}

bool ab_box_plane_patch(const abShape* box, const abPatchHint* hint, abVec2* polygon, abPatch* p) {
  abPose pose = hint->pose_a, plane = hint->pose_b;
  abVec3 up = ab_plane_normal(plane.q), offset = v3_sub(pose.p, plane.p);
  double size = ab_polyhedron_skin(box->poly)->size, height = v3_dot(up, offset);
  if (!(height < size)) return false;
  Stand s = stand_up(box, pose.q, up);
  // the corners of the lower and upper face lie within `lean` of the faces' middles
  double lean = fabs(s.nu) * s.hu + fabs(s.nv) * s.hv, z = height - s.nw * s.hw;
  double noise = DBL_EPSILON * (2 * size + fabs(offset.x) + fabs(offset.y) + fabs(offset.z));
  double depth = lean - z;
  bool stands = z + lean < -AB_DOUBT * noise && z + 2 * s.nw * s.hw - lean > AB_DOUBT * noise &&
                fabs(s.nu) * depth < 2 * s.hu && fabs(s.nv) * depth < 2 * s.hv;
  if (!stands) return false;
  double over = 1 / s.nw, face = 4 * s.hu * s.hv;
  Part part = {-z * over, -s.nu * over, -s.nv * over, {0, 0, 0}};
  const double third = 1.0 / 3;
  double uu = part.a * s.hu * s.hu * third, vv = part.b * s.hv * s.hv * third, per = 1 / part.l0;
  part.centroid =
      v3(uu * per, vv * per, 0.5 * (part.l0 + (part.a * uu + part.b * vv) * per) - s.hw);
  p->volume = face * part.l0, p->polygon = polygon, p->normal = up;
  ab_patch_tangents(hint, p);
  p->nvert = outline(&s, &part, p, polygon);
  if (!ab_patch_finish(polygon, size, noise, p)) return false;
  abVec3 c = part.centroid;
  abVec3 r = v3_add(v3_scale(c.x, s.u), v3_add(v3_scale(c.y, s.v), v3_scale(c.z, s.w)));
  p->center = v3_add(pose.p, r);
  p->depth = depth;
  return true;
}
