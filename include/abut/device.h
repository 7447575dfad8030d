// A haptic device: the hand's motion comes in, a force goes out. doc/haptic.md shows how to add
// one.
//
// Types are constants: they live as long as the program. All functions of an open device are called
// by the thread that drives its pointer (abut/haptic.h).
#ifndef ABUT_DEVICE_H
#define ABUT_DEVICE_H

#include <abut/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// Where the hand has, or wants, the pointer.
typedef struct abHand {
  abPose pose;       // of the pointer's frame in the world [m]
  abTwist twist;     // at the origin of that frame, world axes [m/s, rad/s]
  unsigned buttons;  // a bit per button that is pressed
} abHand;

typedef enum abDeviceStatus {
  AB_DEVICE_OK,
  AB_DEVICE_SILENT,  // nothing new: the hand is as it was
  AB_DEVICE_LOST     // unplugged, or out of order
} abDeviceStatus;

typedef struct abDeviceType {
  const char* name;       // as `abut haptic --pointer` takes it
  const char* arguments;  // as they stand behind the name: "FILE.csv[,mass=KG]"
  const char* summary;    // one line
  size_t bytes;           // of its own struct, cleared before open
  // `start`: where the pointer is; a device without a place of its own begins there.
  abStatus (*open)(void* device, const char* arguments, abPose start, abError* error);
  // The hand at this time [s] since the loop began; h after the last call. It must not wait.
  abDeviceStatus (*read)(void* device, double time, double h, abHand* hand);
  // What the hand is to feel until the next call: force and torque on the hand, world axes [N, N
  // m].
  void (*write)(void* device, abWrench wrench);  // NULL: a device without force
  void (*close)(void* device);  // gives back what open took, not the struct; may be NULL
} abDeviceType;

// The types that came with this build.
AB_API int ab_device_type_count(void);
AB_API const abDeviceType* ab_device_type(int i);
AB_API const abDeviceType* ab_find_device_type(const char* name);  // NULL if there is none

#ifdef __cplusplus
}
#endif

#endif
