// Torque-free tumbling: abut next to its peers in one table.
#include "tumble.h"

#include <abut/abut.h>
#include <stdio.h>

static Tumble tumble_abut(abIntegrator integrator) {
  abError error = {0};
  TumbleMeter meter = {0};
  abScene* scene = ab_scene_create();
  abSceneOption* option = ab_scene_option(scene);
  option->gravity = (abVec3){0, 0, 0};
  option->timestep = TUMBLE_STEP;
  option->integrator = integrator;
  option->contact = "none";
  abBodyDef body = ab_body_def();
  body.has_inertial = true;
  body.mass = 1;
  body.inertia[0] = 1, body.inertia[1] = 2, body.inertia[2] = 3;
  abJointDef joint = ab_joint_def();
  joint.type = AB_JOINT_FREE;
  joint.body = ab_scene_add_body(scene, &body, &error);
  ab_scene_add_joint(scene, &joint, &error);
  abModel* model = ab_scene_compile(scene, &error);
  abData* data = model ? ab_data_create(model, &error) : NULL;
  if (!data) fprintf(stderr, "abut: %s\n", error.message);
  if (data) data->v[3] = 0.01, data->v[4] = 5, data->v[5] = 0.01;
  for (int i = 0; data && i <= TUMBLE_STEPS; i++) {
    const abMat3* R = &data->R[1];
    double w[3];
    for (int k = 0; k < 3; k++)
      w[k] = R->m[0][k] * data->v[3] + R->m[1][k] * data->v[4] + R->m[2][k] * data->v[5];
    tumble_measure(&meter, w, R->m);
    ab_step(model, data);
  }
  ab_data_free(data);
  ab_model_free(model);
  ab_scene_free(scene);
  return meter.worst;
}

static void row(const char* engine, const char* integrator, Tumble t) {
  printf("  %-8s %-28s %10.1e %10.1e\n", engine, integrator, t.energy, t.momentum);
}

int main(void) {
  printf("Torque-free tumbling: moments 1, 2, 3, w = (0.01, 5, 0.01), h = 0.01 s, 20 s.\n");
  printf("Largest relative deviation of energy and angular momentum.\n\n");
  printf("  %-8s %-28s %10s %10s\n", "engine", "integrator", "energy", "momentum");
  row("abut", "semi-implicit Euler (default)", tumble_abut(AB_INTEGRATOR_EULER));
  row("abut", "RK4", tumble_abut(AB_INTEGRATOR_RK4));
#ifdef ABUT_HAVE_MUJOCO
  row("MuJoCo", "Euler (default)", tumble_mujoco("Euler"));
  row("MuJoCo", "implicit", tumble_mujoco("implicit"));
  row("MuJoCo", "RK4", tumble_mujoco("RK4"));
#else
  printf("  MuJoCo   not installed\n");
#endif
#ifdef ABUT_HAVE_BULLET
  row("Bullet",
      tumble_bullet_is_double() ? "default (double precision)" : "default (single precision)",
      tumble_bullet());
#else
  printf("  Bullet   not installed\n");
#endif
#ifdef ABUT_HAVE_ODE
  row("ODE", "default", tumble_ode());
#else
  printf("  ODE      not installed\n");
#endif
#ifdef ABUT_HAVE_DART
  row("DART", "default", tumble_dart());
#else
  printf("  DART     not installed\n");
#endif
  return 0;
}
