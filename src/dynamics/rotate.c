// Turning orientations: the spin of a free body.
//
// In principal axes, with moments J, angular velocity W and momentum pi = J W, a body without
// torque obeys pi' = pi x W. Over a step of length h from (W0, pi0) to (W1, pi1) we turn the body
// by the rotation E = exp([h Wm]), Wm = (W0 + W1) / 2 (body axes), and demand that the momentum
// stays where it is in the world: pi1 = E^T pi0. Any rotation about the direction of Wm can be
// written as a Cayley map, E = cay([c Wm]) with c = 2 tan(h |Wm| / 2) / |Wm| = h + O(h^3), and for
// a Cayley map E^T pi0 = pi1 means
//
//     pi1 - pi0 + (c / 4) (W0 + W1) x (pi0 + pi1) = 0,  pi = J W.                              (1)
//
// Dotted with pi0 + pi1 this gives |pi1| = |pi0|; dotted with W0 + W1 it gives
// W1 . J W1 = W0 . J W0. So momentum and energy are both kept exactly, whatever h, and a steady
// spin turns by exactly h W. This is the conserving rule of Simo & Wong (1991) with the exponential
// in place of the Cayley map for the angle. (1) is quadratic in W1 but for c, whose change with W1
// is of third order: Newton's method with c frozen in the derivative,
//
//     N = J + (c / 4) ([W0 + W1]x J - [J (W0 + W1)]x),
//
// takes two to four steps. The step is cut so that h |W| <= 1/2 in each piece. Where even that
// would take too many pieces, or Newton fails, the body is turned about the (fixed) momentum by
// h w . L / |L|: W does not change at all in such a turn, so that momentum and energy are kept
// there too, and only the phase of the unresolvable tumbling is lost.
// Tests: test_free_body, test_joint.
#include "dynamics/rotate.h"

#include <float.h>

enum { MAX_PIECES = 64, MAX_NEWTON = 12 };

static abQuat quat_add_scaled(abQuat q, double s, abQuat p) {
  return (abQuat){q.w + s * p.w, q.x + s * p.x, q.y + s * p.y, q.z + s * p.z};
}

// q + d, back at unit length; q itself where d is lost in rounding.
static abQuat quat_moved(abQuat q, abQuat d) {
  abQuat n = quat_add_scaled(q, 1, d);
  if (n.w == q.w && n.x == q.x && n.y == q.y && n.z == q.z) return q;
  return quat_unit(n);
}

abQuat ab_turn(abQuat q, abVec3 r) {
  double half = 0.5 * v3_norm(r);
  // sin(x) / x is 1 to rounding below 1e-8
  double s = half > 1e-8 ? 0.5 * sin(half) / half : 0.5;
  double quarter = sin(0.5 * half);
  abQuat u = {0, s * r.x, s * r.y, s * r.z};
  // cos(half) - 1 without cancellation, so that small turns keep all their digits
  return quat_moved(q, quat_add_scaled(quat_mul(u, q), -2 * quarter * quarter, q));
}

abQuat ab_turn_cayley(abQuat q, abVec3 r) {
  return quat_moved(q, quat_mul((abQuat){0, 0.5 * r.x, 0.5 * r.y, 0.5 * r.z}, q));
}

abVec3 ab_turn_difference(abQuat q_old, abQuat q_new, abVec3 x) {
  abQuat diff = quat_add_scaled(q_new, -1, q_old);
  // q_new q_old* = 1 + diff q_old*: its vector part and scalar part (c, u)
  abQuat d = quat_mul(diff, quat_conj(q_old));
  abVec3 u = v3(d.x, d.y, d.z);
  return v3_scale(2, v3_cross(u, v3_add(v3_scale(1 + d.w, x), v3_cross(u, x))));
}

// x turned by q, at its own length: rounding in q would otherwise change lengths in one sense, and
// the momentum would drift by some 1e-16 in each step.
static abVec3 rotate_rigidly(abQuat q, abVec3 x) {
  abVec3 y = quat_rotate(q, x);
  double ny = v3_norm2(y);
  return ny > 0 ? v3_scale(sqrt(v3_norm2(x) / ny), y) : y;
}

abVec3 ab_spin_velocity(abQuat principal, abVec3 moment, abVec3 L) {
  abVec3 p = rotate_rigidly(quat_conj(principal), L);
  return rotate_rigidly(principal, v3(p.x / moment.x, p.y / moment.y, p.z / moment.z));
}

// c of (1)
static double cayley_factor(double h, abVec3 mean) {
  double x = 0.5 * h * v3_norm(mean);
  return x > 1e-8 ? h * tan(x) / x : h;
}

// Left side of (1), and *factor = c / 4.
static abVec3 residual(double h, abVec3 J, abVec3 W0, abVec3 W1, double* factor) {
  abVec3 sum = v3_add(W0, W1);
  *factor = 0.25 * cayley_factor(h, v3_scale(0.5, sum));
  return v3_axpy(*factor, v3_cross(sum, v3_mul(J, sum)), v3_mul(J, v3_sub(W1, W0)));
}

// Solves (1) for W1. False where Newton's method does not get there.
static bool solve_spin(double h, abVec3 J, abVec3 W0, abVec3* W1) {
  double size = v3_norm(v3_mul(J, W0)), best = INFINITY;
  abVec3 W = W0;
  for (int i = 0; i < MAX_NEWTON; i++) {
    double k;
    abVec3 F = residual(h, J, W0, W, &k);
    double norm = v3_norm(F);
    if (norm < best) {
      best = norm;
      *W1 = W;
    }
    // The residual is a difference of numbers of this size: below, it is rounding.
    if (norm <= 2 * DBL_EPSILON * size) return true;
    abVec3 sum = v3_add(W0, W), p = v3_mul(J, sum);
    abMat3 N = {{{J.x, k * (p.z - sum.z * J.y), k * (sum.y * J.z - p.y)},
                 {k * (sum.z * J.x - p.z), J.y, k * (p.x - sum.x * J.z)},
                 {k * (p.y - sum.y * J.x), k * (sum.x * J.y - p.x), J.z}}};
    abMat3 inverse = m3_inverse(&N);
    W = v3_sub(W, m3_apply(&inverse, F));
    if (!v3_finite(W)) break;
  }
  return best <= 64 * DBL_EPSILON * size;
}

// One piece of the step. L is the angular momentum in the world.
static abQuat spin_piece(const abSpin* spin, abQuat q, abVec3 L, double h) {
  abQuat principal = quat_mul(q, spin->axes);
  abVec3 p = rotate_rigidly(quat_conj(principal), L), J = spin->moment;
  abVec3 W0 = v3(p.x / J.x, p.y / J.y, p.z / J.z), W1 = W0;
  if (solve_spin(h, J, W0, &W1))
    return ab_turn(q, quat_rotate(principal, v3_scale(0.5 * h, v3_add(W0, W1))));
  return ab_turn(q, v3_scale(h * v3_dot(W0, p) / v3_norm2(L), L));
}

// A turn so small that its square is rounding: the momentum L stands still while the inertia turns,
// I dw/dt = - w x L, and the first order is all there is. W and p: angular velocity and momentum in
// the principal axes.
static bool hardly_turns(abVec3 J, double speed, double h) {
  double least = fmin(J.x, fmin(J.y, J.z)), most = fmax(J.x, fmax(J.y, J.z));
  return h * speed * h * speed * most <= 0.25 * DBL_EPSILON * least;
}

static abSpin spin_a_little(abSpin spin, abQuat principal, abVec3 W, abVec3 p, double h) {
  abVec3 torque = v3_cross(p, W), J = spin.moment;
  abVec3 change = v3(torque.x / J.x, torque.y / J.y, torque.z / J.z);
  abVec3 dw = v3_scale(h, quat_rotate(principal, change));
  spin.q = ab_turn(spin.q, v3_scale(h, v3_axpy(0.5, dw, spin.w)));
  spin.w = v3_add(spin.w, dw);
  return spin;
}

abSpin ab_spin_free(abSpin spin, double h) {
  abVec3 J = spin.moment;
  abQuat principal = quat_mul(spin.q, spin.axes);
  abVec3 W = rotate_rigidly(quat_conj(principal), spin.w), p = v3_mul(J, W);
  double size = v3_norm(p), speed = v3_norm(W);
  if (!(size > 0) || !(J.x > 0 && J.y > 0 && J.z > 0) ||
      fabs(h) * v3_norm(v3_cross(W, p)) <= 2 * DBL_EPSILON * size) {
    // a spin about a principal axis: the angular velocity stands still in the world
    spin.q = ab_turn(spin.q, v3_scale(h, spin.w));
    return spin;
  }
  if (hardly_turns(J, speed, h)) return spin_a_little(spin, principal, W, p, h);
  abVec3 L = rotate_rigidly(principal, p);
  double pieces = ceil(2 * fabs(h) * speed);
  if (pieces <= MAX_PIECES) {
    int n = pieces > 1 ? (int)pieces : 1;
    for (int i = 0; i < n; i++) spin.q = spin_piece(&spin, spin.q, L, h / n);
  } else {
    spin.q = ab_turn(spin.q, v3_scale(h * v3_dot(spin.w, L) / v3_norm2(L), L));
  }
  spin.w = ab_spin_velocity(quat_mul(spin.q, spin.axes), J, L);
  return spin;
}
