#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "cli.h"

Progress progress_begin(const char* title, bool quiet) {
  double now = cli_clock();
  return (Progress){!quiet && isatty(STDERR_FILENO), now, now, title};
}

void progress_show(Progress* p, double fraction) {
  double now = cli_clock();
  // Ten times a second is smooth, and too rare to slow anything down.
  if (!p->shown || now - p->last < 0.1) return;
  p->last = now;
  enum { WIDTH = 32 };
  int full = (int)(fraction * WIDTH);
  double spent = now - p->begun;
  double left = fraction > 0 ? spent * (1 - fraction) / fraction : 0;
  fprintf(stderr, "\r%s [", p->title);
  for (int i = 0; i < WIDTH; i++) fputc(i < full ? '=' : i == full ? '>' : ' ', stderr);
  fprintf(stderr, "] %3.0f %%  %.1f s left ", 100 * fraction, left);
  fflush(stderr);
}

void progress_end(Progress* p) {
  if (!p->shown || p->last <= p->begun) return;
  fprintf(stderr, "\r\033[K");
  fflush(stderr);
}
