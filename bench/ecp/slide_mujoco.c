// The same scene file, read by MuJoCo with its own defaults.
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>

#include "slide.h"

void slide_mujoco(double h, Slide* out) {
  char message[512];
  mjModel* m = mj_loadXML(ABUT_SOURCE_DIR "/experiments/xie-line-surface/cube_slide.xml", NULL,
                          message, sizeof message);
  if (!m) {
    fprintf(stderr, "MuJoCo: %s\n", message);
    for (int i = 0; i < SLIDE_STEPS; i++) out->x[i] = out->y[i] = out->yaw[i] = NAN;
    return;
  }
  m->opt.timestep = h;
  mjData* d = mj_makeData(m);
  mj_resetDataKeyframe(m, d, 0);
  for (int i = 0; i < SLIDE_STEPS; i++) {
    mj_step(m, d);
    const double* q = d->qpos;
    out->x[i] = q[0], out->y[i] = q[1];
    out->yaw[i] = atan2(2 * (q[3] * q[6] + q[4] * q[5]), 1 - 2 * (q[5] * q[5] + q[6] * q[6]));
  }
  mj_deleteData(d);
  mj_deleteModel(m);
}
