// Fixed tendons and equalities.
// Tests: test_laws.
#include <string.h>

#include "math/rotation.h"
#include "scene/mjcf/mjcf.h"
#include "scene/orientation.h"

// --- tendons -------------------------------------------------------------------------------------

// A tendon through space that pulls on nothing: its length may be measured, but moves nothing.
static bool is_idle(const abView* v) {
  static const char* const pull[] = {"stiffness", "damping", "frictionloss", "armature"};
  for (int i = 0; i < 4; i++) {
    const char* value = ab_get_text(v, pull[i]);
    if (value && strspn(value, "0. ") != strlen(value)) return false;
  }
  const char* limited = ab_get_text(v, "limited");
  return limited && strcmp(limited, "auto") ? !strcmp(limited, "false") : !ab_get_text(v, "range");
}

static bool read_spatial(abReading* m, const abXml* e) {
  abView v = {e, m->main_class, AB_DEFAULT_TENDON};
  const abXmlAttr* name = ab_xml_attr(e, "name");
  if (!ab_find_class(m, e, "class", &v.class_) ||
      (name && !ab_enter(m, e, &m->spatial, name->value, 0)))
    return false;
  if (!is_idle(&v)) return ab_other_element(m, e, "spatial");
  ab_note(m, AB_NOTE_TENDON, e, NULL);
  return true;
}

static bool read_entries(abReading* m, const abXml* e, abTendonDef* def) {
  int n = 0;
  for (const abXml* k = e->child; k; k = k->next) n++;
  abTendonJoint* joint = ab_xml_take(m->doc, sizeof *joint * (size_t)(n + 1));
  if (!joint) return ab_no_memory(m);
  n = 0;
  for (const abXml* k = e->child; k; k = k->next, n++) {
    if (!ab_xml_is(k, "joint")) return ab_other_element(m, k, "joint");
    abView v = ab_plain(k);
    joint[n] = (abTendonJoint){-1, 0};
    if (!ab_check_attributes(m, k) || !ab_get_number(m, &v, "coef", &joint[n].coef)) return false;
    joint[n].joint = ab_refer(m, k, "joint", &m->joint, "joint");
    if (joint[n].joint < 0) return false;
    if (!ab_xml_attr(k, "coef"))
      return ab_bad(m, AB_ERROR_PARSE, k, NULL, "coef=\"...\" is needed");
  }
  def->joint = joint;
  def->njoint = n;
  return true;
}

// One number is both ends; what the nearest layer says holds as a whole.
static bool read_springlength(abReading* m, const abView* v, abTendonDef* def) {
  const abXml* owner;
  const abXmlAttr* a = ab_view_attr(v, "springlength", &owner);
  abView layer = ab_plain(a ? owner : v->e);
  int n;
  if (!ab_get_numbers(m, &layer, "springlength", 2, def->springlength, &n)) return false;
  if (n == 1) def->springlength[1] = def->springlength[0];
  return true;
}

static bool read_tendon_numbers(abReading* m, const abView* v, abTendonDef* def) {
  bool range, force;
  if (!ab_get_exactly(m, v, "range", 2, def->range, &range) ||
      !ab_get_number(m, v, "margin", &def->margin) ||
      !ab_get_linear(m, v, "stiffness", &def->stiffness) ||
      !ab_get_linear(m, v, "damping", &def->damping) ||
      !ab_get_number(m, v, "frictionloss", &def->frictionloss) ||
      !ab_get_number(m, v, "armature", &def->armature) || !read_springlength(m, v, def) ||
      !ab_get_exactly(m, v, "actuatorfrcrange", 2, def->force_range, &force))
    return false;
  return ab_get_limited(m, v, "limited", range && def->range[0] < def->range[1], &def->limited) &&
         ab_get_limited(m, v, "actuatorfrclimited",
                        force && def->force_range[0] < def->force_range[1], &def->force_limited);
}

bool ab_note_tendon(abReading* m, const abTendonDef* def) {
  void* bigger = ab_grow(m->tendon_range, m->ntendon, sizeof *m->tendon_range);
  if (!bigger) return ab_no_memory(m);
  m->tendon_range = bigger;
  memcpy(m->tendon_range[m->ntendon++], def->range, sizeof def->range);
  return true;
}

static bool read_fixed(abReading* m, const abXml* e) {
  abView v = {e, m->main_class, AB_DEFAULT_TENDON};
  abTendonDef def = ab_tendon_def();
  if (!ab_check_attributes(m, e) || !ab_find_class(m, e, "class", &v.class_) ||
      !read_tendon_numbers(m, &v, &def) || !read_entries(m, e, &def))
    return false;
  const abXmlAttr* name = ab_xml_attr(e, "name");
  def.name = name ? name->value : NULL;
  def.source = (abSource){e->file, e->line};
  int index = ab_scene_add_tendon(m->scene, &def, m->error);
  if (index < 0) return ab_place(m, e);
  return ab_note_tendon(m, &def) && ab_enter(m, e, &m->tendon, def.name, index);
}

bool ab_read_tendons(abReading* m, const abXml* e) {
  for (const abXml* k = e->child; k; k = k->next) {
    bool ok = ab_xml_is(k, "fixed")     ? read_fixed(m, k)
              : ab_xml_is(k, "spatial") ? read_spatial(m, k)
                                        : ab_other_element(m, k, "fixed spatial");
    if (!ok && !ab_go_on(m, k)) return false;
  }
  return true;
}

// --- equalities ----------------------------------------------------------------------------------

// Two bodies (the second may be left out: the world) or two sites.
static bool read_ends(abReading* m, const abXml* e, abEqualityDef* def) {
  if (ab_xml_attr(e, "site1") || ab_xml_attr(e, "site2")) {
    if (ab_xml_attr(e, "body1") || ab_xml_attr(e, "body2") || ab_xml_attr(e, "anchor"))
      return ab_bad(m, AB_ERROR_PARSE, e, NULL,
                    "two sites, or two bodies with an anchor, but not both");
    def->site1 = ab_refer(m, e, "site1", &m->site, "site");
    if (def->site1 < 0) return false;
    def->site2 = ab_refer(m, e, "site2", &m->site, "site");
    return def->site2 >= 0;
  }
  def->body1 = ab_refer(m, e, "body1", &m->body, "body");
  if (def->body1 < 0) return false;
  if (!ab_xml_attr(e, "body2")) return true;
  def->body2 = ab_refer(m, e, "body2", &m->body, "body");
  return def->body2 >= 0;
}

static bool read_tie(abReading* m, const abXml* e, abEqualityDef* def) {
  abView v = ab_plain(e);
  double anchor[3] = {0}, pose[7] = {0, 1, 0, 0, 0, 0, 0};
  bool given;
  def->type = ab_xml_is(e, "connect") ? AB_EQUALITY_CONNECT : AB_EQUALITY_WELD;
  if (!read_ends(m, e, def) || !ab_get_exactly(m, &v, "anchor", 3, anchor, &given)) return false;
  def->anchor = v3(anchor[0], anchor[1], anchor[2]);
  if (def->type == AB_EQUALITY_CONNECT)
    return given || def->site1 >= 0 ||
           ab_bad(m, AB_ERROR_PARSE, e, NULL, "anchor=\"x y z\" in the frame of body1 is needed");
  if (!ab_get_exactly(m, &v, "relpose", 7, pose, NULL) ||
      !ab_get_number(m, &v, "torquescale", &def->torquescale))
    return false;
  // a zero quaternion asks for the pose the bodies start with
  def->has_relpose = pose[3] != 0 || pose[4] != 0 || pose[5] != 0 || pose[6] != 0;
  if (def->has_relpose)
    def->relpose = (abPose){v3(pose[0], pose[1], pose[2]),
                            ab_orientation((abQuat){pose[3], pose[4], pose[5], pose[6]})};
  return true;
}

// joint1 and joint2, or tendon1 and tendon2; the second may be left out.
static bool read_coupling(abReading* m, const abXml* e, abEqualityDef* def) {
  bool joint = ab_xml_is(e, "joint");
  const abLabels* names = joint ? &m->joint : &m->tendon;
  const char* what = joint ? "joint" : "fixed tendon";
  const char* attr[] = {joint ? "joint1" : "tendon1", joint ? "joint2" : "tendon2"};
  int* out[] = {joint ? &def->joint1 : &def->tendon1, joint ? &def->joint2 : &def->tendon2};
  abView v = ab_plain(e);
  def->type = joint ? AB_EQUALITY_JOINT : AB_EQUALITY_TENDON;
  for (int i = 0; i < 2; i++) {
    if (i == 1 && !ab_xml_attr(e, attr[i])) break;
    *out[i] = ab_refer(m, e, attr[i], names, what);
    if (*out[i] < 0) return false;
  }
  return ab_get_numbers(m, &v, "polycoef", 5, def->polycoef, NULL);
}

static bool read_equality(abReading* m, const abXml* e) {
  abView v = {e, m->main_class, AB_DEFAULT_EQUALITY};
  abEqualityDef def = ab_equality_def();
  if (!ab_check_attributes(m, e) || !ab_find_class(m, e, "class", &v.class_) ||
      !ab_get_bool(m, &v, "active", &def.active) ||
      !(ab_xml_listed(e->name, "connect weld") ? read_tie(m, e, &def) : read_coupling(m, e, &def)))
    return false;
  if (m->no_equality && def.active) ab_note(m, AB_NOTE_EQUALITY, e, NULL);
  const abXmlAttr* name = ab_xml_attr(e, "name");
  def.name = name && name->value[0] ? name->value : NULL;
  def.source = (abSource){e->file, e->line};
  int index = ab_scene_add_equality(m->scene, &def, m->error);
  if (index < 0) return ab_place(m, e);
  return ab_enter(m, e, &m->equality, def.name, index);
}

bool ab_read_equalities(abReading* m, const abXml* e) {
  for (const abXml* k = e->child; k; k = k->next) {
    bool ok = ab_xml_listed(k->name, "connect weld joint tendon")
                  ? read_equality(m, k)
                  : ab_other_element(m, k, "connect weld joint tendon");
    if (!ok && !ab_go_on(m, k)) return false;
  }
  return true;
}
