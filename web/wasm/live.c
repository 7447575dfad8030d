// What the live page asks of the library: one simulation, controlled by numbers. Compiled to
// WebAssembly; the page reads results where the functions point.
#include <abut/abut.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name)))

typedef struct Hand {
  bool on;
  abCoupling coupling;
  abVec3 target, last;  // now, and at the last step
  abWrench wrench;      // of the last step
} Hand;

enum { NHAND = 4 };

typedef struct Live {
  abModel* model;
  abData* data;
  unsigned char* room;  // for bytes from the page
  double* friction;  // as the file has them: per geom friction[3], mu_static; per pair friction[5]
  unsigned char* frame;
  size_t frame_room;
  Hand hand[NHAND];
  abError error;
} Live;

static Live live;

EXPORT(live_room) void* live_room(int n) {
  free(live.room);
  return live.room = malloc((size_t)n);
}

EXPORT(live_error) const char* live_error(void) { return live.error.message; }

static void forget(void) {
  ab_data_free(live.data);
  ab_model_free(live.model);
  free(live.friction);
  live.data = NULL, live.model = NULL, live.friction = NULL;
  memset(live.hand, 0, sizeof live.hand);
}

static void keep_friction(void) {
  for (int i = 0; i < live.model->ngeom; i++) {
    memcpy(live.friction + 4 * i, live.model->geom[i].friction, 3 * sizeof(double));
    live.friction[4 * i + 3] = live.model->geom[i].mu_static;
  }
  double* pair = live.friction + 4 * live.model->ngeom;
  for (int i = 0; i < live.model->npair_rule; i++)
    memcpy(pair + 5 * i, live.model->pair_rule[i].friction, 5 * sizeof(double));
}

// The model of the n bytes in the room; 0 where it is good, else live_error says why not.
EXPORT(live_load) int live_load(int n) {
  forget();
  live.model = ab_model_load_memory("the scene of this page", live.room, (size_t)n, &live.error);
  if (live.model) live.data = ab_data_create(live.model, &live.error);
  if (!live.data) return 1;
  live.friction =
      malloc(sizeof(double) * (size_t)(4 * live.model->ngeom + 5 * live.model->npair_rule + 1));
  if (!live.friction) return strcpy(live.error.message, "no memory"), 1;
  keep_friction();
  return 0;
}

EXPORT(live_reset) int live_reset(int key) {
  for (int i = 0; i < NHAND; i++) live.hand[i].on = false;
  return ab_data_reset(live.model, live.data, key) == AB_OK ? 0 : 1;
}

// --- hands ---

// Takes hold of a body at a point of the world, or lets go (body < 0). `frequency`: how fast it
// follows [rad / s]; `limit`: the largest force [N].
EXPORT(live_grab)
void live_grab(int hand, int body, double x, double y, double z, double frequency, double limit) {
  Hand* h = &live.hand[hand];
  h->on = body > 0 && live.model->body[body].mover >= 0;
  h->wrench = (abWrench){{0, 0, 0}, {0, 0, 0}};
  if (!h->on) return;
  h->coupling = ab_coupling(live.model, body, frequency);
  abPose p = live.data->pose[body];
  abVec3 d = {x - p.p.x, y - p.p.y, z - p.p.z};
  const abMat3* R = &live.data->R[body];
  h->coupling.grip.p = (abVec3){R->m[0][0] * d.x + R->m[1][0] * d.y + R->m[2][0] * d.z,
                                R->m[0][1] * d.x + R->m[1][1] * d.y + R->m[2][1] * d.z,
                                R->m[0][2] * d.x + R->m[1][2] * d.y + R->m[2][2] * d.z};
  // What is held does not swing for ever: turning about the grip is damped over some five times
  // what it takes to follow.
  const abBody* held = &live.model->body[body];
  const abVec3 I = held->inertia, c = held->com, g = h->coupling.grip.p;
  double arm2 = (g.x - c.x) * (g.x - c.x) + (g.y - c.y) * (g.y - c.y) + (g.z - c.z) * (g.z - c.z);
  h->coupling.damping_r = frequency / 5 * (fmax(I.x, fmax(I.y, I.z)) + held->mass * arm2);
  h->coupling.limit = limit;
  h->target = h->last = (abVec3){x, y, z};
}

EXPORT(live_move) void live_move(int hand, double x, double y, double z) {
  live.hand[hand].target = (abVec3){x, y, z};
}

EXPORT(live_limit) void live_limit(int hand, double limit) {
  live.hand[hand].coupling.limit = limit;
}

// The force of a hand in the last step, the point it acts at, and its target: 9 numbers.
EXPORT(live_hand) const double* live_hand(int hand) {
  static double out[9];
  const Hand* h = &live.hand[hand];
  const abPose p = live.data->pose[h->coupling.body];
  const abMat3* R = &live.data->R[h->coupling.body];
  const abVec3 g = h->coupling.grip.p, f = h->wrench.force;
  const double all[9] = {f.x,
                         f.y,
                         f.z,
                         p.p.x + R->m[0][0] * g.x + R->m[0][1] * g.y + R->m[0][2] * g.z,
                         p.p.y + R->m[1][0] * g.x + R->m[1][1] * g.y + R->m[1][2] * g.z,
                         p.p.z + R->m[2][0] * g.x + R->m[2][1] * g.y + R->m[2][2] * g.z,
                         h->target.x,
                         h->target.y,
                         h->target.z};
  memcpy(out, all, sizeof out);
  return out;
}

static void apply_hands(void) {
  memset(live.data->applied, 0, sizeof(abWrench) * (size_t)live.model->nbody);
  for (int i = 0; i < NHAND; i++) {
    Hand* h = &live.hand[i];
    if (!h->on) continue;
    abPose target = {h->target, {1, 0, 0, 0}};
    h->wrench = ab_couple_apply(live.model, live.data, &h->coupling, target,
                                (abTwist){{0, 0, 0}, {0, 0, 0}});
  }
}

// --- stepping ---

// Up to n steps; how many were done. Fewer where one broke down.
EXPORT(live_step) int live_step(int n) {
  for (int i = 0; i < n; i++) {
    apply_hands();
    if (ab_step(live.model, live.data) == AB_STEP_BROKEN) return i;
  }
  return n;
}

EXPORT(live_time) double live_time(void) { return live.data->time; }
EXPORT(live_hash) uint64_t live_hash(void) { return ab_state_hash(live.model, live.data); }
EXPORT(live_set_step) void live_set_step(double h) { live.data->h = h; }
// What went wrong in the last step, as a sentence.
EXPORT(live_why) const char* live_why(void) {
  static char text[256];
  return ab_step_text(live.model, live.data, text, sizeof text);
}
EXPORT(live_ctrl) void live_ctrl(int i, double x) { live.data->ctrl[i] = x; }
EXPORT(live_get_ctrl) double live_get_ctrl(int i) { return live.data->ctrl[i]; }

// The model whose name is the text in the room ("": the scene's).
EXPORT(live_contact) int live_contact(void) {
  const char* name = (const char*)live.room;
  return ab_set_contact(live.model, live.data, name[0] ? name : live.model->contact, &live.error) ==
                 AB_OK
             ? 0
             : 1;
}

// The parameter whose name is the text in the room.
EXPORT(live_param) int live_param(double value) {
  return ab_set_param(live.data, (const char*)live.room, value, &live.error) == AB_OK ? 0 : 1;
}

// All frictions of the scene times this. Contacts are forgotten: they know the old ones.
EXPORT(live_friction) void live_friction(double factor) {
  abGeom* geom = (abGeom*)live.model->geom;
  for (int i = 0; i < live.model->ngeom; i++) {
    const double* from = live.friction + 4 * i;
    for (int k = 0; k < 3; k++) geom[i].friction[k] = factor * from[k];
    geom[i].mu_static = from[3] < 0 ? from[3] : factor * from[3];
  }
  abPairRule* pair = (abPairRule*)live.model->pair_rule;
  for (int i = 0; i < live.model->npair_rule; i++)
    for (int k = 0; k < 5; k++)
      pair[i].friction[k] = factor * live.friction[4 * live.model->ngeom + 5 * i + k];
  const abContactModel* contact = live.data->contact;
  ab_set_contact(live.model, live.data, contact ? contact->name : "none", &live.error);
}

// --- results ---

// The state as include/abut/frame.h lays it out: where it is, and how long. The page looks at the
// hands one by one.
EXPORT(live_frame) const unsigned char* live_frame(void) {
  size_t n = ab_frame_bytes(live.model, live.data, 0);
  if (n > live.frame_room) {
    free(live.frame);
    live.frame_room = 2 * n;
    live.frame = malloc(live.frame_room);
  }
  if (live.frame) ab_frame_write(live.model, live.data, 0, NULL, live.frame);
  return live.frame;
}

// The power friction turns into heat: force times slip speed, over all contacts [W].
EXPORT(live_slip_power) double live_slip_power(void) {
  double sum = 0;
  for (int i = 0; i < live.data->ncontact; i++) {
    const abContact* c = &live.data->contacts[i];
    if (c->mode != AB_CONTACT_SLIP) continue;
    const abVec3 f = c->friction_wrench.force;
    sum += sqrt(f.x * f.x + f.y * f.y + f.z * f.z) * hypot(c->slip[0], c->slip[1]);
  }
  return sum;
}
