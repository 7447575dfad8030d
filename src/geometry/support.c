// Support functions in closed form. For an ellipsoid with radii a = (a_x, a_y, a_z) and a direction
// d, the farthest point maximises d . x on sum (x_i / a_i)^2 = 1: x_i = a_i^2 d_i / |a d|.
#include "geometry/support.h"

#include <float.h>
#include <string.h>

#include "base/simd.h"
#include "geometry/polyhedron.h"
#include "math/rotation.h"

// Of a mesh with more vertices the box about its own box is good enough.
enum { MANY_VERTICES = 32 };

static double signed_like(double size, double d) { return d < 0 ? -size : size; }

static abVec3 support_poly(const abPolyhedron* p, abVec3 d) {
  int best = 0;
  double far = v3_dot(p->vert[0], d);
  for (int i = 1; i < p->nvert; i++) {
    double s = v3_dot(p->vert[i], d);
    if (s > far) far = s, best = i;
  }
  return p->vert[best];
}

static abVec3 support_cylinder(abVec3 size, abVec3 d) {
  double rho = hypot(d.x, d.y), z = signed_like(size.y, d.z);
  if (rho == 0) return v3(size.x, 0, z);
  return v3(size.x * d.x / rho, size.x * d.y / rho, z);
}

static abVec3 support_ellipsoid(abVec3 a, abVec3 d) {
  abVec3 ad = v3_mul(a, v3_unit(d));
  return v3_scale(1 / v3_norm(ad), v3_mul(a, ad));
}

abVec3 ab_support(const abShape* s, abVec3 d) {
  switch (s->type) {
    case AB_SHAPE_BOX:
      return v3(signed_like(s->size.x, d.x), signed_like(s->size.y, d.y),
                signed_like(s->size.z, d.z));
    case AB_SHAPE_SPHERE:
      return v3_scale(s->size.x, v3_unit(d));
    case AB_SHAPE_CAPSULE:
      return v3_add(v3_scale(s->size.x, v3_unit(d)), v3(0, 0, signed_like(s->size.y, d.z)));
    case AB_SHAPE_CYLINDER:
      return support_cylinder(s->size, d);
    case AB_SHAPE_ELLIPSOID:
      return support_ellipsoid(s->size, d);
    case AB_SHAPE_MESH:
      return support_poly(s->poly, d);
    case AB_SHAPE_PLANE:
      break;
  }
  return v3_zero();
}

double ab_shape_radius(const abShape* s) {
  abVec3 z = s->size;
  switch (s->type) {
    case AB_SHAPE_BOX:
      return v3_norm(z);
    case AB_SHAPE_SPHERE:
      return z.x;
    case AB_SHAPE_CAPSULE:
      return z.x + z.y;
    case AB_SHAPE_CYLINDER:
      return hypot(z.x, z.y);
    case AB_SHAPE_ELLIPSOID:
      return fmax(z.x, fmax(z.y, z.z));
    case AB_SHAPE_MESH:
      return s->poly->radius;
    case AB_SHAPE_PLANE:
      break;
  }
  return INFINITY;
}

// Half the extent along the unit vector e (shape axes) of a shape symmetric about its origin.
static double half_extent(const abShape* s, abVec3 e) {
  abVec3 z = s->size;
  switch (s->type) {
    case AB_SHAPE_BOX:
      return z.x * fabs(e.x) + z.y * fabs(e.y) + z.z * fabs(e.z);
    case AB_SHAPE_CAPSULE:
      return z.x + z.y * fabs(e.z);
    case AB_SHAPE_CYLINDER:
      return z.x * hypot(e.x, e.y) + z.y * fabs(e.z);
    case AB_SHAPE_ELLIPSOID:
      return v3_norm(v3_mul(z, e));
    default:
      return z.x;
  }
}

typedef double Four __attribute__((vector_size(32)));
typedef int64_t FourMask __attribute__((vector_size(32)));
#define PICK(m, a, b) ((Four)(((m) & (FourMask)(a)) | (~(m) & (FourMask)(b))))

// How far the vertices, seen from the centroid, reach along three directions. Places that are left
// over hold no numbers, which lose every comparison.
AB_SIMD static void find_ranges(const abPolyhedron* p, const abMat3* R, double least[3],
                                double most[3]) {
  int n = ab_polyhedron_lanes(p->nvert);
  const double *x = ab_polyhedron_vert_lanes(p), *y = x + n, *z = y + n;
  for (int k = 0; k < 3; k++) {
    double a = R->m[k][0], b = R->m[k][1], c = R->m[k][2];
    Four low = {INFINITY, INFINITY, INFINITY, INFINITY}, high = -low;
    for (int i = 0; i < n; i += 4) {
      Four u, v, w;
      memcpy(&u, x + i, sizeof u), memcpy(&v, y + i, sizeof v), memcpy(&w, z + i, sizeof w);
      Four s = a * u + b * v + c * w;
      low = PICK(s < low, s, low);
      high = PICK(s > high, s, high);
    }
    least[k] = low[0], most[k] = high[0];
    for (int i = 1; i < 4; i++) {
      least[k] = low[i] < least[k] ? low[i] : least[k];
      most[k] = high[i] > most[k] ? high[i] : most[k];
    }
  }
}

static void aabb_poly(const abPolyhedron* p, const abMat3* R, abVec3* low, abVec3* high) {
  double least[3], most[3];
  find_ranges(p, R, least, most);
  abVec3 c = m3_apply(R, p->centroid);
  *low = v3_add(c, v3(least[0], least[1], least[2]));
  *high = v3_add(c, v3(most[0], most[1], most[2]));
}

void ab_shape_reach(const abShape* s, const abPose* pose, abVec3* low, abVec3* high) {
  if (s->type != AB_SHAPE_MESH || s->poly->nvert <= MANY_VERTICES) {
    ab_shape_aabb(s, pose, low, high);
    return;
  }
  const abSkin* skin = ab_polyhedron_skin(s->poly);
  abMat3 R = quat_matrix(pose->q);
  abVec3 m = v3_add(pose->p, m3_apply(&R, skin->middle)), h = skin->half;
  // rounding of the corners that it is to hold
  double r = 4 * DBL_EPSILON * (skin->spread + fabs(m.x) + fabs(m.y) + fabs(m.z));
  double x = h.x * fabs(R.m[0][0]) + h.y * fabs(R.m[0][1]) + h.z * fabs(R.m[0][2]) + r;
  double y = h.x * fabs(R.m[1][0]) + h.y * fabs(R.m[1][1]) + h.z * fabs(R.m[1][2]) + r;
  double z = h.x * fabs(R.m[2][0]) + h.y * fabs(R.m[2][1]) + h.z * fabs(R.m[2][2]) + r;
  *low = v3(m.x - x, m.y - y, m.z - z);
  *high = v3(m.x + x, m.y + y, m.z + z);
}

void ab_shape_aabb(const abShape* s, const abPose* pose, abVec3* low, abVec3* high) {
  if (s->type == AB_SHAPE_PLANE) {
    *low = v3(-INFINITY, -INFINITY, -INFINITY);
    *high = v3(INFINITY, INFINITY, INFINITY);
    return;
  }
  abMat3 R = quat_matrix(pose->q);
  if (s->type == AB_SHAPE_BOX) {  // the most frequent: without detours
    abVec3 h = s->size, p = pose->p;
    double x = h.x * fabs(R.m[0][0]) + h.y * fabs(R.m[0][1]) + h.z * fabs(R.m[0][2]);
    double y = h.x * fabs(R.m[1][0]) + h.y * fabs(R.m[1][1]) + h.z * fabs(R.m[1][2]);
    double z = h.x * fabs(R.m[2][0]) + h.y * fabs(R.m[2][1]) + h.z * fabs(R.m[2][2]);
    *low = v3(p.x - x, p.y - y, p.z - z);
    *high = v3(p.x + x, p.y + y, p.z + z);
    return;
  }
  if (s->type == AB_SHAPE_MESH) {
    aabb_poly(s->poly, &R, low, high);
  } else {
    *high = v3(half_extent(s, m3_row(&R, 0)), half_extent(s, m3_row(&R, 1)),
               half_extent(s, m3_row(&R, 2)));
    *low = v3_neg(*high);
  }
  *low = v3_add(pose->p, *low);
  *high = v3_add(pose->p, *high);
}
