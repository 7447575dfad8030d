// One step. ARCHITECTURE.md and the order of fields in abut/data.h tell the same story.
#include <abut/abut.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "collide/broadphase.h"
#include "collide/collide.h"
#include "contact/report.h"
#include "dynamics/free_motion.h"
#include "dynamics/integrate.h"
#include "dynamics/kinematics.h"
#include "dynamics/response.h"
#include "fits.h"
#include "math/spatial.h"
#include "sleep.h"

// What the model remembers of its pairs, put aside in case it has to solve again or the step fails.
typedef struct Aside {
  size_t bytes;  // per pair; 0: nothing is
  char* memory;
} Aside;

static abStatus detect(const abModel* model, abData* data);
static abStatus put_aside(const abModel* model, abData* data, Aside* aside);
static void put_back(const abData* data, const Aside* aside);
static abStatus solve_contact(const abModel* model, abData* data, const Aside* aside, double* v,
                              const abTwist** twist_end);
static bool state_is_finite(const abModel* model, const abData* data, int* body);

// Phases 2 to 8, for those awake.
static abStatus move(const abModel* model, abData* data, Aside* aside) {
  double* v = AB_TAKE(data->scratch, double, model->nv);
  const abTwist* twist_end = NULL;
  if (!v) return AB_ERROR_MEMORY;
  abStatus status = detect(model, data);  // 2 boxes -> candidate pairs; 3 pairs -> contact geometry
  ab_free_motion(model, data);            // 4 velocity without contact
  ab_response_update(model, data);        // 5 how impulses change it
  if (status == AB_OK) status = put_aside(model, data, aside);
  if (status == AB_OK)
    status = solve_contact(model, data, aside, v, &twist_end);   // 6 impulses; 7 applied to v
  if (status == AB_OK) ab_integrate(model, data, v, twist_end);  // 8 velocity -> position
  return status;
}

abStepStatus ab_step(const abModel* model, abData* data) {
  if (!ab_data_fits(model, data)) return AB_STEP_BROKEN;
  ab_arena_release(data->step_arena, 0);
  abArenaMark mark = ab_arena_mark(data->scratch);
  data->stat = (abStat){.status = AB_STEP_OK, .bad_body = -1};
  data->ncandidate = data->npair = data->ncontact = 0;

  ab_kinematics(model, data);                     // 1 q, v -> pose and twist of every body
  abStatus status = ab_sleep_begin(model, data);  //   whoever was disturbed wakes
  bool moves = status == AB_OK && !ab_sleep_all(model, data);
  Aside aside = {0};
  if (moves) status = move(model, data, &aside);          // 2 to 8
  if (status == AB_OK) status = ab_sleep_contacts(data);  //   those of whoever sleeps

  // 9 finish: a broken step leaves the state as it was.
  if (status != AB_OK || !state_is_finite(model, data, &data->stat.bad_body)) {
    data->stat.status = AB_STEP_BROKEN;
    ab_kinematics_go_back(model, data);
    put_back(data, &aside);
    ab_memory_discard(data->memory);
  } else {
    data->time += data->h;
    if (moves && data->contact) ab_memory_commit(data->memory);
    ab_kinematics(model, data);
    ab_sleep_end(model, data);  //   whatever has come to rest falls asleep
  }
  ab_arena_release(data->scratch, mark);
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
  }
  data->stat.ncandidate = data->ncandidate;
  data->stat.npair = data->npair;
  return status;
}

static abContactBody* describe_bodies(const abModel* model, const abData* data) {
  abContactBody* body = AB_TAKE(data->scratch, abContactBody, model->nbody);
  if (!body) return NULL;
  for (int i = 0; i < model->nbody; i++) {
    const abBody* b = &model->body[i];
    bool moves = b->mover >= 0 && !data->asleep[i];
    abWrench load = data->applied[i];
    if (b->gravity) load.force = v3_axpy(b->mass, model->gravity, load.force);
    body[i] = (abContactBody){
        .com = data->com[i],
        .q = data->pose[i].q,
        .com_local = b->com,
        .twist = data->twist[i],
        .twist_free = moves ? ab_response_twist(&data->response, data->v_free, i) : twist_zero(),
        .load = load,
        .hull = b->hull};
  }
  return body;
}

// The impulse acts at a point; bodies feel it at their centres of mass.
static void apply_impulses(abData* data, const abPairSolution* solution, double* v) {
  for (int i = 0; i < data->npair; i++) {
    const abPair* pair = &data->pair[i];
    const abPairSolution* s = &solution[i];
    abWrench on1 = wrench_move(s->impulse, v3_sub(data->com[pair->body1], s->point));
    abWrench on2 = wrench_move(wrench_neg(s->impulse), v3_sub(data->com[pair->body2], s->point));
    ab_response_apply(&data->response, pair->body1, on1, v);
    ab_response_apply(&data->response, pair->body2, on2, v);
  }
}

static bool has_joints(const abModel* model) {
  for (int i = 0; i < model->nmover; i++)
    if (model->mover[i].jointed) return true;
  return false;
}

static void exchange_memory(const abData* data, const Aside* aside, bool back) {
  const bool* left = ab_memory_now(data->memory)->left;
  for (int i = 0; i < data->npair && aside->bytes > 0; i++) {
    char *own = data->pair[i].memory, *other = aside->memory + (size_t)i * aside->bytes;
    if (!left[i]) memcpy(back ? own : other, back ? other : own, aside->bytes);
  }
}

// Free bodies respond always alike; only joints may ask for another round. And where the table of
// pairs is not made anew, its last state would be lost.
static abStatus put_aside(const abModel* model, abData* data, Aside* aside) {
  if (!data->contact || data->npair == 0) return AB_OK;
  if (!has_joints(model) && !ab_memory_in_place(data->memory)) return AB_OK;
  size_t bytes = data->contact->memory_bytes(data->param);
  aside->memory = ab_arena_take(data->scratch, (size_t)data->npair * bytes);
  if (!aside->memory) return AB_ERROR_MEMORY;
  aside->bytes = bytes;
  exchange_memory(data, aside, false);
  return AB_OK;
}

static void put_back(const abData* data, const Aside* aside) { exchange_memory(data, aside, true); }

static abStatus solve_once(const abModel* model, abData* data, abContactSolution* solution,
                           double* v) {
  const abContactModel* contact = data->contact;
  abContactBody* body = describe_bodies(model, data);
  if (!body) return AB_ERROR_MEMORY;
  abTable* table = ab_memory_now(data->memory);
  for (int i = 0; i < data->npair; i++)
    if (!table->left[i]) solution->pair[i] = (abPairSolution){0};
  solution->v_known = false;
  abContactProblem problem = {.h = data->h,
                              .gravity = model->gravity,
                              .length = model->extent,
                              .nbody = model->nbody,
                              .body = body,
                              .npair = data->npair,
                              .pair = data->pair,
                              .response = &data->response,
                              .v_free = data->v_free,
                              .param = data->param,
                              .memory_bytes = contact->memory_bytes(data->param),
                              .still = has_joints(model) ? NULL : table->still,
                              .scratch = data->scratch,
                              .pool = data->pool,
                              .cache = data->cache};
  int before = solution->iterations;
  solution->iterations = 0;
  contact->solve(&problem, solution);
  solution->iterations += before;
  if (solution->status == AB_STEP_BROKEN) return AB_ERROR_NUMERIC;
  if (solution->v_known) return AB_OK;
  memcpy(v, data->v_free, sizeof(double) * (size_t)model->nv);
  apply_impulses(data, solution->pair, v);
  return AB_OK;
}

// Contacts may push joints onto or off their limits, servos to the end of their force: then the
// response was another one than assumed, and they are solved again. Two rounds are the rule.
enum { MAX_ROUNDS = 8 };

static abStatus solve_contact(const abModel* model, abData* data, const Aside* aside, double* v,
                              const abTwist** twist_end) {
  const abContactModel* contact = data->contact;
  if (!contact || (data->npair == 0 && !contact->moves_bodies)) {
    memcpy(v, data->v_free, sizeof(double) * (size_t)model->nv);
    return AB_OK;
  }
  abContactSolution solution = {.pair = AB_TAKE(data->scratch, abPairSolution, data->npair),
                                .v = v,
                                .twist_end = AB_TAKE(data->scratch, abTwist, model->nbody)};
  if (!solution.pair || !solution.twist_end) return AB_ERROR_MEMORY;
  abStatus status = solve_once(model, data, &solution, v);
  for (int i = 1; status == AB_OK && i < MAX_ROUNDS && ab_free_motion_follow(model, data, v); i++) {
    ab_response_update(model, data);
    put_back(data, aside);
    solution.residual = 0, solution.nregularised = 0, solution.status = AB_STEP_OK;
    solution.note = NULL;
    status = solve_once(model, data, &solution, v);
  }
  data->stat.status = solution.status;
  data->stat.iterations = solution.iterations;
  data->stat.residual = solution.residual;
  data->stat.nregularised = solution.nregularised;
  data->stat.note = solution.note;
  if (status != AB_OK) return status;
  if (contact->moves_bodies) *twist_end = solution.twist_end;
  return ab_report_contacts(data, solution.pair);
}

static bool all_finite(const double* x, int n) {
  double sum = 0;  // 0 * x is 0 for every finite x and NaN else
  for (int i = 0; i < n; i++) sum += 0 * x[i];
  return sum == 0;
}

static bool state_is_finite(const abModel* model, const abData* data, int* bad_body) {
  if (all_finite(data->q, model->nq) && all_finite(data->v, model->nv)) return true;
  for (int i = 0; i < model->njoint; i++) {
    const abJoint* j = &model->joint[i];
    int nq = j->type == AB_JOINT_FREE ? 7 : j->type == AB_JOINT_BALL ? 4 : 1;
    int nv = j->type == AB_JOINT_FREE ? 6 : j->type == AB_JOINT_BALL ? 3 : 1;
    if (all_finite(data->q + j->q0, nq) && all_finite(data->v + j->v0, nv)) continue;
    *bad_body = j->body;
    break;
  }
  return false;
}
