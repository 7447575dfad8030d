// A bar on the terminal; silent where stderr is no terminal.
#ifndef ABUT_CLI_PROGRESS_H
#define ABUT_CLI_PROGRESS_H

#include <stdbool.h>

typedef struct Progress {
  bool shown;
  double begun, last;  // wall clock
  const char* title;
} Progress;

Progress progress_begin(const char* title, bool quiet);
void progress_show(Progress* progress, double fraction);
void progress_end(Progress* progress);  // takes the bar away

#endif
