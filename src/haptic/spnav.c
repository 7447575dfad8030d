// A SpaceMouse through spacenavd (libspnav): how far the cap is pushed or turned says how fast the
// pointer goes. spacenavd counts x to the right, y up and z towards the user, the world x to the
// right, y away from the user and z up.
// Tests: test_devices.
#define _DEFAULT_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <poll.h>
#include <spnav.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "haptic/devices.h"
#include "haptic/table.h"
#include "math/logarithm.h"
#include "math/rotation.h"

static const double SPNAV_SMOOTHING = 0.02;  // s
static const double FULL = 350;              // counts at the end of the cap's way

// libspnav is loaded when the first SpaceMouse is asked for, and stays: it brings X11 along, which
// no other program should load.
typedef struct Library {
  int (*open)(void);
  int (*close)(void);
  int (*fd)(void);
  int (*poll_event)(spnav_event*);
} Library;

typedef struct Spnav {
  Library library;
  double speed, turn;
  abPose x;
  abTwist want, v;
  unsigned buttons;
} Spnav;

static bool find(void* library, const char* name, void* function) {
  void* symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static abStatus load(Library* l, abError* error) {
  void* library = dlopen("libspnav.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library && find(library, "spnav_open", &l->open) && find(library, "spnav_close", &l->close) &&
      find(library, "spnav_fd", &l->fd) && find(library, "spnav_poll_event", &l->poll_event))
    return AB_OK;
  return ab_fail(error, AB_ERROR_FILE, NULL, 0,
                 "libspnav cannot be loaded (Debian: apt-get install libspnav0 spacenavd): %s",
                 library ? "it lacks a function" : dlerror());
}

static abStatus open_spnav(void* device, const char* arguments, abPose start, abError* error) {
  Spnav* d = device;
  static const char* const names[] = {"speed", "turn", NULL};
  double value[] = {0.3, 1.5};
  abStatus status = ab_device_arguments(arguments, names, value, NULL, 0, error);
  if (status == AB_OK) status = load(&d->library, error);
  if (status != AB_OK) return status;
  if (d->library.open() < 0)
    return ab_fail(error, AB_ERROR_FILE, NULL, 0,
                   "spacenavd does not answer; install and start it (Debian: apt-get install "
                   "spacenavd)");
  d->speed = value[0], d->turn = value[1];
  d->x = start;
  return AB_OK;
}

static void take_event(Spnav* d, const spnav_event* e) {
  if (e->type == SPNAV_EVENT_MOTION) {
    double s = d->speed / FULL, t = d->turn / FULL;
    d->want = (abTwist){v3(s * e->motion.x, -s * e->motion.z, s * e->motion.y),
                        v3(t * e->motion.rx, -t * e->motion.rz, t * e->motion.ry)};
  } else if (e->type == SPNAV_EVENT_BUTTON) {
    unsigned bit = 1u << (e->button.bnum & 31);
    d->buttons = e->button.press ? d->buttons | bit : d->buttons & ~bit;
  }
}

// libspnav does not tell that the other side has gone.
static bool is_gone(const Library* l) {
  char byte;
  struct pollfd p = {.fd = l->fd(), .events = POLLIN};
  if (p.fd < 0) return true;
  if (poll(&p, 1, 0) <= 0) return false;
  if (p.revents & (POLLERR | POLLHUP | POLLNVAL)) return true;
  return (p.revents & POLLIN) && recv(p.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static abDeviceStatus read_spnav(void* device, double time, double h, abHand* hand) {
  Spnav* d = device;
  spnav_event event;
  (void)time;
  for (int i = 0; i < 64; i++) {
    if (is_gone(&d->library)) return AB_DEVICE_LOST;
    if (!d->library.poll_event(&event)) break;
    take_event(d, &event);
  }
  double share = 1 - ab_exp(-h / SPNAV_SMOOTHING);
  d->v = (abTwist){v3_lerp(d->v.lin, d->want.lin, share), v3_lerp(d->v.ang, d->want.ang, share)};
  d->x.p = v3_axpy(h, d->v.lin, d->x.p);
  d->x.q = quat_unit(quat_mul(quat_from_rotvec(v3_scale(h, d->v.ang)), d->x.q));
  *hand = (abHand){.pose = d->x, .twist = d->v, .buttons = d->buttons};
  return AB_DEVICE_OK;
}

static void close_spnav(void* device) { ((Spnav*)device)->library.close(); }

const abDeviceType ab_device_spnav = {"spnav",
                                      "[speed=0.3][,turn=1.5]",
                                      "a SpaceMouse through spacenavd (m/s, rad/s at full way)",
                                      sizeof(Spnav),
                                      open_spnav,
                                      read_spnav,
                                      NULL,
                                      close_spnav};
