// abut live: a page that simulates the scene in a browser.
#include "cli.h"

static const CliOption option[] = {
    {"--key", "NAME", "start from this keyframe (else from the scene's initial pose)"},
    {"--contact", "NAME", "contact model (the scene's, else patch)"},
    {"--step", "H", "time step [s] (the scene's)"},
    {"--set", "NAME=VALUE", "a parameter of the contact model; may be repeated"},
    {"--title", "TEXT", "heading of the page (the scene's name)"},
    {"--text", "TEXT", "a sentence shown below it"},
    {"--home", "ADDRESS", "a page to link back to"},
    {"--quiet", NULL, "no warnings"},
};

static const CliCommand command = {
    "live",
    "SCENE OUT.html",
    2,
    2,
    "Writes a page that simulates the scene in a browser: grab bodies with the mouse or a finger.",
    "The page is one file that needs neither a server nor a network: the simulator is in it, "
    "compiled\n"
    "to WebAssembly, with the compiled scene. Open it by double click.\n\n"
    "Examples:\n"
    "  abut live scenes/demo.xml out/live.html\n"
    "  abut live scenes/stack10.xml out/stack.html --contact point-pgs\n",
    sizeof option / sizeof option[0],
    option};

int cli_live(int argc, char** argv) {
  CliArgs args;
  int code;
  if (!cli_parse(&command, argc, argv, &args, &code)) return code;
  const char *in = args.argument[0], *out = args.argument[1];
  if (cli_same_file(in, out))
    return cli_fail("SCENE and OUT are the same file %s; choose another OUT", in);
  abModel* model = cli_load(in, cli_has(&args, "--quiet"), false);
  if (!model) return CLI_BAD_INPUT;
  abData* data = cli_simulation(model, &args, cli_value(&args, "--contact"));
  abError error = {0};
  const char* key = cli_value(&args, "--key");
  abLivePage page = {.key = key ? ab_find_key(model, key) : -1,
                     .title = cli_value(&args, "--title"),
                     .text = cli_value(&args, "--text"),
                     .home = cli_value(&args, "--home")};
  code = CLI_BAD_INPUT;
  if (data)
    code = ab_live_page(out, model, data, &page, &error) == AB_OK ? CLI_DONE : cli_error(&error);
  ab_data_free(data);
  ab_model_free(model);
  return code;
}
