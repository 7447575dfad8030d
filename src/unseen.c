// A second look.
//
// Pairs are found by where bodies would go without contact. Who is struck goes elsewhere: a body
// that another one stops in mid-air is in the way of the next, which the free motion did not see.
// Where the solved motion brings two bodies into each other by more than a trace and the step's
// contacts do not know of them, the two become a pair, seen along that motion, and the step is
// solved again, from where the last answer left it. What that strikes in turn is found by the next
// look. What is left after some of them is held back (holdback.c), and so are bodies that spring
// back: of them one impact comes after the other. Tests: test_holdback, test_stories_motion.
#include "unseen.h"

#include <string.h>

#include "base/arena.h"
#include "collide/collide.h"
#include "dynamics/laws.h"
#include "dynamics/response.h"
#include "holdback_work.h"
#include "internal.h"
#include "math/spatial.h"

// Part of the thinner body by which the two would be in each other. Smaller: most steps of a heap
// are solved twice; larger: depth that is taken back slowly.
#define AB_UNSEEN_DEEP 5e-3
enum { UNSEEN_LOOKS = 4 };

static void find_motion(const abHoldWork* w, const double* v, abTwist* motion) {
  const abModel* model = w->model;
  for (int b = 0; b < model->nbody; b++) {
    int m = model->body[b].mover;
    motion[b] = twist_zero();
    if (m < 0 || w->data->asleep[b]) continue;
    const abFlight* f = &w->flight[m];
    motion[b] = f->free ? (abTwist){f->v, f->spin.w}
                        : ab_response_twist(&w->data->internal->response, v, b);
  }
}

static abStatus look(const abModel* model, abData* data, const abAnswer* answer, bool* any) {
  abHoldWork w = {.model = model, .data = data, .unseen = AB_UNSEEN_DEEP, .only_unseen = true};
  *any = false;
  abTwist* motion = AB_TAKE(data->internal->scratch, abTwist, model->nbody);
  if (!motion || !ab_hold_begin(&w, answer->v, answer->shift) || !ab_hold_near(&w))
    return AB_ERROR_MEMORY;
  if (!w.nkey) return AB_OK;
  find_motion(&w, answer->v, motion);
  return ab_collide_add(model, data, w.nkey, w.key, motion, AB_UNSEEN_DEEP, any);
}

// Joint trees are not followed.
static bool is_for(const abModel* model, const abData* data) {
  bool any = false;
  for (int m = 0; m < model->nmover && !any; m++) any = !model->mover[m].jointed;
  return any && data->contact && data->contact->geometry == AB_GEOMETRY_TOUCH;
}

abStatus ab_impulses_of_all(const abModel* model, abData* data, abAnswer* answer) {
  if (!is_for(model, data)) return ab_impulses(model, data, answer);
  size_t bytes = sizeof(double) * (size_t)model->nv;
  double* free = AB_TAKE(data->internal->scratch, double, model->nv);
  if (!free) return AB_ERROR_MEMORY;
  memcpy(free, data->v_free, bytes);
  abStatus status = ab_impulses(model, data, answer);
  bool any = true;
  for (int i = 0; i < UNSEEN_LOOKS && any && status == AB_OK; i++) {
    abArenaMark mark = ab_arena_mark(data->internal->scratch);
    int iterations = data->stat.iterations;
    status = look(model, data, answer, &any);
    ab_arena_release(data->internal->scratch, mark);
    if (status != AB_OK || !any) break;
    memcpy(data->v_free, free, bytes);
    if (!ab_laws_hold(model, data)) return AB_ERROR_MEMORY;
    status = ab_impulses(model, data, answer);
    data->stat.iterations += iterations;
  }
  return status;
}
