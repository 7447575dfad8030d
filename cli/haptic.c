// abut haptic: hands in the loop.
#include "haptic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "haptic_view.h"

static const CliOption option[] = {
    {"--pointer", "BODY=DEVICE[:ARGS]", "couple this body to a device; may be repeated"},
    {"--rate", "HZ", "steps per second (1000)"},
    {"--time", "T", "seconds (10)"},
    {"--stiffness", "K", "of the coupling [N/m] (2000, or what is stable)"},
    {"--limit", "F", "largest force on the hand [N] (20)"},
    {"--contact", "NAME", "contact model (the scene's, else patch)"},
    {"--key", "NAME", "start from this keyframe"},
    {"--set", "NAME=VALUE", "a parameter of the contact model; may be repeated"},
    {"--record", "FILE", "record the run: .h5, .glb, .html, or a folder for CSV; may be repeated"},
    {"--every", "K", "record every K-th step (so that there are about 60 a second)"},
    {"--offline", NULL, "as fast as it goes, without the clock: no deadline is missed"},
    {"--view", NULL, "show the run in a browser while it goes on; prints the address"},
    {"--json", NULL, "print the result as JSON"},
    {"--quiet", NULL, "no messages"},
};

static const CliCommand command = {
    "haptic",
    "SCENE",
    1,
    1,
    "Runs a scene in real time with bodies moved by hands, which feel what they touch.",
    "A pointer is coupled to its device by a spring and damper in six axes. A device that is "
    "lost,\n"
    "stalls, jumps or sends junk has its pointer held softly where it is. Ctrl-C ends the run and "
    "keeps\n"
    "the recording, which is written after the loop; Ctrl-C once more ends that, too, and keeps "
    "what "
    "is\n"
    "written. doc/haptic.md tells how to add a device.\n\n"
    "Devices:\n"
    "  virtual:[FILE.csv],...        a hand that reaches for the places of a table and answers "
    "forces\n"
    "  recorded:FILE.csv             a hand's motion as it was\n"
    "  evdev:/dev/input/eventN       a mouse or a gamepad\n"
    "  spnav                         a SpaceMouse\n\n"
    "Examples:\n"
    "  abut haptic scenes/six_blocks.xml --pointer left=virtual:scenes/hands/left.csv \\\n"
    "      --pointer right=virtual:scenes/hands/right.csv --time 14 --record out/hands.html\n"
    "  abut haptic scenes/six_blocks.xml --pointer left=spnav --time 600\n",
    sizeof option / sizeof option[0],
    option};

static bool open_pointer(HapticLoop* loop, const CliArgs* args, const char* text) {
  char name[256], type[64];
  const char* equal = strchr(text, '=');
  if (!equal || equal == text || (size_t)(equal - text) >= sizeof name)
    return cli_fail("--pointer %s: say BODY=DEVICE, as in left=spnav", text), false;
  snprintf(name, sizeof name, "%.*s", (int)(equal - text), text);
  size_t n = strcspn(equal + 1, ":");
  snprintf(type, sizeof type, "%.*s", (int)(n < sizeof type ? n : sizeof type - 1), equal + 1);
  if (loop->npointer == HAPTIC_POINTERS)
    return cli_fail("more than %d pointers", HAPTIC_POINTERS), false;
  abPointerDef def = {.body = ab_find_body(loop->model, name), .type = ab_find_device_type(type)};
  if (def.body < 0) return cli_fail("--pointer %s: there is no body '%s'", text, name), false;
  if (!def.type) {
    const char* known[16];
    int count = ab_device_type_count();
    for (int i = 0; i < count && i < 16; i++) known[i] = ab_device_type(i)->name;
    return cli_fail("--pointer %s: there is no device '%s'%s", text, type,
                    cli_suggest(type, count, known)),
           false;
  }
  for (int i = 0; i < loop->npointer; i++)
    if (loop->body[i] == def.body)
      return cli_fail("--pointer %s: '%s' has a device already", text, name), false;
  def.arguments = equal[1 + n] ? equal + 2 + n : "";
  if (!cli_number(args, "--stiffness", 0, 1e9, &def.stiffness) ||
      !cli_number(args, "--limit", 0, 1e6, &def.limit))
    return false;
  abError error = {0};
  abPointer* pointer = ab_pointer_open(loop->model, loop->data, &def, &error);
  if (!pointer) return cli_error(&error), false;
  loop->body[loop->npointer] = def.body;
  loop->pointer[loop->npointer++] = pointer;
  return true;
}

static bool open_pointers(HapticLoop* loop, const CliArgs* args) {
  for (int i = 0; i < args->ngiven; i++)
    if (!strcmp(args->name[i], "--pointer") && !open_pointer(loop, args, args->value[i]))
      return false;
  if (loop->npointer > 0) return true;
  return cli_fail("no pointer: give --pointer BODY=DEVICE, as in --pointer left=spnav"), false;
}

// --- the result ---

static int compare_floats(const void* a, const void* b) {
  float x = *(const float*)a, y = *(const float*)b;
  return (x > y) - (x < y);
}

typedef struct Spread {
  double p50, p99, p999, max;
} Spread;

static Spread spread_of(float* us, long n) {
  qsort(us, (size_t)n, sizeof *us, compare_floats);
  Spread s = {0};
  if (n == 0) return s;
  const double share[3] = {0.5, 0.99, 0.999};
  double* out[3] = {&s.p50, &s.p99, &s.p999};
  for (int i = 0; i < 3; i++) *out[i] = (double)us[(long)(share[i] * (double)(n - 1))];
  s.max = (double)us[n - 1];
  return s;
}

typedef struct Timing {
  Spread step, cpu, late;
} Timing;

static json_t* spread_json(Spread s) {
  return json_pack("{s:f, s:f, s:f, s:f}", "p50", s.p50, "p99", s.p99, "p999", s.p999, "max",
                   s.max);
}

static json_t* pointer_json(const HapticLoop* loop, int i) {
  const abPointerStat* s = ab_pointer_stat(loop->pointer[i]);
  json_t* j = json_object();
  json_object_set_new(j, "body", json_string(loop->model->body[loop->body[i]].name));
  json_object_set_new(j, "stiffness", json_real(s->stiffness));
  json_object_set_new(j, "damping", json_real(s->damping));
  json_object_set_new(j, "reduced", json_boolean(s->reduced));
  json_object_set_new(j, "energy_drawn", json_real(s->energy_drawn));
  json_object_set_new(j, "energy_given", json_real(s->energy_given));
  json_object_set_new(j, "held_back", json_real(s->held_back));
  json_object_set_new(j, "force", json_real(s->force));
  json_object_set_new(j, "jump", json_real(s->jump));
  json_object_set_new(j, "freezes", json_integer(s->nfreeze));
  json_object_set_new(j, "trouble", s->trouble ? json_string(s->trouble) : json_null());
  return j;
}

static void print_json(const HapticLoop* loop, const Timing* t) {
  double drawn = 0, force = 0, jump = 0;
  json_t *j = json_object(), *list = json_array();
  for (int i = 0; i < loop->npointer; i++) {
    const abPointerStat* s = ab_pointer_stat(loop->pointer[i]);
    drawn = fmax(drawn, s->energy_drawn), force = fmax(force, s->force);
    jump = fmax(jump, s->jump);
    json_array_append_new(list, pointer_json(loop, i));
  }
  char hash[17];
  snprintf(hash, sizeof hash, "%016llx",
           (unsigned long long)ab_state_hash(loop->model, loop->data));
  json_object_set_new(j, "rate", json_real(loop->rate));
  json_object_set_new(j, "steps", json_integer(loop->nstep));
  json_object_set_new(j, "time", json_real(loop->data->time));
  json_object_set_new(j, "missed", json_integer(loop->missed));
  json_object_set_new(j, "missed_own", json_integer(loop->missed_own));
  json_object_set_new(j, "faults", json_integer(loop->faults));
  json_object_set_new(j, "step_us", spread_json(t->step));
  json_object_set_new(j, "cpu_us", spread_json(t->cpu));
  json_object_set_new(j, "late_us", spread_json(t->late));
  json_object_set_new(j, "energy_drawn", json_real(drawn));
  json_object_set_new(j, "force", json_real(force));
  json_object_set_new(j, "jump", json_real(jump));
  json_object_set_new(j, "pointers", list);
  json_object_set_new(j, "contact",
                      json_string(loop->data->contact ? loop->data->contact->name : "none"));
  json_object_set_new(j, "realtime",
                      json_pack("{s:b, s:b, s:b}", "fifo", (int)loop->fifo, "locked",
                                (int)loop->locked, "pinned", (int)loop->pinned));
  json_object_set_new(j, "stopped", json_boolean(loop->stopped));
  json_object_set_new(j, "hash", json_string(hash));
  cli_json_print(j);
}

static void print_spread(const char* what, Spread s) {
  printf("  %-11s median %.1f us, 99 %% below %.1f, 99.9 %% below %.1f, at most %.1f us\n", what,
         s.p50, s.p99, s.p999, s.max);
}

static void print_text(const HapticLoop* loop, const Timing* t) {
  printf("%ld steps at %g Hz, %ld deadlines missed", loop->nstep, loop->rate, loop->missed);
  if (loop->missed) printf(", %ld of them by the step's own work", loop->missed_own);
  printf("\n");
  print_spread("a step", t->step);
  print_spread("  processor", t->cpu);
  if (!loop->free_running) print_spread("begins late", t->late);
  for (int i = 0; i < loop->npointer; i++) {
    const abPointerStat* s = ab_pointer_stat(loop->pointer[i]);
    printf(
        "  %-10s  %.0f N/m%s, at most %.2f N, %.2f N/ms; the hand has put in %.4f J and never "
        "drawn more than %.1e J\n",
        loop->model->body[loop->body[i]].name, s->stiffness,
        s->reduced ? " (less than asked for, to be stable)" : "", s->force, s->jump,
        s->energy_given, s->energy_drawn);
    if (s->nfreeze > 0) printf("              frozen %d times: %s\n", s->nfreeze, s->trouble);
  }
  if (loop->refused[0]) printf("  the system did not give: %s\n", loop->refused);
}

// --- the run ---

static bool run_with_view(HapticLoop* loop, const CliArgs* args) {
  HapticView* view = NULL;
  if (cli_has(args, "--view")) {
    view = haptic_view_open(loop);
    if (!view) return false;
    loop->show = haptic_view_show, loop->context = view;
  }
  haptic_catch_signals();
  haptic_run(loop);
  haptic_view_close(view);
  return true;
}

static void print_result(HapticLoop* loop, const CliArgs* args) {
  const Timing t = {spread_of(loop->step_us, loop->nstep), spread_of(loop->cpu_us, loop->nstep),
                    spread_of(loop->late_us, loop->nstep)};
  if (cli_has(args, "--json"))
    print_json(loop, &t);
  else
    print_text(loop, &t);
}

static int run_loop(HapticLoop* loop, const CliArgs* args) {
  HapticRecordings recordings = {0};
  bool good = open_pointers(loop, args) && haptic_open_recordings(loop, args, &recordings) &&
              haptic_prepare(loop) && run_with_view(loop, args);
  bool written = good && haptic_write_recordings(loop, args, &recordings);
  written = haptic_close_recordings(&recordings) && written;
  if (!good) return CLI_BAD_INPUT;
  print_result(loop, args);
  if (loop->status == AB_STEP_BROKEN) {
    fprintf(stderr, "abut haptic: the simulation broke down at %g s\n", loop->data->time);
    return CLI_BROKEN;
  }
  return written ? CLI_DONE : CLI_BAD_INPUT;
}

int cli_haptic(int argc, char** argv) {
  CliArgs args;
  int code;
  if (!cli_parse(&command, argc, argv, &args, &code)) return code;
  HapticLoop loop = {.rate = 1000,
                     .time = 10,
                     .free_running = cli_has(&args, "--offline"),
                     .quiet = cli_has(&args, "--quiet")};
  if (!cli_number(&args, "--rate", 0, 1e5, &loop.rate) ||
      !cli_number(&args, "--time", 0, 1e6, &loop.time))
    return CLI_BAD_INPUT;
  if (loop.time * loop.rate < 0.5)
    return cli_fail("--time %g is over before the first step at --rate %g", loop.time, loop.rate);
  loop.model = cli_load(args.argument[0], loop.quiet, false);
  if (loop.model) loop.data = cli_simulation(loop.model, &args, cli_value(&args, "--contact"));
  if (!loop.data) {
    haptic_free(&loop);
    return CLI_BAD_INPUT;
  }
  loop.data->h = 1 / loop.rate;
  const char* key = cli_value(&args, "--key");
  loop.key = key ? ab_find_key(loop.model, key) : -1;
  code = run_loop(&loop, &args);
  haptic_free(&loop);
  return code;
}
