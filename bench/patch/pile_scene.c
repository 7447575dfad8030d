#define _POSIX_C_SOURCE 200809L
#include "pile_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const abVec3 half = {0.1, 0.05, 0.025};

static double length(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }

double pile_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const abError* error) {
  fprintf(stderr, "%s\n", error->message);
  exit(2);
}

static double uniform(unsigned long long* state, double low, double high) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(*state >> 11) * 0x1p-53;
}

static abQuat random_rotation(unsigned long long* state) {
  double q[4], n = 0;
  for (int i = 0; i < 4; i++) {
    do {
      q[i] = 0;
      for (int k = 0; k < 3; k++) q[i] += uniform(state, -1, 1);
    } while (q[i] == 0);
    n += q[i] * q[i];
  }
  n = sqrt(n);
  return (abQuat){q[0] / n, q[1] / n, q[2] / n, q[3] / n};
}

static void add_box(abScene* scene, abPose pose) {
  abError error;
  abBodyDef b = ab_body_def();
  b.pose = pose;
  abJointDef j = ab_joint_def();
  j.type = AB_JOINT_FREE;
  abGeomDef g = ab_geom_def();
  g.type = AB_SHAPE_BOX;
  g.size = half;
  g.density = 1000;
  g.friction[0] = 0.5;
  if ((b.parent = 0, j.body = g.body = ab_scene_add_body(scene, &b, &error)) < 0 ||
      ab_scene_add_joint(scene, &j, &error) < 0 || ab_scene_add_geom(scene, &g, &error) < 0)
    stop(&error);
}

// Layers of a square as wide as the pile is high when it has settled.
abScene* pile_scene(int n, double h, double spacing, unsigned long long seed) {
  abError error;
  abScene* scene = ab_scene_create();
  ab_scene_option(scene)->timestep = h;
  abGeomDef floor = ab_geom_def();
  floor.type = AB_SHAPE_PLANE;
  floor.size = (abVec3){10, 10, 1};
  floor.friction[0] = 0.5;
  if (ab_scene_add_geom(scene, &floor, &error) < 0) stop(&error);
  int side = (int)ceil(cbrt(n / 4.0)) + 1;
  for (int i = 0; i < n; i++) {
    int layer = i / (side * side), k = i % (side * side);
    double x = (k % side - 0.5 * (side - 1)) * spacing + uniform(&seed, -0.02, 0.02);
    double y = (k / side - 0.5 * (side - 1)) * spacing + uniform(&seed, -0.02, 0.02);
    add_box(scene, (abPose){{x, y, 0.15 + 0.23 * layer}, random_rotation(&seed)});
  }
  return scene;
}

static abModel* make_model(int n, double h, unsigned long long seed) {
  abError error;
  abScene* scene = pile_scene(n, h, 0.22, seed);
  abModel* model = ab_scene_compile(scene, &error);
  if (!model) stop(&error);
  ab_scene_free(scene);
  return model;
}

Pile pile_create(int n, double h, unsigned long long seed) {
  abError error;
  Pile pile = {.n = n, .model = make_model(n, h, seed)};
  pile.data = ab_data_create(pile.model, &error);
  if (!pile.data || ab_set_contact(pile.model, pile.data, "patch", &error) != AB_OK) stop(&error);
  ab_forward(pile.model, pile.data);
  for (int i = 0; i < n; i++) pile.height = fmax(pile.height, pile.data->com[1 + i].z);
  return pile;
}

void pile_free(Pile* pile) {
  ab_data_free(pile->data);
  ab_model_free(pile->model);
}

void pile_set(Pile* pile, const char* assignment) {
  abError error;
  char name[64];
  const char* eq = strchr(assignment, '=');
  int count = eq ? (int)(eq - assignment) : 0;
  if (!eq || count >= (int)sizeof name) {
    fprintf(stderr, "%s: expected NAME=VALUE\n", assignment);
    exit(2);
  }
  snprintf(name, sizeof name, "%.*s", count, assignment);
  if (ab_set_param(pile->data, name, atof(eq + 1), &error) != AB_OK) stop(&error);
}

void pile_threads(Pile* pile, int nthread) {
  abError error;
  if (ab_set_threads(pile->data, nthread, &error) != AB_OK) stop(&error);
}

double pile_weight(const Pile* pile) { return pile->model->total_mass * -pile->model->gravity.z; }

double pile_floor_force(const Pile* pile) {
  double sum = 0;
  for (int i = 0; i < pile->data->ncontact; i++)
    if (pile->data->contacts[i].body2 == 0) sum += pile->data->contacts[i].wrench.force.z;
  return sum;
}

double pile_speed(const Pile* pile, int i) {
  const double* v = pile->data->v + 6 * i;
  return length(v[0], v[1], v[2]);
}

double pile_spin(const Pile* pile, int i) {
  const double* w = pile->data->v + 6 * i + 3;
  return length(w[0], w[1], w[2]);
}

double pile_energy(const Pile* pile) {
  abEnergy e = ab_energy(pile->model, pile->data);
  return e.kinetic + e.gravity;
}

double pile_thinnest(void) { return 2 * half.z; }
double pile_radius(void) { return length(half.x, half.y, half.z); }

// Bit k of a corner's number: on which side of axis k it lies.
static void place_corners(const Pile* pile, int i, abVec3 corner[8]) {
  const double* R = &pile->data->R[1 + i].m[0][0];
  abVec3 p = pile->data->com[1 + i];
  for (int c = 0; c < 8; c++) {
    double x = c & 1 ? half.x : -half.x, y = c & 2 ? half.y : -half.y, z = c & 4 ? half.z : -half.z;
    corner[c] = (abVec3){p.x + R[0] * x + R[1] * y + R[2] * z, p.y + R[3] * x + R[4] * y + R[5] * z,
                         p.z + R[6] * x + R[7] * y + R[8] * z};
  }
}

static double overlap_of(const abVec3 a[8], const abVec3 b[8]) {
  static const int start[] = {0, 4, 8, 12, 16, 20, 24};
  static const int loop[] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                             2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
  abConvex A = {8, a, 6, start, loop}, B = {8, b, 6, start, loop};
  abOverlapSummary summary;
  abError error;
  if (ab_overlap_of_convex(&A, &B, &summary, &error) != AB_OK) stop(&error);
  return summary.contact ? summary.depth : 0;
}

double pile_overlap(const Pile* pile) {
  abVec3(*corner)[8] = malloc((size_t)pile->n * sizeof *corner);
  double deepest = 0, reach = 2 * pile_radius();
  for (int i = 0; corner && i < pile->n; i++) {
    place_corners(pile, i, corner[i]);
    for (int c = 0; c < 8; c++) deepest = fmax(deepest, -corner[i][c].z);
    for (int j = 0; j < i; j++) {
      abVec3 p = pile->data->com[1 + i], q = pile->data->com[1 + j];
      if (length(p.x - q.x, p.y - q.y, p.z - q.z) < reach)
        deepest = fmax(deepest, overlap_of(corner[i], corner[j]));
    }
  }
  if (!corner) deepest = NAN;
  free(corner);
  return deepest;
}
