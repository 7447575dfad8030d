// Features of a shape: the vertices, edges and faces of a polyhedron; the exact parts of the smooth
// shapes (a cylinder is a segment with a radius, two discs and two rims; a capsule a segment with
// a radius and two round points; a sphere one round point; an ellipsoid itself).
// Tests: test_ecp_kinematics.
#include "contact/ecp/ecp.h"

bool ab_ecp_is_polyhedron(const abShape* s) {
  return s->type == AB_SHAPE_BOX || s->type == AB_SHAPE_MESH;
}

int ab_ecp_feature_count(const abEcpShape* s, abEcpKind kind) {
  const abShape* shape = s->shape;
  if (ab_ecp_is_polyhedron(shape))
    return kind == AB_ECP_POINT     ? shape->poly->nvert
           : kind == AB_ECP_SEGMENT ? shape->poly->nedge
           : kind == AB_ECP_FACE    ? shape->poly->nface
                                    : 0;
  switch (shape->type) {
    case AB_SHAPE_PLANE:
      return kind == AB_ECP_FACE;
    case AB_SHAPE_SPHERE:
      return kind == AB_ECP_POINT;
    case AB_SHAPE_CAPSULE:
      return kind == AB_ECP_POINT ? 2 : kind == AB_ECP_SEGMENT ? 1 : 0;
    case AB_SHAPE_CYLINDER:
      return kind == AB_ECP_SEGMENT ? 1 : kind == AB_ECP_FACE || kind == AB_ECP_RIM ? 2 : 0;
    case AB_SHAPE_ELLIPSOID:
      return kind == AB_ECP_ROUND;
    default:
      return 0;
  }
}

static abVec3 place(const abEcpShape* s, abVec3 x) {
  return v3_add(s->off, m3_apply(&s->turn, v3_scale(s->scale, x)));
}

static void polyhedron_feature(const abEcpShape* s, abEcpFeature* f) {
  const abPolyhedron* p = s->shape->poly;
  if (f->kind == AB_ECP_POINT) {
    f->c = place(s, p->vert[f->index]);
  } else if (f->kind == AB_ECP_SEGMENT) {
    abVec3 a = place(s, p->vert[p->edge[f->index][0]]), b = place(s, p->vert[p->edge[f->index][1]]);
    abVec3 d = v3_sub(b, a);
    f->half = 0.5 * v3_norm(d);
    f->c = v3_lerp(a, b, 0.5);
    f->u = v3_unit(d);
  } else {
    int first = p->face_start[f->index], last = p->face_start[f->index + 1];
    abVec3 sum = v3_zero();
    for (int i = first; i < last; i++) sum = v3_add(sum, p->vert[p->loop[i]]);
    f->c = place(s, v3_scale(1.0 / (last - first), sum));
    f->n = m3_apply(&s->turn, p->plane[f->index].n);
    v3_tangents(f->n, &f->u, &f->v);
  }
}

abEcpFeature ab_ecp_feature(const abEcpShape* s, abEcpKind kind, int index) {
  abEcpFeature f = {.kind = kind, .index = index, .shape = s, .c = s->off};
  abVec3 size = v3_scale(s->scale, s->shape->size), axis = m3_col(&s->turn, 2);
  double end = index ? -1 : 1;
  if (ab_ecp_is_polyhedron(s->shape)) {
    polyhedron_feature(s, &f);
    return f;
  }
  switch (s->shape->type) {
    case AB_SHAPE_PLANE:
      f.n = axis;
      v3_tangents(f.n, &f.u, &f.v);
      break;
    case AB_SHAPE_SPHERE:
      f.rad = size.x;
      break;
    case AB_SHAPE_CAPSULE:
    case AB_SHAPE_CYLINDER:
      f.rad = size.x;
      if (kind == AB_ECP_SEGMENT) {
        f.u = axis;
        f.half = size.y;
        break;
      }
      f.c = v3_axpy(end * size.y, axis, s->off);
      f.n = v3_scale(end, axis);
      f.u = m3_col(&s->turn, 0);
      f.v = v3_cross(f.n, f.u);
      break;
    default:
      break;
  }
  return f;
}

// In shape coordinates and the shape's own unit of length.
static abVec3 support_local(const abShape* s, abVec3 d) {
  abVec3 z = v3(s->size.x, s->size.y, s->size.z);
  double rho = sqrt(d.x * d.x + d.y * d.y), norm = v3_norm(d);
  switch (s->type) {
    case AB_SHAPE_BOX:
      return v3(copysign(z.x, d.x), copysign(z.y, d.y), copysign(z.z, d.z));
    case AB_SHAPE_SPHERE:
      return norm > 0 ? v3_scale(z.x / norm, d) : v3(z.x, 0, 0);
    case AB_SHAPE_CAPSULE: {
      abVec3 p = norm > 0 ? v3_scale(z.x / norm, d) : v3(z.x, 0, 0);
      p.z += copysign(z.y, d.z);
      return p;
    }
    case AB_SHAPE_CYLINDER:
      return rho > 0 ? v3(z.x * d.x / rho, z.x * d.y / rho, copysign(z.y, d.z))
                     : v3(0, 0, copysign(z.y, d.z));
    case AB_SHAPE_ELLIPSOID: {
      abVec3 q = v3_mul(z, d);
      double k = v3_norm(q);
      return k > 0 ? v3_scale(1 / k, v3_mul(z, q)) : v3(z.x, 0, 0);
    }
    default:
      break;
  }
  const abPolyhedron* p = s->poly;
  int best = 0;
  double most = -INFINITY;
  for (int i = 0; i < p->nvert; i++) {
    double h = v3_dot(d, p->vert[i]);
    if (h > most) most = h, best = i;
  }
  return p->vert[best];
}

abVec3 ab_ecp_support(const abEcpShape* s, const abEcpBody* b, abVec3 direction) {
  abVec3 d = m3_apply_t(&s->turn, m3_apply_t(&b->R, direction));
  return v3_add(b->x, m3_apply(&b->R, place(s, support_local(s->shape, d))));
}

// Signed distance of a point in the plane of a polyhedron's face from its polygon.
static double polygon_outside(const abEcpFeature* f, abVec3 x) {
  const abPolyhedron* p = f->shape->shape->poly;
  int first = p->face_start[f->index], n = p->face_start[f->index + 1] - first;
  double worst = -INFINITY;
  abVec3 a = place(f->shape, p->vert[p->loop[first + n - 1]]);
  for (int i = 0; i < n; i++) {
    abVec3 b = place(f->shape, p->vert[p->loop[first + i]]);
    abVec3 out = v3_cross(v3_sub(b, a), f->n);
    double d = v3_dot(out, v3_sub(x, a)) / v3_norm(out);
    if (d > worst) worst = d;
    a = b;
  }
  return worst;
}

double ab_ecp_feature_outside(const abEcpFeature* f, const double par[2]) {
  if (f->kind == AB_ECP_SEGMENT) return fabs(par[0]) - f->half;
  if (f->kind != AB_ECP_FACE || f->shape->shape->type == AB_SHAPE_PLANE) return -INFINITY;
  if (f->shape->shape->type == AB_SHAPE_CYLINDER)
    return sqrt(par[0] * par[0] + par[1] * par[1]) - f->rad;
  return polygon_outside(f, v3_axpy(par[0], f->u, v3_axpy(par[1], f->v, f->c)));
}

double ab_ecp_face_outside(const abEcpFeature* f, const abEcpBody* b, abVec3 a) {
  if (f->shape->shape->type == AB_SHAPE_PLANE) return -INFINITY;
  abVec3 x = m3_apply_t(&b->R, v3_sub(a, b->x));
  abVec3 r = v3_sub(x, f->c);
  double par[2] = {v3_dot(f->u, r), v3_dot(f->v, r)};
  return ab_ecp_feature_outside(f, par);
}
