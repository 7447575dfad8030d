// Zhang, Wakisaka & Sugihara, section 4.2: time per step over the number of boxes, for contact
// points, the direct and the iterative volume method.
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "support/experiment.h"
#include "support/world.h"

static const double h = 1e-4;

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double unit_random(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

// Boxes of 1 g in two layers on a grid, dropped from a hand's height, so that contacts grow with
// their number; the mean time of a step from the fall to rest. Both iterative methods get the same
// number of sweeps.
static double time_per_step(const char* contact, int n, double simulated, double* pairs) {
  World w = world_begin(h, true);
  w.mu_static = 0.5, w.mu_kinetic = 0.45;
  uint64_t seed = 3;
  for (int i = 0; i < n; i++) {
    double q[4], norm = 0;
    for (int k = 0; k < 4; k++) q[k] = unit_random(&seed) - 0.5, norm += q[k] * q[k];
    norm = sqrt(norm);
    int column = i / 2;
    abVec3 p = {0.16 * (column % 5) + 0.02 * unit_random(&seed), 0.16 * (column / 5),
                0.12 + 0.2 * (i % 2)};
    world_add_box(&w, (abVec3){0.1, 0.05, 0.025}, 1e-3,
                  (abPose){p, {q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm}});
  }
  world_start(&w, contact);
  if (contact[0] != 'v' || contact[7] == 'p') world_set_param(&w, "sweeps", 50);
  int nstep = (int)(simulated / h);
  double start = now(), sum = 0;
  for (int i = 0; i < nstep; i++) ab_step(w.model, w.data), sum += w.data->npair;
  *pairs = sum / nstep;
  double time = (now() - start) / nstep;
  world_free(&w);
  return time;
}

// Slope of log y over log x by least squares.
static double exponent(int n, const double* x, const double* y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int i = 0; i < n; i++) {
    double a = log(x[i]), b = log(y[i]);
    sx += a, sy += b, sxx += a * a, sxy += a * b;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "zhang-time", "Time per step over the number of boxes",
                   "Zhang, Wakisaka & Sugihara, section 4.2, Fig. 8");
  enum { N = 5 };
  const char* const contact[3] = {"point-pgs", "volume-pgs", "volume-qp"};
  int count[3];
  double x[N], y[3][N], pairs[3][N], simulated = experiment_is_short() ? 0.15 : 0.3;
  experiment_figure("Time per step", "boxes", "time per step [ms]");
  experiment_log_axes(true, true);
  for (int m = 0; m < 3; m++) {
    // The direct method is slow: the short form leaves out its larger numbers.
    count[m] = m == 2 && experiment_is_short() ? 3 : N;
    for (int i = 0; i < count[m]; i++) {
      int n = 10 * (i + 1);
      x[i] = n;
      y[m][i] = 1e3 * time_per_step(contact[m], n, simulated, &pairs[m][i]);
      printf("       %-10s n = %d: %.4f ms, %.1f pairs\n", contact[m], n, y[m][i], pairs[m][i]);
    }
    experiment_series(contact[m], "line", count[m], x, y[m]);
  }
  double ratio = 0, per_pair = 0;
  for (int i = 0; i < N; i++) {
    ratio = fmax(ratio, y[1][i] / y[0][i]);
    per_pair += y[1][i] / pairs[1][i] / (y[0][i] / pairs[0][i]) / N;
  }
  double points = exponent(N, x, y[0]), iterative = exponent(N, x, y[1]),
         direct = exponent(count[2], x, y[2]);
  // Timing on a shared machine: claims are on growth, with room for noise.
  experiment_claim(iterative < 1.4, "the iterative method grows about linearly", "linear",
                   "exponent %.2f (points: %.2f)", iterative, points);
  experiment_claim(direct > iterative + 0.3, "the direct method grows faster",
                   "cubic in the contacts", "exponent %.2f", direct);
  experiment_claim(ratio < 2, "iterative volumes cost about as much as points",
                   "about the same (Fig. 8)",
                   "at most %.2f times the time of a step (%.2f times per touching pair, mean over "
                   "n), 50 sweeps each",
                   ratio, per_pair);
  experiment_note(
      "50 boxes: points %.3f ms, volumes %.3f ms; %d boxes direct: %.3f ms a step. The authors' "
      "published volume solver "
      "takes 4.3 ms (10 boxes) to 307 ms (50 boxes) on such a machine.",
      y[0][4], y[1][4], 10 * count[2], y[2][count[2] - 1]);
  return experiment_end();
}
