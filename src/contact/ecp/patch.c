// How far friction reaches: the mean distance of the patch from its centroid.
//
// Under uniform pressure q a patch that spins about its centroid gives the torque
// mu q int |p - c| dA = mu p_n rbar, so that rbar is the e_r which makes pure spinning right:
// square 0.3826 a, disc 2 R / 3, line l / 4, point 0. For a polygon the integral over the triangle
// of c and an edge at distance d, feet at y1, y2 along the edge, is
//     [ d/6 ( y sqrt(d^2 + y^2) + d^2 asinh(y / d) ) ]_{y1}^{y2}.
// The patch of two faces is their intersection; it is taken at the poses at the start and held
// during the step, as a coefficient (see ab_ecp_set_mode). (The equivalent contact point itself
// never needs the intersection: it lies in it exactly if it lies in both faces.)
#include "contact/ecp/ecp.h"
#include "math/logarithm.h"

enum { PATCH_MAX = 128, DISC_SIDES = 64 };

typedef struct Polygon {
  int n;
  abVec2 p[PATCH_MAX];
} Polygon;

// The outline of a face in the plane frame (origin, t, o) of the world.
static void outline(const abEcpFeature* f, const abEcpBody* b, const abEcpKinematics* k,
                    Polygon* out) {
  const abShape* shape = f->shape->shape;
  out->n = 0;
  if (shape->type == AB_SHAPE_CYLINDER) {
    for (int i = 0; i < DISC_SIDES; i++) {
      double phi = 6.283185307179586 * i / DISC_SIDES;
      abVec3 x = v3_axpy(f->rad * cos(phi), f->u, v3_axpy(f->rad * sin(phi), f->v, f->c));
      abVec3 r = v3_sub(v3_add(b->x0, m3_apply(&b->R0, x)), k->a);
      out->p[out->n++] = v2(v3_dot(k->t, r), v3_dot(k->o, r));
    }
    return;
  }
  const abPolyhedron* p = shape->poly;
  int first = p->face_start[f->index], n = p->face_start[f->index + 1] - first;
  if (n > PATCH_MAX / 2) n = PATCH_MAX / 2;
  for (int i = 0; i < n; i++) {
    abVec3 x = v3_scale(f->shape->scale, p->vert[p->loop[first + i]]);
    x = v3_add(f->shape->off, m3_apply(&f->shape->turn, x));
    abVec3 r = v3_sub(v3_add(b->x0, m3_apply(&b->R0, x)), k->a);
    out->p[out->n++] = v2(v3_dot(k->t, r), v3_dot(k->o, r));
  }
}

static double signed_area(const Polygon* q) {
  double sum = 0;
  for (int i = 0; i < q->n; i++) sum += v2_cross(q->p[i], q->p[(i + 1) % q->n]);
  return 0.5 * sum;
}

static void make_counterclockwise(Polygon* q) {
  if (signed_area(q) >= 0) return;
  for (int i = 0, j = q->n - 1; i < j; i++, j--) {
    abVec2 t = q->p[i];
    q->p[i] = q->p[j];
    q->p[j] = t;
  }
}

// The part of `in` to the left of the line from a to b.
static void clip(const Polygon* in, abVec2 a, abVec2 b, Polygon* out) {
  abVec2 d = v2_sub(b, a);
  out->n = 0;
  for (int i = 0; i < in->n && out->n + 2 <= PATCH_MAX; i++) {
    abVec2 p = in->p[i], q = in->p[(i + 1) % in->n];
    double hp = v2_cross(d, v2_sub(p, a)), hq = v2_cross(d, v2_sub(q, a));
    if (hp >= 0) out->p[out->n++] = p;
    if ((hp > 0 && hq < 0) || (hp < 0 && hq > 0))
      out->p[out->n++] = v2_add(p, v2_scale(hp / (hp - hq), v2_sub(q, p)));
  }
}

static void intersect(Polygon* q, const Polygon* window) {
  Polygon other;
  for (int i = 0; i < window->n && q->n > 0; i++) {
    clip(q, window->p[i], window->p[(i + 1) % window->n], &other);
    *q = other;
  }
}

static double spoke(double d, double y) {
  return d > 0 ? d / 6 * (y * sqrt(d * d + y * y) + d * d * ab_asinh(y / d)) : 0;
}

static void measure(const Polygon* q, double* mean_distance, double* area) {
  double A = signed_area(q), cx = 0, cy = 0, sum = 0;
  *area = A > 0 ? A : 0;
  *mean_distance = 0;
  if (!(A > 0)) return;
  for (int i = 0; i < q->n; i++) {
    abVec2 a = q->p[i], b = q->p[(i + 1) % q->n];
    double w = v2_cross(a, b) / (6 * A);
    cx += w * (a.x + b.x), cy += w * (a.y + b.y);
  }
  abVec2 c = v2(cx, cy);
  for (int i = 0; i < q->n; i++) {
    abVec2 a = v2_sub(q->p[i], c), b = v2_sub(q->p[(i + 1) % q->n], c), e = v2_sub(b, a);
    double length = v2_norm(e);
    if (!(length > 0)) continue;
    e = v2_scale(1 / length, e);
    double d = v2_cross(a, e);
    sum += spoke(d, v2_dot(b, e)) - spoke(d, v2_dot(a, e));
  }
  *mean_distance = sum / A;
}

// Half length of the part of a segment that lies over a face.
static double covered(const abEcpContact* c) {
  const abEcpFeature* seg = &c->feature[1 - c->ref];
  const abEcpFeature* face = &c->feature[c->ref];
  if (face->shape->shape->type == AB_SHAPE_PLANE) return seg->half;
  const abEcpBody *bs = c->body[1 - c->ref], *bf = c->body[c->ref];
  abVec3 m = v3_add(bs->x0, m3_apply(&bs->R0, seg->c)), u = m3_apply(&bs->R0, seg->u);
  double low = -seg->half, high = seg->half;
  abEcpKinematics k = {.a = m, .n = m3_apply(&bf->R0, face->n)};
  v3_tangents(k.n, &k.t, &k.o);
  Polygon window;
  outline(face, bf, &k, &window);
  make_counterclockwise(&window);
  abVec2 d = v2(v3_dot(k.t, u), v3_dot(k.o, u));
  for (int i = 0; i < window.n; i++) {
    abVec2 a = window.p[i], e = v2_sub(window.p[(i + 1) % window.n], a);
    double rate = v2_cross(e, d), at = v2_cross(e, v2_scale(-1, a));  // inside: at + s rate >= 0
    if (rate > 0 && -at / rate > low) low = -at / rate;
    if (rate < 0 && -at / rate < high) high = -at / rate;
  }
  return high > low ? 0.5 * (high - low) : 0;
}

// Half length of the common part of two segments alongside each other.
static double shared(const abEcpContact* c) {
  const abEcpFeature *f0 = &c->feature[0], *f1 = &c->feature[1];
  const abEcpBody *b0 = c->body[0], *b1 = c->body[1];
  abVec3 u0 = m3_apply(&b0->R0, f0->u), u1 = m3_apply(&b1->R0, f1->u);
  abVec3 x0 = v3_add(b0->x0, m3_apply(&b0->R0, f0->c));
  abVec3 x1 = v3_add(b1->x0, m3_apply(&b1->R0, f1->c));
  double at = v3_dot(u0, v3_sub(x1, x0)), reach = f1->half * fabs(v3_dot(u0, u1));
  double low = fmax(-f0->half, at - reach), high = fmin(f0->half, at + reach);
  return high > low ? 0.5 * (high - low) : 0;
}

void ab_ecp_patch(const abEcpContact* c, double* mean_distance, double* area) {
  *mean_distance = *area = 0;
  bool rim = c->feature[0].kind == AB_ECP_RIM || c->feature[1].kind == AB_ECP_RIM;
  if (c->alongside && !rim) *mean_distance = 0.5 * shared(c);
  if (c->ref < 0) return;
  const abEcpFeature *f = &c->feature[1 - c->ref], *face = &c->feature[c->ref];
  if (f->kind == AB_ECP_SEGMENT) {
    *mean_distance = 0.5 * covered(c);
    return;
  }
  if (f->kind != AB_ECP_FACE) return;
  bool unbounded = face->shape->shape->type == AB_SHAPE_PLANE;
  if (unbounded && f->shape->shape->type == AB_SHAPE_CYLINDER) {
    *mean_distance = f->rad * 2 / 3;
    *area = 3.141592653589793 * f->rad * f->rad;
    return;
  }
  const abEcpBody* b = c->body[1 - c->ref];
  abEcpKinematics k = {.a = v3_add(b->x0, m3_apply(&b->R0, f->c)), .n = m3_apply(&b->R0, f->n)};
  v3_tangents(k.n, &k.t, &k.o);
  Polygon patch, window;
  outline(f, b, &k, &patch);
  make_counterclockwise(&patch);
  if (!unbounded) {
    outline(face, c->body[c->ref], &k, &window);
    make_counterclockwise(&window);
    intersect(&patch, &window);
  }
  measure(&patch, mean_distance, area);
}
