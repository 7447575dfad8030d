// Model files (.abm): a compiled model as bytes, the same on every machine.
//
//   8 bytes   89 'a' 'b' 'm' 0d 0a 1a 0a
//   uint64    stamp of the table of fields (scene/model/table.h)
//   uint64    n, the number of bytes that follow the head
//   uint64    FNV-1a of those bytes
//   n bytes   int32 number of polyhedra, the polyhedra, the model
//
// Numbers are little-endian, doubles IEEE 754. A polyhedron is int32 nvert, nface, nloop, then
// vertices, planes, centroid, volume and radius as doubles, then face starts and loops as int32:
// what cannot be had again to the last bit from the rest. A struct is its fields in the order of
// the table; an array its elements one after another.
#ifndef ABUT_SCENE_MODEL_FILE_H
#define ABUT_SCENE_MODEL_FILE_H

#include <abut/scene.h>

enum { AB_MODEL_HEAD = 32 };

// Are these the first bytes of a model file, as far as they go? At least four are needed to tell.
bool ab_begins_model_file(const void* bytes, size_t n);
uint64_t ab_model_checksum(const void* bytes, size_t n);
// The body of a file (what follows the head), not yet told to be from this version and undamaged.
abModel* ab_model_read_body(const char* name, const void* bytes, size_t n, abError* error);
// Whether the parts of a model fit together such that it can be simulated (scene/model/check.c).
abStatus ab_model_check(const abModel* model, abError* error);

#endif
