// A contact as points that press.
//
// Two faces that may touch meet in a polygon, the patch, and "the equivalent contact point lies in
// the patch, nothing overlaps" is the same as: impulses lambda_i >= 0 at the corners of the patch,
// each perpendicular to the gap there. Their sum is p_n, their centre is the equivalent contact
// point, and which corners touch is the mode: one corner is a vertex on a face or two edges that
// cross, two neighbours are an edge on a face, more are face on face. So the choice of modes for
// all contacts of an island becomes one complementarity problem (joint.c). Corners have a gap
// of their own while the faces are tilted towards each other; what the faces leave out (a body
// that rolls over to another face within the step) is found by overlap at the end and a new patch.
//
// The patch is the outline of the one face (the incident one, of the body whose feature meets the
// plane) clipped by that of the other. Of each side of it is known whose edge it is; two that meet
// name their corner. Shapes that are not polyhedra have the ends of their line, eight points of
// their disc, or one point.
// Tests: test_ecp_heap.
#include "contact/ecp/manifold.h"

typedef struct Corner {
  abVec3 x;
  double p[2];  // in the plane
  int side, edge;
} Corner;

typedef struct Outline {
  int n;
  Corner corner[AB_ECP_POINTS];
} Outline;

static abVec3 to_world(const abEcpBody* b, abVec3 x) { return v3_add(b->x, m3_apply(&b->R, x)); }
static abVec3 to_body(const abEcpBody* b, abVec3 x) { return m3_apply_t(&b->R, v3_sub(x, b->x)); }

static int edge_between(const abPolyhedron* p, int a, int b) {
  for (int e = 0; e < p->nedge; e++)
    if ((p->edge[e][0] == a && p->edge[e][1] == b) || (p->edge[e][0] == b && p->edge[e][1] == a))
      return e;
  return -1;
}

// The vertex where two edges meet. The edge between them may have been cut to nothing: the one
// nearest to x then.
static int vertex_at(const abEcpShape* s, int e, int f, abVec3 x) {
  const abPolyhedron* p = s->shape->poly;
  int best = p->edge[e][0];
  double least = INFINITY;
  for (int i = 0; i < 4; i++) {
    int v = p->edge[i < 2 ? e : f][i % 2];
    double apart = v3_norm2(v3_sub(ab_ecp_feature(s, AB_ECP_POINT, v).c, x));
    if (apart < least) least = apart, best = v;
  }
  return best;
}

static bool outline_of(const abEcpContact* c, int side, int face, Outline* out) {
  const abEcpShape* shape = &c->shape[side];
  const abPolyhedron* p = shape->shape->poly;
  int first = p->face_start[face], n = p->face_start[face + 1] - first;
  if (n > AB_ECP_POINTS / 2) return false;
  out->n = n;
  for (int i = 0; i < n; i++) {
    int v = p->loop[first + i], next = p->loop[first + (i + 1) % n];
    abVec3 x = to_world(c->body[side], ab_ecp_feature(shape, AB_ECP_POINT, v).c);
    out->corner[i] = (Corner){.x = x, .side = side, .edge = edge_between(p, v, next)};
  }
  return true;
}

// The part of a polygon behind the line from a in the direction across `out`, which is an edge of
// the other body.
static bool cut(Outline* q, const double a[2], const double out[2], int side, int edge) {
  Outline old = *q;
  q->n = 0;
  for (int i = 0; i < old.n; i++) {
    const Corner *p = &old.corner[i], *r = &old.corner[(i + 1) % old.n];
    double hp = out[0] * (p->p[0] - a[0]) + out[1] * (p->p[1] - a[1]);
    double hr = out[0] * (r->p[0] - a[0]) + out[1] * (r->p[1] - a[1]);
    if (q->n + 2 > AB_ECP_POINTS) return false;
    if (hp <= 0) q->corner[q->n++] = *p;
    if ((hp < 0 && hr > 0) || (hp > 0 && hr < 0)) {
      double s = hp / (hp - hr);
      Corner x = *p;
      x.x = v3_lerp(p->x, r->x, s);
      for (int j = 0; j < 2; j++) x.p[j] = p->p[j] + s * (r->p[j] - p->p[j]);
      if (hr > 0) x.side = side, x.edge = edge;
      q->corner[q->n++] = x;
    } else if (hp == 0 && hr > 0) {  // leaves at a corner
      q->corner[q->n - 1].side = side, q->corner[q->n - 1].edge = edge;
    }
  }
  return true;
}

// Without sides of no length: their ends are one corner.
static void merge_corners(Outline* q) {
  int n = 0;
  for (int i = 0; i < q->n; i++) {
    const Corner *p = &q->corner[i], *r = &q->corner[(i + 1) % q->n];
    if (v3_norm(v3_sub(p->x, r->x)) > AB_ECP_SAME_CORNER) q->corner[n++] = *p;
  }
  if (n > 0) q->n = n;
}

static void flatten(Outline* q, abVec3 origin, abVec3 t, abVec3 o) {
  for (int i = 0; i < q->n; i++) {
    abVec3 r = v3_sub(q->corner[i].x, origin);
    q->corner[i].p[0] = v3_dot(t, r), q->corner[i].p[1] = v3_dot(o, r);
  }
}

// The face of a polyhedron that looks most along a world direction.
static int face_along(const abEcpContact* c, int side, abVec3 d) {
  const abEcpShape* s = &c->shape[side];
  abVec3 local = m3_apply_t(&s->turn, m3_apply_t(&c->body[side]->R, d));
  const abPolyhedron* p = s->shape->poly;
  int best = 0;
  for (int i = 1; i < p->nface; i++)
    if (v3_dot(local, p->plane[i].n) > v3_dot(local, p->plane[best].n)) best = i;
  return best;
}

static void add_point(abEcpManifold* m, abVec3 x, abVec3 foot, int side, int edge) {
  int on = 1 - m->ref;  // the body whose points meet the plane
  abEcpPoint* p = &m->point[m->n++];
  *p = (abEcpPoint){.side = side, .edge = edge};
  p->at[on] = to_body(m->c->body[on], x);
  p->at[m->ref] = to_body(m->c->body[m->ref], foot);
}

// N: out of the plane of face m->face[ref], through `origin`.
static bool polygon_points(abEcpManifold* m, abVec3 origin, abVec3 N) {
  const abEcpContact* c = m->c;
  int ref = m->ref, on = 1 - ref;
  m->face[on] = c->mode.kind[on] == AB_ECP_FACE ? c->mode.index[on] : face_along(c, on, v3_neg(N));
  Outline patch, window;
  abVec3 t, o;
  v3_tangents(N, &t, &o);
  if (!outline_of(c, on, m->face[on], &patch)) return false;
  flatten(&patch, origin, t, o);
  if (c->shape[ref].shape->type != AB_SHAPE_PLANE) {
    if (!outline_of(c, ref, m->face[ref], &window)) return false;
    flatten(&window, origin, t, o);
    for (int i = 0; i < window.n; i++) {  // counter-clockwise about N
      const Corner *a = &window.corner[i], *b = &window.corner[(i + 1) % window.n];
      double out[2] = {b->p[1] - a->p[1], a->p[0] - b->p[0]};
      if (!cut(&patch, a->p, out, ref, a->edge)) return false;
    }
  }
  merge_corners(&patch);
  for (int i = 0; i < patch.n; i++) {
    const Corner* q = &patch.corner[i];
    double height = v3_dot(N, v3_sub(q->x, origin));
    add_point(m, q->x, v3_axpy(-height, N, q->x), q->side, q->edge);
  }
  return m->n > 0;
}

// The ends of a line or points around a disc over a plane.
static bool smooth_points(abEcpManifold* m, abVec3 origin, abVec3 N) {
  const abEcpContact* c = m->c;
  const abEcpFeature* f = &c->feature[1 - m->ref];
  const abEcpBody* b = c->body[1 - m->ref];
  abVec3 center = to_world(b, f->c), u = m3_apply(&b->R, f->u), v = m3_apply(&b->R, f->v);
  int n = f->kind == AB_ECP_SEGMENT ? 2 : f->kind == AB_ECP_FACE ? 8 : 0;
  for (int i = 0; i < n; i++) {
    double phi = 6.283185307179586 * i / n;
    abVec3 x = n == 2 ? v3_axpy(i ? f->half : -f->half, u, v3_axpy(-f->rad, N, center))
                      : v3_axpy(f->rad * cos(phi), u, v3_axpy(f->rad * sin(phi), v, center));
    double height = v3_dot(N, v3_sub(x, origin));
    add_point(m, x, v3_axpy(-height, N, x), 1 - m->ref, -1);
  }
  return n > 0;
}

// The ends of what two lines alongside each other share.
static bool line_points(abEcpManifold* m, abVec3 n) {
  const abEcpContact* c = m->c;
  const abEcpFeature *f0 = &c->feature[0], *f1 = &c->feature[1];
  if (!c->alongside || f0->kind != AB_ECP_SEGMENT || f1->kind != AB_ECP_SEGMENT) return false;
  abVec3 u0 = m3_apply(&c->body[0]->R, f0->u), u1 = m3_apply(&c->body[1]->R, f1->u);
  abVec3 c0 = to_world(c->body[0], f0->c), c1 = to_world(c->body[1], f1->c);
  double at = v3_dot(u1, v3_sub(c0, c1)), reach = f0->half * fabs(v3_dot(u0, u1));
  double end[2] = {fmax(-f1->half, at - reach), fmin(f1->half, at + reach)};
  if (!(end[0] < end[1])) return false;
  for (int i = 0; i < 2; i++) {
    abVec3 axis1 = v3_axpy(end[i], u1, c1), axis0 = v3_axpy(v3_dot(u0, v3_sub(axis1, c0)), u0, c0);
    add_point(m, v3_axpy(-f0->rad, n, axis0), v3_axpy(f1->rad, n, axis1), -1, -1);
  }
  return true;
}

static void set_frame(abEcpManifold* m, abVec3 n, abVec3 t, abVec3 o) {
  const abEcpBody* b = m->c->body[m->ref];
  m->frame[0] = m3_apply_t(&b->R, n);
  m->frame[1] = m3_apply_t(&b->R, t);
  m->frame[2] = m3_apply_t(&b->R, o);
}

// Edges that cross with their normal close to that of a face: the patch of that face has the
// crossing as one of its corners.
static bool nearly_flat(abEcpManifold* m, abVec3 n) {
  const abEcpContact* c = m->c;
  double best = 0.995;
  int ref = -1;
  abVec3 N = n;
  for (int side = 0; side < 2; side++) {
    int face = face_along(c, side, side == 1 ? n : v3_neg(n));
    abVec3 f = m3_apply(&c->body[side]->R, ab_ecp_feature(&c->shape[side], AB_ECP_FACE, face).n);
    double along = v3_dot(f, side == 1 ? n : v3_neg(n));
    if (along > best) best = along, ref = side, N = f, m->face[side] = face;
  }
  if (ref < 0) return false;
  m->ref = ref;
  abVec3 t, o;
  v3_tangents(n, &t, &o);
  set_frame(m, n, t, o);
  abEcpFeature f = ab_ecp_feature(&c->shape[ref], AB_ECP_FACE, m->face[ref]);
  return polygon_points(m, to_world(c->body[ref], f.c), N);
}

bool ab_ecp_manifold(abEcpContact* c, abEcpManifold* m) {
  bool flat = false;
  *m = (abEcpManifold){.c = c, .ref = c->ref >= 0 ? c->ref : 1, .face = {-1, -1}};
  m->mass = ab_ecp_reduced_mass(c);
  abEcpKinematics k;
  ab_ecp_kinematics(c, &k);
  m->a = k.a;
  bool poly[2] = {ab_ecp_is_polyhedron(c->shape[0].shape), ab_ecp_is_polyhedron(c->shape[1].shape)};
  set_frame(m, k.n, k.t, k.o);
  if (c->ref >= 0) {
    abVec3 N = c->ref == 1 ? k.n : v3_neg(k.n);
    abVec3 origin = to_world(c->body[c->ref], c->feature[c->ref].c);
    flat = poly[1 - c->ref] && (poly[c->ref] || c->shape[c->ref].shape->type == AB_SHAPE_PLANE);
    m->face[c->ref] = c->mode.index[c->ref];
    if (flat ? polygon_points(m, origin, N) : smooth_points(m, origin, N)) return true;
  } else if (poly[0] && poly[1] && nearly_flat(m, k.n)) {
    return true;
  }
  m->ref = c->ref >= 0 ? c->ref : 1;
  set_frame(m, k.n, k.t, k.o);
  m->n = 0;
  if (c->ref < 0 && line_points(m, k.n)) return true;
  // one point, at the distance of the bodies along its normal
  m->n = 0, m->face[0] = m->face[1] = -1, m->ref = c->ref >= 0 ? c->ref : 1;
  set_frame(m, k.n, k.t, k.o);
  double apart = ab_ecp_separation(c, k.n);
  abVec3 x[2] = {v3_axpy(0.5 * apart, k.n, k.a), v3_axpy(-0.5 * apart, k.n, k.a)};
  add_point(m, x[1 - m->ref], x[m->ref], -1, -1);
  return !flat;
}

void ab_ecp_manifold_recall(abEcpManifold* m, double pn, const double s[3]) {
  const abEcpContact* c = m->c;
  for (int j = 0; j < 3; j++) m->held[j] = s[j];
  // Affine weights: they have the impulse's moment exactly unless one would pull.
  abVec3 center = v3_zero(), n = m3_apply(&c->body[m->ref]->R, m->frame[0]), x[AB_ECP_POINTS];
  for (int i = 0; i < m->n; i++) {
    x[i] = to_world(c->body[0], m->point[i].at[0]);
    center = v3_axpy(1.0 / m->n, x[i], center);
  }
  abMat3 S = {{{0}}};
  abVec3 r = v3_sub(m->a, center);
  for (int i = 0; i < m->n; i++) {
    abVec3 d = v3_sub(x[i], center);
    double q[3] = {d.x, d.y, d.z}, w[3] = {n.x, n.y, n.z};
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) S.m[a][b] += q[a] * q[b] + (i == 0) * w[a] * w[b];
  }
  double trace = S.m[0][0] + S.m[1][1] + S.m[2][2];
  for (int a = 0; a < 3; a++) S.m[a][a] += 1e-6 * trace;  // points in a line
  S = m3_inverse(&S);
  abVec3 slope = m3_apply(&S, r);
  double sum = 0;
  for (int i = 0; i < m->n; i++) {
    double w = 1.0 / m->n + v3_dot(slope, v3_sub(x[i], center));
    m->point[i].held = fmax(0, w), sum += m->point[i].held;
  }
  for (int i = 0; i < m->n; i++) m->point[i].held *= fmax(0, pn) / sum;
  m->limit = c->mu * fmax(0, pn);
}

// Whether the sides that meet at corner i of a are those at corner j of b.
static bool same_corner(const abEcpManifold* a, int i, const abEcpManifold* b, int j) {
  const abEcpPoint* p[2] = {&a->point[i > 0 ? i - 1 : a->n - 1], &a->point[i]};
  const abEcpPoint* q[2] = {&b->point[j > 0 ? j - 1 : b->n - 1], &b->point[j]};
  for (int turn = 0; turn < 2; turn++) {
    bool same = true;
    for (int k = 0; k < 2; k++) {
      const abEcpPoint *x = p[k], *y = q[k ^ turn];
      same = same && x->side == y->side && x->edge == y->edge;
    }
    if (same) return true;
  }
  return false;
}

void ab_ecp_manifold_inherit(abEcpManifold* m, const abEcpManifold* old) {
  double sum = 0, held[AB_ECP_POINTS] = {0};
  bool flat = m->face[0] >= 0 && old->face[0] >= 0;
  for (int i = 0; i < m->n; i++)
    for (int j = 0; j < old->n; j++) {
      if (flat ? !same_corner(m, i, old, j) : i != j || m->n != old->n) continue;
      held[i] = old->point[j].held, sum += held[i];
      break;
    }
  m->a = old->a;
  ab_ecp_manifold_recall(m, old->pn, m->c->s);
  if (sum < (1 - 1e-9) * old->pn) return;  // a corner that bears is gone
  for (int i = 0; i < m->n; i++) m->point[i].held = held[i];
}

static abEcpMode two_sided(int side, abEcpKind kind, int index, abEcpKind other, int other_index) {
  return side == 0 ? ab_ecp_mode(kind, index, other, other_index)
                   : ab_ecp_mode(other, other_index, kind, index);
}

// The sides a and b of the patch meet.
static abEcpMode corner_mode(const abEcpManifold* m, const abEcpPoint* a, const abEcpPoint* b) {
  int side = a->side;
  if (b->side != side) return two_sided(side, AB_ECP_SEGMENT, a->edge, AB_ECP_SEGMENT, b->edge);
  int v = vertex_at(&m->c->shape[side], a->edge, b->edge, b->at[side]);
  return two_sided(side, AB_ECP_POINT, v, AB_ECP_FACE, m->face[1 - side]);
}

static abEcpMode patch_mode(const abEcpManifold* m, int ntouch, const int* touch) {
  int last = m->n - 1;
  if (ntouch == 1) {
    int i = touch[0];
    return corner_mode(m, &m->point[i > 0 ? i - 1 : last], &m->point[i]);
  }
  if (ntouch == 2) {
    int from = touch[1] - touch[0] == 1 ? touch[0] : touch[0] == 0 && touch[1] == last ? last : -1;
    if (from >= 0) {
      const abEcpPoint* p = &m->point[from];
      return two_sided(p->side, AB_ECP_SEGMENT, p->edge, AB_ECP_FACE, m->face[1 - p->side]);
    }
  }
  return ab_ecp_mode(AB_ECP_FACE, m->face[0], AB_ECP_FACE, m->face[1]);
}

// A line that bears at one end bears at the rim or the cap there, a disc at its rim.
static abEcpMode smooth_mode(const abEcpManifold* m, int ntouch, const int* touch) {
  const abEcpContact* c = m->c;
  int on = 1 - m->ref;
  abEcpMode mode = c->mode;
  if (c->ref < 0 || m->n == 1) return mode;
  bool disc = c->feature[on].kind == AB_ECP_FACE;
  bool whole = disc ? ntouch > 2 : ntouch > 1;
  if (whole) return mode;
  mode.index[on] = disc ? c->feature[on].index : touch[0] == 0;
  mode.kind[on] = c->shape[on].shape->type == AB_SHAPE_CYLINDER ? AB_ECP_RIM : AB_ECP_POINT;
  return mode;
}

// The mode with the point of action m->a and the impulse m->pn, m->P, m->s[2].
static bool give_mode(const abEcpManifold* m, abEcpMode mode) {
  abEcpContact* c = m->c;
  if (!ab_ecp_set_mode(c, mode) || !ab_ecp_place(c, m->a)) return false;
  abEcpKinematics k;
  ab_ecp_kinematics(c, &k);
  c->pn = m->pn;
  c->s[0] = c->e[0] > 0 ? v3_dot(m->P, k.t) / c->e[0] : 0;
  c->s[1] = c->e[1] > 0 ? v3_dot(m->P, k.o) / c->e[1] : 0;
  c->s[2] = m->s[2];
  return true;
}

// The part of the patch's border that is nearest to the point of action.
static abEcpMode border_mode(abEcpManifold* m) {
  double nearest = INFINITY;
  abVec3 x[AB_ECP_POINTS], best = m->a;
  int touch[2] = {0, 0}, ntouch = 1;
  for (int i = 0; i < m->n; i++) x[i] = to_world(m->c->body[0], m->point[i].at[0]);
  for (int i = 0; i < m->n; i++) {
    int j = (i + 1) % m->n;
    abVec3 d = v3_sub(x[j], x[i]);
    double length2 = v3_norm2(d), s = length2 > 0 ? v3_dot(d, v3_sub(m->a, x[i])) / length2 : 0;
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    abVec3 p = v3_axpy(s, d, x[i]);
    double apart = v3_norm(v3_sub(p, m->a));
    if (!(apart < nearest)) continue;
    nearest = apart, best = p;
    ntouch = s > 0 && s < 1 ? 2 : 1;
    touch[0] = s >= 1 ? j : i < j ? i : j, touch[1] = i < j ? j : i;
    if (s <= 0) touch[0] = i;
  }
  m->a = best;
  return patch_mode(m, ntouch, touch);
}

// All of the patch that is not above its plane.
static abEcpMode sunk_mode(const abEcpManifold* m, abVec3 n) {
  int ntouch = 0, touch[AB_ECP_POINTS];
  for (int i = 0; i < m->n; i++) {
    abVec3 xa = to_world(m->c->body[0], m->point[i].at[0]);
    abVec3 xb = to_world(m->c->body[1], m->point[i].at[1]);
    if (v3_dot(n, v3_sub(xa, xb)) < AB_ECP_BORDER) touch[ntouch++] = i;
  }
  return ntouch > 0 ? patch_mode(m, ntouch, touch) : m->c->mode;
}

bool ab_ecp_next_mode(abEcpContact* c) {
  abEcpKinematics k;
  ab_ecp_kinematics(c, &k);
  abEcpManifold m;
  ab_ecp_manifold(c, &m);
  m.a = k.a, m.pn = c->pn, m.s[2] = c->s[2];
  m.P = v3_axpy(-c->pn, k.n, ab_ecp_impulse(c, &k));
  if (m.n < 2 || m.face[0] < 0 || m.face[1] < 0) {
    abEcpMode corner;
    return ab_ecp_corner_next(c, &k, &corner) && give_mode(&m, corner);
  }
  bool sunk = ab_ecp_overlap(c, &k) > AB_ECP_OVERLAP;
  abEcpMode last = c->mode, next = sunk ? sunk_mode(&m, k.n) : border_mode(&m);
  if (ab_ecp_mode_equal(next, last) && !(sunk && ab_ecp_grow(c, &next))) return false;
  return give_mode(&m, next);
}

bool ab_ecp_manifold_mode(const abEcpManifold* m, double touching) {
  abEcpContact* c = m->c;
  int ntouch = 0, touch[AB_ECP_POINTS];
  for (int i = 0; i < m->n; i++)
    if (m->point[i].lambda > touching * m->pn) touch[ntouch++] = i;
  c->active = m->pn > 0;
  if (!c->active) {
    c->pn = c->s[0] = c->s[1] = c->s[2] = 0;
    return true;
  }
  abEcpMode mode = m->face[0] >= 0 && m->face[1] >= 0 ? patch_mode(m, ntouch, touch)
                                                      : smooth_mode(m, ntouch, touch);
  return give_mode(m, mode);
}
