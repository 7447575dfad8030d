// A pile of n boxes 0.2 x 0.1 x 0.05 m, dropped in layers at random orientations: time per step
// while it falls and when it has settled, and what the pile is like then. With sleep=1 also the
// time per step when all of it sleeps: it is put to sleep as it is, at rest or not.
//
//   bench_patch_pile [n] [seconds] [step] [seed] [threads] [NAME=VALUE ...]
#define _POSIX_C_SOURCE 200809L
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static unsigned long long state;
static double uniform(double low, double high) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(state >> 11) * 0x1p-53;
}

static void stop(const abError* error) {
  fprintf(stderr, "%s\n", error->message);
  exit(2);
}

static abQuat random_rotation(void) {
  double q[4], n = 0;
  for (int i = 0; i < 4; i++) {
    do {
      q[i] = uniform(-1, 1) + uniform(-1, 1) + uniform(-1, 1);
    } while (q[i] == 0);
    n += q[i] * q[i];
  }
  n = sqrt(n);
  return (abQuat){q[0] / n, q[1] / n, q[2] / n, q[3] / n};
}

static void add_box(abScene* scene, abVec3 p, abError* error) {
  abBodyDef b = ab_body_def();
  b.pose = (abPose){p, random_rotation()};
  abJointDef j = ab_joint_def();
  j.type = AB_JOINT_FREE;
  abGeomDef g = ab_geom_def();
  g.type = AB_BOX;
  g.size = (abVec3){0.1, 0.05, 0.025};
  g.density = 1000;
  g.friction[0] = 0.5;
  if ((b.parent = 0, j.body = g.body = ab_scene_add_body(scene, &b, error)) < 0 ||
      ab_scene_add_joint(scene, &j, error) < 0 || ab_scene_add_geom(scene, &g, error) < 0)
    stop(error);
}

// Layers of a square as wide as the pile is high when it has settled.
static abModel* make_pile(int n, double h) {
  abError error;
  abScene* scene = ab_scene_create();
  ab_scene_option(scene)->timestep = h;
  abGeomDef floor = ab_geom_def();
  floor.type = AB_PLANE;
  floor.size = (abVec3){10, 10, 1};
  floor.friction[0] = 0.5;
  if (ab_scene_add_geom(scene, &floor, &error) < 0) stop(&error);
  int side = (int)ceil(cbrt(n / 4.0)) + 1;
  for (int i = 0; i < n; i++) {
    int layer = i / (side * side), k = i % (side * side);
    double x = (k % side - 0.5 * (side - 1)) * 0.22 + uniform(-0.02, 0.02);
    double y = (k / side - 0.5 * (side - 1)) * 0.22 + uniform(-0.02, 0.02);
    add_box(scene, (abVec3){x, y, 0.15 + 0.23 * layer}, &error);
  }
  abModel* model = ab_scene_compile(scene, &error);
  if (!model) stop(&error);
  ab_scene_free(scene);
  return model;
}

typedef struct Sum {
  double wall, iterations, contacts, residual, depth;
  int steps, unconverged, regularised;
} Sum;

static void step(const abModel* model, abData* data, Sum* sum) {
  double t = now();
  if (ab_step(model, data) == AB_STEP_BROKEN) {
    printf("broken at %g s, body %d\n", data->time, data->stat.bad_body);
    exit(1);
  }
  sum->wall += now() - t;
  sum->steps++;
  sum->iterations += data->stat.iterations;
  sum->contacts += data->stat.ncontact;
  sum->residual = fmax(sum->residual, data->stat.residual);
  sum->depth = fmax(sum->depth, data->stat.max_penetration);
  sum->regularised += data->stat.nregularised;
  if (data->stat.status != AB_STEP_OK) sum->unconverged++;
}

static void print(const char* phase, const abModel* model, const abData* data, const Sum* s) {
  double speed = 0, fastest = 0, floor_force = 0;
  for (int i = 0; i < model->nv; i += 6) {
    double v2 =
        data->v[i] * data->v[i] + data->v[i + 1] * data->v[i + 1] + data->v[i + 2] * data->v[i + 2];
    speed += v2;
    fastest = fmax(fastest, sqrt(v2));
  }
  for (int i = 0; i < data->ncontact; i++)
    if (data->contacts[i].body2 == 0) floor_force += data->contacts[i].wrench.force.z;
  printf(
      "%-8s t %6.2f  %8.3f ms/step  it %6.2f  contacts %6.0f  res %.1e  unconverged %d/%d  "
      "regularised %d  depth %.2e  v rms %.1e max %.1e  floor/weight %.6f\n",
      phase, data->time, 1e3 * s->wall / s->steps, s->iterations / s->steps, s->contacts / s->steps,
      s->residual, s->unconverged, s->steps, s->regularised, s->depth,
      sqrt(speed / (model->nv / 6)), fastest,
      floor_force / (model->total_mass * -model->gravity.z));
}

// Any motion counts as rest, so that all fall asleep within some steps.
static void time_sleep(const abModel* model, abData* data) {
  Sum sum = {0};
  data->sleep = (abSleepRule){.on = true, .rest = 0, .speed = 1e9, .drift = 1e9, .steps = 3};
  for (int i = 0; i < 2000 && data->stat.nasleep < model->nbody - 1; i++) step(model, data, &sum);
  sum = (Sum){0};
  for (int i = 0; i < 1000; i++) step(model, data, &sum);
  printf("asleep   %d of %d  %8.3f ms/step  contacts %d\n", data->stat.nasleep, model->nbody - 1,
         1e3 * sum.wall / sum.steps, data->ncontact);
}

int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000;
  double seconds = argc > 2 ? atof(argv[2]) : 4, h = argc > 3 ? atof(argv[3]) : 1e-3;
  state = argc > 4 ? (unsigned long long)atoll(argv[4]) : 1;
  abError error;
  abModel* model = make_pile(n, h);
  abData* data = ab_data_create(model, &error);
  if (!data || ab_set_contact(model, data, "patch", &error) != AB_OK) stop(&error);
  if (argc > 5 && ab_set_threads(data, atoi(argv[5]), &error) != AB_OK) stop(&error);
  bool sleep = false;
  for (int i = 6; i < argc; i++) {
    char* eq = strchr(argv[i], '=');
    if (!eq) continue;
    if (strncmp(argv[i], "sleep=", 6) == 0) {
      sleep = atoi(eq + 1) != 0;
      continue;
    }
    *eq = 0;
    if (ab_set_param(data, argv[i], atof(eq + 1), &error) != AB_OK) stop(&error);
  }
  printf("pile of %d boxes, h = %g s, threads %d\n", n, h, data->nthread);
  double chunk = seconds / 16;
  for (int k = 0; k < 16; k++) {
    Sum sum = {0};
    while (data->time < (k + 1) * chunk - h / 2) step(model, data, &sum);
    print(k < 15 ? "" : "settled", model, data, &sum);
    fflush(stdout);
  }
  printf("hash %016llx\n", (unsigned long long)ab_state_hash(model, data));
  if (sleep) time_sleep(model, data);
  ab_data_free(data);
  ab_model_free(model);
  return 0;
}
