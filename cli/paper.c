#include "cli.h"
int cli_paper(int argc, char** argv) {
  (void)argc;
  (void)argv;
  return cli_fail("not yet");
}
