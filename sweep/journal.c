#define _DEFAULT_SOURCE
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

typedef struct FileHeader {
  char magic[8];
  uint64_t fingerprint;
  int64_t width, count;
} FileHeader;

typedef struct RecordHeader {
  uint64_t magic;
  int64_t chunk, nrow;
  uint64_t checksum;  // of chunk, nrow and the rows
} RecordHeader;

static const uint64_t RECORD = 0x6b6e75686374756fu;

static FileHeader file_header(const abSweep* s) {
  FileHeader h = {.fingerprint = s->fingerprint, .width = ab_sweep_width(s), .count = s->count};
  memcpy(h.magic, "abutswp1", 8);
  return h;
}

static uint64_t checksum(int64_t chunk, int64_t nrow, const double* row, size_t bytes) {
  uint64_t hash = 0x9e3779b97f4a7c15u ^ (uint64_t)chunk ^ (uint64_t)nrow << 40;
  const uint64_t* word = (const uint64_t*)(const void*)row;
  for (size_t i = 0; i < bytes / 8; i++) {
    hash = (hash ^ word[i]) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  return hash;
}

bool journal_read(int fd, void* bytes, size_t n, int64_t offset) {
  for (size_t done = 0; done < n;) {
    ssize_t k = pread(fd, (char*)bytes + done, n - done, offset + (int64_t)done);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    done += (size_t)k;
  }
  return true;
}

static bool write_all(int fd, const void* bytes, size_t n, int64_t offset) {
  for (size_t done = 0; done < n;) {
    ssize_t k = pwrite(fd, (const char*)bytes + done, n - done, offset + (int64_t)done);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    done += (size_t)k;
  }
  return true;
}

static abStatus cannot(const Journal* j, const char* what, abError* error) {
  return sweep_fail(error, AB_ERROR_FILE, j->path, 0, "cannot %s: %s", what, strerror(errno));
}

// The first thing in the file; a file that ends before it is new.
static abStatus check_header(Journal* j, const abSweep* s, abError* error) {
  FileHeader wanted = file_header(s), found;
  j->size = 0;
  if (!journal_read(j->fd, &found, sizeof found, 0)) return AB_OK;
  if (memcmp(&wanted, &found, sizeof found))
    return sweep_fail(error, AB_ERROR_FILE, j->path, 0,
                      "this journal is of another sweep; choose another folder, or remove it");
  j->size = sizeof found;
  return AB_OK;
}

abStatus journal_open(Journal* j, const abSweep* s, const char* path, abError* error) {
  snprintf(j->path, sizeof j->path, "%s", path);
  j->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (j->fd < 0) return cannot(j, "be opened", error);
  if (flock(j->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return sweep_fail(error, AB_ERROR_FILE, path, 0,
                      "another process is at work on this sweep; wait for it, or end it");
  return check_header(j, s, error);
}

abStatus journal_open_read(Journal* j, const abSweep* s, const char* path, abError* error) {
  snprintf(j->path, sizeof j->path, "%s", path);
  j->fd = open(path, O_RDONLY | O_CLOEXEC);
  return j->fd < 0 ? cannot(j, "be read", error) : check_header(j, s, error);
}

abStatus journal_scan(Journal* j, const abSweep* s, JournalVisit* visit, void* context,
                      abError* error) {
  int64_t first, n, most, width = ab_sweep_width(s);
  RecordHeader r;
  ab_sweep_chunk(s, 0, &first, &most);
  double* row = malloc(sizeof(double) * (size_t)(most * width));
  if (!row) return sweep_fail(error, AB_ERROR_MEMORY, j->path, 0, "no memory for a chunk");
  while (j->size > 0 && journal_read(j->fd, &r, sizeof r, j->size)) {
    if (r.magic != RECORD || r.chunk < 0 || r.chunk >= ab_sweep_nchunk(s)) break;
    ab_sweep_chunk(s, r.chunk, &first, &n);
    size_t bytes = sizeof(double) * (size_t)(n * width);
    int64_t at = j->size + (int64_t)sizeof r;
    if (r.nrow != n || !journal_read(j->fd, row, bytes, at) ||
        checksum(r.chunk, n, row, bytes) != r.checksum)
      break;
    visit(context, r.chunk, at);
    j->size = at + (int64_t)bytes;
  }
  free(row);
  return AB_OK;
}

// Header and rows from one buffer: a process that dies leaves a prefix, never a hole.
static bool write_record(Journal* j, int64_t chunk, int64_t n, const double* row, size_t bytes) {
  RecordHeader r = {RECORD, chunk, n, checksum(chunk, n, row, bytes)};
  char* block = malloc(sizeof r + bytes);
  if (!block) {
    errno = ENOMEM;
    return false;
  }
  memcpy(block, &r, sizeof r);
  memcpy(block + sizeof r, row, bytes);
  bool good = write_all(j->fd, block, sizeof r + bytes, j->size);
  free(block);
  return good;
}

abStatus journal_add(Journal* j, const abSweep* s, int64_t chunk, const double* row,
                     int64_t* offset, abError* error) {
  int64_t first, n;
  ab_sweep_chunk(s, chunk, &first, &n);
  size_t bytes = sizeof(double) * (size_t)n * (size_t)ab_sweep_width(s);
  FileHeader h = file_header(s);
  bool good = j->size > 0 || write_all(j->fd, &h, sizeof h, 0);
  if (good && j->size == 0) j->size = sizeof h;
  if (!good || !write_record(j, chunk, n, row, bytes)) {
    int why = errno;
    // a torn record does no harm where it cannot be cut off: it does not check
    if (ftruncate(j->fd, j->size) != 0) why = errno;
    return sweep_fail(error, AB_ERROR_FILE, j->path, 0,
                      "cannot be written: %s; make room and go on with --resume", strerror(why));
  }
  *offset = j->size + (int64_t)sizeof(RecordHeader);
  j->size = *offset + (int64_t)bytes;
  return AB_OK;
}

void journal_sync(Journal* j) {
  // what is not on the disk yet survives the process, if not the machine
  if (j->fd >= 0 && fdatasync(j->fd) != 0) return;
}

void journal_close(Journal* j) {
  if (j->fd >= 0) close(j->fd);
  j->fd = -1;
}
