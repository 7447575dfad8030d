// Actuators on joints, tendons and sites: force = gain * ctrl + bias. The shortcuts (motor,
// position, velocity, damper) set the numbers of the general one, and they do so also in default
// classes, whose layers are therefore applied one by one, oldest first. As in MuJoCo, gear and
// ranges are the same for all kinds, while a gain that a shortcut does not give comes from the
// nearest class whose last word was of its kind: a velocity servo does not take the kp of an outer
// position servo for its kv. A last word <general> speaks for position and velocity servos if its
// gain is fixed, for dampers if it is affine.
// Tests: test_mjcf, test_mujoco_model.
#include <string.h>

#include "math/vec.h"
#include "scene/mjcf/mjcf.h"
#include "scene/scene.h"

enum { GENERAL, MOTOR, POSITION, VELOCITY, DAMPER, OTHER };

static int kind_of(const abXml* e) {
  static const char* const name[] = {"general", "motor", "position", "velocity", "damper"};
  for (int i = 0; i < OTHER; i++)
    if (ab_xml_is(e, name[i])) return i;
  return OTHER;
}

typedef struct State {
  abActuatorDef def;
  abTri ctrl_limited, force_limited;
  double inheritrange;
  int kind;            // of the element applied last
  const abXml* place;  // the <default> it stands in
  // from outer classes: of position servos (kd is biasprm[2]: -kv, or the damping ratio if above 0;
  // inherit is inheritrange), velocity servos, dampers
  double kp, kd, inherit, kv, damping;
  // words of the general actuator that are kept until it is known what is used
  int dyn, gain, bias;
  const abXml* law;    // where these words stand
  const abXml* other;  // an unknown kind of actuator, while nothing has replaced its law
} State;

static bool read_prm(abReading* m, const abXml* e, const char* name, double out[3]) {
  double x[10] = {out[0], out[1], out[2]};
  abView v = ab_plain(e);
  if (!ab_get_numbers(m, &v, name, 10, x, NULL)) return false;
  for (int i = 0; i < 3; i++) out[i] = x[i];
  return true;
}

static bool apply_general(abReading* m, const abXml* e, State* s) {
  abView v = ab_plain(e);
  if (!ab_get_word(m, &v, "dyntype", "none integrator filter filterexact muscle dcmotor pid user",
                   &s->dyn) ||
      !ab_get_word(m, &v, "gaintype", "fixed affine muscle dcmotor pid so3 user", &s->gain) ||
      !ab_get_word(m, &v, "biastype", "none affine muscle dcmotor pid so3 user", &s->bias))
    return false;
  if (ab_xml_attr(e, "dyntype") || ab_xml_attr(e, "gaintype") || ab_xml_attr(e, "biastype"))
    s->law = e;
  return read_prm(m, e, "gainprm", s->def.gainprm) && read_prm(m, e, "biasprm", s->def.biasprm);
}

// Whether the numbers as they are speak for actuators of this kind.
static bool speaks_for(const State* s, int kind) {
  return s->kind == kind || (s->kind == GENERAL && s->gain == (kind == DAMPER));
}

// Takes the gains that the last word gives over into those remembered.
static void remember(State* s) {
  const abActuatorDef* d = &s->def;
  if (speaks_for(s, POSITION))
    s->kp = d->gainprm[0], s->kd = d->biasprm[2], s->inherit = s->inheritrange;
  if (speaks_for(s, VELOCITY)) s->kv = d->gainprm[0];
  if (speaks_for(s, DAMPER)) s->damping = -d->gainprm[2];
}

static void set_law(State* s, int gain, int bias, double gain0) {
  memset(s->def.gainprm, 0, sizeof s->def.gainprm);
  memset(s->def.biasprm, 0, sizeof s->def.biasprm);
  s->def.gainprm[0] = gain0;
  s->dyn = 0, s->gain = gain, s->bias = bias;
}

static bool apply_position(abReading* m, const abXml* e, State* s) {
  abView v = ab_plain(e);
  bool here = speaks_for(s, POSITION), has_kv, has_ratio;
  double kp = here ? s->def.gainprm[0] : s->kp, kd = here ? s->def.biasprm[2] : s->kd;
  double kv = 0, ratio = 0;
  if (!ab_get_number(m, &v, "kp", &kp) || !ab_get_exactly(m, &v, "kv", 1, &kv, &has_kv) ||
      !ab_get_exactly(m, &v, "dampratio", 1, &ratio, &has_ratio))
    return false;
  if (has_kv && has_ratio)
    return ab_bad(m, AB_ERROR_PARSE, e, ab_xml_attr(e, "dampratio"),
                  "the damping is given twice, also by kv; keep one");
  if (kv < 0 || ratio < 0)
    return ab_bad(m, AB_ERROR_SCENE, e, ab_xml_attr(e, kv < 0 ? "kv" : "dampratio"),
                  "it must not be negative");
  set_law(s, 0, 1, kp);
  s->def.biasprm[1] = -kp;
  s->def.biasprm[2] = has_kv ? -kv : has_ratio ? ratio : kd;
  return true;
}

static bool apply_velocity(abReading* m, const abXml* e, State* s) {
  abView v = ab_plain(e);
  double kv = speaks_for(s, VELOCITY) ? s->def.gainprm[0] : s->kv;
  if (!ab_get_number(m, &v, "kv", &kv)) return false;
  set_law(s, 0, 1, kv);
  s->def.biasprm[2] = -kv;
  return true;
}

static bool apply_damper(abReading* m, const abXml* e, State* s) {
  abView v = ab_plain(e);
  double kv = speaks_for(s, DAMPER) ? -s->def.gainprm[2] : s->damping;
  if (!ab_get_number(m, &v, "kv", &kv)) return false;
  if (kv < 0) return ab_bad(m, AB_ERROR_SCENE, e, ab_xml_attr(e, "kv"), "it must not be negative");
  set_law(s, 1, 0, 0);
  s->def.gainprm[2] = -kv;  // force = -kv * velocity * ctrl
  s->ctrl_limited = AB_TRUE;
  return true;
}

// What stands for the class an entry belongs to: its <default>; all outermost ones are one class.
static const abXml* class_of(const abXml* e) {
  const abXml* p = e->parent;
  return ab_xml_is(p, "default") && !ab_xml_is(p->parent, "default") ? p->parent : p;
}

static bool apply_law(abReading* m, const abXml* e, State* s) {
  int kind = kind_of(e);
  if (kind != GENERAL) s->law = e;
  if (kind != GENERAL && kind != POSITION) s->inheritrange = 0;
  bool ok = kind == GENERAL    ? apply_general(m, e, s)
            : kind == POSITION ? apply_position(m, e, s)
            : kind == VELOCITY ? apply_velocity(m, e, s)
            : kind == DAMPER   ? apply_damper(m, e, s)
                               : true;
  if (kind == MOTOR || kind == OTHER) set_law(s, 0, 0, 1);
  if (kind != GENERAL) s->other = kind == OTHER ? e : NULL;
  s->kind = kind;
  return ok;
}

// A position servo has a range of its own or takes that of the joint: what is said last holds.
static bool apply_range(abReading* m, const abXml* e, State* s) {
  abView v = ab_plain(e);
  bool own, inherited;
  if (kind_of(e) == POSITION && !speaks_for(s, POSITION)) s->inheritrange = s->inherit;
  if (!ab_get_exactly(m, &v, "ctrlrange", 2, s->def.ctrl_range, &own) ||
      !ab_get_exactly(m, &v, "inheritrange", 1, &s->inheritrange, &inherited))
    return false;
  if (s->inheritrange < 0)
    return ab_bad(m, AB_ERROR_SCENE, e, ab_xml_attr(e, "inheritrange"), "it must not be negative");
  if (kind_of(e) != POSITION) return true;
  bool inherits = inherited && s->inheritrange > 0;
  if (own && inherits)
    return ab_bad(m, AB_ERROR_SCENE, e, ab_xml_attr(e, "inheritrange"),
                  "it stands in place of a ctrlrange; keep one");
  if (own) s->inheritrange = 0;
  if (inherits) s->def.ctrl_range[0] = s->def.ctrl_range[1] = 0;
  return true;
}

static bool apply(abReading* m, const abXml* e, State* s) {
  abView v = ab_plain(e);
  abActuatorDef* d = &s->def;
  if (s->place != class_of(e)) remember(s);
  s->place = class_of(e);
  return ab_get_numbers(m, &v, "gear", 6, d->gear, NULL) &&
         ab_get_tri(m, &v, "ctrllimited", &s->ctrl_limited) &&
         ab_get_tri(m, &v, "forcelimited", &s->force_limited) && apply_range(m, e, s) &&
         ab_get_exactly(m, &v, "forcerange", 2, d->force_range, NULL) && apply_law(m, e, s);
}

static bool apply_layers(abReading* m, const abLayer* l, State* s) {
  return !l || (apply_layers(m, l->older, s) && apply(m, l->e, s));
}

static const State start = {.ctrl_limited = AB_AUTO, .force_limited = AB_AUTO, .kp = 1, .kv = 1};

// What the class says; and where that is about another kind, the gains of the nearest class around
// it that speaks for this one, as it is in the end.
static bool apply_class(abReading* m, const abClass* c, int kind, State* s) {
  *s = start;
  s->def = ab_actuator_def();
  if (!apply_layers(m, c->layer[AB_DEFAULT_ACTUATOR], s)) return false;
  if (speaks_for(s, kind)) return true;
  State outer = start;
  while ((c = c->parent)) {
    outer = start;
    outer.def = ab_actuator_def();
    if (!apply_layers(m, c->layer[AB_DEFAULT_ACTUATOR], &outer)) return false;
    if (speaks_for(&outer, kind)) {
      remember(&outer);
      break;
    }
  }
  const State* from = c ? &outer : &start;
  s->kp = from->kp, s->kd = from->kd, s->inherit = from->inherit;
  s->kv = from->kv, s->damping = from->damping;
  return true;
}

static bool decide_law(abReading* m, const abXml* e, State* s) {
  if (s->other)
    return ab_bad(m, AB_ERROR_UNSUPPORTED, e, NULL,
                  "not supported: its default class makes it a <%.20s>; use motor, position, "
                  "velocity, damper or general",
                  s->other->name);
  if (s->dyn > 0 || s->gain > 1 || s->bias > 1) {
    const char* word = s->dyn > 0 ? "dyntype" : s->gain > 1 ? "gaintype" : "biastype";
    return ab_bad(m, AB_ERROR_UNSUPPORTED, s->law, ab_xml_attr(s->law, word),
                  "not supported: dyntype is none, gaintype fixed or affine, biastype none or "
                  "affine");
  }
  s->def.gain = s->gain ? AB_GAIN_AFFINE : AB_GAIN_FIXED;
  s->def.bias = s->bias ? AB_BIAS_AFFINE : AB_BIAS_NONE;
  return true;
}

// --- what is driven ------------------------------------------------------------------------------

static bool find_joint(abReading* m, const abXml* e, abActuatorDef* d) {
  bool in_parent = ab_xml_attr(e, "jointinparent") != NULL;
  d->joint = ab_refer(m, e, in_parent ? "jointinparent" : "joint", &m->joint, "joint");
  if (d->joint < 0) return false;
  abJointType type = m->joint_def[d->joint].type;
  if (in_parent && (type == AB_JOINT_BALL || type == AB_JOINT_FREE))
    return ab_bad(m, AB_ERROR_UNSUPPORTED, e, ab_xml_attr(e, "jointinparent"),
                  "not supported for ball and free joints; use joint=\"...\"");
  return true;
}

static bool find_tendon(abReading* m, const abXml* e, abActuatorDef* d) {
  const abXmlAttr* a = ab_xml_attr(e, "tendon");
  d->drive = AB_DRIVE_TENDON;
  if (ab_labels_find(&m->spatial, a->value))
    return ab_bad(m, AB_ERROR_UNSUPPORTED, e, a,
                  "not supported: this tendon runs through space; only fixed ones can be driven");
  d->tendon = ab_refer(m, e, "tendon", &m->tendon, "tendon");
  return d->tendon >= 0;
}

static bool find_site(abReading* m, const abXml* e, abActuatorDef* d) {
  d->drive = AB_DRIVE_SITE;
  d->site = ab_refer(m, e, "site", &m->site, "site");
  if (d->site < 0 || !ab_xml_attr(e, "refsite")) return d->site >= 0;
  d->refsite = ab_refer(m, e, "refsite", &m->site, "site");
  return d->refsite >= 0;
}

static bool find_driven(abReading* m, const abXml* e, abActuatorDef* d) {
  static const char* const target[] = {"joint", "jointinparent", "tendon", "site"};
  int n = 0;
  for (int i = 0; i < 4; i++) n += ab_xml_attr(e, target[i]) != NULL;
  if (n > 1)
    return ab_bad(m, AB_ERROR_PARSE, e, NULL,
                  "one thing can be driven: a joint, a tendon or a site, not several");
  if (ab_xml_attr(e, "tendon")) return find_tendon(m, e, d);
  if (ab_xml_attr(e, "site")) return find_site(m, e, d);
  return find_joint(m, e, d);
}

static bool decide_limit(abReading* m, const abXml* e, abTri limited, const double range[2],
                         bool* out) {
  if (range[0] > range[1])
    return ab_bad(m, AB_ERROR_SCENE, e, NULL, "a range has its lower end first");
  bool given = range[0] < range[1];
  *out = limited == AB_TRUE || (limited == AB_AUTO && given && m->compiler.autolimits);
  if (*out && !given)
    return ab_bad(m, AB_ERROR_SCENE, e, NULL, "it is limited, but the range is missing");
  if (limited != AB_AUTO || !given || m->compiler.autolimits) return true;
  return ab_bad(m, AB_ERROR_SCENE, e, NULL,
                "a range is given but not whether it limits, and compiler autolimits is false; "
                "say ctrllimited or forcelimited");
}

// The range of what is driven; false if it has none.
static bool driven_range(abReading* m, const abActuatorDef* d, double range[2]) {
  if (d->drive == AB_DRIVE_JOINT) memcpy(range, m->joint_def[d->joint].range, sizeof(double[2]));
  if (d->drive == AB_DRIVE_TENDON) memcpy(range, m->tendon_range[d->tendon], sizeof(double[2]));
  return d->drive != AB_DRIVE_SITE && range[0] < range[1];
}

// Position servos may take their control range from what they drive.
static bool inherit_range(abReading* m, const abXml* e, State* s) {
  const abActuatorDef* d = &s->def;
  bool servo = s->gain == 0 && s->bias == 1 && d->gainprm[0] == -d->biasprm[1];
  if (s->inheritrange == 0 || !servo) return true;
  double range[2] = {0, 0};
  if (!driven_range(m, d, range))
    return ab_bad(m, AB_ERROR_SCENE, e, NULL,
                  "inheritrange needs a joint or tendon that has a range");
  double mid = 0.5 * (range[0] + range[1]), half = 0.5 * (range[1] - range[0]);
  s->def.ctrl_range[0] = mid - s->inheritrange * half;
  s->def.ctrl_range[1] = mid + s->inheritrange * half;
  return true;
}

// The joint's limit on the sum of its actuators' forces, gear * force, becomes a limit on the force
// where there is one actuator.
static bool limit_force(abReading* m, const abXml* e, abActuatorDef* d) {
  if (d->drive != AB_DRIVE_JOINT || !m->joint_force[d->joint].limited) return true;
  if (m->joint_force[d->joint].driven++)
    return ab_bad(m, AB_ERROR_UNSUPPORTED, e, NULL,
                  "not supported: a joint with an actuatorfrcrange and several actuators; give "
                  "each actuator a forcerange");
  double gear = d->gear[0], low = m->joint_force[d->joint].range[0] / gear,
         high = m->joint_force[d->joint].range[1] / gear;
  abJointType type = m->joint_def[d->joint].type;
  if (gear == 0 || type == AB_JOINT_BALL || type == AB_JOINT_FREE) return true;
  if (gear < 0) {
    double swap = low;
    low = high, high = swap;
  }
  if (!d->force_limited || d->force_range[0] < low) d->force_range[0] = low;
  if (!d->force_limited || d->force_range[1] > high) d->force_range[1] = high;
  d->force_limited = true;
  return true;
}

// Whether the actuator acts on this joint through a tendon or a site.
static bool pulls_on(const abScene* scene, const abActuatorDef* d, int joint) {
  if (d->drive == AB_DRIVE_TENDON) {
    const abTendonDef* t = &scene->tendon.item[d->tendon];
    for (int k = 0; k < t->njoint; k++)
      if (t->joint[k].joint == joint) return true;
  }
  if (d->drive == AB_DRIVE_SITE)
    for (int b = scene->site.item[d->site].body; b; b = scene->body.item[b].parent)
      if (scene->joint.item[joint].body == b) return true;
  return false;
}

static bool check_pull(abReading* m, const abXml* e, const abActuatorDef* d) {
  if (d->drive == AB_DRIVE_JOINT) return true;
  for (int j = 0; j < m->njoint; j++)
    if (m->joint_force[j].limited && pulls_on(m->scene, d, j))
      return ab_bad(m, AB_ERROR_UNSUPPORTED, e, NULL,
                    "not supported: it acts through a tendon or site on the joint '%.60s', which "
                    "has an actuatorfrcrange; give the actuator a forcerange instead",
                    m->joint_def[j].name ? m->joint_def[j].name : "");
  return true;
}

static bool read_actuator(abReading* m, const abXml* e) {
  const abClass* class_ = m->main_class;
  State s;
  if (!ab_check_attributes(m, e) || !ab_find_class(m, e, "class", &class_) ||
      !apply_class(m, class_, kind_of(e), &s) || !apply(m, e, &s) || !decide_law(m, e, &s) ||
      !find_driven(m, e, &s.def) || !inherit_range(m, e, &s) ||
      !decide_limit(m, e, s.ctrl_limited, s.def.ctrl_range, &s.def.ctrl_limited) ||
      !decide_limit(m, e, s.force_limited, s.def.force_range, &s.def.force_limited) ||
      !limit_force(m, e, &s.def) || !check_pull(m, e, &s.def))
    return false;
  const abXmlAttr* name = ab_xml_attr(e, "name");
  s.def.name = name ? name->value : NULL;
  s.def.source = (abSource){e->file, e->line};
  int index = ab_scene_add_actuator(m->scene, &s.def, m->error);
  if (index < 0) return ab_place(m, e);
  return ab_enter(m, e, &m->actuator, s.def.name, index);
}

#define ACTUATORS "general motor position velocity damper"

bool ab_read_actuators(abReading* m, const abXml* e) {
  if (!ab_check_attributes(m, e)) return false;
  for (const abXml* k = e->child; k; k = k->next)
    if (!(ab_xml_listed(k->name, ACTUATORS) ? read_actuator(m, k)
                                            : ab_other_element(m, k, ACTUATORS)) &&
        !ab_go_on(m, k))
      return false;
  return true;
}
