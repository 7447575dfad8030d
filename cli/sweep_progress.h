// How a sweep gets on, told while it runs.
#ifndef ABUT_CLI_SWEEP_PROGRESS_H
#define ABUT_CLI_SWEEP_PROGRESS_H

#include <sweep.h>

typedef struct SweepProgress SweepProgress;

// NULL where it cannot be told; the sweep goes on without.
SweepProgress* sweep_progress_begin(abSweepStore* store, bool quiet);
void sweep_progress_end(SweepProgress* progress);

#endif
