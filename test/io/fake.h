// A model and a state written by hand, so that recorders are tested without a simulation: a plane,
// a free box whose name needs quoting in CSV, a hinged arm, and contacts that come and go.
#ifndef ABUT_TEST_IO_FAKE_H
#define ABUT_TEST_IO_FAKE_H

#include <abut/abut.h>
#include <string.h>

#include "support/random.h"

enum { FAKE_NBODY = 3, FAKE_NQ = 8, FAKE_NV = 7 };

typedef struct Fake {
  abModel model;
  abBody body[FAKE_NBODY];
  abJoint joint[2];
  abGeom geom[3];
  abMesh mesh[1];
  abVec3 vert[4];
  int triangle[4][3];
  abData data;
  abContactModel contact_model;
  double q[FAKE_NQ], v[FAKE_NV];
  abPose pose[FAKE_NBODY];
  abVec3 com[FAKE_NBODY];
  abTwist twist[FAKE_NBODY];
  abMat3 R[FAKE_NBODY];
  abContact contact[2];
  abVec3 polygon[2][4];
  double pressure[2][4];
} Fake;

static inline void fake_geom(abGeom* g, const char* name, int body, abShapeType type, abVec3 size) {
  *g = (abGeom){.name = name, .body = body, .shape = {.type = type, .size = size}, .mesh = -1};
  g->pose.q = quat_identity();
  g->friction[0] = 0.5;
  g->mu_static = g->e_r = -1;
  g->rgba[0] = g->rgba[1] = g->rgba[2] = 0.5f;
  g->rgba[3] = 1;
}

static inline void fake_body(abBody* b, const char* name, int mover, int geom) {
  *b =
      (abBody){.name = name, .mover = mover, .geom0 = geom, .ngeom = 1, .mass = 1, .gravity = true};
  b->pose.q = b->inertia_q = quat_identity();
  b->inertia = v3(1, 2, 2.5);
}

static inline void fake_init(Fake* f) {
  memset(f, 0, sizeof *f);
  fake_body(&f->body[0], "world", -1, 0);
  fake_body(&f->body[1], "a \"big\", box", 0, 1);
  fake_body(&f->body[2], "arm", 1, 2);
  f->body[1].njoint = f->body[2].njoint = f->body[2].joint0 = 1;
  f->body[1].com = v3(0.1, 0, 0);
  f->joint[0] = (abJoint){.name = "free", .type = AB_JOINT_FREE, .body = 1};
  f->joint[1] = (abJoint){.name = "hinge", .type = AB_JOINT_HINGE, .body = 2, .q0 = 7, .v0 = 6};
  f->joint[1].axis = v3(0, 1, 0);
  fake_geom(&f->geom[0], "floor", 0, AB_SHAPE_PLANE, v3(0, 0, 1));
  fake_geom(&f->geom[1], "box", 1, AB_SHAPE_BOX, v3(0.5, 0.25, 0.125));
  fake_geom(&f->geom[2], "tetra", 2, AB_SHAPE_MESH, v3(1, 1, 1));
  f->geom[2].mesh = 0;
  f->vert[1] = v3(1, 0, 0), f->vert[2] = v3(0, 1, 0), f->vert[3] = v3(0, 0, 1);
  static const int triangle[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  memcpy(f->triangle, triangle, sizeof triangle);
  f->mesh[0] = (abMesh){"tetra", "tetra.stl", 4, 4, f->vert, (const int(*)[3])f->triangle};
  f->contact_model.name = "patch";
  f->model =
      (abModel){.name = "fake", .file = "fake.xml", .gravity = {0, 0, -9.81}, .timestep = 0.01};
  f->model.nbody = FAKE_NBODY, f->model.njoint = 2, f->model.ngeom = 3, f->model.nmesh = 1;
  f->model.nq = FAKE_NQ, f->model.nv = FAKE_NV;
  f->model.body = f->body, f->model.joint = f->joint, f->model.geom = f->geom;
  f->model.mesh = f->mesh;
  f->model.total_mass = 2, f->model.extent = 1;
  f->data = (abData){.q = f->q, .v = f->v, .pose = f->pose, .com = f->com, .twist = f->twist};
  f->data.R = f->R, f->data.contacts = f->contact, f->data.h = 0.01;
  f->data.contact = &f->contact_model;
}

static inline abWrench fake_wrench(Random* r) {
  return (abWrench){random_vec(r, 9), random_vec(r, 2)};
}

static inline void fake_contact(Fake* f, int i, Random* r) {
  abContact* c = &f->contact[i];
  *c = (abContact){.body1 = i + 1, .geom1 = i + 1, .normal = {0, 0, 1}, .t1 = {1, 0, 0}};
  c->t2 = v3(0, 1, 0);
  c->point = random_vec(r, 1);
  c->wrench = fake_wrench(r), c->normal_wrench = fake_wrench(r);
  c->friction_wrench = fake_wrench(r);
  c->free_moment = random_uniform(r, -1, 1);
  c->area = random_uniform(r, 0, 1), c->depth = random_uniform(r, 0, 1e-3);
  c->kind = (abPatchKind)(AB_PATCH_POINT + random_below(r, 3));
  c->mode = (abContactMode)random_below(r, 3);
  for (int k = 0; k < 3; k++) c->slip[k] = random_uniform(r, -1, 1);
  c->nfacet = random_below(r, 9);
  c->nvert = i == 0 ? 4 : random_below(r, 4);
  for (int k = 0; k < c->nvert; k++) {
    f->polygon[i][k] = random_vec(r, 1);
    f->pressure[i][k] = random_uniform(r, 0, 100);
  }
  c->polygon = f->polygon[i];
  c->pressure = i == 0 ? f->pressure[i] : NULL;
}

// The state of sample i: the same numbers whenever it is asked for.
static inline void fake_state(Fake* f, int i) {
  Random r = {(uint64_t)i * 77 + 1};
  f->data.time = i == 0 ? 0 : 0.01 * i;
  for (int k = 0; k < FAKE_NQ; k++) f->q[k] = random_uniform(&r, -1, 1);
  for (int k = 0; k < FAKE_NV; k++) f->v[k] = random_uniform(&r, -1, 1);
  for (int k = 0; k < FAKE_NBODY; k++) {
    f->pose[k] = k ? (abPose){random_vec(&r, 3), random_rotation(&r)} : (abPose){.q = {1, 0, 0, 0}};
    f->R[k] = quat_matrix(f->pose[k].q);
    f->com[k] = v3_add(f->pose[k].p, quat_rotate(f->pose[k].q, f->body[k].com));
    f->twist[k] = k ? (abTwist){random_vec(&r, 3), random_vec(&r, 3)} : (abTwist){0};
  }
  f->data.ncontact = i % 3;
  for (int k = 0; k < f->data.ncontact; k++) fake_contact(f, k, &r);
  f->data.stat = (abStat){.status = (abStepStatus)(i % 2), .iterations = i, .bad_body = -1};
  f->data.stat.residual = random_uniform(&r, 0, 1e-6);
}

#endif
