// A growing run of bytes, for writers that compose a whole sample before they hand it to the
// system, and the few file helpers the recorders share.
#ifndef ABUT_IO_BUFFER_H
#define ABUT_IO_BUFFER_H

#include <abut/types.h>

typedef struct abBuffer {
  char* byte;
  size_t n, capacity;
  bool failed;  // an allocation failed: what was added since is missing
} abBuffer;

void ab_buffer_free(abBuffer* b);
void ab_buffer_add(abBuffer* b, const void* bytes, size_t n);
void ab_buffer_text(abBuffer* b, const char* text);
void ab_buffer_print(abBuffer* b, const char* format, ...) __attribute__((format(printf, 2, 3)));
// bytes as base64 text (RFC 4648)
void ab_buffer_base64(abBuffer* b, const void* bytes, size_t n);

// Opens a file for writing from its start, making the folders on the way; -1 with the error filled.
// As long as it is open, no other recorder gets it.
int ab_file_create(const char* path, abError* error);
// Writes everything or fails.
abStatus ab_file_write(int fd, const void* bytes, size_t n, const char* path, abError* error);
// Makes the folder `path` up to its last '/', and those on the way.
abStatus ab_make_folders(const char* path, abError* error);
// Seconds of a clock that never jumps; for the time between flushes only.
double ab_wall_clock(void);

#endif
