// A face of brick X on a face of brick Y: the overlap is a slab between the two, with four to eight
// sides, each in a side of X or of Y.
//
// In the axes u, v, w of X, w the one that points at Y, the face of X lies at w = c and that of Y
// in the plane W . (x - p) = -h_W. Pillar i, the edge between two neighbouring sides, runs from P_i
// in the one to Q_i in the other. At first there are the pillars of X alone; then the sides of Y
// cut, of which each must have every pillar whole on one side of it. A side of Y that lies in one
// of X to rounding, as in a stack of equal bricks, makes it a face of both.
//
// With positions from P_0, where all P have w = 0, and b_i = Q_i+1 x Q_i, the tetrahedra between
// P_0 and the triangles (Q_i, Q_i+1, P_i+1), (Q_i, P_i+1, P_i) and (Q_0, Q_i+1, Q_i) have six times
// the volumes
//
//   t1 = -P_i+1 . b_i,   t2 = -w(Q_i) (P_i x P_i+1)_w,   t3 = Q_0 . b_i
//
// and fill the slab; its centroid is a mean of theirs. Arrays go on behind the last pillar with the
// first: the edges between them are nothing and add nothing, so four lanes are worked on at once.
//
// Outline along a normal n close to w: a side that looks up shows its edge in the face of Y there,
// one that looks down that in the face of X; where both kinds meet, a pillar.
//
// Longest chord along n. A chord between the two faces has the length t(x), linear in the plane. It
// fits in if its upper end is behind all sides that look up and its lower end behind all that look
// down: x must lie in the polygon of the lines of these edges. If at a corner x* of it t rises
// along the line that comes in and falls along the one that goes out, it is greatest there. Chords
// with an end in a side are no longer: at x, beyond the two lines by d_1 and d_2, t(x) - t(x*) <=
// sqrt(2) |grad t| max d, for the corners are not sharp; but the side takes off k d with k > 2.8,
// and |grad t| < 0.7, if all faces and sides lean as little as is asked for here.
#include <float.h>

#include "collide/bricks.h"
#include "collide/quad.h"
#include "math/rotation.h"

// Cosines for the two faces, and sine for the sides, of the angles with the normal.
static const double LYING = 0.95, STANDING = 0.3;

enum { LANES = 4 };

// Axes: w across face i of X, towards Y; W the axis of Y that looks the same way, U nearest to u.
static void set_axes(const abBrickView* view, int i, int j, abSlab* s) {
  bool down = view->p[i] < 0;
  int k = i < 2 ? i + 1 : 0, l = k < 2 ? k + 1 : 0;
  if (down) {  // still right-handed
    int other = k;
    k = l, l = other;
  }
  double sign = down ? -1 : 1;
  s->u = v3(k == 0, k == 1, k == 2), s->v = v3(l == 0, l == 1, l == 2);
  s->w = v3(i == 0 ? sign : 0, i == 1 ? sign : 0, i == 2 ? sign : 0);
  s->p = v3(view->p[k], view->p[l], sign * view->p[i]);
  s->c = view->a[i];
  int m = j < 2 ? j + 1 : 0, n = m < 2 ? m + 1 : 0;
  if (fabs(view->M[k][n]) > fabs(view->M[k][m])) {
    int other = m;
    m = n, n = other;
  }
  double a = view->M[k][m] < 0 ? -1 : 1, b = view->M[l][n] < 0 ? -1 : 1,
         c = sign * view->M[i][j] < 0 ? -1 : 1;
  s->U = v3(a * view->M[k][m], a * view->M[l][m], a * sign * view->M[i][m]);
  s->V = v3(b * view->M[k][n], b * view->M[l][n], b * sign * view->M[i][n]);
  s->W = v3(c * view->M[k][j], c * view->M[l][j], c * sign * view->M[i][j]);
  s->hU = view->b[m], s->hV = view->b[n], s->hW = view->b[j];
  s->out[0] = v3(0, -1, 0), s->out[1] = v3(1, 0, 0), s->out[2] = v3(0, 1, 0);
  s->out[3] = v3(-1, 0, 0), s->out[4] = v3_neg(s->V), s->out[5] = s->U, s->out[6] = s->V;
  s->out[7] = v3_neg(s->U);
  double hu = view->a[k], hv = view->a[l];
  const double u[4] = {-hu, hu, hu, -hu}, v[4] = {-hv, -hv, hv, hv};
  double per = 1 / s->W.z, base = (v3_dot(s->W, s->p) - s->hW) * per;
  for (int r = 0; r < 4; r++) {
    s->pu[r] = s->qu[r] = u[r], s->pv[r] = s->qv[r] = v[r];
    s->qw[r] = base - (s->W.x * u[r] + s->W.y * v[r]) * per;
    s->side[r] = r;
    s->both[r] = false;
  }
  s->n = 4;
}

// The first pillar again behind the last, up to a whole number of lanes and one more.
static inline void pad(abSlab* s) {
  int end = (s->n + LANES - 1) / LANES * LANES;
  for (int i = s->n; i <= end; i++) {
    s->pu[i] = s->pu[0], s->pv[i] = s->pv[0];
    s->qu[i] = s->qu[0], s->qv[i] = s->qv[0], s->qw[i] = s->qw[0];
    s->side[i] = s->side[0];
  }
}

// Distances of the pillars' ends before a plane, and which are outside or close to it, as bits.
typedef struct Look {
  double p[AB_PILLARS], q[AB_PILLARS];
  unsigned out_p, out_q, near, flush;
} Look;

AB_WIDE static void measure(const abSlab* s, int k, double doubt, double flush, Look* look) {
  abVec3 m = s->out[k];
  double d = v3_dot(m, s->p) + (k & 1 ? s->hU : s->hV), top = m.z * s->c - d;
  look->out_p = look->out_q = look->near = look->flush = 0;
  for (int b = 0; b < s->n; b += LANES)
    for (int i = b; i < b + LANES; i++) {
      look->p[i] = m.x * s->pu[i] + m.y * s->pv[i] + top;
      look->q[i] = m.x * s->qu[i] + m.y * s->qv[i] + m.z * s->qw[i] - d;
    }
  for (int i = 0; i < s->n; i++) {
    double p = look->p[i], q = look->q[i], ap = fabs(p), aq = fabs(q), far = ap > aq ? ap : aq;
    look->out_p |= (unsigned)(p > 0) << i;
    look->out_q |= (unsigned)(q > 0) << i;
    look->near |= (unsigned)(ap <= doubt || aq <= doubt) << i;
    look->flush |= (unsigned)(far <= flush) << i;
  }
}

// The pillar where the plane passes between i and j, to place w of `to`.
static inline void put(const abSlab* s, const Look* look, int i, int j, abSlab* to, int w) {
  double tp = look->p[i] / (look->p[i] - look->p[j]), tq = look->q[i] / (look->q[i] - look->q[j]);
  to->pu[w] = s->pu[i] + tp * (s->pu[j] - s->pu[i]);
  to->pv[w] = s->pv[i] + tp * (s->pv[j] - s->pv[i]);
  to->qu[w] = s->qu[i] + tq * (s->qu[j] - s->qu[i]);
  to->qv[w] = s->qv[i] + tq * (s->qv[j] - s->qv[i]);
  to->qw[w] = s->qw[i] + tq * (s->qw[j] - s->qw[i]);
}

// A plane close to some pillars: side k of Y that lies in that of X, or a doubtful one.
static bool share(abSlab* s, int k, const Look* look) {
  for (int i = 0; i < s->n; i++) {
    if (s->side[i] != k - 4) continue;
    unsigned two = 1u << i | 1u << (i + 1 < s->n ? i + 1 : 0);
    s->both[k - 4] = true;
    return look->near == two && look->flush == two && !((look->out_p | look->out_q) & ~two);
  }
  return false;
}

// Cuts by side k of Y. False: not every pillar is whole on one side of it, or none is left.
static bool cut(abSlab* s, int k, double doubt, double flush) {
  Look look;
  measure(s, k, doubt, flush, &look);
  if (look.near) return share(s, k, &look);
  unsigned n = (unsigned)s->n, all = (1u << n) - 1, out = look.out_p;
  if (out != look.out_q || out == all) return false;
  if (!out) return true;
  unsigned starts = out & ~(out << 1 | out >> (n - 1));
  if (starts & (starts - 1)) return false;
  int count = __builtin_popcount(out), first = __builtin_ctz(starts), last = first + count - 1;
  int before = first ? first - 1 : s->n - 1, after;
  if (last >= s->n) last -= s->n;
  after = last + 1 < s->n ? last + 1 : 0;
  if (count == 2) {
    put(s, &look, before, first, s, first);
    put(s, &look, after, last, s, last);
    s->side[first] = k;
    return true;
  }
  abSlab old = *s;
  int kept = s->n - count;
  for (int i = 0, r = after; i < kept; i++, r = r + 1 < old.n ? r + 1 : 0) {
    s->pu[i] = old.pu[r], s->pv[i] = old.pv[r];
    s->qu[i] = old.qu[r], s->qv[i] = old.qv[r], s->qw[i] = old.qw[r];
    s->side[i] = old.side[r];
  }
  put(&old, &look, before, first, s, kept);
  put(&old, &look, after, last, s, kept + 1);
  s->side[kept] = k, s->side[kept + 1] = old.side[last];
  s->n = kept + 2;
  return true;
}

// Is it a slab: thick at all pillars, and out of reach of the faces across?
static bool is_slab(const abSlab* s, double doubt) {
  double top = v3_dot(s->W, s->p) + s->hW - s->W.z * s->c;
  for (int i = 0; i < s->n; i++) {
    if (!(s->c - s->qw[i] > doubt && s->qw[i] + s->c > doubt)) return false;
    if (!(top - s->W.x * s->pu[i] - s->W.y * s->pv[i] > doubt)) return false;
  }
  return true;
}

// Sums over the lanes, from P_0.
typedef struct Sums {
  double volume[LANES], last[LANES];                      // six times; of t3
  double u[LANES], v[LANES], w[LANES];                    // first moments, 24 times
  double top[LANES];                                      // twice the area of the face of X
  double bu[LANES], bv[LANES], bw[LANES];                 // twice the area vector of that of Y
  double su[AB_PILLARS], sv[AB_PILLARS], sw[AB_PILLARS];  // twice those of the sides
} Sums;

AB_WIDE static void integrate(const abSlab* s, Sums* out) {
  double volume[LANES] = {0}, last[LANES] = {0}, u[LANES] = {0}, v[LANES] = {0}, w[LANES] = {0};
  double top[LANES] = {0}, bu[LANES] = {0}, bv[LANES] = {0}, bw[LANES] = {0};
  double ou = s->pu[0], ov = s->pv[0], ow = s->c;
  double fu = s->qu[0] - ou, fv = s->qv[0] - ov, fw = s->qw[0] - ow;
  for (int b = 0; b < s->n; b += LANES)
    for (int k = 0; k < LANES; k++) {
      int i = b + k;
      double ru = s->pu[i] - ou, rv = s->pv[i] - ov, nu = s->pu[i + 1] - ou, nv = s->pv[i + 1] - ov;
      double qu = s->qu[i] - ou, qv = s->qv[i] - ov, qw = s->qw[i] - ow;
      double mu = s->qu[i + 1] - ou, mv = s->qv[i + 1] - ov, mw = s->qw[i + 1] - ow;
      double cu = mv * qw - mw * qv, cv = mw * qu - mu * qw, cw = mu * qv - mv * qu;
      double ct = ru * nv - rv * nu;
      double t1 = -(nu * cu + nv * cv), t2 = -qw * ct, t3 = fu * cu + fv * cv + fw * cw;
      double both = t1 + t3, all = both + t2, upper = t1 + t2;
      volume[k] += all, last[k] += t3, top[k] += ct;
      bu[k] += cu, bv[k] += cv, bw[k] += cw;
      u[k] += qu * all + mu * both + nu * upper + ru * t2;
      v[k] += qv * all + mv * both + nv * upper + rv * t2;
      w[k] += qw * all + mw * both;
      double du = nu - qu, dv = nv - qv, eu = ru - mu, ev = rv - mv;
      out->su[i] = qw * ev - dv * mw;
      out->sv[i] = du * mw - qw * eu;
      out->sw[i] = du * ev - dv * eu;
    }
  for (int k = 0; k < LANES; k++) {
    out->volume[k] = volume[k], out->last[k] = last[k], out->top[k] = top[k];
    out->u[k] = u[k], out->v[k] = v[k], out->w[k] = w[k];
    out->bu[k] = bu[k], out->bv[k] = bv[k], out->bw[k] = bw[k];
  }
}

static double total(const double x[LANES]) { return (x[0] + x[1]) + (x[2] + x[3]); }

// The normal, as ab_overlap_normal finds it: in the axes of the slab, from X to Y.
static abVec3 find_normal(const abSlab* s, const Sums* sums, bool y_is_a) {
  abVec3 b = v3(total(sums->bu), total(sums->bv), total(sums->bw));
  double area_x = 0.5 * total(sums->top), area_y = -0.5 * v3_dot(b, s->W);
  abVec3 of_x = v3(0, 0, area_x), of_y = v3_scale(-area_y, s->W);
  for (int i = 0; i < s->n; i++) {
    int k = s->side[i];
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

// From the axes of the slab to those of X, and back.
static inline abVec3 to_x(const abSlab* s, abVec3 r) {
  return v3_axpy(r.x, s->u, v3_axpy(r.y, s->v, v3_scale(r.z, s->w)));
}
static inline abVec3 from_x(const abSlab* s, abVec3 r) {
  return v3(v3_dot(s->u, r), v3_dot(s->v, r), v3_dot(s->w, r));
}

bool ab_slab_make(const abBrickView* view, int i, int j, abSlab* s) {
  set_axes(view, i, j, s);
  if (!(s->W.z > LYING)) return false;
  // certain to count as flush in the general method
  double flush = DBL_EPSILON * 2 * view->size;
  for (int k = 4; k < 8; k++)
    if (!cut(s, k, view->doubt, flush)) return false;
  if (!is_slab(s, view->doubt)) return false;
  pad(s);
  Sums sums;
  integrate(s, &sums);
  double six = total(sums.volume), per = 0.25 / six, last = total(sums.last);
  s->volume = six * (1.0 / 6);
  s->centroid = v3(per * (total(sums.u) + last * (s->qu[0] - s->pu[0])),
                   per * (total(sums.v) + last * (s->qv[0] - s->pv[0])),
                   per * (total(sums.w) + last * (s->qw[0] - s->c)));
  abVec3 n = quat_rotate(view->X.q, to_x(s, find_normal(s, &sums, view->y_is_a)));
  s->normal = view->y_is_a ? n : v3_neg(n);
  return six > 0;
}

// --- the patch ---

// The slab in the plane across N, which looks from X to Y: projected pillars, and its two faces.
typedef struct Plan {
  abVec3 N, t1, t2;  // in the axes of the slab
  int n;
  bool up[AB_PILLARS + 1];  // sides
  double px[AB_PILLARS + LANES], py[AB_PILLARS + LANES];
  double qx[AB_PILLARS + LANES], qy[AB_PILLARS + LANES];
} Plan;

AB_WIDE static void project(const abSlab* s, Plan* plan) {
  abVec3 a = plan->t1, b = plan->t2;
  double ou = s->pu[0] + s->centroid.x, ov = s->pv[0] + s->centroid.y, ow = s->c + s->centroid.z;
  double top_a = a.z * (s->c - ow), top_b = b.z * (s->c - ow);
  for (int k = 0; k <= s->n; k += LANES)
    for (int i = k; i < k + LANES; i++) {
      double u = s->pu[i] - ou, v = s->pv[i] - ov;
      double x = s->qu[i] - ou, y = s->qv[i] - ov, z = s->qw[i] - ow;
      plan->px[i] = a.x * u + a.y * v + top_a;
      plan->py[i] = b.x * u + b.y * v + top_b;
      plan->qx[i] = a.x * x + a.y * y + a.z * z;
      plan->qy[i] = b.x * x + b.y * y + b.z * z;
    }
}

// The corner of the outline where pillar i begins (P) or ends (Q).
static inline abVec2 corner(const Plan* plan, int i, bool q) {
  return q ? v2(plan->qx[i], plan->qy[i]) : v2(plan->px[i], plan->py[i]);
}

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
  abVec3 q = v3(s->qu[0] - s->pu[0] - C.x, s->qv[0] - s->pv[0] - C.y, s->qw[0] - s->c - C.z);
  double over = 1 / N.z, below = 1 / v3_dot(s->W, N);
  abVec2 rise = v2(v3_dot(s->W, t1) * below - t1.z * over, v3_dot(s->W, t2) * below - t2.z * over);
  abVec2 x;
  if (!find_longest(plan, rise, &x)) return false;
  *depth = -C.z * over - v3_dot(s->W, q) * below + v2_dot(rise, x);
  return true;
}

bool ab_slab_patch(const abBrickView* view, const abSlab* s, const abPatchHint* hint,
                   abVec2* polygon, abPatch* p) {
  p->volume = s->volume;
  abVec3 c = v3_add(v3(s->pu[0], s->pv[0], s->c), s->centroid);
  p->center = pose_apply(view->X, to_x(s, c));
  ab_patch_tangents(hint, p);
  abQuat inverse = quat_conj(view->X.q);
  abVec3 n = from_x(s, quat_rotate(inverse, p->normal));
  bool turned = n.z < 0;
  Plan plan = {.N = turned ? v3_neg(n) : n, .n = s->n};
  if (!(plan.N.z > LYING && v3_dot(plan.N, s->W) > LYING)) return false;
  plan.t1 = from_x(s, quat_rotate(inverse, p->t1)), plan.t2 = v3_cross(plan.N, plan.t1);
  for (int i = 0; i < s->n; i++) {
    double lean = v3_dot(s->out[s->side[i]], plan.N);
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
