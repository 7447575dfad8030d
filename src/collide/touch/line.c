// Where round bodies touch: at a point, or along a line.
// Tests: test_touch.
#include "collide/touch/round.h"
#include "geometry/support.h"

abVec3 ab_touch_far(const abTouchWork* w, const abTouchPlace* at, int i, abVec3 d) {
  const abTouchSide* s = &w->side[i];
  abVec3 local = m3_apply_t(&at->R[i], d), x;
  double deep;
  if (s->shape->type == AB_SHAPE_BOX || s->shape->type == AB_SHAPE_MESH) {
    w->near[i] = ab_touch_support(s->poly, local, w->near[i]);
    if (!s->smooth || !ab_touch_smooth(s->poly, w->near[i], local, &x, &deep))
      x = s->poly->vert[w->near[i]];
  } else {
    x = ab_support(s->shape, local);
  }
  return v3_add(at->pose[i].p, m3_apply(&at->R[i], x));
}

double ab_touch_gap(const abTouchWork* w, const abTouchPlace* at, abVec3 n) {
  const abTouchSide *a = &w->side[0], *b = &w->side[1];
  double low = a->poly ? v3_dot(n, ab_touch_far(w, at, 0, v3_neg(n))) : v3_dot(n, at->pose[0].p);
  double high = b->poly ? v3_dot(n, ab_touch_far(w, at, 1, n)) : v3_dot(n, at->pose[1].p);
  return low - high;
}

// How far from x, which is near the other body, the step may bring something of the body's own that
// is `length` away.
static double reach_at(const abTouchWork* w, const abTouchPlace* at, abVec3 x, double length) {
  const abTwist *a = ab_touch_twist(w, 0), *b = ab_touch_twist(w, 1);
  abVec3 v = v3_sub(twist_at(*a, v3_sub(x, at->com[0])), twist_at(*b, v3_sub(x, at->com[1])));
  double turn = v3_norm(v3_sub(a->ang, b->ang)) * length;
  return w->touch->margin + w->touch->tolerance + w->touch->h * (v3_norm(v) + turn) +
         v3_norm(w->pull);
}

static abTouchLine round_line(const abTouchWork* w, const abTouchPlace* at, int i, abVec3 d) {
  const abTouchSide* s = &w->side[i];
  abVec3 size = s->shape->size, p = at->pose[i].p, axis = m3_col(&at->R[i], 2), off;
  if (s->shape->type != AB_SHAPE_CAPSULE && s->shape->type != AB_SHAPE_CYLINDER)
    return (abTouchLine){1, {ab_touch_far(w, at, i, d)}};
  if (s->shape->type == AB_SHAPE_CAPSULE) {
    off = v3_scale(size.x, d);
  } else {
    off = v3_axpy(-v3_dot(d, axis), axis, d);
    off = v3_norm2(off) > 1e-20 ? v3_scale(size.x, v3_unit(off))
                                : v3_scale(size.x, m3_col(&at->R[i], 0));
  }
  p = v3_add(p, off);
  return (abTouchLine){2, {v3_axpy(-size.y, axis, p), v3_axpy(size.y, axis, p)}};
}

// The edge of a polyhedron that lies flattest at its farthest vertex.
abTouchLine ab_touch_edge(const abTouchWork* w, const abTouchPlace* at, int i, abVec3 n) {
  abVec3 d = i ? n : v3_neg(n), local = m3_apply_t(&at->R[i], d);
  const abPolyhedron* p = w->side[i].poly;
  const abHalf* half = ab_polyhedron_half(p);
  int v = ab_touch_support(p, local, w->near[i]), first = ab_polyhedron_vert_half(p)[v], h = first;
  int best = -1;
  double least = 0.7;
  do {
    int to = half[h ^ 1].from;
    double steep = -v3_dot(local, v3_unit(v3_sub(p->vert[to], p->vert[v])));
    if (steep < least) least = steep, best = to;
    h = half[h ^ 1].next;
  } while (h != first);
  abTouchLine l = {best < 0 ? 1 : 2, {v3_zero(), v3_zero()}};
  for (int k = 0; k < l.n; k++)
    l.p[k] = v3_add(at->pose[i].p, m3_apply(&at->R[i], p->vert[k ? best : v]));
  return l;
}

void ab_touch_keep_lowest(abVec3 d, abTouchLine* l) {
  if (l->n == 2 && v3_dot(d, l->p[1]) > v3_dot(d, l->p[0])) l->p[0] = l->p[1];
  l->n = 1;
}

// Only what the step can reach of it counts: a line that rises is cut, and one that stands upright
// is its lower end.
abTouchLine ab_touch_line(const abTouchWork* w, const abTouchPlace* at, int i, abVec3 n) {
  abVec3 d = i ? n : v3_neg(n);
  const abTouchSide* s = &w->side[i];
  abTouchLine l = ab_touch_flat(s) ? ab_touch_edge(w, at, i, n) : round_line(w, at, i, d);
  if (l.n == 1) return l;
  int low = v3_dot(d, l.p[0]) >= v3_dot(d, l.p[1]) ? 0 : 1;
  abVec3 e = v3_sub(l.p[1 - low], l.p[low]);
  double rise = -v3_dot(d, e), reach = reach_at(w, at, l.p[low], v3_norm(e));
  if (rise > reach) l.p[1 - low] = v3_axpy(reach / rise, e, l.p[low]);
  if (rise > reach && reach / rise * v3_norm(e) < 2 * AB_TOUCH_DOT * w->size)
    ab_touch_keep_lowest(d, &l);
  return l;
}

// Cuts the segment from a to b to the prism of side and normal: [s, t] of its length.
static void cut_span(abVec3 a, abVec3 b, abVec3 corner, abVec3 inward, double* s, double* t) {
  double fa = v3_dot(inward, v3_sub(a, corner)), fb = v3_dot(inward, v3_sub(b, corner));
  if (fa < 0 && fb < 0) *s = 1, *t = 0;
  if (fa < 0 && fb >= 0) *s = fmax(*s, fa / (fa - fb));
  if (fb < 0 && fa >= 0) *t = fmin(*t, fa / (fa - fb));
}

int ab_touch_end_face(const abPolyhedron* p, int end) {
  abVec3 d = v3(0, 0, end ? 1 : -1);
  return ab_touch_face_at(p, d, d, 0);
}

bool ab_touch_cut_line(const abTouchWork* w, const abTouchPlace* at, const abTouchWay* way,
                       abTouchLine* l) {
  const abTouchSide* f = &w->side[way->side];
  if (!f->poly) return true;
  if (l->n == 1) l->p[1] = l->p[0];
  const abPolyhedron* p = f->poly;
  int face = way->face;
  if (f->shape->type == AB_SHAPE_CYLINDER) face = ab_touch_end_face(p, face);
  double s = 0, t = 1;
  int from = p->face_start[face], to = p->face_start[face + 1];
  abVec3 a = v3_add(at->pose[way->side].p, m3_apply(&at->R[way->side], p->vert[p->loop[to - 1]]));
  abVec3 m = m3_apply(&at->R[way->side], p->plane[face].n);
  for (int i = from; i < to; i++) {
    abVec3 b = v3_add(at->pose[way->side].p, m3_apply(&at->R[way->side], p->vert[p->loop[i]]));
    cut_span(l->p[0], l->p[1], a, v3_cross(m, v3_sub(b, a)), &s, &t);
    a = b;
  }
  if (!(s <= t)) return false;
  abVec3 p0 = l->p[0], p1 = l->p[1];
  l->p[0] = v3_lerp(p0, p1, s), l->p[1] = v3_lerp(p0, p1, t);
  return true;
}

void ab_touch_segments(abVec3 ma, abVec3 ea, double la, abVec3 mb, abVec3 eb, double lb, abVec3* pa,
                       abVec3* pb) {
  abVec3 r = v3_sub(ma, mb);
  double c = v3_dot(ea, eb), ra = v3_dot(ea, r), rb = v3_dot(eb, r), d = 1 - c * c;
  double s = la > 0 && lb > 0 && d > 1e-14 ? (c * rb - ra) / d : -ra;
  // parallel: the middle of what lies beside each other is settled by the two clamps
  s = fmin(fmax(s, -la), la);
  double t = fmin(fmax(rb + c * s, -lb), lb);
  s = fmin(fmax(c * t - ra, -la), la);
  *pa = v3_axpy(s, ea, ma), *pb = v3_axpy(t, eb, mb);
}
