// Any file a model can come from: a model file is told by its first bytes, everything else is a
// scene.
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "scene/model_file.h"

static abModel* load_model_file(FILE* file, const char* path, abError* error) {
  long n = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  char* bytes = n >= 0 && fseek(file, 0, SEEK_SET) == 0 ? ab_alloc((size_t)n) : NULL;
  abModel* model = NULL;
  if (bytes && fread(bytes, 1, (size_t)n, file) == (size_t)n)
    model = ab_model_load_memory(path, bytes, (size_t)n, error);
  else
    ab_fail(error, AB_ERROR_FILE, path, 0, "the file cannot be read");
  ab_free(bytes);
  return model;
}

abModel* ab_load(const char* path, abNotes* notes, abError* error) {
  char head[AB_MODEL_HEAD];
  FILE* file = fopen(path, "rb");
  // Enough of it to tell, so that one that was cut short is called by its name.
  bool compiled = file && ab_begins_model_file(head, fread(head, 1, sizeof head, file));
  if (compiled && notes) *notes = (abNotes){0};
  abModel* model = compiled ? load_model_file(file, path, error) : NULL;
  if (file) fclose(file);
  if (compiled) return model;
  abScene* scene = ab_scene_load(path, notes, error);
  if (!scene) return NULL;
  model = ab_scene_compile(scene, error);
  ab_scene_free(scene);
  if (!model) ab_notes_free(notes);
  return model;
}
