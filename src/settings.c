// What a simulation is done with: contact model, its parameters, threads. Tests:
// test/test_settings.c.
#include <abut/abut.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/pool.h"
#include "dynamics/laws.h"
#include "fits.h"
#include "internal.h"

static int find_param(const abContactModel* contact, const char* name) {
  for (int i = 0; i < contact->nparam; i++)
    if (strcmp(contact->param[i].name, name) == 0) return i;
  return -1;
}

// Parameters that `patch` once had, and what has become of them.
static const char* gone(const char* name) {
  if (strcmp(name, "slop") == 0) return " any more: bodies rest at depth zero";
  if (strcmp(name, "sweeps") == 0 || strcmp(name, "sweep_tolerance") == 0)
    return " any more: every island is solved directly (see direct_limit)";
  return "; 'abut models' lists them";
}

// Names what the contact model cannot do.
static abStatus refuse_laws(const abModel* m, const abContactModel* contact, abError* error) {
  const char *what = "actuator", *name = "";
  int line = 0;
  for (int i = m->nactuator - 1; i >= 0; i--)
    if (m->actuator[i].drive != AB_DRIVE_JOINT) name = m->actuator[i].name;
  for (int i = m->ntendon - 1; i >= 0; i--)
    if (ab_tendon_acts(&m->tendon[i])) what = "tendon", name = m->tendon[i].name;
  for (int i = m->nequality - 1; i >= 0; i--)
    if (m->equality[i].active)
      what = "equality", name = m->equality[i].name, line = m->equality[i].line;
  return ab_fail(error, AB_ERROR_UNSUPPORTED, m->file, line,
                 "%s '%s': the contact model %s has no laws that join bodies or joints; choose "
                 "patch, or none for a scene without contact",
                 what, name, contact->name);
}

// Whether the model can simulate this scene at all.
static abStatus check_contact_model(const abModel* model, const abContactModel* contact,
                                    abError* error) {
  if (!contact->name || !contact->solve || !contact->memory_bytes || contact->nparam < 0 ||
      contact->nparam > AB_MAX_PARAM || (contact->nparam > 0 && !contact->param))
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a contact model needs a name, solve, memory_bytes and at most %d parameters",
                   AB_MAX_PARAM);
  if (contact->moves_bodies) {
    for (int i = 0; i < model->nmover; i++)
      if (model->mover[i].jointed)
        return ab_fail(
            error, AB_ERROR_UNSUPPORTED, model->file, 0,
            "the contact model %s moves free bodies only, but body '%s' has joints; choose "
            "another model ('abut models' lists them)",
            contact->name, model->body[model->mover[i].body0].name);
  }
  if (!contact->takes_rows && ab_laws_rows(model)) return refuse_laws(model, contact, error);
  return AB_OK;
}

// The defaults, and over them the scene's settings: they belong to the model it names; another
// model takes those it knows.
static abStatus take_params(const abModel* model, const abContactModel* contact, double* param,
                            abError* error) {
  for (int i = 0; i < contact->nparam; i++) param[i] = contact->param[i].value;
  bool own = !model->contact || strcmp(model->contact, contact->name) == 0;
  for (int i = 0; i < model->nsetting; i++) {
    if (strcmp(model->setting[i].name, "literal_torsion") == 0)
      continue;  // read by collide/surface.c
    int k = find_param(contact, model->setting[i].name);
    if (k >= 0)
      param[k] = model->setting[i].value;
    else if (own)
      return ab_fail(error, AB_ERROR_SCENE, model->file, 0,
                     "the scene sets abut.%s, but the contact model %s has no such parameter%s",
                     model->setting[i].name, contact->name, gone(model->setting[i].name));
  }
  return AB_OK;
}

static abStatus choose(const abModel* model, abData* d, const abContactModel* contact,
                       bool registered, abError* error) {
  double param[AB_MAX_PARAM] = {0};
  abStatus status = contact ? check_contact_model(model, contact, error) : AB_OK;
  if (status == AB_OK && contact && registered) status = take_params(model, contact, param, error);
  if (status != AB_OK) return status;
  for (int i = 0; contact && !registered && i < contact->nparam; i++)
    param[i] = contact->param[i].value;
  d->contact = contact;
  memcpy(d->internal->param, param, sizeof param);
  ab_forget_contacts(d);
  return AB_OK;
}

static abStatus another_model(abError* error) {
  return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "this is the simulation of another model");
}

abStatus ab_set_contact(const abModel* model, abData* d, const char* name, abError* error) {
  const abContactModel* contact = NULL;
  if (!ab_data_fits(model, d)) return another_model(error);
  if (!name) {
    contact = ab_contact_model(0);
  } else if (strcmp(name, "none") != 0) {
    contact = ab_find_contact_model(name);
    if (!contact)
      return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                     "there is no contact model '%s'; 'abut models' lists them", name);
  }
  return choose(model, d, contact, true, error);
}

abStatus ab_set_contact_model(const abModel* model, abData* d, const abContactModel* contact,
                              abError* error) {
  if (!ab_data_fits(model, d)) return another_model(error);
  return choose(model, d, contact, false, error);
}

static int known_param(const abData* d, const char* name, abError* error) {
  int k = d->contact ? find_param(d->contact, name) : -1;
  if (k < 0)
    ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "the contact model %s has no parameter '%s'%s",
            d->contact ? d->contact->name : "none", name, gone(name));
  return k;
}

abStatus ab_set_param(abData* d, const char* name, double value, abError* error) {
  if (!d || !d->internal || !name || !isfinite(value))
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a parameter needs a simulation, a name and a finite value");
  int k = known_param(d, name, error);
  if (k < 0) return AB_ERROR_ARGUMENT;
  d->internal->param[k] = value;
  ab_forget_contacts(d);
  return AB_OK;
}

abStatus ab_get_param(const abData* d, const char* name, double* value, abError* error) {
  if (!d || !d->internal || !name || !value)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a parameter needs a simulation, a name and a place for its value");
  int k = known_param(d, name, error);
  if (k < 0) return AB_ERROR_ARGUMENT;
  *value = d->internal->param[k];
  return AB_OK;
}

abStatus ab_set_threads(abData* d, int nthread, abError* error) {
  if (!d || !d->internal)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "there is no simulation");
  if (nthread < 1 || nthread > 1024)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "%d threads: use 1 to 1024", nthread);
  ab_pool_free(d->internal->pool);
  d->internal->pool = NULL;
  d->nthread = 1;
  if (nthread > 1 && ab_pool_create(nthread, &d->internal->pool) != AB_OK)
    return ab_fail(error, AB_ERROR_MEMORY, NULL, 0, "cannot start %d threads", nthread);
  d->nthread = nthread;
  return AB_OK;
}
