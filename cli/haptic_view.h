// The view of a haptic run in a browser, while it runs.
#ifndef ABUT_CLI_HAPTIC_VIEW_H
#define ABUT_CLI_HAPTIC_VIEW_H

#include "haptic.h"

typedef struct HapticView HapticView;

// Serves the page on 127.0.0.1, in a thread of its own, and prints its address; NULL with a
// message.
HapticView* haptic_view_open(const HapticLoop* loop);
// Hands over the present state, some thirty times a second; never waits.
void haptic_view_show(void* view, const HapticLoop* loop);
void haptic_view_close(HapticView* view);

#endif
