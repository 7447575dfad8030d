// A web server for one page and one stream, by libwebsockets, on the machine itself only. The
// address holds a token of 128 random bits: without it neither page nor stream is given.
//
// The loop must not wait: it writes a frame where nobody reads (two buffers and a lock that is only
// tried), and the server's thread sends the newest whenever its socket has room.
#define _GNU_SOURCE
#include "haptic_view.h"

#include <libwebsockets.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const double INTERVAL = 1.0 / 30;  // s between frames

struct HapticView {
  struct lws_context* context;
  pthread_t thread;
  atomic_bool quit;
  char token[33];
  char page[64];  // the file that is served
  pthread_mutex_t mutex;
  unsigned char* frame;  // LWS_PRE bytes, then the frame
  size_t bytes, room;
  unsigned long number;
  double last;  // simulated time of the last frame
};

typedef struct Client {
  unsigned long sent;
} Client;

static HapticView* view_of(struct lws* wsi) { return lws_context_user(lws_get_context(wsi)); }

static bool has_token(struct lws* wsi) {
  char path[64] = "";
  int n = lws_hdr_copy(wsi, path, sizeof path, WSI_TOKEN_GET_URI);
  return n == 33 && path[0] == '/' && strcmp(path + 1, view_of(wsi)->token) == 0;
}

static int send_frame(struct lws* wsi, Client* client) {
  HapticView* v = view_of(wsi);
  int result = 0;
  pthread_mutex_lock(&v->mutex);
  if (v->bytes > 0 && client->sent != v->number) {
    client->sent = v->number;
    if (lws_write(wsi, v->frame + LWS_PRE, v->bytes, LWS_WRITE_BINARY) < (int)v->bytes) result = -1;
  }
  pthread_mutex_unlock(&v->mutex);
  return result;
}

static int on_http(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in,
                   size_t n) {
  if (reason != LWS_CALLBACK_HTTP) return lws_callback_http_dummy(wsi, reason, user, in, n);
  if (!has_token(wsi)) {
    lws_return_http_status(wsi, HTTP_STATUS_FORBIDDEN, NULL);
    return -1;
  }
  int sent = lws_serve_http_file(wsi, view_of(wsi)->page, "text/html", NULL, 0);
  return sent < 0 || (sent > 0 && lws_http_transaction_completed(wsi)) ? -1 : 0;
}

static int on_stream(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in,
                     size_t n) {
  (void)in, (void)n;
  if (reason == LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION) return has_token(wsi) ? 0 : -1;
  if (reason == LWS_CALLBACK_ESTABLISHED) return *(Client*)user = (Client){0}, 0;
  if (reason == LWS_CALLBACK_SERVER_WRITEABLE) return send_frame(wsi, user);
  return 0;
}

static const struct lws_protocols protocol[] = {
    {.name = "http", .callback = on_http},
    {.name = "abut-view", .callback = on_stream, .per_session_data_size = sizeof(Client)},
    {.name = NULL}};

static void* serve(void* argument) {
  HapticView* v = argument;
  while (!atomic_load(&v->quit)) {
    lws_callback_on_writable_all_protocol(v->context, &protocol[1]);
    lws_service(v->context, 0);
    usleep(10000);
  }
  return NULL;
}

static bool make_token(HapticView* v) {
  unsigned char byte[16];
  FILE* f = fopen("/dev/urandom", "rb");
  bool good = f && fread(byte, 1, sizeof byte, f) == sizeof byte;
  if (f) fclose(f);
  for (int i = 0; i < 16 && good; i++) snprintf(v->token + 2 * i, 3, "%02x", byte[i]);
  return good;
}

static bool make_page(HapticView* v, const HapticLoop* loop) {
  abError error = {0};
  snprintf(v->page, sizeof v->page, "/tmp/abut-view-XXXXXX");
  int fd = mkstemp(v->page);
  if (fd < 0) return cli_fail("no file can be made in /tmp"), false;
  close(fd);
  if (ab_view_page(v->page, loop->model, loop->data, &error) == AB_OK) return true;
  cli_error(&error);
  return false;
}

static bool start_server(HapticView* v) {
  lws_set_log_level(0, NULL);
  struct lws_context_creation_info info = {
      .port = 0, .iface = "127.0.0.1", .protocols = protocol, .gid = -1, .uid = -1, .user = v};
  v->context = lws_create_context(&info);
  struct lws_vhost* host = v->context ? lws_get_vhost_by_name(v->context, "default") : NULL;
  if (!host) return cli_fail("no web server could be started on 127.0.0.1"), false;
  fprintf(stderr, "abut haptic: open http://127.0.0.1:%d/%s\n", lws_get_vhost_listen_port(host),
          v->token);
  return pthread_create(&v->thread, NULL, serve, v) == 0;
}

HapticView* haptic_view_open(const HapticLoop* loop) {
  HapticView* v = calloc(1, sizeof *v);
  if (!v) return NULL;
  pthread_mutex_init(&v->mutex, NULL);
  v->last = -1;
  v->room = (size_t)1 << 20;
  v->frame = malloc(LWS_PRE + v->room);
  if (v->frame && make_token(v) && make_page(v, loop) && start_server(v)) return v;
  if (v->context) lws_context_destroy(v->context);
  if (v->page[0]) unlink(v->page);
  free(v->frame);
  free(v);
  return NULL;
}

void haptic_view_show(void* view, const HapticLoop* loop) {
  HapticView* v = view;
  if (loop->data->time - v->last < INTERVAL || pthread_mutex_trylock(&v->mutex) != 0) return;
  abFrameHand hand[HAPTIC_POINTERS];
  for (int i = 0; i < loop->npointer; i++) {
    const abPointerStat* s = ab_pointer_stat(loop->pointer[i]);
    hand[i] = (abFrameHand){s->felt.force, loop->data->pose[loop->body[i]].p, s->hand.pose.p};
  }
  size_t n = ab_frame_bytes(loop->model, loop->data, loop->npointer);
  if (n <= v->room) {
    ab_frame_write(loop->model, loop->data, loop->npointer, hand, v->frame + LWS_PRE);
    v->bytes = n;
    v->number++;
  }
  v->last = loop->data->time;
  pthread_mutex_unlock(&v->mutex);
}

void haptic_view_close(HapticView* v) {
  if (!v) return;
  atomic_store(&v->quit, true);
  lws_cancel_service(v->context);
  pthread_join(v->thread, NULL);
  lws_context_destroy(v->context);
  pthread_mutex_destroy(&v->mutex);
  unlink(v->page);
  free(v->frame);
  free(v);
}
