// The devices, without the things themselves: a server that speaks spacenavd's protocol, a pipe
// that says what a mouse says, and tables of a hand's motion.
#define _DEFAULT_SOURCE
#include <abut/abut.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "haptic/table.h"
#include "math/spatial.h"
#include "support/check.h"

static const double h = 1e-3;

typedef struct Open {
  const abDeviceType* type;
  void* device;
} Open;

static Open open_device(const char* name, const char* arguments, abPose start) {
  abError error = {0};
  Open o = {.type = ab_find_device_type(name)};
  o.device = calloc(1, o.type->bytes);
  if (o.type->open(o.device, arguments, start, &error) != AB_OK) fail_msg("%s", error.message);
  return o;
}

static void close_device(Open o) {
  if (o.type->close) o.type->close(o.device);
  free(o.device);
}

static abHand read_for(Open o, double seconds) {
  abHand hand = {0};
  for (int i = 0; i < (int)(seconds / h + 0.5); i++)
    assert_int_equal(o.type->read(o.device, i * h, h, &hand), AB_DEVICE_OK);
  return hand;
}

// --- SpaceMouse ---

// A server with one client. Packets are eight integers: type (0 motion, 1 press, 2 release), then
// x, y, z, rx, ry, rz and the time since the last, or the button's number. What a client asks for
// (newer clients ask for a newer protocol) stays unanswered, as by an old server.
typedef struct Server {
  int listening, client;
  pthread_t thread;
} Server;

static void* serve(void* argument) {
  Server* s = argument;
  s->client = accept(s->listening, NULL, NULL);
  return NULL;
}

static Server start_server(const char* path) {
  Server s = {.listening = socket(AF_UNIX, SOCK_STREAM, 0), .client = -1};
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  unlink(path);
  assert_int_equal(bind(s.listening, (struct sockaddr*)&address, sizeof address), 0);
  assert_int_equal(listen(s.listening, 1), 0);
  return s;
}

static void send_packet(const Server* s, const int packet[8]) {
  assert_int_equal(write(s->client, packet, 8 * sizeof(int)), 8 * (ssize_t)sizeof(int));
}

static bool has_spnav(void) {
  return strcmp(ab_find_device_type("spnav")->summary, "not in this build") != 0;
}

static void a_spacemouse_moves_the_pointer(void** state) {
  (void)state;
  if (!has_spnav()) skip();
  char path[] = "/tmp/abut-spnav-XXXXXX";
  assert_int_not_equal(mkstemp(path), -1);
  setenv("SPNAV_SOCKET", path, 1);
  Server s = start_server(path);
  pthread_create(&s.thread, NULL, serve, &s);
  abPose start = {v3(0.1, 0.2, 0.3), quat_identity()};
  Open o = open_device("spnav", "speed=0.35,turn=0.7", start);
  pthread_join(s.thread, NULL);
  abHand hand = read_for(o, 0.1);
  check_vec_near(hand.pose.p, start.p, 0);  // nothing said, nothing moved
  // Full way to the right, a tenth of it up, pushed away from the user.
  send_packet(&s, (int[8]){0, 350, 35, -175, 0, 0, 0, 8});
  hand = read_for(o, 1);
  // 0.35 m/s for a second, less the 20 ms of smoothing
  check_vec_near(hand.twist.lin, v3(0.35, 0.175, 0.035), 1e-6);
  check_vec_near(v3_sub(hand.pose.p, start.p), v3(0.343, 0.1715, 0.0343), 0.01);
  // Let go, and turned about the upright axis.
  send_packet(&s, (int[8]){0, 0, 0, 0, 0, 175, 0, 8});
  send_packet(&s, (int[8]){1, 3, 0, 0, 0, 0, 0, 0});
  hand = read_for(o, 1);
  check_vec_near(hand.twist.ang, v3(0, 0, 0.35), 1e-6);
  check_below(v3_norm(hand.twist.lin), 1e-6);
  assert_int_equal(hand.buttons, 1u << 3);
  // Unplugged.
  close(s.client);
  assert_int_equal(o.type->read(o.device, 2, h, &hand), AB_DEVICE_LOST);
  close_device(o);
  close(s.listening);
  unlink(path);
}

static void without_a_server_the_spacemouse_says_so(void** state) {
  (void)state;
  if (!has_spnav()) skip();
  setenv("SPNAV_SOCKET", "/nowhere/spnav.sock", 1);
  const abDeviceType* type = ab_find_device_type("spnav");
  void* device = calloc(1, type->bytes);
  abError error = {0};
  assert_int_not_equal(type->open(device, "", pose_identity(), &error), AB_OK);
  assert_non_null(strstr(error.message, "spacenavd"));
  free(device);
}

// --- mouse ---

static void send_event(int fd, int type, int code, int value) {
  struct input_event e = {
      .type = (unsigned short)type, .code = (unsigned short)code, .value = value};
  assert_int_equal(write(fd, &e, sizeof e), sizeof e);
}

static void a_mouse_and_a_stick_move_the_pointer(void** state) {
  (void)state;
  char path[64];
  snprintf(path, sizeof path, "/tmp/abut-evdev-%ld", (long)getpid());
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  // opened for both, so that neither side waits for the other
  int fd = open(path, O_RDWR);
  char arguments[128];
  snprintf(arguments, sizeof arguments, "%s,scale=0.001,speed=0.5", path);
  Open o = open_device("evdev", arguments, pose_identity());
  send_event(fd, EV_REL, REL_X, 30);
  send_event(fd, EV_REL, REL_Y, -20);
  abHand hand = read_for(o, 0.2);
  // smoothed over 15 ms: after 200 ms 2e-6 of the way are left
  check_vec_near(hand.pose.p, v3(0.03, 0.02, 0), 1e-6);
  send_event(fd, EV_ABS, ABS_X, 32767);
  send_event(fd, EV_KEY, BTN_SOUTH, 1);
  hand = read_for(o, 1);
  check_near(hand.twist.lin.x, 0.5, 1e-6);
  assert_true(hand.buttons != 0);
  send_event(fd, EV_ABS, ABS_X, 2000);  // within the play of a worn stick
  hand = read_for(o, 0.3);
  check_below(fabs(hand.twist.lin.x), 1e-6);
  close_device(o);
  close(fd);
  unlink(path);
}

static void a_mouse_that_is_unplugged_is_lost(void** state) {
  (void)state;
  char path[64];
  snprintf(path, sizeof path, "/tmp/abut-evdev-%ld", (long)getpid());
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  int fd = open(path, O_RDWR);
  Open o = open_device("evdev", path, pose_identity());
  close(fd);  // nobody writes any more: the pipe has ended
  abHand hand;
  assert_int_equal(o.type->read(o.device, 0, h, &hand), AB_DEVICE_LOST);
  close_device(o);
  unlink(path);
}

// --- tables ---

static char* write_table(const char* text) {
  static char path[64];
  snprintf(path, sizeof path, "/tmp/abut-hand-%ld.csv", (long)getpid());
  FILE* f = fopen(path, "w");
  fputs(text, f);
  fclose(f);
  return path;
}

static void a_hand_reaches_with_the_least_jerk(void** state) {
  (void)state;
  abHandTable t;
  abError error = {0};
  char* path = write_table("time,x,y,z\n0,0,0,0\n1,0.2,0,0\n2,0.2,0.1,0\n");
  assert_int_equal(ab_hand_table_read(path, pose_identity(), &t, &error), AB_OK);
  check_near(ab_hand_table_reach(&t, 0.5).pose.p.x, 0.1, 1e-15);
  check_near(ab_hand_table_reach(&t, 0.5).twist.lin.x, 0.2 * 1.875, 1e-15);  // 30/16 of the mean
  for (int i = 0; i < 2000; i++) {
    // the velocity is that of the motion: central difference, error of order dt^2 x jerk
    double time = 0.001 * i + 5e-4, dt = 1e-5;
    for (int k = 0; k < 2; k++) {
      abHand (*at)(const abHandTable*, double) = k ? ab_hand_table_follow : ab_hand_table_reach;
      abVec3 d = v3_sub(at(&t, time + dt).pose.p, at(&t, time - dt).pose.p);
      check_vec_near(at(&t, time).twist.lin, v3_scale(0.5 / dt, d), 1e-8);
    }
  }
  check_vec_near(ab_hand_table_reach(&t, -1).pose.p, v3_zero(), 0);
  check_vec_near(ab_hand_table_reach(&t, 9).pose.p, v3(0.2, 0.1, 0), 0);
  check_vec_near(ab_hand_table_follow(&t, 1).pose.p, v3(0.2, 0, 0), 1e-15);
  ab_hand_table_free(&t);
  unlink(path);
}

static void wrong_tables_are_refused_with_their_line(void** state) {
  (void)state;
  struct {
    const char *text, *message;
    int line;
  } cases[] = {{"time,x,y,z\n0,0,0\n", "4 numbers", 2},
               {"time,x,y,z\n0,0,0,0\n0,0,0,0\n", "must grow", 3},
               {"time,x,y,z\n0,0,zero,0\n", "4 numbers", 2},
               {"time,x,y,z\n0,0,nan,0\n", "4 numbers", 2},
               {"0,0,0,0,0,0,0,0\n", "quaternion", 1},
               {"time,x,y,z\n", "no rows", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    abHandTable t;
    abError error = {0};
    char* path = write_table(cases[i].text);
    assert_int_equal(ab_hand_table_read(path, pose_identity(), &t, &error), AB_ERROR_PARSE);
    if (!strstr(error.message, cases[i].message) || error.line != cases[i].line)
      fail_msg("line %d: %s", error.line, error.message);
    unlink(path);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_spacemouse_moves_the_pointer),
      cmocka_unit_test(without_a_server_the_spacemouse_says_so),
      cmocka_unit_test(a_mouse_and_a_stick_move_the_pointer),
      cmocka_unit_test(a_mouse_that_is_unplugged_is_lost),
      cmocka_unit_test(a_hand_reaches_with_the_least_jerk),
      cmocka_unit_test(wrong_tables_are_refused_with_their_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
