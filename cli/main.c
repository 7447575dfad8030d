// The program: finds the command and hands over.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

typedef struct Command {
  const char* name;
  int (*run)(int argc, char** argv);
  const char* summary;
} Command;

enum { NCOMMAND = 11 };

// Not a constant table: the address of a command that was left out is known to the linker only.
static void list_commands(Command command[NCOMMAND]) {
  const Command all[NCOMMAND] = {
      {"run", cli_run, "simulate a scene and record it"},
      {"info", cli_info, "the compiled model as a table"},
      {"models", cli_models, "contact models and their parameters"},
      {"compare", cli_compare, "the same scene under several contact models"},
      {"paper", cli_paper, "reproduce the papers' experiments, a verdict per claim"},
      {"live", cli_live, "a page that simulates a scene in the browser"},
      {"haptic", cli_haptic, "hands in the loop, through haptic devices, at 1 kHz"},
      {"convert", cli_convert, "scenes to MJCF or model files, recordings to CSV, HTML, glTF"},
      {"overlap", cli_overlap, "overlap volumes of pairs of convex polyhedra"},
      {"inverse", cli_inverse, "contact points and wrenches from recorded motion"},
      {"sweep", cli_sweep, "the same scene many times with other numbers"},
  };
  memcpy(command, all, sizeof all);
}

static int print_help(const Command* command) {
  printf(
      "abut %s: rigid bodies that touch over areas\n\n"
      "usage: abut COMMAND ... (abut COMMAND --help explains it)\n\n",
      ab_version());
  for (int i = 0; i < NCOMMAND; i++)
    if (command[i].run) printf("  %-9s %s\n", command[i].name, command[i].summary);
  printf(
      "\nFirst steps:\n"
      "  abut run scenes/box_on_plane.xml                    simulate 2 s and print what happened\n"
      "  abut run scenes/demo.xml --record out/demo.html     a page to look at in a browser\n"
      "  abut run scenes/slide.xml --time 5 --csv out/       every body and contact as CSV\n"
      "  abut compare scenes/stack10.xml --contact patch,point-pgs\n\n"
      "abut --input-limit 4G COMMAND ... reads files of more than 256 MiB.\n"
      "Exit codes: 0 done; 1 a check failed; 2 the command line, a file or a scene is wrong;\n"
      "3 the simulation broke down.\n");
  return CLI_DONE;
}

// Standard streams that were closed are filled, or the next files opened would get their numbers,
// and messages would land in a recording. They are filled the wrong way round, so that reading and
// writing fail as they would have.
static void fill_standard_streams(void) {
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

// jansson leaves out what it has no memory for and goes on; what it then prints is not the result.
static bool json_is_incomplete;

static void* json_memory(size_t bytes) {
  void* p = malloc(bytes);
  if (!p) json_is_incomplete = true;
  return p;
}

// What was printed has arrived, or the command has failed.
static int finish(int code) {
  if (json_is_incomplete && code == CLI_DONE) code = cli_fail("no memory for the result");
  errno = 0;
  bool good = fflush(stdout) == 0 && !ferror(stdout);
  int why = errno;
  if (good) return code;
  int failed =
      cli_fail("cannot write to standard output%s%s", why ? ": " : "", why ? strerror(why) : "");
  return code == CLI_DONE ? failed : code;
}

// --input-limit SIZE before the command: larger files are read. The library reads it from the
// environment. Returns how many words it took, -1 with a message.
static int set_input_limit(int argc, char** argv) {
  static const char name[] = "--input-limit";
  if (argc < 2 || strncmp(argv[1], name, sizeof name - 1) != 0) return 0;
  bool apart = argv[1][sizeof name - 1] == 0;
  const char* text = apart ? argc > 2 ? argv[2] : "" : argv[1] + sizeof name;
  size_t digits = strspn(text, "0123456789."), rest = strlen(text + digits);
  if (!digits || rest > 1 || (rest && !strchr("KMG", text[digits])))
    return cli_fail(
               "--input-limit %s: give a number of bytes, K, M or G after it as you like, for "
               "example --input-limit 4G",
               text),
           -1;
  setenv("ABUT_INPUT_LIMIT", text, 1);
  return apart ? 2 : 1;
}

static int dispatch(int argc, char** argv) {
  Command command[NCOMMAND];
  list_commands(command);
  int taken = set_input_limit(argc, argv);
  if (taken < 0) return CLI_BAD_INPUT;
  argc -= taken, argv += taken;
  if (argc < 2) return print_help(command), CLI_BAD_INPUT;
  const char* name = argv[1];
  if (!strcmp(name, "--version") || !strcmp(name, "-V") || !strcmp(name, "version"))
    return printf("abut %s\n", ab_version()), CLI_DONE;
  if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
    return print_help(command);
  const char* known[NCOMMAND];
  for (int i = 0; i < NCOMMAND; i++) {
    known[i] = command[i].name;
    if (strcmp(name, command[i].name)) continue;
    if (command[i].run) return command[i].run(argc - 1, argv + 1);
    return cli_fail("this build was made without the command '%s'", name);
  }
  return cli_fail("there is no command '%s'%s", name, cli_suggest(name, NCOMMAND, known));
}

int main(int argc, char** argv) {
  fill_standard_streams();
  // A file that may not grow any more is reported like a full disk, by the write that failed.
  signal(SIGXFSZ, SIG_IGN);
  json_set_alloc_funcs(json_memory, free);
  return finish(dispatch(argc, argv));
}
