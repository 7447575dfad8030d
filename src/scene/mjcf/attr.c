// Attributes as values: an element's own, over those of its default classes. A class holds the
// elements that stood in its <default>; a number is looked up by laying them over each other from
// the outermost class inwards, so that a shorter list in an inner layer leaves the tail of the
// outer one standing, as MuJoCo does.
// Tests: test_mjcf, test_mujoco_model.
#include <float.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "math/rotation.h"
#include "scene/mjcf/mjcf.h"
#include "scene/orientation.h"
#include "scene/scene.h"

bool ab_bad(abReading* m, abStatus code, const abXml* e, const abXmlAttr* attr, const char* format,
            ...) {
  char text[800];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (attr)
    ab_fail(m->error, code, e->file, attr->line, "<%.40s> %.40s=\"%.60s\": %s", e->name, attr->name,
            attr->value, text);
  else
    ab_fail(m->error, code, e->file, e->line, "<%.40s>: %s", e->name, text);
  return false;
}

// --- problems ------------------------------------------------------------------------------------

static bool is_reported(const abReading* m) {
  for (int i = 0; i < m->nproblem; i++)
    if (m->problem[i].line == m->error->line && !strcmp(m->problem[i].file, m->error->file) &&
        !strcmp(m->problem[i].message, m->error->message))
      return true;
  return false;
}

bool ab_go_on(abReading* m, const abXml* e) {
  m->nfailure++;
  const abXmlAttr* name = ab_xml_attr(e, "name");
  if (name && name->value[0] && !ab_labels_find(&m->failed, name->value))
    ab_labels_add(&m->failed, (abLabel){name->value, 0, e->line, e->file});
  bool report = !m->follow_up && !m->reported && !is_reported(m);
  m->follow_up = m->reported = false;
  if (m->error->code == AB_ERROR_MEMORY) return false;
  return !report || ab_add_problem(&m->nproblem, &m->problem, m->error);
}

bool ab_no_problems(abReading* m) {
  if (m->nproblem == 0) return true;
  *m->error = m->problem[0];
  return false;
}

bool ab_no_memory(abReading* m) {
  ab_fail(m->error, AB_ERROR_MEMORY, m->doc->root ? m->doc->root->file : NULL, 0,
          "no memory for the scene");
  return false;
}

bool ab_place(abReading* m, const abXml* e) {
  abError* error = m->error;
  if (!error || error->line) return false;
  if (error->file[0] && strcmp(error->file, e->file)) {  // another file, with no line: name both
    char text[sizeof error->message];
    snprintf(text, sizeof text, "%.400s: %.600s", error->file, error->message);
    memcpy(error->message, text, sizeof text);
  }
  error->line = e->line;
  snprintf(error->file, sizeof error->file, "%s", e->file);
  return false;
}

void* ab_grow(void* array, int n, size_t item) {
  // room is always a power of two that holds n: grow when n reaches one
  if (n & (n - 1) || n < 0) return array;
  return ab_realloc(array, item * (n ? 2 * (size_t)n : 1));
}

// --- names ---------------------------------------------------------------------------------------

int ab_refer(abReading* m, const abXml* e, const char* attr, const abLabels* names,
             const char* what) {
  const abXmlAttr* a = ab_xml_attr(e, attr);
  if (!a) {
    ab_bad(m, AB_ERROR_PARSE, e, NULL, "the attribute %s, the name of a %s, is missing", attr,
           what);
    return -1;
  }
  const abLabel* found = ab_labels_find(names, a->value);
  if (found) return found->index;
  m->follow_up = ab_labels_find(&m->failed, a->value) != NULL;
  char near[32];
  if (ab_labels_nearest(names, a->value, near))
    ab_bad(m, AB_ERROR_SCENE, e, a, "there is no %s of this name; did you mean '%s'?", what, near);
  else
    ab_bad(m, AB_ERROR_SCENE, e, a, "there is no %s of this name in the scene", what);
  return -1;
}

bool ab_enter(abReading* m, const abXml* e, abLabels* names, const char* name, int index) {
  if (!name || !name[0]) return true;
  const abLabel* taken = ab_labels_find(names, name);
  if (taken)
    return ab_bad(m, AB_ERROR_SCENE, e, NULL,
                  "the name '%.60s' is already taken at line %d of %.200s; names must differ", name,
                  taken->line, taken->file);
  return ab_labels_add(names, (abLabel){name, index, e->line, e->file}) || ab_no_memory(m);
}

const char* ab_suffixed(abReading* m, const char* name, const char* suffix) {
  if (!name || !suffix || !suffix[0]) return name;
  size_t n = strlen(name), k = strlen(suffix);
  char* text = ab_xml_take(m->doc, n + k + 1);
  if (!text) return name;
  memcpy(text, name, n);
  memcpy(text + n, suffix, k + 1);
  return text;
}

// --- classes -------------------------------------------------------------------------------------

static abClass* class_named(abReading* m, const char* name) {
  for (abClass* c = m->class_; c; c = c->next)
    if (!strcmp(c->name, name)) return c;
  return NULL;
}

bool ab_add_class(abReading* m, const char* name, const abClass* parent, abClass** out) {
  abClass* c = ab_xml_take(m->doc, sizeof *c);
  if (!c) return ab_no_memory(m);
  *c = (abClass){.name = name, .parent = parent, .next = m->class_};
  if (parent) memcpy(c->layer, parent->layer, sizeof c->layer);
  m->class_ = *out = c;
  return true;
}

bool ab_add_layer(abReading* m, abClass* class_, abDefaultKind kind, const abXml* e) {
  abLayer* layer = ab_xml_take(m->doc, sizeof *layer);
  if (!layer) return ab_no_memory(m);
  *layer = (abLayer){e, class_->layer[kind]};
  class_->layer[kind] = layer;
  return true;
}

bool ab_find_class(abReading* m, const abXml* e, const char* attr, const abClass** class_) {
  const abXmlAttr* a = ab_xml_attr(e, attr);
  if (!a) return true;
  const abClass* c = class_named(m, a->value);
  if (c) {
    *class_ = c;
    return true;
  }
  char list[512] = "", near[32];
  size_t n = 0;
  for (c = m->class_; c && n + strlen(c->name) + 2 < sizeof list; c = c->next)
    n += (size_t)snprintf(list + n, sizeof list - n, "%s ", c->name);
  ab_xml_nearest(a->value, list, near);
  return ab_bad(m, AB_ERROR_SCENE, e, a, "there is no default class of this name%s%s%s",
                near[0] ? "; did you mean '" : "", near, near[0] ? "'?" : "");
}

// --- layers --------------------------------------------------------------------------------------

const abXmlAttr* ab_view_attr(const abView* v, const char* name, const abXml** owner) {
  const abXmlAttr* a = ab_xml_attr(v->e, name);
  if (owner) *owner = v->e;
  const abLayer* l = v->class_ ? v->class_->layer[v->kind] : NULL;
  for (; l && !a; l = l->older) {
    a = ab_xml_attr(l->e, name);
    if (owner) *owner = l->e;
  }
  return a;
}

typedef struct Lay {
  abReading* m;
  const char* name;
  abDefaultKind kind;
  int max, n;
  double* out;
} Lay;

static bool lay(Lay* y, const abXml* e) {
  const abXmlAttr* a = ab_xml_attr(e, y->name);
  if (!a) return true;
  int got = ab_xml_numbers(e, a, y->max, y->out, y->m->error);
  if (got == 0) return ab_bad(y->m, AB_ERROR_PARSE, e, a, "a number is missing");
  if (got > y->n) y->n = got;
  return got > 0;
}

static bool lay_layers(Lay* y, const abLayer* l) {
  return !l || (lay_layers(y, l->older) && lay(y, l->e));
}

bool ab_get_numbers(abReading* m, const abView* v, const char* name, int max, double* out, int* n) {
  Lay y = {m, name, v->kind, max, 0, out};
  bool ok = (!v->class_ || lay_layers(&y, v->class_->layer[v->kind])) && lay(&y, v->e);
  if (n) *n = y.n;
  return ok;
}

bool ab_get_exactly(abReading* m, const abView* v, const char* name, int n, double* out,
                    bool* present) {
  const abXml* owner;
  const abXmlAttr* a = ab_view_attr(v, name, &owner);
  if (present) *present = a != NULL;
  if (!a) return true;
  int got = ab_xml_numbers(owner, a, n, out, m->error);
  if (got < 0) return false;
  return got == n || ab_bad(m, AB_ERROR_PARSE, owner, a, "%d number%s needed, there %s %d", n,
                            n == 1 ? " is" : "s are", got == 1 ? "is" : "are", got);
}

bool ab_get_number(abReading* m, const abView* v, const char* name, double* out) {
  return ab_get_exactly(m, v, name, 1, out, NULL);
}

bool ab_get_linear(abReading* m, const abView* v, const char* name, double* out) {
  double x[8] = {*out};
  if (!ab_get_numbers(m, v, name, 8, x, NULL)) return false;
  *out = x[0];
  for (int i = 1; i < 8; i++)
    if (x[i] != 0) {
      const abXml* owner;
      const abXmlAttr* a = ab_view_attr(v, name, &owner);
      return ab_bad(m, AB_ERROR_UNSUPPORTED, owner, a,
                    "not supported: only linear springs and dampers, one number");
    }
  return true;
}

bool ab_get_int(abReading* m, const abView* v, const char* name, int* out) {
  double x = *out;
  if (!ab_get_exactly(m, v, name, 1, &x, NULL)) return false;
  if (x >= INT_MIN && x <= INT_MAX && (double)(int)x == x) {
    *out = (int)x;
    return true;
  }
  const abXml* owner;
  const abXmlAttr* a = ab_view_attr(v, name, &owner);
  return ab_bad(m, AB_ERROR_PARSE, owner, a, "a whole number is needed");
}

bool ab_get_word(abReading* m, const abView* v, const char* name, const char* list, int* out) {
  const abXml* owner;
  const abXmlAttr* a = ab_view_attr(v, name, &owner);
  if (!a) return true;
  size_t n = strlen(a->value);
  int i = 0;
  for (const char* p = list; *p; i++) {
    size_t k = strcspn(p, " ");
    if (k == n && !memcmp(p, a->value, n)) {
      *out = i;
      return true;
    }
    p += k;
    p += strspn(p, " ");
  }
  char near[32];
  ab_xml_nearest(a->value, list, near);
  return ab_bad(m, AB_ERROR_PARSE, owner, a, "not one of: %s%s%s%s", list,
                near[0] ? "; did you mean '" : "", near, near[0] ? "'?" : "");
}

bool ab_get_bool(abReading* m, const abView* v, const char* name, bool* out) {
  int i = *out;
  if (!ab_get_word(m, v, name, "false true", &i)) return false;
  *out = i != 0;
  return true;
}

bool ab_get_tri(abReading* m, const abView* v, const char* name, abTri* out) {
  int i = (int)*out;
  if (!ab_get_word(m, v, name, "false true auto", &i)) return false;
  *out = (abTri)i;
  return true;
}

const char* ab_get_text(const abView* v, const char* name) {
  const abXmlAttr* a = ab_view_attr(v, name, NULL);
  return a ? a->value : NULL;
}

bool ab_get_limited(abReading* m, const abView* v, const char* name, bool has_range, bool* out) {
  abTri limited = AB_AUTO;
  if (!ab_get_tri(m, v, name, &limited)) return false;
  *out = limited == AB_TRUE || (limited == AB_AUTO && m->compiler.autolimits && has_range);
  if (limited == AB_AUTO && !m->compiler.autolimits && has_range)
    return ab_bad(m, AB_ERROR_SCENE, v->e, NULL,
                  "a range is given but %s is not, and compiler autolimits is false; say "
                  "%s=\"true\" or \"false\"",
                  name, name);
  return true;
}

// --- frames --------------------------------------------------------------------------------------

static const char* const form[] = {"quat", "axisangle", "euler", "xyaxes", "zaxis"};
static const int form_length[] = {4, 4, 3, 6, 3};

// The nearest layer that says anything about orientation, and which form it uses (-1: none).
static const abXml* oriented_layer(const abView* v, int* which) {
  const abXml* e = v->e;
  const abLayer* l = v->class_ ? v->class_->layer[v->kind] : NULL;
  for (;;) {
    for (int i = 0; i < 5; i++)
      if (ab_xml_attr(e, form[i])) {
        *which = i;
        return e;
      }
    if (!l) break;
    e = l->e;
    l = l->older;
  }
  *which = -1;
  return NULL;
}

static bool orientation(abReading* m, const double x[6], int which, abQuat* q) {
  double unit = m->compiler.degree ? 0.017453292519943295 : 1;
  switch (which) {
    case 0:
      *q = ab_orientation((abQuat){x[0], x[1], x[2], x[3]});
      return x[0] != 0 || x[1] != 0 || x[2] != 0 || x[3] != 0;
    case 1:
      *q = quat_from_axis_angle(ab_direction(v3(x[0], x[1], x[2])), unit * x[3]);
      return x[0] != 0 || x[1] != 0 || x[2] != 0;
    case 2:
      *q = ab_quat_euler((double[3]){unit * x[0], unit * x[1], unit * x[2]}, m->compiler.eulerseq);
      return true;
    case 3:
      return ab_quat_xyaxes(x, q);
    default:
      return ab_quat_zaxis(v3(x[0], x[1], x[2]), q);
  }
}

bool ab_get_pose(abReading* m, const abView* v, abPose* pose, bool* oriented) {
  double p[3] = {pose->p.x, pose->p.y, pose->p.z}, x[6] = {0};
  if (!ab_get_exactly(m, v, "pos", 3, p, NULL)) return false;
  pose->p = v3(p[0], p[1], p[2]);
  int which;
  const abXml* e = oriented_layer(v, &which);
  if (oriented) *oriented = which >= 0;
  if (which < 0) return true;
  for (int i = which + 1; i < 5; i++)
    if (ab_xml_attr(e, form[i]))
      return ab_bad(m, AB_ERROR_PARSE, e, ab_xml_attr(e, form[i]),
                    "the orientation is given twice, also by %s; keep one", form[which]);
  abView layer = ab_plain(e);
  if (!ab_get_exactly(m, &layer, form[which], form_length[which], x, NULL)) return false;
  if (orientation(m, x, which, &pose->q)) return true;
  return ab_bad(m, AB_ERROR_SCENE, e, ab_xml_attr(e, form[which]),
                "this gives no direction; the vectors must not be zero or parallel");
}

bool ab_get_fromto(abReading* m, const abView* v, abPose* pose, double* half, bool* present) {
  double f[6];
  if (!ab_get_exactly(m, v, "fromto", 6, f, present)) return false;
  if (!*present) return true;
  abVec3 p = v3(f[0], f[1], f[2]), q = v3(f[3], f[4], f[5]), axis = v3_sub(p, q);
  if (!ab_quat_zaxis(axis, &pose->q)) {
    const abXml* owner;
    const abXmlAttr* a = ab_view_attr(v, "fromto", &owner);
    return ab_bad(m, AB_ERROR_SCENE, owner, a, "the two ends are the same point");
  }
  pose->p = v3_scale(0.5, v3_add(p, q));
  *half = 0.5 * v3_norm(axis);
  return true;
}
