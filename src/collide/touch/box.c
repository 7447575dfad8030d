// The directions that tell two boxes apart.
//
// As in boxes/sat.c there are fifteen: the face normals of both, and the products of their edges.
// With d from the middle of box 2 to that of box 1, half lengths a and b, and R_ij = A_i . B_j,
//
//   along A_i:        s d . A_i - a_i - sum_j |R_ij| b_j
//   along B_j:        s d . B_j - b_j - sum_i |R_ij| a_i
//   along A_i x B_j:  (s d . (A_i x B_j) - (a_k |R_lj| + a_l |R_kj|) - (b_m |R_in| + b_n |R_im|))
//                     / sqrt(1 - R_ij^2)
//
// are the gaps, i, l, k and j, n, m in turn. The sign s is that of the start: the direction belongs
// to a feature, turns with it, and does not change sides when the bodies pass through each other.
// Tests: test_touch, test_touch_random.
#include <float.h>

#include "collide/touch/work.h"
#include "math/quad.h"

enum { AXES = AB_TOUCH_FEATURES };
// A product of edges that is this close (squared) to the normal of a face is that.
static const double FACE = 1e-12;
// Least product of the normals of two faces between which a normal may lie: of any two, and of
// those between which it did.
static const double SQUARE = 0.1, BLUNT = -0.7;

// How box 1 lies to box 2.
typedef struct Lay {
  double R[3][4];       // R_ij = A_i . B_j, and a place that is not used
  double da[3], db[4];  // d along the axes of both
  double a[3], b[3];
} Lay;

static inline void put(double out[4], abQuad q) {
  out[0] = q.xy[0], out[1] = q.xy[1], out[2] = q.zw[0];
}

// All three axes of box 2 at once.
static void lay(const abTouchSide* a, const abTouchSide* b, bool end, Lay* l) {
  const abMat3 *A = end ? &a->R1 : &a->R0, *B = end ? &b->R1 : &b->R0;
  abVec3 ca = v3_add(end ? a->p1 : a->p0, m3_apply(A, a->middle));
  abVec3 cb = v3_add(end ? b->p1 : b->p0, m3_apply(B, b->middle)), d = v3_sub(ca, cb);
  abVec3 along = m3_apply_t(A, d);
  l->da[0] = along.x, l->da[1] = along.y, l->da[2] = along.z;
  abQuad row[3];
  for (int m = 0; m < 3; m++) row[m] = quad(B->m[m][0], B->m[m][1], B->m[m][2], 0);
  put(l->db, quad_axpy(d.z, row[2], quad_axpy(d.y, row[1], quad_scale(d.x, row[0]))));
  for (int i = 0; i < 3; i++)
    put(l->R[i], quad_axpy(A->m[2][i], row[2],
                           quad_axpy(A->m[1][i], row[1], quad_scale(A->m[0][i], row[0]))));
  l->a[0] = a->half.x, l->a[1] = a->half.y, l->a[2] = a->half.z;
  l->b[0] = b->half.x, l->b[1] = b->half.y, l->b[2] = b->half.z;
}

static const int NEXT[3] = {1, 2, 0}, LAST[3] = {2, 0, 1};

// Projection of d on axis k, and what the boxes take of it. Axes 0 to 2 are those of box 2, 3 to
// 5 those of box 1, then the products. *square: the product's length, squared.
static double along_axis(const Lay* l, int k, double* taken, double* square) {
  const double *a = l->a, *b = l->b;
  *square = 1;
  if (k < 3) {
    *taken = b[k] + fabs(l->R[0][k]) * a[0] + fabs(l->R[1][k]) * a[1] + fabs(l->R[2][k]) * a[2];
    return l->db[k];
  }
  if (k < 6) {
    const double* r = l->R[k - 3];
    *taken = a[k - 3] + fabs(r[0]) * b[0] + fabs(r[1]) * b[1] + fabs(r[2]) * b[2];
    return l->da[k - 3];
  }
  int i = (k - 6) / 3, j = (k - 6) % 3, f = NEXT[i], g = LAST[i], m = NEXT[j], n = LAST[j];
  double rf = l->R[f][j], rg = l->R[g][j];
  *square = rf * rf + rg * rg;
  *taken = a[g] * fabs(rf) + a[f] * fabs(rg) + b[m] * fabs(l->R[i][n]) + b[n] * fabs(l->R[i][m]);
  return l->da[g] * rf - l->da[f] * rg;
}

static abVec3 direction(const abTouchSide* a, const abTouchSide* b, int k, double sign) {
  if (k < 3) return v3_scale(sign, m3_col(&b->R0, k));
  if (k < 6) return v3_scale(sign, m3_col(&a->R0, k - 3));
  abVec3 n = v3_cross(m3_col(&a->R0, (k - 6) / 3), m3_col(&b->R0, (k - 6) % 3));
  return v3_scale(sign, v3_unit(n));
}

// What of the gap along any direction the step can close: by translation v, and by turning.
typedef struct Closing {
  abVec3 v;
  double turn;
} Closing;

// How far the turn carries anything of a body.
static double turn_of(const abTouchSide* s) {
  double ww = v3_norm2(s->twist.ang);
  if (ww == 0) return 0;
  abVec3 c = v3_add(s->p0, m3_apply(&s->R0, s->middle));
  return sqrt(ww) * (v3_norm(v3_sub(c, s->com)) + v3_norm(s->half));
}

static Closing closing(const abTouchWork* w) {
  const abTouchSide *a = &w->side[0], *b = &w->side[1];
  double h = w->touch->h;
  return (Closing){v3_scale(h, v3_sub(a->twist.lin, b->twist.lin)), h * (turn_of(a) + turn_of(b))};
}

// The gaps at the start, and the sides.
typedef struct Gaps {
  double gap[AXES], side[AXES];
} Gaps;

// Whether the gap stays above the margin whatever the bodies do.
static bool stays(const abTouchWork* w, const Closing* c, int k, const Gaps* g) {
  double far = w->watch + c->turn;
  if (!(g->gap[k] > far)) return false;
  return g->gap[k] + v3_dot(c->v, direction(&w->side[0], &w->side[1], k, g->side[k])) > far;
}

static bool face_gaps(const abTouchWork* w, const Lay* l, const Closing* c, Gaps* g) {
  for (int k = 0; k < 6; k++) {
    double taken, square, d = along_axis(l, k, &taken, &square);
    g->side[k] = d < 0 ? -1 : 1;
    g->gap[k] = fabs(d) - taken;
    if (stays(w, c, k, g)) return true;
  }
  return false;
}

// Of the products of edges only those matter along which the boxes overlap by less than `least`,
// and that are not the normal of a face; the others are left at -DBL_MAX. Before it is divided by
// the product's length, which is below 1, an overlap is the smaller one.
static bool edge_gaps(const abTouchWork* w, const Lay* l, const Closing* c, double least, Gaps* g) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int k = 6 + 3 * i + j, f = NEXT[i], e = LAST[i], m = NEXT[j], n = LAST[j];
      double rf = l->R[f][j], re = l->R[e][j], d = l->da[e] * rf - l->da[f] * re;
      double taken = l->a[e] * fabs(rf) + l->a[f] * fabs(re) + l->b[m] * fabs(l->R[i][n]) +
                     l->b[n] * fabs(l->R[i][m]);
      double gap = fabs(d) - taken, square = rf * rf + re * re;
      g->gap[k] = -DBL_MAX;
      if (!(gap >= -least) || !(square > AB_TOUCH_PARALLEL)) continue;
      double im = l->R[i][m], in = l->R[i][n], near = FACE * square;
      if (rf * rf < near || re * re < near || im * im < near || in * in < near) continue;
      g->side[k] = d < 0 ? -1 : 1;
      g->gap[k] = gap / sqrt(square);
      if (stays(w, c, k, g)) return true;
    }
  return false;
}

bool ab_touch_sat(const abTouchWork* w) {
  Lay l;
  Gaps g;
  lay(&w->side[0], &w->side[1], false, &l);
  Closing c = closing(w);
  return face_gaps(w, &l, &c, &g) || edge_gaps(w, &l, &c, 0, &g);
}

static double end_gap(const Lay* l, int k, double side) {
  double taken, square, d = along_axis(l, k, &taken, &square);
  if (k < 6) return side * d - taken;
  return square > AB_TOUCH_PARALLEL ? (side * d - taken) / sqrt(square) : -DBL_MAX;
}

static abTouchFeature make_feature(const abTouchWork* w, const Gaps* g, int k, double g1) {
  double side = g->side[k];
  abTouchFeature f = {.n = direction(&w->side[0], &w->side[1], k, side),
                      .g0 = g->gap[k],
                      .g1 = g1,
                      .face = {-1, -1},
                      .edge = {-1, -1}};
  // the normal of box 1's face looks against n
  if (k < 3)
    f.face[1] = AB_BOX_FACE[2 * k + (side > 0)];
  else if (k < 6)
    f.face[0] = AB_BOX_FACE[2 * (k - 3) + (side < 0)];
  return f;
}

// Faces of both that lie on each other are one feature: the better one is kept.
static int drop_copies(int n, abTouchFeature* feature, double* score) {
  int m = 0;
  for (int i = 0; i < n; i++) {
    bool copy = false;
    for (int j = 0; j < m; j++)
      copy |= v3_norm2(v3_sub(feature[i].n, feature[j].n)) < AB_TOUCH_SAME;
    if (!copy) feature[m] = feature[i], score[m++] = score[i];
  }
  return m;
}

// A pair that leans against each other already, with the normal between the two faces, goes on to
// do so when the faces are square to each other.
static double least_product(const abTouchWork* w, abVec3 a, abVec3 b) {
  const abVec3* last = w->touch->normal;
  bool leans = w->touch->pressed && v3_dot(*last, v3_unit(v3_add(a, b))) > v3_dot(*last, a);
  return leans ? BLUNT : SQUARE;
}

// Where an edge meets an edge, as at the top of two cards that lean against each other, a face of
// either tells the boxes apart as well as one of the other: the normal lies between them, and goes
// over to one of them as it gets better by up to the tolerance. Both gaps are between the same two
// edges, and the gap is linear in the direction. The faces must not be square to each other: boxes
// that meet at the edges of a grid are apart along one or the other.
static int blend(const abTouchWork* w, int n, abTouchFeature* feature, const double* score) {
  const abTouchFeature *a = &feature[0], *b = NULL;
  int own = a->face[0] >= 0 ? 0 : 1, k = 1;
  if (a->face[own] < 0) return n;
  for (; k < n && !b; k++)
    if (feature[k].face[1 - own] >= 0 &&
        v3_dot(a->n, feature[k].n) > least_product(w, a->n, feature[k].n))
      b = &feature[k];
  double weight = b ? 1 - (score[0] - score[k - 1]) / w->touch->tolerance : 0;
  if (!(weight > 0)) return n;
  abVec3 sum = v3_axpy(weight, b->n, a->n);
  double per = 1 / v3_norm(sum);
  abTouchFeature f = {.n = v3_scale(per, sum),
                      .g0 = per * (a->g0 + weight * b->g0),
                      .g1 = per * (a->g1 + weight * b->g1),
                      .face = {-1, -1},
                      .edge = {-1, -1}};
  for (int i = n < AB_TOUCH_FEATURES ? n++ : n - 1; i > 0; i--) feature[i] = feature[i - 1];
  feature[0] = f;
  return n;
}

// Boxes that overlap more than half-way go back to the side they came from, if that is not much
// farther.
static void turn_back(const abTouchWork* w, const Lay* l, Gaps* g) {
  const abVec3* last = w->touch->normal;
  for (int k = 0; last && k < 6; k++) {
    abVec3 n = direction(&w->side[0], &w->side[1], k, -g->side[k]);
    double taken, square, d = along_axis(l, k, &taken, &square), gap = -fabs(d) - taken;
    if (v3_dot(n, *last) > 0.7 && ab_touch_out(w, n, gap) > g->gap[k])
      g->side[k] = -g->side[k], g->gap[k] = gap;
  }
}

AB_SIMD AB_FLATTEN int ab_touch_box_box(abTouchWork* w, abTouchFeature feature[AB_TOUCH_FEATURES]) {
  Lay l;
  Gaps g;
  double score[AXES], tolerance = w->touch->tolerance, most = -DBL_MAX;
  lay(&w->side[0], &w->side[1], false, &l);
  Closing c = closing(w);
  if (face_gaps(w, &l, &c, &g)) return 0;
  for (int k = 0; k < 6; k++) most = g.gap[k] > most ? g.gap[k] : most;
  double least = most >= -tolerance ? tolerance : -most;
  if (edge_gaps(w, &l, &c, least, &g)) return 0;
  for (int k = 6; k < AXES; k++) most = g.gap[k] > most ? g.gap[k] : most;
  if (most < -tolerance) turn_back(w, &l, &g);
  ab_touch_end(w);
  lay(&w->side[0], &w->side[1], true, &l);
  // where they overlap along all of them, that of the least overlap counts
  bool apart = most >= -tolerance;
  double enough = most >= -w->touch->margin ? -w->touch->margin
                  : apart                   ? -tolerance
                                            : 4 * most - 3 * w->tie;
  int n = 0;
  for (int k = 0; k < AXES; k++) {
    if (g.gap[k] < enough) continue;
    abTouchFeature f = make_feature(w, &g, k, end_gap(&l, k, g.side[k]));
    double gap = apart ? ab_touch_coasting(w, f.n, f.g1) : ab_touch_out(w, f.n, f.g0);
    double s = ab_touch_score(w, f.n, gap, k >= 6);
    int at = n++;
    for (; at > 0 && s > score[at - 1]; at--)
      feature[at] = feature[at - 1], score[at] = score[at - 1];
    feature[at] = f, score[at] = s;
  }
  if (n == 1) return n;
  n = drop_copies(n, feature, score);
  return apart ? blend(w, n, feature, score) : n;
}
