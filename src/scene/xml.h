// A small document tree over expat: every element and attribute knows the file and the line it
// came from, so that whatever is wrong with a scene can be pointed at.
//
// Limits that keep hostile files harmless: elements nest at most AB_XML_DEPTH deep, entity
// declarations are refused (scenes need none, and a few nested ones expand to gigabytes), a file
// is at most AB_XML_BYTES long, and no file is included twice, hence none includes itself.
#ifndef ABUT_SCENE_XML_H
#define ABUT_SCENE_XML_H

#include <abut/types.h>

#define AB_XML_DEPTH 1024
#define AB_XML_BYTES ((size_t)1 << 30)

typedef struct abXmlAttr {
  const char *name, *value;
  int line;
} abXmlAttr;

typedef struct abXml {
  const char* name;
  const char* file;
  int line;
  int nattr;
  const abXmlAttr* attr;
  struct abXml *parent, *child, *last, *next;
} abXml;

// How files are got at: ab_xml_read_file, or a function that knows no files (fuzzing).
// *bytes is allocated with ab_alloc.
typedef abStatus (*abXmlRead)(const char* path, char** bytes, size_t* n, abError* error);

typedef struct abXmlDoc {
  abXml* root;
  abXmlRead read;
  struct abXmlBlock* block;  // all memory of the tree
  struct abXmlFile* file;    // the files it was read from
} abXmlDoc;

abStatus ab_xml_read_file(const char* path, char** bytes, size_t* n, abError* error);

// Parses the text as the document's main file. Free the document also after an error.
abStatus ab_xml_parse(abXmlDoc* doc, const char* path, const char* bytes, size_t n, abError* error);
// Replaces every <include file="..."/> by the children of that file's root. Paths are relative to
// the folder of the main file or, if nothing is there, to that of the file they stand in.
abStatus ab_xml_expand_includes(abXmlDoc* doc, abError* error);
void ab_xml_free(abXmlDoc* doc);

// Memory that lives as long as the document; NULL when there is none.
void* ab_xml_take(abXmlDoc* doc, size_t bytes);
const char* ab_xml_copy(abXmlDoc* doc, const char* text);
// folder of `base` + `path`, or path itself where it is absolute
const char* ab_xml_path(abXmlDoc* doc, const char* base, const char* path);

// What separates words in XML.
static inline bool ab_xml_is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// --- xml_tidy.c

// A copy (ab_alloc) of the text that strict XML readers take; NULL: no memory.
char* ab_xml_tidy(const char* text, size_t n, size_t* length);
bool ab_xml_is_utf8(const char* text, size_t n);

// --- xml_value.c
const abXmlAttr* ab_xml_attr(const abXml* element, const char* name);  // NULL if there is none
static inline bool ab_xml_is(const abXml* element, const char* name) {
  const char* a = element->name;
  while (*a && *a == *name) a++, name++;
  return *a == *name;
}

// Reads up to `max` finite numbers; returns how many there are, or -1 with *error filled where the
// text holds anything else or more.
int ab_xml_numbers(const abXml* element, const abXmlAttr* attr, int max, double* out,
                   abError* error);
// How many words the value has, for lists of any length.
int ab_xml_count(const abXmlAttr* attr);

// The word of a space-separated list nearest in spelling to `word`, copied to out (size 32), or
// an empty string where nothing is near.
void ab_xml_nearest(const char* word, const char* list, char out[32]);
// Whether a space-separated list holds the word.
bool ab_xml_listed(const char* word, const char* list);

#endif
