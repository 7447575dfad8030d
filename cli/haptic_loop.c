// The clock of the haptic loop. A step begins at its time, measured from the first; the loop sleeps
// until shortly before, and then waits awake, because a sleeping program is woken late. A step
// whose work is not done when the next should begin has missed its deadline. The loop then goes on
// at the next time that is still to come: simulated time falls behind by the steps left out.
#define _GNU_SOURCE
#include "haptic.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static const double AWAKE = 150e-6;  // s before a step: sleep ends here

static volatile sig_atomic_t interrupted;

// The first ends the loop, the next the writing of recordings, in order; then the default, so that
// nothing can hang.
static void interrupt(int number) {
  interrupted = interrupted + 1;
  if (interrupted > 1) signal(number, SIG_DFL);
}

void haptic_catch_signals(void) {
  struct sigaction act = {.sa_handler = interrupt};
  sigemptyset(&act.sa_mask);
  sigaction(SIGINT, &act, NULL);
  sigaction(SIGTERM, &act, NULL);
  sigaction(SIGHUP, &act, NULL);
}

int haptic_interrupts(void) { return interrupted; }

static double read_clock(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double clock_now(void) { return read_clock(CLOCK_MONOTONIC); }

static void wait_until(double time) {
  double sleep = time - AWAKE;
  if (clock_now() < sleep) {
    struct timespec t = {.tv_sec = (time_t)sleep};
    t.tv_nsec = (long)(1e9 * (sleep - (double)t.tv_sec));
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
  }
  while (clock_now() < time && !interrupted) {
  }
}

static void note_refusal(HapticLoop* loop, const char* what) {
  size_t used = strlen(loop->refused);
  snprintf(loop->refused + used, sizeof loop->refused - used, "%s%s (%s)", used ? ", " : "", what,
           strerror(errno));
}

// What the system can give to a program that must not be late.
static void ask_system(HapticLoop* loop) {
  struct sched_param priority = {.sched_priority = 80};
  loop->fifo = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
  if (!loop->fifo) note_refusal(loop, "real-time priority");
  // Only what is touched: the library reserves far more addresses than there is memory.
  loop->locked = mlockall(MCL_CURRENT | MCL_ONFAULT) == 0;
  if (!loop->locked) note_refusal(loop, "memory that stays");
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  int core = sched_getaffinity(0, sizeof all, &all) == 0 ? sched_getcpu() : -1;
  if (core >= 0) CPU_SET((size_t)core, &mine);
  loop->pinned = core >= 0 && sched_setaffinity(0, sizeof mine, &mine) == 0;
  if (!loop->pinned) note_refusal(loop, "a core of its own");
}

static void leave_system(HapticLoop* loop) {
  struct sched_param usual = {0};
  if (loop->fifo) sched_setscheduler(0, SCHED_OTHER, &usual);
  if (loop->locked) munlockall();
}

// Gives every page of a block its memory now. Writing zeros would not: the compiler knows that
// calloc has written them.
static void touch(void* block, size_t bytes) {
  volatile unsigned char* b = block;
  for (size_t i = 0; i < bytes; i += 1024) b[i] = 0;
}

static long page_faults(void) {
  struct rusage use;
  return getrusage(RUSAGE_THREAD, &use) == 0 ? use.ru_minflt + use.ru_majflt : 0;
}

bool haptic_prepare(HapticLoop* loop) {
  size_t n = (size_t)ceil(loop->time * loop->rate) + 1;
  size_t wrenches = n * (size_t)loop->npointer;
  double bytes = (double)n * (3 * sizeof(float)) + (double)wrenches * sizeof(abWrench);
  if (bytes > 0.5 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE))
    return cli_fail("%zu steps need %.0f MB; choose a shorter --time", n, bytes / 1e6), false;
  loop->step_us = calloc(n, sizeof(float));
  loop->cpu_us = calloc(n, sizeof(float));
  loop->late_us = calloc(n, sizeof(float));
  loop->history = calloc(wrenches ? wrenches : 1, sizeof(abWrench));
  if (loop->step_us && loop->cpu_us && loop->late_us && loop->history) {
    // Touched now, so that no step waits for a page: the results, and what a step works with.
    touch(loop->history, wrenches * sizeof(abWrench));
    touch(loop->step_us, n * sizeof(float));
    touch(loop->cpu_us, n * sizeof(float));
    touch(loop->late_us, n * sizeof(float));
    for (int i = 0; i < 50; i++) ab_step(loop->model, loop->data);
    ab_data_reset(loop->model, loop->data, loop->key);
    return true;
  }
  cli_fail("no memory for %zu steps; choose a shorter --time", n);
  return false;
}

void haptic_free(HapticLoop* loop) {
  for (int i = 0; i < loop->npointer; i++) ab_pointer_close(loop->pointer[i]);
  free(loop->step_us);
  free(loop->cpu_us);
  free(loop->late_us);
  free(loop->history);
  ab_data_free(loop->data);
  ab_model_free(loop->model);
}

static void tell_trouble(const HapticLoop* loop, bool* told) {
  for (int i = 0; i < loop->npointer; i++) {
    const abPointerStat* s = ab_pointer_stat(loop->pointer[i]);
    if (s->frozen && !told[i] && !loop->quiet)
      fprintf(stderr, "abut haptic: %s at %.3f s: %s; the pointer is held where it is\n",
              loop->model->body[loop->body[i]].name, loop->data->time, s->trouble);
    if (!s->frozen && told[i] && !loop->quiet)
      fprintf(stderr, "abut haptic: %s at %.3f s: the device is back\n",
              loop->model->body[loop->body[i]].name, loop->data->time);
    told[i] = s->frozen;
  }
}

static void one_step(HapticLoop* loop) {
  abData* d = loop->data;
  double begin = clock_now(), used = read_clock(CLOCK_THREAD_CPUTIME_ID);
  memset(d->applied, 0, sizeof(abWrench) * (size_t)loop->model->nbody);
  for (int i = 0; i < loop->npointer; i++)
    ab_pointer_drive(loop->pointer[i], loop->model, d, (double)loop->nstep / loop->rate);
  for (int i = 0; i < loop->npointer; i++)
    loop->history[loop->nstep * loop->npointer + i] = d->applied[loop->body[i]];
  loop->status = ab_step(loop->model, d);
  loop->cpu_us[loop->nstep] = (float)(1e6 * (read_clock(CLOCK_THREAD_CPUTIME_ID) - used));
  loop->step_us[loop->nstep] = (float)(1e6 * (clock_now() - begin));
}

void haptic_run(HapticLoop* loop) {
  if (!loop->free_running) ask_system(loop);
  bool told[HAPTIC_POINTERS] = {false};
  long n = (long)(loop->time * loop->rate + 0.5);
  long faults = page_faults();
  double period = 1 / loop->rate, due = clock_now() + 2 * period;
  while (loop->nstep < n && !interrupted && loop->status != AB_STEP_BROKEN) {
    if (!loop->free_running) wait_until(due);
    double begin = clock_now();
    one_step(loop);
    double end = clock_now();
    bool own = (double)loop->cpu_us[loop->nstep] > 1e6 * period;
    loop->late_us[loop->nstep] = loop->free_running ? 0 : (float)(1e6 * (begin - due));
    if (loop->status != AB_STEP_BROKEN) loop->nstep++;
    tell_trouble(loop, told);
    if (loop->show) loop->show(loop->context, loop);
    due += period;
    if (loop->free_running || end <= due) continue;
    double behind = ceil((end - due) / period);
    loop->missed += (long)behind;
    if (own) loop->missed_own += (long)behind;
    due += behind * period;
  }
  loop->stopped = interrupted != 0;
  loop->faults = page_faults() - faults;
  if (!loop->free_running) leave_system(loop);
}
