// Counts what the strategies of the implicit model solve, in a build with ABUT_ECP_COUNT: for each
// name how often it was tried and how often it held. A process appends its counts to the file that
// ABUT_ECP_COUNT names when it ends; strategies.sh adds them up.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// As src/contact/ecp/ecp.h declares it.
bool ab_ecp_counted(const char* name, bool solved);

enum { NAMES = 64 };
static struct {
  const char* name;
  long tried, solved;
} tally[NAMES];

static void write_counts(void) {
  const char* path = getenv("ABUT_ECP_COUNT");
  FILE* out = path ? fopen(path, "a") : NULL;
  if (!out) return;
  for (int i = 0; i < NAMES && tally[i].name; i++)
    fprintf(out, "%s\t%ld\t%ld\n", tally[i].name, tally[i].tried, tally[i].solved);
  fclose(out);
}

bool ab_ecp_counted(const char* name, bool solved) {
  if (!tally[0].name) atexit(write_counts);
  int i = 0;
  while (i < NAMES - 1 && tally[i].name && strcmp(tally[i].name, name) != 0) i++;
  tally[i].name = name;
  tally[i].tried++;
  tally[i].solved += solved;
  return solved;
}
