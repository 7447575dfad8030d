// From a solved mode that breaks an inequality to the mode next to it, for a body on a plane.
// Tests: test_ecp_drop, test_ecp_roll.
#include "contact/ecp/ecp.h"

static int find_edge(const abPolyhedron* p, int a, int b) {
  for (int e = 0; e < p->nedge; e++)
    if ((p->edge[e][0] == a && p->edge[e][1] == b) || (p->edge[e][0] == b && p->edge[e][1] == a))
      return e;
  return -1;
}

static bool face_has(const abPolyhedron* p, int f, int v) {
  for (int i = p->face_start[f]; i < p->face_start[f + 1]; i++)
    if (p->loop[i] == v) return true;
  return false;
}

// The edge of a face that the point par lies farthest outside of.
int ab_ecp_border_edge(const abEcpFeature* f, const double par[2]) {
  const abPolyhedron* p = f->shape->shape->poly;
  int first = p->face_start[f->index], n = p->face_start[f->index + 1] - first, best = 0;
  abVec3 x = v3_axpy(par[0], f->u, v3_axpy(par[1], f->v, f->c));
  double worst = -INFINITY;
  for (int i = 0; i < n; i++) {
    int va = p->loop[first + i], vb = p->loop[first + (i + 1) % n];
    abVec3 a = ab_ecp_feature(f->shape, AB_ECP_POINT, va).c;
    abVec3 out = v3_cross(v3_sub(ab_ecp_feature(f->shape, AB_ECP_POINT, vb).c, a), f->n);
    double d = v3_dot(out, v3_sub(x, a)) / v3_norm(out);
    if (d > worst) worst = d, best = i;
  }
  return find_edge(p, p->loop[first + best], p->loop[first + (best + 1) % n]);
}

static int lowest_vertex(const abEcpShape* s, const abEcpBody* b, abVec3 N) {
  const abPolyhedron* p = s->shape->poly;
  abVec3 d = m3_apply_t(&s->turn, m3_apply_t(&b->R, N));
  int best = 0;
  for (int i = 1; i < p->nvert; i++)
    if (v3_dot(d, p->vert[i]) < v3_dot(d, p->vert[best])) best = i;
  return best;
}

// A vertex k has sunk in: span the next larger feature with it.
static void grow(const abEcpFeature* f, int k, int* kind, int* index) {
  const abPolyhedron* p = f->shape->shape->poly;
  *kind = AB_ECP_POINT, *index = k;
  if (f->kind == AB_ECP_POINT) {
    int e = find_edge(p, f->index, k);
    if (e >= 0) {
      *kind = AB_ECP_SEGMENT, *index = e;
      return;
    }
    for (int i = 0; i < p->nface; i++)
      if (face_has(p, i, f->index) && face_has(p, i, k)) {
        *kind = AB_ECP_FACE, *index = i;
        return;
      }
  }
  if (f->kind == AB_ECP_SEGMENT)
    for (int i = 2; i < 4; i++)
      if (face_has(p, p->edge[f->index][i], k)) {
        *kind = AB_ECP_FACE, *index = p->edge[f->index][i];
        return;
      }
}

static bool polyhedron_neighbour(const abEcpContact* c, const abEcpKinematics* k, int* kind,
                                 int* index) {
  const abEcpFeature* f = &c->feature[0];
  const abPolyhedron* p = f->shape->shape->poly;
  if (ab_ecp_feature_outside(f, c->par) > 0 && f->kind == AB_ECP_FACE) {
    *kind = AB_ECP_SEGMENT, *index = ab_ecp_border_edge(f, c->par);
    return *index >= 0;
  }
  if (ab_ecp_feature_outside(f, c->par) > 0) {
    *kind = AB_ECP_POINT, *index = p->edge[f->index][c->par[0] > 0];
    return true;
  }
  if (ab_ecp_overlap(c, k) <= 0) return false;
  int low = lowest_vertex(f->shape, c->body[0], k->n);
  if (f->kind == AB_ECP_POINT && low == f->index) return false;
  grow(f, low, kind, index);
  return true;
}

// Cylinder: barrel <-> rim <-> disc. Capsule: side <-> ends.
static bool smooth_neighbour(const abEcpContact* c, const abEcpKinematics* k, int* kind,
                             int* index) {
  const abEcpFeature* f = &c->feature[0];
  abVec3 axis = m3_apply(&c->body[0]->R, m3_col(&f->shape->turn, 2));
  double up = v3_dot(axis, k->n);
  bool cylinder = f->shape->shape->type == AB_SHAPE_CYLINDER;
  int end = cylinder ? AB_ECP_RIM : AB_ECP_POINT;
  if (f->kind == AB_ECP_SEGMENT) {
    *kind = end, *index = c->par[0] > 0 ? 0 : 1;
    return ab_ecp_feature_outside(f, c->par) > 0;
  }
  if (f->kind == AB_ECP_FACE) {
    *kind = end, *index = f->index;
    return ab_ecp_feature_outside(f, c->par) > 0;
  }
  if (ab_ecp_overlap(c, k) <= 0) return false;
  bool flat = cylinder && fabs(up) > 0.7;  // tipped on to its disc rather than on to its side
  *kind = flat ? AB_ECP_FACE : AB_ECP_SEGMENT, *index = flat ? (up < 0 ? 0 : 1) : 0;
  return true;
}

bool ab_ecp_grow(const abEcpContact* c, abEcpMode* next) {
  int on = 1 - c->ref;
  if (c->ref < 0 || !ab_ecp_is_polyhedron(c->shape[on].shape)) return false;
  abEcpKinematics k;
  ab_ecp_kinematics(c, &k);
  const abEcpFeature* f = &c->feature[on];
  int low = lowest_vertex(f->shape, c->body[on], c->ref == 1 ? k.n : v3_neg(k.n)), kind, index;
  if (f->kind == AB_ECP_POINT && low == f->index) return false;
  grow(f, low, &kind, &index);
  *next = c->mode;
  next->kind[on] = kind, next->index[on] = index;
  return !ab_ecp_mode_equal(*next, c->mode);
}

bool ab_ecp_neighbour(const abEcpContact* c, abEcpMode* next) {
  if (c->shape[1].shape->type != AB_SHAPE_PLANE) return false;
  abEcpKinematics k;
  ab_ecp_kinematics(c, &k);
  int kind = 0, index = 0;
  abShapeType type = c->shape[0].shape->type;
  if (ab_ecp_is_polyhedron(c->shape[0].shape)) {
    if (!polyhedron_neighbour(c, &k, &kind, &index)) return false;
  } else if (type == AB_SHAPE_CYLINDER || type == AB_SHAPE_CAPSULE) {
    if (!smooth_neighbour(c, &k, &kind, &index)) return false;
  } else {
    return false;
  }
  *next = ab_ecp_mode((abEcpKind)kind, index, AB_ECP_FACE, 0);
  return true;
}
