// Tests: test_record, test_recordings.py.
#include "io/h5_data.h"

#include <string.h>
#include <zlib.h>

#include "base/alloc.h"

// Bytes of a chunk, unpacked. Those of a recorder have 16 KiB or one row.
#define MOST_CHUNK ((uint64_t)1 << 30)
// A packed chunk is unpacked whole.
#define MOST_PACKED ((uint64_t)1 << 24)
enum { DEFLATE = 1, SHUFFLE = 2, FLETCHER32 = 3 };

// --- what the header says ------------------------------------------------------------------------

// Version 1: count, 6 bytes of nothing, and per filter its number, bytes of its name, flags, count
// of values, name, values, each filled up to 8 bytes. Version 2 has no filling, and no name for
// HDF5's own filters.
static bool read_filters(const uint8_t* p, size_t n, abH5Data* d) {
  if (n < 2 || p[0] < 1 || p[0] > 2 || p[1] > AB_H5_FILTERS_MOST) return false;
  size_t at = p[0] == 1 ? 8 : 2;
  for (int i = 0; i < p[1]; i++) {
    size_t head = p[0] == 1 ? 8 : 6;
    if (n < head || at > n - head) return false;
    unsigned id = (unsigned)ab_h5_number(p + at, 2);
    if (id < DEFLATE || id > FLETCHER32) return false;  // somebody else's
    size_t name = p[0] == 1 ? (size_t)ab_h5_number(p + at + 2, 2) : 0;
    size_t nvalue = (size_t)ab_h5_number(p + at + head - 2, 2);
    at += head + (name + 7) / 8 * 8 + 4 * (nvalue + (p[0] == 1 ? nvalue & 1 : 0));
    d->filter[d->nfilter++] = (int)id;
  }
  return at <= n;
}

// The chunks' shape: as many numbers as dimensions, and then the bytes of a number.
static bool set_chunk(abH5Data* d, int ndim, const uint8_t* p, int width) {
  if (ndim != d->space.ndim + 1 || d->space.ndim < 1) return false;
  d->chunk_bytes = ab_h5_number(p + (ndim - 1) * width, width);
  if (d->chunk_bytes != d->type.bytes) return false;
  uint64_t most = d->nfilter ? MOST_PACKED : MOST_CHUNK;
  for (int k = 0; k < d->space.ndim; k++) {
    d->chunk[k] = ab_h5_number(p + k * width, width);
    if (d->chunk[k] == 0 || d->chunk[k] > most / d->chunk_bytes) return false;
    d->chunk_bytes *= d->chunk[k];
    uint64_t all = d->space.most[k];
    if (k > 0 && all == UINT64_MAX) all = d->space.dim[k];
    d->nchunk[k] = all / d->chunk[k] + (all % d->chunk[k] != 0);
    if (d->nchunk[k] == 0) d->nchunk[k] = 1;
  }
  return true;
}

// Version 4: flags, dimensions, bytes of a number, numbers, kind of index, what that kind wants to
// know, address.
static bool read_chunked(const uint8_t* p, size_t n, abH5Data* d) {
  if (n < 5) return false;
  int ndim = p[3], width = p[4];
  size_t at = 5 + (size_t)ndim * (size_t)width;
  if (width < 1 || width > 8 || ndim > AB_H5_RANK + 1 || n < at + 1 ||
      !set_chunk(d, ndim, p + 5, width))
    return false;
  unsigned kind = p[at++];
  static const size_t known[] = {0, 0, 0, 1, 5};  // bytes that kinds 1 to 4 want to know
  // Kind 5 is for data sets that grow in several dimensions. A recorder has those only for rows of
  // nothing (a scene without joints), which nobody reads.
  bool nothing = false;
  for (int k = 1; k < d->space.ndim; k++) nothing = nothing || d->space.dim[k] == 0;
  d->layout = AB_H5_NO_INDEX;
  if (kind == 5 && nothing) return true;
  if (kind < 1 || kind > 4) return false;
  d->layout = (abH5Layout)(AB_H5_SINGLE + (int)kind - 1);
  size_t more = known[kind] + (kind == 1 && (p[2] & 2) ? 12u : 0);
  if (n < at + more + 8) return false;
  d->at = ab_h5_number(p + at + more, 8);
  d->one = (abH5Chunk){d->at, d->chunk_bytes, 0};
  if (more == 12) {
    d->one.bytes = ab_h5_number(p + at, 8);
    d->one.skipped = (uint32_t)ab_h5_number(p + at + 8, 4);
  }
  // Arrays count along the dimension that grows, which is the first one here.
  for (int k = 1; k < d->space.ndim; k++)
    if (kind == 4 && d->space.most[k] == UINT64_MAX) return false;
  return true;
}

static bool read_layout(const uint8_t* p, size_t n, abH5Data* d) {
  if (n < 2 || (p[0] != 3 && p[0] != 4)) return false;
  if (p[1] == 0) {
    d->layout = AB_H5_COMPACT;
    d->bytes = n < 4 ? 0 : ab_h5_number(p + 2, 2);
    if (n < 4 || d->bytes > n - 4) return false;
    ab_buffer_add(&d->compact, p + 4, (size_t)d->bytes);
    return !d->compact.failed;
  }
  if (p[1] == 1) {
    d->layout = AB_H5_CONTIGUOUS;
    if (n < 18) return false;
    d->at = ab_h5_number(p + 2, 8);
    d->bytes = ab_h5_number(p + 10, 8);
    return d->nfilter == 0;
  }
  if (p[1] != 2) return false;
  if (p[0] == 4) return read_chunked(p, n, d);
  d->layout = AB_H5_TREE;
  if (n < 11 || n < 11 + 4 * (size_t)p[2]) return false;
  d->at = ab_h5_number(p + 3, 8);
  return p[2] <= AB_H5_RANK + 1 && set_chunk(d, p[2], p + 11, 4);
}

static bool read_header(const abH5Object* o, abH5Data* d) {
  size_t n;
  const uint8_t* p = ab_h5_only(o, AB_H5_DATATYPE, &n);
  if (!p || !ab_h5_read_type(p, n, &d->type)) return false;
  p = ab_h5_only(o, AB_H5_DATASPACE, &n);
  if (!p || !ab_h5_read_space(p, n, &d->space)) return false;
  for (int i = 0; i < ab_h5_messages(o); i++) {
    unsigned type = ab_h5_message(o, i).type;
    // In other files, or a note of where a part of the header is.
    if (type == AB_H5_EXTERNAL || type == 0xffff) return false;
  }
  p = ab_h5_only(o, AB_H5_FILTERS, &n);
  if (p && !read_filters(p, n, d)) return false;
  p = ab_h5_only(o, AB_H5_LAYOUT, &n);
  return p && read_layout(p, n, d);
}

bool ab_h5_data_open(abH5File* f, const char* path, abH5Data* d) {
  uint64_t at;
  abH5Object o = {0};
  *d = (abH5Data){.file = f};
  ab_h5_refill(f);
  bool good = ab_h5_find(f, path, &at) && ab_h5_object(f, at, &o) && read_header(&o, d);
  ab_h5_object_free(&o);
  return good;
}

void ab_h5_data_free(abH5Data* d) {
  abBuffer* all[] = {&d->compact, &d->plain, &d->packed, &d->index};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ab_buffer_free(all[i]);
}

// --- reading -------------------------------------------------------------------------------------

static bool make_room(abBuffer* b, uint64_t n) {
  if (b->capacity < n) {
    ab_buffer_free(b);
    b->byte = ab_alloc((size_t)n);
    b->capacity = b->byte ? (size_t)n : 0;
  }
  b->n = (size_t)n;
  return b->byte != NULL;
}

// Bytes of numbers, which are no structures: they do not count.
static bool fetch(abH5Data* d, uint64_t at, uint64_t n, void* out) {
  ab_h5_refill(d->file);
  d->file->budget += (int64_t)(n < (uint64_t)INT64_MAX / 2 ? n : 0);
  return ab_h5_get(d->file, at, (size_t)n, out);
}

static bool inflate_chunk(abH5Data* d) {
  uLongf n = (uLongf)d->chunk_bytes + 4;  // perhaps with a sum
  if (!make_room(&d->plain, n) ||
      uncompress((Bytef*)d->plain.byte, &n, (const Bytef*)d->packed.byte, (uLong)d->packed.n) !=
          Z_OK)
    return false;
  d->plain.n = n;
  abBuffer other = d->packed;
  d->packed = d->plain;
  d->plain = other;
  return true;
}

// Bytes of the numbers were sorted: all first ones, all second ones, ...
static bool unshuffle(abH5Data* d) {
  size_t width = d->type.bytes, n = d->packed.n / width;
  if (!make_room(&d->plain, d->packed.n)) return false;
  memcpy(d->plain.byte, d->packed.byte, d->packed.n);
  for (size_t b = 0; b < width; b++)
    for (size_t i = 0; i < n; i++) d->plain.byte[i * width + b] = d->packed.byte[b * n + i];
  abBuffer other = d->packed;
  d->packed = d->plain;
  d->plain = other;
  return true;
}

// Undoes the filters, the last one first; the chunk is then in `packed`.
static bool unpack(abH5Data* d, const abH5Chunk* c) {
  if (c->bytes > MOST_PACKED + 65536 || !make_room(&d->packed, c->bytes) ||
      !fetch(d, c->at, c->bytes, d->packed.byte))
    return false;
  for (int i = d->nfilter - 1; i >= 0; i--) {
    if (c->skipped >> i & 1) continue;
    if (d->filter[i] == FLETCHER32 && d->packed.n < 4) return false;
    if (d->filter[i] == FLETCHER32) d->packed.n -= 4;
    if (d->filter[i] == DEFLATE && !inflate_chunk(d)) return false;
    if (d->filter[i] == SHUFFLE && !unshuffle(d)) return false;
  }
  return d->packed.n == d->chunk_bytes;
}

static bool look_up(abH5Data* d, const uint64_t* which) {
  if (d->looked && !memcmp(d->last, which, sizeof d->last)) return true;
  d->looked = false;
  if (!ab_h5_chunk(d, which, &d->last_chunk)) return false;
  if (d->nfilter ? !unpack(d, &d->last_chunk) : d->last_chunk.bytes != d->chunk_bytes) return false;
  memcpy(d->last, which, sizeof d->last);
  d->looked = true;
  return true;
}

// A run of bytes of the chunk last looked up.
static bool copy_line(abH5Data* d, uint64_t from, uint64_t n, char* out) {
  if (!d->nfilter) return fetch(d, d->last_chunk.at + from, n, out);
  memcpy(out, d->packed.byte + from, (size_t)n);
  return true;
}

// The part of a chunk that lies in rows [first, first + n) goes to its place in `out`: in one piece
// where the chunk has whole rows, else line by line along the last dimension.
static bool copy_chunk(abH5Data* d, const uint64_t* which, uint64_t first, uint64_t n, char* out) {
  const uint64_t *size = d->chunk, *dim = d->space.dim;
  uint64_t begin = which[0] * size[0], row = d->type.bytes;
  uint64_t low = first > begin ? first - begin : 0;
  uint64_t high = first + n - begin < size[0] ? first + n - begin : size[0];
  int ndim = d->space.ndim;
  bool whole = true;
  for (int k = 1; k < ndim; k++) whole = whole && size[k] == dim[k], row *= dim[k];
  if (!look_up(d, which)) return false;
  if (whole) return copy_line(d, low * row, (high - low) * row, out + (begin + low - first) * row);
  // from here on there are two dimensions or three
  uint64_t at[AB_H5_RANK] = {0}, end[AB_H5_RANK] = {0};
  for (int k = 1; k < ndim; k++) {
    at[k] = which[k] * size[k];
    end[k] = dim[k] - at[k] < size[k] ? dim[k] - at[k] : size[k];
  }
  uint64_t line = end[ndim - 1], middle = ndim == 3 ? end[1] : 1, bytes = d->type.bytes;
  for (uint64_t i = low; i < high; i++)
    for (uint64_t j = 0; j < middle; j++) {
      uint64_t from = ndim == 3 ? (i * size[1] + j) * size[2] : i * size[1];
      uint64_t to = begin + i - first;
      to = ndim == 3 ? (to * dim[1] + at[1] + j) * dim[2] + at[2] : to * dim[1] + at[1];
      if (!copy_line(d, from * bytes, line * bytes, out + to * bytes)) return false;
    }
  return true;
}

static bool rows_of_chunks(abH5Data* d, uint64_t first, uint64_t n, char* out) {
  uint64_t c[AB_H5_RANK] = {0}, end[AB_H5_RANK] = {1, 1, 1};
  for (int k = 0; k < d->space.ndim; k++) {
    uint64_t all = k ? d->space.dim[k] : first + n;
    end[k] = all / d->chunk[k] + (all % d->chunk[k] != 0);
  }
  for (c[0] = first / d->chunk[0]; c[0] < end[0]; c[0]++)
    for (c[1] = 0; c[1] < end[1]; c[1]++)
      for (c[2] = 0; c[2] < end[2]; c[2]++)
        if (!copy_chunk(d, c, first, n, out)) return false;
  return true;
}

bool ab_h5_data_rows(abH5Data* d, uint64_t first, uint64_t n, void* out) {
  uint64_t row = d->type.bytes, most = UINT64_MAX / 16;
  for (int k = 1; k < d->space.ndim; k++) {
    if (d->space.dim[k] && row > most / d->space.dim[k]) return false;
    row *= d->space.dim[k];
  }
  uint64_t rows = d->space.ndim ? d->space.dim[0] : 1;
  if (first > rows || n > rows - first || (row && rows > most / row)) return false;
  if (n == 0 || row == 0) return true;
  if (d->layout == AB_H5_COMPACT) {
    if ((first + n) * row > d->compact.n) return false;
    memcpy(out, d->compact.byte + first * row, (size_t)(n * row));
    return true;
  }
  if (d->layout == AB_H5_CONTIGUOUS)
    return (first + n) * row <= d->bytes && d->at != AB_H5_NOWHERE &&
           fetch(d, d->at + first * row, n * row, out);
  return rows_of_chunks(d, first, n, out);
}
