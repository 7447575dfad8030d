#include "oracle/dynamics_model.h"

#include <stdlib.h>
#include <string.h>

#include "support/check.h"

HandModel* hand_create(void) {
  HandModel* h = calloc(1, sizeof *h);
  assert_non_null(h);
  h->model = (abModel){.name = "hand",
                       .gravity = {0, 0, -9.81},
                       .timestep = 1e-3,
                       .contact = "none",
                       .nbody = 1,
                       .extent = 1,
                       .body = h->body,
                       .joint = h->joint,
                       .actuator = h->actuator,
                       .mover = h->mover,
                       .q0 = h->q0,
                       .dof_joint = h->dof_joint,
                       .dof_damping = h->dof_damping,
                       .dof_armature = h->dof_armature};
  h->body[0] = (abBody){
      .name = "world", .mover = -1, .pose = {{0, 0, 0}, {1, 0, 0, 0}}, .inertia_q = {1, 0, 0, 0}};
  return h;
}

void hand_free(HandModel* h) { free(h); }

abBody* hand_body(HandModel* h, int parent) {
  int b = h->model.nbody++;
  assert_true(b < MODEL_MAX);
  h->body[b] = (abBody){.name = "body",
                        .parent = parent,
                        .joint0 = h->model.njoint,
                        .pose = {{0, 0, 0}, {1, 0, 0, 0}},
                        .mass = 1,
                        .inertia_q = {1, 0, 0, 0},
                        .inertia = {1, 1, 1},
                        .gravity = true};
  return &h->body[b];
}

abJoint* hand_joint(HandModel* h, abJointType type) {
  int j = h->model.njoint++, b = h->model.nbody - 1;
  assert_true(j < MODEL_MAX);
  h->body[b].njoint++;
  h->joint[j] = (abJoint){.name = "joint", .type = type, .body = b, .axis = {0, 0, 1}};
  return &h->joint[j];
}

abActuator* hand_motor(HandModel* h, int joint) {
  abActuator* a = &h->actuator[h->model.nactuator++];
  *a = (abActuator){.name = "motor", .joint = joint, .gear = {1}, .gainprm = {1}};
  return a;
}

static void number_joint(HandModel* h, int j) {
  abModel* m = &h->model;
  abJoint* joint = &h->joint[j];
  joint->q0 = m->nq;
  joint->v0 = m->nv;
  double* q = h->q0 + m->nq;
  int nq = 1, nv = 1;
  if (joint->type == AB_JOINT_FREE) {
    abPose p = h->body[joint->body].pose;
    memcpy(q, (double[7]){p.p.x, p.p.y, p.p.z, p.q.w, p.q.x, p.q.y, p.q.z}, 7 * sizeof(double));
    nq = 7, nv = 6;
  } else if (joint->type == AB_JOINT_BALL) {
    memcpy(q, (double[4]){1, 0, 0, 0}, 4 * sizeof(double));
    nq = 4, nv = 3;
  } else {
    q[0] = joint->ref;
  }
  for (int i = 0; i < nv; i++) {
    h->dof_joint[m->nv + i] = j;
    h->dof_damping[m->nv + i] = joint->damping;
    h->dof_armature[m->nv + i] = joint->armature;
  }
  m->nq += nq;
  m->nv += nv;
}

static bool plain_free(const HandModel* h, int b) {
  const abJoint* j = &h->joint[h->body[b].joint0];
  return h->body[b].njoint == 1 && j->type == AB_JOINT_FREE && j->stiffness == 0 &&
         j->damping == 0 && j->armature == 0 && j->frictionloss == 0;
}

const abModel* hand_finish(HandModel* h) {
  abModel* m = &h->model;
  m->nq = m->nv = m->nmover = 0;
  for (int b = 1; b < m->nbody; b++) {
    abBody* body = &h->body[b];
    const abBody* parent = &h->body[body->parent];
    body->dof0 = m->nv;
    for (int j = body->joint0; j < body->joint0 + body->njoint; j++) number_joint(h, j);
    body->ndof = m->nv - body->dof0;
    body->weld = body->njoint ? b : parent->weld;
    body->mover = parent->mover;
    if (body->mover < 0 && body->njoint) {
      body->mover = m->nmover++;
      h->mover[body->mover] =
          (abMover){.body0 = b, .dof0 = body->dof0, .jointed = !plain_free(h, b)};
    }
    if (body->mover < 0) continue;
    abMover* mover = &h->mover[body->mover];
    mover->nbody++;
    mover->ndof += body->ndof;
    if (mover->nbody > 1) mover->jointed = true;
    m->total_mass += body->mass;
  }
  return m;
}

abData* hand_data(const abModel* model) {
  abError error = {0};
  abData* data = ab_data_create(model, &error);
  if (!data) fail_msg("%s", error.message);
  return data;
}
