// Writes valid recordings of 0, 1 and 4 samples into a folder: seed_recording DIR
#include <stdio.h>
#include <stdlib.h>

#include "recording.h"

int main(int argc, char** argv) {
  static const int count[] = {0, 1, 4};
  for (int i = 0; argc == 2 && i < 3; i++) {
    char path[4096];
    size_t n;
    uint8_t* bytes = make_recording(count[i], &n);
    snprintf(path, sizeof path, "%s/recording%d", argv[1], count[i]);
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, n, file) != n || fclose(file) != 0) return 1;
    free(bytes);
  }
  return argc == 2 ? 0 : 2;
}
