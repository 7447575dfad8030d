// Names of quantities: whose, and which.
#include <string.h>

#include "quantity.h"

static const char* const owner_name[NOWNER] = {"", "body", "joint", "actuator", "contact"};

static abStatus bad(const char* text, size_t n, const char* what, abError* error) {
  return sweep_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "measure '%.*s': %s", (int)n, text, what);
}

static abStatus unknown_word(const char* text, size_t n, Owner owner, const char* word,
                             abError* error) {
  const char* known[64];
  int nknown = 0;
  for (int i = 0; i < quantity_count && nknown < 64; i++)
    if (quantity_table[i].owner == owner) known[nknown++] = quantity_table[i].word;
  char given[64], proposal[512], message[700];
  snprintf(given, sizeof given, "%.*s", (int)(text + n - word), word);
  ab_suggest(given, nknown, known, proposal, sizeof proposal);
  snprintf(message, sizeof message, "'%s' is not known here%s", given, proposal);
  return bad(text, n, message, error);
}

static int find_thing(const abModel* model, Owner owner, const char* name) {
  return owner == BODY    ? ab_find_body(model, name)
         : owner == JOINT ? ab_find_joint(model, name)
                          : ab_find_actuator(model, name);
}

static abStatus find_owner(const abModel* model, Owner owner, const char* text, size_t n,
                           const char* name, Quantity* q, abError* error) {
  q->body = find_thing(model, owner, name);
  if (q->body >= 0 && owner == JOINT && model->joint[q->body].type < AB_JOINT_SLIDE)
    return bad(text, n, "only hinges and slides have one coordinate; measure the body instead",
               error);
  if (q->body >= 0) return AB_OK;
  const char* known[256];
  int nknown = 0;
  for (int i = 1; owner == BODY && i < model->nbody && nknown < 256; i++)
    known[nknown++] = model->body[i].name;
  for (int i = 0; owner == JOINT && i < model->njoint && nknown < 256; i++)
    known[nknown++] = model->joint[i].name;
  for (int i = 0; owner == ACTUATOR && i < model->nactuator && nknown < 256; i++)
    known[nknown++] = model->actuator[i].name;
  char proposal[512], message[700];
  ab_suggest(name, nknown, known, proposal, sizeof proposal);
  snprintf(message, sizeof message, "there is no %s '%.64s'%s", owner_name[owner], name, proposal);
  return bad(text, n, message, error);
}

// A side of a contact: a body, else a geom, "*" for anything.
static bool find_side(const abModel* model, const char* name, Quantity* q, int k) {
  q->side_geom[k] = false;
  q->side[k] = -1;
  if (!strcmp(name, "*")) return true;
  q->side[k] = ab_find_body(model, name);
  if (q->side[k] >= 0) return true;
  q->side_geom[k] = true;
  q->side[k] = ab_find_geom(model, name);
  return q->side[k] >= 0;
}

// Names may have dots in them, so every dot is tried as the border between the two.
static abStatus find_sides(const abModel* model, const char* text, size_t n, char* names,
                           Quantity* q, abError* error) {
  for (char* dot = strchr(names, '.'); dot; dot = strchr(dot + 1, '.')) {
    *dot = 0;
    bool found = find_side(model, names, q, 0) && find_side(model, dot + 1, q, 1);
    *dot = '.';
    if (found) return AB_OK;
  }
  char first[128], proposal[400], message[700];
  size_t border = strcspn(names, ".");
  snprintf(first, sizeof first, "%.*s", (int)border, names);
  const char* wrong = find_side(model, first, q, 0) && names[border] ? names + border + 1 : first;
  const char* known[512];
  int nknown = 0;
  for (int i = 0; i < model->nbody && nknown < 256; i++) known[nknown++] = model->body[i].name;
  for (int i = 0; i < model->ngeom && nknown < 512; i++) known[nknown++] = model->geom[i].name;
  ab_suggest(wrong, nknown, known, proposal, sizeof proposal);
  snprintf(message, sizeof message,
           "write contact.A.B.slip, A and B being bodies or geoms; '%.64s' is neither%s", wrong,
           proposal);
  return bad(text, n, message, error);
}

static Owner owner_of(const char* text, size_t n) {
  size_t head = 0;
  while (head < n && text[head] != '.') head++;
  if (head == n) return SCENE;
  for (Owner o = BODY; o < NOWNER; o++)
    if (strlen(owner_name[o]) == head && !memcmp(owner_name[o], text, head)) return o;
  return NOWNER;
}

abStatus quantity_read(const abModel* model, const char* text, size_t n, Quantity* q,
                       abError* error) {
  Owner owner = owner_of(text, n);
  if (owner == NOWNER)
    return bad(text, n, "a measure begins with body., joint., actuator., contact., or is one word",
               error);
  size_t at = n;
  while (at > 0 && text[at - 1] != '.') at--;
  const char* word = text + at;
  *q = (Quantity){.kind = -1, .side = {-1, -1}};
  for (int i = 0; i < quantity_count && q->kind < 0; i++)
    if (quantity_table[i].owner == owner && strlen(quantity_table[i].word) == n - at &&
        !memcmp(quantity_table[i].word, word, n - at))
      q->kind = i;
  if (q->kind < 0) return unknown_word(text, n, owner, word, error);
  if (owner == SCENE) return AB_OK;
  char names[512];
  size_t begin = strlen(owner_name[owner]) + 1;
  if (at <= begin + 1 || at - begin - 1 >= sizeof names)
    return bad(text, n, "the name is missing, as in body.cube.x", error);
  snprintf(names, sizeof names, "%.*s", (int)(at - begin - 1), text + begin);
  if (owner == CONTACT) return find_sides(model, text, n, names, q, error);
  return find_owner(model, owner, text, n, names, q, error);
}
