// What a failed assertion does.
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void ab_assert_failed(const char* what, const char* file, int line) {
  fprintf(stderr, "%s:%d: this must hold: %s\n", file, line, what);
  abort();
}
