// The entries of <custom> whose names begin with "abut.": what MJCF cannot say, in places where
// MuJoCo reads it and takes no notice.
//   text    abut.contact                      the contact model
//   numeric abut.e_r, e_t, e_o, mu_static,    of every geom
//           restitution
//           abut.literal_torsion              e_r of a pair = its friction[1] / friction[0]
//           abut.tessellation                 bound on the volume error of tessellated shapes
//           abut.NAME                         a parameter of the contact model
//   tuple   abut.mu_static, e_r, e_t, e_o,    of one geom
//           restitution
// Tests: test_mjcf, test_mujoco_model.
#include <string.h>

#include "scene/mjcf/mjcf.h"

static const char* const number_name = "mu_static e_r e_t e_o restitution";

static int which_number(const char* name) {
  const char* list[] = {"mu_static", "e_r", "e_t", "e_o", "restitution"};
  for (int i = 0; i < AB_GEOM_NUMBER; i++)
    if (!strcmp(name, list[i])) return i;
  return -1;
}

static bool check_number(abReading* m, const abXml* e, const abXmlAttr* a, int which, double x) {
  if (which == AB_GEOM_E_T || which == AB_GEOM_E_O)
    return x > 0 || ab_bad(m, AB_ERROR_SCENE, e, a, "the value must be above zero");
  if (which == AB_GEOM_RESTITUTION)
    return (x >= 0 && x <= 1) ||
           ab_bad(m, AB_ERROR_SCENE, e, a, "restitution lies between 0 and 1");
  return x >= 0 || ab_bad(m, AB_ERROR_SCENE, e, a, "the value must not be negative");
}

// Our own name of an entry, or NULL after a note (or with *ok = false).
static const char* own_name(abReading* m, const abXml* e, bool* ok) {
  const abXmlAttr* name = ab_xml_attr(e, "name");
  *ok = ab_check_attributes(m, e) &&
        ((name && name->value[0]) || ab_bad(m, AB_ERROR_PARSE, e, NULL, "the name is missing"));
  if (!*ok) return NULL;
  if (!strncmp(name->value, "abut.", 5)) return name->value + 5;
  ab_note(m, AB_NOTE_CUSTOM, e, name);
  return NULL;
}

static bool read_numeric(abReading* m, const abXml* e) {
  bool ok;
  const char* name = own_name(m, e, &ok);
  if (!name) return ok;
  abView v = ab_plain(e);
  const abXmlAttr* data = ab_xml_attr(e, "data");
  if (!data) return ab_bad(m, AB_ERROR_PARSE, e, NULL, "abut.%.60s needs data=\"...\"", name);
  double x;
  if (!ab_get_number(m, &v, "data", &x)) return false;
  int which = which_number(name);
  if (which >= 0) {
    m->global_number[which] = x;
    m->global_given[which] = true;
    return check_number(m, e, data, which, x);
  }
  if (!strcmp(name, "tessellation")) {
    ab_scene_option(m->scene)->tessellation = x;
    return (x > 0 && x < 1) || ab_bad(m, AB_ERROR_SCENE, e, data, "it lies between 0 and 1");
  }
  return ab_scene_set(m->scene, name, x, m->error) == AB_OK || ab_place(m, e);
}

static bool read_text(abReading* m, const abXml* e) {
  bool ok;
  const char* name = own_name(m, e, &ok);
  if (!name) return ok;
  const abXmlAttr* data = ab_xml_attr(e, "data");
  if (strcmp(name, "contact"))
    return ab_bad(m, AB_ERROR_PARSE, e, ab_xml_attr(e, "name"),
                  "the only text is abut.contact; numbers go into <numeric>");
  if (!data || !data->value[0])
    return ab_bad(m, AB_ERROR_PARSE, e, NULL, "abut.contact needs data=\"...\", a contact model");
  abSceneOption* option = ab_scene_option(m->scene);
  // contact switched off by option/flag stays off
  if (!option->contact || strcmp(option->contact, "none"))
    option->contact = ab_scene_string(m->scene, data->value);
  return true;
}

static bool read_element(abReading* m, const abXml* e, int which) {
  abView v = ab_plain(e);
  const char* type = ab_get_text(&v, "objtype");
  const char* object = ab_get_text(&v, "objname");
  if (!ab_check_attributes(m, e)) return false;
  if (!type || strcmp(type, "geom") || !object)
    return ab_bad(m, AB_ERROR_PARSE, e, NULL,
                  "objtype=\"geom\" objname=\"...\" prm=\"...\" are needed");
  abGeomNumber* bigger = ab_grow(m->geom_number, m->ngeom_number, sizeof *bigger);
  if (!bigger) return ab_no_memory(m);
  m->geom_number = bigger;
  abGeomNumber* n = &m->geom_number[m->ngeom_number];
  *n = (abGeomNumber){which, 0, e, false};
  if (!ab_get_number(m, &v, "prm", &n->value) ||
      !check_number(m, e, ab_xml_attr(e, "prm"), which, n->value))
    return false;
  return ab_enter(m, e, &m->number_name[which], object, m->ngeom_number++);
}

static bool read_tuple(abReading* m, const abXml* e) {
  bool ok;
  const char* name = own_name(m, e, &ok);
  if (!name) return ok;
  int which = which_number(name);
  if (which < 0) {
    char near[32];
    ab_xml_nearest(name, number_name, near);
    return ab_bad(m, AB_ERROR_PARSE, e, ab_xml_attr(e, "name"),
                  "geoms have these numbers: %s%s%s%s", number_name,
                  near[0] ? "; did you mean 'abut." : "", near, near[0] ? "'?" : "");
  }
  for (const abXml* k = e->child; k; k = k->next)
    if (!(ab_xml_is(k, "element") ? read_element(m, k, which)
                                  : ab_other_element(m, k, "element")) &&
        !ab_go_on(m, k))
      return false;
  return true;
}

bool ab_read_custom(abReading* m, const abXml* e) {
  if (!ab_check_attributes(m, e)) return false;
  for (const abXml* k = e->child; k; k = k->next) {
    bool ok = ab_xml_is(k, "numeric") ? read_numeric(m, k)
              : ab_xml_is(k, "text")  ? read_text(m, k)
              : ab_xml_is(k, "tuple") ? read_tuple(m, k)
                                      : ab_other_element(m, k, "numeric text tuple");
    if (!ok && !ab_go_on(m, k)) return false;
  }
  return true;
}

bool ab_check_custom_used(abReading* m) {
  for (int i = 0; i < m->ngeom_number; i++)
    if (!m->geom_number[i].used &&
        ab_refer(m, m->geom_number[i].e, "objname", &m->geom, "geom") < 0 &&
        !ab_go_on(m, m->geom_number[i].e))
      return false;
  return true;
}
