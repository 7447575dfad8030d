// Triangle meshes from files: OBJ, ASCII and binary STL. Whatever the bytes are, a reader answers
// with a mesh or with an error.
#ifndef ABUT_SCENE_MESH_FILE_H
#define ABUT_SCENE_MESH_FILE_H

#include <abut/types.h>

#include "base/input.h"

typedef struct abMeshData {
  int nvert;
  abVec3* vert;
  int ntriangle;  // 0: a cloud of points
  int (*triangle)[3];
  int nmass;  // triangles of the first of several objects in the file; 0: there is one
} abMeshData;

// The format follows the name's extension: .obj or .stl, upper or lower case.
abStatus ab_mesh_read(const char* path, abMeshData* out, abError* error);
abStatus ab_mesh_read_memory(const char* name, const void* bytes, size_t n, abMeshData* out,
                             abError* error);
void ab_mesh_data_free(abMeshData* mesh);

// --- for the readers of the single formats ---

typedef struct abMeshBuilder {
  abMeshData mesh;
  int vert_capacity, triangle_capacity;
  const char* name;
  abError* error;
} abMeshBuilder;

abStatus ab_mesh_add_vertex(abMeshBuilder* b, abVec3 v);
abStatus ab_mesh_add_triangle(abMeshBuilder* b, int i, int j, int k);
// Gives equal vertices one index, and drops triangles that lose a side by it.
abStatus ab_mesh_weld(abMeshBuilder* b);

// Little-endian, as the binary formats are.
uint32_t ab_read_u32(const unsigned char* p);
double ab_read_float(const unsigned char* p);

abStatus ab_read_obj(abMeshBuilder* b, const char* text, size_t n);
abStatus ab_read_msh(abMeshBuilder* b, const unsigned char* bytes, size_t n);
abStatus ab_read_stl(abMeshBuilder* b, const unsigned char* bytes, size_t n);

#endif
