// results.csv. The exact numbers are in results.h5; here a row has to be short, and is read by
// people and spreadsheets. So measures are rounded to so many digits (10, unless asked otherwise),
// the residual, of which only the size tells something, to three. Varied numbers are written as
// they are, since runs are repeated with them.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { BLOCK = 4096, RESIDUAL_DIGITS = 3, ALL_DIGITS = 17 };

// %.17g, or %.15g where that says the same. What 15 digits say shows in 17 of them as a row of
// nines or noughts before the last two: others need not be tried, which would take most of the
// time.
static int print_exact(char* out, size_t size, double x) {
  char brief[40];
  int n = snprintf(out, size, "%.17g", x);
  if (n > 16 && !strstr(out, "99") && !strstr(out, "00")) return n;
  int m = snprintf(brief, sizeof brief, "%.15g", x);
  if (m >= n || strtod(brief, NULL) != x) return n;
  memcpy(out, brief, (size_t)m + 1);
  return m;
}

static int print_number(char* out, size_t size, double x, int ndigit) {
  if (isnan(x)) return snprintf(out, size, "nan");
  if (x == floor(x) && fabs(x) < 1e15) return snprintf(out, size, "%.0f", x);
  return ndigit >= ALL_DIGITS ? print_exact(out, size, x) : snprintf(out, size, "%.*g", ndigit, x);
}

static void print_name(FILE* f, const char* name) {
  bool quote = strpbrk(name, ",\"\n") != NULL;
  if (quote) fputc('"', f);
  for (; *name; name++) {
    if (*name == '"') fputc('"', f);
    fputc(*name, f);
  }
  if (quote) fputc('"', f);
}

static void print_header(FILE* f, const abSweep* s) {
  fputs("run", f);
  for (int i = 0; i < s->nvary; i++) fputc(',', f), print_name(f, s->vary[i].name);
  for (int i = 0; i < s->nmeasure; i++) fputc(',', f), print_name(f, s->measure[i].name);
  fputs(",status,residual,time", f);
  if (s->keep_hash) fputs(",hash", f);
  fputc('\n', f);
}

static bool print_row(FILE* f, const abSweep* s, int ndigit, int64_t run, const double* row) {
  char text[64];
  int n = s->nvary + s->nmeasure;
  int rough = ndigit < ALL_DIGITS ? RESIDUAL_DIGITS : ALL_DIGITS;
  fprintf(f, "%lld", (long long)run);
  for (int i = 0; i < n + 3; i++) {
    fputc(',', f);
    if (i == n)
      fputs(ab_run_status_name((int)row[i]), f);
    else
      fwrite(text, 1,
             (size_t)print_number(text, sizeof text, row[i],
                                  i < s->nvary ? ALL_DIGITS
                                  : i == n + 1 ? rough
                                               : ndigit),
             f);
  }
  if (s->keep_hash) {
    uint64_t hash;
    memcpy(&hash, row + n + 3, sizeof hash);
    fprintf(f, ",%016llx", (unsigned long long)hash);
  }
  return fputc('\n', f) != EOF;
}

abStatus results_write_csv(const abSweep* s, const RowReader* rows, const char* path,
                           abError* error) {
  int width = ab_sweep_width(s);
  FILE* f = fopen(path, "wb");
  int64_t* run = malloc(sizeof(int64_t) * BLOCK);
  double* row = malloc(sizeof(double) * BLOCK * (size_t)width);
  bool good = f && run && row;
  abStatus status = AB_OK;
  if (good) print_header(f, s);
  for (int64_t first = 0; first < rows->nrow && good && !status; first += BLOCK) {
    int64_t n = rows->nrow - first < BLOCK ? rows->nrow - first : BLOCK;
    status = rows->read(rows->context, first, n, run, row, error);
    for (int64_t i = 0; i < n && good && !status; i++)
      good = print_row(f, s, rows->ndigit, run[i], row + i * width);
  }
  int why = errno;
  if (f && fclose(f) != 0) good = false, why = errno;
  free(row);
  free(run);
  if (status || good) return status;
  return sweep_fail(error, AB_ERROR_FILE, path, 0, "cannot be written: %s", strerror(why));
}
