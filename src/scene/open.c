// Any file a model can come from: a model file is told by its first bytes, everything else is a
// scene.
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "scene/model_file.h"
#include "scene/scene.h"

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

static abModel* load_scene(const char* path, const abLoadOption* option, abNotes* notes,
                           abError* error) {
  abScene* scene = ab_scene_load(path, notes, error);
  if (!scene) return NULL;
  bool ok = !option->floating || ab_scene_float(scene, error) == AB_OK;
  if (!ok) ab_notes_free(notes);
  abModel* model = ok ? ab_compile_scene(scene, notes, error) : NULL;
  ab_scene_free(scene);
  return model;
}

abModel* ab_load_with(const char* path, const abLoadOption* option, abNotes* notes,
                      abError* error) {
  char head[AB_MODEL_HEAD];
  FILE* file = fopen(path, "rb");
  // Enough of it to tell, so that one that was cut short is called by its name.
  bool compiled = file && ab_begins_model_file(head, fread(head, 1, sizeof head, file));
  if (compiled && notes) *notes = (abNotes){0};
  abModel* model = NULL;
  if (compiled && option->floating)
    ab_fail(error, AB_ERROR_ARGUMENT, path, 0,
            "a model file is compiled already; to let what is fixed in it float, give the scene it "
            "came from");
  else if (compiled)
    model = load_model_file(file, path, error);
  if (file) fclose(file);
  return compiled ? model : load_scene(path, option, notes, error);
}

abModel* ab_load(const char* path, abNotes* notes, abError* error) {
  return ab_load_with(path, &(abLoadOption){0}, notes, error);
}
