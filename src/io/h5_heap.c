// Fractal heaps and version 2 B-trees, in which HDF5 keeps many links or attributes: the tree lists
// identifiers, and an identifier is a place and a length in the heap.
//
// The heap is a sequence of direct blocks. A heap of one block has it for its root; otherwise the
// root is an indirect block, a table of `width` columns whose rows hold blocks of sizes s, s, 2 s,
// 4 s, ...; tables below that table, which only heaps of many thousand objects have, are refused.
// Tests: test_record, test_recordings.py.
#include <string.h>

#include "io/h5_file.h"

typedef struct Heap {
  abH5File* file;
  unsigned width, rows;
  uint64_t start, most;  // bytes of the smallest and the largest direct block
  uint64_t root;
  int place_bytes, length_bytes;  // of an identifier
  abBuffer table;                 // the indirect block
  size_t entries;                 // where in it the addresses begin
} Heap;

static int bytes_for(uint64_t x) {
  int n = 1;
  while (n < 8 && x >> (8 * n)) n++;
  return n;
}

static bool open_heap(abH5File* f, uint64_t at, Heap* h) {
  enum { HEAP_HEADER = 146 };
  abBuffer b = {0};
  *h = (Heap){.file = f};
  bool good = ab_h5_get_checked(f, at, HEAP_HEADER, "FRHP", &b);
  const uint8_t* p = (const uint8_t*)b.byte;
  if (good) {
    uint64_t most_object = ab_h5_number(p + 10, 4);
    h->width = (unsigned)ab_h5_number(p + 110, 2);
    h->start = ab_h5_number(p + 112, 8);
    h->most = ab_h5_number(p + 120, 8);
    unsigned bits = (unsigned)ab_h5_number(p + 128, 2);
    h->root = ab_h5_number(p + 132, 8);
    h->rows = (unsigned)ab_h5_number(p + 140, 2);
    h->place_bytes = (int)(bits + 7) / 8;
    h->length_bytes = bytes_for(h->most - 1 < most_object ? h->most - 1 : most_object);
    good = ab_h5_number(p + 7, 2) == 0 && bits > 0 && bits <= 64 && h->width > 0 &&
           h->width <= 64 && h->start > 0 && h->start <= h->most && h->most <= 1 << 26 &&
           h->rows <= 24;
  }
  ab_buffer_free(&b);
  if (!good || h->rows == 0) return good;
  h->entries = 5 + 8 + (size_t)h->place_bytes;
  return ab_h5_get_checked(f, h->root, h->entries + (size_t)h->rows * h->width * 8 + 4, "FHIB",
                           &h->table);
}

// Where in the file n bytes of the heap begin.
static bool locate(const Heap* h, uint64_t place, uint64_t n, uint64_t* at) {
  uint64_t begin = 0, size = h->start;
  if (h->rows == 0) {
    *at = h->root + place;
    return place <= h->start && n <= h->start - place;
  }
  for (unsigned row = 0; row < h->rows && size <= h->most; row++) {
    if (row > 1) size *= 2;
    uint64_t end = begin + size * h->width;
    if (place < end) {
      uint64_t column = (place - begin) / size, inside = (place - begin) % size;
      const char* entry = h->table.byte + h->entries + (row * h->width + (size_t)column) * 8;
      *at = ab_h5_number(entry, 8) + inside;
      return size <= h->most && n <= size - inside;
    }
    begin = end;
  }
  return false;
}

typedef struct Walk {
  Heap heap;
  unsigned type, record;  // bytes of a record
  size_t node;            // bytes of a node
  int id_at;
  abH5Visit visit;
  void* context;
  bool stop;
} Walk;

static bool visit_record(Walk* w, const uint8_t* record) {
  enum { MOST_OBJECT = 65536 };
  static _Thread_local uint8_t object[MOST_OBJECT];
  const uint8_t* id = record + w->id_at;
  uint64_t place = ab_h5_number(id + 1, w->heap.place_bytes), at;
  uint64_t n = ab_h5_number(id + 1 + w->heap.place_bytes, w->heap.length_bytes);
  // Only identifiers of kind 0 are places in the heap.
  if (id[0] & 0x30 || n > MOST_OBJECT || !locate(&w->heap, place, n, &at) ||
      !ab_h5_get(w->heap.file, at, (size_t)n, object))
    return false;
  w->stop = w->visit(w->context, object, (size_t)n);
  return true;
}

// A node of the tree: letters, version, type, records, and above the leaves the children, each with
// the number of its records and, higher up, of all below it.
static bool walk(Walk* w, uint64_t at, unsigned nrecord, int depth) {
  enum { FRAME = 10 };  // letters, version, type, sum
  uint64_t most = (w->node - FRAME) / w->record, below = most;
  size_t count_bytes = (size_t)bytes_for(most), all_bytes = 0, pointer = 0;
  for (int d = 1; d <= depth; d++) {
    pointer = 8 + count_bytes + all_bytes;
    most = (w->node - FRAME - pointer) / (w->record + pointer);
    below = most + (most + 1) * below;
    all_bytes = (size_t)bytes_for(below);
  }
  if (nrecord > most) return false;
  size_t n = FRAME + nrecord * w->record + (depth ? (nrecord + 1) * pointer : 0);
  abBuffer b = {0};
  bool good = ab_h5_get_checked(w->heap.file, at, n, depth ? "BTIN" : "BTLF", &b);
  if (!good) return ab_buffer_free(&b), false;
  const uint8_t* p = (const uint8_t*)b.byte + 6;
  for (unsigned i = 0; i < nrecord && good && !w->stop; i++)
    good = visit_record(w, p + i * w->record);
  p += nrecord * w->record;
  for (unsigned i = 0; depth && i <= nrecord && good && !w->stop; i++, p += pointer)
    good = walk(w, ab_h5_number(p, 8), (unsigned)ab_h5_number(p + 8, (int)count_bytes), depth - 1);
  ab_buffer_free(&b);
  return good;
}

bool ab_h5_each(abH5File* f, uint64_t heap, uint64_t tree, int id_at, abH5Visit visit,
                void* context) {
  enum { NAME_HEADER = 38, NAME_TREE_DEPTH = 3 };
  Walk w = {.id_at = id_at, .visit = visit, .context = context};
  abBuffer b = {0};
  bool good = ab_h5_get_checked(f, tree, NAME_HEADER, "BTHD", &b) && open_heap(f, heap, &w.heap);
  if (good) {
    const uint8_t* p = (const uint8_t*)b.byte;
    w.type = p[5];
    w.node = (size_t)ab_h5_number(p + 6, 4);
    w.record = (unsigned)ab_h5_number(p + 10, 2);
    unsigned depth = (unsigned)ab_h5_number(p + 12, 2);
    uint64_t root = ab_h5_number(p + 16, 8);
    int id = id_at + 1 + w.heap.place_bytes + w.heap.length_bytes;
    good = w.node >= 64 && w.node <= 1 << 20 && depth <= NAME_TREE_DEPTH && id <= (int)w.record &&
           w.record <= 64;
    if (good && root != AB_H5_NOWHERE)
      good = walk(&w, root, (unsigned)ab_h5_number(p + 24, 2), (int)depth);
  }
  ab_buffer_free(&b);
  ab_buffer_free(&w.heap.table);
  return good;
}
