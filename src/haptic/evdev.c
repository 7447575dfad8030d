// Mice and gamepads of Linux (/dev/input/event*). A mouse moves the pointer (wheel: up and down); a
// stick says how fast it goes. What comes in steps is smoothed over some EVENT_SMOOTHING.
// Tests: test_devices.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "haptic/devices.h"
#include "haptic/table.h"
#include "math/logarithm.h"
#include "math/rotation.h"

static const double EVENT_SMOOTHING = 0.015;  // s

enum { EVENT_AXES = 6 };   // ABS_X, Y, Z, RX, RY, RZ
enum { MOST_READS = 64 };  // per step, of 16 events: a device that floods must not hold the loop

typedef struct Evdev {
  int fd;
  double scale, speed;
  abPose start;
  abVec3 want, x, v;
  double stick[EVENT_AXES], middle[EVENT_AXES], reach[EVENT_AXES];
  unsigned buttons;
} Evdev;

static void ask_range(Evdev* d, int axis) {
  struct input_absinfo info;
  d->middle[axis] = 0, d->reach[axis] = 32767;
  if (ioctl(d->fd, EVIOCGABS((unsigned)axis), &info) != 0 || info.maximum <= info.minimum) return;
  d->middle[axis] = 0.5 * ((double)info.minimum + info.maximum);
  d->reach[axis] = 0.5 * ((double)info.maximum - info.minimum);
}

// Whether events can come from there: an input device, or a pipe that stands for one.
static bool speaks_events(int fd) {
  struct stat s;
  int version;
  if (fstat(fd, &s) != 0) return false;
  return S_ISFIFO(s.st_mode) || (S_ISCHR(s.st_mode) && ioctl(fd, EVIOCGVERSION, &version) == 0);
}

static abStatus open_evdev(void* device, const char* arguments, abPose start, abError* error) {
  Evdev* d = device;
  static const char* const names[] = {"scale", "speed", NULL};
  double value[] = {2e-4, 0.3};
  char file[512];
  abStatus status = ab_device_arguments(arguments, names, value, file, sizeof file, error);
  if (status != AB_OK) return status;
  if (!file[0])
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "say which device: evdev:/dev/input/event4 (they are listed in "
                   "/dev/input/by-id)");
  d->fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (d->fd < 0)
    return ab_fail(error, AB_ERROR_FILE, file, 0,
                   "the device cannot be opened: %s; reading devices needs the group 'input'",
                   strerror(errno));
  if (!speaks_events(d->fd)) {
    close(d->fd);
    return ab_fail(error, AB_ERROR_ARGUMENT, file, 0,
                   "this is no input device; they are listed in /dev/input/by-id");
  }
  d->scale = value[0], d->speed = value[1];
  d->start = start, d->want = d->x = start.p;
  for (int i = 0; i < EVENT_AXES; i++) ask_range(d, i);
  return AB_OK;
}

static void take_event(Evdev* d, const struct input_event* e) {
  if (e->type == EV_REL && e->code == REL_X) d->want.x += d->scale * e->value;
  if (e->type == EV_REL && e->code == REL_Y) d->want.y -= d->scale * e->value;
  if (e->type == EV_REL && e->code == REL_WHEEL) d->want.z += 40 * d->scale * e->value;
  if (e->type == EV_ABS && e->code < EVENT_AXES)
    d->stick[e->code] = fmin(1, fmax(-1, (e->value - d->middle[e->code]) / d->reach[e->code]));
  if (e->type == EV_KEY && e->code >= BTN_MISC) {
    unsigned bit = 1u << (e->code & 31);
    d->buttons = e->value ? d->buttons | bit : d->buttons & ~bit;
  }
}

// Worn sticks do not come back to zero.
static double beyond(double x) { return fabs(x) > 0.12 ? x : 0; }

static abDeviceStatus read_evdev(void* device, double time, double h, abHand* hand) {
  Evdev* d = device;
  (void)time;
  struct input_event event[16];
  for (int k = 0; k < MOST_READS; k++) {
    ssize_t n = read(d->fd, event, sizeof event);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (n <= 0) return AB_DEVICE_LOST;
    for (size_t i = 0; i < (size_t)n / sizeof *event; i++) take_event(d, &event[i]);
    if ((size_t)n < sizeof event) break;
  }
  abVec3 rate = v3(beyond(d->stick[ABS_X]), -beyond(d->stick[ABS_Y]), -beyond(d->stick[ABS_RY]));
  d->want = v3_axpy(h * d->speed, rate, d->want);
  abVec3 old = d->x;
  d->x = v3_lerp(d->x, d->want, 1 - ab_exp(-h / EVENT_SMOOTHING));
  d->v = v3_scale(1 / h, v3_sub(d->x, old));
  *hand = (abHand){.pose = {d->x, d->start.q}, .twist = {d->v, v3_zero()}, .buttons = d->buttons};
  return AB_DEVICE_OK;
}

static void close_evdev(void* device) { close(((Evdev*)device)->fd); }

const abDeviceType ab_device_evdev = {
    "evdev",
    "/dev/input/eventN[,scale=2e-4][,speed=0.3]",
    "a mouse (scale: m per count) or a gamepad (speed: m/s at full stick)",
    sizeof(Evdev),
    open_evdev,
    read_evdev,
    NULL,
    close_evdev};
