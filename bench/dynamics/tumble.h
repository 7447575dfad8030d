// The torque-free tumbling test: principal moments 1, 2, 3, w = (0.01, 5, 0.01), h = 0.01 s, 20 s.
// Each engine, at its defaults, reports how far energy and angular momentum strayed.
#ifndef ABUT_BENCH_TUMBLE_H
#define ABUT_BENCH_TUMBLE_H

#include <math.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TUMBLE_STEPS = 2000 };
#define TUMBLE_STEP 0.01

typedef struct Tumble {
  double energy, momentum;  // largest relative deviations from the start
} Tumble;

// Follows one run: w in the body's axes, R[row][column] body -> world.
typedef struct TumbleMeter {
  int started;
  double e0, L0[3];
  Tumble worst;
} TumbleMeter;

static inline void tumble_measure(TumbleMeter* m, const double w[3], const double R[3][3]) {
  double p[3] = {w[0], 2 * w[1], 3 * w[2]}, L[3], d = 0, size = 0;
  double e = w[0] * p[0] + w[1] * p[1] + w[2] * p[2];
  for (int i = 0; i < 3; i++) L[i] = R[i][0] * p[0] + R[i][1] * p[1] + R[i][2] * p[2];
  if (!m->started) {
    m->started = 1;
    m->e0 = e;
    for (int i = 0; i < 3; i++) m->L0[i] = L[i];
  }
  for (int i = 0; i < 3; i++) {
    d += (L[i] - m->L0[i]) * (L[i] - m->L0[i]);
    size += m->L0[i] * m->L0[i];
  }
  m->worst.energy = fmax(m->worst.energy, fabs(e / m->e0 - 1));
  m->worst.momentum = fmax(m->worst.momentum, sqrt(d / size));
}

// integrator: MuJoCo's name for it
Tumble tumble_mujoco(const char* integrator);
Tumble tumble_bullet(void);
bool tumble_bullet_is_double(void);  // precision of the build that is linked
Tumble tumble_ode(void);
Tumble tumble_dart(void);

#ifdef __cplusplus
}
#endif

#endif
