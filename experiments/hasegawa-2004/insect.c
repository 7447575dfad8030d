// Hasegawa & Sato 2004, appendix A, Figure 18: an insect of 27 joints walks on a floor.
//
// The legs follow a tripod gait given by sinusoids: three legs stand and swing back while the other
// three are raised and swing forward. With the phase p of a leg, its foot is fore by A cos p, and
// raised by B sin p where that is negative: on the ground from front to back, in the air from back
// to front. A standing foot turns against the floor while its leg swings, so that walking lives on
// the friction torque of the foot's area as well as on its friction force.
//
// The paper shows a film and gives no numbers; the claims are ours: it walks, it does not fall, and
// when it stops it stands still.
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/experiment.h"

enum { NSAMPLE = 1000 };
static const double stand = 0.5, still = 1.0;  // before and after walking [s]
static const double frequency = 1.25, swing = 0.35, raise = 0.3;
static const double body_length = 0.3;
static const char* const leg_name[6] = {"left_front",  "right_middle", "left_rear",
                                        "right_front", "left_middle",  "right_rear"};

typedef struct Leg {
  int yaw, lift, ankle;  // actuators
  double side;           // +1 left, -1 right
  double phase;
} Leg;

typedef struct Result {
  double distance, sideways, creep;
  double low, high, lean;  // height of the thorax, largest tilt
  double us_per_step, residual;
  int nstep, unconverged;
  bool broken;
} Result;

static void require(bool ok, const abError* error) {
  if (ok) return;
  fprintf(stderr, "%s:%d: %s\n", error->file, error->line, error->message);
  exit(2);
}

static int find(const abModel* model, const char* leg, const char* joint) {
  char name[64];
  snprintf(name, sizeof name, "%s_%s", leg, joint);
  return ab_find_actuator(model, name);
}

// The gait's amplitude grows and fades in half a second.
static double amplitude(double t, double end) {
  double s = fmin(1, fmin((t - stand) / 0.5, (end - t) / 0.5));
  return s <= 0 ? 0 : s * s * (3 - 2 * s);
}

static void drive(const Leg* leg, double t, double end, double* ctrl) {
  double a = amplitude(t, end), p = 6.283185307179586 * frequency * t;
  for (int i = 0; i < 6; i++) {
    double fore = a * swing * cos(p + leg[i].phase),
           up = a * raise * fmax(0, -sin(p + leg[i].phase));
    ctrl[leg[i].yaw] = -leg[i].side * fore;
    ctrl[leg[i].lift] = -up;
    ctrl[leg[i].ankle] = up;  // the foot stays level
  }
}

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void watch(const abData* d, int thorax, Result* r) {
  abQuat q = d->pose[thorax].q;
  r->lean = fmax(r->lean, 2 * atan2(hypot(q.x, q.y), hypot(q.w, q.z)));
  r->low = fmin(r->low, d->pose[thorax].p.z);
  r->high = fmax(r->high, d->pose[thorax].p.z);
}

static Result simulate(const char* contact, double h, double walk, double* x, double* z) {
  abError error = {0};
  abModel* model = ab_load(experiment_file("scenes/insect.xml"), NULL, &error);
  require(model != NULL, &error);
  abData* d = ab_data_create(model, &error);
  require(d != NULL, &error);
  require(ab_set_contact(model, d, contact, &error) == AB_OK, &error);
  d->h = h;
  Leg leg[6];
  for (int i = 0; i < 6; i++)
    leg[i] = (Leg){find(model, leg_name[i], "yaw"), find(model, leg_name[i], "lift"),
                   find(model, leg_name[i], "ankle"), leg_name[i][0] == 'l' ? 1 : -1,
                   i < 3 ? 0 : 3.141592653589793};
  int thorax = ab_find_body(model, "thorax");
  double end = stand + walk, total = end + still;
  Result r = {.low = INFINITY, .nstep = (int)lround(total / h)};
  abVec3 start = {0, 0, 0}, stop = {0, 0, 0};
  double begin = now();
  for (int i = 0; i < r.nstep && !r.broken; i++) {
    drive(leg, d->time, end, d->ctrl);
    abStepStatus status = ab_step(model, d);
    r.broken = status == AB_STEP_BROKEN;
    r.unconverged += status == AB_STEP_UNCONVERGED;
    r.residual = fmax(r.residual, d->stat.residual);
    watch(d, thorax, &r);
    if (d->time < stand) start = d->com[thorax];
    if (d->time < total - 0.5 * still) stop = d->com[thorax];
    long k = (long)i * NSAMPLE / r.nstep;
    x[k] = d->com[thorax].x - start.x, z[k] = d->pose[thorax].p.z;
  }
  r.us_per_step = 1e6 * (now() - begin) / r.nstep;
  abVec3 p = d->com[thorax];
  r.distance = p.x - start.x, r.sideways = fabs(p.y - start.y);
  r.creep =
      sqrt(pow(p.x - stop.x, 2) + pow(p.y - stop.y, 2) + pow(p.z - stop.z, 2)) / (0.5 * still);
  ab_data_free(d);
  ab_model_free(model);
  return r;
}

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "hasegawa-insect", "An insect of 27 joints walks",
                   "Hasegawa & Sato 2004, appendix A, Fig. 18");
  static double t[NSAMPLE], x[2][NSAMPLE], z[2][NSAMPLE];
  const char* const contact[2] = {"volume-penalty", "patch"};
  // Springs and dampers taken explicitly need a step that resolves a 20 g foot on them.
  const double h[2] = {2e-4, 1e-3};
  double walk = experiment_is_short() ? 2 : 5;
  for (int i = 0; i < NSAMPLE; i++) t[i] = (stand + walk + still) * (i + 1) / NSAMPLE;
  for (int m = 0; m < 2; m++) {
    Result r = simulate(contact[m], h[m], walk, x[m], z[m]);
    char text[160];
    double goal = experiment_is_short() ? 0.3 : 1;
    snprintf(text, sizeof text, "%s, h = %g ms: walks forward", contact[m], 1e3 * h[m]);
    experiment_claim(!r.broken && r.distance > goal * body_length && r.sideways < 0.2 * r.distance,
                     text, "a natural walking motion",
                     "%.3f m in %g s (%.2f body lengths), %.3f m sideways", r.distance, walk,
                     r.distance / body_length, r.sideways);
    snprintf(text, sizeof text, "%s: does not fall", contact[m]);
    experiment_claim(r.low > 0.06 && r.lean < 0.3, text, "-",
                     "body between %.1f and %.1f mm high, leans by at most %.1f deg", 1e3 * r.low,
                     1e3 * r.high, 57.29577951308232 * r.lean);
    snprintf(text, sizeof text, "%s: stands still when it stops", contact[m]);
    experiment_claim(r.creep < 1e-6, text, "-", "creeps at %.2g m/s", r.creep);
    snprintf(text, sizeof text, "%s: 99 %% of the steps are solved to the tolerance", contact[m]);
    experiment_claim(r.unconverged <= r.nstep / 100, text, "-",
                     "%d of %d steps not converged, worst residual %.1g; %.0f us per step",
                     r.unconverged, r.nstep, r.residual, r.us_per_step);
  }
  experiment_figure("Way of the insect", "time [s]", "forward [m]");
  for (int m = 0; m < 2; m++) experiment_series(contact[m], "line", NSAMPLE, t, x[m]);
  experiment_figure("Height of the insect's body", "time [s]", "height [m]");
  for (int m = 0; m < 2; m++) experiment_series(contact[m], "line", NSAMPLE, t, z[m]);
  return experiment_end();
}
