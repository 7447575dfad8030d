// What the commands of the program share: options, messages, tables, and the setting up of a run.
#ifndef ABUT_CLI_H
#define ABUT_CLI_H

#include <abut/abut.h>
#include <jansson.h>
#include <stdio.h>

// Exit codes of the program.
typedef enum CliExit {
  CLI_DONE = 0,
  CLI_CHECK_FAILED = 1,
  CLI_BAD_INPUT = 2,  // the command line, a file or a scene
  CLI_BROKEN = 3      // the simulation broke down
} CliExit;

// --- commands; argv[0] is the command's own name
// ------------------------------------------------------

int cli_run(int argc, char** argv);
int cli_info(int argc, char** argv);
int cli_models(int argc, char** argv);
int cli_compare(int argc, char** argv);
int cli_paper(int argc, char** argv);
int cli_convert(int argc, char** argv);
int cli_live(int argc, char** argv);
int cli_haptic(int argc, char** argv);
// A build may leave these out.
int cli_overlap(int argc, char** argv) __attribute__((weak));
int cli_inverse(int argc, char** argv) __attribute__((weak));
int cli_sweep(int argc, char** argv) __attribute__((weak));

// --- options
// ------------------------------------------------------------------------------------------

typedef struct CliOption {
  const char* name;      // with the dashes
  const char* argument;  // what follows it, NULL for a flag
  const char* help;
} CliOption;

// What a command is called with: printed by --help, and read by cli_parse.
typedef struct CliCommand {
  const char* name;
  const char* arguments;  // "SCENE"
  int nargument_min, nargument_max;
  const char* summary;   // one line
  const char* teaching;  // paragraphs and examples after the list of options
  int noption;
  const CliOption* option;
} CliCommand;

#define CLI_MAX_GIVEN 256

typedef struct CliArgs {
  int nargument;
  const char* argument[CLI_MAX_GIVEN];
  int ngiven;
  const char* name[CLI_MAX_GIVEN];   // as in the command's list
  const char* value[CLI_MAX_GIVEN];  // "" for flags
} CliArgs;

// True: go on. False: leave with *exit_code (help was asked for, or something is wrong).
bool cli_parse(const CliCommand* command, int argc, char** argv, CliArgs* args, int* exit_code);
bool cli_has(const CliArgs* args, const char* name);
const char* cli_value(const CliArgs* args, const char* name);  // of its last appearance, or NULL
// The number given with an option, *x untouched without it. False with a message when it is no
// number or not in (low, high].
bool cli_number(const CliArgs* args, const char* name, double low, double high, double* x);

// --- messages (stderr)
// ----------------------------------------------------------------------------------

// Each prints and returns CLI_BAD_INPUT.
int cli_fail(const char* format, ...) __attribute__((format(printf, 1, 2)));
int cli_fail_at(const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
int cli_error(const abError* error);
// Everything that stands against a file; where there is no list, the error.
int cli_problems(const abNotes* notes, const abError* error);
// "; did you mean 'x'?" where one of the names is close to `name`, else "; there are: a, b, c".
const char* cli_suggest(const char* name, int n, const char* const* known);

// Also by another name, through a link.
bool cli_same_file(const char* a, const char* b);
// What to say of files beyond ab_input_limit.
const char* cli_too_large(void);

// --- tables and JSON (stdout)
// ---------------------------------------------------------------------------

// A table of text, columns as wide as their widest cell; a heading that starts with '>' is
// right-aligned.
typedef struct CliTable {
  int ncolumn, ncell, capacity;
  char** cell;
} CliTable;

CliTable cli_table(int ncolumn, const char* const* heading);
void cli_cell(CliTable* table, const char* format, ...) __attribute__((format(printf, 2, 3)));
void cli_table_print(CliTable* table, const char* indent);  // frees it, too
void cli_json_print(json_t* json);                          // frees it, too
json_t* cli_json_text(const char* text);                    // of any bytes
json_t* cli_json_number(double x);                          // null where x is not finite

// --- simulations
// ----------------------------------------------------------------------------------------

// Loads a scene and prints its notes as warnings; NULL with a message printed.
// floating: bodies fixed to the world get free joints.
abModel* cli_load(const char* path, bool quiet, bool floating);
// A simulation under the named contact model (NULL: the scene's), with the run's other options.
abData* cli_simulation(const abModel* model, const CliArgs* args, const char* contact);
// Steps in `time` seconds.
long cli_step_count(double time, double h);
double cli_clock(void);  // wall time [s]
double cli_total_energy(const abModel* model, const abData* data);
// The options cli_simulation reads, for the lists of the commands that use it.
#define CLI_SIMULATION_OPTIONS                                                               \
  {"--time", "T", "simulated time [s] (2)"}, {"--step", "H", "time step [s] (the scene's)"}, \
      {"--floating", NULL, "what is fixed to the world floats: the root link of a URDF"},    \
      {"--key", "NAME", "start from this keyframe (else from the scene's initial pose)"},    \
      {"--set", "NAME=VALUE",                                                                \
       "a parameter of the contact model, as `abut models` lists them; "                     \
       "may be repeated"},                                                                   \
      {"--threads", "N", "threads; any number gives the same result (1)"}, {                 \
    "--sleep", NULL, "let what has come to rest sleep until something touches it"            \
  }

#endif
