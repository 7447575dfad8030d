// One entry of "vary" or "set": what it names, and how its values are spread.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

void vary_free(Vary* v) {
  for (int64_t i = 0; v->file && i < v->n; i++) free(v->file[i]);
  free(v->file);
  free(v->value);
  free(v->tie);
  free(v->name);
}

static abStatus bad(const abSweep* s, const Vary* v, const char* text, abError* error) {
  return sweep_fail(error, AB_ERROR_ARGUMENT, s->path, 0, "vary %s: %s", v->name, text);
}

// Up to `most` finite numbers of an array; -1 where something else is in it.
static int numbers(const json_t* j, int most, double* x) {
  if (!json_is_array(j) || json_array_size(j) > (size_t)most) return -1;
  int n = (int)json_array_size(j);
  for (int i = 0; i < n; i++) {
    const json_t* e = json_array_get(j, (size_t)i);
    if (!json_is_number(e) || !isfinite(json_number_value(e))) return -1;
    x[i] = json_number_value(e);
  }
  return n;
}

static abStatus read_list(const abSweep* s, const json_t* j, Vary* v, abError* error) {
  size_t n = json_array_size(j);
  v->spread = SPREAD_LIST;
  if (!json_is_array(j) || n == 0)
    return bad(s, v, "the list is empty; give at least one value, as in {\"list\": [1, 2]}", error);
  v->n = (int64_t)n;
  bool files = v->target == TARGET_FORCES || v->target == TARGET_CONTROLS;
  v->value = calloc(n, sizeof *v->value);
  v->file = files ? calloc(n, sizeof *v->file) : NULL;
  if (!v->value || (files && !v->file)) return bad(s, v, "no memory", error);
  for (size_t i = 0; i < n; i++) {
    const json_t* e = json_array_get(j, i);
    if (files ? !json_is_string(e) : !json_is_number(e) || !isfinite(json_number_value(e)))
      return bad(s, v, files ? "its list must hold names of files" : "its list must hold numbers",
                 error);
    v->value[i] = json_number_value(e);
    if (files && !(v->file[i] = sweep_copy(json_string_value(e))))
      return bad(s, v, "no memory", error);
  }
  return AB_OK;
}

static abStatus read_grid(const abSweep* s, const json_t* j, Vary* v, abError* error) {
  double x[3];
  v->spread = SPREAD_GRID;
  if (numbers(j, 3, x) != 3)
    return bad(s, v, "a grid is written as [first, last, count], as in [0.1, 0.9, 9]", error);
  v->a = x[0], v->b = x[1];
  if (!(x[2] >= 1) || x[2] != floor(x[2]) || x[2] > 1e15)
    return bad(s, v, "the grid is empty; its count must be a whole number from 1 on", error);
  v->n = (int64_t)x[2];
  if (v->n > 1 && v->a == v->b)
    return bad(s, v, "the grid has no extent: its ends are equal", error);
  return AB_OK;
}

static abStatus read_range(const abSweep* s, const json_t* j, Vary* v, abError* error) {
  double x[2];
  if (numbers(j, 2, x) != 2) return bad(s, v, "a range is written as [low, high]", error);
  v->a = x[0], v->b = x[1];
  if (!(v->a < v->b))
    return bad(s, v, "the range is empty: its first number must be the smaller one", error);
  if (v->spread == SPREAD_LOG && !(v->a > 0))
    return bad(s, v, "a loguniform range must begin above 0", error);
  return AB_OK;
}

static abStatus read_normal(const abSweep* s, const json_t* j, Vary* v, abError* error) {
  double x[4];
  int n = numbers(j, 4, x);
  v->spread = SPREAD_NORMAL;
  if (n != 2 && n != 4)
    return bad(s, v, "normal is written as [mean, deviation] or [mean, deviation, low, high]",
               error);
  v->a = x[0], v->b = x[1];
  v->low = n == 4 ? x[2] : -INFINITY, v->high = n == 4 ? x[3] : INFINITY;
  if (!(v->b > 0)) return bad(s, v, "the deviation must be above 0", error);
  if (!(v->low < v->high))
    return bad(s, v, "the range is empty: low must be smaller than high", error);
  if (!(normal_quantile(0.25) < 0) || v->low > v->a + 30 * v->b || v->high < v->a - 30 * v->b)
    return bad(s, v, "the range holds nothing of this distribution", error);
  return AB_OK;
}

static Target target_of(const char* name) {
  if (!strcmp(name, "forces")) return TARGET_FORCES;
  if (!strcmp(name, "controls")) return TARGET_CONTROLS;
  if (!strncmp(name, "param.", 6)) return TARGET_PARAM;
  if (!strncmp(name, "force.", 6)) return TARGET_FORCE;
  if (!strncmp(name, "control.", 8)) return TARGET_CONTROL;
  return TARGET_NUMBER;
}

abStatus vary_read(abSweep* s, const char* name, const json_t* j, Vary* v, abError* error) {
  static const char* const known[] = {"grid", "list", "uniform", "loguniform", "normal"};
  *v = (Vary){.name = sweep_copy(name), .target = target_of(name)};
  if (!v->name) return sweep_fail(error, AB_ERROR_MEMORY, s->path, 0, "no memory");
  bool files = v->target == TARGET_FORCES || v->target == TARGET_CONTROLS;
  if (json_is_string(j) && !files) {
    v->tie = sweep_copy(json_string_value(j));
    return v->tie ? AB_OK : bad(s, v, "no memory", error);
  }
  if (json_is_number(j) || json_is_string(j)) {
    json_t* one = json_array();
    json_array_append(one, (json_t*)j);
    abStatus status = read_list(s, one, v, error);
    json_decref(one);
    return status;
  }
  if (json_is_array(j)) return read_list(s, j, v, error);
  const char* how = json_is_object(j) && json_object_size(j) == 1
                        ? json_object_iter_key(json_object_iter((json_t*)j))
                        : NULL;
  if (!how)
    return bad(s, v, "say how it varies: one of grid, list, uniform, loguniform, normal", error);
  const json_t* x = json_object_get(j, how);
  if (files && strcmp(how, "list"))
    return bad(s, v, "files can only be varied by a list of names", error);
  if (!strcmp(how, "grid")) return read_grid(s, x, v, error);
  if (!strcmp(how, "list")) return read_list(s, x, v, error);
  if (!strcmp(how, "normal")) return read_normal(s, x, v, error);
  v->spread = strcmp(how, "uniform") ? SPREAD_LOG : SPREAD_UNIFORM;
  if (!strcmp(how, "uniform") || !strcmp(how, "loguniform")) return read_range(s, x, v, error);
  char text[256], message[512];
  ab_suggest(how, 5, known, text, sizeof text);
  snprintf(message, sizeof message, "'%.60s' is no way to vary a number%s", how, text);
  return bad(s, v, message, error);
}

// --- what it names ---

static abStatus resolve_param(const abSweep* s, const abData* data, const Vary* v, abError* error) {
  const char* known[64];
  const char* name = v->name + strlen("param.");
  int n = data->contact ? data->contact->nparam : 0;
  for (int i = 0; i < n && i < 64; i++) {
    known[i] = data->contact->param[i].name;
    if (!strcmp(known[i], name)) return AB_OK;
  }
  char text[512];
  return sweep_fail(error, AB_ERROR_ARGUMENT, s->path, 0,
                    "vary %s: the contact model '%s' has no parameter '%s'%s", v->name,
                    data->contact ? data->contact->name : "none", name,
                    ab_suggest(name, n, known, text, sizeof text));
}

static abStatus load_files(abSweep* s, const abModel* model, const Vary* v, abError* error) {
  bool forces = v->target == TARGET_FORCES;
  Series* list = calloc((size_t)v->n, sizeof *list);
  if (!list) return bad(s, v, "no memory", error);
  *(forces ? &s->forces_of : &s->controls_of) = list;
  *(forces ? &s->nforces_of : &s->ncontrols_of) = (int)v->n;
  for (int64_t i = 0; i < v->n; i++) {
    char* path = sweep_find_file(s, v->file[i]);
    abStatus status = path ? series_load(path, forces, model, &list[i], error) : AB_ERROR_MEMORY;
    free(path);
    if (status) return status;
  }
  return AB_OK;
}

abStatus vary_resolve(abSweep* s, abScene* scene, const abModel* model, const abData* data, Vary* v,
                      abError* error) {
  abNumber number;
  switch (v->target) {
    case TARGET_NUMBER: {
      abStatus status = ab_number_find(scene, v->name, &number, error);
      if (status && !error->file[0] && s->path)
        snprintf(error->file, sizeof error->file, "%s", s->path);
      return status;
    }
    case TARGET_PARAM:
      return resolve_param(s, data, v, error);
    case TARGET_FORCE:
      return series_find(&s->forces, model, v->name, v->series, error);
    case TARGET_CONTROL:
      return series_find(&s->controls, model, v->name, v->series, error);
    default:
      return load_files(s, model, v, error);
  }
}
