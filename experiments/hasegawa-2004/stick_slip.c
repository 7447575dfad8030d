// Hasegawa & Sato 2004, experiment 3: a block pulled by a spring sticks and slips.
//
// 2 kg, spring 400 N/m whose end moves at V = 0.0642 m/s, friction 0.265 / 0.160. With w =
// sqrt(K/m) and a = (mu0 - mu) m g / K:
//   slip  t = (2/w)(pi - atan(w a / V)),  stick t = 2 a / V,  tension between mu m g -+ K sqrt(a^2
//   + (V/w)^2).
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>

#include "support/experiment.h"
#include "support/world.h"

static const double m = 2, K = 400, V = 0.0642, mu0 = 0.265, mu = 0.160, g = 9.8;
enum { MAX_STEP = 40000 };

typedef struct Cycle {
  double period, advance, tension_min, tension_max, onset;
} Cycle;

static Cycle simulate(const char* contact, double h, double time, double* t, double* f, int* n) {
  World w = world_begin(h, true);
  w.mu_static = mu0, w.mu_kinetic = mu;
  int body = world_add_box(&w, (abVec3){0.05, 0.05, 0.02}, m, (abPose){{0, 0, 0.02}, {1, 0, 0, 0}});
  world_start(&w, contact);
  world_run(&w, 0.5);
  Cycle c = {.tension_min = INFINITY, .tension_max = -INFINITY};
  double x0 = w.data->com[body].x, start = w.data->time, onset_time[64], onset_x[64],
         onset_force = 0;
  int nonset = 0, nstep = (int)(time / h);
  bool sliding = false;
  *n = 0;
  for (int i = 0; i < nstep; i++) {
    double tension = K * (V * (w.data->time - start) - (w.data->com[body].x - x0));
    // Pulled at the height of friction, as the paper's block is low.
    w.data->applied[body] = (abWrench){{tension, 0, 0}, {0, -0.02 * tension, 0}};
    ab_step(w.model, w.data);
    double v = w.data->twist[body].lin.x;
    bool slides = v > 0.05 * V;
    if (slides && !sliding && nonset < 64) {
      onset_time[nonset] = w.data->time, onset_x[nonset++] = w.data->com[body].x;
      onset_force = tension;
    }
    sliding = slides;
    if (nonset >= 2)
      c.tension_min = fmin(c.tension_min, tension), c.tension_max = fmax(c.tension_max, tension);
    if (i % 10 == 0 && *n < MAX_STEP) t[*n] = w.data->time - start, f[(*n)++] = tension;
  }
  if (nonset >= 3) {
    // The first slips start from a slack spring; the cycle is taken from the second on.
    c.period = (onset_time[nonset - 1] - onset_time[1]) / (nonset - 2);
    c.advance = (onset_x[nonset - 1] - onset_x[1]) / (nonset - 2);
  }
  c.onset = onset_force;
  world_free(&w);
  return c;
}

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "hasegawa-3", "Stick and slip",
                   "Hasegawa & Sato 2004, experiment 3, Figs. 14 and 15");
  double w = sqrt(K / m), a = (mu0 - mu) * m * g / K, pi = 3.141592653589793;
  double period = 2 / w * (pi - atan(w * a / V)) + 2 * a / V, swing = K * hypot(a, V / w);
  static double t[MAX_STEP], f[MAX_STEP];
  int n;
  double time = experiment_is_short() ? 2.5 : 6;
  experiment_figure("Tension of the spring", "time [s]", "tension [N]");
  Cycle c = simulate("volume-penalty", 2e-4, time, t, f, &n);
  experiment_series("volume-penalty, 0.2 ms", "line", n, t, f);
  experiment_number("period, volume-penalty at 0.2 ms",
                    "0.4847 s closed form; 0.485 s from the measured parameters", period, c.period,
                    0.01, "s");
  experiment_number("advance in a cycle", "31.1 mm", V * period, c.advance, 0.01, "m");
  experiment_number("largest tension", "5.88 N", mu * m * g + swing, c.tension_max, 0.02, "N");
  experiment_number("smallest tension", "0.39 N", mu * m * g - swing, c.tension_min, 0.1, "N");
  experiment_number("tension at which it slips", "5.194 N = mu0 m g", mu0 * m * g, c.onset, 0.02,
                    "N");
  Cycle p = simulate("patch", 1e-3, time, t, f, &n);
  experiment_series("patch, 1 ms", "dash", n, t, f);
  experiment_number("period, patch at 1 ms", "0.4847 s closed form", period, p.period, 0.02, "s");
  return experiment_end();
}
