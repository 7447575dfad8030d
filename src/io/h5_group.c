// Groups: names and where they lead. Few links stand in the group's header, many in a heap with an
// index; the oldest format has a tree of symbol tables with the names in a heap of its own.
// Tests: test_record, test_recordings.py.
#include <string.h>

#include "io/h5_file.h"

typedef struct Search {
  const char* name;
  size_t n;      // of the name
  uint64_t at;   // where it leads
  bool found;    // the name is there,
  bool refused;  // but does not lead to a place in this file
} Search;

// A link: version, flags, perhaps kind, order and character set, length of the name, name, address.
static bool look_at_link(void* context, const uint8_t* p, size_t n) {
  Search* s = context;
  if (n < 3 || p[0] != 1) return false;
  unsigned flags = p[1], kind = flags & 8 ? p[2] : 0;
  size_t at = 2 + (flags & 8 ? 1u : 0) + (flags & 4 ? 8u : 0) + (flags & 16 ? 1u : 0);
  int width = 1 << (flags & 3);
  if (at + (size_t)width > n) return false;
  uint64_t length = ab_h5_number(p + at, width);
  at += (size_t)width;
  if (length != s->n || length > n - at || memcmp(p + at, s->name, s->n) != 0) return false;
  at += s->n;
  s->found = true;
  s->refused = kind != 0 || n - at < 8;
  if (!s->refused) s->at = ab_h5_number(p + at, 8);
  return true;
}

static bool search_header(abH5File* f, const abH5Object* o, Search* s) {
  for (int i = 0; i < ab_h5_messages(o) && !s->found; i++) {
    abH5Message m = ab_h5_message(o, i);
    if (m.type == AB_H5_LINK) look_at_link(s, (const uint8_t*)o->byte.byte + m.at, m.n);
  }
  size_t n;
  const uint8_t* p = ab_h5_only(o, AB_H5_LINK_INFO, &n);
  if (s->found || !p || n < 2) return true;
  size_t at = 2 + (p[1] & 1 ? 8u : 0);
  if (p[0] != 0 || n < at + 16) return false;
  uint64_t heap = ab_h5_number(p + at, 8), tree = ab_h5_number(p + at + 8, 8);
  // a record is a hash of the name (4 bytes) and an identifier
  return heap == AB_H5_NOWHERE || ab_h5_each(f, heap, tree, 4, look_at_link, s);
}

// --- the oldest format ---------------------------------------------------------------------------

enum { MOST_NAME = 256, SYMBOL = 40 };

// A table: letters, version, count, and per symbol the name's place in the heap, the header's
// address, a kind, and notes of HDF5's own.
static bool search_table(abH5File* f, uint64_t at, uint64_t names, Search* s) {
  uint8_t head[8], symbol[SYMBOL];
  char name[MOST_NAME];
  if (!ab_h5_get(f, at, sizeof head, head) || memcmp(head, "SNOD", 4) != 0) return false;
  unsigned n = (unsigned)ab_h5_number(head + 6, 2);
  for (unsigned i = 0; i < n && !s->found; i++) {
    if (!ab_h5_get(f, at + 8 + (uint64_t)i * SYMBOL, SYMBOL, symbol)) return false;
    uint64_t place = ab_h5_number(symbol, 8);
    if (place > f->size || !ab_h5_get(f, names + place, s->n + 1, name)) continue;
    if (memcmp(name, s->name, s->n) != 0 || name[s->n] != 0) continue;
    s->found = true;
    s->at = ab_h5_number(symbol + 8, 8);
    s->refused = ab_h5_number(symbol + 16, 4) == 2;  // a soft link
  }
  return true;
}

// A node: letters, kind, level, count, neighbours; then keys and children in turns.
static bool search_tree(abH5File* f, uint64_t at, int above, uint64_t names, Search* s) {
  uint8_t head[24], child[8];
  if (!ab_h5_get(f, at, sizeof head, head) || memcmp(head, "TREE", 4) != 0 || head[4] != 0 ||
      head[5] >= above)
    return false;
  unsigned n = (unsigned)ab_h5_number(head + 6, 2);
  for (unsigned i = 0; i < n && !s->found; i++) {
    if (!ab_h5_get(f, at + 24 + 8 + (uint64_t)i * 16, 8, child)) return false;
    uint64_t next = ab_h5_number(child, 8);
    bool good = head[5] ? search_tree(f, next, head[5], names, s) : search_table(f, next, names, s);
    if (!good) return false;
  }
  return true;
}

static bool search_symbols(abH5File* f, const uint8_t* p, size_t n, Search* s) {
  uint8_t heap[32];
  enum { GROUP_TREE_DEPTH = 16 };
  if (n < 16 || !ab_h5_get(f, ab_h5_number(p + 8, 8), sizeof heap, heap) ||
      memcmp(heap, "HEAP", 4) != 0)
    return false;
  return search_tree(f, ab_h5_number(p, 8), GROUP_TREE_DEPTH, ab_h5_number(heap + 24, 8), s);
}

// -------------------------------------------------------------------------------------------------

static bool find_child(abH5File* f, uint64_t group, Search* s) {
  abH5Object o;
  size_t n;
  bool good = ab_h5_object(f, group, &o);
  const uint8_t* symbols = good ? ab_h5_only(&o, AB_H5_SYMBOLS, &n) : NULL;
  if (good) good = symbols ? search_symbols(f, symbols, n, s) : search_header(f, &o, s);
  ab_h5_object_free(&o);
  return good && s->found && !s->refused;
}

bool ab_h5_find(abH5File* f, const char* path, uint64_t* at) {
  *at = f->root;
  while (*path) {
    path += *path == '/';
    Search s = {.name = path, .n = strcspn(path, "/")};
    if (s.n == 0 || s.n >= MOST_NAME || !find_child(f, *at, &s)) return false;
    *at = s.at;
    path += s.n;
  }
  return true;
}
