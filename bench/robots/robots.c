// Steps a model as often as it is told to, each time from its start, and says how long it took.
// usage: bench_robots FILE [KEY]; every line of the input is a number of steps, every line of the
// output: seconds of processor time per step, iterations and contacts per step, steps that were
// unconverged, and whether it broke down.
#define _POSIX_C_SOURCE 199309L  // clock_gettime
#include <abut/abut.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Count {
  int unconverged, done;
  long iterations, contacts;
} Count;

static Count run(const abModel* model, abData* data, int nstep) {
  Count c = {0};
  for (abStepStatus s = AB_STEP_OK; c.done < nstep && s != AB_STEP_BROKEN; c.done++) {
    s = ab_step(model, data);
    c.unconverged += s != AB_STEP_OK;
    c.iterations += data->stat.iterations;
    c.contacts += data->ncontact;
  }
  return c;
}

int main(int argc, char** argv) {
  abError error;
  if (argc < 2) {
    fprintf(stderr, "usage: bench_robots FILE [KEY]\n");
    return 2;
  }
  abModel* model = ab_load(argv[1], NULL, &error);
  abData* data = model ? ab_data_create(model, &error) : NULL;
  if (!data) {
    fprintf(stderr, "bench_robots: %s:%d: %s\n", argv[1], error.line, error.message);
    return 2;
  }
  int key = argc > 2 ? ab_find_key(model, argv[2]) : -1, nstep;
  if (argc > 2 && key < 0) {
    fprintf(stderr, "bench_robots: %s has no key '%s'\n", argv[1], argv[2]);
    return 2;
  }
  while (scanf("%d", &nstep) == 1 && nstep > 0) {
    if (ab_data_reset(model, data, key) != AB_OK) return 1;
    double before = now();
    Count c = run(model, data, nstep);
    double n = c.done;
    printf("%.9g %.6g %.6g %d %d\n", (now() - before) / n, (double)c.iterations / n,
           (double)c.contacts / n, c.unconverged, data->stat.status == AB_STEP_BROKEN);
    fflush(stdout);
  }
  ab_data_free(data);
  ab_model_free(model);
  return 0;
}
