// Overlaps that a simulation leaves as they are: told once a pair.
#include "deep.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

// More lines than this tell nobody anything; all pairs are in the JSON.
enum { MOST_LINES = 10, TEXT = 600 };

static void describe(const DeepPair* p, const abModel* model, char text[TEXT]) {
  const abGeom *a = &model->geom[p->geom1], *b = &model->geom[p->geom2];
  const char* end = p->hold == AB_HOLD_CLOSED
                        ? "the joints cannot open that: no force acts until they have parted"
                        : "they rest as they are";
  snprintf(text, TEXT,
           "geom '%s' of body '%s' and geom '%s' of body '%s' begin %.3g m inside each other; %s "
           "(move them apart, or exclude the pair)",
           a->name, model->body[a->body].name, b->name, model->body[b->body].name, p->depth, end);
}

static DeepPair* find(DeepPairs* deep, const abContact* c) {
  for (int i = 0; i < deep->n; i++)
    if (deep->pair[i].geom1 == c->geom1 && deep->pair[i].geom2 == c->geom2) return &deep->pair[i];
  return NULL;
}

static void add(DeepPairs* deep, const abModel* model, const abData* data, const abContact* c,
                bool quiet) {
  if (deep->n == deep->room) {
    int room = deep->room ? 2 * deep->room : 16;
    DeepPair* more = realloc(deep->pair, sizeof *more * (size_t)room);
    if (!more) return;
    deep->pair = more, deep->room = room;
  }
  DeepPair* p = &deep->pair[deep->n++];
  *p = (DeepPair){c->geom1, c->geom2, c->hold, c->depth, data->time, 1};
  char text[TEXT];
  describe(p, model, text);
  if (quiet || deep->n > MOST_LINES + 1) return;
  if (deep->n <= MOST_LINES)
    fprintf(stderr, "abut: warning: time %.9g s: %s\n", data->time, text);
  else
    fprintf(stderr, "abut: warning: further pairs begin inside each other; --json lists them\n");
}

void deep_observe(DeepPairs* deep, const abModel* model, const abData* data, bool quiet) {
  for (int i = 0; i < data->ncontact && data->stat.nhold > 0; i++) {
    const abContact* c = &data->contacts[i];
    if (c->hold == AB_HOLD_NONE) continue;
    DeepPair* p = find(deep, c);
    if (p)
      p->steps++;
    else
      add(deep, model, data, c, quiet);
  }
}

void deep_json(const DeepPairs* deep, const abModel* model, json_t* list) {
  for (int i = 0; i < deep->n; i++) {
    char text[TEXT];
    describe(&deep->pair[i], model, text);
    json_t* j = json_object();
    json_object_set_new(j, "text", cli_json_text(text));
    json_object_set_new(j, "steps", json_integer(deep->pair[i].steps));
    json_object_set_new(j, "since", cli_json_number(deep->pair[i].since));
    json_array_append_new(list, j);
  }
}

void deep_free(DeepPairs* deep) { free(deep->pair); }
