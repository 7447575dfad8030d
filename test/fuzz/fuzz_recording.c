// Any bytes given as a recording end in samples or in an error: no crash, no hang, no leak.
#include "recording.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1 << 20) return 0;
  read_recording(data, size);
  return 0;
}
