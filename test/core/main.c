// What is left without expat, qhull, jansson and HDF5 loads a model file and steps: prints the hash
// after N steps; a scene is refused with the reason. usage: core MODEL N
#include <abut/abut.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  abError error = {0};
  if (argc != 3) return 2;
  abModel* model = ab_load(argv[1], NULL, &error);
  abData* data = model ? ab_data_create(model, &error) : NULL;
  if (!data) return fprintf(stderr, "%s: %s\n", error.file, error.message), 2;
  for (int i = 0; i < atoi(argv[2]); i++) ab_step(model, data);
  printf("%016" PRIx64 "\n", ab_state_hash(model, data));
  ab_data_free(data);
  ab_model_free(model);
  return 0;
}
