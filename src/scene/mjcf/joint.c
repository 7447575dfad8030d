// Joints. Angles follow compiler/angle for hinges and balls.
// Tests: test_mjcf, test_mujoco_model.
#include "base/alloc.h"
#include "math/rotation.h"
#include "scene/mjcf/mjcf.h"

static bool read_place(abReading* m, const abView* v, const abPlace* at, abJointDef* def) {
  double p[3] = {0}, a[3] = {def->axis.x, def->axis.y, def->axis.z};
  if (!ab_get_exactly(m, v, "pos", 3, p, NULL) || !ab_get_exactly(m, v, "axis", 3, a, NULL))
    return false;
  def->pos = pose_apply(at->frame, v3(p[0], p[1], p[2]));
  def->axis = quat_rotate(at->frame.q, v3(a[0], a[1], a[2]));
  return true;
}

static bool read_range(abReading* m, const abView* v, double unit, abJointDef* def) {
  bool given;
  if (!ab_get_exactly(m, v, "range", 2, def->range, &given) ||
      !ab_get_number(m, v, "margin", &def->margin))
    return false;
  const abXml* owner;
  const abXmlAttr* a = ab_view_attr(v, "range", &owner);
  if (given && def->range[0] > def->range[1])
    return ab_bad(m, AB_ERROR_SCENE, owner, a, "the lower limit comes first");
  if (def->type == AB_JOINT_FREE) {
    def->limited = false;
    return true;
  }
  if (!ab_get_limited(m, v, "limited", given && def->range[0] < def->range[1], &def->limited))
    return false;
  def->range[0] *= unit;
  def->range[1] *= unit;
  return true;
}

// The range of the sum of the actuators' forces on this joint; see actuator.c.
static bool read_force_range(abReading* m, const abView* v, int joint) {
  double range[2] = {0, 0};
  bool given, limited;
  if (!ab_get_exactly(m, v, "actuatorfrcrange", 2, range, &given) ||
      !ab_get_limited(m, v, "actuatorfrclimited", given && range[0] < range[1], &limited))
    return false;
  m->joint_force[joint].limited = limited;
  m->joint_force[joint].range[0] = range[0];
  m->joint_force[joint].range[1] = range[1];
  m->joint_force[joint].driven = 0;
  return true;
}

bool ab_note_joint(abReading* m, const abJointDef* def) {
  abJointDef* defs = ab_grow(m->joint_def, m->njoint, sizeof *defs);
  if (!defs) return ab_no_memory(m);
  m->joint_def = defs;
  void* force = ab_grow(m->joint_force, m->njoint, sizeof *m->joint_force);
  if (!force) return ab_no_memory(m);
  m->joint_force = force;
  m->joint_force[m->njoint].limited = false;
  m->joint_def[m->njoint++] = *def;
  return true;
}

int ab_put_joint(abReading* m, const abXml* e, abJointDef* def) {
  def->source = (abSource){e->file, e->line};
  int index = ab_scene_add_joint(m->scene, def, m->error);
  if (index < 0) return ab_place(m, e) - 1;
  if (!ab_note_joint(m, def)) return -1;
  return ab_enter(m, e, &m->joint, def->name, index) ? index : -1;
}

bool ab_read_joint(abReading* m, const abXml* e, const abPlace* at) {
  if (!ab_check_attributes(m, e)) return false;
  bool free = ab_xml_is(e, "freejoint");
  abView v = {e, at->class_, AB_DEFAULT_JOINT};
  if (free)
    v = ab_plain(e);
  else if (!ab_find_class(m, e, "class", &v.class_))
    return false;
  abJointDef def = ab_joint_def();
  def.name = ab_suffixed(m, ab_get_text(&v, "name"), at->suffix);
  def.body = at->body;
  int type = free ? 0 : 3;
  if (!free && !ab_get_word(m, &v, "type", "free ball slide hinge", &type)) return false;
  static const abJointType types[] = {AB_JOINT_FREE, AB_JOINT_BALL, AB_JOINT_SLIDE, AB_JOINT_HINGE};
  def.type = types[type];
  double degree = m->compiler.degree ? 0.017453292519943295 : 1;
  double unit = type == 1 || type == 3 ? degree : 1;
  if (!read_place(m, &v, at, &def) || !read_range(m, &v, unit, &def) ||
      !ab_get_linear(m, &v, "stiffness", &def.stiffness) ||
      !ab_get_linear(m, &v, "damping", &def.damping) ||
      !ab_get_number(m, &v, "armature", &def.armature) ||
      !ab_get_number(m, &v, "frictionloss", &def.frictionloss) ||
      !ab_get_number(m, &v, "ref", &def.ref) || !ab_get_number(m, &v, "springref", &def.springref))
    return false;
  if (type == 3) def.ref *= degree, def.springref *= degree;
  int index = ab_put_joint(m, e, &def);
  return index >= 0 && read_force_range(m, &v, m->njoint - 1);
}
