// Texts and attributes: what is said once about a whole recording.
// Tests: test_record, test_recordings.py.
#include <string.h>

#include "base/alloc.h"
#include "io/h5_data.h"

char* ab_h5_text(abH5File* f, const char* path, size_t most) {
  abH5Data d;
  char* s = NULL;
  if (ab_h5_data_open(f, path, &d) && d.type.class == AB_H5_TEXT && d.space.ndim == 0 &&
      d.type.bytes <= most)
    s = ab_alloc_zero(d.type.bytes + 1);
  if (s && !ab_h5_data_rows(&d, 0, 1, s)) {
    ab_free(s);
    s = NULL;
  }
  ab_h5_data_free(&d);
  return s;
}

typedef struct Wanted {
  const char* name;
  abH5Class class;
  size_t most;   // bytes
  uint8_t* out;  // as stored
  abH5Type type;
  int found;  // see the header
} Wanted;

static size_t filled(size_t n, bool fill) { return fill ? (n + 7) / 8 * 8 : n; }

// An attribute: version, flags, bytes of its name, type and shape, then these (in version 1 each
// filled up to 8 bytes, in version 3 after a byte for the character set), then the value.
static bool look_at_attribute(void* context, const uint8_t* p, size_t n) {
  Wanted* w = context;
  if (n < 8 || p[0] < 1 || p[0] > 3) return false;
  size_t name = (size_t)ab_h5_number(p + 2, 2), type = (size_t)ab_h5_number(p + 4, 2);
  size_t space = (size_t)ab_h5_number(p + 6, 2), at = p[0] == 3 ? 9 : 8;
  bool fill = p[0] == 1;
  size_t type_at = at + filled(name, fill), space_at = type_at + filled(type, fill);
  size_t value = space_at + filled(space, fill);
  size_t length = strlen(w->name) + 1;  // names end with a zero
  if (value > n || name != length || memcmp(p + at, w->name, length) != 0) return false;
  abH5Space shape;
  bool good = (p[0] == 1 || p[1] == 0) && ab_h5_read_type(p + type_at, type, &w->type) &&
              ab_h5_read_space(p + space_at, space, &shape) && shape.ndim == 0 &&
              w->type.class == w->class && w->type.bytes <= w->most && w->type.bytes <= n - value;
  if (good) memcpy(w->out, p + value, w->type.bytes);
  w->found = good ? 1 : -1;
  return true;
}

static int find_attribute(abH5File* f, Wanted* w) {
  abH5Object o;
  size_t n;
  ab_h5_refill(f);
  bool good = ab_h5_object(f, f->root, &o);
  for (int i = 0; good && i < ab_h5_messages(&o) && !w->found; i++) {
    abH5Message m = ab_h5_message(&o, i);
    if (m.type == AB_H5_ATTRIBUTE) look_at_attribute(w, (const uint8_t*)o.byte.byte + m.at, m.n);
  }
  const uint8_t* p = good && !w->found ? ab_h5_only(&o, AB_H5_ATTRIBUTE_INFO, &n) : NULL;
  if (p && n >= 2 && p[0] == 0) {
    size_t at = 2 + (p[1] & 1 ? 2u : 0);
    uint64_t heap = n >= at + 16 ? ab_h5_number(p + at, 8) : AB_H5_NOWHERE;
    if (heap != AB_H5_NOWHERE)
      good = ab_h5_each(f, heap, ab_h5_number(p + at + 8, 8), 0, look_at_attribute, w);
  }
  ab_h5_object_free(&o);
  return good ? w->found : -1;
}

int ab_h5_text_attribute(abH5File* f, const char* name, char* out, size_t size) {
  memset(out, 0, size);
  Wanted w = {.name = name, .class = AB_H5_TEXT, .most = size - 1, .out = (uint8_t*)out};
  return find_attribute(f, &w);
}

int ab_h5_real_attribute(abH5File* f, const char* name, double* out) {
  uint8_t stored[8];
  Wanted w = {.name = name, .class = AB_H5_FLOAT, .most = sizeof stored, .out = stored};
  int found = find_attribute(f, &w);
  if (found == 1) ab_h5_convert(&w.type, AB_H5_REAL, 1, stored, out);
  return found;
}
