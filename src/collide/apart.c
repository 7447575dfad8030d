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

#include "math/rotation.h"

// Every gap is a sum of a dozen products: it rounds by less than this times the lengths in it.
static const double ROUNDING = 16 * DBL_EPSILON;

bool ab_boxes_apart(const abSkin* a, const abSkin* b, const abMat3* R, abVec3 p, double margin) {
  abVec3 offset = v3_sub(v3_add(m3_apply(R, b->middle), p), a->middle);
  double d[3] = {offset.x, offset.y, offset.z};
  double ha[3] = {a->half.x, a->half.y, a->half.z}, hb[3] = {b->half.x, b->half.y, b->half.z};
  double Q[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) Q[i][j] = fabs(R->m[i][j]);
  double lengths = fabs(d[0]) + fabs(d[1]) + fabs(d[2]) + ha[0] + ha[1] + ha[2] + hb[0] + hb[1] +
                   hb[2] + fabs(p.x) + fabs(p.y) + fabs(p.z);
  double far = margin + ROUNDING * lengths;
  for (int i = 0; i < 3; i++)
    if (fabs(d[i]) - ha[i] - (Q[i][0] * hb[0] + Q[i][1] * hb[1] + Q[i][2] * hb[2]) > far)
      return true;
  for (int j = 0; j < 3; j++) {
    double along = d[0] * R->m[0][j] + d[1] * R->m[1][j] + d[2] * R->m[2][j];
    if (fabs(along) - hb[j] - (Q[0][j] * ha[0] + Q[1][j] * ha[1] + Q[2][j] * ha[2]) > far)
      return true;
  }
  for (int i = 0; i < 3; i++) {
    int l = (i + 1) % 3, k = (i + 2) % 3;
    for (int j = 0; j < 3; j++) {
      int n = (j + 1) % 3, m = (j + 2) % 3;
      double along = d[k] * R->m[l][j] - d[l] * R->m[k][j];
      double reach = ha[k] * Q[l][j] + ha[l] * Q[k][j] + hb[m] * Q[i][n] + hb[n] * Q[i][m];
      if (fabs(along) - reach > far) return true;
    }
  }
  return false;
}
