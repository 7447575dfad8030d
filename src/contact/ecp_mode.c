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
// upright. Modes without a plane: two crossing segments, N along u1 x u2, both parameters unknown
// and
//     c1 + s1 u1 - c2 - s2 u2 = (r1 + r2) n;
// and, where the bodies are rounded, point against segment and point against point, n along the
// line between them.
//
// All variations are written in the displacement dx and turn dtheta of the two end poses; the frame
// (t, o, n) turns by psi: with the reference body in planar modes, otherwise with n such that t
// stays the projection of a fixed direction e: psi = n x dn - n (o.dn)(n.e)/|e - n (n.e)|.
#include "contact/ecp.h"

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

static bool is_curve(const abEcpFeature* f) {
  return f->kind == AB_ECP_SEGMENT || f->kind == AB_ECP_RIM;
}

// Rounding about a point or a segment; a rim is sharp.
static double rounding(const abEcpFeature* f) { return f->kind == AB_ECP_RIM ? 0 : f->rad; }

typedef struct Curve {
  abVec3 x, along, bend;  // point, unit tangent, its derivative by the parameter
  double speed;           // |dx/dparameter|
} Curve;

static Curve curve_at(const abEcpFeature* f, const abEcpBody* b, double par) {
  Curve q = {.x = v3_add(b->x, m3_apply(&b->R, f->c))};
  if (f->kind == AB_ECP_SEGMENT) {
    q.along = m3_apply(&b->R, f->u);
    q.speed = 1;
    q.x = v3_axpy(par, q.along, q.x);
  } else if (f->kind == AB_ECP_RIM) {
    abVec3 u = m3_apply(&b->R, f->u), v = m3_apply(&b->R, f->v);
    double co = cos(par), si = sin(par);
    abVec3 radial = v3_add(v3_scale(co, u), v3_scale(si, v));
    q.along = v3_sub(v3_scale(co, v), v3_scale(si, u));
    q.bend = v3_neg(radial);
    q.speed = f->rad;
    q.x = v3_axpy(f->rad, radial, q.x);
  }
  return q;
}

// Chooses t and the sign of n by the present poses and parameters.
static bool set_curved(abEcpContact* c) {
  const abEcpFeature *f0 = &c->feature[0], *f1 = &c->feature[1];
  bool curve0 = is_curve(f0), curve1 = is_curve(f1);
  if (!(curve0 || f0->kind == AB_ECP_POINT) || !(curve1 || f1->kind == AB_ECP_POINT)) return false;
  c->npar = curve0 + curve1;
  return c->npar == 2 || rounding(f0) + rounding(f1) > 0;
}

bool ab_ecp_orient(abEcpContact* c) {
  if (c->ref >= 0) return true;
  const abEcpBody *b0 = c->body[0], *b1 = c->body[1];
  Curve q0 = curve_at(&c->feature[0], b0, c->par[0]);
  Curve q1 = curve_at(&c->feature[1], b1, c->par[c->npar == 2]);
  abVec3 n = v3_sub(q0.x, q1.x), o;
  if (c->npar == 2) {
    n = v3_cross(q0.along, q1.along);
    // Nearly parallel edges leave the normal to chance; they meet in a mode with a plane instead.
    if (v3_norm2(n) < 1e-8) return false;
    // From the inside of body 2 to the inside of body 1: the bodies' own centres decide.
    abVec3 inside0 = v3_add(b0->x, m3_apply(&b0->R, c->shape[0].off));
    abVec3 inside1 = v3_add(b1->x, m3_apply(&b1->R, c->shape[1].off));
    c->sign = v3_dot(n, v3_sub(inside0, inside1)) < 0 ? -1 : 1;
    n = v3_scale(c->sign, n);
  }
  v3_tangents(v3_unit(n), &c->t_ref, &o);
  return true;
}

bool ab_ecp_set_mode(abEcpContact* c, abEcpMode mode) {
  c->mode = mode;
  for (int i = 0; i < 2; i++)
    c->feature[i] = ab_ecp_feature(&c->shape[i], (abEcpKind)mode.kind[i], mode.index[i]);
  c->ref = mode.kind[1] == AB_ECP_FACE ? 1 : mode.kind[0] == AB_ECP_FACE ? 0 : -1;
  if (!(c->ref >= 0 ? set_planar(c) : set_curved(c))) return false;
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

// d += sign * (dtheta x r) at the three columns from `column`
static void add_turn(double J[3][AB_ECP_COLUMNS], int column, abVec3 r, double sign) {
  double x = sign * r.x, y = sign * r.y, z = sign * r.z;
  J[0][column + 1] += z, J[0][column + 2] -= y;
  J[1][column] -= z, J[1][column + 2] += x;
  J[2][column] += y, J[2][column + 1] -= x;
}

static void add_identity(double J[3][AB_ECP_COLUMNS], int column, double s) {
  for (int i = 0; i < 3; i++) J[i][column + i] += s;
}

static void set_row(double* row, int column, abVec3 a) {
  row[column] = a.x, row[column + 1] = a.y, row[column + 2] = a.z;
}

static void set_column(double J[3][AB_ECP_COLUMNS], int column, abVec3 a) {
  J[0][column] = a.x, J[1][column] = a.y, J[2][column] = a.z;
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

// dn (3 x columns) -> psi, and k->t, k->o from the fixed direction e.
static void frame_from_normal(abEcpKinematics* k, abVec3 e, double dn[3][AB_ECP_COLUMNS]) {
  double ne = v3_dot(k->n, e);
  abVec3 u = v3_axpy(-ne, k->n, e);
  double norm = v3_norm(u);
  k->t = v3_scale(1 / norm, u);
  k->o = v3_cross(k->n, k->t);
  for (int j = 0; j < AB_ECP_COLUMNS; j++) {
    abVec3 d = v3(dn[0][j], dn[1][j], dn[2][j]);
    set_column(k->psi, j, v3_axpy(-v3_dot(k->o, d) * ne / norm, k->n, v3_cross(k->n, d)));
  }
}

// J <- scale (1 - n n^T) J
static void project(double J[3][AB_ECP_COLUMNS], abVec3 n, double scale) {
  for (int j = 0; j < AB_ECP_COLUMNS; j++) {
    abVec3 d = v3(J[0][j], J[1][j], J[2][j]);
    set_column(J, j, v3_scale(scale, v3_axpy(-v3_dot(n, d), n, d)));
  }
}

// The two points of features that are not faces, and the variation of their difference.
static void curve_pair(const abEcpContact* c, Curve q[2], double D[3][AB_ECP_COLUMNS]) {
  int par = 0;
  for (int i = 0; i < 2; i++) {
    double sign = i == 0 ? 1 : -1;
    q[i] = curve_at(&c->feature[i], c->body[i], c->par[par]);
    if (is_curve(&c->feature[i]))
      set_column(D, AB_ECP_PAR + par++, v3_scale(sign * q[i].speed, q[i].along));
    add_identity(D, 6 * i, sign);
    add_turn(D, 6 * i + 3, v3_sub(q[i].x, c->body[i]->x), sign);
  }
}

// Two curves that cross: n along the product of their tangents; the points differ by reach n.
static void crossing(const abEcpContact* c, const Curve q[2], double reach, abEcpKinematics* k,
                     double D[3][AB_ECP_COLUMNS], double dn[3][AB_ECP_COLUMNS]) {
  abVec3 m = v3_cross(q[0].along, q[1].along), d = v3_sub(q[0].x, q[1].x);
  double norm = v3_norm(m), along = v3_dot(q[0].along, q[1].along);
  k->n = v3_scale(c->sign / norm, m);
  // (dtheta0 x a) x b = a (b.dtheta0) - (a.b) dtheta0; a x (dtheta1 x b) = (a.b) dtheta1 - b
  // (a.dtheta1)
  add_identity(dn, 3, -along), add_identity(dn, 9, along);
  double a[3] = {q[0].along.x, q[0].along.y, q[0].along.z};
  double b[3] = {q[1].along.x, q[1].along.y, q[1].along.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) dn[i][3 + j] += a[i] * b[j], dn[i][9 + j] -= b[i] * a[j];
  set_column(dn, AB_ECP_PAR, v3_cross(q[0].bend, q[1].along));
  set_column(dn, AB_ECP_PAR + 1, v3_cross(q[0].along, q[1].bend));
  project(dn, k->n, c->sign / norm);
  double g[3] = {d.x - reach * k->n.x, d.y - reach * k->n.y, d.z - reach * k->n.z};
  for (int i = 0; i < 3; i++) {
    k->g[i] = g[i];
    for (int j = 0; j < AB_ECP_COLUMNS; j++) k->Jg[i][j] = D[i][j] - reach * dn[i][j];
  }
}

// A rounded point against a point or a curve: n from the one to the nearest point of the other.
static void nearest(const abEcpContact* c, const Curve q[2], double reach, abEcpKinematics* k,
                    double D[3][AB_ECP_COLUMNS], double dn[3][AB_ECP_COLUMNS]) {
  abVec3 d = v3_sub(q[0].x, q[1].x);
  double norm = v3_norm(d);
  k->n = v3_scale(1 / norm, d);
  for (int j = 0; j < AB_ECP_COLUMNS; j++) {
    for (int i = 0; i < 3; i++) dn[i][j] = D[i][j];
    k->Jg[0][j] = k->n.x * D[0][j] + k->n.y * D[1][j] + k->n.z * D[2][j];
  }
  project(dn, k->n, 1 / norm);
  k->g[0] = norm - reach;
  if (c->npar == 0) return;
  int side = is_curve(&c->feature[0]) ? 0 : 1;
  abVec3 u = q[side].along, m = v3_cross(u, d);
  k->g[1] = v3_dot(u, d);
  for (int j = 0; j < AB_ECP_COLUMNS; j++)
    k->Jg[1][j] = u.x * D[0][j] + u.y * D[1][j] + u.z * D[2][j];
  k->Jg[1][6 * side + 3] += m.x, k->Jg[1][6 * side + 4] += m.y, k->Jg[1][6 * side + 5] += m.z;
  k->Jg[1][AB_ECP_PAR] += v3_dot(q[side].bend, d);
}

static void curved_kinematics(const abEcpContact* c, abEcpKinematics* k) {
  double D[3][AB_ECP_COLUMNS] = {{0}}, dn[3][AB_ECP_COLUMNS] = {{0}};
  Curve q[2];
  curve_pair(c, q, D);
  double rad = rounding(&c->feature[0]), reach = rad + rounding(&c->feature[1]);
  if (c->npar == 2)
    crossing(c, q, reach, k, D, dn);
  else
    nearest(c, q, reach, k, D, dn);
  // a = x0 - rad n; x0 moves with body 0 and its own parameter only
  bool own_par = is_curve(&c->feature[0]);
  k->a = v3_axpy(-rad, k->n, q[0].x);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < AB_ECP_COLUMNS; j++) {
      bool own = j < 6 || (own_par && j == AB_ECP_PAR);
      k->Ja[i][j] = (own ? D[i][j] : 0) - rad * dn[i][j];
    }
  frame_from_normal(k, c->t_ref, dn);
}

void ab_ecp_kinematics(const abEcpContact* c, abEcpKinematics* k) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < AB_ECP_COLUMNS; j++) k->Jg[i][j] = k->Ja[i][j] = k->psi[i][j] = 0;
  if (c->ref >= 0)
    planar_kinematics(c, k);
  else
    curved_kinematics(c, k);
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
  if (c->ref < 0) return AB_PATCH_POINT;
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
