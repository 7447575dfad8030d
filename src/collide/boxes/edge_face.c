// An edge of box X in a face of box Y: the overlap is a prism with three rails, between two
// ends.
//
// In axes from the deepest corner of X inwards, first along the edge, x = (x, y, z) >= 0, with m
// the outward normal of Y's face in them (all parts positive, since the corner is the deepest), the
// overlap lies where m . x <= h, h the depth of the corner. Rail 0 is the edge, rails 1 and 2 are
// where the two faces of X that meet in it pass through the face of Y. P_0, P_1, P_2 are the ends
// of the rails on the side of the corner, Q_i the others. At first the ends are those of X; then
// the sides of Y cut, of which each must leave all or take one end as a whole.
//
// The tetrahedra (P0 P1 P2 Q0), (Q0 P1 P2 Q1) and (Q0 P2 Q2 Q1) fill it, since its faces are flat.
//
// Longest chord along n, close to m. The depth h - m . x below the face is greatest in P_0 (none of
// the other corners but Q_0 is below it at all), so no chord is longer than that of P_0 to the
// face, which stays inside unless the end there looks up. If it does (c its normal, c . n > 0),
// chords are bounded by it at their upper ends: with the base at s on the edge from P_0,
//
//   t m . n = h(P_0) - m_x s,   s c_x + t c . n <= 0,   so   t = h(P_0) / (m . n + m_x c . n /
//   -c_x),
//
// and none elsewhere is longer if m_y + (m_x / -c_x) c_y >= 0 and likewise for z: then these are
// the multipliers of the bounds y >= 0 and z >= 0, and the chord solves the linear program.
// Tests: test_box_box.
#include "collide/boxes/box_box.h"
#include "math/quad.h"
#include "math/rotation.h"

// The cosine of the angle of the normal with that of Y's face.
static const double EDGE_LYING = 0.5;
// An end that leans no more than this stands upright: see patch/depth.c.
static const double EDGE_UPRIGHT = 1e-6;

// Axis i of X along the edge, the deepest corner as origin.
static bool set_rails(const abBoxBoxView* v, int i, int j, abWedge* w) {
  int l = i < 2 ? i + 1 : 0, k = l < 2 ? l + 1 : 0;
  double mi = ab_view(v, i, j), ml = ab_view(v, l, j), mk = ab_view(v, k, j), doubt = v->doubt;
  double toward = mi * v->p[i] + ml * v->p[l] + mk * v->p[k], out = toward > 0 ? -1 : 1;
  abVec3 m = w->m = v3(fabs(mi), fabs(ml), fabs(mk));
  w->sign = v3(copysign(1, out * mi), copysign(1, out * ml), copysign(1, out * mk));
  double a = v->a[i], reach = v->a[l] * m.y + v->a[k] * m.z;
  double h = w->h = v->b[j] + a * m.x + reach - fabs(toward), far = h - 2 * a * m.x;
  if (!(far > doubt && h < 2 * v->b[j] - doubt)) return false;
  double py = 1 / m.y, pz = 1 / m.z;
  // the far faces of X
  if (!(h * py < 2 * v->a[l] - doubt && h * pz < 2 * v->a[k] - doubt)) return false;
  w->P = (abWedgeEnd){0, 0, 0, h * py, h * pz};
  w->Q = (abWedgeEnd){2 * a, 2 * a, 2 * a, far * py, far * pz};
  w->box = v3(2 * a, h * py, h * pz);
  w->cap[0] = v3(-1, 0, 0), w->cap[1] = v3(1, 0, 0);
  w->of_y[0] = w->of_y[1] = false;
  return true;
}

// The corners of an end along a direction, from y0.
static inline abVec3 along(const abWedgeEnd* e, abVec3 d, double y0) {
  return v3(y0 + d.x * e->x0, y0 + d.x * e->x1 + d.y * e->y, y0 + d.x * e->x2 + d.z * e->z);
}

// The end between a and b where what is s before a plane at the one and t at the other vanishes.
static inline abWedgeEnd between(const abWedgeEnd* a, const abWedgeEnd* b, abVec3 s, abVec3 t) {
  double u = s.x / (s.x - t.x), v = s.y / (s.y - t.y), w = s.z / (s.z - t.z);
  return (abWedgeEnd){a->x0 + u * (b->x0 - a->x0), a->x1 + v * (b->x1 - a->x1),
                      a->x2 + w * (b->x2 - a->x2), a->y + v * (b->y - a->y),
                      a->z + w * (b->z - a->z)};
}

static inline double least(abVec3 a) {
  double x = fabs(a.x), y = fabs(a.y), z = fabs(a.z), yz = y < z ? y : z;
  return x < yz ? x : yz;
}

static inline int count_out(abVec3 a) { return (a.x > 0) + (a.y > 0) + (a.z > 0); }

// Cuts by the two sides of Y across an axis that is `side` in the axes of the wedge, the corner at
// y0 along it.
static bool cut_across(abWedge* w, abVec3 side, double y0, double half, double doubt, double skew) {
  // the box about the rails is out of reach of most
  abVec3 box = v3_mul(side, w->box);
  double middle = y0 + 0.5 * (box.x + box.y + box.z);
  if (fabs(middle) + 0.5 * (fabs(box.x) + fabs(box.y) + fabs(box.z)) < half - doubt) return true;
  for (int k = 0; k < 2; k++) {
    double sign = k ? -1 : 1;
    abVec3 d = v3_scale(sign, side);
    abVec3 p = along(&w->P, d, sign * y0 - half), q = along(&w->Q, d, sign * y0 - half);
    int out_p = count_out(p), out_q = count_out(q);
    // all of it, or an end as a whole; an end that lies in the other side is far from this one
    if (!(least(p) > doubt && least(q) > doubt) || out_p + out_q > 3 || out_p % 3 || out_q % 3)
      return false;
    if (out_p + out_q == 0) continue;
    // and it must be known where
    if (!(least(v3_sub(p, q)) > skew)) return false;
    if (out_p)
      w->P = between(&w->Q, &w->P, q, p);
    else
      w->Q = between(&w->P, &w->Q, p, q);
    w->cap[out_q != 0] = d;
    w->of_y[out_q != 0] = true;
  }
  return true;
}

// Volume, and the centroid.
static void integrate(abWedge* w) {
  abWedgeEnd P = w->P, Q = w->Q;
  double t1 = (Q.x0 - P.x0) * P.y * P.z;
  double t2 = P.z * ((Q.x1 - Q.x0) * P.y - (P.x1 - Q.x0) * Q.y);
  double t3 = Q.y * ((Q.x2 - Q.x0) * P.z - (P.x2 - Q.x0) * Q.z);
  double six = t1 + t2 + t3, per = 0.25 / six;
  double x = t1 * (P.x0 + P.x1) + t2 * (P.x1 + Q.x1) + t3 * (Q.x1 + Q.x2) + six * (P.x2 + Q.x0);
  w->volume = six * (1.0 / 6);
  w->centroid =
      v3(per * x, per * ((t1 + t2) * P.y + (t2 + t3) * Q.y), per * (six * P.z + t3 * Q.z));
}

// The area of an end: half its corners' product with the normal.
static inline double end_area(const abWedgeEnd* e, abVec3 cap) {
  abVec3 twice = v3(e->y * e->z, (e->x0 - e->x1) * e->z, (e->x0 - e->x2) * e->y);
  return 0.5 * fabs(v3_dot(twice, cap));
}

// The normal, as ab_overlap_normal finds it: in the axes of the wedge, out of Y.
static abVec3 find_normal(const abWedge* w, bool y_is_a) {
  if (!w->of_y[0] && !w->of_y[1]) return w->m;  // all that Y has, and less than X has
  abWedgeEnd P = w->P, Q = w->Q;
  // the diagonals of the face of Y, and of those of X across y and z
  abVec3 a = v3(Q.x2 - P.x1, -P.y, Q.z), b = v3(Q.x1 - P.x2, Q.y, -P.z);
  double face = 0.5 * fabs(v3_dot(v3_cross(a, b), w->m));
  double y = 0.5 * fabs((Q.x2 - P.x0) * P.z - (P.x2 - Q.x0) * Q.z),
         z = 0.5 * fabs((Q.x1 - P.x0) * P.y - (P.x1 - Q.x0) * Q.y);
  double first = end_area(&P, w->cap[0]), second = end_area(&Q, w->cap[1]);
  // of each end, the part of Y
  double p = w->of_y[0] ? first : 0, q = w->of_y[1] ? second : 0;
  double area_y = face + p + q, area_x = y + z + (first - p) + (second - q);
  abVec3 of_y = v3_axpy(p, w->cap[0], v3_axpy(q, w->cap[1], v3_scale(face, w->m)));
  abVec3 of_x = v3_axpy(first - p, w->cap[0], v3_axpy(second - q, w->cap[1], v3(0, -y, -z)));
  bool use_x = y_is_a ? area_x <= area_y : area_x < area_y;
  return v3_unit(use_x ? v3_neg(of_x) : of_y);
}

// Along the axes of the wedge to the world, and back.
static inline abVec3 to_world(const abWedge* w, abVec3 r) {
  return v3_axpy(r.x, w->axis[0], v3_axpy(r.y, w->axis[1], v3_scale(r.z, w->axis[2])));
}
static inline abVec3 from_world(const abWedge* w, abVec3 r) {
  return v3(v3_dot(w->axis[0], r), v3_dot(w->axis[1], r), v3_dot(w->axis[2], r));
}

AB_SIMD AB_FLATTEN bool ab_edge_face_make(const abBoxBoxView* v, int i, int j, abWedge* w) {
  if (!set_rails(v, i, j, w)) return false;
  int l = i < 2 ? i + 1 : 0, k = l < 2 ? l + 1 : 0;
  abVec3 sign = w->sign, a = v3(v->a[i], v->a[l], v->a[k]);
  abVec3 corner = v3_neg(v3_add(a, v3_mul(sign, v3(v->p[i], v->p[l], v->p[k]))));
  for (int r = 1; r < 3; r++) {
    int n = j + r < 3 ? j + r : j + r - 3;
    abVec3 side = v3_mul(sign, v3(ab_view(v, i, n), ab_view(v, l, n), ab_view(v, k, n)));
    if (!cut_across(w, side, v3_dot(side, corner), v->b[n], v->doubt, AB_SKEW * v->size))
      return false;
  }
  if (!(w->h - w->m.x * w->P.x0 > v->doubt && w->h - w->m.x * w->Q.x0 > v->doubt)) return false;
  integrate(w);
  if (!(w->volume > 0)) return false;
  abMat3 X = quat_matrix(v->X.q);
  abVec3 e0 = m3_col(&X, 0), e1 = m3_col(&X, 1), e2 = m3_col(&X, 2);
  w->axis[0] = v3_scale(sign.x, i == 0 ? e0 : i == 1 ? e1 : e2);
  w->axis[1] = v3_scale(sign.y, i == 0 ? e1 : i == 1 ? e2 : e0);
  w->axis[2] = v3_scale(sign.z, i == 0 ? e2 : i == 1 ? e0 : e1);
  abVec3 middle = v3_add(v->X.p, m3_apply(&X, v->mx));
  w->center = v3_add(middle, to_world(w, v3_sub(w->centroid, a)));
  abVec3 n = to_world(w, find_normal(w, v->y_is_a));
  w->y_is_a = v->y_is_a;
  w->normal = v->y_is_a ? v3_neg(n) : n;
  return true;
}

// The longest chord along N.
static bool find_depth(const abWedge* w, abVec3 N, double* depth) {
  abVec3 m = w->m, c = w->cap[0];
  double h = w->h - m.x * w->P.x0, mn = v3_dot(m, N), cn = v3_dot(c, N), s = 0, t = h / mn;
  if (cn > EDGE_UPRIGHT) {
    double rise = m.x / -c.x;
    if (!(c.x < 0 && m.y + rise * c.y >= 0 && m.z + rise * c.z >= 0)) return false;
    t = h / (mn + rise * cn);
    s = t * cn / -c.x;
  }
  // from the edge, and not through the other end
  double base = w->P.x0 + s - w->Q.x0;
  *depth = t;
  return base < 0 && w->cap[1].x * base + t * v3_dot(w->cap[1], N) < 0;
}

AB_SIMD AB_FLATTEN bool ab_edge_face_patch(const abBoxBoxView* v, const abWedge* w,
                                           const abPatchHint* hint, abVec2* polygon, abPatch* p) {
  p->center = w->center;
  ab_patch_tangents(hint, p);
  abVec3 n = from_world(w, p->normal), N = w->y_is_a ? v3_neg(n) : n;
  if (!(N.y > 0 && N.z > 0 && v3_dot(w->m, N) > EDGE_LYING) || !find_depth(w, N, &p->depth))
    return false;
  abVec3 t1 = from_world(w, p->t1), t2 = from_world(w, p->t2);
  // the face of Y, and of an end that looks up its corner on the edge
  abVec2* at = polygon;
  double ox = -v3_dot(t1, w->centroid), oy = -v3_dot(t2, w->centroid);
  abVec3 px = along(&w->P, t1, ox), py = along(&w->P, t2, oy), qx = along(&w->Q, t1, ox),
         qy = along(&w->Q, t2, oy);
  *at++ = v2(qx.y, qy.y);
  *at++ = v2(px.y, py.y);
  if (v3_dot(w->cap[0], N) > 0) *at++ = v2(px.x, py.x);
  *at++ = v2(px.z, py.z);
  *at++ = v2(qx.z, qy.z);
  if (v3_dot(w->cap[1], N) > 0) *at++ = v2(qx.x, qy.x);
  int count = (int)(at - polygon);
  abVec2 last = polygon[count - 1], a = v2_sub(polygon[0], last), b = v2_sub(polygon[1], last);
  if (v2_cross(a, b) < 0)
    for (int r = 0, q = count - 1; r < q; r++, q--) {
      abVec2 swap = polygon[r];
      polygon[r] = polygon[q], polygon[q] = swap;
    }
  p->polygon = polygon;
  p->nvert = count;
  return ab_patch_finish(polygon, v->size, v->noise, p);
}
