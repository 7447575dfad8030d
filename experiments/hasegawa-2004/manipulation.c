// Hasegawa & Sato 2004, section 5.8: blocks moved by two shovels that follow the hands, at 1 kHz.
//
// Six blocks lie on the floor; two upright plates are the pointers: free bodies drawn to the hands'
// positions by a spring and a damper (a virtual coupling, as haptic devices use it). The hands'
// motion is a recording: a table of times and positions, followed smoothly. They close on the
// middle block of the front row, lift it, carry it over the back row, and put it down on top.
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "support/experiment.h"
#include "support/world.h"

enum { NBLOCK = 6, NSTEP = 6000 };
static const double h = 1e-3, side = 0.1, block_mass = 0.3, plate_mass = 0.3;

// time [s], middle of the hands x, y, z, distance between them
static const double hand[][5] = {
    {0.0, 0, 0, 0.06, 0.18},     {0.8, 0, 0, 0.06, 0.18},    {1.4, 0, 0, 0.06, 0.1},
    {2.2, 0, 0, 0.25, 0.1},      {3.2, 0, 0.25, 0.25, 0.1},  {4.2, 0, 0.25, 0.165, 0.1},
    {4.8, 0, 0.25, 0.165, 0.18}, {6.1, 0, 0.25, 0.35, 0.22},
};

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The recording between two rows, eased in and out; also its velocity.
static void follow(double time, double p[4], double v[4]) {
  int i = 0;
  while (time > hand[i + 1][0]) i++;
  double T = hand[i + 1][0] - hand[i][0], s = (time - hand[i][0]) / T;
  double ease = s * s * (3 - 2 * s), rate = 6 * s * (1 - s) / T;
  for (int k = 0; k < 4; k++) {
    double d = hand[i + 1][k + 1] - hand[i][k + 1];
    p[k] = hand[i][k + 1] + ease * d;
    v[k] = rate * d;
  }
}

// Spring and damper from the plate to its hand, and to the upright attitude.
static abWrench couple(const abData* d, int plate, const double p[3], const double v[3]) {
  double k = 2000, b = 2 * sqrt(k * plate_mass), kr = 5, br = 0.05;
  const abVec3 x = d->com[plate], u = d->twist[plate].lin, w = d->twist[plate].ang;
  abQuat q = d->pose[plate].q;
  double s = q.w < 0 ? -2 : 2;  // small rotation vector
  return (abWrench){{k * (p[0] - x.x) + b * (v[0] - u.x), k * (p[1] - x.y) + b * (v[1] - u.y),
                     k * (p[2] - x.z) + b * (v[2] - u.z) + plate_mass * 9.8},
                    {-kr * s * q.x - br * w.x, -kr * s * q.y - br * w.y, -kr * s * q.z - br * w.z}};
}

static int compare(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

typedef struct Result {
  double lifted;  // largest height of the block's centre
  double end[3];  // where it lies at the end
  double median, p99, worst;
  double squeeze;  // largest force of a plate on the block
} Result;

static Result simulate(const char* contact, double* t, double* z, double* time_us) {
  World w = world_begin(h, true);
  w.mu_static = w.mu_kinetic = 0.6;
  for (int i = 0; i < NBLOCK; i++)
    world_add_box(&w, (abVec3){side / 2, side / 2, side / 2}, block_mass,
                  (abPose){{0.25 * (i % 3 - 1), i < 3 ? 0 : 0.25, side / 2}, {1, 0, 0, 0}});
  int plate[2];
  for (int s = 0; s < 2; s++)
    plate[s] = world_add_box(&w, (abVec3){0.005, 0.05, 0.05}, plate_mass,
                             (abPose){{s ? 0.09 : -0.09, 0, 0.06}, {1, 0, 0, 0}});
  world_start(&w, contact);
  int block = 2;
  Result r = {0};
  for (int i = 0; i < NSTEP; i++) {
    double p[4], v[4];
    follow(w.data->time, p, v);
    for (int s = 0; s < 2; s++) {
      double sign = s ? 1 : -1;
      const double target[3] = {p[0] + sign * p[3] / 2, p[1], p[2]},
                   speed[3] = {v[0] + sign * v[3] / 2, v[1], v[2]};
      w.data->applied[plate[s]] = couple(w.data, plate[s], target, speed);
    }
    double start = now();
    if (ab_step(w.model, w.data) == AB_STEP_BROKEN) break;
    time_us[i] = 1e6 * (now() - start);
    t[i] = w.data->time;
    z[i] = w.data->com[block].z;
    r.lifted = fmax(r.lifted, z[i]);
    abVec3 f = world_force_on(&w, plate[0]);
    r.squeeze = fmax(r.squeeze, sqrt(f.x * f.x + f.y * f.y + f.z * f.z));
  }
  r.end[0] = w.data->com[block].x, r.end[1] = w.data->com[block].y, r.end[2] = w.data->com[block].z;
  qsort(time_us, NSTEP, sizeof *time_us, compare);
  r.median = time_us[NSTEP / 2], r.p99 = time_us[NSTEP * 99 / 100], r.worst = time_us[NSTEP - 1];
  world_free(&w);
  return r;
}

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "hasegawa-manipulation", "Six blocks and two shovels moved by hand",
                   "Hasegawa & Sato 2004, section 5.8, Fig. 16");
  static double t[NSTEP], z[2][NSTEP], us[2][NSTEP], share[NSTEP];
  const char* const contact[2] = {"volume-penalty", "patch"};
  for (int i = 0; i < NSTEP; i++) share[i] = 100.0 * i / NSTEP;
  Result r[2];
  for (int m = 0; m < 2; m++) r[m] = simulate(contact[m], t, z[m], us[m]);
  experiment_figure("Height of the carried block", "time [s]", "height [m]");
  for (int m = 0; m < 2; m++) experiment_series(contact[m], "line", NSTEP, t, z[m]);
  experiment_figure("Time of a step", "share of steps [%]", "time [us]");
  for (int m = 0; m < 2; m++)
    experiment_series(contact[m], "line", NSTEP * 999 / 1000, share, us[m]);
  for (int m = 0; m < 2; m++) {
    char text[128];
    snprintf(text, sizeof text, "%s: the block is lifted, carried and put on another", contact[m]);
    bool on_top = fabs(r[m].end[2] - 1.5 * side) < 0.1 * side &&
                  hypot(r[m].end[0], r[m].end[1] - 0.25) < 0.3 * side;
    experiment_claim(r[m].lifted > 0.2 && on_top, text, "blocks can be piled by hand",
                     "lifted to %.3f m, ends at (%.3f, %.3f, %.3f), squeezed with %.1f N",
                     r[m].lifted, r[m].end[0], r[m].end[1], r[m].end[2], r[m].squeeze);
    snprintf(text, sizeof text, "%s: fast enough for a haptic device at 1 kHz", contact[m]);
    experiment_claim(r[m].p99 < 1000, text, "1 kHz",
                     "median %.0f us, 99 %% below %.0f us, longest %.0f us", r[m].median, r[m].p99,
                     r[m].worst);
  }
  return experiment_end();
}
