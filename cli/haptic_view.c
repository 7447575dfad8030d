// The page, the token in its address, and the frames; the server itself is a module (view/server.h)
// that is loaded here, from beside the program or where `make install` puts it.
#define _GNU_SOURCE
#include "haptic_view.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "view/server.h"

static const double INTERVAL = 1.0 / 30;  // s between frames
static const size_t ROOM = (size_t)1 << 20;

struct HapticView {
  const ViewServerCalls* calls;
  ViewServer* server;
  char token[33];
  char page[64];  // the file that is served
  double last;    // simulated time of the last frame
};

static const ViewServerCalls* load_server(void) {
  static const char* const place[] = {"abut-view.so", "../" ABUT_MODULE_DIR "/abut-view.so"};
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
  if (n < 0) n = 0;
  path[n] = 0;
  char* name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
    snprintf(name, sizeof path - (size_t)(name - path), "%s", place[i]);
    void* module = access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (module) return dlsym(module, ABUT_VIEW_SERVER);
  }
  const char* why = dlerror();
  cli_fail("--view needs its web server, abut-view.so: %s",
           why ? why : "it is built where libwebsockets is installed (Debian: libwebsockets-dev)");
  return NULL;
}

static bool make_token(HapticView* v) {
  unsigned char byte[16];
  FILE* f = fopen("/dev/urandom", "rb");
  bool good = f && fread(byte, 1, sizeof byte, f) == sizeof byte;
  if (f) fclose(f);
  for (int i = 0; i < 16 && good; i++) snprintf(v->token + 2 * i, 3, "%02x", byte[i]);
  if (!good) cli_fail("/dev/urandom cannot be read, which the address of the view is made from");
  return good;
}

static bool make_page(HapticView* v, const HapticLoop* loop) {
  abError error = {0};
  snprintf(v->page, sizeof v->page, "/tmp/abut-view-XXXXXX");
  int fd = mkstemp(v->page);
  if (fd < 0) return v->page[0] = 0, cli_fail("no file can be made in /tmp"), false;
  close(fd);
  if (ab_view_page(v->page, loop->model, loop->data, &error) == AB_OK) return true;
  cli_error(&error);
  return false;
}

static bool start_server(HapticView* v) {
  int port = 0;
  v->server = v->calls->start(v->page, v->token, ROOM, &port);
  if (!v->server) return cli_fail("no web server could be started on 127.0.0.1"), false;
  fprintf(stderr, "abut haptic: open http://127.0.0.1:%d/%s\n", port, v->token);
  return true;
}

HapticView* haptic_view_open(const HapticLoop* loop) {
  HapticView* v = calloc(1, sizeof *v);
  if (!v) return cli_fail("no memory for the view"), NULL;
  v->last = -1;
  v->calls = load_server();
  if (v->calls && make_token(v) && make_page(v, loop) && start_server(v)) return v;
  haptic_view_close(v);
  return NULL;
}

void haptic_view_show(void* view, const HapticLoop* loop) {
  HapticView* v = view;
  if (loop->data->time - v->last < INTERVAL) return;
  unsigned char* frame = v->calls->begin(v->server);
  if (!frame) return;
  abFrameHand hand[HAPTIC_POINTERS];
  for (int i = 0; i < loop->npointer; i++) {
    const abPointerStat* s = ab_pointer_stat(loop->pointer[i]);
    hand[i] = (abFrameHand){s->felt.force, loop->data->pose[loop->body[i]].p, s->hand.pose.p};
  }
  size_t n = ab_frame_bytes(loop->model, loop->data, loop->npointer);
  if (n > ROOM) n = 0;
  if (n > 0) ab_frame_write(loop->model, loop->data, loop->npointer, hand, frame);
  v->last = loop->data->time;
  v->calls->end(v->server, n);
}

void haptic_view_close(HapticView* v) {
  if (!v) return;
  if (v->server) v->calls->stop(v->server);
  if (v->page[0]) unlink(v->page);
  free(v);
}
