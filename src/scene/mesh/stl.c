// STL, binary and ASCII. A binary file is an 80-byte header, a 32-bit count and 50 bytes a triangle
// (normal, three corners, two bytes of attributes), little-endian. Headers may begin with "solid"
// like the text form, so the size decides: exactly 84 + 50 n bytes is binary.
//
// The normals are not used: the corners' order says what is outside. Corners of equal coordinates
// become one vertex.
// Tests: test_mesh_file.
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "math/vec.h"
#include "scene/mesh/file.h"

enum { STL_HEADER = 84, TRIANGLE = 50 };

static abStatus add_corners(abMeshBuilder* b, const abVec3 corner[3]) {
  int n = b->mesh.nvert;
  for (int k = 0; k < 3; k++) {
    abStatus status = ab_mesh_add_vertex(b, corner[k]);
    if (status) return status;
  }
  return ab_mesh_add_triangle(b, n, n + 1, n + 2);
}

static abStatus read_binary(abMeshBuilder* b, const unsigned char* bytes, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const unsigned char* at = bytes + STL_HEADER + (size_t)i * TRIANGLE + 12;
    abVec3 corner[3];
    for (int k = 0; k < 3; k++, at += 12) {
      corner[k] = v3(ab_read_float(at), ab_read_float(at + 4), ab_read_float(at + 8));
      if (!v3_finite(corner[k]))
        return ab_fail(b->error, AB_ERROR_PARSE, b->name, 0,
                       "triangle %lu has a corner that is not a finite number", (unsigned long)i);
    }
    abStatus status = add_corners(b, corner);
    if (status) return status;
  }
  return ab_mesh_weld(b);
}

// --- text ---

typedef struct Text {
  const char *at, *end;
  int line;
} Text;

static bool next_word(Text* t, const char** begin, const char** end) {
  while (t->at < t->end && strchr(" \t\r\n\v\f", *t->at)) {
    if (*t->at == '\n') t->line++;
    t->at++;
  }
  if (t->at == t->end) return false;
  *begin = t->at;
  while (t->at < t->end && !strchr(" \t\r\n\v\f", *t->at)) t->at++;
  *end = t->at;
  return true;
}

static bool is_word(const char* begin, const char* end, const char* word) {
  size_t n = strlen(word);
  if ((size_t)(end - begin) != n) return false;
  for (size_t i = 0; i < n; i++)
    if ((begin[i] | 0x20) != word[i]) return false;
  return true;
}

// Only `vertex` and `endloop` matter: three vertices to each loop.
static abStatus read_ascii(abMeshBuilder* b, const char* text, size_t n) {
  Text t = {text, text + n, 1};
  const char *begin, *end;
  abVec3 corner[3];
  int ncorner = 0;
  while (next_word(&t, &begin, &end)) {
    if (is_word(begin, end, "vertex")) {
      double x[3];
      for (int i = 0; i < 3; i++)
        if (!next_word(&t, &begin, &end) || !ab_parse_number(begin, end, &x[i]))
          return ab_fail(b->error, AB_ERROR_PARSE, b->name, t.line,
                         "a vertex needs three finite numbers: vertex x y z");
      if (ncorner == 3)
        return ab_fail(b->error, AB_ERROR_PARSE, b->name, t.line, "a loop has more than 3 corners");
      corner[ncorner++] = v3(x[0], x[1], x[2]);
    } else if (is_word(begin, end, "endloop")) {
      if (ncorner != 3)
        return ab_fail(b->error, AB_ERROR_PARSE, b->name, t.line, "a loop has %d corners, not 3",
                       ncorner);
      ncorner = 0;
      abStatus status = add_corners(b, corner);
      if (status) return status;
    }
  }
  if (ncorner)
    return ab_fail(b->error, AB_ERROR_PARSE, b->name, t.line, "the file ends within a triangle");
  return ab_mesh_weld(b);
}

abStatus ab_read_stl(abMeshBuilder* b, const unsigned char* bytes, size_t n) {
  if (n >= STL_HEADER) {
    uint32_t count = ab_read_u32(bytes + 80);
    size_t size = STL_HEADER + (size_t)count * TRIANGLE;
    bool text = memcmp(bytes, "solid", 5) == 0;
    if (n == size || (!text && n > size)) return read_binary(b, bytes, count);
    if (!text)
      return ab_fail(b->error, AB_ERROR_PARSE, b->name, 0,
                     "not an STL file: the header promises %lu triangles, the file has room for "
                     "%lu",
                     (unsigned long)count, (unsigned long)((n - STL_HEADER) / TRIANGLE));
  }
  if (n >= 5 && memcmp(bytes, "solid", 5) == 0) return read_ascii(b, (const char*)bytes, n);
  return ab_fail(b->error, AB_ERROR_PARSE, b->name, 0,
                 "not an STL file: neither a text beginning with \"solid\" nor a binary header");
}
