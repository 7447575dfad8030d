// Reading model files. The model is one block: one function walks over the bytes twice, first
// checking and counting, then placing. What the table says of a field is checked here, what the
// fields mean together in check.c.
// Tests: test_model_file.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "geometry/polyhedron.h"
#include "scene/model/file.h"
#include "scene/model/table.h"

typedef struct Reader {
  const unsigned char* byte;
  size_t n, at;
  char* base;   // of the block; NULL: bytes are only counted
  size_t used;  // of it
  const char* model;
  int npoly;
  abPolyhedron** poly;   // made from the file
  abPolyhedron** place;  // their copies in the block
  const char* file;
  abError* error;
  bool failed;
} Reader;

#define REFUSE(r, ...) refuse((r), __VA_ARGS__)
static bool refuse(Reader* r, const char* what, const char* field, long long value) {
  if (r->failed) return false;
  r->failed = true;
  ab_fail(r->error, AB_ERROR_PARSE, r->file, 0,
          "not a sound model file: %s %s (%lld); write it again with 'abut convert SCENE OUT.abm'",
          field, what, value);
  return false;
}

// --- bytes ---

static const unsigned char* take(Reader* r, size_t n, const char* field) {
  if (r->failed) return NULL;
  if (n > r->n - r->at) return REFUSE(r, "lies beyond the end", field, (long long)n), NULL;
  const unsigned char* p = r->byte + r->at;
  r->at += n;
  return p;
}

static uint64_t little(const unsigned char* p, int n) {
  uint64_t x = 0;
  for (int i = n - 1; i >= 0; i--) x = x << 8 | p[i];
  return x;
}

static int read_int(Reader* r, const char* field) {
  const unsigned char* p = take(r, 4, field);
  return p ? (int)(int32_t)(uint32_t)little(p, 4) : 0;
}

static void read_doubles(Reader* r, int n, double* out, const char* field) {
  const unsigned char* p = take(r, 8 * (size_t)n, field);
  for (int i = 0; p && i < n; i++) {
    uint64_t bits = little(p + 8 * (size_t)i, 8);
    memcpy(&out[i], &bits, 8);
    if (!isfinite(out[i])) REFUSE(r, "is not a finite number", field, i);
  }
}

static void read_floats(Reader* r, int n, float* out, const char* field) {
  const unsigned char* p = take(r, 4 * (size_t)n, field);
  for (int i = 0; p && i < n; i++) {
    uint32_t bits = (uint32_t)little(p + 4 * (size_t)i, 4);
    memcpy(&out[i], &bits, 4);
    if (!isfinite(out[i])) REFUSE(r, "is not a finite number", field, i);
  }
}

static void* put(Reader* r, size_t bytes) {
  size_t begin = (r->used + 15) & ~(size_t)15;
  if (bytes > SIZE_MAX / 4 || begin > SIZE_MAX / 4) {
    REFUSE(r, "is too large for this machine", "the model", (long long)(bytes >> 20));
    return NULL;
  }
  r->used = begin + bytes;
  return r->base ? r->base + begin : NULL;
}

// --- fields ---

static int count_at(const Reader* r, const abCountAt* count, const char* self) {
  int n;
  memcpy(&n, (count->own ? self : r->model) + count->offset, sizeof n);
  return n;
}

static void read_ints(Reader* r, const abField* f, char* self) {
  int limit = f->count.name ? count_at(r, &f->count, self) : f->limit;
  for (int i = 0; i < f->n; i++) {
    int x = read_int(r, f->name);
    bool good = !f->bounded || (x >= f->low && (x < limit || (f->closed && x == limit)));
    if (!good) REFUSE(r, "is out of range", f->name, x);
    memcpy(self + f->offset + (size_t)i * sizeof x, &x, sizeof x);
  }
}

static void read_flag(Reader* r, const abField* f, char* self) {
  const unsigned char* p = take(r, 1, f->name);
  if (p && *p > 1) REFUSE(r, "is neither 0 nor 1", f->name, *p);
  bool flag = p && *p == 1;
  memcpy(self + f->offset, &flag, sizeof flag);
}

static void read_text(Reader* r, const abField* f, char* self) {
  int n = read_int(r, f->name);
  if (n < 0) REFUSE(r, "has a negative length", f->name, n);
  char* text = NULL;
  if (n > 0 && !r->failed) {
    const unsigned char* p = take(r, (size_t)n - 1, f->name);
    text = p ? put(r, (size_t)n) : NULL;
    if (p && memchr(p, 0, (size_t)n - 1)) REFUSE(r, "holds a zero", f->name, n);
    if (text) memcpy(text, p, (size_t)n - 1), text[n - 1] = 0;
    // While counting, that there is one is all there is to know.
    if (!r->base) text = "";
  }
  memcpy(self + f->offset, &text, sizeof text);
}

static void read_poly(Reader* r, const abField* f, char* self) {
  int i = read_int(r, f->name);
  if (i < -1 || i >= r->npoly) REFUSE(r, "is out of range", f->name, i);
  const abPolyhedron* poly = NULL;
  if (i >= 0 && !r->failed) poly = r->base ? r->place[i] : r->poly[i];
  memcpy(self + f->offset, &poly, sizeof poly);
}

static void read_struct(Reader* r, const abStruct* s, char* out);

static void read_elements(Reader* r, const abField* f, char* self) {
  const abStruct* s = f->inner;
  long long n = count_at(r, &f->count, self);
  if (f->times.name) n *= count_at(r, &f->times, self);
  if ((size_t)n > (r->n - r->at) / ab_struct_least(s)) {
    REFUSE(r, "has more entries than the file has bytes", f->name, n);
    return;
  }
  char* array = put(r, (size_t)n * s->bytes);
  _Alignas(16) char scratch[AB_STRUCT_MOST] = {0};
  for (long long i = 0; i < n && !r->failed; i++)
    read_struct(r, s, array ? array + (size_t)i * s->bytes : scratch);
  memcpy(self + f->offset, &array, sizeof array);
}

static void read_field(Reader* r, const abField* f, char* self) {
  char* at = self + f->offset;
  switch (f->kind) {
    case AB_FIELD_INT:
      read_ints(r, f, self);
      break;
    case AB_FIELD_FLAG:
      read_flag(r, f, self);
      break;
    case AB_FIELD_FLOAT:
      read_floats(r, f->n, (float*)(void*)at, f->name);
      break;
    case AB_FIELD_DOUBLE:
      read_doubles(r, f->n, (double*)(void*)at, f->name);
      break;
    case AB_FIELD_TEXT:
      read_text(r, f, self);
      break;
    case AB_FIELD_INSIDE:
      read_struct(r, f->inner, at);
      break;
    case AB_FIELD_POLY:
      read_poly(r, f, self);
      break;
    case AB_FIELD_ARRAY:
      read_elements(r, f, self);
      break;
  }
}

static void read_struct(Reader* r, const abStruct* s, char* out) {
  for (int i = 0; i < s->nfield && !r->failed; i++) read_field(r, &s->field[i], out);
}

// --- polyhedra ---

static abPolyhedron* restore(Reader* r, abPolyhedronData* d, double* number, int* whole) {
  read_doubles(r, 3 * d->nvert, number, "a corner");
  read_doubles(r, 4 * d->nface, number + 3 * (size_t)d->nvert, "a plane");
  double rest[5] = {0};
  read_doubles(r, 5, rest, "a centroid");
  for (int i = 0; i < d->nface + 1 + d->nloop; i++) whole[i] = read_int(r, "a corner of a face");
  if (r->failed) return NULL;
  d->vert = (const abVec3*)(void*)number;
  d->plane = (const abPlane*)(void*)(number + 3 * (size_t)d->nvert);
  d->face_start = whole, d->loop = whole + d->nface + 1;
  d->centroid = (abVec3){rest[0], rest[1], rest[2]};
  d->volume = rest[3], d->radius = rest[4];
  abError inner = {0};
  abPolyhedron* p = ab_polyhedron_restore(d, &inner);
  if (!p) {
    r->failed = true;
    ab_fail(r->error, inner.code == AB_ERROR_MEMORY ? AB_ERROR_MEMORY : AB_ERROR_PARSE, r->file, 0,
            "not a sound model file: a polyhedron: %s", inner.message);
  }
  return p;
}

static abPolyhedron* read_polyhedron(Reader* r) {
  abPolyhedronData d = {
      .nvert = read_int(r, "nvert"), .nface = read_int(r, "nface"), .nloop = read_int(r, "nloop")};
  int most = (int)((r->n - r->at) / 4 < 1 << 26 ? (r->n - r->at) / 4 : 1 << 26);
  if (d.nvert < 0 || d.nvert > most || d.nface < 0 || d.nface > most || d.nloop < 0 ||
      d.nloop > most)
    return REFUSE(r, "is out of range", "the size of a polyhedron", d.nvert), NULL;
  double* number = ab_alloc(sizeof(double) * (3 * (size_t)d.nvert + 4 * (size_t)d.nface));
  int* whole = ab_alloc(sizeof(int) * ((size_t)d.nface + 1 + (size_t)d.nloop));
  abPolyhedron* p = NULL;
  if (number && whole && !r->failed) p = restore(r, &d, number, whole);
  if (!number || !whole) {
    r->failed = true;
    ab_fail(r->error, AB_ERROR_MEMORY, r->file, 0, "no memory for a polyhedron");
  }
  ab_free(number);
  ab_free(whole);
  return p;
}

static void read_polyhedra(Reader* r) {
  int n = read_int(r, "the number of polyhedra");
  if (n < 0 || (size_t)n > (r->n - r->at) / 12) {
    REFUSE(r, "is out of range", "the number of polyhedra", n);
    return;
  }
  r->poly = ab_alloc_zero(2 * (size_t)n * sizeof *r->poly);
  r->place = r->poly ? r->poly + n : NULL;
  if (!r->poly) {
    r->failed = true;
    ab_fail(r->error, AB_ERROR_MEMORY, r->file, 0, "no memory for %d polyhedra", n);
    return;
  }
  r->npoly = n;
  for (int i = 0; i < n && !r->failed; i++) r->poly[i] = read_polyhedron(r);
}

// --- the whole ---

static void read_model(Reader* r, size_t begin, abModel* model) {
  r->at = begin, r->used = 0;
  abModel* out = put(r, sizeof *model);
  r->model = (const char*)(out ? out : model);
  for (int i = 0; i < r->npoly && !r->failed; i++) {
    void* memory = put(r, ab_polyhedron_bytes(r->poly[i]));
    if (memory) r->place[i] = ab_polyhedron_copy(r->poly[i], memory);
  }
  read_struct(r, &ab_model_struct, (char*)(out ? out : model));
  if (out) out->bytes = r->used;
}

static abModel* read_block(Reader* r) {
  size_t begin = r->at;
  abModel counted = {0};
  read_model(r, begin, &counted);
  if (!r->failed && r->at != r->n)
    REFUSE(r, "follow the model", "bytes", (long long)(r->n - r->at));
  if (r->failed) return NULL;
  r->base = ab_alloc_zero(r->used);
  if (!r->base) {
    ab_fail(r->error, AB_ERROR_MEMORY, r->file, 0, "no memory for the model");
    return NULL;
  }
  read_model(r, begin, NULL);
  abModel* model = (abModel*)(void*)r->base;
  if (ab_model_check(model, r->error) == AB_OK) return model;
  if (r->error) snprintf(r->error->file, sizeof r->error->file, "%s", r->file);
  ab_free(model);
  return NULL;
}

abModel* ab_model_read_body(const char* name, const void* bytes, size_t n, abError* error) {
  Reader r = {.byte = bytes, .n = n, .file = name, .error = error};
  read_polyhedra(&r);
  abModel* model = r.failed ? NULL : read_block(&r);
  for (int i = 0; i < r.npoly; i++) ab_polyhedron_free(r.poly[i]);
  ab_free(r.poly);
  return model;
}

abModel* ab_model_load_memory(const char* name, const void* bytes, size_t n, abError* error) {
  const unsigned char* p = bytes;
  if (!bytes || n < AB_MODEL_HEAD || !ab_begins_model_file(bytes, n)) {
    ab_fail(error, AB_ERROR_PARSE, name, 0,
            "not a model file, or one that was cut short or changed on its way (copied as "
            "text?); write it again with 'abut convert SCENE OUT.abm'");
    return NULL;
  }
  if (little(p + 8, 8) != ab_model_stamp()) {
    ab_fail(error, AB_ERROR_UNSUPPORTED, name, 0,
            "this model file was written by another version of abut; write it again with 'abut "
            "convert SCENE OUT.abm'");
    return NULL;
  }
  if (little(p + 16, 8) != n - AB_MODEL_HEAD ||
      little(p + 24, 8) != ab_model_checksum(p + AB_MODEL_HEAD, n - AB_MODEL_HEAD)) {
    ab_fail(error, AB_ERROR_PARSE, name, 0,
            "this model file is damaged (its length or checksum is wrong); write it again with "
            "'abut convert SCENE OUT.abm'");
    return NULL;
  }
  return ab_model_read_body(name, p + AB_MODEL_HEAD, n - AB_MODEL_HEAD, error);
}
