#define _POSIX_C_SOURCE 200809L
#include "support/experiment.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
  const char* json_path;
  bool brief;
  json_t *root, *claims, *figures, *notes, *figure;
  int nfailed, nclaim;
} run;

void experiment_begin(int argc, char** argv, const char* id, const char* title, const char* paper) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--short") == 0) {
      run.brief = true;
    } else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      run.json_path = argv[++i];
    } else {
      fprintf(stderr, "%s: unknown option '%s'; usage: %s [--short] [--json FILE]\n", id, argv[i],
              argv[0]);
      exit(2);
    }
  }
  run.claims = json_array();
  run.figures = json_array();
  run.notes = json_array();
  run.root = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "id", id, "title", title, "paper", paper,
                       "claims", run.claims, "figures", run.figures, "notes", run.notes);
  printf("%s\n%s\n\n", title, paper);
}

bool experiment_is_short(void) { return run.brief; }

static void add_claim(bool pass, const char* text, const char* theirs, const char* ours) {
  run.nclaim++;
  run.nfailed += !pass;
  json_array_append_new(run.claims, json_pack("{s:s, s:s, s:s, s:b}", "text", text, "paper", theirs,
                                              "ours", ours, "pass", pass));
  printf("  %-4s %s\n       expected: %s\n       measured: %s\n", pass ? "ok" : "FAIL", text,
         theirs, ours);
  fflush(stdout);
}

void experiment_claim(bool pass, const char* text, const char* theirs, const char* format, ...) {
  char ours[512];
  va_list args;
  va_start(args, format);
  vsnprintf(ours, sizeof ours, format, args);
  va_end(args);
  add_claim(pass, text, theirs, ours);
}

void experiment_number(const char* text, const char* theirs, double expected, double measured,
                       double tolerance, const char* unit) {
  char ours[256];
  double error = fabs(measured - expected) / fabs(expected);
  snprintf(ours, sizeof ours, "%.6g %s (relative difference %.1e, allowed %.1e)", measured, unit,
           error, tolerance);
  add_claim(error <= tolerance, text, theirs, ours);
}

void experiment_note(const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  json_array_append_new(run.notes, json_string(text));
  printf("  note %s\n", text);
}

void experiment_figure(const char* title, const char* xlabel, const char* ylabel) {
  run.figure = json_pack("{s:s, s:s, s:s, s:b, s:b, s:[]}", "title", title, "xlabel", xlabel,
                         "ylabel", ylabel, "xlog", 0, "ylog", 0, "series");
  json_array_append_new(run.figures, run.figure);
}

void experiment_log_axes(bool x, bool y) {
  json_object_set_new(run.figure, "xlog", json_boolean(x));
  json_object_set_new(run.figure, "ylog", json_boolean(y));
}

static json_t* numbers(int n, const double* x) {
  json_t* list = json_array();
  for (int i = 0; i < n; i++)
    json_array_append_new(list, isfinite(x[i]) ? json_real(x[i]) : json_null());
  return list;
}

void experiment_series(const char* name, const char* style, int n, const double* x,
                       const double* y) {
  json_array_append_new(json_object_get(run.figure, "series"),
                        json_pack("{s:s, s:s, s:o, s:o}", "name", name, "style", style, "x",
                                  numbers(n, x), "y", numbers(n, y)));
}

int experiment_end(void) {
  printf("\n%d passed, %d failed\n", run.nclaim - run.nfailed, run.nfailed);
  if (run.json_path && json_dump_file(run.root, run.json_path, JSON_REAL_PRECISION(12)) != 0) {
    fprintf(stderr, "cannot write %s\n", run.json_path);
    return 2;
  }
  json_decref(run.root);
  return run.nfailed > 0;
}

// Beside the program: the tree of an installation, or the sources, wherever they were moved to.
const char* experiment_file(const char* name) {
  // lib/abut/experiments, or lib/x86_64-linux-gnu/abut/experiments where the distribution has it so
  static const char* const root[] = {"../../../share/abut", "../../../../share/abut",
                                     ABUT_EXPERIMENT_ROOT};
  static char path[8192];
  char own[4096];
  ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
  if (n <= 0) return name;
  own[n] = 0;
  *strrchr(own, '/') = 0;
  for (size_t i = 0; i < sizeof root / sizeof *root; i++) {
    snprintf(path, sizeof path, "%s/%s/%s", own, root[i], name);
    if (access(path, R_OK) == 0) break;
  }
  return path;
}
