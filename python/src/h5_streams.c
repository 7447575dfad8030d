// stdout and stderr for the static HDF5 library.
//
// Debian compiles libhdf5.a for programs: it takes the addresses of these two as known when it is
// linked, which those of another shared library never are. The extension is linked with
// --wrap=stdout and --wrap=stderr, so that the library's references lead to the variables below,
// which are its own. HDF5 uses them for messages alone, long after the constructor has run.
#include <stdio.h>

extern FILE *__real_stdout, *__real_stderr;
extern FILE *__wrap_stdout, *__wrap_stderr;
__attribute__((visibility("hidden"))) FILE *__wrap_stdout, *__wrap_stderr;

__attribute__((constructor)) static void copy_streams(void) {
  __wrap_stdout = __real_stdout;
  __wrap_stderr = __real_stderr;
}
