// A valid recording with a few bytes changed and every check sum made right again, so that the
// search gets behind the sums: four bytes are an edit, the place (of those that matter, in the
// order of the file) in three of them, the new value in the last.
#include <stdlib.h>
#include <string.h>

#include "io/h5_file.h"
#include "recording.h"

typedef struct Sum {
  size_t begin, n;  // the sum stands behind these bytes
} Sum;

static uint8_t *good, *edited;
static size_t size, nsum, nplace;
static Sum sum[4096];
static uint32_t* place;

static uint32_t word(const uint8_t* p) {
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

// Structures begin with four letters; their ends are found by the sum that fits.
static void find_sums(void) {
  static const char* const begins[] = {"\x89HDF", "OHDR", "OCHK", "FRHP", "FHDB", "FHIB", "BTHD",
                                       "BTLF",    "BTIN", "EAHD", "EAIB", "EASB", "EADB", "FAHD",
                                       "FADB",    "SMTB", "SMLI", "FSHD", "FSSE"};
  for (size_t at = 0; at + 4 < size; at++) {
    bool begin = false;
    for (size_t k = 0; k < sizeof begins / sizeof *begins && !begin; k++)
      begin = !memcmp(good + at, begins[k], 4);
    for (size_t n = 8; begin && n < 1600 && at + n + 4 <= size; n++) {
      if (ab_h5_checksum(good + at, n) != word(good + at + n)) continue;
      if (nsum < sizeof sum / sizeof *sum) sum[nsum++] = (Sum){at, n};
      break;
    }
  }
}

// What is in a structure, and all of the first rows and the model's text: not the empty rest of
// chunks.
static void find_places(void) {
  place = malloc(size * sizeof *place);
  for (size_t i = 0; i < size; i++) {
    bool inside = good[i] != 0;
    for (size_t k = 0; k < nsum && !inside; k++)
      inside = i >= sum[k].begin && i < sum[k].begin + sum[k].n;
    if (inside) place[nplace++] = (uint32_t)i;
  }
}

static void prepare(void) {
  good = make_recording(7, &size);
  edited = malloc(size);
  memcpy(edited, good, size);
  find_sums();
  find_places();
  if (nsum < 40 || !nplace) abort();  // the search would be blind
}

static void put(size_t at, const uint8_t* bytes, size_t n) { memcpy(edited + at, bytes, n); }

// Makes the sums right of the structures that hold a place, or puts them back.
static void mend(size_t at, bool back) {
  for (size_t k = 0; k < nsum; k++) {
    size_t end = sum[k].begin + sum[k].n;
    if (at < sum[k].begin || at >= end) continue;
    uint32_t s = ab_h5_checksum(edited + sum[k].begin, sum[k].n);
    const uint8_t byte[4] = {(uint8_t)s, (uint8_t)(s >> 8), (uint8_t)(s >> 16), (uint8_t)(s >> 24)};
    put(end, back ? good + end : byte, 4);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t n) {
  enum { MOST = 16 };
  size_t at[MOST], count = 0;
  if (!good) prepare();
  for (size_t i = 0; i + 4 <= n && count < MOST; i += 4) {
    size_t k = data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16;
    at[count++] = place[k % nplace];
    put(place[k % nplace], data + i + 3, 1);
  }
  for (size_t i = 0; i < count; i++) mend(at[i], false);
  read_recording(edited, size);
  for (size_t i = 0; i < count; i++) put(at[i], good + at[i], 1);
  for (size_t i = 0; i < count; i++) mend(at[i], true);
  return 0;
}
