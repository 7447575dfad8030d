// The compiler's laws between bodies and coordinates: sites, tendons, equalities, actuators, and
// what is moved from outside.
// Tests: test_laws.
#include <string.h>

#include "base/error.h"
#include "math/rotation.h"
#include "scene/compile/compile.h"

abStatus ab_compile_sites(abCompiler* c) {
  const abScene* s = c->scene;
  abSite* site = ab_bag_take(&c->bag, (size_t)s->site.n * sizeof *site);
  if (!site) return ab_compile_no_memory(c);
  for (int i = 0; i < s->site.n; i++) {
    const abSiteDef* d = &s->site.item[c->site_from[i]];
    site[i].name = ab_compile_name(c, d->name, "site", i, &s->site_name);
    if (!site[i].name) return ab_compile_no_memory(c);
    site[i].body = c->body_to[d->body];
    site[i].pose = d->pose;
  }
  c->model.nsite = s->site.n, c->model.site = site;
  return AB_OK;
}

abStatus ab_compile_mocap(abCompiler* c) {
  int* body = ab_bag_take(&c->bag, (size_t)c->model.nbody * sizeof *body);
  if (!body) return ab_compile_no_memory(c);
  for (int i = 0; i < c->model.nbody; i++)
    if (c->body[i].mocap >= 0) body[c->body[i].mocap] = i;
  c->model.mocap_body = body;
  return AB_OK;
}

// --- tendons ---

// A spring length that is not given is the length where the springs of the joints are relaxed.
static void place_tendon_spring(const abCompiler* c, const abTendonDef* d, abTendon* t) {
  double relaxed = 0;
  for (int k = 0; k < d->njoint; k++)
    relaxed += d->joint[k].coef * c->joint[c->joint_to[d->joint[k].joint]].springref;
  t->springlength[0] = d->springlength[0];
  t->springlength[1] = d->springlength[1] == -1 ? d->springlength[0] : d->springlength[1];
  if (d->springlength[0] == -1 && d->springlength[1] == -1)
    t->springlength[0] = t->springlength[1] = relaxed;
}

abStatus ab_compile_tendons(abCompiler* c) {
  const abScene* s = c->scene;
  int nentry = 0, at = 0;
  for (int i = 0; i < s->tendon.n; i++) nentry += s->tendon.item[i].njoint;
  abTendon* tendon = ab_bag_take(&c->bag, (size_t)s->tendon.n * sizeof *tendon);
  abTendonJoint* entry = ab_bag_take(&c->bag, (size_t)nentry * sizeof *entry);
  if (!tendon || !entry) return ab_compile_no_memory(c);
  for (int i = 0; i < s->tendon.n; i++) {
    const abTendonDef* d = &s->tendon.item[i];
    abTendon* t = &tendon[i];
    t->name = ab_compile_name(c, d->name, "tendon", i, &s->tendon_name);
    if (!t->name) return ab_compile_no_memory(c);
    t->joint0 = at, t->njoint = d->njoint;
    for (int k = 0; k < d->njoint; k++, at++) {
      entry[at] = (abTendonJoint){c->joint_to[d->joint[k].joint], d->joint[k].coef};
      t->length0 += d->joint[k].coef * c->joint[entry[at].joint].ref;
    }
    t->limited = d->limited, t->margin = d->margin;
    memcpy(t->range, d->range, sizeof t->range);
    t->stiffness = d->stiffness, t->damping = d->damping;
    t->frictionloss = d->frictionloss, t->armature = d->armature;
    t->force_limited = d->force_limited;
    memcpy(t->force_range, d->force_range, sizeof t->force_range);
    place_tendon_spring(c, d, t);
  }
  c->model.ntendon = s->tendon.n, c->model.tendon = tendon;
  c->model.ntendon_joint = nentry, c->model.tendon_joint = entry;
  return AB_OK;
}

// --- equalities ---

// The frames that shall agree. By sites: theirs. Connect: the anchor in body 1, and the same point
// of body 2 in the initial pose. Weld: the anchor with body 2's axes, and the place it shall have
// in body 1, given or that of the initial pose.
static void place_frames(const abCompiler* c, const abEqualityDef* d, abEquality* e) {
  e->frame1 = e->frame2 = pose_identity();
  if (d->site1 >= 0) {
    const abSite* a = &c->model.site[c->site_to[d->site1]];
    const abSite* b = &c->model.site[c->site_to[d->site2]];
    e->body1 = a->body, e->body2 = b->body;
    e->frame1 = a->pose, e->frame2 = b->pose;
    return;
  }
  e->body1 = c->body_to[d->body1], e->body2 = c->body_to[d->body2];
  abPose one = c->pose[e->body1], two = c->pose[e->body2];
  if (d->type == AB_EQUALITY_CONNECT) {
    e->frame1.p = d->anchor;
    e->frame2.p = pose_apply_inverse(two, pose_apply(one, d->anchor));
    return;
  }
  e->frame2.p = d->anchor;
  e->frame1 = d->has_relpose ? d->relpose : pose_mul(pose_inverse(one), pose_mul(two, e->frame2));
}

abStatus ab_compile_equalities(abCompiler* c) {
  const abScene* s = c->scene;
  abEquality* equality = ab_bag_take(&c->bag, (size_t)s->equality.n * sizeof *equality);
  if (!equality) return ab_compile_no_memory(c);
  for (int i = 0; i < s->equality.n; i++) {
    const abEqualityDef* d = &s->equality.item[i];
    abEquality* e = &equality[i];
    *e = (abEquality){.type = d->type,
                      .active = d->active,
                      .body1 = -1,
                      .body2 = -1,
                      .frame1 = pose_identity(),
                      .frame2 = pose_identity(),
                      .torquescale = d->torquescale,
                      .joint1 = -1,
                      .joint2 = -1,
                      .tendon1 = -1,
                      .tendon2 = -1,
                      .line = d->source.line};
    e->name = ab_compile_name(c, d->name, "equality", i, &s->equality_name);
    if (!e->name) return ab_compile_no_memory(c);
    memcpy(e->polycoef, d->polycoef, sizeof e->polycoef);
    if (d->type == AB_EQUALITY_JOINT) {
      e->joint1 = c->joint_to[d->joint1];
      if (d->joint2 >= 0) e->joint2 = c->joint_to[d->joint2];
    } else if (d->type == AB_EQUALITY_TENDON) {
      e->tendon1 = d->tendon1, e->tendon2 = d->tendon2;
    } else {
      place_frames(c, d, e);
    }
  }
  c->model.nequality = s->equality.n, c->model.equality = equality;
  return AB_OK;
}

// --- actuators ---

abStatus ab_compile_actuators(abCompiler* c) {
  const abScene* s = c->scene;
  abActuator* actuator = ab_bag_take(&c->bag, (size_t)s->actuator.n * sizeof *actuator);
  if (!actuator) return ab_compile_no_memory(c);
  for (int i = 0; i < s->actuator.n; i++) {
    const abActuatorDef* d = &s->actuator.item[i];
    abActuator* a = &actuator[i];
    a->name = ab_compile_name(c, d->name, "actuator", i, &s->actuator_name);
    if (!a->name) return ab_compile_no_memory(c);
    a->drive = d->drive;
    a->joint = a->tendon = a->site = a->refsite = -1;
    if (d->drive == AB_DRIVE_JOINT) a->joint = c->joint_to[d->joint];
    if (d->drive == AB_DRIVE_TENDON) a->tendon = d->tendon;
    if (d->drive == AB_DRIVE_SITE) {
      a->site = c->site_to[d->site];
      if (d->refsite >= 0) a->refsite = c->site_to[d->refsite];
    }
    memcpy(a->gear, d->gear, sizeof a->gear);
    a->gain = d->gain, a->bias = d->bias;
    memcpy(a->gainprm, d->gainprm, sizeof a->gainprm);
    memcpy(a->biasprm, d->biasprm, sizeof a->biasprm);
    a->ctrl_limited = d->ctrl_limited, a->force_limited = d->force_limited;
    memcpy(a->ctrl_range, d->ctrl_range, sizeof a->ctrl_range);
    memcpy(a->force_range, d->force_range, sizeof a->force_range);
  }
  c->model.nactuator = s->actuator.n, c->model.actuator = actuator;
  return ab_compile_damping_ratios(c, actuator);
}
