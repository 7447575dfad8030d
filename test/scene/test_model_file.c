// Model files: what is read is what was written, to the bit; and nothing but that is read.
#define _POSIX_C_SOURCE 200809L
#include <abut/abut.h>
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/polyhedron.h"
#include "scene/model/file.h"
#include "scene/model/table.h"
#include "support/check.h"
#include "support/random.h"

// Every folder of scenes that load, and every one of these scenes.
static const char* const FOLDERS[] = {"scenes", "scenes/check", "scenes/stories"};
typedef void Visit(const char* path);

static int visit_scenes(Visit* visit) {
  int n = 0;
  for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", ABUT_SOURCE_DIR, FOLDERS[i]);
    DIR* folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent* e; (e = readdir(folder));) {
      const char* end = strrchr(e->d_name, '.');
      if (!end || (strcmp(end, ".xml") != 0 && strcmp(end, ".urdf") != 0)) continue;
      snprintf(path, sizeof path, "%s/%s", FOLDERS[i], e->d_name);
      visit(path);
      n++;
    }
    closedir(folder);
  }
  return n;
}

static abModel* load(const char* path) {
  char full[1024];
  abError error = {0};
  snprintf(full, sizeof full, "%s/%s", ABUT_SOURCE_DIR, path);
  abModel* model = ab_load(full, NULL, &error);
  if (!model) fail_msg("%s:%d: %s", error.file, error.line, error.message);
  return model;
}

static unsigned char* bytes_of(const abModel* model, size_t* n) {
  abError error = {0};
  unsigned char* bytes = ab_model_bytes(model, n, &error);
  assert_non_null(bytes);
  return bytes;
}

static abModel* reload(const abModel* model) {
  size_t n;
  abError error = {0};
  unsigned char* bytes = bytes_of(model, &n);
  abModel* again = ab_model_load_memory("memory", bytes, n, &error);
  if (!again) fail_msg("%s", error.message);
  ab_bytes_free(bytes);
  return again;
}

// --- the table ---

static size_t size_of_field(const abField* f) {
  switch (f->kind) {
    case AB_FIELD_FLAG:
      return (size_t)f->n;
    case AB_FIELD_INT:
    case AB_FIELD_FLOAT:
      return 4 * (size_t)f->n;
    case AB_FIELD_DOUBLE:
      return 8 * (size_t)f->n;
    case AB_FIELD_INSIDE:
      return f->inner->bytes;
    default:
      return sizeof(void*);
  }
}

static size_t align_of_field(const abField* f) {
  switch (f->kind) {
    case AB_FIELD_FLAG:
      return 1;
    case AB_FIELD_INT:
    case AB_FIELD_FLOAT:
      return 4;
    case AB_FIELD_INSIDE:
      return f->inner->align;
    default:
      return 8;
  }
}

// Between two fields of the table lies nothing but what aligns the second.
static void check_covers(const abStruct* s, size_t left_out) {
  size_t end = 0;
  for (int i = 0; i < s->nfield; i++) {
    const abField* f = &s->field[i];
    size_t align = align_of_field(f), expected = (end + align - 1) / align * align;
    if (f->offset != expected)
      fail_msg("%s: a field before %s is not in the table of scene/model/table.c", s->name,
               f->name);
    end = f->offset + size_of_field(f);
    if (f->inner) check_covers(f->inner, 0);
  }
  end += left_out;
  if ((end + s->align - 1) / s->align * s->align != s->bytes)
    fail_msg("%s: its last field is not in the table of scene/model/table.c", s->name);
}

static void the_table_knows_every_field(void** state) {
  (void)state;
  check_covers(&ab_model_struct, sizeof(size_t));  // abModel.bytes
}

// --- the table beside the header: a field that hides where the compiler aligns is found by name
// ---

static char* read_header(void) {
  static char text[1 << 16];
  FILE* f = fopen(ABUT_SOURCE_DIR "/include/abut/model.h", "r");
  assert_non_null(f);
  size_t n = fread(text, 1, sizeof text - 1, f);
  text[n] = 0;
  fclose(f);
  assert_true(n > 1000 && n < sizeof text - 1);
  for (char* c = text; (c = strstr(c, "//"));)  // comments become spaces
    while (*c && *c != '\n') *c++ = ' ';
  return text;
}

static bool has_field(const abStruct* s, const char* name, size_t n) {
  for (int i = 0; i < s->nfield; i++)
    if (strlen(s->field[i].name) == n && strncmp(s->field[i].name, name, n) == 0) return true;
  return false;
}

// The name a declarator ends in: "const double x", "*y", "z[3]", "(*t)[3]".
static int check_declarator(const abStruct* s, const char* begin, const char* end) {
  const char* bracket = memchr(begin, '[', (size_t)(end - begin));
  if (bracket) end = bracket;
  while (end > begin && !isalnum((unsigned char)end[-1]) && end[-1] != '_') end--;
  const char* name = end;
  while (name > begin && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) name--;
  if (name == end) return 0;
  size_t n = (size_t)(end - name);
  bool own_size = s == &ab_model_struct && n == 5 && strncmp(name, "bytes", 5) == 0;
  if (!own_size && !has_field(s, name, n))
    fail_msg("%s.%.*s is not in the table of scene/model/table.c", s->name, (int)n, name);
  return 1;
}

static void check_names(const abStruct* s, const char* header) {
  char opening[64];
  snprintf(opening, sizeof opening, "typedef struct %s {", s->name);
  const char* at = strstr(header, opening);
  if (at) {  // arrays of plain numbers are structs of the table only
    int n = 0;
    const char *begin = at + strlen(opening), *close = strchr(begin, '}');
    for (const char* c = begin; c < close; c++) {
      if (*c != ',' && *c != ';') continue;
      n += check_declarator(s, begin, c);
      begin = c + 1;
    }
    assert_int_equal(n, s->nfield + (s == &ab_model_struct));
  }
  for (int i = 0; i < s->nfield; i++)
    if (s->field[i].inner) check_names(s->field[i].inner, header);
}

static void the_table_names_what_the_header_declares(void** state) {
  (void)state;
  const char* header = read_header();
  assert_non_null(strstr(header, "typedef struct abModel {"));
  check_names(&ab_model_struct, header);
}

// Everything of a struct that is no pointer, and those it points to. What lies between its fields
// says nothing.
static void check_same(const abStruct* s, const char* a, const char* b, const char* model) {
  static const size_t bytes[] = {
      [AB_FIELD_INT] = 4, [AB_FIELD_FLAG] = 1, [AB_FIELD_FLOAT] = 4, [AB_FIELD_DOUBLE] = 8};
  char mask[AB_STRUCT_MOST] = {0};
  for (int i = 0; i < s->nfield; i++) {
    const abField* f = &s->field[i];
    const char *pa = NULL, *pb = NULL;
    if (f->kind <= AB_FIELD_DOUBLE) memset(mask + f->offset, 1, bytes[f->kind] * (size_t)f->n);
    for (size_t k = 0; f->kind == AB_FIELD_INSIDE && k < (size_t)f->n; k++) {
      size_t at = f->offset + k * f->inner->bytes;
      check_same(f->inner, a + at, b + at, model);
    }
    if (f->kind != AB_FIELD_TEXT && f->kind < AB_FIELD_POLY) continue;
    memcpy(&pa, a + f->offset, sizeof pa);
    memcpy(&pb, b + f->offset, sizeof pb);
    if (f->kind != AB_FIELD_ARRAY) assert_int_equal(pa != NULL, pb != NULL);
    if (f->kind == AB_FIELD_TEXT && pa) assert_string_equal(pa, pb);
    if (f->kind != AB_FIELD_ARRAY) continue;
    int n, times = 1;
    memcpy(&n, (f->count.own ? a : model) + f->count.offset, sizeof n);
    if (f->times.name) memcpy(&times, model + f->times.offset, sizeof times);
    for (int k = 0; k < n * times; k++)
      check_same(f->inner, pa + (size_t)k * f->inner->bytes, pb + (size_t)k * f->inner->bytes,
                 model);
  }
  // abModel.bytes: polyhedra and texts lie in another order.
  if (s == &ab_model_struct) memset(mask + offsetof(abModel, bytes), 0, sizeof(size_t));
  for (size_t i = 0; i < s->bytes; i++)
    if (mask[i] && a[i] != b[i]) fail_msg("byte %zu of %s differs", i, s->name);
}

// Blocks of polyhedra hold no pointers behind the struct.
static void check_polyhedron(const abPolyhedron* a, const abPolyhedron* b) {
  assert_int_equal(a != NULL, b != NULL);
  if (!a) return;
  assert_int_equal(ab_polyhedron_bytes(a), ab_polyhedron_bytes(b));
  assert_memory_equal(a->vert, b->vert, sizeof(abVec3) * (size_t)a->nvert);
  assert_memory_equal(a->plane, b->plane, sizeof(abPlane) * (size_t)a->nface);
  assert_memory_equal(a->edge, b->edge, sizeof(int[4]) * (size_t)a->nedge);
  assert_memory_equal(&a->centroid, &b->centroid, sizeof a->centroid);
  assert_true(a->volume == b->volume && a->radius == b->radius);
  const abSkin *s = ab_polyhedron_skin(a), *t = ab_polyhedron_skin(b);
  assert_true(s->size == t->size && s->thin == t->thin && s->boxlike == t->boxlike &&
              s->box == t->box && s->nsupport == t->nsupport);
}

static void comes_back(const char* path) {
  abModel *model = load(path), *again = reload(model);
  check_same(&ab_model_struct, (const char*)model, (const char*)again, (const char*)model);
  for (int k = 0; k < model->ngeom; k++)
    check_polyhedron(model->geom[k].shape.poly, again->geom[k].shape.poly);
  for (int k = 0; k < model->nhull; k++) check_polyhedron(model->hull[k].poly, again->hull[k].poly);
  ab_model_free(model);
  ab_model_free(again);
}

// Pointers inside of what the model has arrays of: names, and what is drawn; of a shape its
// polyhedron.
static void check_flat(const abStruct* s) {
  for (int i = 0; i < s->nfield; i++) {
    const abField* f = &s->field[i];
    if (f->kind == AB_FIELD_INSIDE) check_flat(f->inner);
    if (f->kind == AB_FIELD_ARRAY) assert_string_equal(s->name, "abMesh");
    if (f->kind == AB_FIELD_POLY) assert_string_equal(s->name, "abShape");
  }
}

static void parts_of_a_model_name_each_other_by_index(void** state) {
  (void)state;
  int narray = 0;
  for (int i = 0; i < ab_model_struct.nfield; i++) {
    const abField* f = &ab_model_struct.field[i];
    if (f->kind != AB_FIELD_ARRAY) continue;
    check_flat(f->inner);
    narray++;
  }
  assert_true(narray > 20);
}

static void every_scene_comes_back_to_the_bit(void** state) {
  (void)state;
  assert_true(visit_scenes(comes_back) > 100);
}

// With its motors on and pushed about, so that what is in the model counts; -1: it cannot be
// simulated.
static int run(const abModel* model, int steps, uint64_t* hash) {
  abError error = {0};
  abData* data = ab_data_create(model, &error);
  if (!data && error.code == AB_ERROR_UNSUPPORTED) return -1;
  assert_non_null(data);
  for (int i = 0; i < model->nactuator; i++) data->ctrl[i] = 0.1;
  for (int i = 0; i < model->nv; i++) data->v[i] = 0.01 * (i % 5);
  for (int i = 0; i < steps; i++) ab_step(model, data);
  *hash = ab_state_hash(model, data);
  ab_data_free(data);
  return 0;
}

static void moves_alike(const char* path) {
  abModel *model = load(path), *again = reload(model);
  uint64_t a = 1, b = 2;
  // large scenes would only take longer
  if (model->nbody < 40 && run(model, 200, &a) == 0) {
    assert_int_equal(run(again, 200, &b), 0);
    if (a != b) fail_msg("%s: 200 steps of the model file end elsewhere", path);
  }
  ab_model_free(model);
  ab_model_free(again);
}

static void it_moves_as_the_scene_does(void** state) {
  (void)state;
  visit_scenes(moves_alike);
}

static void a_model_file_loads_where_a_scene_does(void** state) {
  (void)state;
  abError error = {0};
  abNotes notes = {.n = 1};
  const char* path = ABUT_BINARY_DIR "/test_model_file.abm";
  abModel* model = load("scenes/slide.xml");
  assert_int_equal(ab_model_save(model, path, &error), AB_OK);
  abModel* again = ab_load(path, &notes, &error);
  assert_non_null(again);
  assert_int_equal(notes.n, 0);
  assert_string_equal(again->name, model->name);
  assert_int_equal(ab_model_save(model, "/nowhere/x.abm", &error), AB_ERROR_FILE);
  ab_model_free(model);
  ab_model_free(again);
  remove(path);
}

// --- damage ---

static void a_damaged_file_is_refused(void** state) {
  (void)state;
  size_t n;
  abModel* model = load("scenes/slide.xml");
  unsigned char* bytes = bytes_of(model, &n);
  for (size_t i = 0; i < n; i++) {
    abError error = {0};
    bytes[i] ^= 0x10;
    assert_null(ab_model_load_memory("damaged", bytes, n, &error));
    assert_true(error.code != AB_OK && error.message[0]);
    bytes[i] ^= 0x10;
  }
  for (size_t i = 0; i < n; i++) {
    abError error = {0};
    unsigned char* shorter = malloc(i ? i : 1);  // so that reading beyond the end is noticed
    memcpy(shorter, bytes, i);
    assert_null(ab_model_load_memory("short", shorter, i, &error));
    assert_true(error.code != AB_OK);
    free(shorter);
  }
  ab_bytes_free(bytes);
  ab_model_free(model);
}

// Copied as text, a model file has lost its first bytes: it is still no scene in XML.
static void what_is_called_abm_is_never_read_as_a_scene(void** state) {
  (void)state;
  const char* path = ABUT_BINARY_DIR "/test_no_model.abm";
  const char* const text[] = {"", "x", "<mujoco/>",
                              "\211abm\n\032\n and more than a head of 32 bytes"};
  for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
    abError error = {0};
    FILE* f = fopen(path, "wb");
    fputs(text[i], f);
    fclose(f);
    assert_null(ab_load(path, NULL, &error));
    assert_non_null(strstr(error.message, "not a model file"));
  }
  remove(path);
}

static void another_version_is_told_apart_from_damage(void** state) {
  (void)state;
  size_t n;
  abError error = {0};
  abModel* model = load("scenes/slide.xml");
  unsigned char* bytes = bytes_of(model, &n);
  bytes[8]++;
  assert_null(ab_model_load_memory("old.abm", bytes, n, &error));
  assert_int_equal(error.code, AB_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "another version"));
  assert_string_equal(error.file, "old.abm");
  ab_bytes_free(bytes);
  ab_model_free(model);
}

// A file with the right checksum may still hold anything: it is refused, or it can be simulated.
static void a_forged_file_is_refused_or_sound(void** state) {
  (void)state;
  size_t n;
  int refused = 0, sound = 0;
  Random random = {7};
  abModel* model = load("scenes/check/compound.xml");
  unsigned char* bytes = bytes_of(model, &n);
  unsigned char* forged = malloc(n);
  for (int trial = 0; trial < 4000; trial++) {
    abError error = {0};
    memcpy(forged, bytes, n);
    for (int k = 0; k <= trial % 3; k++) {
      size_t at = AB_MODEL_HEAD + (size_t)random_below(&random, (int)(n - AB_MODEL_HEAD));
      forged[at] = (unsigned char)random_below(&random, 256);
    }
    abModel* m = ab_model_read_body("forged", forged + AB_MODEL_HEAD, n - AB_MODEL_HEAD, &error);
    if (!m) {
      assert_true(error.code != AB_OK && error.message[0]);
      refused++;
      continue;
    }
    sound++;
    abData* data = ab_data_create(m, &error);
    for (int i = 0; data && i < 2; i++) ab_step(m, data);
    ab_data_free(data);
    ab_model_free(m);
  }
  assert_true(refused > 100 && sound > 100);
  free(forged);
  ab_bytes_free(bytes);
  ab_model_free(model);
}

// What the scene's reader takes, a model file holds, too: a negative margin is allowed.
static void a_negative_margin_comes_back(void** state) {
  (void)state;
  abError error = {0};
  const char* text =
      "<mujoco><worldbody><body><freejoint/><geom type='box' size='1 1 1' margin='-0.01' "
      "gap='-0.02'/></body></worldbody></mujoco>";
  abScene* scene = ab_scene_load_memory("text.xml", text, strlen(text), NULL, &error);
  abModel* model = scene ? ab_scene_compile(scene, &error) : NULL;
  assert_non_null(model);
  abModel* again = reload(model);
  assert_true(again->geom[0].margin == -0.01 && again->geom[0].gap == -0.02);
  ab_model_free(again);
  ab_model_free(model);
  ab_scene_free(scene);
}

static void what_does_not_fit_is_named(void** state) {
  (void)state;
  abModel* model = load("scenes/slide.xml");
  abModel wrong = *model;
  abBody* body = malloc(sizeof *body * (size_t)model->nbody);
  memcpy(body, model->body, sizeof *body * (size_t)model->nbody);
  wrong.body = body;
  body[1].mass = -1;
  size_t n;
  abError error = {0};
  unsigned char* bytes = bytes_of(&wrong, &n);
  assert_null(ab_model_load_memory("wrong.abm", bytes, n, &error));
  assert_non_null(strstr(error.message, "body 1 has a negative mass"));
  assert_string_equal(error.file, "wrong.abm");
  ab_bytes_free(bytes);
  body[1].mass = model->body[1].mass;
  body[1].inertia.x = 3e-307;
  bytes = bytes_of(&wrong, &n);
  assert_null(ab_model_load_memory("wrong.abm", bytes, n, &error));
  assert_non_null(strstr(error.message, "body 1 has no inertia about an axis"));
  ab_bytes_free(bytes);
  body[1].inertia.x = model->body[1].inertia.x;
  body[1].parent = 7;
  bytes = bytes_of(&wrong, &n);
  assert_null(ab_model_load_memory("wrong.abm", bytes, n, &error));
  assert_non_null(strstr(error.message, "parent"));
  ab_bytes_free(bytes);
  body[1].parent = model->body[1].parent;
  body[1].pose.q.w *= 1 + 1e-8;  // the axes of its patches would be as much too long
  bytes = bytes_of(&wrong, &n);
  assert_null(ab_model_load_memory("wrong.abm", bytes, n, &error));
  assert_non_null(strstr(error.message, "not of length 1"));
  ab_bytes_free(bytes);
  free(body);
  ab_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_knows_every_field),
      cmocka_unit_test(the_table_names_what_the_header_declares),
      cmocka_unit_test(parts_of_a_model_name_each_other_by_index),
      cmocka_unit_test(every_scene_comes_back_to_the_bit),
      cmocka_unit_test(it_moves_as_the_scene_does),
      cmocka_unit_test(a_model_file_loads_where_a_scene_does),
      cmocka_unit_test(a_damaged_file_is_refused),
      cmocka_unit_test(what_is_called_abm_is_never_read_as_a_scene),
      cmocka_unit_test(another_version_is_told_apart_from_damage),
      cmocka_unit_test(a_forged_file_is_refused_or_sound),
      cmocka_unit_test(a_negative_margin_comes_back),
      cmocka_unit_test(what_does_not_fit_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
