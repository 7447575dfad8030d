// Sleeping: islands that have come to rest cost nothing until something touches them.
//
// An island is a set of movers (free bodies, joint trees) that hang together by pairs of the narrow
// phase or by laws that join them (dynamics/laws.c); what is fixed to the world does not connect.
// It sleeps as a whole, and wakes as a whole.
//
// When. Let r be the radius of a body about its centre of mass, g gravity, h the step. The length
// r, the time sqrt(r / g), in which the body would tip over or fall by about its own size, and g h,
// the speed that a step without support gives, are all the scales there are. So a body is at rest
// when
//
//   |v| + r |w| <= speed g h           the forces on it balance to about that part of its weight,
//   its points moved <= drift r        since the beginning of the present spell,
//
// a spell being a third of rest sqrt(r / g), or of `steps` steps if that is longer, so that a large
// step does not make it an instant. Both must hold without a break for three spells. With the
// defaults this is a creep of less than 1.2e-5 sqrt(r g), 12 um/s for a body of 0.1 m: below it a
// body that creeps, rolls or tips at constant speed counts as being at rest. Nothing depends on
// units: a scene of 1 mm at 0.1 ms and its image of 100 m at 31.6 ms fall asleep in the same step.
// Without gravity the time is that of the steps.
//
// What is about to fall moves slowly, too, at first: from an unstable balance as exp(t / T), T =
// sqrt(L / g) with L its length; in a spell a single body on its edge by a factor of 2, a tower of
// 20 by 1.2. Creep at constant speed and the noise of a solver do not grow. Before it falls it may
// even slow down: on its way to the balance and away from it d = A exp(-t / T) + B exp(t / T), for
// which d1 + d3 = 2 cosh(spell / T) d2 in any three spells. So no island sleeps whose largest
// drifts in its last three spells grow, d2 > GROWTH d1 or d3 > GROWTH d2, or bend, d1 + d3 > 2
// GROWTH d2. The latter is the sign of fast settling, too, behind which such a growth may hide.
//
// Inputs must not change in that time: applied wrenches and the controls of a mover's actuators.
// Free bodies that touch nothing never sleep: nothing holds them.
//
// Asleep, velocities are exactly zero and coordinates do not change by a bit. Candidate pairs
// without an awake body are left out before the narrow phase. What the contact model remembers of
// the island's pairs, and their contacts as last reported, are kept in sleep_store.c; contacts are
// handed out with those of the others in every step.
//
// Waking is exact: when the narrow phase finds a pair of an awake body and a sleeping one, the
// whole island wakes before anything is solved, its memory goes back into the table of the last
// step, and candidates and pairs are found again. The step is then, to the bit, the one it would
// be if the island had been awake with velocity zero. Models that want pairs only (no narrow phase)
// wake what may be reached within the step. Changes of coordinates, velocities or inputs of a
// sleeping mover wake its island, those of mocap bodies, h, gravity, contact model or parameters
// all.
//
// All of it runs in one thread, in the order of movers and keys.
#include "sleep.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "contact/island.h"
#include "dynamics/kinematics.h"
#include "dynamics/laws.h"
#include "dynamics/trees.h"
#include "geometry/support.h"
#include "internal.h"
#include "math/spatial.h"
#include "sleep_store.h"
#include "state.h"

// See above. The noise of drifts is larger, but not each time.
static const double GROWTH = 1.1;
// Drifts below this many roundings of the coordinates say nothing.
static const double SLEEP_ROUNDING = 8 * DBL_EPSILON;
enum { NSPELL = 3 };

// One body in the present spell, and in the last three whole ones.
typedef struct Place {
  double radius;
  abVec3 com;  // where it began
  abQuat q;
  double drift[1 + NSPELL];  // in radii; the present one first
  abWrench applied;          // as last seen
} Place;

// One mover.
typedef struct Watch {
  double radius;  // of its largest body
  int step;       // of the present spell
  int nspell;     // whole ones at rest, up to NSPELL
  int group;      // while asleep: the first mover of its island
} Watch;

// What, if it changes, concerns all.
typedef struct Settings {
  double h;
  abVec3 gravity;
  const abContactModel* contact;
  double param[64];
} Settings;

typedef struct abSleep {
  const abModel* model;
  int nmover_asleep, nbody_asleep;
  bool woken;  // somebody woke whose pairs are still in the store
  bool* asleep;
  Place* place;   // per body
  Watch* watch;   // per mover
  double* q;      // of those asleep
  double* ctrl;   // as last seen
  abPose* mocap;  // likewise
  Settings settings;
  abSleepStore* store;
  int ncandidate;  // of the broad phase
  const int (*candidate)[2];
} abSleep;

// --- making it

// Of the ball about the centre of mass that holds the body; without geoms, of the box with its
// inertia.
static double body_radius(const abModel* model, int b) {
  const abBody* body = &model->body[b];
  double most = 0;
  for (int g = body->geom0; g < body->geom0 + body->ngeom; g++) {
    const abGeom* geom = &model->geom[g];
    if (geom->shape.type == AB_SHAPE_PLANE) continue;
    most = fmax(most, v3_norm(v3_sub(geom->pose.p, body->com)) + ab_shape_radius(&geom->shape));
  }
  if (most > 0 || !(body->mass > 0)) return most;
  abVec3 J = body->inertia;
  return sqrt(1.5 * (J.x + J.y + J.z) / body->mass);
}

abStatus ab_sleep_create(const abModel* model, struct abSleep** out, const bool** asleep) {
  abSleep* s = *out = ab_alloc_zero(sizeof *s);
  if (!s) return AB_ERROR_MEMORY;
  s->model = model;
  *asleep = s->asleep = ab_alloc_zero(sizeof *s->asleep * (size_t)(model->nbody + 1));
  s->place = ab_alloc_zero(sizeof *s->place * (size_t)(model->nbody + 1));
  s->watch = ab_alloc_zero(sizeof *s->watch * (size_t)(model->nmover + 1));
  s->q = ab_alloc_zero(sizeof *s->q * (size_t)(model->nq + 1));
  s->ctrl = ab_alloc_zero(sizeof *s->ctrl * (size_t)(model->nactuator + 1));
  s->mocap = ab_alloc_zero(sizeof *s->mocap * (size_t)(model->nmocap + 1));
  if (!s->asleep || !s->place || !s->watch || !s->q || !s->ctrl || !s->mocap)
    return AB_ERROR_MEMORY;
  for (int b = 0; b < model->nbody; b++) {
    int m = model->body[b].mover;
    if (m < 0) continue;
    s->place[b].radius = body_radius(model, b);
    s->watch[m].radius = fmax(s->watch[m].radius, s->place[b].radius);
  }
  return ab_sleep_store_create(&s->store);
}

void ab_sleep_free(struct abSleep* s) {
  if (!s) return;
  ab_sleep_store_free(s->store);
  void* array[] = {s->asleep, s->place, s->watch, s->q, s->ctrl, s->mocap};
  for (int i = 0; i < 6; i++) ab_free(array[i]);
  ab_free(s);
}

static void restart(abSleep* s, int m) { s->watch[m].step = s->watch[m].nspell = 0; }

void ab_sleep_forget(struct abSleep* s) {
  for (int b = 0; b < s->model->nbody; b++) s->asleep[b] = false;
  for (int m = 0; m < s->model->nmover; m++) restart(s, m);
  ab_sleep_store_clear(s->store);
  s->nmover_asleep = s->nbody_asleep = 0;
  s->woken = false;
}

// --- who sleeps

static bool mover_sleeps(const abSleep* s, int m) {
  return m >= 0 && s->asleep[s->model->mover[m].body0];
}

static void set_asleep(abSleep* s, int m, bool asleep) {
  const abMover* mover = &s->model->mover[m];
  for (int b = mover->body0; b < mover->body0 + mover->nbody; b++) s->asleep[b] = asleep;
  s->nmover_asleep += asleep ? 1 : -1;
  s->nbody_asleep += asleep ? mover->nbody : -mover->nbody;
  restart(s, m);
}

static void wake_group(abSleep* s, int group) {
  for (int m = group; m < s->model->nmover; m++)
    if (mover_sleeps(s, m) && s->watch[m].group == group) set_asleep(s, m, false);
  s->woken = true;
}

// Somebody did something to it.
static void disturb(abSleep* s, int m) {
  if (m < 0) return;
  if (mover_sleeps(s, m)) wake_group(s, s->watch[m].group);
  restart(s, m);
}

void ab_data_wake(abData* data, int body) {
  abSleep* s = data && data->internal ? data->internal->sleeper : NULL;
  AB_ASSERT(s && body < s->model->nbody);
  if (!s || body >= s->model->nbody) return;
  if (body >= 0) disturb(s, s->model->body[body].mover);
  for (int m = 0; m < s->model->nmover && body < 0; m++) disturb(s, m);
}

static abStatus finish_waking(abSleep* s, abData* data) {
  if (!s->woken) return AB_OK;
  s->woken = false;
  data->stat.nasleep = s->nbody_asleep;
  return ab_sleep_store_wake(s->store, s->asleep, data);
}

// --- before and during a step

// The coordinates of a mover: the first, and how many bytes.
static int coordinates(const abModel* model, int m, size_t* bytes) {
  abTreeRange joints = tree_range(model, &model->mover[m]);
  const abJoint* last = &model->joint[joints.joint1 - 1];
  int n = last->type == AB_JOINT_FREE ? 7 : last->type == AB_JOINT_BALL ? 4 : 1;
  int q0 = model->joint[joints.joint0].q0;
  *bytes = sizeof(double) * (size_t)(last->q0 + n - q0);
  return q0;
}

static bool moved_from_outside(const abSleep* s, const abData* data, int m) {
  const abMover* mover = &s->model->mover[m];
  size_t bytes;
  int q0 = coordinates(s->model, m, &bytes);
  for (int i = mover->dof0; i < mover->dof0 + mover->ndof; i++)
    if (data->v[i] != 0) return true;
  return memcmp(s->q + q0, data->q + q0, bytes) != 0;
}

static bool settings_changed(abSleep* s, const abModel* model, const abData* data) {
  Settings now = {.h = data->h, .gravity = model->gravity, .contact = data->contact};
  memcpy(now.param, data->internal->param, sizeof now.param);
  bool changed = memcmp(&now, &s->settings, sizeof now) != 0;
  s->settings = now;
  return changed;
}

// Whoever an actuator pulls on.
static void disturb_driven(abSleep* s, const abModel* model, const abActuator* a) {
  if (a->joint >= 0) disturb(s, model->body[model->joint[a->joint].body].mover);
  if (a->site >= 0) disturb(s, model->body[model->site[a->site].body].mover);
  if (a->refsite >= 0) disturb(s, model->body[model->site[a->refsite].body].mover);
  const abTendon* t = a->tendon >= 0 ? &model->tendon[a->tendon] : NULL;
  for (int i = 0; t && i < t->njoint; i++)
    disturb(s, model->body[model->joint[model->tendon_joint[t->joint0 + i].joint].body].mover);
}

static void see_inputs(abSleep* s, const abModel* model, const abData* data) {
  for (int b = 0; b < model->nbody; b++) {
    if (memcmp(&s->place[b].applied, &data->applied[b], sizeof(abWrench)) == 0) continue;
    s->place[b].applied = data->applied[b];
    disturb(s, model->body[b].mover);
  }
  for (int a = 0; a < model->nactuator; a++) {
    if (memcmp(&s->ctrl[a], &data->ctrl[a], sizeof(double)) == 0) continue;
    s->ctrl[a] = data->ctrl[a];
    disturb_driven(s, model, &model->actuator[a]);
  }
  for (int i = 0; i < model->nmocap; i++) {
    abPose now = {data->mocap_pos[i], data->mocap_quat[i]};
    if (memcmp(&s->mocap[i], &now, sizeof now) == 0) continue;
    s->mocap[i] = now;  // whom it holds, and whom it touches
    for (int m = 0; m < model->nmover; m++) disturb(s, m);
  }
}

abStatus ab_sleep_begin(const abModel* model, abData* data) {
  abSleep* s = data->internal->sleeper;
  if (!data->sleep.on && s->nmover_asleep == 0 && !s->woken) return AB_OK;
  data->stat.nasleep = s->nbody_asleep;
  if (data->contact != s->settings.contact) ab_sleep_forget(s);  // another model's memory
  if (settings_changed(s, model, data) || !data->sleep.on) ab_data_wake(data, -1);
  see_inputs(s, model, data);
  for (int m = 0; m < model->nmover && s->nmover_asleep > 0; m++)
    if (mover_sleeps(s, m) && moved_from_outside(s, data, m)) disturb(s, m);
  return finish_waking(s, data);
}

bool ab_sleep_all(const abModel* model, const abData* data) {
  return data->internal->sleeper->nmover_asleep == model->nmover && model->nmover > 0;
}

static bool geom_awake(const abSleep* s, int geom) {
  int b = s->model->geom[geom].body;
  return s->model->body[b].mover >= 0 && !s->asleep[b];
}

static abStatus filter_candidates(const abSleep* s, abData* data) {
  int(*live)[2] = ab_arena_take(data->internal->step_arena, sizeof *live * (size_t)s->ncandidate);
  if (!live) return AB_ERROR_MEMORY;
  int n = 0;
  for (int i = 0; i < s->ncandidate; i++) {
    const int* c = s->candidate[i];
    if (!geom_awake(s, c[0]) && !geom_awake(s, c[1])) continue;
    live[n][0] = c[0], live[n][1] = c[1];
    n++;
  }
  data->internal->ncandidate = n;
  data->internal->candidate = (const int(*)[2])live;
  return AB_OK;
}

abStatus ab_sleep_candidates(abData* data) {
  abSleep* s = data->internal->sleeper;
  s->ncandidate = data->internal->ncandidate;
  s->candidate = data->internal->candidate;
  return s->nmover_asleep > 0 ? filter_candidates(s, data) : AB_OK;
}

abStatus ab_sleep_touched(const abModel* model, abData* data, bool* woken) {
  abSleep* s = data->internal->sleeper;
  *woken = false;
  for (int i = 0; i < data->internal->npair && s->nmover_asleep > 0; i++) {
    int m[2] = {model->body[data->internal->pair[i].body1].mover,
                model->body[data->internal->pair[i].body2].mover};
    for (int k = 0; k < 2; k++)
      if (mover_sleeps(s, m[k])) disturb(s, m[k]);
  }
  if (!s->woken) return AB_OK;
  *woken = true;
  abStatus status = finish_waking(s, data);
  return status == AB_OK ? filter_candidates(s, data) : status;
}

abStatus ab_sleep_contacts(abData* data) {
  return ab_sleep_store_contacts(data->internal->sleeper->store, data);
}

// --- falling asleep

// The acceleration that the speeds and times of rest are measured by.
static double acceleration(const abSleep* s, const abData* data, double radius) {
  double g = v3_norm(s->model->gravity), T = data->sleep.steps * data->h;
  return g > 0 ? g : radius / (T * T);
}

static int spell_steps(const abSleep* s, const abData* data, const Watch* w) {
  double time = data->sleep.rest * sqrt(w->radius / acceleration(s, data, w->radius));
  double n = ceil(fmax(time / data->h, data->sleep.steps) / NSPELL);
  return n < 1e9 ? (int)n : 1000000000;
}

static void begin_spell(abSleep* s, const abData* data, int b) {
  Place* place = &s->place[b];
  place->com = data->com[b];
  place->q = data->pose[b].q;
  memmove(place->drift + 1, place->drift, sizeof(double) * NSPELL);
  place->drift[0] = 0;
}

// The farthest any point of the body has gone since the spell began, in radii: the chord of
// a turn by the angle a is 2 sin(a / 2), and two unit quaternions are 2 sin(a / 4) apart.
static double drift_of(const abData* data, const Place* place, int b) {
  abQuat q = data->pose[b].q, p = place->q;
  double sign = q.w * p.w + q.x * p.x + q.y * p.y + q.z * p.z < 0 ? -1 : 1;
  double w = q.w - sign * p.w, x = q.x - sign * p.x, y = q.y - sign * p.y, z = q.z - sign * p.z;
  double way = v3_norm(v3_sub(data->com[b], place->com));
  return 2 * sqrt(w * w + x * x + y * y + z * z) + (place->radius > 0 ? way / place->radius : 0);
}

static bool body_rests(const abSleep* s, const abData* data, int b) {
  Place* place = &s->place[b];
  double limit = data->sleep.speed * data->h * acceleration(s, data, place->radius);
  double speed = v3_norm(data->twist[b].lin) + place->radius * v3_norm(data->twist[b].ang);
  place->drift[0] = fmax(place->drift[0], drift_of(data, place, b));
  return speed <= limit && place->drift[0] <= data->sleep.drift;
}

// One step more of a mover that is awake. True: it has been at rest for a whole window.
static bool watch_mover(abSleep* s, const abData* data, int m) {
  const abMover* mover = &s->model->mover[m];
  Watch* w = &s->watch[m];
  bool rests = true, first = w->step == 0 && w->nspell == 0;
  for (int i = 0; i < mover->nbody; i++) {
    if (first) begin_spell(s, data, mover->body0 + i);
    rests = body_rests(s, data, mover->body0 + i) && rests;
  }
  if (!rests) {
    restart(s, m);
  } else if (++w->step >= spell_steps(s, data, w)) {
    w->step = 0;
    w->nspell = w->nspell < NSPELL ? w->nspell + 1 : NSPELL;
    for (int i = 0; i < mover->nbody; i++) begin_spell(s, data, mover->body0 + i);
  }
  return w->nspell == NSPELL;
}

// All of them at rest, and neither beginning to fall nor still settling.
static bool may_sleep(const abSleep* s, int n, const int* mover) {
  double drift[1 + NSPELL] = {0};
  for (int i = 0; i < n; i++) {
    const abMover* mv = &s->model->mover[mover[i]];
    if (s->watch[mover[i]].nspell < NSPELL) return false;
    for (int b = mv->body0; b < mv->body0 + mv->nbody; b++) {
      const Place* p = &s->place[b];
      double least = SLEEP_ROUNDING * (1 + (p->radius > 0 ? v3_norm(p->com) / p->radius : 0));
      for (int k = 1; k <= NSPELL; k++) drift[k] = fmax(drift[k], fmax(p->drift[k], least));
    }
  }
  double d1 = drift[3], d2 = drift[2], d3 = drift[1];
  return d2 <= GROWTH * d1 && d3 <= GROWTH * d2 && d1 + d3 <= 2 * GROWTH * d2;
}

static void fall_asleep(abSleep* s, abData* data, int n, const int* mover) {
  for (int i = 0; i < n; i++) {
    size_t bytes;
    int q0 = coordinates(s->model, mover[i], &bytes);
    set_asleep(s, mover[i], true);
    s->watch[mover[i]].group = mover[0];
    memcpy(s->q + q0, data->q + q0, bytes);
    const abMover* mv = &s->model->mover[mover[i]];
    memset(data->v + mv->dof0, 0, sizeof(double) * (size_t)mv->ndof);
  }
}

// Movers that a law joins, two by two: -1 where there is one only.
static int count_joins(const abData* data) {
  const abLaws* laws = data->internal->trees->laws;
  int n = 0;
  for (int i = 0; laws && i < laws->n; i++) n += laws->row[i].n;
  return n;
}

static void add_joins(const abModel* model, const abData* data, int (*mover)[2], bool* touches) {
  const abLaws* laws = data->internal->trees->laws;
  for (int i = 0, n = 0; laws && i < laws->n; i++)
    for (int k = 0; k < laws->row[i].n; k++, n++) {
      const int* dof = laws->row[i].dof;
      int first = model->body[model->joint[model->dof_joint[dof[0]]].body].mover;
      int other = model->body[model->joint[model->dof_joint[dof[k]]].body].mover;
      mover[n][0] = first, mover[n][1] = other == first ? -1 : other;
      touches[first] = touches[other] = true;
    }
}

// Islands of this step's pairs and laws: those that may fall asleep do. live: their pairs.
static abStatus lay_islands(abSleep* s, abData* data, abSleepPair* live, int* nlive) {
  const abModel* model = s->model;
  int npair = data->internal->npair, nitem = npair + count_joins(data);
  int(*mover)[2] = ab_arena_take(data->internal->scratch, sizeof *mover * (size_t)nitem);
  bool* touches = AB_TAKE(data->internal->scratch, bool, model->nmover);
  abIslands islands;
  if (!mover || !touches) return AB_ERROR_MEMORY;
  memset(touches, 0, sizeof *touches * (size_t)model->nmover);
  for (int i = 0; i < data->internal->npair; i++)
    for (int k = 0; k < 2; k++) {
      mover[i][k] =
          model->body[k == 0 ? data->internal->pair[i].body1 : data->internal->pair[i].body2].mover;
      if (mover[i][k] >= 0) touches[mover[i][k]] = true;
    }
  add_joins(model, data, mover + npair, touches);
  if (ab_islands(model->nmover, nitem, (const int(*)[2])mover, data->internal->scratch, &islands))
    return AB_ERROR_MEMORY;
  for (int i = 0; i < islands.n; i++) {
    const int* first = islands.mover + islands.mover_start[i];
    int n = islands.mover_start[i + 1] - islands.mover_start[i];
    if (may_sleep(s, n, first)) fall_asleep(s, data, n, first);
  }
  for (int m = 0; m < model->nmover; m++)
    if (!touches[m] && model->mover[m].jointed && !mover_sleeps(s, m) && may_sleep(s, 1, &m))
      fall_asleep(s, data, 1, &m);
  for (int i = 0; i < data->internal->npair; i++) {
    int m = mover[i][0] >= 0 ? mover[i][0] : mover[i][1];
    if (!mover_sleeps(s, m)) continue;
    live[(*nlive)++] = (abSleepPair){i, model->mover[s->watch[m].group].body0};
  }
  return AB_OK;
}

static abStatus lay_down(abSleep* s, abData* data) {
  int before = s->nmover_asleep, nlive = 0;
  abSleepPair* live = AB_TAKE(data->internal->scratch, abSleepPair, data->internal->npair);
  if (!live) return AB_ERROR_MEMORY;
  abStatus status = lay_islands(s, data, live, &nlive);
  if (status != AB_OK || s->nmover_asleep == before) return status;
  ab_kinematics(s->model, data);
  return ab_sleep_store_add(s->store, data, nlive, live);
}

void ab_sleep_end(const abModel* model, abData* data) {
  abSleep* s = data->internal->sleeper;
  if (data->sleep.on && s->nmover_asleep < model->nmover) {
    bool any = false;
    for (int m = 0; m < model->nmover; m++)
      if (!mover_sleeps(s, m)) any = watch_mover(s, data, m) || any;
    if (any && lay_down(s, data) != AB_OK) {
      ab_sleep_forget(s);
      data->stat.note = "no room to keep the contacts of sleeping bodies: all were woken";
    }
  }
  data->stat.nasleep = s->nbody_asleep;
}

// --- as part of a saved state

// Radii belong to the model. The contact model of the settings is told by whether it is the
// present one.
// What a block says of movers is within bounds; how many sleep is counted, not believed.
static bool watches_fit(abSleep* s) {
  const abModel* model = s->model;
  s->nmover_asleep = s->nbody_asleep = 0;
  for (int m = 0; m < model->nmover; m++) {
    const Watch* w = &s->watch[m];
    if (w->step < 0 || w->nspell < 0 || w->nspell > NSPELL || w->group < 0 ||
        w->group >= model->nmover)
      return false;
    if (!mover_sleeps(s, m)) continue;
    s->nmover_asleep++;
    s->nbody_asleep += model->mover[m].nbody;
  }
  return true;
}

void ab_sleep_walk(struct abSleep* s, const abData* data, abWalk* walk) {
  const abModel* model = s->model;
  bool same = s->settings.contact == data->contact;
  ab_walk_flags(walk, s->asleep, (size_t)model->nbody);
  for (int b = 0; b < model->nbody; b++) {
    double radius = s->place[b].radius;
    ab_walk(walk, &s->place[b], sizeof s->place[b]);
    s->place[b].radius = radius;
  }
  for (int m = 0; m < model->nmover; m++) {
    double radius = s->watch[m].radius;
    ab_walk(walk, &s->watch[m], sizeof s->watch[m]);
    s->watch[m].radius = radius;
  }
  ab_walk(walk, s->q, sizeof *s->q * (size_t)model->nq);
  ab_walk(walk, s->ctrl, sizeof *s->ctrl * (size_t)model->nactuator);
  ab_walk(walk, s->mocap, sizeof *s->mocap * (size_t)model->nmocap);
  ab_walk(walk, &s->nmover_asleep, sizeof s->nmover_asleep);
  ab_walk(walk, &s->nbody_asleep, sizeof s->nbody_asleep);
  if (walk->kind == AB_WALK_READ && walk->good) walk->good = watches_fit(s);
  ab_walk_flags(walk, &s->woken, 1);
  const abContactModel* contact = s->settings.contact;
  s->settings.contact = NULL;  // an address belongs into no file
  ab_walk(walk, &s->settings, sizeof s->settings);
  ab_walk_flags(walk, &same, 1);
  s->settings.contact = walk->kind != AB_WALK_READ ? contact : same ? data->contact : NULL;
  ab_sleep_store_walk(model, s->store, data, walk);
}
