// Zhang, Wakisaka & Sugihara, section 4.1: boxes dropped in a heap; the force the floor exerts on
// the lowest one.
//
// Seven boxes of 0.2 x 0.1 x 0.05 m and 1 g fall from different heights and attitudes (the paper's
// random numbers are not given; these are ours), dt = 0.1 ms, mu 0.5 / 0.45. With contact points
// the force on the lowest box keeps dropping to zero long after the heap has come to rest; with
// contact volumes it is steady.
//
// What a heap does depends on every rounding, so several are dropped and the median of them is
// judged; each is printed.
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/experiment.h"
#include "support/world.h"

enum { NBOX = 7, MAX_SAMPLE = 60000, NHEAP = 5 };
static const double weight_of_one = 1e-3 * 9.8;
static double h = 1e-4;

static double unit_random(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

static World heap(const char* contact, uint64_t seed) {
  World w = world_begin(h, true);
  w.mu_static = 0.5, w.mu_kinetic = 0.45;
  for (int i = 0; i < NBOX; i++) {
    double q[4], norm = 0;
    for (int k = 0; k < 4; k++) q[k] = unit_random(&seed) - 0.5, norm += q[k] * q[k];
    norm = sqrt(norm);
    abVec3 p = {0.04 * (unit_random(&seed) - 0.5), 0.04 * (unit_random(&seed) - 0.5),
                0.15 + 0.22 * i};
    world_add_box(&w, (abVec3){0.1, 0.05, 0.025}, 1e-3,
                  (abPose){p, {q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm}});
  }
  world_start(&w, contact);
  return w;
}

typedef struct Force {
  double total_mean, total_deviation;  // of the floor's force on all boxes, relative to the weight
  double lowest_zero_fraction;         // samples in which the lowest box feels no floor
  double rest_speed;
} Force;

typedef struct Series {
  int n;
  double t[MAX_SAMPLE], f[MAX_SAMPLE];
} Series;

static Force measure(const char* contact, uint64_t seed, double time, Series* series) {
  World w = heap(contact, seed);
  int n = (int)(time / h + 0.5), nlast = n / 8, lowest = 1;
  double* lowest_force = malloc(sizeof(double) * (size_t)n * NBOX);
  double sum = 0, sum2 = 0;
  series->n = 0;
  for (int i = 0; i < n; i++) {
    ab_step(w.model, w.data);
    for (int b = 0; b < NBOX; b++) lowest_force[i * NBOX + b] = 0;
    for (int c = 0; c < w.data->ncontact; c++)
      if (w.data->contacts[c].body2 == 0)
        lowest_force[i * NBOX + w.data->contacts[c].body1 - 1] +=
            w.data->contacts[c].wrench.force.z;
    double total = 0;
    for (int b = 0; b < NBOX; b++) total += lowest_force[i * NBOX + b];
    if (i >= n - nlast) sum += total, sum2 += total * total;
  }
  for (int b = 1; b <= NBOX; b++)
    if (w.data->com[b].z < w.data->com[lowest].z) lowest = b;
  Force r = {0};
  int zero = 0;
  for (int i = 0; i < n; i++) {
    double x = lowest_force[i * NBOX + lowest - 1];
    if (i >= n - nlast) zero += x == 0;
    if (i % 20 == 0) series->t[series->n] = i * h, series->f[series->n++] = x;
  }
  double mean = sum / nlast, weight = NBOX * weight_of_one;
  r.total_mean = mean / weight;
  r.total_deviation = sqrt(fmax(0, sum2 / nlast - mean * mean)) / weight;
  r.lowest_zero_fraction = (double)zero / nlast;
  for (int b = 1; b <= NBOX; b++) {
    abVec3 v = w.data->twist[b].lin;
    r.rest_speed = fmax(r.rest_speed, sqrt(v.x * v.x + v.y * v.y + v.z * v.z));
  }
  free(lowest_force);
  world_free(&w);
  return r;
}

static int by_value(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

// Each number by itself: the median over the heaps.
static Force median(const Force* heap) {
  double column[4][NHEAP];
  for (int i = 0; i < NHEAP; i++) {
    column[0][i] = heap[i].total_mean, column[1][i] = heap[i].total_deviation;
    column[2][i] = heap[i].lowest_zero_fraction, column[3][i] = heap[i].rest_speed;
  }
  for (int k = 0; k < 4; k++) qsort(column[k], NHEAP, sizeof(double), by_value);
  return (Force){column[0][NHEAP / 2], column[1][NHEAP / 2], column[2][NHEAP / 2],
                 column[3][NHEAP / 2]};
}

static Force drop_all(const char* contact, const char* label, double time) {
  static Series series;
  Force heap[NHEAP];
  char line[512];
  int used = snprintf(line, sizeof line, "%s, deviation of the floor's force by heap:", contact);
  for (int i = 0; i < NHEAP; i++) {
    heap[i] = measure(contact, 11 + (uint64_t)i, time, &series);
    if (i == 0) experiment_series(label, "line", series.n, series.t, series.f);
    used += snprintf(line + used, sizeof line - (size_t)used, " %.1e", heap[i].total_deviation);
  }
  experiment_note("%s", line);
  return median(heap);
}

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "zhang-heap", "Floor force on the lowest of seven dropped boxes",
                   "Zhang, Wakisaka & Sugihara, section 4.1, Figs. 4 and 5");
  double time = experiment_is_short() ? 2.5 : 4;
  if (experiment_is_short()) h = 5e-4;
  experiment_figure("Floor force on the lowest box", "time [s]", "force [N]");
  Force point = drop_all("point-pgs", "contact points (point-pgs)", time);
  Force volume = drop_all("volume-pgs", "contact volumes (volume-pgs)", time);
  experiment_claim(volume.lowest_zero_fraction == 0,
                   "with volumes the force on the lowest box never drops to zero at rest",
                   "nearly constant (Fig. 5)",
                   "median of the heaps: zero in %.2g %% of the last eighth; speed left %.1e m/s",
                   100 * volume.lowest_zero_fraction, volume.rest_speed);
  experiment_claim(volume.total_deviation < 1e-3, "total floor force steady after settling",
                   "weight, deviation < 1e-3", "mean %.6f, deviation %.1e of the weight",
                   volume.total_mean, volume.total_deviation);
  experiment_claim(point.total_deviation > 10 * volume.total_deviation, "with points it chatters",
                   "drops to 0 often (Fig. 4)",
                   "zero in %.2g %% of the last eighth, deviation %.1e of the weight",
                   100 * point.lowest_zero_fraction, point.total_deviation);
  return experiment_end();
}
