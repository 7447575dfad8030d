// The document tree. Expat reports elements in document order; the tree is built in blocks of
// memory that are freed together. The line of an attribute is found by walking over the text of
// the start tag, which expat gives by its place in the file: it lists the attributes in the same
// order.
// Tests: test_bad_input.
#include "scene/xml.h"

#include <expat.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/input.h"
#include "scene/mesh/file.h"

typedef struct abXmlBlock {
  struct abXmlBlock* next;
  size_t used, size;
  max_align_t data[];
} Block;

typedef struct abXmlFile {
  struct abXmlFile* next;
  const char* path;
} File;

void* ab_xml_take(abXmlDoc* doc, size_t bytes) {
  bytes = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
  Block* b = doc->block;
  if (!b || b->size - b->used < bytes) {
    size_t size = bytes > 65536 ? bytes : 65536;
    b = ab_alloc(sizeof(Block) + size);
    if (!b) return NULL;
    *b = (Block){doc->block, 0, size};
    doc->block = b;
  }
  void* p = (char*)b->data + b->used;
  b->used += bytes;
  return p;
}

static const char* copy_n(abXmlDoc* doc, const char* text, size_t n) {
  char* p = ab_xml_take(doc, n + 1);
  if (!p) return NULL;
  memcpy(p, text, n);
  p[n] = 0;
  return p;
}

const char* ab_xml_copy(abXmlDoc* doc, const char* text) { return copy_n(doc, text, strlen(text)); }

void ab_xml_free(abXmlDoc* doc) {
  for (Block *b = doc->block, *next; b; b = next) {
    next = b->next;
    ab_free(b);
  }
  *doc = (abXmlDoc){0};
}

const char* ab_xml_path(abXmlDoc* doc, const char* base, const char* path) {
  const char* slash = strrchr(base, '/');
  if (path[0] == '/' || !slash) return ab_xml_copy(doc, path);
  size_t nbase = (size_t)(slash - base) + 1, n = strlen(path);
  char* out = ab_xml_take(doc, nbase + n + 1);
  if (!out) return NULL;
  memcpy(out, base, nbase);
  memcpy(out + nbase, path, n + 1);
  return out;
}

abStatus ab_xml_read_file(const char* path, char** bytes, size_t* n, abError* error) {
  abStatus status = ab_input_read(path, bytes, n, error);
  if (status != AB_OK || *n <= AB_XML_BYTES) return status;
  ab_free(*bytes);
  *bytes = NULL;
  return ab_fail(error, AB_ERROR_FILE, path, 0, "the file is too large to be a scene");
}

// --- parsing -----------------------------------------------------------------------------------

typedef struct Reader {
  abXmlDoc* doc;
  abError* error;
  XML_Parser parser;
  const char* file;
  const char* bytes;
  size_t nbyte;
  abXml *root, *open;
  int depth;
  abStatus status;
} Reader;

static int line_now(const Reader* r) {
  XML_Size line = XML_GetCurrentLineNumber(r->parser);
  return line < INT_MAX ? (int)line : INT_MAX;
}

static void stop(Reader* r, abStatus code, const char* message) {
  if (r->status == AB_OK) r->status = ab_fail(r->error, code, r->file, line_now(r), "%s", message);
  XML_StopParser(r->parser, XML_FALSE);
}

// Lines of the attributes of the start tag that expat is at: each follows white space outside
// quotes.
static void attribute_lines(const Reader* r, int n, abXmlAttr* attr) {
  XML_Index at = XML_GetCurrentByteIndex(r->parser);
  int nbyte = XML_GetCurrentByteCount(r->parser);
  if (at < 0 || nbyte <= 0 || (size_t)at + (size_t)nbyte > r->nbyte) return;
  const char* p = r->bytes + at;
  char quote = 0, before = 0;
  int line = attr[0].line, i = 0;
  for (int k = 0; k < nbyte && i < n; k++) {
    char c = p[k];
    if (c == '\n') line++;
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (ab_xml_is_space(before) && !ab_xml_is_space(c) && c != '=' && c != '/' && c != '>') {
      attr[i++].line = line;
    }
    before = quote ? 'x' : c;
    if (c == '=' && !quote)  // spaces may follow the sign: what comes next is the value
      while (k + 1 < nbyte && ab_xml_is_space(p[k + 1])) line += p[++k] == '\n';
  }
}

static abXml* new_element(Reader* r, const char* name, const char** attr) {
  int n = 0;
  while (attr[2 * n]) n++;
  abXml* e = ab_xml_take(r->doc, sizeof *e);
  abXmlAttr* a = ab_xml_take(r->doc, sizeof *a * (size_t)(n + 1));
  if (!e || !a) return NULL;
  *e = (abXml){.name = ab_xml_copy(r->doc, name),
               .file = r->file,
               .line = line_now(r),
               .nattr = n,
               .attr = a,
               .parent = r->open};
  if (!e->name) return NULL;
  for (int i = 0; i < n; i++) {
    a[i] = (abXmlAttr){ab_xml_copy(r->doc, attr[2 * i]), ab_xml_copy(r->doc, attr[2 * i + 1]),
                       e->line};
    if (!a[i].name || !a[i].value) return NULL;
  }
  if (n) attribute_lines(r, n, a);
  return e;
}

static void XMLCALL start_element(void* user, const char* name, const char** attr) {
  Reader* r = user;
  if (r->status != AB_OK) return;
  if (++r->depth > AB_XML_DEPTH) {
    char text[96];
    snprintf(text, sizeof text, "elements are nested deeper than %d; make the tree shallower",
             AB_XML_DEPTH);
    stop(r, AB_ERROR_PARSE, text);
    return;
  }
  abXml* e = new_element(r, name, attr);
  if (!e) {
    stop(r, AB_ERROR_MEMORY, "no memory for the document");
    return;
  }
  if (!r->open) {
    r->root = e;
  } else if (r->open->last) {
    r->open->last = r->open->last->next = e;
  } else {
    r->open->child = r->open->last = e;
  }
  r->open = e;
}

static void XMLCALL end_element(void* user, const char* name) {
  Reader* r = user;
  (void)name;
  if (r->status != AB_OK) return;
  r->depth--;
  r->open = r->open->parent;
}

static void XMLCALL entity(void* user, const XML_Char* name, int parameter, const XML_Char* value,
                           int length, const XML_Char* base, const XML_Char* system,
                           const XML_Char* public, const XML_Char* notation) {
  (void)name, (void)parameter, (void)value, (void)length;
  (void)base, (void)system, (void)public, (void)notation;
  stop(user, AB_ERROR_PARSE, "entity declarations are not allowed in a scene; write the text out");
}

// --- files ---------------------------------------------------------------------------------------

static abStatus parse_file(abXmlDoc* doc, const char* path, const char* given, size_t n,
                           abXml** root, abError* error) {
  File* file = ab_xml_take(doc, sizeof *file);
  const char* name = ab_xml_copy(doc, path);
  while (n > 0 && given[n - 1] == 0) n--;  // left by programs that write their buffers out
  char* bytes = ab_xml_tidy(given, n, &n);
  // in older encodings, whatever it says: that of Western Europe
  bool old = bytes && n > 0 && bytes[0] == '<' && !ab_xml_is_utf8(bytes, n);
  XML_Parser parser = XML_ParserCreate(old ? "ISO-8859-1" : NULL);
  if (!file || !name || !parser || !bytes) {
    if (parser) XML_ParserFree(parser);
    ab_free(bytes);
    return ab_fail(error, AB_ERROR_MEMORY, path, 0, "no memory for the document");
  }
  *file = (File){doc->file, name};
  doc->file = file;
  Reader r = {doc, error, parser, name, bytes, n, NULL, NULL, 0, AB_OK};
  XML_SetUserData(parser, &r);
  XML_SetElementHandler(parser, start_element, end_element);
  XML_SetEntityDeclHandler(parser, entity);
  // Expat takes its lengths as int: hand the text over in pieces.
  size_t at = 0;
  enum XML_Status status = XML_STATUS_OK;
  do {
    size_t piece = n - at < ((size_t)1 << 28) ? n - at : (size_t)1 << 28;
    status = XML_Parse(parser, bytes + at, (int)piece, at + piece == n);
    at += piece;
  } while (status == XML_STATUS_OK && at < n);
  if (status != XML_STATUS_OK && r.status == AB_OK)
    r.status = ab_fail(error, AB_ERROR_PARSE, name, line_now(&r), "malformed XML: %s%s",
                       XML_ErrorString(XML_GetErrorCode(parser)),
                       n ? "; the line is where reading stopped, the fault may be just before it"
                         : "; the file is empty");
  XML_ParserFree(parser);
  ab_free(bytes);
  *root = r.root;
  return r.status;
}

abStatus ab_xml_parse(abXmlDoc* doc, const char* path, const char* bytes, size_t n,
                      abError* error) {
  return parse_file(doc, path, bytes, n, &doc->root, error);
}

// --- includes ----------------------------------------------------------------------------------

// A count of includes bounds the work, since each file may come once only; what is left to check
// is that the depth of the whole tree stays bounded.
static int depth_of(const abXml* e) {
  int depth = 0;
  for (; e; e = e->parent) depth++;
  return depth;
}

// Reads the file, sought beside the main file and then beside the one that names it.
static abStatus read_include(abXmlDoc* doc, const abXml* e, const abXmlAttr* a, const char** path,
                             char** bytes, size_t* n, abError* error) {
  abError reason, other;
  *path = ab_xml_path(doc, doc->root->file, a->value);
  const char* beside = ab_xml_path(doc, e->file, a->value);
  if (!*path || !beside) return ab_fail(error, AB_ERROR_MEMORY, e->file, e->line, "no memory");
  // what a scene names must be an ordinary file: a pipe might never end
  abXmlRead read = doc->read == ab_xml_read_file ? ab_input_read_ordinary : doc->read;
  if (read(*path, bytes, n, &reason) == AB_OK) return AB_OK;
  if (strcmp(*path, beside) && read(beside, bytes, n, &other) == AB_OK) {
    *path = beside;
    return AB_OK;
  }
  return ab_fail(error, reason.code, e->file, a->line, "included file '%.300s': %.500s", *path,
                 reason.message);
}

static abStatus include_file(abXmlDoc* doc, const abXml* e, abXml** first, abError* error) {
  const abXmlAttr* a = ab_xml_attr(e, "file");
  if (!a || !a->value[0])
    return ab_fail(error, AB_ERROR_PARSE, e->file, e->line,
                   "<include> needs the attribute file=\"...\"");
  if (e->nattr > 1 || e->child)
    return ab_fail(error, AB_ERROR_PARSE, e->file, e->line,
                   "<include> takes the attribute file only, and no content");
  const char* path;
  char* bytes;
  size_t n;
  abStatus status = read_include(doc, e, a, &path, &bytes, &n, error);
  if (status != AB_OK) return status;
  for (const File* f = doc->file; f; f = f->next)
    if (!strcmp(f->path, path)) {
      ab_free(bytes);
      return ab_fail(error, AB_ERROR_PARSE, e->file, a->line,
                     "'%s' is included a second time, or includes itself; each file may be "
                     "included once",
                     a->value);
    }
  abXml* root = NULL;
  status = parse_file(doc, path, bytes, n, &root, error);
  ab_free(bytes);
  if (status == AB_OK) *first = root->child;
  return status;
}

static abStatus expand(abXmlDoc* doc, abXml* parent, int depth, abError* error) {
  if (depth > AB_XML_DEPTH)
    return ab_fail(error, AB_ERROR_PARSE, parent->file, parent->line,
                   "elements are nested deeper than %d through includes", AB_XML_DEPTH);
  abXml** link = &parent->child;
  parent->last = NULL;
  while (*link) {
    abXml* e = *link;
    if (!ab_xml_is(e, "include")) {
      abStatus status = e->child ? expand(doc, e, depth + 1, error) : AB_OK;
      if (status != AB_OK) return status;
      parent->last = e;
      link = &e->next;
      continue;
    }
    abXml* first = NULL;
    abStatus status = include_file(doc, e, &first, error);
    if (status != AB_OK) return status;
    abXml* tail = first;
    for (abXml* c = first; c; c = c->next) {
      c->parent = parent;
      tail = c;
    }
    if (tail) tail->next = e->next;
    *link = first ? first : e->next;  // the new children are looked at next: they may include too
  }
  return AB_OK;
}

abStatus ab_xml_expand_includes(abXmlDoc* doc, abError* error) {
  return expand(doc, doc->root, depth_of(doc->root), error);
}
