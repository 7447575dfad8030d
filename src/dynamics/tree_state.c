// Velocities, inertias and bias wrenches of the links of a joint tree.
//
// For a link with parent p, r from p's point to its own, S its joint's motion and v the joint's
// velocities, with classical accelerations of the material points at the reference points:
//
//   velocity          V = X V_p + S v,                  X (lin, ang) = (lin + ang x r, ang)
//   acceleration      A = X A_p + S v' + c
//   velocity product  c = (w_p x (w_p x r), 0) + (0, w_p x S v)     hinge, ball
//                     c = (w_p x (w_p x r) + 2 w_p x S v, 0)        slide
//                     c = 0                                          free (its S is constant)
//
// A ball's velocities are in the link's own axes, S = (0, R): R' v = w x R v = w_p x R v. A body of
// mass m and inertia I at offset d from the point needs the wrench
//
//   [m 1, -m [d]x; m [d]x, I - m [d]x [d]x] A + (m w x (w x d), w x I w + d x m w x (w x d)).
#include "dynamics/trees.h"

static void set_columns(abTrees* t, const abLink* link, abJointType type) {
  double(*S)[6] = t->S + link->dof;
  for (int k = 0; k < link->ndof; k++)
    for (int i = 0; i < 6; i++) S[k][i] = 0;
  if (type == AB_JOINT_FREE) {
    for (int k = 0; k < 6; k++) S[k][k] = 1;
  } else if (type == AB_JOINT_BALL) {
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < 3; i++) S[k][3 + i] = link->R.m[i][k];
  } else {
    double* s = S[0] + (type == AB_JOINT_HINGE ? 3 : 0);
    s[0] = link->axis.x, s[1] = link->axis.y, s[2] = link->axis.z;
  }
}

static abTwist joint_twist(const abTrees* t, const abLink* link, const double* v) {
  double sum[6] = {0};
  for (int k = 0; k < link->ndof; k++)
    for (int i = 0; i < 6; i++) sum[i] += t->S[link->dof + k][i] * v[link->dof + k];
  return twist_from_array(sum);
}

static void link_motion(abTrees* t, abLink* link, abJointType type, const double* v) {
  abTwist up = link->parent < 0 ? twist_zero() : t->link[link->parent].twist;
  abTwist own = joint_twist(t, link, v);
  link->twist = twist_add(twist_move(up, link->r), own);
  link->product = twist_zero();
  link->inertial = wrench_zero();
  if (type == AB_JOINT_FREE) return;
  abVec3 w = up.ang;
  link->product.lin = v3_add(v3_cross(w, v3_cross(w, link->r)), v3_scale(2, v3_cross(w, own.lin)));
  link->product.ang = v3_cross(w, own.ang);
}

void ab_tree_velocity(const abModel* model, const abData* data, int mover, const double* v) {
  const abMover* m = &model->mover[mover];
  abTrees* t = data->trees;
  abTreeRange range = tree_range(model, m);
  for (int j = range.joint0; j < range.joint1; j++)
    link_motion(t, &t->link[j], model->joint[j].type, v);
  for (int b = m->body0; b < m->body0 + m->nbody; b++) {
    abLink* link = &t->link[t->link_of_body[b]];
    abVec3 d = v3_sub(data->com[b], link->point), w = link->twist.ang;
    abVec3 f = v3_scale(model->body[b].mass, v3_cross(w, v3_cross(w, d)));
    abVec3 gyro = v3_cross(w, m3_apply(&data->inertia[b], w));
    link->inertial.force = v3_add(link->inertial.force, f);
    link->inertial.torque = v3_add(link->inertial.torque, v3_add(gyro, v3_cross(d, f)));
  }
}

// Adds the inertia and the load of body b to its link.
static void add_body(const abModel* model, const abData* data, int b) {
  const abBody* body = &model->body[b];
  abLink* link = &data->trees->link[data->trees->link_of_body[b]];
  abVec3 d = v3_sub(data->com[b], link->point);
  double m = body->mass, dd = v3_norm2(d), a[3] = {d.x, d.y, d.z};
  abMat3 skew = m3_skew(d);
  for (int i = 0; i < 3; i++) {
    link->rigid.A.m[i][i] += m;
    for (int j = 0; j < 3; j++) {
      link->rigid.B.m[i][j] -= m * skew.m[i][j];
      link->rigid.C.m[i][j] += data->inertia[b].m[i][j] + m * ((i == j ? dd : 0) - a[i] * a[j]);
    }
  }
  abWrench load = data->applied[b];
  if (body->gravity) load.force = v3_axpy(m, model->gravity, load.force);
  link->load = wrench_add(link->load, wrench_move(load, v3_neg(d)));
}

void ab_tree_state(const abModel* model, const abData* data, int mover) {
  const abMover* m = &model->mover[mover];
  abTrees* t = data->trees;
  abTreeRange range = tree_range(model, m);
  for (int j = range.joint0; j < range.joint1; j++) {
    abLink* link = &t->link[j];
    link->r = link->parent < 0 ? v3_zero() : v3_sub(link->point, t->link[link->parent].point);
    set_columns(t, link, model->joint[j].type);
    link->rigid = (abInertia6){{{{0}}}, {{{0}}}, {{{0}}}};
    link->load = wrench_zero();
  }
  for (int b = m->body0; b < m->body0 + m->nbody; b++) add_body(model, data, b);
  ab_tree_velocity(model, data, mover, data->v);
  for (int j = range.joint0; j < range.joint1; j++) {
    abLink* link = &t->link[j];
    abTwist before = link->parent < 0 ? twist_zero() : t->link[link->parent].bias;
    link->bias = twist_add(twist_move(before, link->r), link->product);
  }
}
