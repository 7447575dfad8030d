// The meaning of MJCF's joints, springs, dampers, armatures and actuators, checked against MuJoCo's
// accelerations in random states of random trees.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/free_motion.h"
#include "math/spatial.h"
#include "oracle/dynamics_model.h"
#include "support/check.h"
#include "support/random_motion.h"

#ifdef ABUT_HAVE_MUJOCO
#include <mujoco/mujoco.h>

typedef struct Text {
  char c[100000];
  size_t used;
} Text;

#define ADD(t, ...) \
  (t)->used += (size_t)snprintf((t)->c + (t)->used, sizeof(t)->c - (t)->used, __VA_ARGS__)

static void write_joint(Text* t, const abJoint* j, int index) {
  static const char* type[] = {"free", "ball", "slide", "hinge"};
  ADD(t, "<joint name='j%d' type='%s' stiffness='%.17g' damping='%.17g' armature='%.17g'", index,
      type[j->type], j->stiffness, j->damping, j->armature);
  if (j->type != AB_JOINT_FREE) ADD(t, " pos='%.17g %.17g %.17g'", j->pos.x, j->pos.y, j->pos.z);
  if (j->type == AB_JOINT_HINGE || j->type == AB_JOINT_SLIDE)
    ADD(t, " axis='%.17g %.17g %.17g' ref='%.17g' springref='%.17g'", j->axis.x, j->axis.y,
        j->axis.z, j->ref, j->springref);
  ADD(t, "/>");
}

static void write_body(Text* t, const abModel* m, int b) {
  const abBody* body = &m->body[b];
  abPose p = body->pose;
  abQuat i = body->inertia_q;
  ADD(t, "<body pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'>", p.p.x, p.p.y, p.p.z,
      p.q.w, p.q.x, p.q.y, p.q.z);
  ADD(t, "<inertial mass='%.17g' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'",
      body->mass, body->com.x, body->com.y, body->com.z, i.w, i.x, i.y, i.z);
  ADD(t, " diaginertia='%.17g %.17g %.17g'/>", body->inertia.x, body->inertia.y, body->inertia.z);
  for (int j = body->joint0; j < body->joint0 + body->njoint; j++) write_joint(t, &m->joint[j], j);
  for (int c = b + 1; c < m->nbody; c++)
    if (m->body[c].parent == b) write_body(t, m, c);
  ADD(t, "</body>");
}

static void write_actuator(Text* t, const abActuator* a) {
  ADD(t, "<general joint='j%d' gear='%.17g %.17g %.17g %.17g %.17g %.17g' gainprm='%.17g' ",
      a->joint, a->gear[0], a->gear[1], a->gear[2], a->gear[3], a->gear[4], a->gear[5],
      a->gainprm[0]);
  ADD(t,
      "biastype='affine' biasprm='%.17g %.17g %.17g' forcelimited='%s' forcerange='%.17g %.17g'/>",
      a->biasprm[0], a->biasprm[1], a->biasprm[2], a->force_limited ? "true" : "false",
      a->force_range[0], a->force_range[1]);
}

static mjModel* peer_model(const abModel* m) {
  static Text text;
  char error[500];
  text.used = 0;
  ADD(&text, "<mujoco><compiler angle='radian' inertiafromgeom='false'/><worldbody>");
  write_body(&text, m, 1);
  ADD(&text, "</worldbody><actuator>");
  for (int a = 0; a < m->nactuator; a++) write_actuator(&text, &m->actuator[a]);
  ADD(&text, "</actuator></mujoco>");
  mjVFS* vfs = malloc(sizeof *vfs);
  mj_defaultVFS(vfs);
  mj_makeEmptyFileVFS(vfs, "tree.xml", (int)text.used);
  memcpy(vfs->filedata[0], text.c, text.used);
  mjModel* model = mj_loadXML("tree.xml", vfs, error, sizeof error);
  mj_deleteVFS(vfs);
  free(vfs);
  if (!model) fail_msg("%s", error);
  return model;
}

static void random_joint(HandModel* hand, Random* r, abJointType type) {
  abJoint* j = hand_joint(hand, type);
  bool free_joint = type == AB_JOINT_FREE,
       scalar = type == AB_JOINT_HINGE || type == AB_JOINT_SLIDE;
  if (!free_joint) j->pos = random_vec(r, 0.3);
  if (scalar) {
    j->axis = random_direction(r);
    j->ref = random_uniform(r, -1, 1);
    j->springref = random_uniform(r, -1, 1);
  }
  j->stiffness = random_uniform(r, 0, 20);
  j->damping = random_uniform(r, 0, 2);
  j->armature = random_uniform(r, 0.05, 0.3);
  if (random_below(r, 2)) return;
  abActuator* a = hand_motor(hand, hand->model.njoint - 1);
  for (int k = 0; k < 6; k++) a->gear[k] = random_uniform(r, -1, 1);
  a->bias = AB_BIAS_AFFINE;
  a->gainprm[0] = random_uniform(r, -5, 5);
  for (int k = 0; k < 3; k++) a->biasprm[k] = random_uniform(r, -2, 0);
  a->force_limited = random_below(r, 2);
  a->force_range[0] = -1, a->force_range[1] = 2;
}

static HandModel* random_tree(Random* r) {
  static const abJointType kind[] = {AB_JOINT_HINGE, AB_JOINT_SLIDE, AB_JOINT_BALL};
  HandModel* hand = hand_create();
  int nbody = 1 + random_below(r, 7);
  for (int b = 1; b <= nbody; b++) {
    int parent = b - 1;
    while (parent > 1 && random_below(r, 3) == 0) parent = hand->body[parent].parent;
    abBody* body = hand_body(hand, parent);
    body->pose = (abPose){random_vec(r, 0.5), random_rotation(r)};
    body->mass = exp(random_uniform(r, -1, 1));
    body->com = random_vec(r, 0.2);
    body->inertia_q = random_rotation(r);
    body->inertia = v3(0.1, 0.08, random_uniform(r, 0.03, 0.17));
    int n = b == 1 ? 1 + random_below(r, 2) : random_below(r, 4);
    if (b == 1 && random_below(r, 2))
      random_joint(hand, r, AB_JOINT_FREE);
    else
      // MuJoCo refuses a ball that another rotation follows
      for (int k = 0; k < n; k++) random_joint(hand, r, kind[random_below(r, k < n - 1 ? 2 : 3)]);
  }
  hand_finish(hand);
  return hand;
}

static void random_state(const abModel* m, Random* r, abData* data) {
  random_motion(m, r, data);
  for (int i = 0; i < m->nactuator; i++) data->ctrl[i] = random_uniform(r, -1, 1);
  for (int b = 1; b < m->nbody; b++)
    data->applied[b] = (abWrench){random_vec(r, 2), random_vec(r, 1)};
}

// MuJoCo's free joint: velocity of the frame's origin, angular velocity in body axes. rate: the
// same for accelerations, which have the centripetal term of the origin, too.
static void to_peer(const abModel* m, const abData* data, const double* x, bool rate, double* out) {
  memcpy(out, x, sizeof(double) * (size_t)m->nv);
  if (m->joint[0].type != AB_JOINT_FREE) return;
  abVec3 c = v3_sub(data->com[1], data->pose[1].p), w = data->twist[1].ang;
  abTwist t = twist_from_array(x);
  abVec3 o = v3_sub(t.lin, v3_cross(t.ang, c));
  if (rate) o = v3_sub(o, v3_cross(w, v3_cross(w, c)));
  twist_to_array((abTwist){o, m3_apply_t(&data->R[1], t.ang)}, out);
}

static void accelerations_are_mujoco_s(void** state) {
  (void)state;
  Random r = {21};
  for (int trial = 0; trial < 60; trial++) {
    HandModel* hand = random_tree(&r);
    const abModel* model = &hand->model;
    abData* data = hand_data(model);
    mjModel* peer = peer_model(model);
    mjData* pd = mj_makeData(peer);
    assert_int_equal(peer->nq, model->nq);
    assert_int_equal(peer->nv, model->nv);
    random_state(model, &r, data);
    // Short enough that what is implicit does not matter: h d / m < 1e-5; long enough that the
    // difference of velocities has ten digits.
    data->h = 1e-7;
    ab_forward(model, data);
    ab_free_motion(model, data);
    memcpy(pd->qpos, data->q, sizeof(double) * (size_t)model->nq);
    to_peer(model, data, data->v, false, pd->qvel);
    memcpy(pd->ctrl, data->ctrl, sizeof(double) * (size_t)model->nactuator);
    for (int b = 1; b < model->nbody; b++) {
      double x[6];
      wrench_to_array(data->applied[b], x);
      memcpy(pd->xfrc_applied + 6 * b, x, sizeof x);
    }
    mj_forward(peer, pd);
    double a[64], expected[64], scale = 1;
    for (int i = 0; i < model->nv; i++) a[i] = (data->v_free[i] - data->v[i]) / data->h;
    to_peer(model, data, a, true, expected);
    for (int i = 0; i < model->nv; i++) scale = fmax(scale, fabs(pd->qacc[i]));
    for (int i = 0; i < model->nv; i++) check_near(expected[i], pd->qacc[i], 1e-5 * scale);
    for (int b = 1; b < model->nbody; b++) {
      const double* p = pd->xipos + 3 * b;
      check_vec_near(data->com[b], v3(p[0], p[1], p[2]), 1e-12);
    }
    // ours is that of the end of the step: other by the damping (up to 2, six gears) times h a
    for (int i = 0; i < model->nactuator; i++)
      check_near(data->actuator_force[i], pd->actuator_force[i], 12 * data->h * scale);
    mj_deleteData(pd);
    mj_deleteModel(peer);
    ab_data_free(data);
    hand_free(hand);
  }
}
#else
static void accelerations_are_mujoco_s(void** state) {
  (void)state;
  print_message("MuJoCo is not installed: nothing to compare with\n");
  skip();
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(accelerations_are_mujoco_s)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
