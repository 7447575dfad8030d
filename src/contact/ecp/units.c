// Into step units and back.
// Tests: test_ecp_bodies.
#include "contact/ecp/island.h"

double ab_ecp_shape_radius(const abShape* s) {
  switch (s->type) {
    case AB_SHAPE_PLANE:
      return INFINITY;
    case AB_SHAPE_BOX:
      return v3_norm(s->size);
    case AB_SHAPE_SPHERE:
      return s->size.x;
    case AB_SHAPE_CAPSULE:
      return s->size.x + s->size.y;
    case AB_SHAPE_CYLINDER:
      return sqrt(s->size.x * s->size.x + s->size.y * s->size.y);
    case AB_SHAPE_ELLIPSOID:
      return fmax(s->size.x, fmax(s->size.y, s->size.z));
    default:
      return s->poly->radius;
  }
}

void ab_ecp_units(abEcpIsland* island, int first_body, double radius) {
  const abContactProblem* p = island->problem;
  island->origin = p->body[first_body].com;
  island->mass = p->response->mass[first_body];
  island->length = radius;
  island->ground = (abEcpBody){.moving = false, .index = 0, .slot = -1};
  island->ground.R = island->ground.R0 = m3_identity();
}

void ab_ecp_load_body(const abEcpIsland* island, int index, abEcpBody* b) {
  const abContactProblem* p = island->problem;
  const abContactBody* c = &p->body[index];
  double h = p->h, speed = h / island->length, mass = island->mass;
  double force = h * h / (mass * island->length), torque = force / island->length;
  *b = (abEcpBody){.moving = true, .index = index};
  b->m = p->response->mass[index] / mass;
  b->I = m3_scale(1 / (mass * island->length * island->length), &p->response->inertia[index]);
  b->inertia_scale = (b->I.m[0][0] + b->I.m[1][1] + b->I.m[2][2]) / 3;
  b->x = b->x0 = v3_scale(1 / island->length, v3_sub(c->com, island->origin));
  b->v = b->v0 = v3_scale(speed, c->twist.lin);
  b->w = b->w0 = v3_scale(h, c->twist.ang);
  b->R = b->R0 = quat_matrix(c->q);
  b->f = v3_scale(force, c->load.force);
  b->tau = v3_scale(torque, c->load.torque);
}

static abEcpBody* find_body(abEcpIsland* island, int index) {
  for (int i = 0; i < island->nbody; i++)
    if (island->body[i].index == index) return &island->body[i];
  return &island->ground;
}

static void load_shape(const abEcpIsland* island, const abEcpTouch* touch, int side,
                       const abEcpBody* b, abEcpShape* out) {
  const abContactProblem* p = island->problem;
  const abPair* pair = &p->pair[touch->pair];
  int index = side == 0 ? pair->body1 : pair->body2;
  abPose pose = side == 0 ? pair->pose1 : pair->pose2;
  out->shape = side == 0 ? pair->shape1 : pair->shape2;
  out->scale = 1 / island->length;
  out->hull = touch->hull[side] != NULL;
  if (out->hull) {
    const abContactBody* c = &p->body[index];
    out->shape = touch->hull[side];
    pose = (abPose){v3_sub(c->com, quat_rotate(c->q, c->com_local)), c->q};
  }
  out->radius = ab_ecp_shape_radius(out->shape) * out->scale;
  abVec3 x = v3_scale(out->scale, v3_sub(pose.p, island->origin));
  abMat3 R = quat_matrix(pose.q), Rt = m3_transpose(&b->R0);
  out->off = m3_apply(&Rt, v3_sub(x, b->x0));
  out->turn = m3_mul(&Rt, &R);
  if (out->hull) {  // known without going through the world
    out->off = v3_scale(-out->scale, p->body[index].com_local);
    out->turn = m3_identity();
  }
}

void ab_ecp_load_contact(abEcpIsland* island, const abEcpTouch* touch, abEcpContact* c) {
  const abPair* pair = &island->problem->pair[touch->pair];
  *c = (abEcpContact){.pair = touch->pair, .mean_lever = island->system.exact_momentum};
  c->body[0] = find_body(island, pair->body1);
  c->body[1] = find_body(island, pair->body2);
  for (int i = 0; i < 2; i++) load_shape(island, touch, i, c->body[i], &c->shape[i]);
  const abSurface* s = &pair->surface;
  bool frictionless = s->condim == 1;
  c->mu_kinetic = frictionless ? 0 : s->mu_kinetic;
  c->mu_static = frictionless ? 0 : fmax(s->mu_static, s->mu_kinetic);
  c->e_t = s->e_t, c->e_o = s->e_o;
  c->e_r = s->e_r < 0 ? -1 : s->e_r / island->length;
}

static double impulse_unit(const abEcpIsland* island) {
  return island->mass * island->length / island->problem->h;
}

bool ab_ecp_recall(const abEcpIsland* island, abEcpContact* c, abEcpMode* mode) {
  const abPair* pair = &island->problem->pair[c->pair];
  const abEcpMemory* m = pair->memory;
  if (pair->fresh || !m || !m->active) return false;
  for (int i = 0; i < 2; i++)
    if (m->mode.index[i] < 0 ||
        m->mode.index[i] >= ab_ecp_feature_count(&c->shape[i], (abEcpKind)m->mode.kind[i]))
      return false;  // other shapes than last time
  *mode = m->mode;
  if (!ab_ecp_set_mode(c, *mode)) return false;
  for (int i = 0; i < 2; i++) c->par[i] = m->par[i] / island->length;
  // an azimuth is no length
  bool rim0 = mode->kind[0] == AB_ECP_RIM, rim1 = mode->kind[1] == AB_ECP_RIM;
  if (rim0 || (rim1 && c->npar == 1)) c->par[0] = m->par[0];
  if (rim1 && c->npar == 2) c->par[1] = m->par[1];
  if (c->rounded) {
    c->round_n = m->normal, c->charted = false;
    if (rim0 || rim1) c->par[0] = m->par[0];
  }
  if (c->cornered) c->par[0] = m->par[0];
  if (!ab_ecp_orient(c)) return false;
  double unit = impulse_unit(island);
  abVec3 f = v3_scale(1 / unit, m->friction), n, t, o;
  if (c->ref >= 0) {
    n = m3_apply(&c->body[c->ref]->R0, c->feature[c->ref].n);
    if (c->ref == 0) n = v3_neg(n);
    t = m3_apply(&c->body[c->ref]->R0, c->t_ref);
    o = v3_cross(n, t);
  } else {
    abEcpKinematics k;
    ab_ecp_kinematics(c, &k);
    t = k.t, o = k.o;
  }
  c->pn = m->pn / unit;
  c->s[0] = c->e[0] > 0 ? v3_dot(f, t) / c->e[0] : 0;
  c->s[1] = c->e[1] > 0 ? v3_dot(f, o) / c->e[1] : 0;
  c->s[2] = c->e[2] > 0 ? m->pr / (unit * island->length) / c->e[2] : 0;
  return true;
}

static void remember(const abEcpIsland* island, const abEcpContact* c, abVec3 friction) {
  abEcpMemory* m = island->problem->pair[c->pair].memory;
  if (!m) return;
  *m = (abEcpMemory){.active = c->active};
  if (!c->active) return;
  double unit = impulse_unit(island);
  m->mode = c->mode;
  m->pn = c->pn * unit;
  m->pr = c->e[2] * c->s[2] * unit * island->length;
  m->friction = friction;
  for (int i = 0; i < 2; i++) m->par[i] = c->par[i] * island->length;
  bool rim0 = c->mode.kind[0] == AB_ECP_RIM, rim1 = c->mode.kind[1] == AB_ECP_RIM;
  if (rim0 || (rim1 && c->npar == 1) || c->cornered) m->par[0] = c->par[0];
  if (rim1 && c->npar == 2) m->par[1] = c->par[1];
  if (c->rounded) {
    m->normal = ab_ecp_round_memory(c);
    if (rim0 || rim1) m->par[0] = c->par[0];
  }
}

void ab_ecp_store(const abEcpIsland* island, const abEcpContact* c, abContactSolution* out) {
  if (!c->active) {
    remember(island, c, v3_zero());
    return;
  }
  double L = island->length, unit = impulse_unit(island), speed = L / island->problem->h;
  abEcpKinematics k;
  ab_ecp_kinematics(c, &k);
  abPairSolution* s = &out->pair[c->pair];
  abVec3 P = v3_scale(unit, ab_ecp_impulse(c, &k));
  abVec3 N = v3_scale(unit * c->pn, k.n);
  abEcpLevers lever;
  ab_ecp_levers(c, &k, 0, NULL, &lever);
  s->point = v3_axpy(L, ab_ecp_point(c, &k), island->origin);
  s->impulse = (abWrench){P, v3_scale(unit * L * c->e[2] * c->s[2], k.n)};
  s->normal_part = (abWrench){N, v3_zero()};
  s->mode = c->stick ? AB_CONTACT_STICK : AB_CONTACT_SLIP;
  s->kind = ab_ecp_patch_kind(c);
  s->normal = k.n;
  s->nfacet = ab_ecp_facet_count(c);
  double rbar;
  ab_ecp_patch(c, &rbar, &s->area);
  s->area *= L * L;
  s->depth = fmax(0, L * ab_ecp_overlap(c, &k));
  const abEcpBody *b0 = c->body[0], *b1 = c->body[1];
  abVec3 u = ab_ecp_slip(c, &lever), t, o;
  v3_tangents(k.n, &t, &o);
  s->slip[0] = speed * v3_dot(t, u);
  s->slip[1] = speed * v3_dot(o, u);
  s->slip[2] = v3_dot(k.n, v3_sub(b0->w, b1->w)) / island->problem->h;
  remember(island, c, v3_sub(P, N));
}
