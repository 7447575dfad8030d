// Whether what a step made is a result, and why one broke down. Inputs are looked at only then: a
// number that is not finite cannot pass through a step unseen, and good steps need not pay. Tests:
// test/test_fault.c.
#include "fault.h"

#include <math.h>
#include <stdio.h>

#include "dynamics/kinematics.h"
#include "dynamics/trees.h"
#include "internal.h"
#include "math/spatial.h"

// The first that is not finite, or not below the limit.
static int first_beyond(const double* x, int n, double limit) {
  for (int i = 0; i < n; i++)
    if (!(isfinite(x[i]) && fabs(x[i]) < limit)) return i;
  return -1;
}

static int first_bad(const double* x, int n) { return first_beyond(x, n, INFINITY); }

static int body_of_velocity(const abModel* m, int i) { return m->joint[m->dof_joint[i]].body; }

static int body_of_coordinate(const abModel* m, int i) {
  for (int j = 0; j < m->njoint; j++)
    if (i < m->joint[j].q0) return m->joint[j - 1].body;
  return m->joint[m->njoint - 1].body;
}

static int body_of_actuator(const abModel* m, int i) {
  const abActuator* a = &m->actuator[i];
  if (a->drive == AB_DRIVE_JOINT) return m->joint[a->joint].body;
  return a->drive == AB_DRIVE_SITE ? m->site[a->site].body : -1;
}

static bool blame(abData* data, const char* input, int index, int body) {
  if (index < 0) return false;
  data->stat.cause = AB_CAUSE_INPUT;
  data->stat.bad_input = input;
  data->stat.bad_index = index;
  data->stat.bad_body = body;
  return true;
}

// The arrays of 6, 3 and 4 numbers are counted by their entries.
static bool blame_input(const abModel* m, abData* d) {
  if (!isfinite(d->h)) return blame(d, "h", 0, -1);
  int i = first_beyond(d->q, m->nq, AB_FARTHEST_INPUT);
  if (i >= 0) return blame(d, "q", i, body_of_coordinate(m, i));
  i = first_beyond(d->v, m->nv, AB_FARTHEST_INPUT);
  if (i >= 0) return blame(d, "v", i, body_of_velocity(m, i));
  i = first_bad(d->ctrl, m->nactuator);
  if (i >= 0) return blame(d, "ctrl", i, body_of_actuator(m, i));
  i = first_bad(&d->applied->force.x, 6 * m->nbody);
  if (i >= 0) return blame(d, "applied", i / 6, i / 6);
  i = first_beyond(&d->mocap_pos->x, 3 * m->nmocap, AB_FARTHEST_INPUT);
  if (i >= 0) return blame(d, "mocap_pos", i / 3, m->mocap_body[i / 3]);
  i = first_bad(&d->mocap_quat->w, 4 * m->nmocap);
  return i >= 0 && blame(d, "mocap_quat", i / 4, m->mocap_body[i / 4]);
}

void ab_fault_find(const abModel* model, abData* data, abStatus status, bool exploded) {
  if (status == AB_ERROR_MEMORY)
    data->stat.cause = AB_CAUSE_MEMORY;
  else if (!blame_input(model, data))
    data->stat.cause = exploded                                      ? AB_CAUSE_ENERGY
                       : status == AB_OK || data->stat.bad_body >= 0 ? AB_CAUSE_NOT_FINITE
                                                                     : AB_CAUSE_CONTACT;
}

static const char* body_name(const abModel* model, int body) {
  return body >= 0 && body < model->nbody ? model->body[body].name : "?";
}

const char* ab_step_text(const abModel* model, const abData* data, char* text, size_t size) {
  if (!text || size == 0) return text;
  text[0] = 0;
  if (!model || !data) return text;
  const abStat* s = &data->stat;
  const char* contact = data->contact ? data->contact->name : "none";
  switch (s->cause) {
    case AB_CAUSE_NONE:
      break;
    case AB_CAUSE_CONVERGENCE:
      snprintf(text, size, "the contact model %s stopped at a residual of %.3g after %d iterations",
               contact, s->residual, s->iterations);
      break;
    case AB_CAUSE_MEMORY:
      snprintf(text, size, "there is not enough memory for the step");
      break;
    case AB_CAUSE_INPUT:
      if (s->bad_body >= 0)
        snprintf(text, size, "%s[%d], of body '%s', is not a finite number below 1e60",
                 s->bad_input, s->bad_index, body_name(model, s->bad_body));
      else
        snprintf(text, size, "%s[%d] is not a finite number below 1e60", s->bad_input,
                 s->bad_index);
      break;
    case AB_CAUSE_NOT_FINITE:
      snprintf(text, size, "body '%s' would move beyond all bounds", body_name(model, s->bad_body));
      break;
    case AB_CAUSE_ENERGY:
      snprintf(text, size, "body '%s' would get energy from nowhere",
               body_name(model, s->bad_body));
      break;
    case AB_CAUSE_CONTACT:
      snprintf(text, size, "the contact model %s gave up at a residual of %.3g", contact,
               s->residual);
      break;
  }
  return text;
}

// --- whether the outcome of a step is a result

// Beyond this no velocity that a step makes is a result: m/s or rad/s. Whoever was faster may stay
// so.
static const double FASTEST_BODY = 1e9;

static double fastest(const double* v, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
  return most;
}

static bool all_slow(const double* v, int n, double limit) {
  for (int i = 0; i < n; i++)
    if (!(fabs(v[i]) < limit)) return false;
  return true;
}

static bool all_finite(const double* x, int n) {
  double sum = 0;  // 0 * x is 0 for every finite x and NaN else
  for (int i = 0; i < n; i++) sum += 0 * x[i];
  return sum == 0;
}

static int nq_of(const abJoint* j) {
  return j->type == AB_JOINT_FREE ? 7 : j->type == AB_JOINT_BALL ? 4 : 1;
}

static int nv_of(const abJoint* j) {
  return j->type == AB_JOINT_FREE ? 6 : j->type == AB_JOINT_BALL ? 3 : 1;
}

bool ab_fault_squarable(const abModel* model, const abData* data, int* bad_body) {
  const double far = AB_FARTHEST_INPUT;
  if (all_slow(data->q, model->nq, far) && all_slow(data->v, model->nv, far) &&
      all_slow(data->v_free, model->nv, far))
    return all_slow(&data->mocap_pos->x, 3 * model->nmocap, far);
  for (int i = 0; i < model->njoint; i++) {
    const abJoint* j = &model->joint[i];
    if (all_slow(data->q + j->q0, nq_of(j), far) && all_slow(data->v + j->v0, nv_of(j), far) &&
        all_slow(data->v_free + j->v0, nv_of(j), far))
      continue;
    *bad_body = j->body;
    break;
  }
  return false;
}

bool ab_fault_finite(const abModel* model, const abData* data, int* bad_body) {
  bool finite = all_finite(data->q, model->nq);
  if (finite && all_slow(data->v, model->nv, FASTEST_BODY)) return true;
  double limit = fmax(FASTEST_BODY, 4 * fastest(data->internal->trees->v_seen, model->nv));
  if (finite && all_slow(data->v, model->nv, limit)) return true;
  for (int i = 0; i < model->njoint; i++) {
    const abJoint* j = &model->joint[i];
    if (all_finite(data->q + j->q0, nq_of(j)) && all_slow(data->v + j->v0, nv_of(j), limit))
      continue;
    *bad_body = j->body;
    break;
  }
  return false;
}

// A step ends with the energy that the next one begins with.
double ab_fault_energy(const abModel* model, const abData* data) {
  double* known = &data->internal->trees->kinetic;
  if (*known < 0) *known = ab_kinetic_energy(model, data);
  return *known;
}

static double body_energy(const abModel* model, const abData* data, int b, abTwist t) {
  return 0.5 * (model->body[b].mass * v3_norm2(t.lin) +
                v3_dot(t.ang, m3_apply(&data->inertia[b], t.ang)));
}

// Contacts and bounds take energy. What they may add is a rebound, at most what there was, and the
// speed with which an overlap is taken back, at most the size of the scene in RECOVERED seconds. A
// hundred times all that, beside the energy at the start and that of the free motion, is no result.
// Which way bodies are turned when the latter is taken is a matter of factors, not of hundreds.
#define UNEXPLAINED 100.0
#define RECOVERED 0.1

bool ab_fault_exploded(const abModel* model, const abData* data, double before, int* bad_body) {
  double now = ab_fault_energy(model, data), most = -1, explained = before;
  if (now <= UNEXPLAINED * before) return false;
  double speed = model->extent / RECOVERED;
  int body = -1;
  for (int b = 1; b < model->nbody; b++) {
    if (model->body[b].mover < 0) continue;
    explained += body_energy(model, data, b, data->internal->twist_free[b]);
    explained += 0.5 * model->body[b].mass * speed * speed;
    double own = body_energy(model, data, b, data->twist[b]);
    if (!(own <= most)) most = own, body = b;
  }
  if (now <= UNEXPLAINED * explained) return false;
  *bad_body = body;
  return true;
}
