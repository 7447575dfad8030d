// One step. ARCHITECTURE.md and the order of fields in internal.h tell the same story.
#include <abut/abut.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/assert.h"
#include "collide/broad/broadphase.h"
#include "collide/collide.h"
#include "contact/report.h"
#include "dynamics/free_motion.h"
#include "dynamics/integrate.h"
#include "dynamics/kinematics.h"
#include "dynamics/laws.h"
#include "dynamics/response.h"
#include "dynamics/trees.h"
#include "fault.h"
#include "fits.h"
#include "folded.h"
#include "holdback.h"
#include "internal.h"
#include "math/spatial.h"
#include "pairs.h"
#include "sleep.h"
#include "validate.h"

// What the contact model answers with.
typedef struct Answer {
  double *v, *shift;         // velocities at the end; coordinates move along v + shift
  double* share;             // per mover: for how much of the step
  const abTwist* twist_end;  // of models that move bodies themselves, else NULL
} Answer;

static abStatus detect(const abModel* model, abData* data);
static abStatus solve_contact(const abModel* model, abData* data, Answer* answer);
static bool state_is_finite(const abModel* model, const abData* data, int* body);
static double energy_now(const abModel* model, const abData* data);
static bool has_exploded(const abModel* model, const abData* data, double before, int* body);

// Phases 2 to 8, for those awake.
static abStatus move(const abModel* model, abData* data) {
  Answer answer = {.v = AB_TAKE(data->internal->scratch, double, model->nv),
                   .shift = AB_TAKE(data->internal->scratch, double, model->nv),
                   .share = AB_TAKE(data->internal->scratch, double, model->nmover)};
  if (!answer.v || !answer.shift || !answer.share) return AB_ERROR_MEMORY;
  ab_free_motion(model, data);            // 2 velocity without contact
  ab_response_begin(model, data);         // 3 how impulses change it
  abStatus status = detect(model, data);  // 4 boxes -> candidate pairs; 5 pairs -> geometry
  if (status == AB_OK && !ab_laws_hold(model, data)) status = AB_ERROR_MEMORY;
  if (status == AB_OK) status = ab_folded_stay(model, data);
  if (status == AB_OK) status = solve_contact(model, data, &answer);  // 6 impulses; 7 applied to v
  if (status == AB_OK)  //   nobody passes through anybody
    status = ab_hold_back(model, data, answer.v, answer.shift, answer.share);
  if (status == AB_OK) {
    ab_laws_forces(data);
    ab_integrate(model, data, answer.v, answer.shift, answer.twist_end, answer.share);  // 8
    ab_laws_close(model, data);  //   equalities are met where the bodies are now
  }
  return status;
}

// Coordinates and velocities, to go back to.
static double* keep_state(const abModel* model, const abData* data) {
  double* kept = AB_TAKE(data->internal->scratch, double, model->nq + model->nv);
  if (!kept) return NULL;
  memcpy(kept, data->q, sizeof(double) * (size_t)model->nq);
  memcpy(kept + model->nq, data->v, sizeof(double) * (size_t)model->nv);
  return kept;
}

static void go_back(const abModel* model, abData* data, const double* kept) {
  memcpy(data->q, kept, sizeof(double) * (size_t)model->nq);
  memcpy(data->v, kept + model->nq, sizeof(double) * (size_t)model->nv);
  data->internal->trees->seen = false;  // the step has moved bodies
  memset(data->internal->trees->placed, 0,
         sizeof *data->internal->trees->placed * (size_t)model->nmover);
  ab_kinematics(model, data);
}

abStepStatus ab_step(const abModel* model, abData* data) {
  if (!ab_data_fits(model, data)) return AB_STEP_BROKEN;
  ab_arena_release(data->internal->step_arena, 0);
  AB_VALIDATE(ab_validate_begin(model, data));
  abArenaMark mark = ab_arena_mark(data->internal->scratch);
  data->stat = (abStat){.status = AB_STEP_OK, .bad_index = -1, .bad_body = -1};
  data->internal->ncandidate = data->internal->npair = data->ncontact = 0;

  ab_kinematics(model, data);                     // 1 q, v -> pose and twist of every body
  abStatus status = ab_sleep_begin(model, data);  //   whoever was disturbed wakes
  bool moves = status == AB_OK && !ab_sleep_all(model, data);
  double energy = moves ? energy_now(model, data) : 0;
  double* kept = keep_state(model, data);
  if (!kept) status = AB_ERROR_MEMORY;
  if (moves && kept) status = move(model, data);          // 2 to 8
  if (status == AB_OK) status = ab_sleep_contacts(data);  //   those of whoever sleeps

  // 9 finish: a broken step leaves the state as it was.
  bool good = status == AB_OK && state_is_finite(model, data, &data->stat.bad_body);
  if (good) ab_kinematics(model, data);
  bool exploded = good && moves && has_exploded(model, data, energy, &data->stat.bad_body);
  if (!good || exploded) {
    data->stat.status = AB_STEP_BROKEN;
    if (kept) go_back(model, data, kept);
    ab_fault_find(model, data, status, exploded);
  } else {
    if (data->stat.status != AB_STEP_OK) data->stat.cause = AB_CAUSE_CONVERGENCE;
    data->time += data->h;
    if (moves && data->contact) ab_memory_commit(data->internal->memory);
    ab_sleep_end(model, data);  //   whatever has come to rest falls asleep
  }
  data->internal->trees->laws = NULL;  // it was in the scratch
  ab_arena_release(data->internal->scratch, mark);
  AB_VALIDATE(data->stat.status != AB_STEP_BROKEN ? ab_validate_end(model, data) : (void)0);
  return data->stat.status;
}

// Whoever sleeps is not looked at, unless somebody awake touches it: then it wakes, and is.
static abStatus detect(const abModel* model, abData* data) {
  if (!data->contact) return AB_OK;
  abStatus status = ab_broadphase(model, data);
  if (status == AB_OK) status = ab_sleep_candidates(data);
  bool woken = true;
  while (status == AB_OK && woken) {
    status = ab_collide(model, data);
    if (status == AB_OK) status = ab_sleep_touched(model, data, &woken);
    if (status == AB_OK && woken) {  // they have a free motion now
      ab_free_motion(model, data);
      ab_response_begin(model, data);
    }
  }
  AB_VALIDATE(status == AB_OK ? ab_validate_pairs(model, data) : (void)0);
  data->stat.ncandidate = data->internal->ncandidate;
  data->stat.npair = data->internal->npair;
  return status;
}

static abContactBody* describe_bodies(const abModel* model, const abData* data) {
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
                              .hull = b->hull};
  }
  return body;
}

// The impulse acts at a point; bodies feel it at their centres of mass.
static void apply_impulses(abData* data, const abPairSolution* solution, double* v) {
  for (int i = 0; i < data->internal->npair; i++) {
    const abPair* pair = &data->internal->pair[i];
    const abPairSolution* s = &solution[i];
    abWrench on1 = wrench_move(s->impulse, v3_sub(data->com[pair->body1], s->point));
    abWrench on2 = wrench_move(wrench_neg(s->impulse), v3_sub(data->com[pair->body2], s->point));
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

#ifdef AB_CHECKED
// A model that says which velocities it leaves: they follow from its impulses.
static void validate_momentum(const abModel* model, abData* data, const abContactProblem* problem,
                              const abContactSolution* solution) {
  if (!solution->v_known || problem->nlaw > 0) return;
  abArenaMark mark = ab_arena_mark(data->internal->scratch);
  double* v = AB_TAKE(data->internal->scratch, double, 3 * model->nv);
  if (!v) return;
  double *added = v + model->nv, *one = added + model->nv;
  memcpy(v, data->v_free, sizeof(double) * (size_t)model->nv);
  memset(added, 0, sizeof(double) * 2 * (size_t)model->nv);
  for (int i = 0; i < data->internal->npair; i++) {
    const int body[2] = {data->internal->pair[i].body1, data->internal->pair[i].body2};
    for (int side = 0; side < 2; side++) {
      const abPairSolution* s = &solution->pair[i];
      int m = model->body[body[side]].mover;
      if (m < 0 || model->mover[m].jointed) continue;
      ab_response_apply(&data->internal->response, body[side],
                        wrench_move(s->impulse, v3_sub(data->com[body[side]], s->point)), one);
      for (int k = model->mover[m].dof0; k < model->mover[m].dof0 + 6; k++)
        added[k] += fabs(one[k]), one[k] = 0;
    }
  }
  apply_impulses(data, solution->pair, v);
  ab_validate_momentum(model, data, solution, v, added);
  ab_arena_release(data->internal->scratch, mark);
}
#endif

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
  AB_VALIDATE(validate_momentum(model, data, &problem, solution));
  if (solution->v_known) return AB_OK;
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

static abStatus solve_contact(const abModel* model, abData* data, Answer* answer) {
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

static bool state_is_finite(const abModel* model, const abData* data, int* bad_body) {
  bool finite = all_finite(data->q, model->nq);
  if (finite && all_slow(data->v, model->nv, FASTEST_BODY)) return true;
  double limit = fmax(FASTEST_BODY, 4 * fastest(data->internal->trees->v_seen, model->nv));
  if (finite && all_slow(data->v, model->nv, limit)) return true;
  for (int i = 0; i < model->njoint; i++) {
    const abJoint* j = &model->joint[i];
    int nq = j->type == AB_JOINT_FREE ? 7 : j->type == AB_JOINT_BALL ? 4 : 1;
    int nv = j->type == AB_JOINT_FREE ? 6 : j->type == AB_JOINT_BALL ? 3 : 1;
    if (all_finite(data->q + j->q0, nq) && all_slow(data->v + j->v0, nv, limit)) continue;
    *bad_body = j->body;
    break;
  }
  return false;
}

static double body_energy(const abModel* model, const abData* data, int b, abTwist t) {
  return 0.5 * (model->body[b].mass * v3_norm2(t.lin) +
                v3_dot(t.ang, m3_apply(&data->inertia[b], t.ang)));
}

// A step ends with the energy that the next one begins with.
static double energy_now(const abModel* model, const abData* data) {
  double* known = &data->internal->trees->kinetic;
  if (*known < 0) *known = ab_kinetic_energy(model, data);
  return *known;
}

// Contacts and bounds take energy. What they may add is a rebound, at most what there was, and the
// speed with which an overlap is taken back, at most the size of the scene in RECOVERED seconds. A
// hundred times all that, beside the energy at the start and that of the free motion, is no result.
// Which way bodies are turned when the latter is taken is a matter of factors, not of hundreds.
#define UNEXPLAINED 100.0
#define RECOVERED 0.1

static bool has_exploded(const abModel* model, const abData* data, double before, int* bad_body) {
  double now = energy_now(model, data), most = -1, explained = before;
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
