// Steps a model as often as it is told to, each time from its start, and says how long it took.
// usage: bench_robots FILE [KEY]; every line of the input is a number of steps, every line of the
// output: seconds of processor time per step, iterations and contacts per step, steps that were
// unconverged, whether it broke down, and the time of the 99th of a hundred steps and of the worst.
#define _POSIX_C_SOURCE 199309L  // clock_gettime
#include <abut/abut.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Count {
  int unconverged, done;
  long iterations, contacts;
  double seconds, p99, worst;
} Count;

static int compare(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static Count run(const abModel* model, abData* data, int nstep, double* each) {
  Count c = {0};
  for (abStepStatus s = AB_STEP_OK; c.done < nstep && s != AB_STEP_BROKEN; c.done++) {
    double before = now();
    s = ab_step(model, data);
    each[c.done] = now() - before;
    c.seconds += each[c.done];
    c.unconverged += s != AB_STEP_OK;
    c.iterations += data->stat.iterations;
    c.contacts += data->ncontact;
  }
  qsort(each, (size_t)c.done, sizeof *each, compare);
  c.p99 = each[c.done * 99L / 100], c.worst = each[c.done - 1];
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
    double* each = malloc(sizeof *each * (size_t)nstep);
    if (!each) return 1;
    Count c = run(model, data, nstep, each);
    double n = c.done;
    printf("%.9g %.6g %.6g %d %d %.9g %.9g\n", c.seconds / n, (double)c.iterations / n,
           (double)c.contacts / n, c.unconverged, data->stat.status == AB_STEP_BROKEN, c.p99,
           c.worst);
    fflush(stdout);
    free(each);
  }
  ab_data_free(data);
  ab_model_free(model);
  return 0;
}
