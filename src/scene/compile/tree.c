// The compiler's tree: bodies depth-first, joints and geoms by body, what is welded to what, which
// bodies move together.
// Tests: test_compile.
#include <string.h>

#include "base/error.h"
#include "math/rotation.h"
#include "scene/compile/compile.h"
#include "scene/order.h"

// --- order ---

static abStatus order_bodies(abCompiler* c) {
  int* scratch = ab_bag_take(&c->bag, 2 * (size_t)c->scene->body.n * sizeof(int));
  if (!scratch) return ab_compile_no_memory(c);
  ab_order_bodies(c->scene, c->body_from, c->body_to, scratch);
  return AB_OK;
}

static abStatus order_by_body(abCompiler* c, int n, const int* body_of, int* from, int* to) {
  int* first = ab_bag_take(&c->bag, (size_t)(c->model.nbody + 2) * sizeof(int));
  if (!first) return ab_compile_no_memory(c);
  ab_order_by_body(c->scene, c->body_to, n, body_of, first, from, to);
  return AB_OK;
}

abStatus ab_compile_order(abCompiler* c) {
  const abScene* s = c->scene;
  int nj = s->joint.n, ng = s->geom.n, ns = s->site.n;
  int* owner = ab_bag_take(&c->bag, (size_t)(nj + ng + ns + 1) * sizeof(int));
  if (!owner || order_bodies(c)) return ab_compile_no_memory(c);
  for (int i = 0; i < nj; i++) owner[i] = s->joint.item[i].body;
  for (int i = 0; i < ng; i++) owner[nj + i] = s->geom.item[i].body;
  for (int i = 0; i < ns; i++) owner[nj + ng + i] = s->site.item[i].body;
  if (order_by_body(c, nj, owner, c->joint_from, c->joint_to) ||
      order_by_body(c, ng, owner + nj, c->geom_from, c->geom_to))
    return AB_ERROR_MEMORY;
  return order_by_body(c, ns, owner + nj + ng, c->site_from, c->site_to);
}

// --- bodies, joints, geoms ---

static abStatus fail_joint(abCompiler* c, int joint, const char* text) {
  const abJointDef* d = &c->scene->joint.item[c->joint_from[joint]];
  return ab_fail(c->error, AB_ERROR_SCENE, d->source.file, d->source.line, "joint '%s': %s",
                 c->joint[joint].name, text);
}

static abStatus fill_joint(abCompiler* c, int i) {
  const abJointDef* d = &c->scene->joint.item[c->joint_from[i]];
  abJoint* j = &c->joint[i];
  abBody* b = &c->body[c->body_to[d->body]];
  j->name = ab_compile_name(c, d->name, "joint", i, &c->scene->joint_name);
  if (!j->name) return ab_compile_no_memory(c);
  j->type = d->type;
  j->body = c->body_to[d->body];
  j->q0 = c->model.nq;
  j->v0 = c->model.nv;
  c->model.nq += ab_coordinates_of(d->type);
  c->model.nv += ab_velocities_of(d->type);
  j->pos = d->pos, j->axis = d->axis;
  j->limited = d->limited;
  j->range[0] = d->range[0], j->range[1] = d->range[1];
  j->margin = d->margin;
  j->stiffness = d->stiffness, j->damping = d->damping;
  j->armature = d->armature, j->frictionloss = d->frictionloss;
  j->ref = d->ref, j->springref = d->springref;
  b->ndof += ab_velocities_of(d->type);
  b->njoint++;
  if (d->type == AB_JOINT_FREE && b->parent != 0)
    return fail_joint(c, i, "a free joint is only possible in a body directly below the world");
  if (d->type == AB_JOINT_FREE && b->njoint > 1)
    return fail_joint(c, i, "a free joint must be the only joint of its body");
  if (b->njoint > 1 && c->joint[i - 1].type == AB_JOINT_FREE)
    return fail_joint(c, i, "its body has a free joint already, which must be the only one");
  if (b->ndof > 6) return fail_joint(c, i, "its body has more than 6 degrees of freedom");
  return AB_OK;
}

abStatus ab_compile_bodies(abCompiler* c) {
  for (int i = 0; i < c->model.nbody; i++) {
    const abBodyDef* d = &c->scene->body.item[c->body_from[i]];
    abBody* b = &c->body[i];
    b->name = ab_compile_name(c, d->name, "body", i, &c->scene->body_name);
    if (!b->name) return ab_compile_no_memory(c);
    b->parent = c->body_to[d->parent];
    b->pose = i == 0 ? pose_identity() : d->pose;
    b->gravity = d->gravity;
    b->mover = -1;
    b->mocap = d->mocap ? c->model.nmocap++ : -1;
    c->pose[i] = i == 0 ? b->pose : pose_mul(c->pose[b->parent], b->pose);
  }
  for (int i = 0; i < c->model.njoint; i++) {
    abStatus status = ab_compile_go_on(c, fill_joint(c, i));
    if (status) return status;
  }
  for (int i = 0, joint = 0, dof = 0; i < c->model.nbody; i++) {
    abBody* b = &c->body[i];
    b->joint0 = joint, b->dof0 = dof;
    joint += b->njoint, dof += b->ndof;
    b->weld = b->njoint > 0 || b->mocap >= 0 ? i : i == 0 ? 0 : c->body[b->parent].weld;
  }
  return AB_OK;
}

abStatus ab_compile_geoms(abCompiler* c) {
  for (int i = 0; i < c->model.ngeom; i++) {
    const abGeomDef* d = &c->scene->geom.item[c->geom_from[i]];
    abGeom* g = &c->geom[i];
    g->name = ab_compile_name(c, d->name, "geom", i, &c->scene->geom_name);
    if (!g->name) return ab_compile_no_memory(c);
    g->body = c->body_to[d->body];
    g->pose = d->pose;
    g->contype = d->contype, g->conaffinity = d->conaffinity;
    g->condim = d->condim, g->priority = d->priority, g->group = d->group;
    memcpy(g->friction, d->friction, sizeof g->friction);
    g->mu_static = d->mu_static;
    g->e_t = d->e_t, g->e_o = d->e_o, g->e_r = d->e_r;
    g->restitution = d->restitution;
    g->margin = d->margin, g->gap = d->gap;
    memcpy(g->rgba, d->rgba, sizeof g->rgba);
    abBody* b = &c->body[g->body];
    if (b->ngeom++ == 0) b->geom0 = i;
    if (d->type == AB_SHAPE_PLANE && b->weld != 0)
      return ab_fail(c->error, AB_ERROR_SCENE, d->source.file, d->source.line,
                     "geom '%s': a plane cannot move; put it into the world or use a box", g->name);
  }
  for (int i = 0, geom = 0; i < c->model.nbody; i++) {
    if (c->body[i].ngeom == 0) c->body[i].geom0 = geom;
    geom = c->body[i].geom0 + c->body[i].ngeom;
  }
  for (int i = 0; i < c->model.nmesh; i++) {
    c->mesh[i].name =
        ab_compile_name(c, c->scene->mesh.item[i].name, "mesh", i, &c->scene->mesh_name);
    if (!c->mesh[i].name) return ab_compile_no_memory(c);
  }
  return AB_OK;
}

// A mover starts at each body that moves below one that does not; its subtree follows it.
abStatus ab_compile_movers(abCompiler* c) {
  abModel* m = &c->model;
  abMover* mover = ab_bag_take(&c->bag, (size_t)m->nbody * sizeof *mover);
  if (!mover) return ab_compile_no_memory(c);
  for (int i = 1; i < m->nbody; i++) {
    abBody* b = &c->body[i];
    if (b->weld == 0 || c->body[b->weld].mocap >= 0) continue;
    b->mover = c->body[b->parent].mover;
    if (b->mover < 0) {
      b->mover = m->nmover++;
      mover[b->mover] = (abMover){.body0 = i, .dof0 = b->dof0};
    }
    mover[b->mover].nbody++;
    mover[b->mover].ndof += b->ndof;
  }
  for (int i = 0; i < m->nmover; i++) {
    const abJoint* j = &c->joint[c->body[mover[i].body0].joint0];
    mover[i].jointed = mover[i].nbody > 1 || j->type != AB_JOINT_FREE || j->stiffness > 0 ||
                       j->damping > 0 || j->armature > 0 || j->frictionloss > 0;
  }
  m->mover = mover;
  return AB_OK;
}

abStatus ab_compile_dofs(abCompiler* c) {
  int nv = c->model.nv;
  int* joint = ab_bag_take(&c->bag, (size_t)nv * sizeof(int));
  double* damping = ab_bag_take(&c->bag, (size_t)nv * sizeof(double));
  double* armature = ab_bag_take(&c->bag, (size_t)nv * sizeof(double));
  if (!joint || !damping || !armature) return ab_compile_no_memory(c);
  for (int i = 0; i < c->model.njoint; i++) {
    const abJoint* j = &c->joint[i];
    for (int k = j->v0; k < j->v0 + ab_velocities_of(j->type); k++) {
      joint[k] = i;
      damping[k] = j->damping;
      armature[k] = j->armature;
    }
  }
  c->model.dof_joint = joint;
  c->model.dof_damping = damping;
  c->model.dof_armature = armature;
  return AB_OK;
}

// --- contact rules, settings ---

abStatus ab_compile_rules(abCompiler* c) {
  const abScene* s = c->scene;
  abExclude* exclude = ab_bag_take(&c->bag, (size_t)s->exclude.n * sizeof *exclude);
  abPairRule* rule = ab_bag_take(&c->bag, (size_t)s->pair.n * sizeof *rule);
  if (!exclude || !rule) return ab_compile_no_memory(c);
  for (int i = 0; i < s->exclude.n; i++) {
    int a = c->body_to[s->exclude.item[i].body1], b = c->body_to[s->exclude.item[i].body2];
    exclude[i] = (abExclude){a < b ? a : b, a < b ? b : a};
  }
  for (int i = 0; i < s->pair.n; i++) {
    const abPairDef* d = &s->pair.item[i];
    int a = c->geom_to[d->geom1], b = c->geom_to[d->geom2];
    rule[i] = (abPairRule){.geom1 = a < b ? a : b, .geom2 = a < b ? b : a, .condim = d->condim};
    memcpy(rule[i].friction, d->friction, sizeof d->friction);
    rule[i].margin = d->margin, rule[i].gap = d->gap;
    c->paired[a] = c->paired[b] = true;
  }
  for (int i = 0; i < c->model.ngeom; i++) {
    abGeom* g = &c->geom[i];
    g->collides = g->contype || g->conaffinity || c->paired[i];
  }
  c->model.nexclude = s->exclude.n, c->model.exclude = exclude;
  c->model.npair_rule = s->pair.n, c->model.pair_rule = rule;
  c->model.nsetting = s->setting.n, c->model.setting = s->setting.item;
  return AB_OK;
}
