// Attributes of the document tree (xml.c): their values, and words spelled wrong.
// Tests: test_bad_input.
#include <string.h>

#include "base/error.h"
#include "base/input.h"
#include "scene/xml.h"

// --- reading values ------------------------------------------------------------------------------

const abXmlAttr* ab_xml_attr(const abXml* element, const char* name) {
  for (int i = 0; i < element->nattr; i++)
    if (!strcmp(element->attr[i].name, name)) return &element->attr[i];
  return NULL;
}

int ab_xml_count(const abXmlAttr* attr) {
  int n = 0;
  for (const char* p = attr->value; *p;) {
    while (ab_xml_is_space(*p)) p++;
    if (*p) n++;
    while (*p && !ab_xml_is_space(*p)) p++;
  }
  return n;
}

int ab_xml_numbers(const abXml* element, const abXmlAttr* attr, int max, double* out,
                   abError* error) {
  int n = 0;
  const char* p = attr->value;
  for (;;) {
    while (ab_xml_is_space(*p)) p++;
    if (!*p) return n;
    double x;
    size_t word = strcspn(p, " \t\r\n");
    if (n == max) {
      ab_fail(error, AB_ERROR_PARSE, element->file, attr->line,
              "<%s> %s=\"%.60s\": at most %d number%s allowed here", element->name, attr->name,
              attr->value, max, max == 1 ? " is" : "s are");
      return -1;
    }
    if (!ab_parse_number(p, p + word, &x)) {
      ab_fail(error, AB_ERROR_PARSE, element->file, attr->line,
              "<%s> %s: '%.*s' is not a finite number", element->name, attr->name,
              word < 60 ? (int)word : 60, p);
      return -1;
    }
    out[n++] = x;
    p += word;
  }
}

// --- spelling ------------------------------------------------------------------------------------

#define WORD 32

// Number of letters to insert, delete or change to get from a to b.
static int edit_distance(const char* a, int na, const char* b, int nb) {
  int row[WORD + 1];
  for (int j = 0; j <= nb; j++) row[j] = j;
  for (int i = 1; i <= na; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= nb; j++) {
      int change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      int best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
      row[j] = change < best ? change : best;
    }
  }
  return row[nb];
}

void ab_xml_nearest(const char* word, const char* list, char out[32]) {
  out[0] = 0;
  size_t n = strlen(word);
  if (n == 0 || n >= WORD) return;
  int best = (int)n / 3 + 2;  // farther than a third of the letters is another word
  while (*list) {
    size_t m = strcspn(list, " ");
    if (m > 0 && m < WORD) {
      int d = edit_distance(word, (int)n, list, (int)m);
      if (d < best && d < (int)m) {
        best = d;
        memcpy(out, list, m);
        out[m] = 0;
      }
    }
    list += m;
    list += strspn(list, " ");
  }
}

bool ab_xml_listed(const char* word, const char* list) {
  size_t n = strlen(word);
  while (n && *list) {
    size_t m = strcspn(list, " ");
    if (m == n && !memcmp(word, list, n)) return true;
    list += m;
    list += strspn(list, " ");
  }
  return false;
}
