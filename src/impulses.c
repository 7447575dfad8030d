// Phases 6 and 7 of a step: what the contact model is given, its answer, and the velocities that
// follow from it.
// Tests: test_step, test_tree_contact, test_law_contact.
#include "impulses.h"

#include <string.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/simd.h"
#include "contact/report.h"
#include "dynamics/free_motion.h"
#include "dynamics/laws.h"
#include "dynamics/response.h"
#include "dynamics/trees.h"
#include "internal.h"
#include "math/spatial.h"
#include "pairs.h"
#include "validate.h"

AB_SIMD AB_FLATTEN static abContactBody* describe_bodies(const abModel* model, const abData* data) {
  abContactBody* body = AB_TAKE(data->internal->scratch, abContactBody, model->nbody);
  if (!body) return NULL;
  for (int i = 0; i < model->nbody; i++) {
    const abBody* b = &model->body[i];
    abWrench load = data->applied[i];
    if (b->gravity) load.force = v3_axpy(b->mass, model->gravity, load.force);
    body[i] = (abContactBody){.com = data->com[i],
                              .q = data->pose[i].q,
                              .com_local = b->com,
                              .twist = data->twist[i],
                              .twist_free = data->internal->twist_free[i],
                              .gravity = b->gravity ? model->gravity : v3_zero(),
                              .bias = data->internal->bias[i],
                              .load = load,
                              .hull = b->hull < 0 ? NULL : &model->hull[b->hull]};
  }
  return body;
}

// The impulse acts at a point; bodies feel it at their centres of mass.
static void apply_impulses(abData* data, const abPairSolution* solution, double* v) {
  for (int i = 0; i < data->internal->npair; i++) {
    const abPair* pair = &data->internal->pair[i];
    const abPairSolution* s = &solution[i];
    abWrench on1 = wrench_move(s->impulse, v3_sub(data->com[pair->body1], s->point));
    abVec3 other = v3_sub(s->point, s->apart);
    abWrench on2 = wrench_move(wrench_neg(s->impulse), v3_sub(data->com[pair->body2], other));
    ab_response_apply(&data->internal->response, pair->body1, on1, v);
    ab_response_apply(&data->internal->response, pair->body2, on2, v);
  }
}

// Without contact the laws that join bodies are the default model's, with its defaults.
static const abContactModel* solver(const abData* data, double defaults[64], const double** param) {
  const abContactModel* contact = data->contact ? data->contact : ab_contact_model(0);
  *param = data->contact ? data->internal->param : defaults;
  for (int i = 0; !data->contact && i < 64; i++)
    defaults[i] = i < contact->nparam ? contact->param[i].value : 0;
  return contact;
}

static abStatus solve_once(const abModel* model, abData* data, const abContactBody* body,
                           abContactSolution* solution) {
  double defaults[64];
  const double* param;
  const abContactModel* contact = solver(data, defaults, &param);
  memset(solution->pair, 0, sizeof *solution->pair * (size_t)data->internal->npair);
  memset(solution->shift, 0, sizeof(double) * (size_t)model->nv);
  solution->v_known = false;
  solution->residual = 0, solution->nregularised = 0, solution->status = AB_STEP_OK;
  solution->note = NULL;
  abContactProblem problem = {.h = data->h,
                              .gravity = model->gravity,
                              .length = model->extent,
                              .nbody = model->nbody,
                              .body = body,
                              .npair = data->internal->npair,
                              .pair = data->internal->pair,
                              .response = &data->internal->response,
                              .v = data->v,
                              .v_free = data->v_free,
                              .param = param,
                              .memory_bytes = contact->memory_bytes(param),
                              .scratch = data->internal->scratch,
                              .pool = data->internal->pool};
  if (contact->takes_rows && !ab_free_motion_rows(model, data, &problem.nrow, &problem.row))
    return AB_ERROR_MEMORY;
  if (contact->takes_rows && data->internal->trees->laws)
    problem.nlaw = data->internal->trees->laws->n, problem.law = data->internal->trees->laws->row;
  int before = solution->iterations;
  solution->iterations = 0;
  contact->solve(&problem, solution);
  solution->iterations += before;
  if (solution->status == AB_STEP_BROKEN) return AB_ERROR_NUMERIC;
  if (solution->v_known) {
    AB_VALIDATE(ab_validate_momentum(&problem, solution));
    return AB_OK;
  }
  memcpy(solution->v, data->v_free, sizeof(double) * (size_t)model->nv);
  apply_impulses(data, solution->pair, solution->v);
  return AB_OK;
}

// The default model solves contacts and the laws of joints as one problem. The others know joints
// only by their response: where contacts push a joint onto or off its limit, or a servo to the end
// of its force, that response was another one than assumed, and they are solved again from what
// they remembered before. Two rounds are the rule.
enum { SOLVE_ROUNDS = 8 };

static abStatus solve_rounds(const abModel* model, abData* data, const abContactBody* body,
                             abContactSolution* solution) {
  size_t bytes = data->contact->memory_bytes(data->internal->param),
         n = (size_t)data->internal->npair;
  char* aside = ab_arena_take(data->internal->scratch, n * bytes);
  if (!aside) return AB_ERROR_MEMORY;
  for (size_t i = 0; i < n; i++) memcpy(aside + i * bytes, data->internal->pair[i].memory, bytes);
  abStatus status = solve_once(model, data, body, solution);
  for (int k = 1; status == AB_OK && k < SOLVE_ROUNDS; k++) {
    if (!ab_free_motion_follow(model, data, solution->v)) break;
    ab_response_update(model, data);
    for (size_t i = 0; i < n; i++) memcpy(data->internal->pair[i].memory, aside + i * bytes, bytes);
    status = solve_once(model, data, body, solution);
  }
  return status;
}

// A tree that no contact touches drifts as a free one (dynamics/integrate.c), whatever laws hold
// it: what they lead to is its motion without contact.
static void take_laws_for_free(const abModel* model, abData* data, const abPairSolution* pair,
                               const double* v) {
  if (!data->internal->trees->laws || model->integrator == AB_INTEGRATOR_RK4) return;
  for (int m = 0; m < model->nmover; m++) {
    const abMover* mover = &model->mover[m];
    bool touched = !mover->jointed;
    for (int i = 0; i < data->internal->npair && !touched; i++) {
      bool own = model->body[data->internal->pair[i].body1].mover == m ||
                 model->body[data->internal->pair[i].body2].mover == m;
      touched = own && v3_norm2(pair[i].impulse.force) > 0;
    }
    data->internal->trees->laws->touched[m] = touched && mover->jointed;
    if (!touched)
      memcpy(data->v_free + mover->dof0, v + mover->dof0, sizeof(double) * (size_t)mover->ndof);
  }
}

abStatus ab_impulses(const abModel* model, abData* data, abAnswer* answer) {
  const abContactModel* contact = data->contact;
  memset(answer->shift, 0, sizeof(double) * (size_t)model->nv);
  bool joined = data->internal->trees->laws && data->internal->trees->laws->n > 0;
  if (joined && contact && !contact->takes_rows) return AB_ERROR_UNSUPPORTED;  // ab_set_contact
  if (!joined && (!contact ||
                  (data->internal->npair == 0 && !contact->moves_bodies && !contact->takes_rows))) {
    memcpy(answer->v, data->v_free, sizeof(double) * (size_t)model->nv);
    return AB_OK;
  }
  abContactSolution solution = {
      .pair = AB_TAKE(data->internal->scratch, abPairSolution, data->internal->npair),
      .v = answer->v,
      .shift = answer->shift,
      .twist_end = AB_TAKE(data->internal->scratch, abTwist, model->nbody)};
  abContactBody* body = describe_bodies(model, data);
  if (!solution.pair || !solution.twist_end || !body) return AB_ERROR_MEMORY;
  ab_response_touch(model, data);
  abStatus status = !contact || contact->takes_rows ? solve_once(model, data, body, &solution)
                                                    : solve_rounds(model, data, body, &solution);
  data->stat.nhold = 0, data->stat.max_penetration = 0;
  data->stat.status = solution.status;
  data->stat.iterations = solution.iterations;
  data->stat.residual = solution.residual;
  data->stat.nregularised = solution.nregularised;
  data->stat.note = solution.note;
  if (status != AB_OK) return status;
  take_laws_for_free(model, data, solution.pair, answer->v);
  if (!contact) return AB_OK;
  for (int i = 0; i < data->internal->npair; i++)
    ab_memory_next(data->internal->memory, i)->watch = solution.pair[i].watch;
  if (contact->moves_bodies) answer->twist_end = solution.twist_end;
  return ab_report_contacts(data, solution.pair);
}
