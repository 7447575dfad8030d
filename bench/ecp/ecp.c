// Time of the implicit model: the desk of Xie & Chakraborty, and random drops of a box, a cylinder
// and a hull of 32 vertices, with steps that keep their contact mode and steps that change it
// apart. The solve alone is timed by a copy of the model's descriptor whose solve wraps the real
// one.
//
// Each figure is the best of several rounds, changes of mode step by step: the machine may be busy.
#define _POSIX_C_SOURCE 199309L
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, DROPS = 40, CHANGES = 8192 };

static double clock_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

// The program's own state: a solve function has no other way to hand its time out.
static double solve_us;
static const abContactModel* real;

static void timed_solve(const abContactProblem* problem, abContactSolution* solution) {
  double start = clock_us();
  real->solve(problem, solution);
  solve_us = clock_us() - start;
}

typedef struct Tally {
  double step_us, solve_us, iteration_us;  // means over touching steps that keep their mode
  double iterations;
  double change_us, change_max;  // steps that change it
  int nkeep, nchange, nbad;
} Tally;

// Every round has the same steps: the least time of each change of mode over the rounds.
static double least[CHANGES];

typedef struct Last {
  int kind, mode, nfacet;
} Last;

static void count(const abData* d, double step, Last* last, Tally* t) {
  const abContact* c = d->ncontact ? &d->contacts[0] : NULL;
  Last now = {c ? (int)c->kind : 0, c ? (int)c->mode : 0, c ? c->nfacet : 0};
  bool same = !memcmp(&now, last, sizeof now);
  *last = now;
  t->nbad += d->stat.status != AB_STEP_OK;
  if (!c) return;
  if (same) {
    t->nkeep++;
    t->step_us += step, t->solve_us += solve_us, t->iterations += d->stat.iterations;
  } else {
    if (t->nchange < CHANGES) least[t->nchange] = fmin(least[t->nchange], solve_us);
    t->nchange++;
  }
}

static void finish(Tally* t) {
  t->iteration_us = t->solve_us / t->iterations;
  t->step_us /= t->nkeep, t->solve_us /= t->nkeep, t->iterations /= t->nkeep;
  for (int i = 0; i < t->nchange && i < CHANGES; i++) {
    t->change_us += least[i] / t->nchange;
    t->change_max = fmax(t->change_max, least[i]);
  }
}

static void better(Tally* best, const Tally* t, int round) {
  if (round == 0) *best = *t;
  best->step_us = fmin(best->step_us, t->step_us);
  best->solve_us = fmin(best->solve_us, t->solve_us);
  best->iteration_us = fmin(best->iteration_us, t->iteration_us);
  best->change_us = fmin(best->change_us, t->change_us);
  best->change_max = fmin(best->change_max, t->change_max);
}

static void require(bool ok, const abError* error) {
  if (ok) return;
  fprintf(stderr, "%s:%d: %s\n", error->file, error->line, error->message);
  exit(2);
}

static abData* simulation(const abModel* model) {
  abError error = {0};
  abData* d = ab_data_create(model, &error);
  require(d != NULL, &error);
  require(ab_set_contact(model, d, "ecp", &error) == AB_OK, &error);
  static abContactModel timed;
  real = ab_find_contact_model("ecp");
  timed = *real;
  timed.solve = timed_solve;
  d->contact = &timed;
  return d;
}

static void forget(void) {
  for (int i = 0; i < CHANGES; i++) least[i] = INFINITY;
}

static Tally desk(void) {
  forget();
  abError error = {0};
  abModel* model = ab_load(ABUT_SOURCE_DIR "/experiments/xie-nonconvex/desk.xml", NULL, &error);
  require(model != NULL, &error);
  Tally best = {0};
  for (int round = 0; round < 4 * ROUNDS; round++) {
    abData* d = simulation(model);
    ab_data_reset(model, d, 0);
    Tally t = {0};
    Last last = {0, 0, 0};
    int body = ab_find_body(model, "desk");
    for (int i = 0; i < 400; i++) {
      double a = 6.283185307179586 * 0.01 * i;
      d->applied[body] =
          (abWrench){{22.5 * sin(a) + 22.5, 22.5 * cos(a) + 22.5, 0}, {0, 0, 2.1 * cos(a)}};
      double start = clock_us();
      ab_step(model, d);
      count(d, clock_us() - start, &last, &t);
    }
    finish(&t);
    better(&best, &t, round);
    ab_data_free(d);
  }
  ab_model_free(model);
  return best;
}

static double uniform(double low, double high) {
  return low + (high - low) * ((double)rand() / RAND_MAX);
}

static abModel* drop_scene(abShapeType type, double h) {
  abError error = {0};
  abScene* scene = ab_scene_create();
  ab_scene_option(scene)->timestep = h;
  ab_scene_option(scene)->gravity = (abVec3){0, 0, -9.8};
  abGeomDef floor = ab_geom_def();
  floor.type = AB_SHAPE_PLANE, floor.size = (abVec3){5, 5, 1}, floor.friction[0] = 0.4;
  require(ab_scene_add_geom(scene, &floor, &error) >= 0, &error);
  abBodyDef body = ab_body_def();
  body.pose.p.z = 0.8;
  int b = ab_scene_add_body(scene, &body, &error);
  abJointDef joint = ab_joint_def();
  joint.body = b, joint.type = AB_JOINT_FREE;
  require(ab_scene_add_joint(scene, &joint, &error) >= 0, &error);
  abGeomDef geom = ab_geom_def();
  geom.body = b, geom.type = type, geom.friction[0] = 0.4;
  geom.size = type == AB_SHAPE_BOX ? (abVec3){0.2, 0.15, 0.1} : (abVec3){0.15, 0.2, 0};
  abVec3 cloud[32];
  if (type == AB_SHAPE_MESH) {
    for (int i = 0; i < 32; i++) {
      double z = uniform(-1, 1), phi = uniform(0, 6.283185307179586), r = sqrt(1 - z * z);
      cloud[i] = (abVec3){0.2 * r * cos(phi), 0.15 * r * sin(phi), 0.1 * z};
    }
    abMeshDef mesh = ab_mesh_def();
    mesh.name = "hull", mesh.nvert = 32, mesh.vert = cloud;
    geom.mesh = ab_scene_add_mesh(scene, &mesh, &error);
    require(geom.mesh >= 0, &error);
  }
  require(ab_scene_add_geom(scene, &geom, &error) >= 0, &error);
  abModel* model = ab_scene_compile(scene, &error);
  require(model != NULL, &error);
  ab_scene_free(scene);
  return model;
}

static Tally drops(abShapeType type) {
  forget();
  Tally best = {0};
  for (int round = 0; round < ROUNDS; round++) {
    srand(1);
    Tally t = {0};
    for (int i = 0; i < DROPS; i++) {
      abModel* model = drop_scene(type, 0.005);
      abData* d = simulation(model);
      double q[4], norm = 0;
      for (int j = 0; j < 4; j++) q[j] = uniform(-1, 1), norm += q[j] * q[j];
      for (int j = 0; j < 4; j++) d->q[3 + j] = q[j] / sqrt(norm);
      for (int j = 0; j < 6; j++) d->v[j] = j < 3 ? uniform(-1, 1) : uniform(-5, 5);
      Last last = {0, 0, 0};
      for (int k = 0; k < 300; k++) {
        double start = clock_us();
        ab_step(model, d);
        count(d, clock_us() - start, &last, &t);
      }
      ab_data_free(d);
      ab_model_free(model);
    }
    finish(&t);
    better(&best, &t, round);
  }
  return best;
}

static void print(const char* name, Tally t) {
  printf("%-22s %8.2f %8.2f %8.2f %8.2f %8.1f %8.1f %7d %7d %6d\n", name, t.step_us, t.solve_us,
         t.iterations, t.iteration_us, t.change_us, t.change_max, t.nkeep, t.nchange, t.nbad);
}

int main(void) {
  printf(
      "times in us; mode kept: whole step, solve, Newton iterations, per iteration; mode "
      "changed: solve mean, max\n");
  printf("%-22s %8s %8s %8s %8s %8s %8s %7s %7s %6s\n", "", "step", "solve", "iter", "per it",
         "change", "ch.max", "n keep", "n chg", "failed");
  print("desk (goal 15 us)", desk());
  print("box drops", drops(AB_SHAPE_BOX));
  print("cylinder drops", drops(AB_SHAPE_CYLINDER));
  print("32-vertex hull drops", drops(AB_SHAPE_MESH));
  printf("the paper's desk: 5300 us a step (MATLAB, PATH); goal for a change of mode: 300 us\n");
  return 0;
}
