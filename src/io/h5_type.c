// Types and shapes, and from stored numbers to ours.
// Tests: test_record, test_recordings.py.
#include <string.h>

#include "io/h5_data.h"

// Whole numbers without gaps, of 1, 2, 4 or 8 bytes: place of the first bit and number of bits.
static bool is_whole(const uint8_t* p, size_t n, size_t bytes) {
  return n >= 12 && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
         ab_h5_number(p + 8, 2) == 0 && ab_h5_number(p + 10, 2) == 8 * bytes;
}

// IEEE 754 single and double: bits, places and sizes of exponent and fraction, bias.
static bool is_float(const uint8_t* p, size_t n, size_t bytes) {
  static const uint8_t single[12] = {0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0};
  static const uint8_t real[12] = {0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0};
  return n >= 20 && !(p[1] & 0x40) &&
         ((bytes == 4 && !memcmp(p + 8, single, 12)) || (bytes == 8 && !memcmp(p + 8, real, 12)));
}

bool ab_h5_read_type(const uint8_t* p, size_t n, abH5Type* out) {
  *out = (abH5Type){AB_H5_OTHER, 0, false, false};
  if (n < 8 || p[0] >> 4 < 1 || p[0] >> 4 > 3) return false;
  size_t bytes = (size_t)ab_h5_number(p + 4, 4);
  unsigned class = p[0] & 15;
  out->bytes = bytes;
  out->swapped = (class == 0 || class == 1) && (p[1] & 1);
  out->sign = class == 0 && (p[1] & 8);
  if (class == 0 && is_whole(p, n, bytes)) out->class = AB_H5_WHOLE;
  if (class == 1 && is_float(p, n, bytes)) out->class = AB_H5_FLOAT;
  if (class == 3 && bytes > 0) out->class = AB_H5_TEXT;
  return out->class != AB_H5_OTHER;
}

bool ab_h5_read_space(const uint8_t* p, size_t n, abH5Space* out) {
  *out = (abH5Space){0};
  if (n < 4 || p[0] < 1 || p[0] > 2 || p[1] > AB_H5_RANK) return false;
  if (p[0] == 2 && p[3] > 1) return false;  // no numbers at all
  size_t at = p[0] == 1 ? 8 : 4;
  out->ndim = p[1];
  if (n < at + 8 * (size_t)out->ndim) return false;
  bool most = p[2] & 1;
  if (most && n < at + 16 * (size_t)out->ndim) return false;
  for (int i = 0; i < out->ndim; i++) {
    out->dim[i] = ab_h5_number(p + at + 8 * i, 8);
    out->most[i] = most ? ab_h5_number(p + at + 8 * (out->ndim + i), 8) : out->dim[i];
    if (out->most[i] < out->dim[i]) return false;
  }
  return true;
}

bool ab_h5_holds(const abH5Type* t, abH5Number number) {
  return t->class == (number == AB_H5_REAL ? AB_H5_FLOAT : AB_H5_WHOLE);
}

static uint64_t bits_of(const abH5Type* t, const uint8_t* p) {
  uint64_t x = 0;
  for (size_t i = 0; i < t->bytes; i++)
    x |= (uint64_t)p[i] << (8 * (t->swapped ? t->bytes - 1 - i : i));
  return x;
}

static double real_of(const abH5Type* t, const uint8_t* p) {
  uint64_t bits = bits_of(t, p);
  double x;
  if (t->bytes == 4) {
    float f;
    uint32_t half = (uint32_t)bits;
    memcpy(&f, &half, sizeof f);
    return (double)f;
  }
  memcpy(&x, &bits, sizeof x);
  return x;
}

// What does not fit becomes the largest or smallest number that does.
static int64_t whole_of(const abH5Type* t, const uint8_t* p, int64_t low, int64_t high) {
  uint64_t bits = bits_of(t, p);
  unsigned unused = 64 - 8 * (unsigned)t->bytes;
  if (!t->sign) return bits > (uint64_t)high ? high : (int64_t)bits;
  bits <<= unused;
  int64_t x;
  memcpy(&x, &bits, sizeof x);
  x /= (int64_t)1 << (unused < 63 ? unused : 62);
  return x < low ? low : x > high ? high : x;
}

void ab_h5_convert(const abH5Type* t, abH5Number number, uint64_t n, const void* stored,
                   void* out) {
  const uint8_t* p = stored;
  for (uint64_t i = 0; i < n; i++, p += t->bytes) {
    if (number == AB_H5_REAL)
      ((double*)out)[i] = real_of(t, p);
    else if (number == AB_H5_INT)
      ((int32_t*)out)[i] = (int32_t)whole_of(t, p, INT32_MIN, INT32_MAX);
    else
      ((int64_t*)out)[i] = whole_of(t, p, INT64_MIN, INT64_MAX);
  }
}
