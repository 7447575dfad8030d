// abut overlap: overlap volumes of pairs of convex polyhedra, one JSON line a case.
#include <abut/overlap.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const CliCommand command = {
    "overlap",
    "FILE.json",
    1,
    1,
    "Overlap volume, areas, centroid and normal of pairs of convex polyhedra.",
    "The file holds\n"
    "  {\"cases\": [{\"id\": ..., \"VA\": [[x,y,z], ...], \"FA\": [[i,j,k,...], ...],\n"
    "              \"VB\": ..., \"FB\": ...}, ...]}\n"
    "with faces as loops of vertex numbers from 0, counter-clockwise seen from outside;\n"
    "without FA or FB the convex hull is taken. FILE.json may be - for standard input.\n"
    "One line is printed per case: id, contact, V, centroid, area_A and area_B (surface of\n"
    "the overlap that belongs to one body alone), area_AB (where faces of both coincide) and\n"
    "the normal, which points from B to A. A case that makes no sense has \"error\" instead;\n"
    "the others are computed all the same.\n",
    0,
    NULL};

// A body as read; free with free_body.
typedef struct Body {
  abConvex convex;
  abVec3* vert;
  int *start, *loop;
} Body;

static void free_body(Body* b) {
  free(b->vert);
  free(b->start);
  free(b->loop);
}

// Each reader returns NULL, or what is wrong (in `message`).
static const char* read_vertices(const json_t* list, const char* name, Body* b, char message[200]) {
  size_t n = json_array_size(list);
  if (!json_is_array(list) || n == 0) {
    snprintf(message, 200, "%s is missing: give a list of points [x, y, z]", name);
    return message;
  }
  b->vert = malloc(n * sizeof *b->vert);
  if (!b->vert || n > 100000000) return "out of memory";
  for (size_t i = 0; i < n; i++) {
    const json_t* p = json_array_get(list, i);
    double x[3];
    for (size_t k = 0; k < 3; k++) x[k] = json_number_value(json_array_get(p, k));
    bool numbers = json_array_size(p) == 3;
    for (size_t k = 0; k < 3 && numbers; k++) numbers = json_is_number(json_array_get(p, k));
    if (!numbers) {
      snprintf(message, 200, "%s[%zu] is not a point of three finite numbers", name, i);
      return message;
    }
    b->vert[i] = (abVec3){x[0], x[1], x[2]};
  }
  b->convex.nvert = (int)n;
  b->convex.vert = b->vert;
  return NULL;
}

static const char* read_faces(const json_t* list, const char* name, Body* b, char message[200]) {
  if (!list || json_is_null(list)) return NULL;
  size_t n = json_array_size(list), total = 0, at = 0;
  if (!json_is_array(list) || n == 0) {
    snprintf(message, 200, "%s is not a list of faces; leave it out to take the hull", name);
    return message;
  }
  for (size_t f = 0; f < n; f++) total += json_array_size(json_array_get(list, f));
  b->start = malloc((n + 1) * sizeof *b->start);
  b->loop = malloc((total + 1) * sizeof *b->loop);
  if (!b->start || !b->loop || total > 100000000) return "out of memory";
  for (size_t f = 0; f < n; f++) {
    const json_t* face = json_array_get(list, f);
    b->start[f] = (int)at;
    for (size_t i = 0; i < json_array_size(face); i++) {
      const json_t* v = json_array_get(face, i);
      json_int_t index = json_integer_value(v);
      if (!json_is_integer(v) || index < 0 || index >= b->convex.nvert) {
        snprintf(message, 200, "%s[%zu][%zu] is not the number of a vertex: there are %d, from 0",
                 name, f, i, b->convex.nvert);
        return message;
      }
      b->loop[at++] = (int)index;
    }
    if ((int)at - b->start[f] < 3) {
      snprintf(message, 200, "%s[%zu] has fewer than 3 vertices", name, f);
      return message;
    }
  }
  b->start[n] = (int)at;
  b->convex.nface = (int)n;
  b->convex.face_start = b->start;
  b->convex.loop = b->loop;
  return NULL;
}

static json_t* vector(abVec3 v) {
  json_t* list = json_array();
  json_array_append_new(list, cli_json_number(v.x));
  json_array_append_new(list, cli_json_number(v.y));
  json_array_append_new(list, cli_json_number(v.z));
  return list;
}

static void add_result(json_t* line, const abOverlapSummary* s) {
  json_object_set_new(line, "contact", json_boolean(s->contact));
  json_object_set_new(line, "V", cli_json_number(s->volume));
  json_object_set_new(line, "centroid", s->contact ? vector(s->centroid) : json_null());
  json_object_set_new(line, "area_A", cli_json_number(s->area_A));
  json_object_set_new(line, "area_B", cli_json_number(s->area_B));
  json_object_set_new(line, "area_AB", cli_json_number(s->area_AB));
  json_object_set_new(line, "normal", s->contact ? vector(s->normal) : json_null());
}

// Prints the line of one case.
static void do_case(const json_t* item, size_t number) {
  Body a = {0}, b = {0};
  char message[200];
  const char* wrong = json_is_object(item) ? NULL : "a case is an object with VA and VB";
  if (!wrong) wrong = read_vertices(json_object_get(item, "VA"), "VA", &a, message);
  if (!wrong) wrong = read_faces(json_object_get(item, "FA"), "FA", &a, message);
  if (!wrong) wrong = read_vertices(json_object_get(item, "VB"), "VB", &b, message);
  if (!wrong) wrong = read_faces(json_object_get(item, "FB"), "FB", &b, message);
  abOverlapSummary summary = {0};
  abError error = {0};
  if (!wrong && ab_overlap_of_convex(&a.convex, &b.convex, &summary, &error) != AB_OK)
    wrong = error.message;
  json_t* line = json_object();
  json_t* id = json_object_get(item, "id");
  json_object_set_new(line, "id", id ? json_incref(id) : json_integer((json_int_t)number));
  if (wrong)
    json_object_set_new(line, "error", json_string(wrong));
  else
    add_result(line, &summary);
  json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY);
  putchar('\n');
  json_decref(line);
  free_body(&a);
  free_body(&b);
}

// The whole file, ended by a zero; NULL if it cannot be read, or (*n is then above it) has more
// bytes than the limit.
static char* read_text(FILE* file, size_t* n) {
  size_t capacity = 1 << 16, limit = ab_input_limit();
  char* text = malloc(capacity);
  *n = 0;
  while (text) {
    *n += fread(text + *n, 1, capacity - 1 - *n, file);
    if (*n < capacity - 1) break;
    char* more = *n <= limit ? realloc(text, capacity *= 2) : NULL;
    if (!more) free(text);
    text = more;
  }
  if (text) text[*n] = 0;
  return text;
}

// JSON has no words for what is not a number, but many programs write them: they become empty
// strings of the same length, so that they spoil their own case only.
static void blank_non_numbers(char* text) {
  static const char* const word[] = {"-Infinity", "Infinity", "-NaN", "NaN"};
  bool quoted = false;
  for (char* c = text; *c; c++) {
    if (*c == '"') quoted = !quoted;
    if (quoted && *c == '\\' && c[1]) c++;
    if (quoted) continue;
    for (int i = 0; i < 4; i++) {
      size_t n = strlen(word[i]);
      if (strncmp(c, word[i], n) != 0) continue;
      memset(c, ' ', n);
      c[0] = c[1] = '"';
      c += n - 1;
      break;
    }
  }
}

static json_t* load(const char* path, json_error_t* where) {
  bool standard = strcmp(path, "-") == 0;
  FILE* file = standard ? stdin : fopen(path, "rb");
  *where = (json_error_t){.line = 0};
  snprintf(where->text, sizeof where->text, "cannot be read");
  size_t n = 0;
  char* text = file ? read_text(file, &n) : NULL;
  if (file && ferror(file) && text) {
    free(text);
    text = NULL;
  }
  if (file && !standard) fclose(file);
  if (file && n > ab_input_limit())
    snprintf(where->text, sizeof where->text, "%s", cli_too_large());
  if (text && n > ab_input_limit()) {
    free(text);
    return NULL;
  }
  if (!text) return NULL;
  blank_non_numbers(text);
  json_t* root = json_loadb(text, n, 0, where);
  free(text);
  return root;
}

int cli_overlap(int argc, char** argv) {
  CliArgs args;
  int code;
  if (!cli_parse(&command, argc, argv, &args, &code)) return code;
  const char* path = args.argument[0];
  json_error_t where;
  json_t* root = load(path, &where);
  if (!root) return cli_fail_at(path, where.line > 0 ? where.line : 0, "%s", where.text);
  json_t* cases = json_object_get(root, "cases");
  if (!json_is_array(cases)) {
    json_decref(root);
    return cli_fail_at(path, 0, "there is no list \"cases\": see abut overlap --help");
  }
  for (size_t i = 0; i < json_array_size(cases); i++) do_case(json_array_get(cases, i), i);
  json_decref(root);
  return CLI_DONE;
}
