// Two bricks in the contacts that bricks mostly have: a corner in a face, two edges that cross, and
// a face on a face (slab.c). What is cut off is known in advance, so nothing is cut.
//
// Why a guess is enough. Let some of the planes of both bricks be given and the vertices of the
// simple polytope they would bound. If each of these vertices lies strictly behind all planes but
// its own three, each is a vertex of the overlap, and its neighbours in the overlap are its
// neighbours in the guess, since a line meets a convex body in one segment: the guess is the
// overlap, for the vertices of a polytope are connected by its edges. So the guess, which comes
// from the axis along which the bricks overlap least, may be wrong; then, or if rounding leaves
// doubts, the general method is asked.
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
#include "collide/bricks.h"

#include <float.h>

#include "collide/apart.h"
#include "math/rotation.h"

// Vertices nearer to a plane than this many times the rounding are left to the general method.
static const double DOUBT = 64;

// A face that leans no more than this (the cosine) may lie on another.
static const double UPRIGHT = 0.95;

// L seen from S.
static void look(const abOverlapWork* w, abBrickView* v) {
  const abSkin *s = ab_polyhedron_skin(w->S.poly), *l = ab_polyhedron_skin(w->L.poly);
  abVec3 p = v3_add(m3_apply(&w->R, l->middle), v3_add(w->rel.p, w->S.poly->centroid));
  p = v3_sub(p, s->middle);
  v->a[0] = s->half.x, v->a[1] = s->half.y, v->a[2] = s->half.z;
  v->b[0] = l->half.x, v->b[1] = l->half.y, v->b[2] = l->half.z;
  v->p[0] = p.x, v->p[1] = p.y, v->p[2] = p.z;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) v->M[i][j] = w->R.m[i][j];
  v->size = s->size;
  v->noise = DBL_EPSILON * (2 * s->size + l->size + fabs(p.x) + fabs(p.y) + fabs(p.z));
  v->doubt = DOUBT * v->noise + 2 * w->flush;
  v->X = (abPose){pose_apply(w->S.pose, s->middle), w->S.pose.q};
  v->Y = (abPose){pose_apply(w->L.pose, l->middle), w->L.pose.q};
  v->y_is_a = w->L.owner == AB_OWNER_A;
}

// The same with X and Y exchanged.
static void turn_round(const abBrickView* v, abBrickView* out) {
  for (int i = 0; i < 3; i++) {
    out->a[i] = v->b[i], out->b[i] = v->a[i];
    for (int j = 0; j < 3; j++) out->M[i][j] = v->M[j][i];
    out->p[i] = -(v->M[0][i] * v->p[0] + v->M[1][i] * v->p[1] + v->M[2][i] * v->p[2]);
  }
  out->noise = v->noise, out->doubt = v->doubt, out->size = v->size;
  out->X = v->Y, out->Y = v->X;
  out->y_is_a = !v->y_is_a;
}

// An overlap with four corners: what is needed of it.
typedef struct Tip {
  double volume, depth;
  abVec3 center;    // in the world
  abVec3 normal;    // in the world, from B to A
  int n;            // corners of the outline, from the center
  abVec3 point[4];  // in the axes of X
  abQuat q;         // of X
} Tip;

// The corner of X behind the face of Y across axis j.
static bool find_corner(const abBrickView* v, int j, Tip* tip) {
  double m[3] = {v->M[0][j], v->M[1][j], v->M[2][j]};
  double toward = m[0] * v->p[0] + m[1] * v->p[1] + m[2] * v->p[2];
  double reach = v->a[0] * fabs(m[0]) + v->a[1] * fabs(m[1]) + v->a[2] * fabs(m[2]);
  double depth = v->b[j] + reach - fabs(toward), out = toward > 0 ? -1 : 1;
  if (!(depth > v->doubt && depth < 2 * v->b[j] - v->doubt)) return false;
  double corner[3], edge[3], x[3];
  for (int i = 0; i < 3; i++) {
    double slope = out * m[i], length = depth / fabs(slope);
    if (!(length < 2 * v->a[i] - v->doubt)) return false;
    corner[i] = slope > 0 ? -v->a[i] : v->a[i];
    edge[i] = slope > 0 ? length : -length;
    x[i] = corner[i] - v->p[i];
  }
  for (int k = 0; k < 3; k++) {  // inside of the other planes of Y
    if (k == j) continue;
    double y = x[0] * v->M[0][k] + x[1] * v->M[1][k] + x[2] * v->M[2][k];
    double limit = v->b[k] - v->doubt;
    if (!(fabs(y) < limit && fabs(y + edge[0] * v->M[0][k]) < limit &&
          fabs(y + edge[1] * v->M[1][k]) < limit && fabs(y + edge[2] * v->M[2][k]) < limit))
      return false;
  }
  tip->volume = fabs(edge[0] * edge[1] * edge[2]) * (1.0 / 6);
  tip->depth = depth;
  tip->n = 3;
  tip->q = v->X.q;
  abVec3 quarter = v3(0.25 * edge[0], 0.25 * edge[1], 0.25 * edge[2]);
  tip->point[0] = v3(edge[0] - quarter.x, -quarter.y, -quarter.z);
  tip->point[1] = v3(-quarter.x, edge[1] - quarter.y, -quarter.z);
  tip->point[2] = v3(-quarter.x, -quarter.y, edge[2] - quarter.z);
  tip->center = pose_apply(v->X, v3_add(v3(corner[0], corner[1], corner[2]), quarter));
  double s = v->y_is_a ? -out : out;
  tip->normal = quat_rotate(v->Y.q, v3(j == 0 ? s : 0, j == 1 ? s : 0, j == 2 ? s : 0));
  return true;
}

// A line along an axis of a brick, seen from the other: where it passes the planes of the two faces
// that meet in an edge, and how it lies there.
typedef struct Line {
  double at[3], way[3];  // a point and the direction
  double t[2];           // where it meets the two planes
} Line;

// The edge of a brick with half lengths h lies along axis e at `edge` (of which the e-th is not
// used). Does the line have its part between the two planes inside of the brick?
static bool meets_edge(const double h[3], int e, const double edge[3], double doubt, Line* line) {
  int m = e < 2 ? e + 1 : 0, n = m < 2 ? m + 1 : 0;
  double tm = (edge[m] - line->at[m]) / line->way[m], tn = (edge[n] - line->at[n]) / line->way[n];
  line->t[0] = tm, line->t[1] = tn;
  double limit = h[e] - doubt;
  return fabs(line->at[n] + tm * line->way[n]) < h[n] - doubt &&
         fabs(line->at[m] + tn * line->way[m]) < h[m] - doubt &&
         fabs(line->at[e] + tm * line->way[e]) < limit &&
         fabs(line->at[e] + tn * line->way[e]) < limit;
}

// The edges along axis i of X and axis j of Y.
static bool find_edges(const abBrickView* v, int i, int j, Tip* tip) {
  int l = i < 2 ? i + 1 : 0, k = l < 2 ? l + 1 : 0, m = j < 2 ? j + 1 : 0, n = m < 2 ? m + 1 : 0;
  double N[3];  // in the axes of X
  N[i] = 0, N[l] = -v->M[k][j], N[k] = v->M[l][j];
  double side = N[l] * v->p[l] + N[k] * v->p[k] > 0 ? 1 : -1;
  N[l] *= side, N[k] *= side;
  // the lines: X's edge from the axes of Y, and the other way round
  double x0[3], y0[3];
  x0[i] = 0, x0[l] = N[l] > 0 ? v->a[l] : -v->a[l], x0[k] = N[k] > 0 ? v->a[k] : -v->a[k];
  y0[j] = 0;
  y0[m] = N[l] * v->M[l][m] + N[k] * v->M[k][m] > 0 ? -v->b[m] : v->b[m];
  y0[n] = N[l] * v->M[l][n] + N[k] * v->M[k][n] > 0 ? -v->b[n] : v->b[n];
  Line of_x, of_y;
  double x[3] = {x0[0] - v->p[0], x0[1] - v->p[1], x0[2] - v->p[2]};
  for (int r = 0; r < 3; r++) {
    of_x.at[r] = x[0] * v->M[0][r] + x[1] * v->M[1][r] + x[2] * v->M[2][r];
    of_x.way[r] = v->M[i][r];
    of_y.at[r] = v->p[r] + v->M[r][m] * y0[m] + v->M[r][n] * y0[n];
    of_y.way[r] = v->M[r][j];
  }
  double g = N[l] * (x0[l] - of_y.at[l]) + N[k] * (x0[k] - of_y.at[k]);
  if (!(g > v->doubt) || !meets_edge(v->b, j, y0, v->doubt, &of_x) ||
      !meets_edge(v->a, i, x0, v->doubt, &of_y))
    return false;
  double limit_x = v->a[i] - v->doubt, limit_y = v->b[j] - v->doubt;
  if (!(fabs(of_x.t[0]) < limit_x && fabs(of_x.t[1]) < limit_x && fabs(of_y.t[0]) < limit_y &&
        fabs(of_y.t[1]) < limit_y))
    return false;
  double length_x = g / fabs(of_x.way[m] * of_x.way[n]),
         length_y = g / fabs(of_y.way[l] * of_y.way[k]);
  tip->volume = g * length_x * length_y * (1.0 / 6);
  double square = N[l] * N[l] + N[k] * N[k], per = 1 / sqrt(square);
  tip->depth = g * per;
  tip->n = 4;
  tip->q = v->X.q;
  // from the middle of both parts
  abVec3 way = v3(of_y.way[0], of_y.way[1], of_y.way[2]);
  double tx = 0.5 * (of_x.t[0] + of_x.t[1]), ty = 0.5 * (of_y.t[0] + of_y.t[1]);
  x0[i] = tx;
  abVec3 on_x = v3(x0[0], x0[1], x0[2]),
         on_y = v3_axpy(ty, way, v3(of_y.at[0], of_y.at[1], of_y.at[2]));
  abVec3 half = v3_scale(0.5, v3_sub(on_x, on_y)), c = v3_sub(on_x, half);
  double hx = 0.5 * length_x, hy = 0.5 * length_y;
  abVec3 along = v3(i == 0 ? hx : 0, i == 1 ? hx : 0, i == 2 ? hx : 0);
  tip->point[0] = v3_sub(half, along);
  tip->point[1] = v3_axpy(-hy, way, v3_neg(half));
  tip->point[2] = v3_add(half, along);
  tip->point[3] = v3_axpy(hy, way, v3_neg(half));
  tip->center = pose_apply(v->X, c);
  double s = v->y_is_a ? per : -per;
  tip->normal = quat_rotate(v->X.q, v3_scale(s, v3(N[0], N[1], N[2])));
  return true;
}

static bool tip_patch(const abBrickView* v, const Tip* tip, const abPatchHint* hint,
                      abVec2* polygon, abPatch* p) {
  p->volume = tip->volume;
  p->center = tip->center;
  p->depth = tip->depth;
  ab_patch_tangents(hint, p);
  abQuat inverse = quat_conj(tip->q);
  abVec3 t1 = quat_rotate(inverse, p->t1), t2 = quat_rotate(inverse, p->t2);
  for (int i = 0; i < tip->n; i++)
    polygon[i] = v2(v3_dot(t1, tip->point[i]), v3_dot(t2, tip->point[i]));
  abVec2 first = v2_sub(polygon[1], polygon[0]), second = v2_sub(polygon[2], polygon[0]);
  if (v2_cross(first, second) < 0) {  // the other way round: two corners change places
    abVec2 swap = polygon[0];
    polygon[0] = polygon[2], polygon[2] = swap;
  }
  p->polygon = polygon;
  p->nvert = tip->n;
  return ab_patch_finish(polygon, v->size, v->noise, p);
}

// What the two have in common, in one of the three ways.
typedef struct Common {
  bool is_tip;
  Tip tip;
  abSlab slab;
} Common;

static bool find_common(const abBrickView* v, const abMeeting* m, Common* c) {
  c->is_tip = true;
  if (m->edges && find_edges(v, m->edge[0], m->edge[1], &c->tip)) return true;
  abBrickView round;
  const abBrickView* of_face = v;  // the face is one of Y
  int j = m->face - 3;
  if (j < 0) turn_round(v, &round), of_face = &round, j += 3;
  int w = 0;
  for (int i = 1; i < 3; i++)
    if (fabs(of_face->M[i][j]) > fabs(of_face->M[w][j])) w = i;
  if (fabs(of_face->M[w][j]) < UPRIGHT) return find_corner(of_face, j, &c->tip);
  if (find_corner(of_face, j, &c->tip)) return true;
  c->is_tip = false;
  return m->face < 3 ? ab_slab_make(v, j, w, &c->slab) : ab_slab_make(v, w, j, &c->slab);
}

static bool common_patch(const abBrickView* v, const Common* c, const abPatchHint* hint,
                         abVec2* polygon, abPatch* p) {
  abVec3 n = c->is_tip ? c->tip.normal : c->slab.normal;
  p->normal = hint->fixed ? *hint->fixed : n;
  if (!c->is_tip) return ab_slab_patch(v, &c->slab, hint, polygon, p);
  // the outline of a tip is known along its own normal only
  return v3_norm2(v3_sub(n, p->normal)) == 0 && tip_patch(v, &c->tip, hint, polygon, p);
}

// See near_patch in collide.c.
static bool near_patch(abBrickView* v, const abMeeting* meeting, double margin, Common* c,
                       const abPatchHint* hint, abVec2* polygon, abPatch* p) {
  abVec3 n = c->is_tip ? c->tip.normal : c->slab.normal;
  double volume = c->is_tip ? c->tip.volume : c->slab.volume;
  abVec3 nearer = v3_scale(-margin, n), local = quat_rotate(quat_conj(v->X.q), nearer);
  if (!v->y_is_a) local = v3_neg(local);
  v->p[0] += local.x, v->p[1] += local.y, v->p[2] += local.z;
  abPose* a = v->y_is_a ? &v->Y : &v->X;
  a->p = v3_add(a->p, nearer);
  abPatchHint along = *hint;
  along.fixed = &n;
  if (!find_common(v, meeting, c) || !common_patch(v, c, &along, polygon, p)) return false;
  p->volume = volume;
  p->center = v3_axpy(0.5 * margin, n, p->center);
  p->h0 -= margin;
  p->depth -= margin;
  return true;
}

bool ab_bricks_patch(const abOverlapWork* w, double margin, const abPatchHint* hint,
                     abVec2* polygon, abPatch* patch) {
  const abMeeting* meeting = &w->meeting;
  if (meeting->face < 0) return false;
  abBrickView view;
  look(w, &view);
  Common common;
  if (!find_common(&view, meeting, &common)) return false;
  return margin > 0 ? near_patch(&view, meeting, margin, &common, hint, polygon, patch)
                    : common_patch(&view, &common, hint, polygon, patch);
}
