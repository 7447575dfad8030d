// Tests: test_bad_input.
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

abStatus ab_fail(abError* error, abStatus code, const char* file, int line, const char* format,
                 ...) {
  if (!error) return code;
  error->code = code;
  error->line = line;
  snprintf(error->file, sizeof error->file, "%s", file ? file : "");
  va_list args;
  va_start(args, format);
  vsnprintf(error->message, sizeof error->message, format, args);
  va_end(args);
  return code;
}
