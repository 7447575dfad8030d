// Files in memory for the readers and writers under search: the build includes this in them, and
// their calls of the system become those of recording.c. A call of the system costs more than all
// the rest of a short recording's reading.
#ifndef ABUT_FUZZ_MEMORY_FILE_H
#define ABUT_FUZZ_MEMORY_FILE_H

#define _POSIX_C_SOURCE 200809L
#include <abut/types.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int fuzz_stat(struct stat* info);
ssize_t fuzz_pread(void* out, size_t n, off_t at);
int fuzz_file_create(const char* path, abError* error);
abStatus fuzz_file_write(int fd, const void* bytes, size_t n, const char* path, abError* error);

#define stat(path, info) ((void)(path), fuzz_stat(info))
#define fstat(fd, info) ((void)(fd), fuzz_stat(info))
#define open(...) 1000
#define close(fd) ((void)(fd), 0)
#define pread(fd, out, n, at) ((void)(fd), fuzz_pread(out, n, at))
#define nanosleep(...) ((void)0)
#define ab_file_create fuzz_file_create
#define ab_file_write fuzz_file_write

#endif
