// The loop of `abut haptic`: pointers, clock, and what is told of both.
#ifndef ABUT_CLI_HAPTIC_H
#define ABUT_CLI_HAPTIC_H

#include <abut/abut.h>

#include "cli.h"

enum { HAPTIC_POINTERS = 8, HAPTIC_RECORDINGS = 8 };

typedef struct HapticLoop {
  abModel* model;
  abData* data;
  int npointer;
  abPointer* pointer[HAPTIC_POINTERS];
  int body[HAPTIC_POINTERS];
  int key;            // the keyframe it starts from, or -1
  double rate, time;  // Hz, s
  bool free_running;  // as fast as it goes, without the clock
  bool quiet;
  void (*show)(void* context, const struct HapticLoop* loop);  // after each step; may be NULL
  void* context;
  // results
  long nstep, missed;
  long missed_own;  // of these, by steps whose own processor time is more than a period
  long faults;      // pages the loop had to wait for
  // per step: how long it took, the processor time in that, and how late it began
  float *step_us, *cpu_us, *late_us;
  abWrench* history;  // per step and pointer: at the centre of mass, for the recording
  abStepStatus status;
  bool fifo, locked, pinned, stopped;  // what the system gave; stopped by the user
  char refused[512];                   // what it did not give
} HapticLoop;

// Memory for all steps is taken before. False with a message printed.
bool haptic_prepare(HapticLoop* loop);
void haptic_run(HapticLoop* loop);
// From now on Ctrl-C and its like are counted; the first ends the loop.
void haptic_catch_signals(void);
int haptic_interrupts(void);
void haptic_free(HapticLoop* loop);

typedef struct HapticRecordings {
  abRecorder* recorder[HAPTIC_RECORDINGS];
  int n, every;
} HapticRecordings;

// Opened before the loop, so that a wrong name costs no run; written after it. False with a message
// printed.
bool haptic_open_recordings(const HapticLoop* loop, const CliArgs* args, HapticRecordings* r);
bool haptic_write_recordings(const HapticLoop* loop, const CliArgs* args,
                             const HapticRecordings* r);
bool haptic_close_recordings(HapticRecordings* r);

#endif
