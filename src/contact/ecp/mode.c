// A contact mode: which feature of each body touches, and the geometry this means.
//
// Planar modes. One body (`ref`) contributes a plane with outward normal N through c_r; the other
// (`f`) a feature. Unknown parameters locate the equivalent contact point a on the feature:
//     point    a = c - rad N                          gap = 0
//     segment  a = c + s u - rad N                    gap = 0, N.u = 0
//     face     a = c + s1 u + s2 v                    gap = 0, N.u = 0, N.v = 0
//     rim      a = c + rad (cos(phi) u + sin(phi) v)  gap = 0, N.(da/dphi) = 0
//     round    a = support point towards -N           gap = 0
// with gap = N.(c - c_r) - rad (of the point a where there is no rounding). Each has one equation
// more than parameters: the one that p_n answers. A cylinder's line and a capsule's side are
// segments with a radius, so that "the axis is parallel to the plane and at height r" needs no case
// of its own. For a rim the azimuth is an unknown: 1 - (u.N)^2 would lose the solution near
// upright.
// Modes without a plane are in curve.c.
//
// All variations are written in the displacement dx and turn dtheta of the two end poses; the frame
// (t, o, n) turns by psi: here with the reference body.
// Tests: test_ecp_kinematics.
#include "contact/ecp/columns.h"

abEcpMode ab_ecp_mode(abEcpKind kind1, int index1, abEcpKind kind2, int index2) {
  return (abEcpMode){{(int)kind1, (int)kind2}, {index1, index2}};
}

bool ab_ecp_mode_equal(abEcpMode a, abEcpMode b) {
  return a.kind[0] == b.kind[0] && a.kind[1] == b.kind[1] && a.index[0] == b.index[0] &&
         a.index[1] == b.index[1];
}

static bool set_planar(abEcpContact* c) {
  static const int count[] = {0, 0, 1, 2, 1, 0};  // parameters by kind
  c->npar = count[c->feature[1 - c->ref].kind];
  abEcpFeature* plane = &c->feature[c->ref];
  const abEcpBody* b = c->body[c->ref];
  abVec3 n = m3_apply(&b->R0, plane->n), t, o;
  v3_tangents(c->ref == 1 ? n : v3_neg(n), &t, &o);
  c->t_ref = m3_apply_t(&b->R0, t);
  return true;
}

bool ab_ecp_set_mode(abEcpContact* c, abEcpMode mode) {
  if (!ab_ecp_mode_equal(c->mode, mode)) c->charted = false;
  c->mode = mode;
  c->alongside = c->rounded = c->cornered = false;
  for (int i = 0; i < 2; i++)
    c->feature[i] = ab_ecp_feature(&c->shape[i], (abEcpKind)mode.kind[i], mode.index[i]);
  c->ref = mode.kind[1] == AB_ECP_FACE ? 1 : mode.kind[0] == AB_ECP_FACE ? 0 : -1;
  if (!(c->ref >= 0 ? set_planar(c) : ab_ecp_set_curved(c))) return false;
  c->neq = c->npar + 1;
  // From the patch of the first mode looked at in a step, the last step's or else the best guess,
  // and then held: if each mode had its own e_r, friction would jump between neighbouring modes and
  // there are steps that no mode would solve.
  double area;
  if (c->e_r < 0) ab_ecp_patch(c, &c->e_r, &area);
  c->e[0] = c->e_t, c->e[1] = c->e_o, c->e[2] = c->e_r;
  c->mu = c->mu_kinetic;
  return true;
}

typedef struct Planar {
  const abEcpFeature* f;
  const abEcpBody *bf, *br;
  int cf, cr;  // first columns of the two bodies
  abVec3 N, origin;
} Planar;

// Height of the point p, fixed in body f, over the plane, and its variation.
static double height(const Planar* q, abVec3 p, double* row) {
  set_row(row, q->cf, q->N);
  set_row(row, q->cf + 3, v3_cross(v3_sub(p, q->bf->x), q->N));
  if (q->br->moving) {
    set_row(row, q->cr, v3_neg(q->N));
    set_row(row, q->cr + 3, v3_cross(q->N, v3_sub(p, q->br->x)));
  }
  return v3_dot(q->N, v3_sub(p, q->origin));
}

// N.d for a direction d fixed in body f.
static double tilt(const Planar* q, abVec3 d, double* row) {
  abVec3 m = v3_cross(d, q->N);
  set_row(row, q->cf + 3, m);
  if (q->br->moving) set_row(row, q->cr + 3, v3_neg(m));
  return v3_dot(q->N, d);
}

static void attach(const Planar* q, abEcpKinematics* k, abVec3 p) {
  add_identity(k->Ja, q->cf, 1);
  add_turn(k->Ja, q->cf + 3, v3_sub(p, q->bf->x), 1);
}

static void round_kinematics(const Planar* q, abEcpKinematics* k) {
  const abEcpShape* s = q->f->shape;
  abVec3 A = v3_scale(s->scale, s->shape->size);
  abMat3 B = m3_mul(&q->bf->R, &s->turn);
  abVec3 N = m3_apply_t(&B, q->N), AN = v3_mul(A, N);
  double norm = v3_norm(AN);
  abVec3 A2N = v3_mul(A, AN);
  abVec3 local = v3_scale(-1 / norm, A2N);
  k->a = v3_add(q->bf->x, v3_add(m3_apply(&q->bf->R, s->off), m3_apply(&B, local)));
  k->g[0] = height(q, k->a, k->Jg[0]);
  attach(q, k, k->a);
  // da/dN at rest in the body, turned into the world; N moves by (dtheta_r - dtheta_f) x N
  abMat3 S;
  double a2[3] = {A.x * A.x, A.y * A.y, A.z * A.z}, w[3] = {A2N.x, A2N.y, A2N.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      S.m[i][j] = (w[i] * w[j] / (norm * norm) - (i == j ? a2[i] : 0)) / norm;
  abMat3 Bt = m3_transpose(&B), BS = m3_mul(&B, &S), W = m3_mul(&BS, &Bt);
  abMat3 X = m3_skew(q->N), D = m3_mul(&W, &X);  // d theta x N = -[N] dtheta
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      k->Ja[i][q->cf + 3 + j] += D.m[i][j];
      k->Ja[i][q->cr + 3 + j] -= D.m[i][j];
    }
}

static void rim_kinematics(const Planar* q, double phi, abVec3 c, abEcpKinematics* k) {
  const abEcpFeature* f = q->f;
  double co = cos(phi), si = sin(phi);
  abVec3 u = m3_apply(&q->bf->R, f->u), v = m3_apply(&q->bf->R, f->v);
  abVec3 radial = v3_add(v3_scale(co, u), v3_scale(si, v));
  abVec3 along = v3_sub(v3_scale(co, v), v3_scale(si, u));
  k->a = v3_axpy(f->rad, radial, c);
  k->g[0] = height(q, k->a, k->Jg[0]);
  k->Jg[0][AB_ECP_PAR] = f->rad * v3_dot(q->N, along);
  k->g[1] = tilt(q, along, k->Jg[1]);
  k->Jg[1][AB_ECP_PAR] = -v3_dot(q->N, radial);
  attach(q, k, k->a);
  set_column(k->Ja, AB_ECP_PAR, v3_scale(f->rad, along));
}

static void planar_kinematics(const abEcpContact* c, abEcpKinematics* k) {
  int ref = c->ref;
  const abEcpFeature* f = &c->feature[1 - ref];
  Planar q = {.f = f, .bf = c->body[1 - ref], .br = c->body[ref]};
  q.cf = ref == 1 ? 0 : 6, q.cr = 6 - q.cf;
  q.N = m3_apply(&q.br->R, c->feature[ref].n);
  q.origin = v3_add(q.br->x, m3_apply(&q.br->R, c->feature[ref].c));
  k->n = ref == 1 ? q.N : v3_neg(q.N);
  k->t = m3_apply(&q.br->R, c->t_ref);
  k->o = v3_cross(k->n, k->t);
  if (q.br->moving) add_identity(k->psi, q.cr + 3, 1);
  if (f->kind == AB_ECP_ROUND) {
    round_kinematics(&q, k);
    return;
  }
  abVec3 p = v3_add(q.bf->x, m3_apply(&q.bf->R, f->c));
  if (f->kind == AB_ECP_RIM) {
    rim_kinematics(&q, c->par[0], p, k);
    return;
  }
  k->g[0] = height(&q, p, k->Jg[0]);
  abVec3 arm[2] = {m3_apply(&q.bf->R, f->u), m3_apply(&q.bf->R, f->v)};
  for (int i = 0; i < c->npar; i++) {
    k->g[1 + i] = tilt(&q, arm[i], k->Jg[1 + i]);
    set_column(k->Ja, AB_ECP_PAR + i, arm[i]);
    p = v3_axpy(c->par[i], arm[i], p);
  }
  attach(&q, k, p);
  if (f->kind != AB_ECP_FACE && f->rad > 0) {
    k->g[0] -= f->rad;
    p = v3_axpy(-f->rad, q.N, p);
    if (q.br->moving) add_turn(k->Ja, q.cr + 3, q.N, -f->rad);
  }
  k->a = p;
}

void ab_ecp_kinematics(const abEcpContact* c, abEcpKinematics* k) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < AB_ECP_COLUMNS; j++) k->Jg[i][j] = k->Ja[i][j] = k->psi[i][j] = 0;
  if (c->ref >= 0)
    planar_kinematics(c, k);
  else
    ab_ecp_curved_kinematics(c, k);
}

double ab_ecp_overlap(const abEcpContact* c, const abEcpKinematics* k) {
  double worst = -INFINITY;
  for (int i = 0; i < 2; i++) {
    if (c->ref == i) continue;  // lies behind its own plane
    abVec3 inward = i == 0 ? v3_neg(k->n) : k->n;
    abVec3 p = ab_ecp_support(&c->shape[i], c->body[i], inward);
    double depth = v3_dot(inward, v3_sub(p, k->a));
    if (depth > worst) worst = depth;
  }
  return worst;
}

abPatchKind ab_ecp_patch_kind(const abEcpContact* c) {
  if (c->ref < 0) {
    bool rim = c->feature[0].kind == AB_ECP_RIM || c->feature[1].kind == AB_ECP_RIM;
    return c->alongside && !rim ? AB_PATCH_LINE : AB_PATCH_POINT;
  }
  switch (c->feature[1 - c->ref].kind) {
    case AB_ECP_FACE:
      return AB_PATCH_SURFACE;
    case AB_ECP_SEGMENT:
      return AB_PATCH_LINE;
    default:
      return AB_PATCH_POINT;
  }
}

// Of the body that meets the plane; of body 1 where neither is a plane.
int ab_ecp_facet_count(const abEcpContact* c) {
  const abEcpFeature* f = &c->feature[c->ref >= 0 ? 1 - c->ref : 0];
  if (f->kind == AB_ECP_FACE || f->kind == AB_ECP_ROUND) return 1;
  if (f->kind == AB_ECP_RIM) return 2;
  if (f->rad > 0) return 1;
  return f->kind == AB_ECP_SEGMENT ? 2 : 3;
}
