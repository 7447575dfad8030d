// One step. ARCHITECTURE.md and the order of fields in internal.h tell the same story.
#include <abut/abut.h>
#include <string.h>

#include "base/arena.h"
#include "base/assert.h"
#include "collide/broad/broadphase.h"
#include "collide/collide.h"
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
#include "impulses.h"
#include "internal.h"
#include "pairs.h"
#include "sleep.h"
#include "unseen.h"
#include "validate.h"

static abStatus detect(const abModel* model, abData* data);

// Phases 2 to 8, for those awake.
static abStatus move(const abModel* model, abData* data) {
  abAnswer answer = {.v = AB_TAKE(data->internal->scratch, double, model->nv),
                     .shift = AB_TAKE(data->internal->scratch, double, model->nv)};
  double* share = AB_TAKE(data->internal->scratch, double, model->nmover);
  if (!answer.v || !answer.shift || !share) return AB_ERROR_MEMORY;
  ab_free_motion(model, data);     // 2 velocity without contact
  ab_response_begin(model, data);  // 3 how impulses change it
  if (!ab_fault_squarable(model, data, &data->stat.bad_body)) return AB_ERROR_NUMERIC;
  abStatus status = detect(model, data);  // 4 boxes -> candidate pairs; 5 pairs -> geometry
  if (status == AB_OK && !ab_laws_hold(model, data)) status = AB_ERROR_MEMORY;
  if (status == AB_OK) status = ab_folded_stay(model, data);
  if (status == AB_OK) status = ab_impulses_of_all(model, data, &answer);  // 6 impulses; 7 -> v
  if (status == AB_OK)  //   nobody passes through anybody
    status = ab_hold_back(model, data, answer.v, answer.shift, share);
  if (status == AB_OK) {
    ab_laws_forces(data);
    ab_integrate(model, data, answer.v, answer.shift, answer.twist_end, share);  // 8
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
  double energy = moves ? ab_fault_energy(model, data) : 0;
  double* kept = keep_state(model, data);
  if (!kept) status = AB_ERROR_MEMORY;
  if (moves && kept) status = move(model, data);          // 2 to 8
  if (status == AB_OK) status = ab_sleep_contacts(data);  //   those of whoever sleeps

  // 9 finish: a broken step leaves the state as it was.
  bool good = status == AB_OK && ab_fault_finite(model, data, &data->stat.bad_body);
  if (good) ab_kinematics(model, data);
  bool exploded = good && moves && ab_fault_exploded(model, data, energy, &data->stat.bad_body);
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
