// In place of haptic_view.c, where abut is built without libwebsockets.
#include "../haptic_view.h"

#include "../cli.h"

HapticView* haptic_view_open(const HapticLoop* loop) {
  (void)loop;
  cli_fail("this build of abut was made without libwebsockets, which --view needs");
  return NULL;
}

void haptic_view_show(void* view, const HapticLoop* loop) { (void)view, (void)loop; }

void haptic_view_close(HapticView* view) { (void)view; }
