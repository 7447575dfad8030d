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
#include "dynamics/kinematics.h"
#include "dynamics/trees.h"

// Sums over the bodies; momentum and com are first taken about the point x and weighted by mass.
static void add_motion(const abModel* model, const abData* data, int b, abTwist t, abVec3 x,
                       abTreeMotion* sum) {
  double m = model->body[b].mass;
  abVec3 p = v3_scale(m, t.lin), L = m3_apply(&data->inertia[b], t.ang);
  abVec3 d = v3_sub(data->com[b], x);
  sum->energy += 0.5 * (v3_dot(p, t.lin) + v3_dot(L, t.ang));
  sum->mass += m;
  sum->com = v3_axpy(m, d, sum->com);
  sum->momentum.force = v3_add(sum->momentum.force, p);
  sum->momentum.torque = v3_add(sum->momentum.torque, v3_add(L, v3_cross(d, p)));
}

static double rotor_energy(const abModel* model, const abMover* mover, const double* v) {
  double sum = 0;
  for (int i = mover->dof0; i < mover->dof0 + mover->ndof; i++)
    sum += 0.5 * model->dof_armature[i] * v[i] * v[i];
  return sum;
}

static void finish_motion(const abModel* model, const abMover* mover, const double* v, abVec3 x,
                          abTreeMotion* sum) {
  sum->energy += rotor_energy(model, mover, v);
  abVec3 d = v3_scale(1 / sum->mass, sum->com);
  sum->momentum = wrench_move(sum->momentum, d);
  sum->com = v3_add(x, d);
}

double ab_tree_energy(const abModel* model, const abData* data, int m, const double* v) {
  const abMover* mover = &model->mover[m];
  const abTrees* t = data->trees;
  abTreeRange range = tree_range(model, mover);
  double sum = rotor_energy(model, mover, v);
  ab_tree_twists(t, m, v);
  for (int j = range.joint0; j < range.joint1; j++)
    sum += 0.5 * twist_power(t->pull[j], rigid_apply(&t->link[j].rigid, t->pull[j]));
  return sum;
}

// Body by body, and each from joint to joint, as after the drift: what is compared is then wrong by
// rounding of its own size, not by that of the motion about the origin.
abTreeMotion ab_tree_motion(const abModel* model, const abData* data, int m, const double* v) {
  const abMover* mover = &model->mover[m];
  abTwist* twist = data->trees->twist;
  abTreeMotion sum = {0};
  abVec3 x = data->com[mover->body0];
  for (int b = mover->body0; b < mover->body0 + mover->nbody; b++) {
    int parent = model->body[b].parent;
    if (parent < mover->body0) twist[parent] = data->twist[parent];
    twist[b] = ab_kinematics_twist(model, data, b, twist, v);
    add_motion(model, data, b, twist[b], x, &sum);
  }
  finish_motion(model, mover, v, x, &sum);
  return sum;
}

// Square root of a ratio of energies; 1 where there is nothing to compare. A scale beyond 2 means
// that the step says nothing about the motion any more.
static double energy_scale(double wanted, double found) {
  if (!(found > 0) || !(wanted > 0)) return 1;
  double s = sqrt(wanted / found);
  return s < 2 ? s : 2;
}

// The inertia of the whole tree about x, as a dense matrix for the six velocities of its root.
static void whole_inertia(const abModel* model, const abData* data, const abMover* mover, abVec3 x,
                          double I[36]) {
  for (int i = 0; i < 36; i++) I[i] = 0;
  for (int b = mover->body0; b < mover->body0 + mover->nbody; b++) {
    double m = model->body[b].mass;
    abVec3 d = v3_sub(data->com[b], x);
    double a[3] = {d.x, d.y, d.z}, dd = v3_norm2(d);
    abMat3 s = m3_skew(d);
    for (int i = 0; i < 3; i++) {
      I[i * 7] += m;
      for (int j = 0; j < 3; j++) {
        I[i * 6 + 3 + j] -= m * s.m[i][j];
        I[(3 + j) * 6 + i] -= m * s.m[i][j];
        I[(3 + i) * 6 + 3 + j] += data->inertia[b].m[i][j] + m * ((i == j ? dd : 0) - a[i] * a[j]);
      }
    }
  }
}

// The rigid twist of the whole at its root that carries the momentum, given about the centre of
// mass, r from the root; *energy is that of the motion.
static abTwist locked_twist(const double* L, abWrench momentum, abVec3 r, double* energy) {
  double y[6];
  abWrench at_root = wrench_move(momentum, v3_neg(r));
  wrench_to_array(at_root, y);
  dense_cholesky_solve(6, L, y);
  abTwist V = twist_from_array(y);
  *energy = 0.5 * twist_power(V, at_root);
  return V;
}

static void floating_drift(const abModel* model, abData* data, const abMover* mover,
                           abTreeMotion before, abTreeMotion now) {
  abVec3 x = data->com[mover->body0], r = v3_sub(now.com, x);
  double L[36], locked_now, locked_before;
  whole_inertia(model, data, mover, x, L);
  dense_cholesky(6, L, 0);
  abTwist wrong = locked_twist(L, now.momentum, r, &locked_now);
  abTwist right = locked_twist(L, before.momentum, r, &locked_before);
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

void ab_tree_drift(const abModel* model, abData* data, int m, abTreeMotion before, bool touched) {
  const abMover* mover = &model->mover[m];
  const abJoint* root = &model->joint[model->body[mover->body0].joint0];
  ab_kinematics_range(model, data, mover->body0, mover->body0 + mover->nbody);
  abTreeMotion now = {0};
  abVec3 x = data->com[mover->body0];
  for (int b = mover->body0; b < mover->body0 + mover->nbody; b++)
    add_motion(model, data, b, data->twist[b], x, &now);
  finish_motion(model, mover, data->v, x, &now);
  if (root->type != AB_JOINT_FREE) {
    double s = energy_scale(before.energy, now.energy);
    for (int i = mover->dof0; i < mover->dof0 + mover->ndof; i++) data->v[i] *= s;
    data->trees->placed[m] = true;
    return;
  }
  floating_drift(model, data, mover, before, now);
  data->trees->placed[m] = touched;
  if (touched) return;
  abVec3 step = v3_scale(data->h / before.mass, before.momentum.force);
  abVec3 shift = v3_sub(step, v3_sub(now.com, before.com));
  double* q = data->q + root->q0;
  q[0] += shift.x, q[1] += shift.y, q[2] += shift.z;
}
