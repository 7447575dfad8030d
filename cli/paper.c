// abut paper: runs the papers' experiments and gathers their claims, verdicts and curves into one
// page.
//
// Every experiment is a program of its own in experiments/ beside this one in the build tree, in
// lib/abut/experiments where abut was installed; it writes a JSON file with its claims and curves.
// The page is drawn from these files by a small script with matplotlib (tools/report.py of the
// sources, or share/abut/tools): nothing on it is stored, all comes from the run.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "progress.h"

typedef struct Experiment {
  const char* id;
  const char* program;  // NULL: not done yet
  const char* title;
} Experiment;

static const Experiment experiment[] = {
    {"wakisaka-1", "wakisaka-2017_arm",
     "Wakisaka & Sugihara 2017, simulation 1: an arm puts a box on an edge"},
    {"wakisaka-2", "wakisaka-2017_friction_region",
     "Wakisaka & Sugihara 2017, simulation 2: force and torque a cube holds"},
    {"zhang-heap", "zhang_seven_boxes", "Zhang et al.: floor force on the lowest of seven boxes"},
    {"zhang-drop", "zhang_single_drop", "Zhang et al.: one box dropped on its corner"},
    {"zhang-time", "zhang_time_per_step", "Zhang et al.: time per step over the number of boxes"},
    {"hasegawa-1", "hasegawa-2004_speed",
     "Hasegawa & Sato 2004, experiment 1: time per step over the number of blocks"},
    {"hasegawa-2", "hasegawa-2004_stability",
     "Hasegawa & Sato 2004, experiment 2: a cube comes to rest"},
    {"hasegawa-3", "hasegawa-2004_stick_slip",
     "Hasegawa & Sato 2004, experiment 3: stick and slip"},
    {"hasegawa-manipulation", "hasegawa-2004_manipulation",
     "Hasegawa & Sato 2004: direct manipulation of blocks"},
    {"hasegawa-touch", "hasegawa-2004_touch",
     "Hasegawa & Sato 2004: how stiff a wall can be made to feel"},
    {"hasegawa-top", "hasegawa-2004_tops", "Hasegawa & Sato 2004: spinning top and tippe top"},
    {"hasegawa-insect", "hasegawa-2004_insect", "Hasegawa & Sato 2004: a walking insect"},
    {"hasegawa-gears", "hasegawa-2004_gears", "Hasegawa & Sato 2004: gears and a cube"},
    {"xie-cube-slide", "xie-line-surface_cube_slide",
     "Xie & Chakraborty, line and surface contact, scenario 1: a cube slides"},
    {"xie-cube-slide-peers", "xie-line-surface_cube_slide_peers",
     "Xie & Chakraborty, scenario 1: the same slide beside ODE, Bullet and MuJoCo"},
    {"xie-cylinder-roll", "xie-line-surface_cylinder_roll",
     "Xie & Chakraborty, scenario 2: a cylinder rolls and spins"},
    {"xie-cube-topple", "xie-line-surface_cube_topple",
     "Xie & Chakraborty, scenario 3: a cube from point to line to surface contact"},
    {"xie-manipulation", "xie-line-surface_manipulation",
     "Xie & Chakraborty, scenario 4: a heavy cylinder is rolled and pivoted"},
    {"xie-desk", "xie-nonconvex_desk",
     "Xie & Chakraborty, non-convex patches: a desk on four feet"},
    {"xie-t-bar", "xie-nonconvex_t_bar", "Xie & Chakraborty, non-convex patches: a T-shaped bar"},
};
enum { NEXPERIMENT = sizeof experiment / sizeof *experiment };

static const CliOption option[] = {
    {"--list", NULL, "names the experiments and leaves"},
    {"--out", "DIR", "where the page goes (out/paper)"},
    {"--short", NULL, "shorter runs, no page: what the tests use"},
    {"--quiet", NULL, "no progress bar"},
};

static const CliCommand command = {
    "paper",
    "[ID...]",
    0,
    NEXPERIMENT,
    "Reproduces the papers' experiments: a verdict per claim, exit code 1 if one fails.",
    "Without an ID all are run, and DIR/index.html shows claims, verdicts and curves.\n"
    "  abut paper --list\n"
    "  abut paper xie-desk\n",
    sizeof option / sizeof option[0],
    option};

static bool wanted(const CliArgs* args, const char* id) {
  if (args->nargument == 0) return true;
  for (int i = 0; i < args->nargument; i++)
    if (strcmp(args->argument[i], id) == 0) return true;
  return false;
}

static bool known(const char* id) {
  for (int i = 0; i < NEXPERIMENT; i++)
    if (strcmp(experiment[i].id, id) == 0) return true;
  return false;
}

// Makes a folder and those above it.
static bool make_folder(const char* path) {
  char part[4096];
  size_t n = strlen(path);
  if (n >= sizeof part) return false;
  for (size_t i = 1; i <= n; i++)
    if (path[i] == '/' || path[i] == 0) {
      memcpy(part, path, i);
      part[i] = 0;
      if (mkdir(part, 0777) != 0 && errno != EEXIST) return false;
    }
  return true;
}

// Runs a program with its output in a file; its exit code, or -1 if it could not be run or was
// killed.
static int run(char* const argv[], const char* log) {
  pid_t child = fork();
  if (child == 0) {
    int file = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || dup2(file, 1) < 0 || dup2(file, 2) < 0) _exit(127);
    execv(argv[0], argv);
    _exit(127);
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) return -1;
  int code = WEXITSTATUS(status);
  return code == 127 ? -1 : code;
}

static void copy_to_stdout(const char* path) {
  FILE* file = fopen(path, "r");
  if (!file) return;
  char line[2048];
  while (fgets(line, sizeof line, file)) fputs(line, stdout);
  fclose(file);
}

// The path of what lies beside this program.
static bool beside_program(char* path, size_t size, const char* folder, const char* name) {
  ssize_t n = readlink("/proc/self/exe", path, size);
  size_t own = 0;
  for (ssize_t i = 0; n > 0 && (size_t)n < size && i < n; i++)
    if (path[i] == '/') own = (size_t)i + 1;
  int more = own ? snprintf(path + own, size - own, "%s%s", folder, name) : -1;
  if (more > 0 && (size_t)more < size - own) return true;
  cli_fail("paper: cannot find out where this program lies");
  return false;
}

// 0 all claims hold, 1 one failed, 2 it could not be run.
static int run_experiment(const Experiment* e, const char* out, bool brief) {
  char program[4096], json[4096], log[4096];
  if (!beside_program(program, sizeof program, "experiments/experiment_", e->program)) return 2;
  char installed[4096];
  if (access(program, X_OK) != 0 &&
      beside_program(installed, sizeof installed, "../" ABUT_MODULE_DIR "/experiments/experiment_",
                     e->program) &&
      access(installed, X_OK) == 0)
    memcpy(program, installed, sizeof program);
  snprintf(json, sizeof json, "%s/%s.json", out, e->id);
  snprintf(log, sizeof log, "%s/%s.txt", out, e->id);
  // Comparisons are built only where the peers are installed.
  if (strstr(e->program, "_peers") && access(program, X_OK) != 0) {
    printf("%s: left out, since no peer is installed (tools/setup.sh bench)\n\n", e->id);
    return 0;
  }
  char* argv[] = {program, "--json", json, brief ? "--short" : NULL, NULL};
  int code = run(argv, log);
  printf("%s: ", e->id);
  copy_to_stdout(log);
  printf("\n");
  fflush(stdout);
  if (code == 0 || code == 1) return code;
  fprintf(stderr, "abut paper: %s did not run; its output is in %s\n", program, log);
  return 2;
}

static int draw_page(const char* out) {
  char log[4096];
  snprintf(log, sizeof log, "%s/report.log", out);
  char list[8192] = "";
  for (int i = 0; i < NEXPERIMENT; i++) {
    size_t n = strlen(list);
    snprintf(list + n, sizeof list - n, "%s\t%s\t%s\n", experiment[i].id,
             experiment[i].program ? "done" : "open", experiment[i].title);
  }
  char path[4096];
  snprintf(path, sizeof path, "%s/list.txt", out);
  FILE* file = fopen(path, "w");
  if (!file || fputs(list, file) < 0 || fclose(file) != 0) return cli_fail("cannot write %s", path);
  char script[4096];
  if (!beside_program(script, sizeof script, "../../tools/", "report.py")) return CLI_BAD_INPUT;
  if (access(script, R_OK) != 0 &&
      !beside_program(script, sizeof script, "../share/abut/tools/", "report.py"))
    return CLI_BAD_INPUT;
  char* argv[] = {"/usr/bin/python3", script, (char*)out, NULL};
  if (run(argv, log) != 0) {
    copy_to_stdout(log);
    return cli_fail(
        "the page was not drawn (python3 with matplotlib is needed: tools/setup.sh paper)");
  }
  printf("page: %s/index.html\n", out);
  return CLI_DONE;
}

static int list(void) {
  static const char* const heading[] = {"id", "", "experiment"};
  CliTable t = cli_table(3, heading);
  for (int i = 0; i < NEXPERIMENT; i++) {
    cli_cell(&t, "%s", experiment[i].id);
    cli_cell(&t, "%s", experiment[i].program ? "" : "not done yet");
    cli_cell(&t, "%s", experiment[i].title);
  }
  cli_table_print(&t, "");
  return CLI_DONE;
}

int cli_paper(int argc, char** argv) {
  CliArgs args;
  int code;
  if (!cli_parse(&command, argc, argv, &args, &code)) return code;
  if (cli_has(&args, "--list")) return list();
  const char* ids[NEXPERIMENT];
  for (int i = 0; i < NEXPERIMENT; i++) ids[i] = experiment[i].id;
  for (int i = 0; i < args.nargument; i++)
    if (!known(args.argument[i]))
      return cli_fail("there is no experiment '%s'%s", args.argument[i],
                      cli_suggest(args.argument[i], NEXPERIMENT, ids));
  const char* out = cli_has(&args, "--out") ? cli_value(&args, "--out") : "out/paper";
  if (!make_folder(out)) return cli_fail("cannot make the folder %s", out);
  bool brief = cli_has(&args, "--short");
  Progress progress = progress_begin("experiments", cli_has(&args, "--quiet"));
  int worst = 0, ndone = 0, nfailed = 0;
  for (int i = 0; i < NEXPERIMENT; i++) {
    progress_show(&progress, (double)i / NEXPERIMENT);
    if (!wanted(&args, experiment[i].id)) continue;
    if (!experiment[i].program) {
      printf("%s: not done yet: %s\n\n", experiment[i].id, experiment[i].title);
      continue;
    }
    int result = run_experiment(&experiment[i], out, brief);
    ndone++;
    nfailed += result != 0;
    if (result > worst) worst = result;
  }
  progress_end(&progress);
  printf("%d experiments, %d with a failed claim\n", ndone, nfailed);
  if (!brief && args.nargument == 0) {
    int drawn = draw_page(out);
    if (drawn != CLI_DONE) return drawn;
  }
  return worst;
}
