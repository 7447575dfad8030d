// Two boxes in the contacts that boxes mostly have: a corner in a face, two edges that cross, an
// edge in a face (edge_face.c), and a face on a face (face_face.c). What is cut off is known in
// advance, so nothing is cut.
//
// Why a guess is enough. Let some of the planes of both boxes be given and the vertices of the
// simple polytope they would bound. If each of these vertices lies strictly behind all planes but
// its own three, each is a vertex of the overlap, and its neighbours in the overlap are its
// neighbours in the guess, since a line meets a convex body in one segment: the guess is the
// overlap, for the vertices of a polytope are connected by its edges. So the guess, which comes
// from the axis along which the boxes overlap least, may be wrong; then, or if rounding leaves
// doubts, the general method is used.
//
// A corner of X, h behind the plane of Y with the unit normal m in the axes of X: it reaches the
// plane along its edges after l_i = h / |m_i|, and
//
//   V = l_1 l_2 l_3 / 6,   centroid = corner + (its edges) / 4.
//
// The faces of X have together the area vector of Y's face, which is smaller: m is the normal. The
// corner projects along m on the point of Y's face with barycentric coordinates m_i^2: inside, so
// the outline is that face and the longest chord h.
//
// Two edges, along axis i of X and axis j of Y, with N = e_i x M_j from X to Y: with g = N . (x0 -
// y0) for points of the two lines, the part of X's edge in Y is g / |r_m r_n| long, r the direction
// of X's edge in the axes of Y and m, n the other two; likewise the part of Y's edge. The overlap
// is the tetrahedron of both, with V = g (their lengths) / 6. Of the two faces at X's edge the area
// vectors sum to half the product of the two parts: N is the normal. Along it the parts project on
// the diagonals of the outline, and the longest chord is g / |N|.
#include "collide/boxes/box_box.h"

#include <float.h>

#include "math/quad.h"
#include "math/rotation.h"

// Corners that turn by no more than this times the square of the outline's size may be idle.
static const double IDLE = 32 * DBL_EPSILON;
// A face that leans no more than this (the cosine) may lie on another.
static const double UPRIGHT = 0.95;

// L seen from S.
static void look(const abOverlapWork* w, abBoxBoxView* v) {
  const abSkin *s = ab_polyhedron_skin(w->S.poly), *l = ab_polyhedron_skin(w->L.poly);
  abVec3 p = v3_add(m3_apply(&w->R, l->middle), v3_add(w->rel.p, w->S.poly->centroid));
  p = v3_sub(p, s->middle);
  v->a[0] = s->half.x, v->a[1] = s->half.y, v->a[2] = s->half.z;
  v->b[0] = l->half.x, v->b[1] = l->half.y, v->b[2] = l->half.z;
  v->p[0] = p.x, v->p[1] = p.y, v->p[2] = p.z;
  v->M = w->R.m[0], v->row = 3, v->column = 1;
  v->size = s->size;
  v->noise = DBL_EPSILON * (2 * s->size + l->size + fabs(p.x) + fabs(p.y) + fabs(p.z));
  v->doubt = AB_DOUBT * v->noise + 2 * w->flush;
  v->X = w->S.pose, v->Y = w->L.pose;
  v->mx = s->middle, v->my = l->middle;
  v->y_is_a = w->L.owner == AB_OWNER_A;
}

// The same with X and Y exchanged.
static void turn_round(const abBoxBoxView* v, abBoxBoxView* out) {
  for (int i = 0; i < 3; i++) {
    out->a[i] = v->b[i], out->b[i] = v->a[i];
    out->p[i] =
        -(ab_view(v, 0, i) * v->p[0] + ab_view(v, 1, i) * v->p[1] + ab_view(v, 2, i) * v->p[2]);
  }
  out->M = v->M, out->row = v->column, out->column = v->row;
  out->noise = v->noise, out->doubt = v->doubt, out->size = v->size;
  out->X = v->Y, out->Y = v->X;
  out->mx = v->my, out->my = v->mx;
  out->y_is_a = !v->y_is_a;
}

// An overlap with four corners: what is needed of it.
typedef struct Tip {
  double volume, depth;
  abVec3 center, normal;  // in the world, the normal from B to A
  abVec3 axis[3];         // in the world: those of X, of which the rest is along
  bool is_corner;
  abVec3 edge;       // a corner's edges, along the three axes
  double ex;         // half of the part of X's edge, along the first axis,
  abVec3 ey, apart;  // of Y's edge, and of the way from the middle of this to that
} Tip;

// x in the world, given along axes.
static inline abVec3 combine(const abVec3 axis[3], abVec3 x) {
  return v3_axpy(x.x, axis[0], v3_axpy(x.y, axis[1], v3_scale(x.z, axis[2])));
}

static inline int after(int i) { return i < 2 ? i + 1 : 0; }

// The corner of X behind the face of Y across axis j.
static bool find_corner(const abBoxBoxView* v, int j, Tip* tip) {
  int k = after(j), l = after(k);
  abVec3 m = v3(ab_view(v, 0, j), ab_view(v, 1, j), ab_view(v, 2, j));
  abVec3 a = v3(v->a[0], v->a[1], v->a[2]), p = v3(v->p[0], v->p[1], v->p[2]);
  double toward = v3_dot(m, p), doubt = v->doubt, out = toward > 0 ? -1 : 1;
  double depth = v->b[j] + ab_extent(a, m) - fabs(toward);
  if (!(depth > doubt && depth < 2 * v->b[j] - doubt)) return false;
  double way = out * depth;
  abVec3 e = v3(way / m.x, way / m.y, way / m.z);
  if (!(fabs(e.x) < 2 * a.x - doubt && fabs(e.y) < 2 * a.y - doubt && fabs(e.z) < 2 * a.z - doubt))
    return false;
  abVec3 c = v3(copysign(a.x, -e.x), copysign(a.y, -e.y), copysign(a.z, -e.z)), r = v3_sub(c, p);
  // inside of the other planes of Y
  abVec3 n = v3(ab_view(v, 0, k), ab_view(v, 1, k), ab_view(v, 2, k)), en = v3_mul(e, n);
  double y = v3_dot(r, n), limit = v->b[k] - doubt;
  if (!(fabs(y) < limit && fabs(y + en.x) < limit && fabs(y + en.y) < limit &&
        fabs(y + en.z) < limit))
    return false;
  n = v3(ab_view(v, 0, l), ab_view(v, 1, l), ab_view(v, 2, l)), en = v3_mul(e, n);
  y = v3_dot(r, n), limit = v->b[l] - doubt;
  if (!(fabs(y) < limit && fabs(y + en.x) < limit && fabs(y + en.y) < limit &&
        fabs(y + en.z) < limit))
    return false;
  abMat3 X = quat_matrix(v->X.q), Y = quat_matrix(v->Y.q);
  tip->volume = fabs(e.x * e.y * e.z) * (1.0 / 6);
  tip->depth = depth;
  tip->is_corner = true;
  tip->edge = e;
  for (int i = 0; i < 3; i++) tip->axis[i] = m3_col(&X, i);
  tip->center = v3_add(v->X.p, combine(tip->axis, v3_add(v->mx, v3_axpy(0.25, e, c))));
  tip->normal = v3_scale(v->y_is_a ? -out : out, m3_col(&Y, j));
  return true;
}

// Two edges along the first axis of X and of Y: a0, a1, a2 and b0, b1, b2 half lengths, p the
// middle of Y, M its axes. Of a part of the edge of X, from t1 to t2 before the middle of X's edge,
// of that of Y likewise from s1 to s2.
typedef struct Crossing {
  double a0, a1, a2, b0, b1, b2, doubt;
  abVec3 p, M0, M1, M2;  // M0: of Y's first axis along those of X
  double n1, n2;         // N along the second and third axis of X
  abVec3 x, y;           // a point of each edge, in the axes of X
  double t1, t2, s1, s2, g;
} Crossing;

static void set_crossing(const abBoxBoxView* v, int i, int j, Crossing* c) {
  int l = after(i), k = after(l), m = after(j), n = after(m);
  c->a0 = v->a[i], c->a1 = v->a[l], c->a2 = v->a[k];
  c->b0 = v->b[j], c->b1 = v->b[m], c->b2 = v->b[n];
  c->doubt = v->doubt;
  c->p = v3(v->p[i], v->p[l], v->p[k]);
  c->M0 = v3(ab_view(v, i, j), ab_view(v, l, j), ab_view(v, k, j));
  c->M1 = v3(ab_view(v, i, m), ab_view(v, l, m), ab_view(v, k, m));
  c->M2 = v3(ab_view(v, i, n), ab_view(v, l, n), ab_view(v, k, n));
}

// Do they cross, each with its part inside of the other box?
static bool cross_edges(Crossing* c) {
  double doubt = c->doubt, out = c->M0.y * c->p.z > c->M0.z * c->p.y ? 1 : -1;
  double n1 = c->n1 = -out * c->M0.z, n2 = c->n2 = out * c->M0.y;
  c->x = v3(0, copysign(c->a1, n1), copysign(c->a2, n2));
  double y1 = copysign(c->b1, -(n1 * c->M1.y + n2 * c->M1.z)),
         y2 = copysign(c->b2, -(n1 * c->M2.y + n2 * c->M2.z));
  c->y = v3_axpy(y1, c->M1, v3_axpy(y2, c->M2, c->p));
  c->g = n1 * (c->x.y - c->y.y) + n2 * (c->x.z - c->y.z);
  if (!(c->g > doubt)) return false;
  // the edge of X in the axes of Y, and that of Y in those of X
  abVec3 r = v3_sub(c->x, c->p);
  double r0 = v3_dot(r, c->M0), r1 = v3_dot(r, c->M1), r2 = v3_dot(r, c->M2);
  double t1 = c->t1 = (y1 - r1) / c->M1.x, t2 = c->t2 = (y2 - r2) / c->M2.x;
  double s1 = c->s1 = (c->x.y - c->y.y) / c->M0.y, s2 = c->s2 = (c->x.z - c->y.z) / c->M0.z;
  double a0 = c->a0 - doubt, b0 = c->b0 - doubt;
  return fabs(t1) < a0 && fabs(t2) < a0 && fabs(s1) < b0 && fabs(s2) < b0 &&
         fabs(r0 + t1 * c->M0.x) < b0 && fabs(r0 + t2 * c->M0.x) < b0 &&
         fabs(r2 + t1 * c->M2.x) < c->b2 - doubt && fabs(r1 + t2 * c->M1.x) < c->b1 - doubt &&
         fabs(c->y.x + s1 * c->M0.x) < a0 && fabs(c->y.x + s2 * c->M0.x) < a0 &&
         fabs(c->y.z + s1 * c->M0.z) < c->a2 - doubt && fabs(c->y.y + s2 * c->M0.y) < c->a1 - doubt;
}

// The edges along axis i of X and axis j of Y.
static bool find_edges(const abBoxBoxView* v, int i, int j, Tip* tip) {
  Crossing c;
  set_crossing(v, i, j, &c);
  if (!cross_edges(&c)) return false;
  abMat3 X = quat_matrix(v->X.q);
  abVec3 e0 = m3_col(&X, 0), e1 = m3_col(&X, 1), e2 = m3_col(&X, 2);
  tip->axis[0] = i == 0 ? e0 : i == 1 ? e1 : e2;
  tip->axis[1] = i == 0 ? e1 : i == 1 ? e2 : e0;
  tip->axis[2] = i == 0 ? e2 : i == 1 ? e0 : e1;
  double per = 1 / sqrt(c.n1 * c.n1 + c.n2 * c.n2);
  double lx = c.g / fabs(c.M1.x * c.M2.x), ly = c.g / fabs(c.M0.y * c.M0.z);
  tip->volume = c.g * lx * ly * (1.0 / 6);
  tip->depth = c.g * per;
  tip->is_corner = false;
  // the middles of both parts
  abVec3 on_x = v3(0.5 * (c.t1 + c.t2), c.x.y, c.x.z),
         on_y = v3_axpy(0.5 * (c.s1 + c.s2), c.M0, c.y);
  abVec3 middle = v3_scale(0.5, v3_add(on_x, on_y));
  tip->apart = v3_sub(on_x, middle);
  tip->ex = 0.5 * lx;
  tip->ey = v3_scale(0.5 * ly, c.M0);
  tip->center = v3_add(v3_add(v->X.p, m3_apply(&X, v->mx)), combine(tip->axis, middle));
  double s = v->y_is_a ? per : -per;
  tip->normal = v3_axpy(s * c.n1, tip->axis[1], v3_scale(s * c.n2, tip->axis[2]));
  return true;
}

// Outlines from the center, with the tangents along the axes of the tip, counter-clockwise. Both
// tell whether each corner turns by more than rounding, so that none is idle.
//
// Of a corner: each turn is twice the area.
static bool outline_corner(const Tip* tip, abVec3 t1, abVec3 t2, abVec2* loop) {
  abVec3 x = v3_mul(t1, tip->edge), y = v3_mul(t2, tip->edge);
  double cx = 0.25 * (x.x + x.y + x.z), cy = 0.25 * (y.x + y.y + y.z);
  abVec2 a = v2(x.x - cx, y.x - cy), b = v2(x.y - cx, y.y - cy), c = v2(x.z - cx, y.z - cy);
  double turn = v2_cross(v2_sub(b, a), v2_sub(c, a));
  loop[0] = a, loop[1] = turn > 0 ? b : c, loop[2] = turn > 0 ? c : b;
  return fabs(turn) > IDLE * (v2_dot(a, a) + v2_dot(b, b) + v2_dot(c, c));
}

// Of two edges, with the corners a - x, -a - y, a + x, -a + y: the turns are 2 [x, y] +- 4 [a, x]
// and 2 [x, y] +- 4 [a, y], with [ , ] the cross product.
static bool outline_edges(const Tip* tip, abVec3 t1, abVec3 t2, abVec2* loop) {
  abVec2 a = v2(v3_dot(t1, tip->apart), v3_dot(t2, tip->apart)), b = v2_scale(-1, a);
  abVec2 x = v2(t1.x * tip->ex, t2.x * tip->ex);
  abVec2 y = v2(v3_dot(t1, tip->ey), v3_dot(t2, tip->ey));
  double turn = v2_cross(x, y), first = fabs(v2_cross(a, x)), second = fabs(v2_cross(a, y));
  x = v2_scale(copysign(1, turn), x);
  loop[0] = v2_sub(a, x), loop[1] = v2_sub(b, y), loop[2] = v2_add(a, x), loop[3] = v2_add(b, y);
  double least = fabs(turn) - 2 * (first > second ? first : second);
  return 2 * least > IDLE * 2 * (v2_dot(a, a) + v2_dot(x, x) + v2_dot(y, y));
}

static bool tip_patch(const abBoxBoxView* v, const Tip* tip, const abPatchHint* hint,
                      abVec2* polygon, abPatch* p) {
  p->center = tip->center;
  p->depth = tip->depth;
  ab_patch_tangents(hint, p);
  const abVec3* e = tip->axis;
  abVec3 t1 = v3(v3_dot(e[0], p->t1), v3_dot(e[1], p->t1), v3_dot(e[2], p->t1));
  abVec3 t2 = v3(v3_dot(e[0], p->t2), v3_dot(e[1], p->t2), v3_dot(e[2], p->t2));
  p->polygon = polygon;
  p->nvert = tip->is_corner ? 3 : 4;
  bool sharp =
      tip->is_corner ? outline_corner(tip, t1, t2, polygon) : outline_edges(tip, t1, t2, polygon);
  if (!sharp) return ab_patch_finish(polygon, v->size, v->noise, p);
  ab_patch_measure(v->size, v->noise, p);
  return true;
}

// What the two have in common, in one of the three forms.
typedef struct Common {
  enum { TIP, WEDGE, SLAB } form;
  Tip tip;
  abWedge wedge;
  abSlab slab;
} Common;

// A face of Y across axis j, and what of X is behind it: by how many axes of X its corners there
// differ, *i one of them, and *w the axis nearest to the face's normal.
static int look_behind(const abBoxBoxView* v, int j, int* i, int* w) {
  double m[3], toward = 0, depth = v->b[j];
  for (int k = 0; k < 3; k++) {
    double along = ab_view(v, k, j);
    toward += along * v->p[k];
    m[k] = fabs(along);
    depth += v->a[k] * m[k];
  }
  depth -= fabs(toward);
  bool x = depth > 2 * v->a[0] * m[0], y = depth > 2 * v->a[1] * m[1],
       z = depth > 2 * v->a[2] * m[2];
  *i = x ? 0 : y ? 1 : 2;
  *w = m[2] >= m[0] && m[2] >= m[1] ? 2 : m[1] >= m[0] ? 1 : 0;
  return x + y + z;
}

static bool find_common(const abBoxBoxView* v, const abMeeting* m, Common* c) {
  c->form = TIP;
  if (m->edges && find_edges(v, m->edge[0], m->edge[1], &c->tip)) return true;
  abBoxBoxView round;
  const abBoxBoxView* of_face = v;  // the face is one of Y
  int j = m->face - 3, i, w;
  if (j < 0) turn_round(v, &round), of_face = &round, j += 3;
  int differ = look_behind(of_face, j, &i, &w);
  if (differ == 0 && find_corner(of_face, j, &c->tip)) return true;
  c->form = WEDGE;
  if (differ == 1 && ab_edge_face_make(of_face, i, j, &c->wedge)) return true;
  c->form = SLAB;
  return fabs(ab_view(of_face, w, j)) > UPRIGHT &&
         (m->face < 3 ? ab_face_face_make(v, j, w, &c->slab)
                      : ab_face_face_make(v, w, j, &c->slab));
}

static void sum_up(const Common* c, double* volume, abVec3* normal) {
  *volume = c->form == TIP ? c->tip.volume : c->form == WEDGE ? c->wedge.volume : c->slab.volume;
  *normal = c->form == TIP ? c->tip.normal : c->form == WEDGE ? c->wedge.normal : c->slab.normal;
}

static bool common_patch(const abBoxBoxView* v, const Common* c, const abPatchHint* hint,
                         abVec2* polygon, abPatch* p) {
  abVec3 n;
  sum_up(c, &p->volume, &n);
  p->normal = n;
  if (c->form == WEDGE) return ab_edge_face_patch(v, &c->wedge, hint, polygon, p);
  if (c->form == SLAB) return ab_face_face_patch(v, &c->slab, hint, polygon, p);
  return tip_patch(v, &c->tip, hint, polygon, p);
}

AB_SIMD AB_FLATTEN bool ab_box_box_patch(const abOverlapWork* w, const abPatchHint* hint,
                                         abVec2* polygon, abPatch* patch) {
  const abMeeting* meeting = &w->meeting;
  if (meeting->face < 0) return false;
  abBoxBoxView view;
  look(w, &view);
  Common common;
  return find_common(&view, meeting, &common) && common_patch(&view, &common, hint, polygon, patch);
}
