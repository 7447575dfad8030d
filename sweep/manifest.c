// manifest.json: what the sweep in a folder is, so that nobody goes on with another one, and so
// that results can be joined without the scene.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spec.h"
#include "store.h"

char* store_path(const char* folder, const char* name) {
  size_t n = strlen(folder) + strlen(name) + 2;
  char* path = malloc(n);
  if (path) snprintf(path, n, "%s/%s", folder, name);
  return path;
}

abStatus store_write_text(const char* path, const char* text, abError* error) {
  char other[4200];
  snprintf(other, sizeof other, "%.4000s.%ld.tmp", path, (long)getpid());
  FILE* f = fopen(other, "wb");
  bool good = f && fwrite(text, 1, strlen(text), f) == strlen(text);
  good = good && fflush(f) == 0 && fsync(fileno(f)) == 0;
  if (f) good = fclose(f) == 0 && good;
  if (good && rename(other, path) == 0) return AB_OK;
  int why = errno;
  remove(other);
  return sweep_fail(error, AB_ERROR_FILE, path, 0, "cannot be written: %s", strerror(why));
}

static json_t* column_names(const abSweep* s) {
  json_t* list = json_array();
  for (int i = 0; i < s->nvary; i++) json_array_append_new(list, json_string(s->vary[i].name));
  for (int i = 0; i < s->nmeasure; i++)
    json_array_append_new(list, json_string(s->measure[i].name));
  return list;
}

abStatus manifest_write(const abSweepStore* store, abError* error) {
  const abSweep* s = store->sweep;
  char hex[17];
  snprintf(hex, sizeof hex, "%016" PRIx64, s->fingerprint);
  json_t* j = json_object();
  json_object_set_new(j, "abut", json_string(ab_version()));
  json_object_set_new(j, "specification", json_string(s->path ? s->path : ""));
  json_object_set_new(j, "fingerprint", json_string(hex));
  json_object_set_new(j, "runs", json_integer(s->count));
  json_object_set_new(j, "nq", json_integer(s->nq));
  json_object_set_new(j, "nv", json_integer(s->nv));
  json_object_set_new(j, "columns", column_names(s));
  json_object_set_new(j, "complete", json_boolean(store->complete));
  json_object_set(j, "spec", s->spec);
  char *path = store_path(store->folder, "manifest.json"), *text = json_dumps(j, JSON_INDENT(2));
  abStatus status = path && text ? store_write_text(path, text, error)
                                 : sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory");
  free(text);
  free(path);
  json_decref(j);
  return status;
}

static json_t* load(const char* path, abError* error) {
  json_error_t e;
  char* text = sweep_read_text(path, error);
  json_t* j = text ? json_loads(text, 0, &e) : NULL;
  if (text && !j)
    sweep_fail(error, AB_ERROR_PARSE, path, e.line, "the manifest is damaged: %s", e.text);
  free(text);
  return j;
}

// What differs between two specifications, for the message.
static void name_difference(const json_t* a, const json_t* b, char* text, size_t size) {
  const char* key;
  json_t* value;
  snprintf(text, size, "the scene");
  json_object_foreach((json_t*)a, key, value) if (!json_equal(value, json_object_get(b, key)))
      snprintf(text, size, "\"%s\"", key);
  json_object_foreach((json_t*)b, key, value) if (!json_object_get(a, key))
      snprintf(text, size, "\"%s\"", key);
}

abStatus manifest_check(abSweepStore* store, bool* found, abError* error) {
  char* path = store_path(store->folder, "manifest.json");
  if (!path) return sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory");
  *found = access(path, F_OK) == 0;
  json_t* j = *found ? load(path, error) : NULL;
  abStatus status = *found && !j ? error->code : AB_OK;
  char hex[17], what[64];
  snprintf(hex, sizeof hex, "%016" PRIx64, store->sweep->fingerprint);
  const char* other = json_string_value(json_object_get(j, "fingerprint"));
  if (j && (!other || strcmp(other, hex))) {
    name_difference(json_object_get(j, "spec"), store->sweep->spec, what, sizeof what);
    status = sweep_fail(error, AB_ERROR_FILE, path, 0,
                        "this folder is of another sweep, %s differs; choose another folder, or "
                        "remove this one",
                        what);
  }
  store->complete = json_is_true(json_object_get(j, "complete"));
  json_decref(j);
  free(path);
  return status;
}

abSweep* ab_sweep_of_folder(const char* folder, abError* error) {
  abError own = {0};
  if (!error) error = &own;
  char* path = store_path(folder, "manifest.json");
  json_t* j = path ? load(path, error) : NULL;
  const json_t* spec = json_object_get(j, "spec");
  const char* hex = json_string_value(json_object_get(j, "fingerprint"));
  const char* given = json_string_value(json_object_get(j, "specification"));
  abSweep* s = spec && hex ? calloc(1, sizeof *s) : NULL;
  if (j && !(spec && hex))
    sweep_fail(error, AB_ERROR_PARSE, path, 0, "this is no manifest of a sweep");
  bool good = s != NULL;
  if (good) {
    s->spec = json_incref((json_t*)spec);
    s->path = given && *given ? sweep_copy(given) : NULL;
    s->folder = sweep_copy("");
    good = spec_read_plain(s, spec, error) == AB_OK;
    s->nq = (int)json_integer_value(json_object_get(j, "nq"));
    s->nv = (int)json_integer_value(json_object_get(j, "nv"));
    s->fingerprint = strtoull(hex, NULL, 16);
  }
  json_decref(j);
  free(path);
  if (good) return s;
  ab_sweep_free(s);
  return NULL;
}
