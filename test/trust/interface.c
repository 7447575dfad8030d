// Every function of the interface with arguments it should never get, each call in a process of its
// own: it may refuse, and in Debug builds assert, but what was handed over must still work after
// it.
#define _XOPEN_SOURCE 700
#include "trust/interface.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"

enum { NBLOCK = 1 << 20, LONG = 5000 };

// Anything longer, on any machine, hangs.
enum { HANGS = 300 };

static const char box_text[] =
    "<mujoco><worldbody><geom name=\"floor\" type=\"plane\" size=\"0 0 1\"/>"
    "<body name=\"box\" pos=\"0 0 .05\"><freejoint/><geom name=\"box\" type=\"box\" "
    "size=\".05 .05 .05\" mass=\"0.5\"/></body></worldbody>"
    "<keyframe><key name=\"x\" qpos=\"0 0 1 1 0 0 0\"/></keyframe></mujoco>";
static const char other_text[] =
    "<mujoco><worldbody><body name=\"arm\"><joint name=\"j\" axis=\"0 1 0\"/><geom "
    "type=\"capsule\" "
    "fromto=\"0 0 0 0 0 -1\" size=\".05\"/><body name=\"hand\" pos=\"0 0 -1\"><joint name=\"k\" "
    "axis=\"1 0 0\"/><geom size=\".1\"/></body></body></worldbody></mujoco>";

static const abVec3 corner[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const abVec2 square[4] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
static const abTendonJoint tendon_joint[1] = {{.joint = 0, .coef = 1}};
static const double matrix[4] = {2, 0, 0, 2}, vector[2] = {1, 1}, bound[2] = {0, 0};

static void need(bool good, const char* what) {
  if (good) return;
  fprintf(stderr, "the fixture needs: %s\n", what);
  exit(2);
}

static bool evaluate(void* context, const double* x, double* f, double* jacobian) {
  (void)context;
  for (int i = 0; i < 2; i++) f[i] = x[i] - 1;
  if (jacobian) memcpy(jacobian, matrix, sizeof matrix);
  return true;
}

static void make_paths(Fixture* f) {
  snprintf(f->folder, sizeof f->folder, "%s/abut-interface-XXXXXX",
           access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  need(mkdtemp(f->folder) && chdir(f->folder) == 0, "a folder");
  const struct {
    char* path;
    const char* name;
  } file[] = {{f->scene_file, "scene.xml"}, {f->recording_file, "recording.h5"},
              {f->path, "out.h5"},          {f->scene_path, "out.xml"},
              {f->model_path, "out.abm"},   {f->page_path, "out.html"}};
  for (size_t i = 0; i < sizeof file / sizeof *file; i++)
    snprintf(file[i].path, 128, "%s/%s", f->folder, file[i].name);
  FILE* out = fopen(f->scene_file, "w");
  need(out && fputs(box_text, out) >= 0 && fclose(out) == 0, "a scene's file");
}

static abScene* load(const char* text) {
  abScene* scene = ab_scene_load_memory("text", text, strlen(text), NULL, NULL);
  need(scene, "a scene");
  return scene;
}

static void make_simulations(Fixture* f) {
  f->scene = load(box_text), f->other_scene = load(other_text), f->empty_scene = ab_scene_create();
  f->model = ab_scene_compile(f->scene, NULL);
  f->other_model = ab_scene_compile(f->other_scene, NULL);
  f->data = ab_data_create(f->model, NULL), f->second_data = ab_data_create(f->model, NULL);
  f->other_data = ab_data_create(f->other_model, NULL);
  need(f->data && f->second_data && f->other_data, "simulations");
  need(ab_step(f->model, f->data) == AB_STEP_OK && f->data->ncontact > 0, "a contact");
  f->response = &f->data->internal->response;
  f->nstate = ab_state_size(f->model, f->data);
  f->state = malloc(f->nstate);
  need(ab_state_get(f->model, f->data, f->state, f->nstate) == AB_OK, "a state");
  f->model_bytes = ab_model_bytes(f->model, &f->nmodel_bytes, NULL);
  need(f->model_bytes, "a model's bytes");
  need(ab_number_find(f->scene, "body.box.mass", &f->number, NULL) == AB_OK, "a number");
}

static void make_devices(Fixture* f) {
  char other[160];
  abRecorder* r = ab_record_open(f->recording_file, f->model, NULL);
  need(r && ab_record_sample(r, f->model, f->data, NULL) == AB_OK, "a recorder");
  need(ab_record_close(r, NULL) == AB_OK, "a recording's file");
  f->recording = ab_recording_open(f->recording_file, NULL);
  snprintf(other, sizeof other, "%s/open.h5", f->folder);
  f->recorder = ab_record_open(other, f->model, NULL);
  f->pointer_def =
      (abPointerDef){.body = 1, .type = ab_find_device_type("virtual"), .arguments = "still"};
  f->pointer = ab_pointer_open(f->model, f->data, &f->pointer_def, NULL);
  if (!f->pointer) {
    f->pointer_def.arguments = "";
    f->pointer = ab_pointer_open(f->model, f->data, &f->pointer_def, &f->error);
  }
  need(f->recording && f->recorder, "a recording");
  need(f->pointer, f->error.message);
}

static void make_definitions(Fixture* f) {
  f->joint_def = ab_joint_def(), f->joint_def.body = 1;
  f->geom_def = ab_geom_def(), f->geom_def.body = 1, f->geom_def.type = AB_SHAPE_BOX;
  f->geom_def.size = (abVec3){0.1, 0.1, 0.1};
  f->mesh_def = ab_mesh_def(), f->mesh_def.nvert = 4, f->mesh_def.vert = corner;
  f->mesh_def.name = "mesh";
  f->tendon_def = ab_tendon_def(), f->tendon_def.njoint = 1, f->tendon_def.joint = tendon_joint;
  f->equality_def = ab_equality_def(), f->equality_def.type = AB_EQUALITY_WELD;
  f->equality_def.body1 = 1;
  f->actuator_def = ab_actuator_def(), f->actuator_def.joint = 0;
  f->pair_def = ab_pair_def(), f->pair_def.geom2 = 1;
  f->inverse_def = (abInverseDef){.h = 0.01, .mass = 1, .plane = {{0, 0, 1}, 0}};
  for (int i = 0; i < 3; i++)
    f->inverse_def.inertia_start.m[i][i] = f->inverse_def.inertia_end.m[i][i] = 1;
  f->convex = (abConvex){.nvert = 4, .vert = corner};
  f->camera = ab_camera_all(f->model, f->data, 32, 32);
  f->lp = (abLpDef){.nrow = 2, .ncol = 2, .a = matrix, .b = vector, .c = vector};
  f->nnls = (abNnlsDef){.nrow = 2, .ncol = 2, .a = matrix, .b = vector};
  f->lcp = (abLcpDef){.n = 2, .m = matrix, .q = vector};
  f->qp = (abQpDef){.nvar = 2, .nrow = 2, .h = matrix, .g = vector, .a = matrix, .b = vector};
  f->mcp = (abMcpDef){.n = 2, .evaluate = evaluate, .lower = bound};
  f->patch = (abPatch){.kind = AB_PATCH_SURFACE, .nvert = 4, .polygon = square, .area = 4};
}

static void make_bytes(Fixture* f) {
  f->block = calloc(1, NBLOCK), f->nblock = NBLOCK;
  f->long_text = malloc(LONG + 1);
  f->scene_text = strdup(box_text);
  need(f->block && f->long_text && f->scene_text, "memory");
  memset(f->long_text, 'x', LONG), f->long_text[LONG] = 0;
  f->known[0] = "box", f->known[1] = "floor";
}

// What the call was given still works, or says why not.
static void go_on(Fixture* f, const char* function) {
  size_t n = strlen(function);
  if ((n > 5 && strcmp(function + n - 5, "_free") == 0) || strstr(function, "_close")) return;
  for (int i = 0; i < 2; i++) ab_step(f->model, f->data), ab_step(f->other_model, f->other_data);
  ab_step(f->model, f->second_data);
  ab_record_sample(f->recorder, f->model, f->data, NULL);
  ab_pointer_drive(f->pointer, f->model, f->data, 0.1);
  const abScene* scene[] = {f->scene, f->other_scene, f->empty_scene};
  for (int i = 0; i < 3; i++) {
    abModel* model = ab_scene_compile(scene[i], NULL);
    abData* data = ab_data_create(model, NULL);
    for (int k = 0; data && k < 2; k++) ab_step(model, data);
    ab_data_free(data);
    ab_model_free(model);
  }
}

// true where the process ended as it should.
static bool try(Fixture* f, const Call* call) {
  fflush(NULL);
  pid_t child = fork();
  need(child >= 0, "a process");
  if (child == 0) {
    alarm(HANGS);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    call->call(f);
    go_on(f, call->function);
    _exit(0);
  }
  int status;
  need(waitpid(child, &status, 0) == child, "its end");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
#ifndef NDEBUG
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) return true;
#endif
  if (WIFSIGNALED(status))
    printf("%s: %s\n", call->text, strsignal(WTERMSIG(status)));
  else
    printf("%s: exit code %d\n", call->text, WEXITSTATUS(status));
  return false;
}

static int forget(const char* path, const struct stat* info, int type, struct FTW* at) {
  (void)info, (void)type, (void)at;
  return remove(path);
}

int main(int argc, char** argv) {
  static Fixture f;
  int bad = 0, n = 0;
  make_paths(&f);
  make_bytes(&f);
  make_simulations(&f);
  make_devices(&f);
  make_definitions(&f);
  for (int i = 0; i < interface_count; i++) {
    if (argc > 1 && !strstr(interface_call[i].text, argv[1])) continue;
    bad += !try(&f, &interface_call[i]), n++;
  }
  printf("%d calls, %d ended badly\n", n, bad);
  nftw(f.folder, forget, 8, FTW_DEPTH | FTW_PHYS);
  return bad > 0 || n == 0;
}
