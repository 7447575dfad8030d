// index.html: a page that holds its data. Summary and histograms are of all rows; what is drawn
// point by point is of some thousand, evenly spread over the list, so that the page stays small.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

extern const char sweep_page_html[];  // page.html, made a C text when built

enum { BLOCK = 4096, BIN = 40, DRAWN = 5000, FAILED = 200 };

typedef struct Page {
  const abSweep* sweep;
  const RowReader* rows;
  abSweepSummary summary;
  int64_t* bin;  // BIN per column
  int64_t every, nfailure;
  json_t *drawn, *failed;
} Page;

static json_t* number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static json_t* numbers(int n, const double* x) {
  json_t* list = json_array();
  for (int i = 0; i < n; i++) json_array_append_new(list, number(x[i]));
  return list;
}

static json_t* counts(int n, const int64_t* x) {
  json_t* list = json_array();
  for (int i = 0; i < n; i++) json_array_append_new(list, json_integer(x[i]));
  return list;
}

// --- a second look at the rows ---

static void add_failure(Page* p, int64_t run, const double* row) {
  const abSweep* s = p->sweep;
  if (p->nfailure++ >= FAILED) return;
  json_t* j = json_object();
  json_object_set_new(j, "run", json_integer(run));
  json_object_set_new(j, "status",
                      json_string(ab_run_status_name((int)row[ab_sweep_status_at(s)])));
  json_object_set_new(j, "values", numbers(s->nvary, row));
  json_array_append_new(p->failed, j);
}

static void add_row(Page* p, int64_t place, int64_t run, const double* row) {
  const abSweepSummary* a = &p->summary;
  for (int i = 0; i < a->n; i++) {
    double low = a->low[i], high = a->high[i];
    if (!isfinite(row[i])) continue;
    double t = high > low ? (row[i] - low) / (high - low) : 0.5;
    int k = (int)(BIN * t);
    p->bin[i * BIN + (k < BIN ? k : BIN - 1)]++;
  }
  if (place % p->every == 0) json_array_append_new(p->drawn, numbers(a->n, row));
  if (row[a->n] != AB_RUN_OK) add_failure(p, run, row);
}

static abStatus look(Page* p, abError* error) {
  int width = ab_sweep_width(p->sweep);
  int64_t* run = malloc(sizeof(int64_t) * BLOCK);
  double* row = malloc(sizeof(double) * BLOCK * (size_t)width);
  abStatus status = run && row ? AB_OK : sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory");
  for (int64_t first = 0; first < p->rows->nrow && !status; first += BLOCK) {
    int64_t n = p->rows->nrow - first < BLOCK ? p->rows->nrow - first : BLOCK;
    status = p->rows->read(p->rows->context, first, n, run, row, error);
    for (int64_t i = 0; i < n && !status; i++) add_row(p, first + i, run[i], row + i * width);
  }
  free(row);
  free(run);
  return status;
}

// --- the data of the page ---

static json_t* histograms(const Page* p) {
  json_t* list = json_array();
  for (int i = 0; i < p->summary.n; i++)
    json_array_append_new(list, counts(BIN, p->bin + (size_t)i * BIN));
  return list;
}

static json_t* names(const abSweep* s) {
  json_t* list = json_array();
  for (int i = 0; i < s->nvary; i++) json_array_append_new(list, json_string(s->vary[i].name));
  for (int i = 0; i < s->nmeasure; i++)
    json_array_append_new(list, json_string(s->measure[i].name));
  return list;
}

static json_t* page_data(const Page* p) {
  const abSweep* s = p->sweep;
  const abSweepSummary* a = &p->summary;
  json_t *j = json_object(), *status = json_array();
  for (int i = 0; i < 4; i++) json_array_append_new(status, json_string(ab_run_status_name(i)));
  json_object_set_new(j, "count", json_integer(s->count));
  json_object_set_new(j, "nrow", json_integer(a->nrow));
  json_object_set_new(j, "nvary", json_integer(s->nvary));
  json_object_set_new(j, "columns", names(s));
  json_object_set_new(j, "status", counts(4, a->status));
  json_object_set_new(j, "status_name", status);
  json_object_set_new(j, "mean", numbers(a->n, a->mean));
  json_object_set_new(j, "deviation", numbers(a->n, a->deviation));
  json_object_set_new(j, "low", numbers(a->n, a->low));
  json_object_set_new(j, "high", numbers(a->n, a->high));
  json_object_set_new(j, "finite", counts(a->n, a->finite));
  json_object_set_new(j, "histogram", histograms(p));
  json_object_set_new(j, "nfailure", json_integer(p->nfailure));
  json_object_set_new(j, "path", json_string(s->path ? s->path : "SPEC"));
  json_object_set(j, "failures", p->failed);
  json_object_set(j, "rows", p->drawn);
  json_object_set(j, "spec", s->spec);
  return j;
}

// In a script element "</" would end it, wherever it stands; "<\/" means the same in JSON.
static void print_safely(FILE* f, const char* text) {
  for (const char* p = text; *p; p++) {
    fputc(*p, f);
    if (p[0] == '<' && p[1] == '/') fputc('\\', f);
    // nor may a comment begin
    if (p[0] == '<' && p[1] == '!') fputs("\\u0021", f), p++;
  }
}

static abStatus print_page(const Page* p, const char* path, abError* error) {
  static const char mark[] = "@DATA@";
  const char* at = strstr(sweep_page_html, mark);
  json_t* data = page_data(p);
  char* text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(9));
  FILE* f = text ? fopen(path, "wb") : NULL;
  bool good = f != NULL;
  if (good) {
    fwrite(sweep_page_html, 1, (size_t)(at - sweep_page_html), f);
    print_safely(f, text);
    good = fputs(at + sizeof mark - 1, f) >= 0;
  }
  int why = errno;
  if (f && fclose(f) != 0) good = false, why = errno;
  free(text);
  json_decref(data);
  return good ? AB_OK
              : sweep_fail(error, AB_ERROR_FILE, path, 0, "cannot be written: %s", strerror(why));
}

abStatus results_write_page(const abSweep* s, const RowReader* rows, const char* path,
                            abError* error) {
  Page p = {.sweep = s, .rows = rows, .every = (rows->nrow + DRAWN - 1) / DRAWN};
  if (p.every < 1) p.every = 1;
  // a step with a small divisor in common with a grid would draw some of its values only
  while (p.every > 1 && (p.every % 2 == 0 || p.every % 3 == 0 || p.every % 5 == 0)) p.every++;
  p.drawn = json_array();
  p.failed = json_array();
  abStatus status = summary_make(s, rows, &p.summary, error);
  p.bin = calloc((size_t)(s->nvary + s->nmeasure) * BIN, sizeof *p.bin);
  if (!status && !(p.bin && p.drawn && p.failed))
    status = sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for the page");
  if (!status) status = look(&p, error);
  if (!status) status = print_page(&p, path, error);
  free(p.bin);
  json_decref(p.drawn);
  json_decref(p.failed);
  ab_sweep_summary_free(&p.summary);
  return status;
}
