// A run of `abut run`: what is simulated (run.c) and what happened (run_report.c).
#ifndef ABUT_CLI_RUN_H
#define ABUT_CLI_RUN_H

#include "cli.h"
#include "deep.h"
#include "forces.h"

enum { MAX_RECORDER = 16 };

typedef struct Recording {
  const char* path;
  abRecorder* recorder;
  long every;
  int nsample;
} Recording;

typedef struct Run {
  CliArgs args;
  const char* scene;
  abModel* model;
  abData* data;
  Forces *forces, *controls;
  Recording recording[MAX_RECORDER];
  int nrecording;
  long every;
  bool stop_on_failure, json, quiet;
  long nstep, step;  // asked for, done
  double wall;
  // what happened
  double max_residual, max_penetration;
  long unconverged;
  abEnergy energy;
  double energy0, max_gain, max_step_gain;
  int max_contact;
  int nmoving;          // bodies that are not fixed to the world
  double asleep_since;  // when all had fallen asleep, NAN while somebody is awake
  const char* note;     // the first one of the contact model, how many steps had one, since when
  long noted;
  double noted_since;
  DeepPairs deep;
  // how it ended
  abStepStatus failure;  // AB_STEP_OK: it did not fail
  int signal;
} Run;

// At the end, on standard output: as JSON, or for people.
void run_report_json(const Run* run);
void run_report_summary(const Run* run);
// Why it ended early, on standard error; the exit code.
int run_report_failure(const Run* run);

#endif
