// Six kernels whose instructions are counted (bench/quick.sh): the hot parts of a step, each on
// fixed input. Set-up happens outside the functions named kernel_*, so that callgrind can be told
// to count those alone.
//
// usage: bench_kernels NAME
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "collide/clip/intersect.h"
#include "collide/distance/gjk.h"
#include "collide/patch/patch.h"
#include "geometry/polyhedron.h"

#define KERNEL __attribute__((noinline)) void

static const abVec3 brick = {0.1, 0.05, 0.025};

static abPose pose_at(double x, double y, double z, double angle) {
  double s = sin(angle / 2) / sqrt(3);
  return (abPose){{x, y, z}, {cos(angle / 2), s, s, s}};
}

static void require(bool ok, const abError* error) {
  if (ok) return;
  fprintf(stderr, "kernels: %s\n", error->message);
  exit(2);
}

// --- 1: overlap and patch of two bricks, 500 poses

static double sum;  // what kernels produce, so that nothing is left out

KERNEL kernel_overlap(const abPolyhedron* box, abArena* arena) {
  for (int i = 0; i < 500; i++) {
    abPose a = pose_at(0.001 * (i % 50), 0.01, 0.049, 0.002 * i), b = pose_at(0, 0, 0, 0);
    abOverlap overlap;
    abVec2 polygon[64];
    ab_arena_release(arena, 0);
    ab_overlap(box, a, box, b, arena, &overlap);
    if (!overlap.contact) continue;
    abPatchHint hint = {.A = box, .B = box, .pose_a = a, .pose_b = b};
    abPatch patch;
    ab_patch_make(&overlap, &hint, arena, 64, polygon, &patch);
    sum += patch.area;
  }
}

static void run_overlap(void) {
  abArena arena;
  ab_arena_init(&arena, (size_t)1 << 24);
  abPolyhedron* box = ab_polyhedron_box(brick);
  kernel_overlap(box, &arena);
  ab_polyhedron_free(box);
  ab_arena_free(&arena);
}

// --- 2: distances of a brick from a cylinder and from another brick, 1000 poses

KERNEL kernel_distance(const abShape* a, const abShape* b, const abShape* c) {
  abGjkSeed seed_b = {.far = 0}, seed_c = {.far = 0};
  for (int i = 0; i < 1000; i++) {
    abPose pa = pose_at(0.25 * cos(0.01 * i), 0.25 * sin(0.01 * i), 0.05, 0.01 * i);
    abPose origin = pose_at(0, 0, 0, 0);
    abDistance d;
    ab_distance(a, pa, b, origin, &seed_b, &d);
    sum += d.separation;
    ab_distance(a, pa, c, origin, &seed_c, &d);
    sum += d.separation;
  }
}

static void run_distance(void) {
  abPolyhedron* poly = ab_polyhedron_box(brick);
  abShape box = {.type = AB_SHAPE_BOX, .size = brick, .poly = poly};
  abShape cylinder = {.type = AB_SHAPE_CYLINDER, .size = {0.05, 0.1, 0}};
  kernel_distance(&box, &box, &cylinder);
  ab_polyhedron_free(poly);
}

// --- 3 to 6: steps of whole scenes

static void add_body(abScene* scene, int parent, abJointType type, abPose pose) {
  abError error;
  abBodyDef body = ab_body_def();
  body.parent = parent;
  body.pose = pose;
  abGeomDef geom = ab_geom_def();
  geom.body = ab_scene_add_body(scene, &body, &error);
  require(geom.body >= 0, &error);
  geom.type = AB_SHAPE_BOX;
  geom.size = brick;
  geom.friction[0] = 0.5;
  if (type == AB_JOINT_HINGE) geom.contype = geom.conaffinity = 0;
  require(ab_scene_add_geom(scene, &geom, &error) >= 0, &error);
  abJointDef joint = ab_joint_def();
  joint.body = geom.body;
  joint.type = type;
  joint.axis = (abVec3){0, 1, 0};
  require(ab_scene_add_joint(scene, &joint, &error) >= 0, &error);
}

KERNEL kernel_step(const abModel* model, abData* data, int n) {
  for (int i = 0; i < n; i++) ab_step(model, data);
}

static void run_model(abModel* model, const char* contact, int warm, int steps) {
  abError error;
  abData* data = ab_data_create(model, &error);
  require(data != NULL, &error);
  require(ab_set_contact(model, data, contact, &error) == AB_OK, &error);
  for (int i = 0; i < warm; i++) ab_step(model, data);
  kernel_step(model, data, steps);
  sum += data->q[0];
  ab_data_free(data);
  ab_model_free(model);
}

static void run_scene(abScene* scene, const char* contact, int warm, int steps) {
  abError error;
  abModel* model = ab_scene_compile(scene, &error);
  require(model != NULL, &error);
  run_model(model, contact, warm, steps);
  ab_scene_free(scene);
}

static void run_file(const char* file, int warm, int steps) {
  abError error;
  abModel* model = ab_load(file, NULL, &error);
  require(model != NULL, &error);
  run_model(model, "patch", warm, steps);
}

static abScene* scene_with_floor(void) {
  abError error;
  abScene* scene = ab_scene_create();
  ab_scene_option(scene)->timestep = 1e-3;
  abGeomDef plane = ab_geom_def();
  plane.type = AB_SHAPE_PLANE;
  plane.size = (abVec3){1, 1, 1};
  plane.friction[0] = 0.5;
  require(ab_scene_add_geom(scene, &plane, &error) >= 0, &error);
  return scene;
}

// ten bricks fall onto each other, askew
static void run_pile(void) {
  abScene* scene = scene_with_floor();
  for (int i = 0; i < 10; i++)
    add_body(scene, 0, AB_JOINT_FREE, pose_at(0.03 * (i % 3), 0.02 * (i % 2), 0.12 + 0.12 * i, i));
  run_scene(scene, "patch", 150, 150);
}

static void run_ecp(void) {
  abScene* scene = scene_with_floor();
  add_body(scene, 0, AB_JOINT_FREE, pose_at(0, 0, 0.12, 1));
  run_scene(scene, "ecp", 100, 200);
}

static void run_chain(void) {
  abScene* scene = ab_scene_create();
  ab_scene_option(scene)->timestep = 1e-3;
  for (int i = 0; i < 10; i++)
    add_body(scene, i, AB_JOINT_HINGE, pose_at(i ? 0.25 : 0, 0, i ? 0 : 1, 0));
  run_scene(scene, "patch", 10, 500);
}

// dominoes in the middle of their fall, sixty blocks while they land on each other
static void run_moving(void) {
  run_file(ABUT_SOURCE_DIR "/scenes/dominoes.xml", 500, 100);
  run_file(ABUT_SOURCE_DIR "/scenes/pile.xml", 200, 100);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kernel[] = {{"overlap", run_overlap}, {"distance", run_distance}, {"pile", run_pile},
                {"moving", run_moving},   {"ecp", run_ecp},           {"chain", run_chain}};
  for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
    if (argc == 2 && strcmp(argv[1], kernel[i].name) == 0) {
      kernel[i].run();
      return isfinite(sum) ? 0 : 1;
    }
  fprintf(stderr, "usage: bench_kernels overlap|distance|pile|moving|ecp|chain\n");
  return 2;
}
