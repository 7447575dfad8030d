// A stranger's first program: a ball falls for a second.
#include <abut/abut.h>
#include <stdio.h>

int main(void) {
  abError error;
  abScene* scene = ab_scene_create();
  abBodyDef body = ab_body_def();
  int ball = ab_scene_add_body(scene, &body, &error);
  abGeomDef geom = ab_geom_def();
  geom.body = ball, geom.type = AB_SHAPE_SPHERE, geom.size.x = 0.1;
  ab_scene_add_geom(scene, &geom, &error);
  abJointDef joint = ab_joint_def();
  joint.body = ball, joint.type = AB_JOINT_FREE;
  ab_scene_add_joint(scene, &joint, &error);
  abModel* model = ab_scene_compile(scene, &error);
  abData* data = model ? ab_data_create(model, &error) : NULL;
  if (!data) return fprintf(stderr, "%s\n", error.message), 1;
  while (data->time < 1 - 1e-9) ab_step(model, data);
  printf("z = %.4f\n", data->q[2]);
  bool right = data->q[2] < -4.8 && data->q[2] > -5;
  ab_data_free(data), ab_model_free(model), ab_scene_free(scene);
  return right ? 0 : 1;
}
