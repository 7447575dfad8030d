// Bodies, and the frames and repetitions around them. A body's joints and geoms are added before
// the bodies it holds, so that indices follow the depth-first order of the tree.
// Tests: test_mjcf, test_mujoco_model.
#include <stdio.h>
#include <string.h>

#include "math/rotation.h"
#include "scene/mjcf/mjcf.h"
#include "scene/orientation.h"

#define IN_BODY "inertial joint freejoint geom body frame replicate site camera light attach"

typedef bool (*Visit)(abReading* m, const abXml* e, const abPlace* at);
static bool visit_children(abReading* m, const abXml* e, const abPlace* at, Visit visit);

// --- frames --------------------------------------------------------------------------------------

// Neither this nor the next is inlined: bodies nest a thousand deep, and what only frames and
// replicas need must not be on the stack for each of them.
__attribute__((noinline)) static bool visit_frame(abReading* m, const abXml* e, const abPlace* at,
                                                  Visit visit) {
  abPlace inner = *at;
  abPose pose = pose_identity();
  abView v = ab_plain(e);
  if (!ab_check_attributes(m, e) || !ab_find_class(m, e, "childclass", &inner.class_) ||
      !ab_get_pose(m, &v, &pose, NULL))
    return false;
  inner.frame = pose_mul(at->frame, pose);
  return visit_children(m, e, &inner, visit);
}

// Replica i stands at the i-th power of the step between replicas; its names get a number of
// constant width.
__attribute__((noinline)) static bool visit_replicate(abReading* m, const abXml* e,
                                                      const abPlace* at, Visit visit) {
  abView v = ab_plain(e);
  int count = 0;
  double offset[3] = {0}, angle[3] = {0};
  const char* sep = ab_get_text(&v, "sep");
  abPlace inner = *at;
  if (!ab_check_attributes(m, e) || !ab_find_class(m, e, "childclass", &inner.class_) ||
      !ab_get_int(m, &v, "count", &count) || !ab_get_exactly(m, &v, "offset", 3, offset, NULL) ||
      !ab_get_exactly(m, &v, "euler", 3, angle, NULL))
    return false;
  // nested repetitions multiply; the limit keeps a short file from filling the memory
  if (count < 1 || count > 100000 || m->replicas * count > 1000000)
    return ab_bad(m, AB_ERROR_SCENE, e, ab_xml_attr(e, "count"),
                  "the count of replicas, nested ones multiplied, must be 1 to 1000000");
  m->replicas *= count;
  int width = snprintf(NULL, 0, "%d", count);
  double unit = m->compiler.degree ? 0.017453292519943295 : 1;
  abPose frame = pose_identity();
  long nfailure = m->nfailure;  // what is wrong with one replica is wrong with all
  for (int i = 0; i < count && m->nfailure == nfailure; i++) {
    double turned[3] = {i * unit * angle[0], i * unit * angle[1], i * unit * angle[2]};
    frame.q = ab_quat_euler(turned, m->compiler.eulerseq);
    inner.frame = pose_mul(at->frame, frame);
    char suffix[128];
    snprintf(suffix, sizeof suffix, "%.64s%0*d%.32s", sep ? sep : "", width, i,
             at->suffix ? at->suffix : "");
    inner.suffix = ab_xml_copy(m->doc, suffix);
    inner.again = at->again || i > 0;
    if (!inner.suffix) return ab_no_memory(m);
    if (!visit_children(m, e, &inner, visit)) return false;
    frame.p = v3_add(frame.p, quat_rotate(frame.q, v3(offset[0], offset[1], offset[2])));
  }
  m->replicas /= count;
  return true;
}

static bool visit_children(abReading* m, const abXml* e, const abPlace* at, Visit visit) {
  for (const abXml* k = e->child; k; k = k->next) {
    bool ok = ab_xml_is(k, "frame")       ? visit_frame(m, k, at, visit)
              : ab_xml_is(k, "replicate") ? visit_replicate(m, k, at, visit)
                                          : visit(m, k, at);
    if (!ok && !ab_go_on(m, k)) return false;
  }
  return true;
}

// --- inertia -------------------------------------------------------------------------------------

static bool read_inertial(abReading* m, const abXml* e, abBodyDef* def) {
  abView v = ab_plain(e);
  bool mass, diagonal, full, oriented;
  double d[3] = {0}, f[6] = {0};
  def->inertial = pose_identity();
  if (!ab_check_attributes(m, e) || !ab_get_pose(m, &v, &def->inertial, &oriented) ||
      !ab_get_exactly(m, &v, "mass", 1, &def->mass, &mass) ||
      !ab_get_exactly(m, &v, "diaginertia", 3, d, &diagonal) ||
      !ab_get_exactly(m, &v, "fullinertia", 6, f, &full))
    return false;
  if (!mass || !ab_xml_attr(e, "pos"))
    return ab_bad(m, AB_ERROR_PARSE, e, NULL, "pos and mass are needed");
  if (full && (diagonal || oriented))
    return ab_bad(m, AB_ERROR_PARSE, e, ab_xml_attr(e, "fullinertia"),
                  "a full inertia is given in the body's axes: neither diaginertia nor an "
                  "orientation may stand beside it");
  def->has_inertial = true;
  for (int i = 0; i < 6; i++) def->inertia[i] = full ? f[i] : i < 3 ? d[i] : 0;
  return true;
}

static bool counts(abReading* m, const abXml* e, const abPlace* at, bool* found) {
  abView v = {e, at->class_, AB_DEFAULT_GEOM};
  int group = 0;
  if (!ab_find_class(m, e, "class", &v.class_) || !ab_get_int(m, &v, "group", &group)) return false;
  *found |= group >= m->compiler.group_low && group <= m->compiler.group_high;
  return true;
}

// Whether the body has a geom whose mass counts.
static bool has_mass(abReading* m, const abXml* body, const abPlace* at, bool* found) {
  for (const abXml* k = body->child; k; k = k->next) {
    if (ab_xml_is(k, "geom") && !counts(m, k, at, found)) return false;
    if (!ab_xml_is(k, "frame") && !ab_xml_is(k, "replicate")) continue;
    abPlace inner = *at;
    if (!ab_find_class(m, k, "childclass", &inner.class_) || !has_mass(m, k, &inner, found))
      return false;
  }
  return true;
}

static bool read_mass(abReading* m, const abXml* e, const abPlace* at, abBodyDef* def) {
  const abXml* inertial = NULL;
  for (const abXml* k = e->child; k; k = k->next)
    if (ab_xml_is(k, "inertial")) {
      if (inertial) return ab_bad(m, AB_ERROR_PARSE, k, NULL, "a body has one <inertial>");
      inertial = k;
    }
  bool from_geoms = false;
  if (m->compiler.inertiafromgeom == AB_TRUE && !has_mass(m, e, at, &from_geoms)) return false;
  if (inertial && !read_inertial(m, inertial, def)) return false;
  if (from_geoms) def->has_inertial = false;
  if (m->compiler.inertiafromgeom == AB_FALSE) def->has_inertial = true;  // if only of mass zero
  return true;
}

// --- bodies --------------------------------------------------------------------------------------

static bool visit_own(abReading* m, const abXml* e, const abPlace* at) {
  if (ab_xml_is(e, "geom")) return ab_read_geom(m, e, at);
  if (ab_xml_is(e, "joint") || ab_xml_is(e, "freejoint")) {
    if (at->body == 0)
      return ab_bad(m, AB_ERROR_SCENE, e, NULL, "the world has no joints; put it into a <body>");
    return ab_read_joint(m, e, at);
  }
  if (ab_xml_is(e, "site")) return ab_read_site(m, e, at);
  if (ab_xml_is(e, "body") || ab_xml_is(e, "attach")) return true;
  if (ab_xml_is(e, "inertial") && at->body != 0) return true;
  if (ab_xml_is(e, "inertial"))
    return ab_bad(m, AB_ERROR_SCENE, e, NULL, "the world has no inertia");
  return ab_other_element(m, e, IN_BODY);
}

static bool visit_body(abReading* m, const abXml* e, const abPlace* at);

static bool read_body(abReading* m, const abXml* e, abPlace* inner, abBodyDef* def) {
  abView v = ab_plain(e);
  double gravcomp = 0;
  if (!ab_check_attributes(m, e) || !ab_find_class(m, e, "childclass", &inner->class_) ||
      !ab_get_pose(m, &v, &def->pose, NULL) || !ab_get_number(m, &v, "gravcomp", &gravcomp) ||
      !ab_get_bool(m, &v, "mocap", &def->mocap) || !read_mass(m, e, inner, def))
    return false;
  if (gravcomp != 0 && gravcomp != 1)
    return ab_bad(m, AB_ERROR_UNSUPPORTED, e, ab_xml_attr(e, "gravcomp"),
                  "not supported: gravity acts fully (0) or not at all (1)");
  def->gravity = gravcomp == 0;
  return true;
}

// A body that cannot be read stands there all the same, so that what it holds is looked at, too.
// Not inlined: bodies nest a thousand deep, and what a body is read with must not stay on the stack
// while its children are read.
__attribute__((noinline)) static bool add_body(abReading* m, const abXml* e, const abPlace* at,
                                               abPlace* inner) {
  abBodyDef def = ab_body_def();
  *inner = (abPlace){0, pose_identity(), at->class_, at->suffix, at->again};
  if (!read_body(m, e, inner, &def)) {
    if (!ab_go_on(m, e)) return false;
    def = ab_body_def();
  }
  const abXmlAttr* name = ab_xml_attr(e, "name");
  def.name = ab_suffixed(m, name ? name->value : NULL, at->suffix);
  def.parent = at->body;
  def.pose = pose_mul(at->frame, def.pose);
  def.source = (abSource){e->file, e->line};
  inner->body = ab_scene_add_body(m->scene, &def, m->error);
  if (inner->body < 0) return ab_place(m, e);
  return ab_enter(m, e, &m->body, def.name, inner->body);
}

static bool visit_body(abReading* m, const abXml* e, const abPlace* at) {
  if (ab_xml_is(e, "attach")) return ab_read_attach(m, e, at);
  if (!ab_xml_is(e, "body")) return true;
  abPlace inner;
  return add_body(m, e, at, &inner) && visit_children(m, e, &inner, visit_own) &&
         visit_children(m, e, &inner, visit_body);
}

bool ab_read_worldbody(abReading* m, const abXml* e) {
  abPlace world = {0, pose_identity(), m->main_class, NULL, false};
  if (!ab_check_attributes(m, e)) return false;
  if (!ab_labels_find(&m->body, "world") && !ab_enter(m, e, &m->body, "world", 0)) return false;
  m->replicas = 1;
  return visit_children(m, e, &world, visit_own) && visit_children(m, e, &world, visit_body);
}
