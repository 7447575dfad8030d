// What a step of a joint tree costs, over the number of its links: a hanging chain of hinges, and
// arms of six hinges with position servos, damping and limits. MuJoCo, where it is installed, steps
// the same scenes next to it; contact is off in both.
#define _POSIX_C_SOURCE 199309L
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef ABUT_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

// Processor time: other programs on the machine do not count. Both engines run in one thread.
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Scene {
  abScene* scene;
  char* xml;
  size_t used, size;
  int njoint;
} Scene;

static void text(Scene* s, const char* piece) {
  size_t n = strlen(piece);
  if (s->used + n + 1 > s->size) {
    s->size = 2 * (s->used + n + 1);
    s->xml = realloc(s->xml, s->size);
    if (!s->xml) abort();
  }
  memcpy(s->xml + s->used, piece, n + 1);
  s->used += n;
}

static void check(int index, const abError* error) {
  if (index >= 0) return;
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

// One link: a rod of 0.2 m along -z on a hinge. arm: with damping and limits.
static int add_link(Scene* s, int parent, abVec3 at, int axis, bool arm) {
  abError error = {0};
  char piece[512];
  abBodyDef body = ab_body_def();
  body.parent = parent;
  body.pose.p = at;
  body.has_inertial = true;
  body.mass = 0.5;
  body.inertial.p = (abVec3){0, 0, -0.1};
  body.inertia[0] = body.inertia[1] = 0.002, body.inertia[2] = 0.0005;
  int index = ab_scene_add_body(s->scene, &body, &error);
  check(index, &error);
  abJointDef joint = ab_joint_def();
  joint.body = index;
  joint.type = AB_JOINT_HINGE;
  joint.axis = axis == 0 ? (abVec3){1, 0, 0} : axis == 1 ? (abVec3){0, 1, 0} : (abVec3){0, 0, 1};
  if (arm) {
    joint.damping = 0.1;
    joint.armature = 0.01;
    joint.limited = true;
    joint.range[0] = -2.5, joint.range[1] = 2.5;
  }
  check(ab_scene_add_joint(s->scene, &joint, &error), &error);
  snprintf(piece, sizeof piece,
           "<body pos='%g %g %g'><inertial pos='0 0 -0.1' mass='0.5' diaginertia='0.002 0.002 "
           "0.0005'/><joint name='j%d' type='hinge' axis='%d %d %d'%s/>",
           at.x, at.y, at.z, s->njoint++, axis == 0, axis == 1, axis == 2,
           arm ? " damping='0.1' armature='0.01' limited='true' range='-2.5 2.5'" : "");
  text(s, piece);
  return index;
}

static void begin(Scene* s, double h) {
  char piece[256];
  *s = (Scene){.scene = ab_scene_create()};
  ab_scene_option(s->scene)->timestep = h;
  ab_scene_option(s->scene)->contact = "none";
  snprintf(piece, sizeof piece,
           "<mujoco><compiler angle='radian'/><size njmax='5000' nconmax='10'/><option "
           "timestep='%g'><flag contact='disable'/></option><worldbody>",
           h);
  text(s, piece);
}

static void chain(Scene* s, int n) {
  begin(s, 1e-3);
  for (int i = 0, parent = 0; i < n; i++)
    parent = add_link(s, parent, (abVec3){0, 0, i ? -0.2 : 0}, i % 2, false);
  for (int i = 0; i < n; i++) text(s, "</body>");
  text(s, "</worldbody></mujoco>");
}

static void arms(Scene* s, int n) {
  static const int axis[6] = {2, 1, 1, 0, 1, 0};
  abError error = {0};
  char piece[256];
  begin(s, 1e-3);
  for (int a = 0; a < n; a++) {
    for (int i = 0, parent = 0; i < 6; i++)
      parent = add_link(s, parent, (abVec3){i ? 0 : a, 0, i ? -0.2 : 0}, axis[i], true);
    for (int i = 0; i < 6; i++) text(s, "</body>");
  }
  text(s, "</worldbody><actuator>");
  for (int j = 0; j < 6 * n; j++) {
    abActuatorDef servo = ab_actuator_def();
    servo.joint = j;
    servo.gear[0] = 1;
    servo.gain = AB_GAIN_FIXED;
    servo.bias = AB_BIAS_AFFINE;
    servo.gainprm[0] = 20;
    servo.biasprm[1] = -20;
    check(ab_scene_add_actuator(s->scene, &servo, &error), &error);
    snprintf(piece, sizeof piece, "<position joint='j%d' kp='20'/>", j);
    text(s, piece);
  }
  text(s, "</actuator></mujoco>");
}

// Microseconds per step: the best of five runs.
static double time_abut(const Scene* s, double seconds) {
  abError error = {0};
  abModel* model = ab_scene_compile(s->scene, &error);
  abData* data = model ? ab_data_create(model, &error) : NULL;
  if (!data) {
    fprintf(stderr, "%s\n", error.message);
    return NAN;
  }
  double best = INFINITY;
  for (int i = 0; i < model->nq; i++) data->q[i] = 0.02;
  for (int k = 0; k < 5; k++) {
    int n = 0;
    double start = now();
    while (now() - start < seconds)
      for (int i = 0; i < 10; i++, n++) ab_step(model, data);
    best = fmin(best, (now() - start) / n);
  }
  if (data->stat.status != AB_STEP_OK) best = NAN;
  ab_data_free(data);
  ab_model_free(model);
  return 1e6 * best;
}

static double time_mujoco(const Scene* s, double seconds) {
#ifdef ABUT_HAVE_MUJOCO
  char error[256];
  mjVFS* vfs = mju_malloc(sizeof(mjVFS));
  mj_defaultVFS(vfs);
  mj_makeEmptyFileVFS(vfs, "chain.xml", (int)s->used);
  memcpy(vfs->filedata[0], s->xml, s->used);
  mjModel* model = mj_loadXML("chain.xml", vfs, error, sizeof error);
  mj_deleteVFS(vfs);
  mju_free(vfs);
  if (!model) {
    fprintf(stderr, "MuJoCo: %s\n", error);
    return NAN;
  }
  mjData* data = mj_makeData(model);
  double best = INFINITY;
  for (int i = 0; i < model->nq; i++) data->qpos[i] = 0.02;
  for (int k = 0; k < 5; k++) {
    int n = 0;
    double start = now();
    while (now() - start < seconds)
      for (int i = 0; i < 10; i++, n++) mj_step(model, data);
    best = fmin(best, (now() - start) / n);
  }
  mj_deleteData(data);
  mj_deleteModel(model);
  return 1e6 * best;
#else
  (void)s;
  (void)seconds;
  return NAN;
#endif
}

static void row(Scene* s, int n, double seconds) {
  double a = time_abut(s, seconds), m = time_mujoco(s, seconds);
  printf("  %5d %10.2f %10.1f", n, a, 1e3 * a / n);
  if (isfinite(m)) printf(" %12.2f %10.2f", m, a / m);
  printf("\n");
  fflush(stdout);
  ab_scene_free(s->scene);
  free(s->xml);
}

int main(int argc, char** argv) {
  double seconds = argc > 1 && strcmp(argv[1], "--short") == 0 ? 0.01 : 0.1;
  static const int links[] = {5, 10, 20, 40, 80, 160, 320}, narm[] = {1, 2, 4, 8, 16, 32};
  Scene s;
  printf(
      "Chain of hinges; microseconds per step (Euler), nanoseconds per link, MuJoCo's step, "
      "ratio\n");
  printf("  %5s %10s %10s %12s %10s\n", "links", "abut us", "ns/link", "MuJoCo us", "ratio");
  for (int i = 0; i < 7; i++) {
    chain(&s, links[i]);
    row(&s, links[i], seconds);
  }
  printf("\nArms of six hinges with servos, damping, armature, limits\n");
  printf("  %5s %10s %10s %12s %10s\n", "links", "abut us", "ns/link", "MuJoCo us", "ratio");
  for (int i = 0; i < 6; i++) {
    arms(&s, narm[i]);
    row(&s, 6 * narm[i], seconds);
  }
  return 0;
}
