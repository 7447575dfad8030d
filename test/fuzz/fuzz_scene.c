// Any bytes given as a scene end in a model or in an error: no crash, no undefined behaviour, no
// leak, no hang. A scene that loads is compiled, saved, and loaded again, and must compile again.
#include <abut/scene.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "scene/mjcf/mjcf.h"

// Larger inputs only slow the search down.
enum { LIMIT = 1 << 16 };

static void save_and_load(const abScene* scene) {
  static char path[64];
  abError error;
  // in memory where the system has such a folder: disks are slower than the rest
  const char* folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  if (!path[0]) snprintf(path, sizeof path, "%s/fuzz_scene.%ld.xml", folder, (long)getpid());
  if (ab_scene_save(scene, path, &error) != AB_OK) return;
  abModel* model = ab_load(path, NULL, &error);
  if (!model && error.code != AB_ERROR_MEMORY) {
    fprintf(stderr, "saved scene: %s:%d: %s\n", error.file, error.line, error.message);
    abort();
  }
  ab_model_free(model);
  remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > LIMIT) return 0;
  abNotes notes;
  abError error;
  abScene* scene = ab_scene_load_memory("fuzz", (const char*)data, size, &notes, &error);
  abModel* model = scene ? ab_scene_compile(scene, &error) : NULL;
  if (model) save_and_load(scene);
  ab_model_free(model);
  ab_scene_free(scene);
  ab_notes_free(&notes);
  return 0;
}
