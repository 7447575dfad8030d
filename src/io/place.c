// Tests: test_replay.mjs, test_live.mjs.
#define _GNU_SOURCE  // dladdr
#include "io/place.h"

#include <abut/abut.h>
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

bool ab_own_folder(char* path, size_t size) {
  Dl_info info;
  static const char here = 0;  // in the library, wherever that is
  bool found = dladdr(&here, &info) != 0 && info.dli_fname;
  // For a program the loader knows only what it was called, which may be found in any folder.
  bool shared = found && info.dli_fname[0] == '/' && strstr(info.dli_fname, ".so");
  ssize_t n = -1;
  if (shared && strlen(info.dli_fname) < size) {
    n = (ssize_t)strlen(info.dli_fname);
    memcpy(path, info.dli_fname, (size_t)n + 1);
  } else if (!shared) {
    n = readlink("/proc/self/exe", path, size);
  }
  if (n <= 0 || (size_t)n >= size) return false;
  path[n] = 0;
  char* slash = strrchr(path, '/');
  if (!slash) return false;
  *slash = 0;
  return true;
}
