// abut sweep: one scene, many runs.
#define _POSIX_C_SOURCE 200809L
#include "sweep_command.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "sweep_progress.h"

static const CliOption option[] = {
    {"--out", "DIR", "results.h5, results.csv and index.html go there"},
    {"--threads", "N", "runs at the same time (all cores); any number gives the same results"},
    {"--shard", "I/N", "only part I of N, counted from 0 or from 1"},
    {"--resume", NULL, "go on with what is in DIR"},
    {"--merge", NULL, "join the parts in the folders DIR..., in --out or the first of them"},
    {"--digits", "N", "digits of the measures in results.csv (10; 17 are all, as in results.h5)"},
    {"--no-csv", NULL, "do not write results.csv, which takes longest of the results"},
    {"--dry-run", NULL, "say what would be done, and how long it would take"},
    {"--run", "K", "only run K: print its numbers"},
    {"--record", "FILE", "with --run: record it to FILE.h5, FILE.glb or FILE.html"},
    {"--json", NULL, "print one JSON object instead of the summary"},
    {"--quiet", NULL, "no progress, no summary"},
};

static const CliCommand command = {
    "sweep",
    "SPEC | --merge DIR...",
    1,
    CLI_MAX_GIVEN,
    "Runs a scene many times with other numbers and collects what is measured.",
    "SPEC is JSON or TOML: the scene, what varies, what is measured; doc/sweeps.md describes it.\n"
    "  {\"scene\": \"slide.xml\", \"time\": 5, \"stop\": {\"rest\": true},\n"
    "   \"vary\": {\"geom.cube.friction\": {\"grid\": [0.1, 0.9, 9]},\n"
    "            \"key.slide.qvel[0]\": {\"uniform\": [1, 4]}}, \"samples\": 100, \"seed\": 1,\n"
    "   \"measure\": {\"x\": \"body.cube.x\", \"rest\": \"time_to_rest\"}}\n"
    "A sweep that was killed goes on with --resume; nothing is lost but the runs in work.\n\n"
    "Examples:\n"
    "  abut sweep examples/sweeps/overhang.json --dry-run\n"
    "  abut sweep examples/sweeps/overhang.json --out out/overhang\n"
    "  abut sweep spec.json --shard $SLURM_ARRAY_TASK_ID/16 --out part$SLURM_ARRAY_TASK_ID\n"
    "  abut sweep --merge part* --out all\n"
    "  abut sweep spec.json --run 17 --record run17.html\n",
    sizeof option / sizeof option[0],
    option};

typedef struct Command {
  CliArgs args;
  abSweep* sweep;
  abSweepStore* store;
  const char* out;
  int nthread, shard, nshard, ndigit;
  bool quiet, json;
  double wall;
  int64_t todo;  // runs at the beginning
} Command;

static volatile sig_atomic_t interrupted;
static volatile int stop;
static void on_signal(int number) {
  interrupted = number;
  stop = 1;
}

static void catch_signals(void) {
  // Once: the sweep ends in order. Twice: the default action, so that nothing can hang.
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGHUP, &action, NULL);
  // a limit on the size of files is then an error of the write, which is told
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigaction(SIGXFSZ, &ignore, NULL);
}

// --- options ---

static bool whole(const CliArgs* args, const char* name, double low, double high, double* x) {
  if (!cli_number(args, name, low - 1, high, x)) return false;
  if (*x == floor(*x)) return true;
  return cli_fail("%s %s: give a whole number", name, cli_value(args, name)), false;
}

static bool read_shard(Command* c) {
  const char* text = cli_value(&c->args, "--shard");
  char tail;
  if (!text) return true;
  if (sscanf(text, "%d/%d%c", &c->shard, &c->nshard, &tail) == 2 && c->nshard >= 1 &&
      c->shard >= 0 && c->shard <= c->nshard && c->nshard <= 1000000)
    return true;
  return cli_fail("--shard %s: write it as I/N, I from 0 to N - 1 or from 1 to N", text), false;
}

// A rank is one thread unless more are asked for: batch systems give it one core.
static bool read_options(Command* c, bool ranks) {
  double n = ranks ? 1 : (double)sysconf(_SC_NPROCESSORS_ONLN), ndigit = 10;
  c->out = cli_value(&c->args, "--out");
  c->quiet = cli_has(&c->args, "--quiet");
  c->json = cli_has(&c->args, "--json");
  if (!whole(&c->args, "--threads", 1, 1024, &n) || !read_shard(c) ||
      !whole(&c->args, "--digits", 1, 17, &ndigit))
    return false;
  c->ndigit = (int)ndigit;
  c->nthread = n >= 1 ? (int)n : 1;
  if (c->args.nargument > 1 && !cli_has(&c->args, "--merge"))
    return cli_fail("sweep: one argument too many: '%s'; give one specification",
                    c->args.argument[1]),
           false;
  return true;
}

// --- one run, dry run ---

static void print_values(const abSweep* s, const double* row) {
  const char* heading[] = {"number", ">value"};
  CliTable t = cli_table(2, heading);
  for (int i = 0; i < ab_sweep_status_at(s); i++) {
    int nvary = ab_sweep_nvary(s);
    cli_cell(&t, "%s", i < nvary ? ab_sweep_vary_name(s, i) : ab_sweep_measure_name(s, i - nvary));
    cli_cell(&t, "%.17g", row[i]);
  }
  cli_table_print(&t, "  ");
}

static json_t* row_json(const abSweep* s, int64_t run, const double* row) {
  const double* end = row + ab_sweep_status_at(s);
  json_t* j = json_object();
  json_object_set_new(j, "run", json_integer(run));
  for (int i = 0; i < ab_sweep_status_at(s); i++) {
    int nvary = ab_sweep_nvary(s);
    json_object_set_new(j,
                        i < nvary ? ab_sweep_vary_name(s, i) : ab_sweep_measure_name(s, i - nvary),
                        cli_json_number(row[i]));
  }
  json_object_set_new(j, "status", json_string(ab_run_status_name((int)end[0])));
  json_object_set_new(j, "residual", cli_json_number(end[1]));
  json_object_set_new(j, "time", cli_json_number(end[2]));
  return j;
}

static int run_one(Command* c) {
  double k = 0, count = (double)ab_sweep_count(c->sweep);
  if (!whole(&c->args, "--run", 0, INFINITY, &k)) return CLI_BAD_INPUT;
  if (k >= count) return cli_fail("--run %.0f: the runs are 0 to %.0f", k, count - 1);
  abError error = {0};
  abSweepWorker* worker = ab_sweep_worker_create(c->sweep, &error);
  double* row = malloc(sizeof(double) * (size_t)ab_sweep_width(c->sweep));
  int code = CLI_BAD_INPUT;
  if (worker && row) {
    abRunStatus status =
        ab_sweep_worker_run(worker, (int64_t)k, cli_value(&c->args, "--record"), row, &error);
    if (c->json) {
      cli_json_print(row_json(c->sweep, (int64_t)k, row));
    } else {
      printf("run %.0f: %s\n", k, ab_run_status_name((int)status));
      print_values(c->sweep, row);
    }
    code = status == AB_RUN_OK ? CLI_DONE : status == AB_RUN_REFUSED ? CLI_BAD_INPUT : CLI_BROKEN;
  }
  if (code) cli_error(&error);
  free(row);
  ab_sweep_worker_free(worker);
  return code;
}

static void print_duration(double seconds) {
  if (seconds < 120)
    printf("%.2g s", seconds);
  else if (seconds < 7200)
    printf("%.0f min", seconds / 60);
  else if (seconds < 172800)
    printf("%.1f h", seconds / 3600);
  else
    printf("%.1f days", seconds / 86400);
}

// Seconds of a run, from some that are spread over the list, for a second or so.
static double measure_run(const abSweep* s, abError* error) {
  enum { MOST = 64 };
  abSweepWorker* worker = ab_sweep_worker_create(s, error);
  double* row = malloc(sizeof(double) * (size_t)ab_sweep_width(s));
  double begun = cli_clock(), spent = 0;
  int64_t count = ab_sweep_count(s), n = 0;
  while (worker && row && n < MOST && n < count && spent < 1) {
    // steps by the golden section never come close to where they have been
    double at = fmod(0.5 + 0.6180339887498949 * (double)n, 1);
    ab_sweep_worker_run(worker, (int64_t)(at * (double)count), NULL, row, NULL);
    spent = cli_clock() - begun;
    n++;
  }
  free(row);
  ab_sweep_worker_free(worker);
  return worker && n ? spent / (double)n : -1;
}

static void print_first_runs(const abSweep* s) {
  enum { SHOWN = 5 };
  int n = ab_sweep_nvary(s);
  const char** heading = malloc(sizeof(char*) * (size_t)(n + 1));
  double* value = malloc(sizeof(double) * (size_t)(n + 1));
  if (heading && value && n < 31) {
    heading[0] = "run";
    for (int i = 0; i < n; i++) heading[i + 1] = ab_sweep_vary_name(s, i);
    CliTable t = cli_table(n + 1, heading);
    for (int64_t r = 0; r < SHOWN && r < ab_sweep_count(s); r++) {
      ab_sweep_values(s, r, value);
      cli_cell(&t, "%lld", (long long)r);
      for (int i = 0; i < n; i++) cli_cell(&t, "%.6g", value[i]);
    }
    cli_table_print(&t, "  ");
  }
  free(value);
  free(heading);
}

static int dry_run(const Command* c, int crew) {
  abError error = {0};
  double each = measure_run(c->sweep, &error);
  if (each < 0) return cli_error(&error);
  int nthread = crew > 0 ? crew * c->nthread : c->nthread;
  double count = (double)ab_sweep_count(c->sweep), share = c->nshard ? 1.0 / c->nshard : 1;
  double seconds = each * count * share / nthread;
  double bytes = count * share * (double)ab_sweep_bytes(c->sweep);
  if (c->json) {
    json_t* j = json_object();
    json_object_set_new(j, "runs", json_integer(ab_sweep_count(c->sweep)));
    json_object_set_new(j, "seconds_a_run", cli_json_number(each));
    json_object_set_new(j, "seconds", cli_json_number(seconds));
    json_object_set_new(j, "bytes", cli_json_number(bytes));
    cli_json_print(j);
    return CLI_DONE;
  }
  printf("%.0f runs, %.3g s each", count, each);
  if (c->nshard) printf(", a %dth of them here", c->nshard);
  printf("; about ");
  print_duration(seconds);
  printf(" on %d %s, %.3g MB while at work\n", nthread,
         crew > 0 ? "threads of all ranks" : "threads", 1e-6 * bytes);
  print_first_runs(c->sweep);
  return CLI_DONE;
}

// --- the end ---

static void print_summary(const Command* c, const abSweepSummary* a) {
  static const char* const heading[] = {"number", ">mean",     ">deviation",
                                        ">least", ">greatest", ">values"};
  int nvary = ab_sweep_nvary(c->sweep);
  CliTable t = cli_table(6, heading);
  for (int i = 0; i < a->n; i++) {
    cli_cell(
        &t, "%s",
        i < nvary ? ab_sweep_vary_name(c->sweep, i) : ab_sweep_measure_name(c->sweep, i - nvary));
    cli_cell(&t, "%.6g", a->mean[i]);
    cli_cell(&t, "%.4g", a->deviation[i]);
    cli_cell(&t, "%.6g", a->low[i]);
    cli_cell(&t, "%.6g", a->high[i]);
    cli_cell(&t, "%lld", (long long)a->finite[i]);
  }
  cli_table_print(&t, "  ");
}

static void print_text(const Command* c, const abSweepSummary* a, int64_t missing) {
  if (!a->nrow && missing == 0) {
    printf("%s: complete, nothing to do\n", c->out);
    return;
  }
  printf("%s: %lld of %lld runs", c->out, (long long)a->nrow, (long long)ab_sweep_count(c->sweep));
  if (c->todo > 0 && c->wall > 0)
    printf("; %lld in %.2f s (%.4g a second)", (long long)c->todo, c->wall,
           (double)c->todo / c->wall);
  printf("; %lld ok", (long long)a->status[0]);
  for (int i = 1; i < 4; i++)
    if (a->status[i]) printf(", %lld %s", (long long)a->status[i], ab_run_status_name(i));
  printf("\n");
  print_summary(c, a);
}

static void print_json(const Command* c, const abSweepSummary* a, int64_t missing) {
  json_t *j = json_object(), *status = json_object();
  for (int i = 0; i < 4; i++)
    json_object_set_new(status, ab_run_status_name(i), json_integer(a->status[i]));
  json_object_set_new(j, "runs", json_integer(ab_sweep_count(c->sweep)));
  json_object_set_new(j, "missing", json_integer(missing));
  json_object_set_new(j, "done_here", json_integer(c->todo));
  json_object_set_new(j, "wall_s", cli_json_number(c->wall));
  json_object_set_new(j, "status", status);
  json_object_set_new(j, "out", json_string(c->out));
  cli_json_print(j);
}

static int finish(Command* c, bool partial) {
  abError error = {0};
  abSweepSummary a = {0};
  int64_t missing = 0;
  abStatus status = ab_sweep_store_finish(c->store, &missing, &a, &error);
  if (!status && c->json) print_json(c, &a, missing);
  if (!status && !c->json && !c->quiet) print_text(c, &a, missing);
  ab_sweep_summary_free(&a);
  if (status) return cli_error(&error);
  if (missing == 0 || partial) return CLI_DONE;
  fprintf(stderr, "abut: %s: %lld runs are missing; go on with --resume\n", c->out,
          (long long)missing);
  return CLI_CHECK_FAILED;
}

static int interrupted_exit(const Command* c) {
  fprintf(stderr, "abut: interrupted; %lld of %lld runs are kept in %s: go on with --resume\n",
          (long long)ab_sweep_store_done(c->store),
          (long long)(ab_sweep_store_done(c->store) + ab_sweep_store_todo(c->store)), c->out);
  return 128 + interrupted;
}

static int run_all(Command* c, const SweepCrew* crew) {
  abError error = {0};
  abSweepPlace place = {
      c->out,   c->shard, c->nshard, cli_has(&c->args, "--resume"), cli_has(&c->args, "--no-csv"),
      c->ndigit};
  if (!c->out) return cli_fail("sweep: say where the results go: --out DIR (or --dry-run)");
  if (ab_sweep_check_room(c->sweep, c->out, &error)) return cli_error(&error);
  c->store = ab_sweep_store_open(c->sweep, &place, &error);
  if (!c->store) return cli_error(&error);
  catch_signals();
  c->todo = ab_sweep_store_todo(c->store);
  double begun = cli_clock();
  SweepProgress* progress = sweep_progress_begin(c->store, c->quiet);
  abStatus status =
      c->todo ? crew->run(crew->context, c->sweep, c->store, c->nthread, &stop, &error) : AB_OK;
  sweep_progress_end(progress);
  c->wall = cli_clock() - begun;
  if (status) return cli_error(&error);
  if (interrupted) return interrupted_exit(c);
  return finish(c, c->nshard > 0);
}

static int merge(Command* c) {
  abError error = {0};
  const char* first = c->args.argument[0];
  abSweepPlace place = {c->out ? c->out : first,       0,        0, true,
                        cli_has(&c->args, "--no-csv"), c->ndigit};
  c->sweep = ab_sweep_of_folder(first, &error);
  if (!c->sweep) return cli_error(&error);
  c->out = place.folder;
  if (ab_sweep_check_room(c->sweep, c->out, &error)) return cli_error(&error);
  c->store = ab_sweep_store_open(c->sweep, &place, &error);
  if (!c->store) return cli_error(&error);
  for (int i = 0; i < c->args.nargument; i++)
    if (strcmp(c->args.argument[i], c->out) &&
        ab_sweep_store_merge(c->store, c->args.argument[i], &error))
      return cli_error(&error);
  return finish(c, false);
}

static int execute(Command* c, const SweepCrew* crew) {
  abError error = {0};
  if (cli_has(&c->args, "--merge")) return merge(c);
  c->sweep = ab_sweep_load(c->args.argument[0], &error);
  if (!c->sweep) return cli_error(&error);
  if (cli_has(&c->args, "--run")) return run_one(c);
  if (!cli_has(&c->args, "--dry-run")) return run_all(c, crew);
  if (ab_sweep_check_room(c->sweep, c->out ? c->out : ".", &error)) return cli_error(&error);
  return dry_run(c, crew->size);
}

int cli_sweep_with(int argc, char** argv, const SweepCrew* crew) {
  int code;
  Command c = {0};
  if (!cli_parse(&command, argc, argv, &c.args, &code)) return code;
  code = read_options(&c, crew->size > 0) ? execute(&c, crew) : CLI_BAD_INPUT;
  ab_sweep_store_close(c.store);
  ab_sweep_free(c.sweep);
  return code;
}

static abStatus run_threads(void* context, const abSweep* sweep, abSweepStore* store, int nthread,
                            const volatile int* halt, abError* error) {
  (void)context;
  abSweepSource source = ab_sweep_store_source(store);
  return ab_sweep_run(sweep, &source, nthread, halt, error);
}

int cli_sweep(int argc, char** argv) {
  const SweepCrew crew = {NULL, 0, run_threads};
  return cli_sweep_with(argc, argv, &crew);
}
