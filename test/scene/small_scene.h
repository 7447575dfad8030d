// Scenes of a few parts, made in code.
#ifndef ABUT_TEST_SCENE_SMALL_SCENE_H
#define ABUT_TEST_SCENE_SMALL_SCENE_H

#include <abut/abut.h>

#include "math/rotation.h"
#include "support/check.h"

static inline int body(abScene* s, int parent, abPose pose) {
  abBodyDef d = ab_body_def();
  d.parent = parent;
  d.pose = pose;
  return ab_scene_add_body(s, &d, NULL);
}

static inline int joint(abScene* s, int body, abJointType type) {
  abJointDef d = ab_joint_def();
  d.body = body;
  d.type = type;
  return ab_scene_add_joint(s, &d, NULL);
}

static inline int geom(abScene* s, int body, abShapeType type, abVec3 size, abPose pose) {
  abGeomDef d = ab_geom_def();
  d.body = body;
  d.type = type;
  d.size = size;
  d.pose = pose;
  return ab_scene_add_geom(s, &d, NULL);
}

static inline abPose at(double x, double y, double z) { return (abPose){{x, y, z}, {1, 0, 0, 0}}; }

static inline abModel* compile(const abScene* s) {
  abError error = {0};
  abModel* m = ab_scene_compile(s, &error);
  if (!m) fail_msg("%s:%d: %s", error.file, error.line, error.message);
  return m;
}

static inline int cloud(abScene* s, int n, const abVec3* point, abMeshInertia rule) {
  abMeshDef d = ab_mesh_def();
  d.nvert = n;
  d.vert = point;
  d.inertia = rule;
  return ab_scene_add_mesh(s, &d, NULL);
}

static inline int mesh_geom(abScene* s, int body, int mesh, abPose pose) {
  abGeomDef d = ab_geom_def();
  d.body = body;
  d.type = AB_SHAPE_MESH;
  d.mesh = mesh;
  d.pose = pose;
  return ab_scene_add_geom(s, &d, NULL);
}

static inline abMat3 full_inertia(const abBody* b) {
  abMat3 R = quat_matrix(b->inertia_q);
  return m3_congruent_diag(&R, b->inertia);
}

static inline void check_matrix(const abMat3* a, const abMat3* b, double tolerance) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) check_near(a->m[i][j], b->m[i][j], tolerance);
}

#endif
