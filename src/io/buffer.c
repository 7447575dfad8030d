// Tests: test_record.
#define _GNU_SOURCE  // F_OFD_SETLK
#include "io/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

void ab_buffer_free(abBuffer* b) {
  ab_free(b->byte);
  *b = (abBuffer){0};
}

static bool make_room(abBuffer* b, size_t n) {
  if (b->failed || n > SIZE_MAX / 4 - b->n) return b->failed = true, false;
  if (b->n + n <= b->capacity) return true;
  size_t capacity = b->capacity ? b->capacity : 4096;
  while (capacity < b->n + n) capacity *= 2;
  char* byte = ab_realloc(b->byte, capacity);
  if (!byte) {
    b->failed = true;
    return false;
  }
  b->byte = byte;
  b->capacity = capacity;
  return true;
}

void ab_buffer_add(abBuffer* b, const void* bytes, size_t n) {
  if (n == 0 || !make_room(b, n)) return;
  memcpy(b->byte + b->n, bytes, n);
  b->n += n;
}

void ab_buffer_text(abBuffer* b, const char* text) { ab_buffer_add(b, text, strlen(text)); }

void ab_buffer_print(abBuffer* b, const char* format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  if (n >= 0 && make_room(b, (size_t)n + 1)) {
    vsnprintf(b->byte + b->n, (size_t)n + 1, format, again);
    b->n += (size_t)n;
  }
  va_end(again);
  va_end(args);
}

void ab_buffer_base64(abBuffer* b, const void* bytes, size_t n) {
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char* p = bytes;
  size_t m = (n + 2) / 3 * 4;
  if (n == 0 || !make_room(b, m)) return;
  char* out = b->byte + b->n;
  for (size_t i = 0; i < n; i += 3) {
    unsigned w = (unsigned)p[i] << 16;
    if (i + 1 < n) w |= (unsigned)p[i + 1] << 8;
    if (i + 2 < n) w |= p[i + 2];
    *out++ = digit[w >> 18];
    *out++ = digit[w >> 12 & 63];
    *out++ = i + 1 < n ? digit[w >> 6 & 63] : '=';
    *out++ = i + 2 < n ? digit[w & 63] : '=';
  }
  b->n += m;
}

abStatus ab_make_folders(const char* path, abError* error) {
  char part[4096];
  if (strlen(path) >= sizeof part)
    return ab_fail(error, AB_ERROR_FILE, path, 0, "the name is too long");
  for (size_t i = 0; path[i]; i++) {
    part[i] = path[i];
    if (path[i] != '/' || i == 0) continue;
    part[i] = 0;
    if (mkdir(part, 0777) != 0 && errno != EEXIST)
      return ab_fail(error, AB_ERROR_FILE, part, 0, "cannot make this folder: %s", strerror(errno));
    part[i] = '/';
  }
  return AB_OK;
}

// Whether no other recorder has the file. A lock of the open file, not of the process, so that two
// recorders of one program exclude each other, too; and not flock, which HDF5's readers take.
static bool lock(int fd) {
#if defined(F_OFD_SETLK) || defined(F_SETLK)
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
#ifdef F_OFD_SETLK
  int status = fcntl(fd, F_OFD_SETLK, &whole);
#else
  int status = fcntl(fd, F_SETLK, &whole);
#endif
  return status == 0 || (errno != EAGAIN && errno != EACCES);
#else  // a system of one program has no locks
  (void)fd;
  return true;
#endif
}

int ab_file_create(const char* path, abError* error) {
  if (ab_make_folders(path, error) != AB_OK) return -1;
  // Nothing of an existing file is touched before it is ours.
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) {
    ab_fail(error, AB_ERROR_FILE, path, 0, "cannot write this file: %s", strerror(errno));
    return -1;
  }
  struct stat info, there;
  bool ordinary = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  bool taken = ordinary && !lock(fd);
  // A recorder may just have put its own file in the place of this one.
  taken = taken || (ordinary && (stat(path, &there) != 0 || there.st_ino != info.st_ino ||
                                 there.st_dev != info.st_dev));
  if (taken)
    ab_fail(error, AB_ERROR_FILE, path, 0,
            "another recording is being written to this file; wait for it, or choose another name");
  else if (ordinary && ftruncate(fd, 0) != 0)
    ab_fail(error, AB_ERROR_FILE, path, 0, "cannot write this file: %s", strerror(errno));
  else
    return fd;
  close(fd);
  return -1;
}

abStatus ab_file_write(int fd, const void* bytes, size_t n, const char* path, abError* error) {
  const char* p = bytes;
  while (n > 0) {
    ssize_t done = write(fd, p, n);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0)
      return ab_fail(error, AB_ERROR_FILE, path, 0, "cannot write: %s", strerror(errno));
    if (done == 0) return ab_fail(error, AB_ERROR_FILE, path, 0, "cannot write: nothing was taken");
    p += done;
    n -= (size_t)done;
  }
  return AB_OK;
}

double ab_wall_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
