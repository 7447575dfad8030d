// abut run --resume: a run goes on from a saved state, or from any moment of a recording.
//
// A recording keeps a state now and then. The last one before the moment is put back and the steps
// from there to the moment are done again. That they lead where they led before is checked with the
// recorded sample next to the moment, to the bit: settings, forces or a build that differ are found
// out.
#define _POSIX_C_SOURCE 200809L
#include "resume.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

static char* read_all(const char* path, FILE* file, size_t* bytes) {
  struct stat about;
  if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode))
    return cli_fail_at(path, 0, "a saved state is an ordinary file; check the name"), NULL;
  size_t n = (size_t)about.st_size;
  if (n > ab_input_limit())
    return cli_fail_at(path, 0, "a saved state of %zu bytes is beyond the limit; see --input-limit",
                       n),
           NULL;
  char* block = malloc(n + 1);
  if (block && fread(block, 1, n, file) == n) return *bytes = n, block;
  free(block);
  cli_fail_at(path, 0, "cannot read the saved state: %s; check the name", strerror(errno));
  return NULL;
}

static bool put_back(const Resume* r, const char* path, const void* block, size_t bytes) {
  abError error = {0};
  if (ab_state_set(r->model, r->data, block, bytes, &error) == AB_OK) return true;
  cli_fail_at(path, 0, "%s", error.message);
  return false;
}

// --- from a recording

static bool damaged(const abError* error) { return cli_error(error), false; }

// The last sample at or before the time (up to rounding); -1: there is none, or it is damaged.
static int find_sample(abRecording* recording, double time, abError* error) {
  int low = -1, high = ab_recording_count(recording);
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    const abData* sample = ab_recording_sample(recording, middle, error);
    if (!sample) return -1;
    if (sample->time <= time + 1e-9)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static bool end_of(abRecording* recording, const char* path, double* at) {
  abError error = {0};
  int n = ab_recording_count(recording);
  if (n == 0) return cli_fail_at(path, 0, "the recording has no samples to go on from"), false;
  const abData* last = ab_recording_sample(recording, n - 1, &error);
  if (!last) return damaged(&error);
  if (isnan(*at)) *at = last->time;
  // half a step, for the times of steps are sums
  if (*at <= last->time + 0.5 * last->h) return true;
  cli_fail_at(path, 0, "the recording ends at %g s; --at takes a time in it", last->time);
  return false;
}

static bool same_numbers(const double* a, const double* b, int n) {
  return n == 0 || memcmp(a, b, sizeof *a * (size_t)n) == 0;
}

// Steps until the time; half a step, for times are sums.
static bool go_to(const Resume* r, const char* path, double time) {
  while (r->data->time < time - 0.5 * r->data->h) {
    if (r->forces) forces_apply(r->forces, r->data);
    if (r->controls) forces_apply(r->controls, r->data);
    if (ab_step(r->model, r->data) == AB_STEP_BROKEN) {
      cli_fail_at(path, 0, "the step from %g s broke down on the way to %g s", r->data->time, time);
      return false;
    }
  }
  return true;
}

static bool repeat(const Resume* r, const char* path, abRecording* recording, double at) {
  abError error = {0};
  int i = find_sample(recording, at, &error);
  const abData* sample = i < 0 ? NULL : ab_recording_sample(recording, i, &error);
  if (!sample) return damaged(&error);
  const abModel* m = r->model;
  if (r->data->time <= sample->time) {
    if (!go_to(r, path, sample->time)) return false;
    if (!same_numbers(r->data->q, sample->q, m->nq) ||
        !same_numbers(r->data->v, sample->v, m->nv)) {
      cli_fail_at(path, 0,
                  "the motion until %g s is not the recorded one: use the --step, --set, --sleep, "
                  "--forces and --controls it was made with, and the same build",
                  sample->time);
      return false;
    }
  }
  return go_to(r, path, at);
}

static bool resume_recording(const Resume* r, const char* path, double at) {
  abError error = {0};
  size_t bytes;
  abRecording* recording = ab_recording_open(path, &error);
  if (!recording) return damaged(&error);
  bool good = end_of(recording, path, &at);
  const void* block = good ? ab_recording_state(recording, at, &bytes, &error) : NULL;
  if (good && !block) damaged(&error);
  good = block && put_back(r, path, block, bytes) && repeat(r, path, recording, at);
  ab_recording_close(recording);
  return good;
}

// --- either

bool cli_resume(const Resume* r, const char* path, double at) {
  static const char SIGNATURE[4] = "\x89HDF";
  char first[4] = {0};
  struct stat about;
  // A pipe would be waited for.
  bool pipe = stat(path, &about) == 0 && S_ISFIFO(about.st_mode);
  FILE* file = pipe ? NULL : fopen(path, "rb");
  if (!file) {
    cli_fail_at(path, 0, "cannot read the saved state: %s; check the name",
                pipe ? "it is a pipe" : strerror(errno));
    return false;
  }
  bool recording = fread(first, 1, 4, file) == 4 && memcmp(first, SIGNATURE, 4) == 0;
  size_t bytes;
  bool good = false;
  rewind(file);
  if (recording) {
    good = resume_recording(r, path, at);
  } else if (!isnan(at)) {
    cli_fail_at(path, 0, "--at is for recordings (.h5); a saved state is of one moment");
  } else {
    char* block = read_all(path, file, &bytes);
    good = block && put_back(r, path, block, bytes);
    free(block);
  }
  fclose(file);
  return good;
}
