// Any bytes given as the body of a model file end in a model or in an error, and a model can be
// simulated: no crash, no undefined behaviour, no leak, no hang. The head is left out, for its
// checksum would refuse nearly everything.
#include <abut/abut.h>

#include "scene/model/file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  abError error;
  if (size > 1 << 16) return 0;
  abModel* model = ab_model_read_body("fuzz", data, size, &error);
  if (!model) return 0;
  abData* run = ab_data_create(model, &error);
  for (int i = 0; run && i < 2; i++) ab_step(model, run);
  ab_data_free(run);
  ab_model_free(model);
  return 0;
}
