// Joint trees: forward dynamics and response against slow references, on random trees with every
// kind of joint, several per body, welded bodies, and fixed or floating roots.
#include <stdlib.h>
#include <string.h>

#include "branch.h"
#include "dynamics/free_motion.h"
#include "dynamics/response.h"
#include "internal.h"
#include "math/spatial.h"
#include "oracle/dynamics_model.h"
#include "oracle/dynamics_tree.h"
#include "support/check.h"
#include "support/random.h"

static void random_body(HandModel* hand, Random* r, int parent) {
  abBody* body = hand_body(hand, parent);
  body->pose = (abPose){random_vec(r, 0.5), random_rotation(r)};
  body->mass = exp(random_uniform(r, -1.5, 1.5));
  body->com = random_vec(r, 0.2);
  body->inertia_q = random_rotation(r);
  double a = random_uniform(r, 0.05, 0.2), b = random_uniform(r, 0.05, 0.2);
  body->inertia = v3_scale(body->mass, v3(a, b, random_uniform(r, 0.6, 0.95) * (a + b)));
  body->gravity = random_below(r, 5) > 0;
}

// alone: the only joint of its body. Several in a row may move the body in the same way, and then
// only armature keeps the inertia from being singular.
static void random_joint(HandModel* hand, Random* r, bool alone) {
  abJointType type[] = {AB_JOINT_HINGE, AB_JOINT_SLIDE, AB_JOINT_BALL, AB_JOINT_HINGE};
  abJoint* joint = hand_joint(hand, type[random_below(r, 4)]);
  joint->pos = random_vec(r, 0.3);
  joint->axis = random_direction(r);
  joint->ref = joint->type == AB_JOINT_BALL ? 0 : random_uniform(r, -1, 1);
  joint->armature = alone && random_below(r, 2) ? 0 : random_uniform(r, 0.1, 0.3);
}

// Bodies in depth-first order: each new one hangs on the last body or on one of its ancestors.
static HandModel* random_tree(Random* r, int nbody) {
  HandModel* hand = hand_create();
  int last = 0;
  for (int b = 1; b <= nbody; b++) {
    int parent = last;
    while (parent > 1 && random_below(r, 3) == 0) parent = hand->body[parent].parent;
    random_body(hand, r, b == 1 ? 0 : parent);
    int n = random_below(r, 4);
    if (b == 1 && random_below(r, 2))
      hand_joint(hand, AB_JOINT_FREE);
    else
      for (int k = 0; k < (b == 1 && n == 0 ? 1 : n); k++) random_joint(hand, r, n <= 1);
    last = b;
  }
  hand_finish(hand);
  return hand;
}

static abData* random_state(const abModel* model, Random* r) {
  abData* data = hand_data(model);
  for (int j = 0; j < model->njoint; j++) {
    const abJoint* joint = &model->joint[j];
    double* q = data->q + joint->q0;
    int quat = joint->type == AB_JOINT_FREE ? 3 : 0;
    if (joint->type == AB_JOINT_FREE)
      for (int i = 0; i < 3; i++) q[i] = random_uniform(r, -1, 1);
    if (joint->type == AB_JOINT_FREE || joint->type == AB_JOINT_BALL) {
      abQuat a = random_rotation(r);
      memcpy(q + quat, (double[4]){a.w, a.x, a.y, a.z}, 4 * sizeof(double));
    } else {
      q[0] = random_uniform(r, -2, 2);
    }
  }
  for (int i = 0; i < model->nv; i++) data->v[i] = random_uniform(r, -2, 2);
  for (int b = 1; b < model->nbody; b++)
    data->applied[b] = (abWrench){random_vec(r, 3), random_vec(r, 1)};
  ab_forward(model, data);
  ab_free_motion(model, data);
  ab_response_update(model, data);
  return data;
}

static double largest(int n, const double* x) {
  double m = 0;
  for (int i = 0; i < n; i++) m = fmax(m, fabs(x[i]));
  return m;
}

static void accelerations_follow_d_alembert(void** state) {
  (void)state;
  Random r = {1};
  for (int trial = 0; trial < 60; trial++) {
    HandModel* hand = random_tree(&r, 1 + random_below(&r, 9));
    const abModel* model = &hand->model;
    // so short that the step's own second order does not show
    hand->model.timestep = 1e-8;
    abData* data = random_state(model, &r);
    if (model->mover[0].jointed) {
      double* expected = malloc(sizeof(double) * (size_t)model->nv);
      oracle_acceleration(model, data->q, data->v, data->applied, NULL, expected);
      double scale = largest(model->nv, expected);
      // the reference's second differences are good to about 1e-9 of the largest acceleration times
      // the condition of the inertia, which is 1e2 to 1e4 here
      for (int i = 0; i < model->nv; i++)
        check_near((data->v_free[i] - data->v[i]) / data->h, expected[i], 1e-6 * scale);
      free(expected);
    }
    ab_data_free(data);
    hand_free(hand);
  }
}

// Composite inertias against positions alone (finite differences: 1e-9).
static void inertia_matches_the_jacobians(void** state) {
  (void)state;
  Random r = {2};
  for (int trial = 0; trial < 40; trial++) {
    HandModel* hand = random_tree(&r, 1 + random_below(&r, 9));
    const abModel* model = &hand->model;
    abData* data = random_state(model, &r);
    int nv = model->nv;
    double* M = malloc(sizeof(double) * (size_t)(nv * nv));
    double* expected = malloc(sizeof(double) * (size_t)(nv * nv));
    ab_response_inertia(&data->internal->response, 0, M);
    oracle_inertia(model, data->q, expected);
    for (int i = 0; i < nv; i++) expected[i * nv + i] += model->dof_armature[i];
    double scale = largest(nv * nv, expected);
    for (int i = 0; i < nv * nv; i++) check_near(M[i], expected[i], 1e-8 * scale);
    free(M);
    free(expected);
    ab_data_free(data);
    hand_free(hand);
  }
}

// M^-1 J^T f by dense Cholesky.
static void dense_response(const abModel* model, const abData* data, int body, abWrench f,
                           double* dv) {
  int nv = model->nv;
  double* M = malloc(sizeof(double) * (size_t)(nv * nv));
  double* J = malloc(sizeof(double) * (size_t)(6 * nv));
  double x[6];
  wrench_to_array(f, x);
  ab_response_inertia(&data->internal->response, 0, M);
  ab_response_jacobian(&data->internal->response, body, J);
  for (int k = 0; k < nv; k++) {
    dv[k] = 0;
    for (int i = 0; i < 6; i++) dv[k] += J[i * nv + k] * x[i];
  }
  dense_cholesky(nv, M, 0);
  dense_cholesky_solve(nv, M, dv);
  free(M);
  free(J);
}

static void impulses_act_as_the_dense_inverse(void** state) {
  (void)state;
  Random r = {3};
  for (int trial = 0; trial < 60; trial++) {
    HandModel* hand = random_tree(&r, 1 + random_below(&r, 12));
    const abModel* model = &hand->model;
    abData* data = random_state(model, &r);
    int nv = model->nv;
    double* expected = malloc(sizeof(double) * (size_t)nv);
    double* dv = calloc((size_t)nv, sizeof(double));
    int a = 1 + random_below(&r, model->nbody - 1), b = 1 + random_below(&r, model->nbody - 1);
    abWrench f = {random_vec(&r, 1), random_vec(&r, 1)};
    dense_response(model, data, b, f, expected);
    ab_response_apply(&data->internal->response, b, f, dv);
    double scale = largest(nv, expected);
    for (int i = 0; i < nv; i++) check_near(dv[i], expected[i], 1e-10 * scale);

    abMat6 block, back;
    ab_response_block(&data->internal->response, a, b, &block);
    ab_response_block(&data->internal->response, b, a, &back);
    double x[6], y[6], z[6];
    wrench_to_array(f, x);
    m6_apply(&block, x, y);
    twist_to_array(ab_response_twist(&data->internal->response, expected, a), z);
    double size = largest(6, z) + scale;
    for (int i = 0; i < 6; i++) check_near(y[i], z[i], 1e-10 * size);
    for (int i = 0; i < 36; i++)
      check_near(block.m[i / 6][i % 6], back.m[i % 6][i / 6], 1e-10 * (1 + size));
    free(expected);
    free(dv);
    ab_data_free(data);
    hand_free(hand);
  }
}

// The columns of one body, the response along three axes between two of its points and those of
// another, and the inverse of the inertia.
static void branches_answer_as_the_whole_tree(void** state) {
  (void)state;
  Random r = {7};
  for (int trial = 0; trial < 60; trial++) {
    HandModel* hand = random_tree(&r, 1 + random_below(&r, 12));
    const abModel* model = &hand->model;
    abData* data = random_state(model, &r);
    const abResponse* response = &data->internal->response;
    if (!model->mover[0].jointed) {  // a free body alone is no tree
      ab_data_free(data);
      hand_free(hand);
      continue;
    }
    int nv = model->nv, a = 1 + random_below(&r, model->nbody - 1),
        b = 1 + random_below(&r, model->nbody - 1);
    double* J = malloc(sizeof(double) * 6 * (size_t)nv);
    double* M = malloc(sizeof(double) * (size_t)(nv * nv));
    double* x = malloc(sizeof(double) * (size_t)nv);
    double(*column)[6] = malloc(sizeof *column * (size_t)nv);
    int* at = malloc(sizeof(int) * (size_t)nv);
    ab_response_jacobian(response, a, J);
    int n = ab_response_branch(response, a, at, column);
    for (int j = 0, k = 0; j < nv; j++) {
      bool own = k < n && at[k] == j;
      for (int i = 0; i < 6; i++) check_near(own ? column[k][i] : 0, J[i * nv + j], 0);
      k += own;
    }

    abVec3 ra = random_vec(&r, 0.3), rb = random_vec(&r, 0.3);
    abVec3 axis[3] = {random_direction(&r), random_direction(&r), random_direction(&r)};
    abMat6 block;
    double part[3];
    ab_response_block(response, a, b, &block);
    ab_response_along(response, a, b, ra, rb, axis, part);
    for (int i = 0; i < 3; i++) {
      abTwist t = m6_apply_wrench(&block, wrench_of_force(rb, axis[i]));
      double size = 10 * largest(36, &block.m[0][0]);  // of the terms: levers are below 1
      check_near(part[i], v3_dot(axis[i], twist_at(t, ra)), 1e-13 * size);
    }

    ab_response_inertia(response, 0, M);
    for (int i = 0; i < nv; i++) x[i] = random_uniform(&r, -1, 1);
    double* y = calloc((size_t)nv, sizeof(double));
    for (int i = 0; i < nv; i++)
      for (int j = 0; j < nv; j++) y[i] += M[i * nv + j] * x[j];
    ab_response_solve(response, 0, y);
    for (int i = 0; i < nv; i++) check_near(y[i], x[i], 1e-9);  // conditions of some 1e5
    free(J), free(M), free(x), free(y), free(column), free(at);
    ab_data_free(data);
    hand_free(hand);
  }
}

static void jacobian_and_twist_agree_with_positions(void** state) {
  (void)state;
  Random r = {4};
  for (int trial = 0; trial < 30; trial++) {
    HandModel* hand = random_tree(&r, 1 + random_below(&r, 9));
    const abModel* model = &hand->model;
    abData* data = random_state(model, &r);
    int nv = model->nv;
    double* expected = malloc(sizeof(double) * (size_t)(6 * nv * model->nbody));
    double* J = malloc(sizeof(double) * (size_t)(6 * nv));
    oracle_jacobian(model, data->q, expected);
    for (int b = 1; b < model->nbody; b++) {
      ab_response_jacobian(&data->internal->response, b, J);
      for (int i = 0; i < 6 * nv; i++) check_near(J[i], expected[6 * b * nv + i], 1e-9);
      abTwist t = ab_response_twist(&data->internal->response, data->v, b);
      check_vec_near(t.lin, data->twist[b].lin, 1e-12 * (1 + v3_norm(t.lin)));
      check_vec_near(t.ang, data->twist[b].ang, 1e-12 * (1 + v3_norm(t.ang)));
    }
    free(expected);
    free(J);
    ab_data_free(data);
    hand_free(hand);
  }
}

// The response is the inverse of the inertia also where springs, dampers, servos, limits and
// friction are a part of it.
static void implicit_terms_are_part_of_the_response(void** state) {
  (void)state;
  Random r = {5};
  for (int trial = 0; trial < 40; trial++) {
    HandModel* hand = random_tree(&r, 2 + random_below(&r, 6));
    for (int j = 0; j < hand->model.njoint; j++) {
      abJoint* joint = &hand->joint[j];
      joint->damping = random_uniform(&r, 0, 10);
      joint->stiffness = random_uniform(&r, 0, 100);
      joint->frictionloss = random_below(&r, 2) ? random_uniform(&r, 0, 30) : 0;
      joint->limited = random_below(&r, 2);
      joint->range[0] = -0.5, joint->range[1] = 0.5;
      if (random_below(&r, 2) == 0) continue;
      abActuator* a = hand_motor(hand, j);
      for (int k = 0; k < 6; k++) a->gear[k] = random_uniform(&r, -1, 1);
      a->bias = AB_BIAS_AFFINE;
      a->biasprm[1] = -500, a->biasprm[2] = -20;
      a->force_limited = random_below(&r, 2);
      a->force_range[0] = -20, a->force_range[1] = 20;
    }
    const abModel* model = hand_finish(hand);
    abData* data = random_state(model, &r);
    int nv = model->nv, b = 1 + random_below(&r, model->nbody - 1);
    double* expected = malloc(sizeof(double) * (size_t)nv);
    double* dv = calloc((size_t)nv, sizeof(double));
    abWrench f = {random_vec(&r, 1), random_vec(&r, 1)};
    dense_response(model, data, b, f, expected);
    ab_response_apply(&data->internal->response, b, f, dv);
    double scale = largest(nv, expected);
    // stiff bounds widen the spread of the inertia to 1e6 and more
    for (int i = 0; i < nv; i++) check_near(dv[i], expected[i], 1e-8 * scale);
    free(expected);
    free(dv);
    ab_data_free(data);
    hand_free(hand);
  }
}

// A free body and the same body as a tree of one link (its free joint has a negligible armature)
// see the same impulses.
static void a_tree_of_one_link_is_a_free_body(void** state) {
  (void)state;
  Random r = {6};
  HandModel* hand = hand_create();
  for (int k = 0; k < 2; k++) {
    Random same = r;
    random_body(hand, &same, 0);
    hand_joint(hand, AB_JOINT_FREE)->armature = k ? 1e-300 : 0;
  }
  const abModel* model = hand_finish(hand);
  assert_false(model->mover[0].jointed);
  assert_true(model->mover[1].jointed);
  abData* data = random_state(model, &r);
  memcpy(data->q + 7, data->q, 7 * sizeof(double));
  ab_forward(model, data);
  ab_free_motion(model, data);
  ab_response_update(model, data);
  abMat6 a, b;
  ab_response_block(&data->internal->response, 1, 1, &a);
  ab_response_block(&data->internal->response, 2, 2, &b);
  for (int i = 0; i < 36; i++)
    check_near(b.m[i / 6][i % 6], a.m[i / 6][i % 6], 1e-12 * largest(36, &a.m[0][0]));
  ab_response_block(&data->internal->response, 1, 2, &b);
  for (int i = 0; i < 36; i++) check_near(b.m[i / 6][i % 6], 0, 0);
  ab_data_free(data);
  hand_free(hand);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accelerations_follow_d_alembert),
      cmocka_unit_test(inertia_matches_the_jacobians),
      cmocka_unit_test(impulses_act_as_the_dense_inverse),
      cmocka_unit_test(branches_answer_as_the_whole_tree),
      cmocka_unit_test(jacobian_and_twist_agree_with_positions),
      cmocka_unit_test(implicit_terms_are_part_of_the_response),
      cmocka_unit_test(a_tree_of_one_link_is_a_free_body),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
