// Nobody passes through anybody.
//
// Contacts are found and linearised where bodies are at the start of a step. What the solved motion
// brings is not in them where a body turns by a large angle in the step, or is struck and flies on
// to what nobody expected it to reach: a stick that strikes with one end turns over it, and its
// other end is through the wall before the next step sees it.
//
// So the motion that a step would make is followed before it is made. The gap of two convex shapes
// along any fixed direction n, in which they are apart, is a lower bound of their distance, and
// falls no faster than
//
//   rate = -n . (v1 - v2) + |n x w1| r1 + |n x w2| r2,
//
// r the farthest point from the centre of mass: conservative advancement. Where two bodies would be
// in each other by more than AB_HOLD_DEEP of the thinner one, or by AB_HOLD_UNSEEN where no contact
// of the step knows of them, both stop at the time when they began to be. The rest of the step does
// not take place for them: they keep their velocities, so momentum is kept, and the next step sees
// them touch. Gravity has not acted during that time either, and its part of the velocity is taken
// back (ab_integrate): nothing of this adds energy.
//
// Who stops is in the way of others, so the pairs of those are followed again until nobody is
// stopped any more. In most scenes nobody moves by a fifth of the thinnest body, and this ends
// where it begins. Of joint trees only the present velocities are known, and they are not stopped.
#include "holdback.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "collide/collide.h"
#include "collide/touch/touch.h"
#include "holdback_work.h"
#include "internal.h"
#include "math/spatial.h"
#include "pairs.h"

// Part of that depth by which a time is found.
#define HOLD_RESOLUTION 0.05
// A pair is followed in at most so many steps; what is left of the time then is not for them.
enum { HOLD_STEPS = 200, HOLD_ROUNDS = 100 };

static void set_flight(abHoldWork* w, int m, const double* v, const double* shift) {
  const abMover* mover = &w->model->mover[m];
  const abBody* body = &w->model->body[mover->body0];
  abFlight* f = &w->flight[m];
  *f = (abFlight){.free = !mover->jointed, .until = w->data->h};
  if (!f->free) return;
  const double *a = v + mover->dof0, *b = shift + mover->dof0;
  const abTwist* without = &w->data->internal->twist_free[mover->body0];
  f->kick = twist_sub(twist_from_array(a), *without);
  f->v = v3(a[0] + b[0], a[1] + b[1], a[2] + b[2]);
  f->spin = (abSpin){w->data->pose[mover->body0].q, v3(a[3] + b[3], a[4] + b[4], a[5] + b[5]),
                     body->inertia_q, body->inertia};
  abVec3 L = m3_apply(&w->data->inertia[mover->body0], f->spin.w);
  abVec3 change = m3_apply(&w->data->internal->inv_inertia[mover->body0], v3_cross(L, f->spin.w));
  f->bend = fmin(w->data->h * v3_norm(change), 2 * v3_norm(f->spin.w));
}

// A geom at a time of the step, and the twist of its body then, about *com.
static abPose place(const abHoldWork* w, int geom, double t, abTwist* twist, abVec3* com,
                    double* bend) {
  int body = w->model->geom[geom].body;
  abPose pose = w->data->geom_pose[geom];
  *com = w->data->com[body], *twist = twist_zero(), *bend = 0;
  if (ab_hold_stands(w, geom)) return pose;
  const abFlight* f = &w->flight[ab_hold_mover(w, geom)];
  abQuat turn;
  if (f->free) {
    double time = fmin(t, f->until);
    abSpin spin = ab_spin_free(f->spin, time);
    turn = quat_mul(spin.q, quat_conj(f->spin.q));
    // bodies welded to it move about its centre of mass
    abVec3 c = w->data->com[w->model->mover[ab_hold_mover(w, geom)].body0], r = v3_sub(pose.p, c);
    *com = v3_axpy(time, f->v, c);
    pose.p = v3_add(*com, quat_rotate(turn, r));
    if (t < f->until) *twist = (abTwist){f->v, spin.w}, *bend = f->bend;
  } else {
    *twist = w->data->twist[body];
    turn = quat_from_rotvec(v3_scale(t, twist->ang));
    abVec3 r = v3_sub(pose.p, *com);
    *com = v3_axpy(t, twist->lin, *com);
    pose.p = v3_add(*com, quat_rotate(turn, r));
  }
  pose.q = quat_mul(turn, pose.q);
  return pose;
}

// --- one pair

// The gap at a time, and how fast it can close from then on.
typedef struct Look {
  double gap, rate;
} Look;

static Look look(const abHoldWork* w, const abHoldPair* m, double t, abVec3* n, bool guess) {
  abPose pose[2];
  abVec3 com[2];
  abTwist twist[2];
  double bend[2];
  for (int k = 0; k < 2; k++) pose[k] = place(w, m->geom[k], t, &twist[k], &com[k], &bend[k]);
  const abGeom* g = w->model->geom;
  Look l;
  l.gap = ab_touch_separation(&g[m->geom[0]].shape, pose[0], &g[m->geom[1]].shape, pose[1],
                              HOLD_RESOLUTION * m->deep, guess, n);
  l.rate = -v3_dot(*n, v3_sub(twist[0].lin, twist[1].lin));
  for (int k = 0; k < 2; k++) {
    double turn =
        fmin(v3_norm(v3_cross(*n, twist[k].ang)) + bend[k], v3_norm(twist[k].ang) + bend[k]);
    if (turn > 0) l.rate += turn * ab_hold_radius(w, m->geom[k]);
  }
  return l;
}

// The normal of the pair's contact in this step or the last one, from the second geom to the first.
static bool known_normal(const abHoldWork* w, const abHoldPair* m, abVec3* n) {
  const abPair* pair = ab_hold_known(w, m->geom[0], m->geom[1]);
  if (!pair) return false;
  *n = pair->geom1 == m->geom[0] ? pair->patch.normal : v3_neg(pair->patch.normal);
  return true;
}

static double end_of(const abHoldWork* w, int geom) {
  if (ab_hold_stands(w, geom)) return 0;
  const abFlight* f = &w->flight[ab_hold_mover(w, geom)];
  return f->free ? f->until : w->data->h;
}

// Whether balls about the two never meet: most pairs that were found by their boxes.
static bool balls_miss(const abHoldWork* w, const abHoldPair* m) {
  double reach = 0, begin = 0;
  abVec3 x[2], v[2];
  double end[2] = {end_of(w, m->geom[0]), end_of(w, m->geom[1])};
  for (int k = 0; k < 2; k++) {
    reach += ab_hold_radius(w, m->geom[k]);
    x[k] = w->data->com[w->model->geom[m->geom[k]].body];
    v[k] = ab_hold_stands(w, m->geom[k]) ? v3_zero() : ab_hold_velocity(w, m->geom[k]);
  }
  if (!isfinite(reach)) return false;
  abVec3 d = v3_sub(x[0], x[1]);
  for (int part = 0; part < 2; part++) {  // until the first stops, and then
    double until = part ? fmax(end[0], end[1]) : fmin(end[0], end[1]), time = until - begin;
    abVec3 u = v3_zero();
    if (begin < end[0]) u = v3_add(u, v[0]);
    if (begin < end[1]) u = v3_sub(u, v[1]);
    double uu = v3_norm2(u), t = uu > 0 ? -v3_dot(u, d) / uu : 0;
    abVec3 nearest = v3_axpy(fmin(fmax(t, 0), time), u, d);
    if (v3_norm2(nearest) <= reach * reach) return false;
    d = v3_axpy(time, u, d), begin = until;
  }
  return true;
}

// Up to when the two may move.
static double time_of(const abHoldWork* w, const abHoldPair* m) {
  double end = fmax(end_of(w, m->geom[0]), end_of(w, m->geom[1]));
  double deep = m->deep, fine = HOLD_RESOLUTION * deep, t = 0, good = 0;
  if (balls_miss(w, m)) return end;
  abVec3 n = v3_zero();
  bool known = known_normal(w, m, &n);
  Look l = look(w, m, t, &n, known);
  // who lies deep already may stay so
  double limit = fmin(-deep, l.gap - fine), touch = fmin(0, l.gap) - fine;
  for (int i = 0; i < HOLD_STEPS; i++) {
    if (l.gap >= touch) good = t;
    if (l.gap < limit) return good;
    if (t >= end || !(l.rate > 0)) return end;
    t = fmin(end, t + (l.gap - limit + fine) / l.rate);
    l = look(w, m, t, &n, true);
  }
  return good;
}

// --- the whole

static bool take_work(abHoldWork* w) {
  abArena* scratch = w->data->internal->scratch;
  size_t n = (size_t)w->model->ngeom;
  w->flight = AB_TAKE(scratch, abFlight, w->model->nmover);
  w->next = AB_TAKE(scratch, double, w->model->nmover);
  w->thin = AB_TAKE(scratch, double, n), w->way = AB_TAKE(scratch, double, n);
  w->kick = AB_TAKE(scratch, double, n);
  w->fast = AB_TAKE(scratch, int, n), w->rank = AB_TAKE(scratch, int, n);
  return w->flight && w->next && w->thin && w->way && w->kick && w->fast && w->rank;
}

bool ab_hold_begin(abHoldWork* w, const double* v, const double* shift) {
  if (!take_work(w)) return false;
  for (int m = 0; m < w->model->nmover; m++) set_flight(w, m, v, shift);
  return true;
}

// Stops those of the meeting that move longer than it allows.
static void stop(abHoldWork* w, const abHoldPair* m, double t) {
  for (int k = 0; k < 2; k++) {
    if (ab_hold_stands(w, m->geom[k])) continue;
    int mover = ab_hold_mover(w, m->geom[k]);
    if (w->flight[mover].free) w->next[mover] = fmin(w->next[mover], t);
  }
}

// One round over the meetings that are to be followed. Whether somebody was stopped.
static bool follow(abHoldWork* w) {
  for (int m = 0; m < w->model->nmover; m++) w->next[m] = w->flight[m].until;
  for (int i = 0; i < w->nkey; i++) {
    abHoldPair* m = &w->meeting[i];
    if (!m->again) continue;
    double end = fmax(end_of(w, m->geom[0]), end_of(w, m->geom[1])), t = time_of(w, m);
    if (t < end) stop(w, m, t);
  }
  bool any = false;
  for (int i = 0; i < w->nkey; i++) {
    abHoldPair* m = &w->meeting[i];
    m->again = false;
    for (int k = 0; k < 2; k++) {
      int mover = ab_hold_mover(w, m->geom[k]);
      m->again |= mover >= 0 && w->next[mover] < w->flight[mover].until;
    }
    any |= m->again;
  }
  for (int m = 0; m < w->model->nmover; m++) w->flight[m].until = w->next[m];
  return any;
}

static abStatus follow_all(abHoldWork* w) {
  w->meeting = AB_TAKE(w->data->internal->scratch, abHoldPair, w->nkey);
  if (!w->meeting) return AB_ERROR_MEMORY;
  for (int i = 0; i < w->nkey; i++) {
    int a = (int)(w->key[i] >> 32), b = (int)(w->key[i] & 0xffffffffu);
    w->meeting[i] = (abHoldPair){{a, b}, ab_hold_deep(w, a, b), true};
  }
  for (int i = 0; i < HOLD_ROUNDS && follow(w); i++) continue;
  return AB_OK;
}

// Displacements were others than the contacts have been told.
static void forget(const abHoldWork* w) {
  const abData* data = w->data;
  size_t bytes = data->contact->memory_bytes(data->internal->param);
  for (int i = 0; i < data->internal->npair; i++) {
    int a = w->model->body[data->internal->pair[i].body1].mover,
        b = w->model->body[data->internal->pair[i].body2].mover;
    if ((a >= 0 && w->flight[a].until < data->h) || (b >= 0 && w->flight[b].until < data->h))
      memset(ab_memory_bytes(data->internal->memory, i), 0, bytes);
  }
}

abStatus ab_hold_back(const abModel* model, abData* data, const double* v, const double* shift,
                      double* share) {
  bool any = false;  // free body
  for (int m = 0; m < model->nmover; m++) share[m] = 1, any = any || !model->mover[m].jointed;
  if (!any || !data->contact || data->contact->geometry != AB_GEOMETRY_TOUCH) return AB_OK;
  abHoldWork w = {.model = model, .data = data, .unseen = AB_HOLD_UNSEEN};
  abArenaMark mark = ab_arena_mark(data->internal->scratch);
  if (!ab_hold_begin(&w, v, shift)) return AB_ERROR_MEMORY;
  abStatus status = ab_hold_near(&w) ? AB_OK : AB_ERROR_MEMORY;
  if (status == AB_OK && w.nkey) status = follow_all(&w);
  if (status == AB_OK && w.nkey) {
    for (int m = 0; m < model->nmover; m++) share[m] = w.flight[m].until / data->h;
    forget(&w);
  }
  ab_arena_release(data->internal->scratch, mark);
  return status;
}
