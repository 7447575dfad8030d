// The MJCF reader: the order of its passes, and the settings. What every section means is
// MuJoCo's documentation of the format; where a file relies on something that is not here, it is
// refused by name rather than read wrongly.
#include "scene/mjcf/mjcf.h"

#include <stdio.h>
#include <string.h>

#include "math/vec.h"
#include "scene/scene.h"

#define SECTIONS                                                                                  \
  "compiler option size visual statistic default custom asset worldbody contact actuator sensor " \
  "keyframe equality tendon deformable extension"

// --- settings ------------------------------------------------------------------------------------

static bool read_folder(abReading* m, const abView* v, const char* name) {
  const char* folder = ab_get_text(v, name);
  if (!folder) return true;
  m->compiler.meshdir = folder;
  return true;
}

static bool read_eulerseq(abReading* m, const abView* v) {
  const abXmlAttr* a = ab_view_attr(v, "eulerseq", NULL);
  if (!a) return true;
  if (strlen(a->value) != 3 || strspn(a->value, "xyzXYZ") != 3)
    return ab_bad(m, AB_ERROR_PARSE, v->e, a, "three letters of x, y, z, X, Y, Z are needed");
  memcpy(m->compiler.eulerseq, a->value, 4);
  return true;
}

static bool read_inertia_settings(abReading* m, const abView* v) {
  abSceneOption* option = ab_scene_option(m->scene);
  double range[2] = {m->compiler.group_low, m->compiler.group_high};
  int nrange;
  if (!ab_get_tri(m, v, "inertiafromgeom", &m->compiler.inertiafromgeom) ||
      !ab_get_numbers(m, v, "inertiagrouprange", 2, range, &nrange) ||
      !ab_get_bool(m, v, "balanceinertia", &option->balanceinertia) ||
      !ab_get_number(m, v, "boundmass", &option->boundmass) ||
      !ab_get_number(m, v, "boundinertia", &option->boundinertia) ||
      !ab_get_number(m, v, "settotalmass", &option->settotalmass))
    return false;
  if (nrange == 1 || !(range[0] >= -1e9 && range[1] <= 1e9 && range[0] <= range[1]))
    return ab_bad(m, AB_ERROR_PARSE, v->e, ab_xml_attr(v->e, "inertiagrouprange"),
                  "two group numbers are needed, the smaller first");
  m->compiler.group_low = (int)range[0];
  m->compiler.group_high = (int)range[1];
  if (option->boundmass < 0 || option->boundinertia < 0)
    return ab_bad(m, AB_ERROR_SCENE, v->e, NULL, "boundmass and boundinertia must not be negative");
  return true;
}

bool ab_read_compiler(abReading* m, const abXml* e) {
  if (!ab_check_attributes(m, e)) return false;
  abCompilerElement* c = &m->compiler;
  abView v = ab_plain(e);
  int angle = c->degree ? 1 : 0, coordinate = 0;
  if (!ab_get_word(m, &v, "angle", "radian degree", &angle) ||
      !ab_get_word(m, &v, "coordinate", "local global", &coordinate) ||
      !ab_get_bool(m, &v, "autolimits", &c->autolimits) ||
      !ab_get_bool(m, &v, "strippath", &c->strippath) ||
      !ab_get_bool(m, &v, "fusestatic", &c->fusestatic) ||
      !ab_get_bool(m, &v, "discardvisual", &c->discardvisual) ||
      !ab_get_bool(m, &v, "exactmeshinertia", &c->exactmeshinertia) || !read_eulerseq(m, &v) ||
      !read_folder(m, &v, "assetdir") || !read_folder(m, &v, "meshdir") ||
      !read_inertia_settings(m, &v))
    return false;
  c->degree = angle == 1;
  if (coordinate == 1)
    return ab_bad(m, AB_ERROR_UNSUPPORTED, e, ab_xml_attr(e, "coordinate"),
                  "global coordinates are no longer part of MJCF; save the model with local ones "
                  "in an older MuJoCo");
  if (c->fusestatic && ab_xml_attr(e, "fusestatic"))
    ab_note(m, AB_NOTE_FUSE, e, ab_xml_attr(e, "fusestatic"));
  if (c->discardvisual && ab_xml_attr(e, "discardvisual"))
    ab_note(m, AB_NOTE_COMPILER, e, ab_xml_attr(e, "discardvisual"));
  for (const abXml* k = e->child; k; k = k->next)
    if (!ab_other_element(m, k, "lengthrange") && !ab_go_on(m, k)) return false;
  return true;
}

static bool read_flag(abReading* m, const abXml* e) {
  if (!ab_check_attributes(m, e)) return false;
  abView v = ab_plain(e);
  const char* name[] = {"contact", "limit",  "frictionloss", "gravity",    "clampctrl",
                        "spring",  "damper", "passive",      "constraint", "equality"};
  int on[10];
  for (int i = 0; i < 10; i++) {
    on[i] = 1;
    if (!ab_get_word(m, &v, name[i], "disable enable", &on[i])) return false;
  }
  abSceneOption* option = ab_scene_option(m->scene);
  if (m->depth > 0) return true;  // those of the scene count
  if (!on[0] || !on[8]) option->contact = "none";
  m->no_limit |= !on[1] || !on[8];
  m->no_frictionloss |= !on[2] || !on[8];
  if (!on[3]) option->gravity = v3_zero();
  m->no_gravity |= !on[3];
  m->no_clampctrl |= !on[4];
  m->no_spring |= !on[5] || !on[7];
  m->no_damper |= !on[6] || !on[7];
  m->no_equality |= !on[8] || !on[9];
  return true;
}

// Flags count for everything, also for what attached models bring along.
void ab_apply_flags(abReading* m) {
  abScene* s = m->scene;
  for (int i = 0; i < s->joint.n; i++) {
    abJointDef* j = &s->joint.item[i];
    if (m->no_limit) j->limited = false;
    if (m->no_spring) j->stiffness = 0;
    if (m->no_damper) j->damping = 0;
    if (m->no_frictionloss) j->frictionloss = 0;
  }
  for (int i = 0; i < s->tendon.n; i++) {
    abTendonDef* t = &s->tendon.item[i];
    if (m->no_limit) t->limited = false;
    if (m->no_spring) t->stiffness = 0;
    if (m->no_damper) t->damping = 0;
    if (m->no_frictionloss) t->frictionloss = 0;
  }
  for (int i = 0; i < s->actuator.n && m->no_clampctrl; i++)
    s->actuator.item[i].ctrl_limited = false;
  for (int i = 0; i < s->equality.n && m->no_equality; i++) s->equality.item[i].active = false;
}

bool ab_read_option(abReading* m, const abXml* e) {
  if (!ab_check_attributes(m, e)) return false;
  if (m->depth > 0) ab_note(m, AB_NOTE_ATTACH, e, NULL);
  abSceneOption* option = ab_scene_option(m->scene);
  abView v = ab_plain(e);
  double g[3] = {option->gravity.x, option->gravity.y, option->gravity.z};
  int integrator = -1;
  if (!ab_get_exactly(m, &v, "gravity", 3, g, NULL) ||
      !ab_get_number(m, &v, "timestep", &option->timestep) ||
      !ab_get_word(m, &v, "integrator", "Euler RK4 implicit implicitfast", &integrator))
    return false;
  if (!(option->timestep > 0))
    return ab_bad(m, AB_ERROR_SCENE, e, ab_xml_attr(e, "timestep"),
                  "the step must be longer than zero");
  option->gravity = v3(g[0], g[1], g[2]);
  if (integrator >= 0)
    option->integrator = integrator == 1 ? AB_INTEGRATOR_RK4 : AB_INTEGRATOR_EULER;
  if (integrator > 1) ab_note(m, AB_NOTE_INTEGRATOR, e, ab_xml_attr(e, "integrator"));
  for (const abXml* k = e->child; k; k = k->next)
    if (ab_xml_is(k, "flag") ? !read_flag(m, k) : !ab_other_element(m, k, "flag")) return false;
  if (m->no_gravity) option->gravity = v3_zero();
  return true;
}

// --- defaults ------------------------------------------------------------------------------------

static abDefaultKind default_kind(const char* name) {
  if (ab_xml_listed(name, "geom")) return AB_DEFAULT_GEOM;
  if (ab_xml_listed(name, "joint")) return AB_DEFAULT_JOINT;
  if (ab_xml_listed(name, "mesh")) return AB_DEFAULT_MESH;
  if (ab_xml_listed(name, "material")) return AB_DEFAULT_MATERIAL;
  if (ab_xml_listed(name, "pair")) return AB_DEFAULT_PAIR;
  if (ab_xml_listed(name, "tendon")) return AB_DEFAULT_TENDON;
  if (ab_xml_listed(name, "site")) return AB_DEFAULT_SITE;
  if (ab_xml_listed(name, "equality")) return AB_DEFAULT_EQUALITY;
  if (ab_xml_listed(name,
                    "general motor position velocity damper muscle cylinder intvelocity adhesion "
                    "orientation pid dcmotor"))
    return AB_DEFAULT_ACTUATOR;
  return AB_DEFAULT_NONE;
}

static bool read_default_entry(abReading* m, const abXml* e, abClass* class_) {
  abDefaultKind kind = default_kind(e->name);
  if (kind == AB_DEFAULT_NONE) {
    if (ab_xml_listed(e->name, "camera light texture")) return true;
    return ab_other_element(m, e,
                            "default geom joint mesh material pair general motor position "
                            "velocity damper site camera light texture equality tendon");
  }
  const char* only_there[] = {"name", "class"};
  for (int i = 0; i < 2; i++)
    if (ab_xml_attr(e, only_there[i]))
      return ab_bad(m, AB_ERROR_PARSE, e, ab_xml_attr(e, only_there[i]),
                    "an entry of <default> has no %s", only_there[i]);
  if (!ab_check_attributes(m, e)) return false;
  return ab_add_layer(m, class_, kind, e);
}

// The outermost <default> is the main class, whatever it calls itself; a second one goes on with
// it.
static bool open_class(abReading* m, const abXml* e, abClass* parent, abClass** out) {
  const abXmlAttr* a = ab_xml_attr(e, "class");
  if (!parent) {
    *out = m->main_class;
    if (a && a->value[0]) (*out)->name = a->value;
    return true;
  }
  if (!a || !a->value[0])
    return ab_bad(m, AB_ERROR_PARSE, e, NULL, "a nested default needs a class name");
  for (const abClass* c = m->class_; c; c = c->next)
    if (!strcmp(c->name, a->value))
      return ab_bad(m, AB_ERROR_SCENE, e, a, "a class of this name exists already");
  return ab_add_class(m, a->value, parent, out);
}

static bool read_default(abReading* m, const abXml* e, abClass* parent) {
  abClass* class_;
  if (!ab_check_attributes(m, e) || !open_class(m, e, parent, &class_)) return false;
  // a nested class starts with all that its parent says here, also with what stands below it
  for (const abXml* k = e->child; k; k = k->next)
    if (!ab_xml_is(k, "default") && !read_default_entry(m, k, class_) && !ab_go_on(m, k))
      return false;
  for (const abXml* k = e->child; k; k = k->next)
    if (ab_xml_is(k, "default") && !read_default(m, k, class_) && !ab_go_on(m, k)) return false;
  return true;
}

bool ab_read_default(abReading* m, const abXml* e) { return read_default(m, e, NULL); }

// --- the passes ----------------------------------------------------------------------------------

static bool read_refused(abReading* m, const abXml* e) {
  for (const abXml* k = e->child; k; k = k->next)
    if (!ab_other_element(m, k, "") && !ab_go_on(m, k)) return false;
  return true;
}

static bool read_size(abReading* m, const abXml* e) { return ab_check_attributes(m, e); }

static bool read_noted(abReading* m, const abXml* e) { return ab_other_element(m, e, ""); }

static const struct {
  const char* section;
  int pass;
  bool (*read)(abReading*, const abXml*);
} pass[] = {
    {"compiler", 0, ab_read_compiler},
    {"option", 0, ab_read_option},
    {"size", 0, read_size},
    {"visual", 0, read_noted},
    {"statistic", 0, read_noted},
    {"sensor", 0, read_noted},
    {"extension", 0, read_refused},
    {"default", 1, ab_read_default},
    {"custom", 2, ab_read_custom},
    {"asset", 3, ab_read_asset},
    {"worldbody", 4, ab_read_worldbody},
    {"deformable", 4, read_refused},
    {"contact", 5, ab_read_contact},
    {"tendon", 5, ab_read_tendons},
    {"equality", 6, ab_read_equalities},
    {"actuator", 6, ab_read_actuators},
    {"keyframe", 7, ab_read_keyframe},
};

static bool read_pass(abReading* m, const abXml* root, int number) {
  for (const abXml* e = root->child; e; e = e->next) {
    bool (*read)(abReading*, const abXml*) = NULL;
    int when = 0;
    for (size_t i = 0; i < sizeof pass / sizeof *pass; i++)
      if (ab_xml_is(e, pass[i].section)) read = pass[i].read, when = pass[i].pass;
    if (when != number) continue;
    if (ab_xml_is(e, "body")) {
      ab_note(m, AB_NOTE_LOOSE, e, NULL);
      continue;
    }
    if (!(read ? read(m, e) : ab_other_element(m, e, SECTIONS)) && !ab_go_on(m, e)) return false;
  }
  return true;
}

bool ab_mjcf_read(abReading* m, const abXml* root) {
  if (!ab_check_attributes(m, root) && !ab_go_on(m, root)) return false;
  const abXmlAttr* model = ab_xml_attr(root, "model");
  if (model) ab_scene_option(m->scene)->name = ab_scene_string(m->scene, model->value);
  if (!ab_add_class(m, "main", NULL, &m->main_class)) return false;
  for (int i = 0; i <= 7; i++)
    if (!read_pass(m, root, i) || !ab_attach_rest(m, i)) return ab_no_problems(m) && false;
  return ab_check_custom_used(m) && ab_no_problems(m);
}
