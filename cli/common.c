// Options, messages and tables: the part of the program that has nothing to do with physics.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli.h"

// --- messages
// -----------------------------------------------------------------------------------------

int cli_fail(const char* format, ...) {
  va_list args;
  va_start(args, format);
  fputs("abut: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  return CLI_BAD_INPUT;
}

int cli_fail_at(const char* file, int line, const char* format, ...) {
  va_list args;
  va_start(args, format);
  if (line > 0)
    fprintf(stderr, "%s:%d: ", file, line);
  else
    fprintf(stderr, "%s: ", file);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  return CLI_BAD_INPUT;
}

int cli_error(const abError* error) {
  return error->file[0] ? cli_fail_at(error->file, error->line, "%s", error->message)
                        : cli_fail("%s", error->message);
}

int cli_problems(const abNotes* notes, const abError* error) {
  for (int i = 0; i < notes->nproblem; i++) cli_error(&notes->problem[i]);
  return notes->nproblem ? CLI_BAD_INPUT : cli_error(error);
}

const char* cli_suggest(const char* name, int n, const char* const* known) {
  static char text[1024];
  return ab_suggest(name, n, known, text, sizeof text);
}

// --- options
// ------------------------------------------------------------------------------------------

static void print_help(const CliCommand* c) {
  printf("abut %s %s%s\n%s\n", c->name, c->arguments, c->noption ? " [options]" : "", c->summary);
  if (c->noption) printf("\nOptions:\n");
  for (int i = 0; i < c->noption; i++) {
    const CliOption* o = &c->option[i];
    int n = printf("  %s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
    printf("%*s%s\n", n < 26 ? 26 - n : 1, "", o->help);
  }
  printf("  --help                  this text\n");
  if (c->teaching) printf("\n%s", c->teaching);
}

static int unknown_option(const CliCommand* c, const char* given) {
  const char* known[64];
  for (int i = 0; i < c->noption; i++) known[i] = c->option[i].name;
  return cli_fail("%s: unknown option '%s'%s (abut %s --help explains them)", c->name, given,
                  cli_suggest(given, c->noption, known), c->name);
}

// The option that `text` names, up to an '=' in it; NULL if there is none.
static const CliOption* find_option(const CliCommand* c, const char* text) {
  size_t n = strcspn(text, "=");
  for (int i = 0; i < c->noption; i++)
    if (strlen(c->option[i].name) == n && !strncmp(c->option[i].name, text, n))
      return &c->option[i];
  return NULL;
}

// Reads argv[i], which is an option; returns how many words it took, or 0 with a message.
static int parse_option(const CliCommand* c, int i, int argc, char** argv, CliArgs* args) {
  const CliOption* o = find_option(c, argv[i]);
  const char* equals = strchr(argv[i], '=');
  if (!o) return unknown_option(c, argv[i]), 0;
  if (args->ngiven == CLI_MAX_GIVEN) return cli_fail("%s: too many options", c->name), 0;
  int k = args->ngiven++, taken = 1;
  args->name[k] = o->name;
  args->value[k] = "";
  if (!o->argument && equals)
    return cli_fail("%s: %s takes no value; leave '%s' out", c->name, o->name, equals), 0;
  if (!o->argument) return 1;
  if (equals) {
    args->value[k] = equals + 1;
  } else if (i + 1 < argc) {
    args->value[k] = argv[i + 1];
    taken = 2;
  } else {
    return cli_fail("%s: %s needs a value: %s %s", c->name, o->name, o->name, o->argument), 0;
  }
  return taken;
}

bool cli_parse(const CliCommand* c, int argc, char** argv, CliArgs* args, int* exit_code) {
  *args = (CliArgs){0};
  *exit_code = CLI_BAD_INPUT;
  bool options = true;
  for (int i = 1; i < argc;) {
    if (options && (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))) {
      print_help(c);
      *exit_code = CLI_DONE;
      return false;
    }
    if (options && !strcmp(argv[i], "--")) {
      options = false;
      i++;
    } else if (options && argv[i][0] == '-' && argv[i][1]) {
      int taken = parse_option(c, i, argc, argv, args);
      if (!taken) return false;
      i += taken;
    } else if (args->nargument == c->nargument_max) {
      cli_fail("%s: one argument too many: '%s'; usage: abut %s %s", c->name, argv[i], c->name,
               c->arguments);
      return false;
    } else {
      args->argument[args->nargument++] = argv[i++];
    }
  }
  if (args->nargument >= c->nargument_min) return true;
  cli_fail("%s: something is missing; usage: abut %s %s (abut %s --help explains it)", c->name,
           c->name, c->arguments, c->name);
  return false;
}

const char* cli_value(const CliArgs* args, const char* name) {
  for (int i = args->ngiven - 1; i >= 0; i--)
    if (!strcmp(args->name[i], name)) return args->value[i];
  return NULL;
}

bool cli_has(const CliArgs* args, const char* name) { return cli_value(args, name) != NULL; }

bool cli_number(const CliArgs* args, const char* name, double low, double high, double* x) {
  const char* text = cli_value(args, name);
  if (!text) return true;
  char* end;
  double value = strtod(text, &end);
  if (end == text || *end || !isfinite(value)) {
    cli_fail("%s %s: this is not a number", name, text);
    return false;
  }
  if (!(value > low && value <= high)) {
    cli_fail("%s %s: give a number greater than %g%s", name, text, low,
             isinf(high) ? "" : " and not too large");
    return false;
  }
  *x = value;
  return true;
}

// --- input
// --------------------------------------------------------------------------------------------

const char* cli_too_large(void) {
  return "the file is larger than the limit; does it end at all? abut --input-limit 4G ... reads "
         "more";
}

bool cli_same_file(const char* a, const char* b) {
  struct stat x, y;
  return !strcmp(a, b) ||
         (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

// --- tables
// -------------------------------------------------------------------------------------------

CliTable cli_table(int ncolumn, const char* const* heading) {
  CliTable t = {.ncolumn = ncolumn};
  for (int i = 0; i < ncolumn; i++) cli_cell(&t, "%s", heading[i]);
  return t;
}

void cli_cell(CliTable* t, const char* format, ...) {
  if (t->ncell == t->capacity) {
    int capacity = t->capacity ? 2 * t->capacity : 64;
    char** cell = realloc(t->cell, sizeof(char*) * (size_t)capacity);
    if (!cell) return;
    t->cell = cell;
    t->capacity = capacity;
  }
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  t->cell[t->ncell++] = strdup(text);
}

// Characters, not bytes, of UTF-8 text.
static int width_of(const char* s) {
  int n = 0;
  for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
  return n;
}

static const char* cell_text(const CliTable* t, int row, int column) {
  const char* s = t->cell[row * t->ncolumn + column];
  if (!s) return "";
  return row == 0 && s[0] == '>' ? s + 1 : s;
}

void cli_table_print(CliTable* t, const char* indent) {
  int nrow = t->ncell / t->ncolumn;
  int width[32] = {0};
  for (int r = 0; r < nrow; r++)
    for (int c = 0; c < t->ncolumn && c < 32; c++) {
      int w = width_of(cell_text(t, r, c));
      if (w > width[c]) width[c] = w;
    }
  for (int r = 0; r < nrow; r++) {
    printf("%s", indent);
    for (int c = 0; c < t->ncolumn && c < 32; c++) {
      const char* s = cell_text(t, r, c);
      int pad = width[c] - width_of(s);
      bool right = t->cell[c] && t->cell[c][0] == '>', last = c == t->ncolumn - 1;
      printf("%*s%s%*s", right ? pad : 0, "", s, right || last ? 0 : pad, "");
      printf("%s", last ? "\n" : "  ");
    }
  }
  for (int i = 0; i < t->ncell; i++) free(t->cell[i]);
  free(t->cell);
  *t = (CliTable){0};
}

json_t* cli_json_number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

json_t* cli_json_text(const char* text) {
  json_t* plain = json_string(text);
  if (plain) return plain;
  // Not UTF-8, as names of files may be: what is no character becomes U+FFFD.
  size_t n = 0, left = strlen(text);
  char* copy = malloc(3 * left + 1);
  while (copy && left > 0) {
    size_t k = 0;
    for (size_t most = left < 4 ? left : 4; most > 0 && !k; most--) {
      json_t* character = json_stringn(text, most);
      if (character) k = most;
      json_decref(character);
    }
    memcpy(copy + n, k ? text : "\xef\xbf\xbd", k ? k : 3);
    n += k ? k : 3;
    text += k ? k : 1;
    left -= k ? k : 1;
  }
  json_t* made = copy ? json_stringn(copy, n) : NULL;
  free(copy);
  return made;
}

void cli_json_print(json_t* json) {
  char* text = json_dumps(json, JSON_INDENT(2));
  if (text) puts(text);  // else there was no memory, which the end of the program tells
  free(text);
  json_decref(json);
}

double cli_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
