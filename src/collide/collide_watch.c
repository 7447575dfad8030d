// Which candidates must be looked at again.
//
// In a pile at rest nearly every candidate is, to some 1e-12 m, where it was in the step before.
// So each body has a path: an upper bound of how far any of its points has gone, all steps added
// up. When a candidate has been looked at, it is known how far its two bodies may go before the
// answer could be another one (collide_kept.c says how far, for a pair); until their paths together
// have grown by that much, it need not be looked at. A pair must be, unless its model says that it
// follows the bodies itself (abContactProblem.still).
//
// With a frame that goes by d and a quaternion that changes by dq, a point at the distance r from
// the frame goes by at most |d| + 2 r |dq|: the chord of a turn by a is 2 r sin(a / 2), and |dq| =
// 2 sin(a / 4).
//
// Where bodies fall asleep, their pairs come and go from the list of candidates: then nothing is
// watched.
#include "collide/collide_watch.h"

#include <math.h>
#include <string.h>

#include "geometry/support.h"
#include "math/vec.h"

static double body_radius(const abModel* model, int b) {
  const abBody* body = &model->body[b];
  double most = 0;
  for (int g = body->geom0; g < body->geom0 + body->ngeom; g++) {
    const abGeom* geom = &model->geom[g];
    // a plane has no end: when it turns, all is to be looked at
    double own = geom->shape.type == AB_PLANE ? 1e30 : ab_shape_radius(&geom->shape);
    most = fmax(most, v3_norm(geom->pose.p) + own);
  }
  return most;
}

static bool follow_paths(const abModel* model, const abData* data) {
  abMemory* memory = data->memory;
  if (memory->npath != model->nbody) {
    ab_arena_release(&memory->path_arena, 0);
    memory->path = AB_TAKE(&memory->path_arena, abPath, model->nbody);
    memory->length = AB_TAKE(&memory->path_arena, double, model->nbody);
    if (!memory->path || !memory->length) return false;
    memory->npath = model->nbody;
    for (int b = 0; b < model->nbody; b++) {
      memory->path[b] = (abPath){.pose = data->pose[b], .radius = body_radius(model, b)};
      memory->length[b] = 0;
    }
  }
  for (int b = 0; b < model->nbody; b++) {
    if (data->pose_stamp[b] <= memory->seen) continue;
    abPath* path = &memory->path[b];
    abPose now = data->pose[b], then = path->pose;
    double w = now.q.w - then.q.w, x = now.q.x - then.q.x, y = now.q.y - then.q.y,
           z = now.q.z - then.q.z;
    memory->length[b] +=
        v3_norm(v3_sub(now.p, then.p)) + 2 * path->radius * sqrt(w * w + x * x + y * y + z * z);
    path->pose = now;
  }
  memory->seen = data->pose_count;
  return true;
}

static double paths_of(const abMemory* memory, const abWatch* watch) {
  return memory->length[watch->body[0]] + memory->length[watch->body[1]];
}

static abWatch first_watch(const abModel* model, const int geom[2]) {
  return (abWatch){.geom = {geom[0], geom[1]},
                   .body = {model->geom[geom[0]].body, model->geom[geom[1]].body},
                   .until = -1};
}

static bool before(const int a[2], const int b[2]) {
  return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1];
}

static bool same_candidates(const abMemory* memory, const abData* data) {
  if (memory->nwatch != data->ncandidate) return false;
  for (int i = 0; i < data->ncandidate; i++)
    if (memcmp(memory->watch[i].geom, data->candidate[i], sizeof(int[2])) != 0) return false;
  return true;
}

// The watch of the last step's candidates becomes that of the present ones. False: no memory.
static bool carry(const abModel* model, abData* data, bool known, bool* gone) {
  abMemory* memory = data->memory;
  if (known && same_candidates(memory, data)) return true;
  abArena* arena = &memory->watch_arena[1 - memory->watch_now];
  ab_arena_release(arena, 0);
  abWatch* watch = AB_TAKE(arena, abWatch, data->ncandidate);
  if (!watch) return false;
  int old = 0, nold = known ? memory->nwatch : 0;
  for (int i = 0; i < data->ncandidate; i++) {
    const int* geom = data->candidate[i];
    for (; old < nold && before(memory->watch[old].geom, geom); old++)
      *gone |= memory->watch[old].touches;
    bool found = old < nold && memcmp(memory->watch[old].geom, geom, sizeof(int[2])) == 0;
    watch[i] = found ? memory->watch[old++] : first_watch(model, geom);
  }
  for (; old < nold; old++) *gone |= memory->watch[old].touches;
  memory->watch_now = 1 - memory->watch_now;
  memory->watch = watch;
  memory->nwatch = data->ncandidate;
  return true;
}

// Pairs that are gone from the candidates are still in the table: their places are passed over.
static int pass_over(const abMemory* memory, int pair, const int geom[2]) {
  const abTable* last = &memory->table[memory->last];
  uint64_t key = (uint64_t)geom[0] << 32 | (uint64_t)geom[1];
  while (pair < last->n && last->key[pair] < key) pair++;
  return pair;
}

static void list_some(const abData* data, abWatching* w) {
  const abMemory* memory = data->memory;
  const int* still = memory->table[memory->last].still;
  int pair = 0;
  for (int i = 0; i < data->ncandidate; i++) {
    const abWatch* watch = &w->watch[i];
    if (watch->touches && w->gone) pair = pass_over(memory, pair, watch->geom);
    int own = watch->touches ? pair++ : -1;
    bool left = own < 0 || still[own] > 0;
    if (left && paths_of(memory, watch) <= watch->until) continue;
    w->todo[w->ntodo++] = (abTodo){i, own};
  }
}

abStatus ab_watch_begin(const abModel* model, abData* data, double margin, abWatching* w) {
  *w = (abWatching){.on = margin > 0, .todo = AB_TAKE(data->scratch, abTodo, data->ncandidate)};
  if (!w->todo) return AB_ERROR_MEMORY;
  if (!w->on) {
    for (int i = 0; i < data->ncandidate; i++) w->todo[w->ntodo++] = (abTodo){i, -1};
    return AB_OK;
  }
  bool known = data->memory->watched && data->memory->margin == margin;
  data->memory->watched = false;
  data->memory->margin = margin;
  if (!follow_paths(model, data) || !carry(model, data, known, &w->gone)) return AB_ERROR_MEMORY;
  w->watch = data->memory->watch;
  list_some(data, w);
  return AB_OK;
}

bool ab_watch_end(const abData* data, const abWatching* w, int candidate, bool touches,
                  double slack) {
  if (!w->on) return false;
  abWatch* watch = &w->watch[candidate];
  bool touched = watch->touches;
  watch->until = slack < 0 ? -1 : paths_of(data->memory, watch) + slack;
  watch->touches = touches;
  return touched;
}
