// Velocities, inertias and bias wrenches of the links of a joint tree, all at the tree's origin O.
//
// For a link with parent p, S its joint's motion and v the joint's velocities:
//
//   velocity          V = V_p + S v
//   acceleration      A = A_p + S v' + c,         c = V_p x S v
//   momentum          I V,                        the wrench needed I A + V x* I V
//
// with (lin, ang) x (a, b) = (ang x a + lin x b, ang x b) and (lin, ang) x* (f, t) = (ang x f, ang
// x t + lin x f). A turn about an axis e through the point x is S = (e x (O - x), e); a ball's
// velocities are in the link's own axes. A free joint's are those of the centre of mass, at O, and
// S = 1: seen from a frame that goes along with the centre of mass at the start of the step, as
// fast as it is then, V has no linear part, and the classical acceleration that v' is equals the
// one above. So the products of a tree that flies fast are as small as those of one that does not.
#include "dynamics/trees.h"

static void set_turn(abVec3 axis, abVec3 lever, double S[6]) {
  twist_to_array((abTwist){v3_cross(axis, lever), axis}, S);
}

// lever: from the joint's anchor to the origin
static void set_columns(abTrees* t, const abLink* link, abJointType type, abVec3 lever) {
  double(*S)[6] = t->S + link->dof;
  if (type == AB_JOINT_FREE) {
    for (int k = 0; k < 6; k++)
      for (int i = 0; i < 6; i++) S[k][i] = i == k ? 1 : 0;
  } else if (type == AB_JOINT_BALL) {
    for (int k = 0; k < 3; k++)
      set_turn(v3(link->R.m[0][k], link->R.m[1][k], link->R.m[2][k]), lever, S[k]);
  } else if (type == AB_JOINT_HINGE) {
    set_turn(link->axis, lever, S[0]);
  } else {
    twist_to_array((abTwist){link->axis, v3_zero()}, S[0]);
  }
}

static abTwist joint_twist(const abTrees* t, const abLink* link, const double* v) {
  double sum[6] = {0};
  for (int k = 0; k < link->ndof; k++)
    for (int i = 0; i < 6; i++) sum[i] += t->S[link->dof + k][i] * v[link->dof + k];
  return twist_from_array(sum);
}

void ab_tree_twists(const abTrees* t, int mover, const double* v) {
  abTreeRange range = tree_range(t->model, &t->model->mover[mover]);
  for (int j = range.joint0; j < range.joint1; j++) {
    const abLink* link = &t->link[j];
    abTwist own = joint_twist(t, link, v);
    t->pull[j] = link->parent < 0 ? own : twist_add(t->pull[link->parent], own);
  }
}

static void link_motion(abTrees* t, abLink* link, abJointType type, const double* v) {
  abTwist own = joint_twist(t, link, v);
  if (type == AB_JOINT_FREE) own.lin = v3_zero();
  link->twist = own;
  link->product = twist_zero();
  if (link->parent >= 0) {
    abTwist up = t->link[link->parent].twist;
    link->twist = twist_add(up, own);
    link->product.lin = v3_add(v3_cross(up.ang, own.lin), v3_cross(up.lin, own.ang));
    link->product.ang = v3_cross(up.ang, own.ang);
  }
  abTwist V = link->twist;
  abWrench p = rigid_apply(&link->rigid, V);
  link->inertial.force = v3_cross(V.ang, p.force);
  link->inertial.torque = v3_add(v3_cross(V.ang, p.torque), v3_cross(V.lin, p.force));
}

void ab_tree_velocity(const abModel* model, const abData* data, int mover, const double* v) {
  abTrees* t = data->trees;
  abTreeRange range = tree_range(model, &model->mover[mover]);
  for (int j = range.joint0; j < range.joint1; j++)
    link_motion(t, &t->link[j], model->joint[j].type, v);
}

// Adds the inertia and the load of body b to its link.
static void add_body(const abModel* model, const abData* data, abVec3 origin, int b) {
  const abBody* body = &model->body[b];
  abLink* link = &data->trees->link[data->trees->link_of_body[b]];
  abVec3 d = v3_sub(data->com[b], origin);
  double m = body->mass, dd = v3_norm2(d);
  const abMat3* I = &data->inertia[b];
  abRigid own = {m,
                 v3_scale(m, d),
                 {I->m[0][0] + m * (dd - d.x * d.x), I->m[1][1] + m * (dd - d.y * d.y),
                  I->m[2][2] + m * (dd - d.z * d.z), I->m[0][1] - m * d.x * d.y,
                  I->m[0][2] - m * d.x * d.z, I->m[1][2] - m * d.y * d.z}};
  rigid_add(&link->rigid, &own);
  abWrench load = data->applied[b];
  if (body->gravity) load.force = v3_axpy(m, model->gravity, load.force);
  link->load = wrench_add(link->load, wrench_move(load, v3_neg(d)));
}

void ab_tree_state(const abModel* model, const abData* data, int mover) {
  const abMover* m = &model->mover[mover];
  abTrees* t = data->trees;
  abTreeRange range = tree_range(model, m);
  abVec3 origin = t->origin[mover] = data->com[m->body0];
  for (int j = range.joint0; j < range.joint1; j++) {
    abLink* link = &t->link[j];
    set_columns(t, link, model->joint[j].type, v3_sub(origin, link->point));
    link->rigid = (abRigid){0};
    link->load = wrench_zero();
  }
  for (int b = m->body0; b < m->body0 + m->nbody; b++) add_body(model, data, origin, b);
  ab_tree_velocity(model, data, mover, data->v);
  for (int j = range.joint0; j < range.joint1; j++) {
    abLink* link = &t->link[j];
    link->start = link->twist;
    link->bias = link->product;
    if (link->parent >= 0) link->bias = twist_add(t->link[link->parent].bias, link->product);
  }
}
