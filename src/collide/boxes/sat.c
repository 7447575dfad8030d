// How two bodies lie to each other, and whether the boxes about them are apart.
//
// Separating axes of two boxes, as Gottschalk, Lin & Manocha (1996) list them: the three face
// normals of each and the nine products of their edges. With d from the middle of A to that of B in
// the axes of A, half lengths a and b, and R the axes of B in those of A, the gap is
//   along axis i of A:      |d_i| - a_i - sum_j |R_ij| b_j
//   along axis j of B:      |(R^T d)_j| - b_j - sum_i |R_ij| a_i
//   along e_i x R e_j:      |d_k R_lj - d_l R_kj| - (a_k |R_lj| + a_l |R_kj|)
//                                                 - (b_m |R_in| + b_n |R_im|)
// with i, l, k and j, n, m in turn. The last is in units of that product's length, which does not
// matter for its sign.
// Tests: test_box_box.
#include <float.h>

#include "collide/clip/overlap.h"
#include "math/quad.h"
#include "math/rotation.h"

// Every gap is a sum of a dozen products: it rounds by less than this times the lengths in it.
static const double SAT_ROUNDING = 16 * DBL_EPSILON;
// Two edges meet if they overlap less than the faces, by squares: where a face lies on another, the
// products of their sides are almost its normal, too.
static const double EDGES = 0.9;
// Edges at less than a hundredth of a radian do not cross.
static const double PARALLEL_EDGES = 1e-4;

// The gaps along the axes of A, along those of B, and along the products of an axis of A with all
// of B.
typedef struct Gaps {
  double a[3];
  abQuad b, edge[3];
  abQuad square[3];  // of the products' lengths
} Gaps;

// True if one of the gaps exceeds rounding.
static inline bool find_gaps(const abSkin* a, const abSkin* b, const abMat3* R, abVec3 p, Gaps* g) {
  abVec3 d = v3_sub(v3_add(m3_apply(R, b->middle), p), a->middle), ha = a->half, hb = b->half;
  double dx = fabs(d.x), dy = fabs(d.y), dz = fabs(d.z);
  double lengths = (dx + dy + dz) + (a->spread + b->spread) + (fabs(p.x) + fabs(p.y) + fabs(p.z));
  double far = SAT_ROUNDING * lengths;
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

// The axes of least overlap.
static void find_meeting(const Gaps* g, abMeeting* m) {
  double face[6] = {g->a[0], g->a[1], g->a[2], g->b.xy[0], g->b.xy[1], g->b.zw[0]}, most = face[0];
  int best = 0;
  for (int i = 1; i < 6; i++)
    if (face[i] > most) most = face[i], best = i;
  if (!(most < 0)) return;
  m->face = best;
  // squares of depths in units of the products' lengths; those of parallel edges say nothing
  double least = EDGES * most * most;
  for (int i = 0; i < 3; i++) {
    abQuad e = g->edge[i], s = g->square[i];
    double gap[3] = {e.xy[0], e.xy[1], e.zw[0]}, square[3] = {s.xy[0], s.xy[1], s.zw[0]};
    for (int j = 0; j < 3; j++) {
      if (!(gap[j] * gap[j] < least * square[j] && square[j] > PARALLEL_EDGES)) continue;
      least = gap[j] * gap[j] / square[j];
      m->edges = true, m->edge[0] = i, m->edge[1] = j;
    }
  }
}

// A product of unit quaternions at unit length again: where it has lost only rounding, one step of
// Newton's method is as good as a root.
static inline abQuat same_length(abQuat q) {
  double over = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1;
  if (!(fabs(over) < 1e-8)) return quat_unit(q);
  double s = 1 - 0.5 * over;
  return (abQuat){s * q.w, s * q.x, s * q.y, s * q.z};
}

// Pose of L in the frame of S moved to its centroid. The quaternion of the relative turn is the
// identity exactly where the two are equal, which products of matrices would miss: aligned stacks
// stay aligned.
static inline abPose relative_pose(const abSide* S, const abSide* L) {
  abQuat inverse = quat_conj(S->pose.q);
  abVec3 p = quat_rotate(inverse, v3_sub(L->pose.p, S->pose.p));
  return (abPose){v3_sub(p, S->poly->centroid), same_length(quat_mul(inverse, L->pose.q))};
}

static bool finite_pose(const abPose* a) {
  return isfinite(a->p.x + a->p.y + a->p.z + a->q.w + a->q.x + a->q.y + a->q.z);
}

// No shorter than v, and no root.
static inline double spread(abVec3 v) { return fabs(v.x) + fabs(v.y) + fabs(v.z); }

abStatus ab_overlap_begin(abOverlapWork* w, const abPolyhedron* A, abPose pose_a,
                          const abPolyhedron* B, abPose pose_b) {
  if (!A && !B) return AB_ERROR_ARGUMENT;
  if (!finite_pose(&pose_a) || !finite_pose(&pose_b)) return AB_ERROR_NUMERIC;
  // cut the smaller body: its coordinates round least
  bool b_smaller = !A || (B && B->radius < A->radius);
  abSide *a = b_smaller ? &w->L : &w->S, *b = b_smaller ? &w->S : &w->L;
  *a = (abSide){A, pose_a, AB_OWNER_A}, *b = (abSide){B, pose_b, AB_OWNER_B};
  w->size = ab_polyhedron_skin(w->S.poly)->size;
  // positions in the world are rounded at their distance from its origin
  double far_a = spread(pose_a.p), far_b = spread(pose_b.p);
  w->flush = DBL_EPSILON * 2 * (far_a > far_b ? far_a : far_b);
  return isfinite(w->size) ? AB_OK : AB_ERROR_NUMERIC;
}

AB_SIMD AB_FLATTEN bool ab_overlap_sat(abOverlapWork* w) {
  w->rel = relative_pose(&w->S, &w->L);
  w->R = quat_matrix(w->rel.q);
  w->meeting.face = -1;
  w->meeting.edges = false;
  if (!w->L.poly) return false;
  Gaps g;
  const abSkin *s = ab_polyhedron_skin(w->S.poly), *l = ab_polyhedron_skin(w->L.poly);
  abVec3 p = v3_add(w->rel.p, w->S.poly->centroid);
  if (find_gaps(s, l, &w->R, p, &g)) return true;
  if (s->box && l->box) find_meeting(&g, &w->meeting);
  return false;
}
