// Numbers of a scene by name. Each kind of thing has a table of its numbers: where they stand in
// its definition, how many there are, and whether a change alters shapes, fixed poses or joints
// (reshapes). What is not a plain number of a definition, a body's mass and the arrays of a
// keyframe, is treated apart.
// Tests: test_number.
#include <abut/number.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "scene/scene.h"

typedef enum Kind {
  NUMBER_OPTION,
  NUMBER_BODY,
  NUMBER_GEOM,
  NUMBER_JOINT,
  NUMBER_ACTUATOR,
  NUMBER_KEY,
  NUMBER_PAIR,
  NUMBER_KINDS
} Kind;
static const char* const kind_name[NUMBER_KINDS] = {"option",   "body", "geom", "joint",
                                                    "actuator", "key",  "pair"};

typedef struct Field {
  const char* name;
  size_t offset;
  int n;
  bool bare;  // the name without an index is the first number
  bool reshapes;
} Field;

enum { MAX_FIELD = 13, BOTH = -1 };
enum { BODY_MASS = 0 };
enum { KEY_Q, KEY_V, KEY_CTRL };

#define OF(def, member) offsetof(def, member)
static const Field field_of[NUMBER_KINDS][MAX_FIELD] = {
    [NUMBER_OPTION] = {{"timestep", OF(abSceneOption, timestep), 1, true, false},
                       {"gravity", OF(abSceneOption, gravity), 3, false, false}},
    [NUMBER_BODY] = {{"mass", OF(abBodyDef, mass), 1, true, false},
                     {"pos", OF(abBodyDef, pose.p), 3, false, true}},
    [NUMBER_GEOM] = {{"friction", OF(abGeomDef, friction), 3, true, false},
                     {"mu_static", OF(abGeomDef, mu_static), 1, true, false},
                     {"e_t", OF(abGeomDef, e_t), 1, true, false},
                     {"e_o", OF(abGeomDef, e_o), 1, true, false},
                     {"e_r", OF(abGeomDef, e_r), 1, true, false},
                     {"restitution", OF(abGeomDef, restitution), 1, true, false},
                     {"mass", OF(abGeomDef, mass), 1, true, false},
                     {"density", OF(abGeomDef, density), 1, true, false},
                     {"size", OF(abGeomDef, size), 3, false, true},
                     {"pos", OF(abGeomDef, pose.p), 3, false, true},
                     {"margin", OF(abGeomDef, margin), 1, true, true},
                     {"gap", OF(abGeomDef, gap), 1, true, true}},
    [NUMBER_JOINT] = {{"damping", OF(abJointDef, damping), 1, true, true},
                      {"stiffness", OF(abJointDef, stiffness), 1, true, true},
                      {"armature", OF(abJointDef, armature), 1, true, true},
                      {"frictionloss", OF(abJointDef, frictionloss), 1, true, true},
                      {"ref", OF(abJointDef, ref), 1, true, true},
                      {"springref", OF(abJointDef, springref), 1, true, true},
                      {"margin", OF(abJointDef, margin), 1, true, true},
                      {"range", OF(abJointDef, range), 2, false, true},
                      {"pos", OF(abJointDef, pos), 3, false, true}},
    [NUMBER_ACTUATOR] = {{"gear", OF(abActuatorDef, gear), 6, true, false},
                         {"gainprm", OF(abActuatorDef, gainprm), 3, false, false},
                         {"biasprm", OF(abActuatorDef, biasprm), 3, false, false},
                         {"ctrlrange", OF(abActuatorDef, ctrl_range), 2, false, false},
                         {"forcerange", OF(abActuatorDef, force_range), 2, false, false}},
    [NUMBER_KEY] = {{"qpos", 0, 0, false, false},
                    {"qvel", 0, 0, false, false},
                    {"ctrl", 0, 0, false, false}},
    [NUMBER_PAIR] = {{"friction", OF(abPairDef, friction), 5, true, false}},
};

// The scene's arrays are mine to change, though the definitions call them constant.
static double* key_array(const abScene* s, const abNumber* x, int* n) {
  const abKeyDef* k = &s->key.item[x->index];
  *n = x->field == KEY_Q ? k->nq : x->field == KEY_V ? k->nv : k->nctrl;
  return (double*)(x->field == KEY_Q ? k->q : x->field == KEY_V ? k->v : k->ctrl);
}

static int nthing(const abScene* s, Kind kind) {
  const int n[NUMBER_KINDS] = {1,        s->body.n, s->geom.n, s->joint.n, s->actuator.n,
                               s->key.n, s->pair.n};
  return n[kind];
}

// Whether a number is one of this scene, as far as memory is concerned.
static bool belongs(const abScene* s, const abNumber* x) {
  if (!s || !x || x->kind < 0 || x->kind >= NUMBER_KINDS) return false;
  if (x->index < 0 || x->index >= nthing(s, (Kind)x->kind) || x->field < 0 || x->field >= MAX_FIELD)
    return false;
  const Field* f = &field_of[x->kind][x->field];
  if (x->kind == NUMBER_BODY && x->field == BODY_MASS && !x->share) return false;
  int n = f->n;
  if (x->kind == NUMBER_KEY && !key_array(s, x, &n)) return false;
  return f->name && x->element < n &&
         (x->element >= 0 || (x->kind == NUMBER_PAIR && x->element == BOTH));
}

static double* locate(const abScene* s, const abNumber* x) {
  int n;
  if (x->kind == NUMBER_KEY) return key_array(s, x, &n) + x->element;
  char* def = x->kind == NUMBER_OPTION     ? (char*)&s->option
              : x->kind == NUMBER_BODY     ? (char*)&s->body.item[x->index]
              : x->kind == NUMBER_GEOM     ? (char*)&s->geom.item[x->index]
              : x->kind == NUMBER_JOINT    ? (char*)&s->joint.item[x->index]
              : x->kind == NUMBER_ACTUATOR ? (char*)&s->actuator.item[x->index]
                                           : (char*)&s->pair.item[x->index];
  double* first = (double*)(void*)(def + field_of[x->kind][x->field].offset);
  return first + (x->element == BOTH ? 0 : x->element);
}

// --- finding ---

typedef struct Search {
  abScene* scene;
  const char* name;
  abNumber* out;
  abError* error;
} Search;

static abStatus refuse(const Search* f, const char* why) {
  return ab_fail(f->error, AB_ERROR_ARGUMENT, f->scene->option.file, 0, "%s: %s", f->name, why);
}

static const char* thing_name(const abScene* s, Kind kind, int i, char text[256]) {
  const char* name = kind == NUMBER_BODY       ? s->body.item[i].name
                     : kind == NUMBER_GEOM     ? s->geom.item[i].name
                     : kind == NUMBER_JOINT    ? s->joint.item[i].name
                     : kind == NUMBER_ACTUATOR ? s->actuator.item[i].name
                     : kind == NUMBER_KEY      ? s->key.item[i].name
                                               : NULL;
  if (kind != NUMBER_PAIR) return name;
  const char *a = s->geom.item[s->pair.item[i].geom1].name,
             *b = s->geom.item[s->pair.item[i].geom2].name;
  if (!a || !b) return NULL;
  snprintf(text, 256, "%s.%s", a, b);
  return text;
}

// Which thing of the kind is called `name` (n characters); -1 with proposals.
static int find_thing(const Search* f, Kind kind, const char* name, size_t n) {
  int count = nthing(f->scene, kind), nknown = 0;
  const char** known = malloc(sizeof(char*) * (size_t)(count + 1));
  char(*text)[256] = malloc(256 * (size_t)(count + 1));
  int found = -1;
  for (int i = 0; i < count && known && text && found < 0; i++) {
    const char* own = thing_name(f->scene, kind, i, text[i]);
    if (!own || (kind == NUMBER_BODY && i == 0)) continue;
    if (strlen(own) == n && !memcmp(own, name, n)) found = i;
    known[nknown++] = own;
  }
  if (found < 0) {
    char given[128], proposal[512];
    snprintf(given, sizeof given, "%.*s", (int)n, name);
    ab_fail(f->error, AB_ERROR_ARGUMENT, f->scene->option.file, 0,
            "%s: there is no %s '%s' with a name in the scene%s", f->name, kind_name[kind], given,
            known ? ab_suggest(given, nknown, known, proposal, sizeof proposal) : "");
  }
  free(known);
  free(text);
  return found;
}

static int find_field(const Search* f, Kind kind, const char* name, size_t n) {
  const char* known[MAX_FIELD];
  int i = 0;
  for (; i < MAX_FIELD && field_of[kind][i].name; i++) {
    known[i] = field_of[kind][i].name;
    if (strlen(known[i]) == n && !memcmp(known[i], name, n)) return i;
  }
  char given[128], proposal[512];
  snprintf(given, sizeof given, "%.*s", (int)n, name);
  ab_fail(f->error, AB_ERROR_ARGUMENT, f->scene->option.file, 0,
          "%s: a%s %s has no number '%s' that can be changed%s", f->name,
          kind == NUMBER_OPTION || kind == NUMBER_ACTUATOR ? "n" : "", kind_name[kind], given,
          ab_suggest(given, i, known, proposal, sizeof proposal));
  return -1;
}

// The index in brackets at the end of the name; -2 where it is malformed, BOTH without one.
static int read_index(const char* bracket) {
  char* end;
  if (!*bracket) return BOTH;
  long i = strtol(bracket + 1, &end, 10);
  bool good = bracket[1] >= '0' && bracket[1] <= '9' && !strcmp(end, "]") && i < 1000000;
  return good ? (int)i : -2;
}

static abStatus set_element(const Search* f, const char* bracket, int n, bool bare) {
  int i = read_index(bracket);
  char text[128];
  if (i == BOTH && bare) {
    f->out->element = f->out->kind == NUMBER_PAIR ? BOTH : 0;
    return AB_OK;
  }
  if (i >= 0 && i < n && (n > 1 || f->out->kind == NUMBER_KEY)) {
    f->out->element = i;
    return AB_OK;
  }
  if (n == 1)
    snprintf(text, sizeof text, "this is one number; leave the brackets out");
  else if (n == 0)
    snprintf(text, sizeof text, "there are no such numbers in this scene");
  else
    snprintf(text, sizeof text, "write which of the %d numbers is meant as [0] to [%d]", n, n - 1);
  return refuse(f, text);
}

// --- what needs more than a table ---

// A keyframe that leaves an array out, or its end, gets it as it would be compiled.
static abStatus complete_key(const Search* f, const abModel* model, int* n) {
  abKeyDef* k = &f->scene->key.item[f->out->index];
  int count = f->out->field == KEY_Q   ? model->nq
              : f->out->field == KEY_V ? model->nv
                                       : model->nactuator;
  int given = 0;
  const double* now = key_array(f->scene, f->out, &given);
  *n = count;
  if (now && given == count) return AB_OK;
  double* x = ab_bag_take(&f->scene->bag, sizeof(double) * (size_t)(count + 1));
  if (!x) return refuse(f, "no memory");
  if (f->out->field == KEY_Q) memcpy(x, model->q0, sizeof(double) * (size_t)count);
  if (now) memcpy(x, now, sizeof(double) * (size_t)given);
  if (f->out->field == KEY_Q) k->q = x, k->nq = count;
  if (f->out->field == KEY_V) k->v = x, k->nv = count;
  if (f->out->field == KEY_CTRL) k->ctrl = x, k->nctrl = count;
  return AB_OK;
}

// The mass of a body without an inertial is that of its geoms; they keep their shares of it.
static abStatus find_mass(const Search* f, const abModel* model) {
  abScene* s = f->scene;
  const abBodyDef* d = &s->body.item[f->out->index];
  int body = ab_find_body(model, d->name);
  double total = 0;
  if (d->has_inertial) {
    double* whole = ab_bag_take(&s->bag, 7 * sizeof *whole);
    if (!whole) return refuse(f, "no memory");
    whole[0] = d->mass;
    memcpy(whole + 1, d->inertia, sizeof d->inertia);
    f->out->share = whole;
    return d->mass > 0 ? AB_OK : refuse(f, "its mass is 0; there is no inertia to go with it");
  }
  const abBody* b = &model->body[body];
  double* share = ab_bag_take(&s->bag, sizeof(double) * (size_t)(s->geom.n + 1));
  if (!share) return refuse(f, "no memory");
  for (int i = b->geom0; i < b->geom0 + b->ngeom; i++) total += model->geom[i].mass;
  if (!(total > 0)) return refuse(f, "the body weighs nothing; give one of its geoms a mass");
  // the geoms of one body are compiled in the order they were added
  for (int i = 0, k = b->geom0; i < s->geom.n; i++)
    if (s->geom.item[i].body == f->out->index) share[i] = model->geom[k++].mass / total;
  share[s->geom.n] = total;  // while the geoms have densities instead of masses
  f->out->share = share;
  return AB_OK;
}

static abStatus check_geom(const Search* f) {
  static const int nsize[] = {0, 3, 1, 2, 2, 3, 0};
  const abGeomDef* d = &f->scene->geom.item[f->out->index];
  const char* field = field_of[NUMBER_GEOM][f->out->field].name;
  bool mass = !strcmp(field, "mass"), density = !strcmp(field, "density");
  if ((mass || density) && d->body == 0) return refuse(f, "what belongs to the world has no mass");
  if ((mass || density) && f->scene->body.item[d->body].has_inertial)
    return refuse(f, "its body has an inertial, so this changes nothing; vary the body's mass");
  if (density && d->mass >= 0)
    return refuse(f, "the geom has a mass, so its density changes nothing; vary the mass");
  if (!strcmp(field, "size") && f->out->element >= nsize[d->type])
    return refuse(f, "its shape makes no use of this size");
  return AB_OK;
}

static bool is_free(const abScene* s, int body) {
  for (int i = 0; i < s->joint.n; i++)
    if (s->joint.item[i].body == body && s->joint.item[i].type == AB_JOINT_FREE) return true;
  return false;
}

static abStatus finish(const Search* f, const abModel* model, const char* bracket) {
  abNumber* x = f->out;
  const Field* field = &field_of[x->kind][x->field];
  int n = field->n;
  abStatus status = x->kind == NUMBER_KEY ? complete_key(f, model, &n) : AB_OK;
  if (!status) status = set_element(f, bracket, n, field->bare);
  if (!status && x->kind == NUMBER_GEOM) status = check_geom(f);
  if (!status && x->kind == NUMBER_BODY && x->field == BODY_MASS) status = find_mass(f, model);
  x->reshapes = field->reshapes;
  // where several geoms share a mass, the centre of mass moves with the shares
  if (x->kind == NUMBER_GEOM && (!strcmp(field->name, "mass") || !strcmp(field->name, "density")))
    x->reshapes = true;
  // where a free body starts is its first state, nothing else
  if (x->kind == NUMBER_BODY && is_free(f->scene, x->index)) x->reshapes = false;
  return status;
}

static abStatus find(const Search* f, const abModel* model) {
  size_t nkind = strcspn(f->name, ".");
  Kind kind = 0;
  while (kind < NUMBER_KINDS &&
         (strlen(kind_name[kind]) != nkind || memcmp(kind_name[kind], f->name, nkind) != 0))
    kind++;
  const char* rest = f->name + nkind;
  if (kind == NUMBER_KINDS || !*rest) {
    char given[64], proposal[256];
    snprintf(given, sizeof given, "%.*s", (int)nkind, f->name);
    return ab_fail(f->error, AB_ERROR_ARGUMENT, NULL, 0,
                   "'%s' names no number of a scene; it is written like geom.box.friction and "
                   "begins with the kind of thing%s",
                   f->name, ab_suggest(given, NUMBER_KINDS, kind_name, proposal, sizeof proposal));
  }
  const char* last = strrchr(f->name, '.');
  size_t nfield = strcspn(last + 1, "[");
  const char* bracket = last + 1 + nfield;
  if (kind != NUMBER_OPTION && last == rest)
    return refuse(f, "the name of the thing or of its number is missing, as in geom.box.friction");
  *f->out = (abNumber){.kind = (int)kind};
  if (kind != NUMBER_OPTION)
    f->out->index = find_thing(f, kind, rest + 1, (size_t)(last - rest - 1));
  if (f->out->index < 0) return AB_ERROR_ARGUMENT;
  f->out->field = find_field(f, kind, last + 1, nfield);
  if (f->out->field < 0) return AB_ERROR_ARGUMENT;
  return finish(f, model, bracket);
}

abStatus ab_number_find(abScene* scene, const char* name, abNumber* number, abError* error) {
  if (!name || !number)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a number is asked for without a name, or nobody takes it");
  abModel* model = ab_scene_compile(scene, error);
  if (!model) return error ? error->code : AB_ERROR_SCENE;
  Search f = {scene, name, number, error};
  abStatus status = find(&f, model);
  ab_model_free(model);
  return status;
}

// --- changing ---

double ab_number_get(const abScene* scene, const abNumber* x) {
  if (!belongs(scene, x)) return NAN;
  if (x->kind != NUMBER_BODY || x->field != BODY_MASS || scene->body.item[x->index].has_inertial)
    return *locate(scene, x);
  double total = 0;
  for (int i = 0; i < scene->geom.n; i++) {
    const abGeomDef* g = &scene->geom.item[i];
    if (g->body == x->index && g->mass < 0) return x->share[scene->geom.n];
    if (g->body == x->index) total += g->mass;
  }
  return total;
}

static void set_mass(abScene* s, const abNumber* x, double value) {
  abBodyDef* d = &s->body.item[x->index];
  if (d->has_inertial) {
    d->mass = value;
    for (int i = 0; i < 6; i++) d->inertia[i] = value * (x->share[1 + i] / x->share[0]);
    return;
  }
  // below 0 a geom would take its density: nobody asked for that
  if (value < 0) value = NAN;
  for (int i = 0; i < s->geom.n; i++)
    if (s->geom.item[i].body == x->index) s->geom.item[i].mass = value * x->share[i];
}

void ab_number_set(abScene* scene, const abNumber* x, double value) {
  if (!belongs(scene, x)) return;
  if (x->kind == NUMBER_BODY && x->field == BODY_MASS) {
    set_mass(scene, x, value);
    return;
  }
  double* p = locate(scene, x);
  p[0] = value;
  if (x->kind == NUMBER_PAIR && x->element == BOTH) p[1] = value;
}

// The value a number has must be one its definition allows. Below 0 some numbers mean "none given":
// that is for files to say.
abStatus ab_number_check(const abScene* scene, const abNumber* x, abError* error) {
  if (!belongs(scene, x))
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "the number is none of this scene");
  const char* what = field_of[x->kind][x->field].name;
  double value = *locate(scene, x);
  bool mass = !strcmp(what, "mass");
  if (x->kind == NUMBER_BODY && mass) value = ab_number_get(scene, x);
  if (!isfinite(value))
    return ab_fail(error, AB_ERROR_SCENE, NULL, 0, "%s must be a finite number%s", what,
                   mass ? ", not below 0" : "");
  if (value < 0 && (mass || !strcmp(what, "mu_static") || !strcmp(what, "e_r")))
    return ab_fail(error, AB_ERROR_SCENE, NULL, 0, "%s is %g; it must not be negative", what,
                   value);
  bool good = x->kind == NUMBER_BODY    ? ab_check_body(scene, &scene->body.item[x->index], error)
              : x->kind == NUMBER_GEOM  ? ab_check_geom(scene, &scene->geom.item[x->index], error)
              : x->kind == NUMBER_JOINT ? ab_check_joint(scene, &scene->joint.item[x->index], error)
              : x->kind == NUMBER_ACTUATOR
                  ? ab_check_actuator(scene, &scene->actuator.item[x->index], error)
              : x->kind == NUMBER_PAIR ? ab_check_pair(scene, &scene->pair.item[x->index], error)
                                       : true;
  return good ? AB_OK : error ? error->code : AB_ERROR_SCENE;
}
