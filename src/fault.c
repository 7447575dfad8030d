// Why a step broke down. Inputs are looked at only then: a number that is not finite cannot pass
// through a step unseen, and good steps need not pay. Tests: test/test_fault.c.
#include "fault.h"

#include <math.h>
#include <stdio.h>

static int first_bad(const double* x, int n) {
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i])) return i;
  return -1;
}

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
  int i = first_bad(d->q, m->nq);
  if (i >= 0) return blame(d, "q", i, body_of_coordinate(m, i));
  i = first_bad(d->v, m->nv);
  if (i >= 0) return blame(d, "v", i, body_of_velocity(m, i));
  i = first_bad(d->ctrl, m->nactuator);
  if (i >= 0) return blame(d, "ctrl", i, body_of_actuator(m, i));
  i = first_bad(&d->applied->force.x, 6 * m->nbody);
  if (i >= 0) return blame(d, "applied", i / 6, i / 6);
  i = first_bad(&d->mocap_pos->x, 3 * m->nmocap);
  if (i >= 0) return blame(d, "mocap_pos", i / 3, m->mocap_body[i / 3]);
  i = first_bad(&d->mocap_quat->w, 4 * m->nmocap);
  return i >= 0 && blame(d, "mocap_quat", i / 4, m->mocap_body[i / 4]);
}

void ab_fault_find(const abModel* model, abData* data, abStatus status, bool exploded) {
  if (status == AB_ERROR_MEMORY)
    data->stat.cause = AB_CAUSE_MEMORY;
  else if (!blame_input(model, data))
    data->stat.cause = exploded          ? AB_CAUSE_ENERGY
                       : status == AB_OK ? AB_CAUSE_NOT_FINITE
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
        snprintf(text, size, "%s[%d], of body '%s', is not a finite number", s->bad_input,
                 s->bad_index, body_name(model, s->bad_body));
      else
        snprintf(text, size, "%s[%d] is not a finite number", s->bad_input, s->bad_index);
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
