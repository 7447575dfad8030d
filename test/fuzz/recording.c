#define _POSIX_C_SOURCE 200809L
#include "recording.h"

#include <abut/abut.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../io/fake.h"

// The contact models are no part of this search.
const abContactModel* ab_find_contact_model(const char* name) {
  (void)name;
  return NULL;
}
const char* ab_version(void) { return "fuzz"; }

static void pass_on(abRecording* r) {
  static char path[64];
  if (!path[0]) snprintf(path, sizeof path, "/dev/shm/fuzz_recording.%ld.glb", (long)getpid());
  abRecorder* to = ab_record_open(path, ab_recording_model(r), NULL);
  int n = ab_recording_count(r);
  for (int i = 0; i < n; i++) {
    const abData* data = ab_recording_sample(r, i, NULL);
    if (!data || !to || ab_record_sample(to, ab_recording_model(r), data, NULL) != AB_OK) break;
  }
  ab_record_close(to, NULL);
  remove(path);
  ab_json_free(ab_model_json(ab_recording_model(r), true));
}

const char* write_recording(const uint8_t* data, size_t size) {
  static char path[64];
  if (!path[0]) snprintf(path, sizeof path, "/dev/shm/fuzz_recording.%ld.h5", (long)getpid());
  FILE* file = fopen(path, "wb");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
  return path;
}

void read_recording(const char* path) {
  abRecording* r = ab_recording_open(path, NULL);
  if (r) pass_on(r);
  ab_recording_close(r);
}

uint8_t* make_recording(int n, size_t* size) {
  char path[64];
  static Fake f;
  snprintf(path, sizeof path, "/dev/shm/fuzz_recording.%ld.h5", (long)getpid());
  fake_init(&f);
  abRecorder* r = ab_record_open(path, &f.model, NULL);
  for (int i = 0; r && i < n; i++) {
    fake_state(&f, i);
    ab_record_sample(r, &f.model, &f.data, NULL);
  }
  FILE* file = ab_record_close(r, NULL) == AB_OK ? fopen(path, "rb") : NULL;
  uint8_t* bytes = malloc((size_t)1 << 22);
  *size = file && bytes ? fread(bytes, 1, (size_t)1 << 22, file) : 0;
  if (file) fclose(file);
  remove(path);
  if (*size == 0) abort();
  return bytes;
}
