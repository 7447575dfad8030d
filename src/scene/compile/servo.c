// Damping ratios. A position servo with gain kp on something of effective mass m is an oscillator
//   m x'' = -kp x - kv x';   kv = 2 r sqrt(kp m) gives it the damping ratio r.
// The effective mass is that of the actuator's own direction in the initial pose,
//   1 / m = J M^-1 J^T,
// J the moment arms (force on each velocity per unit of the actuator's force), M the inertia of the
// velocities, armatures of joints and tendons included. As in MuJoCo, a tendon's armature couples
// no joints of different branches here, so that only the movers that J reaches enter M.
// Tests: test_compile.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "math/rotation.h"
#include "math/spatial.h"
#include "scene/compile/compile.h"

#define MAX_ROW 5000  // M is dense: 200 MB, a minute

typedef struct Servo {
  abCompiler* c;
  bool* reached;     // per mover
  int n;             // velocities of the reached movers
  int *place, *dof;  // velocity -> row (-1: none), row -> velocity
  abTwist* motion;   // per velocity: twist of what it moves, at the world's origin
  double *J, *M, *y;
} Servo;

// --- kinematics at q0 ---

// The twist at the world's origin of a turn about `axis` through `point`.
static abTwist turn(abVec3 point, abVec3 axis) { return (abTwist){v3_cross(point, axis), axis}; }

// The velocities of free joints are here those MJCF gears them by: translation in the world's axes,
// turn in the body's axes about its origin.
static void fill_motion(const abCompiler* c, abTwist* motion) {
  for (int i = 0; i < c->model.njoint; i++) {
    const abJoint* j = &c->joint[i];
    abPose pose = c->pose[j->body];
    abVec3 anchor = pose_apply(pose, j->pos), axis = quat_rotate(pose.q, j->axis);
    abTwist* out = motion + j->v0;
    if (j->type == AB_JOINT_SLIDE) out[0] = (abTwist){axis, v3_zero()};
    if (j->type == AB_JOINT_HINGE) out[0] = turn(anchor, axis);
    if (j->type == AB_JOINT_SLIDE || j->type == AB_JOINT_HINGE) continue;
    bool free = j->type == AB_JOINT_FREE;
    for (int k = 0; k < 3; k++) {
      abVec3 unit = v3(k == 0, k == 1, k == 2);
      if (free) out[k] = (abTwist){unit, v3_zero()};
      out[free ? k + 3 : k] = turn(free ? pose.p : anchor, quat_rotate(pose.q, unit));
    }
  }
}

// --- moment arms ---

static void add_site(const Servo* s, int site, abWrench w, double* J) {
  const abCompiler* c = s->c;
  for (int b = c->model.site[site].body; b; b = c->body[b].parent)
    for (int k = c->body[b].dof0; k < c->body[b].dof0 + c->body[b].ndof; k++)
      J[k] += twist_power(s->motion[k], w);
}

// The wrench of gear in the axes of `axes`, at the site's place, moved to the world's origin.
static abWrench gear_wrench(const abCompiler* c, const double g[6], int site, int axes) {
  const abSite *a = &c->model.site[site], *b = &c->model.site[axes];
  abVec3 p = pose_apply(c->pose[a->body], a->pose.p);
  abQuat q = quat_mul(c->pose[b->body].q, b->pose.q);
  abVec3 f = quat_rotate(q, v3(g[0], g[1], g[2])), t = quat_rotate(q, v3(g[3], g[4], g[5]));
  return (abWrench){f, v3_add(t, v3_cross(p, f))};
}

// Velocities that move both sites do not change the place of one relative to the other.
static void drop_common(const abCompiler* c, int body1, int body2, double* J) {
  int a = body1, b = body2;
  while (a != b)  // bodies stand behind their parents
    if (a > b)
      a = c->body[a].parent;
    else
      b = c->body[b].parent;
  for (; a; a = c->body[a].parent)
    memset(J + c->body[a].dof0, 0, sizeof(double) * (size_t)c->body[a].ndof);
}

static void moment_arms(const Servo* s, const abActuator* a, double* J) {
  const abCompiler* c = s->c;
  memset(J, 0, sizeof(double) * (size_t)c->model.nv);
  if (a->drive == AB_DRIVE_JOINT) {
    const abJoint* j = &c->joint[a->joint];
    for (int k = 0; k < ab_velocities_of(j->type); k++) J[j->v0 + k] = a->gear[k];
  } else if (a->drive == AB_DRIVE_TENDON) {
    const abTendon* t = &c->model.tendon[a->tendon];
    for (int k = t->joint0; k < t->joint0 + t->njoint; k++)
      J[c->joint[c->model.tendon_joint[k].joint].v0] += a->gear[0] * c->model.tendon_joint[k].coef;
  } else {
    int axes = a->refsite >= 0 ? a->refsite : a->site;
    abWrench w = gear_wrench(c, a->gear, a->site, axes);
    add_site(s, a->site, w, J);
    if (a->refsite < 0) return;
    add_site(s, a->refsite, wrench_neg(gear_wrench(c, a->gear, a->refsite, axes)), J);
    drop_common(c, c->model.site[a->site].body, c->model.site[a->refsite].body, J);
  }
}

// --- inertia ---

static int mover_of_joint(const abCompiler* c, int joint) {
  return c->body[c->joint[joint].body].mover;
}

static void choose_rows(Servo* s) {
  const abModel* m = &s->c->model;
  memset(s->reached, 0, sizeof(bool) * (size_t)m->nmover);
  for (int k = 0; k < m->nv; k++)
    if (s->J[k] != 0) s->reached[mover_of_joint(s->c, m->dof_joint[k])] = true;
  s->n = 0;
  for (int k = 0; k < m->nv; k++) {
    s->place[k] = s->reached[mover_of_joint(s->c, m->dof_joint[k])] ? s->n : -1;
    if (s->place[k] >= 0) s->dof[s->n++] = k;
  }
}

// The share of one body in M: m v_i . v_k + w_i . I w_k over the velocities that move it.
static void add_body(const Servo* s, int body) {
  const abCompiler* c = s->c;
  const abBody* b = &c->body[body];
  abVec3 com = pose_apply(c->pose[body], b->com);
  abMat3 R = quat_matrix(quat_mul(c->pose[body].q, b->inertia_q));
  abMat3 I = m3_congruent_diag(&R, b->inertia);
  for (int p = body; p; p = c->body[p].parent)
    for (int i = c->body[p].dof0; i < c->body[p].dof0 + c->body[p].ndof; i++) {
      abVec3 v = twist_at(s->motion[i], com), L = m3_apply(&I, s->motion[i].ang);
      for (int r = body; r; r = c->body[r].parent)
        for (int k = c->body[r].dof0; k < c->body[r].dof0 + c->body[r].ndof; k++)
          s->M[s->place[i] * s->n + s->place[k]] +=
              b->mass * v3_dot(v, twist_at(s->motion[k], com)) + v3_dot(L, s->motion[k].ang);
    }
}

// Whether one of the two joints carries the other.
static bool on_one_branch(const abCompiler* c, int joint1, int joint2) {
  int a = c->joint[joint1].body, b = c->joint[joint2].body;
  int above = a < b ? a : b, below = a < b ? b : a;  // bodies stand behind their parents
  while (below > above) below = c->body[below].parent;
  return below == above;
}

static void add_armature(const Servo* s) {
  const abModel* m = &s->c->model;
  for (int r = 0; r < s->n; r++) s->M[r * s->n + r] += m->dof_armature[s->dof[r]];
  for (int i = 0; i < m->ntendon; i++) {
    const abTendon* t = &m->tendon[i];
    const abTendonJoint* entry = m->tendon_joint + t->joint0;
    for (int k = 0; k < t->njoint; k++)
      for (int l = 0; l < t->njoint; l++) {
        int r = s->place[s->c->joint[entry[k].joint].v0];
        int q = s->place[s->c->joint[entry[l].joint].v0];
        if (r >= 0 && on_one_branch(s->c, entry[k].joint, entry[l].joint))
          s->M[r * s->n + q] += t->armature * entry[k].coef * entry[l].coef;
      }
  }
}

// J M^-1 J^T by M = L L^T: the squared length of L^-1 J. Negative where M is not definite.
static double compliance(const Servo* s) {
  int n = s->n;
  double *M = s->M, sum = 0;
  for (int i = 0; i < n; i++) {
    double y = s->J[s->dof[i]];
    for (int k = 0; k <= i; k++) {
      double x = M[i * n + k];
      for (int l = 0; l < k; l++) x -= M[i * n + l] * M[k * n + l];
      if (i == k && !(x > 0)) return -1;
      M[i * n + k] = i == k ? sqrt(x) : x / M[k * n + k];
    }
    for (int k = 0; k < i; k++) y -= M[i * n + k] * s->y[k];
    s->y[i] = y / M[i * n + i];
    sum += s->y[i] * s->y[i];
  }
  return sum;
}

static abStatus set_gain(Servo* s, abActuator* a, const abActuatorDef* d) {
  if (a->gainprm[0] == 0) {  // no spring, no damping
    a->biasprm[2] = 0;
    return AB_OK;
  }
  moment_arms(s, a, s->J);
  choose_rows(s);
  if (s->n > MAX_ROW)
    return ab_fail(
        s->c->error, AB_ERROR_UNSUPPORTED, d->source.file, d->source.line,
        "actuator '%s': a damping ratio in a joint tree of more than %d velocities; give "
        "the velocity gain kv instead",
        a->name, MAX_ROW);
  s->M = ab_alloc_zero(sizeof(double) * (size_t)(s->n * s->n + 1));
  if (!s->M) return ab_compile_no_memory(s->c);
  for (int b = 1; b < s->c->model.nbody; b++)
    if (s->c->body[b].mover >= 0 && s->reached[s->c->body[b].mover]) add_body(s, b);
  add_armature(s);
  double w = s->n ? compliance(s) : 0;
  ab_free(s->M);
  if (w < 0)
    return ab_fail(s->c->error, AB_ERROR_SCENE, d->source.file, d->source.line,
                   "actuator '%s': a damping ratio needs something that moves with a mass; give "
                   "the velocity gain kv instead",
                   a->name);
  // what drives nothing needs no damping
  a->biasprm[2] = w > 0 ? -2 * a->biasprm[2] * sqrt(a->gainprm[0] / w) : 0;
  return AB_OK;
}

static bool has_ratio(const abActuator* a) {
  return a->gainprm[0] >= 0 && a->gainprm[0] == -a->biasprm[1] && a->biasprm[2] > 0;
}

abStatus ab_compile_damping_ratios(abCompiler* c, abActuator* actuator) {
  int n = 0;
  for (int i = 0; i < c->model.nactuator; i++) n += has_ratio(&actuator[i]);
  if (n == 0) return AB_OK;
  size_t nv = (size_t)c->model.nv;
  Servo s = {.c = c};
  s.reached = ab_bag_take(&c->bag, (size_t)c->model.nmover * sizeof *s.reached);
  s.place = ab_bag_take(&c->bag, 2 * nv * sizeof *s.place);
  s.motion = ab_bag_take(&c->bag, nv * sizeof *s.motion);
  s.J = ab_bag_take(&c->bag, 2 * nv * sizeof *s.J);
  if (!s.reached || !s.place || !s.motion || !s.J) return ab_compile_no_memory(c);
  s.dof = s.place + nv, s.y = s.J + nv;
  fill_motion(c, s.motion);
  for (int i = 0; i < c->model.nactuator; i++) {
    if (!has_ratio(&actuator[i])) continue;
    abStatus status = set_gain(&s, &actuator[i], &c->scene->actuator.item[i]);
    if (status) return status;
  }
  return AB_OK;
}
