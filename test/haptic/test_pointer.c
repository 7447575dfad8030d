// Pointers: what they do with good devices, and what bad ones cannot make them do.
#include <abut/abut.h>
#include <stdio.h>
#include <string.h>

#include "math/spatial.h"
#include "support/check.h"

// --- a device that does as the test says ---

typedef struct Script {
  abDeviceStatus (*say)(double time, abHand* hand);
} Script;

static abDeviceStatus (*script)(double time, abHand* hand);
static abWrench felt;

static abStatus open_script(void* device, const char* arguments, abPose start, abError* error) {
  (void)arguments, (void)start, (void)error;
  ((Script*)device)->say = script;
  return AB_OK;
}

static abDeviceStatus read_script(void* device, double time, double h, abHand* hand) {
  (void)h;
  return ((Script*)device)->say(time, hand);
}

static void write_script(void* device, abWrench wrench) {
  (void)device;
  felt = wrench;
}

static const abDeviceType scripted = {"script",    "",          "",           sizeof(Script),
                                      open_script, read_script, write_script, NULL};

// --- a scene: a plate of 0.3 kg above the floor ---

static abModel* model;
static abData* data;
static int plate;

static int create(void** state) {
  (void)state;
  abError error = {0};
  model = ab_load(ABUT_SOURCE_DIR "/scenes/six_blocks.xml", NULL, &error);
  data = model ? ab_data_create(model, &error) : NULL;
  plate = model ? ab_find_body(model, "left") : -1;
  return data && plate > 0 ? 0 : -1;
}

static int destroy(void** state) {
  (void)state;
  ab_data_free(data);
  ab_model_free(model);
  return 0;
}

static abPointer* open_pointer(const abDeviceType* type, const char* arguments) {
  abError error = {0};
  abPointerDef def = {.body = plate, .type = type, .arguments = arguments};
  abPointer* p = ab_pointer_open(model, data, &def, &error);
  if (!p) fail_msg("%s", error.message);
  return p;
}

// Runs and returns the largest change of the force on the hand within a millisecond.
static double drive(abPointer* p, double seconds) {
  double worst = 0;
  abVec3 last = felt.force;
  for (double end = data->time + seconds; data->time < end - 1e-9;) {
    memset(data->applied, 0, sizeof(abWrench) * (size_t)model->nbody);
    ab_pointer_drive(p, model, data, data->time);
    assert_int_equal(ab_step(model, data), AB_STEP_OK);
    double change = v3_norm(v3_sub(felt.force, last));
    worst = change > worst ? change : worst;
    last = felt.force;
  }
  return worst;
}

// A hand that moves at 0.4 m/s to and fro above the blocks.
static abHand swing(double time) {
  double w = 4, a = 0.1;
  return (abHand){.pose = {v3(-0.09 + a * sin(w * time), 0, 0.3), quat_identity()},
                  .twist = {v3(a * w * cos(w * time), 0, 0), v3_zero()}};
}

static abDeviceStatus say_swing(double time, abHand* hand) {
  *hand = swing(time);
  return AB_DEVICE_OK;
}

static void a_pointer_follows_its_hand(void** state) {
  (void)state;
  script = say_swing;
  abPointer* p = open_pointer(&scripted, "");
  drive(p, 2);
  abHand now = swing(data->time - data->h);
  // a mass on a spring follows an acceleration of w^2 a = 1.6 m/s2 with a lag of m a / k = 0.24 mm
  check_below(v3_norm(v3_sub(data->pose[plate].p, now.pose.p)), 1e-3);
  assert_int_equal(ab_pointer_stat(p)->nfreeze, 0);
  ab_pointer_close(p);
}

// The hand of these fails between 1 s and 1.5 s.
static bool fails(double time) { return time > 1 && time < 1.5; }

static abDeviceStatus say_nan(double time, abHand* hand) {
  *hand = swing(time);
  if (fails(time)) hand->pose.p.x = NAN;
  return AB_DEVICE_OK;
}
static abDeviceStatus say_lost(double time, abHand* hand) {
  *hand = swing(time);
  return fails(time) ? AB_DEVICE_LOST : AB_DEVICE_OK;
}
static abDeviceStatus say_nothing(double time, abHand* hand) {
  if (fails(time)) return AB_DEVICE_SILENT;
  *hand = swing(time);
  return AB_DEVICE_OK;
}
static abDeviceStatus say_zero_quat(double time, abHand* hand) {
  *hand = swing(time);
  if (fails(time)) hand->pose.q = (abQuat){0, 0, 0, 0};
  return AB_DEVICE_OK;
}
static abDeviceStatus say_jump(double time, abHand* hand) {
  *hand = swing(time);
  if (fails(time)) hand->pose.p.y += 0.2, hand->pose.p.z += 0.1;
  return AB_DEVICE_OK;
}
static abDeviceStatus say_huge(double time, abHand* hand) {
  *hand = swing(time);
  if (fails(time)) hand->pose.p.x = 1e300, hand->twist.lin.x = 1e300;
  return AB_DEVICE_OK;
}

static abDeviceStatus say_whirl(double time, abHand* hand) {
  *hand = swing(time);
  if (fails(time)) hand->twist.ang.z = 1e6;
  return AB_DEVICE_OK;
}

static void a_bad_device_freezes_its_pointer_softly(void** state) {
  (void)state;
  struct {
    abDeviceStatus (*say)(double, abHand*);
    const char* why;
  } cases[] = {{say_nan, "numbers that are none"},
               {say_lost, "lost"},
               {say_nothing, "stalled"},
               {say_zero_quat, "numbers that are none"},
               {say_jump, "jumped"},
               {say_huge, "jumped"},
               {say_whirl, "jumped"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ab_data_reset(model, data, -1);
    felt = wrench_zero();
    script = cases[i].say;
    abPointer* p = open_pointer(&scripted, "");
    drive(p, 0.9);
    double jump = drive(p, 1.5);  // over both ends of the trouble
    const abPointerStat* s = ab_pointer_stat(p);
    assert_true(s->nfreeze > 0);
    assert_non_null(strstr(s->trouble, cases[i].why));
    if (!(jump < 5)) fail_msg("%s: the force jumps by %g N", cases[i].why, jump);
    // and it follows again
    abHand now = swing(data->time - data->h);
    assert_false(s->frozen);
    check_below(v3_norm(v3_sub(data->pose[plate].p, now.pose.p)), 1e-3);
    ab_pointer_close(p);
  }
}

// Devices that have nothing to say, or nothing sensible, for the first 0.2 s.
static bool begins(double time) { return time < 0.2; }

static abDeviceStatus say_nothing_first(double time, abHand* hand) {
  if (begins(time)) return AB_DEVICE_SILENT;
  return say_swing(time, hand);
}
static abDeviceStatus say_nan_first(double time, abHand* hand) {
  *hand = swing(time);
  if (begins(time)) hand->twist.lin.y = NAN;
  return AB_DEVICE_OK;
}
static abDeviceStatus say_lost_first(double time, abHand* hand) {
  return begins(time) ? AB_DEVICE_LOST : say_swing(time, hand);
}

static void before_its_device_speaks_a_pointer_stays_where_it_is(void** state) {
  (void)state;
  abDeviceStatus (*cases[])(double, abHand*) = {say_nothing_first, say_nan_first, say_lost_first};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ab_data_reset(model, data, -1);
    felt = wrench_zero();
    script = cases[i];
    abPointer* p = open_pointer(&scripted, "");
    abVec3 start = data->pose[plate].p;
    double jump = drive(p, 0.19);
    // held against its weight by a spring that knows the weight: only rounding moves it
    check_below(v3_norm(v3_sub(data->pose[plate].p, start)), 1e-9);
    jump = fmax(jump, drive(p, 1.8));
    check_below(jump, 5);
    abHand now = swing(data->time - data->h);
    assert_false(ab_pointer_stat(p)->frozen);
    assert_int_equal(ab_pointer_stat(p)->nfreeze, i == 0 ? 0 : 1);
    check_below(v3_norm(v3_sub(data->pose[plate].p, now.pose.p)), 1e-3);
    ab_pointer_close(p);
  }
}

static abDeviceStatus say_dead(double time, abHand* hand) {
  *hand = swing(time);
  return time > 1 ? AB_DEVICE_LOST : AB_DEVICE_OK;
}

static void a_dead_device_leaves_its_pointer_at_rest(void** state) {
  (void)state;
  script = say_dead;
  abPointer* p = open_pointer(&scripted, "");
  drive(p, 2);
  assert_true(ab_pointer_stat(p)->frozen);
  // what ran out with a time of 50 ms has 2e-9 of its speed left after a second
  check_below(v3_norm(data->twist[plate].lin), 1e-6);
  check_below(v3_norm(felt.force), 1e-4);
  ab_pointer_close(p);
}

// --- passivity ---

// A hand that presses on the floor, lets go, and presses again.
static abDeviceStatus say_press(double time, abHand* hand) {
  double w = 12, a = 0.006;
  *hand = (abHand){.pose = {v3(-0.09, -0.2, 0.052 + a * cos(w * time)), quat_identity()},
                   .twist = {v3(0, 0, -a * w * sin(w * time)), v3_zero()}};
  return AB_DEVICE_OK;
}

static void a_wall_gives_no_more_than_it_got(void** state) {
  (void)state;
  script = say_press;
  abPointer* p = open_pointer(&scripted, "");
  drive(p, 5);
  const abPointerStat* s = ab_pointer_stat(p);
  assert_true(s->force > 3);           // it was felt
  check_below(s->energy_drawn, 1e-3);  // 1 mJ: less than a hand can feel
  ab_pointer_close(p);
}

static void a_virtual_hand_feels_the_wall_and_comes_to_rest(void** state) {
  (void)state;
  char path[] = ABUT_BINARY_DIR "/test_pointer_hand.csv";
  FILE* f = fopen(path, "w");
  fputs("time,x,y,z\n0,-0.09,-0.2,0.1\n0.2,-0.09,-0.2,0.1\n0.6,-0.09,-0.2,0.04\n", f);
  fclose(f);
  char arguments[600];
  snprintf(arguments, sizeof arguments, "%s,tremor=0", path);
  abPointer* p = open_pointer(ab_find_device_type("virtual"), arguments);
  drive(p, 2);
  const abPointerStat* s = ab_pointer_stat(p);
  // it aims 10 mm below where the plate stands; two springs in a row, 600 and 2000 N/m, push with
  // 10 mm / (1/600 + 1/2000) = 4.6 N. The plate's rest depth and the coupling's give are below 5 %.
  check_near(s->felt.force.z, 0.01 / (1.0 / 600 + 1.0 / 2000), 0.05 * 4.6);
  check_below(v3_norm(data->twist[plate].lin), 1e-6);
  check_below(s->energy_drawn, 1e-3);
  ab_pointer_close(p);
  remove(path);
}

// --- arguments ---

static void wrong_arguments_are_refused_by_name(void** state) {
  (void)state;
  struct {
    const char *type, *arguments, *message;
  } cases[] = {{"virtual", "/nowhere.csv", "cannot be opened"},
               {"virtual", "mass=0", "mass above 0"},
               {"virtual", "mas=1", "there are: mass"},
               {"virtual", "mass=heavy", "number"},
               {"recorded", "", "needs its file"},
               {"evdev", "", "which device"},
               {"evdev", "/nowhere", "cannot be opened"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    abError error = {0};
    abPointerDef def = {
        .body = plate, .type = ab_find_device_type(cases[i].type), .arguments = cases[i].arguments};
    assert_null(ab_pointer_open(model, data, &def, &error));
    if (!strstr(error.message, cases[i].message))
      fail_msg("'%s' does not say '%s'", error.message, cases[i].message);
  }
  abError error = {0};
  abPointerDef world = {.body = 0, .type = &scripted};
  assert_null(ab_pointer_open(model, data, &world, &error));
  assert_null(ab_find_device_type("glove"));
}

static void a_stiffness_beyond_what_is_stable_is_reduced(void** state) {
  (void)state;
  script = say_swing;
  abError error = {0};
  abPointerDef def = {.body = plate, .type = &scripted, .stiffness = 1e7};
  abPointer* p = ab_pointer_open(model, data, &def, &error);
  assert_non_null(p);
  assert_true(ab_pointer_stat(p)->reduced && ab_pointer_stat(p)->stiffness < 1e5);
  ab_pointer_close(p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, create, destroy)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_pointer_follows_its_hand),
      TEST(a_bad_device_freezes_its_pointer_softly),
      TEST(a_dead_device_leaves_its_pointer_at_rest),
      TEST(before_its_device_speaks_a_pointer_stays_where_it_is),
      TEST(a_wall_gives_no_more_than_it_got),
      TEST(a_virtual_hand_feels_the_wall_and_comes_to_rest),
      TEST(wrong_arguments_are_refused_by_name),
      TEST(a_stiffness_beyond_what_is_stable_is_reduced),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
