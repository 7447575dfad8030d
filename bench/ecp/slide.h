// The sliding cube in a peer: x, y of its centre and its yaw after each of n steps of h.
#ifndef ABUT_BENCH_SLIDE_H
#define ABUT_BENCH_SLIDE_H

#ifdef __cplusplus
extern "C" {
#endif

enum { SLIDE_STEPS = 400 };
typedef struct Slide {
  double x[SLIDE_STEPS], y[SLIDE_STEPS], yaw[SLIDE_STEPS];
} Slide;

void slide_ode(double h, Slide* out);
void slide_bullet(double h, Slide* out);
void slide_mujoco(double h, Slide* out);

#ifdef __cplusplus
}
#endif

#endif
