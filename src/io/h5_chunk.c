// Where the chunks of a data set are: the indices HDF5 keeps of them.
// Tests: test_record, test_recordings.py.
#include <string.h>

#include "io/h5_data.h"

// An array's entry: an address, and of packed chunks the bytes stored and the filters skipped.
static bool read_entry(const abH5Data* d, const uint8_t* p, size_t bytes, abH5Chunk* out) {
  *out = (abH5Chunk){ab_h5_number(p, 8), d->chunk_bytes, 0};
  if (d->nfilter) {
    if (bytes < 13 || bytes > 20) return false;
    out->bytes = ab_h5_number(p + 8, (int)bytes - 12);
    out->skipped = (uint32_t)ab_h5_number(p + bytes - 4, 4);
  }
  return out->at != AB_H5_NOWHERE;
}

// A run of entries with its sum, at an address: the one wanted.
static bool entry_of_page(abH5Data* d, uint64_t at, uint64_t count, uint64_t i, size_t bytes,
                          abH5Chunk* out) {
  uint64_t n = count * bytes + 4;
  if (n > 1 << 22) return false;
  ab_buffer_free(&d->index);
  uint8_t letters[4];
  // Pages have no letters: their own first bytes serve.
  if (!ab_h5_get(d->file, at, 4, letters)) return false;
  return ab_h5_get_checked(d->file, at, (size_t)n, (const char*)letters, &d->index) &&
         read_entry(d, (const uint8_t*)d->index.byte + i * bytes, bytes, out);
}

static bool good_entry_size(const abH5Data* d, size_t bytes) {
  return d->nfilter ? bytes >= 13 && bytes <= 20 : bytes == 8;
}

// Header: letters, version, kind, bytes of an entry, bits of a page, entries, address. Block:
// letters, version, kind, header's address, then entries; or, if there are many, a bit per page,
// sum, and pages.
static bool find_fixed(abH5Data* d, uint64_t i, abH5Chunk* out) {
  if (!ab_h5_get_checked(d->file, d->at, 28, "FAHD", &d->index)) return false;
  const uint8_t* p = (const uint8_t*)d->index.byte;
  size_t bytes = p[6];
  unsigned bits = p[7];
  uint64_t n = ab_h5_number(p + 8, 8), block = ab_h5_number(p + 16, 8);
  if (i >= n || bits > 20 || !good_entry_size(d, bytes) || n > (uint64_t)1 << 40) return false;
  uint64_t page = (uint64_t)1 << bits;
  if (n <= page)
    return ab_h5_get_checked(d->file, block, (size_t)(14 + n * bytes + 4), "FADB", &d->index) &&
           read_entry(d, (const uint8_t*)d->index.byte + 14 + i * bytes, bytes, out);
  uint64_t npage = (n + page - 1) / page, which = i / page;
  uint64_t at = block + 14 + (npage + 7) / 8 + 4 + which * (page * bytes + 4);
  uint64_t count = which == npage - 1 ? n - which * page : page;
  return entry_of_page(d, at, count, i % page, bytes, out);
}

// The extensible array. Its first entries stand in the index block, the others in data blocks.
// Data blocks form super blocks: super block k has 2^(k/2) data blocks of m 2^((k+1)/2) entries
// each (divisions rounded down), m 2^k in all. The addresses of the first data blocks stand in the
// index block, those of the later ones in a block per super block.
typedef struct Extensible {
  size_t bytes;             // of an entry
  uint64_t first;           // entries in the index block
  uint64_t m;               // entries of the smallest data block
  uint64_t page;            // data blocks of more entries have pages of so many
  unsigned nsuper, ninner;  // super blocks, and those of them in the index block
  size_t place;             // bytes of a place in the array
  uint64_t index;           // address of the index block
} Extensible;

static unsigned log2_of(uint64_t x) {
  unsigned n = 0;
  while (x >>= 1) n++;
  return n;
}

static bool read_extensible(abH5Data* d, Extensible* e) {
  if (!ab_h5_get_checked(d->file, d->at, 72, "EAHD", &d->index)) return false;
  const uint8_t* p = (const uint8_t*)d->index.byte;
  unsigned bits = p[7], pointers = p[10];
  *e = (Extensible){.bytes = p[6], .first = p[8], .m = p[9], .index = ab_h5_number(p + 60, 8)};
  if (bits > 60 || p[11] > 20 || e->m == 0 || pointers < 2 || (e->m & (e->m - 1)) ||
      (pointers & (pointers - 1)) || bits < log2_of(e->m) || !good_entry_size(d, e->bytes))
    return false;
  e->page = (uint64_t)1 << p[11];
  e->place = (bits + 7) / 8;
  e->nsuper = 1 + bits - log2_of(e->m);
  e->ninner = 2 * log2_of(pointers);
  return e->ninner <= e->nsuper;
}

// Entry i of a data block of n entries.
static bool entry_of_block(abH5Data* d, const Extensible* e, uint64_t block, uint64_t n, uint64_t i,
                           abH5Chunk* out) {
  size_t head = 14 + e->place;
  if (block == AB_H5_NOWHERE) return false;
  if (n > e->page)
    return entry_of_page(d, block + head + 4 + i / e->page * (e->page * e->bytes + 4), e->page,
                         i % e->page, e->bytes, out);
  return ab_h5_get_checked(d->file, block, head + (size_t)n * e->bytes + 4, "EADB", &d->index) &&
         read_entry(d, (const uint8_t*)d->index.byte + head + i * e->bytes, e->bytes, out);
}

static bool find_extensible(abH5Data* d, uint64_t i, abH5Chunk* out) {
  Extensible e;
  if (!read_extensible(d, &e) || i >> 60) return false;
  size_t nblock = 0;
  for (unsigned k = 0; k < e.ninner; k++) nblock += (size_t)1 << (k / 2);
  size_t blocks = 14 + (size_t)e.first * e.bytes, supers = blocks + 8 * nblock;
  size_t n = supers + 8 * (size_t)(e.nsuper - e.ninner) + 4;
  if (!ab_h5_get_checked(d->file, e.index, n, "EAIB", &d->index)) return false;
  const uint8_t* p = (const uint8_t*)d->index.byte;
  if (i < e.first) return read_entry(d, p + 14 + i * e.bytes, e.bytes, out);
  i -= e.first;
  unsigned k = log2_of(i / e.m + 1);
  if (k >= e.nsuper) return false;
  i -= e.m * (((uint64_t)1 << k) - 1);
  uint64_t each = e.m << ((k + 1) / 2), which = i / each;
  if (k < e.ninner) {
    for (unsigned j = 0; j < k; j++) which += (uint64_t)1 << (j / 2);
    return entry_of_block(d, &e, ab_h5_number(p + blocks + 8 * which, 8), each, i % each, out);
  }
  uint64_t super = ab_h5_number(p + supers + 8 * (k - e.ninner), 8);
  uint64_t count = (uint64_t)1 << (k / 2);
  uint64_t marks = each > e.page ? count * ((each / e.page + 7) / 8) : 0;
  uint64_t bytes = 14 + e.place + marks + 8 * count + 4;
  if (super == AB_H5_NOWHERE || bytes > 1 << 22 ||
      !ab_h5_get_checked(d->file, super, (size_t)bytes, "EASB", &d->index))
    return false;
  p = (const uint8_t*)d->index.byte + 14 + e.place + marks;
  return entry_of_block(d, &e, ab_h5_number(p + 8 * which, 8), each, i % each, out);
}

// -1, 0, 1: the chunk begins before, at or after a key of the tree.
static int compare(const abH5Data* d, const uint64_t* begin, const uint8_t* key) {
  for (int k = 0; k < d->space.ndim; k++) {
    uint64_t x = ab_h5_number(key + 8 + 8 * k, 8);
    if (begin[k] != x) return begin[k] < x ? -1 : 1;
  }
  return 0;
}

// The tree of the oldest format. Node: letters, kind 1, level, count, neighbours; then keys and
// children in turns. A key is the chunk's bytes as stored, the filters skipped, and where it begins
// (one number more than dimensions).
static bool find_in_tree(abH5Data* d, const uint64_t* which, abH5Chunk* out) {
  enum { CHUNK_TREE_DEPTH = 16 };
  uint64_t begin[AB_H5_RANK], at = d->at;
  for (int k = 0; k < d->space.ndim; k++) begin[k] = which[k] * d->chunk[k];
  size_t key = 8 + 8 * (size_t)(d->space.ndim + 1), step = key + 8;
  for (int above = CHUNK_TREE_DEPTH;;) {
    uint8_t head[24], entry[8 + 8 * (AB_H5_RANK + 1) + 8];
    if (!ab_h5_get(d->file, at, sizeof head, head) || memcmp(head, "TREE", 4) != 0 ||
        head[4] != 1 || head[5] >= above)
      return false;
    above = head[5];
    unsigned n = (unsigned)ab_h5_number(head + 6, 2), low = 0, high = n;
    // the last key that is not after the chunk
    while (low < high) {
      unsigned middle = (low + high) / 2;
      if (!ab_h5_get(d->file, at + 24 + middle * step, step, entry)) return false;
      if (compare(d, begin, entry) < 0)
        high = middle;
      else
        low = middle + 1;
    }
    if (low == 0 || !ab_h5_get(d->file, at + 24 + (low - 1) * step, step, entry)) return false;
    at = ab_h5_number(entry + key, 8);
    if (above > 0) continue;
    *out = (abH5Chunk){at, ab_h5_number(entry, 4), (uint32_t)ab_h5_number(entry + 4, 4)};
    return compare(d, begin, entry) == 0;
  }
}

bool ab_h5_chunk(abH5Data* d, const uint64_t* which, abH5Chunk* out) {
  ab_h5_refill(d->file);
  if (d->at == AB_H5_NOWHERE && d->layout != AB_H5_SINGLE) return false;
  // Arrays count the chunks row by row, of the largest shape the data set may take.
  uint64_t i = 0;
  for (int k = 0; k < d->space.ndim; k++) {
    if (k && i > UINT64_MAX / d->nchunk[k] - 1) return false;
    i = (k ? i * d->nchunk[k] : 0) + which[k];
  }
  switch (d->layout) {
    case AB_H5_SINGLE:
      *out = d->one;
      return i == 0 && d->one.at != AB_H5_NOWHERE;
    case AB_H5_IMPLICIT:
      *out = (abH5Chunk){d->at + i * d->chunk_bytes, d->chunk_bytes, 0};
      return i <= d->file->size / d->chunk_bytes;
    case AB_H5_FIXED:
      return find_fixed(d, i, out);
    case AB_H5_EXTENSIBLE:
      return find_extensible(d, i, out);
    case AB_H5_TREE:
      return find_in_tree(d, which, out);
    default:
      return false;
  }
}
