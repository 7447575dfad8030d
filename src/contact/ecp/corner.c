// A vertex on an edge.
//
// Where a vertex leaves a face across its border, the face's own normal and that of its neighbour
// may both be wrong at the end of the step: on the one the vertex has passed the border, on the
// other it has not come to it. Then it lies on the edge between them, with a normal between theirs;
// in the paper's equations two multipliers are positive. (Of 25 heaps of ten hulls, 6,000 steps,
// one needs it.) The edge has the direction u and the point c, and m(theta) = cos(theta) d1 +
// sin(theta) d2 are the directions across it, d1 the mean of its faces' normals, d2 = u x d1. The
// vertex x lies on the line of the edge,
//     m.(x - c) = 0,  m'.(x - c) = 0,  m' = dm/dtheta = u x m,
// and p_n with theta, the only parameter, answers both. That m lies between the faces' normals, and
// in the cone of the vertex, is checked like every other normal, by the bodies' extent along it.
//
// The rim of a cylinder is such an edge, between its disc (normal k) and its barrel (normal e, from
// the axis to x): c = its point nearest to x, u = k x e, d1 and d2 as above. As x moves along it
// relative to the cylinder, by dx, all of these turn about k by u.dx/|x - axis|.
// Tests: test_ecp_throw.
#include "contact/ecp/columns.h"

static abVec3 to_world(const abEcpBody* b, abVec3 x) { return v3_add(b->x, m3_apply(&b->R, x)); }

bool ab_ecp_set_corner(abEcpContact* c) {
  c->line = c->feature[0].kind != AB_ECP_POINT ? 0 : 1;
  const abEcpFeature *edge = &c->feature[c->line], *point = &c->feature[1 - c->line];
  if (point->kind != AB_ECP_POINT) return false;
  if (edge->kind == AB_ECP_SEGMENT) {
    if (!ab_ecp_is_polyhedron(edge->shape->shape)) return false;
    const int* e = edge->shape->shape->poly->edge[edge->index];
    abVec3 a = ab_ecp_feature(edge->shape, AB_ECP_FACE, e[2]).n;
    abVec3 b = ab_ecp_feature(edge->shape, AB_ECP_FACE, e[3]).n;
    c->across[0] = v3_unit(v3_add(a, b));
    c->across[1] = v3_cross(edge->u, c->across[0]);
  } else if (edge->kind != AB_ECP_RIM) {
    return false;
  }
  c->cornered = true;
  c->npar = 1;
  return true;
}

// The edge near x, in the world.
typedef struct Ridge {
  abVec3 o, u, d1, d2;
  abVec3 axis;  // about which it bends
  double bend;  // one over its radius
} Ridge;

static Ridge ridge_at(const abEcpContact* c, abVec3 x) {
  const abEcpFeature* f = &c->feature[c->line];
  const abEcpBody* b = c->body[c->line];
  Ridge q = {.o = to_world(b, f->c)};
  if (f->kind == AB_ECP_SEGMENT) {
    q.u = m3_apply(&b->R, f->u);
    q.d1 = m3_apply(&b->R, c->across[0]), q.d2 = m3_apply(&b->R, c->across[1]);
    return q;
  }
  q.axis = m3_apply(&b->R, f->n);
  abVec3 r = v3_sub(x, q.o);
  r = v3_axpy(-v3_dot(q.axis, r), q.axis, r);
  double radius = v3_norm(r);
  abVec3 e = radius > 0 ? v3_scale(1 / radius, r) : m3_apply(&b->R, f->u);
  q.o = v3_axpy(f->rad, e, q.o);
  q.u = v3_cross(q.axis, e);
  q.d1 = v3_scale(sqrt(0.5), v3_add(q.axis, e)), q.d2 = v3_cross(q.u, q.d1);
  q.bend = radius > 0 ? 1 / radius : 0;
  return q;
}

static abVec3 vertex_of(const abEcpContact* c) {
  return to_world(c->body[1 - c->line], c->feature[1 - c->line].c);
}

void ab_ecp_corner_turn(abEcpContact* c, abVec3 n) {
  Ridge q = ridge_at(c, vertex_of(c));
  abVec3 m = c->line == 1 ? n : v3_neg(n);
  c->par[0] = atan2(v3_dot(m, q.d2), v3_dot(m, q.d1));
}

// Variation of x along m relative to the body of the edge.
static void relative(const abEcpContact* c, abVec3 x, abVec3 m, double* row) {
  const abEcpBody *be = c->body[c->line], *bv = c->body[1 - c->line];
  int ce = 6 * c->line, cv = 6 - ce;
  if (bv->moving) {
    set_row(row, cv, m);
    set_row(row, cv + 3, v3_cross(v3_sub(x, bv->x), m));
  }
  if (be->moving) {
    set_row(row, ce, v3_neg(m));
    set_row(row, ce + 3, v3_cross(m, v3_sub(x, be->x)));
  }
}

void ab_ecp_corner_kinematics(const abEcpContact* c, abEcpKinematics* k) {
  const abEcpBody *be = c->body[c->line], *bv = c->body[1 - c->line];
  int ce = 6 * c->line, cv = 6 - ce;
  double co = cos(c->par[0]), si = sin(c->par[0]);
  k->a = vertex_of(c);
  Ridge q = ridge_at(c, k->a);
  abVec3 m = v3_add(v3_scale(co, q.d1), v3_scale(si, q.d2)), turned = v3_cross(q.u, m);
  k->g[0] = v3_dot(m, v3_sub(k->a, q.o));
  k->g[1] = v3_dot(turned, v3_sub(k->a, q.o));
  relative(c, k->a, m, k->Jg[0]);
  relative(c, k->a, turned, k->Jg[1]);
  k->Jg[0][AB_ECP_PAR] = k->g[1];
  k->Jg[1][AB_ECP_PAR] = -k->g[0];
  k->n = c->line == 1 ? m : v3_neg(m);
  k->t = q.u;
  k->o = v3_cross(k->n, k->t);
  add_identity(k->Ja, cv, 1);
  add_turn(k->Ja, cv + 3, v3_sub(k->a, bv->x), 1);
  if (be->moving) add_identity(k->psi, ce + 3, 1);
  set_column(k->psi, AB_ECP_PAR, q.u);
  if (q.bend == 0) return;
  double along[AB_ECP_COLUMNS] = {0};
  relative(c, k->a, q.u, along);
  for (int j = 0; j < AB_ECP_PAR; j++) {
    k->psi[0][j] += q.bend * along[j] * q.axis.x;
    k->psi[1][j] += q.bend * along[j] * q.axis.y;
    k->psi[2][j] += q.bend * along[j] * q.axis.z;
  }
}

// A vertex beyond the border of a face, or edges that cross beyond the end of one: the vertex that
// lies on the edge there.
bool ab_ecp_corner_next(const abEcpContact* c, const abEcpKinematics* k, abEcpMode* next) {
  for (int i = 0; i < 2; i++) {
    if (!ab_ecp_is_polyhedron(c->shape[i].shape)) return false;
    const abEcpFeature *f = &c->feature[i], *other = &c->feature[1 - i];
    abVec3 r = v3_sub(m3_apply_t(&c->body[i]->R, v3_sub(k->a, c->body[i]->x)), f->c);
    double par[2] = {v3_dot(f->u, r), v3_dot(f->v, r)};
    *next = c->mode;
    if (f->kind == AB_ECP_FACE && other->kind == AB_ECP_POINT) {
      next->kind[i] = AB_ECP_SEGMENT, next->index[i] = ab_ecp_border_edge(f, par);
      return next->index[i] >= 0;
    }
    bool beyond = ab_ecp_feature_outside(f, par) > 0;
    if (f->kind == AB_ECP_SEGMENT && other->kind == AB_ECP_SEGMENT && beyond) {
      const int* edge = f->shape->shape->poly->edge[f->index];
      next->kind[i] = AB_ECP_POINT, next->index[i] = edge[par[0] > 0];
      return true;
    }
  }
  return false;
}

// Distance of x from an edge or a rim.
static double apart(const abEcpFeature* f, const abEcpBody* b, abVec3 x) {
  abVec3 r = v3_sub(m3_apply_t(&b->R, v3_sub(x, b->x)), f->c);
  if (f->kind == AB_ECP_RIM) {
    double z = v3_dot(f->n, r), beside = v3_norm(v3_axpy(-z, f->n, r)) - f->rad;
    return sqrt(z * z + beside * beside);
  }
  double s = v3_dot(f->u, r);
  s = s > f->half ? f->half : s < -f->half ? -f->half : s;
  return v3_norm(v3_axpy(-s, f->u, r));
}

int ab_ecp_corners(const abEcpContact* c, int max, abEcpMode* out) {
  double near[AB_ECP_CORNERS_NEAR];
  int n = 0;
  if (max > AB_ECP_CORNERS_NEAR) max = AB_ECP_CORNERS_NEAR;
  for (int line = 0; line < 2; line++) {
    const abEcpShape *es = &c->shape[line], *ps = &c->shape[1 - line];
    bool rims = es->shape->type == AB_SHAPE_CYLINDER;
    if (!ab_ecp_is_polyhedron(ps->shape) || !(rims || ab_ecp_is_polyhedron(es->shape))) continue;
    abEcpKind kind = rims ? AB_ECP_RIM : AB_ECP_SEGMENT;
    for (int e = 0; e < ab_ecp_feature_count(es, kind); e++) {
      abEcpFeature f = ab_ecp_feature(es, kind, e);
      for (int p = 0; p < ab_ecp_feature_count(ps, AB_ECP_POINT); p++) {
        abVec3 x = to_world(c->body[1 - line], ab_ecp_feature(ps, AB_ECP_POINT, p).c);
        double far = apart(&f, c->body[line], x);
        if (n == max && far >= near[n - 1]) continue;
        int at = n < max ? n++ : n - 1;
        for (; at > 0 && near[at - 1] > far; at--) near[at] = near[at - 1], out[at] = out[at - 1];
        near[at] = far;
        out[at] = line == 0 ? ab_ecp_mode(kind, e, AB_ECP_POINT, p)
                            : ab_ecp_mode(AB_ECP_POINT, p, kind, e);
      }
    }
  }
  return n;
}
