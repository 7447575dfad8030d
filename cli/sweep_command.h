// The command `abut sweep`, for the program and for abut-sweep-mpi, which differ in who runs.
#ifndef ABUT_CLI_SWEEP_COMMAND_H
#define ABUT_CLI_SWEEP_COMMAND_H

#include <sweep.h>

// Runs what the store has to do until it is done or *stop is set.
typedef struct SweepCrew {
  void* context;
  int size;  // ranks, each with its threads; 0: there are only threads
  abStatus (*run)(void* context, const abSweep* sweep, abSweepStore* store, int nthread,
                  const volatile int* stop, abError* error);
} SweepCrew;

int cli_sweep_with(int argc, char** argv, const SweepCrew* crew);

#endif
