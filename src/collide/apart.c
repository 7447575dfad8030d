// Separating axes of two boxes, as Gottschalk, Lin & Manocha (1996) list them: the three face
// normals of each and the nine products of their edges. With d from the middle of A to that of B in
// the axes of A, half lengths a and b, and R the axes of B in those of A, the gap is
//   along axis i of A:      |d_i| - a_i - sum_j |R_ij| b_j
//   along axis j of B:      |(R^T d)_j| - b_j - sum_i |R_ij| a_i
//   along e_i x R e_j:      |d_k R_lj - d_l R_kj| - (a_k |R_lj| + a_l |R_kj|)
//                                                 - (b_m |R_in| + b_n |R_im|)
// with i, l, k and j, n, m in turn. The last is as long as the product, which is shorter than 1: a
// gap that exceeds the margin before division by that length does so all the more after it.
#include "collide/apart.h"

#include <float.h>

#include "collide/quad.h"
#include "math/rotation.h"

// Every gap is a sum of a dozen products: it rounds by less than this times the lengths in it.
static const double ROUNDING = 16 * DBL_EPSILON;
// Two edges meet if they overlap less than the faces, by squares: where a face lies on another, the
// products of their sides are almost its normal, too.
static const double EDGES = 0.9;
// Edges at less than a hundredth of a radian do not cross.
static const double PARALLEL = 1e-4;

// The gaps along the axes of A, along those of B, and along the products of an axis of A with all
// of B.
typedef struct Gaps {
  double a[3];
  abQuad b, edge[3];
  abQuad square[3];  // of the products' lengths
} Gaps;

// True if one of the gaps exceeds the margin.
static inline bool find_gaps(const abSkin* a, const abSkin* b, const abMat3* R, abVec3 p,
                             double margin, Gaps* g) {
  abVec3 d = v3_sub(v3_add(m3_apply(R, b->middle), p), a->middle), ha = a->half, hb = b->half;
  double dx = fabs(d.x), dy = fabs(d.y), dz = fabs(d.z);
  double lengths =
      dx + dy + dz + ha.x + ha.y + ha.z + hb.x + hb.y + hb.z + fabs(p.x) + fabs(p.y) + fabs(p.z);
  double far = margin + ROUNDING * lengths;
  // rows of R: all three axes of B at once
  abQuad r[3], q[3], h = quad(hb.x, hb.y, hb.z, 0), next = quad_turn(h), last = quad_turn(next);
  for (int i = 0; i < 3; i++) {
    r[i] = quad(R->m[i][0], R->m[i][1], R->m[i][2], 0);
    q[i] = quad_abs(r[i]);
  }
  g->a[0] = dx - ha.x - quad_dot3(q[0], h);
  g->a[1] = dy - ha.y - quad_dot3(q[1], h);
  g->a[2] = dz - ha.z - quad_dot3(q[2], h);
  if (g->a[0] > far || g->a[1] > far || g->a[2] > far) return true;
  double dd[3] = {d.x, d.y, d.z}, aa[3] = {ha.x, ha.y, ha.z};
  abQuad along = quad_scale(d.x, r[0]), reach = quad_axpy(ha.x, q[0], h);
  for (int i = 1; i < 3; i++)
    along = quad_axpy(dd[i], r[i], along), reach = quad_axpy(aa[i], q[i], reach);
  abQuad most = g->b = quad_sub(quad_abs(along), reach);
  for (int i = 0; i < 3; i++) {
    int l = i < 2 ? i + 1 : 0, k = l < 2 ? l + 1 : 0;
    abQuad t = quad_turn(q[i]);
    along = quad_sub(quad_scale(dd[k], r[l]), quad_scale(dd[l], r[k]));
    reach = quad_add(quad_mul(last, t), quad_mul(next, quad_turn(t)));
    reach = quad_axpy(aa[k], q[l], quad_axpy(aa[l], q[k], reach));
    g->edge[i] = quad_sub(quad_abs(along), reach);
    g->square[i] = quad_add(quad_mul(r[l], r[l]), quad_mul(r[k], r[k]));
    most = quad_more(g->edge[i], most);
  }
  return most.xy[0] > far || most.xy[1] > far || most.zw[0] > far;
}

AB_WIDE bool ab_boxes_apart(const abSkin* a, const abSkin* b, const abMat3* R, abVec3 p,
                            double margin) {
  Gaps g;
  return find_gaps(a, b, R, p, margin, &g);
}

AB_WIDE bool ab_boxes_meet(const abSkin* a, const abSkin* b, const abMat3* R, abVec3 p,
                           double margin, abMeeting* m) {
  Gaps g;
  m->face = -1;
  m->edges = false;
  if (find_gaps(a, b, R, p, margin, &g)) return true;
  double face[6] = {g.a[0], g.a[1], g.a[2], g.b.xy[0], g.b.xy[1], g.b.zw[0]}, most = face[0];
  int best = 0;
  for (int i = 1; i < 6; i++)
    if (face[i] > most) most = face[i], best = i;
  if (!(most < 0)) return false;
  m->face = best;
  // squares of depths in units of the products' lengths; those of parallel edges say nothing
  double least = EDGES * most * most;
  for (int i = 0; i < 3; i++) {
    abQuad deep = quad_mul(g.edge[i], g.edge[i]), limit = quad_scale(least, g.square[i]);
    double over[3] = {deep.xy[0] - limit.xy[0], deep.xy[1] - limit.xy[1], deep.zw[0] - limit.zw[0]};
    for (int j = 0; j < 3; j++) {
      if (!(over[j] < 0)) continue;
      abQuad e = g.edge[i], s = g.square[i];
      double gap = j == 0 ? e.xy[0] : j == 1 ? e.xy[1] : e.zw[0];
      double square = j == 0 ? s.xy[0] : j == 1 ? s.xy[1] : s.zw[0];
      if (!(square > PARALLEL) || gap * gap >= least * square) continue;
      least = gap * gap / square;
      m->edges = true, m->edge[0] = i, m->edge[1] = j;
    }
  }
  return false;
}
