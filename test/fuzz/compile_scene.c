// Seeds for fuzz_model: compile_scene SCENE OUT.abm
#include <abut/scene.h>
#include <stdio.h>

int main(int argc, char** argv) {
  abError error = {0};
  abModel* model = argc == 3 ? ab_load(argv[1], NULL, &error) : NULL;
  bool good = model && ab_model_save(model, argv[2], &error) == AB_OK;
  ab_model_free(model);
  return good ? 0 : 1;
}
