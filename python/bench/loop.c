// The C loop the package is measured against: n worlds, each stepped k times in turn, one thread.
// usage: loop SCENE WORLDS STEPS PUSH    prints the processor seconds of stepping; PUSH: initial
// v[0] of all worlds
#define _POSIX_C_SOURCE 200809L
#include <abut/abut.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  abError error = {0};
  if (argc != 5) return fprintf(stderr, "usage: loop SCENE WORLDS STEPS PUSH\n"), 2;
  int n = atoi(argv[2]), steps = atoi(argv[3]);
  abModel* model = ab_load(argv[1], NULL, &error);
  abData** data = calloc((size_t)n, sizeof(abData*));
  for (int i = 0; model && data && i < n; i++) {
    data[i] = ab_data_create(model, &error);
    if (!data[i]) return fprintf(stderr, "%s\n", error.message), 2;
    data[i]->v[0] = atof(argv[4]);
  }
  if (!model || !data) return fprintf(stderr, "%s\n", error.message), 2;
  double begun = now();
  for (int i = 0; i < n; i++)
    for (int k = 0; k < steps; k++)
      if (ab_step(model, data[i]) == AB_STEP_BROKEN) return fprintf(stderr, "broken\n"), 3;
  printf("%.9g\n", now() - begun);
  for (int i = 0; i < n; i++) ab_data_free(data[i]);
  free(data);
  ab_model_free(model);
  return 0;
}
