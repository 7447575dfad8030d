// Keeping a joint tree's energy and momentum while its configuration changes.
//
// A step of semi-implicit Euler is a kick, in which forces, bounds and contacts change the
// velocities at the old configuration, and a drift, in which the tree moves on by its own inertia.
// An exact drift keeps the kinetic energy, and the momentum of a tree that floats. Euler's drift,
//
//   v+ = v_k + d,  d = -h (M + E)^-1 c(q, v),    q+ = q + h v+,
//
// c the inertial forces,
// does not: with h w = 0.05 a tumbling tree gains a quarter of its energy in 20 s, with h w > 0.5
// it explodes. So after the drift the velocities are brought back to what the kick left, T(q, v_k)
// and, floating, P(q, v_k):
//
//   fixed root:     v <- s v,   s^2 = T(q, v_k) / T(q+, v+).
//   floating root:  v+ splits into the motion of the whole as if the joints were locked, the rigid
//                   twist V with I_c V = P (I_c the inertia of the whole), and the rest, which
//                   carries no momentum; their energies add up. V is set to I_c^-1 P(q, v_k), and
//                   the rest is scaled to make up the energy.
//
// A tree that no contact touches moves by h (v+ - d / 2), the mean of the velocities before and
// after the drift, and a floating one's centre of mass goes straight: this makes the positions of
// the drift second-order accurate. In contact the tree must move along v+, which is what the
// contacts were solved for.
//
// All corrections are of the order h^2 of a step, so that the order of the scheme stays; the
// energy of the drift is kept to rounding at any h w, and a floating tree keeps its linear and
// angular momentum. Joints that stand still keep standing still.
// Tests: test_tree, test_peer.
#include "base/simd.h"
#include "dynamics/trees.h"
#include "internal.h"

// Sums over the bodies; momentum and com are first taken about the origin and weighted by mass.
static void add_motion(const abModel* model, const abData* data, int b, abTwist t,
                       abTreeMotion* sum) {
  double m = model->body[b].mass;
  abVec3 p = v3_scale(m, t.lin), L = m3_apply(&data->inertia[b], t.ang),
         d = data->internal->trees->arm[b];
  sum->energy += 0.5 * (v3_dot(p, t.lin) + v3_dot(L, t.ang));
  sum->mass += m;
  sum->com = v3_axpy(m, d, sum->com);
  sum->momentum.force = v3_add(sum->momentum.force, p);
  sum->momentum.torque = v3_add(sum->momentum.torque, v3_add(L, v3_cross(d, p)));
}

// Body by body, each at its own centre of mass: what is compared is then wrong by rounding of its
// own size, not by that of the motion about the origin.
AB_SIMD AB_FLATTEN abTreeMotion ab_tree_motion(const abModel* model, const abData* data, int m,
                                               const double* v) {
  const abMover* mover = &model->mover[m];
  const abTrees* t = data->internal->trees;
  abTreeMotion sum = {0};
  abVec3 carriage = tree_carriage(model, mover, v);
  ab_tree_twists(t, m, v, t->pull);
  for (int b = mover->body0; b < mover->body0 + mover->nbody; b++)
    add_motion(model, data, b, tree_body_twist(t, b, &t->pull[t->link_of_body[b]], carriage), &sum);
  for (int i = mover->dof0; i < mover->dof0 + mover->ndof; i++)
    sum.energy += 0.5 * model->dof_armature[i] * v[i] * v[i];
  abVec3 d = v3_scale(1 / sum.mass, sum.com);
  sum.momentum = wrench_move(sum.momentum, d);
  sum.com = v3_add(t->origin[m], d);
  return sum;
}

// Square root of a ratio of energies; 1 where there is nothing to compare. A scale beyond 2 means
// that the step says nothing about the motion any more.
static double energy_scale(double wanted, double found) {
  if (!(found > 0) || !(wanted > 0)) return 1;
  double s = sqrt(wanted / found);
  return s < 2 ? s : 2;
}

// The inverse of the inertia of the whole tree about its origin.
static void whole_inverse(const abTrees* t, abTreeRange range, double inverse[36]) {
  abRigid whole = {0};
  abSix6 I;
  double dense[36];
  for (int j = range.joint0; j < range.joint1; j++) rigid_add(&t->rigid[j], &whole);
  rigid_expand(&whole, &I);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) dense[i * 6 + j] = six_get(&I.row[i], j);
  small_inverse(6, dense, inverse);
}

// The rigid twist of the whole at its origin that carries the momentum, given about the centre of
// mass, r from there; *energy is that of the motion.
static abTwist locked_twist(const double inverse[36], abWrench momentum, abVec3 r, double* energy) {
  double p[6], V[6];
  abWrench at_origin = wrench_move(momentum, v3_neg(r));
  wrench_to_array(at_origin, p);
  for (int i = 0; i < 6; i++) {
    V[i] = 0;
    for (int j = 0; j < 6; j++) V[i] += inverse[i * 6 + j] * p[j];
  }
  abTwist twist = twist_from_array(V);
  *energy = 0.5 * twist_power(twist, at_origin);
  return twist;
}

static void floating_drift(const abModel* model, abData* data, int m, abTreeMotion before,
                           abTreeMotion now) {
  const abMover* mover = &model->mover[m];
  abVec3 r = v3_sub(now.com, data->internal->trees->origin[m]);
  double inverse[36], locked_now, locked_before;
  whole_inverse(data->internal->trees, tree_range(model, mover), inverse);
  abTwist wrong = locked_twist(inverse, now.momentum, r, &locked_now);
  abTwist right = locked_twist(inverse, before.momentum, r, &locked_before);
  double rest = now.energy - locked_now, wanted = before.energy - locked_before;
  // Where the momentum alone needs more energy than there is, nothing is left for the rest. A rest
  // below the rounding of the energies it is a difference of is none.
  bool none = rest <= 1e-12 * now.energy;
  double s = none ? 1 : wanted > 0 ? energy_scale(wanted, rest) : 0;
  double* v = data->v + mover->dof0;
  abTwist root = twist_from_array(v);
  for (int i = 0; i < mover->ndof; i++) v[i] *= s;
  twist_to_array(twist_add(right, twist_scale(s, twist_sub(root, wrong))), v);
}

AB_SIMD AB_FLATTEN void ab_tree_drift(const abModel* model, abData* data, int m,
                                      abTreeMotion before, bool touched) {
  const abMover* mover = &model->mover[m];
  ab_tree_place(model, data, m);
  data->internal->trees->placed[m] = true;
  data->internal->trees->origin[m] = ab_tree_origin(model, data, m);
  abTreeMotion now = ab_tree_motion(model, data, m, data->v);
  if (!tree_floats(model, mover)) {
    double s = energy_scale(before.energy, now.energy);
    for (int i = mover->dof0; i < mover->dof0 + mover->ndof; i++) data->v[i] *= s;
    return;
  }
  floating_drift(model, data, m, before, now);
  if (touched) return;
  abVec3 step = v3_scale(data->h / before.mass, before.momentum.force);
  abVec3 shift = v3_sub(step, v3_sub(now.com, before.com));
  double* q = data->q + model->joint[model->body[mover->body0].joint0].q0;
  q[0] += shift.x, q[1] += shift.y, q[2] += shift.z;
}
