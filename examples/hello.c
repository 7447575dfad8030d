// A box dropped on a floor, made in code: where does it touch, with what pressure?
#include <abut/abut.h>
#include <stdio.h>

static abModel* make(abError* error) {
  abScene* scene = ab_scene_create();
  ab_scene_option(scene)->timestep = 0.002;

  abGeomDef floor = ab_geom_def();  // body 0 is the world
  floor.name = "floor";
  floor.type = AB_SHAPE_PLANE;
  int ok = ab_scene_add_geom(scene, &floor, error) >= 0;

  abBodyDef body = ab_body_def();
  body.name = "box";
  body.pose.p = (abVec3){0, 0, 0.2};
  int box = ok ? ab_scene_add_body(scene, &body, error) : -1;

  abJointDef joint = ab_joint_def();
  joint.body = box;
  joint.type = AB_JOINT_FREE;
  ok = box >= 0 && ab_scene_add_joint(scene, &joint, error) >= 0;

  abGeomDef geom = ab_geom_def();
  geom.name = "box";
  geom.body = box;
  geom.type = AB_SHAPE_BOX;
  geom.size = (abVec3){0.10, 0.05, 0.05};  // half lengths
  geom.pose.p = (abVec3){0, 0, 0.05};
  geom.mass = 2;
  ok = ok && ab_scene_add_geom(scene, &geom, error) >= 0;

  abModel* model = ok ? ab_scene_compile(scene, error) : NULL;
  ab_scene_free(scene);
  return model;
}

int main(void) {
  abError error;
  abModel* model = make(&error);
  abData* data = model ? ab_data_create(model, &error) : NULL;
  if (!data) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  while (data->time < 1) {
    data->applied[1].torque.y = data->time < 0.5 ? 0 : 0.5;  // then leans on it: body 1 is the box
    if (ab_step(model, data) == AB_STEP_BROKEN) return 1;
  }

  for (int i = 0; i < data->ncontact; i++) {
    const abContact* c = &data->contacts[i];
    printf("%s on %s: %.3f N over %.4f m2\n", model->geom[c->geom1].name,
           model->geom[c->geom2].name, c->normal_wrench.force.z, c->area);
    printf("  centre of pressure (%.4f, %.4f)\n", c->point.x, c->point.y);
    for (int k = 0; k < c->nvert; k++)
      printf("  corner (%6.3f, %6.3f)  pressure %7.1f Pa\n", c->polygon[k].x, c->polygon[k].y,
             c->pressure ? c->pressure[k] : 0);
  }
  ab_data_free(data);
  ab_model_free(model);
  return 0;
}
