// Recordings of the haptic loop. Writing files takes time that the loop does not have. What the
// hands did to the pointers is kept, and equal inputs give equal motion to the bit: the run is
// simulated once more, and recorded. That takes a while after a long run: a bar tells how long, and
// an interrupt meanwhile ends the recordings where they are.
#include <math.h>
#include <string.h>

#include "cli.h"
#include "haptic.h"
#include "progress.h"

bool haptic_open_recordings(const HapticLoop* loop, const CliArgs* args, HapticRecordings* r) {
  double every = fmax(1, round(loop->rate / 60));
  if (!cli_number(args, "--every", 0.5, 1e9, &every)) return false;
  r->every = (int)every;
  for (int i = 0; i < args->ngiven; i++) {
    if (strcmp(args->name[i], "--record")) continue;
    if (r->n == HAPTIC_RECORDINGS)
      return cli_fail("more than %d recordings", HAPTIC_RECORDINGS), false;
    abError error = {0};
    r->recorder[r->n] = ab_record_open(args->value[i], loop->model, &error);
    if (!r->recorder[r->n]) return cli_error(&error), false;
    r->n++;
  }
  return true;
}

bool haptic_close_recordings(HapticRecordings* r) {
  bool good = true;
  for (int i = 0; i < r->n; i++) {
    abError error = {0};
    if (ab_record_close(r->recorder[i], &error) != AB_OK) cli_error(&error), good = false;
  }
  r->n = 0;
  return good;
}

static bool sample(const HapticRecordings* r, const HapticLoop* loop, const abData* d,
                   abError* error) {
  for (int i = 0; i < r->n; i++)
    if (ab_record_sample(r->recorder[i], loop->model, d, error) != AB_OK) return false;
  return true;
}

bool haptic_write_recordings(const HapticLoop* loop, const CliArgs* args,
                             const HapticRecordings* r) {
  if (r->n == 0) return true;
  abError error = {0};
  abData* d = cli_simulation(loop->model, args, cli_value(args, "--contact"));
  if (!d) return false;
  d->h = loop->data->h;
  bool good = sample(r, loop, d, &error);
  int interrupts = haptic_interrupts();
  Progress progress = progress_begin("recording", loop->quiet);
  for (long k = 0; k < loop->nstep && good && haptic_interrupts() == interrupts; k++) {
    for (int i = 0; i < loop->npointer; i++)
      d->applied[loop->body[i]] = loop->history[k * loop->npointer + i];
    if (ab_step(loop->model, d) == AB_STEP_BROKEN) break;
    if ((k + 1) % r->every == 0) good = sample(r, loop, d, &error);
    progress_show(&progress, (double)(k + 1) / (double)loop->nstep);
  }
  progress_end(&progress);
  if (haptic_interrupts() != interrupts && !loop->quiet)
    fprintf(stderr, "abut haptic: interrupted; the recording ends at %.3f s\n", d->time);
  ab_data_free(d);
  if (!good) cli_error(&error);
  return good;
}
