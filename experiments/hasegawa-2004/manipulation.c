// Hasegawa & Sato 2004, section 5.8: blocks moved by two shovels that follow the hands, at 1 kHz.
//
// Six blocks lie on the floor; two upright plates are the pointers (scenes/six_blocks.xml). Virtual
// hands (a mass on a spring and damper that reaches from place to place, trembles, and gives way to
// what it feels) are coupled to them as `abut haptic` does it: they close on the middle block of
// the front row, lift it, put it on the one behind, take it off again, and drop it in front.
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/experiment.h"

enum { NSTEP = 14000 };
static const double h = 1e-3, side = 0.1;

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

typedef struct Result {
  double lifted;   // largest height of the block's centre
  abVec3 stacked;  // where it is when the hands have let go of it
  abVec3 end;      // and in the end
  double median, p99, worst;
  double force, jump, drawn;  // of the hands
} Result;

static void fail(const abError* error) {
  fprintf(stderr, "%s: %s\n", error->file, error->message);
  exit(2);
}

static abPointer* open_hand(const abModel* model, const abData* data, const char* name, int seed) {
  char arguments[8400];
  abError error = {0};
  char file[100];
  snprintf(file, sizeof file, "scenes/hands/%s.csv", name);
  snprintf(arguments, sizeof arguments, "%s,seed=%d", experiment_file(file), seed);
  abPointerDef def = {.body = ab_find_body(model, name),
                      .type = ab_find_device_type("virtual"),
                      .arguments = arguments};
  abPointer* p = ab_pointer_open(model, data, &def, &error);
  if (!p) fail(&error);
  return p;
}

static void note_hands(abPointer* const hand[2], Result* r) {
  for (int s = 0; s < 2; s++) {
    const abPointerStat* stat = ab_pointer_stat(hand[s]);
    r->force = fmax(r->force, stat->force), r->jump = fmax(r->jump, stat->jump);
    r->drawn = fmax(r->drawn, stat->energy_drawn);
  }
}

static Result simulate(const char* contact, double* t, double* z, double* squeeze,
                       double* time_us) {
  abError error = {0};
  abModel* model = ab_load(experiment_file("scenes/six_blocks.xml"), NULL, &error);
  abData* data = model ? ab_data_create(model, &error) : NULL;
  if (!data || ab_set_contact(model, data, contact, &error) != AB_OK) fail(&error);
  data->h = h;
  abPointer* hand[2] = {open_hand(model, data, "left", 1), open_hand(model, data, "right", 2)};
  int block = ab_find_body(model, "block2");
  Result r = {0};
  for (int i = 0; i < NSTEP; i++) {
    double start = now();
    memset(data->applied, 0, sizeof(abWrench) * (size_t)model->nbody);
    for (int s = 0; s < 2; s++) ab_pointer_drive(hand[s], model, data, i * h);
    if (ab_step(model, data) == AB_STEP_BROKEN) break;
    time_us[i] = 1e6 * (now() - start);
    t[i] = data->time, z[i] = data->com[block].z;
    squeeze[i] = -ab_pointer_stat(hand[0])->felt.force.x;
    r.lifted = fmax(r.lifted, z[i]);
    if (i == NSTEP / 2) r.stacked = data->com[block];
  }
  r.end = data->com[block];
  note_hands(hand, &r);
  qsort(time_us, NSTEP, sizeof *time_us, compare);
  r.median = time_us[NSTEP / 2], r.p99 = time_us[NSTEP * 99 / 100], r.worst = time_us[NSTEP - 1];
  for (int s = 0; s < 2; s++) ab_pointer_close(hand[s]);
  ab_data_free(data);
  ab_model_free(model);
  return r;
}

static void judge(const char* contact, const Result* r) {
  char text[128];
  snprintf(text, sizeof text, "%s: the block is lifted, put on another, and dropped", contact);
  bool stacked = fabs(r->stacked.z - 1.5 * side) < 0.1 * side &&
                 hypot(r->stacked.x, r->stacked.y - 0.25) < 0.3 * side;
  bool dropped = r->end.z < side && r->end.y < -0.2;
  experiment_claim(r->lifted > 0.2 && stacked && dropped, text, "blocks can be piled by hand",
                   "lifted to %.3f m, put at (%.3f, %.3f, %.3f), hands push with up to %.1f N",
                   r->lifted, r->stacked.x, r->stacked.y, r->stacked.z, r->force);
  snprintf(text, sizeof text, "%s: fast enough for a haptic device at 1 kHz", contact);
  experiment_claim(r->p99 < 1000, text, "1 kHz",
                   "median %.0f us, 99 %% below %.0f us, longest %.0f us", r->median, r->p99,
                   r->worst);
  snprintf(text, sizeof text, "%s: the hands draw no energy from the loop", contact);
  experiment_claim(r->drawn < 1e-3, text, "below 1 mJ (ours)",
                   "%.2g J; the force changes by %.2f N in a millisecond at most", r->drawn,
                   r->jump);
}

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "hasegawa-manipulation", "Six blocks and two shovels moved by hand",
                   "Hasegawa & Sato 2004, section 5.8, Fig. 16");
  static double t[NSTEP], z[2][NSTEP], f[2][NSTEP], us[2][NSTEP], share[NSTEP];
  const char* const contact[2] = {"volume-penalty", "patch"};
  for (int i = 0; i < NSTEP; i++) share[i] = 100.0 * i / NSTEP;
  Result r[2];
  for (int m = 0; m < 2; m++) r[m] = simulate(contact[m], t, z[m], f[m], us[m]);
  experiment_figure("Height of the carried block", "time [s]", "height [m]");
  for (int m = 0; m < 2; m++) experiment_series(contact[m], "line", NSTEP, t, z[m]);
  experiment_figure("What the left hand feels", "time [s]", "force [N]");
  for (int m = 0; m < 2; m++) experiment_series(contact[m], "line", NSTEP, t, f[m]);
  experiment_figure("Time of a step", "share of steps [%]", "time [us]");
  for (int m = 0; m < 2; m++)
    experiment_series(contact[m], "line", NSTEP * 999 / 1000, share, us[m]);
  for (int m = 0; m < 2; m++) judge(contact[m], &r[m]);
  return experiment_end();
}
