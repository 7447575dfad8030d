#define _XOPEN_SOURCE 700
#include "recording.h"

#include <abut/abut.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../io/fake.h"

int fuzz_stat(struct stat* info);
ssize_t fuzz_pread(void* out, size_t n, off_t at);
int fuzz_file_create(const char* path, abError* error);
abStatus fuzz_file_write(int fd, const void* bytes, size_t n, const char* path, abError* error);

// The contact models are no part of this search.
const abContactModel* ab_find_contact_model(const char* name) {
  (void)name;
  return NULL;
}
const char* ab_version(void) { return "fuzz"; }
// Nor is what a state consists of: any bytes will do.
size_t ab_state_size(const abModel* model, const abData* data) {
  (void)model, (void)data;
  return 100;
}
abStatus ab_state_get(const abModel* model, const abData* data, void* block, size_t bytes) {
  (void)model, (void)data;
  memset(block, 7, bytes);
  return AB_OK;
}

// --- the file, which is in memory (memory_file.h)

static const uint8_t* given;
static size_t given_size;

int fuzz_stat(struct stat* info) {
  *info = (struct stat){.st_mode = S_IFREG, .st_size = (off_t)given_size};
  return 0;
}

ssize_t fuzz_pread(void* out, size_t n, off_t at) {
  if (at < 0 || (size_t)at >= given_size) return 0;
  if (n > given_size - (size_t)at) n = given_size - (size_t)at;
  memcpy(out, given + at, n);
  return (ssize_t)n;
}

int fuzz_file_create(const char* path, abError* error) {
  (void)path, (void)error;
  return 1000;
}

// Every byte is looked at, as writing it would.
abStatus fuzz_file_write(int fd, const void* bytes, size_t n, const char* path, abError* error) {
  static volatile uint8_t sum;
  (void)fd, (void)path, (void)error;
  for (size_t i = 0; i < n; i++) sum = (uint8_t)(sum + ((const uint8_t*)bytes)[i]);
  return AB_OK;
}

// --- reading it

static void pass_on(abRecording* r) {
  abRecorder* to = ab_record_open("memory.glb", ab_recording_model(r), NULL);
  int n = ab_recording_count(r);
  for (int i = 0; i < n; i++) {
    const abData* data = ab_recording_sample(r, i, NULL);
    if (!data || !to || ab_record_sample(to, ab_recording_model(r), data, NULL) != AB_OK) break;
  }
  ab_record_close(to, NULL);
  ab_json_free(ab_model_json(ab_recording_model(r), true));
  size_t bytes;
  for (int i = 0; i < 3; i++) ab_recording_state(r, 1e9 / (i * i * 1e9 + 1), &bytes, NULL);
}

void read_recording(const uint8_t* data, size_t size) {
  given = data;
  given_size = size;
  abRecording* r = ab_recording_open("memory.h5", NULL);
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
    f.data.internal = (struct abInternal*)&f;  // a simulation, of which states are kept
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
