// The web server of `abut haptic --view`. It is a module of its own (abut-view.so), which the
// program loads when it is asked for the view: libwebsockets brings network and encryption
// libraries along, and nothing else here needs them.
#ifndef ABUT_CLI_VIEW_SERVER_H
#define ABUT_CLI_VIEW_SERVER_H

#include <stddef.h>

typedef struct ViewServer ViewServer;

typedef struct ViewServerCalls {
  // Serves a file, and a stream of frames of at most `room` bytes, on 127.0.0.1 under /TOKEN, in a
  // thread of its own. Both texts must outlive it. NULL if that cannot be.
  ViewServer* (*start)(const char* page, const char* token, size_t room, int* port);
  // Where the next frame is written; NULL while the last one is being sent: this never waits.
  unsigned char* (*begin)(ViewServer* server);
  // So many bytes were written; none: the frame before stays.
  void (*end)(ViewServer* server, size_t bytes);
  void (*stop)(ViewServer* server);
} ViewServerCalls;

// What the module exports.
extern const ViewServerCalls abut_view_server;
#define ABUT_VIEW_SERVER "abut_view_server"

#endif
