// Forces and controls that change in time. A row holds from its time until the next row of the same
// body or actuator, so rows are applied in the order of their times; of two with equal times the
// one given later counts. Runs may change single numbers of single rows.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

// Times come from text and from adding up steps; both are exact to far better than this, and no
// step is this short.
#define TIME_TOLERANCE 1e-9

void series_free(Series* s) {
  free(s->row);
  *s = (Series){.forces = s->forces};
}

bool series_copy(const Series* from, Series* to) {
  *to = *from;
  to->row = malloc(sizeof(SeriesRow) * (size_t)(from->nrow + 1));
  if (to->row && from->nrow) memcpy(to->row, from->row, sizeof(SeriesRow) * (size_t)from->nrow);
  return to->row != NULL;
}

bool series_place(SeriesPlace* place, int nrow) {
  place->order = malloc(sizeof(int) * (size_t)(nrow + 1));
  return place->order != NULL;
}

void series_place_free(SeriesPlace* place) { free(place->order); }

// By insertion: the rows of a file are in order already, and a run changes few of them.
void series_begin(const Series* s, SeriesPlace* place) {
  place->next = 0;
  for (int i = 0; i < s->nrow; i++) {
    int k = i;
    for (; k > 0 && s->row[place->order[k - 1]].time > s->row[i].time; k--)
      place->order[k] = place->order[k - 1];
    place->order[k] = i;
  }
}

void series_apply(const Series* s, SeriesPlace* place, abData* data) {
  for (; place->next < s->nrow; place->next++) {
    const SeriesRow* r = &s->row[place->order[place->next]];
    if (r->time > data->time + TIME_TOLERANCE) return;
    if (s->forces)
      data->applied[r->target] =
          (abWrench){{r->x[0], r->x[1], r->x[2]}, {r->x[3], r->x[4], r->x[5]}};
    else
      data->ctrl[r->target] = r->x[0];
  }
}

void series_set(Series* s, const int at[2], double value) {
  SeriesRow* r = &s->row[at[0]];
  if (at[1] < 0)
    r->time = value;
  else
    r->x[at[1]] = value;
}

// --- by name ---

static abStatus unknown(const char* name, const char* what, abError* error) {
  return sweep_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "vary %s: %s", name, what);
}

// The index in brackets that ends at `end`; *close is where the name before it stops. -1: none.
static int bracket(const char* begin, const char* end, const char** close) {
  *close = end;
  if (end == begin || end[-1] != ']') return -1;
  const char* open = end - 1;
  while (open > begin && *open != '[') open--;
  *close = open;
  return atoi(open + 1);
}

static int add_constant(Series* s, int target) {
  SeriesRow* row = realloc(s->row, sizeof(SeriesRow) * (size_t)(s->nrow + 1));
  if (!row) return -1;
  s->row = row;
  row[s->nrow] = (SeriesRow){.time = -INFINITY, .target = target};
  return s->nrow++;
}

// Row k of a target; k < 0: its only one, made where there is none.
static abStatus find_row(Series* s, const char* name, int target, int k, int* at, abError* error) {
  int n = 0, found = -1;
  for (int i = 0; i < s->nrow; i++)
    if (s->row[i].target == target) {
      if (n == (k < 0 ? 0 : k)) found = i;
      n++;
    }
  char text[160];
  if (k >= 0 && found < 0) {
    snprintf(text, sizeof text, "the series has %d rows of it, counted from 0", n);
    return unknown(name, text, error);
  }
  bool constant = n == 1 && !isfinite(s->row[found].time);
  if (k < 0 && n > 0 && !constant)
    return unknown(name, "the series has rows of it; say which one, as in force.cube[0].fx", error);
  *at = found >= 0 ? found : add_constant(s, target);
  return *at < 0 ? unknown(name, "no memory", error) : AB_OK;
}

static int find_target(const Series* s, const abModel* model, const char* given, const char* name,
                       abError* error) {
  int i = s->forces ? ab_find_body(model, name) : ab_find_actuator(model, name);
  if (i >= 0 && (!s->forces || model->body[i].mover >= 0)) return i;
  const char* known[256];
  int n = 0;
  for (int k = 1; s->forces && k < model->nbody && n < 256; k++)
    if (model->body[k].mover >= 0) known[n++] = model->body[k].name;
  for (int k = 0; !s->forces && k < model->nactuator && n < 256; k++)
    known[n++] = model->actuator[k].name;
  char text[512];
  sweep_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "%s: there is no %s '%s'%s", given,
             s->forces ? "moving body" : "actuator", name,
             ab_suggest(name, n, known, text, sizeof text));
  return -1;
}

abStatus series_find(Series* s, const abModel* model, const char* name, int at[2], abError* error) {
  static const char* const force[] = {"fx", "fy", "fz", "tx", "ty", "tz"};
  const char *begin = strchr(name, '.') + 1, *end = name + strlen(name), *close;
  const char* dot = strrchr(begin, '.');
  at[1] = 0;
  if (s->forces && !dot) return unknown(name, "write it like force.cube.fx", error);
  if (dot && !strcmp(dot + 1, "time")) {
    at[1] = -1, end = dot;
  } else if (s->forces) {
    while (at[1] < 6 && strcmp(dot + 1, force[at[1]]) != 0) at[1]++;
    if (at[1] == 6)
      return unknown(name, "a force has the numbers fx, fy, fz, tx, ty, tz (and time)", error);
    end = dot;
  } else if (dot && !strcmp(dot + 1, "value")) {
    end = dot;
  }
  int k = bracket(begin, end, &close);
  char target[256];
  snprintf(target, sizeof target, "%.*s", (int)(close - begin), begin);
  int index = find_target(s, model, name, target, error);
  if (index < 0) return AB_ERROR_ARGUMENT;
  if (at[1] < 0 && k < 0) return unknown(name, "say of which row, as in force.cube[0].time", error);
  return find_row(s, name, index, k, &at[0], error);
}
