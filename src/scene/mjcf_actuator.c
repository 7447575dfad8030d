// Actuators on joints: force = gain * ctrl + bias. The shortcuts (motor, position, velocity,
// damper) set the numbers of the general one, and they do so also in default classes: there, each
// shortcut works on what the outer classes left, which is why the layers are applied one by one.
#include <string.h>

#include "math/vec.h"
#include "scene/mjcf.h"

typedef struct State {
  abActuatorDef def;
  abTri ctrl_limited, force_limited;
  double inheritrange;
  const char* last;  // the element applied last
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
  int dyn = 0, gain = (int)s->def.gain, bias = s->def.bias == AB_BIAS_AFFINE;
  if (!ab_get_word(m, &v, "dyntype", "none integrator filter filterexact muscle dcmotor pid user",
                   &dyn) ||
      !ab_get_word(m, &v, "gaintype", "fixed affine muscle dcmotor pid so3 user", &gain) ||
      !ab_get_word(m, &v, "biastype", "none affine muscle dcmotor pid so3 user", &bias))
    return false;
  const char* other = dyn > 0 ? "dyntype" : gain > 1 ? "gaintype" : bias > 1 ? "biastype" : NULL;
  if (other)
    return ab_bad(m, AB_ERROR_UNSUPPORTED, e, ab_xml_attr(e, other),
                  "not supported: dyntype is none, gaintype fixed or affine, biastype none or "
                  "affine");
  s->def.gain = gain ? AB_GAIN_AFFINE : AB_GAIN_FIXED;
  s->def.bias = bias ? AB_BIAS_AFFINE : AB_BIAS_NONE;
  return read_prm(m, e, "gainprm", s->def.gainprm) && read_prm(m, e, "biasprm", s->def.biasprm);
}

static void set(State* s, abGainType gain, abBiasType bias) {
  s->def.gain = gain;
  s->def.bias = bias;
}

static bool apply_shortcut(abReading* m, const abXml* e, State* s) {
  abView v = ab_plain(e);
  abActuatorDef* d = &s->def;
  if (ab_xml_is(e, "general")) return apply_general(m, e, s);
  if (ab_xml_is(e, "motor")) {
    for (int i = 0; i < 3; i++) d->gainprm[i] = i == 0, d->biasprm[i] = 0;
    set(s, AB_GAIN_FIXED, AB_BIAS_NONE);
    return true;
  }
  // a gain that is not given stays that of an outer shortcut of the same kind
  bool same = s->last && !strcmp(s->last, e->name);
  bool position = ab_xml_is(e, "position"), damper = ab_xml_is(e, "damper");
  double k = !same ? !damper : damper ? -d->gainprm[2] : d->gainprm[0];
  double kv = same && position ? -d->biasprm[2] : 0;
  if (!ab_get_number(m, &v, position ? "kp" : "kv", &k) ||
      (position && !ab_get_number(m, &v, "kv", &kv)))
    return false;
  d->biasprm[0] = 0;
  d->biasprm[1] = position ? -k : 0;
  d->biasprm[2] = position ? -kv : -k;
  d->gainprm[0] = k, d->gainprm[1] = d->gainprm[2] = 0;
  set(s, AB_GAIN_FIXED, AB_BIAS_AFFINE);
  if (damper) {  // force = -kv * velocity * ctrl
    d->gainprm[0] = 0, d->gainprm[2] = -k;
    d->biasprm[2] = 0;
    set(s, AB_GAIN_AFFINE, AB_BIAS_NONE);
    s->ctrl_limited = AB_TRUE;
  }
  return true;
}

static bool apply(abReading* m, const abXml* e, State* s) {
  abView v = ab_plain(e);
  abActuatorDef* d = &s->def;
  return ab_get_numbers(m, &v, "gear", 6, d->gear, NULL) &&
         ab_get_tri(m, &v, "ctrllimited", &s->ctrl_limited) &&
         ab_get_tri(m, &v, "forcelimited", &s->force_limited) &&
         ab_get_exactly(m, &v, "ctrlrange", 2, d->ctrl_range, NULL) &&
         ab_get_exactly(m, &v, "forcerange", 2, d->force_range, NULL) &&
         ab_get_number(m, &v, "inheritrange", &s->inheritrange) && apply_shortcut(m, e, s) &&
         (s->last = e->name);
}

static bool apply_layers(abReading* m, const abLayer* l, State* s) {
  return !l || (apply_layers(m, l->older, s) && apply(m, l->e, s));
}

static bool apply_class(abReading* m, const abClass* c, State* s) {
  return !c || (apply_class(m, c->parent, s) && apply_layers(m, c->layer[AB_DEFAULT_ACTUATOR], s));
}

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

// position servos may take their control range from the joint
static bool inherit_range(abReading* m, const abXml* e, State* s) {
  if (s->inheritrange == 0) return true;
  const abJointDef* j = &m->joint_def[s->def.joint];
  if (s->inheritrange < 0 || s->def.ctrl_range[0] != 0 || s->def.ctrl_range[1] != 0)
    return ab_bad(m, AB_ERROR_SCENE, e, NULL,
                  "inheritrange is above zero and stands in place of a ctrlrange");
  if (!(j->range[0] < j->range[1]))
    return ab_bad(m, AB_ERROR_SCENE, e, NULL, "inheritrange needs a joint that has a range");
  double mid = 0.5 * (j->range[0] + j->range[1]), half = 0.5 * (j->range[1] - j->range[0]);
  s->def.ctrl_range[0] = mid - s->inheritrange * half;
  s->def.ctrl_range[1] = mid + s->inheritrange * half;
  return true;
}

// The joint's limit on the sum of its actuators' forces, gear * force, becomes a limit on the force
// where there is one actuator.
static bool limit_force(abReading* m, const abXml* e, abActuatorDef* d) {
  if (!m->joint_force[d->joint].limited) return true;
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

static bool read_actuator(abReading* m, const abXml* e) {
  const abClass* class_ = m->main_class;
  State s = {ab_actuator_def(), AB_AUTO, AB_AUTO, 0, NULL};
  if (!ab_check_attributes(m, e) || !ab_find_class(m, e, "class", &class_) ||
      !apply_class(m, class_, &s) || !apply(m, e, &s) || !find_joint(m, e, &s.def) ||
      !inherit_range(m, e, &s) ||
      !decide_limit(m, e, s.ctrl_limited, s.def.ctrl_range, &s.def.ctrl_limited) ||
      !decide_limit(m, e, s.force_limited, s.def.force_range, &s.def.force_limited) ||
      !limit_force(m, e, &s.def))
    return false;
  if (m->no_clampctrl) s.def.ctrl_limited = false;
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
    if (ab_xml_listed(k->name, ACTUATORS) ? !read_actuator(m, k)
                                          : !ab_other_element(m, k, ACTUATORS))
      return false;
  return true;
}
