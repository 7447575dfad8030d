// The device types that come with abut.
#ifndef ABUT_HAPTIC_DEVICES_H
#define ABUT_HAPTIC_DEVICES_H

#include <abut/device.h>

extern const abDeviceType ab_device_virtual, ab_device_recorded, ab_device_evdev, ab_device_spnav;

#endif
