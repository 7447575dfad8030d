// One look at all rows. Means and deviations are summed about the first value, so that numbers with
// a large common part lose nothing.
#include <math.h>
#include <stdlib.h>

#include "engine.h"

enum { BLOCK = 4096 };

void ab_sweep_summary_free(abSweepSummary* a) {
  free(a->finite);
  free(a->mean);
  free(a->deviation);
  free(a->low);
  free(a->high);
  *a = (abSweepSummary){0};
}

static bool make(abSweepSummary* a, double** origin) {
  size_t n = (size_t)a->n + 1;
  a->finite = calloc(n, sizeof *a->finite);
  a->mean = calloc(n, sizeof *a->mean);
  a->deviation = calloc(n, sizeof *a->deviation);
  a->low = calloc(n, sizeof *a->low);
  a->high = calloc(n, sizeof *a->high);
  *origin = calloc(n, sizeof **origin);
  return a->finite && a->mean && a->deviation && a->low && a->high && *origin;
}

static void add(abSweepSummary* a, const double* row, double* origin) {
  int status = (int)row[a->n];
  a->nrow++;
  if (status >= AB_RUN_OK && status <= AB_RUN_REFUSED) a->status[status]++;
  for (int i = 0; i < a->n; i++) {
    double x = row[i];
    if (!isfinite(x)) continue;
    if (a->finite[i]++ == 0) origin[i] = a->low[i] = a->high[i] = x;
    a->low[i] = fmin(a->low[i], x);
    a->high[i] = fmax(a->high[i], x);
    a->mean[i] += x - origin[i];
    a->deviation[i] += (x - origin[i]) * (x - origin[i]);
  }
}

static void close_sums(abSweepSummary* a, const double* origin) {
  for (int i = 0; i < a->n; i++) {
    double n = (double)a->finite[i], mean = n > 0 ? a->mean[i] / n : NAN;
    double square = n > 1 ? (a->deviation[i] - n * mean * mean) / (n - 1) : 0;
    a->deviation[i] = sqrt(fmax(square, 0));
    a->mean[i] = origin[i] + mean;
    if (n == 0) a->low[i] = a->high[i] = NAN;
  }
}

abStatus summary_make(const abSweep* s, const RowReader* rows, abSweepSummary* a, abError* error) {
  int width = ab_sweep_width(s);
  double* origin = NULL;
  int64_t* run = malloc(sizeof(int64_t) * BLOCK);
  double* row = malloc(sizeof(double) * BLOCK * (size_t)width);
  *a = (abSweepSummary){.n = s->nvary + s->nmeasure};
  bool good = make(a, &origin) && run && row;
  abStatus status = good ? AB_OK : sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory");
  for (int64_t first = 0; first < rows->nrow && !status; first += BLOCK) {
    int64_t n = rows->nrow - first < BLOCK ? rows->nrow - first : BLOCK;
    status = rows->read(rows->context, first, n, run, row, error);
    for (int64_t i = 0; i < n && !status; i++) add(a, row + i * width, origin);
  }
  if (!status) close_sums(a, origin);
  free(origin);
  free(row);
  free(run);
  return status;
}
