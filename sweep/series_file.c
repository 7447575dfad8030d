// Series from files, time,body,fx,fy,fz,tx,ty,tz or time,actuator,value, and from the
// specification: a list of rows like {"time": 0, "body": "cube", "fx": 1}.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { MOST_FIELD = 8 };
static const char* const force_field[] = {"time", "body", "fx", "fy", "fz", "tx", "ty", "tz"};
static const char* const control_field[] = {"time", "actuator", "value"};

static int nfield(const Series* s) { return s->forces ? 8 : 3; }
static const char* const* fields(const Series* s) {
  return s->forces ? force_field : control_field;
}

static abStatus add_row(Series* s, const abModel* model, const char* path, int line,
                        const char* target, const double* x, abError* error) {
  int i = s->forces ? ab_find_body(model, target) : ab_find_actuator(model, target);
  if (i < 0 || (s->forces && model->body[i].mover < 0))
    return sweep_fail(error, AB_ERROR_ARGUMENT, path, line, "there is no %s '%s' in the scene",
                      s->forces ? "moving body" : "actuator", target);
  if ((s->nrow & (s->nrow - 1)) == 0) {
    size_t room = s->nrow ? 2 * (size_t)s->nrow : 1;
    SeriesRow* more = realloc(s->row, sizeof(SeriesRow) * room);
    if (!more) return sweep_fail(error, AB_ERROR_MEMORY, path, line, "no memory for the series");
    s->row = more;
  }
  SeriesRow* r = &s->row[s->nrow++];
  *r = (SeriesRow){.time = x[0], .target = i};
  for (int k = 2; k < nfield(s); k++) r->x[k - 2] = x[k];
  return AB_OK;
}

// --- from the specification ---

static abStatus read_object(Series* s, const json_t* j, const abModel* model, abError* error) {
  double x[MOST_FIELD] = {0};
  const char *key, *target = NULL;
  json_t* value;
  json_object_foreach((json_t*)j, key, value) {
    int k = 0;
    while (k < nfield(s) && strcmp(fields(s)[k], key) != 0) k++;
    if (k == 1 && json_is_string(value))
      target = json_string_value(value);
    else if (k < nfield(s) && k != 1 && json_is_number(value))
      x[k] = json_number_value(value);
    else
      return sweep_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                        "%s: '%s' is not known in a row, or has the wrong kind of value",
                        s->forces ? "forces" : "controls", key);
  }
  if (!target)
    return sweep_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "%s: a row does not say which %s it is of",
                      s->forces ? "forces" : "controls", fields(s)[1]);
  return add_row(s, model, NULL, 0, target, x, error);
}

abStatus series_read(const json_t* j, bool forces, const abModel* model, Series* s,
                     abError* error) {
  s->forces = forces;
  if (!json_is_array(j))
    return sweep_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                      "%s: give the name of a CSV file or a list of rows",
                      forces ? "forces" : "controls");
  for (size_t i = 0; i < json_array_size(j); i++) {
    const json_t* row = json_array_get(j, i);
    if (!json_is_object(row))
      return sweep_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "%s: row %zu is no object",
                        forces ? "forces" : "controls", i);
    abStatus status = read_object(s, row, model, error);
    if (status) return status;
  }
  return AB_OK;
}

// --- from a file ---

// Cuts a line at its commas, in place. Returns the number of fields.
static int split(char* line, char** field, int most) {
  int n = 0;
  for (char* p = line;; n++) {
    char* comma = strchr(p, ',');
    if (comma) *comma = 0;
    while (*p == ' ' || *p == '\t' || *p == '"') p++;
    size_t m = strlen(p);
    while (m > 0 && strchr(" \t\r\"", p[m - 1])) p[--m] = 0;
    if (n < most) field[n] = p;
    if (!comma) return n + 1;
    p = comma + 1;
  }
}

static abStatus read_line(Series* s, char* text, const char* path, int line, const abModel* model,
                          abError* error) {
  char* field[MOST_FIELD];
  double x[MOST_FIELD] = {0};
  int n = split(text, field, MOST_FIELD);
  if (n != nfield(s))
    return sweep_fail(error, AB_ERROR_PARSE, path, line, "%d fields instead of %d", n, nfield(s));
  for (int k = 0; k < n; k++) {
    if (k == 1) continue;
    char* end;
    x[k] = strtod(field[k], &end);
    if (end == field[k] || *end || !isfinite(x[k]))
      return sweep_fail(error, AB_ERROR_PARSE, path, line, "%s is '%s'; it must be a finite number",
                        fields(s)[k], field[k]);
  }
  return add_row(s, model, path, line, field[1], x, error);
}

static abStatus check_header(const Series* s, char* text, const char* path, abError* error) {
  char* field[MOST_FIELD];
  int n = split(text, field, MOST_FIELD);
  bool good = n == nfield(s);
  for (int i = 0; i < n && good; i++) good = !strcmp(field[i], fields(s)[i]);
  return good
             ? AB_OK
             : sweep_fail(error, AB_ERROR_PARSE, path, 1, "wrong header; the first line must be %s",
                          s->forces ? "time,body,fx,fy,fz,tx,ty,tz" : "time,actuator,value");
}

abStatus series_load(const char* path, bool forces, const abModel* model, Series* s,
                     abError* error) {
  s->forces = forces;
  char* text = sweep_read_text(path, error);
  if (!text) return error->code;
  abStatus status = AB_OK;
  int line = 1;
  for (char* p = text; p && !status; line++) {
    char* end = strchr(p, '\n');
    if (end) *end = 0;
    if (line == 1)
      status = check_header(s, p, path, error);
    else if (p[strspn(p, " \t\r")])
      status = read_line(s, p, path, line, model, error);
    p = end ? end + 1 : NULL;
  }
  free(text);
  return status;
}
