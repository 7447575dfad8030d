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

AB_WIDE bool ab_boxes_apart(const abSkin* a, const abSkin* b, const abMat3* R, abVec3 p,
                            double margin) {
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
  if (dx - ha.x - quad_dot3(q[0], h) > far || dy - ha.y - quad_dot3(q[1], h) > far ||
      dz - ha.z - quad_dot3(q[2], h) > far)
    return true;
  double dd[3] = {d.x, d.y, d.z}, aa[3] = {ha.x, ha.y, ha.z};
  abQuad along = quad_scale(d.x, r[0]), reach = quad_axpy(ha.x, q[0], h);
  for (int i = 1; i < 3; i++)
    along = quad_axpy(dd[i], r[i], along), reach = quad_axpy(aa[i], q[i], reach);
  abQuad gap = quad_sub(quad_abs(along), reach);
  for (int i = 0; i < 3; i++) {
    int l = i < 2 ? i + 1 : 0, k = l < 2 ? l + 1 : 0;
    abQuad t = quad_turn(q[i]);
    along = quad_sub(quad_scale(dd[k], r[l]), quad_scale(dd[l], r[k]));
    reach = quad_add(quad_mul(last, t), quad_mul(next, quad_turn(t)));
    reach = quad_axpy(aa[k], q[l], quad_axpy(aa[l], q[k], reach));
    gap = quad_more(quad_sub(quad_abs(along), reach), gap);
  }
  return gap.xy[0] > far || gap.xy[1] > far || gap.zw[0] > far;
}
