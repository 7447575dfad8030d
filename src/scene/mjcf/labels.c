// See labels.h.
// Tests: test_mjcf, test_mujoco_model.
#include "scene/mjcf/labels.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "scene/xml.h"

static size_t slot(const abLabels* names, const char* name) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char* c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
  size_t room = (size_t)names->room, i = (size_t)(hash % room);
  while (names->entry[i].name && strcmp(names->entry[i].name, name)) i = i + 1 < room ? i + 1 : 0;
  return i;
}

const abLabel* ab_labels_find(const abLabels* names, const char* name) {
  if (!names->room) return NULL;
  const abLabel* e = &names->entry[slot(names, name)];
  return e->name ? e : NULL;
}

static bool grow(abLabels* names) {
  if (names->room > INT_MAX / 4) return false;
  abLabels bigger = {names->n, names->room ? 2 * names->room : 64, NULL};
  bigger.entry = ab_alloc_zero(sizeof(abLabel) * (size_t)bigger.room);
  if (!bigger.entry) return false;
  for (int i = 0; i < names->room; i++)
    if (names->entry[i].name) bigger.entry[slot(&bigger, names->entry[i].name)] = names->entry[i];
  ab_free(names->entry);
  *names = bigger;
  return true;
}

bool ab_labels_add(abLabels* names, abLabel entry) {
  if (2 * (names->n + 1) > names->room && !grow(names)) return false;
  names->entry[slot(names, entry.name)] = entry;
  names->n++;
  return true;
}

void ab_labels_free(abLabels* names) {
  ab_free(names->entry);
  *names = (abLabels){0};
}

const char* ab_labels_nearest(const abLabels* names, const char* name, char out[32]) {
  // The spelling search takes lists, and asking it for each name alone keeps the best so far by
  // shrinking: the last nearer one wins.
  char best[32] = "";
  for (int i = 0; i < names->room; i++) {
    const char* candidate = names->entry[i].name;
    if (!candidate || strlen(candidate) > 31 || strchr(candidate, ' ')) continue;
    char list[68];
    size_t n = strlen(best);
    memcpy(list, best, n);
    list[n] = ' ';
    strcpy(list + n + (n > 0), candidate);
    ab_xml_nearest(name, list, out);
    memcpy(best, out, sizeof best);
  }
  memcpy(out, best, sizeof best);
  return out[0] ? out : NULL;
}
