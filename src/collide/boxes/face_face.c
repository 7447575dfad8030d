// A face of box X on a face of box Y: the overlap is a slab between the two, with four to eight
// sides, each in a side of X or of Y.
//
// In the axes u, v, w of X, w the one that points at Y, the face of X lies at w = c and that of Y
// in the plane W . (x - p) = -h_W. Prism i, the edge between two neighbouring sides, runs from P_i
// in the one to Q_i in the other. At first there are the prisms of X alone; then the sides of Y
// cut, of which each must have every prism whole on one side of it. A side of Y that lies in one
// of X to rounding, as in a stack of equal boxes, makes it a face of both.
//
// Its volume and centroid: prism.h.
//
// Outline along a normal n close to w: a side that looks up shows its edge in the face of Y there,
// one that looks down that in the face of X; where both kinds meet, a prism.
//
// Longest chord along n. A chord between the two faces has the length t(x), linear in the plane. It
// fits in if its upper end is behind all sides that look up and its lower end behind all that look
// down: x must lie in the polygon of the lines of these edges. If at a corner x* of it t rises
// along the line that comes in and falls along the one that goes out, it is greatest there. Chords
// with an end in a side are no longer: at x, beyond the two lines by d_1 and d_2, t(x) - t(x*) <=
// sqrt(2) |grad t| max d, for the corners are not sharp; but the side takes off k d with k > 2.8,
// and |grad t| < 0.7, if all faces and sides lean as little as is asked for here.
// Tests: test_box_box.
#include <float.h>
#include <string.h>

#include "collide/boxes/box_box.h"
#include "collide/boxes/prism.h"
#include "math/rotation.h"

// Cosines for the two faces, and sine for the sides, of the angles with the normal.
static const double FACE_LYING = 0.95, STANDING = 0.3;

enum { FACE_LANES = 4 };

static inline abVec3 pick(const abVec3 axis[3], int i) {
  return i == 0 ? axis[0] : i == 1 ? axis[1] : axis[2];
}

// Axes: w across face i of X, towards Y; W the axis of Y that looks the same way, U nearest to u.
static void set_axes(const abBoxBoxView* view, int i, int j, abSlab* s) {
  bool down = view->p[i] < 0;
  int k = i < 2 ? i + 1 : 0, l = k < 2 ? k + 1 : 0;
  if (down) {  // still right-handed
    int other = k;
    k = l, l = other;
  }
  double sign = down ? -1 : 1;
  abMat3 X = quat_matrix(view->X.q);
  abVec3 axis[3] = {m3_col(&X, 0), m3_col(&X, 1), m3_col(&X, 2)};
  s->u = pick(axis, k), s->v = pick(axis, l), s->w = v3_scale(sign, pick(axis, i));
  s->p = v3(view->p[k], view->p[l], sign * view->p[i]);
  s->c = view->a[i];
  int m = j < 2 ? j + 1 : 0, n = m < 2 ? m + 1 : 0;
  if (fabs(ab_view(view, k, n)) > fabs(ab_view(view, k, m))) {
    int other = m;
    m = n, n = other;
  }
  double a = ab_view(view, k, m) < 0 ? -1 : 1, b = ab_view(view, l, n) < 0 ? -1 : 1,
         c = sign * ab_view(view, i, j) < 0 ? -1 : 1;
  s->U = v3(a * ab_view(view, k, m), a * ab_view(view, l, m), a * sign * ab_view(view, i, m));
  s->V = v3(b * ab_view(view, k, n), b * ab_view(view, l, n), b * sign * ab_view(view, i, n));
  s->W = v3(c * ab_view(view, k, j), c * ab_view(view, l, j), c * sign * ab_view(view, i, j));
  s->hU = view->b[m], s->hV = view->b[n], s->hW = view->b[j];
  s->out[0] = v3(0, -1, 0), s->out[1] = v3(1, 0, 0), s->out[2] = v3(0, 1, 0);
  s->out[3] = v3(-1, 0, 0), s->out[4] = v3_neg(s->V), s->out[5] = s->U, s->out[6] = s->V;
  s->out[7] = v3_neg(s->U);
  double hu = view->a[k], hv = view->a[l], per = 1 / s->W.z;
  double base = (v3_dot(s->W, s->p) - s->hW) * per, du = s->W.x * per * hu, dv = s->W.y * per * hv;
  s->prism[0] = (abPrism){-hu, -hv, -hu, -hv, base + du + dv, 0, 0, 0};
  s->prism[1] = (abPrism){hu, -hv, hu, -hv, base - du + dv, 0, 0, 1};
  s->prism[2] = (abPrism){hu, hv, hu, hv, base - du - dv, 0, 0, 2};
  s->prism[3] = (abPrism){-hu, hv, -hu, hv, base + du - dv, 0, 0, 3};
  s->n = 4;
  s->both[0] = s->both[1] = s->both[2] = s->both[3] = false;
}

// A side of Y: before it, a point at t along its axis is by sign t - half.
typedef struct Side {
  int k;
  double sign, half, doubt, flush, skew;
} Side;

// Does the side cross the edge from a to b so steeply that it is known where?
static inline bool crosses(const abPrism* a, const abPrism* b, const Side* side) {
  return fabs(b->tp - a->tp) > side->skew && fabs(b->tq - a->tq) > side->skew;
}

// The prism where the side passes between a and b.
static inline abPrism between(const abPrism* a, const abPrism* b, const Side* side) {
  double limit = side->sign * side->half;
  double tp = (limit - a->tp) / (b->tp - a->tp), tq = (limit - a->tq) / (b->tq - a->tq);
  return (abPrism){.pu = a->pu + tp * (b->pu - a->pu),
                   .pv = a->pv + tp * (b->pv - a->pv),
                   .qu = a->qu + tq * (b->qu - a->qu),
                   .qv = a->qv + tq * (b->qv - a->qv),
                   .qw = a->qw + tq * (b->qw - a->qw),
                   .tp = limit,
                   .tq = limit,
                   .side = a->side};
}

// A side close to some prisms: one that lies in that of X, or a doubtful one.
static bool share(abSlab* s, const Side* side) {
  int first = 0;
  while (first < s->n && s->prism[first].side != side->k - 4) first++;
  if (first == s->n) return false;
  for (int i = 0; i < s->n; i++) {
    double p = side->sign * s->prism[i].tp - side->half;
    double q = side->sign * s->prism[i].tq - side->half;
    bool in = i == first || i == (first + 1 < s->n ? first + 1 : 0);
    if (in ? !(fabs(p) <= side->flush && fabs(q) <= side->flush)
           : !(p < -side->doubt && q < -side->doubt))
      return false;
  }
  s->both[side->k - 4] = true;
  return true;
}

// Puts two prisms on the side in the place of the `count` from the `first`.
static bool replace(abSlab* s, const Side* side, int first, int count) {
  abPrism* q = s->prism;
  int n = s->n, last = first + count - 1 < n ? first + count - 1 : first + count - 1 - n;
  int before = first ? first - 1 : n - 1, after = last + 1 < n ? last + 1 : 0;
  if (!crosses(&q[before], &q[first], side) || !crosses(&q[after], &q[last], side)) return false;
  abPrism a = between(&q[before], &q[first], side), b = between(&q[after], &q[last], side);
  a.side = side->k, b.side = q[last].side;
  if (count == 2) {
    q[first] = a, q[last] = b;
    return true;
  }
  abPrism kept[AB_PRISMS];
  int nkept = n - count;
  for (int i = 0, r = after; i < nkept; i++, r = r + 1 < n ? r + 1 : 0) kept[i] = q[r];
  for (int i = 0; i < nkept; i++) q[i] = kept[i];
  q[nkept] = a, q[nkept + 1] = b;
  s->n = nkept + 2;
  return true;
}

// Cuts by a side of Y. False: not every prism is whole on one side of it, or none is left.
static bool cut(abSlab* s, const Side* side) {
  unsigned out = 0, out_q = 0, n = (unsigned)s->n, all = (1u << n) - 1;
  bool clear = true;
  for (unsigned i = 0; i < n; i++) {
    double p = side->sign * s->prism[i].tp - side->half;
    double q = side->sign * s->prism[i].tq - side->half;
    out |= (unsigned)(p > 0) << i;
    out_q |= (unsigned)(q > 0) << i;
    clear &= (fabs(p) > side->doubt) & (fabs(q) > side->doubt);
  }
  if (!clear) return share(s, side);
  if (out != out_q || out == all) return false;
  if (!out) return true;
  unsigned first = out & ~(out << 1 | out >> (n - 1));
  if (first & (first - 1)) return false;
  return replace(s, side, __builtin_ctz(first), __builtin_popcount(out));
}

// Cuts by the two sides of Y across its axis m, which are `plus` and `minus`.
static bool cut_across(abSlab* s, abVec3 m, Side side, int plus, int minus) {
  double d = v3_dot(m, s->p), top = m.z * s->c - d;
  for (int i = 0; i < s->n; i++) {
    abPrism* q = &s->prism[i];
    q->tp = m.x * q->pu + m.y * q->pv + top;
    q->tq = m.x * q->qu + m.y * q->qv + m.z * q->qw - d;
  }
  side.k = plus, side.sign = 1;
  if (!cut(s, &side)) return false;
  side.k = minus, side.sign = -1;
  return cut(s, &side);
}

// Is it a slab: thick at all prisms, and out of reach of the faces across?
static bool is_slab(const abSlab* s, double doubt) {
  double top = v3_dot(s->W, s->p) + s->hW - s->W.z * s->c - doubt;
  double low = doubt - s->c, high = s->c - doubt;
  bool yes = true;
  for (int i = 0; i < s->n; i++) {
    const abPrism* q = &s->prism[i];
    yes &= (q->qw > low) & (q->qw < high) & (s->W.x * q->pu + s->W.y * q->pv < top);
  }
  return yes;
}

// Sums over the prisms, from P_0.
typedef struct Sums {
  abPrismTotal all;
  double su[AB_PRISMS], sv[AB_PRISMS], sw[AB_PRISMS];  // twice the area vectors of the sides
} Sums;

#define ROW(x) \
  { q[a].x, q[b].x, q[c].x, q[d].x }
#define NEXT_ROW(x) \
  { q[b].x, q[c].x, q[d].x, q[e].x }

static inline void integrate(const abSlab* s, Sums* out) {
  const abPrism* q = s->prism;
  double ou = q->pu, ov = q->pv, ow = s->c;
  abPrismSums sums;
  ab_prism_begin(&sums, v3(q->qu - ou, q->qv - ov, q->qw - ow));
  for (int a = 0; a < s->n; a += FACE_LANES) {
    int b = a + 1 < s->n ? a + 1 : 0, c = a + 2 < s->n ? a + 2 : 0, d = a + 3 < s->n ? a + 3 : 0,
        e = a + 4 < s->n ? a + 4 : 0;
    abFourPrisms p, next;
    p.pu = (abFour)ROW(pu) - ou, p.pv = (abFour)ROW(pv) - ov, p.qu = (abFour)ROW(qu) - ou;
    p.qv = (abFour)ROW(qv) - ov, p.qw = (abFour)ROW(qw) - ow;
    next.pu = (abFour)NEXT_ROW(pu) - ou, next.pv = (abFour)NEXT_ROW(pv) - ov;
    next.qu = (abFour)NEXT_ROW(qu) - ou, next.qv = (abFour)NEXT_ROW(qv) - ov;
    next.qw = (abFour)NEXT_ROW(qw) - ow;
    ab_prism_add(&sums, &p, &next, (double* [3]){&out->su[a], &out->sv[a], &out->sw[a]});
  }
  ab_prism_end(&sums, &out->all);
}

// The normal, as ab_overlap_normal finds it: in the axes of the slab, from X to Y.
static abVec3 find_normal(const abSlab* s, const Sums* sums, bool y_is_a) {
  double area_x = 0.5 * sums->all.top, area_y = -0.5 * v3_dot(sums->all.bottom, s->W);
  abVec3 of_x = v3(0, 0, area_x), of_y = v3_scale(-area_y, s->W);
  for (int i = 0; i < s->n; i++) {
    int k = s->prism[i].side;
    abVec3 n = s->out[k];
    double area = 0.5 * (sums->su[i] * n.x + sums->sv[i] * n.y + sums->sw[i] * n.z);
    if (k < 4 && s->both[k])
      of_x = v3_axpy(0.5 * area, n, of_x), of_y = v3_axpy(0.5 * area, n, of_y);
    else if (k < 4)
      area_x += area, of_x = v3_axpy(area, n, of_x);
    else
      area_y += area, of_y = v3_axpy(area, n, of_y);
  }
  bool use_x = y_is_a ? area_x <= area_y : area_x < area_y;
  return v3_unit(use_x ? of_x : v3_neg(of_y));
}

// From the axes of the slab to the world, and back.
static inline abVec3 to_world(const abSlab* s, abVec3 r) {
  return v3_axpy(r.x, s->u, v3_axpy(r.y, s->v, v3_scale(r.z, s->w)));
}
static inline abVec3 from_world(const abSlab* s, abVec3 r) {
  return v3(v3_dot(s->u, r), v3_dot(s->v, r), v3_dot(s->w, r));
}

AB_SIMD AB_FLATTEN bool ab_face_face_make(const abBoxBoxView* view, int i, int j, abSlab* s) {
  set_axes(view, i, j, s);
  if (!(s->W.z > FACE_LYING)) return false;
  // what is flush within this is so in the general method, too
  Side side = {0, 1, s->hU, view->doubt, DBL_EPSILON * 2 * view->size, AB_SKEW * view->size};
  if (!cut_across(s, s->U, side, 5, 7)) return false;
  side.half = s->hV;
  if (!cut_across(s, s->V, side, 6, 4) || !is_slab(s, view->doubt)) return false;
  Sums sums;
  integrate(s, &sums);
  if (!(sums.all.volume > 0)) return false;
  s->volume = sums.all.volume;
  s->centroid = sums.all.centroid;
  abVec3 n = to_world(s, find_normal(s, &sums, view->y_is_a));
  s->normal = view->y_is_a ? n : v3_neg(n);
  return true;
}

// --- the patch ---

// The slab in the plane across N, which looks from X to Y: projected prisms.
typedef struct Plan {
  abVec3 N, t1, t2;  // in the axes of the slab
  int n;
  bool up[AB_PRISMS + 1];  // sides; the first once more, as of the prisms
  abVec2 p[AB_PRISMS + 1], q[AB_PRISMS + 1];
} Plan;

static inline void project(const abSlab* s, Plan* plan) {
  abVec3 a = plan->t1, b = plan->t2, o = v3_add(v3(s->prism->pu, s->prism->pv, s->c), s->centroid);
  double top_a = a.z * (s->c - o.z), top_b = b.z * (s->c - o.z);
  for (int i = 0; i < s->n; i++) {
    const abPrism* x = &s->prism[i];
    double u = x->pu - o.x, v = x->pv - o.y;
    abVec3 r = v3(x->qu - o.x, x->qv - o.y, x->qw - o.z);
    plan->p[i] = v2(a.x * u + a.y * v + top_a, b.x * u + b.y * v + top_b);
    plan->q[i] = v2(v3_dot(a, r), v3_dot(b, r));
  }
  plan->p[s->n] = plan->p[0], plan->q[s->n] = plan->q[0];
}

// The end of prism i in the face of X, or of Y.
static inline abVec2 corner(const Plan* plan, int i, bool q) { return q ? plan->q[i] : plan->p[i]; }

static int outline(const Plan* plan, abVec2* loop) {
  int n = 0;
  bool last = plan->up[plan->n - 1];
  for (int i = 0; i < plan->n; i++) {
    bool now = plan->up[i];
    loop[n++] = corner(plan, i, last);
    if (now != last) loop[n++] = corner(plan, i, now);
    last = now;
  }
  return n;
}

// The line that bounds chords at side i: from a point along a direction.
static inline abVec2 along(const Plan* plan, int i) {
  bool q = !plan->up[i];
  return v2_sub(corner(plan, i + 1, q), corner(plan, i, q));
}

// The place x of the longest chord, where t with the gradient `rise` is greatest.
static bool find_longest(const Plan* plan, abVec2 rise, abVec2* x) {
  int i = 0, last = plan->n - 1;
  for (;; last = i++) {
    if (i == plan->n) return false;
    if (v2_dot(rise, along(plan, last)) >= 0 && v2_dot(rise, along(plan, i)) <= 0) break;
  }
  *x = corner(plan, i, !plan->up[i]);
  if (plan->up[i] != plan->up[last]) {
    abVec2 d = along(plan, i), e = along(plan, last), from = corner(plan, i, !plan->up[last]);
    double t = v2_cross(v2_sub(from, *x), e) / v2_cross(d, e);
    *x = v2_add(*x, v2_scale(t, d));
  }
  for (int k = 0; k < plan->n; k++) {
    if (k == i || k == last) continue;
    if (!(v2_cross(along(plan, k), v2_sub(*x, corner(plan, k, !plan->up[k]))) >= 0)) return false;
  }
  return true;
}

// The longest chord along N.
static bool find_depth(const abSlab* s, const Plan* plan, double* depth) {
  abVec3 C = s->centroid, N = plan->N, t1 = plan->t1, t2 = plan->t2;
  const abPrism* x0 = s->prism;
  abVec3 q = v3(x0->qu - x0->pu - C.x, x0->qv - x0->pv - C.y, x0->qw - s->c - C.z);
  double over = 1 / N.z, below = 1 / v3_dot(s->W, N);
  abVec2 rise = v2(v3_dot(s->W, t1) * below - t1.z * over, v3_dot(s->W, t2) * below - t2.z * over);
  abVec2 x;
  if (!find_longest(plan, rise, &x)) return false;
  *depth = -C.z * over - v3_dot(s->W, q) * below + v2_dot(rise, x);
  return true;
}

AB_SIMD AB_FLATTEN bool ab_face_face_patch(const abBoxBoxView* view, const abSlab* s,
                                           const abPatchHint* hint, abVec2* polygon, abPatch* p) {
  abVec3 c = v3_add(v3(s->prism->pu, s->prism->pv, s->c), s->centroid);
  p->center = v3_add(pose_apply(view->X, view->mx), to_world(s, c));
  ab_patch_tangents(hint, p);
  abVec3 n = from_world(s, p->normal);
  bool turned = n.z < 0;
  Plan plan;
  plan.N = turned ? v3_neg(n) : n, plan.n = s->n, plan.up[0] = false;
  if (!(plan.N.z > FACE_LYING && v3_dot(plan.N, s->W) > FACE_LYING)) return false;
  plan.t1 = from_world(s, p->t1), plan.t2 = v3_cross(plan.N, plan.t1);
  for (int i = 0; i < s->n; i++) {
    double lean = v3_dot(s->out[s->prism[i].side], plan.N);
    if (!(fabs(lean) < STANDING)) return false;
    plan.up[i] = lean > 0;
  }
  plan.up[s->n] = plan.up[0];
  project(s, &plan);
  if (!find_depth(s, &plan, &p->depth)) return false;
  p->nvert = outline(&plan, polygon);
  if (turned)
    for (int i = 0, j = p->nvert - 1; i <= j; i++, j--) {
      abVec2 a = polygon[i], b = polygon[j];
      polygon[i] = v2(b.x, -b.y), polygon[j] = v2(a.x, -a.y);
    }
  p->polygon = polygon;
  return ab_patch_finish(polygon, view->size, view->noise, p);
}
