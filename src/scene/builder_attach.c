// Putting one scene into another: every definition is added again with its indices moved and its
// name behind a prefix. What hung on the world of the part hangs on the chosen body, at the chosen
// pose. Options and keyframes of the part stay behind: they speak of it alone. Of a part of which
// only one body is wanted, that body is taken with all below it, and the laws that concern nothing
// else.
// Tests: test_builder, test_laws.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "math/rotation.h"
#include "scene/attachment.h"
#include "scene/builder.h"

const char* ab_attach_name(const abAttachment* a, const char* name, char text[600]) {
  if (!name) return NULL;
  snprintf(text, 600, "%s%s%s", a->how.prefix ? a->how.prefix : "", name,
           a->suffix ? a->suffix : "");
  return text;
}

#define LEFT_OUT (-2)  // -1 is what refers to nothing

static int moved(const int* index, int i) { return i < 0 ? i : index[i]; }

// Of what hangs on the part's world, or is the root of what is taken: seen from the new parent.
static abPose placed(const abAttachment* a, bool root, abPose pose) {
  return root ? pose_mul(a->how.pose, pose) : pose;
}

static bool add_free_joint(abAttachment* a, int body) {
  abJointDef d = ab_joint_def();
  d.body = body;
  d.type = AB_JOINT_FREE;
  return ab_scene_add_joint(a->to, &d, a->error) >= 0;
}

static bool has_joint(const abScene* s, int body) {
  for (int i = 0; i < s->joint.n; i++)
    if (s->joint.item[i].body == body) return true;
  return false;
}

static bool add_bodies(abAttachment* a) {
  char text[600];
  const abScene* s = a->part;
  int top = a->how.body;
  a->body[0] = top > 0 ? LEFT_OUT : a->how.parent;
  for (int i = 1; i < s->body.n; i++) {
    abBodyDef d = s->body.item[i];
    bool root = top > 0 ? i == top : d.parent == 0;
    a->body[i] = LEFT_OUT;
    if (!root && a->body[d.parent] == LEFT_OUT) continue;
    d.pose = placed(a, root, d.pose);
    d.parent = root ? a->how.parent : a->body[d.parent];
    d.name = ab_attach_name(a, d.name, text);
    a->body[i] = ab_scene_add_body(a->to, &d, a->error);
    if (a->body[i] < 0) return false;
    bool floats = a->how.floating && root && !d.mocap && !has_joint(s, i);
    if (floats && !add_free_joint(a, a->body[i])) return false;
  }
  return true;
}

static bool any_left_out(int n, const int* index) {
  for (int i = 0; i < n; i++)
    if (index[i] == LEFT_OUT) return true;
  return false;
}

static bool add_joints(abAttachment* a) {
  char text[600];
  for (int i = 0; i < a->part->joint.n; i++) {
    abJointDef d = a->part->joint.item[i];
    a->joint[i] = LEFT_OUT;
    if (a->body[d.body] == LEFT_OUT) continue;
    d.body = a->body[d.body];
    d.name = ab_attach_name(a, d.name, text);
    a->joint[i] = ab_scene_add_joint(a->to, &d, a->error);
    if (a->joint[i] < 0) return false;
  }
  return true;
}

static bool add_meshes(abAttachment* a) {
  char text[600];
  for (int i = 0; i < a->part->mesh.n; i++) {
    abMeshDef d = a->part->mesh.item[i];
    d.file = NULL;  // its vertices are here
    d.name = ab_attach_name(a, d.name, text);
    a->mesh[i] = ab_scene_add_mesh(a->to, &d, a->error);
    if (a->mesh[i] < 0) return false;
  }
  return true;
}

static bool add_geoms(abAttachment* a) {
  char text[600];
  for (int i = 0; i < a->part->geom.n; i++) {
    abGeomDef d = a->part->geom.item[i];
    a->geom[i] = LEFT_OUT;
    if (a->body[d.body] == LEFT_OUT) continue;
    d.pose = placed(a, d.body == 0, d.pose);
    d.body = a->body[d.body];
    d.mesh = moved(a->mesh, d.mesh);
    d.name = ab_attach_name(a, d.name, text);
    a->geom[i] = ab_scene_add_geom(a->to, &d, a->error);
    if (a->geom[i] < 0) return false;
  }
  return true;
}

static bool add_sites(abAttachment* a) {
  char text[600];
  for (int i = 0; i < a->part->site.n; i++) {
    abSiteDef d = a->part->site.item[i];
    a->site[i] = LEFT_OUT;
    if (a->body[d.body] == LEFT_OUT) continue;
    d.pose = placed(a, d.body == 0, d.pose);
    d.body = a->body[d.body];
    d.name = ab_attach_name(a, d.name, text);
    a->site[i] = ab_scene_add_site(a->to, &d, a->error);
    if (a->site[i] < 0) return false;
  }
  return true;
}

static bool add_tendons(abAttachment* a) {
  char text[600];
  for (int i = 0; i < a->part->tendon.n; i++) {
    abTendonDef d = a->part->tendon.item[i];
    bool all = true;
    for (int k = 0; k < d.njoint; k++) all &= a->joint[d.joint[k].joint] != LEFT_OUT;
    a->tendon[i] = LEFT_OUT;
    if (!all) continue;
    abTendonJoint* joint = ab_bag_take(&a->to->bag, (size_t)d.njoint * sizeof *joint);
    if (!joint) return ab_scene_no_memory(a->error) >= 0;
    for (int k = 0; k < d.njoint; k++)
      joint[k] = (abTendonJoint){a->joint[d.joint[k].joint], d.joint[k].coef};
    d.joint = joint;
    d.name = ab_attach_name(a, d.name, text);
    a->tendon[i] = ab_scene_add_tendon(a->to, &d, a->error);
    if (a->tendon[i] < 0) return false;
  }
  return true;
}

// A tie to the world stays one, as in MuJoCo.
static bool add_equalities(abAttachment* a) {
  char text[600];
  for (int i = 0; i < a->part->equality.n; i++) {
    abEqualityDef d = a->part->equality.item[i];
    if (d.body1 > 0) d.body1 = a->body[d.body1];
    if (d.body2 > 0) d.body2 = a->body[d.body2];
    d.site1 = moved(a->site, d.site1), d.site2 = moved(a->site, d.site2);
    d.joint1 = moved(a->joint, d.joint1), d.joint2 = moved(a->joint, d.joint2);
    d.tendon1 = moved(a->tendon, d.tendon1), d.tendon2 = moved(a->tendon, d.tendon2);
    const int end[] = {d.body1,  d.body2,  d.site1,   d.site2,
                       d.joint1, d.joint2, d.tendon1, d.tendon2};
    if (any_left_out(8, end)) continue;
    d.name = ab_attach_name(a, d.name, text);
    if (ab_scene_add_equality(a->to, &d, a->error) < 0) return false;
  }
  return true;
}

static bool add_actuators(abAttachment* a) {
  char text[600];
  for (int i = 0; i < a->part->actuator.n; i++) {
    abActuatorDef d = a->part->actuator.item[i];
    d.joint = moved(a->joint, d.joint), d.tendon = moved(a->tendon, d.tendon);
    d.site = moved(a->site, d.site), d.refsite = moved(a->site, d.refsite);
    const int end[] = {d.joint, d.tendon, d.site, d.refsite};
    a->actuator[i] = LEFT_OUT;
    if (any_left_out(4, end)) continue;
    d.name = ab_attach_name(a, d.name, text);
    a->actuator[i] = ab_scene_add_actuator(a->to, &d, a->error);
    if (a->actuator[i] < 0) return false;
  }
  return true;
}

static bool add_rules(abAttachment* a) {
  for (int i = 0; i < a->part->pair.n; i++) {
    abPairDef d = a->part->pair.item[i];
    d.geom1 = a->geom[d.geom1], d.geom2 = a->geom[d.geom2];
    if (any_left_out(2, (int[]){d.geom1, d.geom2})) continue;
    if (ab_scene_add_pair(a->to, &d, a->error) < 0) return false;
  }
  for (int i = 0; i < a->part->exclude.n; i++) {
    const abExcludeDef* d = &a->part->exclude.item[i];
    int one = a->body[d->body1], two = a->body[d->body2];
    if (any_left_out(2, (int[]){one, two})) continue;
    if (ab_scene_add_exclude(a->to, one, two, a->error) < 0) return false;
  }
  return true;
}

abAttachDef ab_attach_def(void) { return (abAttachDef){.pose = pose_identity()}; }

bool ab_attach_begin(abAttachment* a) {
  const abScene* part = a->part;
  const abAttachDef* how = &a->how;
  a->body = NULL;
  if (a->to == part || how->parent < 0 || how->parent >= a->to->body.n || how->body < 0 ||
      how->body >= part->body.n)
    return ab_fail(a->error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a scene is attached to a body of another scene") == AB_OK;
  if (how->floating && how->parent != 0)
    return ab_fail(a->error, AB_ERROR_SCENE, NULL, 0, "what floats hangs on the world") == AB_OK;
  int n = part->body.n + part->joint.n + part->geom.n + part->mesh.n + part->site.n;
  int* index = ab_alloc_zero(sizeof *index * (size_t)(n + part->tendon.n + part->actuator.n + 1));
  if (!index) return ab_scene_no_memory(a->error) >= 0;
  a->body = index, a->joint = a->body + part->body.n, a->geom = a->joint + part->joint.n;
  a->mesh = a->geom + part->geom.n, a->site = a->mesh + part->mesh.n;
  a->tendon = a->site + part->site.n, a->actuator = a->tendon + part->tendon.n;
  return true;
}

void ab_attach_end(abAttachment* a) {
  ab_free(a->body);
  a->body = NULL;
}

bool ab_attach_bodies(abAttachment* a) {
  return add_bodies(a) && add_joints(a) && add_meshes(a) && add_geoms(a) && add_sites(a);
}

bool ab_attach_tendons(abAttachment* a) { return add_tendons(a); }

bool ab_attach_laws(abAttachment* a) {
  return add_equalities(a) && add_actuators(a) && add_rules(a);
}

abStatus ab_scene_attach(abScene* scene, const abScene* part, const abAttachDef* how,
                         abError* error) {
  abError own;
  if (!scene || !part || !how)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "two scenes are needed, and how they join");
  abAttachment a = {.to = scene, .part = part, .how = *how, .error = error ? error : &own};
  bool ok =
      ab_attach_begin(&a) && ab_attach_bodies(&a) && ab_attach_tendons(&a) && ab_attach_laws(&a);
  ab_attach_end(&a);
  return ok ? AB_OK : a.error->code;
}

abStatus ab_scene_float(abScene* scene, abError* error) {
  abError own;
  int n = 0;
  if (!scene)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "there is no scene; did loading it fail?");
  for (int i = 1; i < scene->body.n; i++) {
    const abBodyDef* b = &scene->body.item[i];
    if (b->parent != 0 || b->mocap || has_joint(scene, i)) continue;
    abJointDef d = ab_joint_def();
    d.body = i;
    d.type = AB_JOINT_FREE;
    d.source = b->source;
    if (ab_scene_add_joint(scene, &d, error ? error : &own) < 0)
      return (error ? error : &own)->code;
    n++;
  }
  if (n > 0) return AB_OK;
  return ab_fail(error, AB_ERROR_SCENE, scene->option.file, 0,
                 "nothing is fixed to the world that could float");
}
