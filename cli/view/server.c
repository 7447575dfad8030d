// By libwebsockets. The address holds a token of 128 random bits: without it neither page nor
// stream is given.
//
// The loop must not wait: it writes a frame where nobody reads (a lock that is only tried), and the
// server's thread sends the newest whenever its socket has room.
#define _GNU_SOURCE
#include "server.h"

#include <libwebsockets.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ViewServer {
  struct lws_context* context;
  pthread_t thread;
  atomic_bool quit;
  const char *page, *token;
  pthread_mutex_t mutex;
  unsigned char* frame;  // LWS_PRE bytes, then the frame
  size_t bytes;
  unsigned long number;
};

typedef struct Client {
  unsigned long sent;
} Client;

static ViewServer* server_of(struct lws* wsi) { return lws_context_user(lws_get_context(wsi)); }

static bool has_token(struct lws* wsi) {
  char path[64] = "";
  int n = lws_hdr_copy(wsi, path, sizeof path, WSI_TOKEN_GET_URI);
  const char* token = server_of(wsi)->token;
  return n == (int)strlen(token) + 1 && path[0] == '/' && strcmp(path + 1, token) == 0;
}

static int send_frame(struct lws* wsi, Client* client) {
  ViewServer* s = server_of(wsi);
  int result = 0;
  pthread_mutex_lock(&s->mutex);
  if (s->bytes > 0 && client->sent != s->number) {
    client->sent = s->number;
    if (lws_write(wsi, s->frame + LWS_PRE, s->bytes, LWS_WRITE_BINARY) < (int)s->bytes) result = -1;
  }
  pthread_mutex_unlock(&s->mutex);
  return result;
}

static int on_http(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in,
                   size_t n) {
  if (reason != LWS_CALLBACK_HTTP) return lws_callback_http_dummy(wsi, reason, user, in, n);
  if (!has_token(wsi)) {
    lws_return_http_status(wsi, HTTP_STATUS_FORBIDDEN, NULL);
    return -1;
  }
  int sent = lws_serve_http_file(wsi, server_of(wsi)->page, "text/html", NULL, 0);
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
  ViewServer* s = argument;
  while (!atomic_load(&s->quit)) {
    lws_callback_on_writable_all_protocol(s->context, &protocol[1]);
    lws_service(s->context, 0);
    usleep(10000);
  }
  return NULL;
}

static void free_server(ViewServer* s) {
  if (s->context) lws_context_destroy(s->context);
  pthread_mutex_destroy(&s->mutex);
  free(s->frame);
  free(s);
}

static ViewServer* start(const char* page, const char* token, size_t room, int* port) {
  ViewServer* s = calloc(1, sizeof *s);
  if (!s) return NULL;
  pthread_mutex_init(&s->mutex, NULL);
  s->page = page, s->token = token;
  s->frame = malloc(LWS_PRE + room);
  lws_set_log_level(0, NULL);
  // With IPv6 the library takes the interface for none and listens to the whole network.
  struct lws_context_creation_info info = {.port = 0,
                                           .iface = "127.0.0.1",
                                           .options = LWS_SERVER_OPTION_DISABLE_IPV6,
                                           .protocols = protocol,
                                           .gid = -1,
                                           .uid = -1,
                                           .user = s};
  s->context = s->frame ? lws_create_context(&info) : NULL;
  struct lws_vhost* host = s->context ? lws_get_vhost_by_name(s->context, "default") : NULL;
  if (host && pthread_create(&s->thread, NULL, serve, s) == 0)
    return *port = lws_get_vhost_listen_port(host), s;
  free_server(s);
  return NULL;
}

static unsigned char* begin(ViewServer* s) {
  return pthread_mutex_trylock(&s->mutex) == 0 ? s->frame + LWS_PRE : NULL;
}

static void end(ViewServer* s, size_t bytes) {
  if (bytes > 0) s->bytes = bytes, s->number++;
  pthread_mutex_unlock(&s->mutex);
}

static void stop(ViewServer* s) {
  atomic_store(&s->quit, true);
  lws_cancel_service(s->context);
  pthread_join(s->thread, NULL);
  free_server(s);
}

__attribute__((visibility("default")))
const ViewServerCalls abut_view_server = {start, begin, end, stop};
