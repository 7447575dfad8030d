// Hasegawa & Sato 2004, experiment 1: time per step over the number of blocks.
//
// Blocks of 1 x 1 x 2 m and 1 kg, step 5 ms. The paper's arrangements of 3, 6 and 13 blocks are
// only in a picture; walls of lying blocks are used here: rows of 2+1, 3+2+1 and 5+4+3+1.
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "support/experiment.h"
#include "support/world.h"

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// `copies` walls beside each other, so that larger numbers of blocks can be timed, too.
static World walls(const char* contact, const int* row, int copies, int* nblock) {
  World w = world_begin(5e-3, true);
  *nblock = 0;
  for (int c = 0; c < copies; c++)
    for (int r = 0; row[r] > 0; r++)
      for (int i = 0; i < row[r]; i++, (*nblock)++) {
        double x = 2.05 * (i - 0.5 * (row[r] - 1)), z = 0.5 + r;
        world_add_box(&w, (abVec3){1, 0.5, 0.5}, 1, (abPose){{x, 3.0 * c, z}, {1, 0, 0, 0}});
      }
  world_start(&w, contact);
  return w;
}

// Best of three, since the machine does other things, too.
static double time_per_step(World* w, int nstep) {
  double best = INFINITY;
  for (int k = 0; k < 3; k++) {
    double start = now();
    for (int i = 0; i < nstep; i++) ab_step(w->model, w->data);
    best = fmin(best, (now() - start) / nstep);
  }
  return best;
}

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "hasegawa-1", "Time per step over the number of blocks",
                   "Hasegawa & Sato 2004, experiment 1, Fig. 10");
  const int row3[] = {2, 1, 0}, row6[] = {3, 2, 1, 0}, row13[] = {5, 4, 3, 1, 0};
  const struct {
    const int* row;
    int copies;
  } scene[] = {{row3, 1}, {row6, 1}, {row13, 1}, {row13, 4}, {row13, 16}};
  enum { N = 5 };
  const char* const contact[] = {"volume-penalty", "point-penalty", "point-pgs"};
  double x[N], y[3][N];
  int nstep = experiment_is_short() ? 50 : 300;
  experiment_figure("Time per step", "blocks", "time per step [ms]");
  experiment_log_axes(true, true);
  double sag = 0;
  for (int m = 0; m < 3; m++) {
    for (int i = 0; i < N; i++) {
      int n;
      World w = walls(contact[m], scene[i].row, scene[i].copies, &n);
      world_run(&w, 1);  // settle
      y[m][i] = 1e3 * time_per_step(&w, m == 2 ? nstep / 4 : nstep);
      x[i] = n;
      if (m == 0 && i < 3)
        sag = fmax(sag, scene[i].row[0] ? fabs(w.data->com[n].z - (i == 0   ? 1.5
                                                                   : i == 1 ? 2.5
                                                                            : 3.5))
                                        : 0);
      world_free(&w);
    }
    experiment_series(contact[m], "line", N, x, y[m]);
  }
  double exponent = log(y[0][4] / y[0][2]) / log(x[4] / x[2]);
  experiment_claim(exponent < 1.2, "time per step grows linearly with the blocks",
                   "linear (Fig. 10)",
                   "exponent %.2f from 13 to 208 blocks; %.4f, %.4f, %.4f ms for 3, 6, 13 blocks",
                   exponent, y[0][0], y[0][1], y[0][2]);
  experiment_claim(y[1][2] < y[0][2], "the point-based penalty method is faster",
                   "faster, but not stable", "%.4f ms for 13 blocks", y[1][2]);
  // Each of the top block's supports sinks by its load over k; far less than a tenth of a block is
  // standing.
  experiment_claim(sag < 0.1, "the walls stand", "blocks stand", "top block %.1f mm low after %g s",
                   1e3 * sag, 1 + 3 * nstep * 5e-3);
  experiment_note(
      "Towers instead of walls buckle with these springs: a column of n cubes stands only if k > "
      "1.53 n^3 m g / a.");
  return experiment_end();
}
