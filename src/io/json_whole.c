// Tests: test_json_read.
#include <string.h>

#include "base/alloc.h"
#include "io/buffer.h"
#include "io/json_whole.h"

static _Thread_local bool missing;

void ab_json_begin(void) { missing = false; }
void ab_json_miss(void) { missing = true; }

// Bytes of the UTF-8 character at s, 0 where there is none: too long a form, half a surrogate pair,
// or beyond U+10FFFF.
static size_t character(const unsigned char* s) {
  static const unsigned least[5] = {0, 0, 0x80, 0x800, 0x10000};
  size_t n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
  unsigned code = n == 1 ? s[0] : n ? s[0] & (0x7fu >> n) : 0;
  for (size_t i = 1; i < n; i++) {
    if (s[i] >> 6 != 2) return 0;  // also at the end of the text
    code = code << 6 | (s[i] & 63);
  }
  bool good = n && code >= least[n] && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
  return good ? n : 0;
}

json_t* ab_json_text(const char* text) {
  static const char unknown[] = "\xef\xbf\xbd";
  if (!text) return json_null();
  json_t* plain = json_string(text);
  if (plain) return plain;
  char* copy = ab_alloc(3 * strlen(text) + 1);
  size_t n = 0;
  for (const char* s = text; copy && *s;) {
    size_t k = character((const unsigned char*)s);
    memcpy(copy + n, k ? s : unknown, k ? k : 3);
    n += k ? k : 3;
    s += k ? k : 1;
  }
  json_t* made = copy ? json_stringn(copy, n) : NULL;
  ab_free(copy);
  return made;
}

static int add_text(const char* text, size_t n, void* buffer) {
  ab_buffer_add(buffer, text, n);
  return ((abBuffer*)buffer)->failed ? -1 : 0;
}

char* ab_json_print(const json_t* json, size_t flags) {
  abBuffer b = {0};
  bool good = !missing && json_dump_callback(json, add_text, &b, flags) == 0;
  ab_buffer_add(&b, "", 1);
  if (good && !b.failed) return b.byte;
  ab_buffer_free(&b);
  return NULL;
}
