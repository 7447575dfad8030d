// The half of the reader that knows the scene: names, stop conditions, series; and the ways in.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec.h"

typedef struct Bench {
  abScene* scene;
  abModel* model;
  abData* data;
} Bench;

static void bench_free(Bench* b) {
  ab_data_free(b->data);
  ab_model_free(b->model);
  ab_scene_free(b->scene);
}

static abStatus load(abSweep* s, Bench* b, abError* error) {
  char* path = sweep_find_file(s, s->scene);
  if (!path) return spec_bad(s, "scene", error, "no memory");
  free(s->scene);
  s->scene = path;
  b->scene = ab_scene_load(s->scene, NULL, error);
  if (b->scene) b->model = ab_scene_compile(b->scene, error);
  if (b->model) b->data = ab_data_create(b->model, error);
  if (!b->data) return error->code;
  s->nq = b->model->nq, s->nv = b->model->nv;
  if (!s->contact) return AB_OK;
  abStatus status = ab_set_contact(b->model, b->data, s->contact, error);
  if (!status) return AB_OK;
  const char* known[64] = {"none"};
  int n = 1;
  for (int i = 0; i < ab_contact_model_count() && n < 64; i++, n++) {
    known[n] = ab_contact_model(i)->name;
    if (!strcmp(known[n], s->contact)) return status;
  }
  char text[512];
  return spec_bad(s, "contact", error, "there is no contact model '%s'%s", s->contact,
                  ab_suggest(s->contact, n, known, text, sizeof text));
}

static abStatus check_key(const abSweep* s, const abModel* model, abError* error) {
  const char* known[64];
  char text[512];
  int n = 0;
  for (int i = 0; i < model->nkey && n < 64; i++) known[n++] = model->key[i].name;
  if (!s->key || ab_find_key(model, s->key) >= 0) return AB_OK;
  return spec_bad(s, "key", error, "the scene has no keyframe '%s'%s", s->key,
                  ab_suggest(s->key, n, known, text, sizeof text));
}

// Where the runs start: at the keyframe that is named, else at the one of which a number varies.
static abStatus choose_key(abSweep* s, const abModel* model, abError* error) {
  abStatus status = check_key(s, model, error);
  if (status) return status;
  for (int i = 0; i < s->nvary + s->nfixed; i++) {
    const char* name = s->vary[i].name;
    if (strncmp(name, "key.", 4)) continue;
    char key[256];
    snprintf(key, sizeof key, "%.*s", (int)(strrchr(name, '.') - name - 4), name + 4);
    if (!s->key) s->key = sweep_copy(key);
    if (!s->key) return spec_bad(s, "key", error, "no memory");
    if (strcmp(s->key, key))
      return spec_bad(s, name, error,
                      "the runs start from the keyframe '%s', so this changes nothing; name the "
                      "keyframe they start from as \"key\"",
                      s->key);
  }
  return check_key(s, model, error);
}

// --- stop ---

static abStatus add_condition(abSweep* s, const abModel* model, const char* text, abError* error) {
  int n = s->stop.ncondition;
  Condition* more = realloc(s->stop.condition, sizeof(Condition) * (size_t)(n + 1));
  if (!more) return spec_bad(s, "stop", error, "no memory");
  s->stop.condition = more;
  abStatus status = condition_read(model, text, &more[n], error);
  if (!status) s->stop.ncondition++;
  return status;
}

// {"below": {"cube": 0.1}} is short for {"when": ["body.cube.z < 0.1"]}.
static abStatus read_level(abSweep* s, const abModel* model, const json_t* j, char sign,
                           abError* error) {
  const char* name;
  json_t* level;
  if (!json_is_object(j))
    return spec_bad(s, "stop", error, "below and above are written as {\"cube\": 0.1}");
  json_object_foreach((json_t*)j, name, level) {
    char text[512];
    if (!json_is_number(level))
      return spec_bad(s, "stop", error, "the height of '%s' is no number", name);
    if (!strncmp(name, "body.", 5)) name += 5;
    snprintf(text, sizeof text, "body.%.400s.z %c %.17g", name, sign, json_number_value(level));
    abStatus status = add_condition(s, model, text, error);
    if (status) return status;
  }
  return AB_OK;
}

static abStatus read_when(abSweep* s, const abModel* model, const json_t* j, abError* error) {
  if (json_is_string(j)) return add_condition(s, model, json_string_value(j), error);
  for (size_t i = 0; i < json_array_size(j); i++) {
    const char* text = json_string_value(json_array_get(j, i));
    abStatus status = text ? add_condition(s, model, text, error) : AB_ERROR_ARGUMENT;
    if (!text) spec_bad(s, "stop", error, "\"when\" is a list of texts");
    if (status) return status;
  }
  return json_is_array(j) ? AB_OK : spec_bad(s, "stop", error, "\"when\" is a list of texts");
}

static abStatus read_rest(abSweep* s, const json_t* j, abError* error) {
  static const char* const known[] = {"speed", "hold"};
  s->stop.rest = json_is_true(j) || json_is_object(j);
  if (!json_is_object(j)) return AB_OK;
  abStatus status = spec_known(s, j, "stop.rest", 2, known, error);
  double* out[] = {&s->stop.speed, &s->stop.hold};
  for (int i = 0; i < 2 && !status; i++) {
    const json_t* v = json_object_get(j, known[i]);
    if (!v) continue;
    if (!json_is_number(v) || !(json_number_value(v) > 0))
      return spec_bad(s, "stop", error, "rest.%s must be a number above 0", known[i]);
    *out[i] = json_number_value(v);
  }
  return status;
}

static abStatus read_stop(abSweep* s, const abModel* model, const json_t* j, abError* error) {
  static const char* const known[] = {"rest", "below",       "above", "when",
                                      "time", "unconverged", "broken"};
  s->stop.speed = 1e-3, s->stop.hold = 0.25;
  if (!j) return AB_OK;
  if (!json_is_object(j)) return spec_bad(s, "stop", error, "write it as {\"rest\": true}");
  abStatus status = spec_known(s, j, "stop", 7, known, error);
  const json_t* v;
  if (!status && (v = json_object_get(j, "rest"))) status = read_rest(s, v, error);
  if (!status && (v = json_object_get(j, "below"))) status = read_level(s, model, v, '<', error);
  if (!status && (v = json_object_get(j, "above"))) status = read_level(s, model, v, '>', error);
  if (!status && (v = json_object_get(j, "when"))) status = read_when(s, model, v, error);
  if (!status && (v = json_object_get(j, "time"))) {
    if (!json_is_number(v) || !(json_number_value(v) > 0))
      return spec_bad(s, "stop", error, "time must be a number above 0");
    s->time = fmin(s->time, json_number_value(v));
  }
  s->stop.unconverged = json_is_true(json_object_get(j, "unconverged"));
  if (!status && json_is_false(json_object_get(j, "broken")))
    status = spec_bad(s, "stop", error, "a broken run cannot go on; leave \"broken\" out");
  return status;
}

// --- series ---

static abStatus read_series(abSweep* s, const abModel* model, const json_t* j, bool forces,
                            abError* error) {
  Series* out = forces ? &s->forces : &s->controls;
  out->forces = forces;
  if (!j) return AB_OK;
  if (!json_is_string(j)) return series_read(j, forces, model, out, error);
  char* path = sweep_find_file(s, json_string_value(j));
  abStatus status = path ? series_load(path, forces, model, out, error) : AB_ERROR_MEMORY;
  free(path);
  return status;
}

// Whether two names change the same thing: setting the second changes what the first has, or takes
// its effect away (a density beside a mass).
static bool clash(abScene* scene, const char* first, const char* second) {
  abNumber a, b;
  if (ab_number_find(scene, first, &a, NULL) || ab_number_find(scene, second, &b, NULL))
    return true;
  ab_number_set(scene, &a, 1);
  ab_number_set(scene, &b, 2);
  return ab_number_get(scene, &a) != 1 ||
         ab_number_find(scene, first, &a, NULL) == AB_ERROR_ARGUMENT;
}

static bool is_mass(const char* name) {
  const char* last = strrchr(name, '.');
  return last && (!strcmp(last, ".mass") || !strcmp(last, ".density"));
}

// Only numbers of one thing can, and the masses of bodies and their geoms.
static bool may_clash(const Vary* a, const Vary* b) {
  if (a->target != TARGET_NUMBER || b->target != TARGET_NUMBER) return false;
  const char* last = strrchr(a->name, '.');
  return (is_mass(a->name) && is_mass(b->name)) ||
         (last && !strncmp(a->name, b->name, (size_t)(last - a->name + 1)));
}

// On scenes of its own, for it leaves odd values behind.
static abStatus check_conflicts(const abSweep* s, abError* error) {
  for (int i = 0; i < s->nvary + s->nfixed; i++)
    for (int k = 0; k < i; k++) {
      if (!may_clash(&s->vary[i], &s->vary[k])) continue;
      abScene* scene = ab_scene_load(s->scene, NULL, error);
      if (!scene) return error->code;
      bool bad = clash(scene, s->vary[k].name, s->vary[i].name);
      ab_scene_free(scene);
      if (bad)
        return spec_bad(s, s->vary[i].name, error,
                        "this changes what %s sets; leave one of them out", s->vary[k].name);
    }
  return AB_OK;
}

static abStatus check_series(const abSweep* s, abError* error) {
  if (s->nforces_of && s->forces.nrow)
    return spec_bad(s, "forces", error, "forces are varied as files and given otherwise, too");
  if (s->ncontrols_of && s->controls.nrow)
    return spec_bad(s, "controls", error, "controls are varied as files and given otherwise, too");
  return AB_OK;
}

// --- everything ---

static abStatus resolve(abSweep* s, Bench* b, const json_t* j, abError* error) {
  abStatus status = load(s, b, error);
  if (!status) status = choose_key(s, b->model, error);
  if (!status) status = read_series(s, b->model, json_object_get(j, "forces"), true, error);
  if (!status) status = read_series(s, b->model, json_object_get(j, "controls"), false, error);
  for (int i = 0; i < s->nvary + s->nfixed && !status; i++)
    status = vary_resolve(s, b->scene, b->model, b->data, &s->vary[i], error);
  if (!status) status = check_series(s, error);
  if (!status) status = check_conflicts(s, error);
  for (int i = 0; i < s->nmeasure && !status; i++)
    status = measure_read(b->model, s->measure[i].name, s->measure[i].text, &s->measure[i], error);
  if (!status) status = read_stop(s, b->model, json_object_get(j, "stop"), error);
  return status;
}

uint64_t sweep_hash(uint64_t seed, const void* bytes, size_t n) {
  const unsigned char* p = bytes;
  uint64_t hash = seed ^ 0xcbf29ce484222325u;  // FNV-1a
  for (size_t i = 0; i < n; i++) hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

// Of the specification and of the compiled scene, wherever its files lie.
static abStatus take_fingerprint(abSweep* s, Bench* b, abError* error) {
  ab_scene_option(b->scene)->file = "";
  abModel* model = ab_scene_compile(b->scene, error);
  char* text = model ? ab_model_json(model, true) : NULL;
  json_t* spec = json_copy(s->spec);
  if (spec) json_object_del(spec, "title");
  char* given = spec ? json_dumps(spec, JSON_COMPACT) : NULL;
  abStatus status = text && given ? AB_OK : spec_bad(s, "scene", error, "no memory");
  if (!status) s->fingerprint = sweep_hash(sweep_hash(0, given, strlen(given)), text, strlen(text));
  for (int i = -1; i < s->nforces_of + s->ncontrols_of + 1 && !status; i++) {
    const Series* r = i < 0                ? &s->forces
                      : i < s->nforces_of  ? &s->forces_of[i]
                      : i == s->nforces_of ? &s->controls
                                           : &s->controls_of[i - s->nforces_of - 1];
    s->fingerprint = sweep_hash(s->fingerprint, r->row, sizeof(SeriesRow) * (size_t)r->nrow);
  }
  free(given);
  json_decref(spec);
  ab_json_free(text);
  ab_model_free(model);
  return status;
}

abStatus spec_read_scene(abSweep* s, const json_t* j, abError* error) {
  Bench b = {0};
  abStatus status = resolve(s, &b, j, error);
  // before names complete keyframes or give masses, the compiled scene is that of the file
  if (!status) {
    ab_scene_free(b.scene);
    b.scene = ab_scene_load(s->scene, NULL, error);
    status = b.scene ? take_fingerprint(s, &b, error) : error->code;
  }
  bench_free(&b);
  s->resolved = status == AB_OK;
  return status;
}

// The line of the first appearance of what the message begins with.
static int line_of(const char* text, const char* message) {
  char word[128];
  if (!strncmp(message, "vary ", 5)) message += 5;
  if (*message == '\'') message++;
  size_t n = strcspn(message, ":' ");
  if (n == 0 || n >= sizeof word) return 0;
  memcpy(word, message, n);
  word[n] = 0;
  const char* at = strstr(text, word);
  if (!at) return 0;
  int line = 1;
  for (const char* p = text; p < at; p++) line += *p == '\n';
  return line;
}

static abSweep* make(json_t* spec, const char* path, const char* folder, abError* error) {
  abSweep* s = calloc(1, sizeof *s);
  bool good = s && spec;
  if (good) {
    s->spec = json_incref(spec);
    s->path = path ? sweep_copy(path) : NULL;
    s->folder = sweep_copy(folder);
    good = s->folder && (!path || s->path);
    if (!good) sweep_fail(error, AB_ERROR_MEMORY, path, 0, "no memory");
    good = good && spec_read_plain(s, spec, error) == AB_OK &&
           spec_read_scene(s, spec, error) == AB_OK;
  }
  if (good) return s;
  ab_sweep_free(s);
  return NULL;
}

static json_t* parse(const char* text, const char* path, abError* error) {
  const char* dot = path ? strrchr(path, '.') : NULL;
  if (dot && !strcmp(dot, ".toml")) return sweep_toml(text, path, error);
  json_error_t e;
  json_t* j = json_loads(text, JSON_REJECT_DUPLICATES, &e);
  if (!j) sweep_fail(error, AB_ERROR_PARSE, path, e.line, "this is no JSON: %s", e.text);
  return j;
}

abSweep* ab_sweep_load(const char* path, abError* error) {
  abError own = {0};
  if (!error) error = &own;
  char* text = sweep_read_text(path, error);
  json_t* spec = text ? parse(text, path, error) : NULL;
  char* folder = sweep_copy(path);
  char* slash = folder ? strrchr(folder, '/') : NULL;
  if (slash)
    *slash = 0;
  else if (folder)
    *folder = 0;
  abSweep* s = spec && folder ? make(spec, path, folder, error) : NULL;
  // what has no place of its own is something in the specification
  if (!s && text && (!error->file[0] || !strcmp(error->file, path))) {
    snprintf(error->file, sizeof error->file, "%s", path);
    if (!error->line) error->line = line_of(text, error->message);
  }
  free(folder);
  free(text);
  json_decref(spec);
  return s;
}

abSweep* ab_sweep_parse(const char* json, const char* folder, abError* error) {
  abError own = {0};
  json_t* spec = parse(json, NULL, error ? error : &own);
  abSweep* s = spec ? make(spec, NULL, folder, error ? error : &own) : NULL;
  json_decref(spec);
  return s;
}
