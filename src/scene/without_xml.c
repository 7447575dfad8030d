// In place of the readers of MJCF and URDF, where abut is built without expat.
#include "base/error.h"
#include "scene/mjcf/mjcf.h"

static abScene* refuse(const char* path, abNotes* notes, abError* error) {
  if (notes) *notes = (abNotes){0};
  ab_fail(error, AB_ERROR_UNSUPPORTED, path, 0,
          "this build of abut reads model files only; convert the scene with 'abut convert SCENE "
          "OUT.abm' where abut is built with expat");
  return NULL;
}

abScene* ab_scene_load(const char* path, abNotes* notes, abError* error) {
  return refuse(path, notes, error);
}

abScene* ab_scene_load_text(const char* path, const char* bytes, size_t n, abNotes* notes,
                            abError* error) {
  (void)bytes, (void)n;
  return refuse(path, notes, error);
}

abScene* ab_scene_load_memory(const char* name, const char* bytes, size_t n, abNotes* notes,
                              abError* error) {
  (void)bytes, (void)n;
  return refuse(name, notes, error);
}
