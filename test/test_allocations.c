// Memory that runs out at any moment: every allocation of loading, simulating, recording and
// reading is made to fail in turn. What fails says so, and nothing stays behind.
#define _POSIX_C_SOURCE 200809L
#include <abut/abut.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

// Allocations so far; the one that fails; not yet freed. Threads of a step count, too.
static _Atomic long count, fail_at, living;

static bool fails(void) { return ++count == fail_at; }

static void* failing_alloc(size_t n) {
  void* p = fails() ? NULL : malloc(n);
  living += p != NULL;
  return p;
}
static void* failing_realloc(void* p, size_t n) {
  if (fails()) return NULL;
  void* q = realloc(p, n);
  living += q && !p;
  return q;
}
static void counting_free(void* p) {
  living -= p != NULL;
  free(p);
}

typedef bool (*Work)(abError* error);

// Runs the work with its first, second, ... allocation failing until it needs no more.
static void sweep(const char* name, Work work) {
  for (fail_at = 1;; fail_at++) {
    abError error = {0};
    count = 0;
    long before = living;
    bool done = work(&error);
    if (living != before)
      fail_msg("%s: %ld blocks are left after allocation %ld failed", name, living - before,
               fail_at);
    if (count < fail_at) {
      if (!done) fail_msg("%s: %s, though no allocation failed", name, error.message);
      break;
    }
    if (!done && (error.code == AB_OK || !error.message[0]))
      fail_msg("%s: allocation %ld failed, and no error says so", name, fail_at);
  }
  assert_true(fail_at > 5);  // else nothing was tried
  fail_at = 0;
}

// --- loading, simulating ---

static const char* scene;

static bool load(abError* error) {
  abNotes notes = {0};
  abModel* model = ab_load(scene, &notes, error);
  ab_notes_free(&notes);
  ab_model_free(model);
  return model != NULL;
}

static void loading_without_memory_is_an_error(void** state) {
  (void)state;
  static const char* const all[] = {"pendulum.xml", "check/mesh_obj.xml", "check/include.xml",
                                    "check/arm.urdf", "check/actuators.xml"};
  char path[256];
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    snprintf(path, sizeof path, "%s/scenes/%s", ABUT_SOURCE_DIR, all[i]);
    scene = path;
    sweep(all[i], load);
  }
}

static abModel* model;

static bool simulate(abError* error) {
  abData* data = ab_data_create(model, error);
  if (!data) return false;
  bool good = ab_set_threads(data, 2, error) == AB_OK;
  for (int i = 0; i < 3 && good; i++) {
    if (ab_step(model, data) != AB_STEP_BROKEN) continue;
    error->code = AB_ERROR_MEMORY;
    snprintf(error->message, sizeof error->message, "a step broke down");
    good = false;
  }
  ab_data_free(data);
  return good;
}

static void simulating_without_memory_is_an_error(void** state) {
  (void)state;
  sweep("simulation", simulate);
}

// --- recording, reading ---

static char folder[] = "/tmp/abut-test-allocations-XXXXXX";
static const char* recording;
static abData* recorded;

static bool record(abError* error) {
  abRecorder* r = ab_record_open(recording, model, error);
  if (!r) return false;
  bool good = true;
  for (int i = 0; i < 3 && good; i++)
    good = ab_record_sample(r, model, recorded, error) == AB_OK &&
           (i != 1 || ab_record_flush(r, error) == AB_OK);
  return ab_record_close(r, good ? error : NULL) == AB_OK && good;
}

// The bytes of the recording, as a number; the tables of a folder count for all of it.
static uint64_t fingerprint(void) {
  char path[300];
  size_t n = strlen(recording);
  snprintf(path, sizeof path, "%s%s", recording, recording[n - 1] == '/' ? "bodies.csv" : "");
  FILE* file = fopen(path, "rb");
  uint64_t hash = 1;
  for (int c; file && (c = fgetc(file)) != EOF;) hash = (hash ^ (uint64_t)c) * 0x100000001b3u;
  if (file) fclose(file);
  return hash;
}

static uint64_t whole;  // the fingerprint of a recording for which there was memory

static bool record_whole(abError* error) {
  bool done = record(error);
  if (done && fingerprint() != whole)
    fail_msg("%s: allocation %ld failed, a part is missing, and the status is fine", recording,
             fail_at);
  return done;
}

static bool read_back(abError* error) {
  abRecording* r = ab_recording_open(recording, error);
  if (!r) return false;
  bool good = true;
  for (int i = 0; i < ab_recording_count(r) && good; i++)
    good = ab_recording_sample(r, i, error) != NULL;
  size_t bytes;
  good = good && ab_recording_state(r, recorded->time, &bytes, error);
  ab_recording_close(r);
  return good;
}

static void recording_without_memory_is_an_error(void** state) {
  (void)state;
  static const char* const name[] = {"csv/", "run.glb", "run.html", "run.h5"};
  char path[256];
  for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
    abError error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name[i]);
    recording = path;
    fail_at = 0;
    if (!record(&error) && strstr(error.message, "template")) continue;  // no page was built
    whole = fingerprint();
    // HDF5 writes the time of day into its files
    sweep(name[i], strstr(name[i], ".h5") ? record : record_whole);
  }
}

static void reading_without_memory_is_an_error(void** state) {
  (void)state;
  char path[256];
  abError error = {0};
  snprintf(path, sizeof path, "%s/run.h5", folder);
  recording = path;
  assert_true(record(&error));
  sweep("reading", read_back);
}

static int begin(void** state) {
  (void)state;
  abError error;
  ab_set_allocator((abAllocator){failing_alloc, failing_realloc, counting_free});
  // jansson gives back by the same free
  json_set_alloc_funcs(failing_alloc, counting_free);
  model = ab_load(ABUT_SOURCE_DIR "/scenes/pendulum.xml", NULL, &error);
  recorded = model ? ab_data_create(model, &error) : NULL;
  for (int i = 0; i < 5 && recorded; i++) ab_step(model, recorded);
  return recorded && mkdtemp(folder) ? 0 : -1;
}

static int end(void** state) {
  (void)state;
  char command[300];
  ab_data_free(recorded);
  ab_model_free(model);
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command) == 0 && living == 0 ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loading_without_memory_is_an_error),
      cmocka_unit_test(simulating_without_memory_is_an_error),
      cmocka_unit_test(recording_without_memory_is_an_error),
      cmocka_unit_test(reading_without_memory_is_an_error),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
