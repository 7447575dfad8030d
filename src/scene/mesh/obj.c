// Wavefront OBJ: the lines `v x y z` (further numbers are weights or colours) and `f i j k ...`,
// with 1-based or, counted from the last vertex, negative indices, each perhaps followed by
// /texture/normal. Polygons are cut into fans, quads in two. `o` and `g` begin another object; what
// the first one with faces has is counted, since MuJoCo takes a mesh's mass from it alone. All
// other lines are of no concern here.
// Tests: test_mesh_file.
#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "math/vec.h"
#include "scene/mesh/file.h"

typedef struct Line {
  const char *at, *end;
  int number;
} Line;

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

// The next word of the line; false at its end.
static bool next_word(Line* line, const char** begin, const char** end) {
  while (line->at < line->end && is_space(*line->at)) line->at++;
  if (line->at == line->end || *line->at == '#') return false;
  *begin = line->at;
  while (line->at < line->end && !is_space(*line->at)) line->at++;
  *end = line->at;
  return true;
}

static abStatus read_vertex(abMeshBuilder* b, Line* line) {
  double x[3];
  const char *begin, *end;
  for (int i = 0; i < 3; i++)
    if (!next_word(line, &begin, &end) || !ab_parse_number(begin, end, &x[i]))
      return ab_fail(b->error, AB_ERROR_PARSE, b->name, line->number,
                     "a vertex needs three finite numbers: v x y z");
  return ab_mesh_add_vertex(b, (abVec3){x[0], x[1], x[2]});
}

// The vertex index at the front of "7/1/3"; -1 if it is none.
static int read_index(const abMeshBuilder* b, const char* begin, const char* end) {
  bool negative = begin < end && *begin == '-';
  if (negative) begin++;
  if (begin == end || *begin < '0' || *begin > '9') return -1;
  long long value = 0;
  for (; begin < end && *begin >= '0' && *begin <= '9'; begin++) {
    value = 10 * value + (*begin - '0');
    if (value > INT_MAX) return -1;
  }
  if (begin < end && *begin != '/') return -1;
  value = negative ? b->mesh.nvert - value : value - 1;
  return value >= 0 && value < b->mesh.nvert ? (int)value : -1;
}

// Quads are cut along their shorter diagonal, as MuJoCo's reader does: one that is not flat has
// another volume else.
static abStatus add_quad(abMeshBuilder* b, const int* v) {
  const abVec3* p = b->mesh.vert;
  bool fan = v3_norm2(v3_sub(p[v[2]], p[v[0]])) < v3_norm2(v3_sub(p[v[3]], p[v[1]]));
  abStatus status = ab_mesh_add_triangle(b, v[0], v[1], fan ? v[2] : v[3]);
  return status ? status : ab_mesh_add_triangle(b, fan ? v[0] : v[1], v[2], v[3]);
}

static abStatus read_face(abMeshBuilder* b, Line* line) {
  const char *begin, *end;
  int n = 0, first[4] = {0}, last = 0;
  abStatus status = AB_OK;
  while (!status && next_word(line, &begin, &end)) {
    int index = read_index(b, begin, end);
    if (index < 0)
      return ab_fail(b->error, AB_ERROR_PARSE, b->name, line->number,
                     "a face names a vertex that is not among the %d before it: \"%.*s\"",
                     b->mesh.nvert, (int)(end - begin < 40 ? end - begin : 40), begin);
    if (n < 4) first[n] = index;
    if (n == 4) status = ab_mesh_add_triangle(b, first[0], first[1], first[2]);
    if (n == 4 && !status) status = ab_mesh_add_triangle(b, first[0], first[2], first[3]);
    if (n >= 4 && !status) status = ab_mesh_add_triangle(b, first[0], last, index);
    last = index;
    n++;
  }
  if (status) return status;
  if (n < 3)
    return ab_fail(b->error, AB_ERROR_PARSE, b->name, line->number,
                   "a face needs at least three vertices");
  if (n == 3) return ab_mesh_add_triangle(b, first[0], first[1], first[2]);
  return n == 4 ? add_quad(b, first) : AB_OK;
}

abStatus ab_read_obj(abMeshBuilder* b, const char* text, size_t n) {
  const char *at = text, *stop = text + n;
  for (int number = 1; at < stop; number++) {
    const char* end = memchr(at, '\n', (size_t)(stop - at));
    if (!end) end = stop;
    Line line = {at, end, number};
    const char *word, *word_end;
    abStatus status = AB_OK;
    if (next_word(&line, &word, &word_end) && word_end - word == 1) {
      if (*word == 'v') status = read_vertex(b, &line);
      if (*word == 'f') status = read_face(b, &line);
      if ((*word == 'o' || *word == 'g') && b->mesh.nmass == 0) b->mesh.nmass = b->mesh.ntriangle;
    }
    if (status) return status;
    at = end + 1;
  }
  return AB_OK;
}
