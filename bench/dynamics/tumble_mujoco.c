#include <mujoco/mujoco.h>
#include <stdio.h>
#include <string.h>

#include "tumble.h"

Tumble tumble_mujoco(const char* integrator) {
  char xml[512], error[256];
  TumbleMeter meter = {0};
  int length =
      snprintf(xml, sizeof xml,
               "<mujoco><option timestep='%g' gravity='0 0 0' integrator='%s'/><worldbody><body>"
               "<freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 2 "
               "3'/></body></worldbody></mujoco>",
               TUMBLE_STEP, integrator);
  mjVFS* vfs = mju_malloc(sizeof(mjVFS));
  mj_defaultVFS(vfs);
  mj_makeEmptyFileVFS(vfs, "tumble.xml", length);
  memcpy(vfs->filedata[0], xml, (size_t)length);
  mjModel* model = mj_loadXML("tumble.xml", vfs, error, sizeof error);
  mjData* data = model ? mj_makeData(model) : NULL;
  if (!data) fprintf(stderr, "MuJoCo: %s\n", error);
  // MuJoCo orders the principal moments; its free joint's angular velocity is in body axes
  if (data) data->qvel[3] = 0.01, data->qvel[4] = 5, data->qvel[5] = 0.01;
  for (int i = 0; data && i <= TUMBLE_STEPS; i++) {
    mjtNum matrix[9];
    double R[3][3];
    mju_quat2Mat(matrix, data->qpos + 3);
    memcpy(R, matrix, sizeof R);
    tumble_measure(&meter, data->qvel + 3, (const double(*)[3])R);
    mj_step(model, data);
  }
  if (data) mj_deleteData(data);
  if (model) mj_deleteModel(model);
  mj_deleteVFS(vfs);
  mju_free(vfs);
  return meter.worst;
}
