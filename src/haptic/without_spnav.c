// In place of spnav.c, where abut is built without it.
#include "base/error.h"
#include "haptic/devices.h"

static abStatus open_none(void* device, const char* arguments, abPose start, abError* error) {
  (void)device, (void)arguments, (void)start;
  return ab_fail(error, AB_ERROR_UNSUPPORTED, NULL, 0, "this build of abut was made without spnav");
}

static abDeviceStatus read_none(void* device, double time, double h, abHand* hand) {
  (void)device, (void)time, (void)h, (void)hand;
  return AB_DEVICE_LOST;
}

const abDeviceType ab_device_spnav = {"spnav", "",  "not in this build", 1, open_none, read_none,
                                      NULL,    NULL};
