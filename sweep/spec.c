// Reading a specification. What can be checked without the scene is checked first; then the scene
// is loaded, and every name is looked up in it, so that nothing runs before everything is known to
// fit.
#include "spec.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// --- small things ---

abStatus sweep_fail(abError* error, abStatus code, const char* file, int line, const char* format,
                    ...) {
  if (!error) return code;
  va_list args;
  va_start(args, format);
  *error = (abError){.code = code, .line = line};
  snprintf(error->file, sizeof error->file, "%s", file ? file : "");
  vsnprintf(error->message, sizeof error->message, format, args);
  va_end(args);
  return code;
}

char* sweep_copy(const char* text) {
  size_t n = strlen(text) + 1;
  char* copy = malloc(n);
  if (copy) memcpy(copy, text, n);
  return copy;
}

char* sweep_read_text(const char* path, abError* error) {
  FILE* f = fopen(path, "rb");
  if (!f) {
    sweep_fail(error, AB_ERROR_FILE, path, 0, "cannot be read: %s; check the name",
               strerror(errno));
    return NULL;
  }
  size_t n = 0, room = 4096;
  char* text = malloc(room);
  while (text) {
    n += fread(text + n, 1, room - n - 1, f);
    if (n < room - 1) break;
    char* more = realloc(text, room *= 2);
    if (!more) free(text);
    text = more;
  }
  bool bad = ferror(f) || !text || (n && memchr(text, 0, n));
  fclose(f);
  if (bad) {
    free(text);
    sweep_fail(error, AB_ERROR_FILE, path, 0, "cannot be read as text");
    return NULL;
  }
  text[n] = 0;
  return text;
}

static bool exists(const char* path) {
  struct stat s;
  return stat(path, &s) == 0;
}

char* sweep_find_file(const abSweep* s, const char* name) {
  size_t n = strlen(s->folder) + strlen(name) + 2;
  char* path = malloc(n);
  if (!path) return NULL;
  snprintf(path, n, "%s/%s", s->folder, name);
  if (name[0] == '/' || !s->folder[0] || (!exists(path) && exists(name)))
    snprintf(path, n, "%s", name);
  return path;
}

// A message about an entry: in the file, on the first line that has its name in it.
abStatus spec_bad(const abSweep* s, const char* key, abError* error, const char* format, ...) {
  char text[900];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return sweep_fail(error, AB_ERROR_ARGUMENT, s->path, 0, "%s: %s", key, text);
}

// --- plain entries ---

static abStatus read_number(const abSweep* s, const json_t* j, const char* key, double low,
                            double* x, abError* error) {
  const json_t* v = json_object_get(j, key);
  if (!v) return AB_OK;
  if (!json_is_number(v) || !isfinite(json_number_value(v)) || !(json_number_value(v) > low))
    return spec_bad(s, key, error, "give a number greater than %g", low);
  *x = json_number_value(v);
  return AB_OK;
}

static abStatus read_whole(const abSweep* s, const json_t* j, const char* key, int64_t low,
                           int64_t* x, abError* error) {
  double value = (double)*x;
  if (!json_object_get(j, key)) return AB_OK;
  abStatus status = read_number(s, j, key, (double)low - 1, &value, error);
  if (status) return status;
  if (value != floor(value) || value > 9e15)
    return spec_bad(s, key, error, "give a whole number from %lld to 9e15", (long long)low);
  *x = (int64_t)value;
  return AB_OK;
}

static abStatus read_text(const abSweep* s, const json_t* j, const char* key, char** x,
                          abError* error) {
  const json_t* v = json_object_get(j, key);
  if (!v) return AB_OK;
  if (!json_is_string(v)) return spec_bad(s, key, error, "give a text in quotes");
  *x = sweep_copy(json_string_value(v));
  return *x ? AB_OK : spec_bad(s, key, error, "no memory");
}

static abStatus read_truth(const abSweep* s, const json_t* j, const char* key, bool* x,
                           abError* error) {
  const json_t* v = json_object_get(j, key);
  if (!v) return AB_OK;
  if (!json_is_boolean(v)) return spec_bad(s, key, error, "say true or false");
  *x = json_is_true(v);
  return AB_OK;
}

abStatus spec_known(const abSweep* s, const json_t* j, const char* where, int n,
                    const char* const* known, abError* error) {
  const char* key;
  json_t* value;
  json_object_foreach((json_t*)j, key, value) {
    int i = 0;
    while (i < n && strcmp(key, known[i]) != 0) i++;
    char text[512];
    if (i == n)
      return sweep_fail(error, AB_ERROR_ARGUMENT, s->path, 0, "'%s' is not known in %s%s", key,
                        where, ab_suggest(key, n, known, text, sizeof text));
  }
  return AB_OK;
}

static abStatus read_method(abSweep* s, const json_t* j, abError* error) {
  static const char* const known[] = {"grid", "random", "lhs", "sobol"};
  const json_t* v = json_object_get(j, "method");
  bool counted = false;
  for (int i = 0; i < s->nvary; i++)
    counted = counted || s->vary[i].spread == SPREAD_GRID || s->vary[i].spread == SPREAD_LIST;
  s->method = counted ? METHOD_GRID : METHOD_RANDOM;
  if (!v) return AB_OK;
  const char* name = json_is_string(v) ? json_string_value(v) : "";
  for (Method m = METHOD_GRID; m <= METHOD_SOBOL; m++)
    if (!strcmp(name, known[m])) {
      s->method = m;
      return AB_OK;
    }
  char text[256];
  return spec_bad(s, "method", error, "'%s' is not known%s", name,
                  ab_suggest(name, 4, known, text, sizeof text));
}

// --- vary, set, measure ---

// TOML's geom.box.friction without quotes is a tree; its leaves say how they vary.
static bool is_leaf(const json_t* j) {
  static const char* const word[] = {"grid", "list", "uniform", "loguniform", "normal"};
  if (!json_is_object(j) || json_object_size(j) != 1) return !json_is_object(j);
  const char* key = json_object_iter_key(json_object_iter((json_t*)j));
  const json_t* inner = json_object_get(j, key);
  for (int i = 0; i < 5; i++)
    if (!strcmp(key, word[i])) return true;
  return !json_is_object(inner);
}

static abStatus add_vary(abSweep* s, const char* name, const json_t* j, abError* error) {
  int n = s->nvary + s->nfixed;
  Vary* more = realloc(s->vary, sizeof(Vary) * (size_t)(n + 1));
  if (!more) return spec_bad(s, name, error, "no memory");
  s->vary = more;
  for (int i = 0; i < n; i++)
    if (!strcmp(s->vary[i].name, name))
      return spec_bad(s, name, error, "this number is given twice");
  s->vary[n] = (Vary){0};
  abStatus status = vary_read(s, name, j, &s->vary[n], error);
  if (s->vary[n].name) s->nfixed++;  // counted, so that it is freed
  return status;
}

static abStatus add_tree(abSweep* s, const char* prefix, const json_t* j, abError* error) {
  const char* key;
  json_t* value;
  json_object_foreach((json_t*)j, key, value) {
    char name[512];
    snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] ? "." : "", key);
    abStatus status =
        is_leaf(value) ? add_vary(s, name, value, error) : add_tree(s, name, value, error);
    if (status) return status;
  }
  return AB_OK;
}

// One value, or the name of a varied number whose value it gets in every run.
static abStatus read_set(const abSweep* s, Vary* v, abError* error) {
  if (!v->tie && v->spread == SPREAD_LIST && v->n == 1) return AB_OK;
  if (!v->tie) return spec_bad(s, v->name, error, "\"set\" gives one value to a number");
  for (v->tied_to = 0; v->tied_to < s->nvary; v->tied_to++)
    if (!strcmp(s->vary[v->tied_to].name, v->tie) && !s->vary[v->tied_to].file) return AB_OK;
  return spec_bad(s, v->name, error, "'%s' is not among the numbers that vary", v->tie);
}

static abStatus read_vary(abSweep* s, const json_t* j, abError* error) {
  const json_t *vary = json_object_get(j, "vary"), *set = json_object_get(j, "set");
  if (!json_is_object(vary) || json_object_size(vary) == 0)
    return spec_bad(s, "vary", error,
                    "say which numbers vary, as in {\"geom.box.friction\": {\"grid\": [0.1, 0.9, "
                    "9]}}");
  if (set && !json_is_object(set))
    return spec_bad(s, "set", error, "give numbers by name, as in {\"geom.box.friction\": 0.5}");
  abStatus status = add_tree(s, "", vary, error);
  if (status) return status;
  s->nvary = s->nfixed, s->nfixed = 0;
  for (int i = 0; i < s->nvary; i++)
    if (s->vary[i].tie)
      return spec_bad(s, s->vary[i].name, error, "a number that follows another stands in \"set\"");
  if (set) status = add_tree(s, "", set, error);
  for (int i = s->nvary; i < s->nvary + s->nfixed && !status; i++)
    status = read_set(s, &s->vary[i], error);
  return status;
}

static abStatus read_measures(abSweep* s, const json_t* j, abError* error) {
  const json_t* all = json_object_get(j, "measure");
  if (!json_is_object(all) || json_object_size(all) == 0)
    return spec_bad(s, "measure", error,
                    "say what is measured, as in {\"x\": \"body.cube.x\", \"rest\": "
                    "\"time_to_rest\"}");
  s->measure = calloc(json_object_size(all), sizeof *s->measure);
  if (!s->measure) return spec_bad(s, "measure", error, "no memory");
  const char* key;
  json_t* value;
  json_object_foreach((json_t*)all, key, value) {
    static const char* const taken[] = {"run", "status", "residual", "time", "hash"};
    bool clash = false;
    for (int i = 0; i < 5; i++) clash = clash || !strcmp(key, taken[i]);
    for (int i = 0; i < s->nvary; i++) clash = clash || !strcmp(key, s->vary[i].name);
    if (clash || !*key)
      return spec_bad(s, "measure", error, "'%s' is a column of every result; choose another name",
                      key);
    if (!json_is_string(value))
      return spec_bad(s, "measure", error, "'%s' must be a text like \"body.cube.x\"", key);
    Measure* m = &s->measure[s->nmeasure++];
    m->name = sweep_copy(key);
    m->text = sweep_copy(json_string_value(value));
    if (!m->name || !m->text) return spec_bad(s, "measure", error, "no memory");
  }
  return AB_OK;
}

// --- keep, record ---

static abStatus read_record(abSweep* s, const json_t* j, abError* error) {
  static const char* const known[] = {"runs", "format"};
  const json_t* r = json_object_get(j, "record");
  if (!r) return AB_OK;
  const json_t* list = json_is_array(r) ? r : json_object_get(r, "runs");
  const json_t* format = json_is_object(r) ? json_object_get(r, "format") : NULL;
  if (json_is_object(r)) {
    abStatus status = spec_known(s, r, "record", 2, known, error);
    if (status) return status;
  }
  const char* kind = format ? json_string_value(format) : "html";
  bool good = json_is_array(list) && kind &&
              (!strcmp(kind, "html") || !strcmp(kind, "h5") || !strcmp(kind, "glb"));
  for (size_t i = 0; good && i < json_array_size(list); i++)
    good = json_is_integer(json_array_get(list, i));
  if (!good)
    return spec_bad(
        s, "record", error,
        "give numbers of runs, as in {\"runs\": [0, 17], \"format\": \"html\"}; formats "
        "are html, h5, glb");
  s->record_format = sweep_copy(kind);
  s->record = calloc(json_array_size(list) + 1, sizeof *s->record);
  if (!s->record || !s->record_format) return spec_bad(s, "record", error, "no memory");
  for (size_t i = 0; i < json_array_size(list); i++) {
    int64_t run = json_integer_value(json_array_get(list, i));
    if (run < 0 || run >= s->count)
      return spec_bad(s, "record", error, "there is no run %lld; they are 0 to %lld",
                      (long long)run, (long long)s->count - 1);
    s->record[s->nrecord++] = run;
  }
  return AB_OK;
}

static abStatus read_keep(abSweep* s, const json_t* j, abError* error) {
  static const char* const known[] = {"hash", "state"};
  const json_t* k = json_object_get(j, "keep");
  if (!k) return AB_OK;
  if (!json_is_object(k))
    return spec_bad(s, "keep", error, "write it as {\"hash\": true, \"state\": true}");
  abStatus status = spec_known(s, k, "keep", 2, known, error);
  if (!status) status = read_truth(s, k, "hash", &s->keep_hash, error);
  if (!status) status = read_truth(s, k, "state", &s->keep_state, error);
  return status;
}

abStatus spec_read_plain(abSweep* s, const json_t* j, abError* error) {
  static const char* const known[] = {"scene", "contact", "time",    "step",     "key",
                                      "sleep", "vary",    "set",     "samples",  "method",
                                      "seed",  "repeat",  "measure", "stop",     "limit",
                                      "keep",  "record",  "forces",  "controls", "title"};
  s->time = 2;
  s->samples = s->repeat = 1;
  int64_t seed = 1;
  abStatus status = json_is_object(j) ? AB_OK
                                      : sweep_fail(error, AB_ERROR_PARSE, s->path, 0,
                                                   "a specification is an object: { ... }");
  if (!status) status = spec_known(s, j, "a specification", 20, known, error);
  if (!status && !json_is_string(json_object_get(j, "scene")))
    status = spec_bad(s, "scene", error, "the name of the scene's file is missing");
  if (!status) status = read_text(s, j, "scene", &s->scene, error);
  if (!status) status = read_text(s, j, "contact", &s->contact, error);
  if (!status) status = read_text(s, j, "key", &s->key, error);
  if (!status) status = read_number(s, j, "time", 0, &s->time, error);
  if (!status) status = read_number(s, j, "step", 0, &s->step, error);
  if (!status) status = read_number(s, j, "limit", 0, &s->limit, error);
  if (!status) status = read_truth(s, j, "sleep", &s->sleep, error);
  if (!status) status = read_vary(s, j, error);
  if (!status) status = read_whole(s, j, "samples", 1, &s->samples, error);
  if (!status) status = read_whole(s, j, "repeat", 1, &s->repeat, error);
  if (!status) status = read_whole(s, j, "seed", 0, &seed, error);
  s->seed = (uint64_t)seed;
  if (!status) status = read_method(s, j, error);
  if (!status) status = read_measures(s, j, error);
  if (!status) status = generate_count(s, error);
  if (!status) status = read_keep(s, j, error);
  if (!status) status = read_record(s, j, error);
  return status;
}

// --- what is asked of a sweep ---

int64_t ab_sweep_count(const abSweep* s) { return s->count; }
int ab_sweep_nvary(const abSweep* s) { return s->nvary; }
const char* ab_sweep_vary_name(const abSweep* s, int i) { return s->vary[i].name; }
int ab_sweep_nmeasure(const abSweep* s) { return s->nmeasure; }
const char* ab_sweep_measure_name(const abSweep* s, int i) { return s->measure[i].name; }
int ab_sweep_status_at(const abSweep* s) { return s->nvary + s->nmeasure; }
bool ab_sweep_keeps_hash(const abSweep* s) { return s->keep_hash; }
int ab_sweep_nstate(const abSweep* s) { return s->keep_state ? s->nq + s->nv : 0; }
int ab_sweep_nrecord(const abSweep* s) { return s->nrecord; }
int ab_sweep_width(const abSweep* s) {
  return s->nvary + s->nmeasure + 3 + s->keep_hash + ab_sweep_nstate(s);
}

const char* ab_run_status_name(int status) {
  static const char* const name[] = {"ok", "broken", "timeout", "refused"};
  return status >= AB_RUN_OK && status <= AB_RUN_REFUSED ? name[status] : "?";
}

int64_t ab_sweep_nchunk(const abSweep* s) {
  int64_t first, n;
  ab_sweep_chunk(s, 0, &first, &n);
  return (s->count + n - 1) / n;
}

// Eight thousand chunks keep thousands of workers busy to the end and lose little when one is
// killed; more than a thousand runs in each would be long to wait for and large to send.
void ab_sweep_chunk(const abSweep* s, int64_t chunk, int64_t* first, int64_t* n) {
  int64_t size = (s->count + 8191) / 8192;
  size = size < 1 ? 1 : size > 1024 ? 1024 : size;
  *first = chunk * size;
  *n = *first + size > s->count ? s->count - *first : size;
  if (chunk == 0) *n = s->count < size ? s->count : size;
}

void ab_sweep_free(abSweep* s) {
  if (!s) return;
  char* text[] = {s->path, s->folder, s->scene, s->contact, s->key, s->record_format};
  for (size_t i = 0; i < sizeof text / sizeof *text; i++) free(text[i]);
  for (int i = 0; i < s->nvary + s->nfixed; i++) vary_free(&s->vary[i]);
  for (int i = 0; i < s->nmeasure; i++) free(s->measure[i].name), free(s->measure[i].text);
  for (int i = 0; i < s->nforces_of; i++) series_free(&s->forces_of[i]);
  for (int i = 0; i < s->ncontrols_of; i++) series_free(&s->controls_of[i]);
  series_free(&s->forces);
  series_free(&s->controls);
  free(s->forces_of);
  free(s->controls_of);
  free(s->vary);
  free(s->measure);
  free(s->stop.condition);
  free(s->record);
  json_decref(s->spec);
  free(s);
}
