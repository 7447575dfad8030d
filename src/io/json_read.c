// RFC 8259, by descent. Values nest at most JSON_DEPTH deep. A key that is given twice has its last
// value.
#include "io/json_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/input.h"
#include "io/buffer.h"

enum { JSON_DEPTH = 64 };

typedef struct Reader {
  const char* at;
  const char* why;  // NULL: all is well so far
  abBuffer text;    // of the string being read
  int depth;
} Reader;

static json_t* fail(Reader* r, const char* why) {
  if (!r->why) r->why = why;
  return NULL;
}

// What jansson made, or the failure.
static json_t* made(Reader* r, json_t* value) { return value ? value : fail(r, "no memory"); }

static char skip(Reader* r) {
  while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') r->at++;
  return *r->at;
}

static bool take(Reader* r, char c) {
  if (skip(r) != c) return false;
  r->at++;
  return true;
}

// --- strings

static bool hex4(Reader* r, unsigned* code) {
  *code = 0;
  for (int i = 0; i < 4; i++) {
    char c = *r->at;
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) return false;
    *code = *code * 16 + (unsigned)digit;
    r->at++;
  }
  return true;
}

static void add_utf8(abBuffer* b, unsigned code) {
  int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const unsigned char lead[4] = {0, 0xc0, 0xe0, 0xf0};
  unsigned char byte[4];
  byte[0] = (unsigned char)(lead[more] | code >> (6 * more));
  for (int i = 1; i <= more; i++)
    byte[i] = (unsigned char)(0x80 | (code >> (6 * (more - i)) & 0x3f));
  ab_buffer_add(b, byte, (size_t)more + 1);
}

// Behind \u: one code, or the two halves of one beyond 16 bits. Zero would end a text in C.
static bool read_code(Reader* r) {
  unsigned high, low;
  if (!hex4(r, &high) || high == 0 || (high >= 0xdc00 && high < 0xe000)) return false;
  if (high >= 0xd800 && high < 0xdc00) {
    if (r->at[0] != '\\' || r->at[1] != 'u') return false;
    r->at += 2;
    if (!hex4(r, &low) || low < 0xdc00 || low >= 0xe000) return false;
    high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
  }
  add_utf8(&r->text, high);
  return true;
}

static bool read_escape(Reader* r) {
  static const char name[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
  char c = *r->at;
  if (!c) return false;
  r->at++;
  if (c == 'u') return read_code(r);
  const char* found = strchr(name, c);
  if (found) ab_buffer_add(&r->text, &meaning[found - name], 1);
  return found != NULL;
}

// Behind the opening quotation mark. The text is in r->text afterwards, ended by 0.
static bool read_text(Reader* r) {
  r->text.n = 0;
  for (;;) {
    size_t n = 0;
    while ((unsigned char)r->at[n] >= 0x20 && r->at[n] != '"' && r->at[n] != '\\') n++;
    if (n > 0) ab_buffer_add(&r->text, r->at, n);
    r->at += n;
    if (*r->at == '"') break;
    if (*r->at != '\\') return fail(r, "a text does not end"), false;
    r->at++;
    if (!read_escape(r)) return fail(r, "an escape sequence that there is not"), false;
  }
  r->at++;
  ab_buffer_add(&r->text, "", 1);
  if (r->text.failed) fail(r, "no memory");
  return !r->text.failed;
}

// jansson looks at the bytes: they must be UTF-8.
static json_t* string_value(Reader* r) {
  if (!read_text(r)) return NULL;
  json_t* value = json_string(r->text.byte);
  return value ? value : fail(r, "no memory, or a text that is not UTF-8");
}

// --- numbers

static const char* digits(const char* p) {
  while (*p >= '0' && *p <= '9') p++;
  return p;
}

// Where a number in JSON's grammar ends, NULL if there is none.
static const char* end_of_number(const char* p, bool* whole) {
  p += *p == '-';
  const char* end = *p == '0' ? p + 1 : digits(p);
  if (end == p) return NULL;
  *whole = *end != '.' && *end != 'e' && *end != 'E';
  if (*end == '.') {
    p = end + 1;
    end = digits(p);
    if (end == p) return NULL;
  }
  if (*end == 'e' || *end == 'E') {
    p = end + 1 + (end[1] == '+' || end[1] == '-');
    end = digits(p);
    if (end == p) return NULL;
  }
  return end;
}

static json_t* number_value(Reader* r) {
  bool whole;
  const char *begin = r->at, *end = end_of_number(begin, &whole);
  if (!end) return fail(r, "a value is none that JSON has");
  r->at = end;
  if (whole && end - begin < 18) return made(r, json_integer(strtoll(begin, NULL, 10)));
  double x;
  bool good = ab_parse_number(begin, end, &x);
  return good ? made(r, json_real(x)) : fail(r, "a number is too large or too long");
}

// --- the rest

static json_t* read_value(Reader* r);

static json_t* array_value(Reader* r) {
  json_t* array = made(r, json_array());
  if (!array || take(r, ']')) return array;
  do {
    json_t* value = read_value(r);
    if (value && json_array_append_new(array, value) != 0) fail(r, "no memory");
  } while (!r->why && take(r, ','));
  if (!r->why && !take(r, ']')) fail(r, "a list does not end");
  return array;
}

static void read_member(Reader* r, json_t* object) {
  if (!take(r, '"')) {
    fail(r, "a name is missing");
    return;
  }
  if (!read_text(r)) return;
  char* key = ab_strdup(r->text.byte);
  if (!key) fail(r, "no memory");
  if (!take(r, ':')) fail(r, "a colon is missing");
  json_t* value = r->why ? NULL : read_value(r);
  if (value && json_object_set_new(object, key, value) != 0)
    fail(r, "no memory, or a name that is not UTF-8");
  ab_free(key);
}

static json_t* object_value(Reader* r) {
  json_t* object = made(r, json_object());
  if (!object || take(r, '}')) return object;
  do read_member(r, object);
  while (!r->why && take(r, ','));
  if (!r->why && !take(r, '}')) fail(r, "an object does not end");
  return object;
}

static json_t* word_value(Reader* r) {
  static const char* const word[] = {"null", "true", "false"};
  for (int i = 0; i < 3; i++) {
    size_t n = strlen(word[i]);
    if (strncmp(r->at, word[i], n) != 0) continue;
    r->at += n;
    return i == 0 ? json_null() : json_boolean(i == 1);
  }
  return number_value(r);
}

// NULL, or a part, where r->why is set: the caller drops it.
static json_t* read_value(Reader* r) {
  if (++r->depth > JSON_DEPTH) return fail(r, "values are nested too deep");
  char c = skip(r);
  json_t* value = NULL;
  if (c == '{' || c == '[' || c == '"') r->at++;
  value = c == '{'   ? object_value(r)
          : c == '[' ? array_value(r)
          : c == '"' ? string_value(r)
                     : word_value(r);
  r->depth--;
  return value;
}

json_t* ab_json_read(const char* text, const char** why, size_t* at) {
  Reader r = {.at = text};
  json_t* value = read_value(&r);
  if (!r.why && skip(&r)) fail(&r, "something follows the value");
  ab_buffer_free(&r.text);
  *why = r.why;
  *at = (size_t)(r.at - text);
  if (!r.why) return value;
  json_decref(value);
  return NULL;
}
