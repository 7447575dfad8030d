// A pointer: device, guard, coupling, and what the hand is allowed to feel.
//
// The guard. Whatever a device says, the coupling must see a motion without jumps: its force is
// K e + D u, so a jump of the target is a jump of the force. A sample that is no number, is
// missing, or is out of reach of the last one (farther than FASTEST_HAND times h from where that
// was going) is bad. While samples are bad the target comes to rest within some RUN_OUT, x + v T (1
// - exp(-t/T)): place and velocity are continuous. When good ones come back, the difference o to
// the guarded motion is kept and dies away like a damped oscillator, (o + (w + o / T) t) exp(-t/T),
// w the difference of the velocities: again both are continuous.
//
// The force on the hand is the opposite of what the coupling does to the pointer, shortened to the
// limit, and never changes faster than the slew. While the guarded motion is not the hand's own
// (frozen, or on its way back), the force is none of the hand's doing: it fades out, and in again.
//
// Passivity (Hannaford & Ryu 2002). The force F_k is held while the hand moves from x_k to x_k+1:
// the hand then draws F_k . (x_k+1 - x_k) from the loop. The sum is observed. When it rises above
// ALLOWED, a damper against the hand's velocity takes it back.
#include <abut/couple.h>
#include <abut/haptic.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "fits.h"
#include "math/logarithm.h"
#include "math/spatial.h"

static const double FASTEST_HAND = 10;  // m / s; a hand that throws reaches that
static const double FASTEST_R = 60;     // rad / s
static const double RUN_OUT = 0.05;     // s
static const double SILENCE = 0.1;      // s of silence while moving that count as lost
static const double ALLOWED = 2e-4;     // J
static const double BRIEF = 1e-3;       // s, over which jumps are told
static const double FADE = 0.01;        // s
static const double CLOSE = 1e-3;       // m: so near, the motion is the hand's own

typedef struct Guard {
  bool begun, bad;
  abHand last;        // the last good sample
  double last_time;   // of it
  abHand out;         // the guarded motion
  abVec3 gap, gap_v;  // out - sample, and its rate, at
  double gap_time;    // this time
  abQuat gap_q;       // turn from the sample's to the guarded orientation
  double gap_now;     // how far the guarded motion still is from the sample [m]
  double silent;      // s without news
} Guard;

struct abPointer {
  const abDeviceType* type;
  void* device;
  int body;
  abCoupling coupling;
  Guard guard;
  double slew, energy;
  double share;  // of the force that the hand is given
  bool raw;
  double brief_time;
  abVec3 brief_force;  // a millisecond ago
  abVec3 raw_last;     // the hand's own place, for the observer
  bool raw_known;
  abPointerStat stat;
};

// --- the guard ---

static bool is_number(const abHand* h) {
  double n = quat_norm(h->pose.q);
  return v3_finite(h->pose.p) && v3_finite(h->twist.lin) && v3_finite(h->twist.ang) && n > 0.5 &&
         n < 2;
}

static bool within_reach(const Guard* g, const abHand* s, double passed) {
  abVec3 expected = v3_axpy(passed, g->last.twist.lin, g->last.pose.p);
  abQuat d = quat_mul(s->pose.q, quat_conj(g->last.pose.q));
  double turn = 2 * sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
  return v3_norm(v3_sub(s->pose.p, expected)) <= FASTEST_HAND * passed &&
         v3_norm(v3_sub(s->twist.lin, g->last.twist.lin)) <= FASTEST_HAND &&
         v3_norm(v3_sub(s->twist.ang, g->last.twist.ang)) <= FASTEST_R &&
         turn <= FASTEST_R * passed + 1e-6;
}

// The motion runs out from the guarded one.
static void run_out(Guard* g, double h) {
  double keep = ab_exp(-h / RUN_OUT);
  abVec3 v = g->out.twist.lin;
  g->out.pose.p = v3_axpy(RUN_OUT * (1 - keep), v, g->out.pose.p);
  g->out.twist.lin = v3_scale(keep, v);
  abVec3 turn = v3_scale(RUN_OUT * (1 - keep), g->out.twist.ang);
  g->out.pose.q = quat_unit(quat_mul(quat_from_rotvec(turn), g->out.pose.q));
  g->out.twist.ang = v3_scale(keep, g->out.twist.ang);
}

// From now on samples are followed, beginning where the guarded motion is.
static void anchor(Guard* g, const abHand* s, double time) {
  g->gap = v3_sub(g->out.pose.p, s->pose.p);
  g->gap_v = v3_sub(g->out.twist.lin, s->twist.lin);
  g->gap_q = quat_mul(g->out.pose.q, quat_conj(s->pose.q));
  g->gap_time = time;
}

static void follow(Guard* g, const abHand* s, double time) {
  double t = time - g->gap_time, fade = ab_exp(-t / RUN_OUT);
  abVec3 w = v3_axpy(1 / RUN_OUT, g->gap, g->gap_v);
  abVec3 o = v3_scale(fade, v3_axpy(t, w, g->gap));
  abVec3 rate = v3_axpy(-1 / RUN_OUT, o, v3_scale(fade, w));
  g->out = *s;
  g->gap_now = v3_norm(o);
  g->out.pose.p = v3_add(s->pose.p, o);
  g->out.twist.lin = v3_add(s->twist.lin, rate);
  // of the turn, the same share is left
  double sign = g->gap_q.w < 0 ? -1 : 1, share = fade * (1 + t / RUN_OUT);
  abQuat left = {1 - share + share * sign * g->gap_q.w, share * sign * g->gap_q.x,
                 share * sign * g->gap_q.y, share * sign * g->gap_q.z};
  g->out.pose.q = quat_unit(quat_mul(quat_unit(left), s->pose.q));
}

static const char* why_bad(const Guard* g, abDeviceStatus status, const abHand* s, double time) {
  if (status == AB_DEVICE_LOST) return "the device is lost";
  bool moving = v3_norm(g->last.twist.lin) > 1e-3 || v3_norm(g->last.twist.ang) > 1e-2;
  if (status == AB_DEVICE_SILENT)
    return g->silent > SILENCE && moving ? "the device has stalled" : NULL;
  if (!is_number(s)) return "the device sends numbers that are none";
  if (g->begun && !g->bad && !within_reach(g, s, time - g->last_time))
    return "the device has jumped";
  return NULL;
}

// What the device says becomes a motion that can be followed; the reason where it is frozen.
static const char* guard_sample(Guard* g, abDeviceStatus status, abHand s, double time, double h) {
  if (status == AB_DEVICE_SILENT && !g->begun) return NULL;  // nothing to follow yet
  if (status == AB_DEVICE_SILENT) s = g->last, g->silent += h;
  if (status == AB_DEVICE_OK) g->silent = 0;
  const char* bad = why_bad(g, status, &s, time);
  bool jumped = bad && status == AB_DEVICE_OK && is_number(&s);
  if (bad) {
    if (g->begun) run_out(g, h);
    g->bad = true;
    // After a jump the new place counts.
    if (jumped) g->last = s, g->last_time = time, g->bad = false, anchor(g, &s, time);
    return bad;
  }
  s.pose.q = quat_unit(s.pose.q);
  // The first sample may be anywhere: the motion begins where the pointer is.
  if (!g->begun) g->begun = true, anchor(g, &s, time);
  if (g->bad) anchor(g, &s, time), g->bad = false;
  if (status == AB_DEVICE_OK) g->last = s, g->last_time = time;
  follow(g, &s, time);
  return NULL;
}

// --- opening ---

// The coupling is stable by itself for any gain (src/couple.c); what bounds it is the hand, which
// feels it a step late: K h below twice the damping that hand and handle have, some 10 N s / m
// (Colgate & Schenkel 1997), and half of what would move the pointer by itself in a step.
static void choose_gains(abPointer* p, const abModel* model, const abData* data,
                         const abPointerDef* def) {
  const abBody* b = &model->body[def->body];
  double h = data->h, mass = b->mass, I = fmax(b->inertia.x, fmax(b->inertia.y, b->inertia.z));
  double most = def->raw ? INFINITY : fmin(2 * 10 / h, 0.5 * mass / (h * h));
  double k = def->stiffness > 0 ? def->stiffness : fmin(2000, most);
  p->stat.reduced = k > most;
  k = fmin(k, most);
  double kr = def->stiffness_r > 0 ? def->stiffness_r : k * I / mass * 4;
  kr = fmin(kr, 0.5 * I / (h * h));
  p->coupling = (abCoupling){.body = def->body,
                             .grip = pose_identity(),
                             .stiffness = k,
                             .damping = def->damping > 0 ? def->damping : 2 * sqrt(k * mass),
                             .stiffness_r = kr,
                             .damping_r = 2 * sqrt(kr * I),
                             .limit = def->limit > 0 ? def->limit : 20};
  p->stat.stiffness = k, p->stat.damping = p->coupling.damping;
  p->stat.stiffness_r = kr, p->stat.damping_r = p->coupling.damping_r;
  p->slew = def->slew > 0 ? def->slew : 5;
  p->raw = def->raw;
  if (def->raw) p->coupling.limit = 0, p->slew = INFINITY;
}

abPointer* ab_pointer_open(const abModel* model, const abData* data, const abPointerDef* def,
                           abError* error) {
  if (!def || !def->type || !ab_data_fits(model, data)) {
    ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
            "a pointer needs a model, its simulation, and a type of device");
    return NULL;
  }
  if (def->body <= 0 || def->body >= model->nbody || model->body[def->body].mover < 0) {
    ab_fail(error, AB_ERROR_ARGUMENT, model->file, 0,
            "a pointer must be a body that moves; give it a free joint");
    return NULL;
  }
  abPointer* p = ab_alloc_zero(sizeof *p);
  void* device = ab_alloc_zero(def->type->bytes);
  if (!p || !device) {
    ab_free(p);
    ab_free(device);
    ab_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for a pointer");
    return NULL;
  }
  p->type = def->type, p->device = device, p->body = def->body;
  choose_gains(p, model, data, def);
  p->guard.out.pose = data->pose[def->body];
  abStatus status =
      def->type->open(device, def->arguments ? def->arguments : "", data->pose[def->body], error);
  if (status == AB_OK) return p;
  ab_free(device);
  ab_free(p);
  return NULL;
}

void ab_pointer_close(abPointer* p) {
  if (!p) return;
  if (p->type->write) p->type->write(p->device, wrench_zero());
  if (p->type->close) p->type->close(p->device);
  ab_free(p->device);
  ab_free(p);
}

const abPointerStat* ab_pointer_stat(const abPointer* p) { return p ? &p->stat : NULL; }

// --- driving ---

// The hand has moved under the force it felt.
static void observe(abPointer* p, const abHand* raw) {
  if (p->raw_known) {
    double drawn = v3_dot(p->stat.felt.force, v3_sub(raw->pose.p, p->raw_last));
    p->energy += drawn;
    p->stat.energy_drawn = fmax(p->stat.energy_drawn, p->energy);
    p->stat.energy_given = -p->energy;
  }
  p->raw_last = raw->pose.p, p->raw_known = true;
}

static abVec3 keep_passive(abPointer* p, abVec3 force, abVec3 v, double h) {
  double excess = p->energy - ALLOWED, speed2 = v3_norm2(v);
  if (p->raw || !(excess > 0) || !(speed2 > 1e-8)) return force;
  double damper = fmin(excess / (h * speed2), 50);
  p->stat.held_back += damper * speed2 * h;
  return v3_axpy(-damper, v, force);
}

static void tell_force(abPointer* p, double time) {
  const abVec3 f = p->stat.felt.force;
  p->stat.force = fmax(p->stat.force, v3_norm(f));
  if (time - p->brief_time < BRIEF * (1 - 1e-6)) return;
  p->stat.jump = fmax(p->stat.jump, v3_norm(v3_sub(f, p->brief_force)));
  p->brief_force = f, p->brief_time = time;
}

static void send(abPointer* p, abWrench applied, double time, double h) {
  bool own = !p->stat.frozen && p->guard.gap_now < CLOSE;
  p->share += ((own ? 1 : 0) - p->share) * (1 - ab_exp(-h / FADE));
  abVec3 force = v3_scale(-p->share, applied.force);
  abVec3 wish = keep_passive(p, force, p->guard.out.twist.lin, h);
  abVec3 change = v3_sub(wish, p->stat.felt.force);
  double size = v3_norm(change), most = p->slew * h / 1e-3;
  if (size > most) wish = v3_axpy(most / size, change, p->stat.felt.force);
  p->stat.felt = (abWrench){wish, v3_scale(-p->share, applied.torque)};
  tell_force(p, time);
  if (p->type->write) p->type->write(p->device, p->stat.felt);
}

void ab_pointer_drive(abPointer* p, const abModel* model, abData* data, double time) {
  if (!p || !ab_data_fits(model, data) || p->body >= model->nbody) return;
  abHand sample = p->guard.last;
  abDeviceStatus status = p->type->read(p->device, time, data->h, &sample);
  const char* bad = guard_sample(&p->guard, status, sample, time, data->h);
  if (bad && !p->stat.frozen) p->stat.nfreeze++;
  p->stat.frozen = bad != NULL;
  if (bad) p->stat.trouble = bad;
  if (!bad && p->guard.begun) observe(p, &p->guard.last);
  if (bad) p->raw_known = false;
  p->stat.hand = p->guard.out;
  // The weight of the pointer itself is not the hand's to carry.
  abWrench weight = {v3_scale(-model->body[p->body].mass, model->gravity), v3_zero()};
  if (model->body[p->body].gravity)
    data->applied[p->body] = wrench_add(data->applied[p->body], weight);
  abTwist twist = p->guard.out.twist;
  p->stat.applied = ab_couple_apply(model, data, &p->coupling, p->guard.out.pose, twist);
  send(p, p->stat.applied, time, data->h);
}
