// The check sum of HDF5's structures: Bob Jenkins' hash "lookup3", in which three words are stirred
// with every twelve bytes.
// Tests: test_record, test_recordings.py.
#include <string.h>

#include "io/h5_file.h"

static uint32_t turn(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

static void stir(uint32_t w[3]) {
  static const int bits[6] = {4, 6, 8, 16, 19, 4};
  for (int i = 0; i < 6; i++) {
    // the words take turns: a, b, c
    uint32_t *a = &w[i % 3], *b = &w[(i + 1) % 3], *c = &w[(i + 2) % 3];
    *a -= *c;
    *a ^= turn(*c, bits[i]);
    *c += *b;
  }
}

static void finish(uint32_t w[3]) {
  static const int bits[7] = {14, 11, 25, 16, 4, 14, 24};
  for (int i = 0; i < 7; i++) {
    // c by b, a by c, b by a, and round again
    uint32_t *x = &w[(i + 2) % 3], *y = &w[(i + 1) % 3];
    *x ^= *y;
    *x -= turn(*y, bits[i]);
  }
}

static void add_bytes(uint32_t w[3], const unsigned char* p, size_t n) {
  for (size_t i = 0; i < n; i++) w[i / 4] += (uint32_t)p[i] << (8 * (i % 4));
}

uint32_t ab_h5_checksum(const void* bytes, size_t n) {
  const unsigned char* p = bytes;
  uint32_t start = 0xdeadbeefu + (uint32_t)n, w[3] = {start, start, start};
  for (; n > 12; p += 12, n -= 12) {
    add_bytes(w, p, 12);
    stir(w);
  }
  add_bytes(w, p, n);
  if (n > 0) finish(w);
  return w[2];
}
