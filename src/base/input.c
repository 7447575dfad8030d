// Tests: test_input.py, test_mesh_file.
#define _POSIX_C_SOURCE 200809L
#include "base/input.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/error.h"

#define USUAL_LIMIT ((size_t)256 << 20)

size_t ab_input_limit(void) {
  const char* text = getenv("ABUT_INPUT_LIMIT");
  char* end;
  double n = text ? strtod(text, &end) : 0;
  if (!text || end == text || !(n > 0)) return USUAL_LIMIT;
  n *= *end == 'K' ? 0x1p10 : *end == 'M' ? 0x1p20 : *end == 'G' ? 0x1p30 : 1;
  return n < (double)(SIZE_MAX / 4) ? (size_t)n : SIZE_MAX / 4;
}

static abStatus too_large(const char* path, size_t limit, abError* error) {
  return ab_fail(error, AB_ERROR_FILE, path, 0,
                 "has more than %.4g MiB, the limit for a file; does it end at all? A higher limit "
                 "is set by ABUT_INPUT_LIMIT=4G in the environment, or abut --input-limit 4G ...",
                 (double)limit / 0x1p20);
}

// Bytes until the end, at most one more than the limit.
static char* read_bytes(FILE* file, size_t limit, size_t* n) {
  size_t room = limit < 65535 ? limit + 1 : 65536;
  char* bytes = ab_alloc(room);
  *n = 0;
  while (bytes) {
    size_t got = fread(bytes + *n, 1, room - *n, file);
    *n += got;
    if (*n < room || room > limit) break;
    room = room <= limit / 2 ? 2 * room : limit + 1;
    char* more = ab_realloc(bytes, room);
    if (!more) ab_free(bytes);
    bytes = more;
  }
  return bytes;
}

abStatus ab_input_read(const char* path, char** bytes, size_t* n, abError* error) {
  size_t limit = ab_input_limit();
  *bytes = NULL;
  *n = 0;
  if (!path) return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "a file needs a name");
  FILE* file = fopen(path, "rb");
  if (!file)
    return ab_fail(error, AB_ERROR_FILE, path, 0,
                   "cannot be opened: %s; check the path and its permissions", strerror(errno));
  char* read = read_bytes(file, limit, n);
  bool failed = ferror(file) != 0;
  fclose(file);
  abStatus status = AB_OK;
  if (!read)
    status = ab_fail(error, AB_ERROR_MEMORY, path, 0, "no memory for the file");
  else if (failed)
    status = ab_fail(error, AB_ERROR_FILE, path, 0, "cannot be read; is it a folder?");
  else if (*n > limit)
    status = too_large(path, limit, error);
  if (status == AB_OK)
    *bytes = read;
  else
    ab_free(read);
  return status;
}

bool ab_input_exists(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

abStatus ab_input_read_ordinary(const char* path, char** bytes, size_t* n, abError* error) {
  struct stat info;
  *bytes = NULL;
  *n = 0;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
    return ab_fail(error, AB_ERROR_FILE, path, 0,
                   "is a pipe or a device; what a scene names must be an ordinary file");
  return ab_input_read(path, bytes, n, error);
}

bool ab_parse_number(const char* begin, const char* end, double* out) {
  char text[400];  // long enough for every double written out in full
  size_t n = (size_t)(end - begin);
  if (n == 0 || n >= sizeof text) return false;
  memcpy(text, begin, n);
  text[n] = 0;
  // Hexadecimal, "inf" and "nan" are no numbers of a file.
  if (strspn(text, "+-.0123456789eE") != n) return false;
  // strtod wants the decimal sign of the program's locale; files have a point.
  char* point = strchr(text, '.');
  if (point) *point = *localeconv()->decimal_point;
  char* stop;
  *out = strtod(text, &stop);
  return stop == text + n && isfinite(*out);
}
