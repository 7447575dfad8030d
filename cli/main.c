// The program: finds the command and hands over.
#include <string.h>

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
      "Exit codes: 0 done; 1 a check failed; 2 the command line, a file or a scene is wrong;\n"
      "3 the simulation broke down.\n");
  return CLI_DONE;
}

int main(int argc, char** argv) {
  Command command[NCOMMAND];
  list_commands(command);
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
