// What the mesh readers share: the file's bytes, growing arrays, numbers, welding of equal
// vertices.
// Tests: test_mesh_file.
#include "scene/mesh/file.h"

#include <ctype.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/input.h"
#include "math/vec.h"

void ab_mesh_data_free(abMeshData* m) {
  ab_free(m->vert);
  ab_free(m->triangle);
  *m = (abMeshData){0};
}

static abStatus no_memory(abMeshBuilder* b) {
  return ab_fail(b->error, AB_ERROR_MEMORY, b->name, 0, "no memory for the mesh");
}

abStatus ab_mesh_add_vertex(abMeshBuilder* b, abVec3 v) {
  if (b->mesh.nvert == b->vert_capacity) {
    if (b->vert_capacity > INT_MAX / 4) return no_memory(b);
    int bigger = b->vert_capacity ? 2 * b->vert_capacity : 64;
    void* p = ab_realloc(b->mesh.vert, (size_t)bigger * sizeof *b->mesh.vert);
    if (!p) return no_memory(b);
    b->mesh.vert = p;
    b->vert_capacity = bigger;
  }
  b->mesh.vert[b->mesh.nvert++] = v;
  return AB_OK;
}

abStatus ab_mesh_add_triangle(abMeshBuilder* b, int i, int j, int k) {
  if (b->mesh.ntriangle == b->triangle_capacity) {
    if (b->triangle_capacity > INT_MAX / 4) return no_memory(b);
    int bigger = b->triangle_capacity ? 2 * b->triangle_capacity : 64;
    void* p = ab_realloc(b->mesh.triangle, (size_t)bigger * sizeof *b->mesh.triangle);
    if (!p) return no_memory(b);
    b->mesh.triangle = p;
    b->triangle_capacity = bigger;
  }
  int* t = b->mesh.triangle[b->mesh.ntriangle++];
  t[0] = i, t[1] = j, t[2] = k;
  return AB_OK;
}

uint32_t ab_read_u32(const unsigned char* p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

double ab_read_float(const unsigned char* p) {
  uint32_t bits = ab_read_u32(p);
  float x;
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}

// --- welding ---

typedef struct Corner {
  abVec3 p;
  int index;
} Corner;

static int compare_corners(const void* a, const void* b) {
  const Corner *x = a, *y = b;
  if (x->p.x != y->p.x) return x->p.x < y->p.x ? -1 : 1;
  if (x->p.y != y->p.y) return x->p.y < y->p.y ? -1 : 1;
  if (x->p.z != y->p.z) return x->p.z < y->p.z ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

// new_index[i]: vertices keep the order in which they first appear.
static void number_corners(const Corner* c, int n, abVec3* vert, int* same, int* new_index) {
  int kept = 0;
  for (int i = 0, first = 0; i < n; i++) {
    if (c[i].p.x != c[first].p.x || c[i].p.y != c[first].p.y || c[i].p.z != c[first].p.z) first = i;
    same[c[i].index] = c[first].index;  // the earliest of the equal ones
  }
  for (int i = 0; i < n; i++) {
    new_index[i] = same[i] == i ? kept : new_index[same[i]];
    if (same[i] == i) vert[kept++] = vert[i];
  }
}

abStatus ab_mesh_weld(abMeshBuilder* b) {
  abMeshData* m = &b->mesh;
  if (m->nvert == 0) return AB_OK;
  Corner* corner = ab_alloc((size_t)m->nvert * sizeof *corner);
  int* index = ab_alloc(2 * (size_t)m->nvert * sizeof *index);
  if (!corner || !index) {
    ab_free(corner);
    ab_free(index);
    return no_memory(b);
  }
  for (int i = 0; i < m->nvert; i++) corner[i] = (Corner){m->vert[i], i};
  qsort(corner, (size_t)m->nvert, sizeof *corner, compare_corners);
  int* new_index = index + m->nvert;
  number_corners(corner, m->nvert, m->vert, index, new_index);
  int top = 0, kept = 0;
  for (int i = 0; i < m->nvert; i++)
    if (new_index[i] >= top) top = new_index[i] + 1;
  m->nvert = top;
  for (int i = 0; i < m->ntriangle; i++) {
    const int* t = m->triangle[i];
    int a = new_index[t[0]], c = new_index[t[1]], d = new_index[t[2]];
    if (a == c || c == d || d == a) continue;
    m->triangle[kept][0] = a, m->triangle[kept][1] = c, m->triangle[kept][2] = d;
    kept++;
  }
  m->ntriangle = kept;
  ab_free(corner);
  ab_free(index);
  return AB_OK;
}

// --- files ---

static bool has_extension(const char* name, const char* extension) {
  size_t n = strlen(name), k = strlen(extension);
  if (n < k) return false;
  for (size_t i = 0; i < k; i++)
    if (tolower((unsigned char)name[n - k + i]) != extension[i]) return false;
  return true;
}

abStatus ab_mesh_read_memory(const char* name, const void* bytes, size_t n, abMeshData* out,
                             abError* error) {
  *out = (abMeshData){0};
  abMeshBuilder b = {.name = name, .error = error};
  abStatus status;
  if (has_extension(name, ".obj"))
    status = ab_read_obj(&b, bytes, n);
  else if (has_extension(name, ".stl"))
    status = ab_read_stl(&b, bytes, n);
  else if (has_extension(name, ".msh"))
    status = ab_read_msh(&b, bytes, n);
  else
    status = ab_fail(error, AB_ERROR_UNSUPPORTED, name, 0,
                     "meshes are read from .obj, .stl and .msh files; convert this one");
  if (!status && b.mesh.nvert == 0)
    status = ab_fail(error, AB_ERROR_PARSE, name, 0, "the file has no vertices");
  if (status) {
    ab_mesh_data_free(&b.mesh);
    return status;
  }
  *out = b.mesh;
  if (out->nmass == out->ntriangle) out->nmass = 0;
  return AB_OK;
}

abStatus ab_mesh_read(const char* path, abMeshData* out, abError* error) {
  char* bytes = NULL;
  size_t n = 0;
  *out = (abMeshData){0};
  abStatus status = ab_input_read_ordinary(path, &bytes, &n, error);
  if (status) return status;
  status = ab_mesh_read_memory(path, bytes, n, out, error);
  ab_free(bytes);
  return status;
}
