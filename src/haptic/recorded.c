// A hand from a file: it moves as it once did, whatever it is made to feel.
// Tests: test_devices.
#include <math.h>

#include "base/error.h"
#include "haptic/devices.h"
#include "haptic/table.h"

typedef struct Recorded {
  abHandTable table;
  double speed, stop;
} Recorded;

static abStatus open_recorded(void* device, const char* arguments, abPose start, abError* error) {
  Recorded* d = device;
  static const char* const names[] = {"speed", "stop", NULL};
  double value[] = {1, INFINITY};
  char file[512];
  abStatus status = ab_device_arguments(arguments, names, value, file, sizeof file, error);
  if (status != AB_OK) return status;
  if (!file[0])
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a recorded hand needs its file: recorded:FILE.csv");
  if (!(value[0] > 0 && value[0] < INFINITY))
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "the speed of a recorded hand is above 0, as in speed=0.5");
  d->speed = value[0], d->stop = value[1];
  return ab_hand_table_read(file, start, &d->table, error);
}

static abDeviceStatus read_recorded(void* device, double time, double h, abHand* hand) {
  const Recorded* d = device;
  (void)h;
  if (time >= d->stop) return AB_DEVICE_LOST;
  *hand = ab_hand_table_follow(&d->table, d->speed * time);
  hand->twist.lin.x *= d->speed, hand->twist.lin.y *= d->speed, hand->twist.lin.z *= d->speed;
  hand->twist.ang.x *= d->speed, hand->twist.ang.y *= d->speed, hand->twist.ang.z *= d->speed;
  return AB_DEVICE_OK;
}

static void close_recorded(void* device) { ab_hand_table_free(&((Recorded*)device)->table); }

const abDeviceType ab_device_recorded = {
    "recorded",
    "FILE.csv[,speed=1][,stop=T]",
    "a hand's motion from a file (time,x,y,z[,qw,qx,qy,qz]); stop: the device is lost then",
    sizeof(Recorded),
    open_recorded,
    read_recorded,
    NULL,
    close_recorded};
