// A body over one step, for the implicit model.
//
// Positions move by x+ = x + h v+, R+ = Cay(h w+) R, where Cay turns by 2 atan(h |w| / 2) about w:
// this is what normalising the quaternion Q + h/2 (0, w) Q gives. With a = h w / 2 the unnormalised
// quaternion of the turn is (1, a), so that a change of w turns the end pose by
//     d(theta) = h (dw + a x dw) / (1 + |a|^2) = T dw.
// Two rotational equations are offered (J: sum of the angular impulses about the centre of mass):
//     A  I (w+ - w) = h (tau - w x I w) + J      Xie & Chakraborty's, I at the start
//     D  I+ w+ - I w = h tau + J                 angular momentum is exact
// In step units h = 1.
// Tests: test_ecp_kinematics.
#include "contact/ecp/ecp.h"

void ab_ecp_body_end(abEcpBody* b, bool exact_momentum) {
  if (!b->moving) return;
  b->x = v3_add(b->x0, b->v);
  abVec3 a = v3_scale(0.5, b->w);
  double k = 1 / (1 + v3_norm2(a));
  b->T = (abMat3){{{k, -k * a.z, k * a.y}, {k * a.z, k, -k * a.x}, {-k * a.y, k * a.x, k}}};
  // Cay = 1 + 2 k ([a] + [a]^2), [a]^2 = a a^T - |a|^2
  double q = 1 - 2 * k * v3_norm2(a), p = 2 * k;
  abMat3 C = {{{q + p * a.x * a.x, p * (a.x * a.y - a.z), p * (a.x * a.z + a.y)},
               {p * (a.x * a.y + a.z), q + p * a.y * a.y, p * (a.y * a.z - a.x)},
               {p * (a.x * a.z - a.y), p * (a.y * a.z + a.x), q + p * a.z * a.z}}};
  b->R = m3_mul(&C, &b->R0);
  if (!exact_momentum) return;
  abMat3 Ct = m3_transpose(&C), CI = m3_mul(&C, &b->I);
  b->I_end = m3_mul(&CI, &Ct);
  b->L = m3_apply(&b->I_end, b->w);
}

// d(I_end w)/dw = I_end + (I_end [w] - [I_end w]) T
static abMat3 momentum_jacobian(const abEcpBody* b) {
  abMat3 W = m3_skew(b->w), IW = m3_mul(&b->I_end, &W), S = m3_skew(b->L);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) IW.m[i][j] -= S.m[i][j];
  abMat3 D = m3_mul(&IW, &b->T);
  return m3_add(&b->I_end, &D);
}

void ab_ecp_body_free(abEcpBody* b, bool exact_momentum) {
  if (!b->moving) return;
  b->v = v3_axpy(1 / b->m, v3_add(b->f, b->f_ext), b->v0);
  abVec3 L0 = m3_apply(&b->I, b->w0), J = v3_add(b->tau, b->tau_ext);
  abMat3 inverse = m3_inverse(&b->I);
  if (!exact_momentum) {
    b->w = v3_add(b->w0, m3_apply(&inverse, v3_sub(J, v3_cross(b->w0, L0))));
    ab_ecp_body_end(b, false);
    return;
  }
  abVec3 target = v3_add(L0, J);
  b->w = m3_apply(&inverse, v3_sub(target, v3_cross(b->w0, L0)));
  for (int i = 0; i < 20; i++) {  // Newton; three or four suffice for turns below a radian a step
    ab_ecp_body_end(b, true);
    abMat3 D = momentum_jacobian(b);
    D = m3_inverse(&D);
    abVec3 dw = m3_apply(&D, v3_sub(target, b->L));
    b->w = v3_add(b->w, dw);
    // the error after this update is of second order in dw; turns below 1e-17 rad are rounding
    if (v3_norm2(dw) <= 1e-18 * v3_norm2(b->w) + 1e-34) break;
  }
  ab_ecp_body_end(b, true);
}
