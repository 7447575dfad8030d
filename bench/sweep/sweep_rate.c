// What a sweep costs beside the bare loop: the same runs of a sliding cube, once written down by
// hand (reset, set friction and speed, step, read one number) and once by the sweep engine with ten
// measures. The two take turns in small blocks, and the time is that of the thread, so that other
// programs on the machine do not show; then the same through a folder of results, with everything
// that is written.
//
// usage: sweep_rate [runs] [folder | bare | swept]     run from the root of the sources
//
// With `bare` or `swept` only these are run, and the instructions of each can be counted, which is
// steadier than time on a machine with other work: valgrind --tool=callgrind.
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "sweep.h"

static const char spec_text[] =
    "{\"scene\": \"scenes/slide.xml\", \"time\": 0.5, \"step\": 0.002, \"samples\": %ld,"
    "\"vary\": {\"geom.cube.friction\": {\"uniform\": [0.2, 0.9]},"
    "           \"key.slide.qvel[0]\": {\"uniform\": [1, 4]}},"
    "\"measure\": {\"x\": \"body.cube.x\", \"y\": \"body.cube.y\", \"z\": \"body.cube.z\","
    "  \"vx\": \"body.cube.vx\", \"slip\": \"contact.cube.floor.slip\","
    "  \"peak\": \"contact.cube.floor.peak_force\", \"lost\": \"energy_lost\","
    "  \"rest\": \"time_to_rest\", \"face\": \"body.cube.up_face\","
    "  \"angle\": \"body.cube.angle\"}}";

static double cpu(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const abError* error) {
  fprintf(stderr, "sweep_rate: %s: %s\n", error->file, error->message);
  exit(2);
}

typedef struct Bare {
  abModel* model;
  abData* data;
  int cube;
} Bare;

static double run_bare(Bare* b, const double value[2]) {
  // the model is this program's own; its arrays are constant for others
  ((abGeom*)b->model->geom)[b->cube].friction[0] = value[0];
  ab_data_reset(b->model, b->data, 0);
  b->data->v[0] = value[1];
  for (int i = 0; i < 250; i++) ab_step(b->model, b->data);
  return b->data->com[1].x;
}

// Either of the two can be left out.
static void compare(const abSweep* sweep, long nrun, bool loop, bool engine) {
  abError error = {0};
  Bare b = {.model = ab_load("scenes/slide.xml", NULL, &error)};
  if (!b.model) die(&error);
  b.data = ab_data_create(b.model, &error);
  b.data->h = 0.002;
  b.cube = ab_find_geom(b.model, "cube");
  abSweepWorker* worker = ab_sweep_worker_create(sweep, &error);
  if (!worker || !b.data) die(&error);
  double* row = malloc(sizeof(double) * (size_t)ab_sweep_width(sweep));
  double bare = 0, swept = 0, differ = 0;
  enum { BLOCK = 50 };
  for (long first = 0; first < nrun; first += BLOCK) {
    double x[BLOCK], value[2], begun = cpu(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < BLOCK && loop; i++) {
      ab_sweep_values(sweep, first + i, value);
      x[i] = run_bare(&b, value);
    }
    double middle = cpu(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < BLOCK && engine; i++) {
      ab_sweep_worker_run(worker, first + i, NULL, row, NULL);
      differ += loop && row[2] != x[i];
    }
    double end = cpu(CLOCK_THREAD_CPUTIME_ID);
    bare += middle - begun, swept += end - middle;
  }
  if (loop && engine)
    printf(
        "bare loop  %8.1f us a run\nsweep      %8.1f us a run: %.2f %% more; %g results differ\n",
        1e6 * bare / (double)nrun, 1e6 * swept / (double)nrun, 100 * (swept / bare - 1), differ);
  free(row);
  ab_sweep_worker_free(worker);
  ab_data_free(b.data);
  ab_model_free(b.model);
}

static void through_folder(const abSweep* sweep, const char* folder) {
  abError error = {0};
  abSweepPlace place = {.folder = folder};
  abSweepStore* store = ab_sweep_store_open(sweep, &place, &error);
  if (!store) die(&error);
  abSweepSource source = ab_sweep_store_source(store);
  abSweepSummary summary;
  int64_t missing;
  double begun = cpu(CLOCK_PROCESS_CPUTIME_ID);
  if (ab_sweep_run(sweep, &source, 2, NULL, &error)) die(&error);
  double run = cpu(CLOCK_PROCESS_CPUTIME_ID);
  if (ab_sweep_store_finish(store, &missing, &summary, &error)) die(&error);
  double end = cpu(CLOCK_PROCESS_CPUTIME_ID), n = (double)ab_sweep_count(sweep);
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  printf("in a folder, 2 threads: %.1f us of processor a run, and %.1f us to write the results\n",
         1e6 * (run - begun) / n, 1e6 * (end - run) / n);
  printf("memory at most %.1f MB\n", (double)use.ru_maxrss / 1024);
  ab_sweep_summary_free(&summary);
  ab_sweep_store_close(store);
}

int main(int argc, char** argv) {
  long nrun = argc > 1 ? strtol(argv[1], NULL, 10) : 2000;
  char text[2048];
  abError error = {0};
  snprintf(text, sizeof text, spec_text, nrun);
  abSweep* sweep = ab_sweep_parse(text, "", &error);
  if (!sweep) die(&error);
  bool bare = argc > 2 && !strcmp(argv[2], "bare"), swept = argc > 2 && !strcmp(argv[2], "swept");
  compare(sweep, nrun < 20000 ? nrun / 50 * 50 : 20000, !swept, !bare);
  if (argc > 2 && !bare && !swept) through_folder(sweep, argv[2]);
  ab_sweep_free(sweep);
  return 0;
}
