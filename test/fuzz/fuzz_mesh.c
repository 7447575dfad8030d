// Any bytes given as an OBJ or STL file end in a mesh or in an error; a mesh goes on to its hull.
// The first byte chooses the format.
#include <abut/types.h>

#include "geometry/polyhedron.h"
#include "scene/mesh/file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1 || size > 1 << 16) return 0;
  abMeshData mesh = {0};
  abError error;
  static const char* const name[] = {"fuzz.obj", "fuzz.stl", "fuzz.msh"};
  if (ab_mesh_read_memory(name[data[0] % 3], data + 1, size - 1, &mesh, &error) == AB_OK)
    ab_polyhedron_free(ab_polyhedron_hull(mesh.nvert, mesh.vert, &error));
  ab_mesh_data_free(&mesh);
  return 0;
}
