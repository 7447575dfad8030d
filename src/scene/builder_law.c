// The builder's second half: what refers to bodies, joints and geoms (sites, tendons, equalities,
// actuators, keyframes, rules of contact).
// Tests: test_builder, test_laws.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "math/rotation.h"
#include "scene/builder.h"
#include "scene/orientation.h"

// --- defaults ---

abSiteDef ab_site_def(void) { return (abSiteDef){.pose = pose_identity()}; }

abTendonDef ab_tendon_def(void) { return (abTendonDef){.springlength = {-1, -1}}; }

abEqualityDef ab_equality_def(void) {
  return (abEqualityDef){.active = true,
                         .body1 = -1,
                         .site1 = -1,
                         .site2 = -1,
                         .relpose = pose_identity(),
                         .torquescale = 1,
                         .joint1 = -1,
                         .joint2 = -1,
                         .tendon1 = -1,
                         .tendon2 = -1,
                         .polycoef = {0, 1}};
}

abActuatorDef ab_actuator_def(void) {
  return (abActuatorDef){
      .joint = -1, .tendon = -1, .site = -1, .refsite = -1, .gear = {1}, .gainprm = {1}};
}

abKeyDef ab_key_def(void) { return (abKeyDef){0}; }

abPairDef ab_pair_def(void) {
  return (abPairDef){
      .geom1 = -1, .geom2 = -1, .condim = 3, .friction = {1, 1, 0.005, 0.0001, 0.0001}};
}

// --- sites and tendons ---

int ab_scene_add_site(abScene* scene, const abSiteDef* def, abError* error) {
  if (!scene || !def) return ab_nothing_given(error);
  abSiteDef d = *def;
  abSubject s = {"site", d.name, d.source, error};
  if (!ab_check_refers(&s, d.body, scene->body.n, "body") ||
      !ab_check_pose(&s, &d.pose, "its pose"))
    return -1;
  d.pose.q = ab_orientation(d.pose.q);
  if (!ab_claim_name(scene, &scene->site_name, &s, scene->site.n, &d.name)) return -1;
  if (!ab_keep_source(scene, &d.source)) return ab_scene_no_memory(error);
  int i = AB_APPEND(scene->site, &d);
  return i < 0 ? ab_scene_no_memory(error) : i;
}

// A coordinate that is one number: hinges and slides.
static bool good_scalar_joint(const abSubject* s, const abScene* scene, int joint) {
  if (!ab_check_refers(s, joint, scene->joint.n, "joint")) return false;
  abJointType type = scene->joint.item[joint].type;
  if (type == AB_JOINT_HINGE || type == AB_JOINT_SLIDE) return true;
  return AB_FAIL(s, "only hinge and slide joints have a single coordinate to use here");
}

static bool good_limits(const abSubject* s, bool limited, const double range[2], const char* what) {
  char text[128];
  if (!limited) return true;
  if (!ab_check_finite(s, 2, range, what)) return false;
  if (range[0] <= range[1]) return true;
  snprintf(text, sizeof text, "%s: the lower end is above the upper one", what);
  return AB_FAIL(s, text);
}

static bool good_tendon(const abSubject* s, const abScene* scene, const abTendonDef* d) {
  if (d->njoint < 1 || !d->joint) return AB_FAIL(s, "a tendon runs over one joint at least");
  for (int i = 0; i < d->njoint; i++)
    if (!good_scalar_joint(s, scene, d->joint[i].joint) ||
        !ab_check_finite(s, 1, &d->joint[i].coef, "coef"))
      return false;
  if (!ab_check_finite(s, 1, &d->margin, "margin") ||
      !ab_check_finite(s, 2, d->springlength, "springlength") ||
      !ab_check_not_negative(s, d->stiffness, "stiffness") ||
      !ab_check_not_negative(s, d->damping, "damping") ||
      !ab_check_not_negative(s, d->frictionloss, "frictionloss") ||
      !ab_check_not_negative(s, d->armature, "armature") ||
      !good_limits(s, d->limited, d->range, "range") ||
      !good_limits(s, d->force_limited, d->force_range, "actuatorfrcrange"))
    return false;
  if (d->limited && !(d->range[0] < d->range[1]))
    return AB_FAIL(s, "range[0] must be smaller than range[1]");
  if (d->springlength[1] != -1 && d->springlength[1] < d->springlength[0])
    return AB_FAIL(s, "springlength has its lower end first");
  return true;
}

int ab_scene_add_tendon(abScene* scene, const abTendonDef* def, abError* error) {
  if (!scene || !def) return ab_nothing_given(error);
  abTendonDef d = *def;
  abSubject s = {"tendon", d.name, d.source, error};
  if (!good_tendon(&s, scene, &d)) return -1;
  abTendonJoint* joint = ab_bag_take(&scene->bag, (size_t)d.njoint * sizeof *joint);
  if (!joint) return ab_scene_no_memory(error);
  memcpy(joint, d.joint, (size_t)d.njoint * sizeof *joint);
  d.joint = joint;
  if (!ab_claim_name(scene, &scene->tendon_name, &s, scene->tendon.n, &d.name)) return -1;
  if (!ab_keep_source(scene, &d.source)) return ab_scene_no_memory(error);
  int i = AB_APPEND(scene->tendon, &d);
  return i < 0 ? ab_scene_no_memory(error) : i;
}

// --- equalities ---

static bool good_ends(const abSubject* s, const abScene* scene, const abEqualityDef* d) {
  if (d->site1 >= 0 || d->site2 >= 0) {
    if (!ab_check_refers(s, d->site1, scene->site.n, "site") ||
        !ab_check_refers(s, d->site2, scene->site.n, "site"))
      return false;
    return scene->site.item[d->site1].body != scene->site.item[d->site2].body ||
           AB_FAIL(s, "both sites are on one body, which cannot be tied to itself");
  }
  if (!ab_check_refers(s, d->body1, scene->body.n, "body") ||
      !ab_check_refers(s, d->body2, scene->body.n, "body"))
    return false;
  return d->body1 != d->body2 || AB_FAIL(s, "a body cannot be tied to itself");
}

static bool good_equality(const abSubject* s, const abScene* scene, const abEqualityDef* d) {
  double x[4] = {d->anchor.x, d->anchor.y, d->anchor.z, d->torquescale};
  if (!ab_check_finite(s, 4, x, "one of anchor, torquescale") ||
      !ab_check_finite(s, 5, d->polycoef, "polycoef"))
    return false;
  switch (d->type) {
    case AB_EQUALITY_CONNECT:
    case AB_EQUALITY_WELD:
      return good_ends(s, scene, d) &&
             (!d->has_relpose || ab_check_pose(s, &d->relpose, "relpose"));
    case AB_EQUALITY_JOINT:
      if (d->joint1 == d->joint2) return AB_FAIL(s, "a joint cannot be coupled to itself");
      return good_scalar_joint(s, scene, d->joint1) &&
             (d->joint2 < 0 || good_scalar_joint(s, scene, d->joint2));
    case AB_EQUALITY_TENDON:
      if (d->tendon1 == d->tendon2) return AB_FAIL(s, "a tendon cannot be coupled to itself");
      return ab_check_refers(s, d->tendon1, scene->tendon.n, "tendon") &&
             (d->tendon2 < 0 || ab_check_refers(s, d->tendon2, scene->tendon.n, "tendon"));
  }
  return AB_FAIL(s, "unknown type of equality");
}

int ab_scene_add_equality(abScene* scene, const abEqualityDef* def, abError* error) {
  if (!scene || !def) return ab_nothing_given(error);
  abEqualityDef d = *def;
  abSubject s = {"equality", d.name, d.source, error};
  if (!good_equality(&s, scene, &d)) return -1;
  d.relpose.q = ab_orientation(d.relpose.q);
  if (!ab_claim_name(scene, &scene->equality_name, &s, scene->equality.n, &d.name)) return -1;
  if (!ab_keep_source(scene, &d.source)) return ab_scene_no_memory(error);
  int i = AB_APPEND(scene->equality, &d);
  return i < 0 ? ab_scene_no_memory(error) : i;
}

// --- actuators and keyframes ---

static bool good_drive(const abSubject* s, const abScene* scene, const abActuatorDef* d) {
  if (d->drive == AB_DRIVE_JOINT) return ab_check_refers(s, d->joint, scene->joint.n, "joint");
  if (d->drive == AB_DRIVE_TENDON) return ab_check_refers(s, d->tendon, scene->tendon.n, "tendon");
  if (d->drive != AB_DRIVE_SITE) return AB_FAIL(s, "unknown kind of drive");
  return ab_check_refers(s, d->site, scene->site.n, "site") &&
         (d->refsite < 0 || ab_check_refers(s, d->refsite, scene->site.n, "site"));
}

bool ab_check_actuator(const abScene* scene, const abActuatorDef* d, abError* error) {
  abSubject s = {"actuator", d->name, d->source, error};
  return good_drive(&s, scene, d) && ab_check_finite(&s, 6, d->gear, "gear") &&
         ab_check_finite(&s, 3, d->gainprm, "gainprm") &&
         ab_check_finite(&s, 3, d->biasprm, "biasprm") &&
         good_limits(&s, d->ctrl_limited, d->ctrl_range, "ctrlrange") &&
         good_limits(&s, d->force_limited, d->force_range, "forcerange");
}

int ab_scene_add_actuator(abScene* scene, const abActuatorDef* def, abError* error) {
  if (!scene || !def) return ab_nothing_given(error);
  abActuatorDef d = *def;
  abSubject s = {"actuator", d.name, d.source, error};
  if (!ab_check_actuator(scene, &d, error)) return -1;
  if (!ab_claim_name(scene, &scene->actuator_name, &s, scene->actuator.n, &d.name)) return -1;
  if (!ab_keep_source(scene, &d.source)) return ab_scene_no_memory(error);
  int i = AB_APPEND(scene->actuator, &d);
  return i < 0 ? ab_scene_no_memory(error) : i;
}

static bool copy_numbers(abScene* scene, const abSubject* s, int n, const double** x,
                         const char* what) {
  if (n <= 0 || !*x) {
    *x = NULL;
    return true;
  }
  if (!ab_check_finite(s, n, *x, what)) return false;
  double* copy = ab_bag_take(&scene->bag, (size_t)n * sizeof *copy);
  if (!copy) {
    ab_scene_no_memory(s->error);
    return false;
  }
  memcpy(copy, *x, (size_t)n * sizeof *copy);
  *x = copy;
  return true;
}

int ab_scene_add_key(abScene* scene, const abKeyDef* def, abError* error) {
  if (!scene || !def) return ab_nothing_given(error);
  abKeyDef d = *def;
  abSubject s = {"key", d.name, d.source, error};
  if (!ab_check_finite(&s, 1, &d.time, "time") || !copy_numbers(scene, &s, d.nq, &d.q, "qpos") ||
      !copy_numbers(scene, &s, d.nv, &d.v, "qvel") ||
      !copy_numbers(scene, &s, d.nctrl, &d.ctrl, "ctrl") ||
      !copy_numbers(scene, &s, d.nmpos, &d.mpos, "mpos") ||
      !copy_numbers(scene, &s, d.nmquat, &d.mquat, "mquat"))
    return -1;
  if (!ab_claim_name(scene, &scene->key_name, &s, scene->key.n, &d.name)) return -1;
  if (!ab_keep_source(scene, &d.source)) return ab_scene_no_memory(error);
  int i = AB_APPEND(scene->key, &d);
  return i < 0 ? ab_scene_no_memory(error) : i;
}

bool ab_check_pair(const abScene* scene, const abPairDef* d, abError* error) {
  abSubject s = {"pair", NULL, d->source, error};
  double gaps[2] = {d->margin, d->gap};
  if (!ab_check_refers(&s, d->geom1, scene->geom.n, "geom") ||
      !ab_check_refers(&s, d->geom2, scene->geom.n, "geom") ||
      !ab_check_finite(&s, 2, gaps, "margin or gap"))
    return false;
  if (d->geom1 == d->geom2) return AB_FAIL(&s, "a geom cannot be paired with itself");
  if (d->condim != 1 && d->condim != 3 && d->condim != 4 && d->condim != 6)
    return AB_FAIL(&s, "condim must be 1, 3, 4 or 6");
  for (int i = 0; i < 5; i++)
    if (!ab_check_not_negative(&s, d->friction[i], "friction")) return false;
  return true;
}

int ab_scene_add_pair(abScene* scene, const abPairDef* def, abError* error) {
  if (!scene || !def) return ab_nothing_given(error);
  abPairDef d = *def;
  if (!ab_check_pair(scene, &d, error)) return -1;
  if (!ab_keep_source(scene, &d.source)) return ab_scene_no_memory(error);
  int i = AB_APPEND(scene->pair, &d);
  return i < 0 ? ab_scene_no_memory(error) : i;
}

int ab_scene_add_exclude(abScene* scene, int body1, int body2, abError* error) {
  if (!scene) return ab_nothing_given(error);
  abSubject s = {"exclude", NULL, {0}, error};
  if (!ab_check_refers(&s, body1, scene->body.n, "body") ||
      !ab_check_refers(&s, body2, scene->body.n, "body"))
    return -1;
  abExcludeDef d = {body1, body2};
  int i = AB_APPEND(scene->exclude, &d);
  return i < 0 ? ab_scene_no_memory(error) : i;
}

abStatus ab_scene_set(abScene* scene, const char* name, double value, abError* error) {
  if (!scene || !name) return ab_nothing_given(error), AB_ERROR_ARGUMENT;
  if (!name || !*name) return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "a parameter has no name");
  if (!isfinite(value))
    return ab_fail(error, AB_ERROR_SCENE, NULL, 0, "parameter '%s' is not a finite number", name);
  for (int i = 0; i < scene->setting.n; i++)
    if (strcmp(scene->setting.item[i].name, name) == 0) {
      scene->setting.item[i].value = value;
      return AB_OK;
    }
  abSetting s = {ab_bag_copy_string(&scene->bag, name), value};
  if (!s.name || AB_APPEND(scene->setting, &s) < 0) {
    ab_scene_no_memory(error);
    return AB_ERROR_MEMORY;
  }
  return AB_OK;
}
