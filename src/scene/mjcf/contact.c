// Contact pairs and exclusions, and keyframes: what refers to geoms, bodies and the whole state.
// Tests: test_mjcf, test_mujoco_model.
#include <string.h>

#include "math/vec.h"
#include "scene/mjcf/mjcf.h"

static bool read_pair(abReading* m, const abXml* e) {
  abView v = {e, m->main_class, AB_DEFAULT_PAIR};
  abPairDef def = ab_pair_def();
  if (!ab_check_attributes(m, e) || !ab_find_class(m, e, "class", &v.class_)) return false;
  def.geom1 = ab_refer(m, e, "geom1", &m->geom, "geom");
  if (def.geom1 < 0) return false;
  def.geom2 = ab_refer(m, e, "geom2", &m->geom, "geom");
  if (def.geom2 < 0) return false;
  if (!ab_get_int(m, &v, "condim", &def.condim) ||
      !ab_get_numbers(m, &v, "friction", 5, def.friction, NULL) ||
      !ab_get_number(m, &v, "margin", &def.margin) || !ab_get_number(m, &v, "gap", &def.gap))
    return false;
  def.source = (abSource){e->file, e->line};
  if (def.margin != 0) ab_note(m, AB_NOTE_MARGIN, e, NULL);
  return ab_scene_add_pair(m->scene, &def, m->error) >= 0 || ab_place(m, e);
}

static bool read_exclude(abReading* m, const abXml* e) {
  if (!ab_check_attributes(m, e)) return false;
  int body1 = ab_refer(m, e, "body1", &m->body, "body");
  if (body1 < 0) return false;
  int body2 = ab_refer(m, e, "body2", &m->body, "body");
  if (body2 < 0) return false;
  return ab_scene_add_exclude(m->scene, body1, body2, m->error) >= 0 || ab_place(m, e);
}

bool ab_read_contact(abReading* m, const abXml* e) {
  if (!ab_check_attributes(m, e)) return false;
  for (const abXml* k = e->child; k; k = k->next) {
    bool ok = ab_xml_is(k, "pair")      ? read_pair(m, k)
              : ab_xml_is(k, "exclude") ? read_exclude(m, k)
                                        : ab_other_element(m, k, "pair exclude");
    if (!ok && !ab_go_on(m, k)) return false;
  }
  return true;
}

// --- keyframes -----------------------------------------------------------------------------------

static bool read_values(abReading* m, const abXml* e, const char* name, int* n,
                        const double** values) {
  const abXmlAttr* a = ab_xml_attr(e, name);
  if (!a) return true;
  *n = ab_xml_count(a);
  double* x = ab_xml_take(m->doc, sizeof *x * (size_t)(*n + 1));
  if (!x) return ab_no_memory(m);
  *values = x;
  return ab_xml_numbers(e, a, *n, x, m->error) >= 0;
}

static bool read_key(abReading* m, const abXml* e) {
  abKeyDef def = ab_key_def();
  abView v = ab_plain(e);
  if (!ab_check_attributes(m, e) || !ab_get_number(m, &v, "time", &def.time) ||
      !read_values(m, e, "qpos", &def.nq, &def.q) || !read_values(m, e, "qvel", &def.nv, &def.v) ||
      !read_values(m, e, "ctrl", &def.nctrl, &def.ctrl) ||
      !read_values(m, e, "mpos", &def.nmpos, &def.mpos) ||
      !read_values(m, e, "mquat", &def.nmquat, &def.mquat))
    return false;
  const char* stateless[] = {"act", "plastic"};
  for (int i = 0; i < 2; i++) {
    const abXmlAttr* a = ab_xml_attr(e, stateless[i]);
    if (a && ab_xml_count(a) > 0)
      return ab_bad(m, AB_ERROR_UNSUPPORTED, e, a,
                    "not supported: actuators and tendons have no states; remove it");
  }
  def.name = ab_get_text(&v, "name");
  def.source = (abSource){e->file, e->line};
  int index = ab_scene_add_key(m->scene, &def, m->error);
  if (index < 0) return ab_place(m, e);
  return ab_enter(m, e, &m->key, def.name, index);
}

bool ab_read_keyframe(abReading* m, const abXml* e) {
  if (!ab_check_attributes(m, e)) return false;
  for (const abXml* k = e->child; k; k = k->next)
    if (!(ab_xml_is(k, "key") ? read_key(m, k) : ab_other_element(m, k, "key")) && !ab_go_on(m, k))
      return false;
  return true;
}
