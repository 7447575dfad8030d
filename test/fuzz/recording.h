// What the two targets for recordings share: handing bytes to the reader as a file, reading all of
// it, and passing it on to another format, as `abut convert` does.
#ifndef ABUT_FUZZ_RECORDING_H
#define ABUT_FUZZ_RECORDING_H

#include <stddef.h>
#include <stdint.h>

// Reads the bytes as a recording, and passes it on.
void read_recording(const uint8_t* data, size_t size);
// A valid recording of n samples; free it with free().
uint8_t* make_recording(int n, size_t* size);

#endif
