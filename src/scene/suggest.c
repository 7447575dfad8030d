// Proposals for misspelt names.
// Tests: test_bad_input.
#include <abut/number.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_WORD = 128 };

static int least(int a, int b, int c) {
  int m = a < b ? a : b;
  return m < c ? m : c;
}

// Edits (insert, delete, replace) that turn a into b, upper and lower case being the same.
static int edit_distance(const char* a, const char* b) {
  int row[LONGEST_WORD];
  int nb = (int)strlen(b);
  if (nb >= LONGEST_WORD || strlen(a) >= LONGEST_WORD) return LONGEST_WORD;
  for (int j = 0; j <= nb; j++) row[j] = j;
  for (int i = 1; a[i - 1]; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= nb; j++) {
      int change = tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]);
      int here = least(row[j] + 1, row[j - 1] + 1, diagonal + change);
      diagonal = row[j];
      row[j] = here;
    }
  }
  return row[nb];
}

const char* ab_suggest(const char* name, int n, const char* const* known, char* text, size_t size) {
  if (!text || size == 0) return "";
  text[0] = 0;
  if (!name || (!known && n > 0)) return text;
  int best = -1, best_distance = LONGEST_WORD;
  for (int i = 0; i < n; i++) {
    int d = edit_distance(name, known[i]);
    if (!strncmp(name, known[i], strlen(name)) && d > 1) d = 1;  // an abbreviation
    if (d < best_distance) best = i, best_distance = d;
  }
  // A third of the letters wrong is a slip of the fingers; more is another word.
  if (best >= 0 && best_distance <= 1 + (int)strlen(known[best]) / 3) {
    snprintf(text, size, "; did you mean '%s'?", known[best]);
    return text;
  }
  if (n <= 0) {
    snprintf(text, size, "; there are none");
    return text;
  }
  size_t at = (size_t)snprintf(text, size, "; there %s: ", n == 1 ? "is only" : "are");
  for (int i = 0; i < n && at + 8 < size; i++) {
    bool room = at + strlen(known[i]) + 8 < size;
    at += (size_t)snprintf(text + at, size - at, "%s%s", i ? ", " : "", room ? known[i] : "...");
    if (!room) break;
  }
  return text;
}
