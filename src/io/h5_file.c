// Tests: test_record, test_recordings.py.
#define _POSIX_C_SOURCE 200809L
#include "io/h5_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

// More than any recording's headers, less than anybody waits for.
#define VISIT_BUDGET ((int64_t)1 << 26)
// Of an object's header; attributes have 64 KiB each.
#define MOST_HEADER ((size_t)1 << 22)

void ab_h5_refill(abH5File* f) { f->budget = VISIT_BUDGET; }

uint64_t ab_h5_number(const void* bytes, int n) {
  const uint8_t* p = bytes;
  uint64_t x = 0;
  for (int i = 0; i < n; i++) x |= (uint64_t)p[i] << (8 * i);
  return x;
}

static bool update_size(abH5File* f) {
  struct stat info;
  if (fstat(f->fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 0) return false;
  f->size = (uint64_t)info.st_size;
  return true;
}

bool ab_h5_get(abH5File* f, uint64_t at, size_t n, void* out) {
  if (n > f->size || at > f->size - n) {
    if (!update_size(f) || n > f->size || at > f->size - n) return false;
  }
  if ((f->budget -= (int64_t)n + 64) < 0) return false;
  for (char* p = out; n > 0;) {
    ssize_t got = pread(f->fd, p, n, (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    p += got, at += (uint64_t)got, n -= (size_t)got;
  }
  return true;
}

bool ab_h5_get_checked(abH5File* f, uint64_t at, size_t n, const char* letters, abBuffer* out) {
  out->n = 0;
  if (n < 8 || n > MOST_HEADER) return false;
  if (out->capacity < n) {
    ab_buffer_free(out);
    out->byte = ab_alloc(n);
    out->capacity = out->byte ? n : 0;
  }
  if (!out->byte || !ab_h5_get(f, at, n, out->byte)) return false;
  out->n = n;
  return !memcmp(out->byte, letters, 4) &&
         ab_h5_checksum(out->byte, n - 4) == ab_h5_number(out->byte + n - 4, 4);
}

// --- the file ------------------------------------------------------------------------------------

// Versions 2 and 3: sizes of addresses and lengths, flags, base, extension, end, root, sum.
static bool open_new(abH5File* f) {
  uint8_t b[48];
  if (!ab_h5_get(f, 0, sizeof b, b)) return false;
  f->followed = b[8] == 3 && (b[11] & 4);
  f->root = ab_h5_number(b + 36, 8);
  return b[9] == 8 && b[10] == 8 && ab_h5_number(b + 12, 8) == 0 &&
         ab_h5_checksum(b, 44) == ab_h5_number(b + 44, 4);
}

// Versions 0 and 1: of the root's entry in a symbol table the second number is its header.
static bool open_old(abH5File* f, int version) {
  uint8_t b[104];
  size_t base = version == 0 ? 24 : 28;
  if (!ab_h5_get(f, 0, base + 48, b)) return false;
  f->root = ab_h5_number(b + base + 40, 8);
  return b[13] == 8 && b[14] == 8 && ab_h5_number(b + base, 8) == 0 &&
         ab_h5_number(b + base + 24, 8) == AB_H5_NOWHERE;  // no driver of somebody's own
}

bool ab_h5_open(abH5File* f, const char* path) {
  static const uint8_t letters[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  uint8_t b[9];
  *f = (abH5File){.fd = -1};
  struct stat info;
  // Whoever opens a pipe waits for its writer.
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  ab_h5_refill(f);
  bool good = f->fd >= 0 && update_size(f) && ab_h5_get(f, 0, sizeof b, b) &&
              !memcmp(b, letters, sizeof letters);
  if (good) good = b[8] <= 1 ? open_old(f, b[8]) : b[8] <= 3 && open_new(f);
  if (!good) ab_h5_close(f);
  return good;
}

void ab_h5_close(abH5File* f) {
  if (f->fd >= 0) close(f->fd);
  f->fd = -1;
}

// --- headers of objects --------------------------------------------------------------------------

// Version 2 messages: type (1 byte), size (2), flags (1), perhaps their order (2). Version 1: type
// and size (2 each), flags (1), 3 for nothing.
typedef struct Part {
  uint64_t at, n;
} Part;

enum { MOST_PARTS = 64 };

typedef struct Header {
  abH5File* file;
  abH5Object* object;
  int version;
  bool ordered;
  Part part[MOST_PARTS];
  int npart;
} Header;

static void add_part(Header* h, const uint8_t* message, size_t n) {
  if (n < 16 || h->npart == MOST_PARTS) return;
  h->part[h->npart++] = (Part){ab_h5_number(message, 8), ab_h5_number(message + 8, 8)};
}

// The messages in bytes [begin, end) of the object.
static bool add_messages(Header* h, size_t begin, size_t end) {
  size_t head = h->version == 1 ? 8 : h->ordered ? 6 : 4;
  while (end - begin >= head) {
    const uint8_t* p = (const uint8_t*)h->object->byte.byte + begin;
    unsigned type = h->version == 1 ? (unsigned)ab_h5_number(p, 2) : p[0];
    size_t n = (size_t)ab_h5_number(p + (h->version == 1 ? 2 : 1), 2);
    unsigned flags = h->version == 1 ? p[4] : p[3];
    begin += head;
    if (n > end - begin) return false;
    // A shared message is a note of where it is: nothing a recorder writes.
    abH5Message m = {flags & 2 ? 0xffff : type, begin, n};
    ab_buffer_add(&h->object->message, &m, sizeof m);
    if (m.type == AB_H5_CONTINUED) add_part(h, (const uint8_t*)h->object->byte.byte + begin, n);
    begin += n;
  }
  return !h->object->message.failed;
}

static bool append(Header* h, const void* bytes, size_t n, size_t* begin) {
  abBuffer* all = &h->object->byte;
  *begin = all->n;
  if (n > MOST_HEADER || all->n > MOST_HEADER) return false;
  ab_buffer_add(all, bytes, n);
  return !all->failed;
}

// Bytes of the header at an address whose length is known, as messages.
static bool add_raw(Header* h, uint64_t at, uint64_t n) {
  if (n > MOST_HEADER) return false;
  char* bytes = ab_alloc((size_t)n);
  size_t begin;
  bool good = bytes && ab_h5_get(h->file, at, (size_t)n, bytes) &&
              append(h, bytes, (size_t)n, &begin) && add_messages(h, begin, begin + (size_t)n);
  ab_free(bytes);
  return good;
}

static bool add_checked(Header* h, uint64_t at, uint64_t n, size_t skip, const char* letters) {
  abBuffer b = {0};
  size_t begin;
  bool good = n <= MOST_HEADER && n >= skip + 4 &&
              ab_h5_get_checked(h->file, at, (size_t)n, letters, &b) &&
              append(h, b.byte + skip, (size_t)n - skip - 4, &begin) &&
              add_messages(h, begin, begin + (size_t)n - skip - 4);
  ab_buffer_free(&b);
  return good;
}

static bool begin_new(Header* h, uint64_t at, const uint8_t* b) {
  size_t skip = 6 + (b[5] & 0x20 ? 16u : 0) + (b[5] & 0x10 ? 4u : 0);
  int width = 1 << (b[5] & 3);
  uint8_t size[8];
  h->version = 2;
  h->ordered = b[5] & 4;
  if (b[4] != 2 || !ab_h5_get(h->file, at + skip, (size_t)width, size)) return false;
  uint64_t n = ab_h5_number(size, width);
  skip += (size_t)width;
  return n <= MOST_HEADER && add_checked(h, at, skip + n + 4, skip, "OHDR");
}

bool ab_h5_object(abH5File* f, uint64_t at, abH5Object* out) {
  Header h = {.file = f, .object = out, .version = 1};
  uint8_t b[16];
  *out = (abH5Object){0};
  if (!ab_h5_get(f, at, sizeof b, b)) return false;
  bool new = !memcmp(b, "OHDR", 4);
  bool good =
      new ? begin_new(&h, at, b) : b[0] == 1 && add_raw(&h, at + 16, ab_h5_number(b + 8, 4));
  for (int i = 0; i < h.npart && good; i++)
    good = new ? add_checked(&h, h.part[i].at, h.part[i].n, 4, "OCHK")
               : add_raw(&h, h.part[i].at, h.part[i].n);
  return good;
}

void ab_h5_object_free(abH5Object* o) {
  ab_buffer_free(&o->byte);
  ab_buffer_free(&o->message);
}

int ab_h5_messages(const abH5Object* o) { return (int)(o->message.n / sizeof(abH5Message)); }

abH5Message ab_h5_message(const abH5Object* o, int i) {
  abH5Message m;
  memcpy(&m, o->message.byte + (size_t)i * sizeof m, sizeof m);
  return m;
}

const uint8_t* ab_h5_only(const abH5Object* o, unsigned type, size_t* n) {
  const uint8_t* found = NULL;
  for (int i = 0; i < ab_h5_messages(o); i++) {
    abH5Message m = ab_h5_message(o, i);
    if (m.type != type) continue;
    if (found) return NULL;
    found = (const uint8_t*)o->byte.byte + m.at;
    *n = m.n;
  }
  return found;
}
