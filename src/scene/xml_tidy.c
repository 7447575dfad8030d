// What strict XML forbids and other readers take, put right before it is parsed: blanks before
// <?xml ...?>, "--" in comments, no blank between two attributes, a bare "&". Lines stay what they
// are.
// Tests: test_mjcf.
#include "base/alloc.h"
#include "scene/xml.h"

#include <string.h>

static bool begins(const char* at, const char* end, const char* word) {
  size_t n = strlen(word);
  return (size_t)(end - at) >= n && !memcmp(at, word, n);
}

static const char* find(const char* at, const char* end, const char* word) {
  for (; at < end; at++)
    if (*at == word[0] && begins(at, end, word)) return at;
  return NULL;
}

// The blanks change places with the declaration.
static void swap_blanks(char* text, const char* end) {
  char* at = text;
  while (at < end && ab_xml_is_space(*at)) at++;
  const char* close = at > text && begins(at, end, "<?xml") ? find(at, end, "?>") : NULL;
  if (!close) return;
  size_t nblank = (size_t)(at - text), ndeclaration = (size_t)(close + 2 - at);
  int nline = 0;
  for (char* c = text; c < at; c++) nline += *c == '\n';
  memmove(text, at, ndeclaration);
  memset(text + ndeclaration, ' ', nblank);
  memset(text + ndeclaration, '\n', (size_t)nline);
}

// Whether the "&" begins an entity: &name; or &#number;
static bool is_entity(const char* at, const char* end) {
  const char* c = at + 1;
  while (c < end && *c && c - at < 40 &&
         (strchr("#_-.", *c) || (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
          (*c >= 'A' && *c <= 'Z')))
    c++;
  return c < end && *c == ';' && c > at + 1;
}

typedef struct Tidy {
  const char *at, *end;
  char* out;  // NULL: only counted
  size_t n;
} Tidy;

static void put(Tidy* t, const char* text, size_t n) {
  if (t->out) memcpy(t->out + t->n, text, n);
  t->n += n;
}

// Everything up to the end of `word`; what follows if there is none.
static void put_until(Tidy* t, const char* word, size_t skip) {
  const char* close = find(t->at + skip, t->end, word);
  close = close ? close + strlen(word) : t->end;
  put(t, t->at, (size_t)(close - t->at));
  t->at = close;
}

static void put_comment(Tidy* t) {
  size_t first = t->n;
  const char* begin = t->at;
  put_until(t, "-->", 4);
  size_t last = first + (size_t)(t->at - begin);
  bool closed = t->at - begin >= 7 && begins(t->at - 3, t->end, "-->");
  for (size_t i = first + 4; t->out && closed && i < last - 3; i++)
    if (t->out[i] == '-') t->out[i] = '_';
}

static void put_char(Tidy* t) {
  if (*t->at == '&' && !is_entity(t->at, t->end))
    put(t, "&amp;", 5);
  else
    put(t, t->at, 1);
  t->at++;
}

static void put_tag(Tidy* t) {
  char quote = 0;
  for (; t->at < t->end;) {
    char c = *t->at;
    put_char(t);
    if (quote && c == quote) {
      quote = 0;
      bool ends = t->at == t->end || strchr("/>?", *t->at) || ab_xml_is_space(*t->at);
      if (!ends) put(t, " ", 1);
    } else if (!quote && (c == '"' || c == '\'')) {
      quote = c;
    } else if (!quote && c == '>') {
      return;
    }
  }
}

// Whether a <!DOCTYPE ...> has declarations of its own: they are refused as they are.
static bool declares(const Tidy* t) {
  const char *close = find(t->at, t->end, ">"), *open = find(t->at, t->end, "[");
  return open && (!close || open < close);
}

static void run(Tidy* t) {
  while (t->at < t->end) {
    if (begins(t->at, t->end, "<!--"))
      put_comment(t);
    else if (begins(t->at, t->end, "<![CDATA["))
      put_until(t, "]]>", 9);
    else if (begins(t->at, t->end, "<!"))
      put_until(t, declares(t) ? "]>" : ">", 2);
    else if (begins(t->at, t->end, "<?"))
      put_until(t, "?>", 2);
    else if (*t->at == '<')
      put_tag(t);
    else
      put_char(t);
  }
}

char* ab_xml_tidy(const char* given, size_t n, size_t* length) {
  bool wide = n > 1 && (given[0] == 0 || given[1] == 0 || (unsigned char)given[0] >= 0xfe);
  char* text = ab_alloc(n + 1);
  *length = n;
  if (!text) return NULL;
  memcpy(text, given, n);
  if (wide) return text;  // UTF-16: as it is
  swap_blanks(text, text + n);
  Tidy count = {text, text + n, NULL, 0};
  run(&count);
  Tidy write = {text, text + n, ab_alloc(count.n + 1), 0};
  if (write.out) run(&write);
  ab_free(text);
  *length = write.n;
  return write.out;
}

// Of a file that does not say: other readers do not look.
bool ab_xml_is_utf8(const char* text, size_t n) {
  const unsigned char *c = (const unsigned char*)text, *end = c + n;
  while (c < end) {
    int more = *c < 0x80 ? 0 : *c >= 0xc2 && *c < 0xe0 ? 1 : *c >= 0xe0 && *c < 0xf0 ? 2 : 3;
    if (*c >= 0xf5 || (*c >= 0x80 && *c < 0xc2) || end - c <= more) return false;
    for (c++; more > 0; more--, c++)
      if ((*c & 0xc0) != 0x80) return false;
  }
  return true;
}
