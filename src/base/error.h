// Filling an abError: what, where, what to do.
#ifndef ABUT_BASE_ERROR_H
#define ABUT_BASE_ERROR_H

#include <abut/types.h>

// Fills *error (which may be NULL) and returns code, so that `return ab_fail(...)` reads as one
// thought. file may be NULL and line 0 where they do not apply.
abStatus ab_fail(abError* error, abStatus code, const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
