// Writing model files: one function walks over the model twice, first counting bytes, then writing
// them.
// Tests: test_model_file.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "scene/model/file.h"
#include "scene/model/table.h"

typedef struct Writer {
  unsigned char* base;  // NULL: bytes are only counted
  size_t used;
  const char* model;
  int npoly, capacity;
  const abPolyhedron** poly;
  bool no_memory;
} Writer;

static const unsigned char MAGIC[8] = {0x89, 'a', 'b', 'm', '\r', '\n', 0x1a, '\n'};

bool ab_begins_model_file(const void* bytes, size_t n) {
  return n >= 4 && memcmp(bytes, MAGIC, n < sizeof MAGIC ? n : sizeof MAGIC) == 0;
}

uint64_t ab_model_checksum(const void* bytes, size_t n) {
  const unsigned char* p = bytes;
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i++) hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

// --- bytes ---

static void put_bytes(Writer* w, const void* bytes, size_t n) {
  if (w->base && n) memcpy(w->base + w->used, bytes, n);
  w->used += n;
}

static void put_small(Writer* w, uint64_t x, int n) {
  unsigned char byte[8];
  for (int i = 0; i < n; i++) byte[i] = (unsigned char)(x >> 8 * i);
  put_bytes(w, byte, (size_t)n);
}

static void put_int(Writer* w, int x) { put_small(w, (uint32_t)x, 4); }

static void put_doubles(Writer* w, const void* from, int n) {
  for (int i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, (const char*)from + 8 * (size_t)i, 8);
    put_small(w, bits, 8);
  }
}

static void put_ints(Writer* w, const void* from, int n) {
  for (int i = 0; i < n; i++) {
    uint32_t bits;
    memcpy(&bits, (const char*)from + 4 * (size_t)i, 4);
    put_small(w, bits, 4);
  }
}

// --- fields ---

static int find_poly(Writer* w, const abPolyhedron* poly) {
  if (!poly) return -1;
  for (int i = w->npoly - 1; i >= 0; i--)
    if (w->poly[i] == poly) return i;
  if (w->npoly == w->capacity) {
    int bigger = w->capacity ? 2 * w->capacity : 64;
    const abPolyhedron** p = ab_realloc(w->poly, (size_t)bigger * sizeof(abPolyhedron*));
    if (!p) return w->no_memory = true, -1;
    w->poly = p, w->capacity = bigger;
  }
  w->poly[w->npoly] = poly;
  return w->npoly++;
}

static void put_struct(Writer* w, const abStruct* s, const char* from);

static void put_text(Writer* w, const char* text) {
  put_int(w, text ? (int)strlen(text) + 1 : 0);
  if (text) put_bytes(w, text, strlen(text));
}

static size_t count_at(const Writer* w, const abCountAt* count, const char* self) {
  int n;
  memcpy(&n, (count->own ? self : w->model) + count->offset, sizeof n);
  return (size_t)n;
}

static void put_field(Writer* w, const abField* f, const char* self) {
  const char* at = self + f->offset;
  const char* pointer = NULL;
  bool flag;
  size_t n;
  if (f->kind >= AB_FIELD_POLY || f->kind == AB_FIELD_TEXT) memcpy(&pointer, at, sizeof pointer);
  switch (f->kind) {
    case AB_FIELD_INT:
    case AB_FIELD_FLOAT:
      put_ints(w, at, f->n);
      break;
    case AB_FIELD_DOUBLE:
      put_doubles(w, at, f->n);
      break;
    case AB_FIELD_FLAG:
      memcpy(&flag, at, sizeof flag), put_small(w, flag, 1);
      break;
    case AB_FIELD_TEXT:
      put_text(w, pointer);
      break;
    case AB_FIELD_INSIDE:
      put_struct(w, f->inner, at);
      break;
    case AB_FIELD_POLY:
      put_int(w, find_poly(w, (const void*)pointer));
      break;
    case AB_FIELD_ARRAY:
      n = count_at(w, &f->count, self);
      if (f->times.name) n *= count_at(w, &f->times, self);
      for (size_t i = 0; i < n; i++) put_struct(w, f->inner, pointer + i * f->inner->bytes);
      break;
  }
}

static void put_struct(Writer* w, const abStruct* s, const char* from) {
  for (int i = 0; i < s->nfield; i++) put_field(w, &s->field[i], from);
}

static void put_polyhedron(Writer* w, const abPolyhedron* p) {
  put_int(w, p->nvert), put_int(w, p->nface), put_int(w, p->nloop);
  put_doubles(w, p->vert, 3 * p->nvert);
  put_doubles(w, p->plane, 4 * p->nface);
  put_doubles(w, &p->centroid, 3);
  put_doubles(w, &p->volume, 1);
  put_doubles(w, &p->radius, 1);
  put_ints(w, p->face_start, p->nface + 1);
  put_ints(w, p->loop, p->nloop);
}

// --- the whole ---

static void put_head(Writer* w, size_t n, uint64_t checksum) {
  put_bytes(w, MAGIC, sizeof MAGIC);
  put_small(w, ab_model_stamp(), 8);
  put_small(w, n, 8);
  put_small(w, checksum, 8);
}

static void put_model(Writer* w) {
  w->used = AB_MODEL_HEAD;
  put_int(w, w->npoly);
  for (int i = 0; i < w->npoly; i++) put_polyhedron(w, w->poly[i]);
  put_struct(w, &ab_model_struct, w->model);
}

void* ab_model_bytes(const abModel* model, size_t* n, abError* error) {
  if (!model || !n) {
    ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
            n ? "there is no model; did loading it fail?" : "the number of bytes has no place");
    return NULL;
  }
  Writer w = {.model = (const char*)model};
  put_struct(&w, &ab_model_struct, w.model);  // finds the polyhedra
  if (!w.no_memory) {
    put_model(&w);
    *n = w.used;
    w.base = ab_alloc(w.used);
  }
  if (w.base) {
    put_model(&w);
    w.used = 0;
    put_head(&w, *n - AB_MODEL_HEAD, ab_model_checksum(w.base + AB_MODEL_HEAD, *n - AB_MODEL_HEAD));
  } else {
    ab_fail(error, AB_ERROR_MEMORY, model->file, 0, "no memory for a model file");
  }
  ab_free(w.poly);
  return w.base;
}

void ab_bytes_free(void* bytes) { ab_free(bytes); }

abStatus ab_model_save(const abModel* model, const char* path, abError* error) {
  size_t n = 0;
  void* bytes = ab_model_bytes(model, &n, error);
  if (!bytes) return model ? AB_ERROR_MEMORY : AB_ERROR_ARGUMENT;
  FILE* file = fopen(path, "wb");
  bool good = file && fwrite(bytes, 1, n, file) == n;
  if (file) good = fclose(file) == 0 && good;
  ab_free(bytes);
  if (good) return AB_OK;
  return ab_fail(error, AB_ERROR_FILE, path, 0,
                 "this file cannot be written; check the folder and the room on the disk");
}
