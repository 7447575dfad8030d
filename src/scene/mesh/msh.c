// MSH, MuJoCo's own format of meshes, little-endian: the numbers of vertices, normals, texture
// coordinates and triangles as 32-bit integers, then 3 floats a vertex, 3 a normal, 2 a texture
// coordinate, 3 integers a triangle.
// Tests: test_mesh_file.
#include "base/error.h"
#include "math/vec.h"
#include "scene/mesh/file.h"

static abStatus bad(abMeshBuilder* b, const char* text) {
  return ab_fail(b->error, AB_ERROR_PARSE, b->name, 0, "not an MSH file: %s", text);
}

abStatus ab_read_msh(abMeshBuilder* b, const unsigned char* bytes, size_t n) {
  if (n < 16) return bad(b, "it is shorter than its header");
  size_t nvert = ab_read_u32(bytes), nnormal = ab_read_u32(bytes + 4);
  size_t ntexture = ab_read_u32(bytes + 8), nface = ab_read_u32(bytes + 12);
  if (n != 16 + 12 * nvert + 12 * nnormal + 8 * ntexture + 12 * nface)
    return bad(b, "its length is not what the header says");
  const unsigned char* at = bytes + 16;
  for (size_t i = 0; i < nvert; i++, at += 12) {
    abVec3 v = v3(ab_read_float(at), ab_read_float(at + 4), ab_read_float(at + 8));
    if (!v3_finite(v)) return bad(b, "a vertex is not a finite number");
    abStatus status = ab_mesh_add_vertex(b, v);
    if (status) return status;
  }
  at += 12 * nnormal + 8 * ntexture;
  for (size_t i = 0; i < nface; i++, at += 12) {
    uint32_t corner[3] = {ab_read_u32(at), ab_read_u32(at + 4), ab_read_u32(at + 8)};
    if (corner[0] >= nvert || corner[1] >= nvert || corner[2] >= nvert)
      return bad(b, "a triangle names a vertex that is not there");
    abStatus status = ab_mesh_add_triangle(b, (int)corner[0], (int)corner[1], (int)corner[2]);
    if (status) return status;
  }
  return AB_OK;
}
