// Velocities, accelerations and inertial forces of the links of a joint tree, all at the tree's
// origin.
//
// For a link with parent p, S its joint's motion and v the joint's velocities:
//
//   velocity          V = V_p + S v
//   acceleration      A = A_p + S v' + V_p x S v
//   wrench needed     f = I A + V x* I V + sum of those of the links behind
//   joint force       S^T f
//
// with (lin, ang) x (a, b) = (ang x a + lin x b, ang x b) and (lin, ang) x* (f, t) = (ang x f, ang
// x t + lin x f) (Luh, Walker & Paul 1980). Seen from a frame that goes along with the centre of
// mass of a free root at the start of the step, as fast as it is then, that root's V has no linear
// part, and the classical acceleration that v' is equals the one above. So the products of a tree
// that flies fast are as small as those of one that does not.
// Tests: test_tree, test_peer.
#include "base/simd.h"
#include "dynamics/trees.h"
#include "internal.h"

// What the joint adds to the twist of its parent. A free root's linear part is left out.
static inline void joint_twist(const abTrees* t, const abLink* link, const double* v, abSix* own) {
  const abSix* S = t->S + link->dof;
  if (link->ndof == 6) {
    const double* u = v + link->dof;
    six_set(v3_zero(), v3(u[3], u[4], u[5]), own);
    return;
  }
  six_clear(own);
  for (int k = 0; k < link->ndof; k++) six_axpy(v[link->dof + k], &S[k], own);
}

AB_SIMD AB_FLATTEN static void find_twists(const abTrees* t, abTreeRange range, const double* v,
                                           abSix* twist) {
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    abSix V;
    joint_twist(t, link, v, &V);
    if (link->parent >= 0) six_add(&twist[link->parent], &V);
    twist[j] = V;
  }
}

void ab_tree_twists(const abTrees* t, int mover, const double* v, abSix* twist) {
  find_twists(t, tree_range(t->model, &t->model->mover[mover]), v, twist);
}

AB_SIMD AB_FLATTEN static void find_inertial(const abTrees* t, abTreeRange range, const double* v,
                                             abSix* twist, abSix* rate, double* force) {
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    abSix V, A, p, f;
    joint_twist(t, link, v, &V);
    six_clear(&A);
    if (link->parent >= 0) {
      A = rate[link->parent];
      six_cross_add(&twist[link->parent], &V, &A);
      six_add(&twist[link->parent], &V);
    }
    rigid_apply(&t->rigid[j], &V, &p);
    rigid_apply(&t->rigid[j], &A, &f);
    six_cross_wrench_add(&V, &p, &f);
    twist[j] = V, rate[j] = A, t->push[j] = f;
  }
  for (int j = range.joint1 - 1; j >= range.joint0; j--) {
    const abLink* link = &t->link[j];
    for (int k = link->dof; k < link->dof + link->ndof; k++)
      force[k] = six_dot(&t->S[k], &t->push[j]);
    if (link->parent >= 0) six_add(&t->push[j], &t->push[link->parent]);
  }
}

void ab_tree_inertial(const abTrees* t, int mover, const double* v, abSix* twist, abSix* rate,
                      double* force) {
  find_inertial(t, tree_range(t->model, &t->model->mover[mover]), v, twist, rate, force);
}

AB_SIMD AB_FLATTEN static void add_loads(const abModel* model, const abData* data,
                                         const abMover* mover) {
  const abTrees* t = data->internal->trees;
  abTreeRange range = tree_range(model, mover);
  for (int j = range.joint0; j < range.joint1; j++) six_clear(&t->push[j]);
  for (int b = mover->body0; b < mover->body0 + mover->nbody; b++) {
    abVec3 force = data->applied[b].force;
    if (model->body[b].gravity) force = v3_axpy(model->body[b].mass, model->gravity, force);
    abVec3 torque = v3_add(data->applied[b].torque, v3_cross(t->arm[b], force));
    abSix* sum = &t->push[t->link_of_body[b]];
    sum->lin += (abFour){force.x, force.y, force.z, 0};
    sum->ang += (abFour){torque.x, torque.y, torque.z, 0};
  }
  for (int j = range.joint1 - 1; j >= range.joint0; j--) {
    const abLink* link = &t->link[j];
    for (int k = link->dof; k < link->dof + link->ndof; k++)
      t->tau[k] += six_dot(&t->S[k], &t->push[j]);
    if (link->parent >= 0) six_add(&t->push[j], &t->push[link->parent]);
  }
}

void ab_tree_loads(const abModel* model, const abData* data, int m) {
  add_loads(model, data, &model->mover[m]);
}

AB_SIMD AB_FLATTEN static double link_energy(const abTrees* t, abTreeRange range, const double* v,
                                             abVec3 carriage, abSix* twist) {
  double sum = 0;
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    abSix V, p;
    joint_twist(t, link, v, &V);
    if (link->parent < 0)
      V.lin += (abFour){carriage.x, carriage.y, carriage.z, 0};
    else
      six_add(&twist[link->parent], &V);
    twist[j] = V;
    rigid_apply(&t->rigid[j], &V, &p);
    sum += six_dot(&V, &p);
  }
  return 0.5 * sum;
}

double ab_tree_energy(const abTrees* t, int m, const double* v) {
  const abMover* mover = &t->model->mover[m];
  double rotors = 0;
  for (int i = mover->dof0; i < mover->dof0 + mover->ndof; i++)
    rotors += t->model->dof_armature[i] * v[i] * v[i];
  return 0.5 * rotors +
         link_energy(t, tree_range(t->model, mover), v, tree_carriage(t->model, mover, v), t->pull);
}
