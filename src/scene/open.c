// Any file a model can come from: a model file is told by its first bytes, everything else is a
// scene; but what is called .abm is no scene, also where its beginning is gone. The file is read
// once, for it may be a pipe.
// Tests: test_bad_input.
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/input.h"
#include "scene/mjcf/mjcf.h"
#include "scene/model/file.h"
#include "scene/scene.h"

typedef struct Bytes {
  char* byte;
  size_t n;
} Bytes;

static bool is_model_file(const char* path, Bytes b) {
  size_t n = strlen(path);
  return ab_begins_model_file(b.byte, b.n) || (n > 4 && strcmp(path + n - 4, ".abm") == 0);
}

static abModel* load_model_file(const char* path, Bytes b, const abLoadOption* option,
                                abError* error) {
  if (!option->floating) return ab_model_load_memory(path, b.byte, b.n, error);
  ab_fail(error, AB_ERROR_ARGUMENT, path, 0,
          "a model file is compiled already; to let what is fixed in it float, give the scene it "
          "came from");
  return NULL;
}

static abModel* load_scene(const char* path, Bytes b, const abLoadOption* option, abNotes* notes,
                           abError* error) {
  abScene* scene = ab_scene_load_text(path, b.byte, b.n, notes, error);
  if (!scene) return NULL;
  bool ok = !option->floating || ab_scene_float(scene, error) == AB_OK;
  if (!ok) ab_notes_free(notes);
  abModel* model = ok ? ab_compile_scene(scene, notes, error) : NULL;
  ab_scene_free(scene);
  return model;
}

abModel* ab_load_with(const char* path, const abLoadOption* option, abNotes* notes,
                      abError* error) {
  Bytes b;
  const abLoadOption plain = {0};
  if (!option) option = &plain;
  if (notes) *notes = (abNotes){0};
  if (ab_input_read(path, &b.byte, &b.n, error) != AB_OK) return NULL;
  abModel* model = is_model_file(path, b) ? load_model_file(path, b, option, error)
                                          : load_scene(path, b, option, notes, error);
  ab_free(b.byte);
  return model;
}

abModel* ab_load_memory(const char* name, const void* bytes, size_t n, abNotes* notes,
                        abError* error) {
  if (notes) *notes = (abNotes){0};
  if (!name || !bytes) {
    ab_fail(error, AB_ERROR_ARGUMENT, name, 0, "a model from memory needs a name and its bytes");
    return NULL;
  }
  if (ab_begins_model_file(bytes, n)) return ab_model_load_memory(name, bytes, n, error);
  abScene* scene = ab_scene_load_memory(name, bytes, n, notes, error);
  abModel* model = scene ? ab_compile_scene(scene, notes, error) : NULL;
  ab_scene_free(scene);
  return model;
}

abModel* ab_load(const char* path, abNotes* notes, abError* error) {
  return ab_load_with(path, &(abLoadOption){0}, notes, error);
}
