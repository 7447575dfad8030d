#include "haptic/devices.h"

#include <string.h>

static const abDeviceType* const TYPE[] = {&ab_device_virtual, &ab_device_recorded,
                                           &ab_device_evdev, &ab_device_spnav};

int ab_device_type_count(void) { return sizeof TYPE / sizeof *TYPE; }

const abDeviceType* ab_device_type(int i) {
  return i >= 0 && i < ab_device_type_count() ? TYPE[i] : NULL;
}

const abDeviceType* ab_find_device_type(const char* name) {
  for (int i = 0; name && i < ab_device_type_count(); i++)
    if (strcmp(TYPE[i]->name, name) == 0) return TYPE[i];
  return NULL;
}
