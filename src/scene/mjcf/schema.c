// What is known of MJCF's elements. Three things can be said of an attribute: it is read (`takes`),
// it does not change the motion and gives a note (`notes`), or it does and is refused unless its
// value is the harmless one (the table `refusal`). Anything else is a spelling mistake.
// Tests: test_bad_input.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/mjcf/mjcf.h"

#define ORIENTATION "pos quat axisangle euler xyaxes zaxis "
#define ACTUATOR_COMMON                                                       \
  "name class joint jointinparent tendon site refsite ctrllimited ctrlrange " \
  "forcelimited forcerange gear cranklength "
#define ACTUATOR_NOTES                                                                  \
  {                                                                                     \
    {AB_NOTE_USER, "user"}, {AB_NOTE_GROUP, "group"}, { AB_NOTE_LENGTH, "lengthrange" } \
  }

#define EQUALITY "name class active "
#define TENDON                                                                            \
  "name class range limited margin stiffness damping frictionloss armature springlength " \
  "actuatorfrclimited actuatorfrcrange"
#define TENDON_NOTES                                                         \
  {                                                                          \
    {AB_NOTE_SOFT, "solreflimit solimplimit solreffriction solimpfriction"}, \
        {AB_NOTE_USER, "user"}, {AB_NOTE_GROUP, "group"}, {                  \
      AB_NOTE_VISUAL, "width material rgba"                                  \
    }                                                                        \
  }

// An element whose name means different things in different parents is called parent/name.
typedef struct Rule {
  const char* element;
  const char* takes;
  struct {
    abNoteKind kind;
    const char* attr;
  } notes[4];
} Rule;

static const Rule rule[] = {
    {"mujoco", "model", {{0}}},
    {"compiler",
     "angle autolimits balanceinertia boundinertia boundmass coordinate eulerseq inertiafromgeom "
     "inertiagrouprange meshdir assetdir settotalmass strippath fusestatic discardvisual "
     "exactmeshinertia",
     {{AB_NOTE_COMPILER,
       "conflict fitaabb passthrough savecanonical savecompiled saveinertial texturedir usethread "
       "convexhull"}}},
    {"lengthrange",
     "",
     {{AB_NOTE_LENGTH,
       "accel interval inttotal inteval maxforce mode timeconst timestep tolrange useexisting "
       "uselimit"}}},
    {"option",
     "timestep gravity integrator",
     {{AB_NOTE_SOLVER,
       "apirate ccd_iterations ccd_tolerance cone impratio iterations jacobian ls_iterations "
       "ls_tolerance mpr_iterations mpr_tolerance noslip_iterations noslip_tolerance "
       "sdf_initpoints sdf_iterations sleep_tolerance solver tolerance collision"},
      {AB_NOTE_SOFT, "o_friction o_margin o_solimp o_solref"},
      {AB_NOTE_SENSOR, "magnetic"}}},
    {"flag",
     "constraint contact limit frictionloss gravity clampctrl passive spring damper equality",
     {{AB_NOTE_SLEEP, "sleep"},
      {AB_NOTE_SOLVER,
       "warmstart refsafe autoreset nativeccd eulerdamp multiccd island midphase "
       "diagexact ipc invdiscrete"},
      {AB_NOTE_SENSOR, "sensor sensornoise energy fwdinv"}}},
    {"size",
     "",
     {{AB_NOTE_MEMORY,
       "memory nconmax njmax nkey nstack nuserdata nuser_actuator nuser_body nuser_cam nuser_geom "
       "nuser_jnt nuser_sensor nuser_site nuser_tendon"}}},
    {"default", "class", {{0}}},
    {"mesh",
     "name class file vertex face scale refpos refquat inertia content_type",
     {{AB_NOTE_HULL, "maxhullvert normal texcoord smoothnormal"}, {AB_NOTE_MATERIAL, "material"}}},
    {"material",
     "name class rgba",
     {{AB_NOTE_TEXTURE, "texture texrepeat texuniform"},
      {AB_NOTE_MATERIAL, "emission specular shininess reflectance metallic roughness"}}},
    {"model", "name file content_type", {{0}}},
    {"attach", "model body prefix", {{0}}},
    {"worldbody", "", {{0}}},
    {"body",
     ORIENTATION "name childclass mocap gravcomp",
     {{AB_NOTE_USER, "user"}, {AB_NOTE_SOLVER, "sleep simple"}, {AB_NOTE_FUSE, "fuse"}}},
    {"frame", ORIENTATION "name childclass", {{0}}},
    {"replicate", "count euler sep offset childclass", {{0}}},
    {"inertial", ORIENTATION "mass diaginertia fullinertia", {{0}}},
    {"joint",
     "name class type pos axis limited range stiffness damping armature frictionloss ref springref "
     "margin actuatorfrclimited actuatorfrcrange actuatorgravcomp",
     {{AB_NOTE_SOFT, "solreflimit solimplimit solreffriction solimpfriction"},
      {AB_NOTE_USER, "user"},
      {AB_NOTE_GROUP, "group"}}},
    {"freejoint", "name align", {{AB_NOTE_GROUP, "group"}}},
    {"geom",
     ORIENTATION
     "name class type contype conaffinity condim group priority size material friction mass "
     "density shellinertia margin gap fromto hfield mesh rgba",
     {{AB_NOTE_SOFT, "solmix solref solimp"},
      {AB_NOTE_USER, "user"},
      {AB_NOTE_FLUID, "fluidshape fluidcoef"},
      {AB_NOTE_VISUAL, "castshadow fitscale"}}},
    {"site",
     ORIENTATION "name class fromto",
     {{AB_NOTE_VISUAL, "type size material rgba group"}, {AB_NOTE_USER, "user"}}},
    {"contact", "", {{0}}},
    {"pair",
     "name class geom1 geom2 condim friction margin gap",
     {{AB_NOTE_SOFT, "solref solimp solreffriction"}}},
    {"exclude", "name body1 body2", {{0}}},
    {"fixed", TENDON, TENDON_NOTES},
    {"tendon", TENDON, TENDON_NOTES},
    {"fixed/joint", "joint coef", {{0}}},
    {"equality", "active", {{AB_NOTE_SOFT, "solref solimp"}}},
    {"connect", EQUALITY "body1 body2 site1 site2 anchor", {{AB_NOTE_SOFT, "solref solimp"}}},
    {"weld",
     EQUALITY "body1 body2 site1 site2 anchor relpose torquescale",
     {{AB_NOTE_SOFT, "solref solimp"}}},
    {"equality/joint", EQUALITY "joint1 joint2 polycoef", {{AB_NOTE_SOFT, "solref solimp"}}},
    {"equality/tendon", EQUALITY "tendon1 tendon2 polycoef", {{AB_NOTE_SOFT, "solref solimp"}}},
    {"actuator", "", {{0}}},
    {"general",
     ACTUATOR_COMMON
     "gaintype biastype gainprm biasprm dyntype dynprm actlimited actrange actdim actearly "
     "inheritrange",
     ACTUATOR_NOTES},
    {"motor", ACTUATOR_COMMON, ACTUATOR_NOTES},
    {"position", ACTUATOR_COMMON "kp kv dampratio inheritrange", ACTUATOR_NOTES},
    {"velocity", ACTUATOR_COMMON "kv", ACTUATOR_NOTES},
    {"damper", ACTUATOR_COMMON "kv", ACTUATOR_NOTES},
    {"keyframe", "", {{0}}},
    {"key", "name time qpos qvel act ctrl mpos mquat plastic", {{0}}},
    {"custom", "", {{0}}},
    {"numeric", "name data size", {{0}}},
    {"text", "name data", {{0}}},
    {"tuple", "name", {{0}}},
    {"element", "objtype objname prm", {{0}}},
    {"asset", "", {{0}}},
};

// Attributes that change the motion. Harmless: all numbers zero, or a word of the list.
static const struct {
  const char *elements, *attr, *harmless, *advice;
} refusal[] = {
    {"compiler", "alignfree", "false",
     "the frame of a free body stays where the file puts it; leave it out"},
    {"option", "wind density viscosity", "", "there is no fluid; remove it, or set it to 0"},
    {"option", "actuatorgroupdisable", "", "remove those actuators instead"},
    {"flag", "actuation", "enable", "remove the actuators instead"},
    {"flag", "filterparent", "enable",
     "bodies do not touch their parents; add a <contact><pair> where they should"},
    {"flag", "override speculative", "disable", "leave it out"},
    {"mesh", "builtin params", "none", "give the mesh as a file or by its vertices"},
    {"joint", "springdamper", "", "give stiffness and damping instead"},
    {"joint fixed tendon", "springyield", "", "springs do not yield; remove it"},
    {"joint", "actuatorgravcomp", "false", "gravity compensation by actuators is not available"},
    {"freejoint", "align", "false auto",
     "the frame of a free body stays where the file puts it; leave it out"},
    {"geom pair", "adhesion", "", "contacts do not attract; remove it"},
    {"geom", "surfacevel", "", "surfaces do not move on their own; remove it"},
    {"general motor position velocity damper", "slidersite cranksite body", "",
     "joints, fixed tendons and sites can be driven; use one of these"},
    {"general motor position velocity damper", "delay nsample interp", "",
     "actuators act without delay; remove it"},
    {"general motor position velocity damper", "armature damping", "", "give them to the joint"},
    {"position", "timeconst", "", "actuators have no states; remove it"},
    {"general", "ffrange velrange", "", "only the plain control signal is read; remove it"},
    // of fixed and affine gains it says what the control is meant as, and changes nothing
    {"general", "input", "pos vel pressure", "only the plain control signal is read; remove it"},
};

// Elements that are read over with a note, and elements that are refused by name.
static const struct {
  const char* elements;
  abNoteKind kind;
} noted[] = {
    {"visual", AB_NOTE_VISUAL}, {"statistic", AB_NOTE_STATISTIC},
    {"sensor", AB_NOTE_SENSOR}, {"camera", AB_NOTE_CAMERA},
    {"light", AB_NOTE_LIGHT},   {"texture layer", AB_NOTE_TEXTURE},
    {"skin", AB_NOTE_SKIN},     {"lengthrange", AB_NOTE_LENGTH},
};

static const struct {
  const char *elements, *advice;
} refused[] = {
    {"distance flex flexvert flexstrain", "this constraint is not available; remove it"},
    {"spatial",
     "tendons through space are not available; remove it, or drive and couple the joints"},
    {"composite flexcomp", "soft and composite objects are not available; write the bodies out"},
    {"plugin extension", "plugins are not available; remove it"},
    {"hfield", "height fields are not available; use boxes or convex meshes"},
    {"muscle cylinder intvelocity adhesion orientation pid dcmotor",
     "this actuator is not available; use motor, position, velocity, damper or general"},
};

static const Rule* rule_named(const char* element) {
  for (size_t i = 0; i < sizeof rule / sizeof *rule; i++)
    if (!strcmp(rule[i].element, element)) return &rule[i];
  return NULL;
}

static const Rule* find_rule(const abXml* e) {
  char name[64];
  const Rule* r = NULL;
  if (e->parent && ab_xml_listed(e->parent->name, "equality fixed") &&
      snprintf(name, sizeof name, "%s/%.40s", e->parent->name, e->name) > 0)
    r = rule_named(name);
  return r ? r : rule_named(e->name);
}

static bool all_zero(const char* text) {
  char* end;
  while (*text) {
    if (strtod(text, &end) != 0 || end == text) return false;
    text = end + strspn(end, " \t\r\n");
  }
  return true;
}

// 0: not refused; 1: refused but harmless; -1: refused, error filled
static int refuse(abReading* m, const abXml* e, const abXmlAttr* a) {
  for (size_t i = 0; i < sizeof refusal / sizeof *refusal; i++) {
    if (!ab_xml_listed(a->name, refusal[i].attr)) continue;
    if (!ab_xml_listed(e->name, refusal[i].elements)) continue;
    if (all_zero(a->value) || ab_xml_listed(a->value, refusal[i].harmless)) return 1;
    ab_bad(m, AB_ERROR_UNSUPPORTED, e, a, "not supported: %s", refusal[i].advice);
    return -1;
  }
  return 0;
}

static bool unknown_attribute(abReading* m, const abXml* e, const abXmlAttr* a, const Rule* r) {
  // the longest rule is well below this
  char list[1400] = "", near[32];
  strncat(list, r->takes, 600);
  for (int i = 0; i < 4 && r->notes[i].attr; i++) {
    strcat(list, " ");
    strncat(list, r->notes[i].attr, 350);
    if (strlen(list) > 1000) break;
  }
  ab_xml_nearest(a->name, list, near);
  return ab_bad(m, AB_ERROR_PARSE, e, a, "<%s> has no attribute '%.40s'%s%s%s", e->name, a->name,
                near[0] ? "; did you mean '" : "", near, near[0] ? "'?" : "");
}

static bool check_attribute(abReading* m, const abXml* e, const abXmlAttr* a, const Rule* r) {
  if (!strncmp(a->name, "xmlns", 5)) return true;  // a name space, of other programs
  int found = refuse(m, e, a);
  if (found < 0) return false;
  if (found || ab_xml_listed(a->name, r->takes)) return true;
  int k = 0;
  while (k < 4 && r->notes[k].attr && !ab_xml_listed(a->name, r->notes[k].attr)) k++;
  if (k == 4 || !r->notes[k].attr) return unknown_attribute(m, e, a, r);
  ab_note(m, r->notes[k].kind, e, a);
  return true;
}

bool ab_check_attributes(abReading* m, const abXml* e) {
  const Rule* r = find_rule(e);
  bool ok = true;
  for (int i = 0; r && i < e->nattr; i++)
    if (!check_attribute(m, e, &e->attr[i], r)) {
      if (!ab_go_on(m, e)) return false;
      ok = false;
    }
  m->reported = !ok;
  return ok;
}

bool ab_other_element(abReading* m, const abXml* e, const char* known) {
  for (size_t i = 0; i < sizeof noted / sizeof *noted; i++)
    if (ab_xml_listed(e->name, noted[i].elements)) {
      ab_note(m, noted[i].kind, e, NULL);
      return true;
    }
  const abXmlAttr* name = ab_xml_attr(e, "name");
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (ab_xml_listed(e->name, refused[i].elements))
      return ab_bad(m, AB_ERROR_UNSUPPORTED, e, NULL, "%s%.60s%snot supported: %s", name ? "'" : "",
                    name ? name->value : "", name ? "' " : "", refused[i].advice);
  char near[32];
  ab_xml_nearest(e->name, known, near);
  return ab_bad(m, AB_ERROR_PARSE, e, NULL, "<%.40s> has no such element%s%s%s",
                e->parent ? e->parent->name : "the file", near[0] ? "; did you mean <" : "", near,
                near[0] ? ">?" : "");
}
