// Hasegawa & Sato 2004, appendix A, Figure 20: gears and a cube.
//
// "The gear at the right side is self-actuated. The friction forces between the cube and gears
// decrease the speed of the rotation." A gear of 18 teeth with a servo for its speed drives one of
// 12 by its teeth alone; the teeth are involute prisms, each flank four flat strips. First they
// turn free, then a cube comes down on the left gear, between two posts, and brakes it.
//
// Expected: the speeds are as 18 to 12 on average, since no tooth can pass another. The cube rubs
// with its weight on the tips of the teeth at the radius R and is lifted by each of them by some b,
// from which it falls without rebound: the left gear loses the torque mu m g R + m g b 12 / (2 pi),
// the right one 18/12 of it, which its servo (torque kv (target - speed)) gives up as speed.
// Friction between the teeth takes a few per cent more: about mu pi (1/12 + 1/18) / 2 of what they
// transmit.
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/experiment.h"

enum { NSAMPLE = 1200, LEFT_TEETH = 12, RIGHT_TEETH = 18 };
static const double pi = 3.141592653589793;
static const double target = 3, kv = 1,
                    damping = 0.002;  // of the servo [rad/s, N m s], of the joints
static const double mu = 0.5, weight = 0.5 * 9.8, radius = 0.068;  // of the cube on the tips
static const double hold_height = 0.4;

typedef struct Gears {
  abModel* model;
  abData* d;
  int cube, left, right;  // body, velocities
} Gears;

// Speeds over one part of the run, and what the teeth did.
typedef struct Phase {
  double left, right;  // mean speed
  double play;         // largest slip of the teeth against each other, in teeth
  double low, high;    // of the cube
} Phase;

static void require(bool ok, const abError* error) {
  if (ok) return;
  fprintf(stderr, "%s:%d: %s\n", error->file, error->line, error->message);
  exit(2);
}

static Gears gears_begin(const char* contact, double h) {
  abError error = {0};
  Gears g = {.model = ab_load(experiment_file("scenes/gears.xml"), NULL, &error)};
  require(g.model != NULL, &error);
  g.d = ab_data_create(g.model, &error);
  require(g.d != NULL, &error);
  require(ab_set_contact(g.model, g.d, contact, &error) == AB_OK, &error);
  g.d->h = h;
  g.cube = ab_find_body(g.model, "cube");
  g.left = g.model->joint[ab_find_joint(g.model, "left")].v0;
  g.right = g.model->joint[ab_find_joint(g.model, "right")].v0;
  return g;
}

// A hand holds the cube above the gear, without weight.
static void hold(Gears* g, bool held) {
  abData* d = g->d;
  double m = g->model->body[g->cube].mass;
  abVec3 x = d->com[g->cube], v = d->twist[g->cube].lin;
  d->applied[g->cube] = (abWrench){{0, 0, 0}, {0, 0, 0}};
  if (!held) return;
  double k = 200, b = 2 * sqrt(k * m);
  d->applied[g->cube].force = (abVec3){0, 0, m * 9.8 + k * (hold_height - x.z) - b * v.z};
}

static Phase run(Gears* g, double time, bool held, double* sample_left, double* sample_right) {
  abData* d = g->d;
  Phase p = {.low = INFINITY};
  int n = (int)lround(time / d->h);
  double left0 = d->q[g->left], right0 = d->q[g->right];
  for (int i = 0; i < n; i++) {
    d->ctrl[0] = target;
    hold(g, held);
    if (ab_step(g->model, d) == AB_STEP_BROKEN) {
      p.play = INFINITY;
      break;
    }
    double slip = (LEFT_TEETH * d->q[g->left] + RIGHT_TEETH * d->q[g->right]) / (2 * pi);
    p.play = fmax(p.play, fabs(slip));
    p.low = fmin(p.low, d->com[g->cube].z), p.high = fmax(p.high, d->com[g->cube].z);
    int k = (int)((long)i * (NSAMPLE / 2) / n);
    sample_left[k] = d->v[g->left], sample_right[k] = d->v[g->right];
  }
  p.left = (d->q[g->left] - left0) / time, p.right = (d->q[g->right] - right0) / time;
  return p;
}

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void claims(const char* name, double h, Phase free, Phase braked, double us) {
  char text[160];
  snprintf(text, sizeof text, "%s, h = %g ms: the driven gear turns by the ratio of teeth", name,
           1e3 * h);
  double ratio = -free.left / free.right;
  experiment_number(text, "18 / 12", (double)RIGHT_TEETH / LEFT_TEETH, ratio, 0.01, "");
  snprintf(text, sizeof text, "%s: no tooth passes another", name);
  double play = fmax(free.play, braked.play);
  experiment_claim(play < 0.1, text, "-", "the gears slip by at most %.3f teeth; %.0f us per step",
                   play, us);
  double lift = braked.high - braked.low, load = mu * radius + lift * LEFT_TEETH / (2 * pi);
  double loss = weight * load * RIGHT_TEETH / LEFT_TEETH / (kv + damping);
  snprintf(text, sizeof text, "%s: the cube slows the gears down", name);
  experiment_number(text, "speed decreases; by rubbing and lifting", loss,
                    free.right - braked.right, 0.1, "rad/s");
  snprintf(text, sizeof text, "%s: the cube stays on the gear and is moved by the teeth", name);
  experiment_claim(braked.low > 0.15 + radius + 0.03 - 0.003 && braked.high < 0.26, text, "-",
                   "its centre goes up and down by %.1f mm", 1e3 * lift);
}

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "hasegawa-gears", "Gears and a cube",
                   "Hasegawa & Sato 2004, appendix A, Fig. 20");
  static double t[NSAMPLE], left[2][NSAMPLE], right[2][NSAMPLE];
  const char* const contact[2] = {"volume-penalty", "patch"};
  const double h[2] = {2e-4, 1e-3};
  double time = experiment_is_short() ? 2 : 4;
  for (int i = 0; i < NSAMPLE; i++) t[i] = 1 + time * 2 * (i + 0.5) / NSAMPLE;
  for (int m = 0; m < 2; m++) {
    Gears g = gears_begin(contact[m], h[m]);
    double start = now();
    run(&g, 1, true, left[m], right[m]);  // gets up to speed
    Phase free = run(&g, time, true, left[m], right[m]);
    double scratch[2][NSAMPLE / 2];
    run(&g, 0.5, false, scratch[0], scratch[1]);  // the cube comes down
    Phase braked = run(&g, time, false, left[m] + NSAMPLE / 2, right[m] + NSAMPLE / 2);
    claims(contact[m], h[m], free, braked, 1e6 * (now() - start) * h[m] / (2 * time + 1.5));
    ab_data_free(g.d);
    ab_model_free(g.model);
  }
  for (int m = 0; m < 2; m++) {
    char title[80];
    snprintf(title, sizeof title, "Speeds of the gears, %s", contact[m]);
    experiment_figure(title, "time [s]", "speed [rad/s]");
    for (int i = 0; i < NSAMPLE; i++) left[m][i] = -left[m][i];
    experiment_series("right, driving", "line", NSAMPLE, t, right[m]);
    experiment_series("left, driven (reversed)", "line", NSAMPLE, t, left[m]);
  }
  return experiment_end();
}
