// abut run: simulate a scene, record it, and say what happened.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "resume.h"
#include "run.h"

static const CliOption option[] = {
    {"--contact", "NAME", "contact model (the scene's; `abut models` lists them; none: off)"},
    CLI_SIMULATION_OPTIONS,
    {"--forces", "FILE.csv", "forces over time: time,body,fx,fy,fz,tx,ty,tz"},
    {"--controls", "FILE.csv", "controls over time: time,actuator,value"},
    {"--save", "FILE", "write the state at the end, to the bit"},
    {"--resume", "FILE",
     "go on from a saved state or a recording (.h5), of the same scene and contact model"},
    {"--at", "T", "with --resume RECORDING.h5: from this moment (its end)"},
    {"--on-failure", "stop|warn",
     "a step that is not solved to the tolerance: stop, or count (warn)"},
    {"--csv", "DIR", "bodies.csv, joints.csv, contacts.csv in this folder"},
    {"--record", "FILE", "record to FILE.h5, FILE.glb or FILE.html; may be repeated"},
    {"--every", "K", "record every K-th step (1; pages and glTF: 60 a second)"},
    {"--json", NULL, "print one JSON object instead of the summary"},
    {"--quiet", NULL, "no progress bar, no warnings, no summary"},
};

static const CliCommand command = {
    "run",
    "SCENE",
    1,
    1,
    "Simulates an MJCF or URDF scene and prints what happened.",
    "A recording starts with the initial state; each further sample is the state at the end of a\n"
    "recorded step, with the contacts whose impulses produced it.\n"
    "In FILE.csv of --forces a row holds from its time until the next row of that body; the force\n"
    "acts at the centre of mass, force and torque in world axes. --controls: likewise, per "
    "actuator.\n"
    "--resume goes on from FILE of --save for another --time; time and motion are, to the bit, "
    "those\n"
    "of a run that was not interrupted, if --step, --set and --sleep are the same. A recording "
    "can\n"
    "be gone on from at any moment: it holds a state now and then.\n"
    "--sleep: what hangs together by contacts and joints and has been at rest for a while (0.25 s\n"
    "for bodies of 0.1 m) is no longer simulated; its forces stay as they were. It goes on, "
    "exactly\n"
    "from there, when something touches it or a force or control on it changes.\n"
    "Ctrl-C ends a run early; what was recorded is completed. Exit code 3: the simulation broke\n"
    "down; what was recorded until then is kept.\n\n"
    "Examples:\n"
    "  abut run scenes/pile.xml --time 5 --sleep --record out/pile.html\n"
    "  abut run scenes/slide.xml --contact volume-pgs --set tolerance=1e-8 --csv out/slide --json\n"
    "  abut run scenes/box_on_plane.xml --step 0.0005 --forces push.csv --on-failure stop\n",
    sizeof option / sizeof option[0],
    option};

static volatile sig_atomic_t interrupted;
static void on_signal(int number) { interrupted = number; }

static void catch_signals(void) {
  // Once: the run ends in order. Twice: the default action, so that nothing can hang.
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGHUP, &action, NULL);
}

// --- setting up (shared with compare)
// -----------------------------------------------------------------

abModel* cli_load(const char* path, bool quiet, bool floating) {
  abError error = {0};
  abNotes notes = {0};
  abModel* model = ab_load_with(path, &(abLoadOption){.floating = floating}, &notes, &error);
  for (int i = 0; i < notes.n && !quiet; i++) {
    const abError* n = &notes.note[i];
    if (n->line > 0)
      fprintf(stderr, "%s:%d: warning: %s\n", n->file, n->line, n->message);
    else
      fprintf(stderr, "%s: warning: %s\n", n->file, n->message);
  }
  if (!model) cli_problems(&notes, &error);
  ab_notes_free(&notes);
  return model;
}

static bool choose_contact(const abModel* model, abData* data, const char* name) {
  abError error = {0};
  if (!name) return true;
  const char* known[64] = {"none"};
  int n = 1;
  bool found = !strcmp(name, "none");
  for (int i = 0; i < ab_contact_model_count() && n < 64; i++, n++) {
    known[n] = ab_contact_model(i)->name;
    found = found || !strcmp(name, known[n]);
  }
  if (!found)
    return cli_fail("there is no contact model '%s'%s (abut models explains them)", name,
                    cli_suggest(name, n, known)),
           false;
  if (ab_set_contact(model, data, name, &error) == AB_OK) return true;
  cli_error(&error);
  return false;
}

static bool set_param(abData* data, const char* name, double value, const char* given) {
  const abContactModel* contact = data->contact;
  const char* known[64] = {NULL};
  int n = 0;
  bool found = false;
  for (int i = 0; contact && i < contact->nparam && n < 64; i++, n++) {
    known[n] = contact->param[i].name;
    found = found || !strcmp(name, known[n]);
  }
  if (!found) {
    cli_fail("%s: the contact model '%s' has no parameter '%s'%s", given,
             contact ? contact->name : "none", name, cli_suggest(name, n, known));
    return false;
  }
  abError error = {0};
  if (ab_set_param(data, name, value, &error) == AB_OK) return true;
  cli_error(&error);
  return false;
}

static bool set_params(abData* data, const CliArgs* args) {
  for (int i = 0; i < args->ngiven; i++) {
    if (strcmp(args->name[i], "--set")) continue;
    char name[64];
    const char* text = args->value[i];
    const char* equals = strchr(text, '=');
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name)
      return cli_fail("--set %s: write it as NAME=VALUE, for example --set tolerance=1e-8", text),
             false;
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = 0;
    char* end;
    double value = strtod(equals + 1, &end);
    if (end == equals + 1 || *end || !isfinite(value))
      return cli_fail("--set %s: '%s' is not a number", text, equals + 1), false;
    if (!set_param(data, name, value, text)) return false;
  }
  return true;
}

static bool choose_key(const abModel* model, abData* data, const char* name) {
  if (!name) return true;
  int key = ab_find_key(model, name);
  if (key >= 0) return ab_data_reset(model, data, key) == AB_OK;
  const char* known[64];
  int n = 0;
  for (int i = 0; i < model->nkey && n < 64; i++)
    if (model->key[i].name && model->key[i].name[0]) known[n++] = model->key[i].name;
  cli_fail("%s: there is no keyframe '%s'%s", model->file, name, cli_suggest(name, n, known));
  return false;
}

static bool whole_number(const CliArgs* args, const char* name, double high, long* x) {
  double value = (double)*x;
  if (!cli_number(args, name, 0, high, &value)) return false;
  if (value != floor(value))
    return cli_fail("%s %s: give a whole number", name, cli_value(args, name)), false;
  *x = (long)value;
  return true;
}

// What a scene says of its surfaces that the chosen contact model makes no use of, named once.
static void warn_of_unused(const abModel* model, const abData* data) {
  const char* name = data->contact ? data->contact->name : "none";
  bool bounces = strcmp(name, "patch") == 0, ellipsoid = strcmp(name, "ecp") == 0;
  const abGeom *rebound = NULL, *axes = NULL;
  for (int i = model->ngeom - 1; i >= 0; i--) {
    const abGeom* g = &model->geom[i];
    if (g->restitution > 0) rebound = g;
    if (g->e_r >= 0 || g->e_t != 1 || g->e_o != 1) axes = g;
  }
  if (rebound && !bounces)
    fprintf(stderr,
            "%s: warning: restitution (of geom '%s') is used by the contact model patch only, not "
            "by %s\n",
            model->file, rebound->name, name);
  if (axes && !ellipsoid)
    fprintf(stderr,
            "%s: warning: e_t, e_o, e_r (of geom '%s') are used by the contact model ecp only, not "
            "by %s\n",
            model->file, axes->name, name);
}

abData* cli_simulation(const abModel* model, const CliArgs* args, const char* contact) {
  abError error = {0};
  abData* data = ab_data_create(model, &error);
  if (!data) return cli_error(&error), NULL;
  long threads = 1;
  bool good = choose_contact(model, data, contact) && set_params(data, args) &&
              choose_key(model, data, cli_value(args, "--key")) &&
              cli_number(args, "--step", 0, INFINITY, &data->h) &&
              whole_number(args, "--threads", 1024, &threads);
  if (good && ab_set_threads(data, (int)threads, &error) != AB_OK) {
    cli_error(&error);
    good = false;
  }
  data->sleep.on = cli_has(args, "--sleep");
  if (good) {
    warn_of_unused(model, data);
    return data;
  }
  ab_data_free(data);
  return NULL;
}

long cli_step_count(double time, double h) {
  double n = time / h;
  // 2 / 0.001 may come out a rounding error above 2000: that is 2000 steps, not 2001.
  double whole = round(n);
  if (fabs(n - whole) > 1e-9 * n) whole = ceil(n);
  return whole < 1e15 ? (long)whole : 1000000000000000;
}

double cli_total_energy(const abModel* model, const abData* data) {
  abEnergy e = ab_energy(model, data);
  return e.kinetic + e.gravity + e.spring;
}

// --- recording
// ----------------------------------------------------------------------------------------

// Samples for the eye: 60 a second, but not fewer than 300 in a short run.
static long frame_interval(const Run* run) {
  double frame = fmin(1.0 / 60, (double)run->nstep * run->data->h / 300);
  long every = (long)(frame / run->data->h * (1 + 1e-9));
  return every < 1 ? 1 : every;
}

static bool open_recording(Run* run, const char* path, bool folder) {
  char name[4096];
  size_t n = strlen(path);
  if (run->nrecording == MAX_RECORDER) return cli_fail("too many recordings"), false;
  if (!n || n + 2 > sizeof name) return cli_fail("a recording needs a file name"), false;
  snprintf(name, sizeof name, "%s%s", path, folder && path[n - 1] != '/' ? "/" : "");
  const char* dot = strrchr(path, '.');
  bool picture = !folder && dot && (!strcmp(dot, ".html") || !strcmp(dot, ".glb"));
  long every = picture && !cli_has(&run->args, "--every") ? frame_interval(run) : run->every;
  abError error = {0};
  abRecorder* recorder = ab_record_open(name, run->model, &error);
  if (!recorder) return cli_error(&error), false;
  run->recording[run->nrecording++] = (Recording){path, recorder, every, 0};
  return true;
}

static bool open_recordings(Run* run) {
  for (int i = 0; i < run->args.ngiven; i++) {
    bool csv = !strcmp(run->args.name[i], "--csv");
    if (!csv && strcmp(run->args.name[i], "--record")) continue;
    if (!open_recording(run, run->args.value[i], csv)) return false;
  }
  return true;
}

static bool record(Run* run) {
  for (int i = 0; i < run->nrecording; i++) {
    Recording* r = &run->recording[i];
    if (run->step % r->every) continue;
    abError error = {0};
    if (ab_record_sample(r->recorder, run->model, run->data, &error) != AB_OK)
      return cli_error(&error), false;
    r->nsample++;
  }
  return true;
}

static bool close_recordings(Run* run) {
  bool good = true;
  for (int i = 0; i < run->nrecording; i++) {
    abError error = {0};
    if (ab_record_close(run->recording[i].recorder, &error) == AB_OK) continue;
    cli_error(&error);
    good = false;
  }
  return good;
}

// --- saved states
// --------------------------------------------------------------------------------------

static bool resume(Run* run) {
  const char* path = cli_value(&run->args, "--resume");
  double at = NAN;
  if (!path && cli_has(&run->args, "--at"))
    return cli_fail("--at says where in a recording to go on; name it with --resume"), false;
  if (!path) return true;
  if (cli_has(&run->args, "--key"))
    return cli_fail("--key and --resume both say where to start; leave one out"), false;
  if (!cli_number(&run->args, "--at", -INFINITY, INFINITY, &at)) return false;
  const Resume from = {run->model, run->data, run->forces, run->controls};
  return cli_resume(&from, path, at);
}

// Better to know before a long run.
static bool can_save(const Run* run) {
  const char* path = cli_value(&run->args, "--save");
  FILE* file = path ? fopen(path, "ab") : NULL;
  if (path && !file)
    return cli_fail_at(path, 0, "cannot write the state: %s; choose another name", strerror(errno)),
           false;
  if (file) fclose(file);
  return true;
}

static bool save(const Run* run) {
  const char* path = cli_value(&run->args, "--save");
  if (!path) return true;
  size_t bytes = ab_state_size(run->model, run->data);
  void* block = malloc(bytes);
  FILE* file = block ? fopen(path, "wb") : NULL;
  bool good = file && ab_state_get(run->model, run->data, block, bytes) == AB_OK &&
              fwrite(block, 1, bytes, file) == bytes;
  if (file) good = fclose(file) == 0 && good;
  free(block);
  if (!good) cli_fail_at(path, 0, "cannot write the state: %s", strerror(errno));
  return good;
}

// --- the run
// ------------------------------------------------------------------------------------------

static void observe(Run* run, double* last_energy) {
  const abStat* stat = &run->data->stat;
  run->max_residual = fmax(run->max_residual, stat->residual);
  run->max_penetration = fmax(run->max_penetration, stat->max_penetration);
  if (stat->ncontact > run->max_contact) run->max_contact = stat->ncontact;
  run->unconverged += stat->status == AB_STEP_UNCONVERGED;
  bool all = stat->nasleep > 0 && stat->nasleep == run->nmoving;
  if (!all || isnan(run->asleep_since)) run->asleep_since = all ? run->data->time : NAN;
  if (stat->note && run->noted++ == 0) {
    run->note = stat->note;
    run->noted_since = run->data->time;
    if (!run->quiet)
      fprintf(stderr, "abut: warning: time %.9g s: %s\n", run->data->time, stat->note);
  }
  deep_observe(&run->deep, run->model, run->data, run->quiet);
  double energy = cli_total_energy(run->model, run->data);
  run->max_gain = fmax(run->max_gain, energy - run->energy0);
  run->max_step_gain = fmax(run->max_step_gain, energy - *last_energy);
  *last_energy = energy;
}

// Steps to the end, or to a failure, or to a signal. False: a recording could not be written.
static bool simulate(Run* run) {
  Progress progress = progress_begin("abut run", run->quiet);
  double begun = cli_clock();
  double last_energy = run->energy0 = cli_total_energy(run->model, run->data);
  bool good = record(run);
  while (good && run->step < run->nstep && !interrupted) {
    if (run->forces) forces_apply(run->forces, run->data);
    if (run->controls) forces_apply(run->controls, run->data);
    abStepStatus status = ab_step(run->model, run->data);
    run->failure = status;
    if (status == AB_STEP_BROKEN) break;
    run->step++;
    observe(run, &last_energy);
    good = record(run);
    if (status == AB_STEP_UNCONVERGED && run->stop_on_failure) break;
    run->failure = AB_STEP_OK;
    progress_show(&progress, (double)run->step / (double)run->nstep);
  }
  run->signal = interrupted;
  run->wall = cli_clock() - begun;
  run->energy = ab_energy(run->model, run->data);
  progress_end(&progress);
  return good;
}

// --- the command
// --------------------------------------------------------------------------------------

static bool prepare(Run* run) {
  double time = 2;
  const char* on_failure = cli_value(&run->args, "--on-failure");
  if (on_failure && strcmp(on_failure, "stop") && strcmp(on_failure, "warn"))
    return cli_fail("--on-failure %s: say stop or warn", on_failure), false;
  run->stop_on_failure = on_failure && !strcmp(on_failure, "stop");
  run->json = cli_has(&run->args, "--json");
  run->quiet = cli_has(&run->args, "--quiet");
  run->scene = run->args.argument[0];
  run->every = 1;
  if (!cli_number(&run->args, "--time", 0, INFINITY, &time) ||
      !whole_number(&run->args, "--every", 1e12, &run->every))
    return false;
  run->model = cli_load(run->scene, run->quiet, cli_has(&run->args, "--floating"));
  if (!run->model) return false;
  run->data = cli_simulation(run->model, &run->args, cli_value(&run->args, "--contact"));
  if (!run->data) return false;
  run->nstep = cli_step_count(time, run->data->h);
  run->asleep_since = NAN;
  for (int b = 0; b < run->model->nbody; b++) run->nmoving += run->model->body[b].mover >= 0;
  const char* forces = cli_value(&run->args, "--forces");
  if (forces && !(run->forces = forces_load(forces, run->model))) return false;
  const char* controls = cli_value(&run->args, "--controls");
  if (controls && !(run->controls = controls_load(controls, run->model))) return false;
  if (!resume(run) || !can_save(run)) return false;
  ab_forward(run->model, run->data);
  return open_recordings(run);
}

int cli_run(int argc, char** argv) {
  int code;
  Run run = {0};
  if (!cli_parse(&command, argc, argv, &run.args, &code)) return code;
  code = CLI_BAD_INPUT;
  if (prepare(&run)) {
    catch_signals();
    bool good = simulate(&run);
    good = close_recordings(&run) && good;
    good = save(&run) && good;
    run.nrecording = good ? run.nrecording : 0;
    code = good ? CLI_DONE : CLI_BAD_INPUT;
    if (run.json)
      run_report_json(&run);
    else if (!run.quiet)
      run_report_summary(&run);
    if (run.signal) code = 128 + run.signal;
    if (run.failure != AB_STEP_OK) code = run_report_failure(&run);
  } else {
    close_recordings(&run);
  }
  forces_free(run.forces);
  forces_free(run.controls);
  deep_free(&run.deep);
  ab_data_free(run.data);
  ab_model_free(run.model);
  return code;
}
