// The sections of a saved scene that refer to its bodies: contact, tendons, equalities, actuators,
// keyframes.
// Tests: test_mujoco_model.
#include <string.h>

#include "scene/save/write.h"

static void save_contact(abWriter* w) {
  const abScene* s = w->s;
  fputs("  <contact>\n", w->f);
  for (int i = 0; i < s->exclude.n; i++) {
    fputs("    <exclude", w->f);
    ab_write_word(w, "body1", ab_write_body_name(w, s->exclude.item[i].body1));
    ab_write_word(w, "body2", ab_write_body_name(w, s->exclude.item[i].body2));
    fputs("/>\n", w->f);
  }
  for (int i = 0; i < s->pair.n; i++) {
    const abPairDef* p = &s->pair.item[i];
    fputs("    <pair", w->f);
    ab_write_word(w, "geom1", ab_write_geom_name(w, p->geom1));
    ab_write_word(w, "geom2", ab_write_geom_name(w, p->geom2));
    ab_write_one(w, "condim", p->condim);
    ab_write_numbers(w, "friction", 5, p->friction);
    ab_write_one_unless(w, "margin", p->margin, 0);
    ab_write_one_unless(w, "gap", p->gap, 0);
    fputs("/>\n", w->f);
  }
  fputs("  </contact>\n", w->f);
}

static void save_actuators(abWriter* w) {
  const abScene* s = w->s;
  fputs("  <actuator>\n", w->f);
  for (int i = 0; i < s->actuator.n; i++) {
    const abActuatorDef* a = &s->actuator.item[i];
    fputs("    <general", w->f);
    ab_write_word(w, "name", a->name);
    if (a->drive == AB_DRIVE_JOINT) ab_write_word(w, "joint", ab_write_joint_name(w, a->joint));
    if (a->drive == AB_DRIVE_TENDON) ab_write_word(w, "tendon", ab_write_tendon_name(w, a->tendon));
    if (a->drive == AB_DRIVE_SITE) ab_write_word(w, "site", ab_write_site_name(w, a->site));
    if (a->refsite >= 0) ab_write_word(w, "refsite", ab_write_site_name(w, a->refsite));
    ab_write_numbers(w, "gear", 6, a->gear);
    ab_write_word(w, "gaintype", a->gain == AB_GAIN_AFFINE ? "affine" : "fixed");
    ab_write_numbers(w, "gainprm", 3, a->gainprm);
    ab_write_word(w, "biastype", a->bias == AB_BIAS_AFFINE ? "affine" : "none");
    ab_write_numbers(w, "biasprm", 3, a->biasprm);
    ab_write_word(w, "ctrllimited", a->ctrl_limited ? "true" : "false");
    if (a->ctrl_limited) ab_write_numbers(w, "ctrlrange", 2, a->ctrl_range);
    ab_write_word(w, "forcelimited", a->force_limited ? "true" : "false");
    if (a->force_limited) ab_write_numbers(w, "forcerange", 2, a->force_range);
    fputs("/>\n", w->f);
  }
  fputs("  </actuator>\n", w->f);
}

static void save_keys(abWriter* w) {
  const abScene* s = w->s;
  fputs("  <keyframe>\n", w->f);
  for (int i = 0; i < s->key.n; i++) {
    const abKeyDef* k = &s->key.item[i];
    fputs("    <key", w->f);
    ab_write_word(w, "name", k->name);
    ab_write_one(w, "time", k->time);
    if (k->q) ab_write_numbers(w, "qpos", k->nq, k->q);
    if (k->v) ab_write_numbers(w, "qvel", k->nv, k->v);
    if (k->ctrl) ab_write_numbers(w, "ctrl", k->nctrl, k->ctrl);
    if (k->mpos) ab_write_numbers(w, "mpos", k->nmpos, k->mpos);
    if (k->mquat) ab_write_numbers(w, "mquat", k->nmquat, k->mquat);
    fputs("/>\n", w->f);
  }
  fputs("  </keyframe>\n", w->f);
}

static void save_tendon(abWriter* w, int i) {
  const abTendonDef* t = &w->s->tendon.item[i];
  fputs("    <fixed", w->f);
  ab_write_word(w, "name", ab_write_tendon_name(w, i));
  ab_write_word(w, "limited", t->limited ? "true" : "false");
  if (t->range[0] != 0 || t->range[1] != 0) ab_write_numbers(w, "range", 2, t->range);
  ab_write_one_unless(w, "margin", t->margin, 0);
  ab_write_one_unless(w, "stiffness", t->stiffness, 0);
  ab_write_one_unless(w, "damping", t->damping, 0);
  ab_write_one_unless(w, "frictionloss", t->frictionloss, 0);
  ab_write_one_unless(w, "armature", t->armature, 0);
  const double* spring = t->springlength;
  if (spring[0] != -1 || spring[1] != -1)
    ab_write_numbers(w, "springlength", spring[1] == -1 || spring[1] == spring[0] ? 1 : 2, spring);
  if (t->force_limited) ab_write_numbers(w, "actuatorfrcrange", 2, t->force_range);
  fputs(">\n", w->f);
  for (int k = 0; k < t->njoint; k++) {
    fputs("      <joint", w->f);
    ab_write_word(w, "joint", ab_write_joint_name(w, t->joint[k].joint));
    ab_write_one(w, "coef", t->joint[k].coef);
    fputs("/>\n", w->f);
  }
  fputs("    </fixed>\n", w->f);
}

static void save_tendons(abWriter* w) {
  if (w->s->tendon.n) fputs("  <tendon>\n", w->f);
  for (int i = 0; i < w->s->tendon.n; i++) save_tendon(w, i);
  if (w->s->tendon.n) fputs("  </tendon>\n", w->f);
}

// Two bodies with an anchor, or two sites.
static void save_tie(abWriter* w, const abEqualityDef* e) {
  bool weld = e->type == AB_EQUALITY_WELD;
  if (e->site1 >= 0) {
    ab_write_word(w, "site1", ab_write_site_name(w, e->site1));
    ab_write_word(w, "site2", ab_write_site_name(w, e->site2));
  } else {
    ab_write_word(w, "body1", ab_write_body_name(w, e->body1));
    if (e->body2) ab_write_word(w, "body2", ab_write_body_name(w, e->body2));
    ab_write_vector(w, "anchor", e->anchor);
  }
  abPose p = e->relpose;
  if (weld && e->has_relpose)
    ab_write_numbers(w, "relpose", 7, (double[7]){p.p.x, p.p.y, p.p.z, p.q.w, p.q.x, p.q.y, p.q.z});
  if (weld) ab_write_one_unless(w, "torquescale", e->torquescale, 1);
}

static void save_equality(abWriter* w, const abEqualityDef* e) {
  static const char* const name[] = {"connect", "weld", "joint", "tendon"};
  fprintf(w->f, "    <%s", name[e->type]);
  ab_write_word(w, "name", e->name);
  ab_write_word(w, "active", e->active ? "true" : "false");
  if (e->type == AB_EQUALITY_JOINT) {
    ab_write_word(w, "joint1", ab_write_joint_name(w, e->joint1));
    if (e->joint2 >= 0) ab_write_word(w, "joint2", ab_write_joint_name(w, e->joint2));
  } else if (e->type == AB_EQUALITY_TENDON) {
    ab_write_word(w, "tendon1", ab_write_tendon_name(w, e->tendon1));
    if (e->tendon2 >= 0) ab_write_word(w, "tendon2", ab_write_tendon_name(w, e->tendon2));
  } else {
    save_tie(w, e);
    fputs("/>\n", w->f);
    return;
  }
  ab_write_numbers(w, "polycoef", 5, e->polycoef);
  fputs("/>\n", w->f);
}

static void save_equalities(abWriter* w) {
  if (w->s->equality.n) fputs("  <equality>\n", w->f);
  for (int i = 0; i < w->s->equality.n; i++) save_equality(w, &w->s->equality.item[i]);
  if (w->s->equality.n) fputs("  </equality>\n", w->f);
}

void ab_save_laws(abWriter* w) {
  save_contact(w);
  save_tendons(w);
  save_equalities(w);
  save_actuators(w);
  save_keys(w);
}
