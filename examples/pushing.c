// A box pushed off its centre: it slides and turns. Where friction lets it go is the whole problem.
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>

static int add_box(abScene* scene, abError* error) {
  abGeomDef floor = ab_geom_def();
  floor.type = AB_SHAPE_PLANE;
  floor.friction[0] = 0.3;
  if (ab_scene_add_geom(scene, &floor, error) < 0) return -1;
  abBodyDef body = ab_body_def();
  body.pose.p = (abVec3){0, 0, 0.05};
  int box = ab_scene_add_body(scene, &body, error);
  abJointDef joint = ab_joint_def();
  joint.body = box;
  joint.type = AB_JOINT_FREE;
  if (box < 0 || ab_scene_add_joint(scene, &joint, error) < 0) return -1;
  abGeomDef geom = ab_geom_def();
  geom.body = box;
  geom.type = AB_SHAPE_BOX;
  geom.size = (abVec3){0.1, 0.1, 0.05};
  geom.mass = 1;
  geom.friction[0] = 0.3;  // of a pair: the larger of the two
  return ab_scene_add_geom(scene, &geom, error) < 0 ? -1 : box;
}

int main(void) {
  abError error;
  abScene* scene = ab_scene_create();
  ab_scene_option(scene)->timestep = 0.001;
  int box = add_box(scene, &error);
  abModel* model = box < 0 ? NULL : ab_scene_compile(scene, &error);
  ab_scene_free(scene);
  abData* data = model ? ab_data_create(model, &error) : NULL;
  if (!data) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  printf("%6s %8s %8s %8s %8s  %s\n", "time", "x", "y", "turn", "moment", "friction");
  for (int i = 0; i <= 1000; i++) {
    // 4 N along x at the side of the box, near the floor; from 0.6 s on nothing.
    double F = data->time < 0.6 ? 4 : 0, yaw = 2 * atan2(data->pose[box].q.z, data->pose[box].q.w);
    abVec3 arm = {-0.06 * sin(yaw), 0.06 * cos(yaw), -0.04};  // where it pushes, from the centre
    data->applied[box] = (abWrench){{F, 0, 0}, {0, arm.z * F, -arm.y * F}};
    if (ab_step(model, data) == AB_STEP_BROKEN) return 1;
    if (i % 100) continue;
    const abContact* c = data->contacts;
    static const char* const mode[] = {"stick", "slip", "separating"};
    printf("%6.2f %8.3f %8.3f %8.2f %8.2f  %s\n", data->time, data->com[box].x, data->com[box].y,
           yaw, data->ncontact ? fabs(c->free_moment) : 0,
           data->ncontact ? mode[c->mode] : "apart");
  }
  ab_data_free(data);
  ab_model_free(model);
  return 0;
}
