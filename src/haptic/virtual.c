// A hand that answers the force as a hand does: a mass on a spring and damper to where it means to
// be. It reaches from place to place with the least jerk (its table), trembles, and feels what it
// is given a little late.
//
//     m a = K (r + tremor - x) + D (u - v) + F(t - delay),
//
// integrated implicitly in v. Orientation follows the table: a wrist is stiff against what
// shovels feel. The tremor is a sum of sines between 8 and 12 Hz, each axis with its own.
// Tests: test_devices.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "haptic/devices.h"
#include "haptic/table.h"
#include "math/rotation.h"

enum { LATE = 1024, WAVES = 4 };
static const double LONGEST_DELAY = 0.2;  // s of delay: what LATE steps are at 5 kHz

typedef struct Virtual {
  abHandTable table;
  abPose start;
  double mass, stiffness, damping, delay, tremor;
  double repeat;  // s after which it begins its table again; 0: it stays at the end
  double pitch[3][WAVES], phase[3][WAVES];
  abVec3 x, v;
  bool begun;
  abVec3 felt[LATE];  // the forces of the last calls
  int now;
} Virtual;

static double random_unit(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

static abStatus open_virtual(void* device, const char* arguments, abPose start, abError* error) {
  Virtual* d = device;
  static const char* const names[] = {"mass",   "stiffness", "damping", "delay",
                                      "tremor", "seed",      "repeat",  NULL};
  double value[] = {0.4, 600, 12, 0.002, 5e-5, 1, 0};
  char file[512];
  abStatus status = ab_device_arguments(arguments, names, value, file, sizeof file, error);
  if (status != AB_OK) return status;
  bool good = value[0] > 0 && value[3] <= LONGEST_DELAY && value[5] < 1e12;
  for (int i = 1; i < 7; i++) good = good && value[i] >= 0;
  if (!good)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a virtual hand has a mass above 0, a delay of at most %g s, a seed below 1e12, "
                   "and nothing negative",
                   LONGEST_DELAY);
  d->start = start;
  d->mass = value[0], d->stiffness = value[1], d->damping = value[2];
  d->delay = value[3], d->tremor = value[4], d->repeat = value[6];
  uint64_t state = (uint64_t)(value[5] * 1024) + 1;
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < WAVES; i++) {
      d->pitch[k][i] = 2 * 3.141592653589793 * (8 + 4 * random_unit(&state));
      d->phase[k][i] = 6.283185307179586 * random_unit(&state);
    }
  return file[0] ? ab_hand_table_read(file, start, &d->table, error) : AB_OK;
}

static abVec3 tremble(const Virtual* d, double time) {
  double t[3] = {0, 0, 0};
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < WAVES; i++)
      t[k] += d->tremor / sqrt(0.5 * WAVES) * sin(d->pitch[k][i] * time + d->phase[k][i]);
  return v3(t[0], t[1], t[2]);
}

static abDeviceStatus read_virtual(void* device, double time, double h, abHand* hand) {
  Virtual* d = device;
  double at = d->repeat > 0 ? fmod(time, d->repeat) : time;
  abHand aim = d->table.n > 0 ? ab_hand_table_reach(&d->table, at) : (abHand){.pose = d->start};
  if (!d->begun) d->x = aim.pose.p, d->begun = true;
  int late = (int)fmin(d->delay / h + 0.5, LATE - 1);
  abVec3 force = d->felt[(d->now + LATE - late) % LATE];
  abVec3 way = v3_sub(v3_add(aim.pose.p, tremble(d, time)), d->x);
  abVec3 push = v3_add(v3_axpy(d->damping, aim.twist.lin, v3_scale(d->stiffness, way)), force);
  // (m + h D + h^2 K) v = m v + h (K way + D u + F)
  double inertia = d->mass + h * (d->damping + h * d->stiffness);
  d->v = v3_scale(1 / inertia, v3_axpy(h, push, v3_scale(d->mass, d->v)));
  d->x = v3_axpy(h, d->v, d->x);
  *hand = (abHand){.pose = {d->x, aim.pose.q}, .twist = {d->v, aim.twist.ang}};
  return AB_DEVICE_OK;
}

static void write_virtual(void* device, abWrench wrench) {
  Virtual* d = device;
  d->now = (d->now + 1) % LATE;
  d->felt[d->now] = wrench.force;
}

static void close_virtual(void* device) { ab_hand_table_free(&((Virtual*)device)->table); }

const abDeviceType ab_device_virtual = {
    "virtual",
    "[FILE.csv][,mass=0.4][,stiffness=600][,damping=12][,delay=0.002][,tremor=5e-5][,seed=1]"
    "[,repeat=0]",
    "a hand of mass, spring and damper that reaches for the places of a table, and answers forces",
    sizeof(Virtual),
    open_virtual,
    read_virtual,
    write_virtual,
    close_virtual};
